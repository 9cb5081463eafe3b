"""Pressing as hard as the hand does: the robot trims its own push by what it feels.

With model mediation the station tells where the hand's proxy is in the surface and the
force that it makes there. How a soft limb turns a posture into a force, a model knows
only so well: so while the tip feels the surface, the posture is shifted along the force
until what it feels is what the hand pushes with:

    x_cmd += k_i (F_model - F_felt) h n,   |x_cmd - x_told| <= 30 mm,   <= 20 mm/s

Where nothing is felt, or nothing is told, the shift goes back to none at 20 mm/s: a
surface that is gone is not chased.
"""

import math

import numpy as np

from app.link.frame import SignalTold
from app.robot.envelope import clamp_to_envelope
from app.robot.tip import turn_to_base
from models.numerics import FloatArray
from models.robot import RobotModel
from models.tip_shift import allocate_tip_shift, tip_shift

__all__ = ["Pressing"]

_GAIN = 0.02  # m/(N s)
_SPEED, _BACK = 0.020, 0.020  # m/s
_LEAST, _MOST = -0.010, 0.030  # m
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
        self.push_m = 0.0
        """How far the tip is commanded beyond what is told [m]."""
        self._data = allocate_tip_shift(model)
        self._base = np.zeros(3)
        self._shift = np.zeros((count, 3))
        self._pressed = np.zeros_like(model.rest_coordinates)

    def tell(self, now_ns: int, told: SignalTold) -> None:
        """Take the force that the hand pushes with.

        Args:
            now_ns: robot time [ns].
            told: a signal of a setpoint that is obeyed.
        """
        if told.limb != self._limb and abs(self.push_m) > _SETTLED_M:
            return  # first the other limb goes back
        self._limb, self._told_ns = told.limb, now_ns
        self._wanted[:] = told.force
        size = float(np.linalg.norm(self._wanted))
        if size > _GREATEST_N:
            self._wanted *= _GREATEST_N / size
        if size >= _TOLD_N:
            self._along = self._wanted / np.linalg.norm(self._wanted)

    def forget(self) -> None:
        """The limb is limp: nothing of a push is left."""
        self.push_m = 0.0
        self._limb, self._told_ns = -1, None

    def step(
        self, now_ns: int, period: float, patience_ns: int, contact: FloatArray | None
    ) -> None:
        """Trim the push for one step.

        Args:
            now_ns: robot time [ns].
            period: since the last step [s].
            patience_ns: what was told so long ago counts no more [ns].
            contact: (L, 3) force of each tip on what it touches, hull frame [N]; None
                where the robot senses none.
        """
        if self._limb < 0:
            return
        told_ns = self._told_ns
        told = told_ns is not None and now_ns - told_ns <= patience_ns
        wanted = float(self._wanted @ self._along) if told else 0.0
        felt = 0.0 if contact is None else float(contact[self._limb] @ self._along)
        if wanted >= _TOLD_N and felt >= _FELT_N:
            speed = min(max(_GAIN * (wanted - felt), -_SPEED), _SPEED)
            self.push_m = min(max(self.push_m + speed * period, _LEAST), _MOST)
        else:
            back = min(abs(self.push_m), _BACK * period)
            self.push_m -= math.copysign(back, self.push_m)

    def pressed(self, applied: FloatArray) -> FloatArray:
        """Return the pose with the push, inside the envelope.

        Args:
            applied: (S, 3) pose that is applied without it [rad, rad, m].
        """
        if abs(self.push_m) <= _SETTLED_M:
            return applied
        model, limb = self._model, self._limb
        first, last = model.limb_segment_start[limb : limb + 2]
        turn_to_base(model, limb, self.push_m * self._along, self._base)
        shift = self._shift[: last - first]
        if tip_shift(model, limb, applied[first:last], self._base, self._data, shift):
            return applied
        self._pressed[:] = applied
        rows = applied[first:last] + shift
        clamp_to_envelope(model, int(first), rows, self._pressed[first:last])
        return self._pressed

    def warm_up(self, coordinates: FloatArray) -> None:
        """Compile or load the kernels, on a push that is thrown away.

        Args:
            coordinates: (S, 3) any pose [rad, rad, m].
        """
        other = Pressing(self._model)
        other._limb, other.push_m = 0, 1e-3
        other.pressed(coordinates)
