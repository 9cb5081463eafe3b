"""When a link is out by its schedule: once, or again and again; pure."""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Outage", "is_out", "next_change_ns"]


@dataclass(frozen=True, slots=True)
class Outage:
    """One entry of a schedule, from its origin in time.

    Attributes:
        start_ns: begin of the first one [ns].
        length_ns: how long nothing passes [ns].
        period_ns: from one begin to the next [ns], above the length; 0 = only once.
    """

    start_ns: int
    length_ns: int
    period_ns: int = 0

    def covers(self, time_ns: int) -> bool:
        """Whether the link is out at a time [ns]."""
        into_ns = time_ns - self.start_ns
        if self.period_ns and into_ns >= 0:
            into_ns %= self.period_ns
        return 0 <= into_ns < self.length_ns

    def next_change_ns(self, time_ns: int) -> int | None:
        """Return when this entry next begins or ends after a time [ns], if ever."""
        into_ns = time_ns - self.start_ns
        if into_ns < 0:
            return self.start_ns
        begun_ns = self.start_ns
        if self.period_ns:
            begun_ns = time_ns - into_ns % self.period_ns
        if time_ns < begun_ns + self.length_ns:
            return begun_ns + self.length_ns
        return begun_ns + self.period_ns if self.period_ns else None


def is_out(schedule: Iterable[Outage], time_ns: int) -> bool:
    """Whether any entry covers a time [ns]."""
    return any(outage.covers(time_ns) for outage in schedule)


def next_change_ns(schedule: Iterable[Outage], time_ns: int) -> int | None:
    """Return when any entry next begins or ends after a time [ns], if ever."""
    changes = [outage.next_change_ns(time_ns) for outage in schedule]
    return min((change for change in changes if change is not None), default=None)
