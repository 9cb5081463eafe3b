"""All of a robot that stands still in the scene, one mesh in the hull frame."""

import numpy as np

from app.config.robot import RobotParameters
from app.scene.crawler import arm_bracket, crawler_meshes
from app.scene.legs import leg_mesh
from app.scene.meshes import Mesh, merge, move, pose_along
from app.scene.modules import module_mesh
from app.scene.octopus import bars_meshes, cone_meshes, mantle_bracket, mantle_mesh
from app.scene.rov import arm_coupling, rov_meshes
from app.scene.vehicle import hull_mesh
from models.numerics import FloatArray

__all__ = ["robot_mesh"]


def robot_mesh(robot: RobotParameters, leg_frames: FloatArray) -> Mesh:
    """Build hull, legs and mantle, whatever the robot has of them.

    Args:
        robot: its parameters.
        leg_frames: (legs, 4, 4, 4) as `World.leg_frames` gives [m].
    """
    if robot.hull.shape == "squid":
        parts = [hull_mesh(robot)]
    else:
        parts = _BUILDERS[robot.hull.shape](robot)
    for leg, frames in zip(robot.legs, leg_frames, strict=True):
        parts.append(leg_mesh(leg, frames))
    if robot.mantle is not None:
        bare = robot.hull.shape != "cone"
        core = 0.0 if bare else 0.5e-3 * (robot.hull.diameter_mm or 0.0)
        parts.append(mantle_mesh(robot.mantle, core))
        if bare:
            parts.append(mantle_bracket(robot.mantle))
    return merge(parts)


def _vehicle(robot: RobotParameters) -> list[Mesh]:
    parts = rov_meshes(robot.hull)
    bottom = -0.5e-3 * (robot.hull.height_mm or 0.0)
    for limb in robot.limbs:
        base = np.asarray(limb.base_position_mm) * 1e-3
        drop = max(bottom - float(base[2]), 0.0)
        pose = pose_along(base + np.array([0.0, 0.0, drop]), (0.0, 0.0, 1.0))
        parts.append(move(arm_coupling(drop, 0.5e-3 * limb.base_diameter_mm), pose))
    return parts


def _frame(robot: RobotParameters) -> list[Mesh]:
    parts = crawler_meshes(robot.hull, robot.legs)
    for limb in robot.limbs:
        x, y, z = (value * 1e-3 for value in limb.base_position_mm)
        parts += arm_bracket(x, y, z, robot.hull)
        pose = pose_along((x, y, z), limb.base_direction)
        parts.append(move(arm_coupling(0.0, 0.5e-3 * limb.base_diameter_mm), pose))
    return parts


def _bars(robot: RobotParameters) -> list[Mesh]:
    ends = np.array([limb.base_position_mm for limb in robot.limbs]) * 1e-3
    return bars_meshes(robot.hull, ends)


def _cone(robot: RobotParameters) -> list[Mesh]:
    return cone_meshes(robot.hull)


def _module(robot: RobotParameters) -> list[Mesh]:
    radius = 0.5e-3 * (robot.hull.diameter_mm or 0.0)
    propellers = robot.snake.propellers if robot.snake else ()
    own = [propeller for propeller in propellers if propeller.module == 0]
    return [module_mesh(robot.hull.length_mm * 1e-3, radius, own, tail=True)]


_BUILDERS = {
    "vehicle": _vehicle,
    "frame": _frame,
    "bars": _bars,
    "cone": _cone,
    "module": _module,
}
