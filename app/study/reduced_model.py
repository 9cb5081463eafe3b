"""How far the reduced model is from the rod: constant curvature, 1 to 3 segments.

The station's model, (Δx, Δy, δℓ) in each segment at 1 kHz, against the converged motion
of the same arm in the same case. Compared are

- the tip: root mean square distance over the run, and the greatest;
- the first natural frequency about the straight arm, added mass included;
- settling: the time after which the tip stays near its place of rest, within 5 % of
  the converged motion's greatest distance from its own;

first with the material's own numbers, then with one factor on all stiffness and one on
all damping (viscosity and drag), fitted to the tip over all cases of the arm at once.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from app.errors import ModelError
from app.study.arm_cases import (
    ARM_CASES,
    Arm,
    arm_forces,
    build_arm,
    run_case,
    start_arm,
)
from app.study.rod_convergence import Mesh, load_motion
from models.numerics import FloatArray
from models.robot_tree import SEGMENT_POINTS
from models.strain_basis import constant_curvature
from models.tree import (
    TreeData,
    TreeModel,
    TreeWork,
    allocate_tree_data,
    allocate_tree_work,
)
from models.tree_motion import tree_motion
from models.tree_statics import solve_equilibrium, tree_modes

__all__ = [
    "GROUPS",
    "Comparison",
    "ReducedArm",
    "accurate_motion",
    "compare_reduced",
    "corrected",
    "fit_correction",
    "reduced_arm",
    "settling_time",
    "table",
]

GROUPS = {
    "Renda's arm (5:1 taper)": ("A", "B1", "B5", "T"),
    "URSULA's limb, bare": ("UW", "UV"),
    "URSULA's limb, as shipped": ("UR", "UT"),
    "Liu's arm, as shipped": ("LR", "LS"),
}
"""Arms, and the cases of each."""
_PERIOD = 1e-3
_FIT_PERIOD = 2e-3
_FACTORS = (-2.5, 2.5)
"""Logarithms between which a factor is looked for."""
_STIFFNESSES = (1.2, 1.0, 0.85, 0.7, 0.55, 0.4, 0.3, 0.2)
_BAND = 0.05
_FINE_MESH = {"LS": Mesh(5, 3, 3, pieces=3)}
_FINEST = Mesh(9, 7, 5)


class Comparison(NamedTuple):
    """The reduced model in one case."""

    case: str
    rms_mm: float
    greatest_mm: float
    amplitude_mm: float
    """Greatest distance of the tip from where it comes to rest, or began."""
    settling: float
    """Of the reduced model [s]; inf where it does not settle in the run."""
    settling_accurate: float


class ReducedArm(NamedTuple):
    """The reduced model of one arm in all its cases."""

    segments: int
    stiffness: float
    """Factor on stiffness."""
    damping: float
    """Factor on viscosity and drag."""
    frequency_error: float
    """Of the first frequency, relative."""
    cases: tuple[Comparison, ...]

    @property
    def rms_mm(self) -> float:
        """Root mean square over all cases."""
        return float(np.sqrt(np.mean([c.rms_mm**2 for c in self.cases])))


def accurate_motion(name: str, folder: Path) -> FloatArray:
    """Converged motion of a case: the independent one, or a fine rod's.

    Args:
        name: a key of ARM_CASES.
        folder: of the converged motions arm_NAME.csv.

    Returns:
        (T, 3): time [s], tip along and across the straight arm [m].
    """
    path = folder / f"arm_{name}.csv"
    if path.exists():
        return load_motion(path)
    case = ARM_CASES[name]
    times = np.round(np.arange(0.0, case.seconds + 5e-3, 1e-2), 9)
    _, tip = run_case(case, _fine(name), times)
    return np.column_stack([times, tip])


def reduced_arm(arm: Arm, segments: int) -> TreeModel:
    """The reduced model of an arm."""
    return build_arm(arm, constant_curvature(), points=SEGMENT_POINTS, pieces=segments)


def corrected(model: TreeModel, stiffness: float, damping: float) -> TreeModel:
    """A tree with factors on its stiffness and on its viscosity and drag."""
    return model._replace(
        element_stiffness=stiffness * model.element_stiffness,
        element_damping=damping * model.element_damping,
        point_drag=damping * model.point_drag,
    )


def settling_time(motion: FloatArray, rest: FloatArray, band: float) -> float:
    """Time after which a tip stays within a distance of a place.

    Args:
        motion: (T, 3) time [s] and place [m].
        rest: (2,) the place [m].
        band: the distance [m].

    Returns:
        The time [s]; inf where it is outside in the last twentieth of the run.
    """
    outside = np.flatnonzero(np.hypot(*(motion[:, 1:] - rest).T) > band)
    if not outside.size:
        return 0.0
    last = int(outside[-1])
    return float(motion[last, 0]) if last < 0.95 * len(motion) else np.inf


def _first_frequency(model: TreeModel) -> float:
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    return float(tree_modes(model, data, work).frequency[0])


def _motion(
    name: str, model: TreeModel, times: FloatArray, period: float = _PERIOD
) -> FloatArray:
    _, tip = run_case(ARM_CASES[name], model, times, period=period)
    return np.column_stack([times, tip])


def _rest(name: str, model: TreeModel) -> FloatArray:
    """(2,) the tip where the arm comes to rest in a case [m]."""
    case = ARM_CASES[name]
    data, work = start_arm(case, model), allocate_tree_work(model)
    data.position[:] = 0.0
    forces = arm_forces(case, model) if case.drive == "tendon" else None

    def pull(model: TreeModel, data: TreeData, work: TreeWork) -> None:
        if forces is not None:
            forces(0.0, model, 0.0, data, work)

    found = solve_equilibrium(model, data, work, forces=pull)
    if not found.converged:
        raise ModelError(f"Case {name}: no equilibrium found ({found}).")
    tree_motion(model, 0.0, data, work)
    place: FloatArray = work.point_position[-1, [2, 0]]
    return place


def _fine(name: str) -> TreeModel:
    mesh = _FINE_MESH.get(name, _FINEST)
    arm = ARM_CASES[name].arm
    return build_arm(arm, mesh.basis, points=mesh.steps, pieces=mesh.pieces)


def compare_reduced(
    names: Sequence[str],
    motions: dict[str, FloatArray],
    segments: int,
    stiffness: float = 1.0,
    damping: float = 1.0,
) -> ReducedArm:
    """Run the reduced model of an arm in its cases.

    Args:
        names: of its cases.
        motions: (T, 3) the converged motion of each.
        segments: of constant curvature.
        stiffness: factor on stiffness.
        damping: factor on viscosity and drag.

    Returns:
        What it does.
    """
    arm = ARM_CASES[names[0]].arm
    fine = _first_frequency(build_arm(arm, Mesh(8, 6, 6).basis, points=14))
    own = corrected(reduced_arm(arm, segments), stiffness, damping)
    found = []
    for name in names:
        motion = motions[name]
        model = corrected(
            reduced_arm(ARM_CASES[name].arm, segments), stiffness, damping
        )
        reduced = _motion(name, model, motion[:, 0])
        error = 1e3 * np.hypot(*(reduced - motion)[:, 1:].T)
        rest = _rest(name, _fine(name))
        distance = np.hypot(*(motion[:, 1:] - rest).T)
        band = _BAND * float(distance.max())
        found.append(
            Comparison(
                name,
                float(np.sqrt(np.mean(error**2))),
                float(error.max()),
                1e3 * float(distance.max()),
                settling_time(reduced, _rest(name, model), band),
                settling_time(motion, rest, band),
            )
        )
    return ReducedArm(
        segments, stiffness, damping, _first_frequency(own) / fine - 1.0, tuple(found)
    )


def fit_correction(
    names: Sequence[str], motions: dict[str, FloatArray], segments: int
) -> tuple[float, float]:
    """Factors of stiffness and damping with the least tip error over the cases.

    Each case counts by its error over its amplitude.

    Args:
        names: of the cases of one arm.
        motions: (T, 3) the converged motion of each.
        segments: of constant curvature.

    Returns:
        Factor on stiffness, and factor on viscosity and drag.
    """
    from scipy.optimize import minimize

    models = [reduced_arm(ARM_CASES[name].arm, segments) for name in names]
    scales = [np.hypot(*np.ptp(motions[name][:, 1:], axis=0)) for name in names]

    def error(logarithms: FloatArray) -> float:
        stiffness, damping = np.exp(logarithms)
        total = 0.0
        for name, model, scale in zip(names, models, scales, strict=True):
            motion = motions[name]
            changed = corrected(model, float(stiffness), float(damping))
            reduced = _motion(name, changed, motion[:, 0], _FIT_PERIOD)
            apart = (reduced - motion)[:, 1:] / scale
            total += float(np.mean(np.sum(apart**2, axis=1)))
        return total

    # by stiffness first: errors of phase make other minima
    begin = min(_STIFFNESSES, key=lambda k: error(np.array([np.log(k), 0.0])))
    found = minimize(
        error,
        [np.log(begin), 0.0],
        method="Nelder-Mead",
        bounds=[_FACTORS, _FACTORS],
        options={"xatol": 3e-3, "fatol": 1e-9, "maxfev": 45},
    )
    stiffness, damping = np.exp(found.x)
    return float(stiffness), float(damping)


def table(arms: dict[str, list[ReducedArm]]) -> list[str]:
    """Lay out comparisons as a table.

    Args:
        arms: name of the arm to its reduced models.

    Returns:
        Lines of Markdown. By case: tip error, root mean square and greatest, the
        amplitude [mm]; settling of the reduced model and of the converged motion [s].
    """
    lines = [
        "| arm | segments | stiffness x | damping x | first frequency | by case |",
        "|---|---|---|---|---|---|",
    ]
    for name, found in arms.items():
        for arm in found:
            cases = "; ".join(
                f"{c.case}: {c.rms_mm:.1f} / {c.greatest_mm:.1f} ({c.amplitude_mm:.0f})"
                f", {_seconds(c.settling)}, {_seconds(c.settling_accurate)}"
                for c in arm.cases
            )
            lines.append(
                f"| {name} | {arm.segments} | {arm.stiffness:.2f} | {arm.damping:.2f} "
                f"| {100.0 * arm.frequency_error:+.1f} % | {cases} |"
            )
    return lines


def _seconds(time: float) -> str:
    return f"{time:.2f}" if np.isfinite(time) else "-"
