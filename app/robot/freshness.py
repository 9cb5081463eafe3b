"""Is a setpoint young, newer than the last, and not from the future?

Order is by generation time: it is the one number that a restarted station does not
set back. Sequence numbers only tell apart frames that were generated at the same
(quantised) time. Every segment has its own order, because a link may reorder frames and
an old setpoint must never overtake a newer one of the same segment, whichever other
limbs it tells; so have the mode frames of every connection. Stamps are on the robot's
clock: a station on another host learns the difference from hello and echo and adds it
(see `app.link.station_side`), so that the robot need not believe anybody's clock.

Frames carry their time modulo a few seconds, and what is left out is covered by the CRC
(see `app.link.stamps`). What this cannot see: 1 in 256 of the compact frames that are
replayed after exactly 8.2 s passes for young. The arming it belongs to must then still
be the one that is followed, and the envelope and rates still hold.
"""

import math
from collections.abc import Sequence
from enum import Enum

from app.clock import NS_PER_MS

__all__ = ["FUTURE_TOLERANCE_NS", "Freshness", "Rejection", "Stamp"]

Stamp = tuple[float, int]
"""When a setpoint was made, on the robot's clock [ns], and its number, unwrapped."""

FUTURE_TOLERANCE_NS = 50 * NS_PER_MS
"""A stamp may lead by its quantisation; more is a wrong clock or a forgery."""

_NEVER: Stamp = (-math.inf, 0)


class Rejection(Enum):
    """Why a frame was not believed; the value is for people."""

    MALFORMED = "malformed, damaged, or not for this robot"
    FUTURE = "stamped in the future"
    STALE = "older than the age limit"
    REPLAYED = "a repeat, or older than what is already obeyed"
    NOT_FINITE = "with a value that is not finite"
    REFUSED = "of an arming that is not followed, or of a station not in control"


class Freshness:
    """Remembers the newest believed setpoint of every stream; pure."""

    def __init__(self, age_limit_ms: float) -> None:
        """Begin with nothing heard.

        Args:
            age_limit_ms: a setpoint older than this is stale [ms].
        """
        self._age_limit_ns = round(age_limit_ms * NS_PER_MS)
        self._newest: dict[int, Stamp] = {}
        self._newest_of_all: Stamp = _NEVER

    def judge(
        self, now_ns: int, streams: Sequence[int], stamp: Stamp
    ) -> tuple[Sequence[int], Rejection | None]:
        """Judge a setpoint; it is not remembered until `accept`.

        Args:
            now_ns: robot time [ns].
            streams: its segments, or -1 - connection of a mode frame; not empty.
            stamp: when it was made, and its number.

        Returns:
            The streams for which it may be believed, and None; where there is none,
            why not for the first of them.
        """
        generated_ns = stamp[0]
        if generated_ns > now_ns + FUTURE_TOLERANCE_NS:
            return (), Rejection.FUTURE
        newer = streams
        if stamp <= self._newest_of_all:
            newest = self._newest
            newer = [one for one in streams if stamp > newest.get(one, _NEVER)]
            if not newer:
                return (), Rejection.REPLAYED
        if now_ns - generated_ns > self._age_limit_ns:
            replayed = streams[0] not in newer
            return (), Rejection.REPLAYED if replayed else Rejection.STALE
        return newer, None

    def accept(self, streams: Sequence[int], stamp: Stamp) -> None:
        """Make a believed setpoint the newest of its streams."""
        self._newest.update(dict.fromkeys(streams, stamp))
        if stamp > self._newest_of_all:
            self._newest_of_all = stamp
