"""Pressing as hard as the hand does: the robot trims its own push by what it feels.

With model mediation the station tells where the hand's proxy is in the surface and the
force that it makes there. How a soft limb turns a posture into a force, a model knows
only so well: so while the tip feels the surface, the posture is shifted along the force
until what it feels is what the hand pushes with:

    x_cmd = x_told + (c F_model + e) n,   e += k_i (F_model - F_felt) h
    |x_cmd - x_told| <= 60 mm,   <= 20 mm/s

k_i is small: winches late by 0.2 s and a limb that swings at 0.7 Hz let a loop of twice
the gain swing on. So c, the push that a newton took when it was held last, is
remembered, and the next press is there in a second or two.

A soft limb also stops millimetres short of its posture, and a press of 2 N into 2000
N/m is one millimetre deep. So while a force is told and none is felt yet, the posture
is shifted, slowly, until the measured tip is where the told one is along that force,
and no further: a surface that is gone is not chased. Where nothing is told the shift
goes back to none at 50 mm/s. How a shift becomes a posture, and that it goes no further
than the limb reaches: `app.robot.push`.
"""

import math
from typing import NamedTuple

import numpy as np

from app.link.frame import SignalTold
from app.robot.push import PushData, allocate_push, push_limb
from models.bound import Bound, bind
from models.numerics import FloatArray, IntArray, inner_kernel, kernel
from models.robot import RobotModel
from models.tip import tip_in_hull

__all__ = ["PressData", "Pressing", "press_on", "pressed_pose"]

_GAIN = 0.015  # m/(N s)
_MOST_SHARE = 0.03  # m/N, of c
_HELD, _LEARN_S = 0.15, 0.5  # share of the force within which c is learned
_REACHED_M = 1e-3  # e waits until the push is so near to what is wanted
_SPEED, _BACK = 0.020, 0.050  # m/s
_SEEK_SPEED, _SEEK_S = 0.010, 0.5  # m/s at most, and the time constant
_LEAST, _MOST = -0.010, 0.060  # m; 2 N into a wall take URSULA 32 mm
_TOLD_N, _FELT_N = 0.1, 0.15
_GREATEST_N = 5.0
_SETTLED_M = 1e-6
_NEVER_NS = -(1 << 62)
_SHARE, _TRIM, _PUSH = range(3)


class PressData(NamedTuple):
    """What is told, and what has become of it."""

    model: RobotModel
    limb: IntArray
    """(1,) that presses; -1 for none."""
    told_ns: IntArray
    """(1,) when it was told last [ns]."""
    wanted: FloatArray
    """(3,) force, hull frame [N]."""
    along: FloatArray
    """(3,) its direction, as long as there was one."""
    learned: FloatArray
    """(3,) c [m/N]; e, NaN while nothing is felt [m]; the push [m]."""
    push: PushData
    pressed: FloatArray
    """(S, 3) pose with the push [rad, rad, m]."""
    poses: FloatArray
    """(n+1, 4, 4) along a limb [m]; scratch, as the next two."""
    there: FloatArray
    """(3,) tip as it is told [m]."""
    here: FloatArray
    """(3,) tip as it is measured [m]."""


def _allocate_press(model: RobotModel) -> PressData:
    count = int(np.max(np.diff(model.limb_segment_start)))
    wanted, there, here = np.zeros((3, 3))
    return PressData(
        model=model,
        limb=np.full(1, -1, dtype=np.int64),
        told_ns=np.full(1, _NEVER_NS, dtype=np.int64),
        wanted=wanted,
        along=np.array([0.0, 0.0, 1.0]),
        learned=np.array([0.0, np.nan, 0.0]),
        push=allocate_push(model),
        pressed=np.zeros_like(model.rest_coordinates),
        poses=np.zeros((count + 1, 4, 4)),
        there=there,
        here=here,
    )


@kernel
def press_on(
    data: PressData,
    now_ns: int,
    period: float,
    patience_ns: int,
    senses: int,
    contact: FloatArray,
    applied: FloatArray,
    measured: FloatArray,
) -> None:
    """Trim the push for one step.

    Args:
        data: advanced.
        now_ns: robot time [ns].
        period: since the last step [s].
        patience_ns: what was told so long ago counts no more [ns].
        senses: 1 where the robot senses contact.
        contact: (L, 3) force of each tip on what it touches, hull frame [N].
        applied: (S, 3) pose that is applied without the push [rad, rad, m].
        measured: (S, 3) pose; not finite where unknown [rad, rad, m].
    """
    limb = data.limb[0]
    if limb < 0:
        return
    wanted = 0.0
    felt = 0.0
    for i in range(3):
        if now_ns - data.told_ns[0] <= patience_ns:
            wanted += data.wanted[i] * data.along[i]
        if senses == 1:
            felt += contact[limb, i] * data.along[i]
    learned = data.learned
    if not (wanted >= _TOLD_N and senses == 1 and felt < np.inf):
        learned[_TRIM] = np.nan
        back = min(abs(learned[_PUSH]), _BACK * period)
        learned[_PUSH] -= np.copysign(back, learned[_PUSH])
        return
    if felt >= _FELT_N:
        speed = _trimmed(data, period, wanted, felt)
    else:
        learned[_TRIM] = np.nan
        short = _short_of(data, limb, applied, measured)
        speed = min(max(short / _SEEK_S, -_SEEK_SPEED), _SEEK_SPEED)
    learned[_PUSH] = min(max(learned[_PUSH] + speed * period, _LEAST), _MOST)


@inner_kernel
def _trimmed(data: PressData, period: float, wanted: float, felt: float) -> float:
    """Trim the push by what is felt; return how fast it is to change [m/s]."""
    learned = data.learned
    push, most = learned[_PUSH], _MOST - learned[_SHARE] * wanted
    if np.isnan(learned[_TRIM]):  # only more than it took to get here, never less
        learned[_TRIM] = max(0.0, push - learned[_SHARE] * wanted)
    learned[_TRIM] = min(max(learned[_TRIM], _LEAST), most)
    away = learned[_SHARE] * wanted + learned[_TRIM] - push
    if abs(away) < _REACHED_M:
        missing = wanted - felt
        learned[_TRIM] += _GAIN * missing * period
        if abs(missing) < _HELD * wanted:
            share = min(max(push / wanted, 0.0), _MOST_SHARE)
            change = min(period / _LEARN_S, 1.0) * (share - learned[_SHARE])
            learned[_SHARE] += change
            learned[_TRIM] -= change * wanted  # the push stays
    return float(min(max(away / period, -_SPEED), _SPEED))


@inner_kernel
def _short_of(
    data: PressData, limb: int, applied: FloatArray, measured: FloatArray
) -> float:
    """How far the measured tip is short of the told one along the force [m]."""
    tip_in_hull(data.model, limb, applied, data.poses, data.there)
    tip_in_hull(data.model, limb, measured, data.poses, data.here)
    short = 0.0
    for i in range(3):
        short += (data.there[i] - data.here[i]) * data.along[i]
    return short if abs(short) < np.inf else 0.0


@kernel
def pressed_pose(data: PressData, applied: FloatArray, period: float) -> int:
    """Put the push into a pose, inside the envelope and the rate limits.

    Args:
        data: its `pressed` is written; a push that the limb cannot follow is taken
            back to what it can.
        applied: (S, 3) pose that is applied without it [rad, rad, m].
        period: since the last pose was asked for [s]; 0 = the limb must not move.

    Returns:
        1; or 0 where nothing is pushed and `pressed` says nothing.
    """
    push = data.learned[_PUSH]
    if abs(push) <= _SETTLED_M and data.push.under_way[0] == 0:
        return 0
    for k in range(applied.shape[0]):
        for j in range(3):
            data.pressed[k, j] = applied[k, j]
    data.learned[_PUSH] = push_limb(
        data.push, data.limb[0], push, data.along, period, data.pressed
    )
    return 1


class Pressing:
    """The shift of one limb that presses at a time."""

    def __init__(self, model: RobotModel) -> None:
        """Begin with no shift.

        Args:
            model: the robot as its file gives it.
        """
        self.data = _allocate_press(model)
        """What `press_on` and `pressed_pose` work on."""
        self.unfelt = np.zeros((model.tip_speed_limit.size, 3))
        """(L, 3) in the place of a contact that is not sensed."""
        self._bound = Bound(self.data)
        pose = self.data.pressed
        self._on = bind(press_on, self._bound, 0, 0.0, 0, 0, self.unfelt, pose, pose)
        self._pose = bind(pressed_pose, self._bound, pose, 0.0)

    @property
    def push_m(self) -> float:
        """How far the tip is commanded beyond what is told [m]."""
        return float(self.data.learned[_PUSH])

    def tell(self, now_ns: int, told: SignalTold) -> None:
        """Take the force that the hand pushes with.

        Args:
            now_ns: robot time [ns].
            told: a signal of a setpoint that is obeyed.
        """
        data = self.data
        wanted = data.wanted
        if told.limb != data.limb[0]:
            if data.push.under_way[0] or abs(self.push_m) > _SETTLED_M:
                return  # first the other limb goes back
            data.learned[_SHARE] = 0.0
            data.limb[0] = told.limb
        data.told_ns[0] = now_ns
        wanted[:] = told.force
        size = math.sqrt(wanted.dot(wanted))
        if size > _GREATEST_N:
            wanted *= _GREATEST_N / size
            size = math.sqrt(wanted.dot(wanted))
        if size >= _TOLD_N:
            np.divide(wanted, size, out=data.along)

    def forget(self) -> None:
        """The limb is limp: nothing of a push is left."""
        data = self.data
        data.learned[:] = (0.0, np.nan, 0.0)
        data.limb[0], data.told_ns[0] = -1, _NEVER_NS
        data.push.under_way[0] = 0

    def step(
        self,
        now_ns: int,
        period: float,
        patience_ns: int,
        contact: FloatArray | None,
        applied: FloatArray,
        measured: FloatArray,
    ) -> None:
        """Trim the push for one step: arguments as of `press_on`; contact None: no."""
        senses = 0 if contact is None else 1
        felt = self.unfelt if contact is None else contact
        self._on(
            self._bound, now_ns, period, patience_ns, senses, felt, applied, measured
        )

    def pressed(self, applied: FloatArray, period: float) -> FloatArray:
        """Return the pose with the push, which may be the one given; `pressed_pose`."""
        pushes = self._pose(self._bound, applied, period)
        return self.data.pressed if pushes else applied
