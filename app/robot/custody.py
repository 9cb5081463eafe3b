"""Who is in control of the robot: one peer, until its arming ends; pure.

    nobody ── an ARMED of peer P is obeyed ──▶ P ── P disarms, or the robot ends
       ▲                                       │    the arming (compliant, slack,
       └───────────────────────────────────────┘    emergency stop) ──▶ nobody

So a hand-over is explicit: the holder disarms, then the other arms. While P holds,
another's ARMED frames are refused and told, and its DISARMED frames end nothing: a
station that only watches sends them all the time. An emergency stop of anyone counts.
It stays latched against the DISARMED frames of those who have not pressed it: the
station that resets it must itself have stopped the robot, by its operator's own act.
"""

from collections.abc import Callable

from app.clock import NS_PER_S
from app.messages import Event, Severity, StationMode

__all__ = ["Custody"]

_AGAIN_NS = 5 * NS_PER_S
_STOPPERS_MAX = 64


class Custody:
    """Decides whose frames may move the robot; peers are small numbers."""

    def __init__(self, name_of: Callable[[int], str] | None = None) -> None:
        """Begin with nobody in control.

        Args:
            name_of: name of a peer's key, "" for none; None = peers have no names.
        """
        self.name_of = name_of
        """Settable: the socket that knows the names is opened apart."""
        self._holder: int | None = None
        self._last: int | None = None
        self._stoppers: dict[int, None] = {}  # in the order of their stops
        self._refused: dict[int, int] = {}  # peer: when it was told last [ns]
        self._events: list[Event] = []

    @property
    def holder(self) -> int | None:
        """The peer in control, None for nobody."""
        return self._holder

    def judge(
        self,
        now_ns: int,
        peer: int,
        mode: StationMode,
        *,
        obeyed_epoch: int,
        latched: bool = False,
        left_alone: bool = False,
    ) -> bool:
        """Say whether a peer's frame may be looked at further.

        Args:
            now_ns: robot time [ns].
            peer: whose frame it is.
            mode: what the frame wants.
            obeyed_epoch: arming that the robot follows now, 0 for none.
            latched: the robot is in emergency stop.
            left_alone: it holds or goes to rest because nobody speaks; then only the
                peer that drove last may disarm it.

        Returns:
            False where the frame must change nothing.
        """
        if obeyed_epoch == 0:
            self._holder = None
        if mode == StationMode.ESTOP:
            return True
        if latched and mode == StationMode.DISARMED:
            return self._may_reset(now_ns, peer)
        if self._holder is None and left_alone and mode == StationMode.DISARMED:
            return peer == self._last
        if self._holder is None or peer == self._holder:
            return True
        if mode == StationMode.ARMED:
            self._tell(
                now_ns,
                peer,
                f"{self._who(peer)} wants to drive, but {self._who(self._holder)} is "
                "in control: refused. It must disarm first; then arm again here.",
            )
        return False

    def took(self, peer: int) -> None:
        """Note that an ARMED frame of a peer was obeyed."""
        self._holder = self._last = peer
        self._stoppers.clear()

    def released(self, peer: int) -> None:
        """Note that a peer disarmed, and was obeyed."""
        if self._holder == peer:
            self._holder = None

    def stopped(self, peer: int, *, latched: bool) -> None:
        """Note that a peer asked for an emergency stop; it may reset this one.

        Args:
            peer: who asked.
            latched: the robot was in emergency stop before.
        """
        if not latched:
            self._stoppers.clear()
        self._stoppers.pop(peer, None)
        self._stoppers[peer] = None
        if len(self._stoppers) > _STOPPERS_MAX:
            del self._stoppers[next(iter(self._stoppers))]

    def events(self) -> list[Event]:
        """Return the events since the last call, oldest first."""
        events, self._events = self._events, []
        return events

    def _may_reset(self, now_ns: int, peer: int) -> bool:
        if not self._stoppers or peer in self._stoppers:
            return True
        self._tell(
            now_ns,
            peer,
            f"{self._who(peer)} is disarmed, which resets no emergency stop that it "
            "has not asked for. To reset it there, press emergency stop, then reset.",
        )
        return False

    def _who(self, peer: int) -> str:
        name = self.name_of(peer) if self.name_of is not None else ""
        return f"Station {name!r}" if name else f"Station {peer}"

    def _tell(self, now_ns: int, peer: int, text: str) -> None:
        last_ns = self._refused.get(peer)
        if last_ns is not None and 0 <= now_ns - last_ns < _AGAIN_NS:
            return
        if len(self._refused) >= _STOPPERS_MAX:
            self._refused.clear()
        self._refused[peer] = now_ns
        self._events.append(Event(now_ns, Severity.WARNING, "robot", text))
        del self._events[:-64]  # nobody may be listening
