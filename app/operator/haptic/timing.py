"""How punctual the haptic thread is: the newest minute, readable from other threads."""

from typing import NamedTuple

import numpy as np

from models.numerics import IntArray

__all__ = ["HapticTiming", "TimingRecord"]

_ROWS = 1 << 16
_SPARE = 1 << 10


class HapticTiming(NamedTuple):
    """Statistics of the newest cycles.

    Attributes:
        cycles: since the beginning.
        skipped: grid points that were skipped because a cycle took too long.
        rate_hz: forces written a second.
        late_us: p50 and p99 of the start of a cycle after its grid point [µs].
        exchange_us: p50 and p99 of writing, waiting and reading [µs].
        worst_late_us: greatest of the same [µs].
    """

    cycles: int
    skipped: int
    rate_hz: float
    late_us: tuple[float, float]
    exchange_us: tuple[float, float]
    worst_late_us: float


class TimingRecord:
    """Takes a row a cycle; one writer."""

    def __init__(self) -> None:
        self._rows: IntArray = np.zeros((_ROWS, 3), dtype=np.int64)
        self._cycles = 0
        self._skipped = 0

    def add(self, start_ns: int, late_ns: int, took_ns: int, skipped: int) -> None:
        """Take a cycle: its start, its lateness, its exchange [ns], skipped points."""
        row = self._rows[self._cycles % _ROWS]
        row[0], row[1], row[2] = start_ns, late_ns, took_ns
        self._cycles += 1
        self._skipped += skipped

    def read(self) -> HapticTiming:
        """Summarise the newest cycles, 65 s of them at 1 kHz."""
        cycles = self._cycles
        if cycles < 2:
            return HapticTiming(cycles, self._skipped, 0.0, (0, 0), (0, 0), 0.0)
        rows = self._rows[:cycles]
        if cycles > _ROWS - _SPARE:  # the thread goes on writing over the oldest rows
            rows = np.roll(self._rows, -(cycles % _ROWS), axis=0)[_SPARE:]
        span = int(rows[-1, 0] - rows[0, 0])
        late = np.percentile(rows[:, 1], (50, 99, 100)) / 1e3
        took = np.percentile(rows[:, 2], (50, 99)) / 1e3
        return HapticTiming(
            cycles,
            self._skipped,
            (len(rows) - 1) * 1e9 / max(span, 1),
            (float(late[0]), float(late[1])),
            (float(took[0]), float(took[1])),
            float(late[2]),
        )
