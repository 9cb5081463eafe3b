"""A simulated person at the station: arms, looks, moves a hand, and lets go.

The hand is one of those of `targets`, `tracker`, `presser`, `retriever` and `replay`;
all of them see only `app.operator.look.Seen`.
"""

from typing import NamedTuple, Protocol

import numpy as np

from app.messages import (
    Event,
    InputMode,
    LinkHealth,
    OperatorInput,
    Source,
    StationState,
)
from app.operator.arming import ArmingWish, ScriptedArming
from app.operator.look import Eye, Seen
from models.numerics import FloatArray

__all__ = ["Act", "Hand", "Performer", "Reacher"]


class Act(NamedTuple):
    """What a hand does."""

    place: FloatArray
    """(3,) where it wants the tip, hull frame [m]."""
    grip: float = 0.0
    """What it wants of the gripper, 0 open to 1 closed."""


class Hand(Protocol):
    """A person's task and the hand that does it."""

    def take_up(self, now_ns: int, place: FloatArray) -> None:
        """Begin, or go on after a pause, with the tip commanded to (3,) [m]."""

    def step(self, now_ns: int, seen: Seen) -> Act:
        """Return what it does at `now_ns` [ns]."""

    def events(self) -> list[Event]:
        """Return what happened since the last call."""


class Reacher(Protocol):
    """A hand that goes to one target at a time: `Submover` or `Vite`."""

    @property
    def hand(self) -> FloatArray:
        """(3,) where the hand is [m]."""

    @property
    def at_target(self) -> bool:
        """Whether the last look found the target met, and no move has begun since."""

    def take_up(self, now_ns: int, hand: FloatArray) -> None:
        """Begin, or begin again, with the hand at rest at (3,) [m]."""

    def aim(self, now_ns: int, target: FloatArray, width: float) -> None:
        """Turn to a target (3,) of a diameter [m]."""

    def step(self, now_ns: int, seen: Seen) -> FloatArray:
        """Return where the hand is (3,) [m] at `now_ns` [ns]."""


class Performer:
    """The scripted operator that lends a hand its eyes and the station's buttons."""

    def __init__(self, limb: int, eye: Eye, hand: Hand) -> None:
        """Prepare.

        Args:
            limb: index of the limb.
            eye: looks at that limb.
            hand: what it does with it.
        """
        self.hand = hand
        self._limb = limb
        self._eye = eye
        self._arming = ScriptedArming(Source.SCRIPT)
        self._driving = False
        self._act = Act(np.zeros(3))
        # of the sample in which the hands last drove; its last is all but the time
        self._wish: ArmingWish | None = None
        self._rest = OperatorInput(0)[1:]

    def step(
        self, now_ns: int, state: StationState, health: LinkHealth
    ) -> OperatorInput:
        """Return the sample at `now_ns` [ns]."""
        wish = self._arming.step(now_ns, state, health)
        eye = self._eye
        seen = eye.seen
        if now_ns >= eye.next_ns:
            seen = eye.look(now_ns, state, health)
        if seen is None or not wish.drive:
            self._driving = False
            return self._sample(now_ns, self._act, wish, drive=False)
        if not self._driving:
            self.hand.take_up(now_ns, state.tip_commanded[self._limb].copy())
            self._driving = True
        act = self.hand.step(now_ns, seen)
        if act is self._act and wish is self._wish:
            return OperatorInput(now_ns, *self._rest)  # hands at rest
        sample = self._sample(now_ns, act, wish, drive=True)
        self._act, self._wish, self._rest = act, wish, sample[1:]
        return sample

    def _sample(
        self, now_ns: int, act: Act, wish: ArmingWish, *, drive: bool
    ) -> OperatorInput:
        x, y, z = act.place.tolist()
        return OperatorInput(
            stamp_ns=now_ns,
            present=True,
            deadman=drive,
            mode=InputMode.TARGET if drive else InputMode.NEUTRAL,
            limb=self._limb,
            target=(x, y, z),
            grip=act.grip,
            arm_count=wish.arm_count,
            disarm_count=wish.disarm_count,
        )

    def events(self) -> list[Event]:
        """Return what happened since the last call."""
        events = self.hand.events()
        return self._arming.events() + events if self._arming.ended else events
