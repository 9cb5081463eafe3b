"""Game controllers through SDL, as one operator.

A sample is stamped with the time at which the caller began to read, and only a poll
that really went through the devices makes one: where a driver blocks, no new sample
appears and the control tick calls the old one stale after 20 ms.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from app.clock import NS_PER_MS, NS_PER_S
from app.errors import DeviceError
from app.messages import Event, OperatorInput, Severity
from app.operator import sdl
from app.operator.mapping import GamepadMapping, PadReading, operator_config_folder
from app.operator.pads import PadCrew
from app.operator.virtual_gamepad import VirtualGamepad

__all__ = ["Gamepad", "GamepadStatus", "VirtualGamepad", "gamepad_names"]

_SCAN_PERIOD_NS = NS_PER_S  # SDL may swap two devices without changing their number
_BATTERY_PERIOD_NS = 10 * NS_PER_S
_FELT_N = 0.2  # least contact force that is shown: an estimate's dead zone
_FULL_N = 3.3  # greatest; as a small haptic device renders
_LEAST_SHAKE = 0.15  # below it motors do not turn
_TOUCH_NS = 80 * NS_PER_MS  # the fast motor ticks so long when contact begins
_SHAKE_NS = 50 * NS_PER_MS
_SHAKE_MS = 200  # a force that nobody renews ends


@dataclass(frozen=True)
class GamepadStatus:
    """What a person may want to know of the pad in charge.

    Attributes:
        name: empty without pads.
        battery: empty, low, medium, full, wired or unknown.
        pads: number of pads plugged in.
        reading: sticks and buttons, for a live display.
    """

    name: str
    battery: str
    pads: int
    reading: PadReading


class Gamepad:
    """All game controllers of this computer; hot-plug, one in charge at a time.

    SDL is opened by the first `poll`, and belongs to that thread from then on.
    """

    def __init__(
        self,
        mapping: GamepadMapping,
        limbs: int,
        virtual: Sequence[VirtualGamepad] = (),
        database: Path | None = None,
    ) -> None:
        """Prepare; touches no device yet.

        Args:
            mapping: sticks and buttons.
            limbs: number of limbs that the selection cycles through.
            virtual: virtual pads to plug in beside the real ones.
            database: a gamecontrollerdb.txt to add to SDL's own; None takes the one
                of the config folder where there is one.
        """
        self._crew = PadCrew(mapping, limbs)
        self._virtual = tuple(virtual)
        self._database = database
        self._thread: int | None = None
        self._pads: dict[int, sdl.SdlPad] = {}
        self._refused: set[int] = set()
        self._battery: dict[int, str] = {}
        self._battery_due_ns = 0
        self._scan_due_ns = 0
        self._count = -1
        self._closed = False
        self._touched_ns: int | None = None
        self._shake_due_ns = 0
        self._shaken = (0.0, 0.0)
        self._events: list[Event] = []

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def poll(self, now_ns: int) -> OperatorInput:
        """Read every pad; about 50 µs each, and never waits by itself.

        Args:
            now_ns: present time [ns], taken just before the call; the stamp.

        Raises:
            DeviceError: SDL cannot be opened, or another thread polled before.
        """
        self._open(now_ns)
        for pad in self._virtual:
            pad.service()
        sdl.pump()
        count = sdl.present_count()
        if count != self._count or now_ns >= self._scan_due_ns:
            self._count = count
            self._scan_due_ns = now_ns + _SCAN_PERIOD_NS
            self._scan(now_ns)
        readings: dict[int, PadReading] = {}
        for identity, device in list(self._pads.items()):
            reading = device.read()
            if device.attached:
                readings[identity] = reading
            else:
                self._drop(identity, now_ns)
        if now_ns >= self._battery_due_ns:
            self._battery_due_ns = now_ns + _BATTERY_PERIOD_NS
            self._check_batteries(now_ns)
        return self._crew.update(now_ns, readings)

    def show_force(self, now_ns: int, force_n: float) -> None:
        """Shake the pad in charge as hard as the tip is pressed (polling thread only).

        The slow motor follows the force, the fast one ticks when contact begins. Call
        it at every poll; it ends by itself 0.2 s after the last call.

        Args:
            now_ns: present time [ns].
            force_n: size of the contact force at the selected tip [N]; what is not
                finite counts as none.
        """
        felt = min(force_n, _FULL_N) if force_n > _FELT_N else 0.0
        if not felt:
            self._touched_ns = None
        elif self._touched_ns is None:
            self._touched_ns = now_ns
        low = _LEAST_SHAKE + (1.0 - _LEAST_SHAKE) * felt / _FULL_N if felt else 0.0
        begun = self._touched_ns is not None and now_ns - self._touched_ns < _TOUCH_NS
        wanted = (low, 0.6 if begun else 0.0)
        changed = (bool(wanted[0]), wanted[1]) != (
            bool(self._shaken[0]),
            self._shaken[1],
        )
        if not changed and (now_ns < self._shake_due_ns or not felt):
            return
        self._shake_due_ns = now_ns + _SHAKE_NS
        self._shaken = wanted
        charge = self._crew.in_charge
        if charge is not None and charge in self._pads:
            self._pads[charge].rumble(*wanted, _SHAKE_MS)

    def select(self, limb: int) -> None:
        """Take over a selection made elsewhere; the next press goes on from there."""
        self._crew.select(limb)

    def events(self) -> list[Event]:
        """Return what happened since the last call."""
        events = self._events + self._crew.events()
        self._events = []
        return sorted(events, key=lambda event: event.time_ns)

    @property
    def status(self) -> GamepadStatus:
        """The pad in charge."""
        charge = self._crew.in_charge
        pad = self._pads.get(charge) if charge is not None else None
        return GamepadStatus(
            name=pad.name if pad else "",
            battery=self._battery.get(pad.identity, "unknown") if pad else "unknown",
            pads=len(self._pads),
            reading=self._crew.reading,
        )

    def close(self) -> None:
        """Let go of every device; again is harmless."""
        if self._thread is None or self._closed:
            self._closed = True
            return
        self._check_thread()
        self._closed = True
        for pad in self._virtual:
            pad.unplug()
        for device in self._pads.values():
            device.close()
        self._pads.clear()
        sdl.stop()

    def _open(self, now_ns: int) -> None:
        if self._closed:
            raise DeviceError("The gamepads are closed; make a new Gamepad to poll.")
        if self._thread is not None:
            self._check_thread()
            return
        sdl.start()
        self._thread = threading.get_ident()
        database = self._database
        if database is None:
            own = operator_config_folder() / "gamecontrollerdb.txt"
            database = own if own.is_file() else None
        if database is not None:
            try:
                added = sdl.add_mappings(database)
            except DeviceError as error:
                self._say(now_ns, Severity.WARNING, str(error))
            else:
                self._say(
                    now_ns,
                    Severity.INFO,
                    f"Gamepad mappings of {database} are in force, {added} of them "
                    "for makes that were not known.",
                )

    def _check_thread(self) -> None:
        if self._thread != threading.get_ident():
            raise DeviceError(
                "SDL belongs to the thread that polled first; poll and close the "
                "gamepads there."
            )

    def _scan(self, now_ns: int) -> None:
        for found in sdl.scan():
            if found.identity in self._pads or found.identity in self._refused:
                continue
            if not found.mapped:
                self._refused.add(found.identity)
                self._say(
                    now_ns,
                    Severity.WARNING,
                    f"Joystick {found.name!r} is not known as a gamepad. Add its line "
                    f"to {operator_config_folder() / 'gamecontrollerdb.txt'} and "
                    "start again.",
                )
                continue
            try:
                device = sdl.SdlPad(found)
            except DeviceError as error:
                self._refused.add(found.identity)
                self._say(now_ns, Severity.WARNING, str(error))
                continue
            self._pads[found.identity] = device
            self._battery_due_ns = now_ns
            self._crew.join(found.identity, found.name, now_ns)

    def _drop(self, identity: int, now_ns: int) -> None:
        self._pads.pop(identity).close()
        self._battery.pop(identity, None)
        self._crew.leave(identity, now_ns)

    def _check_batteries(self, now_ns: int) -> None:
        for identity, device in self._pads.items():
            level = device.battery
            if level != self._battery.get(identity) and level in ("low", "empty"):
                self._say(
                    now_ns,
                    Severity.WARNING,
                    f"Battery of gamepad {device.name!r} is {level}. Charge it or "
                    "plug its cable in.",
                )
            self._battery[identity] = level

    def _say(self, now_ns: int, severity: Severity, text: str) -> None:
        self._events.append(Event(now_ns, severity, "operator", text))


def gamepad_names() -> list[tuple[str, bool]]:
    """List the joysticks of this computer for a check-up.

    Returns:
        The name of each, and whether it can be used as a gamepad.

    Raises:
        DeviceError: SDL cannot be opened.
    """
    sdl.start()
    try:
        sdl.pump()
        return [(found.name, found.mapped) for found in sdl.scan()]
    finally:
        sdl.stop()
