"""Messages in the order of their times: threads write theirs when they come to it."""

import heapq
from collections.abc import Iterable, Iterator

from app.clock import NS_PER_S
from app.session.reader import LoggedMessage

__all__ = ["in_time"]

_WINDOW_NS = 2 * NS_PER_S


def in_time(
    messages: Iterable[LoggedMessage], window_ns: int = _WINDOW_NS
) -> Iterator[LoggedMessage]:
    """Put messages in the order of their times, equal ones as they were written.

    Args:
        messages: out of order by no more than the window.
        window_ns: how long one is kept back for another [ns].
    """
    waiting: list[tuple[int, int, LoggedMessage]] = []
    for number, message in enumerate(messages):
        heapq.heappush(waiting, (message.time_ns, number, message))
        while waiting[0][0] <= message.time_ns - window_ns:
            yield heapq.heappop(waiting)[2]
    while waiting:
        yield heapq.heappop(waiting)[2]
