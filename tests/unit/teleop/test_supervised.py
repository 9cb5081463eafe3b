"""Goals are numbered, repeated until known, and followed to their end."""

import math

import pytest

from app.clock import NS_PER_S
from app.errors import FrameError
from app.teleop.goal_bytes import pack_status, read_goal
from app.teleop.goals import Goal, GoalKind, GoalReason, GoalState, GoalStatus
from app.teleop.supervised import GoalKeeper

REACH = Goal(0, GoalKind.REACH, 1, (0.5, 0.1, 0.1))
NOW = 5 * NS_PER_S


def told(number, state, reason=GoalReason.NONE):
    return pack_status(GoalStatus(number, state, reason))


def test_a_goal_is_repeated_until_the_robot_names_it():
    station = GoalKeeper()
    assert station.to_send(coarse=False) == b""
    goal = station.ask(NOW, REACH)
    assert goal.number == 1
    for _ in range(5):
        assert read_goal(station.to_send(coarse=False)).number == 1
        assert read_goal(station.to_send(coarse=True)).number == 1
        assert station.hear(NOW, told(0, GoalState.NONE)) is None
    station.hear(NOW + 1, told(1, GoalState.RUNNING))
    assert station.to_send(coarse=False) == b""
    assert station.busy
    station.hear(NOW + 2, told(1, GoalState.DONE))
    station.hear(NOW + 3, told(1, GoalState.RUNNING))  # overtaken on the way
    assert station.newest.status.state is GoalState.DONE
    assert (station.newest.known_ns, station.newest.ended_ns) == (NOW + 1, NOW + 2)
    assert [event.text for event in station.events()] == [
        "Goal 1 (reach, limb 1) is done."
    ]


def test_another_goal_takes_its_place():
    station = GoalKeeper()
    station.ask(NOW, REACH)
    station.hear(NOW, told(1, GoalState.RUNNING))
    station.ask(NOW, REACH)
    assert station.goals[0].status.reason is GoalReason.REPLACED
    assert station.hear(NOW, told(1, GoalState.DONE)) is None
    assert read_goal(station.to_send(coarse=False)).number == 2


def test_a_failure_is_told_with_its_reason():
    station = GoalKeeper()
    station.ask(NOW, REACH)
    station.hear(NOW, told(1, GoalState.FAILED, GoalReason.OVER_FORCE))
    (event,) = station.events()
    assert "above its limit" in event.text
    assert not station.busy


def test_a_new_arming_forgets_and_numbers_go_on():
    station = GoalKeeper()
    for _ in range(254):
        station.ask(NOW, REACH)
    station.arm(NOW)
    assert station.newest.status.reason is GoalReason.FORGOTTEN
    assert station.to_send(coarse=False) == b""
    assert station.ask(NOW, REACH).number == 255
    assert station.ask(NOW, REACH).number == 1
    assert len(station.goals) == 32


def test_what_cannot_be_told_is_not_asked():
    station = GoalKeeper()
    with pytest.raises(FrameError):
        station.ask(NOW, Goal(0, GoalKind.REACH, 1, (float("nan"), 0.0, 0.0)))
    assert station.newest is None
    station.ask(NOW, Goal(0, GoalKind.REACH, 1, (2.5, 0.0, 0.0)))
    with pytest.raises(FrameError) as caught:
        station.to_send(coarse=True)
    station.refuse(NOW, str(caught.value))
    assert station.to_send(coarse=True) == b""
    assert not station.busy


def test_a_limb_is_out_of_the_operators_hands_until_its_stop_is_done():
    station = GoalKeeper()
    assert station.hold(1) == 0
    station.ask(NOW, REACH)
    assert station.hold(1) == 1, "on its way"
    station.hear(NOW, told(1, GoalState.RUNNING))
    assert station.hold(1) == 2, "goals alone"
    station.hear(NOW, told(1, GoalState.FAILED, GoalReason.OUT_OF_REACH))
    assert station.hold(1) == 2
    station.ask(NOW, Goal(0, GoalKind.STOP, 1))
    station.hear(NOW, told(2, GoalState.RUNNING))
    assert station.hold(1) == 2, "it waits to be told where it is"
    station.hear(NOW, told(2, GoalState.DONE))
    assert station.hold(1) == 0
    station.ask(NOW, REACH)
    station.refuse(NOW, "too far for this link")
    assert station.hold(1) == 0, "it never left"
    station.ask(NOW, REACH)
    station.arm(NOW)
    assert station.hold(1) == 0


def test_a_goal_leaves_the_gripper_as_it_closed_it():
    station = GoalKeeper()
    station.ask(NOW, Goal(0, GoalKind.GRASP, 1, (0.5, 0.1, 0.1)))
    assert math.isnan(station.grip(1))
    station.hear(NOW, pack_status(GoalStatus(1, GoalState.RUNNING, progress=0.5)))
    assert station.grip(1) == 0.0
    station.hear(NOW, pack_status(GoalStatus(1, GoalState.DONE, progress=1.0)))
    assert station.grip(1) == 1.0
    station.ask(NOW, Goal(0, GoalKind.PLACE, 1, (0.5, 0.1, 0.1)))
    station.hear(NOW, pack_status(GoalStatus(2, GoalState.RUNNING, progress=0.5)))
    assert station.grip(1) == 1.0
    station.hear(NOW, pack_status(GoalStatus(2, GoalState.DONE, progress=1.0)))
    assert station.grip(1) == 0.0
