"""One limb let go from a quarter circle: its motion by a tree, and how far off it is.

The limb is URSULA's, 600 mm of elastomer without viscosity and added mass, clamped, in
water (UW) or in a vacuum (UV), for 4 s. The tip's true motion is a converged reference
run, tests/data/arm_UW.csv and arm_UV.csv, good to 0.5 and 2 mm. The error of a run is
the greatest distance of its tip from that at any of 200 times.
"""

import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np

from models.numerics import FloatArray
from models.strain_basis import legendre
from models.tree import allocate_tree_data, allocate_tree_work
from models.tree_builder import ROOT, TreeBuilder
from models.tree_motion import tree_motion
from models.tree_step import tree_step

__all__ = [
    "BEND",
    "CASES",
    "DENSITY",
    "DRAG",
    "EVERY",
    "LENGTH",
    "RADIUS",
    "REPEATS",
    "SHEAR",
    "WATER",
    "YOUNG",
    "Run",
    "arm_error",
    "cheapest",
    "our_runs",
    "reference",
    "tip_error",
]

CASES = ("UW", "UV")
LENGTH, RADIUS = 0.6, (0.03, 0.01)
DENSITY, YOUNG, SHEAR = 1070.0, 69e3, 23e3
WATER, DRAG = 1000.0, (1.1, 0.01)
BEND = 0.5 * np.pi
EVERY = 0.02
"""Between the times of the reference [s]."""
REPEATS = 3

_DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
_PERIODS = (10e-3, 5e-3, 4e-3, 2e-3, 1e-3, 5e-4, 2e-4)
# orders of bending, shear (and torsion), stretch; -1: rigid
_BASES = (
    (0, -1, -1), (1, -1, -1), (2, -1, -1), (3, -1, -1), (4, -1, -1), (2, 0, 0),
    (3, 1, 0), (4, 2, 0), (5, 2, 1), (6, 3, 2), (8, 4, 2),
)  # fmt: skip


class Run(NamedTuple):
    """One run of one program."""

    program: str
    size: str
    """Its resolution, in words."""
    planar: bool
    """Whether it can move in the plane of the case only."""
    error: float
    """[mm]"""
    cost: float
    """Processor time for a second of motion [s/s]."""


@cache
def reference(case: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Times [s], and x along the straight limb and y across of the true tip [m]."""
    table = np.genfromtxt(_DATA / f"arm_{case}.csv", delimiter=",", names=True)
    return table["t_s"], table["tip_x_m"], table["tip_y_m"]


def tip_error(case: str, x: FloatArray, y: FloatArray) -> float:
    """Greatest distance from the true tip [mm]; infinite where a run blew up."""
    _, true_x, true_y = reference(case)
    away = 1e3 * np.hypot(x - true_x, y - true_y)
    return float(np.max(away)) if np.all(np.isfinite(away)) else np.inf


@numba.njit(nogil=True, error_model="numpy", _nrt=False)
def _follow(  # type: ignore[no-untyped-def]
    tree, period, stride, data, work, position_out
):
    """Step, and keep the coordinates after every stride."""
    for k in range(1, position_out.shape[0]):
        for _ in range(stride):
            tree_step(tree, period, data, work)
        for d in range(position_out.shape[1]):
            position_out[k, d] = data.position[d]
    return data.status[0]


def _orders(basis: tuple[int, int, int], *, planar: bool) -> dict[str, int]:
    bend, shear, stretch = basis
    orders = {"k_y": bend, "q_x": shear, "q_z": stretch}
    if not planar:
        orders |= {"k_x": bend, "q_y": shear, "k_z": max(shear, 0)}
    return {name: order for name, order in orders.items() if order >= 0}


def _tree_run(
    builder: TreeBuilder, case: str, period: float, repeats: int
) -> tuple[float, float]:
    """Error [mm], and cost [s/s], the median of some runs, of a tree of one rod."""
    tree = builder.build()
    times, _, _ = reference(case)
    stride = round((times[1] - times[0]) / period)
    data, work = allocate_tree_data(tree), allocate_tree_work(tree)
    position = np.zeros((times.size, tree.dof_parent.size))
    bend = list(tree.dof_component).index(1)
    costs = []
    for _ in range(repeats):
        data.position[:] = 0.0
        data.velocity[:] = 0.0
        data.position[bend] = BEND
        data.status[:] = 0, -1
        position[0] = data.position
        begin = time.thread_time()
        status = _follow(tree, period, stride, data, work, position)
        costs.append((time.thread_time() - begin) / times[-1])
        if status != 0:
            return np.inf, np.inf
    data.velocity[:] = 0.0
    tips = np.empty((times.size, 3))
    for k, row in enumerate(position):
        data.position[:] = row
        tree_motion(tree, 0.0, data, work)
        tips[k] = work.point_position[-1]
    return tip_error(case, tips[:, 2], tips[:, 0]), float(np.median(costs))


def arm_error(orders: dict[str, int], points: int, period: float) -> float:
    """Error [mm] of Renda's arm (2018, Table 1) let go in water: case A."""
    builder = TreeBuilder(gravity=(0.0, 0.0, 0.0), water_density=1022.0,
                          munk_moment=False)  # fmt: skip
    builder.add_rod(
        ROOT, np.eye(4), length=0.245, radius=(0.01, 0.002), density=1080.0,
        young_modulus=110e3, shear_modulus=55e3, viscosity=300.0, drag_normal=2.5,
        drag_tangent=0.01, added_mass=1.5, basis=legendre(orders), points=points,
    )  # fmt: skip
    return _tree_run(builder, "A", period, 1)[0]


def our_runs(case: str, *, planar: bool) -> list[Run]:
    """Runs of the limb with many bases and periods.

    The error of a basis at a period is the greatest of that and all shorter periods, so
    that an error of the period that cancels one of the basis does not count.

    Args:
        case: "UW" or "UV".
        planar: in the plane only; else bent, sheared and turned in space.

    Returns:
        Those that came to an end.
    """
    runs = []
    for basis in _BASES:
        orders = _orders(basis, planar=planar)
        worst = 0.0
        for period in sorted(_PERIODS):
            builder = TreeBuilder(
                gravity=(0.0, 0.0, 0.0),
                water_density=WATER if case == "UW" else 0.0,
                munk_moment=False,
            )
            builder.add_rod(
                ROOT, np.eye(4), length=LENGTH, radius=RADIUS, density=DENSITY,
                young_modulus=YOUNG, shear_modulus=SHEAR, drag_normal=DRAG[0],
                drag_tangent=DRAG[1], basis=legendre(orders), points=max(basis) + 4,
            )  # fmt: skip
            error, cost = _tree_run(builder, case, period, REPEATS)
            worst = max(worst, error)
            if np.isfinite(worst):
                words = " ".join(f"{name}:{order}" for name, order in orders.items())
                size = f"{words}, {1e3 * period:g} ms"
                runs.append(Run("limblink", size, planar, worst, cost))
    return runs


def cheapest(runs: list[Run], error: float) -> Run | None:
    """The cheapest run that is at least as good as an error [mm]; None if none is."""
    good = [run for run in runs if run.error <= error]
    return min(good, key=lambda run: run.cost) if good else None
