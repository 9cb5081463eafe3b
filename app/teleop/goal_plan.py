"""Goals as people write them (`app.config.goals`) to goals as robots know them."""

import math

from app.config.goals import GoalParameters, GoalPlanParameters, load_goal_plan
from app.config.robot_parameters import RobotParameters
from app.errors import ConfigError
from app.teleop.goals import GREATEST_FORCE, Goal, GoalKind, Vector

__all__ = ["make_goal", "make_plan", "plan_for"]

_MM = 1e-3
_PRESS_FORCE = 1.0  # N, where none is named


def make_goal(parameters: GoalParameters, robot: RobotParameters) -> Goal:
    """Make one goal.

    Args:
        parameters: as written.
        robot: has the limbs.

    Raises:
        ConfigError: there is no such limb.
    """
    names = [limb.name for limb in robot.limbs]
    if parameters.limb not in names:
        raise ConfigError(
            f"{robot.name} has no limb {parameters.limb!r}: it has {', '.join(names)}."
        )
    kind = GoalKind[parameters.kind.upper()]
    force = _PRESS_FORCE if kind is GoalKind.PRESS else GREATEST_FORCE
    along = parameters.along or (0.0, 0.0, 0.0)
    length = math.hypot(*along) or 1.0
    x, y, z = (value / length for value in along)
    return Goal(
        number=1,
        kind=kind,
        limb=names.index(parameters.limb),
        position=_metres(parameters.at_mm or (0.0, 0.0, 0.0)),
        normal=(x, y, z),
        points=tuple(_metres(point) for point in parameters.via_mm),
        speed=_MM * parameters.speed_mm_s,
        force=parameters.force_n or force,
        time=parameters.hold_s,
        tolerance=_MM * parameters.tolerance_mm,
    )


def make_plan(
    parameters: GoalPlanParameters, robot: RobotParameters
) -> tuple[Goal, ...]:
    """Make the goals of a plan.

    Args:
        parameters: as written.
        robot: it must be the plan's.

    Raises:
        ConfigError: the plan is for another robot, or there is no such limb.
    """
    if parameters.robot != robot.name:
        raise ConfigError(
            f"These goals are for {parameters.robot}, not for {robot.name}: choose "
            f"--robot {parameters.robot}, or other goals."
        )
    return tuple(make_goal(goal, robot) for goal in parameters.goals)


def plan_for(name: str | None, robot: RobotParameters) -> tuple[Goal, ...]:
    """Load and make a plan.

    Args:
        name: shipped name or path; None: no goals.
        robot: it must be the plan's.

    Raises:
        ConfigError: there is none, it is wrong, or for another robot.
    """
    return () if name is None else make_plan(load_goal_plan(name), robot)


def _metres(place: tuple[float, float, float]) -> Vector:
    x, y, z = (_MM * value for value in place)
    return x, y, z
