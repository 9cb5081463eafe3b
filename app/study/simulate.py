"""A whole simulation: a robot and a case in, a recording, pictures and figures out."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from app.config.case import CaseParameters, case_names, default_case, load_case
from app.config.robot import RobotParameters, load_robot
from app.config.tree import TreePlan, build_tree
from app.errors import ConfigError, ModelError
from app.station.service import versions
from app.study.simulation_linear import LinearStep, check_linear
from app.study.simulation_record import SimulationRecord, Trace, make_trace
from app.study.simulation_run import Fault, Simulator

__all__ = [
    "Simulation",
    "check_fault",
    "describe",
    "describe_cases",
    "prepare",
    "simulate",
    "summary",
]


class Simulation(NamedTuple):
    """One simulation that has ended, whole or not."""

    robot: RobotParameters
    case: CaseParameters
    plan: TreePlan
    trace: Trace
    fault: Fault | None
    step_s: float
    """Time step; 0 for a reference run [s]."""
    wall_s: float
    linear: LinearStep | None = None
    """The linearised step at the end, where it is asked for and the end is reached."""


def prepare(
    robot: str | None, case: str | None
) -> tuple[RobotParameters, CaseParameters]:
    """Load what a command names; each can stand for the other.

    Args:
        robot: a shipped name or a path; None for the robot that the case names.
        case: a shipped name or a path; None for the robot's default case.

    Raises:
        ConfigError: neither is named, or one is wrong.
    """
    if case is None:
        if robot is None:
            raise ConfigError(
                "Name a robot or a --case. Robots: see `limblink robots`; cases: see "
                "`limblink simulate --list`."
            )
        parameters = load_robot(robot)
        return parameters, default_case(parameters)
    chosen = load_case(case)
    name = robot or chosen.robot
    if name is None:
        raise ConfigError(
            f"The case {case} names no robot of its own: name one, such as "
            f"`limblink simulate ursula --case {case}`."
        )
    return load_robot(name), chosen


def describe_cases() -> list[tuple[str, str, str]]:
    """Name, robot and title of every shipped case."""
    found = []
    for name in case_names():
        case = load_case(name)
        found.append((name, case.robot or "any", case.title))
    return found


def simulate(
    robot: RobotParameters,
    case: CaseParameters,
    *,
    seconds: float | None = None,
    step_us: float | None = None,
    reference: bool = False,
    linear: bool = False,
    record: Path | None = None,
    console: Console | None = None,
) -> Simulation:
    """Simulate a robot under a case.

    Args:
        robot: its parameters.
        case: what happens.
        seconds: how long; None for what the case says [s].
        step_us: time step; None for what the case says [µs].
        reference: integrate to the case's tolerance instead of in fixed steps.
        linear: linearise the step at the end.
        record: MCAP file to make; None for none.
        console: where to show progress; None for nowhere.

    Returns:
        The samples, and the fault that ended it early, if one did: what was recorded
        before is kept.

    Raises:
        ConfigError: the case does not fit the robot, or has parts without what is
            asked for.
        LogError: the recording cannot be written.
    """
    if linear:
        check_linear(robot, case)
    length = case.seconds if seconds is None else seconds
    step = 1e-6 * (case.integrator.step_us if step_us is None else step_us)
    simulator = Simulator(robot, build_tree(robot, case), case, step)
    samples = []
    with ExitStack() as stack:
        keep = None
        if record is not None:
            keep = stack.enter_context(
                SimulationRecord(record, simulator, *_facts(robot, case, length, step))
            )
        show = stack.enter_context(_progress(console, length))
        begun = time.perf_counter()
        run = simulator.run_reference if reference else simulator.run
        for sample in run(length, 1e-3 * case.output.every_ms):
            samples.append(sample)
            if keep is not None:
                keep.add(sample)
            show(sample.time_s)
        wall = time.perf_counter() - begun
    trace = make_trace(samples, simulator)
    return Simulation(
        robot,
        case,
        simulator.plan,
        trace,
        simulator.fault,
        0.0 if reference else step,
        wall,
        simulator.linearise() if linear and simulator.fault is None else None,
    )


def check_fault(simulation: Simulation, record: Path | None) -> None:
    """Say why a simulation stopped early, where it did.

    Raises:
        ModelError: with the body, the time, the cause and what to do.
    """
    fault = simulation.fault
    if fault is None:
        return
    kept = f" {simulation.trace.time_s.size} samples until then are in {record}."
    raise ModelError(
        f"The simulation stopped at {fault.time_s:.4g} s at {fault.body!r}: "
        f"{fault.cause}.{kept if record else ''} Try smaller steps "
        f"(--step-us {max(250e3 * simulation.step_s, 1.0):g}), or gentler loads."
    )


def _facts(
    robot: RobotParameters, case: CaseParameters, seconds: float, step: float
) -> tuple[dict[str, str], dict[str, bytes]]:
    """Metadata and attachments of a recording."""
    metadata = versions() | {
        "kind": "simulation",
        "robot": robot.name,
        "case": case.title,
        "seconds": f"{seconds:g}",
        "step_us": f"{1e6 * step:g}",
    }
    texts = {
        "robot.json": robot.model_dump_json(indent=1).encode(),
        "case.json": case.model_dump_json(indent=1).encode(),
    }
    return metadata, texts


@contextmanager
def _progress(console: Console | None, seconds: float) -> Iterator[Any]:
    """A function to tell the time simulated to; a bar where there is a console."""
    if console is None:
        yield lambda _: None
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as progress:
        task = progress.add_task("compiling", total=seconds)

        def show(time_s: float) -> None:
            progress.update(task, completed=time_s, description="simulating")

        yield show


def summary(simulation: Simulation) -> dict[str, Any]:
    """Figures of a simulation, for people and for programs; SI units in the names."""
    trace, case = simulation.trace, simulation.case
    span = float(trace.time_s[-1] - trace.time_s[0])
    travel = trace.root_pose[-1, :3, 3] - trace.root_pose[0, :3, 3]
    names = [limb.limb.name for limb in simulation.plan.limbs]
    figures: dict[str, Any] = {
        "robot": simulation.robot.name,
        "case": case.title,
        "seconds": round(span, 9),
        "step_us": round(1e6 * simulation.step_s, 6),
        "degrees_of_freedom": int(simulation.plan.model.dof_parent.size) - 6,
        "wall_s": round(simulation.wall_s, 3),
        "times_real_time": round(span / max(simulation.wall_s, 1e-9), 2),
        "tips_m": {
            name: tip.round(6).tolist()
            for name, tip in zip(names, trace.tips[-1], strict=True)
        },
        "energy_j": dict(
            zip(
                ("kinetic", "elastic", "potential"),
                trace.energy[-1].round(9).tolist(),
                strict=True,
            )
        ),
    }
    if case.base.motion == "fixed":
        force = np.linalg.norm(trace.base_wrench[:, 3:], axis=1)
        moment = np.linalg.norm(trace.base_wrench[:, :3], axis=1)
        figures["peak_base_force_n"] = round(float(force.max()), 6)
        figures["peak_base_moment_n_m"] = round(float(moment.max()), 6)
    else:
        figures["travel_m"] = travel.round(6).tolist()
        figures["mean_speed_m_s"] = round(float(np.linalg.norm(travel)) / span, 6)
    if simulation.fault is not None:
        figures["stopped"] = simulation.fault._asdict()
    return figures


def describe(figures: dict[str, Any]) -> list[str]:
    """The same in lines of text, millimetres and millijoules."""
    lines = [f"{figures['robot']}: {figures['case']}"]
    steps = f"in steps of {figures['step_us']:g} µs"
    if not figures["step_us"]:
        steps = "to the reference tolerance"
    lines.append(
        f"{figures['seconds']:g} s {steps}, "
        f"{figures['degrees_of_freedom']} coordinates, {figures['wall_s']:.2f} s of "
        f"computing ({figures['times_real_time']:g} times real time)"
    )
    for name, tip in figures["tips_m"].items():
        place = ", ".join(f"{1e3 * value:.1f}" for value in tip)
        lines.append(f"tip of {name} at {place} mm")
    energy = figures["energy_j"]
    lines.append(
        "energy: "
        + ", ".join(f"{name} {1e3 * value:.4g} mJ" for name, value in energy.items())
    )
    if "travel_m" in figures:
        way = ", ".join(f"{1e3 * value:.1f}" for value in figures["travel_m"])
        lines.append(
            f"the root went {way} mm, {1e3 * figures['mean_speed_m_s']:.2f} mm/s"
        )
    else:
        lines.append(
            f"on its base at most {figures['peak_base_force_n']:.4g} N and "
            f"{figures['peak_base_moment_n_m']:.4g} N m"
        )
    return lines
