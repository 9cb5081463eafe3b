"""The seven robots in the scene: frames of what PyBullet holds, and what is drawn.

Tolerance 1e-9 m or rad where PyBullet's frames meet the kinematic models: products of
up to 70 frames, and link positions that PyBullet keeps in double precision.
"""

from pathlib import Path

import numpy as np
import pytest

from app.config.kinematics import leg_model, limb_gaps, snake_lengths
from app.config.robot import build_robot_model, load_robot, robot_names
from app.errors import ConfigError
from app.scene.hulls import robot_mesh
from app.scene.legs import FOOT_RADIUS
from app.scene.meshes import Mesh
from app.scene.parts import beam, block, thruster
from app.scene.portrait import check_robot, draw_robot, home_camera
from app.scene.site import Ground, seabed_height, seabed_mesh, site_mesh, site_obstacles
from app.scene.skin import section_meshes, shell_meshes, skin_meshes
from app.scene.world import World
from models.legs import leg_points
from models.limb import limb_frames, limb_model_of_robot
from models.numerics import FloatArray
from models.snake import snake_poses
from tests.unit.scene.test_meshes import facing, volume

TOLERANCE = 1e-9
NAMES = sorted(robot_names())


def bent(name: str, seed: int) -> tuple[World, FloatArray]:
    """A robot's world posed at random."""
    robot = load_robot(name)
    model = build_robot_model(robot)
    world = World(robot, model)
    generator = np.random.default_rng(seed)
    angle = generator.uniform(-np.pi, np.pi, model.bend_limit.size)
    theta = generator.uniform(0.0, np.minimum(model.bend_limit, 2.0))
    extension = generator.uniform(*model.extension_range.T)
    coordinates = np.stack(
        [theta * np.cos(angle), theta * np.sin(angle), extension], axis=1
    )
    world.pose("model", coordinates)
    return world, coordinates


@pytest.mark.parametrize("name", NAMES)
def test_tips_are_those_of_the_limbs_with_their_gaps(name: str) -> None:
    robot = load_robot(name)
    model = build_robot_model(robot)
    world, coordinates = bent(name, 3)
    with world:
        tips = world.tip_poses("model")
        starts = world.section_frames("model")[:, 0]
    for k, limb in enumerate(robot.limbs):
        rows = slice(*model.limb_segment_start[k : k + 2])
        alone = limb_model_of_robot(model, k, limb_gaps(limb))
        frames = np.zeros((rows.stop - rows.start + 1, 4, 4))
        limb_frames(alone, coordinates[rows], frames)
        frames = model.pose_base_to_hull[k] @ frames
        np.testing.assert_allclose(tips[k], frames[-1], atol=TOLERANCE)
        np.testing.assert_allclose(starts[rows], frames[:-1], atol=TOLERANCE)


def test_a_snake_s_modules_are_where_its_kinematics_have_them() -> None:
    lengths = snake_lengths(load_robot("snake"))
    assert lengths is not None
    world, coordinates = bent("snake", 4)
    poses = np.zeros((6, 4, 4))
    snake_poses(*lengths, coordinates, np.eye(4), poses)
    with world:
        frames = world.section_frames("model")
        head = world.tip_poses("model")[0]
    turn = np.eye(4)[[2, 0, 1, 3]]  # x, y, z of a limb are y, z, x of a body
    ends = np.stack([frames[0, 0], frames[0, -1], frames[1, 0], frames[1, -1], head])
    np.testing.assert_allclose(ends @ turn.T, poses[1:], atol=TOLERANCE)


def test_legs_stand_where_their_kinematics_have_them() -> None:
    robot = load_robot("silver2")
    legs = leg_model(robot)
    assert legs is not None
    with World(robot, build_robot_model(robot)) as world:
        moved = np.array([(0.3, 0.5, 1.9), (-0.4, -0.2, 0.8)])
        for number, turned in enumerate(moved):
            world.pose_leg(number, turned)
        frames = world.leg_frames()
    assert frames.shape == (6, 4, 4, 4)
    angles = np.radians([leg.stance_deg for leg in robot.legs])
    angles[:2] = moved
    np.testing.assert_allclose(
        frames[:, 1:, :3, 3], leg_points(legs, angles)[:, 1:], atol=TOLERANCE
    )


def test_feet_rest_on_the_sand() -> None:
    robot = load_robot("silver2")
    with World(robot, build_robot_model(robot)) as world:
        feet = world.leg_frames()[:, 3, :3, 3]
    sand = seabed_height(feet[:, 0], feet[:, 1], Ground.under(robot))
    np.testing.assert_allclose(feet[:, 2] - sand, FOOT_RADIUS, atol=2e-3)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_stands_in_the_sand_at_rest(name: str) -> None:
    robot = load_robot(name)
    model = build_robot_model(robot)
    with World(robot, model) as world:
        for limb in range(len(robot.limbs)):
            assert world.clearance("model", limb, 1.0).distance > 0.01
        hull = robot_mesh(robot, world.leg_frames()).position
    sand = seabed_height(hull[:, 0], hull[:, 1], Ground.under(robot))
    assert (hull[:, 2] - sand).min() > -2e-3


@pytest.mark.parametrize("name", NAMES)
def test_meshes_are_closed_the_right_way_round(name: str) -> None:
    robot = load_robot(name)
    model = build_robot_model(robot)
    with World(robot, model) as world:
        hull = robot_mesh(robot, world.leg_frames())
    meshes = [hull]
    for make in (skin_meshes, shell_meshes, section_meshes):
        meshes += [limb.mesh for limb in make(robot, model)]
    for mesh in meshes:
        assert np.isfinite(mesh.position).all()
        size = np.linalg.norm(mesh.normal, axis=1)
        np.testing.assert_allclose(size, 1.0, atol=1e-6)
        assert mesh.triangles.max() < mesh.position.shape[0]
    assert np.mean(facing(hull) > 0.0) > 0.99
    assert hull.triangles.shape[0] < 40_000  # drawn anew whenever the view moves


def test_shared_parts_have_their_volume() -> None:
    color = (1.0, 1.0, 1.0, 0.0)
    assert volume(block((0.2, 0.1, 0.05), 0.001, 0.0005, color)) == pytest.approx(
        1e-3, rel=0.02
    )
    bar = beam((0.0, 0.0, 0.0), (0.3, 0.0, 0.0), 0.02, 0.01, color)
    assert volume(bar) == pytest.approx(6e-5, abs=1e-12)
    np.testing.assert_allclose(np.ptp(bar.position, axis=0), [0.3, 0.02, 0.01])
    assert np.mean(facing(thruster(0.05, 0.06)) > 0.0) > 0.99


def reach(mesh: Mesh) -> FloatArray:
    return np.asarray(np.ptp(mesh.position, axis=0))


def test_sizes_are_the_papers() -> None:
    """Extents of what stands still, as drawn [m]; fittings stand out a little."""
    sizes = {}
    for name in NAMES:
        robot = load_robot(name)
        with World(robot, build_robot_model(robot)) as world:
            sizes[name] = reach(robot_mesh(robot, world.leg_frames()))
    assert sizes["monopus"][0] == pytest.approx(0.134, abs=0.006)  # cap, dome, cylinder
    assert sizes["monopus"][1] == pytest.approx(0.064, abs=0.004)
    assert sizes["poseidrone"][1] == pytest.approx(2 * 0.076, abs=0.03)
    assert sizes["rov-arm"][1] == pytest.approx(0.34, abs=0.03)
    # feet: mounts 389 mm apart and a leg of 346 mm to either side
    assert sizes["silver2"][1] == pytest.approx(0.389 + 2 * 0.346, abs=0.06)


def test_ground_follows_the_robot() -> None:
    low = Ground(-1.5, 0.8)
    x, y = np.array([0.3, 0.0, -0.5]), np.array([0.4, 0.1, 0.2])
    np.testing.assert_allclose(seabed_height(x, y, low), -1.5, atol=1e-12)
    near, _ = seabed_mesh(low)
    np.testing.assert_allclose(
        near.position[:, 2], seabed_height(*near.position[:, :2].T, low), atol=1e-12
    )
    # only the swell under the feet is gone; pipe and valve hang together as ever
    shift = site_mesh(Ground(-1.5)).position[:, 2] - site_mesh().position[:, 2]
    np.testing.assert_allclose(shift, -1.5 + 0.62, atol=1e-12)
    for one, other in zip(site_obstacles(Ground(-1.5)), site_obstacles(), strict=True):
        assert one.pose[2, 3] - other.pose[2, 3] == pytest.approx(-0.88)
        assert one.size == other.size


@pytest.mark.parametrize("name", ["silver2", "monopus"])
def test_the_camera_of_a_portrait_has_all_of_the_robot(name: str) -> None:
    robot = load_robot(name)
    with World(robot, build_robot_model(robot)) as world:
        camera = home_camera(robot, world, 300, 200)
        hull = robot_mesh(robot, world.leg_frames()).position
        seen = np.array([camera.project(point) for point in hull[::11]])
    share = np.ptp(seen[:, :2], axis=0) / [300, 200]
    assert seen[:, 0].min() > 0.0
    assert seen[:, 0].max() < 300.0
    assert seen[:, 1].min() > 0.0
    assert seen[:, 1].max() < 200.0
    assert share.max() > 0.25


def test_a_portrait_shows_the_robot_in_its_colours() -> None:
    image = draw_robot(load_robot("snake"), 240, 160)
    assert image.shape == (160, 240, 4)
    blue, green, red = (image[..., k].astype(float) for k in range(3))
    assert ((blue > 1.8 * red) & (blue > 150.0)).sum() > 200  # its joints
    assert ((red > 180.0) & (green > 180.0) & (blue > 180.0)).sum() > 200  # its cases


def test_a_file_is_checked_and_drawn(tmp_path: Path) -> None:
    out = tmp_path / "new" / "mine.png"
    assert check_robot("rov-arm", out).name == "rov-arm"
    assert out.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    with pytest.raises(ConfigError, match="cannot be written"):
        check_robot("rov-arm", tmp_path / "new" / "mine.png" / "below.png")
