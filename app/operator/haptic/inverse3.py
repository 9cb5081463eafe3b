"""Haply Inverse3, through Haply's Inverse Service on this computer.

Install Haply Hub (or its service) and keep it running: it listens on
ws://localhost:10001. Each writing is one message, each reading waits for its answer, so
a session runs as fast as it writes. The service forgets a force that is not renewed. An
answer that is late is not waited for: it is read with a later one. No more than five
are owed at a time: a service that hangs renders what it left unread when it wakes, and
that shall be little, old as it is, and end in no force.

Tested against the shipped virtual device and the documented messages, not yet on the
hardware. The greatest force is of the vendor's data sheet as recalled, unverified.
"""

from collections.abc import Callable
from typing import Protocol

from app.clock import NS_PER_S, Clock, MonotonicClock
from app.errors import DeviceError, FrameError, LinkError
from app.operator.haptic.base import HapticDevice, HapticFacts, HapticReading
from app.operator.haptic.inverse3_messages import (
    BUTTONS,
    Inverse3State,
    decode_state,
    encode_force,
)
from app.operator.haptic.websocket import ClientSocket

__all__ = ["INVERSE3_FACTS", "INVERSE3_URL", "Inverse3", "TextChannel"]

INVERSE3_URL = "ws://localhost:10001"
INVERSE3_FACTS = HapticFacts(
    name="Inverse3",
    renders_force=True,
    rate_mode=False,
    centre=(0.0, -0.12, 0.16),
    reach=0.1,
    greatest_force=10.0,
    rate_hz=1000.0,
    buttons=BUTTONS,
    axes=("+y", "-x", "+z"),
)
"""Workspace: the sphere of 0.1 m that Haply's own position tutorial keeps to, about the
resting place of its documented inventory."""

_PROFILE = "limblink:teleoperation"
_OPEN_S = 1.0
_OWED = 5
_WAIT_S = 0.0008  # within a cycle of 1 ms, so that forces keep their pace


class TextChannel(Protocol):
    """What carries messages."""

    def send(self, text: str) -> None:
        """Send one."""

    def receive(self, timeout_s: float) -> str | None:
        """Return the oldest that waits, None where none comes in time."""

    def close(self) -> None:
        """Close."""


class Inverse3(HapticDevice):
    """One Inverse3, with the first VerseGrip of the service for buttons and turn."""

    def __init__(
        self,
        url: str = INVERSE3_URL,
        device_id: str = "",
        connect: Callable[[], TextChannel] | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Describe it; nothing is opened.

        Args:
            url: of the service.
            device_id: which Inverse3; empty takes the first.
            connect: what makes the channel, None for a WebSocket to `url`.
            clock: for deadlines and stamps, None for the host's.
        """
        super().__init__(INVERSE3_FACTS)
        self._url = url
        self._wanted = device_id
        self._connect = connect or (lambda: ClientSocket(url, _OPEN_S))
        self._clock = clock or MonotonicClock()
        self._channel: TextChannel | None = None
        self._id = ""
        self._vector = True
        self._due = 0
        self._heard_ns = 0
        self._first = True

    def _open_device(self) -> None:
        self._id = self._wanted
        try:
            self._channel = self._connect()
            text = self._channel.receive(_OPEN_S)
        except LinkError as error:
            raise DeviceError(
                f"{error} Start Haply Hub or its Inverse Service, and plug the "
                "Inverse3 in; `limblink haptic serve` is a virtual one."
            ) from error
        if text is None:
            raise DeviceError(
                f"{self._url} accepts but lists no devices. Restart the Inverse "
                "Service."
            )
        state = self._decode(text)
        if not state.device_id:
            which = f" {self._wanted!r}" if self._wanted else ""
            raise DeviceError(
                f"The Inverse Service lists no Inverse3{which}. Plug it in and wait "
                "until Haply Hub shows it."
            )
        self._id = state.device_id
        self._vector = state.names_vector
        self._due = 0
        self._heard_ns = self._clock.now_ns()
        self._first = True
        self.notice = state.notice

    def _close_device(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()

    def _busy(self) -> bool:
        return self._due >= _OWED

    def _write(self, x: float, y: float, z: float) -> None:
        profile = _PROFILE if self._first else ""
        self._first = False
        text = encode_force(self._id, x, y, z, vector=self._vector, profile=profile)
        try:
            self._need_channel().send(text)
        except LinkError as error:
            raise self._gone(str(error)) from error
        self._due += 1

    def _read(self) -> HapticReading | None:
        if self._due == 0:
            self._write(*self._applied)
        begin_ns = now_ns = self._clock.now_ns()
        text = None
        while self._due > 0:  # answers to what was sent before are older than the last
            waited_s = (now_ns - begin_ns) / NS_PER_S
            if waited_s >= _WAIT_S:
                break
            try:
                told = self._need_channel().receive(_WAIT_S - waited_s)
            except LinkError as error:
                raise self._gone(str(error)) from error
            now_ns = self._clock.now_ns()
            if told is not None:
                text = told
                self._due -= 1
                self._heard_ns = now_ns
        if text is None:
            silent_s = (now_ns - self._heard_ns) / NS_PER_S
            if silent_s > self.silence_limit_s:
                raise self._gone(f"no answer for {1e3 * silent_s:.0f} ms")
            return None
        state = self._decode(text)
        if not state.device_id:
            raise self._gone("the service lists it no more")
        self.notice = state.notice
        grip = state.grip
        return HapticReading(
            now_ns,
            state.position,
            state.velocity,
            grip.orientation if grip else None,
            (0.0, 0.0, 0.0),
            grip.buttons if grip else 0,
        )

    def _need_channel(self) -> TextChannel:
        if self._channel is None:
            raise DeviceError("The Inverse3 is not open.")
        return self._channel

    def _decode(self, text: str) -> Inverse3State:
        try:
            return decode_state(text, self._id)
        except FrameError as error:
            raise DeviceError(str(error)) from error

    def _gone(self, why: str) -> DeviceError:
        return DeviceError(
            f"The Inverse3 is gone: {why}. Look at its cable and at Haply Hub; it "
            "comes back by itself."
        )
