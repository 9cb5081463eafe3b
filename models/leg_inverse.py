"""Joint angles of a walking leg for a wanted foot, within the joints' limits.

The inverse is Liu 2020 eq. 1b with arc tangents in place of its arc cosines, which
lose half the digits where the leg is straight or folded. A foot has up to four
postures. The knee folds to one side only (the range of q3 has one sign), and the
posture with the foot on the outer side of the coxa axis is preferred; so the angles are
continuous wherever the foot does not pass through that axis.

A foot out of reach is led to the nearest point that the joints allow. In the plane of
femur and tibia that point lies on one of four arcs, on which q2 or q3 is at an end of
its range; the turn q1 and the point in the plane are then improved in turns, from four
starts. With l1 = 0 this is exact after one turn.

Angles, links and the frame of a leg are those of models/leg.
"""

import numpy as np

from models.leg import LegModel, leg_foot
from models.numerics import FloatArray, IntArray, kernel

__all__ = [
    "COXA_LIMITED",
    "FEMUR_LIMITED",
    "INSIDE_OFFSET",
    "NOT_FINITE",
    "TOO_FAR",
    "TOO_NEAR",
    "leg_inverse",
    "leg_inverse_batch",
    "leg_reasons",
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
            at_x, at_y, at_z = leg_foot(model, leg, q1, q2, q3)
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
        at_x, at_y, at_z = leg_foot(model, leg, q1, q2, q3)
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
