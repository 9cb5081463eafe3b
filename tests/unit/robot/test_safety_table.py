"""The table of states and events, walked through with the machine itself.

Every state is reached by frames and time alone; every event is then given to it, and
what the machine does must be what the table says.
"""

from pathlib import Path

import pytest

from app.clock import NS_PER_MS
from app.messages import RobotState, StationMode
from app.robot.safety import SafetyMachine, Verdict
from app.robot.safety_table import (
    KEEP,
    TABLE,
    Actuation,
    SafetyEvent,
    diagram,
    markdown,
    table_rows,
)
from tests.unit.robot.test_safety import SAFETY, Rig

ARMED, DISARMED, ESTOP = StationMode.ARMED, StationMode.DISARMED, StationMode.ESTOP
Event = SafetyEvent


def robot_in(state: RobotState, on_loss: str = "relax", stop: str = "hold") -> Rig:
    """A robot that was driven into a state."""
    rig = Rig()
    rig.machine = SafetyMachine(
        SAFETY.model_copy(update={"on_loss": on_loss, "estop_action": stop})
    )
    rig.send(DISARMED, 0)
    rig.send(ARMED, 1)
    if state is RobotState.IDLE:
        rig.send(DISARMED, 1)
        rig.wait(5020)
    elif state is RobotState.ESTOP:
        rig.send(ESTOP, 1)
    elif state is RobotState.HOLD:
        rig.wait(600)
    elif state is RobotState.COMPLIANT:
        rig.machine.fail(rig.now_ns, "a test")
    elif state is RobotState.SLACK:
        rig.wait(31_000)
    assert rig.machine.state is state
    return rig


def happen(rig: Rig, event: SafetyEvent) -> None:
    """Let an event happen to a robot."""
    if event is Event.ARM:
        rig.send(ARMED, 2)
    elif event is Event.GO_ON:
        rig.send(ARMED, rig.machine.epoch or 1)
    elif event is Event.DISARM:
        rig.send(DISARMED, 1)
    elif event is Event.STOP:
        rig.send(ESTOP, 1)
    elif event is Event.UNSAFE:
        rig.machine.fail(rig.now_ns, "a test")
    elif event is Event.SILENCE:
        rig.wait(520)
    elif event is Event.DISARMED_LONG:
        rig.wait(5020)
    elif event is Event.LOST_LONG:
        rig.wait(31_000)
    else:
        rig.wait(5020)


DIRECT = [Event.ARM, Event.GO_ON, Event.DISARM, Event.STOP, Event.UNSAFE]


@pytest.mark.parametrize("event", DIRECT)
@pytest.mark.parametrize("state", RobotState)
def test_every_state_does_on_every_event_what_the_table_says(
    state: RobotState, event: SafetyEvent
) -> None:
    rig = robot_in(state)
    before = rig.machine.actuation
    happen(rig, event)
    if state is RobotState.ESTOP and event is Event.DISARM:
        event = Event.RESET_STIFF
    cell = TABLE.get((state, event))
    if cell is None:
        assert rig.machine.state is state
        assert rig.machine.actuation is before
        return
    assert rig.machine.state is cell.state
    expected = before if cell.actuation is KEEP else cell.actuation
    assert rig.machine.actuation is expected
    if cell.ends_arming:
        assert rig.send(ARMED, 1) is not Verdict.OBEYED


@pytest.mark.parametrize(
    ("on_loss", "state", "actuation"),
    [
        ("relax", RobotState.COMPLIANT, Actuation.COMPLIANT),
        ("hold", RobotState.HOLD, Actuation.STIFF),
        ("vent", RobotState.SLACK, Actuation.SLACK),
        ("home", RobotState.HOLD, Actuation.STIFF),
    ],
)
def test_what_a_lost_link_leads_to(
    on_loss: str, state: RobotState, actuation: Actuation
) -> None:
    rig = robot_in(RobotState.HOLD, on_loss)
    assert not rig.machine.homing
    rig.wait(4500)
    assert (rig.machine.state, rig.machine.actuation) == (state, actuation)
    assert rig.machine.homing == (on_loss == "home")
    assert rig.send(ARMED, 1) is not Verdict.OBEYED  # whatever it did, it is over
    rig.wait(25_000)
    assert rig.machine.state is RobotState.SLACK
    assert rig.send(ARMED, 2) is Verdict.OBEYED
    assert not rig.machine.homing


@pytest.mark.parametrize("state", RobotState)
@pytest.mark.parametrize("stop", ["hold", "slack"])
def test_a_reset_leads_back_to_how_the_robot_stood(
    state: RobotState, stop: str
) -> None:
    if state is RobotState.ESTOP:
        return
    rig = robot_in(state, stop=stop)
    rig.send(ESTOP, 1)
    after = Actuation.SLACK if stop == "slack" else rig.machine.actuation
    rig.send(DISARMED, 1)
    wanted = TABLE[RobotState.ESTOP, SafetyEvent[f"RESET_{after.name}"]]
    assert rig.machine.state is wanted.state
    assert rig.machine.actuation is after


def test_disarmed_it_gives_way_later() -> None:
    rig = robot_in(RobotState.ACTIVE)
    rig.send(DISARMED, 1)
    assert rig.machine.state is RobotState.HOLD
    rig.wait(5020)
    assert rig.machine.state is RobotState.IDLE
    assert rig.machine.actuation is Actuation.COMPLIANT


def test_every_transition_says_why() -> None:
    rig = robot_in(RobotState.ACTIVE)
    rig.machine.fail(rig.now_ns, "bus arms is lost")
    assert "bus arms is lost" in rig.machine.events()[-1].text
    for cell in TABLE.values():
        assert (
            cell.words or cell.state is not RobotState.ESTOP or cell.actuation is KEEP
        )


def test_the_table_for_people_has_a_row_for_each_event() -> None:
    rows = table_rows()
    assert rows[0] == ("on", *(state.name for state in RobotState))
    assert [row[0] for row in rows[1:]] == [event.value for event in SafetyEvent]
    assert all(len(row) == len(RobotState) + 1 for row in rows)


def test_silence_counts_from_the_last_command() -> None:
    rig = robot_in(RobotState.ACTIVE)
    rig.wait(400)
    rig.send(ARMED, 1)
    rig.now_ns += 499 * NS_PER_MS
    assert rig.machine.step(rig.now_ns) is RobotState.ACTIVE
    rig.now_ns += 2 * NS_PER_MS
    assert rig.machine.step(rig.now_ns) is RobotState.HOLD


def test_the_readmes_show_this_table() -> None:
    assert diagram() in Path("README.md").read_text()
    assert markdown() in Path("app/README.md").read_text()
