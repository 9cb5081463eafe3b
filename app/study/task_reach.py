"""Whether a robot's limb can get to every place that a task asks of it."""

import math
from typing import NamedTuple

import numpy as np

from app.config.robot import build_robot_model
from app.config.robot_parameters import RobotParameters
from app.config.scene import load_scene
from app.config.scene_posture import robot_in_scene
from app.config.task import TaskParameters
from app.config.task_place import PlacedTask, place_task
from app.errors import ConfigError
from app.study.reach import limb_model
from models.clearance import allocate_clearance_data, limb_clearance
from models.inverse import allocate_inverse_data, inverse_solve, inverse_step
from models.limb import limb_poses
from models.numerics import FloatArray
from models.obstacle import build_obstacle_model

__all__ = ["TaskReach", "check_task", "check_variants", "require_reach"]

_NEAR = 1e-3  # [m] that count as reached
_STEPS = 2000
_PERIOD_S = 4e-3  # of the inverse kinematics while a gripper is led
_SPEED = 0.05  # [m/s] of a gripper that is led
_SETTLING_S = 3.0  # at every place
_LOOKS = 25  # periods from one look at the clearance to the next


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
    """Try every place, from the one before.

    A tip starts at the rest posture. A gripper is led along straight lines as the
    control loop does it, from the limp arm that hangs straight: through which postures
    an arm comes to a place decides how it folds there.

    Args:
        task: laid before the robot.
        robot: the robot.
    """
    if task.parameters.scene is not None:
        robot = robot_in_scene(robot, load_scene(task.parameters.scene))
    arm = _Arm(task, robot)
    lead = arm.lead if task.steps else arm.go
    if task.steps:
        lead(task.start)  # out of the singular posture, which takes a while
    misses = [lead(place) for place in task.ways]
    return TaskReach(task.variant, task.ways, np.array(misses), arm.skin.least)


class _Arm:
    """The limb of a task under the inverse kinematics of the control loop."""

    def __init__(self, task: PlacedTask, robot: RobotParameters) -> None:
        self._model = model = build_robot_model(robot)
        self._limb, self._ahead = task.limb, task.ahead
        self._base = model.pose_base_to_hull[task.limb]
        start, stop = model.limb_segment_start[task.limb : task.limb + 2]
        self._coordinates = model.rest_coordinates[start:stop].copy()
        if task.steps:
            self._coordinates[:] = 0.0
        self._data = allocate_inverse_data(model)
        self._poses = np.zeros((int(stop - start) + 1, 4, 4))
        self.skin = _Skin(task, robot)

    def _axis(self) -> tuple[FloatArray, FloatArray]:
        """Tip and its direction (3,), base frame."""
        limb_poses(self._model, self._limb, self._coordinates, self._poses)
        return self._poses[-1, :3, 3].copy(), self._poses[-1, :3, 2].copy()

    def _local(self, place: FloatArray) -> FloatArray:
        local: FloatArray = self._base[:3, :3].T @ (place - self._base[:3, 3])
        return local

    def go(self, place: FloatArray) -> float:
        """Bring the tip to a place (3,), hull frame; what is left [m]."""
        target = self._local(place)
        inverse_solve(
            self._model, self._limb, target, _STEPS, self._data, self._coordinates
        )
        self.skin.add(self._coordinates)
        return float(np.linalg.norm(target - self._axis()[0]))

    def lead(self, place: FloatArray) -> float:
        """Lead the gripper there."""
        end = self._local(place)
        tip, axis = self._axis()
        begin = tip + self._ahead * axis
        moving = math.ceil(float(np.linalg.norm(end - begin)) / (_SPEED * _PERIOD_S))
        for k in range(1, moving + round(_SETTLING_S / _PERIOD_S) + 1):
            wanted = begin + min(1.0, k / max(1, moving)) * (end - begin)
            inverse_step(
                self._model,
                self._limb,
                wanted - self._ahead * axis,
                _PERIOD_S,
                self._coordinates,
                self._data,
                self._coordinates,
            )
            _, axis = self._axis()
            if k % _LOOKS == 0:
                self.skin.add(self._coordinates)
        tip, axis = self._axis()
        return float(np.linalg.norm(end - tip - self._ahead * axis))


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
