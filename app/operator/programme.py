"""A program in a person's place that leads a tip along a path by the clock alone.

    x_h(t) = x_ref(max(t, 0)) + (x_h(-1 s) - x_ref(0)) exp(-(t + 1 s)/τ),      τ = 0.2 s

It looks at nothing once it is near the start, as the computer of Gong 2018 did, whose
arm went from its start along its line at a constant speed. So what strays from the path
is the robot's doing, and the link's. It draws nothing: noise is the sensors' alone.
"""

import math
from collections.abc import Callable

import numpy as np

from app.clock import NS_PER_S
from app.operator.look import Seen
from app.operator.performer import Reacher
from app.operator.tracker import PathHand, Track
from models.numerics import FloatArray

__all__ = ["ProgrammedHand"]

_REST_S = 1.0
_SETTLE_S = 0.2


class ProgrammedHand(PathHand):
    """Is where the reference is, which sets out a second after it is near the start."""

    def __init__(
        self, reacher: Reacher, lay_out: Callable[[FloatArray], Track]
    ) -> None:
        """Prepare; arguments as of `PathHand`."""
        super().__init__(reacher, lay_out)
        self._begin: FloatArray = np.zeros(3)

    def _set_out(self, now_ns: int) -> None:
        self._begin = self._hand.copy()
        self.started_ns = now_ns + round(_REST_S * NS_PER_S)

    def _pursue(self, now_ns: int, time_s: float, seen: Seen, track: Track) -> None:
        left = math.exp(-(time_s + _REST_S) / _SETTLE_S)
        self._hand = track.at(max(0.0, time_s)) + left * (self._begin - track.at(0.0))
