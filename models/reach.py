"""Inverse kinematics of any limb from cold: position, or position and direction.

Levenberg-Marquardt with the limits inside the problem of each step
(models/limited_step), so that no step is clipped. W = μ |r| l K, r the way that is
left, l the limb's length and K the stiffness over that of the softest bend; W goes with
r, so that the end is quadratic (Sugihara 2011, T-RO 27, 984), and μ follows the gain of
each step (Nielsen 1999). It starts from the postures of a fixed table whose tips are
nearest to the goal after a turn about the base's z axis, one after the other, until the
goal is met: deterministic. Where none meets it, the best is followed to the nearest
point that no small change betters; a nearer one behind a fold can be missed.

A direction counts as a way of `ReachModel.direction_length` a radian. The turn about
the tip's own axis is left free. Steps at 1 kHz and the use of spare freedom are in
models/reach_step; models/posture puts all of it together.
"""

import math
from typing import NamedTuple

import numpy as np

from models.constrained_step import set_bounds
from models.limb import LimbModel, limb_frames
from models.limited_step import (
    REACH_BEND_LIMITED,
    REACH_EXTENSION_LIMITED,
    ReachData,
    limits_met,
    linearise,
    solve_limited_step,
    weigh,
)
from models.numerics import FloatArray, IntArray, kernel

__all__ = [
    "REACH_MISSED",
    "REACH_NOT_FINITE",
    "REACH_NOT_SETTLED",
    "REACH_SOLVED",
    "REACH_TOO_FAR",
    "ReachModel",
    "build_reach_model",
    "reach_batch",
    "reach_outcome",
    "reach_reasons",
    "reach_solve",
]

REACH_SOLVED = 0
"""The goal is met within the tolerance."""
REACH_NOT_SETTLED = 1
"""Of a step: a rate holds it back. Of a solution: small steps still bettered it."""
REACH_MISSED = 8
"""The tip is not at the goal."""
REACH_NOT_FINITE = 16
"""Input was not finite: the coordinates are handed back as they were."""
REACH_TOO_FAR = 32
"""The goal is farther from the base than the greatest lengths together."""

_REASONS = {
    REACH_TOO_FAR: "farther from the base than the limb at its greatest length",
    REACH_BEND_LIMITED: "a segment is at its greatest bend",
    REACH_EXTENSION_LIMITED: "a segment is at its least or greatest length",
    REACH_NOT_SETTLED: "not settled: more steps may come nearer",
    REACH_NOT_FINITE: "the goal or the posture is not a number",
}

_DAMPING = 0.3  # μ at a start
_DAMPING_LEAST = 1e-6
_DAMPING_FLOOR = 1e-10  # [m2]: W of a goal that is met
_TRUST = 1.2  # [rad] of one step of a bend
_STEPS = 25  # of one start
_SLOW = 0.5  # of the square that is left: a step that leaves more is slow
_SLOW_LIMIT = 4  # slow steps of one start
_POLISH_STEPS = 150
_STILL = 1e-9  # [rad] or [m]: a step as small ends the polish


class ReachModel(NamedTuple):
    """A limb, and the table of postures that a cold solution starts from."""

    limb: LimbModel
    seed_coordinates: FloatArray
    """(s, n, 3) postures, turned so that the tip lies at y = 0, x >= 0, and mirrored so
    that it points to y >= 0 [rad, rad, m]."""
    seed_tip: FloatArray
    """(s, 5) their tips: x, z [m] and direction x, y, z."""
    direction_length: float
    """Way that a radian of pointing counts as [m]."""
    greatest_length: float
    """Of the limb, gaps counted in [m]."""
    mean_length: float
    """At the middle of all extension ranges [m]."""


def _halton(count: int, dimension: int) -> FloatArray:
    """(count, dimension) points of the Halton sequence in 0..1, the first ones left."""
    primes: list[int] = []
    number = 2
    while len(primes) < dimension:
        if all(number % p for p in primes):
            primes.append(number)
        number += 1
    points = np.empty((count, dimension))
    for j, base in enumerate(primes):
        for i in range(count):
            index, scale, value = i + 20, 1.0, 0.0
            while index:
                scale /= base
                value += scale * (index % base)
                index //= base
            points[i, j] = value
    return points


def build_reach_model(
    limb: LimbModel, direction_length: float | None = None, seeds: int = 256
) -> ReachModel:
    """Prepare a limb for cold solutions.

    Args:
        limb: the limb.
        direction_length: way that a radian of pointing counts as [m]; a quarter of the
            limb's length where not given.
        seeds: size of the table.
    """
    count = limb.segment_length.size
    low, high = limb.extension_range.T
    points = _halton(seeds, 3 * count).reshape(seeds, count, 3)
    bend = 0.95 * limb.bend_limit * np.sqrt(points[..., 0])
    plane = 2.0 * np.pi * points[..., 1]
    coordinates = np.stack(
        [
            bend * np.cos(plane),
            bend * np.sin(plane),
            low + (high - low) * points[..., 2],
        ],
        axis=-1,
    )
    tip = np.empty((seeds, 5))
    frame = np.empty((count + 1, 4, 4))
    for k in range(seeds):
        limb_frames(limb, coordinates[k], frame)
        x, y, z = frame[count, :3, 3]
        direction = frame[count, :3, 2].copy()
        along = np.array([x, y]) / np.hypot(x, y)
        turn = np.array([[along[0], along[1]], [-along[1], along[0]]])
        direction[:2] = turn @ direction[:2]
        coordinates[k, :, :2] = coordinates[k, :, :2] @ turn.T
        if direction[1] < 0.0:
            direction[1] *= -1.0
            coordinates[k, :, 1] *= -1.0
        tip[k] = [np.hypot(x, y), z, *direction]
    gaps = float(limb.gap.sum())
    rest = float(limb.segment_length.sum()) + gaps
    return ReachModel(
        limb=limb,
        seed_coordinates=coordinates,
        seed_tip=tip,
        direction_length=float(direction_length or 0.25 * rest),
        greatest_length=float(rest + high.sum()),
        mean_length=float(rest + 0.5 * (low + high).sum()),
    )


@kernel
def _rank_seeds(
    model: ReachModel,
    goal: FloatArray,
    direction_length: float,
    starts: int,
    data: ReachData,
) -> tuple[float, float, float]:
    """Nearest seeds into data.start; the turn (cosine, sine) and mirror to the goal."""
    rho = math.sqrt(goal[0] * goal[0] + goal[1] * goal[1])
    cosine = 1.0
    sine = 0.0
    side = math.sqrt(goal[3] * goal[3] + goal[4] * goal[4])
    if rho > 1e-6 * model.greatest_length:
        cosine = goal[0] / rho
        sine = goal[1] / rho
    elif direction_length > 0.0 and side > 0.0:
        cosine = goal[3] / side
        sine = goal[4] / side
    along = cosine * goal[3] + sine * goal[4]
    across = cosine * goal[4] - sine * goal[3]
    mirror = 1.0 if across >= 0.0 else -1.0
    square = direction_length * direction_length
    for i in range(starts):
        data.start_gap[i] = np.inf
    for s in range(model.seed_tip.shape[0]):
        gap = (model.seed_tip[s, 0] - rho) ** 2 + (model.seed_tip[s, 1] - goal[2]) ** 2
        if square > 0.0:
            gap += square * (
                (model.seed_tip[s, 2] - along) ** 2
                + (model.seed_tip[s, 3] - abs(across)) ** 2
                + (model.seed_tip[s, 4] - goal[5]) ** 2
            )
        if gap < data.start_gap[starts - 1]:
            i = starts - 1
            while i > 0 and data.start_gap[i - 1] > gap:
                data.start_gap[i] = data.start_gap[i - 1]
                data.start[i] = data.start[i - 1]
                i -= 1
            data.start_gap[i] = gap
            data.start[i] = s
    return cosine, sine, mirror


@kernel
def _note_error(goal: FloatArray, direction_length: float, data: ReachData) -> None:
    """data.error from data.tip."""
    way = 0.0
    dot = 0.0
    for i in range(3):
        way += (goal[i] - data.tip[i]) ** 2
        dot += goal[3 + i] * data.tip[3 + i]
    cx = goal[4] * data.tip[5] - goal[5] * data.tip[4]
    cy = goal[5] * data.tip[3] - goal[3] * data.tip[5]
    cz = goal[3] * data.tip[4] - goal[4] * data.tip[3]
    data.error[0] = math.sqrt(way)
    data.error[1] = 0.0
    if direction_length > 0.0:
        data.error[1] = math.atan2(math.sqrt(cx * cx + cy * cy + cz * cz), dot)


@kernel
def reach_solve(
    model: ReachModel,
    goal: FloatArray,
    pointing: int,
    tolerance: float,
    starts: int,
    first: int,
    data: ReachData,
    coordinates_out: FloatArray,
) -> int:
    """Find a posture whose tip is at the goal, or as near as it can be.

    Args:
        model: the limb and its seeds.
        goal: (6,) position [m] and unit direction of the tip's z axis in the limb's
            base frame.
        pointing: 1 for position and direction, 0 for position alone.
        tolerance: way that may be left, position and direction together [m].
        starts: most seeds to start from, at most those of `allocate_reach_data`.
        first: -1 to start from `coordinates_out`, or the seed to start from: 0 for
            the nearest to the goal, 1 for the next, and so on.
        data: work arrays; tip, error and effort are left as the solution's.
        coordinates_out: (n, 3) a first guess, replaced by the solution [rad, rad, m];
            left alone where the input is not finite.

    Returns:
        REACH_SOLVED, or REACH_MISSED with the bits of what kept the tip from the goal,
        or REACH_NOT_FINITE.
    """
    limb = model.limb
    count = limb.segment_length.size
    size = 0.0
    for i in range(6 if pointing else 3):
        size += abs(goal[i])
    for k in range(count):
        for j in range(3):
            data.trial[k, j] = coordinates_out[k, j]
            if first < 0:
                size += abs(coordinates_out[k, j])
    if not size < np.inf:
        return REACH_NOT_FINITE
    rows = 6 if pointing else 3
    direction_length = model.direction_length if pointing else 0.0
    from_base = goal[0] * goal[0] + goal[1] * goal[1] + goal[2] * goal[2]
    status = 0
    starts = max(1, min(starts, data.start.size, model.seed_coordinates.shape[0]))
    if math.sqrt(from_base) > model.greatest_length + tolerance:
        status = REACH_TOO_FAR
        starts = min(starts, 3)
    cosine, sine, mirror = _rank_seeds(model, goal, direction_length, starts, data)
    first = max(-1, min(first, starts - 1))
    start = first
    polish = False
    fresh = True
    steps = 0
    slow = 0
    now = 0
    left = np.inf
    predicted = np.inf
    least = np.inf
    damping = _DAMPING
    goal_square = tolerance * tolerance
    data.effort[0] = 0
    for _ in range(_STEPS * (starts + 2) + _POLISH_STEPS):
        if fresh and polish:
            for k in range(count):
                for j in range(3):
                    data.trial[k, j] = data.best[k, j]
        elif fresh and start >= 0:
            seed = data.start[start]
            for k in range(count):
                x = model.seed_coordinates[seed, k, 0]
                y = mirror * model.seed_coordinates[seed, k, 1]
                data.trial[k, 0] = cosine * x - sine * y
                data.trial[k, 1] = sine * x + cosine * y
                data.trial[k, 2] = model.seed_coordinates[seed, k, 2]
        square = linearise(limb, goal, direction_length, 1 - now, data.trial, data)
        data.effort[0] += 1
        still = False
        if fresh or square < left:
            if fresh:
                slow = 0
                damping = _DAMPING
            else:
                gain = (left - square) / predicted
                damping *= max(0.1, 1.0 - (2.0 * gain - 1.0) ** 3)
                damping = max(damping, _DAMPING_LEAST)
                slow += 1 if square > _SLOW * left else 0
                still = polish and square > (1.0 - 1e-12) * left
            fresh = False
            now = 1 - now
            left = square
            for k in range(count):
                for j in range(3):
                    coordinates_out[k, j] = data.trial[k, j]
            if left < least:
                least = left
                for k in range(count):
                    for j in range(3):
                        data.best[k, j] = data.trial[k, j]
        else:
            damping = 4.0 * max(damping, 1e-3)
            slow += 1
            still = polish and damping > 1e9
        if left <= goal_square or still:
            break
        steps += 1
        if polish:
            if steps > _POLISH_STEPS:
                status |= REACH_NOT_SETTLED
                break
        elif steps > _STEPS or slow > _SLOW_LIMIT:
            start += 1
            steps = 0
            fresh = True
            polish = start >= starts
            continue
        weigh(
            limb,
            damping * math.sqrt(left) * model.mean_length + _DAMPING_FLOOR,
            data,
        )
        for k in range(count):
            set_bounds(
                limb.bend_limit[k],
                limb.extension_range[k, 0],
                limb.extension_range[k, 1],
                _TRUST,
                np.inf,
                coordinates_out[k],
                data.bound[k],
            )
            for j in range(3):
                data.drift[k, j] = 0.0
        for i in range(6):
            data.vector[0, i] = data.residual[now, i]
        solve_limited_step(count, rows, now, coordinates_out, data)
        predicted = left
        largest = 0.0
        for i in range(rows):
            predicted -= data.vector[1, i] * data.vector[1, i]
        for k in range(count):
            for j in range(3):
                largest = max(largest, abs(data.step[k, j]))
                data.trial[k, j] = coordinates_out[k, j] + data.step[k, j]
        if polish and largest < _STILL:
            break
    data.effort[1] = start - first + 1
    limb_frames(limb, coordinates_out, data.frame)
    for i in range(3):
        data.tip[i] = data.frame[count, i, 3]
        data.tip[3 + i] = data.frame[count, i, 2]
    _note_error(goal, direction_length, data)
    if left <= goal_square:
        return REACH_SOLVED
    return status | REACH_MISSED | limits_met(count, data)


@kernel
def reach_batch(
    model: ReachModel,
    goals: FloatArray,
    pointing: int,
    tolerance: float,
    starts: int,
    data: ReachData,
    status_out: IntArray,
    coordinates_out: FloatArray,
) -> int:
    """Solve many goals, each cold.

    Args:
        model: the limb and its seeds.
        goals: (m, 6) as of `reach_solve`.
        pointing: as of `reach_solve`.
        tolerance: as of `reach_solve` [m].
        starts: as of `reach_solve`.
        data: work arrays.
        status_out: (m,) status of each.
        coordinates_out: (m, n, 3) solutions [rad, rad, m].

    Returns:
        Number of goals that are met.
    """
    met = 0
    for m in range(goals.shape[0]):
        status_out[m] = reach_solve(
            model, goals[m], pointing, tolerance, starts, 0, data, coordinates_out[m]
        )
        if status_out[m] == REACH_SOLVED:
            met += 1
    return met


def reach_outcome(status: int) -> str:
    """Say "solved", "limited" or "unreachable".

    Limited: the nearest posture that was found presses against limits of posture, and
    without them the tip would come nearer. Unreachable: no limit is to blame, or the
    goal is farther than the limb is long.
    """
    if not status & (REACH_MISSED | REACH_NOT_FINITE):
        return "solved"
    held = status & (REACH_BEND_LIMITED | REACH_EXTENSION_LIMITED)
    return "limited" if held and not status & REACH_TOO_FAR else "unreachable"


def reach_reasons(status: int) -> list[str]:
    """Say in words why a goal was not met; empty where it was."""
    if not status & (REACH_MISSED | REACH_NOT_FINITE):
        return []
    return [text for bit, text in _REASONS.items() if status & bit] or [
        "no posture of the limb has this position and direction"
    ]
