"""A person who presses a surface, by the force that the hand feels.

Over the pad, forward at 10 mm/s until a force is felt, then that force is brought to
the wanted one and held. The hand yields as a relaxed arm does: what the person intends
moves the arm's reference, and of that way k_h / (k_h + K) is what a hand goes that
leans on K. One that went all the way would swing on 1000 N/m, 0.15 s late as it is.
Asked which of two pads is the stiffer, the person judges
K = ΔF/Δx of what was felt and shown, with an error of 15 % (the Weber fraction of
stiffness), and says so. Without any force felt 60 mm past the surface, they give up.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from app.clock import NS_PER_S
from app.messages import Event, Severity
from app.operator.arm import ForceHolder
from app.operator.arrival import Arrival
from app.operator.draws import draw_share
from app.operator.look import Seen
from app.operator.performer import Act, Reacher
from models.human_arm import GRIPS
from models.numerics import FloatArray

__all__ = ["Pad", "PressingHand"]

_ADVANCE = 10e-3  # [m/s]
_TOUCH = 0.2  # [N] that is felt as contact
_NOTHING = 0.01  # [N]
_ARM = GRIPS["relaxed"].stiffness
_LEAST_WAY = 1e-4  # [m]
_TOO_DEEP = 60e-3  # [m] past the surface
_PATIENCE_S = 1.0  # held on after the force has been held for long enough
_WIDTH = 20e-3  # [m] of the place over the pad
_JUDGEMENT = 0.15


@dataclass(frozen=True)
class Pad:
    """A surface to press: (3,) `place` on it [m] and (3,) `normal` out of it."""

    place: FloatArray
    normal: FloatArray


class _Phase(Enum):
    GO = 0
    ADVANCE = 1
    PRESS = 2
    LEAVE = 3
    DONE = 4


class PressingHand:
    """Presses each pad in turn, and judges where there are two."""

    def __init__(
        self,
        reacher: Reacher,
        lay_out: Callable[[FloatArray], tuple[Pad, ...]],
        force: float,
        hold_s: float,
        above: float,
        seed: int,
    ) -> None:
        """Prepare.

        Args:
            reacher: how it gets over a pad.
            lay_out: makes the pads from where the tip is first (3,) [m].
            force: to be held [N].
            hold_s: for how long [s].
            above: where it starts over a pad [m].
            seed: of its judgement.
        """
        self._held_shown: bool | None = None
        self.stiffness: list[float] = []
        self._arrival = Arrival(reacher)
        self._lay_out = lay_out
        self._force = force
        self._hold_ns = round(hold_s * NS_PER_S)
        self._above = above
        self._seed = seed
        self._pads: tuple[Pad, ...] = ()
        self._number = 0
        self._phase = _Phase.GO
        self._hand: FloatArray = np.zeros(3)
        self._act = Act(self._hand)
        self._seen: Seen | None = None  # the frame of the next
        self._felt = 0.0  # along the pad's normal
        self._touched: tuple[float, FloatArray] | None = None
        self._free: FloatArray = np.zeros(3)  # where the hand last felt nothing
        self._holder = ForceHolder(force)
        self._held_ns: int | None = None
        self._last_ns = 0
        self._pressed_ns: int | None = None  # last step in which the force was held
        self._rests_until_ns = 0  # till then only a new frame moves the hand
        self._events: list[Event] = []

    @property
    def held_shown(self) -> bool | None:
        """Whether the screen marks the force as held.

        None: it marks nothing, and the person judges alone. Nobody lets go of a pad
        that is not marked.
        """
        return self._held_shown

    @held_shown.setter
    def held_shown(self, shown: bool | None) -> None:
        self._held_shown, self._rests_until_ns = shown, 0

    @property
    def answer(self) -> int | None:
        """Index of the pad judged the stiffer; None until two have been judged."""
        return int(np.argmax(self.stiffness)) if len(self.stiffness) == 2 else None

    @property
    def pressing(self) -> int | None:
        """Index of the pad that is pressed now; None between pads."""
        return self._number if self._phase is _Phase.PRESS else None

    @property
    def number(self) -> int:
        """Index of the pad that is pressed now, or gone to, or was pressed last."""
        return self._number

    @property
    def done(self) -> bool:
        """All pads have been pressed, or given up."""
        return self._phase is _Phase.DONE

    def take_up(self, now_ns: int, place: FloatArray) -> None:
        """Begin, or go on after a pause, with the tip commanded to (3,) [m]."""
        if not self._pads:
            self._pads = self._lay_out(place)
        self._hand = place.copy()
        if self._phase is not _Phase.DONE:
            self._go(now_ns)

    def step(self, now_ns: int, seen: Seen) -> Act:
        """Return what it does at `now_ns` [ns]."""
        if seen is self._seen and now_ns < self._rests_until_ns:
            self._pressed_ns = now_ns
            return self._act
        phase = self._phase
        if phase is _Phase.PRESS or phase is _Phase.ADVANCE:
            self._lean(now_ns, seen, self._pads[self._number])
        elif phase is not _Phase.DONE:
            self._hand = self._arrival.step(now_ns, seen)
            if self._arrival.is_there:
                self._arrived(now_ns)
        self._last_ns = now_ns
        if self._act.place is not self._hand:
            self._act = Act(self._hand)
        return self._act

    def _lean(self, now_ns: int, seen: Seen, pad: Pad) -> None:
        """Go forward until a force is felt, then bring it to the wanted one."""
        if seen is not self._seen:
            self._seen = seen
            self._felt = float(seen.force.dot(pad.normal))  # the reaction points out
        felt = self._felt
        if not felt > _NOTHING:
            self._free = self._hand
        if self._phase is _Phase.PRESS:
            last_ns, self._pressed_ns = self._pressed_ns, now_ns
            period = 0.0 if last_ns is None else (now_ns - last_ns) / NS_PER_S
            way = self._holder.step(now_ns, period, felt)
            if way != 0.0:
                self._hand = self._hand - way * self._share(pad, felt) * pad.normal
            self._keep(now_ns, seen, pad, felt)
            if way == 0.0:
                return
        else:
            period = (now_ns - self._last_ns) / NS_PER_S
            self._hand = self._hand - min(period, 0.1) * _ADVANCE * pad.normal
            if felt > _TOUCH:
                self._phase = _Phase.PRESS
                self._touched = (felt, seen.tip.copy())
                self._holder = ForceHolder(self._force)
                self._held_ns = self._pressed_ns = None
        if (pad.place - self._hand).dot(pad.normal) > _TOO_DEEP:
            self._give_up(now_ns, felt)

    def events(self) -> list[Event]:
        """Return what happened since the last call."""
        if not self._events:
            return []
        events, self._events = self._events, []
        return events

    def _go(self, now_ns: int) -> None:
        pad = self._pads[self._number]
        self._phase, self._seen = _Phase.GO, None
        self._arrival.take_up(now_ns, self._hand)
        self._arrival.aim(now_ns, pad.place + self._above * pad.normal, _WIDTH)

    def _arrived(self, now_ns: int) -> None:
        if self._phase is _Phase.GO:
            self._phase = _Phase.ADVANCE
        elif self._number + 1 < len(self._pads):
            self._number += 1
            self._go(now_ns)
        else:
            self._phase = _Phase.DONE
            if self.answer is not None:
                listed = ", ".join(f"{value:.0f}" for value in self.stiffness)
                text = f"Pad {self.answer + 1} is the stiffer: {listed} N/m."
                self._say(now_ns, Severity.INFO, text)

    def _share(self, pad: Pad, felt: float) -> float:
        """Part of the reference's way that the hand goes along."""
        way = max(float((self._free - self._hand).dot(pad.normal)), _LEAST_WAY)
        return _ARM / (_ARM + max(felt, 0.0) / way)

    def _keep(self, now_ns: int, seen: Seen, pad: Pad, felt: float) -> None:
        """Go on once the force has been held, as the hand feels it."""
        if not self._holder.is_settled:
            self._held_ns = None
            return
        if self._held_ns is None:
            self._held_ns = now_ns
        patience_ns = round((_PATIENCE_S + seen.round_trip_s) * NS_PER_S)
        due_ns = self._held_ns + self._hold_ns + patience_ns
        if now_ns < due_ns:
            self._rests_until_ns = min(due_ns, self._holder.due_ns)
            return
        if self._held_shown is False:
            self._rests_until_ns = self._holder.due_ns
            return
        if self._touched is not None:
            force, tip = self._touched
            way = float((tip - seen.tip) @ pad.normal)
            noise = 1.0 + _JUDGEMENT * draw_share(self._seed, self._number)
            self.stiffness.append((felt - force) / max(way, 1e-6) * noise)
        self._say(now_ns, Severity.INFO, f"Held {felt:.2f} N.")
        self._leave(now_ns, pad)

    def _give_up(self, now_ns: int, felt: float) -> None:
        text = (
            f"{1e3 * _TOO_DEEP:.0f} mm past the surface {felt:.2f} N are felt, not "
            f"{self._force:g} N: given up. Press again once the robot has told of the "
            "surface, or choose a strategy that shows force."
        )
        self._say(now_ns, Severity.WARNING, text)
        self._leave(now_ns, self._pads[self._number])

    def _leave(self, now_ns: int, pad: Pad) -> None:
        self._phase = _Phase.LEAVE
        self._arrival.take_up(now_ns, self._hand)
        self._arrival.aim(now_ns, pad.place + self._above * pad.normal, _WIDTH)

    def _say(self, now_ns: int, severity: Severity, text: str) -> None:
        self._events.append(Event(now_ns, severity, "operator", text))
