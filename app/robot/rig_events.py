"""What a rig says of its buses and sensors: each thing once, until it changes.

Figures in a text do not count as a change: a servo that was silent for 1.3 s and then
for 1.4 s is told once.
"""

import re
import time
from collections.abc import Sequence

from app.drivers.base import Fault
from app.drivers.worker import BusState
from app.messages import Event, Severity
from app.robot.sanity import WORDS, Doubt

__all__ = ["RigEvents"]

_FIGURES = re.compile(r"[0-9]+(\.[0-9]+)?")
_KEPT_EVENTS = 64  # nobody may be listening


class RigEvents:
    """Events for people, and what was told last of each thing."""

    def __init__(self) -> None:
        """Begin with nothing told."""
        self._told: dict[str, str] = {}
        self._events: list[Event] = []

    def take(self) -> list[Event]:
        """Return the events since the last call, oldest first."""
        events, self._events = self._events, []
        return events

    def no_watchdog(self, buses: Sequence[str]) -> None:
        """Devices of some buses go on alone when this computer dies."""
        self._tell(
            "watchdogs",
            f"Devices of {', '.join(buses)} keep their last setpoint if this "
            "computer dies: cut their power or vent them by other means.",
            Severity.WARNING,
        )

    def lost(self, bus: str, why: str) -> None:
        """A bus is gone."""
        self._tell(f"bus {bus}", f"Bus {bus} is lost: {why}", Severity.ALARM)

    def alive(self, bus: str) -> None:
        """A bus is there; said where it had been lost."""
        self._end(f"bus {bus}", f"Bus {bus} is alive.")

    def slow(self, bus: str, state: BusState, wanted_hz: float) -> None:
        """A bus does not hold its rate."""
        self._tell(
            f"rate {bus}",
            f"Bus {bus} holds {state.rate_hz:.0f} of {wanted_hz:.0f} rounds a second; "
            f"one took {1e3 * state.round_s:.0f} ms: raise its baud rate, or lower "
            "rate_hz.",
            Severity.WARNING,
        )

    def quick(self, bus: str) -> None:
        """A bus holds its rate."""
        self._end(f"rate {bus}")

    def faults(self, bus: str, faults: Sequence[Fault]) -> None:
        """What devices of a bus report now, latched or not; none where all is well."""
        text = " ".join(fault.text for fault in faults)
        latched = any(fault.latched for fault in faults)
        self._tell(
            f"faults {bus}", text, Severity.ALARM if latched else Severity.WARNING
        )

    def sensor(self, bus: str, channel: int, name: str, doubt: Doubt) -> None:
        """A sensor is doubted, or believed again."""
        key = f"sensor {bus} {channel}"
        if doubt is Doubt.NONE:
            self._end(key, f"{name} is believed again.")
        else:
            self._tell(key, f"{name} {WORDS[doubt]}.", Severity.WARNING)

    def _tell(self, key: str, text: str, severity: Severity) -> None:
        kind = _FIGURES.sub("#", text)
        if kind == self._told.get(key, ""):
            return
        self._told[key] = kind
        if text:
            self._say(severity, text)

    def _end(self, key: str, text: str = "") -> None:
        if self._told.pop(key, "") and text:
            self._say(Severity.INFO, text)

    def _say(self, severity: Severity, text: str) -> None:
        self._events.append(Event(time.monotonic_ns(), severity, "robot", text))
        del self._events[:-_KEPT_EVENTS]
