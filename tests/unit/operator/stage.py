"""A display without a robot: shows the hand at once, or late, frame by frame."""

from collections import deque
from collections.abc import Callable

import numpy as np

from app.clock import NS_PER_S
from app.operator.look import FRAME_HZ, Seen, Trail
from app.operator.performer import Hand
from models.numerics import FloatArray

__all__ = ["Screen", "act"]


class Screen:
    """A robot that follows its command at once, over a link of one delay each way."""

    def __init__(
        self,
        round_trip_s: float = 0.0,
        *,
        predicted: bool = True,
        start: FloatArray | None = None,
        offset: FloatArray | None = None,
        force: Callable[[FloatArray], FloatArray] | None = None,
        holding: bool | None = None,
    ) -> None:
        place = np.zeros(3) if start is None else start
        self.robot: FloatArray = place
        self.holding = holding
        self._round_trip_s = round_trip_s
        self._predicted = predicted
        self._offset = np.zeros(3) if offset is None else offset
        self._force = force
        late = round(round_trip_s * FRAME_HZ)
        self._hands = deque([place.copy()] * (late + 1), maxlen=late + 1)
        self._eye, self._confirmed = Trail(), Trail()

    def show(self, now_ns: int) -> Seen:
        self.robot = self._hands[0] + self._offset
        shown = self._hands[-1] if self._predicted else self.robot
        self._eye.show(now_ns, shown)
        self._confirmed.show(now_ns, self.robot)
        force = np.zeros(3) if self._force is None else self._force(shown)
        return Seen(
            now_ns,
            shown,
            self._eye,
            self.robot,
            self._confirmed,
            force,
            self._predicted,
            self._round_trip_s,
            self.holding,
        )

    def command(self, hand: FloatArray) -> None:
        self._hands.append(hand.copy())


def act(
    hand: Hand,
    screen: Screen,
    seconds: float,
    until: Callable[[], bool] = lambda: False,
    start: FloatArray | None = None,
) -> FloatArray:
    """Let a hand act for a while; return its places (n, 3), one a frame."""
    hand.take_up(0, np.zeros(3) if start is None else start)
    places = []
    for frame in range(round(seconds * FRAME_HZ)):
        now_ns = frame * NS_PER_S // FRAME_HZ
        place = hand.step(now_ns, screen.show(now_ns)).place
        screen.command(place)
        places.append(place.copy())
        if until():
            break
    return np.stack(places)
