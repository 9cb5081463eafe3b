"""A goal for a limb or leg of a shipped robot, turned into what drives it."""

import numpy as np
import pytest

from app.config.robot import build_robot_model, load_robot
from app.drivers.calibration import calibrate
from app.errors import ConfigError
from app.study.body import reach_over_feet
from app.study.jacobian import tip_jacobian, write_jacobian
from app.study.pose import write_shape
from app.study.reach import (
    describe_in_emets_convention,
    describe_pressures,
    describe_reach,
    reach_goal,
    read_obstacle,
)
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
        ("silver2", "port-front", (1.0, 0.0, 0.0), "leave the direction"),
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
    arm = load_robot("rov-arm").limbs[0]
    lines = describe_pressures(arm, reached, fitted)
    assert len(lines) == 3
    second = _numbers(lines[1])
    expected = (1e3 * reached.actuators[1][1] - 100.0) / 0.8
    assert np.allclose(second, expected, atol=0.5)
    assert "outside" in lines[2]  # 89.7 mm is shorter than any sample
    with pytest.raises(ConfigError, match="no chambers"):
        describe_pressures(load_robot("ursula").limbs[0], reached, fitted)
    # Liu 2020 eq. 1g: p1 = 1.02 p2 - 0.89 kPa for the same length
    silver2 = load_robot("silver2")
    reached = reach_goal(silver2, "arm", np.array([0.3, 0.1, -0.2]))
    lines = describe_pressures(silver2.limbs[0], reached, fitted)
    first, second = _numbers(lines[0]), _numbers(lines[1])
    assert np.allclose(first, 1.02 * second - 0.89, atol=0.02)


def _numbers(line):
    return np.array([float(x) for x in line.split(":")[1].split("kPa")[0].split(",")])


def test_emets_directions_count_from_the_segment_before():
    robot = load_robot("ursula")
    reached = reach_goal(robot, "grasper", np.array([0.56, -0.1, -0.15]))
    lines = describe_in_emets_convention(robot.limbs[0], reached)
    towards = np.degrees(np.arctan2(*reached.coordinates[:, 1::-1].T))
    said = [float(line.split("direction ")[1].split(",")[0]) for line in lines]
    turned = (towards[1] - towards[0] + 180.0) % 360.0 - 180.0
    assert np.allclose(said, [towards[0], turned], atol=1e-3)


@pytest.mark.parametrize(
    ("robot", "limb", "goal", "shape", "rank"),
    [
        # two segments without torsion leave one twist of the tip out, in any posture
        ("ursula", "grasper", (0.56, -0.1, -0.15), (6, 6), 5),
        ("silver2", "port-front", (0.3, 0.4, -0.2), (3, 3), 3),
        ("snake", "body", (0.9, 0.1, 0.0), (6, 12), 6),
    ],
)
def test_the_jacobian_is_written_as_a_table(robot, limb, goal, shape, rank, tmp_path):
    parameters = load_robot(robot)
    reached = reach_goal(parameters, limb, np.array(goal))
    rows, columns, matrix = tip_jacobian(parameters, limb, reached)
    assert matrix.shape == shape == (len(rows), len(columns))
    assert np.isfinite(matrix).all()
    assert np.linalg.matrix_rank(matrix) == rank
    path = tmp_path / "jacobian.csv"
    write_jacobian(parameters, limb, reached, path)
    read = [line.split(",") for line in path.read_text().splitlines()]
    assert read[0] == ["", *columns]
    assert np.array_equal(np.array(read)[1:, 1:].astype(float), matrix)


def test_the_legs_move_the_body_where_the_arm_alone_is_too_short():
    robot = load_robot("silver2")
    goal = np.array([0.4, 0.0, -0.2])
    assert reach_goal(robot, "arm", goal).error > 0.05
    lines, done = reach_over_feet(robot, "arm", goal)
    assert done
    assert not any("NOT" in line for line in lines)
    lines, done = reach_over_feet(robot, "arm", np.array([1.2, 0.0, -0.2]))
    assert not done
    assert "walk nearer" in lines[-1]
    with pytest.raises(ConfigError, match="no legs"):
        reach_over_feet(load_robot("ursula"), "grasper", goal)


@pytest.mark.parametrize(
    ("text", "distance"),
    [
        ("plane:-400", lambda p: p[:, 2] + 0.4),
        ("sphere:300,-90,-300,50", lambda p: _far(p, (0.3, -0.09, -0.3)) - 0.05),
        (
            "box:300,-90,-300,200,100,80",
            lambda p: _far(p, (0.3, -0.09, -0.3), (0.1, 0.05, 0.04)),
        ),
        (
            "cylinder:300,-90,-300,50,80",
            lambda p: np.hypot(
                np.maximum(np.hypot(p[:, 0] - 0.3, p[:, 1] + 0.09) - 0.05, 0.0),
                np.maximum(abs(p[:, 2] + 0.3) - 0.04, 0.0),
            ),
        ),
    ],
)
def test_the_clearance_is_that_of_the_limbs_skin(text, distance, tmp_path):
    robot, goal = load_robot("ursula"), np.array([0.56, -0.1, -0.15])
    reached = reach_goal(robot, "grasper", goal, None, [read_obstacle(text)])
    assert reached.error < 1e-7
    write_shape(robot, "grasper", reached, tmp_path / "shape.csv")
    table = 1e-3 * np.loadtxt(tmp_path / "shape.csv", delimiter=",", skiprows=1)
    sampled = (distance(table[:, :3]) - table[:, 3]).min()
    assert reached.clearance == pytest.approx(sampled, abs=2e-4)
    assert any("clear of" in x for x in describe_reach(robot, "grasper", reached))


def _far(points, centre, half=(0.0, 0.0, 0.0)):
    outside = np.maximum(np.abs(points - centre) - half, 0.0)
    return np.linalg.norm(outside, axis=1)


def test_spare_freedom_moves_the_limb_away_from_an_obstacle():
    robot, goal = load_robot("ursula"), np.array([0.56, -0.1, -0.15])
    free = reach_goal(robot, "grasper", goal)
    sphere = read_obstacle("sphere:300,-120,-100,60")
    moved = reach_goal(robot, "grasper", goal, None, [sphere])
    assert moved.error < 1e-7
    assert moved.clearance > 0.0
    assert not np.allclose(moved.coordinates, free.coordinates, atol=0.05)


@pytest.mark.parametrize(
    "text", ["ball:1,2,3,4", "sphere:1,2,3", "box:1,2,3,4,5,-6", "plane:x", "sphere"]
)
def test_an_obstacle_that_is_none_is_refused(text):
    with pytest.raises(ConfigError, match="write sphere:x,y,z,radius"):
        read_obstacle(text)
