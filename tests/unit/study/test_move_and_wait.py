"""Completion time against the round trip: the reference figures, and the operator."""

import pytest

from app.study.move_and_wait import (
    WAIT_GOALS,
    WaitGoal,
    mean_reach,
    plan_reach,
    step_reach,
)

TOLERANCE = 0.03  # of the reference
PERSONS = 1000  # the mean number of moves is then known to 1.2 %


@pytest.mark.parametrize("goal", WAIT_GOALS, ids=lambda goal: f"w{goal.width_mm:g}")
def test_each_move_costs_one_round_trip(goal: WaitGoal) -> None:
    width = 1e-3 * goal.width_mm
    at_once, late = mean_reach(width, 0.0, PERSONS), mean_reach(width, 4.0, PERSONS)
    assert at_once.moves == pytest.approx(goal.moves, rel=TOLERANCE)
    assert (late.time_s - at_once.time_s) / 4.0 == pytest.approx(goal.moves, rel=0.03)


def test_times_to_a_narrow_target() -> None:
    assert mean_reach(0.005, 0.0, PERSONS).time_s == pytest.approx(8.58, rel=TOLERANCE)
    assert mean_reach(0.005, 4.0, PERSONS).time_s == pytest.approx(16.59, rel=TOLERANCE)
    predicted = mean_reach(0.005, 4.0, PERSONS, predicted=True)
    assert predicted.time_s == pytest.approx(12.58, rel=TOLERANCE)


@pytest.mark.parametrize("width", [0.04, 0.01, 0.005])
@pytest.mark.parametrize(
    ("round_trip_s", "predicted"), [(0.0, False), (1.5, False), (4.0, True)]
)
def test_the_operator_does_frame_by_frame_what_was_worked_out(
    width: float, round_trip_s: float, predicted: bool
) -> None:
    for seed in range(6):
        plan = plan_reach(width, round_trip_s, seed, predicted=predicted)
        done = step_reach(width, round_trip_s, seed, predicted=predicted)
        assert done.moves == plan.moves
        # each look waits for the next of 60 frames a second
        assert 0.0 <= done.time_s - plan.time_s <= (plan.moves + 1) / 60.0


def test_who_does_not_know_the_round_trip_corrects_the_same_error_again() -> None:
    moves = [step_reach(0.01, 3.0, seed, practised=False).moves for seed in range(4)]
    known = [step_reach(0.01, 3.0, seed).moves for seed in range(4)]
    assert all(more > few for more, few in zip(moves, known, strict=True))
