"""A walking leg with three joints: foot position, its inverse, Jacobian and limits.

The leg of SILVER2 (Liu 2020, Fig. 2): the coxa turns by q1 about z, an L-shaped piece
leads by l0 outward and by l1 along the normal of the coxa plane to the femur joint
(q2, up is positive), and the knee folds the tibia down by q3:

    ρ = l0 + l2 cos q2 + l3 cos(q2 - q3)
    x = ρ cos q1 - l1 sin q1,   y = ρ sin q1 + l1 cos q1
    z = l2 sin q2 + l3 sin(q2 - q3)

Liu 2020 eq. 1a prints - l1 cos q1 and - l1 sin q1 for the two terms in l1: a radial
offset, which eq. 1b does not invert (the foot comes out up to √2 l1 wrong). The form
here is the one that eq. 1b inverts.

The inverse is eq. 1b with arc tangents in place of its arc cosines, which lose half the
digits where the leg is straight or folded. A foot has up to four postures. The knee
folds to one side only (the range of q3 has one sign), and the posture with the foot on
the outer side of the coxa axis is preferred; so the angles are continuous wherever the
foot does not pass through that axis.

A foot out of reach is led to the nearest point that the joints allow. In the plane of
femur and tibia that point lies on one of four arcs, on which q2 or q3 is at an end of
its range; the turn q1 and the point in the plane are then improved in turns, from four
starts. With l1 = 0 this is exact after one turn.

Frame of a leg: origin on the coxa axis at the height of the femur joint, x outward at
q1 = 0, z up the axis. Leaves out the elastic joint between tibia and its motor, the
size of the foot, and legs that touch each other or the body.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from models.numerics import FloatArray, IntArray, kernel

__all__ = [
    "COXA_LIMITED",
    "FEMUR_LIMITED",
    "INSIDE_OFFSET",
    "NOT_FINITE",
    "TOO_FAR",
    "TOO_NEAR",
    "LegModel",
    "build_leg_model",
    "leg_forward",
    "leg_inverse",
    "leg_inverse_batch",
    "leg_jacobian",
    "leg_points",
    "leg_reasons",
    "legs_forward",
    "legs_inverse",
    "legs_jacobian",
    "narrow_joint_range",
]

COXA_LIMITED = 1
"""The coxa would have to turn beyond its range."""
FEMUR_LIMITED = 2
"""The femur would have to swing beyond its range."""
TOO_FAR = 4
"""Farther from the femur joint than with the knee as straight as it goes."""
TOO_NEAR = 8
"""Nearer to the femur joint than with the knee as folded as it goes."""
INSIDE_OFFSET = 16
"""Nearer to the coxa axis than the offset l1: no turn of the coxa leads there."""
NOT_FINITE = 32
"""Input was not finite: nothing was written."""

_REASONS = {
    COXA_LIMITED: "the coxa cannot turn that far",
    FEMUR_LIMITED: "the femur cannot swing that far",
    TOO_FAR: "too far: the knee cannot straighten more",
    TOO_NEAR: "too near: the knee cannot fold more",
    INSIDE_OFFSET: "too near to the coxa axis: nearer than the leg's offset",
    NOT_FINITE: "the wanted foot position is not a number",
}

_TURN = 2.0 * np.pi
_ROUNDING = 1e-12  # [m] from the wanted foot, which is not reported
_MOST_TURNS = 60
_SETTLED = 1e-12  # [rad] of the coxa


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
    links = np.array(np.broadcast_to(np.asarray(link, np.float64), (count, 4)))
    if not (np.all(np.isfinite(links)) and np.all(links[:, 2:] > 0.0)):
        message = f"link is {links.tolist()} m; femur and tibia need a length above 0"
        raise ValueError(message)
    ranges = np.array(
        np.broadcast_to(np.asarray(joint_range, np.float64), (count, 3, 2))
    )
    width = ranges[..., 1] - ranges[..., 0]
    if not np.all((width >= 0.0) & (width <= _TURN)):
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


def leg_reasons(status: int) -> list[str]:
    """Say in words why a foot position could not be reached; empty where it was."""
    return [text for bit, text in _REASONS.items() if status & bit]


@kernel
def _clamp(angle: float, least: float, greatest: float) -> float:
    """Angle of the range that is nearest on the circle."""
    middle = 0.5 * (least + greatest)
    turned = angle - _TURN * np.floor((angle - middle) / _TURN + 0.5)
    return float(min(max(turned, least), greatest))


@kernel
def _outside(angle: float, least: float, greatest: float) -> bool:
    """Whether no whole turn brings the angle into the range."""
    middle = 0.5 * (least + greatest)
    turned = angle - _TURN * np.floor((angle - middle) / _TURN + 0.5)
    return bool(turned < least or turned > greatest)


@kernel
def _foot(
    model: LegModel, leg: int, q1: float, q2: float, q3: float
) -> tuple[float, float, float]:
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
def _plane_solve(
    model: LegModel, leg: int, r: float, z: float
) -> tuple[float, float, int]:
    """Femur and knee angle for a foot in the coxa plane, then both cut to their limits.

    r and z are measured from the femur joint. The status says what was cut.
    """
    femur = model.link[leg, 2]
    tibia = model.link[leg, 3]
    square = r * r + z * z
    straight = (femur + tibia) * (femur + tibia) - square
    folded = square - (femur - tibia) * (femur - tibia)
    status = 0
    if straight < 0.0:
        straight = 0.0
        status = TOO_FAR
    if folded < 0.0:
        folded = 0.0
        status = TOO_NEAR
    fold = 2.0 * np.arctan2(np.sqrt(straight), np.sqrt(folded))
    q2 = np.arctan2(tibia * np.sin(fold), femur + tibia * np.cos(fold))
    least = model.joint_range[leg, 2, 0]
    greatest = model.joint_range[leg, 2, 1]
    if greatest <= 0.0:
        q2 = -q2
        q3 = -fold
        if q3 > greatest:
            status |= TOO_FAR
        elif q3 < least:
            status |= TOO_NEAR
    else:
        q3 = fold
        if q3 < least:
            status |= TOO_FAR
        elif q3 > greatest:
            status |= TOO_NEAR
    q2 += np.arctan2(z, r)
    if _outside(q2, model.joint_range[leg, 1, 0], model.joint_range[leg, 1, 1]):
        status |= FEMUR_LIMITED
    q2 = _clamp(q2, model.joint_range[leg, 1, 0], model.joint_range[leg, 1, 1])
    return q2, min(max(q3, least), greatest), status


@kernel
def _solve(
    model: LegModel, leg: int, x: float, y: float, z: float, side: float
) -> tuple[float, float, float, int]:
    """Angles for a foot, cut to their limits; the status says what was cut.

    `side` is 1 for a foot on the outer side of the coxa axis, -1 for the inner side.
    """
    offset = model.link[leg, 1]
    square = x * x + y * y - offset * offset
    status = 0
    if square < 0.0:
        square = 0.0
        status = INSIDE_OFFSET
    rho = side * np.sqrt(square)
    q1 = np.arctan2(y, x) - np.arctan2(offset, rho)
    if _outside(q1, model.joint_range[leg, 0, 0], model.joint_range[leg, 0, 1]):
        status |= COXA_LIMITED
    q1 = _clamp(q1, model.joint_range[leg, 0, 0], model.joint_range[leg, 0, 1])
    q2, q3, cut = _plane_solve(model, leg, rho - model.link[leg, 0], z)
    return q1, q2, q3, status | cut


@kernel
def _plane_nearest(
    model: LegModel, leg: int, r: float, z: float
) -> tuple[float, float, float, float]:
    """Angles within limits that bring the foot nearest in the coxa plane.

    Returns q2, q3, the foot's r from the femur joint, and its squared distance.
    """
    femur = model.link[leg, 2]
    tibia = model.link[leg, 3]
    q2, q3, status = _plane_solve(model, leg, r, z)
    if status == 0:
        return q2, q3, r, 0.0
    best2 = q2
    best3 = q3
    best_r = r
    least = np.inf
    for end in range(4):
        if end < 2:
            q3 = model.joint_range[leg, 2, end]
            lead = np.arctan2(-tibia * np.sin(q3), femur + tibia * np.cos(q3))
            q2 = np.arctan2(z, r) - lead
            q2 = _clamp(q2, model.joint_range[leg, 1, 0], model.joint_range[leg, 1, 1])
        else:
            q2 = model.joint_range[leg, 1, end - 2]
            shin = np.arctan2(z - femur * np.sin(q2), r - femur * np.cos(q2))
            q3 = _clamp(
                q2 - shin, model.joint_range[leg, 2, 0], model.joint_range[leg, 2, 1]
            )
        foot_r = femur * np.cos(q2) + tibia * np.cos(q2 - q3)
        foot_z = femur * np.sin(q2) + tibia * np.sin(q2 - q3)
        square = (foot_r - r) ** 2 + (foot_z - z) ** 2
        if square < least:
            least = square
            best2 = q2
            best3 = q3
            best_r = foot_r
    return best2, best3, best_r, least


@kernel
def _nearest(
    model: LegModel, leg: int, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Angles within limits that bring the foot nearest."""
    outward = model.link[leg, 0]
    offset = model.link[leg, 1]
    low = model.joint_range[leg, 0, 0]
    high = model.joint_range[leg, 0, 1]
    azimuth = np.arctan2(y, x)
    best1 = low
    best2 = 0.0
    best3 = 0.0
    least = np.inf
    for start in range(4):
        if start < 2:
            side = 1.0 - 2.0 * start
            rho = side * np.sqrt(max(x * x + y * y - offset * offset, 0.0))
            q1 = _clamp(azimuth - np.arctan2(offset, rho), low, high)
        else:
            q1 = model.joint_range[leg, 0, start - 2]
        q2 = 0.0
        q3 = 0.0
        square = 0.0
        rho = 0.0
        for _ in range(_MOST_TURNS):
            along = x * np.cos(q1) + y * np.sin(q1)
            across = y * np.cos(q1) - x * np.sin(q1)
            q2, q3, rho, square = _plane_nearest(model, leg, along - outward, z)
            rho += outward
            square += (across - offset) * (across - offset)
            before = q1
            following = _clamp(azimuth - np.arctan2(offset, rho), low, high)
            if abs(following - before) <= _SETTLED:
                break
            q1 = following
        if square < least:
            least = square
            best1 = q1
            best2 = q2
            best3 = q3
    return best1, best2, best3


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
    x, y, z = _foot(model, leg, joint[0], joint[1], joint[2])
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


@kernel
def leg_inverse(
    model: LegModel,
    leg: int,
    foot: FloatArray,
    joint_out: FloatArray,
    reached_out: FloatArray,
) -> int:
    """Joint angles of one leg for a foot position (Liu 2020 eq. 1b), within limits.

    Args:
        model: the legs.
        leg: index of the leg.
        foot: (3,) wanted foot in the leg's frame [m].
        joint_out: (3,) q1, q2, q3, always within their ranges [rad].
        reached_out: (3,) foot at these angles, the nearest to the wanted one [m].

    Returns:
        0 where the foot is reached (to 1e-12 m), or the bits of what keeps the leg in
        its usual posture, foot on the outer side of the coxa axis, from the wanted
        point, or NOT_FINITE alone with nothing written.
    """
    x = foot[0]
    y = foot[1]
    z = foot[2]
    if not abs(x) + abs(y) + abs(z) < np.inf:
        return NOT_FINITE
    status = 0
    q1 = 0.0
    q2 = 0.0
    q3 = 0.0
    for attempt in range(2):
        q1, q2, q3, cut = _solve(model, leg, x, y, z, 1.0 - 2.0 * attempt)
        if cut != 0:
            at_x, at_y, at_z = _foot(model, leg, q1, q2, q3)
            if abs(at_x - x) + abs(at_y - y) + abs(at_z - z) <= _ROUNDING:
                cut = 0
        if cut == 0:
            status = 0
            break
        if attempt == 0:
            status = cut
    at_x = x
    at_y = y
    at_z = z
    if status != 0:
        q1, q2, q3 = _nearest(model, leg, x, y, z)
        at_x, at_y, at_z = _foot(model, leg, q1, q2, q3)
    joint_out[0] = q1
    joint_out[1] = q2
    joint_out[2] = q3
    reached_out[0] = at_x
    reached_out[1] = at_y
    reached_out[2] = at_z
    return status


@kernel
def leg_inverse_batch(
    model: LegModel,
    leg: int,
    foot: FloatArray,
    joint_out: FloatArray,
    reached_out: FloatArray,
    status_out: IntArray,
) -> int:
    """Solve one leg for n foot positions.

    Args:
        model: the legs.
        leg: index of the leg.
        foot: (n, 3) in the leg's frame [m].
        joint_out: (n, 3) [rad].
        reached_out: (n, 3) [m].
        status_out: (n,) as `leg_inverse` returns it.

    Returns:
        How many were reached.
    """
    reached = 0
    for i in range(foot.shape[0]):
        status_out[i] = leg_inverse(model, leg, foot[i], joint_out[i], reached_out[i])
        if status_out[i] == 0:
            reached += 1
    return reached


@kernel
def legs_forward(model: LegModel, joint: FloatArray, foot_out: FloatArray) -> None:
    """Feet of all legs in the body frame.

    Args:
        model: the legs.
        joint: (L, 3) [rad].
        foot_out: (L, 3) in the body frame [m].
    """
    for leg in range(joint.shape[0]):
        x, y, z = _foot(model, leg, joint[leg, 0], joint[leg, 1], joint[leg, 2])
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
