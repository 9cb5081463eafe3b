"""A person who holds a force, through what the hand feels: the arm of `human_arm`.

For operators that command a place, not a force on a handle: the place moves as the
arm's reference does, along one direction.
"""

from collections import deque

from app.clock import NS_PER_S
from models.bound import bind
from models.human_arm import (
    FORCE_DEAD_ZONE,
    FORCE_DELAY,
    FORCE_GAIN,
    arm_reference_rate,
)

__all__ = ["ForceHolder"]

_DELAY_NS = round(FORCE_DELAY * NS_PER_S)


class ForceHolder:
    """How far to press, so that a force comes to be felt."""

    def __init__(self, wanted: float) -> None:
        """Prepare; `wanted` is the force that the hand is to exert [N]."""
        self._wanted = float(wanted)
        self._rate = bind(
            arm_reference_rate, self._wanted, 0.0, FORCE_GAIN, FORCE_DEAD_ZONE
        )
        self._felt: deque[tuple[int, float]] = deque()
        self._last_ns: int | None = None
        self.is_settled = False

    def step(self, now_ns: int, felt: float) -> float:
        """Return by how far to go on pressing since the last call [m].

        Args:
            now_ns: present time [ns].
            felt: force that the hand exerts now [N]; it counts 0.15 s later.
        """
        self._felt.append((now_ns, felt))
        late_ns = now_ns - _DELAY_NS
        while len(self._felt) > 1 and self._felt[1][0] <= late_ns:
            self._felt.popleft()
        old_ns, old = self._felt[0]
        period = 0.0 if self._last_ns is None else (now_ns - self._last_ns) / NS_PER_S
        self._last_ns = now_ns
        known = old if old_ns <= late_ns else 0.0
        rate = self._rate(self._wanted, known, FORCE_GAIN, FORCE_DEAD_ZONE)
        self.is_settled = rate == 0.0
        return rate * period
