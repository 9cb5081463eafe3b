"""Frames that moved nothing, counted by reason and told once a second."""

from collections import Counter

from app.clock import NS_PER_S
from app.robot.freshness import Rejection

__all__ = ["Rejections"]

_REPORT_EVERY_NS = NS_PER_S


class Rejections:
    """What a bridge has refused; pure."""

    def __init__(self) -> None:
        self.count: Counter[Rejection] = Counter()
        """By reason."""
        self._new: Counter[Rejection] = Counter()
        self._due_ns = 0

    def note(self, reason: Rejection) -> None:
        """Count a frame."""
        self.count[reason] += 1
        self._new[reason] += 1

    @property
    def any_new(self) -> bool:
        """Something is yet to be told."""
        return bool(self._new)

    def news(self, now_ns: int) -> str:
        """Return what is new as a sentence; empty where nothing is, or too soon.

        Args:
            now_ns: robot time [ns].
        """
        if not self._new or now_ns < self._due_ns:
            return ""
        new, self._new = self._new, Counter()
        self._due_ns = now_ns + _REPORT_EVERY_NS
        listed = ", ".join(f"{count} {reason.value}" for reason, count in new.items())
        return f"Setpoint frames dropped: {listed}."
