"""What a shared machine itself takes from everybody: cyclictest as a witness."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

_NOTICED_US = 700  # most of its period
_LONGEST_US = 500_000


class Witness:
    """Wakes every millisecond on every core, and tells how late that was."""

    def __init__(self, priority: int) -> None:
        """Start, at a priority of SCHED_FIFO."""
        self.lost_ms = 0.0
        """Sum of all that were late by most of a period."""
        self.longest_ms = 0.0
        self._process = subprocess.Popen(
            f"cyclictest -q -m -S -p{priority} -i1000 -h{_LONGEST_US}".split(),
            stdout=subprocess.PIPE,
            text=True,
        )

    def end(self) -> None:
        """End it, and take up what it saw."""
        self._process.send_signal(signal.SIGINT)
        output, _ = self._process.communicate(timeout=20)
        for line in output.splitlines():
            words = line.split()
            if len(words) > 1 and all(word.isdigit() for word in words):
                late_us, times = int(words[0]), sum(map(int, words[1:]))
                if late_us >= _NOTICED_US and times:
                    self.lost_ms += times * late_us / 1e3
                    self.longest_ms = late_us / 1e3
            elif line.startswith("# Histogram Overflows") and any(map(int, words[3:])):
                self.longest_ms = float("inf")
        assert "Histogram" in output


@contextmanager
def witness(priority: int) -> Iterator[Witness]:
    """Have a witness while something is measured; its figures are there afterwards.

    Skips the test where nobody grants it what it needs.
    """
    real_time = ["chrt", "-f", str(priority), "true"]
    if subprocess.run(real_time, check=False, capture_output=True).returncode:
        pytest.skip("cyclictest needs real-time priority: see `limblink doctor`")
    one = Witness(priority)
    try:
        yield one
    finally:
        one.end()
