"""A task laid before one robot's limb: in the hull frame, metres, one variant of it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from app.config.robot import build_robot_model
from app.config.robot_parameters import RobotParameters
from app.config.scene import load_scene
from app.config.scene_world import SceneWorld, build_scene_world
from app.config.task import (
    PadParameters,
    PathParameters,
    RetrieveParameters,
    TaskParameters,
)
from app.errors import ConfigError
from models.curve import Curve, build_curve
from models.numerics import FloatArray

__all__ = ["PlacedPad", "PlacedStep", "PlacedTask", "place_task", "task_robots"]

_MM = 1e-3
_YIELD = 0.02  # [m] of a limb that presses: about 2 N at a tip of 100 N/m


@dataclass(frozen=True)
class PlacedPad:
    """An elastic surface.

    Attributes:
        place: (3,) on the surface [m].
        normal: (3,) out of it, of length 1.
        stiffness: K of F = K p^n [N/m^n].
        damping: B [N s/m, or N s/m^(n+1) where n is not 1].
        exponent: n.
    """

    place: FloatArray
    normal: FloatArray
    stiffness: float
    damping: float
    exponent: float


@dataclass(frozen=True)
class PlacedStep:
    """One move of a retrieving operator, see `app.config.task.StepParameters`."""

    name: str
    place: FloatArray
    width: float
    grip: float | None
    exact: bool


@dataclass(frozen=True)
class PlacedTask:
    """What operator, scene and judge need of a task; what it has not stays empty.

    Attributes:
        parameters: as the file has them.
        variant: name of the condition.
        limb: index of the limb.
        limb_name: its name.
        pose_to_hull: (4, 4) of the task's frame.
        start: (3,) where the tip starts [m].
        targets: (n, 3) to be reached in this order [m].
        width: diameter of a target [m].
        curve: to be followed.
        speed: along the curve [m/s].
        pads: to be pressed.
        steps: of a retrieval.
        object_place: (3,) of the object's middle [m].
        goal: (3,) where the object is to go [m].
        mouth: (3,) middle of the hole's mouth [m].
        clearance: of the peg, hole less peg, on the diameter [m].
        up: (3,) the task's z axis: out of the hole, out of the basket.
        goal_radius: level distance from `goal` that counts as there [m].
        ahead: from the tip along its axis to what the operator leads: in a retrieval
            where the gripper holds the object's middle, else the tip itself [m].
        world: the scene, where the task stands in one.
    """

    parameters: TaskParameters
    variant: str
    limb: int
    limb_name: str
    pose_to_hull: FloatArray
    start: FloatArray
    up: FloatArray
    targets: FloatArray
    width: float = 0.0
    curve: Curve | None = None
    speed: float = 0.0
    pads: tuple[PlacedPad, ...] = ()
    steps: tuple[PlacedStep, ...] = ()
    object_place: FloatArray | None = None
    goal: FloatArray | None = None
    mouth: FloatArray | None = None
    clearance: float = 0.0
    goal_radius: float = 0.0
    ahead: float = 0.0
    world: SceneWorld | None = None

    @property
    def ways(self) -> FloatArray:
        """(n, 3) places that the tip must be able to reach [m]."""
        places = [self.start[None], self.targets]
        places += [step.place[None] for step in self.steps]
        if self.parameters.press is not None:
            # as deep as the force asks for, and as far again as the limb gives way
            for pad in self.pads:
                depth = (self.parameters.press.force_n / pad.stiffness) ** (
                    1.0 / pad.exponent
                )
                deep = pad.place - (depth + _YIELD) * pad.normal
                places += [pad.place[None], deep[None]]
        if self.curve is not None:
            places.append(self.curve.points[:: max(1, self.curve.arc.size // 32)])
            places.append(self.curve.points[-1:])
        return np.concatenate(places)


def task_robots(task: TaskParameters) -> list[tuple[str, str]]:
    """Return the robots that a task is for, each with the limb that does it.

    Raises:
        ConfigError: the task's scene is missing or wrong.
    """
    if task.scene is None:
        return [(item.robot, item.limb) for item in task.presets]
    return [(item.name, item.limb) for item in load_scene(task.scene).robots]


def place_task(
    task: TaskParameters, robot: RobotParameters, variant: str | None = None
) -> PlacedTask:
    """Lay a task before the limb of a robot that its scene or preset names.

    Args:
        task: as the file has it.
        robot: the robot.
        variant: one of `task.variants`; None: the first.

    Raises:
        ConfigError: not for this robot; no such limb, variant, object or scene.
    """
    variant = task.variants[0] if variant is None else variant
    if variant not in task.variants:
        raise ConfigError(
            f"Task {task.name!r} has no variant {variant!r}. There are: "
            f"{', '.join(task.variants)}."
        )
    model = build_robot_model(robot)
    if task.scene is not None:
        world = build_scene_world(load_scene(task.scene), robot, model)
        name = robot.limbs[world.limb].name
        return _fill(task, variant, world.limb, name, world.frame, world)
    preset = next((item for item in task.presets if item.robot == robot.name), None)
    if preset is None:
        able = ", ".join(item.robot for item in task.presets)
        raise ConfigError(
            f"Task {task.name!r} has no preset for the robot {robot.name!r}; it has "
            f"them for: {able}. Add a [[presets]] to a copy of its file."
        )
    names = [limb.name for limb in robot.limbs]
    if preset.limb not in names:
        raise ConfigError(
            f"Task {task.name!r}: the robot {robot.name!r} has no limb "
            f"{preset.limb!r}. It has: {', '.join(names)}."
        )
    limb = names.index(preset.limb)
    pose = _frame(model.pose_base_to_hull[limb], preset.turn_deg)
    pose[:3, 3] += pose[:3, :3] @ (_MM * np.asarray(preset.shift_mm))
    return _fill(task, variant, limb, preset.limb, pose, None)


def _frame(pose_base_to_hull: FloatArray, turn_deg: float) -> FloatArray:
    """The task's frame in the limb's base: z turned up, then turned about z."""
    c, s = math.cos(math.radians(turn_deg)), math.sin(math.radians(turn_deg))
    up = np.diag([1.0, -1.0, -1.0])  # half a turn about x
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    pose = pose_base_to_hull.copy()
    pose[:3, :3] = pose_base_to_hull[:3, :3] @ up @ turn
    return pose


def _fill(
    task: TaskParameters,
    variant: str,
    limb: int,
    limb_name: str,
    pose: FloatArray,
    world: SceneWorld | None,
) -> PlacedTask:
    number = task.variants.index(variant)

    def place(point_mm: tuple[float, float, float]) -> FloatArray:
        point: FloatArray = pose[:3, :3] @ (_MM * np.asarray(point_mm)) + pose[:3, 3]
        return point

    def pad(item: PadParameters, which: int) -> PlacedPad:
        normal = pose[:3, :3] @ np.asarray(item.normal)
        return PlacedPad(
            place(item.place_mm),
            normal / np.linalg.norm(normal),
            item.stiffness_n_per_m[which],
            item.damping_n_s_per_m,
            item.exponent,
        )

    targets, width, curve, speed = np.zeros((0, 3)), 0.0, None, 0.0
    if task.reach is not None:
        across = task.reach.diameter_mm[number // len(task.reach.target_mm)]
        width = _MM * task.reach.target_mm[number % len(task.reach.target_mm)]
        count = task.reach.count
        x, y, z = task.reach.centre_mm
        angles = 2.0 * math.pi / count * (np.arange(count) * ((count + 1) // 2))
        ring = zip(np.cos(angles), np.sin(angles), strict=True)
        r = 0.5 * across
        targets = np.stack([place((x + r * c, y + r * s, z)) for c, s in ring])
    if task.path is not None:
        curve = build_curve(_path(task.path, variant, place))
        speed = _MM * task.path.speed_mm_s
    pads: tuple[PlacedPad, ...] = ()
    if task.press is not None:
        *standard, last = task.press.pads
        pads = (*(pad(item, 0) for item in standard), pad(last, number))
    peg, mouth, clearance, up = task.peg, None, 0.0, pose[:3, 2].copy()
    if peg is not None:
        mouth = place(peg.mouth_mm)
        clearance = _MM * (peg.hole_mm[number] - peg.peg_mm)
        targets = np.stack([mouth + 0.02 * up, mouth - _MM * peg.depth_mm * up])
        width = clearance + 2.0 * _MM * peg.chamfer_mm  # what the chamfer catches
    placed = PlacedTask(
        parameters=task,
        variant=variant,
        limb=limb,
        limb_name=limb_name,
        pose_to_hull=pose,
        start=place(task.start_mm or (0.0, 0.0, 0.0)),
        up=up,
        targets=targets,
        width=width,
        curve=curve,
        speed=speed,
        pads=pads,
        mouth=mouth,
        clearance=clearance,
        world=world,
    )
    if task.retrieve is None or world is None:
        return placed
    return _with_object(placed, task.retrieve, world)


def _with_object(
    task: PlacedTask, retrieve: RetrieveParameters, world: SceneWorld
) -> PlacedTask:
    """Add what has to be fetched, where to, and how."""
    turn, origin = task.pose_to_hull[:3, :3], task.pose_to_hull[:3, 3]
    names = [item.name for item in world.objects]
    if retrieve.object not in names:
        known = ", ".join(names) or "none"
        raise ConfigError(
            f"Task {task.parameters.name!r}: its scene has no object "
            f"{retrieve.object!r}. It has: {known}."
        )
    number = names.index(retrieve.object)
    thing = world.objects[number]
    goal = origin + turn @ (_MM * np.asarray(retrieve.goal_mm))
    radius = _MM * retrieve.goal_radius_mm
    if world.basket is not None:
        goal, radius, _ = world.basket
    anchors = {"frame": origin, "object": thing.pose[:3, 3], "basket": goal}
    steps = tuple(
        PlacedStep(
            step.name,
            anchors[step.of] + turn @ (_MM * np.asarray(step.place_mm)),
            _MM * step.width_mm,
            step.grip,
            step.exact,
        )
        for step in retrieve.steps
    )
    return replace(
        task,
        start=steps[0].place,
        steps=steps,
        object_place=thing.pose[:3, 3].copy(),
        goal=goal,
        goal_radius=radius,
        ahead=_grasp_ahead(world, task.limb, number),
    )


def _grasp_ahead(world: SceneWorld, limb: int, number: int) -> float:
    """From the tip along its axis to where it holds the middle of an object [m].

    That is the gripper's middle, or further out where the object would meet the tip.
    """
    grasp = world.model.grasp
    touching = float(grasp.tip_radius[limb] + 0.5 * grasp.size[number])
    return max(0.0, float(grasp.reach[limb]), touching)


def _path(
    path: PathParameters,
    variant: str,
    place: Callable[[tuple[float, float, float]], FloatArray],
) -> Callable[[float], FloatArray]:
    """Make the map from 0..1 to places on the path [m], hull frame."""
    if path.from_mm is not None and path.to_mm is not None:
        start, way = place(path.from_mm), place(path.to_mm) - place(path.from_mm)
        return lambda share: start + share * way
    radius = path.radius_mm or 0.0
    sweep = path.sweep_deg[variant]

    def arc(share: float) -> FloatArray:
        azimuth = math.radians(path.from_deg + share * sweep)
        from_end = azimuth - math.radians(path.from_deg + 180.0)
        height = path.height_mm - path.rise_mm * math.cos(from_end)
        return place((radius * math.cos(azimuth), radius * math.sin(azimuth), height))

    return arc
