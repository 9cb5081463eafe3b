"""A millisecond of the simulated robot in which there is nothing to do but move.

Most milliseconds bring no frame and send nothing. Then sensors, approach and push are
one kernel and the limbs another, where `app.robot.core` calls one part after the other;
what they do is the same, to the bit.
"""

from typing import NamedTuple

import numpy as np

from app.clock import NS_PER_S
from app.robot.onward import Onward, OnwardData, move_on
from app.robot.plant import Plant
from app.robot.plant_step import PLANT_PERIOD, SensorParts, read_sensors
from models.bound import Bound, bind
from models.numerics import FloatArray, kernel

__all__ = ["Quiet"]

_STEP_NS = round(PLANT_PERIOD * NS_PER_S)


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
def quiet_move(
    data: _QuietData,
    row: int,
    now_ns: int,
    period: float,
    patience_ns: int,
    contact: FloatArray,
) -> int:
    """Read the sensors, go on for a millisecond, and tell the plant.

    Args:
        data: advanced.
        row: number of the measurement's noise; -1 = it has been taken.
        now_ns: robot time [ns].
        period: since the last step [s].
        patience_ns: a push that was told so long ago counts no more [ns].
        contact: (L, 3) force of each tip on what it touches, hull frame [N].

    Returns:
        As `move_on`; the target is written unless that is -1.
    """
    if row >= 0:
        read_sensors(data.sensors, row, data.pose, data.tension)
    pushes = move_on(data.onward, now_ns, period, patience_ns, 1, contact, data.pose)
    if pushes >= 0:
        pressed, applied = data.onward.press.pressed, data.onward.paths.applied
        for k in range(applied.shape[0]):
            for j in range(3):
                data.target[k, j] = pressed[k, j] if pushes == 1 else applied[k, j]
    return int(pushes)


class Quiet:
    """Moves a plant on by what a bridge has under way."""

    def __init__(self, onward: Onward, plant: Plant) -> None:
        """Bind both; this does not move anything.

        Args:
            onward: the bridge's own.
            plant: the simulated robot.
        """
        self._plant, self._applied = plant, onward.applied
        self.applied = self._applied[0]
        self._pose, self._tension = np.zeros_like(plant.target), plant.tension.copy()
        self._measured = False
        self._data = Bound(
            _QuietData(
                sensors=plant.sensors,
                onward=onward.data,
                target=plant.target,
                pose=self._pose,
                tension=self._tension,
            )
        )
        contact = np.zeros((plant.limbs, 3))
        self._move = bind(quiet_move, self._data, 0, 0, 0.0, 0, contact)

    def measure(self) -> tuple[FloatArray, FloatArray]:
        """Read the sensors, for the next step too.

        Returns:
            (S, 3) pose [rad, rad, m] and (T,) tensions [N], with noise; views, good
            until the next step.
        """
        self._plant.read(self._pose, self._tension)
        self._measured = True
        return self._pose, self._tension

    def run(
        self,
        now_ns: int,
        steps: int,
        period: float,
        patience_ns: int,
        contact: FloatArray,
    ) -> int:
        """Go on for some milliseconds; arguments as of `quiet_move`, and these.

        Args:
            now_ns: robot time of the first [ns].
            steps: how many at most; fewer where something happens.
            period: since the step before, and between them [s].
            patience_ns: as of `quiet_move` [ns].
            contact: as of `quiet_move`.

        Returns:
            How many were done: none where the measurement is not finite. `applied`
            is what is applied since the last.
        """
        plant = self._plant
        for done in range(1, steps + 1):
            row = -1 if self._measured else plant.next_row()
            self._measured = False
            pushes = self._move(self._data, row, now_ns, period, patience_ns, contact)
            if pushes < 0:
                return done - 1
            self.applied = self._applied[pushes]
            if plant.hold_target(now_ns):
                return done
            now_ns += _STEP_NS
        return steps
