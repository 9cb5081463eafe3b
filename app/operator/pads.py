"""Several game controllers, one in charge: readings in, one operator sample out.

Pure: `app.operator.gamepad` feeds it what SDL reads. Rules:
- the first pad that holds its deadman is in charge until it lets go; while nobody
  holds one, the pad whose button was pressed last is; at the start, the first;
- a press counts from the second reading on, so that a button held while a pad is
  plugged in does nothing, and a deadman must be released once before it is believed;
- a pad that leaves takes its deadman along: the others must press theirs anew;
- emergency stop and disarm are taken from any pad;
- a pad whose reading stays the same to the last bit with a stick held is taken as
  frozen (a wireless pad out of range repeats its last report for seconds).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from app.clock import NS_PER_S
from app.messages import Event, InputMode, OperatorInput, Severity
from app.operator.mapping import GamepadMapping, PadReading

__all__ = ["PadCrew"]


_CENTERED = PadReading()


@dataclass
class _Pad:
    name: str
    buttons: frozenset[str] | None = None  # None: not read yet
    reading: PadReading = _CENTERED
    changed_ns: int = 0
    believed: bool = False  # its deadman was seen released since it joined
    held: bool = False
    frozen: bool = False


class PadCrew:
    """All plugged-in pads; turns their readings into one `OperatorInput`."""

    def __init__(self, mapping: GamepadMapping, limbs: int) -> None:
        """Start with no pad.

        Args:
            mapping: sticks and buttons.
            limbs: number of limbs that the selection cycles through.
        """
        self._mapping = mapping
        self._limbs = limbs
        self._pads: dict[int, _Pad] = {}
        self._charge: int | None = None
        self._limb = 0
        self._arm = 0
        self._disarm = 0
        self._estop = 0
        self._estop_reset = 0
        self._events: list[Event] = []

    @property
    def in_charge(self) -> int | None:
        """Identity of the pad in charge, or None without pads."""
        return self._charge

    @property
    def reading(self) -> PadReading:
        """Newest reading of the pad in charge, for a live display."""
        if self._charge is None:
            return PadReading()
        return self._pads[self._charge].reading

    def select(self, limb: int) -> None:
        """Take over a selection made elsewhere; the next press goes on from there."""
        if 0 <= limb < self._limbs:
            self._limb = limb

    def join(self, identity: int, name: str, now_ns: int) -> None:
        """Add a pad that was plugged in."""
        self._pads[identity] = _Pad(name, changed_ns=now_ns)
        if self._charge is None:
            self._charge = identity
        self._say(now_ns, Severity.INFO, f"Gamepad {name!r} connected.")

    def leave(self, identity: int, now_ns: int) -> None:
        """Drop a pad that was unplugged; nothing it held goes on."""
        pad = self._pads.pop(identity, None)
        if pad is None:
            return
        if identity == self._charge:
            self._charge = next(iter(self._pads), None)
            for other in self._pads.values():
                other.believed = other.believed and not other.held
                other.held = False
        moving = " while its deadman was held; motion stopped" if pad.held else ""
        self._say(
            now_ns,
            Severity.ALARM if pad.held else Severity.WARNING,
            f"Gamepad {pad.name!r} disconnected{moving}. Plug it in again, or take "
            "the keyboard.",
        )

    def update(self, now_ns: int, readings: Mapping[int, PadReading]) -> OperatorInput:
        """Take one reading of every pad.

        Args:
            now_ns: when they were read [ns]; the sample's stamp.
            readings: by the identities given to `join`.

        Returns:
            The sample of the pad in charge; neutral and not present without pads.
        """
        holding = self._charge is not None and self._pads[self._charge].held
        wants: int | None = None  # takes charge by a button
        grips: int | None = None  # takes charge by its deadman
        pressed: dict[int, frozenset[str]] = {}
        for identity, reading in readings.items():
            pad = self._pads[identity]
            before = pad.buttons
            was_held = pad.held
            self._read(pad, reading, now_ns)
            pressed[identity] = self._actions(before, reading.buttons)
            if pressed[identity] and wants is None:
                wants = identity
            if pad.held and not was_held and grips is None:
                grips = identity
        if not holding and (grips is not None or wants is not None):
            self._charge = grips if grips is not None else wants
        for identity, actions in pressed.items():
            self._act(actions, in_charge=identity == self._charge)
        return self._sample(now_ns)

    def events(self) -> list[Event]:
        """Return what happened since the last call."""
        events, self._events = self._events, []
        return events

    def _read(self, pad: _Pad, reading: PadReading, now_ns: int) -> None:
        down = self._mapping.holds("deadman", reading.buttons)
        if not down:
            pad.believed = True
            pad.frozen = False
        if pad.buttons is None or reading != pad.reading or not down:
            pad.changed_ns = now_ns
        limit_ns = self._mapping.stick.frozen_after_s * NS_PER_S
        if (
            limit_ns > 0
            and not pad.frozen
            and now_ns - pad.changed_ns > limit_ns
            and any(self._mapping.rate(reading))
        ):
            pad.frozen = True
            pad.believed = False
            self._say(
                now_ns,
                Severity.ALARM,
                f"Gamepad {pad.name!r} sent the very same reading for "
                f"{self._mapping.stick.frozen_after_s:g} s: taken as frozen, motion "
                "stopped. Release the deadman and press it again.",
            )
        pad.reading = reading
        pad.buttons = reading.buttons
        pad.held = down and pad.believed

    def _actions(
        self, before: frozenset[str] | None, after: frozenset[str]
    ) -> frozenset[str]:
        """Names of the actions whose buttons went down between two readings."""
        if before is None or before == after:
            return frozenset()
        return frozenset(
            action
            for action in type(self._mapping.buttons).model_fields
            if self._mapping.holds(action, after)
            and not self._mapping.holds(action, before)
        )

    def _act(self, actions: frozenset[str], *, in_charge: bool) -> None:
        stopping = "estop" in actions or any(
            pad.buttons is not None and self._mapping.holds("estop", pad.buttons)
            for pad in self._pads.values()
        )
        self._estop += "estop" in actions
        self._disarm += "disarm" in actions
        if not in_charge or stopping:  # a held stop cannot be reset, nor armed over
            return
        self._arm += "arm" in actions
        self._estop_reset += "estop_reset" in actions
        step = ("next_limb" in actions) - ("previous_limb" in actions)
        self._limb = (self._limb + step) % self._limbs

    def _sample(self, now_ns: int) -> OperatorInput:
        pad = self._pads[self._charge] if self._charge is not None else _Pad("")
        present = self._charge is not None and pad.buttons is not None
        live = present and not pad.frozen
        return OperatorInput(
            stamp_ns=now_ns,
            present=present,
            deadman=live and pad.held,
            clutch=live and self._mapping.holds("clutch", pad.reading.buttons),
            mode=InputMode.RATE if live else InputMode.NEUTRAL,
            limb=self._limb,
            rate=self._mapping.rate(pad.reading) if live else (0.0, 0.0, 0.0),
            arm_count=self._arm,
            disarm_count=self._disarm,
            estop_count=self._estop,
            estop_reset_count=self._estop_reset,
        )

    def _say(self, now_ns: int, severity: Severity, text: str) -> None:
        self._events.append(Event(now_ns, severity, "operator", text))
