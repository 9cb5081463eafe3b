"""Whether the limb that is to act in a scene reaches what it is to reach there.

The robot's own inverse kinematics is asked, from the rest posture and then from each
point to the next, as an operator goes. Obstacles are not avoided: a free path is the
operator's, or the task's, affair.
"""

from typing import NamedTuple

import numpy as np

from app.config.robot_model import build_robot_model
from app.config.robot_parameters import RobotParameters
from app.config.scene import SceneParameters
from app.config.scene_posture import robot_in_scene
from app.config.scene_world import SceneWorld, build_scene_world
from app.errors import ConfigError
from models.inverse import allocate_inverse_data, inverse_solve
from models.limb import limb_poses
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = ["Reached", "check_reach", "reached_points"]

_STEPS = 2000
_MISS_M = 2e-3
_TURNS = 12  # of tip and gripper's direction, until they fit


class Reached(NamedTuple):
    """How near the limb comes to one thing.

    Attributes:
        what: in words.
        wanted: (3,) [m], hull frame.
        miss: distance that is left [m].
        allowed: greatest distance [m].
        coordinates: (n, 3) of the limb there [rad, rad, m].
    """

    what: str
    wanted: FloatArray
    miss: float
    allowed: float
    coordinates: FloatArray


class _Arm:
    """One limb that goes from point to point."""

    def __init__(self, model: RobotModel, limb: int) -> None:
        self._model, self._limb = model, limb
        start, stop = model.limb_segment_start[limb : limb + 2]
        self.coordinates: FloatArray = model.rest_coordinates[start:stop].copy()
        self._data = allocate_inverse_data(model)
        self._frames = np.zeros((int(stop - start) + 1, 4, 4))
        self._base = model.pose_base_to_hull[limb]

    def tip(self) -> FloatArray:
        """(4, 4) pose of the tip in the hull [m]."""
        limb_poses(self._model, self._limb, self.coordinates, self._frames)
        pose: FloatArray = self._base @ self._frames[-1]
        return pose

    def go(self, point: FloatArray, ahead: float = 0.0) -> float:
        """Bring the tip, or what is `ahead` of it, to a point; what is left [m]."""
        target = point
        miss = np.inf
        for _ in range(1 if ahead == 0.0 else _TURNS):
            local = self._base[:3, :3].T @ (target - self._base[:3, 3])
            inverse_solve(
                self._model, self._limb, local, _STEPS, self._data, self.coordinates
            )
            tip = self.tip()
            off = point - tip[:3, 3] - ahead * tip[:3, 2]
            miss = float(np.linalg.norm(off))
            target = target + 0.7 * off
        return miss


def reached_points(
    scene: SceneParameters, robot: RobotParameters, model: RobotModel
) -> list[Reached]:
    """Find how near the acting limb comes to all that a scene asks of it.

    That is each of `reach_mm` with its tip and, where it has a gripper, each object and
    the place right above the basket's opening with its gripper.

    Args:
        scene: the scene.
        robot: the robot's parameters.
        model: its model.

    Returns:
        One entry a thing, in the order in which they are gone to.

    Raises:
        ConfigError: as `build_scene_world`.
    """
    world = build_scene_world(scene, robot, model)
    arm = _Arm(build_robot_model(robot_in_scene(robot, scene)), world.limb)
    found = []
    for point in world.reach:
        miss = arm.go(point)
        where = [round(1e3 * float(value)) for value in point]
        found.append(
            Reached(f"{where} mm", point, miss, _MISS_M, arm.coordinates.copy())
        )
    for what, place, ahead, allowed in _grips(world):
        miss = arm.go(place, ahead)
        found.append(Reached(what, place, miss, allowed, arm.coordinates.copy()))
    return found


def _grips(world: SceneWorld) -> list[tuple[str, FloatArray, float, float]]:
    """What the gripper has to reach: name, place, from tip to gripper, allowed."""
    grasp = world.model.grasp
    own = float(grasp.reach[world.limb])
    if own < 0.0:
        return []
    radius = float(grasp.tip_radius[world.limb])
    offset = float(grasp.rule[0])
    listed = []
    for number, item in enumerate(world.objects):
        ahead = max(own, radius + 0.5 * float(grasp.size[number]))
        listed.append((f"object {item.name}", item.pose[:3, 3], ahead, offset))
        if world.basket is not None:
            opening, half, _ = world.basket
            above = opening + np.array([0.0, 0.0, float(item.size.max())])
            name = f"over the basket with {item.name}"
            listed.append((name, above, ahead, 0.5 * half))
    return listed


def check_reach(
    scene: SceneParameters, robot: RobotParameters, model: RobotModel
) -> None:
    """Refuse a scene whose things the acting limb cannot reach.

    Args:
        scene: the scene.
        robot: the robot's parameters.
        model: its model.

    Raises:
        ConfigError: names what is out of reach and by how much.
    """
    for item in reached_points(scene, robot, model):
        if not item.miss <= item.allowed:
            raise ConfigError(
                f"The scene {scene.name!r}: the limb of {robot.name!r} misses "
                f"{item.what} by {1e3 * item.miss:.0f} mm (allowed "
                f"{1e3 * item.allowed:.0f}). Move it, or origin_mm of the robot's "
                "table [[robots]], nearer."
            )
