"""Lengths and angles back to where a limb is: the inverse of what `reach` prints."""

import numpy as np
import pytest

from app.config.robot import load_robot
from app.errors import ConfigError
from app.study.pose import limb_pose, write_shape
from app.study.reach import reach_goal

GOALS = [
    ("ursula", "grasper", (0.560, -0.100, -0.150)),
    ("rov-arm", "arm", (0.055, 0.035, -0.435)),
    ("silver2", "port-front", (0.300, 0.400, -0.200)),
]


@pytest.mark.parametrize(("name", "limb", "goal"), GOALS)
def test_what_reach_prints_leads_back_to_the_tip(name, limb, goal):
    robot = load_robot(name)
    reached = reach_goal(robot, limb, np.array(goal))
    values = (
        np.concatenate([lengths for _, lengths in reached.actuators])
        if reached.joints is None
        else reached.joints
    )
    found = limb_pose(robot, limb, values)
    assert found.reasons == ()
    assert np.allclose(found.tip, reached.tip, atol=1e-9)


def test_lengths_that_do_not_belong_together_are_told_of():
    robot = load_robot("ursula")
    reached = reach_goal(robot, "grasper", np.array([0.56, -0.1, -0.15]))
    lengths = np.concatenate([lengths for _, lengths in reached.actuators])
    lengths[0] += 0.004
    found = limb_pose(robot, "grasper", lengths)
    assert any("no posture has these lengths" in reason for reason in found.reasons)


def test_the_shape_goes_from_the_base_to_the_tip(tmp_path):
    robot = load_robot("ursula")
    reached = reach_goal(robot, "grasper", np.array([0.56, -0.1, -0.15]))
    write_shape(robot, "grasper", reached, tmp_path / "shape.csv")
    table = np.loadtxt(tmp_path / "shape.csv", delimiter=",", skiprows=1)
    assert np.allclose(table[0, :3], robot.limbs[0].base_position_mm, atol=1e-5)
    assert np.allclose(table[-1, :3], 1e3 * reached.tip, atol=1e-5)
    assert np.allclose(table[[0, -1], 3], (30.0, 10.0), atol=1e-5)


@pytest.mark.parametrize(
    ("name", "limb", "count", "said"),
    [
        ("ursula", "tail", 8, "no limb or leg"),
        ("ursula", "grasper", 7, "takes 8 lengths"),
        ("silver2", "port-front", 2, "takes 3 angles"),
        ("monopus", "tail", 3, "neither tendons nor chambers"),
    ],
)
def test_a_wrong_question_is_refused(name, limb, count, said):
    with pytest.raises(ConfigError, match=said):
        limb_pose(load_robot(name), limb, np.full(count, 0.3))


def test_a_leg_has_no_shape_and_its_range_is_told_of(tmp_path):
    robot = load_robot("silver2")
    found = limb_pose(robot, "port-front", np.radians([-80.0, 0.0, 100.0]))
    assert "range" in found.reasons[0]
    with pytest.raises(ConfigError, match="rigid"):
        write_shape(robot, "port-front", found, tmp_path / "shape.csv")
