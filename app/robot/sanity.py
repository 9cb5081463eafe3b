"""Can a sensor be believed? Not a number, out of range, jumping, frozen; pure.

A value that is not believed is handed on as NaN; after `_TRUST_AFTER` good readings in
a row it is believed again. Whether a sensor is frozen can only be told while its
actuator is driven: the same value to the last bit, while what is asked moved on.
"""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from app.clock import NS_PER_MS, NS_PER_S
from models.numerics import FloatArray

__all__ = ["GRACE_NS", "WORDS", "Doubt", "SensorSanity"]

GRACE_NS = 300 * NS_PER_MS
"""A measurement may be missing or wild for so long; its last good value stands in."""

_TRUST_AFTER = 5
_FROZEN_SHARE = 0.05  # of the range that what is asked has moved meanwhile


class Doubt(IntEnum):
    """Why a reading is not believed."""

    NONE = 0
    MISSING = 1  # NaN or infinite: the device does not answer
    RANGE = 2
    JUMP = 3
    FROZEN = 4


WORDS = {
    Doubt.MISSING: "does not answer",
    Doubt.RANGE: "reads outside its range",
    Doubt.JUMP: "jumps faster than the actuator can move",
    Doubt.FROZEN: (
        "does not move while its actuator is driven: mend it; where it still stands, "
        "press and reset the emergency stop"
    ),
}
"""For people, after the sensor's name."""


class SensorSanity:
    """Judges n sensors."""

    def __init__(
        self,
        least: FloatArray,
        greatest: FloatArray,
        rate: FloatArray,
        *,
        frozen_s: float = 2.0,
    ) -> None:
        """Begin with nothing read.

        Args:
            least: (n,) smallest plausible value.
            greatest: (n,) largest one.
            rate: (n,) greatest plausible change [1/s].
            frozen_s: how long a reading may stay the same while its actuator is
                driven elsewhere [s].
        """
        count = least.size
        self._least, self._greatest, self._rate = least, greatest, rate
        self._frozen_ns = round(frozen_s * NS_PER_S)
        self._last = np.full(count, np.nan)
        self._last_ns = np.zeros(count, dtype=np.int64)
        self._moved_ns = np.zeros(count, dtype=np.int64)
        self._asked_then = np.full(count, np.nan)
        self._stood = np.full(count, np.nan)  # reading of a sensor found frozen
        self._good = np.full(count, _TRUST_AFTER, dtype=np.int64)
        self.doubt = np.zeros(count, dtype=np.int64)
        """(n,) a `Doubt` each."""

    def forget(self) -> None:
        """Doubt nothing that was found frozen: a person has seen to it."""
        self.doubt[self.doubt == Doubt.FROZEN] = Doubt.NONE

    def judge(
        self, now_ns: int, value: FloatArray, asked: FloatArray
    ) -> tuple[FloatArray, NDArray[np.int64]]:
        """Judge one reading of every sensor.

        Args:
            now_ns: when it was read [ns]; times must not go back.
            value: (n,) as read.
            asked: (n,) what the actuators were asked for, NaN where nothing.

        Returns:
            (n,) with NaN in place of what is not believed, and the indices whose doubt
            has changed.
        """
        before = self.doubt.copy()
        missing = ~np.isfinite(value)
        wild = ~missing & ((value < self._least) | (value > self._greatest))
        known = np.isfinite(self._last) & ~missing
        gap_s = np.maximum((now_ns - self._last_ns) / NS_PER_S, 1e-3)
        jumped = known & (np.abs(value - self._last) > self._rate * gap_s)
        same = known & (value == self._last)
        moved = ~same | ~np.isfinite(asked)
        self._moved_ns[moved] = now_ns
        self._asked_then[moved] = asked[moved]
        driven = np.abs(asked - self._asked_then) > _FROZEN_SHARE * (
            self._greatest - self._least
        )
        frozen = same & driven & (now_ns - self._moved_ns > self._frozen_ns)
        fresh = ~missing & ~wild
        self._last[fresh] = value[fresh]
        self._last_ns[fresh] = now_ns
        now = np.select(
            [missing, wild, jumped, frozen],
            [Doubt.MISSING, Doubt.RANGE, Doubt.JUMP, Doubt.FROZEN],
            Doubt.NONE,
        )
        self._stood[frozen] = value[frozen]
        still = (self.doubt == Doubt.FROZEN) & (value == self._stood)
        now = np.where(still, Doubt.FROZEN, now)
        bad = now != Doubt.NONE
        self._good = np.where(bad, 0, self._good + 1)
        self.doubt = np.where(
            bad, now, np.where(self._good >= _TRUST_AFTER, Doubt.NONE, self.doubt)
        )
        believed = np.where(self.doubt == Doubt.NONE, value, np.nan)
        return believed, np.flatnonzero(self.doubt != before)
