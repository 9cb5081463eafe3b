"""A program that drives a virtual gamepad as a person would, for demonstrations.

It goes through SDL and all that follows, where `app.operator.scripted` enters behind
the devices: it presses START and lets it go, holds the deadman, and turns the sticks
so that the tip goes round.
"""

import math

from app.clock import NS_PER_MS, NS_PER_S
from app.messages import Event, LinkHealth, Source, StationState
from app.operator.arming import ScriptedArming
from app.operator.virtual_gamepad import VirtualGamepad

__all__ = ["VirtualPilot"]

_PRESS_NS = 100 * NS_PER_MS  # a person's tap on a button


class VirtualPilot:
    """Moves the sticks and buttons of a virtual gamepad under the shipped mapping."""

    def __init__(
        self, pad: VirtualGamepad, *, deflection: float = 0.6, round_s: float = 8.0
    ) -> None:
        """Prepare.

        Args:
            pad: the gamepad to drive.
            deflection: how far the sticks go, 0..1.
            round_s: time of one turn of the tip, to port and up first [s].
        """
        self._pad = pad
        self._deflection = deflection
        self._round_s = round_s
        self._arming = ScriptedArming(Source.GAMEPAD)
        self._arm_seen = 0
        self._disarm_seen = 0
        self._tap_until_ns = 0
        self._driving_since_ns: int | None = None

    def step(self, now_ns: int, state: StationState, health: LinkHealth) -> None:
        """Move the pad's sticks and buttons for `now_ns` [ns]."""
        wish = self._arming.step(now_ns, state, health)
        if wish.arm_count != self._arm_seen:
            self._arm_seen = wish.arm_count
            self._tap(now_ns, "start")
        if wish.disarm_count != self._disarm_seen:
            self._disarm_seen = wish.disarm_count
            self._tap(now_ns, "back")
        if now_ns >= self._tap_until_ns:
            self._pad.release("start", "back")
        if not wish.drive:
            self._driving_since_ns = None
            self._pad.release("rightshoulder")
            self._turn(0.0, 0.0)
            return
        if self._driving_since_ns is None:
            self._driving_since_ns = now_ns
        self._pad.press("rightshoulder")
        turns = (now_ns - self._driving_since_ns) / NS_PER_S / self._round_s
        angle = 2.0 * math.pi * turns
        self._turn(
            self._deflection * math.cos(angle), self._deflection * math.sin(angle)
        )

    def events(self) -> list[Event]:
        """Return what happened since the last call."""
        return self._arming.events()

    def _tap(self, now_ns: int, button: str) -> None:
        self._pad.press(button)
        self._tap_until_ns = now_ns + _PRESS_NS

    def _turn(self, port: float, up: float) -> None:
        self._pad.set_axis("leftx", -port)
        self._pad.set_axis("righty", up)
