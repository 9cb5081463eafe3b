"""What the robot does by itself: one table of states and events.

A cell says the next state, what the actuators then do (`KEEP`: as before), and whether
the present arming ends for good. An event whose cell is missing changes nothing. Which
frame makes which event, and whether it is believed at all, is decided in app.robot.
bridge and `SafetyMachine`; README's table and diagram are drawn from here, and a test
walks through every state and event.
"""

from enum import Enum, IntEnum
from typing import Final, NamedTuple

from app.messages import RobotState, Severity

__all__ = [
    "KEEP",
    "TABLE",
    "Actuation",
    "SafetyEvent",
    "Transition",
    "diagram",
    "markdown",
    "table_rows",
]


class Actuation(IntEnum):
    """What the winches or valves do."""

    STIFF = 0  # hold the applied pose
    COMPLIANT = 1  # low tension, the limb gives way
    SLACK = 2  # all tendon paid out, all chambers vented


class SafetyEvent(Enum):
    """What can happen to the robot."""

    ARM = "fresh setpoint of a new arming"
    GO_ON = "fresh setpoint of the arming that is followed"
    DISARM = "disarmed"
    STOP = "emergency stop"
    RESET_STIFF = "stop reset, pose held"
    RESET_COMPLIANT = "stop reset, compliant"
    RESET_SLACK = "stop reset, slack"
    SILENCE = "no command for hold_after_ms"
    DISARMED_LONG = "compliant_after_ms after disarming"
    LOST_RELAX = 'no command for compliant_after_ms, on_loss = "relax"'
    LOST_HOLD = 'no command for compliant_after_ms, on_loss = "hold"'
    LOST_VENT = 'no command for compliant_after_ms, on_loss = "vent"'
    LOST_HOME = 'no command for compliant_after_ms, on_loss = "home"'
    LOST_LONG = "no command for slack_after_ms"
    UNSAFE = "bus, sensor or actuator failed"


class _Keep(Enum):
    KEEP = "as before"


KEEP: Final = _Keep.KEEP
"""The actuators go on with what they do."""


class Transition(NamedTuple):
    """What an event makes of a state."""

    state: RobotState
    actuation: Actuation | _Keep
    ends_arming: bool
    """The arming that was followed is never obeyed again."""
    severity: Severity
    words: str
    """For people; {reason} is what was seen."""


_IDLE, _ACTIVE, _HOLD = RobotState.IDLE, RobotState.ACTIVE, RobotState.HOLD
_COMPLIANT, _SLACK, _ESTOP = RobotState.COMPLIANT, RobotState.SLACK, RobotState.ESTOP
_INFO, _WARNING, _ALARM = Severity.INFO, Severity.WARNING, Severity.ALARM
_Event = SafetyEvent

_FOLLOW = Transition(_ACTIVE, Actuation.STIFF, False, _INFO, "Follows arming {reason}.")
_BACK = Transition(
    _ACTIVE, Actuation.STIFF, False, _INFO, "Commands are back: driving goes on."
)
_SAME = Transition(_ACTIVE, Actuation.STIFF, False, _INFO, "")
_DISARMED = Transition(_HOLD, KEEP, True, _INFO, "Disarmed: holding this pose.")
_STOPPED = Transition(_ESTOP, KEEP, True, _ALARM, "Emergency stop: {reason}")
_RESET = "Emergency stop reset; arm again to go on."
_GIVES_WAY = Transition(
    _COMPLIANT,
    Actuation.COMPLIANT,
    True,
    _ALARM,
    "{reason}: compliant. Arm again to go on.",
)
_LET_GO = Transition(
    _SLACK, Actuation.SLACK, True, _ALARM, "{reason}: slack. Arm again to go on."
)
_FAILED = Transition(
    _COMPLIANT,
    Actuation.COMPLIANT,
    True,
    _ALARM,
    "Stopped following, because {reason}: compliant. Mend it, then arm again.",
)

TABLE: Final[dict[tuple[RobotState, SafetyEvent], Transition]] = {
    **{
        (state, _Event.ARM): _FOLLOW
        for state in (_IDLE, _ACTIVE, _HOLD, _COMPLIANT, _SLACK)
    },
    (_ACTIVE, _Event.GO_ON): _SAME,
    (_HOLD, _Event.GO_ON): _BACK,
    (_ACTIVE, _Event.DISARM): _DISARMED,
    (_HOLD, _Event.DISARM): _DISARMED,
    (_COMPLIANT, _Event.DISARM): Transition(_IDLE, KEEP, True, _INFO, ""),
    (_IDLE, _Event.DISARM): Transition(_IDLE, KEEP, True, _INFO, ""),
    (_SLACK, _Event.DISARM): Transition(_SLACK, KEEP, True, _INFO, ""),
    **{
        (state, _Event.STOP): _STOPPED
        for state in (_IDLE, _ACTIVE, _HOLD, _COMPLIANT, _SLACK)
    },
    (_ESTOP, _Event.STOP): Transition(_ESTOP, KEEP, True, _INFO, ""),
    (_ESTOP, _Event.RESET_STIFF): Transition(_HOLD, KEEP, True, _INFO, _RESET),
    (_ESTOP, _Event.RESET_COMPLIANT): Transition(_IDLE, KEEP, True, _INFO, _RESET),
    (_ESTOP, _Event.RESET_SLACK): Transition(_SLACK, KEEP, True, _INFO, _RESET),
    (_ACTIVE, _Event.SILENCE): Transition(
        _HOLD,
        KEEP,
        False,
        _WARNING,
        "{reason}: holding this pose. Driving goes on when commands return.",
    ),
    (_HOLD, _Event.DISARMED_LONG): Transition(
        _IDLE, Actuation.COMPLIANT, True, _INFO, "Disarmed: compliant."
    ),
    (_HOLD, _Event.LOST_RELAX): _GIVES_WAY,
    (_HOLD, _Event.LOST_HOLD): Transition(
        _HOLD,
        KEEP,
        True,
        _ALARM,
        "{reason}: goes on holding this pose, but follows no more. Arm again to go on.",
    ),
    (_HOLD, _Event.LOST_VENT): Transition(
        _SLACK, Actuation.SLACK, True, _ALARM, "{reason}: vented. Arm again to go on."
    ),
    (_HOLD, _Event.LOST_HOME): Transition(
        _HOLD, KEEP, True, _ALARM, "{reason}: goes to rest. Arm again to go on."
    ),
    (_HOLD, _Event.LOST_LONG): _LET_GO,
    (_COMPLIANT, _Event.LOST_LONG): _LET_GO,
    (_ACTIVE, _Event.UNSAFE): _FAILED,
    (_HOLD, _Event.UNSAFE): _FAILED,
    (_ESTOP, _Event.UNSAFE): Transition(
        _ESTOP,
        Actuation.COMPLIANT,
        True,
        _ALARM,
        "Emergency stop holds no more, because {reason}: compliant.",
    ),
}


def table_rows() -> list[tuple[str, ...]]:
    """Rows of the table for people: event, then what each state does on it."""
    rows = [("on", *(state.name for state in RobotState))]
    for event in SafetyEvent:
        cells = []
        for state in RobotState:
            cell = TABLE.get((state, event))
            if cell is None or (cell.state is state and cell.actuation is KEEP):
                cells.append("-" if cell is None else "stays")
                continue
            does = "" if cell.actuation is KEEP else f", {cell.actuation.name.lower()}"
            cells.append(cell.state.name + does)
        rows.append((event.value, *cells))
    return rows


def diagram() -> str:
    """The table as a state diagram in Mermaid's language, for the README."""
    lines = ["stateDiagram-v2", "    [*] --> IDLE"]
    arrows: dict[tuple[str, str], list[str]] = {}
    for (state, event), cell in TABLE.items():
        if cell.state is not state:
            pair = (state.name, cell.state.name)
            arrows.setdefault(pair, []).append(event.name.lower())
    for (start, end), events in arrows.items():
        lines.append(f"    {start} --> {end}: {', '.join(events)}")
    return "\n".join(lines)


def markdown() -> str:
    """The table in Markdown, for app/README.md."""
    head, *rows = table_rows()
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines)
