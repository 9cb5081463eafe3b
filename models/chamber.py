"""Chamber lengths to segment coordinates and back, and what chambers allow.

A chamber at azimuth β and distance d from the axis of a constant-curvature segment is
an arc of its own, of length l = ℓ - d θ cos(φ - β) (Gong 2018 eq. 14, Liu 2020 eq. 1f,
Zhang 2022). In segment coordinates this is linear,

    l = ℓ - d (Δx cos β + Δy sin β),

so lengths to coordinates is one constant matrix: exact for three chambers, least
squares for more. Gong eqs 1-3 and Zhang eq. 3 are that inverse in polar form, for β =
90, 210, 330 and 0, 120, 240 degrees; their arc tangents are to be of two arguments.

A chamber under pressure only grows. So both papers let at most two of three chambers be
active: the shortest, which lies on the inside of the bend, keeps its initial length.
Gong eq. 12 and Liu eq. 1d print it as sectors of φ; here it is

    ℓ = max over j of (initial length + d (Δx cos β + Δy sin β))

which is the same, continuous, and right for unlike chambers too. Of C chambers it
leaves up to C - 1 active.

Valid while every chamber length is positive. Leaves out ballooning and the rigid ends.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from models.numerics import FloatArray, kernel

__all__ = [
    "BEND_CUT",
    "CHAMBER_LONG",
    "CHAMBER_SHORT",
    "LIU_PRESSURE_GAIN",
    "LIU_PRESSURE_OFFSET",
    "ChamberModel",
    "bend_room",
    "box_extension_range",
    "build_chamber_model",
    "chamber_coordinates",
    "chamber_lengths",
    "distal_pressure",
    "inscribed_bend",
    "length_interval",
    "limit_coordinates",
    "proximal_pressure",
    "shortest_idle_length",
    "shortest_idle_room",
]

CHAMBER_SHORT = 1
"""A chamber would have to be shorter than its least length."""
CHAMBER_LONG = 2
"""A chamber would have to be longer than its greatest length."""
BEND_CUT = 4
"""The bend is more than the chambers allow at any length of the segment."""

_ROUNDING = 1e-12  # [m] beyond a limit, and of a factor 1, that is not reported

LIU_PRESSURE_GAIN = 1.02
"""a of Liu 2020 eq. 1g."""
LIU_PRESSURE_OFFSET = -890.0
"""b of Liu 2020 eq. 1g [Pa]: -0.89 printed without unit, taken as kPa, as Fig. 3g."""


class ChamberModel(NamedTuple):
    """Constant parameters of the C chambers of one segment."""

    rest_length: float
    """Arc length of the segment at δℓ = 0 [m]."""
    offset: FloatArray
    """(C, 2) place of each chamber in the section, d (cos β, sin β) [m]."""
    inverse: FloatArray
    """(3, C) least-squares map of chamber lengths to (Δx, Δy, ℓ) [rad/m, rad/m, 1]."""
    initial_length: FloatArray
    """(C,) without pressure [m]."""
    least_length: FloatArray
    """(C,) [m]; the initial length, unless a vacuum can shorten the chamber."""
    greatest_length: FloatArray
    """(C,) [m] at the greatest pressure."""


def build_chamber_model(
    azimuth: ArrayLike,
    distance: ArrayLike,
    initial_length: ArrayLike,
    greatest_length: ArrayLike,
    least_length: ArrayLike | None = None,
    rest_length: float | None = None,
) -> ChamberModel:
    """Build the model of a segment's chambers; one number stands for all chambers.

    Args:
        azimuth: (C,) β, about the segment's z axis from x [rad].
        distance: d from the axis [m], scalar or (C,).
        initial_length: without pressure [m], scalar or (C,).
        greatest_length: [m], scalar or (C,).
        least_length: [m], scalar or (C,); the initial length where not given.
        rest_length: arc length at δℓ = 0 [m]; the straight segment's, which is
            the greatest initial length, where not given.

    Raises:
        ValueError: fewer than three chambers, or all in one line so that a bend across
            it has no effect; or not least <= initial <= greatest for every pair.
    """
    beta = np.atleast_1d(np.asarray(azimuth, dtype=np.float64))
    shape = beta.shape

    def every(value: ArrayLike) -> FloatArray:
        return np.array(np.broadcast_to(np.asarray(value, dtype=np.float64), shape))

    offset = every(distance)[:, None] * np.stack([np.cos(beta), np.sin(beta)], axis=1)
    initial = every(initial_length)
    least = initial.copy() if least_length is None else every(least_length)
    greatest = every(greatest_length)
    rest = float(initial.max()) if rest_length is None else float(rest_length)
    matrix = np.column_stack([-offset, np.ones(shape)])
    scale = np.array([np.abs(offset).max(), np.abs(offset).max(), 1.0])
    if not (
        len(beta) >= 3
        and np.all(np.isfinite(matrix))
        and scale[0] > 0.0
        and np.linalg.cond(matrix / scale) < 1e6
    ):
        raise ValueError(
            f"{len(beta)} chambers at {np.round(offset, 4).tolist()} m do not give two "
            "bends and a length; put at least three around the axis, not in one line"
        )
    if not (
        least.min() > 0.0
        and np.all(least <= initial)
        and np.all(initial <= greatest)
        and least.max() <= greatest.min()
        and initial.max() <= greatest.min()
    ):
        raise ValueError(
            f"chamber lengths must keep 0 < least {least.tolist()} <= initial "
            f"{initial.tolist()} <= greatest {greatest.tolist()} m, so that the "
            "straight segment is within all limits"
        )
    inverse = np.linalg.pinv(matrix / scale) / scale[:, None]
    return ChamberModel(rest, offset, inverse, initial, least, greatest)


@kernel
def chamber_lengths(
    model: ChamberModel, coordinates: FloatArray, length_out: FloatArray
) -> None:
    """Lengths of the chambers of a segment (Gong 2018 eq. 14, Liu 2020 eq. 1f).

    Args:
        model: the chambers.
        coordinates: (3,) segment coordinates [rad, rad, m].
        length_out: (C,) [m].
    """
    length = model.rest_length + coordinates[2]
    for j in range(model.offset.shape[0]):
        length_out[j] = length - (
            coordinates[0] * model.offset[j, 0] + coordinates[1] * model.offset[j, 1]
        )


@kernel
def chamber_coordinates(
    model: ChamberModel, length: FloatArray, coordinates_out: FloatArray
) -> float:
    """Segment coordinates from chamber lengths, in the least squares sense.

    Args:
        model: the chambers.
        length: (C,) [m].
        coordinates_out: (3,) segment coordinates [rad, rad, m].

    Returns:
        Root mean square of what is left of the lengths [m]: rounding for three
        chambers, for more the part that no arc of constant curvature has.
    """
    for i in range(3):
        total = 0.0
        for j in range(length.shape[0]):
            total += model.inverse[i, j] * length[j]
        coordinates_out[i] = total
    square = 0.0
    for j in range(length.shape[0]):
        gap = coordinates_out[2] - length[j]
        gap -= coordinates_out[0] * model.offset[j, 0]
        gap -= coordinates_out[1] * model.offset[j, 1]
        square += gap * gap
    coordinates_out[2] -= model.rest_length
    return float(np.sqrt(square / length.shape[0]))


@kernel
def shortest_idle_length(model: ChamberModel, delta_x: float, delta_y: float) -> float:
    """Arc length of a bend whose shortest chamber keeps its initial length.

    Gong 2018 eq. 12, Liu 2020 eq. 1d: at most two of three chambers are active.

    Args:
        model: the chambers.
        delta_x: θ cos φ [rad].
        delta_y: θ sin φ [rad].

    Returns:
        Arc length ℓ [m].
    """
    length = -np.inf
    for j in range(model.offset.shape[0]):
        bend = delta_x * model.offset[j, 0] + delta_y * model.offset[j, 1]
        length = max(length, model.initial_length[j] + bend)
    return length


@kernel
def length_interval(
    model: ChamberModel, delta_x: float, delta_y: float
) -> tuple[float, float]:
    """Arc lengths at which a bend keeps every chamber within its limits.

    Args:
        model: the chambers.
        delta_x: θ cos φ [rad].
        delta_y: θ sin φ [rad].

    Returns:
        Least and greatest arc length ℓ [m]; least > greatest where there is none.
    """
    least = -np.inf
    greatest = np.inf
    for j in range(model.offset.shape[0]):
        bend = delta_x * model.offset[j, 0] + delta_y * model.offset[j, 1]
        least = max(least, model.least_length[j] + bend)
        greatest = min(greatest, model.greatest_length[j] + bend)
    return least, greatest


@kernel
def _room(
    floor: FloatArray,
    ceiling: FloatArray,
    offset: FloatArray,
    delta_x: float,
    delta_y: float,
) -> float:
    """Greatest factor on a bend that leaves floor + bend_i <= ceiling + bend_j."""
    room = np.inf
    for i in range(offset.shape[0]):
        for j in range(offset.shape[0]):
            spread = delta_x * (offset[i, 0] - offset[j, 0])
            spread += delta_y * (offset[i, 1] - offset[j, 1])
            if spread > 0.0:
                room = min(room, (ceiling[j] - floor[i]) / spread)
    return room


@kernel
def bend_room(model: ChamberModel, delta_x: float, delta_y: float) -> float:
    """Factor by which a bend may grow until no arc length suits all chambers.

    With (cos φ, sin φ) as the bend it is the greatest θ in the direction φ.

    Args:
        model: the chambers.
        delta_x: θ cos φ [rad].
        delta_y: θ sin φ [rad].

    Returns:
        The factor; infinite for no bend.
    """
    return _room(
        model.least_length, model.greatest_length, model.offset, delta_x, delta_y
    )


@kernel
def shortest_idle_room(model: ChamberModel, delta_x: float, delta_y: float) -> float:
    """Do as `bend_room` where the shortest chamber keeps its initial length.

    Args:
        model: the chambers.
        delta_x: θ cos φ [rad].
        delta_y: θ sin φ [rad].

    Returns:
        The factor; infinite for no bend.
    """
    return _room(
        model.initial_length, model.greatest_length, model.offset, delta_x, delta_y
    )


@kernel
def limit_coordinates(model: ChamberModel, coordinates_out: FloatArray) -> int:
    """Bring segment coordinates to where every chamber is within its limits.

    A bend that no arc length allows is made smaller in its direction; then the arc
    length is moved into what is allowed.

    Args:
        model: the chambers.
        coordinates_out: (3,) segment coordinates [rad, rad, m], changed in place.

    Returns:
        0, or the bits BEND_CUT, CHAMBER_SHORT and CHAMBER_LONG of what was wrong.
    """
    status = 0
    room = bend_room(model, coordinates_out[0], coordinates_out[1])
    if room < 1.0:
        coordinates_out[0] *= room
        coordinates_out[1] *= room
        if room < 1.0 - _ROUNDING:
            status |= BEND_CUT
    least, greatest = length_interval(model, coordinates_out[0], coordinates_out[1])
    length = model.rest_length + coordinates_out[2]
    if length < least:
        coordinates_out[2] = least - model.rest_length
        if length < least - _ROUNDING:
            status |= CHAMBER_SHORT
    elif length > greatest:
        coordinates_out[2] = greatest - model.rest_length
        if length > greatest + _ROUNDING:
            status |= CHAMBER_LONG
    return status


def inscribed_bend(model: ChamberModel) -> float:
    """Return the greatest θ that the chambers allow in every direction φ [rad].

    Each at some arc length of its own; for three like chambers it is their travel over
    √3 d.
    """
    between = model.offset[:, None, :] - model.offset[None, :, :]
    spread = np.hypot(between[..., 0], between[..., 1])
    travel = model.greatest_length[None, :] - model.least_length[:, None]
    apart = spread > 0.0
    return float((travel[apart] / spread[apart]).min())


def box_extension_range(model: ChamberModel, bend: float) -> tuple[float, float]:
    """Extensions that the chambers allow at every bend up to a given one.

    For solvers that know only separate limits of θ and δℓ, as `RobotModel` has them.

    Args:
        model: the chambers.
        bend: greatest θ, in any direction [rad].

    Returns:
        Least and greatest δℓ [m]; least > greatest where the bend is too much for it.
    """
    reach = bend * np.hypot(model.offset[:, 0], model.offset[:, 1])
    least = float((model.least_length + reach).max())
    greatest = float((model.greatest_length - reach).min())
    return least - model.rest_length, greatest - model.rest_length


@kernel
def proximal_pressure(gain: float, offset: float, distal: float) -> float:
    """Pressure of a chamber of the proximal segment of an opposing pair.

    p1 = a p2 + b keeps the S shape in spite of buoyancy and the rigid joint (Liu 2020
    eq. 1g). It may come out below zero; the caller limits it.

    Args:
        gain: a.
        offset: b [Pa].
        distal: p2, of the same chamber of the distal segment [Pa].

    Returns:
        p1 [Pa].
    """
    return gain * distal + offset


@kernel
def distal_pressure(gain: float, offset: float, proximal: float) -> float:
    """Invert `proximal_pressure`.

    Args:
        gain: a, not zero.
        offset: b [Pa].
        proximal: p1 [Pa].

    Returns:
        p2 [Pa].
    """
    return (proximal - offset) / gain
