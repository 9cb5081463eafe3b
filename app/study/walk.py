"""A robot on legs: a gait checked over one cycle, and a body moved over standing feet.

Feet start where the robot's file puts them (`stance_deg`). The centre that must stay
inside the support polygon is the origin of the hull frame, as no file says where weight
and buoyancy meet.
"""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from app.config.kinematics import leg_model
from app.config.robot import RobotParameters
from app.errors import ConfigError
from models.gait import (
    GAITS,
    GaitModel,
    GaitReport,
    build_gait_model,
    check_gait,
    gait_feet,
    support_margin,
)
from models.leg import LegModel
from models.leg_inverse import leg_reasons
from models.legs import legs_forward
from models.numerics import FloatArray
from models.stance import stance_room

__all__ = [
    "Walk",
    "describe_walk",
    "draw_walk",
    "legs_and_feet",
    "plan_walk",
    "stand",
]


class Walk(NamedTuple):
    """A gait of one robot, and what it asks of the legs."""

    names: tuple[str, ...]
    gait: GaitModel
    report: GaitReport


def legs_and_feet(robot: RobotParameters) -> tuple[LegModel, FloatArray]:
    """Legs of a robot and its standing feet (L, 3), hull frame [m].

    Raises:
        ConfigError: it has no legs.
    """
    legs = leg_model(robot)
    if legs is None:
        raise ConfigError(
            f"The robot {robot.name!r} has no legs. Choose one that has, such as "
            "silver2."
        )
    feet = np.zeros((len(robot.legs), 3))
    legs_forward(legs, np.radians([leg.stance_deg for leg in robot.legs]), feet)
    return legs, feet


def plan_walk(
    robot: RobotParameters,
    gait: str,
    *,
    period: float,
    elevation: float,
    stride: float,
    direction: float = 0.0,
    turn: float = 0.0,
) -> Walk:
    """Make a gait and follow it through one cycle.

    Args:
        robot: its parameters.
        gait: name in `models.gait.GAITS`.
        period: of a cycle [s].
        elevation: of a foot's arc [m].
        stride: way of the body while a foot stands [m].
        direction: of that way, from the bow to port [rad].
        turn: of the body while a foot stands [rad].

    Raises:
        ConfigError: no legs, no such gait, not six legs, or a value out of range.
    """
    legs, feet = legs_and_feet(robot)
    if gait not in GAITS:
        raise ConfigError(f"No gait {gait!r}. Choose one of: {', '.join(GAITS)}.")
    phase, duty = GAITS[gait]
    if len(phase) != feet.shape[0]:
        raise ConfigError(
            f"The gait {gait!r} is for {len(phase)} legs; {robot.name!r} has "
            f"{feet.shape[0]}. Choose a robot with {len(phase)}."
        )
    try:
        model = build_gait_model(
            feet, phase, duty, period, elevation, stride, direction, turn
        )
    except ValueError as error:
        raise ConfigError(f"{error}. Choose another value.") from error
    names = tuple(leg.name for leg in robot.legs)
    return Walk(names, model, check_gait(legs, model))


def describe_walk(walk: Walk) -> list[str]:
    """Say it in lines of text, millimetres and degrees."""
    report = walk.report
    stable = "stable" if report.least_margin >= 0.0 else "NOT STABLE"
    margin_mm = 1e3 * report.least_margin
    lines = [f"{stable}: hull's centre at least {margin_mm:.0f} mm inside the feet"]
    for name, status, ends, speed in zip(
        walk.names, report.status, report.joint_range, report.joint_speed, strict=True
    ):
        spans = ", ".join(
            f"{np.degrees(low):.0f} to {np.degrees(high):.0f}" for low, high in ends
        )
        line = f"{name}: q1, q2, q3 {spans} degrees, at most "
        line += f"{np.degrees(speed.max()):.0f} degrees/s"
        if status:
            line += "; OUT OF REACH: " + "; ".join(leg_reasons(int(status)))
        lines.append(line)
    return lines


def draw_walk(walk: Walk, out: Path) -> None:
    """Draw the feet's paths from above, their height, and which feet stand when.

    Args:
        walk: the gait.
        out: picture to write; its ending says PNG, PDF or SVG.

    Raises:
        ConfigError: it cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    cycle = np.linspace(0.0, 1.0, 241)
    count = len(walk.names)
    paths, velocity = np.zeros((cycle.size, count, 3)), np.zeros((count, 3))
    standing = np.zeros((cycle.size, count), dtype=bool)
    for k, moment in enumerate(cycle):
        bits = gait_feet(walk.gait, float(moment), paths[k], velocity)
        standing[k] = [bool(bits >> leg & 1) for leg in range(count)]
    figure = Figure(figsize=(12.0, 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    above, height, order = figure.subplots(1, 3)
    for leg, name in enumerate(walk.names):
        x, y, z = 1e3 * paths[:, leg].T
        side = "left" if y[0] > 0.0 else "right"  # towards the middle
        above.plot(y, x)
        above.text(y[0], x.mean(), f"  {name}  ", horizontalalignment=side)
        height.plot(cycle, z - z.min())
        for start, length in _spans(standing[:, leg], cycle):
            order.broken_barh([(start, length)], (leg - 0.4, 0.8), facecolors=f"C{leg}")
    above.set(xlabel="to port [mm]", ylabel="to the bow [mm]", title="feet from above")
    above.invert_xaxis()
    above.set_aspect("equal")
    height.set(xlabel="cycle", ylabel="above the ground [mm]", title="foot height")
    order.set(xlabel="cycle", title="feet that stand")
    order.set_yticks(range(count), walk.names)
    try:
        figure.savefig(out, dpi=110)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{out}: the picture cannot be written: {error}. Choose another place."
        ) from error


def _spans(on: FloatArray, cycle: FloatArray) -> list[tuple[float, float]]:
    """(start, length) of every run of `on` along the cycle."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], on.astype(int), [0]])))
    return [
        (float(cycle[start]), float(cycle[stop - 1] - cycle[start]))
        for start, stop in zip(edges[::2], edges[1::2], strict=True)
    ]


def stand(robot: RobotParameters, motion: FloatArray) -> tuple[list[str], bool]:
    """Move the body while its feet stay, as far as the legs allow.

    Args:
        robot: its parameters.
        motion: (6,) wanted shift x, y, z [m] and roll, pitch, yaw [rad] from the stance
            of its file.

    Returns:
        Lines of text with the joint angles, and whether all of the way is allowed.

    Raises:
        ConfigError: it has no legs.
    """
    legs, feet = legs_and_feet(robot)
    count = feet.shape[0]
    pose, joints, reached = np.eye(4), np.zeros((count, 3)), np.zeros((count, 3))
    status = np.zeros(count, dtype=np.int64)
    part = stance_room(legs, feet, np.zeros(6), motion, pose, joints, reached, status)
    margin = support_margin(feet, (1 << count) - 1, pose[0, 3], pose[1, 3])
    whole = part >= 1.0
    if whole:
        lines = ["The body moves all of the way."]
    else:
        percent = 100.0 * max(part, 0.0)
        lines = [f"STOPPED after {percent:.1f} % of the way, where the joints are:"]
    lines.append(f"hull's centre {1e3 * margin:.0f} mm inside the feet")
    for leg, angles, bits in zip(robot.legs, np.degrees(joints), status, strict=True):
        line = f"{leg.name}: q1, q2, q3 " + ", ".join(f"{x:.2f}" for x in angles)
        line += " degrees"
        if bits:
            line += "; " + "; ".join(leg_reasons(int(bits)))
        lines.append(line)
    if margin < 0.0:
        lines.append("NOT STABLE: the centre is outside the feet. Ask for less.")
    return lines, whole and math.isfinite(margin) and margin >= 0.0
