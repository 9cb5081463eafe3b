"""When an arming is announced, and when it is known to have been heard; pure.

A compact setpoint cannot be read before the arming it belongs to was announced, so
announcements alternate with setpoints there until the robot echoes a frame that is no
older. Packed setpoints tell their arming themselves and an announcement is soon enough
twice a second.
"""

from app.clock import NS_PER_MS

__all__ = ["Announcer"]

_EVERY_NS = 500 * NS_PER_MS


class Announcer:
    """Decides about the announcements of one station."""

    def __init__(self) -> None:
        self._first = 0  # number of the first that is not confirmed; 0 = none
        self._sent_ns = 0
        self._left = 0
        self._turn = False

    @property
    def waiting(self) -> bool:
        """The robot has not confirmed what was announced."""
        return self._first > 0

    def end(self) -> None:
        """Nothing is armed."""
        self._first = 0

    def begin(self, sequence: int) -> None:
        """Frames from this number on have an arming or a profile to make known."""
        self._first = sequence

    def repeat(self, times: int) -> None:
        """Something else that only announcements tell has changed."""
        self._left = times

    def confirm(self, sequence: int) -> None:
        """The robot has accepted this frame, bound to the arming."""
        if sequence >= self._first:
            self._first = 0

    def sent(self, now_ns: int) -> None:
        """Report an announcement that went."""
        self._sent_ns = now_ns
        self._left = max(0, self._left - 1)

    def due(self, now_ns: int, *, compact: bool) -> bool:
        """Tell whether the frame that may go now is to be an announcement."""
        if not compact:
            return self._first > 0 and now_ns - self._sent_ns >= _EVERY_NS
        if self._first == 0 and self._left == 0:
            return False
        self._turn = not self._turn
        return self._turn
