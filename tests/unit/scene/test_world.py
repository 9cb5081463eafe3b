"""PyBullet's chains. Tolerance 1e-12 m or rad: double precision over 64 joints."""

import os
import subprocess
import sys

import numpy as np
import pytest

from app.config.robot import RobotParameters, build_robot_model
from app.scene.chains import plan_chains
from app.scene.site import site_obstacles
from app.scene.world import COPIES, World
from models.arc import arc_pose
from models.chain import chain_frames
from models.limb import limb_poses
from models.numerics import FloatArray
from models.robot import RobotModel

TOLERANCE = 1e-12


@pytest.fixture(scope="module")
def world(robot: RobotParameters, model: RobotModel) -> World:
    return World(robot, model)


def random_coordinates(model: RobotModel, seed: int) -> FloatArray:
    generator = np.random.default_rng(seed)
    angle = generator.uniform(-np.pi, np.pi, model.bend_limit.size)
    theta = generator.uniform(0.0, model.bend_limit)
    extension = generator.uniform(*model.extension_range.T)
    return np.stack([theta * np.cos(angle), theta * np.sin(angle), extension], axis=1)


def expected_frames(
    model: RobotModel, coordinates: FloatArray, sections: int
) -> FloatArray:
    frames = np.empty((model.segment_length.size, sections + 1, 4, 4))
    for limb in range(model.tip_speed_limit.size):
        start = model.pose_base_to_hull[limb]
        for segment in range(*model.limb_segment_start[limb : limb + 2]):
            delta_x, delta_y, extension = coordinates[segment]
            length = model.segment_length[segment] + extension
            chain_frames(delta_x, delta_y, length, sections, frames[segment])
            frames[segment] = start @ frames[segment]
            start = frames[segment, -1]
    return frames


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("which", COPIES)
def test_frames_are_those_of_the_chain(
    world: World, model: RobotModel, which: str, seed: int
) -> None:
    coordinates = random_coordinates(model, seed)
    if seed == 0:
        coordinates[:] = 0.0
    world.pose(which, coordinates)
    frames = world.section_frames(which)
    assert frames.shape == (6, 11, 4, 4)
    np.testing.assert_allclose(
        frames, expected_frames(model, coordinates, 10), atol=TOLERANCE
    )


def test_tips_are_those_of_the_limbs(world: World, model: RobotModel) -> None:
    coordinates = random_coordinates(model, 20)
    world.pose("model", coordinates)
    for limb, tip in enumerate(world.tip_poses("model")):
        start, stop = model.limb_segment_start[limb : limb + 2]
        poses = np.empty((stop - start + 1, 4, 4))
        limb_poses(model, limb, coordinates[start:stop], poses)
        np.testing.assert_allclose(
            tip, model.pose_base_to_hull[limb] @ poses[-1], atol=TOLERANCE
        )


def test_skin_frames_lie_on_the_arc_without_torsion(
    world: World, model: RobotModel
) -> None:
    coordinates = random_coordinates(model, 21)
    world.pose("model", coordinates)
    skin = world.skin_frames("model")
    pose = np.empty((4, 4))
    for segment, (delta_x, delta_y, extension) in enumerate(coordinates):
        length = model.segment_length[segment] + extension
        for k in range(11):
            part = k / 10
            arc_pose(part * delta_x, part * delta_y, part * length, pose)
            expected = skin[segment, 0] @ pose
            np.testing.assert_allclose(skin[segment, k], expected, atol=TOLERANCE)


def test_link_frames_point_along_the_chords(world: World, model: RobotModel) -> None:
    world.pose("model", random_coordinates(model, 22))
    nodes = world.section_frames("model")[..., :3, 3]
    chords = np.diff(nodes, axis=1)
    chords /= np.linalg.norm(chords, axis=-1, keepdims=True)
    links = world.link_frames("model")
    np.testing.assert_allclose(links[..., :3, 2], chords, atol=TOLERANCE)
    np.testing.assert_allclose(links[..., :3, 3], nodes[:, 1:], atol=TOLERANCE)


def test_copies_are_apart(world: World, model: RobotModel) -> None:
    first, second = random_coordinates(model, 1), random_coordinates(model, 2)
    world.pose("model", first)
    world.pose("confirmed", second)
    world.pose("model", first)
    np.testing.assert_allclose(
        world.section_frames("confirmed"),
        expected_frames(model, second, 10),
        atol=TOLERANCE,
    )


def test_a_broken_number_leaves_its_segment_where_it_was(
    world: World, model: RobotModel
) -> None:
    good = random_coordinates(model, 3)
    world.pose("model", good)
    broken = good.copy()
    broken[0, 1], broken[3, 2] = np.nan, np.inf
    broken[5] = 0.1, 0.2, 0.0
    world.pose("model", broken)
    expected = good.copy()
    expected[5] = broken[5]
    np.testing.assert_allclose(
        world.section_frames("model"),
        expected_frames(model, expected, 10),
        atol=TOLERANCE,
    )


def test_a_limb_too_long_for_one_body_is_split(
    robot: RobotParameters, model: RobotModel
) -> None:
    settings = robot.model_dump()
    settings["chain"]["sections"] = 40
    limb = settings["limbs"][0]
    limb["segment_length_mm"] = (200.0, 150.0, 100.0)
    limb["rest_bend_deg"] = limb["rest_direction_deg"] = (0.0, 0.0, 0.0)
    settings["limbs"] = (limb, settings["limbs"][2])
    longer = RobotParameters.model_validate(settings)
    longer_model = build_robot_model(longer)
    assert len(plan_chains(longer_model, 40)) == 4
    assert len(plan_chains(model, 10)) == 4  # usually one body a limb
    with World(longer, longer_model) as world:
        coordinates = random_coordinates(longer_model, 5)
        world.pose("model", coordinates)
        np.testing.assert_allclose(
            world.section_frames("model"),
            expected_frames(longer_model, coordinates, 40),
            atol=TOLERANCE,
        )


def test_clearance_to_a_rock_is_the_gap_between_the_solids(
    world: World, model: RobotModel
) -> None:
    coordinates = model.rest_coordinates.copy()
    coordinates[:2] = (-0.6, 1.1, 0.0), (-0.3, 0.9, 0.0)
    world.pose("model", coordinates)
    found = world.clearance("model", 0, 1.0)
    rock = next(item for item in site_obstacles() if item.name == found.obstacle)
    assert rock.kind == "sphere"
    gap = np.inf
    frames = world.section_frames("model")
    for segment in (0, 1):
        start, end = model.segment_radius[segment]
        for k in range(10):
            radius = start + (end - start) * (k + 0.5) / 10
            t = np.linspace(0.0, 1.0, 200)[:, None]
            a, b = frames[segment, k, :3, 3], frames[segment, k + 1, :3, 3]
            along = np.linalg.norm(a + t * (b - a) - rock.pose[:3, 3], axis=1)
            gap = min(gap, along.min() - radius - rock.size[0])
    # a capsule has the section's rest length: up to 0.6 mm longer than its chord
    assert found.distance == pytest.approx(gap, abs=1e-3)
    between = np.linalg.norm(found.point_limb - found.point_obstacle)
    assert between == pytest.approx(found.distance, abs=1e-6)


def test_nothing_near_is_told(world: World, model: RobotModel) -> None:
    world.pose("model", model.rest_coordinates)
    found = world.clearance("model", 2, 0.02)
    assert found.distance == np.inf
    assert found.obstacle == ""


def test_rest_posture_is_clear_of_the_site(world: World, model: RobotModel) -> None:
    world.pose("model", model.rest_coordinates)
    for limb in range(4):
        assert world.clearance("model", limb, 1.0).distance > 0.08


def test_closing_leaves_no_descriptor(
    robot: RobotParameters, model: RobotModel
) -> None:
    before = set(os.listdir("/proc/self/fd"))
    world = World(robot, model)
    world.close()
    world.close()
    assert set(os.listdir("/proc/self/fd")) == before


def test_nothing_is_printed() -> None:
    program = (
        "from app.config.robot import build_robot_model, load_robot\n"
        "from app.scene.world import World\n"
        "robot = load_robot('ursula')\n"
        "World(robot, build_robot_model(robot)).close()\n"
        "print('still heard')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    assert ended.stdout == "still heard\n"
    assert ended.stderr == ""
