"""What the controllers hold, turned back into where a limb or leg is.

The other direction of app/study/reach, in the same order of lengths: tendons in the
order of the file, or the chambers of segment 1, then 2, and so on; for a leg, angles.
"""

from pathlib import Path

import numpy as np

from app.config.kinematics import chamber_models, leg_model
from app.config.limbs import LimbParameters
from app.config.robot import RobotParameters, build_robot_model
from app.errors import ConfigError
from app.study.reach import Reached, actuator_lengths, limb_model, tip_in_hull
from models.chamber import chamber_coordinates
from models.leg import leg_forward
from models.limb import limb_shape
from models.numerics import FloatArray
from models.tendon import TENDON_OK, tendon_coordinates
from models.workspace import allocate_rod_work

__all__ = ["limb_pose", "write_shape"]

_SHAPE_POINTS = 101
_MISFIT = 1e-6  # [m] of lengths that no posture has together


def limb_pose(robot: RobotParameters, limb: str, values: FloatArray) -> Reached:
    """Find where a limb or leg is from its lengths or angles.

    Args:
        robot: its parameters.
        limb: name of one of its limbs or legs.
        values: lengths of all tendons or chambers [m], or the three joint angles [rad].

    Returns:
        The posture; `reasons` tells of lengths that no posture has together.

    Raises:
        ConfigError: no such limb; another number of values; nothing drives the limb.
    """
    for number, leg in enumerate(robot.legs):
        if leg.name == limb:
            return _leg_pose(robot, number, values)
    names = [part.name for part in robot.limbs]
    if limb not in names:
        known = ", ".join(names + [leg.name for leg in robot.legs])
        raise ConfigError(
            f"The robot {robot.name!r} has no limb or leg called {limb!r}. It has: "
            f"{known}."
        )
    number = names.index(limb)
    soft, model = robot.limbs[number], build_robot_model(robot)
    rest = np.zeros((len(soft.segment_length_mm), 3))
    expected = sum(
        lengths.size for _, lengths in actuator_lengths(soft, model, number, rest)
    )
    if not expected:
        raise ConfigError(
            f"The limb {limb!r} has neither tendons nor chambers: no lengths tell its "
            "posture."
        )
    _check_count(limb, values, expected, "lengths")
    if soft.actuation == "tendons":
        coordinates = np.zeros_like(rest)
        work = allocate_rod_work(model)
        if tendon_coordinates(model, number, values, work, coordinates) != TENDON_OK:
            raise ConfigError(
                f"These lengths fit no posture of {limb!r}: check their order and unit."
            )
    else:
        coordinates = _from_chambers(soft, values)
    found = actuator_lengths(soft, model, number, coordinates)
    misfit = float(np.abs(np.concatenate([x for _, x in found]) - values).max())
    reasons = (
        ()
        if misfit < _MISFIT
        else (f"no posture has these lengths together: {1e3 * misfit:.2f} mm apart",)
    )
    tip = tip_in_hull(limb_model(soft, model, number), model, number, coordinates)
    return Reached(coordinates, None, found, tip, misfit, reasons)


def write_shape(robot: RobotParameters, limb: str, reached: Reached, out: Path) -> None:
    """Write the shape of a soft limb as CSV: points along its axis and its radius.

    Raises:
        ConfigError: a leg has no shape; or the file cannot be written.
    """
    if reached.coordinates is None:
        raise ConfigError("A leg is rigid and has no shape: leave --shape out.")
    number = [part.name for part in robot.limbs].index(limb)
    model = build_robot_model(robot)
    chain = limb_model(robot.limbs[number], model, number)
    fraction = np.linspace(0.0, 1.0, _SHAPE_POINTS)
    frames = np.zeros((reached.coordinates.shape[0] + 1, 4, 4))
    poses, radius = np.zeros((fraction.size, 4, 4)), np.zeros(fraction.size)
    limb_shape(chain, reached.coordinates, fraction, frames, poses, radius)
    base = model.pose_base_to_hull[number]
    points = poses[:, :3, 3] @ base[:3, :3].T + base[:3, 3]
    table = 1e3 * np.column_stack([points, radius])
    lines = ["x [mm],y [mm],z [mm],radius [mm]"]
    lines += [",".join(f"{value:.6f}" for value in row) for row in table]
    try:
        out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"{out}: the shape cannot be written: {error}. Choose another place."
        ) from error


def _check_count(limb: str, values: FloatArray, expected: int, what: str) -> None:
    if values.size != expected:
        raise ConfigError(
            f"{limb!r} takes {expected} {what}, in the order that `limblink reach` "
            f"prints; {values.size} were given."
        )


def _leg_pose(robot: RobotParameters, number: int, values: FloatArray) -> Reached:
    _check_count(robot.legs[number].name, values, 3, "angles")
    legs = leg_model(robot)
    if legs is None:
        raise ConfigError(f"The robot {robot.name!r} has no legs.")
    foot, base = np.zeros(3), legs.pose_leg_to_body[number]
    leg_forward(legs, number, values, foot)
    low, high = legs.joint_range[number].T
    outside = bool(np.any((values < low) | (values > high)))
    reasons = ("an angle is outside its joint's range",) if outside else ()
    tip = base[:3, :3] @ foot + base[:3, 3]
    return Reached(None, values, (), tip, 0.0, reasons)


def _from_chambers(soft: LimbParameters, values: FloatArray) -> FloatArray:
    coordinates = np.zeros((len(soft.segment_length_mm), 3))
    start = 0
    for k, chambers in enumerate(chamber_models(soft)):
        if chambers is None:
            coordinates[k, 2] = values[start] - soft.segment_length_mm[k] * 1e-3
            start += 1
        else:
            stop = start + chambers.offset.shape[0]
            chamber_coordinates(chambers, values[start:stop].copy(), coordinates[k])
            start = stop
    return coordinates
