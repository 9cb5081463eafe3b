"""No actuator is ever asked for more speed or acceleration than it has. Exact."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from app.robot.actuator_limits import limit_motion

PERIOD = 5e-3


@given(
    wanted=st.lists(st.floats(-0.2, 0.2), min_size=1, max_size=60),
    rate=st.floats(0.01, 1.0),
    acceleration=st.floats(0.1, 20.0),
)
@settings(deadline=None, max_examples=150)
def test_rate_and_acceleration_hold_whatever_is_wanted(
    wanted: list[float], rate: float, acceleration: float
) -> None:
    limits = np.array([rate]), np.array([acceleration])
    speed, asked = np.zeros(1), np.zeros(1)
    for value in wanted:
        before, at = speed.copy(), asked.copy()
        limit_motion(np.array([value]), *limits, PERIOD, speed, asked)
        assert abs(speed[0]) <= rate + 1e-12
        assert abs(speed[0] - before[0]) <= acceleration * PERIOD + 1e-12
        assert (
            asked[0] - at[0] == PERIOD * speed[0]
            or abs(asked[0] - at[0] - PERIOD * speed[0]) < 1e-15
        )


@given(goal=st.floats(-0.3, 0.3))
@settings(deadline=None, max_examples=50)
def test_it_gets_there_without_going_past(goal: float) -> None:
    limits = np.array([0.12]), np.array([2.0])
    speed, asked = np.zeros(1), np.zeros(1)
    way = []
    for _ in range(1000):
        limit_motion(np.array([goal]), *limits, PERIOD, speed, asked)
        way.append(asked[0])
    assert abs(asked[0] - goal) < 1e-6
    assert np.abs(way).max() <= abs(goal) + 1e-9


def test_what_is_not_finite_moves_nothing() -> None:
    speed, asked = np.array([0.1, 0.1]), np.array([0.05, 0.05])
    wanted = np.array([np.nan, np.inf])
    limits = np.full(2, 0.12), np.full(2, 2.0)
    assert limit_motion(wanted, *limits, PERIOD, speed, asked) == 2
    assert (asked == 0.05).all()
    assert (speed == 0.0).all()
