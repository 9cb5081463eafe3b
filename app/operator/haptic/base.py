"""The contract of a haptic device: where the hand is, and how hard to push it.

    write(force) -> force that was sent         read() -> HapticReading

Both are called in turn, about once a millisecond, from the thread that opened the
device. Whatever goes wrong ends in no force: a device that fails is closed, and zero
force is the last thing that it is told, as far as it can be told anything. Its owner
may open it again.
"""

import math
from abc import ABC, abstractmethod
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np

from app.errors import DeviceError
from models.numerics import FloatArray

__all__ = ["HapticDevice", "HapticFacts", "HapticReading"]


class HapticFacts(NamedTuple):
    """What is known of a device before and after it is opened.

    Attributes:
        name: as a person calls it.
        renders_force: it can push back.
        rate_mode: a cap that springs back; its deflection is a wanted velocity.
        centre: (3,) middle of its workspace, device frame [m].
        reach: radius of the sphere about it that the handle surely covers [m].
        greatest_force: more is never sent [N].
        rate_hz: readings a second that it can give.
        buttons: names of its buttons, in the order of the bits.
        axes: device axes that run to the bow, to port and up for somebody who sits
            before the device and looks to the bow, as "-y" or "+x".
    """

    name: str
    renders_force: bool
    rate_mode: bool
    centre: tuple[float, float, float]
    reach: float
    greatest_force: float
    rate_hz: float
    buttons: tuple[str, ...]
    axes: tuple[str, str, str]


class HapticReading(NamedTuple):
    """One reading of a device, in its own frame.

    Attributes:
        time_ns: when it was there, CLOCK_MONOTONIC [ns].
        position: of the handle [m]; zeros where the device is a cap.
        velocity: of the handle [m/s]; zeros where the device is a cap.
        orientation: quaternion wxyz, or None where it is not measured.
        rate: deflection of a cap, each -1..1; zeros where the device has a position.
        buttons: bit k is button k of the facts.
    """

    time_ns: int
    position: tuple[float, float, float]
    velocity: tuple[float, float, float]
    orientation: tuple[float, float, float, float] | None
    rate: tuple[float, float, float]
    buttons: int


class HapticDevice(ABC):
    """One device. Subclasses implement the hooks with an underscore."""

    silence_limit_s = 0.09
    """Silence after which a device that should have answered is gone [s]."""

    def __init__(self, facts: HapticFacts) -> None:
        """Describe the device; nothing is opened.

        Args:
            facts: as far as they are known without it.
        """
        self.facts = facts
        self.notice = ""
        """What a person should know or do, such as "calibrate"; empty: nothing."""
        self._applied = np.zeros(3)
        self._open = False

    @property
    def is_open(self) -> bool:
        """Whether it can be read and written."""
        return self._open

    @property
    def applied(self) -> FloatArray:
        """(3,) force that was sent last; zeros where it is not open [N]."""
        return self._applied

    def open(self) -> None:
        """Open it with no force; once more is harmless.

        Raises:
            DeviceError: it is not there, busy or not permitted; says what to do.
        """
        if self._open:
            return
        self.notice = ""
        self._applied[:] = 0.0
        try:
            self._open_device()
        except BaseException:
            self._close_device()
            raise
        self._open = True

    def close(self) -> None:
        """Tell it to push no more and let go of it; once more is harmless."""
        if not self._open:
            return
        self._open = False
        self._applied[:] = 0.0
        try:
            self._write(0.0, 0.0, 0.0)
        except DeviceError:
            pass  # it is gone, and pushes nobody
        finally:
            self._close_device()

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

    def write(self, force: FloatArray) -> FloatArray:
        """Push the hand from now on until told otherwise.

        Args:
            force: (3,) on the hand, device frame [N]. A force that is not finite is no
                force; one beyond the device's greatest is shortened to it.

        Returns:
            (3,) the force that was sent last, also `applied` [N]: that of before where
            the device still has too much to answer.

        Raises:
            DeviceError: the device is gone, and closed with that; or was not open.
        """
        self._need_open()
        x, y, z = float(force[0]), float(force[1]), float(force[2])
        size = math.sqrt(x * x + y * y + z * z)
        if not (math.isfinite(size) and self.facts.renders_force):
            x = y = z = 0.0
        elif size > self.facts.greatest_force:
            scale = self.facts.greatest_force / size
            x, y, z = scale * x, scale * y, scale * z
        try:
            if self._busy():
                return self._applied
            self._write(x, y, z)
        except BaseException:
            self.close()
            raise
        self._applied[0] = x
        self._applied[1] = y
        self._applied[2] = z
        return self._applied

    def read(self) -> HapticReading | None:
        """Return the newest reading; waits for it, but no longer than a few ms.

        Returns:
            The reading; None where none came in time. A device that is silent for
            longer than `silence_limit_s` is gone.

        Raises:
            DeviceError: the device is gone or tells what is not finite, and is closed
                with that; or was not open.
        """
        self._need_open()
        try:
            reading = self._read()
            if reading is None:
                return None
            total = sum(reading.position) + sum(reading.velocity) + sum(reading.rate)
            total += sum(reading.orientation or ())
            if not math.isfinite(total):
                raise DeviceError(
                    f"{self.facts.name} tells a pose that is not finite. Calibrate it "
                    "or switch it off and on."
                )
        except BaseException:
            self.close()
            raise
        return reading

    def _need_open(self) -> None:
        if not self._open:
            raise DeviceError(f"{self.facts.name} is not open.")

    @abstractmethod
    def _open_device(self) -> None:
        """Open, without force. May be called again after `_close_device`."""

    @abstractmethod
    def _close_device(self) -> None:
        """Let go; also called after a failed `_open_device`; idempotent."""

    def _busy(self) -> bool:
        """Whether to send no more forces until some are answered."""
        return False

    @abstractmethod
    def _write(self, x: float, y: float, z: float) -> None:
        """Send a force that is finite and within the greatest [N].

        Raises:
            DeviceError: the device is gone.
        """

    @abstractmethod
    def _read(self) -> HapticReading | None:
        """See `read`; what is not finite is found there."""
