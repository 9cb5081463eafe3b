"""Blended assistance: shares by distance, and no jolt anywhere."""

import numpy as np
import pytest

from app.teleop.blending import BLEND_DISTANCE, BLEND_MOST, blend_velocity

OPERATOR = np.array([0.01, -0.02, 0.03])
GOAL = np.array([0.5, 0.1, -0.1])


def blend(distance, operator=OPERATOR, goal=GOAL, most=BLEND_MOST):
    tip = GOAL - [distance, 0.0, 0.0]
    out = np.full(3, np.nan)
    share = blend_velocity(0.05, most, operator, tip, goal, out)
    return share, out


def test_no_more_is_taken_than_was_chosen():
    assert blend(0.01, most=0.3)[0] == pytest.approx(0.3)
    share, velocity = blend(0.01, most=0.0)
    assert share == 0.0
    assert np.array_equal(velocity, OPERATOR)


@pytest.mark.parametrize(
    ("distance", "share"),
    [(0.2, 0.0), (0.05, 0.0), (0.04, 0.2), (0.025, 0.5), (0.01, 0.8), (0.0, 0.8)],
)
def test_share_is_that_of_the_distance(distance, share):
    found, velocity = blend(distance)
    assert found == pytest.approx(share)
    automatic = np.array([min(2.0 * distance, 0.05), 0.0, 0.0])
    assert velocity == pytest.approx((1 - share) * OPERATOR + share * automatic)


def test_far_off_or_without_a_goal_the_operator_has_all():
    assert np.array_equal(blend(1.001 * BLEND_DISTANCE)[1], OPERATOR)
    nowhere = np.full(3, np.nan)
    share, velocity = blend(0.01, goal=nowhere)
    assert share == 0.0
    assert np.array_equal(velocity, OPERATOR)


def test_it_leads_to_the_goal_and_is_continuous():
    distance, before = 0.06, None
    for _ in range(20_000):
        _, velocity = blend(distance, np.array([0.002, 0.0, 0.0]))
        if before is not None:
            assert abs(velocity[0] - before) < 1e-4
        before = velocity[0]
        distance -= 1e-3 * velocity[0]
    # where what is left of the operator and the goal's pull balance
    assert distance == pytest.approx(
        -0.002 * (1 - BLEND_MOST) / (2 * BLEND_MOST), abs=1e-3
    )
