"""Gaits and stances of a shipped robot, as the commands ask for them."""

import numpy as np
import pytest

from app.config.robot import load_robot
from app.errors import ConfigError
from app.study.walk import (
    describe_walk,
    draw_walk,
    legs_and_feet,
    plan_walk,
    stand,
)

SILVER2 = load_robot("silver2")


@pytest.mark.parametrize("gait", ["tripod", "ripple", "wave"])
def test_a_shipped_gait_is_stable_and_in_reach(gait, tmp_path):
    walk = plan_walk(SILVER2, gait, period=2.0, elevation=0.04, stride=0.06)
    assert walk.report.reached
    assert walk.report.least_margin > 0.05
    assert "NOT" not in describe_walk(walk)[0]
    draw_walk(walk, tmp_path / "gait.png")
    assert (tmp_path / "gait.png").stat().st_size > 10_000


def test_a_stride_past_the_legs_is_told_of():
    walk = plan_walk(SILVER2, "tripod", period=2.0, elevation=0.04, stride=0.6)
    assert not walk.report.reached
    assert any("OUT OF REACH" in line for line in describe_walk(walk))


def test_the_body_rises_over_its_feet_until_a_leg_is_at_its_end():
    lines, whole = stand(SILVER2, np.array([0.0, 0.0, 0.1, 0.0, 0.05, 0.0]))
    assert whole
    assert "all of the way" in lines[0]
    lines, whole = stand(SILVER2, np.array([0.0, 0.0, 0.3, 0.0, 0.0, 0.0]))
    assert not whole
    assert "STOPPED" in lines[0]
    assert any("femur" in line for line in lines)


def test_what_cannot_walk_is_refused_with_the_reason(tmp_path):
    with pytest.raises(ConfigError, match="has no legs"):
        legs_and_feet(load_robot("ursula"))
    with pytest.raises(ConfigError, match="tripod, ripple, wave"):
        plan_walk(SILVER2, "trot", period=2.0, elevation=0.04, stride=0.06)
    with pytest.raises(ConfigError, match="period"):
        plan_walk(SILVER2, "wave", period=-1.0, elevation=0.04, stride=0.06)
    walk = plan_walk(SILVER2, "wave", period=2.0, elevation=0.04, stride=0.06)
    with pytest.raises(ConfigError, match="cannot be written"):
        draw_walk(walk, tmp_path / "no" / "gait.png")
