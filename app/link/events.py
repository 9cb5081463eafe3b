"""What a person should know of the link, said once and in words; pure."""

from app.clock import NS_PER_S
from app.link.emulator_protocol import EmulatorStatus
from app.messages import Event, RobotFault, RobotState, Severity

__all__ = ["LinkEvents"]

_ROBOT_STATES = {
    RobotState.IDLE: (Severity.INFO, "Robot is idle: arm it to drive."),
    RobotState.ACTIVE: (Severity.INFO, "Robot follows."),
    RobotState.HOLD: (
        Severity.WARNING,
        "Robot holds its pose: it hears no fresh commands, or was disarmed.",
    ),
    RobotState.COMPLIANT: (
        Severity.WARNING,
        "Robot went compliant, after silence or a fault of its own: arm it again.",
    ),
    RobotState.SLACK: (
        Severity.WARNING,
        "Robot let its tendons go slack after a very long silence: arm it again.",
    ),
    RobotState.ESTOP: (
        Severity.ALARM,
        "Robot is in emergency stop: reset it at the station, then arm again.",
    ),
}
_FAULTS = {
    RobotFault.BUS: "a bus of the robot is lost",
    RobotFault.SENSOR: "a measurement of the robot is not believed",
    RobotFault.LOAD: "an actuator is over its load",
    RobotFault.HOT: "an actuator is too hot",
    RobotFault.DEVICE: "a device reports a fault",
    RobotFault.RATE: "a bus holds too few rounds a second",
}
_KNOWN_FAULTS = sum(_FAULTS)
_MALFORMED_EVERY_NS = 5 * NS_PER_S


class LinkEvents:
    """Turns what the station's side sees into events; no event comes twice in a row."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._silent = True
        self._ever = False
        self._robot_state: RobotState | None = None
        self._faults = 0
        self._emulator: bool | None = None
        self._link: tuple[str, bool] | None = None
        self._error = ""
        self._plan = ""
        self._malformed = 0
        self._malformed_ns: int | None = None

    def _say(self, now_ns: int, severity: Severity, source: str, text: str) -> None:
        self._events.append(Event(now_ns, severity, source, text))

    def take(self) -> list[Event]:
        """Return the events since the last call."""
        events, self._events = self._events, []
        return events

    def telemetry(self, now_ns: int, state: RobotState, faults: int = 0) -> None:
        """A telemetry frame came that says what the robot does, and its faults."""
        if self._silent:
            text = "Telemetry is back." if self._ever else "The robot answers."
            self._say(now_ns, Severity.INFO, "link", text)
        self._silent, self._ever = False, True
        if state is not self._robot_state:
            self._robot_state = state
            severity, text = _ROBOT_STATES[state]
            self._say(now_ns, severity, "robot", text)
        if faults == self._faults:
            return
        appeared = RobotFault(faults & ~self._faults & _KNOWN_FAULTS)
        self._faults = faults
        for fault in appeared:
            words = _FAULTS[fault]
            self._say(
                now_ns,
                Severity.INFO if fault is RobotFault.RATE else Severity.ALARM,
                "robot",
                f"{words[0].upper()}{words[1:]}: the robot's own log says which.",
            )

    def plan(self, now_ns: int, words: str) -> None:
        """What is sent on the link was planned, perhaps anew."""
        if words != self._plan:
            self._plan = words
            self._say(now_ns, Severity.INFO, "link", words)

    def session(self, now_ns: int, *, first: bool) -> None:
        """The robot told a session that is new to this side."""
        if not first:
            self._say(
                now_ns,
                Severity.WARNING,
                "robot",
                "The robot began anew: it is disarmed. Arm it again to drive.",
            )
        self._robot_state = None

    def silence(self, now_ns: int, silent_ns: int) -> None:
        """No telemetry came for longer than the link explains."""
        if self._silent:
            return
        self._silent = True
        self._say(
            now_ns,
            Severity.WARNING,
            "link",
            f"No telemetry for {silent_ns / NS_PER_S:.1f} s. Check that the link is "
            "not cut and that the robot's process runs.",
        )

    def malformed(self, now_ns: int, reason: str) -> None:
        """Bytes came that are no frame; told at most every 5 s."""
        self._malformed += 1
        last_ns = self._malformed_ns
        if last_ns is not None and now_ns - last_ns < _MALFORMED_EVERY_NS:
            return
        self._malformed_ns = now_ns
        self._say(
            now_ns,
            Severity.WARNING,
            "link",
            f"{self._malformed} packets were no valid telemetry; the last: {reason} "
            "Check that both sides use the same robot file and version.",
        )
        self._malformed = 0

    def emulator(self, now_ns: int, *, present: bool) -> None:
        """The emulator speaks, or has fallen silent."""
        if present == self._emulator:
            return
        if self._emulator is not None or present:
            text = "Link emulator answers." if present else "Link emulator is silent."
            severity = Severity.INFO if present else Severity.WARNING
            self._say(now_ns, severity, "link", text)
        self._emulator = present

    def status(self, now_ns: int, status: EmulatorStatus) -> None:
        """The emulator told its settings."""
        link = (status.preset, status.cut)
        if link != self._link:
            if status.cut:
                self._say(now_ns, Severity.WARNING, "link", "Link is cut.")
            else:
                self._say(now_ns, Severity.INFO, "link", f"Link is {status.preset}.")
            self._link = link
        if status.error != self._error:
            self._error = status.error
            if status.error:
                self._say(now_ns, Severity.WARNING, "link", status.error)
