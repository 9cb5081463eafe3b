"""A person who holds a force, through what the hand feels: the arm of `human_arm`.

For operators that command a place, not a force on a handle: the place moves as the
arm's reference does, along one direction.
"""

import math
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
_NEVER_NS = 1 << 62


class ForceHolder:
    """How far to press, so that a force comes to be felt."""

    def __init__(self, wanted: float) -> None:
        """Prepare; `wanted` is the force that the hand is to exert [N]."""
        self._wanted = float(wanted)
        bound = (self._wanted, 0.0, FORCE_GAIN, FORCE_DEAD_ZONE)
        self._rate_at = bind(arm_reference_rate, *bound)
        self._rate = self._rate_at(*bound)  # [m/s] by what was felt so long ago
        self._felt: deque[tuple[int, float]] = deque()  # from when it counts, how much
        self._newest = math.nan

    @property
    def is_settled(self) -> bool:
        """The force that counts is as near to the wanted one as a person can tell."""
        return self._rate == 0.0

    @property
    def due_ns(self) -> int:
        """When another force counts, unless one is felt that counts before [ns]."""
        return self._felt[0][0] if self._felt else _NEVER_NS

    def step(self, now_ns: int, period: float, felt: float) -> float:
        """Return by how far to go on pressing [m].

        Args:
            now_ns: present time [ns].
            period: since the last step, 0 in the first [s].
            felt: force that the hand exerts now [N]; it counts 0.15 s later.
        """
        if felt != self._newest:
            self._newest = felt
            self._felt.append((now_ns + _DELAY_NS, felt))
        if now_ns >= self.due_ns:
            self._count(now_ns)
        return self._rate * period

    def _count(self, now_ns: int) -> None:
        """Take up what was felt so long ago."""
        while now_ns >= self.due_ns:
            _, felt = self._felt.popleft()
        self._rate = self._rate_at(self._wanted, felt, FORCE_GAIN, FORCE_DEAD_ZONE)
