"""Where MAVLink bytes go: a UDP peer, or a serial line."""

import select
import socket
import time
from typing import Protocol

from app.clock import NS_PER_S
from app.drivers.transport import SerialLine
from app.errors import DeviceError

__all__ = ["MavlinkPort", "SerialMavlinkPort", "UdpMavlinkPort"]

_LARGEST = 4096
_CHANGE_NS = 3 * NS_PER_S
"""A vehicle that started anew may speak from another port."""


class MavlinkPort(Protocol):
    """What a driver needs of a port."""

    where: str

    def open(self) -> None:
        """Open; raises DeviceError that says what to do."""

    def close(self) -> None:
        """Close; any further call does nothing."""

    def send(self, data: bytes) -> None:
        """Send; raises DeviceError where the port is gone."""

    def receive(self, deadline_ns: int) -> bytes:
        """Return what has come, waiting for it until a time; b"" for nothing."""


class UdpMavlinkPort:
    """UDP to a vehicle, or waiting for one that speaks first (BlueOS does so)."""

    def __init__(self, host: str, port: int, *, listen: bool = False) -> None:
        """Describe the port.

        Args:
            host: of the vehicle; where `listen`: own address to wait at, empty: all.
            port: its, or own.
            listen: wait for the vehicle; the first to speak is it, until it has been
                silent for `_CHANGE_NS`.
        """
        self._address = (host, port)
        self._listen = listen
        self._peer: tuple[str, int] | None = None
        self._heard_ns = 0
        self._socket: socket.socket | None = None
        kind = "waiting at UDP port" if listen else "UDP"
        self.where = f"{kind} {host}:{port}" if host else f"{kind} {port}"

    def open(self) -> None:
        """Open the socket.

        Raises:
            DeviceError: the port is taken or the host unknown.
        """
        if self._socket is not None:
            return
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            made.setblocking(False)
            if self._listen:
                made.bind(self._address)
            else:
                made.connect(self._address)
        except OSError as error:
            made.close()
            raise DeviceError(
                f"MAVLink, {self.where}: cannot be opened ({error}). Is the port taken "
                "by another ground station, or the host's name wrong?"
            ) from error
        self._peer = None
        self._socket = made

    def close(self) -> None:
        """Close the socket; any further call does nothing."""
        made, self._socket = self._socket, None
        if made is not None:
            made.close()

    def send(self, data: bytes) -> None:
        """Send one datagram; where nobody is there yet it is dropped.

        Raises:
            DeviceError: there is no network.
        """
        made = self._ready()
        try:
            if not self._listen:
                made.send(data)
            elif self._peer is not None:
                made.sendto(data, self._peer)
        except (ConnectionRefusedError, BlockingIOError):
            return  # nobody is there, or the buffer is full: UDP loses it
        except OSError as error:
            raise self._gone(error) from error

    def receive(self, deadline_ns: int) -> bytes:
        """Return one datagram, waiting for it until a time; b"" for none.

        Raises:
            DeviceError: there is no network.
        """
        made = self._ready()
        left_s = max(0, deadline_ns - time.monotonic_ns()) / NS_PER_S
        if not select.select([made], [], [], left_s)[0]:
            return b""
        try:
            data, sender = made.recvfrom(_LARGEST)
        except (ConnectionRefusedError, BlockingIOError):
            return b""
        except OSError as error:
            raise self._gone(error) from error
        if self._listen:
            now_ns = time.monotonic_ns()
            if self._peer is None or now_ns - self._heard_ns > _CHANGE_NS:
                self._peer = sender
            if sender != self._peer:
                return b""
            self._heard_ns = now_ns
        return data

    def _ready(self) -> socket.socket:
        if self._socket is None:
            raise DeviceError(f"MAVLink, {self.where}: not open.")
        return self._socket

    def _gone(self, error: OSError) -> DeviceError:
        return DeviceError(
            f"MAVLink, {self.where}: no network ({error}). Check the tether and the "
            "computer's address."
        )


class SerialMavlinkPort:
    """A serial line to the autopilot's telemetry port."""

    def __init__(self, path: str, baud: int) -> None:
        """Describe the port.

        Args:
            path: of the serial port.
            baud: [bit/s].
        """
        self._line = SerialLine(path, baud)
        self.where = path

    def open(self) -> None:
        """Open the line.

        Raises:
            DeviceError: it is missing, busy or not permitted.
        """
        self._line.open()

    def close(self) -> None:
        """Close the line; any further call does nothing."""
        self._line.close()

    def send(self, data: bytes) -> None:
        """Send bytes.

        Raises:
            DeviceError: unplugged.
        """
        self._line.write(data)

    def receive(self, deadline_ns: int) -> bytes:
        """Return what has come, waiting for it until a time; b"" for nothing.

        Raises:
            DeviceError: unplugged.
        """
        return self._line.read(deadline_ns)
