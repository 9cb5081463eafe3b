"""Inverse kinematics of any limb: tip position, or position and pointing direction.

Two ways to the same goal, both with the limits inside the problem of each step
(models/limited_step), so that no step is clipped:

- `reach_solve`, cold: Levenberg-Marquardt with W = μ |r| l K, r the way that is left,
  l the limb's length and K the stiffness over that of the softest bend. W goes with r,
  so that the end is quadratic (Sugihara 2011, T-RO 27, 984), and μ follows the gain of
  each step (Nielsen 1999). It starts from the postures of a fixed table whose tips are
  nearest to the goal after a turn about the base's z axis, one after the other, until
  the goal is met: deterministic. Where none meets it, the best is followed to the
  nearest point.
- `reach_step`, warm: one step a tick inside the limits of rate, as models/inverse.

Spare freedom goes to the rest posture and, as a second goal, away from obstacles
(models/clearance): in a tick by `reach_step` and `reach_step_clear`, after a cold
solution by `reach_settle`. Neither moves the tip from its goal.

A direction counts as a way of `ReachModel.direction_length` a radian. The turn about
the tip's own axis is left free. The nearest point out of reach is the nearest that was
found: no small change betters it.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from models.clearance import (
    ClearanceData,
    ObstacleModel,
    allocate_clearance_data,
    build_obstacle_model,
    clearance_cost,
    limb_clearance,
)
from models.constrained_step import set_bounds
from models.limb import LimbModel, limb_frames
from models.limited_step import (
    ReachData,
    allocate_reach_data,
    linearise,
    solve_limited_step,
)
from models.numerics import FloatArray, IntArray, kernel

__all__ = [
    "REACH_BEND_LIMITED",
    "REACH_EXTENSION_LIMITED",
    "REACH_MISSED",
    "REACH_NOT_FINITE",
    "REACH_NOT_SETTLED",
    "REACH_SOLVED",
    "REACH_TOO_FAR",
    "ReachModel",
    "ReachResult",
    "build_reach_model",
    "reach_batch",
    "reach_outcome",
    "reach_posture",
    "reach_reasons",
    "reach_settle",
    "reach_solve",
    "reach_step",
    "reach_step_clear",
]

REACH_SOLVED = 0
"""The goal is met within the tolerance."""
REACH_NOT_SETTLED = 1
"""Of a step: a rate holds it back. Of a solution: small steps still bettered it."""
REACH_BEND_LIMITED = 2
"""A segment is pressed against its greatest bending angle."""
REACH_EXTENSION_LIMITED = 4
"""A segment is pressed against its least or greatest length."""
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
_BLOCKED = 1e-5  # [rad] or [m] wished beyond a limit, to be reported

_REST_RATE = 2.0  # [1/s] of the drift to rest
_REST_WAY = 1e-4  # [m] from the goal at which the drift is halved
_BASE_DAMPING = 1e-8  # [m2/rad2]: bias of a held goal below 5e-8 m
_ON_GOAL = 1e-6  # [m]
_AS_WANTED = 0.9  # of the way of a step
_AWAY_GAIN = 20.0  # away from obstacles, over the drift to rest
_LOST = 0.05  # κ over the square of the limb's length
_LACK = (
    1e-3  # ε over the limb's length: lack of clearance that halves the drift to rest
)
_SETTLE_SHARE = 0.5
_CLEAR = 0.5  # of the margin: enough, where the drift to rest pushes against it
_SETTLE_GAIN = 1.0
_SETTLE_STEP = 0.3  # [rad] of one step, and of an extension over the radius
_SETTLE_WAY = 0.02  # of the limb's length, at which the drift is halved
_SETTLE_DAMPING = 1e-5  # W over the square of the limb's length
_SETTLE_LAST = 6  # steps without drift that end a settling


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
    limb: LimbModel, direction_length: float | None = None, seeds: int = 1024
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
def _weigh(model: LimbModel, damping: float, data: ReachData) -> None:
    """W of all segments."""
    for k in range(model.segment_length.size):
        for j in range(2):
            data.weight[k, j] = damping * model.stiffness[k, j]


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
def _limits_met(count: int, data: ReachData) -> int:
    """Status bits of the limits of posture that the last step was pressed against."""
    status = 0
    for k in range(count):
        if data.pressed[k, 0] > _BLOCKED:
            status |= REACH_BEND_LIMITED
        if data.pressed[k, 2] > _BLOCKED:
            status |= REACH_EXTENSION_LIMITED
    return status


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
    starts = max(1, min(starts, data.start.size))
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
        _weigh(
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
    return status | REACH_MISSED | _limits_met(count, data)


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


@kernel
def _advance(
    model: ReachModel,
    goal: FloatArray,
    pointing: int,
    most_way: float,
    period: float,
    share: float,
    most: float,
    rest_way: float,
    base: float,
    growth: float,
    data: ReachData,
    coordinates_out: FloatArray,
) -> float:
    """One limited step from coordinates_out in place; the way that was left [m].

    Args:
        model: the limb.
        goal: (6,) as of `reach_solve`.
        pointing: as of `reach_solve`.
        most_way: greatest step of the tip [m].
        period: the rate limits are times this [s].
        share: of data.push that spare freedom drifts.
        most: greatest step of a bend, and of an extension over the radius [rad].
        rest_way: way from the goal at which the drift is halved [m].
        base: W of a softest bend at the goal [m2/rad2].
        growth: of W with the way to the goal [m/rad2].
        data: work arrays.
        coordinates_out: (n, 3) [rad, rad, m].
    """
    limb = model.limb
    count = limb.segment_length.size
    direction_length = model.direction_length if pointing else 0.0
    square = linearise(limb, goal, direction_length, 0, coordinates_out, data)
    left = math.sqrt(square)
    if not left < np.inf:
        return np.inf
    way = min(left, most_way)
    cut = way / left if left > way else 1.0
    for i in range(6):
        data.vector[0, i] = cut * data.residual[0, i]
    _weigh(limb, base + growth * way, data)
    share /= 1.0 + way / rest_way
    # more drift than this pushes against the damping, and the goal is missed; all of it
    # is cut by one factor, so that it keeps its direction
    whole = 1.0
    for k in range(count):
        bend_travel = limb.bend_rate_limit[k] * period
        travel = limb.extension_rate_limit[k] * period
        radius = 0.5 * (limb.segment_radius[k, 0] + limb.segment_radius[k, 1])
        set_bounds(
            limb.bend_limit[k],
            limb.extension_range[k, 0],
            limb.extension_range[k, 1],
            min(bend_travel, most),
            min(travel, most * radius),
            coordinates_out[k],
            data.bound[k],
        )
        for j in range(3):
            data.drift[k, j] = share * data.push[k, j]
            limit = 0.5 * (travel if j == 2 else bend_travel)
            if whole * abs(data.drift[k, j]) > limit:
                whole = limit / abs(data.drift[k, j])
    for k in range(count):
        for j in range(3):
            data.drift[k, j] *= whole
    solve_limited_step(count, 6 if pointing else 3, 0, coordinates_out, data)
    for k in range(count):
        for j in range(3):
            if not abs(data.step[k, j]) < np.inf:
                return np.inf
    for k in range(count):
        for j in range(3):
            coordinates_out[k, j] += data.step[k, j]
    return left


@kernel
def _wish(
    model: ReachModel,
    obstacles: ObstacleModel,
    margin: float,
    gain: float,
    coordinates: FloatArray,
    clearance: ClearanceData,
    data: ReachData,
) -> float:
    """data.push: away from obstacles and to rest; returns the least distance.

    Away along K⁻¹ times the gradient g of the cost c, 2 c g / (gᵀ K⁻¹ g + κ c): one
    Newton step where one distance lacks, and no more than 2 g/κ where the lack cannot
    be helped, so that it ends there instead of chattering. That, times the gain, and
    the gap to rest over 1 + (lack/ε)²: clearance goes before rest, without a switch.
    """
    limb = model.limb
    count = limb.segment_length.size
    cost, least = clearance_cost(
        limb, obstacles, coordinates, margin, clearance, data.push
    )
    square = _LOST * model.mean_length * model.mean_length * cost
    for k in range(count):
        for j in range(3):
            data.push[k, j] /= -limb.stiffness[k, 1 if j == 2 else 0]
            square += data.push[k, j] ** 2 * limb.stiffness[k, 1 if j == 2 else 0]
    scale = 2.0 * gain * cost / square if square > 0.0 else 0.0
    small = _LACK * model.mean_length
    rest = 1.0 / (1.0 + 2.0 * cost / (small * small))
    for k in range(count):
        for j in range(3):
            data.push[k, j] *= scale
            data.push[k, j] += rest * (limb.rest_coordinates[k, j] - coordinates[k, j])
    return least


@kernel
def _step_status(
    model: ReachModel, pointing: int, left: float, period: float, data: ReachData
) -> int:
    """Status bits of a step that began `left` metres from the goal."""
    limb = model.limb
    count = limb.segment_length.size
    status = _limits_met(count, data)
    for k in range(count):
        if data.pressed[k, 1] > _BLOCKED or data.pressed[k, 3] > _BLOCKED:
            status |= REACH_NOT_SETTLED
    way = min(left, limb.tip_speed_limit[0] * period)
    after = 0.0
    gone = 0.0
    for i in range(6 if pointing else 3):
        after += data.vector[1, i] * data.vector[1, i]
        gone += (data.vector[0, i] - data.vector[1, i]) ** 2
    if left > way and math.sqrt(gone) > _AS_WANTED * way:
        status |= REACH_NOT_SETTLED
    short = math.sqrt(after) > max(_ON_GOAL, (1.0 - _AS_WANTED) * way)
    if short and not status & REACH_NOT_SETTLED:
        status |= REACH_MISSED
    return status


@kernel
def reach_step(
    model: ReachModel,
    goal: FloatArray,
    pointing: int,
    period: float,
    data: ReachData,
    coordinates_out: FloatArray,
) -> int:
    """Move commanded coordinates for one period toward a goal, inside every limit.

    Continuous in goal and posture, also where limits are met and through θ = 0; spare
    freedom drifts to the rest posture at 2 1/s, slower far from the goal.

    Args:
        model: the limb.
        goal: (6,) as of `reach_solve`.
        pointing: as of `reach_solve`.
        period: time since the last step [s]; the rate limits are times this.
        data: work arrays.
        coordinates_out: (n, 3) present command, replaced by the next [rad, rad, m];
            left alone where the input is not finite.

    Returns:
        REACH_SOLVED, or bits: REACH_NOT_SETTLED where a rate holds the tip back,
        REACH_MISSED and what presses where the step does not lead to the goal, or
        REACH_NOT_FINITE.
    """
    limb = model.limb
    for k in range(limb.segment_length.size):
        for j in range(3):
            data.push[k, j] = limb.rest_coordinates[k, j] - coordinates_out[k, j]
    left = _advance(
        model,
        goal,
        pointing,
        limb.tip_speed_limit[0] * period,
        period,
        min(_REST_RATE * period, 1.0),
        np.inf,
        _REST_WAY,
        _BASE_DAMPING,
        model.mean_length,
        data,
        coordinates_out,
    )
    if not left < np.inf:
        return REACH_NOT_FINITE
    return _step_status(model, pointing, left, period, data)


@kernel
def reach_step_clear(
    model: ReachModel,
    obstacles: ObstacleModel,
    goal: FloatArray,
    pointing: int,
    margin: float,
    period: float,
    clearance: ClearanceData,
    data: ReachData,
    coordinates_out: FloatArray,
) -> int:
    """As `reach_step`, the spare freedom also keeping a margin from obstacles.

    Args:
        model: the limb.
        obstacles: in the limb's base frame.
        goal: (6,) as of `reach_solve`.
        pointing: as of `reach_solve`.
        margin: least distance to be kept where the goal leaves the freedom [m].
        period: time since the last step [s].
        clearance: work arrays of the distances.
        data: work arrays.
        coordinates_out: (n, 3) present command, replaced by the next [rad, rad, m].

    Returns:
        As `reach_step`.
    """
    limb = model.limb
    _wish(model, obstacles, margin, _AWAY_GAIN, coordinates_out, clearance, data)
    left = _advance(
        model,
        goal,
        pointing,
        limb.tip_speed_limit[0] * period,
        period,
        min(_REST_RATE * period, 1.0),
        np.inf,
        _REST_WAY,
        _BASE_DAMPING,
        model.mean_length,
        data,
        coordinates_out,
    )
    if not left < np.inf:
        return REACH_NOT_FINITE
    return _step_status(model, pointing, left, period, data)


@kernel
def reach_settle(
    model: ReachModel,
    obstacles: ObstacleModel,
    goal: FloatArray,
    pointing: int,
    margin: float,
    tolerance: float,
    steps: int,
    clearance: ClearanceData,
    data: ReachData,
    coordinates_out: FloatArray,
) -> float:
    """Use the spare freedom of a solution: to the rest posture and clear of obstacles.

    Args:
        model: the limb.
        obstacles: in the limb's base frame.
        goal: (6,) as of `reach_solve`.
        pointing: as of `reach_solve`.
        margin: least distance wanted [m].
        tolerance: way from the goal that may be left [m].
        steps: number of steps; 40 settle most.
        clearance: work arrays of the distances.
        data: work arrays.
        coordinates_out: (n, 3) a solution, replaced by a better one [rad, rad, m]; left
            alone where the way to the goal would be more than the tolerance and more
            than it was.

    Returns:
        Least distance to the obstacles [m], infinite where there are none.
    """
    limb = model.limb
    count = limb.segment_length.size
    for k in range(count):
        for j in range(3):
            data.best[k, j] = coordinates_out[k, j]
    first = np.inf
    last = np.inf
    least = np.inf
    for step in range(steps + _SETTLE_LAST):
        least = _wish(
            model,
            obstacles,
            margin,
            _SETTLE_GAIN,
            coordinates_out,
            clearance,
            data,
        )
        share = _SETTLE_SHARE if step < steps else 0.0
        last = _advance(
            model,
            goal,
            pointing,
            np.inf,
            1e3,
            share,
            _SETTLE_STEP,
            _SETTLE_WAY * model.mean_length,
            _SETTLE_DAMPING * model.mean_length * model.mean_length,
            0.0 if step < steps else model.mean_length,
            data,
            coordinates_out,
        )
        if step == 0:
            first = last
    if not last <= max(first, tolerance):
        for k in range(count):
            for j in range(3):
                coordinates_out[k, j] = data.best[k, j]
    return least


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


@dataclass(frozen=True)
class ReachResult:
    """A posture for a goal.

    Attributes:
        coordinates: (n, 3) segment coordinates [rad, rad, m].
        outcome: "solved", "limited" or "unreachable".
        reasons: why the goal was not met, in words.
        position: (3,) where the tip is, the nearest reachable point found [m].
        direction: (3,) where it points.
        position_error: way left to the goal [m].
        direction_error: angle left [rad]; 0 where no direction was asked for.
        clearance: least distance to the obstacles [m]; infinite without any.
        status: the bits behind outcome and reasons.
    """

    coordinates: FloatArray
    outcome: str
    reasons: tuple[str, ...]
    position: FloatArray
    direction: FloatArray
    position_error: float
    direction_error: float
    clearance: float
    status: int


def reach_posture(
    model: ReachModel,
    position: ArrayLike,
    direction: ArrayLike | None = None,
    guess: FloatArray | None = None,
    obstacles: ObstacleModel | None = None,
    margin: float = 0.0,
    tolerance: float = 1e-8,
    starts: int = 24,
    settle_steps: int = 40,
) -> ReachResult:
    """Find a posture for a goal, its spare freedom used; for callers outside the loop.

    Where the posture comes too near to an obstacle, it starts from the next seeds, and
    hands back the clearest posture: within half the margin, or the best of all.

    Args:
        model: the limb and its seeds.
        position: (3,) of the tip in the limb's base frame [m].
        direction: (3,) of the tip's z axis, of any length; free where not given.
        guess: (n, 3) to start from first [rad, rad, m].
        obstacles: in the limb's base frame.
        margin: least distance wanted to them [m].
        tolerance: way that may be left, position and direction together [m].
        starts: most seeds to start from.
        settle_steps: steps to the rest posture and away from obstacles; 0 for none.

    Raises:
        ValueError: the direction has no length.
    """
    goal = np.zeros(6)
    goal[:3] = position
    if direction is not None:
        goal[3:] = direction
        size = float(np.linalg.norm(goal[3:]))
        if size == 0.0:
            message = "direction: (0, 0, 0) points nowhere; give a vector"
            raise ValueError(message)
        goal[3:] /= size
    limb = model.limb
    data = allocate_reach_data(limb, starts)
    clearance = allocate_clearance_data(limb)
    pointing = int(direction is not None)
    around = build_obstacle_model([]) if obstacles is None else obstacles
    gradient = np.empty_like(limb.rest_coordinates)
    best, best_status, best_clear = limb.rest_coordinates, -1, -np.inf
    for first in range(0 if guess is None else -1, max(starts, 1)):
        found = np.array(limb.rest_coordinates if guess is None else guess, float)
        status = reach_solve(
            model, goal, pointing, tolerance, starts, first, data, found
        )
        if status == REACH_SOLVED and settle_steps > 0:
            reach_settle(
                model,
                around,
                goal,
                pointing,
                margin,
                tolerance,
                settle_steps,
                clearance,
                data,
                found,
            )
        distance = limb_clearance(limb, around, found, clearance, gradient)
        if best_status < 0 or (status == REACH_SOLVED and distance > best_clear):
            best, best_status, best_clear = found, status, distance
        if status != REACH_SOLVED or distance >= _CLEAR * margin:
            break
    frame = np.empty((len(best) + 1, 4, 4))
    limb_frames(limb, best, frame)
    tip = frame[-1]
    angle = 0.0
    if direction is not None:
        across = float(np.linalg.norm(np.cross(tip[:3, 2], goal[3:])))
        angle = float(np.arctan2(across, tip[:3, 2] @ goal[3:]))
    return ReachResult(
        coordinates=best,
        outcome=reach_outcome(best_status),
        reasons=tuple(reach_reasons(best_status)),
        position=tip[:3, 3].copy(),
        direction=tip[:3, 2].copy(),
        position_error=float(np.linalg.norm(tip[:3, 3] - goal[:3])),
        direction_error=angle,
        clearance=best_clear,
        status=best_status,
    )
