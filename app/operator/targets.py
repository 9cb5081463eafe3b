"""A person who visits targets one after the other.

The next target is turned to once the robot's own tip is seen to have dwelt in the
present one: what is predicted does not count. In a trial that is judged the screen
marks the targets that were met, and the person waits for that.
"""

from collections.abc import Callable

import numpy as np

from app.messages import Event, Severity
from app.operator.arrival import Arrival
from app.operator.look import Seen
from app.operator.performer import Act, Reacher
from models.numerics import FloatArray

__all__ = ["TargetHand"]


class TargetHand:
    """Goes to each target in turn."""

    def __init__(
        self,
        reacher: Reacher,
        lay_out: Callable[[FloatArray], FloatArray],
        width: float,
        *,
        endless: bool = False,
    ) -> None:
        """Prepare.

        Args:
            reacher: how it reaches.
            lay_out: makes the targets (n, 3) from where the tip is first (3,) [m].
            width: diameter of a target [m].
            endless: begin again after the last one.
        """
        self.hits_ns: list[int] = []
        self.hits_shown: int | None = None
        """How many targets the screen marks as met; None: it marks none, and the
        person judges alone. A marked screen is believed: none is left before that."""
        self._arrival = Arrival(reacher)
        self._lay_out = lay_out
        self._width = width
        self._endless = endless
        self._targets: FloatArray | None = None
        self._number = 0
        self._events: list[Event] = []

    @property
    def is_done(self) -> bool:
        """Whether every target has been met."""
        return (
            self._targets is not None
            and not self._endless
            and self._number == len(self._targets)
        )

    def take_up(self, now_ns: int, place: FloatArray) -> None:
        """Begin, or go on after a pause, with the tip commanded to (3,) [m]."""
        if self._targets is None:
            self._targets = np.atleast_2d(self._lay_out(place))
        self._arrival.take_up(now_ns, place)
        self._aim(now_ns, self._targets)

    def step(self, now_ns: int, seen: Seen) -> Act:
        """Return what it does at `now_ns` [ns]."""
        hand = self._arrival.step(now_ns, seen)
        if self._targets is not None and not self.is_done and self._is_met():
            self._hit(now_ns, self._targets)
        return Act(hand)

    def events(self) -> list[Event]:
        """Return what happened since the last call."""
        events, self._events = self._events, []
        return events

    def _is_met(self) -> bool:
        if self.hits_shown is None:
            return self._arrival.is_there
        return self.hits_shown > self._number

    def _aim(self, now_ns: int, targets: FloatArray) -> None:
        number = min(self._number, self._number if self._endless else len(targets) - 1)
        self._arrival.aim(now_ns, targets[number % len(targets)], self._width)

    def _hit(self, now_ns: int, targets: FloatArray) -> None:
        self.hits_ns.append(now_ns)
        self._number += 1
        if self.is_done:
            text = f"All {len(targets)} targets met."
            self._events.append(Event(now_ns, Severity.INFO, "operator", text))
        else:
            self._aim(now_ns, targets)
