"""Carries a virtual device's bytes over a pty, a TCP port or a UDP port.

One thread each; the device is asked every 5 ms even where no byte comes, so that
its watchdog runs. A pty keeps what a serial line would not: baud rates mean nothing.
"""

import os
import pty
import selectors
import socket
import threading
import time
import tty
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from app.drivers.virtual.base import VirtualDevice
from app.errors import DeviceError
from app.real_time import prefer_real_time

__all__ = ["PtyCarrier", "TcpCarrier", "UdpCarrier"]

_TICK_S = 0.005
_PRIORITY = 36  # of SCHED_FIFO, where permitted: a real device waits for nobody
_PIECE = 4096


class _Carrier(ABC):
    """A thread that waits for bytes, feeds them and sends the answers."""

    def __init__(self, device: VirtualDevice, name: str) -> None:
        self.device = device
        self._selector = selectors.DefaultSelector()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        self._selector.register(self._wake_read, selectors.EVENT_READ)
        self._ended = False
        self._turned = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def close(self) -> None:
        """End the thread and free the port; any further call does nothing."""
        if self._ended:
            return
        self._ended = True
        os.write(self._wake_write, b"\0")
        if self._thread.ident is not None:
            self._thread.join()
        self._selector.close()
        os.close(self._wake_read)
        os.close(self._wake_write)
        self._free()

    def settle(self) -> None:
        """Return when the device has been asked once more, about 5 ms later."""
        self._turned.clear()
        self._turned.wait(1.0)

    def __enter__(self) -> Self:
        """Return the carrier; it runs already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def _run(self) -> None:
        prefer_real_time(_PRIORITY, on_any_core=True)
        while not self._ended:
            ready = self._selector.select(_TICK_S)
            now_ns = time.monotonic_ns()
            for key, _ in ready:
                if key.fd != self._wake_read:
                    self._serve(key.fileobj, now_ns)
            said = self.device.advance(now_ns)
            if said:
                self._say(said)
            self._turned.set()

    @abstractmethod
    def _serve(self, source: object, now_ns: int) -> None:
        """Read what has come at a source, feed it and send the answer."""

    @abstractmethod
    def _say(self, said: bytes) -> None:
        """Send what the device says; lost where nobody listens."""

    @abstractmethod
    def _free(self) -> None:
        """Free the port."""


class PtyCarrier(_Carrier):
    """A serial line: `path` is the end that a driver opens."""

    def __init__(self, device: VirtualDevice) -> None:
        """Make the line and serve it.

        Raises:
            DeviceError: the system gives no pseudo terminal.
        """
        super().__init__(device, "virtual serial line")
        try:
            self._near, self._far = pty.openpty()
        except OSError as error:
            raise DeviceError(f"No pseudo terminal can be had: {error}.") from error
        tty.setraw(self._near)
        tty.setraw(self._far)
        os.set_blocking(self._near, False)
        self.path = os.ttyname(self._far)
        self._selector.register(self._near, selectors.EVENT_READ)
        self._thread.start()

    def unplug(self) -> None:
        """Pull the cable: whoever has the far end open sees it die."""
        self.close()

    def _serve(self, source: object, now_ns: int) -> None:
        try:
            received = os.read(self._near, _PIECE)
        except (BlockingIOError, OSError):
            return
        answer = self.device.feed(now_ns, received)
        if answer:
            self._say(answer)

    def _say(self, said: bytes) -> None:
        try:
            os.write(self._near, said)
        except OSError:
            return  # nobody reads and the buffer is full: a real line loses it too

    def _free(self) -> None:
        os.close(self._near)
        os.close(self._far)


class TcpCarrier(_Carrier):
    """A TCP server on loopback: `host` and `port` are what a client opens."""

    def __init__(self, device: VirtualDevice) -> None:
        """Listen on a free port and serve any number of clients."""
        super().__init__(device, "virtual TCP device")
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setblocking(False)
        self.host, self.port = self._listener.getsockname()[:2]
        self._clients: set[socket.socket] = set()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._thread.start()

    def _serve(self, source: object, now_ns: int) -> None:
        if source is self._listener:
            client, _ = self._listener.accept()
            client.setblocking(False)
            self._clients.add(client)
            self._selector.register(client, selectors.EVENT_READ)
            return
        if not isinstance(source, socket.socket):
            return
        try:
            received = source.recv(_PIECE)
            if received:
                source.sendall(self.device.feed(now_ns, received))
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self._drop(source)

    def _say(self, said: bytes) -> None:
        for client in list(self._clients):
            try:
                client.sendall(said)
            except OSError:
                self._drop(client)

    def _drop(self, client: socket.socket) -> None:
        self._selector.unregister(client)
        self._clients.discard(client)
        client.close()

    def _free(self) -> None:
        for client in self._clients:
            client.close()
        self._listener.close()


class UdpCarrier(_Carrier):
    """A UDP device on loopback that answers whoever spoke last."""

    def __init__(self, device: VirtualDevice) -> None:
        """Bind a free port and serve it."""
        super().__init__(device, "virtual UDP device")
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.setblocking(False)
        self.host, self.port = self._socket.getsockname()[:2]
        self._peer: tuple[str, int] | None = None
        self._selector.register(self._socket, selectors.EVENT_READ)
        self._thread.start()

    def _serve(self, source: object, now_ns: int) -> None:
        try:
            received, self._peer = self._socket.recvfrom(_PIECE)
        except (BlockingIOError, ConnectionError):
            return
        answer = self.device.feed(now_ns, received)
        if answer:
            self._say(answer)

    def _say(self, said: bytes) -> None:
        if self._peer is None:
            return
        try:
            self._socket.sendto(said, self._peer)
        except OSError:
            return  # nobody listens now

    def _free(self) -> None:
        self._socket.close()
