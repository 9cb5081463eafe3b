"""Goals and their status as bytes: golden, round trips, nothing wild accepted."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import FrameError
from app.teleop.goal_bytes import (
    coarse_goal,
    fine_goal,
    pack_status,
    read_goal,
    read_status,
)
from app.teleop.goals import (
    GREATEST_FORCE,
    GREATEST_SPEED,
    Goal,
    GoalKind,
    GoalReason,
    GoalState,
    GoalStatus,
)

GOAL = Goal(
    number=7,
    kind=GoalKind.REACH,
    limb=1,
    position=(0.5401, 0.1091, -0.1386),
    speed=0.025,
    force=2.5,
    time=1.5,
    tolerance=4e-3,
)
PRESS = replace(GOAL, kind=GoalKind.PRESS, normal=(0.0, 0.6, -0.8), force=2.0, time=3.0)

coordinate = st.floats(-1.5, 1.5)
vectors = st.tuples(coordinate, coordinate, coordinate)


def test_golden_bytes():
    # form 1, kind 0, limb 1; 5401, 1091, -1386; normal 0; 100 x 0.25 mm/s; 2500 mN;
    # 150 x 10 ms; 40 x 0.1 mm; no points
    assert fine_goal(GOAL).hex() == "078215190443fa960000006409c400962800"
    # 540, 109, -139 mm in 12 bits; speed 8, force 8, tolerance 4 levels, less 1
    assert coarse_goal(GOAL).hex() == "070221c06df75773"
    # normal 0, 76, -102; 200 x 10 mN; 6 x 0.5 s; speed 8, tolerance 4
    assert coarse_goal(PRESS).hex() == "0722004c9a640673"
    status = GoalStatus(7, GoalState.FAILED, GoalReason.OVER_FORCE, 0.4, 5.25)
    assert pack_status(status) == 7 << 18 | 4 << 15 | 1 << 11 | 6 << 7 | 52


def test_sizes():
    follow = replace(GOAL, kind=GoalKind.FOLLOW, points=((0.5, 0.1, -0.1),) * 2)
    assert (len(fine_goal(GOAL)), len(coarse_goal(GOAL))) == (18, 8)
    assert (len(fine_goal(follow)), len(coarse_goal(follow))) == (30, 16)


@given(
    vectors,
    st.lists(vectors, max_size=7),
    vectors.filter(lambda v: math.hypot(*v) > 0.1),
    st.sampled_from(GoalKind),
    st.integers(1, 255),
    st.integers(0, 7),
    st.floats(1e-3, 0.05),
    st.floats(0.0, 5.0),
    st.floats(0.0, 600.0),
    st.floats(1e-3, 20e-3),
)
@settings(deadline=None)
def test_round_trip(
    position, points, normal, kind, number, limb, speed, force, time, tolerance
):
    size = math.hypot(*normal)
    goal = Goal(
        number,
        kind,
        limb,
        position,
        tuple(value / size for value in normal),
        tuple(points),
        speed,
        force,
        time,
        tolerance,
    )
    back = read_goal(fine_goal(goal))
    assert (back.number, back.kind, back.limb) == (number, kind, limb)
    assert np.abs(np.subtract(back.position, position)).max() <= 0.51e-4
    assert len(back.points) == len(points)
    assert np.degrees(np.arccos(min(1.0, np.dot(back.normal, goal.normal)))) < 0.6
    assert back.speed == pytest.approx(speed, abs=0.13e-3)
    assert back.force == pytest.approx(force, abs=0.51e-3)
    assert back.time == pytest.approx(time, abs=0.0051)
    assert back.tolerance == pytest.approx(tolerance, abs=0.51e-4)
    near = tuple(tuple(np.add(position, np.array(p) / 3.0)) for p in points[:2])
    coarse = read_goal(coarse_goal(replace(goal, points=near)))
    assert (coarse.number, coarse.kind, coarse.limb) == (number, kind, limb)
    if kind is GoalKind.PRESS:
        assert np.dot(coarse.normal, goal.normal) > math.cos(math.radians(0.6))
        assert coarse.force == pytest.approx(force, abs=5.1e-3)
        assert coarse.time == pytest.approx(min(time, 63.5), abs=0.26)
    else:
        assert np.abs(np.subtract(coarse.position, position)).max() <= 0.51e-3
        for told, wanted in zip(coarse.points, near, strict=True):
            assert np.abs(np.subtract(told, wanted)).max() <= 1.1e-3
    assert 0.0 < coarse.speed <= GREATEST_SPEED


@given(st.binary(max_size=70))
@settings(deadline=None, max_examples=300)
def test_any_bytes_are_a_tame_goal_or_refused(content):
    try:
        goal = read_goal(content)
    except FrameError:
        return
    assert 0.0 < goal.speed <= GREATEST_SPEED
    assert 0.0 <= goal.force <= GREATEST_FORCE
    assert 0.0 < goal.tolerance < 0.03
    assert goal.number
    for point in (goal.position, *goal.points):
        assert max(map(abs, point)) < 3.3
    if goal.kind is GoalKind.PRESS:
        assert math.hypot(*goal.normal) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "changes",
    [
        {"number": 0},
        {"number": 256},
        {"limb": 8},
        {"position": (math.nan, 0.0, 0.0)},
        {"speed": math.inf},
        {"points": ((0.0, 0.0, 0.0),) * 8},
    ],
)
def test_what_is_wild_is_not_sent(changes):
    with pytest.raises(FrameError):
        fine_goal(replace(GOAL, **changes))


def test_a_coarse_goal_is_never_told_as_another_place():
    for changes in (
        {"position": (2.1, 0.0, 0.0)},
        {"kind": GoalKind.FOLLOW, "points": ((-0.2, 0.0, 0.0),)},
        {"kind": GoalKind.FOLLOW, "points": ((0.5, 0.1, 0.0),) * 3},
    ):
        with pytest.raises(FrameError):
            coarse_goal(replace(GOAL, **changes))


def test_beyond_the_range_is_the_end_of_the_range():
    back = read_goal(fine_goal(replace(GOAL, speed=1.0, force=50.0, tolerance=1.0)))
    assert (back.speed, back.force) == (GREATEST_SPEED, GREATEST_FORCE)
    back = read_goal(coarse_goal(replace(GOAL, speed=1.0, force=50.0, tolerance=1.0)))
    assert (back.speed, back.force, back.tolerance) == (0.05, 5.0, 0.016)


def test_status_round_trip():
    for state in GoalState:
        for reason in GoalReason:
            status = GoalStatus(200, state, reason, 1.0, 12.5)
            assert read_status(pack_status(status)) == status
            assert reason.words or reason is GoalReason.NONE
    assert pack_status(GoalStatus(255, GoalState.FAILED, GoalReason(12))) < 1 << 26
    for value in (5 << 15, 13 << 11):
        with pytest.raises(FrameError):
            read_status(value)
