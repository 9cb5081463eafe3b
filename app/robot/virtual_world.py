"""The simulated robot behind a rig's virtual devices.

    what the devices drive -> lengths -> plant, 1 ms -> what their sensors read

Servos are driven where the plant's winches go and read where those are, with the
tension as their load. Valves fill by themselves; the plant takes the pressure that they
let through. Legs and axes move by the devices' own lag: the hull stands still.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from app.drivers.base import BoolArray
from app.drivers.kinds import Carrier
from app.drivers.virtual.base import Drive, VirtualActuators
from app.robot.lines import Lines
from app.robot.plant import Plant
from app.robot.safety import Actuation
from models.numerics import FloatArray, IntArray

__all__ = ["VirtualWorld"]

_ACTUATION: IntArray = np.zeros(len(Drive), dtype=np.int64)
_ACTUATION[[Drive.OFF, Drive.RELAXED, Drive.DRIVEN]] = [
    Actuation.SLACK,
    Actuation.COMPLIANT,
    Actuation.STIFF,
]
"""What a `Drive` makes of a winch."""


class _Bus(NamedTuple):
    """Actuators of one bus, and which tendons or chambers (k,) they move."""

    actuators: VirtualActuators
    rows: IntArray
    channels: IntArray
    chambers: BoolArray


class VirtualWorld:
    """Moves virtual devices and plant together."""

    def __init__(
        self, lines: Lines, plant: Plant, carriers: Mapping[str, Carrier]
    ) -> None:
        """Put the devices where the plant is.

        Args:
            lines: a map of the rig of its own: it carries the chambers' hysteresis.
            plant: the robot that is there.
            carriers: the virtual devices of each bus, by its name.
        """
        self.plant = plant
        self._lines = lines
        self._length: FloatArray = plant.servo_length.copy()
        self._drive: IntArray = np.full(self._length.size, int(Actuation.SLACK))
        self._buses = [
            _Bus(
                carrier.device.actuators,
                rows,
                lines.channel[rows],
                lines.are_chambers(rows),
            )
            for name, carrier in carriers.items()
            if len(rows := lines.rows(name))
        ]
        self.step()

    def step(self) -> None:
        """Advance by 1 ms."""
        for actuators, rows, channels, chambers in self._buses:
            goal, drive = actuators.told()
            pushed = actuators.measured.copy()
            value = np.where(chambers, pushed[channels], goal[channels])
            length = self._lines.to_lengths(rows, value)
            known = np.isfinite(length)
            self._length[rows[known]] = length[known]
            told = _ACTUATION[drive[channels]]
            self._drive[rows] = np.where(chambers, int(Actuation.STIFF), told)
        self.plant.step_lines(self._length, self._drive)
        for actuators, rows, channels, chambers in self._buses:
            if chambers.any():
                continue
            measured = actuators.measured.copy()
            load = actuators.load.copy()
            measured[channels] = self._lines.to_channels(rows, self.plant.servo_length)
            gain = self._lines.load_gain[rows]
            load[channels] = np.where(
                gain > 0.0, self.plant.tension[rows] / np.maximum(gain, 1e-12), 0.0
            )
            actuators.sense(measured, load)
