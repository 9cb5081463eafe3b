"""Clocks: everything below takes its time from one of these, in integer nanoseconds.

Pure step functions take `now_ns` as an argument; only processes own a Clock. Live
processes on one host share CLOCK_MONOTONIC, so their stamps can be compared; across
hosts only differences are meaningful.
"""

import time
from typing import Protocol

__all__ = [
    "NS_PER_MS",
    "NS_PER_S",
    "NS_PER_US",
    "Clock",
    "MonotonicClock",
    "VirtualClock",
]

NS_PER_US = 1_000

NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000


class Clock(Protocol):
    """A source of time that can also wait."""

    def now_ns(self) -> int:
        """Return the present time [ns]."""

    def wait_until(self, due_ns: int) -> int:
        """Wait until `due_ns` [ns] and return the time on waking [ns]."""


class MonotonicClock:
    """The host's CLOCK_MONOTONIC."""

    def now_ns(self) -> int:
        """Return the present time [ns]."""
        return time.monotonic_ns()

    def wait_until(self, due_ns: int) -> int:
        """Sleep until `due_ns` [ns]; return at once when it has passed."""
        left_ns = due_ns - time.monotonic_ns()
        if left_ns > 0:
            time.sleep(left_ns / NS_PER_S)  # noqa: TID251  the one place that sleeps
        return time.monotonic_ns()


class VirtualClock:
    """A clock that moves only when told to, for studies and tests."""

    def __init__(self, start_ns: int = 0) -> None:
        self._now_ns = start_ns

    def now_ns(self) -> int:
        """Return the present time [ns]."""
        return self._now_ns

    def wait_until(self, due_ns: int) -> int:
        """Move to `due_ns` [ns] unless it has passed; return the present time [ns]."""
        self._now_ns = max(self._now_ns, due_ns)
        return self._now_ns
