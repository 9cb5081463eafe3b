"""What the chambers of a whole limb allow, as a step of the 1 kHz loop needs it.

The same limits as `models.chamber` gives for one segment, read from the `RobotModel`:
a chamber is a tendon there that can only push. A bend that no arc length allows is
made smaller in its direction; then the arc length moves into what is allowed or, where
at most all chambers but one may be active (`idle_chamber`), to where the shortest
chamber keeps its least length (Gong 2018 eq. 12, Liu 2020 eq. 1d).

Valid for limbs without taper.
"""

import numpy as np

from models.numerics import FloatArray, kernel
from models.robot import RobotModel

__all__ = ["chamber_floor", "hold_chambers"]


@kernel
def _is_chamber(model: RobotModel, tendon: int, segment: int) -> bool:
    """Whether a tendon is a chamber of a segment of its limb."""
    return bool(
        model.tendon_tension_least[tendon] < 0.0
        and model.tendon_origin[tendon] == segment
    )


@kernel
def _side(model: RobotModel, segment: int, tendon: int, x: float, y: float) -> float:
    """What a bend adds to the arc length that a chamber length asks for [m]."""
    offset = model.tendon_offset_ratio[tendon] * model.segment_radius[segment, 0]
    angle = model.tendon_angle[tendon]
    return float(offset * (x * np.cos(angle) + y * np.sin(angle)))


@kernel
def _room(model: RobotModel, limb: int, segment: int, x: float, y: float) -> float:
    """Factor, at most 1, that brings a bend to where some arc length suits it."""
    room = 1.0
    row = model.limb_segment_start[limb] + segment
    start, stop = model.limb_tendon_start[limb], model.limb_tendon_start[limb + 1]
    for i in range(start, stop):
        if not _is_chamber(model, i, segment):
            continue
        for j in range(start, stop):
            if j == i or not _is_chamber(model, j, segment):
                continue
            spread = _side(model, row, i, x, y) - _side(model, row, j, x, y)
            travel = model.tendon_range[j, 1] - model.tendon_range[i, 0]
            if spread * room > travel:
                room = travel / spread
    return room


@kernel
def chamber_floor(
    model: RobotModel, limb: int, segment: int, x: float, y: float
) -> tuple[float, float, float, float]:
    """Least extension that the chambers of a segment allow at a bend.

    Args:
        model: the robot.
        limb: index of the limb.
        segment: index of the segment in the limb.
        x: Δx [rad].
        y: Δy [rad].

    Returns:
        Least δℓ [m], its derivatives by Δx and Δy [m/rad], and how much more than the
        least is allowed [m], below 0 where the bend is too much for any length. A
        segment without chambers has its extension range.
    """
    row = model.limb_segment_start[limb] + segment
    least, greatest = -np.inf, np.inf
    by_x, by_y = 0.0, 0.0
    for i in range(model.limb_tendon_start[limb], model.limb_tendon_start[limb + 1]):
        if not _is_chamber(model, i, segment):
            continue
        side = _side(model, row, i, x, y)
        greatest = min(greatest, model.tendon_range[i, 1] + side)
        if model.tendon_range[i, 0] + side > least:
            least = model.tendon_range[i, 0] + side
            by_x = _side(model, row, i, 1.0, 0.0)
            by_y = _side(model, row, i, 0.0, 1.0)
    if least == -np.inf:
        low, high = model.extension_range[row, 0], model.extension_range[row, 1]
        return low, 0.0, 0.0, high - low
    if model.idle_chamber[row] != 0:
        greatest = min(least, greatest)
    return least - model.segment_length[row], by_x, by_y, greatest - least


@kernel
def hold_chambers(model: RobotModel, limb: int, coordinates_out: FloatArray) -> int:
    """Bring a limb's coordinates to where every chamber is within its limits.

    Args:
        model: the robot.
        limb: index of the limb; one without chambers is left as it is.
        coordinates_out: (n, 3) segment coordinates [rad, rad, m], changed in place.

    Returns:
        Number of segments that were changed by more than rounding.
    """
    changed = 0
    if model.limb_tendon_start[limb] == model.limb_tendon_start[limb + 1]:
        return changed
    if model.tendon_tension_least[model.limb_tendon_start[limb]] == 0.0:
        return changed
    first = model.limb_segment_start[limb]
    for k in range(model.limb_segment_start[limb + 1] - first):
        x, y = coordinates_out[k, 0], coordinates_out[k, 1]
        room = _room(model, limb, k, x, y)
        x *= room
        y *= room
        floor, _, _, span = chamber_floor(model, limb, k, x, y)
        extension = coordinates_out[k, 2]
        held = max(min(extension, floor + span), floor)
        if room < 1.0 - 1e-12 or abs(held - extension) > 1e-12:
            changed += 1
        coordinates_out[k, 0] = x
        coordinates_out[k, 1] = y
        coordinates_out[k, 2] = held
    return changed
