"""Serial ports of this computer; the one module that touches pyserial.

A line is opened with its final settings, since a pseudo terminal refuses to change
them later. Low latency, where the operating system has it (FTDI adapters: 1 ms in place
of 16), is asked for and not insisted on.
"""

import errno
import os
import select
import termios
import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Self

import serial
from serial.tools import list_ports

from app.clock import NS_PER_S
from app.errors import DeviceError

__all__ = ["SerialLine", "SerialPort", "list_serial_ports"]

_WRITE_S = 0.5
"""A write that stands longer than this has no taker [s]."""
_DRAIN_POLL_S = 0.001
_LOST = (OSError, termios.error)
"""What a port raises when its device is gone; pyserial's own are OSErrors."""


@dataclass(frozen=True)
class SerialPort:
    """A serial port that the operating system shows.

    Attributes:
        device: its path, such as /dev/ttyUSB0.
        description: what hangs on it, as USB tells; the path's name where it does not.
        permitted: this user may read and write it.
    """

    device: str
    description: str
    permitted: bool


def list_serial_ports() -> list[SerialPort]:
    """List the serial ports, by path; none is opened."""
    return sorted(
        (
            SerialPort(
                device=port.device,
                description=port.description
                if port.description != "n/a"
                else port.name,
                permitted=os.access(port.device, os.R_OK | os.W_OK),
            )
            for port in list_ports.comports()
        ),
        key=lambda port: port.device,
    )


class SerialLine:
    """One serial port, held for this program alone; used from one thread."""

    def __init__(
        self,
        path: str,
        baud: int,
        *,
        parity: Literal["N", "E", "O"] = "N",
        stop_bits: Literal[1, 2] = 1,
    ) -> None:
        """Describe the line; nothing is opened.

        Args:
            path: of the port, such as /dev/ttyACM0.
            baud: its rate [bit/s]; means nothing on a pty or native USB.
            parity: none, even or odd.
            stop_bits: after each byte.
        """
        self.path = path
        self._baud = baud
        self._parity = parity
        self._stop_bits = stop_bits
        self._port: serial.Serial | None = None

    @property
    def is_open(self) -> bool:
        """The port is open."""
        return self._port is not None

    def open(self) -> None:
        """Open the port; nothing is done where it is open.

        Raises:
            DeviceError: missing, busy, not permitted or not a serial port; says what to
                do.
        """
        if self._port is not None:
            return
        try:
            port = serial.Serial(
                self.path,
                self._baud,
                parity=self._parity,
                stopbits=self._stop_bits,
                timeout=0.0,
                write_timeout=_WRITE_S,
                exclusive=True,
            )
        except (*_LOST, ValueError) as error:
            raise DeviceError(_why_not(self.path, error)) from error
        try:
            port.set_low_latency_mode(True)
        except (*_LOST, ValueError, NotImplementedError):
            pass  # a pty, or an adapter that has no such mode
        self._port = port

    def close(self) -> None:
        """Close the port; any further call does nothing."""
        port, self._port = self._port, None
        if port is None:
            return
        try:
            port.close()
        except _LOST:
            return  # unplugged: the system has closed it already

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

    def write(self, data: bytes) -> None:
        """Hand all bytes to the operating system.

        Raises:
            DeviceError: unplugged, or nothing takes the bytes for half a second.
        """
        port = self._need_port()
        try:
            port.write(data)
        except _LOST as error:
            raise self._lost(error) from error

    def read(self, deadline_ns: int) -> bytes:
        """Return the bytes that are there, waiting for the first one.

        Args:
            deadline_ns: when to give up, CLOCK_MONOTONIC [ns]; one in the past only
                looks.

        Returns:
            At least one byte; none at the deadline.

        Raises:
            DeviceError: unplugged.
        """
        port = self._need_port()
        left_s = max(0.0, (deadline_ns - time.monotonic_ns()) / NS_PER_S)
        try:
            ready, _, _ = select.select([port.fileno()], [], [], left_s)
            if not ready:
                return b""
            received: bytes = port.read(max(1, port.in_waiting))
        except _LOST as error:
            raise self._lost(error) from error
        return received

    def drain(self, deadline_ns: int) -> bool:
        """Wait until all that was written has left this computer.

        Args:
            deadline_ns: when to give up, CLOCK_MONOTONIC [ns].

        Returns:
            Nothing is left to send.

        Raises:
            DeviceError: unplugged.
        """
        port = self._need_port()
        pause = threading.Event()
        try:
            while port.out_waiting:
                if time.monotonic_ns() >= deadline_ns:
                    return False
                pause.wait(_DRAIN_POLL_S)
        except _LOST as error:
            raise self._lost(error) from error
        return True

    def discard_input(self) -> None:
        """Forget what has come in and was not read.

        Raises:
            DeviceError: unplugged.
        """
        port = self._need_port()
        try:
            port.reset_input_buffer()
        except _LOST as error:
            raise self._lost(error) from error

    def _need_port(self) -> serial.Serial:
        if self._port is None:
            raise DeviceError(f"{self.path} is not open.")
        return self._port

    def _lost(self, error: BaseException) -> DeviceError:
        if isinstance(error, serial.SerialTimeoutException):
            return DeviceError(
                f"{self.path} takes no bytes: nothing was sent for {_WRITE_S:g} s. "
                "Check that the device is powered and runs its firmware."
            )
        return DeviceError(
            f"{self.path} is gone ({error}). Plug the device in again; check its cable "
            "and power."
        )


def _why_not(path: str, error: BaseException) -> str:
    code = getattr(error, "errno", None)
    if code == errno.ENOENT or (code is None and not os.path.exists(path)):
        there = ", ".join(port.device for port in list_serial_ports())
        return (
            f"No serial port {path}. There are: {there or 'none; plug the device in'}."
        )
    if code in {errno.EACCES, errno.EPERM}:
        return (
            f"{path} may not be opened by this user. Join the group that owns it "
            "(Debian, Ubuntu: sudo usermod -aG dialout $USER), log out and in again."
        )
    if code in {errno.EBUSY, errno.EAGAIN}:
        return (
            f"{path} is in use by another program. End that one (fuser {path} shows "
            "it; ModemManager holds new ports for some seconds)."
        )
    if isinstance(error, ValueError):
        return f"{path} cannot be opened with these settings: {error}."
    return f"{path} cannot be opened as a serial port: {error}."
