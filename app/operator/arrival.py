"""Getting a tip to a place, and knowing that it is there.

A move that must be exact is over when the robot's own tip is seen to have dwelt in the
target: what is predicted does not count. Where prediction and robot have both come to
rest in different places, the aim is moved by what the robot is off; but not further
into what the robot is felt to push against.
"""

import numpy as np

from app.clock import NS_PER_S
from app.operator.distance import length_of
from app.operator.look import Seen
from app.operator.performer import Reacher
from models.numerics import FloatArray

__all__ = ["Arrival", "Dwell"]

_STILL = 5e-3  # [m/s]
_DWELL_S = 0.5
_PUSHES = 0.5  # [N] of contact that is heeded
_DOUBT_S = 1.0  # beyond the round trip, until a robot that rests elsewhere is believed


class Dwell:
    """Whether a tip has been within a target, and slow, for long enough."""

    def __init__(self, speed: float = _STILL, seconds: float = _DWELL_S) -> None:
        """Wait for `seconds` [s] below `speed` [m/s]."""
        self._speed = speed
        self._length_ns = round(seconds * NS_PER_S)
        self._since_ns: int | None = None

    def restart(self) -> None:
        """Forget what has been dwelt so far."""
        self._since_ns = None

    def is_done(self, now_ns: int, error: float, speed: float, width: float) -> bool:
        """Take in where the tip is; whether it has dwelt for the whole time.

        Args:
            now_ns: present time [ns].
            error: from tip to target [m].
            speed: of the tip [m/s].
            width: diameter of the target [m].
        """
        if error > 0.5 * width or speed >= self._speed:
            self._since_ns = None
            return False
        if self._since_ns is None:
            self._since_ns = now_ns
        return now_ns - self._since_ns >= self._length_ns


class Arrival:
    """Leads a reacher to one place at a time."""

    def __init__(self, reacher: Reacher, dwell: Dwell | None = None) -> None:
        """Prepare; `dwell` is what makes an exact move complete."""
        self._reacher = reacher
        self._dwell = Dwell() if dwell is None else dwell
        self._place: FloatArray = np.zeros(3)
        self._aimed: FloatArray = np.zeros(3)
        self._width = 1.0
        self._exact = True
        self._seen: Seen | None = None  # the frame of the two below
        self._error: FloatArray = np.zeros(3)  # from the robot's tip to the place
        self._gap = 0.0
        self._met_ns: int | None = None  # since when the display has met the aim
        self.is_there = False

    def take_up(self, now_ns: int, hand: FloatArray) -> None:
        """Begin, or begin again, with the hand at rest at (3,) [m]."""
        self._reacher.take_up(now_ns, hand)

    def aim(
        self, now_ns: int, place: FloatArray, width: float, *, exact: bool = True
    ) -> None:
        """Turn to a place (3,), within a diameter [m]; exact: by the robot itself."""
        self._place, self._aimed = place.copy(), place.copy()
        self._width, self._exact = width, exact
        self._met_ns, self.is_there, self._seen = None, False, None
        self._dwell.restart()
        self._reacher.aim(now_ns, place, width)

    def step(self, now_ns: int, seen: Seen) -> FloatArray:
        """Return where the hand is (3,) [m]; `is_there` tells whether it is done."""
        if self._exact:
            if seen is not self._seen:
                self._seen, self._error = seen, self._place - seen.confirmed
                self._gap = length_of(self._error)
            self.is_there = self._dwell.is_done(
                now_ns, self._gap, seen.confirmed_speed, self._width
            )
            if self._met_ns is not None and seen.predicted:
                self._doubt(now_ns, seen, self._met_ns)
        hand = self._reacher.step(now_ns, seen)
        is_met = self._reacher.at_target
        if not is_met:
            self._met_ns = None
        elif self._met_ns is None:
            self._met_ns = now_ns
        if not self._exact:
            self.is_there = is_met
        return hand

    def _doubt(self, now_ns: int, seen: Seen, met_ns: int) -> None:
        """Aim elsewhere where the robot has come to rest beside the target."""
        since_s = (now_ns - met_ns) / NS_PER_S
        rests = seen.confirmed_speed < _STILL
        off = self._gap > 0.5 * self._width
        if off and rests and since_s > seen.round_trip_s + _DOUBT_S:
            error, push = self._error, length_of(seen.pushes)
            if push > _PUSHES:
                along = seen.pushes / push
                error = error - max(0.0, float(error @ along)) * along
            self._aimed = self._aimed + error
            self._met_ns = None
            self._reacher.aim(now_ns, self._aimed, self._width)
