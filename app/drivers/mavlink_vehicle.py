"""What an ArduSub vehicle has told of itself; pure.

Modes and failsafe parameters: ArduSub parameter list and ArduSub/failsafe.cpp. The
pilot-input failsafe is not compiled into ArduPilot's own simulator (SITL): there it
never acts, whatever its parameters say.
"""

import math
from typing import NamedTuple

from app.drivers.mavlink_messages import (
    Attitude,
    CommandAck,
    Heartbeat,
    Hud,
    Message,
    ParamValue,
    StatusText,
    Version,
)
from app.drivers.mavlink_wire import (
    ARM_DISARM,
    DO_SET_MODE,
)

__all__ = [
    "FAILSAFES",
    "MODES",
    "STATION_NAMES",
    "VehicleState",
    "VehicleWatch",
    "failsafe_names",
    "failsafe_warnings",
    "mode_name",
    "own_watchdog_s",
]

MODES = {
    "stabilize": 0,
    "acro": 1,
    "alt_hold": 2,
    "auto": 3,
    "guided": 4,
    "circle": 7,
    "surface": 9,
    "poshold": 16,
    "manual": 19,
}
"""Custom mode numbers by name."""

FAILSAFES = {"FS_PILOT_INPUT": 2.0, "FS_GCS_ENABLE": 2.0}
"""Parameters that make the vehicle disarm when we fall silent, and their values."""

_TIMEOUTS = ("FS_PILOT_TIMEOUT", "FS_GCS_TIMEOUT")
STATION_NAMES = ("SYSID_MYGCS", "MAV_GCS_SYSID")
"""Which ground station is obeyed; the second is the newer firmware's name."""
_FULL_TEXT = 50
_MOST_TEXTS = 20
_WARNING = 4
_SEVERITIES = ("emergency", "alert", "critical", "error", "warning")


class VehicleState(NamedTuple):
    """Newest state of the vehicle; NaN for what it has not told.

    Attributes:
        heard_ns: when it last spoke [ns]; 0: never.
        armed: its motors are.
        mode: custom mode number; -1: not known.
        failsafe: it says that one has triggered.
        roll: [rad].
        pitch: [rad], bow up positive.
        yaw: [rad], clockwise from north.
        depth: below the surface [m].
        climb: upwards [m/s].
    """

    heard_ns: int = 0
    armed: bool = False
    mode: int = -1
    failsafe: bool = False
    roll: float = math.nan
    pitch: float = math.nan
    yaw: float = math.nan
    depth: float = math.nan
    climb: float = math.nan


def mode_name(mode: int) -> str:
    """Return the name of a custom mode number."""
    for name, number in MODES.items():
        if number == mode:
            return name
    return "unknown mode" if mode < 0 else f"mode {mode}"


class VehicleWatch:
    """Collects what comes from one vehicle."""

    def __init__(self) -> None:
        self.state = VehicleState()
        self.parameters: dict[str, float] = {}
        self.acks: dict[int, CommandAck] = {}
        """Newest answer by command."""
        self.asked: dict[int, float] = {}
        """What was last asked by command: armed or not, mode number."""
        self.firmware = ""
        self.restarted = False
        """Its clock went back: it started anew."""
        self._boot_ms = 0
        self._texts: list[str] = []
        self._parts: dict[int, list[str]] = {}

    def take(self, now_ns: int, message: Message) -> None:
        """Take up one message of the vehicle's autopilot."""
        state = self.state._replace(heard_ns=now_ns)
        if isinstance(message, Heartbeat):
            if message.autopilot:
                state = state._replace(
                    armed=message.armed, mode=message.mode, failsafe=message.failsafe
                )
        elif isinstance(message, Attitude):
            self.restarted |= message.boot_ms + 1000 < self._boot_ms
            self._boot_ms = message.boot_ms
            state = state._replace(
                roll=message.roll, pitch=message.pitch, yaw=message.yaw
            )
        elif isinstance(message, Hud):
            state = state._replace(depth=-message.altitude, climb=message.climb)
        elif isinstance(message, CommandAck):
            self.acks[message.command] = message
            asked = self.asked.get(message.command)
            if message.result == 0 and asked is not None:
                if message.command == ARM_DISARM:
                    state = state._replace(armed=asked > 0.0)
                elif message.command == DO_SET_MODE:
                    state = state._replace(mode=int(asked))
        elif isinstance(message, ParamValue):
            self.parameters[message.name] = message.value
        elif isinstance(message, StatusText):
            self._take_text(message)
        elif isinstance(message, Version):
            self.firmware = message.text
        self.state = state

    def texts(self) -> list[str]:
        """Return the warnings and errors said since the last call."""
        said, self._texts = self._texts, []
        return said

    def _take_text(self, message: StatusText) -> None:
        text = message.text
        if message.number:
            parts = self._parts.setdefault(message.number, [])
            parts.append(text)
            if len(text) >= _FULL_TEXT and len(parts) < _MOST_TEXTS:
                return
            text = "".join(self._parts.pop(message.number))
            if len(self._parts) > _MOST_TEXTS:
                self._parts.clear()
        if message.severity <= _WARNING and len(self._texts) < _MOST_TEXTS:
            kind = _SEVERITIES[max(message.severity, 0)]
            self._texts.append(f"The vehicle says ({kind}): {text}")


def failsafe_names() -> tuple[str, ...]:
    """Return all parameters that are looked at."""
    return (*FAILSAFES, *_TIMEOUTS, *STATION_NAMES)


def failsafe_warnings(parameters: dict[str, float], station: int) -> list[str]:
    """Say which parameters leave the vehicle driving when we fall silent.

    Args:
        parameters: as the vehicle told them.
        station: own system number.
    """
    found = []
    for name, wanted in FAILSAFES.items():
        value = parameters.get(name, math.nan)
        if value >= wanted:
            continue
        told = "did not answer" if math.isnan(value) else f"is {value:g}"
        found.append(
            f"{name} {told}: the vehicle may stay armed when control falls silent; set "
            f"it to {wanted:g} (disarm), or set_failsafes = true."
        )
    ours = [parameters[name] for name in STATION_NAMES if name in parameters]
    if ours and all(value != station for value in ours):
        found.append(
            f"The vehicle obeys ground station {ours[0]:g} only (SYSID_MYGCS), and we "
            f"are {station}: set one to the other."
        )
    return found


def own_watchdog_s(parameters: dict[str, float]) -> float:
    """Return after which silence the vehicle stops by itself [s]; NaN: it does not."""
    times = []
    if parameters.get("FS_PILOT_INPUT", 0.0) >= 1.0:
        times.append(parameters.get("FS_PILOT_TIMEOUT", math.nan))
    if parameters.get("FS_GCS_ENABLE", 0.0) >= 2.0:
        times.append(parameters.get("FS_GCS_TIMEOUT", math.nan))
    known = [time_s for time_s in times if math.isfinite(time_s)]
    return min(known) if known else math.nan
