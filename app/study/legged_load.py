"""Legs of a simulated robot: their drives, commanded by a case, and how they look."""

import numpy as np

from app.config.case import CaseParameters
from app.config.case_legs import LegsCase
from app.config.kinematics import leg_model
from app.config.robot_parameters import RobotParameters
from app.config.tree_legs import LegPlan, leg_drives
from app.errors import ConfigError
from app.study.legged_run import legged_gait
from app.study.simulation_loads import PlainLoad
from models.leg_drive import (
    add_leg_drives,
    allocate_leg_drive_data,
    move_motors,
    read_leg_torques,
)
from models.leg_inverse import leg_reasons
from models.legged import (
    LeggedCourse,
    allocate_legged_work,
    legged_command,
    make_course,
)
from models.numerics import FloatArray
from models.tree import TreeData, TreeModel, TreeWork

__all__ = ["LegLoad", "leg_lines", "make_leg_load"]


def _course(legs: LegsCase) -> LeggedCourse:
    walk, rise = legs.walk, legs.rise
    motion: dict[str, object] = {}
    if rise is not None:
        motion = {
            "rise": (rise.start_s, rise.end_s),
            "motion_from": np.concatenate(
                [1e-3 * np.asarray(rise.from_mm), np.radians(rise.from_tilt_deg)]
            ),
            "motion_to": np.concatenate(
                [1e-3 * np.asarray(rise.to_mm), np.radians(rise.to_tilt_deg)]
            ),
        }
    start = np.inf if walk is None else walk.start_s
    ramp = 1.0 if walk is None else walk.ramp_s
    return make_course(walk_start=start, walk_ramp=ramp, **motion)  # type: ignore[arg-type]


class LegLoad(PlainLoad):
    """The drives of all leg joints, from the angles that the case's course wants."""

    def __init__(
        self,
        robot: RobotParameters,
        plans: tuple[LegPlan, ...],
        model: TreeModel,
        legs: LegsCase,
    ) -> None:
        """Prepare gait and drives.

        Raises:
            ConfigError: the robot has no legs, or no gait for their number.
        """
        kinematics = leg_model(robot)
        if kinematics is None:
            raise ConfigError(f"[legs]: {robot.name!r} has no legs: leave it away.")
        self._legs = kinematics
        walk = legs.walk
        if walk is None:
            self._gait = legged_gait(robot)
        else:
            self._gait = legged_gait(
                robot,
                walk.gait,
                speed=1e-3 * walk.speed_mm_s,
                stride=1e-3 * walk.stride_mm,
                elevation=1e-3 * walk.elevation_mm,
                direction=np.radians(walk.direction_deg),
                turn=np.radians(walk.turn_deg),
            )
        self._course = _course(legs)
        self._drives = leg_drives(plans, model)
        self._work = allocate_legged_work(len(plans))
        command = np.zeros(self._drives.dof.size)
        legged_command(self._legs, self._gait, self._course, 0.0, self._work, command)
        self._data = allocate_leg_drive_data(self._drives, command)
        self._begun = False
        self.channels = [
            (f"{plan.leg.name} {joint}", "N m")
            for plan in plans
            for joint in ("coxa", "femur", "tibia")
        ]

    def set_inputs(self, time_s: float, data: TreeData) -> None:
        """Command the joints; at the start, put them there."""
        legged_command(
            self._legs, self._gait, self._course, time_s, self._work, self._data.command
        )
        if not self._begun:
            data.position[self._drives.dof] = self._data.command
            self._begun = True

    def add(self, period: float, data: TreeData, work: TreeWork) -> None:
        """Move the motors and add their torques."""
        move_motors(self._drives, period, self._data)
        add_leg_drives(self._drives, period, data, self._data, work)

    def finish(self, period: float, work: TreeWork) -> str:
        """Read the torques at the step's end."""
        read_leg_torques(self._drives, work, self._data)
        return ""

    def values(self) -> list[float]:
        """Return the torques of the drives [N m]."""
        return [float(torque) for torque in self._data.torque]

    def unreached(self) -> list[str]:
        """What kept a leg from a commanded foot so far, in words."""
        return sorted({w for bits in self._work.status for w in leg_reasons(bits)})


def make_leg_load(
    robot: RobotParameters,
    plans: tuple[LegPlan, ...],
    model: TreeModel,
    case: CaseParameters,
    legs: LegsCase | None,
) -> LegLoad | None:
    """Make the drives of a case's legs; None where no leg is simulated.

    Raises:
        ConfigError: the case commands legs that are not simulated.
    """
    if plans:
        return LegLoad(robot, plans, model, legs or LegsCase())
    if legs is not None:
        raise ConfigError(
            f"[legs]: no leg of {robot.name!r} is simulated: take a robot on legs, and "
            f'write base.motion = "floating" in place of "{case.base.motion}".'
        )
    return None


def leg_lines(
    plans: tuple[LegPlan, ...], model: TreeModel, work: TreeWork
) -> list[tuple[FloatArray, float, str]]:
    """Lines of all legs from coxa to foot, root frame, after `tree_motion`.

    Returns:
        (4, 3) points [m], radius [m] and colour of each leg.
    """
    lines = []
    for plan in plans:
        ends = [int(model.element_step_start[k + 1]) - 1 for k in plan.links]
        joints = [int(model.element_step_start[k]) for k in plan.joints[:2]]
        points = work.point_position[[*joints, *ends]]
        lines.append((points, float(model.point_radius[ends[0]]), plan.leg.color))
    return lines
