"""A person who fetches something: approach, align, grip, lift, carry, release.

The steps are those of the task's file, whose waypoints go round edges. What the gripper
does is believed when the robot's picture was made after the command reached it: the
person waits for that, however late it comes. Where it has closed on nothing, or has
lost what it held, the person opens it, goes back the way it came to the approach, and
tries again, three times in all.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from app.clock import NS_PER_S
from app.messages import Event, Severity
from app.operator.arrival import Arrival, Dwell
from app.operator.look import Seen
from app.operator.performer import Act, Reacher
from models.numerics import FloatArray

__all__ = ["RetrievingHand", "Step"]

_CLOSING_S = 1.0  # from open to closed
_SETTLING_S = 0.5  # beyond the round trip, until the gripper is believed
_DOUBT_S = 1.5  # longer, until it is believed not to hold, or to hold on
_LOSING_S = 0.5  # of an empty gripper on the way, until it is believed
_BACK = 2  # steps, from where it grips to where the approach begins
_TRIES = 3
_LONGEST = 0.05  # [m] of a move
_PASSING = 0.03  # [m] width of a place in between
_STILL = 10e-3  # [m/s] before the gripper moves
_DWELL_S = 0.3


class Step(Protocol):
    """One move, see `app.config.task.StepParameters`; SI, hull frame."""

    @property
    def name(self) -> str:
        """For people."""

    @property
    def place(self) -> FloatArray:
        """(3,) where to [m]."""

    @property
    def width(self) -> float:
        """How exactly, a diameter [m]."""

    @property
    def grip(self) -> float | None:
        """What the gripper does there, 0 open to 1 closed; None: nothing."""

    @property
    def exact(self) -> bool:
        """Whether the robot itself must be seen to be there."""


class _Between(NamedTuple):
    """A place on the way from one step to the next; a step itself."""

    name: str
    place: FloatArray
    width: float
    grip: float | None = None
    exact: bool = False


def _in_short_moves(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Put places in between where a move is long.

    A gripper turns with the limb: what the tip has to do for a long move of the gripper
    shows only on the way.
    """
    found: list[Step] = [steps[0]]
    for before, step in itertools.pairwise(steps):
        way = step.place - before.place
        pieces = math.ceil(float(np.linalg.norm(way)) / _LONGEST)
        found += [
            _Between(step.name, before.place + k / pieces * way, _PASSING)
            for k in range(1, pieces)
        ]
        found.append(step)
    return tuple(found)


class RetrievingHand:
    """Goes through the steps."""

    def __init__(
        self, reacher: Reacher, lay_out: Callable[[FloatArray], Sequence[Step]]
    ) -> None:
        """Prepare.

        Args:
            reacher: how it moves.
            lay_out: makes the steps from where the tip is first (3,) [m].
        """
        self.tries = 1
        self.is_done = False
        self._arrival = Arrival(reacher, Dwell(_STILL, _DWELL_S))
        self._lay_out = lay_out
        self._steps: Sequence[Step] = ()
        self._number = 0
        self._back_to: int | None = None  # number of a step, while on the way back
        self._grip = 0.0
        self._gripping_from: tuple[int, float] | None = None
        self._gripped: int | None = None  # number of the step that has taken hold
        self._empty_ns: int | None = None
        self._events: list[Event] = []

    @property
    def step_name(self) -> str:
        """Name of the present step; empty before the first and after the last."""
        running = self._number < len(self._steps)
        return self._steps[self._number].name if running else ""

    def take_up(self, now_ns: int, place: FloatArray) -> None:
        """Begin, or go on after a pause, with the tip commanded to (3,) [m]."""
        if not self._steps:
            self._steps = _in_short_moves(self._lay_out(place))
        self._arrival.take_up(now_ns, place)
        self._gripping_from = None
        self._aim(now_ns)

    def step(self, now_ns: int, seen: Seen) -> Act:
        """Return what it does at `now_ns` [ns]."""
        hand = self._arrival.step(now_ns, seen)
        if self.is_done:
            return Act(hand, self._grip)
        if self._gripped is not None and self._has_lost(now_ns, seen):
            self._try_again(now_ns, "Lost on the way")
        elif self._gripping_from or self._arrival.is_there:
            self._work(now_ns, seen, self._steps[self._number])
        return Act(hand, self._grip)

    def events(self) -> list[Event]:
        """Return what happened since the last call."""
        events, self._events = self._events, []
        return events

    def _work(self, now_ns: int, seen: Seen, step: Step) -> None:
        """Let the gripper do what it has to here, then go on."""
        idle = step.grip is None or self._back_to is not None
        wanted = self._grip if idle or step.grip is None else step.grip
        if self._gripping_from is None:
            if wanted == self._grip:
                self._next(now_ns)
                return
            self._gripping_from = (now_ns, self._grip)
        begun_ns, begun = self._gripping_from
        since_s = (now_ns - begun_ns) / NS_PER_S
        share = min(1.0, since_s / _CLOSING_S)
        self._grip = begun + share * (wanted - begun)
        settled_s = since_s - _CLOSING_S - _SETTLING_S
        if settled_s < _shown_late_s(now_ns, seen):
            return
        closing = wanted > begun
        doubted = seen.holding is not None and seen.holding is not closing
        if doubted and settled_s < _shown_late_s(now_ns, seen) + _DOUBT_S:
            return
        self._gripping_from = None
        if closing and doubted:
            self._try_again(now_ns, "Nothing held")
            return
        self._gripped = self._number if closing else None
        self._next(now_ns)

    def _has_lost(self, now_ns: int, seen: Seen) -> bool:
        """Whether the gripper is seen to have been empty for a while."""
        if seen.holding is not False:
            self._empty_ns = None
            return False
        if self._empty_ns is None:
            self._empty_ns = now_ns
        # while it opens, it is meant to lose what it holds
        opening = self._gripping_from is not None
        return not opening and now_ns - self._empty_ns >= _LOSING_S * NS_PER_S

    def _next(self, now_ns: int) -> None:
        if self._back_to is not None:
            if self._number > self._back_to:
                self._number -= 1
                self._aim(now_ns)
                return
            self._back_to = None
        self._number += 1
        self.is_done = self._number == len(self._steps)
        if self.is_done:
            self._say(now_ns, Severity.INFO, "Fetched: the last step is done.")
        else:
            self._aim(now_ns)

    def _try_again(self, now_ns: int, why: str) -> None:
        self._grip = 0.0
        if self.tries == _TRIES:
            self.is_done = True
            text = f"{why} after {_TRIES} tries: given up."
            self._say(now_ns, Severity.WARNING, text)
            return
        self.tries += 1
        grips_at = self._number if self._gripped is None else self._gripped
        self._gripped, self._empty_ns = None, None
        marks = [
            number
            for number, step in enumerate(self._steps[:grips_at])
            if not isinstance(step, _Between)
        ]
        self._back_to = marks[-_BACK] if len(marks) >= _BACK else 0
        start = self._steps[self._back_to].name
        self._say(now_ns, Severity.INFO, f"{why}: try {self.tries} from {start!r}.")
        self._aim(now_ns)

    def _aim(self, now_ns: int) -> None:
        if self.is_done:
            return
        step = self._steps[self._number]
        exact = step.exact or step.grip is not None
        self._arrival.aim(now_ns, step.place, step.width, exact=exact)

    def _say(self, now_ns: int, severity: Severity, text: str) -> None:
        self._events.append(Event(now_ns, severity, "operator", text))


def _shown_late_s(now_ns: int, seen: Seen) -> float:
    """How late the robot's newest picture answers to commands [s]."""
    if not seen.followed_ns:
        return seen.round_trip_s
    return (now_ns - seen.followed_ns) / NS_PER_S
