"""The geometric Jacobian of a tip or foot, as a table for other programs."""

from pathlib import Path

import numpy as np

from app.config.kinematics import leg_model, snake_lengths
from app.config.robot import RobotParameters, build_robot_model
from app.errors import ConfigError
from app.study.reach import Reached, limb_model
from models.leg import leg_jacobian
from models.limb import limb_jacobian
from models.numerics import FloatArray
from models.snake import snake_poses
from models.snake_jacobian import snake_jacobian_in_body

__all__ = ["tip_jacobian", "write_jacobian"]

_TWIST = (
    "angular x [rad/s]",
    "angular y [rad/s]",
    "angular z [rad/s]",
    "linear x [m/s]",
    "linear y [m/s]",
    "linear z [m/s]",
)


def tip_jacobian(
    robot: RobotParameters, limb: str, reached: Reached
) -> tuple[tuple[str, ...], tuple[str, ...], FloatArray]:
    """Rates of the tip for unit rates of what moves it, at a posture.

    Of a soft limb: its tip's twist in its base frame. Of a leg: its foot's velocity in
    the leg's frame. Of a snake: the twist of its head in the head's frame, for the
    twist of its tail, in the tail's frame, and the joint rates (Zhang 2022 eq. 13).

    Args:
        robot: its parameters.
        limb: name of one of its limbs or legs.
        reached: a posture of it.

    Returns:
        Names of the rows and of the columns, and the matrix.
    """
    if reached.joints is not None:
        legs = leg_model(robot)
        number = [leg.name for leg in robot.legs].index(limb)
        matrix = np.zeros((3, 3))
        if legs is not None:
            leg_jacobian(legs, number, reached.joints, matrix)
        return _TWIST[3:], tuple(f"q{j} [rad/s]" for j in (1, 2, 3)), matrix
    coordinates = reached.coordinates
    if coordinates is None:
        raise ConfigError(f"The limb {limb!r} has no posture: ask for a tip first.")
    rates = tuple(
        f"segment {k + 1} {name}"
        for k in range(coordinates.shape[0])
        for name in ("dx [rad/s]", "dy [rad/s]", "dl [m/s]")
    )
    lengths = snake_lengths(robot)
    if lengths is not None and robot.snake is not None and limb == robot.snake.limb:
        modules, joints = lengths
        poses = np.zeros((2 * joints.size + 2, 4, 4))
        snake_poses(modules, joints, coordinates, np.eye(4), poses)
        matrix, pose = np.zeros((6, 6 + 3 * joints.size)), np.zeros((4, 4))
        last = 2 * joints.size
        snake_jacobian_in_body(
            modules, joints, coordinates, poses, last, 1.0, np.zeros(3), pose, matrix
        )
        return _TWIST, tuple(f"tail {name}" for name in _TWIST) + rates, matrix
    number = [soft.name for soft in robot.limbs].index(limb)
    chain = limb_model(robot.limbs[number], build_robot_model(robot), number)
    frames = np.zeros((coordinates.shape[0] + 1, 4, 4))
    matrix = np.zeros((6, coordinates.size))
    limb_jacobian(chain, coordinates, frames, matrix)
    return _TWIST, rates, matrix


def write_jacobian(
    robot: RobotParameters, limb: str, reached: Reached, out: Path
) -> None:
    """Write it as CSV: a head line with the columns, then one line a row.

    Raises:
        ConfigError: the file cannot be written.
    """
    rows, columns, matrix = tip_jacobian(robot, limb, reached)
    lines = [",".join(("", *columns))]
    for name, values in zip(rows, matrix, strict=True):
        lines.append(",".join((name, *(repr(float(value)) for value in values))))
    try:
        out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"{out}: the table cannot be written: {error}. Choose another place."
        ) from error
