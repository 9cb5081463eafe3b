"""How long a person waits before looking again: learned from what the display does.

The next look is due once what is seen stands still (below 3 mm/s) and the time since
the end of the last move is past the round trip that the person expects, plus a
reaction. The expectation is learned, R += 0.3 (observed - R), from 0 or, in a practised
person, from what the screen tells; observed is the time from the hand's start to the
display's, both taken where a tenth of the move is done. This is the move-and-wait of
Ferrell 1965, emerging. A person who starts from 0 on a long round trip corrects the
same error several times before seeing the first correction.
"""

import numpy as np

from app.clock import NS_PER_S
from app.operator.distance import length_of
from app.operator.look import Seen
from models.numerics import FloatArray

__all__ = ["Patience"]

_STILL = 3e-3  # [m/s] below which a display is seen to stand
_LEARNING = 0.3
_NOTICED = 1e-3  # [m] least motion by which a start is told
_NOTICED_SHARE = 0.1  # of the move's length


class Patience:
    """Learns the round trip, and says when the next look is due."""

    def __init__(self, *, naive: bool = False, practised: bool = False) -> None:
        """Begin.

        Args:
            naive: never wait: chase the display.
            practised: expect from the first move on what the screen tells of the link.
        """
        self._naive = naive
        self._practised = practised
        self.round_trip_s = 0.0
        self._hand_from: FloatArray | None = None
        self._tip_from: FloatArray = np.zeros(3)
        self._noticed = _NOTICED
        self._hand_ns: int | None = None

    def moved(self, hand: FloatArray, seen: Seen, length: float) -> None:
        """A move of `length` [m] begins at the hand's place (3,) [m]."""
        self._hand_from, self._tip_from = hand.copy(), seen.tip.copy()
        self._noticed = max(_NOTICED, _NOTICED_SHARE * length)
        self._hand_ns = None

    def watch(self, now_ns: int, hand: FloatArray, seen: Seen) -> None:
        """Note when the hand (3,) [m] and then the display set out."""
        if self._practised:
            self._practised, self.round_trip_s = False, seen.visual_delay_s
        if self._hand_from is None:
            return
        if self._hand_ns is None:
            if length_of(hand - self._hand_from) < self._noticed:
                return
            self._hand_ns = now_ns
        if length_of(seen.tip - self._tip_from) >= self._noticed:
            observed_s = (now_ns - self._hand_ns) / NS_PER_S
            self.round_trip_s += _LEARNING * (observed_s - self.round_trip_s)
            self._hand_from = None

    def is_due(self, since_end_s: float, reaction_s: float, seen: Seen) -> bool:
        """Whether to look, so long [s] after the last move's end."""
        if self._naive:
            return since_end_s >= reaction_s
        waited = since_end_s >= self.round_trip_s + reaction_s
        return waited and seen.speed < _STILL
