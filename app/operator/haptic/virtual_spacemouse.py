"""A virtual SpaceMouse: the same HID reports over a socket that keeps their borders.

`VirtualSpaceMouse` is pure, on any clock: whoever steps time calls `advance`. `serve`
does it in a thread. Imitated: reports of 8 ms while the cap is deflected, one of rest
after it, buttons, unplugging, a radio out of range. Not imitated: the kernel's hidraw
node, permissions, models that put rotation into the first report.
"""

import contextlib
import socket
import threading

from app.clock import NS_PER_MS, NS_PER_S, Clock, MonotonicClock
from app.operator.haptic.hand import hand_model
from app.operator.haptic.spacemouse import SPACEMOUSE_FACTS
from app.operator.haptic.spacemouse_reports import encode_cap
from app.operator.haptic.virtual_hand import VirtualHand

__all__ = ["VirtualSpaceMouse", "cap_hand"]

_PERIOD_NS = 8 * NS_PER_MS
_TRAVEL = 3e-3
_DEADBAND = 0.02


def cap_hand(
    arm: str = "relaxed", path: str = "still", buttons: int = 1
) -> VirtualHand:
    """Put a hand on a cap: 1.5 N/mm to the middle, 3 mm of travel (ASSUMED)."""
    model = hand_model(arm)._replace(
        device_mass=0.05,
        device_damping=2.0,
        device_stiffness=1500.0,
        friction=0.0,
    )
    return VirtualHand(SPACEMOUSE_FACTS, arm, path, buttons, model)


class VirtualSpaceMouse:
    """A cap that is held by a hand."""

    def __init__(self, hand: VirtualHand | None = None) -> None:
        """Make a cap that is plugged in."""
        self.hand = hand or cap_hand()
        self.silent = False
        """True: its reports are lost on the way."""
        self._near: socket.socket | None = None
        self._due_ns = 0
        self._told: list[bytes] = []
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def open(self) -> int:
        """Plug it in: the descriptor that a `SpaceMouse` reads."""
        self.unplug()
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        near.setblocking(False)
        self._near = near
        self._told = []
        return far.detach()

    def unplug(self) -> None:
        """Pull its cable: whoever reads finds the end."""
        near, self._near = self._near, None
        if near is not None:
            near.close()

    def advance(self, now_ns: int) -> None:
        """Move the hand up to now [ns] and send the reports that are due."""
        self.hand.advance(now_ns)
        if now_ns < self._due_ns:
            return
        self._due_ns = now_ns + _PERIOD_NS
        deflection = [_deflected(value) for value in self.hand.position]
        reports = encode_cap(
            (deflection[0], deflection[1], deflection[2]),
            (0.0, 0.0, 0.0),
            self.hand.buttons,
        )
        at_rest = deflection == [0.0, 0.0, 0.0]
        if at_rest and reports == self._told:
            return  # a cap at rest says nothing
        near = self._near
        if near is None or self.silent:
            return
        self._told = reports
        with contextlib.suppress(OSError):  # nobody reads, and it has no memory
            for report in reports:
                near.send(report)

    def serve(self, clock: Clock | None = None) -> None:
        """Advance in a thread of its own until `close`."""
        self._thread = threading.Thread(
            target=self._run,
            args=(clock or MonotonicClock(),),
            name="virtual SpaceMouse",
            daemon=True,
        )
        self._thread.start()

    def close(self) -> None:
        """End the thread and unplug; again is harmless."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self.unplug()

    def _run(self, clock: Clock) -> None:
        while not self._stop.wait(_PERIOD_NS / NS_PER_S):
            self.advance(clock.now_ns())


def _deflected(position: float) -> float:
    share = max(-1.0, min(1.0, position / _TRAVEL))
    return share if abs(share) > _DEADBAND else 0.0
