"""All legs of a robot at once: their joints and feet in the body frame.

One leg in its own frame is in models/leg, its inverse in models/leg_inverse.
"""

import numpy as np

from models.leg import LegModel, leg_foot, leg_jacobian
from models.leg_inverse import leg_inverse
from models.numerics import FloatArray, IntArray, kernel

__all__ = ["leg_points", "legs_forward", "legs_inverse", "legs_jacobian"]


@kernel
def legs_forward(model: LegModel, joint: FloatArray, foot_out: FloatArray) -> None:
    """Feet of all legs in the body frame.

    Args:
        model: the legs.
        joint: (L, 3) [rad].
        foot_out: (L, 3) in the body frame [m].
    """
    for leg in range(joint.shape[0]):
        x, y, z = leg_foot(model, leg, joint[leg, 0], joint[leg, 1], joint[leg, 2])
        for i in range(3):
            foot_out[leg, i] = (
                model.pose_leg_to_body[leg, i, 0] * x
                + model.pose_leg_to_body[leg, i, 1] * y
                + model.pose_leg_to_body[leg, i, 2] * z
                + model.pose_leg_to_body[leg, i, 3]
            )


@kernel
def legs_jacobian(model: LegModel, joint: FloatArray, jacobian_out: FloatArray) -> None:
    """Velocity of every foot relative to the body, in the body frame.

    Args:
        model: the legs.
        joint: (L, 3) [rad].
        jacobian_out: (L, 3, 3) of each leg, for unit rates of its joints [m/rad].
    """
    for leg in range(joint.shape[0]):
        leg_jacobian(model, leg, joint[leg], jacobian_out[leg])
        for k in range(3):
            x = jacobian_out[leg, 0, k]
            y = jacobian_out[leg, 1, k]
            z = jacobian_out[leg, 2, k]
            for i in range(3):
                jacobian_out[leg, i, k] = (
                    model.pose_leg_to_body[leg, i, 0] * x
                    + model.pose_leg_to_body[leg, i, 1] * y
                    + model.pose_leg_to_body[leg, i, 2] * z
                )


@kernel
def legs_inverse(
    model: LegModel,
    foot: FloatArray,
    joint_out: FloatArray,
    reached_out: FloatArray,
    status_out: IntArray,
) -> int:
    """Joint angles of all legs for feet in the body frame.

    Args:
        model: the legs.
        foot: (L, 3) wanted feet in the body frame [m].
        joint_out: (L, 3) [rad].
        reached_out: (L, 3) nearest feet in the body frame [m].
        status_out: (L,) as `leg_inverse` returns it.

    Returns:
        How many feet were reached. A foot that is not finite leaves its rows of
        `joint_out` as they were and makes those of `reached_out` not finite.
    """
    reached = 0
    for leg in range(foot.shape[0]):
        x = foot[leg, 0] - model.pose_leg_to_body[leg, 0, 3]
        y = foot[leg, 1] - model.pose_leg_to_body[leg, 1, 3]
        z = foot[leg, 2] - model.pose_leg_to_body[leg, 2, 3]
        for i in range(3):
            reached_out[leg, i] = (
                model.pose_leg_to_body[leg, 0, i] * x
                + model.pose_leg_to_body[leg, 1, i] * y
                + model.pose_leg_to_body[leg, 2, i] * z
            )
        status = leg_inverse(
            model, leg, reached_out[leg], joint_out[leg], reached_out[leg]
        )
        x = reached_out[leg, 0]
        y = reached_out[leg, 1]
        z = reached_out[leg, 2]
        for i in range(3):
            reached_out[leg, i] = (
                model.pose_leg_to_body[leg, i, 0] * x
                + model.pose_leg_to_body[leg, i, 1] * y
                + model.pose_leg_to_body[leg, i, 2] * z
                + model.pose_leg_to_body[leg, i, 3]
            )
        status_out[leg] = status
        if status == 0:
            reached += 1
    return reached


def leg_points(model: LegModel, joint: FloatArray) -> FloatArray:
    """Joints and feet of all legs, to draw them or to keep them clear of things.

    Args:
        model: the legs.
        joint: (L, 3) [rad].

    Returns:
        (L, 4, 3) in the body frame [m]: coxa, femur joint, knee, foot.
    """
    q1, q2, q3 = joint[:, 0], joint[:, 1], joint[:, 2]
    l0, l1, l2, l3 = model.link.T
    zero = np.zeros_like(q1)
    knee = l2 * np.cos(q2)
    rho = np.stack([zero, l0, l0 + knee, l0 + knee + l3 * np.cos(q2 - q3)], axis=1)
    across = np.stack([zero, l1, l1, l1], axis=1)
    thigh = l2 * np.sin(q2)
    height = np.stack([zero, zero, thigh, thigh + l3 * np.sin(q2 - q3)], axis=1)
    cosine, sine = np.cos(q1)[:, None], np.sin(q1)[:, None]
    in_leg = np.stack(
        [rho * cosine - across * sine, rho * sine + across * cosine, height], axis=2
    )
    rotation = model.pose_leg_to_body[:, :3, :3]
    points: FloatArray = (
        in_leg @ rotation.transpose(0, 2, 1) + model.pose_leg_to_body[:, None, :3, 3]
    )
    return points
