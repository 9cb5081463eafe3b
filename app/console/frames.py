"""How smooth the window is: intervals between frames, and what a frame costs."""

from dataclasses import dataclass

import numpy as np

from app.clock import NS_PER_MS

__all__ = ["FrameStatistics", "FrameSummary"]

_KEPT = 3000  # one minute at 50 Hz


@dataclass(frozen=True)
class FrameSummary:
    """Percentiles over the frames that are kept.

    Attributes:
        frames: how many frames the figures rest on.
        rate_hz: frames a second over the window kept [Hz].
        interval_p50_ms: median time between the ends of two frames [ms].
        interval_p99_ms: 99th percentile of the same [ms].
        cost_p50_ms: median time from the start to the end of a frame [ms].
        cost_p99_ms: 99th percentile of the same [ms].
    """

    frames: int
    rate_hz: float
    interval_p50_ms: float
    interval_p99_ms: float
    cost_p50_ms: float
    cost_p99_ms: float


class FrameStatistics:
    """A rolling record of the last minute of frames."""

    def __init__(self, kept: int = _KEPT) -> None:
        """Keep the newest `kept` frames."""
        self._start_ns = np.zeros(kept, dtype=np.int64)
        self._end_ns = np.zeros(kept, dtype=np.int64)
        self._count = 0

    def add(self, start_ns: int, end_ns: int) -> None:
        """Record a frame: when it was begun and when it was on screen [ns]."""
        slot = self._count % self._start_ns.size
        self._start_ns[slot] = start_ns
        self._end_ns[slot] = end_ns
        self._count += 1

    def clear(self) -> None:
        """Forget every frame, so that a measurement starts afresh."""
        self._count = 0

    def summary(self) -> FrameSummary:
        """Return the figures; all zero until two frames have been shown."""
        kept = min(self._count, self._start_ns.size)
        if kept < 2:
            return FrameSummary(kept, 0.0, 0.0, 0.0, 0.0, 0.0)
        order = np.arange(self._count - kept, self._count) % self._start_ns.size
        start, end = self._start_ns[order], self._end_ns[order]
        interval_ms = np.diff(end) / NS_PER_MS
        cost_ms = (end - start) / NS_PER_MS
        return FrameSummary(
            frames=kept,
            rate_hz=float(1000.0 / max(1e-6, interval_ms.mean())),
            interval_p50_ms=float(np.percentile(interval_ms, 50)),
            interval_p99_ms=float(np.percentile(interval_ms, 99)),
            cost_p50_ms=float(np.percentile(cost_ms, 50)),
            cost_p99_ms=float(np.percentile(cost_ms, 99)),
        )
