"""A gentle wall to feel, for trying a device without a robot.

It stands across the way forward (to the bow), 20 mm past the middle of the workspace,
F = K p, out of it; or where the handle is when it first appears, if that is deeper: a
surface never appears inside the hand. K h / 2 is far below any handle's own damping, so
it is passive (Colgate and Schenkel 1997).
"""

from app.clock import Clock, MonotonicClock
from app.operator.haptic.base import HapticFacts
from app.operator.haptic.signals import (
    HapticForce,
    HapticSample,
    Inbox,
    allocate_force,
)

__all__ = ["GentleWall"]

_AWAY = 0.02


class GentleWall:
    """An `Inbox` whose force answers the newest sample."""

    def __init__(
        self,
        facts: HapticFacts,
        sample: Inbox[HapticSample],
        stiffness: float = 150.0,
        clock: Clock | None = None,
    ) -> None:
        """Stand where the facts say.

        Args:
            facts: of the device.
            sample: where its readings are.
            stiffness: K [N/m].
            clock: None for the host's.
        """
        self.local: HapticForce = allocate_force()
        self.depth = 0.0
        """How deep the handle is inside [m]."""
        self._sample = sample
        self._stiffness = stiffness
        self._clock = clock or MonotonicClock()
        axis = facts.axes[0]
        self._axis = "xyz".index(axis[1])
        self._sign = 1.0 if axis[0] == "+" else -1.0
        self._wanted = self._sign * facts.centre[self._axis] + _AWAY
        self._place = self._wanted
        self._opened = 0

    def refresh(self) -> bool:
        """Work the force out anew."""
        self._sample.refresh()
        sample = self._sample.local
        along = self._sign * float(sample.position[self._axis])
        if sample.present[0] != 1:
            self.depth = 0.0
        else:
            if sample.opened[0] != self._opened:
                self._opened = int(sample.opened[0])
                self._place = max(self._wanted, along)
            self.depth = max(0.0, along - self._place)
        self.local.force[:] = 0.0
        self.local.force[self._axis] = -self._sign * self._stiffness * self.depth
        self.local.tick[0] += 1
        self.local.time_ns[0] = self._clock.now_ns()
        return True
