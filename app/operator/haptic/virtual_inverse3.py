"""A virtual Inverse3 with its Inverse Service: the same messages, a simulated hand.

`VirtualInverse3` is pure, on any clock; `InverseService` carries it over a real
WebSocket, `DirectChannel` hands its messages on without one. Imitated: inventory, one
state a message, forces that end with the connection or when they are not renewed, a
device that is unplugged while the service goes on, a service that hangs. Not imitated:
USB, the device's own filters (force gate, damping, torque scaling), several sessions
whose forces add up, HTTP and events.
"""

import contextlib
import selectors
import socket
import threading
import time
from types import TracebackType
from typing import Self

from app.clock import NS_PER_MS, Clock
from app.errors import DeviceError, LinkError
from app.operator.haptic.inverse3 import INVERSE3_FACTS
from app.operator.haptic.inverse3_messages import (
    GripState,
    decode_force,
    encode_state,
)
from app.operator.haptic.virtual_hand import VirtualHand
from app.operator.haptic.websocket import ServerSocket
from app.real_time import prefer_real_time

__all__ = ["DirectChannel", "InverseService", "VirtualInverse3"]

_ID = "V3R7"
_RENEW_NS = 100 * NS_PER_MS
_TICK_S = 0.005
_PRIORITY = 60  # of SCHED_FIFO, where permitted: a real device waits for nobody


class VirtualInverse3:
    """Answers messages; held by a hand."""

    def __init__(self, hand: VirtualHand | None = None, *, grip: bool = True) -> None:
        """Make a device that is plugged in.

        Args:
            hand: that holds it, None for a relaxed one that rests on button a.
            grip: a wireless VerseGrip is in the hand.
        """
        self.hand = hand or VirtualHand(INVERSE3_FACTS, buttons=1)
        self.plugged = True
        """False: the service goes on without it."""
        self.hangs = False
        """True: messages are not read, and wait until they are."""
        self._grip = grip
        self._session = 0
        self._renewed_ns = 0

    def connect(self, now_ns: int) -> str:
        """Begin a session; the inventory."""
        self._session += 1
        self.hand.begin()
        return self._state(now_ns, self._session)

    def feed(self, now_ns: int, text: str) -> str:
        """Take a message; the state that answers it.

        Raises:
            FrameError: not a message that the service knows.
        """
        command = decode_force(text)
        self.hand.advance(now_ns)
        if command is not None and self.plugged and command[0] == _ID:
            self.hand.push(command[1])
            self._renewed_ns = now_ns
        return self._state(now_ns, None)

    def advance(self, now_ns: int) -> None:
        """Let time go by; a force that is not renewed ends."""
        self.hand.advance(now_ns)
        if now_ns - self._renewed_ns > _RENEW_NS or not self.plugged:
            self.hand.let_go()

    def disconnect(self) -> None:
        """End the session, and its force."""
        self.hand.let_go()

    def _state(self, now_ns: int, session: int | None) -> str:
        self.hand.advance(now_ns)
        x, y, z = self.hand.force
        grip = GripState((1.0, 0.0, 0.0, 0.0), self.hand.buttons)
        return encode_state(
            _ID if self.plugged else "",
            self.hand.position,
            self.hand.velocity,
            (float(x), float(y), float(z)),
            grip if self._grip else None,
            session=session,
        )


class DirectChannel:
    """Hands messages to a virtual device in the same thread, on any clock."""

    def __init__(self, device: VirtualInverse3, clock: Clock) -> None:
        """Connect."""
        self._device = device
        self._clock = clock
        self._waiting = [device.connect(clock.now_ns())]
        self._unread: list[str] = []
        self.cut = False
        """True: the connection is gone."""

    def send(self, text: str) -> None:
        """Send a message.

        Raises:
            LinkError: the connection was cut.
        """
        self._need()
        self._unread.append(text)
        self._read()

    def receive(self, timeout_s: float) -> str | None:
        """Return the oldest answer; else let the time go by.

        Raises:
            LinkError: the connection was cut.
        """
        self._need()
        self._read()
        if self._waiting:
            return self._waiting.pop(0)
        now_ns = self._clock.now_ns()
        self._device.advance(self._clock.wait_until(now_ns + round(timeout_s * 1e9)))
        return None

    def close(self) -> None:
        """End the session; again is harmless."""
        self._read()
        self._device.disconnect()

    def _read(self) -> None:
        if self._device.hangs:
            return
        for text in self._unread:
            self._waiting.append(self._device.feed(self._clock.now_ns(), text))
        self._unread.clear()

    def _need(self) -> None:
        if self.cut:
            raise LinkError("The connection was cut.")


class InverseService:
    """Serves a virtual Inverse3 at a ws:// address, in one thread of its own."""

    def __init__(
        self, device: VirtualInverse3, host: str = "127.0.0.1", port: int = 0
    ) -> None:
        """Listen and serve.

        Args:
            device: what is served; it belongs to the service's thread.
            host: address to listen at.
            port: to listen at, 0 for any free one.

        Raises:
            DeviceError: the address is taken.
        """
        self.device = device
        try:
            self._listener = socket.create_server((host, port))
        except OSError as error:
            raise DeviceError(
                f"Port {port} of {host} cannot be had: {error}. Is an Inverse Service "
                "running already? Give another --port."
            ) from error
        self._listener.setblocking(False)
        host, port = self._listener.getsockname()[:2]
        self.url = f"ws://{host}:{port}"
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._near, self._far = socket.socketpair()
        self._selector.register(self._near, selectors.EVENT_READ)
        self._clients: dict[socket.socket, ServerSocket] = {}
        self._cut = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name="virtual Inverse3", daemon=True
        )
        self._thread.start()

    def cut(self) -> None:
        """Drop all connections, as a cable that is pulled; they may come again."""
        self._cut.set()
        self._wake()

    def close(self) -> None:
        """End the thread and free the port; again is harmless."""
        if self._stop.is_set():
            return
        self._stop.set()
        self._wake()
        self._thread.join()
        for client in self._clients.values():
            client.close()
        self._selector.close()
        for end in (self._listener, self._near, self._far):
            end.close()

    def __enter__(self) -> Self:
        """Return itself; it serves already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def _wake(self) -> None:
        with contextlib.suppress(OSError):
            self._far.send(b"\0")

    def _run(self) -> None:
        prefer_real_time(_PRIORITY, on_any_core=True)
        while not self._stop.is_set():
            if self.device.hangs:
                self._stop.wait(_TICK_S)
                self.device.advance(time.monotonic_ns())
                continue
            for key, _ in self._selector.select(_TICK_S):
                if key.fileobj is self._listener:
                    self._accept()
                elif key.fileobj is self._near:
                    self._near.recv(64)
                else:
                    self._serve(key.fd)
            if self._cut.is_set():
                self._cut.clear()
                for client in list(self._clients.values()):
                    self._drop(client)
            self.device.advance(time.monotonic_ns())

    def _accept(self) -> None:
        connected, _ = self._listener.accept()
        self._clients[connected] = ServerSocket(connected)
        self._selector.register(connected, selectors.EVENT_READ)

    def _serve(self, descriptor: int) -> None:
        client = next(c for s, c in self._clients.items() if s.fileno() == descriptor)
        was_open = client.open
        messages = client.take()
        if messages is None:
            self._drop(client)
            return
        now_ns = time.monotonic_ns()
        if client.open and not was_open:
            client.send(self.device.connect(now_ns))
        for text in messages:
            try:
                answer = self.device.feed(now_ns, text)
            except LinkError:  # the real one says nothing either
                continue
            if not client.send(answer):
                self._drop(client)
                return

    def _drop(self, client: ServerSocket) -> None:
        self._selector.unregister(client.socket)
        del self._clients[client.socket]
        client.close()
        if not self._clients:
            self.device.disconnect()
