"""A person who reaches in steps: look, move over the whole error, wait, look again.

Each move is a minimum-jerk stroke (Flash and Hogan 1985) over the error that is seen,
of duration

    D = max(0.2 + 0.1 log2(2 e/W + 1), 1.875 e/v_max) s,

and ends with an error of SD 0.08 e + 0.5 mm along the move and half of that on each
axis across it (optimised submovements, Meyer 1988). W is the target's diameter.

No move begins while the robot's picture is older than the link explains: in a blockage
the robot would later cut the corners that the hand has gone round. A target that the
limb cannot follow stops on its leash (`app.teleop.predictive`); the hand that has left
it takes hold of it again, so that nothing has to be wound back.
"""

import math
from typing import NamedTuple

import numpy as np

from app.clock import NS_PER_S
from app.operator.distance import length_of
from app.operator.draws import draw_move
from app.operator.look import Seen
from app.operator.paths import minimum_jerk
from app.operator.patience import Patience
from models.numerics import FloatArray

__all__ = ["ENDPOINT_SD", "ENDPOINT_SHARE", "Submover", "move_duration"]

ENDPOINT_SHARE = 0.08
"""Standard deviation of a move's end along it, over its length."""
ENDPOINT_SD = 0.5e-3
"""What comes on top of it [m]."""

_PEAK_OVER_MEAN = 1.875
_LEFT = 0.01  # [m] from hand to a target that no longer follows it


def move_duration(length: float, width: float, speed_limit: float) -> float:
    """Return how long a move takes [s].

    Args:
        length: the error that it is to make good [m].
        width: diameter of the target [m].
        speed_limit: greatest speed of the hand [m/s].
    """
    fitts_s = 0.2 + 0.1 * math.log2(2.0 * length / width + 1.0)
    return max(fitts_s, _PEAK_OVER_MEAN * length / speed_limit)


class _Move(NamedTuple):
    start_ns: int
    duration_s: float
    start: FloatArray
    way: FloatArray


class Submover:
    """The hand of such a person, for one target at a time."""

    def __init__(
        self,
        seed: int,
        speed_limit: float,
        patience: Patience | None = None,
        *,
        axes: tuple[bool, bool, bool] = (True, True, True),
    ) -> None:
        """Rest.

        Args:
            seed: of the draws.
            speed_limit: greatest speed of the hand [m/s].
            patience: what is known of the link; None: nothing yet.
            axes: on which the hand can err; one in a study of one degree of freedom.
        """
        self.patience = Patience() if patience is None else patience
        self.moves = 0
        self._seed = seed
        self._speed_limit = speed_limit
        self._axes = np.array(axes, dtype=float)
        self._target: FloatArray = np.zeros(3)
        self._width = 1.0
        self._hand: FloatArray = np.zeros(3)
        self._move: _Move | None = None
        self._rested_ns = 0  # end of the last move, or when the target was shown
        self._waits_for_link = False
        self._draws = draw_move(seed, 0)
        self._at_target = False

    @property
    def hand(self) -> FloatArray:
        """(3,) where the hand is [m]."""
        return self._hand

    @property
    def rested_ns(self) -> int:
        """When the last move ended, or its target was shown [ns]."""
        return self._rested_ns

    @property
    def at_target(self) -> bool:
        """Whether the last look found the target met, and no move has begun since."""
        return self._at_target

    def take_up(self, now_ns: int, hand: FloatArray) -> None:
        """Begin, or begin again, with the hand at rest at (3,) [m]."""
        self._hand = hand.copy()
        self._move = None
        self._at_target = False
        self._rested_ns = now_ns

    def aim(self, now_ns: int, target: FloatArray, width: float) -> None:
        """Turn to a target (3,) of a diameter [m], once the present move is over."""
        self._target = target.copy()
        self._width = width
        self._at_target = False
        self._waits_for_link = False
        self._rested_ns = now_ns

    def step(self, now_ns: int, seen: Seen) -> FloatArray:
        """Return where the hand is (3,) [m] at `now_ns` [ns]."""
        if self._move is not None:
            self._go_on(now_ns, self._move)
        self.patience.watch(now_ns, self._hand, seen)
        if self._move is None and self._is_due(now_ns, seen) and not seen.is_stale:
            self._look(now_ns, seen)
        return self._hand

    def _go_on(self, now_ns: int, move: _Move) -> None:
        elapsed_s = (now_ns - move.start_ns) / NS_PER_S
        share = minimum_jerk(elapsed_s / move.duration_s)
        self._hand = move.start + share * move.way
        if elapsed_s >= move.duration_s:
            self._move = None
            self._rested_ns = move.start_ns + round(move.duration_s * NS_PER_S)
            self._waits_for_link = True

    def _is_due(self, now_ns: int, seen: Seen) -> bool:
        since_s = (now_ns - self._rested_ns) / NS_PER_S
        if not self._waits_for_link:  # a new target: what is seen is settled already
            return since_s >= self._draws.reaction_s
        return self.patience.is_due(since_s, self._draws.reaction_s, seen)

    def _look(self, now_ns: int, seen: Seen) -> None:
        error = self._target - seen.tip
        length = length_of(error)
        self._at_target = length <= 0.5 * self._width
        if self._at_target:
            return
        held = seen.target
        if held is not None and length_of(self._hand - held) > _LEFT:
            self._hand = held.copy()  # lets go and takes hold where the target stands
        end = self._hand + error + self._miss(error / length, length)
        duration_s = move_duration(length, self._width, self._speed_limit)
        self._move = _Move(now_ns, duration_s, self._hand, end - self._hand)
        self.patience.moved(self._hand, seen, length)
        self.moves += 1
        self._draws = draw_move(self._seed, self.moves)

    def _miss(self, along: FloatArray, length: float) -> FloatArray:
        """By how much a move's end misses (3,) [m]."""
        deviation = ENDPOINT_SHARE * length + ENDPOINT_SD
        axis = np.eye(3)[int(np.argmin(np.abs(along)))]
        right = np.cross(along, axis)
        right /= np.linalg.norm(right)
        up = np.cross(along, right)
        first, second = self._draws.across
        miss: FloatArray = deviation * (
            self._draws.along * along + 0.5 * (first * right + second * up)
        )
        return self._axes * miss
