"""Steps toward a goal at 1 kHz, and what spare freedom is used for.

`reach_step` moves a command for one period, inside the limits of posture and of rate,
as models/inverse does for a position alone: continuous in goal and posture, also along
limits and through θ = 0. Spare freedom goes to the rest posture and, as a second goal,
away from obstacles (models/clearance): in a tick by `reach_step_clear`, after a cold
solution (models/reach) by `reach_settle`. Neither moves the tip from its goal. Near an
obstacle the drift to rest fades and the limb comes to a stop a few millimetres short of
the wanted margin; what has no spare freedom is not cleared.
"""

import math

import numpy as np

from models.clearance import ClearanceData, clearance_cost
from models.constrained_step import set_bounds
from models.limited_step import (
    ReachData,
    limits_met,
    linearise,
    solve_limited_step,
    weigh,
)
from models.numerics import FloatArray, kernel
from models.obstacle import ObstacleModel
from models.reach import (
    REACH_MISSED,
    REACH_NOT_FINITE,
    REACH_NOT_SETTLED,
    ReachModel,
)

__all__ = ["reach_settle", "reach_step", "reach_step_clear"]

_BLOCKED = 1e-5  # [rad] or [m] wished beyond a rate, to be reported
_REST_RATE = 2.0  # [1/s] of the drift to rest
_REST_WAY = 1e-4  # [m] from the goal at which the drift is halved
_BASE_DAMPING = 1e-8  # [m2/rad2]: bias of a held goal below 5e-8 m
_ON_GOAL = 1e-6  # [m]
_AS_WANTED = 0.9  # of the way of a step
_AWAY_GAIN = 20.0  # away from obstacles, over the drift to rest
_LOST = 0.05  # κ over the square of the limb's length
_LACK = 1e-3  # ε over the limb's length: the lack that halves the drift to rest
_SETTLE_SHARE = 0.5
_SETTLE_GAIN = 1.0
_SETTLE_STEP = 0.3  # [rad] of one step, and of an extension over the radius
_SETTLE_WAY = 0.02  # of the limb's length, at which the drift is halved
_SETTLE_DAMPING = 1e-5  # W over the square of the limb's length
_SETTLE_LAST = 6  # steps without drift that end a settling


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
    weigh(limb, base + growth * way, data)
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
    status = limits_met(count, data)
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
def _follow(
    model: ReachModel,
    goal: FloatArray,
    pointing: int,
    period: float,
    data: ReachData,
    coordinates_out: FloatArray,
) -> int:
    """One step within all limits towards the goal, data.push in the spare freedom."""
    left = _advance(
        model,
        goal,
        pointing,
        model.limb.tip_speed_limit[0] * period,
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
    return _follow(model, goal, pointing, period, data, coordinates_out)


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
    _wish(model, obstacles, margin, _AWAY_GAIN, coordinates_out, clearance, data)
    return _follow(model, goal, pointing, period, data, coordinates_out)


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
