"""Who may drive: every peer, mode and moment, against the rule in words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.clock import NS_PER_S
from app.messages import StationMode
from app.robot.custody import Custody

ARMED, DISARMED, ESTOP = StationMode.ARMED, StationMode.DISARMED, StationMode.ESTOP


def held_by(peer: int) -> Custody:
    custody = Custody()
    assert custody.judge(0, peer, ARMED, obeyed_epoch=0)
    custody.took(peer)
    return custody


def test_nobody_in_control_hears_everybody() -> None:
    custody = Custody()
    for peer in range(3):
        for mode in StationMode:
            assert custody.judge(0, peer, mode, obeyed_epoch=0)
    assert custody.holder is None
    assert custody.events() == []


@pytest.mark.parametrize(
    ("peer", "mode", "heard"),
    [
        (1, ARMED, True),
        (1, DISARMED, True),
        (1, ESTOP, True),
        (2, ARMED, False),
        (2, DISARMED, False),
        (2, ESTOP, True),
    ],
)
def test_while_one_holds(peer: int, mode: StationMode, heard: bool) -> None:
    custody = held_by(1)
    assert custody.judge(1, peer, mode, obeyed_epoch=7) is heard
    assert custody.holder == 1


def test_a_hand_over_is_explicit() -> None:
    custody = held_by(1)
    assert not custody.judge(1, 2, ARMED, obeyed_epoch=7)
    custody.released(2)  # not its to release
    assert not custody.judge(2, 2, ARMED, obeyed_epoch=7)
    custody.released(1)
    assert custody.judge(3, 2, ARMED, obeyed_epoch=0)
    custody.took(2)
    assert custody.holder == 2
    assert not custody.judge(4, 1, ARMED, obeyed_epoch=8)


def test_the_robot_ending_the_arming_frees_the_control() -> None:
    custody = held_by(1)
    assert custody.judge(1, 2, ARMED, obeyed_epoch=0)
    assert custody.holder is None


def test_a_refusal_names_the_holder_and_does_not_flood() -> None:
    custody = held_by(1)
    custody.name_of = {1: "bridge", 2: ""}.get
    for k in range(1000):
        assert not custody.judge(k * NS_PER_S // 100, 2, ARMED, obeyed_epoch=7)
    events = custody.events()
    assert len(events) == 2  # in 10 s
    assert "'bridge' is in control" in events[0].text
    assert "Station 2 wants" in events[0].text
    assert custody.events() == []


def test_one_that_only_watches_resets_no_stop() -> None:
    custody = held_by(1)
    custody.stopped(1, latched=False)
    assert not custody.judge(1, 2, DISARMED, obeyed_epoch=0, latched=True)
    assert "press emergency stop, then reset" in custody.events()[0].text
    assert custody.judge(2, 1, DISARMED, obeyed_epoch=0, latched=True)


def test_a_station_whose_stopper_is_gone_resets_by_two_acts() -> None:
    custody = held_by(1)
    custody.stopped(1, latched=False)
    custody.stopped(3, latched=True)
    assert custody.judge(1, 3, DISARMED, obeyed_epoch=0, latched=True)
    custody.stopped(2, latched=False)  # another stop: earlier ones count no more
    assert not custody.judge(2, 3, DISARMED, obeyed_epoch=0, latched=True)


def test_what_is_remembered_is_bounded() -> None:
    custody = held_by(1)
    for peer in range(2, 2000):
        custody.judge(peer, peer, ARMED, obeyed_epoch=7)
        custody.stopped(peer, latched=True)
    assert len(custody.events()) == 64
    assert len(custody._stoppers) <= 64
    assert len(custody._refused) <= 64


@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.sampled_from(StationMode), st.booleans()),
        max_size=60,
    )
)
@settings(deadline=None)
def test_never_two_at_once(steps: list[tuple[int, StationMode, bool]]) -> None:
    """Against a model: only the holder's frames, and stops, pass while it holds."""
    custody, holder = Custody(), 0
    for k, (peer, mode, robot_ends) in enumerate(steps):
        if robot_ends:
            holder = 0
        passed = custody.judge(k, peer, mode, obeyed_epoch=holder)
        assert passed == (holder in {0, peer} or mode == ESTOP)
        if not passed:
            continue
        if mode == ARMED:
            custody.took(peer)
            holder = peer
        elif mode == ESTOP:
            custody.stopped(peer, latched=False)
            holder = 0
        elif holder == peer:
            custody.released(peer)
            holder = 0
