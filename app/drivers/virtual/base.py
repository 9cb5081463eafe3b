"""What all virtual devices share: actuators with a state, and a sans-I/O face.

A device is fed bytes and answers bytes; a carrier (app.drivers.virtual.carrier) moves
them over a pty or a socket. Behind it stand actuators: where they are driven to, and
what their sensors read. Alone they follow their goals with a lag; where a simulated
robot is attached, it reads the goals and writes what is measured.
"""

import threading
from abc import ABC, abstractmethod
from enum import IntEnum

import numpy as np

from app.clock import NS_PER_S
from models.numerics import FloatArray, IntArray

__all__ = ["Drive", "VirtualActuators", "VirtualDevice"]


class Drive(IntEnum):
    """What holds an actuator."""

    OFF = 0  # torque off, vented, slack
    RELAXED = 1  # gives way at low current, tension or pressure
    DRIVEN = 2  # goes to its goal


class VirtualActuators:
    """State of n actuators, in the device's own units; used by two threads."""

    def __init__(
        self,
        start: FloatArray,
        *,
        time_constant_s: float = 0.05,
        off_value: FloatArray | None = None,
    ) -> None:
        """Put the actuators at rest, off.

        Args:
            start: (n,) where they stand.
            time_constant_s: of their lag where no robot is attached [s].
            off_value: (n,) where they go when off (pressure: 0); None: they stay.
        """
        self._lock = threading.Lock()
        self._time_constant_s = time_constant_s
        self._off_value = off_value
        self._last_ns: int | None = None
        self.attached = False
        """A simulated robot writes what is measured."""
        self.goal = start.astype(np.float64)
        self.drive: IntArray = np.zeros(start.size, dtype=np.int64)
        """(n,) a `Drive` each."""
        self.measured = self.goal.copy()
        self.load = np.zeros(start.size)
        self.temperature = np.full(start.size, 25.0)
        self.stuck = np.zeros(start.size, dtype=np.bool_)
        """(n,) set to imitate an actuator that does not move."""
        self.silent = np.zeros(start.size, dtype=np.bool_)
        """(n,) set to imitate a device that does not answer."""

    def command(self, index: int, goal: float, drive: Drive) -> None:
        """Take up what the device was told for one actuator."""
        with self._lock:
            self.goal[index] = goal
            self.drive[index] = drive

    def release(self, drive: Drive = Drive.OFF) -> None:
        """Let all actuators go, as a watchdog does."""
        with self._lock:
            self.drive[:] = drive

    def told(self) -> tuple[FloatArray, IntArray]:
        """Return copies of the goals (n,) and of the drives (n,)."""
        with self._lock:
            return self.goal.copy(), self.drive.copy()

    def sense(
        self,
        measured: FloatArray,
        load: FloatArray | None = None,
        temperature: FloatArray | None = None,
    ) -> None:
        """Write what the sensors read; from the first call on there is no own lag."""
        with self._lock:
            self.attached = True
            np.copyto(self.measured, measured, where=~self.stuck)
            if load is not None:
                self.load[:] = load
            if temperature is not None:
                self.temperature[:] = temperature

    def advance(self, now_ns: int) -> None:
        """Let the actuators move up to a time [ns], where no robot is attached."""
        with self._lock:
            before, self._last_ns = self._last_ns, now_ns
            if before is None or self.attached or now_ns <= before:
                return
            share = -np.expm1(-(now_ns - before) / NS_PER_S / self._time_constant_s)
            wanted = np.where(self.drive == Drive.DRIVEN, self.goal, self.measured)
            if self._off_value is not None:
                wanted = np.where(self.drive == Drive.OFF, self._off_value, wanted)
            step = share * (wanted - self.measured)
            self.measured += np.where(self.stuck, 0.0, step)


class VirtualDevice(ABC):
    """A device as its bytes show it. Any bytes are taken; none raises."""

    actuators: VirtualActuators

    @abstractmethod
    def feed(self, now_ns: int, received: bytes) -> bytes:
        """Take bytes as they come, in any pieces; return what is answered now."""

    def advance(self, now_ns: int) -> bytes:
        """Let time pass: watchdog and motion; return what the device says unasked."""
        self.actuators.advance(now_ns)
        return b""
