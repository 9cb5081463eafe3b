"""Limbs at rest are not computed: they stay as they are until something changes.

A limb that nothing has moved for half a second comes to rest: its rates become 0, and
its equations are left alone. It wakes in the very step in which its winches, the wrench
on its tip or its state are changed, or a contact touches it. URSULA's arms swing at 0.7
Hz, so a limb that kept below 1e-4 rad/s for so long would have swung on by less than
3e-5 rad: a hundredth of a shape sensor's noise. A limb that moves is computed to the
bit as without rest, since limbs on a hull that stands still do not feel each other.
"""

from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, IntArray, inner_kernel
from models.robot import RobotData, RobotModel

__all__ = ["RestData", "allocate_rest", "disturb", "note_rest", "rests", "wake_limbs"]

_AFTER_S = 0.5
_RATE = 1e-4
"""rad/s and, of an extension, a tenth as many m/s."""
_EXTENSION = 10.0
_WINCH_M = 1e-7
"""How far a winch and what it is asked for may be from where rest began [m]."""


class RestData(NamedTuple):
    """What the limbs of one RobotData do not do."""

    allowed: IntArray
    """(1,) 1 where limbs may rest."""
    still: FloatArray
    """(L,) for how long nothing has moved [s]; above `_AFTER_S`: at rest."""
    target: FloatArray
    """(T,) lengths asked of the winches when that began [m]."""
    servo: FloatArray
    """(T,) lengths paid out when that began [m]."""
    wrench: FloatArray
    """(L, 6) on the tips when that began [N m, N]."""


def allocate_rest(model: RobotModel, *, allowed: bool) -> RestData:
    """Begin with all limbs awake.

    Args:
        model: the robot.
        allowed: whether limbs may rest.
    """
    limbs, tendons = model.tip_speed_limit.size, model.tendon_angle.size
    return RestData(
        allowed=np.full(1, int(allowed), dtype=np.int64),
        still=np.zeros(limbs),
        target=np.zeros(tendons),
        servo=np.zeros(tendons),
        wrench=np.zeros((limbs, 6)),
    )


@inner_kernel
def rests(model: RobotModel, limb: int, data: RobotData) -> bool:
    """Whether a limb is at rest, and so not computed."""
    return bool(data.tree.resting[model.limb_segment_start[limb]] == 1)


@inner_kernel
def disturb(model: RobotModel, limb: int, data: RobotData, rest: RestData) -> None:
    """Wake a limb, whose rest begins anew."""
    rest.still[limb] = 0.0
    for k in range(model.limb_segment_start[limb], model.limb_segment_start[limb + 1]):
        data.tree.resting[k] = 0


@inner_kernel
def _is_left_alone(
    model: RobotModel,
    limb: int,
    winch_target: FloatArray,
    data: RobotData,
    rest: RestData,
) -> bool:
    """Whether winches and wrench are as when the limb came to rest."""
    for i in range(6):
        if data.tip_wrench[limb, i] != rest.wrench[limb, i]:
            return False
    for t in range(model.limb_tendon_start[limb], model.limb_tendon_start[limb + 1]):
        if not abs(winch_target[t] - rest.target[t]) <= _WINCH_M:
            return False
        if not abs(data.servo_length[t] - rest.servo[t]) <= _WINCH_M:
            return False
    return bool(data.status[limb] == 0)


@inner_kernel
def wake_limbs(
    model: RobotModel,
    winch_target: FloatArray,
    kept_coordinates: FloatArray,
    data: RobotData,
    rest: RestData,
) -> None:
    """Before a step: wake the limbs at rest that something changes.

    Args:
        model: the robot.
        winch_target: (T,) wanted paid-out lengths [m].
        kept_coordinates: (S, 3) what the last step left [rad, rad, m].
        data: state; its elements that rest are marked.
        rest: advanced.
    """
    for limb in range(rest.still.size):
        if not rests(model, limb, data):
            continue
        same = _is_left_alone(model, limb, winch_target, data, rest)
        for k in range(
            model.limb_segment_start[limb], model.limb_segment_start[limb + 1]
        ):
            for j in range(3):
                kept = data.coordinates[k, j] == kept_coordinates[k, j]
                same = same and kept and data.rates[k, j] == 0.0
        if not same:
            disturb(model, limb, data, rest)


@inner_kernel
def note_rest(
    model: RobotModel,
    limb: int,
    period: float,
    winch_target: FloatArray,
    data: RobotData,
    rest: RestData,
) -> None:
    """After a step of a limb that is awake: let it rest, once it is still for long.

    Args:
        model: the robot.
        limb: index of the limb.
        period: time step [s].
        winch_target: (T,) wanted paid-out lengths [m].
        data: state after the step; the rates of a limb that comes to rest become 0.
        rest: advanced.
    """
    if rest.allowed[0] == 0:
        return
    first, last = model.limb_segment_start[limb], model.limb_segment_start[limb + 1]
    fastest = 0.0
    for k in range(first, last):
        x, y, z = data.rates[k, 0], data.rates[k, 1], data.rates[k, 2]
        fastest = max(fastest, abs(x), abs(y), _EXTENSION * abs(z))
    still = fastest < _RATE
    if not (still and _is_left_alone(model, limb, winch_target, data, rest)):
        rest.still[limb] = 0.0
        for i in range(6):
            rest.wrench[limb, i] = data.tip_wrench[limb, i]
        for t in range(
            model.limb_tendon_start[limb], model.limb_tendon_start[limb + 1]
        ):
            rest.target[t] = winch_target[t]
            rest.servo[t] = data.servo_length[t]
        return
    rest.still[limb] += period
    if rest.still[limb] >= _AFTER_S:
        for k in range(first, last):
            data.tree.resting[k] = 1
            for j in range(3):
                data.rates[k, j] = 0.0
