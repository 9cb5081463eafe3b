"""A picture of a robot as it stands, or in a scene, from TOML files alone."""

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.config.robot import RobotParameters, build_robot_model, load_robot
from app.config.scene import SceneParameters
from app.config.scene_reach import reached_points
from app.config.scene_world import build_scene_world
from app.scene.cameras import OrbitCamera
from app.scene.hulls import robot_mesh
from app.scene.png import write_png
from app.scene.scene import Scene, SceneFrame
from app.scene.world import World
from models.numerics import FloatArray

__all__ = ["check_robot", "draw_robot", "draw_scene", "home_camera"]

_WIDTH, _HEIGHT = 960, 640
_AZIMUTH_DEG, _ELEVATION_DEG = 38.0, 17.0
_FILLED = 0.80  # of the picture's height or width


def check_robot(file: str, out: Path | None = None) -> RobotParameters:
    """Validate a robot's file and, where asked, draw it as it stands.

    Args:
        file: path of a TOML file, or the name of a shipped robot.
        out: PNG file to write; None only validates.

    Returns:
        Its parameters.

    Raises:
        ConfigError: the file is wrong, with line, key and cure; or `out` cannot be
            written.
        DeviceError: there is no OpenGL to draw with.
    """
    robot = load_robot(file)
    build_robot_model(robot)
    if out is not None:
        write_png(out, draw_robot(robot))
    return robot


def draw_robot(
    robot: RobotParameters,
    width: int = _WIDTH,
    height: int = _HEIGHT,
    azimuth_deg: float = _AZIMUTH_DEG,
    elevation_deg: float = _ELEVATION_DEG,
) -> NDArray[np.uint8]:
    """Draw a robot in its rest posture.

    Args:
        robot: its parameters.
        width: [px].
        height: [px].
        azimuth_deg: of the viewpoint; 0 is ahead of the bow, 90 to port.
        elevation_deg: of the viewpoint.

    Returns:
        (height, width, 4) as `Scene.image` gives.

    Raises:
        DeviceError: no OpenGL, or PyBullet cannot start.
    """
    model = build_robot_model(robot)
    with Scene(robot, model, width, height) as scene:
        camera = home_camera(
            robot, scene.world, width, height, azimuth_deg, elevation_deg
        )
        rest = model.rest_coordinates
        scene.update(
            SceneFrame(
                time_ns=0,
                coordinates_model=rest,
                coordinates_confirmed=rest,
                selected_limb=-1,
                trail=False,
                ghosts=False,
            )
        )
        return scene.image(camera).copy()


def draw_scene(
    scene: SceneParameters,
    robot: RobotParameters,
    width: int = _WIDTH,
    height: int = _HEIGHT,
    azimuth_deg: float = _AZIMUTH_DEG,
    elevation_deg: float = _ELEVATION_DEG,
) -> NDArray[np.uint8]:
    """Draw a robot in a scene, its acting limb at the first point it has to reach.

    Args:
        scene: the scene.
        robot: its parameters.
        width: [px].
        height: [px].
        azimuth_deg: as of `draw_robot`.
        elevation_deg: as of `draw_robot`.

    Returns:
        (height, width, 4) as `Scene.image` gives.

    Raises:
        ConfigError: the scene has no place for this robot.
        DeviceError: no OpenGL, or PyBullet cannot start.
    """
    model = build_robot_model(robot)
    world = build_scene_world(scene, robot, model)
    pose = model.rest_coordinates.copy()
    start, stop = model.limb_segment_start[world.limb : world.limb + 2]
    for reached in reached_points(scene, robot, model)[:1]:
        pose[start:stop] = reached.coordinates
    with Scene(robot, model, width, height, world) as drawn:
        drawn.update(
            SceneFrame(
                time_ns=0,
                coordinates_model=pose,
                coordinates_confirmed=pose,
                selected_limb=world.limb,
                trail=False,
                ghosts=False,
            )
        )
        camera = home_camera(
            robot, drawn.world, width, height, azimuth_deg, elevation_deg
        )
        return drawn.image(camera).copy()


def home_camera(
    robot: RobotParameters,
    world: World,
    width: int,
    height: int,
    azimuth_deg: float = _AZIMUTH_DEG,
    elevation_deg: float = _ELEVATION_DEG,
) -> OrbitCamera:
    """Make the camera that has the whole robot, as posed now, in its picture.

    Args:
        robot: its parameters.
        world: where it is posed.
        width: [px].
        height: [px].
        azimuth_deg: as of `draw_robot`.
        elevation_deg: as of `draw_robot`.
    """
    points = _outline(robot, world)
    camera = OrbitCamera(width, height)
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    distance = 2.0 * float(np.linalg.norm(points - middle, axis=1).max())
    for _ in range(8):  # towards the distance and the focus that fill the picture
        camera = OrbitCamera(width, height, tuple(middle), distance)
        camera.azimuth = math.radians(azimuth_deg)
        camera.elevation = math.radians(elevation_deg)
        camera.orbit(0.0, 0.0)
        seen = np.array([camera.project(point) for point in points])
        low, high = seen[:, :2].min(axis=0), seen[:, :2].max(axis=0)
        off = 0.5 * (low + high) - 0.5 * np.array([width, height])
        scale = camera.pixel_size(middle)
        middle = middle + scale * (off[0] * camera.axes[0] - off[1] * camera.axes[1])
        share = float(((high - low) / np.array([width, height])).max())
        distance *= share / _FILLED
    return camera


def _outline(robot: RobotParameters, world: World) -> FloatArray:
    """(n, 3) points about the robot as posed [m]."""
    hull = robot_mesh(robot, world.leg_frames()).position
    limbs = world.skin_frames("confirmed")[..., :3, 3].reshape(-1, 3)
    tips = world.tip_poses("confirmed")
    reach = [
        1e-3 * (limb.gripper.length_mm if limb.gripper else 0.0) for limb in robot.limbs
    ]
    ends = tips[:, :3, 3] + np.asarray(reach)[:, None] * tips[:, :3, 2]
    return np.concatenate([hull[::7], limbs, ends])
