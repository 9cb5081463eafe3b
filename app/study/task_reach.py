"""Whether a robot's limb can get to every place that a task asks of it."""

from typing import NamedTuple

import numpy as np

from app.config.robot import build_robot_model
from app.config.robot_parameters import RobotParameters
from app.config.task import TaskParameters
from app.config.task_place import PlacedTask, place_task
from app.errors import ConfigError
from app.study.reach import limb_model
from models.clearance import allocate_clearance_data, limb_clearance
from models.inverse import allocate_inverse_data, inverse_solve
from models.limb import limb_poses
from models.numerics import FloatArray
from models.obstacle import build_obstacle_model

__all__ = ["TaskReach", "check_task", "check_variants", "require_reach"]

_NEAR = 1e-3  # [m] that count as reached
_STEPS = 2000
_STEPS_BETWEEN = 100
_MET = 1e-4  # [m] at which gripper and tip's direction fit
_TURNS = 12  # of gripper and tip's direction, until they fit
_SHARE = 0.7
_BETWEEN = 10  # postures from one place to the next, for the clearance


class TaskReach(NamedTuple):
    """How near a limb gets to the places of a task, and how clear of its solids."""

    variant: str
    places: FloatArray
    """(n, 3) hull frame [m]."""
    misses: FloatArray
    """(n,) of the tip, under the inverse kinematics of the control loop [m]."""
    clearance: float
    """Least distance of the limb's skin to the solids on the way [m]; infinite where
    there are none, negative where it goes through one."""

    @property
    def reached(self) -> bool:
        """Whether every place is met within a millimetre, through no solid."""
        return bool(np.all(self.misses < _NEAR)) and self.clearance > 0.0


def check_task(task: PlacedTask, robot: RobotParameters) -> TaskReach:
    """Try every place, from the one before, along a straight line of the tip.

    Args:
        task: laid before the robot.
        robot: the robot.
    """
    model = build_robot_model(robot)
    start, stop = model.limb_segment_start[task.limb : task.limb + 2]
    coordinates = model.rest_coordinates[start:stop].copy()
    base = model.pose_base_to_hull[task.limb]
    data = allocate_inverse_data(model)
    poses = np.zeros((int(stop - start) + 1, 4, 4))
    skin = _Skin(task, robot)
    misses: list[float] = []
    before: FloatArray | None = None
    for place in task.ways:
        local = base[:3, :3].T @ (place - base[:3, 3])
        between = 1 if before is None else _BETWEEN
        off = np.zeros(3)
        for k in range(1, between + 1):
            way = local if before is None else before + k / between * (local - before)
            target = way.copy()
            for _ in range(_TURNS):
                steps = _STEPS if k == between else _STEPS_BETWEEN
                inverse_solve(model, task.limb, target, steps, data, coordinates)
                limb_poses(model, task.limb, coordinates, poses)
                off = way - poses[-1, :3, 3] - task.ahead * poses[-1, :3, 2]
                target += _SHARE * off
                if task.ahead == 0.0 or float(np.linalg.norm(off)) < _MET:
                    break
            skin.add(coordinates)
        misses.append(float(np.linalg.norm(off)))
        before = local
    return TaskReach(task.variant, task.ways, np.array(misses), skin.least)


class _Skin:
    """The least clearance of a limb to a task's solids so far."""

    def __init__(self, task: PlacedTask, robot: RobotParameters) -> None:
        model = build_robot_model(robot)
        inverse = np.linalg.inv(model.pose_base_to_hull[task.limb])
        self.least = np.inf
        self._limb = limb_model(robot.limbs[task.limb], model, task.limb)
        solids = () if task.world is None or not task.steps else task.world.obstacles
        self._solids = build_obstacle_model(
            [(solid.kind, inverse @ solid.pose, solid.size) for solid in solids]
        )
        self._data = allocate_clearance_data(self._limb)
        self._gradient = np.zeros((self._limb.segment_length.size, 3))

    def add(self, coordinates: FloatArray) -> None:
        """Take in a posture (n, 3)."""
        clear = limb_clearance(
            self._limb, self._solids, coordinates, self._data, self._gradient
        )
        self.least = min(self.least, float(clear))


def check_variants(task: TaskParameters, robot: RobotParameters) -> list[TaskReach]:
    """Check every variant of a task.

    Raises:
        ConfigError: the task has no preset for the robot.
    """
    return [
        check_task(place_task(task, robot, variant), robot) for variant in task.variants
    ]


def require_reach(task: PlacedTask, robot: RobotParameters) -> None:
    """Refuse a task that the limb cannot do.

    Raises:
        ConfigError: a place is out of reach; the message names it.
    """
    found = check_task(task, robot)
    if found.reached:
        return
    worst = int(np.argmax(found.misses))
    place = ", ".join(f"{1e3 * value:.0f}" for value in found.places[worst])
    raise ConfigError(
        f"Task {task.parameters.name!r}, {task.variant}: the limb {task.limb_name!r} "
        f"ends {1e3 * found.misses[worst]:.1f} mm from ({place}) mm in the hull frame, "
        f"{1e3 * found.clearance:.0f} mm clear of solids. Move the task with shift_mm "
        "in a preset of a copy of its file."
    )
