"""Arms whose first two segments bend oppositely: inverse kinematics of Liu and Gong.

The second segment bends as the first does, in the opposite direction, because its
chambers are mounted turned by 180 degrees and share the first one's lengths. The pair
then moves its end by twice the first segment's chord and turns nothing (Liu 2020 eqs
1c, 1e; Gong 2018 eqs 4-6). Behind the pair is

- a third bending segment: `PairBendModel`, five coordinates (x, y, z, θ3, φ3). With the
  third segment's shortest chamber idle, its arc follows from θ3 and φ3 alone, and the
  pair takes what is left: closed form (Liu 2020 eqs 1d-1f);
- a straight elongation segment: `PairElongationModel`, three coordinates (x, y, z).
  Here the pair's shortest chamber is idle, so that r = l0/θ + d a, with a the greatest
  cos(φ - β), and

      r (1 - cos θ) = ρ/2,   ρ = √(x² + y²)

  is transcendental: Gong 2018 calls its eqs 11-14 a solution, but printed eq. 13 has no
  closed form (and says 0 = 0 at x = 0). Newton, kept inside a bracket, needs at most 8
  steps. It takes the lower branch, θ below 2.331 rad, where the left side grows with θ.

Everything is in the arm's base frame, z along the straight arm. An arm that hangs from
its mount in Gong's world (z up) has it turned by π about x: `hanging_to_base`. That
one rule gives Gong's signs in eqs 11 and 14.

Poses out of reach give a status and coordinates within all limits, not the nearest in
any sense. Leaves out gravity, the rigid joints between segments and the gripper.
"""

from typing import NamedTuple

import numpy as np

from models.chamber import (
    BEND_CUT,
    CHAMBER_LONG,
    CHAMBER_SHORT,
    ChamberModel,
    chamber_lengths,
    limit_coordinates,
    shortest_idle_length,
    shortest_idle_room,
)
from models.numerics import FloatArray, IntArray, kernel

__all__ = [
    "END_BEND",
    "END_LONG",
    "END_SHORT",
    "MOST_ITERATIONS",
    "NOT_CONVERGED",
    "NOT_FINITE",
    "PAIR_BEND",
    "PAIR_LONG",
    "PAIR_SHORT",
    "PairBendModel",
    "PairElongationModel",
    "hanging_to_base",
    "opposing_reasons",
    "pair_bend_batch",
    "pair_bend_forward",
    "pair_bend_inverse",
    "pair_elongation_batch",
    "pair_elongation_forward",
    "pair_elongation_inverse",
]

PAIR_SHORT = CHAMBER_SHORT
PAIR_LONG = CHAMBER_LONG
PAIR_BEND = BEND_CUT
END_SHORT = 8
END_LONG = 16
END_BEND = 32
NOT_CONVERGED = 64
NOT_FINITE = 128

MOST_ITERATIONS = 8

_REASONS = {
    PAIR_SHORT: "too near: a chamber of the opposing pair would be shorter than it can",
    PAIR_LONG: "too far: a chamber of the opposing pair would be longer than it can",
    PAIR_BEND: "too far sideways: the opposing pair cannot bend that much",
    END_SHORT: "too near: the end segment would be shorter than it can",
    END_LONG: "too far: the end segment would be longer than it can",
    END_BEND: "the end segment cannot bend that much in this direction",
    NOT_CONVERGED: "no solution after the greatest number of iterations",
    NOT_FINITE: "the wanted pose is not a number",
}

_FOLD = 2.331122370414423  # [rad] where (1 - cos θ)/θ is greatest: tan(θ/2) = θ
_CONVERGED = 1e-9  # of θ, in a quadratic iteration: the next step is below rounding
_SMALL = 1e-6  # [rad] below which the first guess is exact to rounding
_ROUNDING = 1e-12  # [m] beyond a limit, and of a factor 1, that is not reported


class PairBendModel(NamedTuple):
    """Constant parameters of an opposing pair and a third bending segment (Liu)."""

    pair: ChamberModel
    """Chambers of segment 1; those of segment 2 are the same turned by π."""
    end: ChamberModel
    """Chambers of segment 3."""


class PairElongationModel(NamedTuple):
    """Constant parameters of an opposing pair and an elongation segment (Gong)."""

    pair: ChamberModel
    """Chambers of segment 1; those of segment 2 are the same turned by π."""
    elongation_rest: float
    """Length of the elongation segment at δℓ = 0 [m]."""
    elongation_least: float
    """[m]."""
    elongation_greatest: float
    """[m]."""


def opposing_reasons(status: int) -> list[str]:
    """Say in words why a pose could not be reached; empty where it was."""
    return [text for bit, text in _REASONS.items() if status & bit]


def hanging_to_base(point: FloatArray) -> FloatArray:
    """Turn points from a world with z up to the base frame of a hanging arm, or back.

    Args:
        point: (..., 3) [m].

    Returns:
        (..., 3) (x, -y, -z): turned by π about x, its own inverse.
    """
    turned: FloatArray = point * np.array([1.0, -1.0, -1.0])
    return turned


@kernel
def _sinc(angle: float) -> float:
    return float(np.sin(angle) / angle) if angle != 0.0 else 1.0


@kernel
def _arc_end(
    delta_x: float, delta_y: float, length: float
) -> tuple[float, float, float]:
    """End point of an arc; its chord is ℓ sin(θ/2)/(θ/2), at half the bend."""
    half = 0.5 * np.sqrt(delta_x * delta_x + delta_y * delta_y)
    ratio = _sinc(half)
    across = 0.5 * length * ratio * ratio
    return across * delta_x, across * delta_y, length * ratio * np.cos(half)


@kernel
def _write_pair(
    delta_x: float, delta_y: float, extension: float, coordinates_out: FloatArray
) -> None:
    coordinates_out[0, 0] = delta_x
    coordinates_out[0, 1] = delta_y
    coordinates_out[0, 2] = extension
    coordinates_out[1, 0] = -delta_x
    coordinates_out[1, 1] = -delta_y
    coordinates_out[1, 2] = extension


@kernel
def pair_bend_inverse(
    model: PairBendModel,
    target: FloatArray,
    coordinates_out: FloatArray,
    length_out: FloatArray,
) -> int:
    """Solve Liu's arm for a pose, in closed form (Liu 2020 eqs 1c-1f).

    Args:
        model: the arm.
        target: (5,) tip (x, y, z) [m], then θ3 of either sign and φ3 [rad].
        coordinates_out: (3, 3) segment coordinates [rad, rad, m].
        length_out: (C1 + C3,) chamber lengths of segment 1, which are those of segment
            2, then of segment 3 [m].

    Returns:
        0, or the bits PAIR_... and END_... of what is out of reach, or NOT_FINITE
        alone, with nothing written.
    """
    total = 0.0
    for i in range(5):
        total += abs(target[i])
    if not total < np.inf:
        return NOT_FINITE
    status = 0
    delta_x = target[3] * np.cos(target[4])
    delta_y = target[3] * np.sin(target[4])
    room = shortest_idle_room(model.end, delta_x, delta_y)
    if room < 1.0:
        delta_x *= room
        delta_y *= room
        if room < 1.0 - _ROUNDING:
            status |= END_BEND
    length = shortest_idle_length(model.end, delta_x, delta_y)
    coordinates_out[2, 0] = delta_x
    coordinates_out[2, 1] = delta_y
    coordinates_out[2, 2] = length - model.end.rest_length
    x, y, z = _arc_end(delta_x, delta_y, length)
    x = 0.5 * (target[0] - x)
    y = 0.5 * (target[1] - y)
    z = 0.5 * (target[2] - z)
    across = np.sqrt(x * x + y * y)
    if across > 0.0:
        half = np.arctan2(across, z)
        turn = 2.0 * half / across
        length = 0.5 * turn * (across * across + z * z)
    else:
        turn = 0.0
        length = max(z, 0.0)
    _write_pair(turn * x, turn * y, length - model.pair.rest_length, coordinates_out)
    status |= limit_coordinates(model.pair, coordinates_out[0])
    _write_pair(
        coordinates_out[0, 0],
        coordinates_out[0, 1],
        coordinates_out[0, 2],
        coordinates_out,
    )
    count = model.pair.initial_length.shape[0]
    chamber_lengths(model.pair, coordinates_out[0], length_out[:count])
    chamber_lengths(model.end, coordinates_out[2], length_out[count:])
    return status


@kernel
def pair_bend_forward(
    model: PairBendModel, coordinates: FloatArray, target_out: FloatArray
) -> None:
    """Pose of Liu's arm from its coordinates, of which segment 2 is implied.

    Args:
        model: the arm.
        coordinates: (3, 3) segment coordinates [rad, rad, m].
        target_out: (5,) tip (x, y, z) [m], θ3 >= 0 and φ3 [rad].
    """
    x1, y1, z1 = _arc_end(
        coordinates[0, 0],
        coordinates[0, 1],
        model.pair.rest_length + coordinates[0, 2],
    )
    x3, y3, z3 = _arc_end(
        coordinates[2, 0], coordinates[2, 1], model.end.rest_length + coordinates[2, 2]
    )
    target_out[0] = 2.0 * x1 + x3
    target_out[1] = 2.0 * y1 + y3
    target_out[2] = 2.0 * z1 + z3
    target_out[3] = np.hypot(coordinates[2, 0], coordinates[2, 1])
    target_out[4] = np.arctan2(coordinates[2, 1], coordinates[2, 0])


@kernel
def _idle_line(
    model: ChamberModel, theta: float, cosine: float, sine: float
) -> tuple[float, float]:
    """Arc length at bend θ with the shortest chamber idle, and its slope by θ."""
    length = -np.inf
    slope = 0.0
    for j in range(model.offset.shape[0]):
        rate = cosine * model.offset[j, 0] + sine * model.offset[j, 1]
        value = model.initial_length[j] + theta * rate
        if value > length:
            length = value
            slope = rate
    return length, slope


@kernel
def _bend_for(
    model: ChamberModel, cosine: float, sine: float, across: float
) -> tuple[float, int, int]:
    """Bend θ at which one segment's end is `across` aside, steps taken and status."""
    most = min(shortest_idle_room(model, cosine, sine), _FOLD)
    length, slope = _idle_line(model, most, cosine, sine)
    reach = length * (1.0 - np.cos(most)) / most
    if across >= reach:
        return most, 0, PAIR_BEND if across > reach + _ROUNDING else 0
    # 1 - cos θ = θ²/2 gives the first guess
    start = length - slope * most
    root = start * start + 8.0 * slope * across
    theta = 4.0 * across / (start + np.sqrt(max(root, 0.0)))
    if theta < _SMALL:
        return theta, 0, 0
    low = 0.0
    high = most
    if not theta < high:
        theta = 0.5 * high
    for iteration in range(1, MOST_ITERATIONS + 1):
        sine_half = np.sin(0.5 * theta)
        length, slope = _idle_line(model, theta, cosine, sine)
        part = 2.0 * sine_half * sine_half / theta  # (1 - cos θ)/θ
        part_slope = (2.0 * sine_half * np.cos(0.5 * theta) - part) / theta
        gap = length * part - across
        if gap > 0.0:
            high = theta
        else:
            low = theta
        following = theta - gap / (slope * part + length * part_slope)
        if not (low <= following <= high):
            following = 0.5 * (low + high)
        moved = abs(following - theta)
        theta = following
        if moved <= _CONVERGED * theta:
            return theta, iteration, 0
    return theta, MOST_ITERATIONS, NOT_CONVERGED


@kernel
def pair_elongation_inverse(
    model: PairElongationModel,
    target: FloatArray,
    coordinates_out: FloatArray,
    length_out: FloatArray,
) -> tuple[int, int]:
    """Solve Gong's arm for a tip position (Gong 2018 eqs 11-14, corrected).

    Args:
        model: the arm.
        target: (3,) tip in the base frame [m].
        coordinates_out: (3, 3) segment coordinates [rad, rad, m]; the third row is
            (0, 0, δℓ) of the elongation segment.
        length_out: (C + 1,) chamber lengths of segment 1, which are those of segment
            2, then the length of the elongation segment [m].

    Returns:
        0, or the bits PAIR_BEND, END_SHORT, END_LONG of what is out of reach, or
        NOT_CONVERGED (best effort), or NOT_FINITE alone with nothing written; and how
        many Newton steps were taken.
    """
    across = np.sqrt(target[0] * target[0] + target[1] * target[1])
    if not across + abs(target[2]) < np.inf:
        return NOT_FINITE, 0
    cosine = 1.0
    sine = 0.0
    if across > 0.0:
        cosine = target[0] / across
        sine = target[1] / across
    theta, iterations, status = _bend_for(model.pair, cosine, sine, 0.5 * across)
    length, _ = _idle_line(model.pair, theta, cosine, sine)
    _write_pair(
        theta * cosine, theta * sine, length - model.pair.rest_length, coordinates_out
    )
    elongation = target[2] - 2.0 * length * _sinc(theta)
    if elongation < model.elongation_least:
        if elongation < model.elongation_least - _ROUNDING:
            status |= END_SHORT
        elongation = model.elongation_least
    elif elongation > model.elongation_greatest:
        if elongation > model.elongation_greatest + _ROUNDING:
            status |= END_LONG
        elongation = model.elongation_greatest
    coordinates_out[2, 0] = 0.0
    coordinates_out[2, 1] = 0.0
    coordinates_out[2, 2] = elongation - model.elongation_rest
    count = model.pair.initial_length.shape[0]
    chamber_lengths(model.pair, coordinates_out[0], length_out[:count])
    length_out[count] = elongation
    return status, iterations


@kernel
def pair_elongation_forward(
    model: PairElongationModel, coordinates: FloatArray, target_out: FloatArray
) -> None:
    """Tip of Gong's arm from its coordinates, of which segment 2 is implied (eq. 10).

    Args:
        model: the arm.
        coordinates: (3, 3) segment coordinates [rad, rad, m].
        target_out: (3,) tip in the base frame [m].
    """
    x1, y1, z1 = _arc_end(
        coordinates[0, 0],
        coordinates[0, 1],
        model.pair.rest_length + coordinates[0, 2],
    )
    target_out[0] = 2.0 * x1
    target_out[1] = 2.0 * y1
    target_out[2] = 2.0 * z1 + model.elongation_rest + coordinates[2, 2]


@kernel
def pair_bend_batch(
    model: PairBendModel,
    target: FloatArray,
    coordinates_out: FloatArray,
    length_out: FloatArray,
    status_out: IntArray,
) -> int:
    """Solve Liu's arm for n poses.

    Args:
        model: the arm.
        target: (n, 5) as of `pair_bend_inverse`.
        coordinates_out: (n, 3, 3) [rad, rad, m].
        length_out: (n, C1 + C3) [m].
        status_out: (n,).

    Returns:
        How many were solved.
    """
    solved = 0
    for i in range(target.shape[0]):
        status_out[i] = pair_bend_inverse(
            model, target[i], coordinates_out[i], length_out[i]
        )
        if status_out[i] == 0:
            solved += 1
    return solved


@kernel
def pair_elongation_batch(
    model: PairElongationModel,
    target: FloatArray,
    coordinates_out: FloatArray,
    length_out: FloatArray,
    status_out: IntArray,
    iterations_out: IntArray,
) -> int:
    """Solve Gong's arm for n tip positions.

    Args:
        model: the arm.
        target: (n, 3) as of `pair_elongation_inverse`.
        coordinates_out: (n, 3, 3) [rad, rad, m].
        length_out: (n, C + 1) [m].
        status_out: (n,).
        iterations_out: (n,) Newton steps.

    Returns:
        How many were solved.
    """
    solved = 0
    for i in range(target.shape[0]):
        status, iterations = pair_elongation_inverse(
            model, target[i], coordinates_out[i], length_out[i]
        )
        status_out[i] = status
        iterations_out[i] = iterations
        if status == 0:
            solved += 1
    return solved
