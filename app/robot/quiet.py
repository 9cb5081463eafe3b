"""A millisecond of the simulated robot in which there is nothing to do but move.

Most milliseconds bring no frame, feel nothing anew and send nothing. Then sensors,
approach, push and limbs are one kernel, where `app.robot.core` calls one after the
other; what it does is the same, to the bit.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from app.robot.body import Applied
from app.robot.onward import Onward, OnwardData, move_on
from app.robot.plant import Plant
from app.robot.plant_step import (
    AroundParts,
    PlantParts,
    SensorParts,
    plant_contact_step,
    plant_step,
    read_sensors,
)
from app.robot.safety import Actuation
from models.bound import Bound, bind
from models.numerics import FloatArray, inner_kernel, kernel

__all__ = ["Quiet"]

_STIFF = int(Actuation.STIFF)
_PUSHES = 1 << 20
"""Is added to what the plant returns where a limb pushes."""


class _QuietData(NamedTuple):
    """What moves, and what is read of it."""

    sensors: SensorParts
    onward: OnwardData
    plant: PlantParts
    pose: FloatArray
    """(S, 3) as measured [rad, rad, m]."""
    tension: FloatArray
    """(T,) as measured [N]."""


@inner_kernel
def _told(
    data: _QuietData,
    row: int,
    now_ns: int,
    period: float,
    patience_ns: int,
    contact: FloatArray,
) -> int:
    """Read the sensors, and write the target of the plant; as `move_on` returns."""
    read_sensors(data.sensors, row, data.pose, data.tension)
    pushes = move_on(data.onward, now_ns, period, patience_ns, 1, contact, data.pose)
    if pushes >= 0:
        pressed, applied = data.onward.press.pressed, data.onward.paths.applied
        for k in range(applied.shape[0]):
            for j in range(3):
                told = pressed[k, j] if pushes == 1 else applied[k, j]
                data.plant.target[k, j] = told
    return int(pushes)


@kernel
def quiet_step(
    data: _QuietData,
    row: int,
    now_ns: int,
    period: float,
    patience_ns: int,
    contact: FloatArray,
) -> int:
    """Go on for a millisecond in open water.

    Args:
        data: advanced.
        row: number of the measurement's noise.
        now_ns: robot time [ns].
        period: since the last step [s].
        patience_ns: a push that was told so long ago counts no more [ns].
        contact: (L, 3) force of each tip on what it touches, hull frame [N].

    Returns:
        What the plant's kernel does, with `_PUSHES`; -1 where the measurement is not
        finite, and nothing moved.
    """
    pushes = _told(data, row, now_ns, period, patience_ns, contact)
    if pushes < 0:
        return -1
    return int(plant_step(data.plant, _STIFF) + pushes * _PUSHES)


@kernel
def quiet_contact_step(
    data: _QuietData,
    around: AroundParts,
    row: int,
    now_ns: int,
    period: float,
    patience_ns: int,
    contact: FloatArray,
) -> int:
    """Go on for a millisecond among things; arguments as of `quiet_step`."""
    pushes = _told(data, row, now_ns, period, patience_ns, contact)
    if pushes < 0:
        return -1
    return int(plant_contact_step(data.plant, around, _STIFF) + pushes * _PUSHES)


class Quiet:
    """Moves a plant on by what a bridge has under way."""

    def __init__(self, onward: Onward, plant: Plant) -> None:
        """Bind both; this does not move anything.

        Args:
            onward: the bridge's own.
            plant: the simulated robot.
        """
        data = _QuietData(
            sensors=plant.sensors,
            onward=onward.data,
            plant=plant.parts,
            pose=np.zeros_like(plant.parts.target),
            tension=np.zeros_like(plant.parts.winch),
        )
        self._plant, self._applied = plant, onward.applied
        self._data = [Bound(data)]
        step: Callable[..., int] = quiet_step
        if plant.around is not None:
            self._data.append(Bound(plant.around))
            step = quiet_contact_step
        contact = np.zeros((plant.parts.nominal.tip_speed_limit.size, 3))
        self._step = bind(step, *self._data, 0, 0, 0.0, 0, contact)

    @property
    def frozen(self) -> int:
        """Number of limbs that are frozen after the last step."""
        return self._plant.frozen

    def step(
        self, now_ns: int, period: float, patience_ns: int, contact: FloatArray
    ) -> Applied | None:
        """Go on for a millisecond; arguments as of `quiet_step`.

        Returns:
            What is applied; None where the measurement is not finite, and nothing
            moved.
        """
        row = self._plant.next_row()
        told = self._step(*self._data, row, now_ns, period, patience_ns, contact)
        if told < 0:
            return None
        pushes, told = divmod(told, _PUSHES)
        self._plant.took(now_ns, told)
        return self._applied[pushes]
