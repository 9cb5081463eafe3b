"""What a simulated robot looks like at one moment: surfaces in the world, by patches.

Limbs are tubes along their centre line, tapered as they are; hulls stand for themselves
in plain shapes. Only what the simulation knows is drawn: no tools or propellers.
"""

from typing import NamedTuple

import numpy as np

from app.config.case import CaseParameters, ObjectCase
from app.config.robot import RobotParameters
from app.config.tree import LimbPlan, TreePlan
from app.config.tree_hull import hull_outline
from app.study.legged_load import leg_lines
from app.study.simulation_run import Sample
from models.numerics import FloatArray
from models.tree import allocate_tree_data, allocate_tree_work
from models.tree_motion import tree_motion

__all__ = ["Surface", "centre_line", "robot_surfaces"]

_AROUND = 20
_BETWEEN = 5  # sections of a tube between two points of the tree
_HULL_COLOR = "#9fb0ba"
_MODULE_COLOR = "#f2b705"
_GRIPPER_COLOR = "#5d6b74"
_OBJECT_COLOR = "#c9a24b"


class Surface(NamedTuple):
    """A grid of points in space, one row a section."""

    points: FloatArray
    """(M, A, 3) [m]."""
    color: str


def centre_line(
    plan: TreePlan, limb: LimbPlan, sample: Sample
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sections along a limb, rigid parts included.

    Returns:
        (M, 3) centres in the world [m], (M,) radii [m], (M,) element of each.
    """
    model = plan.model
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    data.root_pose[:] = sample.root_pose
    data.position[:] = sample.position
    tree_motion(model, 0.0, data, work)
    centres: list[FloatArray] = []
    radii: list[float] = []
    owners: list[int] = []
    for element in limb.elements:
        first, stop = (int(x) for x in model.element_step_start[element : element + 2])
        start, axis = _start(plan, element, work.point_position, work.point_rotation)
        before, radius = start, float(model.point_radius[first])
        if element in {piece.element for piece in limb.pieces}:
            piece = next(p for p in limb.pieces if p.element == element)
            radius = limb.radius(piece.start)
        centres.append(before)
        radii.append(radius)
        owners.append(element)
        for point in range(first, stop):
            here = work.point_position[point]
            towards = work.point_rotation[point][:, 2]
            length = float(model.step_length[point])
            end = float(model.point_radius[point])
            for share in np.linspace(0.0, 1.0, _BETWEEN + 1)[1:]:
                centres.append(_hermite(before, axis, here, towards, length, share))
                radii.append(radius + (end - radius) * share)
                owners.append(element)
            before, axis, radius = here, towards, end
    rotation, origin = sample.root_pose[:3, :3], sample.root_pose[:3, 3]
    return (
        np.array(centres) @ rotation.T + origin,
        np.array(radii),
        np.array(owners),
    )


def _start(
    plan: TreePlan, element: int, position: FloatArray, rotation: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Where an element starts, and its axis there, root frame."""
    pose = plan.model.element_pose[element]
    parent = int(plan.model.element_parent[element])
    if parent < 0:
        return pose[:3, 3].copy(), pose[:3, 2].copy()
    last = int(plan.model.element_step_start[parent + 1]) - 1
    turn = rotation[last]
    return position[last] + turn @ pose[:3, 3], turn @ pose[:3, 2]


def _hermite(
    a: FloatArray, along_a: FloatArray, b: FloatArray, along_b: FloatArray,
    length: float, t: float,
) -> FloatArray:  # fmt: skip
    """Cubic between two points with the directions of the line in them."""
    whole: FloatArray = (
        (2 * t**3 - 3 * t**2 + 1) * a
        + (t**3 - 2 * t**2 + t) * length * along_a
        + (-2 * t**3 + 3 * t**2) * b
        + (t**3 - t**2) * length * along_b
    )
    return whole


def robot_surfaces(
    robot: RobotParameters, plan: TreePlan, case: CaseParameters, sample: Sample
) -> list[Surface]:
    """All surfaces of a robot and of free objects at one moment, in the world."""
    pose = sample.root_pose
    surfaces = [
        Surface(face @ place[:3, :3].T + place[:3, 3], _OBJECT_COLOR)
        for item, place in zip(case.objects, sample.objects, strict=True)
        for face in _object(item)
    ]
    if case.base.limb is None:
        surfaces += [
            Surface(points @ pose[:3, :3].T + pose[:3, 3], color)
            for points, color in _hull(robot)
        ]
    for limb in plan.limbs:
        centres, radii, owners = centre_line(plan, limb, sample)
        soft = {piece.element for piece in limb.pieces}
        for element in limb.elements:
            own = owners == element
            color = limb.limb.color
            if element not in soft:
                module = element in limb.modules
                color = _MODULE_COLOR if module else _GRIPPER_COLOR
            surfaces.append(Surface(tube(centres[own], radii[own]), color))
    surfaces += _legs(plan, sample)
    if sample.mantle.size and robot.mantle is not None:
        surfaces.append(_mantle(robot, sample))
    return surfaces


def _legs(plan: TreePlan, sample: Sample) -> list[Surface]:
    """Bars of the legs, where they are simulated."""
    if not plan.legs:
        return []
    data, work = allocate_tree_data(plan.model), allocate_tree_work(plan.model)
    data.root_pose[:] = sample.root_pose
    data.position[:] = sample.position
    tree_motion(plan.model, 0.0, data, work)
    rotation, origin = sample.root_pose[:3, :3], sample.root_pose[:3, 3]
    return [
        Surface(tube(points @ rotation.T + origin, np.full(len(points), radius)), color)
        for points, radius, color in leg_lines(plan.legs, plan.model, work)
    ]


def tube(centres: FloatArray, radii: FloatArray) -> FloatArray:
    """(M+2, A, 3) a tube with closed ends around a line, without twist."""
    tangents = np.gradient(centres, axis=0)
    tangents /= np.linalg.norm(tangents, axis=1, keepdims=True) + 1e-12
    side = np.cross(tangents[0], [0.3, -0.5, 0.81])
    side /= np.linalg.norm(side)
    angle = np.linspace(0.0, 2.0 * np.pi, _AROUND + 1)
    rings = []
    for centre, tangent, radius in zip(centres, tangents, radii, strict=True):
        side = side - (side @ tangent) * tangent
        side /= np.linalg.norm(side)
        other = np.cross(tangent, side)
        ring = np.outer(np.cos(angle), side) + np.outer(np.sin(angle), other)
        rings.append(centre + radius * ring)
    first = np.repeat(centres[:1], _AROUND + 1, axis=0)
    last = np.repeat(centres[-1:], _AROUND + 1, axis=0)
    return np.array([first, *rings, last])


def _revolved(
    axis_points: FloatArray, radii: FloatArray, direction: FloatArray
) -> FloatArray:
    """(M, A, 3) a surface of revolution about a straight axis."""
    side = np.cross(direction, [0.3, -0.5, 0.81])
    side /= np.linalg.norm(side)
    other = np.cross(direction, side)
    angle = np.linspace(0.0, 2.0 * np.pi, 2 * _AROUND + 1)
    ring = np.outer(np.cos(angle), side) + np.outer(np.sin(angle), other)
    skin: FloatArray = axis_points[:, None] + radii[:, None, None] * ring[None]
    return skin


def _object(item: ObjectCase) -> list[FloatArray]:
    """Surfaces of a free object in its own frame."""
    size = 1e-3 * np.asarray(item.size_mm)
    if item.shape == "box":
        return _box(0.5 * size)
    if item.shape == "cylinder":
        half = 0.5 * size[1]
        along = np.outer([-half, -half, half, half], [0.0, 0.0, 1.0])
        radii = np.array([0.0, size[0], size[0], 0.0])
        return [_revolved(along, radii, np.array([0.0, 0.0, 1.0]))]
    part = np.linspace(0.0, np.pi, 15)
    up = np.array([0.0, 0.0, 1.0])
    return [_revolved(np.outer(size[0] * np.cos(part), up), size[0] * np.sin(part), up)]


def _hull(robot: RobotParameters) -> list[tuple[FloatArray, str]]:
    """Surfaces of the root in its own frame."""
    size = hull_outline(robot.hull)
    length = size[0]
    shape = robot.hull.shape
    x = np.array([1.0, 0.0, 0.0])
    if shape == "squid":
        part = np.linspace(0.0, np.pi, 25)
        along = -0.5 * length * (1.0 - np.cos(part))
        return [
            (
                _revolved(np.outer(along, x), 0.5 * size[1] * np.sin(part), x),
                _HULL_COLOR,
            )
        ]
    if shape == "cone":
        along = np.array([0.0, -length, -length])
        radii = np.array([0.0, 0.5 * size[1], 0.0])
        return [(_revolved(np.outer(along, x), radii, x), _HULL_COLOR)]
    if shape == "bars":
        ends = [1e-3 * np.asarray(limb.base_position_mm) for limb in robot.limbs]
        return [
            (
                tube(np.linspace(np.zeros(3), end, 5), np.full(5, 0.5 * size[1])),
                _HULL_COLOR,
            )
            for end in ends
        ]
    if shape == "module":
        line = np.outer(np.linspace(0.0, length, 5), x)
        return [(tube(line, np.full(5, 0.5 * size[1])), _MODULE_COLOR)]
    return [(face, _HULL_COLOR) for face in _box(0.5 * size)]


def _box(half: FloatArray) -> list[FloatArray]:
    """Six (2, 2, 3) faces of a box about the origin."""
    faces = []
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        for sign in (-1.0, 1.0):
            face = np.empty((2, 2, 3))
            for a in range(2):
                for b in range(2):
                    face[a, b, k] = sign * half[k]
                    face[a, b, i] = (2 * a - 1) * half[i] * sign
                    face[a, b, j] = (2 * b - 1) * half[j]
            faces.append(face)
    return faces


def _mantle(robot: RobotParameters, sample: Sample) -> Surface:
    """The mantle as it is, (r, z) of its nodes about its axis."""
    mantle = robot.mantle
    if mantle is None:
        raise ValueError("only a robot with a mantle has one to draw")
    axis = np.asarray(mantle.direction) / np.linalg.norm(mantle.direction)
    radii, height = sample.mantle[:, 0], sample.mantle[:, 1]
    middle = 1e-3 * np.asarray(mantle.position_mm)
    # the rigid cap closes the front
    radii = np.concatenate([[0.0], radii])
    height = np.concatenate([[height[0] + 0.3 * radii[1]], height])
    points = _revolved(middle + height[:, None] * axis, radii, axis)
    pose = sample.root_pose
    return Surface(points @ pose[:3, :3].T + pose[:3, 3], mantle.color)
