"""A walking leg with three joints: foot position, Jacobian, parameters.

The leg of SILVER2 (Liu 2020, Fig. 2): the coxa turns by q1 about z, an L-shaped piece
leads by l0 outward and by l1 along the normal of the coxa plane to the femur joint
(q2, up is positive), and the knee folds the tibia down by q3:

    ρ = l0 + l2 cos q2 + l3 cos(q2 - q3)
    x = ρ cos q1 - l1 sin q1,   y = ρ sin q1 + l1 cos q1
    z = l2 sin q2 + l3 sin(q2 - q3)

Liu 2020 eq. 1a prints - l1 cos q1 and - l1 sin q1 for the two terms in l1: a radial
offset, which eq. 1b does not invert (the foot comes out up to √2 l1 wrong). The form
here is the one that eq. 1b inverts (models/leg_inverse).

Frame of a leg: origin on the coxa axis at the height of the femur joint, x outward at
q1 = 0, z up the axis. Leaves out the elastic joint between tibia and its motor, the
size of the foot, and legs that touch each other or the body.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from models.numerics import FloatArray, inner_kernel, kernel

__all__ = [
    "LegModel",
    "build_leg_model",
    "leg_foot",
    "leg_forward",
    "leg_jacobian",
    "narrow_joint_range",
]


class LegModel(NamedTuple):
    """Constant parameters of L legs."""

    link: FloatArray
    """(L, 4) l0 outward, l1 along the normal (either sign), femur l2, tibia l3 [m]."""
    joint_range: FloatArray
    """(L, 3, 2) least and greatest q1, q2, q3 [rad]; those of q3 have one sign."""
    pose_leg_to_body: FloatArray
    """(L, 4, 4) homogeneous pose of each leg's frame in the body frame [m]."""


def build_leg_model(
    link: ArrayLike, joint_range: ArrayLike, pose_leg_to_body: ArrayLike
) -> LegModel:
    """Check the parameters of L legs and lay them out for kernels.

    Args:
        link: (4,) or (L, 4) l0, l1, l2, l3 [m].
        joint_range: (3, 2) or (L, 3, 2) [rad].
        pose_leg_to_body: (L, 4, 4) [m].

    Returns:
        The model.

    Raises:
        ValueError: a link without length, a range that is empty or wider than a turn, a
            knee that folds to both sides, or a pose that is not rigid.
    """
    pose = np.array(pose_leg_to_body, dtype=np.float64)
    if pose.ndim != 3 or pose.shape[1:] != (4, 4):
        message = f"pose_leg_to_body has shape {pose.shape}; give (legs, 4, 4)"
        raise ValueError(message)
    count = pose.shape[0]
    rotation = pose[:, :3, :3]
    square = rotation @ rotation.transpose(0, 2, 1)
    rigid = (
        np.allclose(square, np.eye(3), rtol=0.0, atol=1e-9)
        and bool(np.all(np.linalg.det(rotation) > 0.0))
        and np.array_equal(pose[:, 3], np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)))
    )
    if not rigid:
        message = "pose_leg_to_body is not a rigid pose: check its rotation"
        raise ValueError(message)
    links = np.broadcast_to(np.asarray(link, np.float64), (count, 4)).copy()
    if not (np.all(np.isfinite(links)) and np.all(links[:, 2:] > 0.0)):
        message = f"link is {links.tolist()} m; femur and tibia need a length above 0"
        raise ValueError(message)
    ranges = np.broadcast_to(np.asarray(joint_range, np.float64), (count, 3, 2)).copy()
    width = ranges[..., 1] - ranges[..., 0]
    if not np.all((width >= 0.0) & (width <= 2.0 * np.pi)):
        message = f"joint_range widths are {width.tolist()} rad; allowed are 0 to 2 pi"
        raise ValueError(message)
    knee = ranges[:, 2]
    one_side = np.all((knee >= 0.0) & (knee <= np.pi), axis=1) | np.all(
        (knee <= 0.0) & (knee >= -np.pi), axis=1
    )
    if not np.all(one_side):
        message = (
            f"joint_range of q3 is {knee.tolist()} rad; the knee folds to one side: "
            "give a range inside 0..pi or inside -pi..0"
        )
        raise ValueError(message)
    return LegModel(links, ranges, pose)


def narrow_joint_range(model: LegModel, margin: float) -> LegModel:
    """Move both ends of every joint's range inward, to plan clear of the stops.

    Args:
        model: the legs.
        margin: [rad]; a range narrower than twice this shrinks to its middle.

    Returns:
        The same legs with narrower ranges.
    """
    middle = model.joint_range.mean(axis=-1)
    half = np.maximum(0.5 * np.ptp(model.joint_range, axis=-1) - margin, 0.0)
    ranges = np.stack([middle - half, middle + half], axis=-1)
    return model._replace(joint_range=ranges)


@inner_kernel
def leg_foot(
    model: LegModel, leg: int, q1: float, q2: float, q3: float
) -> tuple[float, float, float]:
    """Foot of one leg, x, y, z in the leg's frame [m]."""
    rho = (
        model.link[leg, 0]
        + model.link[leg, 2] * np.cos(q2)
        + model.link[leg, 3] * np.cos(q2 - q3)
    )
    cosine = np.cos(q1)
    sine = np.sin(q1)
    return (
        rho * cosine - model.link[leg, 1] * sine,
        rho * sine + model.link[leg, 1] * cosine,
        model.link[leg, 2] * np.sin(q2) + model.link[leg, 3] * np.sin(q2 - q3),
    )


@kernel
def leg_forward(
    model: LegModel, leg: int, joint: FloatArray, foot_out: FloatArray
) -> None:
    """Foot of one leg for its joint angles (Liu 2020 eq. 1a, corrected).

    Args:
        model: the legs.
        leg: index of the leg.
        joint: (3,) q1, q2, q3 [rad].
        foot_out: (3,) in the leg's frame [m].
    """
    x, y, z = leg_foot(model, leg, joint[0], joint[1], joint[2])
    foot_out[0] = x
    foot_out[1] = y
    foot_out[2] = z


@kernel
def leg_jacobian(
    model: LegModel, leg: int, joint: FloatArray, jacobian_out: FloatArray
) -> None:
    """Velocity of one leg's foot for unit joint rates; its transpose maps foot force.

    Args:
        model: the legs.
        leg: index of the leg.
        joint: (3,) q1, q2, q3 [rad].
        jacobian_out: (3, 3) d(x, y, z)/d(q1, q2, q3) in the leg's frame [m/rad].
    """
    offset = model.link[leg, 1]
    femur = model.link[leg, 2]
    tibia = model.link[leg, 3]
    cosine = np.cos(joint[0])
    sine = np.sin(joint[0])
    shin_r = tibia * np.cos(joint[1] - joint[2])
    shin_z = tibia * np.sin(joint[1] - joint[2])
    thigh_r = femur * np.cos(joint[1])
    thigh_z = femur * np.sin(joint[1])
    rho = model.link[leg, 0] + thigh_r + shin_r
    jacobian_out[0, 0] = -rho * sine - offset * cosine
    jacobian_out[1, 0] = rho * cosine - offset * sine
    jacobian_out[2, 0] = 0.0
    jacobian_out[0, 1] = -(thigh_z + shin_z) * cosine
    jacobian_out[1, 1] = -(thigh_z + shin_z) * sine
    jacobian_out[2, 1] = thigh_r + shin_r
    jacobian_out[0, 2] = shin_z * cosine
    jacobian_out[1, 2] = shin_z * sine
    jacobian_out[2, 2] = -shin_r
