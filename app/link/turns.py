"""When a goal or a grip goes in the place of a setpoint; pure.

A goal goes at once and again until it is not asked for any more, that is until the
robot's status names it: in packed frames five times a second, in compact ones, which
tell it in parts, in two of three turns, so that setpoints and announcements go on. In
packed frames the grip is a section of the setpoints; in compact ones a change of it
goes three times, then every sixteenth turn.
"""

from app.clock import NS_PER_MS
from app.link.frame import Beside, GripTold

__all__ = ["Turns"]

_GOAL_EVERY_NS = 200 * NS_PER_MS
_GOAL_TURNS = 3
_GRIP_EVERY, _GRIP_REPEATS = 16, 3


class Turns:
    """Decides for one station, each time that a frame may go."""

    def __init__(self) -> None:
        self._goal = b""
        self._goal_ns = 0
        self._turn = 0
        self._grip: GripTold | None = None
        self._since_grip = 0

    def next(self, now_ns: int, beside: Beside, *, compact: bool) -> Beside | None:
        """Return what goes now in a frame of its own; None for a setpoint's turn.

        Args:
            now_ns: present time [ns].
            beside: what the station wants to send.
            compact: in 8 bytes.
        """
        goal = beside.coarse_goal if compact else beside.goal
        if goal != self._goal:
            self._goal, self._goal_ns, self._turn = goal, 0, 0
        if goal and compact:
            self._turn += 1
            if self._turn % _GOAL_TURNS:
                return Beside(goal=goal)
        elif goal and now_ns - self._goal_ns >= _GOAL_EVERY_NS:
            self._goal_ns = now_ns
            return Beside(goal=goal)
        if compact and self._grip_due(beside.grip):
            return Beside(grip=beside.grip)
        return None

    def _grip_due(self, grip: GripTold | None) -> bool:
        if grip != self._grip:
            self._grip, self._since_grip = grip, -2 * _GRIP_REPEATS
        if grip is None:
            return False
        self._since_grip += 1
        if self._since_grip < 0:
            return self._since_grip % 2 == 1
        if self._since_grip < _GRIP_EVERY:
            return False
        self._since_grip = 0
        return True
