"""Where tips of limbs are in the hull frame, and points of that frame in a base's."""

import numpy as np

from models.limb import limb_poses
from models.numerics import FloatArray, kernel
from models.robot import RobotModel

__all__ = [
    "limb_tip",
    "limb_tips",
    "point_to_base",
    "tip_in_hull",
    "tip_position",
    "turn_to_base",
]


@kernel
def tip_position(
    model: RobotModel,
    limb: int,
    coordinates: FloatArray,
    poses_out: FloatArray,
    tip_out: FloatArray,
) -> None:
    """Position of a limb's tip in the hull frame.

    Args:
        model: the robot.
        limb: index of the limb.
        coordinates: (n, 3) of this limb [rad, rad, m].
        poses_out: (n+1, 4, 4) along the limb, in its base frame [m].
        tip_out: (3,) [m].
    """
    count = model.limb_segment_start[limb + 1] - model.limb_segment_start[limb]
    limb_poses(model, limb, coordinates, poses_out)
    base = model.pose_base_to_hull[limb]
    for i in range(3):
        tip_out[i] = base[i, 3]
        for j in range(3):
            tip_out[i] += base[i, j] * poses_out[count, j, 3]


@kernel
def tip_in_hull(
    model: RobotModel,
    limb: int,
    coordinates: FloatArray,
    poses_out: FloatArray,
    tip_out: FloatArray,
) -> None:
    """Position of a limb's tip, as `tip_position`, from the robot's (S, 3) pose."""
    start = model.limb_segment_start[limb]
    stop = model.limb_segment_start[limb + 1]
    tip_position(model, limb, coordinates[start:stop], poses_out, tip_out)


def limb_tip(model: RobotModel, limb: int, coordinates: FloatArray) -> FloatArray:
    """Return the tip of one limb.

    Args:
        model: the robot.
        limb: index of the limb.
        coordinates: (S, 3) of the robot [rad, rad, m].

    Returns:
        (3,) in the hull frame [m].
    """
    start, stop = model.limb_segment_start[limb : limb + 2]
    tip = np.zeros(3)
    tip_in_hull(model, limb, coordinates, np.zeros((int(stop - start) + 1, 4, 4)), tip)
    return tip


def limb_tips(model: RobotModel, coordinates: FloatArray) -> FloatArray:
    """Return the tips of all limbs, (L, 3) in the hull frame [m], as `limb_tip`."""
    limbs = range(model.tip_speed_limit.size)
    return np.stack([limb_tip(model, limb, coordinates) for limb in limbs])


@kernel
def point_to_base(
    model: RobotModel, limb: int, point: FloatArray, point_out: FloatArray
) -> None:
    """Put a (3,) point of the hull frame in a limb's base frame [m]."""
    base = model.pose_base_to_hull[limb]
    for i in range(3):
        point_out[i] = 0.0
        for j in range(3):
            point_out[i] += base[j, i] * (point[j] - base[j, 3])


@kernel
def turn_to_base(
    model: RobotModel, limb: int, vector: FloatArray, vector_out: FloatArray
) -> None:
    """Turn a (3,) vector of the hull frame into a limb's base frame."""
    base = model.pose_base_to_hull[limb]
    for i in range(3):
        vector_out[i] = 0.0
        for j in range(3):
            vector_out[i] += base[j, i] * vector[j]
