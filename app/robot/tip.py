"""Where a limb's tip is, in the hull frame, and points of that frame in the base's."""

from models.limb import limb_poses
from models.numerics import FloatArray, kernel
from models.robot import RobotModel

__all__ = ["point_to_base", "tip_position", "turn_to_base"]


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
