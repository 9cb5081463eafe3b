"""A shift of a limb's tip as a posture that goes there, and no further than it can.

The posture is shifted along the step of least elastic energy (`models.tip_shift`), in
proportion to the push. Where a limb nears the end of its reach that moves the tip less
and less, which keeps the loop around it calm, and then back again: a straight arm
would bend the other way. So the push ends where its last millimetre, or a mean one,
moves the tip by less than 0.15 mm. The posture stays in the envelope, and moves within
the rate limits from the one that was applied last.
"""

import math
from typing import NamedTuple

import numpy as np

from app.robot.envelope import clamp_to_envelope
from models.chamber_limits import hold_chambers
from models.numerics import FloatArray, IntArray, inner_kernel, kernel
from models.robot import RobotModel
from models.tip import tip_position, turn_to_base
from models.tip_shift import TipShiftData, allocate_tip_shift, tip_shift

__all__ = ["PushData", "allocate_push", "push_limb"]

_LEAST_GAIN = 0.15  # of the tip's way by the push
_STEP_M, _LESS, _TRIES = 5e-4, 0.9, 80
_NEAR = 1e-4  # rad, m: so near to the posture without a push there is none any more


class PushData(NamedTuple):
    """The shift of one limb, and room for its work; n segments of the longest limb."""

    model: RobotModel
    data: TipShiftData
    under_way: IntArray
    """(1,) 1 while a shift is applied or goes back."""
    applied: FloatArray
    """(n, 3) posture applied last [rad, rad, m]."""
    tried: FloatArray
    """(n, 3) posture that is looked at [rad, rad, m]."""
    step: FloatArray
    """(n, 3) shift of the posture for a metre of the tip [rad/m, rad/m, 1]."""
    poses: FloatArray
    """(n+1, 4, 4) along the limb [m]."""
    told: FloatArray
    """(3,) tip without the push, hull frame [m]."""
    here: FloatArray
    """(3,) tip of a posture, hull frame [m]; before that the push's direction, unit, in
    the limb's base frame."""


def allocate_push(model: RobotModel) -> PushData:
    """Make the state of a robot that pushes nothing."""
    count = int(np.max(np.diff(model.limb_segment_start)))
    applied, tried, step = np.zeros((3, count, 3))
    told, here = np.zeros((2, 3))
    return PushData(
        model=model,
        data=allocate_tip_shift(model),
        under_way=np.zeros(1, dtype=np.int64),
        applied=applied,
        tried=tried,
        step=step,
        poses=np.zeros((count + 1, 4, 4)),
        told=told,
        here=here,
    )


@kernel
def push_limb(
    data: PushData,
    limb: int,
    size: float,
    along: FloatArray,
    period: float,
    coordinates_out: FloatArray,
) -> float:
    """Shift a limb's tip, as far as it reaches.

    Args:
        data: what was applied last; advanced.
        limb: index of the limb; another only where `under_way` is 0.
        size: of the push [m].
        along: (3,) unit, hull frame.
        period: since the last call [s]; 0 = it must not move.
        coordinates_out: (S, 3) pose without the push [rad, rad, m]; the limb's rows
            become what is to be applied.

    Returns:
        The push that was made [m], at most `size`; 0 where there is none such, and
        with the pose as it was where that is not finite.
    """
    model = data.model
    first = model.limb_segment_start[limb]
    count = model.limb_segment_start[limb + 1] - first
    own = coordinates_out[first : first + count]
    applied, tried = data.applied[:count], data.tried[:count]
    turn_to_base(model, limb, along, data.here)
    fault = tip_shift(model, limb, own, data.here, data.data, data.step[:count])
    tip_position(model, limb, own, data.poses, data.told)
    if not abs(data.told[0] + data.told[1] + data.told[2]) < np.inf:
        data.under_way[0] = 0
        return 0.0
    if fault != 0 or not abs(size) < np.inf:
        size = 0.0
    if data.under_way[0] == 0:
        data.under_way[0] = 1
        for k in range(count):
            for j in range(3):
                applied[k, j] = own[k, j]
    for _ in range(_TRIES):
        step = min(_STEP_M, 0.5 * max(size, 0.0))
        short = _reach(data, limb, size - step, along, own)
        way = _reach(data, limb, size, along, own)
        moves = way - short >= _LEAST_GAIN * step and way >= _LEAST_GAIN * size
        if moves or size <= 0.0:
            break
        size = size * _LESS if size > _NEAR else 0.0
    _follow(model, first, period, tried, applied)
    hold_chambers(model, limb, applied)
    left = 0.0
    for k in range(count):
        for j in range(3):
            left = max(left, abs(applied[k, j] - own[k, j]))
            own[k, j] = applied[k, j]
    if size == 0.0 and left < _NEAR:
        data.under_way[0] = 0
    return size


@inner_kernel
def _reach(
    data: PushData, limb: int, size: float, along: FloatArray, own: FloatArray
) -> float:
    """Try a push; return how far the tip is along it [m]."""
    count = own.shape[0]
    tried = data.tried[:count]
    for k in range(count):
        for j in range(3):
            tried[k, j] = own[k, j] + size * data.step[k, j]
    clamp_to_envelope(data.model, data.model.limb_segment_start[limb], tried, tried)
    tip_position(data.model, limb, tried, data.poses, data.here)
    way = 0.0
    for i in range(3):
        way += (data.here[i] - data.told[i]) * along[i]
    return way


@inner_kernel
def _follow(
    model: RobotModel,
    first: int,
    period: float,
    wanted: FloatArray,
    applied_out: FloatArray,
) -> None:
    """Move the applied posture straight to the wanted one, within all rate limits."""
    share = 1.0
    for k in range(wanted.shape[0]):
        x = wanted[k, 0] - applied_out[k, 0]
        y = wanted[k, 1] - applied_out[k, 1]
        bend, extension = math.hypot(x, y), abs(wanted[k, 2] - applied_out[k, 2])
        if bend * share > model.bend_rate_limit[first + k] * period:
            share = model.bend_rate_limit[first + k] * period / bend
        if extension * share > model.extension_rate_limit[first + k] * period:
            share = model.extension_rate_limit[first + k] * period / extension
    for k in range(wanted.shape[0]):
        for j in range(3):
            applied_out[k, j] += share * (wanted[k, j] - applied_out[k, j])
