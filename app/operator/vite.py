"""A person whose hand follows the VITE law (Bullock and Grossberg 1988).

    V' = 30 (-V + x* - P),      P' = G(t) V,      G(t) = 8 t²/(t² + 0.2²) 1/s

P is the hand, x* where it is to go, t the time since the go signal. x* is set at each
look to the hand plus the error that is seen; looks are as those of the submover. Added
here: the hand's speed is limited, as what commands the robot is.
"""

import math

import numpy as np

from app.clock import NS_PER_S
from app.operator.distance import length_of
from app.operator.draws import draw_move
from app.operator.look import Seen
from app.operator.patience import Patience
from models.numerics import FloatArray

__all__ = ["Vite", "go_signal"]

_RATE = 30.0  # [1/s] of the difference vector
_GO = 8.0  # [1/s]
_GO_RISE_S = 0.2
_STEP_S = 2e-3  # the laws are integrated in steps of this length at most
_STILL = 1e-3  # [m/s] of the hand: the move is over


def go_signal(time_s: float) -> float:
    """Return G [1/s], so long [s] after the go signal."""
    square = max(0.0, time_s) ** 2
    return _GO * square / (square + _GO_RISE_S**2)


class Vite:
    """The hand of such a person, for one target at a time."""

    def __init__(
        self, seed: int, speed_limit: float, patience: Patience | None = None
    ) -> None:
        """Rest.

        Args:
            seed: of the reactions.
            speed_limit: greatest speed of the hand [m/s].
            patience: what is known of the link; None: nothing yet.
        """
        self.patience = Patience() if patience is None else patience
        self.moves = 0
        self._seed = seed
        self._speed_limit = speed_limit
        self._target: FloatArray = np.zeros(3)
        self._width = 1.0
        self._hand: FloatArray = np.zeros(3)
        self._difference: FloatArray = np.zeros(3)
        self._wanted: FloatArray = np.zeros(3)
        self._go_ns: int | None = None  # start of the present move
        self._last_ns = 0
        self._rested_ns = 0
        self._waits_for_link = False
        self._reaction_s = draw_move(seed, 0).reaction_s
        self._at_target = False

    @property
    def hand(self) -> FloatArray:
        """(3,) where the hand is [m]."""
        return self._hand

    @property
    def at_target(self) -> bool:
        """Whether the last look found the target met, and no move has begun since."""
        return self._at_target

    def take_up(self, now_ns: int, hand: FloatArray) -> None:
        """Begin, or begin again, with the hand at rest at (3,) [m]."""
        self._hand = hand.copy()
        self._difference = np.zeros(3)
        self._go_ns = None
        self._at_target = False
        self._last_ns = self._rested_ns = now_ns

    def aim(self, now_ns: int, target: FloatArray, width: float) -> None:
        """Turn to a target (3,) of a diameter [m], once the present move is over."""
        self._target, self._width = target.copy(), width
        self._at_target = self._waits_for_link = False
        self._rested_ns = now_ns

    def step(self, now_ns: int, seen: Seen) -> FloatArray:
        """Return where the hand is (3,) [m] at `now_ns` [ns]."""
        if self._go_ns is not None:
            self._integrate(now_ns, self._go_ns)
        self._last_ns = now_ns
        self.patience.watch(now_ns, self._hand, seen)
        if self._go_ns is None and self._is_due(now_ns, seen):
            self._look(now_ns, seen)
        return self._hand

    def _integrate(self, now_ns: int, go_ns: int) -> None:
        left_s = (now_ns - self._last_ns) / NS_PER_S
        time_s = (self._last_ns - go_ns) / NS_PER_S
        steps = max(1, math.ceil(left_s / _STEP_S))
        period = left_s / steps
        speed = 0.0
        for _ in range(steps):
            time_s += period
            gap = self._wanted - self._hand - self._difference
            self._difference = self._difference + period * _RATE * gap
            rate = go_signal(time_s) * self._difference
            speed = length_of(rate)
            share = min(1.0, self._speed_limit / max(speed, 1e-12))
            self._hand = self._hand + period * share * rate
        if time_s > _GO_RISE_S and speed < _STILL:
            self._go_ns = None
            self._rested_ns, self._waits_for_link = now_ns, True

    def _is_due(self, now_ns: int, seen: Seen) -> bool:
        since_s = (now_ns - self._rested_ns) / NS_PER_S
        if not self._waits_for_link:
            return since_s >= self._reaction_s
        return self.patience.is_due(since_s, self._reaction_s, seen)

    def _look(self, now_ns: int, seen: Seen) -> None:
        error = self._target - seen.tip
        length = length_of(error)
        self._at_target = length <= 0.5 * self._width
        if self._at_target:
            return
        self._wanted = self._hand + error
        self._difference = np.zeros(3)
        self._go_ns = now_ns
        self.patience.moved(self._hand, seen, length)
        self.moves += 1
        self._reaction_s = draw_move(self._seed, self.moves).reaction_s
