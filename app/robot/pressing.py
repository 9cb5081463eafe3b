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

import numpy as np

from app.link.frame import SignalTold
from app.robot.push import allocate_push, push_limb
from models.numerics import FloatArray
from models.robot import RobotModel
from models.tip import tip_position

__all__ = ["Pressing"]

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


class Pressing:
    """The shift of one limb that presses at a time."""

    def __init__(self, model: RobotModel) -> None:
        """Begin with no shift.

        Args:
            model: the robot as its file gives it.
        """
        count = int(np.max(np.diff(model.limb_segment_start)))
        self._model = model
        self._limb = -1
        self._wanted: FloatArray = np.zeros(3)
        self._along: FloatArray = np.array([0.0, 0.0, 1.0])
        self._told_ns: int | None = None
        self._share = 0.0  # c [m/N]
        self._trim: float | None = None  # e [m]; None while nothing is felt
        self.push_m = 0.0
        """How far the tip is commanded beyond what is told [m]."""
        self._push = allocate_push(model)
        self._poses = np.zeros((count + 1, 4, 4))
        self._there, self._here = np.zeros((2, 3))
        self._pressed = np.zeros_like(model.rest_coordinates)

    def tell(self, now_ns: int, told: SignalTold) -> None:
        """Take the force that the hand pushes with.

        Args:
            now_ns: robot time [ns].
            told: a signal of a setpoint that is obeyed.
        """
        going = abs(self.push_m) > _SETTLED_M or bool(self._push.under_way[0])
        if told.limb != self._limb and going:
            return  # first the other limb goes back
        if told.limb != self._limb:
            self._share = 0.0
        self._limb, self._told_ns = told.limb, now_ns
        self._wanted[:] = told.force
        size = float(np.linalg.norm(self._wanted))
        if size > _GREATEST_N:
            self._wanted *= _GREATEST_N / size
        if size >= _TOLD_N:
            self._along = self._wanted / np.linalg.norm(self._wanted)

    def forget(self) -> None:
        """The limb is limp: nothing of a push is left."""
        self.push_m, self._share, self._trim = 0.0, 0.0, None
        self._limb, self._told_ns = -1, None
        self._push.under_way[0] = 0

    def step(
        self,
        now_ns: int,
        period: float,
        patience_ns: int,
        contact: FloatArray | None,
        applied: FloatArray,
        measured: FloatArray,
    ) -> None:
        """Trim the push for one step.

        Args:
            now_ns: robot time [ns].
            period: since the last step [s].
            patience_ns: what was told so long ago counts no more [ns].
            contact: (L, 3) force of each tip on what it touches, hull frame [N]; None
                where the robot senses none.
            applied: (S, 3) pose that is applied without the push [rad, rad, m].
            measured: (S, 3) pose; not finite where unknown [rad, rad, m].
        """
        if self._limb < 0:
            return
        told_ns = self._told_ns
        told = told_ns is not None and now_ns - told_ns <= patience_ns
        wanted = float(self._wanted @ self._along) if told else 0.0
        felt = 0.0 if contact is None else float(contact[self._limb] @ self._along)
        if not (wanted >= _TOLD_N and contact is not None and felt < math.inf):
            self._trim = None
            back = min(abs(self.push_m), _BACK * period)
            self.push_m -= math.copysign(back, self.push_m)
            return
        if felt >= _FELT_N:
            speed = self._trimmed(period, wanted, felt)
        else:
            self._trim = None
            short = self._short_of(applied, measured)
            speed = min(max(short / _SEEK_S, -_SEEK_SPEED), _SEEK_SPEED)
        self.push_m = min(max(self.push_m + speed * period, _LEAST), _MOST)

    def _trimmed(self, period: float, wanted: float, felt: float) -> float:
        """Trim the push by what is felt; return how fast it is to change [m/s]."""
        missing = wanted - felt
        if self._trim is None:  # only more than it took to get here, never less
            self._trim = max(0.0, self.push_m - self._share * wanted)
        self._trim = min(max(self._trim, _LEAST), _MOST - self._share * wanted)
        away = self._share * wanted + self._trim - self.push_m
        if abs(away) < _REACHED_M:
            self._trim += _GAIN * missing * period
            if abs(missing) < _HELD * wanted:
                learned = min(max(self.push_m / wanted, 0.0), _MOST_SHARE)
                change = min(period / _LEARN_S, 1.0) * (learned - self._share)
                self._share += change
                self._trim -= change * wanted  # the push stays
        return min(max(away / period, -_SPEED), _SPEED)

    def _short_of(self, applied: FloatArray, measured: FloatArray) -> float:
        """How far the measured tip is short of the told one along the force [m]."""
        model, limb = self._model, self._limb
        rows = slice(*model.limb_segment_start[limb : limb + 2].tolist())
        tip_position(model, limb, applied[rows], self._poses, self._there)
        tip_position(model, limb, measured[rows], self._poses, self._here)
        short = float((self._there - self._here) @ self._along)
        return short if math.isfinite(short) else 0.0

    def pressed(self, applied: FloatArray, period: float) -> FloatArray:
        """Return the pose with the push, inside the envelope and the rate limits.

        A push that the limb cannot follow is taken back to what it can.

        Args:
            applied: (S, 3) pose that is applied without it [rad, rad, m].
            period: since the last pose was asked for [s]; 0 = the limb must not move.
        """
        push = self._push
        if abs(self.push_m) <= _SETTLED_M and not push.under_way[0]:
            return applied
        self._pressed[:] = applied
        self.push_m = push_limb(
            push, self._limb, self.push_m, self._along, period, self._pressed
        )
        return self._pressed

    def warm_up(self, coordinates: FloatArray) -> None:
        """Compile or load the kernels, on a push that is thrown away.

        Args:
            coordinates: (S, 3) any pose [rad, rad, m].
        """
        other = Pressing(self._model)
        other._limb, other.push_m = 0, 1e-3
        other.pressed(coordinates, 1e-3)
