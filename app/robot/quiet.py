"""Milliseconds of the simulated robot in which there is nothing to do but move.

Most milliseconds bring no frame and send nothing. Then sensors, approach, push and
limbs of some milliseconds are one kernel, where `app.robot.core` calls one part after
the other; what they do is the same, to the bit.
"""

from typing import NamedTuple

import numpy as np

from app.clock import NS_PER_S
from app.robot.body import Applied
from app.robot.onward import Onward, OnwardData, move_on
from app.robot.plant import Plant
from app.robot.plant_step import (
    PLANT_PERIOD,
    AroundParts,
    PlantParts,
    SensorParts,
    plant_contact_step,
    plant_step,
    read_sensors,
)
from app.robot.safety import Actuation
from models.bound import Bound, bind
from models.numerics import FloatArray, IntArray, kernel

__all__ = ["Quiet"]

_STEP_NS = round(PLANT_PERIOD * NS_PER_S)
_STIFF = int(Actuation.STIFF)


class _QuietData(NamedTuple):
    """What moves, and what is read of it."""

    sensors: SensorParts
    onward: OnwardData
    target: FloatArray
    """(S, 3) pose that the plant is told [rad, rad, m]."""
    pose: FloatArray
    """(S, 3) as measured [rad, rad, m]."""
    tension: FloatArray
    """(T,) as measured [N]."""


@kernel
def _move(
    data: _QuietData, now_ns: int, period: float, patience_ns: int, contact: FloatArray
) -> int:
    """Go on for a millisecond, and tell the plant.

    Returns:
        As `move_on`; the target is written unless that is -1.
    """
    pushes = move_on(data.onward, now_ns, period, patience_ns, 1, contact, data.pose)
    if pushes >= 0:
        pressed, applied = data.onward.press.pressed, data.onward.paths.applied
        for k in range(applied.shape[0]):
            for j in range(3):
                data.target[k, j] = pressed[k, j] if pushes == 1 else applied[k, j]
    return int(pushes)


@kernel
def quiet_run(
    data: _QuietData,
    parts: PlantParts,
    row: int,
    read: int,
    steps: int,
    now_ns: int,
    period: float,
    patience_ns: int,
    contact: FloatArray,
    ended_out: IntArray,
) -> int:
    """Read the sensors, go on and move the plant, some milliseconds long.

    Args:
        data: advanced.
        parts: of the plant, advanced.
        row: number of the noise of the first measurement.
        read: 1 = that has been taken.
        steps: how many milliseconds at most; fewer where something happens.
        now_ns: robot time of the first [ns].
        period: since the step before, and between them [s].
        patience_ns: a push that was told so long ago counts no more [ns].
        contact: (L, 3) force of each tip on what it touches, hull frame [N].
        ended_out: (2,) of the last step: whether `move_on` pushes, and what
            `plant_step` returned.

    Returns:
        How many were done: all but that of a measurement that is not finite.
    """
    for done in range(steps):
        if done > 0 or read == 0:
            read_sensors(data.sensors, row + done, data.pose, data.tension)
        pushes = _move(data, now_ns + done * _STEP_NS, period, patience_ns, contact)
        if pushes < 0:
            return done
        ended_out[0], ended_out[1] = pushes, plant_step(parts, _STIFF)
        if ended_out[1] != 0:
            return done + 1
    return steps


@kernel
def quiet_contact_run(
    data: _QuietData,
    parts: PlantParts,
    around: AroundParts,
    row: int,
    read: int,
    steps: int,
    now_ns: int,
    period: float,
    patience_ns: int,
    contact: FloatArray,
    ended_out: IntArray,
) -> int:
    """Do as `quiet_run` where there is something to touch, advanced too."""
    for done in range(steps):
        if done > 0 or read == 0:
            read_sensors(data.sensors, row + done, data.pose, data.tension)
        pushes = _move(data, now_ns + done * _STEP_NS, period, patience_ns, contact)
        if pushes < 0:
            return done
        ended_out[0] = pushes
        ended_out[1] = plant_contact_step(parts, around, _STIFF)
        if ended_out[1] != 0:
            return done + 1
    return steps


class Quiet:
    """Moves a plant on by what a bridge has under way."""

    def __init__(self, onward: Onward, plant: Plant) -> None:
        """Bind both; this does not move anything.

        Args:
            onward: the bridge's own.
            plant: the simulated robot.
        """
        self._plant, self._applied = plant, onward.applied
        self._pose, self._tension = np.zeros_like(plant.target), plant.tension.copy()
        self._read = 0
        self._ended = np.zeros(2, dtype=np.int64)
        data = Bound(
            _QuietData(
                sensors=plant.sensors,
                onward=onward.data,
                target=plant.target,
                pose=self._pose,
                tension=self._tension,
            )
        )
        self._data = (data, *plant.parts)
        kernel = quiet_run if plant.surroundings is None else quiet_contact_run
        contact = np.zeros((plant.limbs, 3))
        self._run = bind(kernel, *self._data, 0, 0, 0, 0, 0.0, 0, contact, self._ended)

    @property
    def applied(self) -> Applied:
        """What is applied since the last step."""
        return self._applied[self._ended.item(0)]

    def measure(self) -> tuple[FloatArray, FloatArray]:
        """Read the sensors, for the next step too.

        Returns:
            (S, 3) pose [rad, rad, m] and (T,) tensions [N], with noise; views, good
            until the next step.
        """
        self._plant.read(self._pose, self._tension)
        self._read = 1
        return self._pose, self._tension

    def run(
        self,
        now_ns: int,
        steps: int,
        period: float,
        patience_ns: int,
        contact: FloatArray,
    ) -> int:
        """Go on for some milliseconds; arguments as of `quiet_run`.

        Returns:
            How many were done: fewer than asked for where something happened, none
            where the measurement is not finite.
        """
        plant, read, ended = self._plant, self._read, self._ended
        self._read = 0
        plant.measured -= read
        row, steps = plant.noise_rows(steps)
        done = self._run(
            *self._data,
            row,
            read,
            steps,
            now_ns,
            period,
            patience_ns,
            contact,
            ended,
        )
        plant.measured += max(done, read)
        if done:
            plant.moved(now_ns + (done - 1) * _STEP_NS, ended.item(1))
        return done
