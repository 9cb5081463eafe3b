"""A goal for a limb or leg of a shipped robot, turned into what drives it."""

import numpy as np
import pytest

from app.config.robot import build_robot_model, load_robot
from app.drivers.calibration import calibrate
from app.errors import ConfigError
from app.study.reach import describe_pressures, describe_reach, reach_goal
from models.limb import limb_frames, limb_model_of_robot

GOALS = [
    ("ursula", "grasper", (0.560, -0.100, -0.150), 1),
    ("rov-arm", "arm", (0.055, 0.035, -0.435), 3),
    ("silver2", "port-front", (0.300, 0.400, -0.200), 0),
    ("monopus", "tail", (-0.300, 0.0, 0.020), 0),
]


@pytest.mark.parametrize(("robot", "limb", "goal", "actuators"), GOALS)
def test_a_reachable_tip_is_reached(robot, limb, goal, actuators):
    reached = reach_goal(load_robot(robot), limb, np.array(goal))
    assert reached.reasons == ()
    assert reached.error < 1e-8
    assert np.allclose(reached.tip, goal, atol=1e-8)
    assert len(reached.actuators) == actuators
    assert not any("NOT" in x for x in describe_reach(load_robot(robot), limb, reached))


def test_a_tip_out_of_reach_gets_a_reason_and_the_nearest_point():
    robot = load_robot("ursula")
    reached = reach_goal(robot, "grasper", np.array([0.96, -0.1, -0.15]))
    assert 0.3 < reached.error < 0.4
    assert any("farther" in reason for reason in reached.reasons)
    lines = describe_reach(robot, "grasper", reached)
    assert any("NOT REACHED, 36" in line for line in lines)


def test_a_direction_is_met_as_well_as_the_point():
    robot = load_robot("ursula")
    model = build_robot_model(robot)
    limb, base = limb_model_of_robot(model, 0), model.pose_base_to_hull[0]
    posture = np.array([[0.5, -0.3, -0.004], [-0.2, 0.7, -0.006]])
    frames = np.zeros((3, 4, 4))
    limb_frames(limb, posture, frames)
    wanted = base @ frames[-1]
    reached = reach_goal(robot, "grasper", wanted[:3, 3], wanted[:3, 2])
    assert reached.coordinates is not None
    limb_frames(limb, reached.coordinates, frames)
    assert reached.reasons == ()
    assert reached.error < 1e-7
    assert np.allclose((base @ frames[-1])[:3, 2], wanted[:3, 2], atol=1e-6)


@pytest.mark.parametrize(
    ("robot", "limb", "direction", "said"),
    [
        ("ursula", "tail", None, "grasper, palpation, camera, light"),
        ("ursula", "grasper", (0.0, 0.0, 0.0), "above zero"),
        ("silver2", "port-front", (1.0, 0.0, 0.0), "no direction"),
        ("rov-arm", "arm", (1.0, 0.0, 0.0), "oppositely"),
    ],
)
def test_a_wrong_question_is_refused(robot, limb, direction, said):
    toward = None if direction is None else np.array(direction)
    with pytest.raises(ConfigError, match=said):
        reach_goal(load_robot(robot), limb, np.array([0.3, 0.0, -0.3]), toward)


def test_chamber_lengths_become_pressures_by_a_calibration(tmp_path):
    pressure = np.concatenate([np.linspace(0, 60, 61), np.linspace(59, 0, 60)])
    rows = [f"{p:.3f},{100.0 + 0.8 * p:.4f}" for p in pressure]
    samples = tmp_path / "chamber.csv"
    samples.write_text("pressure_kpa,length_mm\n" + "\n".join(rows))
    fitted = calibrate(samples, tmp_path / "chamber.toml")
    reached = reach_goal(load_robot("rov-arm"), "arm", np.array([0.055, 0.035, -0.435]))
    lines = describe_pressures(reached, fitted)
    assert len(lines) == 3
    first = [float(x) for x in lines[0].split(":")[1].split("kPa")[0].split(",")]
    expected = (1e3 * reached.actuators[0][1] - 100.0) / 0.8
    assert np.allclose(first, expected, atol=0.5)
    assert "outside" in lines[2]  # 89.7 mm is shorter than any sample
    hand = reach_goal(load_robot("ursula"), "grasper", np.array([0.56, -0.1, -0.15]))
    with pytest.raises(ConfigError, match="no chambers"):
        describe_pressures(hand, fitted)
