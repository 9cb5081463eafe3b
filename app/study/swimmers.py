"""Renda's swimmers under `limblink simulate`: one run, and what is measured of it.

Quadropus, Monopus and Poseidrone with arms and mantle (Renda 2018 secs 6 and 7), by the
paper's physics or by the published code's. Efficiency is the paper's quasi-propulsive
one in the reading that fits its number: power against drag at the mean terminal speed
over the mean power of the actuation (eqs 26, 27).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.config.case import CaseParameters, PhysicsCase, StrainCase
from app.config.tree import TreePlan, build_tree
from app.errors import ModelError
from app.study.simulate import prepare
from app.study.simulation_loads import PlainLoad
from app.study.simulation_mantle import MantleLoad
from app.study.simulation_run import Sample, Simulator
from models.jet import mantle_volume_rate
from models.mantle import MantleModel
from models.mantle_parameters import VOLUME_PATH
from models.numerics import FloatArray
from models.tree import TreeData

__all__ = [
    "ACTIVE_ARMS",
    "CODE",
    "PAPER",
    "REFERENCE_PAPER",
    "REFINED_CODE",
    "Swim",
    "arms_force",
    "edge_gap",
    "efficiency",
    "mean_speed",
    "swim",
    "turning_radius",
]

CODE = PhysicsCase(version="published-code")
REFINED_CODE = CODE.model_copy(update={"recruitment": "paper"})
"""The same, but that the moment runs along the arm without jumps: what the refined
reference run of the Monopus has."""
PAPER = PhysicsCase(version="paper")
REFERENCE_PAPER = PhysicsCase(
    version="paper", shell="published-code", jet_areas="published-code"
)
"""The paper's, on the shell of the published code: what the reference calls so."""
ACTIVE_ARMS = StrainCase(
    basis="legendre",
    order={"k_x": 8, "k_y": 8, "q_x": 4, "q_y": 4, "q_z": 4},
    rods="limb",
    points=14,
)
"""Converged for arms that 7 mN m bend: 11/6/6 changes mean speeds by 0.05 %."""


class Swim(NamedTuple):
    """T samples of a run; the root swims along its x."""

    time_s: FloatArray
    """(T,)."""
    place: FloatArray
    """(T, 3) root in the world [m]."""
    twist: FloatArray
    """(T, 6) of the root in its frame, angular first [rad/s, m/s]."""
    thrust: FloatArray
    """(T,) of the jet, mean over the step that ends there, as what follows [N]."""
    shell_drag: FloatArray
    """(T,) [N]."""
    edge_force: FloatArray
    """(T,) of the mantle on the root [N]."""
    power: FloatArray
    """(T,) of the mantle's actuation [W]."""
    volume: FloatArray
    """(T,) ∫π r² |g'| dX of the mantle, as Renda counts it [m3]."""
    shell_drag_area: FloatArray
    """(T,) drag of the mantle over the square of the speed [N s2/m2]."""
    body_drag_area: float
    """The same of root and straight arms, along x."""
    root_drag_area: float
    """The same of the root alone."""
    root_mass: float
    """Of root and its bodies, arms and mantle left out [kg]."""


def swim(
    name: str,
    physics: PhysicsCase,
    *,
    seconds: float | None = None,
    step_s: float = 1e-3,
    every_s: float | None = None,
    strain: StrainCase | None = None,
    moment_mn_m: float | None = None,
    pulse_s: float | None = None,
    push: Callable[[float], float] | None = None,
) -> Swim:
    """Run a swimmer's case.

    Args:
        name: of the case.
        physics: in place of the case's.
        seconds: how long; None for the case's time [s].
        step_s: time step [s].
        every_s: time between samples; None for a sample of each step, which all but
            speeds and places need [s].
        strain: basis of the arms in place of the case's.
        moment_mn_m: of the arms' waves in place of the case's [mN m].
        pulse_s: period of the mantle in place of the case's [s].
        push: a force on the root along x by the time [N by s].

    Raises:
        ConfigError: there is no such case.
        ModelError: the run did not reach its end.
    """
    robot, case = prepare(None, name)
    changes: dict[str, object] = {"physics": physics}
    if strain is not None:
        changes["strain"] = strain
    if moment_mn_m is not None:
        changes["moments"] = tuple(
            moment.model_copy(update={"moment_mn_m": moment_mn_m})
            for moment in case.moments
        )
    if pulse_s is not None and case.mantle is not None:
        changes["mantle"] = case.mantle.model_copy(
            update={"frequency_hz": 1.0 / pulse_s}
        )
    case = case.model_copy(update=changes)
    plan = build_tree(robot, case)
    simulator = Simulator(robot, plan, case, step_s)
    if push is not None:
        simulator.loads.append(_Push(push))
    samples = list(simulator.run(seconds or case.seconds, every_s or step_s))
    if simulator.fault is not None:
        raise ModelError(
            f"The case {name!r} stopped at {simulator.fault.time_s:.3f} s at "
            f"{simulator.fault.body!r}: {simulator.fault.cause}. Take smaller steps."
        )
    return _read(case, plan, simulator, samples)


class _Push(PlainLoad):
    """A force on the root along its x."""

    def __init__(self, force: Callable[[float], float]) -> None:
        self.channels = []
        self._force = force

    def set_inputs(self, time_s: float, data: TreeData) -> None:
        """Add it to the root's row of x."""
        data.applied[3] += self._force(time_s)


def _read(
    case: CaseParameters, plan: TreePlan, simulator: Simulator, samples: list[Sample]
) -> Swim:
    mantle = next(load for load in simulator.loads if isinstance(load, MantleLoad))
    names = [channel for channel, _ in simulator.channels]
    loads = np.array([sample.loads for sample in samples])

    def column(channel: str) -> FloatArray:
        values: FloatArray = loads[:, names.index(channel)]
        return values

    shell = mantle.model
    radius = np.array([sample.mantle[:, 0].max() for sample in samples])
    half = 0.5 * shell.water_density * shell.drag_coefficient * np.pi
    model = plan.model
    own = {element for limb in plan.limbs for element in limb.elements}
    rigid = [
        step
        for element in range(model.element_parent.size)
        if element not in own
        for step in range(*model.element_step_start[element : element + 2])
    ]
    return Swim(
        time_s=np.array([sample.time_s for sample in samples]),
        place=np.array([sample.root_pose[:3, 3] for sample in samples]),
        twist=np.array([sample.root_twist for sample in samples]),
        thrust=column("thrust"),
        shell_drag=column("mantle drag"),
        edge_force=column("mantle force on the root"),
        power=column("mantle power"),
        volume=np.array([_volume(shell, sample.mantle) for sample in samples]),
        shell_drag_area=half * radius**2,
        body_drag_area=float(model.point_drag[:, 2].sum()),
        root_drag_area=float(model.point_drag[rigid, 2].sum()),
        root_mass=float(model.point_mass[rigid].sum()),
    )


def _volume(shell: MantleModel, profile: FloatArray) -> float:
    """Renda's volume of a mantle from (K, 2) radius and altitude of its nodes [m3]."""
    position = np.column_stack([profile, np.zeros(len(profile))])
    volume, _ = mantle_volume_rate(
        shell, position, np.zeros_like(position), VOLUME_PATH
    )
    return float(volume)


def _window(run: Swim, start: float, end: float) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = (run.time_s > start + 1e-9) & (run.time_s <= end + 1e-9)
    return inside


def mean_speed(run: Swim, start: float, end: float) -> float:
    """Mean speed along x between two times [m/s]."""
    before, after = np.interp([start, end], run.time_s, run.place[:, 0])
    return float((after - before) / (end - start))


def efficiency(run: Swim, start: float, end: float) -> float:
    """Quasi-propulsive efficiency over whole periods of straight swimming."""
    inside = _window(run, start, end)
    drag = run.body_drag_area + run.shell_drag_area[inside].mean()
    useful = drag * mean_speed(run, start, end) ** 3
    return float(useful / run.power[inside].mean())


def edge_gap(run: Swim, start: float, end: float) -> float:
    """Thrust and shell drag less the force on the root, over thrust, in the mean."""
    inside = _window(run, start, end)
    thrust, drag, edge = (
        values[inside].mean() for values in (run.thrust, run.shell_drag, run.edge_force)
    )
    return float((thrust + drag - edge) / thrust)


def arms_force(run: Swim) -> FloatArray:
    """(T-1,) force of all arms on a root that goes straight, in each step [N].

    What the momentum of the root lacks: exact for the steps as they were taken.
    """
    speed, period = run.twist[:, 3], np.diff(run.time_s)
    drag = run.root_drag_area * np.abs(speed[:-1]) * speed[1:]
    force: FloatArray = (
        run.root_mass * np.diff(speed) / period - run.edge_force[1:] + drag
    )
    return force


def turning_radius(run: Swim, length: float) -> FloatArray:
    """(T,) distance of the axis of rotation over a length (Renda 2018 eq. 29).

    Args:
        run: any motion; the first sample, at rest, gives 0.
        length: of mantle and arm [m].
    """
    turn, speed = run.twist[:, :3], run.twist[:, 3:]
    size = np.sum(turn**2, axis=1)
    across = np.linalg.norm(np.cross(turn, speed), axis=1)
    radius: FloatArray = across / (length * np.where(size > 0.0, size, np.inf))
    return radius
