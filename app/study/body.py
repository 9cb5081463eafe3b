"""Arm and legs together: how a standing robot moves its body for its arm to reach."""

import numpy as np

from app.config.robot import RobotParameters, build_robot_model
from app.errors import ConfigError
from app.study.reach import Reached, describe_reach, reach_goal
from app.study.walk import legs_and_feet
from models.body_reach import (
    ARM_OUT_OF_REACH,
    FEET_OUT_OF_REACH,
    UNSTABLE,
    reach_with_body,
)
from models.numerics import FloatArray

__all__ = ["reach_over_feet"]

_MET = 1e-5  # [m]
_REASONS = {
    ARM_OUT_OF_REACH: "no stance brings the point within the arm's reach: walk nearer",
    FEET_OUT_OF_REACH: "a foot cannot stay where it is",
    UNSTABLE: "the centre cannot be kept inside the feet",
}


def reach_over_feet(
    robot: RobotParameters, limb: str, goal: FloatArray
) -> tuple[list[str], bool]:
    """Bring an arm's tip to a point, moving the body over its feet where it must.

    Args:
        robot: its parameters; it stands as its file says.
        limb: name of an arm.
        goal: (3,) position in the hull frame of that stance [m].

    Returns:
        Lines of text, and whether the tip gets there.

    Raises:
        ConfigError: no legs, no such arm.
    """
    legs, feet = legs_and_feet(robot)
    names = [soft.name for soft in robot.limbs]
    if limb not in names:
        raise ConfigError(
            f"The robot {robot.name!r} has no arm called {limb!r}. It has: "
            f"{', '.join(names)}."
        )
    model = build_robot_model(robot)
    base = model.pose_base_to_hull[names.index(limb)]

    def solve(point: FloatArray) -> Reached:
        goal_in_hull = base[:3, :3] @ point + base[:3, 3]
        return reach_goal(robot, limb, goal_in_hull, model=model)

    def nearest(point: FloatArray) -> FloatArray:
        tip = solve(point).tip
        return np.asarray(base[:3, :3].T @ (tip - base[:3, 3]))

    found = reach_with_body(legs, feet, np.eye(4), base, goal, nearest)
    reached = solve(found.point_in_arm)
    done = not found.status & ~ARM_OUT_OF_REACH and reached.error < _MET
    if done:
        reached = reached._replace(reasons=())  # the edge of its reach is met to 10 µm
    pose = found.pose_body_to_ground
    shift = ", ".join(f"{1e3 * value:.1f}" for value in pose[:3, 3])
    turn = np.degrees(np.arccos(np.clip(0.5 * (np.trace(pose[:3, :3]) - 1), -1, 1)))
    lines = [f"body: shifted by ({shift}) mm, turned by {turn:.2f} degrees"]
    for leg, angles in zip(robot.legs, np.degrees(found.joint), strict=True):
        listed = ", ".join(f"{angle:.2f}" for angle in angles)
        lines.append(f"{leg.name}: q1, q2, q3 {listed} degrees")
    lines += describe_reach(robot, limb, reached)
    if not done:
        reasons = [text for bit, text in _REASONS.items() if found.status & bit]
        lines.append("NOT REACHED: " + "; ".join(reasons or reached.reasons))
    return lines, done
