"""The contract of a driver: one bus of actuators, spoken to in rounds.

    setpoints (n,) -> check, clamp -> `_exchange` (bytes out, bytes in) -> Reading

A driver knows bytes and its devices' own units, nothing of robots. Its channels say
their unit and range; a calibration between actuators and channels stands above it (see
app.robot.rig). It is used from one thread and returns within `longest_exchange_s`,
whatever the bus does.

What a device must do by itself when the bus falls silent (its watchdog) is set when the
driver opens, wherever the device has one; `watchdog_s` says what was set.
"""

import math
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import IntEnum
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from app.errors import DeviceError
from models.numerics import FloatArray

__all__ = ["Action", "Channel", "Driver", "Fault", "Identity", "Reading"]

BoolArray = NDArray[np.bool_]

_CLOSING_ROUNDS = 3
"""Rounds of SAFE at most, where one is not answered by all."""


class Action(IntEnum):
    """What all actuators of a bus shall do in this round."""

    FOLLOW = 0  # go to the setpoints
    HOLD = 1  # stay at the last setpoints
    RELAX = 2  # give way: low tension, low current, low pressure
    SAFE = 3  # vent, slack or torque off


@dataclass(frozen=True)
class Channel:
    """One actuator as its device counts.

    Attributes:
        name: what people call it, such as "servo 3".
        unit: of setpoint and measurement.
        least: smallest setpoint that the driver lets pass.
        greatest: largest one.
        load_unit: of what the device tells of its load; empty where it tells none.
    """

    name: str
    unit: str
    least: float
    greatest: float
    load_unit: str = ""

    def __post_init__(self) -> None:
        """Refuse a range that holds nothing.

        Raises:
            DeviceError: names the channel and its range.
        """
        if not (math.isfinite(self.least) and math.isfinite(self.greatest)):
            raise DeviceError(f"Channel {self.name!r}: its range must be finite.")
        if not self.least <= self.greatest:
            raise DeviceError(
                f"Channel {self.name!r}: least {self.least:g} lies above greatest "
                f"{self.greatest:g} {self.unit}."
            )


class Fault(NamedTuple):
    """Something wrong on the bus.

    Attributes:
        channel: which; -1 for the whole bus.
        text: what, and what to do.
        latched: the channel moves no more until `Driver.clear_faults`.
        restarted: devices began anew, or vented by themselves: what was asked of them
            before must not be asked again in one step.
    """

    channel: int
    text: str
    latched: bool = False
    restarted: bool = False


class Identity(NamedTuple):
    """A device that answered."""

    address: str
    model: str
    firmware: str


class Reading(NamedTuple):
    """What one round brought; n channels, NaN where a device does not tell.

    Attributes:
        time_ns: when the last answer was there, CLOCK_MONOTONIC [ns].
        applied: (n,) setpoints that were really sent, after all limits.
        measured: (n,) in the channel's unit.
        load: (n,) in its load unit.
        temperature: (n,) [deg C].
        answered: (n,) the device answered in this round.
        faults: what is wrong now.
    """

    time_ns: int
    applied: FloatArray
    measured: FloatArray
    load: FloatArray
    temperature: FloatArray
    answered: BoolArray
    faults: tuple[Fault, ...]


class Driver(ABC):
    """One bus. Subclasses implement the hooks with an underscore."""

    watchdog_s: float = math.nan
    """Silence after which the devices themselves make safe [s]; NaN: they cannot."""

    def __init__(self, channels: tuple[Channel, ...], *, timeout_s: float) -> None:
        """Describe the bus; nothing is opened.

        Args:
            channels: of its actuators, in the order of all arrays.
            timeout_s: longest wait for one answer [s].

        Raises:
            DeviceError: no channels, or a timeout out of 1 ms to 10 s.
        """
        if not channels:
            raise DeviceError("A bus needs at least one channel.")
        if not 1e-3 <= timeout_s <= 10.0:
            raise DeviceError(
                f"Timeout {timeout_s:g} s of a bus: allowed are 0.001 to 10."
            )
        self.channels = channels
        self.timeout_s = timeout_s
        self._least = np.array([channel.least for channel in channels])
        self._greatest = np.array([channel.greatest for channel in channels])
        self._applied = np.full(len(channels), np.nan)
        self._open = False

    @property
    def longest_exchange_s(self) -> float:
        """No round takes longer [s]."""
        return self.timeout_s * (len(self.channels) + 1)

    def open(self) -> None:
        """Open the bus and bring its devices into a known, safe state.

        Raises:
            DeviceError: the port is missing, busy or not permitted, or a device does
                not answer; says which and what to do.
        """
        if self._open:
            return
        try:
            self._open_bus()
        except BaseException:
            self._close_bus()
            raise
        self._open = True
        self._applied[:] = np.nan

    def close(self) -> None:
        """Make safe as far as possible and close; any further call does nothing."""
        if not self._open:
            return
        self._open = False
        self._applied[:] = np.nan
        try:
            for _ in range(_CLOSING_ROUNDS):
                if self._exchange(Action.SAFE, self._applied.copy()).answered.all():
                    break
        except DeviceError:
            pass  # the bus is gone; the devices' own watchdog must do it
        finally:
            self._close_bus()

    def __enter__(self) -> Self:
        """Open."""
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    @property
    def is_open(self) -> bool:
        """The bus is open."""
        return self._open

    def identify(self) -> list[Identity]:
        """Ask every device who it is; those that do not answer are left out.

        Raises:
            DeviceError: the bus is not open or gone.
        """
        self._need_open()
        return self._identify()

    def exchange(self, action: Action, setpoint: FloatArray) -> Reading:
        """Do one round: tell the actuators what to do, and read them.

        Args:
            action: what all of them shall do.
            setpoint: (n,) wanted values in the channels' units, looked at where action
                is FOLLOW. A value that is not finite leaves that channel at its last
                setpoint; others are clamped to the channel's range.

        Raises:
            DeviceError: the bus is gone (unplugged, or nobody at all answers): the
                owner closes it and may open it again.
            ValueError: setpoint has another shape.
        """
        self._need_open()
        if setpoint.shape != self._applied.shape:
            message = f"setpoint has shape {setpoint.shape}, not {self._applied.shape}"
            raise ValueError(message)
        if action is Action.FOLLOW:
            wanted = np.clip(setpoint, self._least, self._greatest)
            np.copyto(self._applied, wanted, where=np.isfinite(setpoint))
        elif action is not Action.HOLD:
            self._applied[:] = np.nan  # no setpoint outlives giving way
        return self._exchange(action, self._applied.copy())

    def clear_faults(self) -> None:
        """Clear latched faults: a deliberate act of a person.

        Channels start again at RELAX: the next FOLLOW moves them.

        Raises:
            DeviceError: the bus is not open or gone.
        """
        self._need_open()
        self._clear_faults()

    def nothing_read(self, applied: FloatArray, *faults: Fault) -> Reading:
        """Make the reading of a round in which nobody answered."""
        unknown = np.full(len(self.channels), np.nan)
        return Reading(
            time.monotonic_ns(),
            applied,
            unknown,
            unknown.copy(),
            unknown.copy(),
            np.zeros(len(self.channels), dtype=np.bool_),
            faults,
        )

    def _need_open(self) -> None:
        if not self._open:
            raise DeviceError(f"{type(self).__name__} is not open.")

    @abstractmethod
    def _open_bus(self) -> None:
        """Open; set the devices' watchdogs. May be called again after `_close_bus`."""

    @abstractmethod
    def _close_bus(self) -> None:
        """Close the port; also called after a failed `_open_bus`; idempotent."""

    @abstractmethod
    def _identify(self) -> list[Identity]:
        """See `identify`."""

    @abstractmethod
    def _exchange(self, action: Action, applied: FloatArray) -> Reading:
        """Send and read once. `applied` is (n,), inside the ranges; NaN: none yet.

        A channel whose value is NaN must not be driven. Raises DeviceError only where
        the bus itself is gone; a device that does not answer is a Fault.
        """

    def _clear_faults(self) -> None:
        """See `clear_faults`; nothing to do where the devices latch none."""
        return
