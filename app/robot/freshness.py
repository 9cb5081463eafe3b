"""Is a setpoint young, newer than the last, and not from the future?

Order is by generation time: it is the one number that a restarted station does not
set back. Sequence numbers only tell apart frames that were generated at the same
(quantised) time. Every stream (a limb, or in compact frames a segment) has its own
order, because a link may reorder frames and an old setpoint must never overtake a
newer one of the same stream.

What this cannot see: a compact frame carries its time modulo 16 s, so one that is
replayed after exactly that looks young. The arming it names must then still be the one
that is followed, and the envelope and rates still hold.
"""

from enum import Enum

from app.clock import NS_PER_MS, NS_PER_S

__all__ = ["FUTURE_TOLERANCE_NS", "Freshness", "PeerClock", "Rejection"]

FUTURE_TOLERANCE_NS = 50 * NS_PER_MS
"""A stamp may lead by its quantisation; more is a wrong clock or a forgery."""


_DRIFT_PPM = 100  # of two quartz clocks, generously
_RESTART_LAG_NS = 60 * NS_PER_S  # no link is that late: that clock began anew
_RESTART_AFTER_NS = 10 * NS_PER_S  # and not just one old packet


class Rejection(Enum):
    """Why a frame was not believed; the value is for people."""

    MALFORMED = "malformed, damaged, or not for this robot"
    FUTURE = "stamped in the future"
    STALE = "older than the age limit"
    REPLAYED = "a repeat, or older than what is already obeyed"
    NOT_FINITE = "with a value that is not finite"
    REFUSED = "of an arming that is not followed"


class Freshness:
    """Remembers the newest believed setpoint of every stream; pure."""

    def __init__(self, age_limit_ms: float) -> None:
        """Begin with nothing heard.

        Args:
            age_limit_ms: a setpoint older than this is stale [ms].
        """
        self._age_limit_ns = round(age_limit_ms * NS_PER_MS)
        self._newest: dict[int, tuple[int, int]] = {}

    def judge(
        self, now_ns: int, stream: int, generated_ns: int, sequence: int
    ) -> Rejection | None:
        """Judge a setpoint; it is not remembered until `accept`.

        Args:
            now_ns: robot time [ns].
            stream: key of its stream, 0..255.
            generated_ns: when it was made, on the robot's clock [ns].
            sequence: its number, unwrapped.

        Returns:
            None where it may be believed, else why not.
        """
        if generated_ns > now_ns + FUTURE_TOLERANCE_NS:
            return Rejection.FUTURE
        newest = self._newest.get(stream)
        if newest is not None and (generated_ns, sequence) <= newest:
            return Rejection.REPLAYED
        if now_ns - generated_ns > self._age_limit_ns:
            return Rejection.STALE
        return None

    def accept(self, stream: int, generated_ns: int, sequence: int) -> None:
        """Make a believed setpoint the newest of its stream."""
        self._newest[stream] = (generated_ns, sequence)


class PeerClock:
    """The station's clock as the robot sees it.

    On one host both read the same clock. From another host only the differences of
    stamps mean anything: the frame that seems youngest is taken to have come at once,
    and ages are counted beyond that least delay. Such a peer is authenticated by its
    key (see `app.link.endpoint`), so it cannot be a stranger's clock.
    """

    def __init__(self, *, shared: bool) -> None:
        """Take the station's clock for our own where `shared` is set."""
        self._shared = shared
        self._lead_ns: int | None = None
        self._noted_ns = 0
        self._agreed_ns = 0

    def reference_ns(self, now_ns: int) -> int:
        """Return the station's present time, to unwrap stamps by [ns]."""
        return now_ns + (self._lead_ns or 0)

    def local_ns(self, stamp_ns: int) -> int:
        """Return a station's stamp on our clock [ns]."""
        return stamp_ns - (self._lead_ns or 0)

    def note(self, now_ns: int, stamp_ns: int) -> None:
        """Learn from a whole frame.

        Args:
            now_ns: when it came [ns].
            stamp_ns: its stamp on the station's clock [ns].
        """
        if self._shared:
            return
        lead_ns = stamp_ns - now_ns
        if self._lead_ns is not None:
            # forget slowly, so that a station's slower clock is followed
            drift_ns = max(0, now_ns - self._noted_ns) * _DRIFT_PPM // 1_000_000
            self._lead_ns -= drift_ns
        self._noted_ns = now_ns
        if self._lead_ns is None or lead_ns > self._lead_ns:
            self._lead_ns = lead_ns
        if self._lead_ns - lead_ns < _RESTART_LAG_NS:
            self._agreed_ns = now_ns
        elif now_ns - self._agreed_ns > _RESTART_AFTER_NS:
            self._lead_ns = lead_ns
