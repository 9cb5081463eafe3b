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
def _side(model: RobotModel, segment: int, tendon: int, x: float, y: float) -> float:
    """What a bend adds to the arc length that a chamber length asks for [m]."""
    offset = model.tendon_offset_ratio[tendon] * model.segment_radius[segment, 0]
    angle = model.tendon_angle[tendon]
    return float(offset * (x * np.cos(angle) + y * np.sin(angle)))


@kernel
def _room(model: RobotModel, row: int, x: float, y: float) -> float:
    """Factor, at most 1, that brings a bend to where some arc length suits it."""
    room = 1.0
    first, stop = model.segment_chambers[row, 0], model.segment_chambers[row, 1]
    for i in range(first, stop):
        for j in range(first, stop):
            spread = _side(model, row, i, x, y) - _side(model, row, j, x, y)
            travel = model.tendon_range[j, 1] - model.tendon_range[i, 0]
            if spread * room > travel:
                room = travel / spread
    return room


@kernel
def chamber_floor(
    model: RobotModel, segment: int, x: float, y: float
) -> tuple[float, float, float, float]:
    """Least extension that the chambers of a segment allow at a bend.

    Args:
        model: the robot.
        segment: index of the segment in the robot.
        x: Δx [rad].
        y: Δy [rad].

    Returns:
        Least δℓ [m], its derivatives by Δx and Δy [m/rad], and how much more than the
        least is allowed [m], below 0 where the bend is too much for any length. A
        segment without chambers has its extension range.
    """
    first, stop = model.segment_chambers[segment, 0], model.segment_chambers[segment, 1]
    if first == stop:
        low, high = model.extension_range[segment, 0], model.extension_range[segment, 1]
        return low, 0.0, 0.0, high - low
    least, greatest = -np.inf, np.inf
    by_x, by_y = 0.0, 0.0
    for i in range(first, stop):
        side = _side(model, segment, i, x, y)
        greatest = min(greatest, model.tendon_range[i, 1] + side)
        if model.tendon_range[i, 0] + side > least:
            least = model.tendon_range[i, 0] + side
            by_x = _side(model, segment, i, 1.0, 0.0)
            by_y = _side(model, segment, i, 0.0, 1.0)
    if model.idle_chamber[segment] != 0:
        greatest = min(least, greatest)
    return least - model.segment_length[segment], by_x, by_y, greatest - least


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
    start = model.limb_segment_start[limb]
    for k in range(model.limb_segment_start[limb + 1] - start):
        row = start + k
        if model.segment_chambers[row, 0] == model.segment_chambers[row, 1]:
            continue
        x, y = coordinates_out[k, 0], coordinates_out[k, 1]
        room = _room(model, row, x, y)
        x *= room
        y *= room
        floor, _, _, span = chamber_floor(model, row, x, y)
        extension = coordinates_out[k, 2]
        held = max(min(extension, floor + span), floor)
        if room < 1.0 - 1e-12 or abs(held - extension) > 1e-12:
            changed += 1
        coordinates_out[k, 0] = x
        coordinates_out[k, 1] = y
        coordinates_out[k, 2] = held
    return changed
