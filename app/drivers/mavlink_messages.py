"""The MAVLink messages that a vehicle base needs, as values (common.xml)."""

from typing import NamedTuple

__all__ = [
    "Attitude",
    "Command",
    "CommandAck",
    "Heartbeat",
    "Hud",
    "ManualControl",
    "Message",
    "ParamRequest",
    "ParamSet",
    "ParamValue",
    "Received",
    "SetMode",
    "StatusText",
    "Version",
]

_RESULTS = {
    0: "accepted",
    1: "temporarily rejected",
    2: "denied",
    3: "unsupported",
    4: "failed",
    5: "in progress",
    6: "cancelled",
}


class Heartbeat(NamedTuple):
    """Somebody lives.

    Attributes:
        autopilot: an ArduPilot sends it, not a ground station.
        submarine: of type submarine.
        armed: its motors are.
        mode: custom mode number.
        failsafe: its state is critical or worse.
    """

    autopilot: bool
    submarine: bool
    armed: bool
    mode: int
    failsafe: bool


class ManualControl(NamedTuple):
    """Sticks, each -1000 to 1000 but z: 0 (full down) to 1000, 500 is neutral."""

    target: int
    x: int
    y: int
    z: int
    r: int
    pitch: int
    roll: int
    buttons: int


class Command(NamedTuple):
    """COMMAND_LONG, with its first two parameters."""

    target: int
    command: int
    first: float
    second: float


class CommandAck(NamedTuple):
    """What became of a command; `result` 0: accepted."""

    command: int
    result: int

    @property
    def text(self) -> str:
        """Name of the result."""
        return _RESULTS.get(self.result, f"result {self.result}")


class StatusText(NamedTuple):
    """A line of text; severity 0 emergency to 7 debug."""

    severity: int
    text: str
    number: int
    part: int


class ParamRequest(NamedTuple):
    """Asks for a parameter; an empty name asks for all."""

    target: int
    name: str


class ParamSet(NamedTuple):
    """Sets a parameter."""

    target: int
    name: str
    value: float


class ParamValue(NamedTuple):
    """Tells a parameter."""

    name: str
    value: float


class SetMode(NamedTuple):
    """The older message that sets a custom mode."""

    target: int
    mode: int


class Attitude(NamedTuple):
    """Euler angles [rad] and the time since the vehicle started [ms]."""

    boot_ms: int
    roll: float
    pitch: float
    yaw: float


class Hud(NamedTuple):
    """Altitude, below 0 under water [m], and climb [m/s]."""

    altitude: float
    climb: float


class Version(NamedTuple):
    """Of the vehicle's firmware, such as 4.5.1."""

    text: str


Message = (
    Heartbeat
    | ManualControl
    | Command
    | CommandAck
    | StatusText
    | ParamRequest
    | ParamSet
    | ParamValue
    | SetMode
    | Attitude
    | Hud
    | Version
)


class Received(NamedTuple):
    """A message and who sent it."""

    system: int
    component: int
    message: Message
