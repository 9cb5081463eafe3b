"""Milliseconds of the simulated robot in which there is nothing to do but move.

Most milliseconds bring no frame and send nothing. Then sensors, approach, push and
limbs of some milliseconds are one kernel, where `app.robot.core` calls one part after
the other; what they do is the same, to the bit.
"""

from typing import NamedTuple

import numpy as np

from app.clock import NS_PER_S
from app.robot.feeling import Feeling, FeelingData, feel
from app.robot.onward import Onward, OnwardData, move_on
from app.robot.plant import NOISE_ROWS, Plant
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
    feeling: FeelingData
    ended: IntArray
    """(3,) of the last step: whether `move_on` pushes, what `plant_step` returned, and
    what `feel`."""


@kernel
def _move(
    data: _QuietData, row: int, now_ns: int, period: float, patience_ns: int
) -> int:
    """Read the sensors, feel, go on for a millisecond, and tell the plant.

    Returns:
        As `move_on`; the target is written unless that is -1.
    """
    pose, feeling = data.pose, data.feeling
    read_sensors(data.sensors, row, pose, data.tension)
    data.ended[2] = feel(feeling, now_ns, pose, data.tension)
    contact = feeling.contact
    pushes = move_on(data.onward, now_ns, period, patience_ns, 1, contact, pose)
    if pushes >= 0:
        pressed, applied = data.onward.press.pressed, data.onward.paths.applied
        for k in range(applied.shape[0]):
            for j in range(3):
                data.target[k, j] = pressed[k, j] if pushes == 1 else applied[k, j]
        data.ended[0] = pushes
    return int(pushes)


@kernel
def quiet_run(
    data: _QuietData,
    parts: PlantParts,
    row: int,
    steps: int,
    now_ns: int,
    period: float,
    patience_ns: int,
) -> int:
    """Read the sensors, feel, go on and move the plant, some milliseconds long.

    Args:
        data: advanced.
        parts: of the plant, advanced.
        row: number of the noise of the first measurement.
        steps: how many milliseconds at most; fewer where something happens.
        now_ns: robot time of the first [ns].
        period: since the step before, and between them [s].
        patience_ns: a push that was told so long ago counts no more [ns].

    Returns:
        How many were done: all but that of a measurement that is not finite.
    """
    ended = data.ended
    for done in range(steps):
        time_ns = now_ns + done * _STEP_NS
        if _move(data, row + done, time_ns, period, patience_ns) < 0:
            return done
        ended[1] = plant_step(parts, _STIFF)
        if ended[1] != 0 or ended[2] != 0:
            return done + 1
    return steps


@kernel
def quiet_contact_run(
    data: _QuietData,
    parts: PlantParts,
    around: AroundParts,
    row: int,
    steps: int,
    now_ns: int,
    period: float,
    patience_ns: int,
) -> int:
    """Do as `quiet_run` where there is something to touch, advanced too."""
    ended = data.ended
    for done in range(steps):
        time_ns = now_ns + done * _STEP_NS
        if _move(data, row + done, time_ns, period, patience_ns) < 0:
            return done
        ended[1] = plant_contact_step(parts, around, _STIFF)
        if ended[1] != 0 or ended[2] != 0:
            return done + 1
    return steps


class Quiet:
    """Moves a plant on by what a bridge has under way."""

    def __init__(self, onward: Onward, plant: Plant, feeling: Feeling) -> None:
        """Bind all; this does not move anything.

        Args:
            onward: the bridge's own.
            plant: the simulated robot.
            feeling: of that robot.
        """
        self._plant, self._feeling = plant, feeling
        self._applied = onward.applied
        self.applied = onward.applied[0]
        """What is applied since the last step."""
        self.pose = np.zeros_like(plant.target)
        """(S, 3) as measured in the last step [rad, rad, m]."""
        self.tension = plant.tension.copy()
        """(T,) as measured in the last step [N]."""
        self._drawn = 0  # of how many measurements the noise is surely there
        self._ended = np.zeros(3, dtype=np.int64)
        data = Bound(
            _QuietData(
                sensors=plant.sensors,
                onward=onward.data,
                target=plant.target,
                pose=self.pose,
                tension=self.tension,
                feeling=feeling.data,
                ended=self._ended,
            )
        )
        self._data = (data, *plant.parts)
        kernel = quiet_run if plant.surroundings is None else quiet_contact_run
        self._run = bind(kernel, *self._data, 0, 0, 0, 0.0, 0)

    def run(self, now_ns: int, steps: int, period: float, patience_ns: int) -> int:
        """Go on for some milliseconds; arguments as of `quiet_run`.

        Returns:
            How many were done: fewer than asked for where something happened, none
            where the measurement is not finite.
        """
        plant = self._plant
        first = plant.measured
        if first + steps > self._drawn:
            steps = self._draw(steps)
        row = first % NOISE_ROWS
        done = self._run(*self._data, row, steps, now_ns, period, patience_ns)
        pushes, told, news = self._ended.tolist()
        if news:
            self._feeling.note(news)
        if done:
            plant.measured = first + done
            self.applied = self._applied[pushes]
            if told:
                plant.moved(now_ns + (done - 1) * _STEP_NS, told)
        return done

    def _draw(self, steps: int) -> int:
        """Draw noise for some milliseconds; return of how many it is there."""
        plant, feeling = self._plant, self._feeling
        row, steps = plant.noise_rows(feeling.ready(steps))
        # a step takes one row of each at most
        self._drawn = plant.measured + min(NOISE_ROWS - row, feeling.rows_left)
        return steps
