"""Motion of a standing body: feet fixed on the ground, joints for a wanted body pose.

Liu 2020 raises SILVER2 by 0.2 m on its legs without walking, so that the arm's
workspace of 0.304 m in height is carried up and down, and lowers it to reach into a
box. Here the body may be raised, lowered, shifted, tilted and turned while the feet
stay, as far as the joints allow (see models/body_reach for the arm's share).

The ground frame has z up. Leaves out slipping feet and soft ground.
"""

import numpy as np

from models.leg import LegModel
from models.legs import legs_inverse
from models.numerics import FloatArray, IntArray, kernel

__all__ = ["body_pose", "stance_joints", "stance_room"]

_SCAN = 64  # parts of a way that are tried before the end is narrowed down
_HALVINGS = 40


@kernel
def _write_pose(
    x: float,
    y: float,
    z: float,
    roll: float,
    pitch: float,
    yaw: float,
    pose_out: FloatArray,
) -> None:
    cr = np.cos(roll)
    sr = np.sin(roll)
    cp = np.cos(pitch)
    sp = np.sin(pitch)
    cy = np.cos(yaw)
    sy = np.sin(yaw)
    pose_out[0, 0] = cy * cp
    pose_out[0, 1] = cy * sp * sr - sy * cr
    pose_out[0, 2] = cy * sp * cr + sy * sr
    pose_out[1, 0] = sy * cp
    pose_out[1, 1] = sy * sp * sr + cy * cr
    pose_out[1, 2] = sy * sp * cr - cy * sr
    pose_out[2, 0] = -sp
    pose_out[2, 1] = cp * sr
    pose_out[2, 2] = cp * cr
    pose_out[0, 3] = x
    pose_out[1, 3] = y
    pose_out[2, 3] = z
    pose_out[3, 0] = 0.0
    pose_out[3, 1] = 0.0
    pose_out[3, 2] = 0.0
    pose_out[3, 3] = 1.0


@kernel
def body_pose(motion: FloatArray, pose_out: FloatArray) -> None:
    """Pose of a body by shift, roll, pitch and yaw: R = Rz(yaw) Ry(pitch) Rx(roll).

    Args:
        motion: (6,) x, y, z [m], roll, pitch, yaw [rad].
        pose_out: (4, 4) homogeneous pose of the body in the ground frame [m].
    """
    _write_pose(
        motion[0], motion[1], motion[2], motion[3], motion[4], motion[5], pose_out
    )


@kernel
def stance_joints(
    model: LegModel,
    foot_in_ground: FloatArray,
    pose_body_to_ground: FloatArray,
    joint_out: FloatArray,
    foot_out: FloatArray,
    status_out: IntArray,
) -> int:
    """Joint angles that hold the body in a pose while the feet stay on the ground.

    Args:
        model: the legs.
        foot_in_ground: (L, 3) feet, fixed [m].
        pose_body_to_ground: (4, 4) wanted pose of the body [m].
        joint_out: (L, 3) within limits [rad].
        foot_out: (L, 3) feet at these angles, in the body frame; where a leg reaches,
            the fixed foot seen from the body [m].
        status_out: (L,) as `leg_inverse` returns it.

    Returns:
        How many feet stay; L where the pose is in reach.
    """
    for leg in range(foot_in_ground.shape[0]):
        for i in range(3):
            total = 0.0
            for k in range(3):
                total += pose_body_to_ground[k, i] * (
                    foot_in_ground[leg, k] - pose_body_to_ground[k, 3]
                )
            foot_out[leg, i] = total
    return legs_inverse(model, foot_out, joint_out, foot_out, status_out)


@kernel
def stance_room(
    model: LegModel,
    foot_in_ground: FloatArray,
    motion_from: FloatArray,
    motion_to: FloatArray,
    pose_out: FloatArray,
    joint_out: FloatArray,
    foot_out: FloatArray,
    status_out: IntArray,
) -> float:
    """How far of a body motion the legs allow, and what stops it.

    The way is straight in the six numbers of `body_pose`. It is tried in 64 parts: a
    gap in the allowed poses that is narrower than a part may be passed over. Takes up
    to 0.4 ms for six legs.

    Args:
        model: the legs.
        foot_in_ground: (L, 3) feet, fixed [m].
        motion_from: (6,) present x, y, z [m], roll, pitch, yaw [rad].
        motion_to: (6,) wanted ones.
        pose_out: (4, 4) pose at the end of what is allowed [m].
        joint_out: (L, 3) joint angles there [rad].
        foot_out: (L, 3) feet there, in the body frame [m].
        status_out: (L,) 0, or the bits of what keeps a leg from going on.

    Returns:
        The part of the way that all feet can stay for, 0 to 1; -1 where they cannot
        stay at its start.
    """
    good = -1.0
    bad = 2.0
    part = 0.0
    for attempt in range(_SCAN + _HALVINGS + 2):
        if attempt == _SCAN + _HALVINGS + 1:
            part = bad
        rest = 1.0 - part
        _write_pose(
            rest * motion_from[0] + part * motion_to[0],
            rest * motion_from[1] + part * motion_to[1],
            rest * motion_from[2] + part * motion_to[2],
            rest * motion_from[3] + part * motion_to[3],
            rest * motion_from[4] + part * motion_to[4],
            rest * motion_from[5] + part * motion_to[5],
            pose_out,
        )
        held = stance_joints(
            model, foot_in_ground, pose_out, joint_out, foot_out, status_out
        )
        if held == foot_in_ground.shape[0]:
            good = part
        else:
            bad = part
        if good < 0.0 or good == 1.0:
            break
        part = 0.5 * (good + bad) if bad <= 1.0 else min(good + 1.0 / _SCAN, 1.0)
    return good
