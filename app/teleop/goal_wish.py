"""Goals as they are wanted: checked, and in the shared form of a wish.

Whoever asks for a goal (console, command line, a file) makes it with `check_goal`; the
station checks it again, since a shared block holds whatever was written there.
"""

import math

from app.errors import FrameError
from app.messages import GOAL_POINTS, GoalWish
from app.teleop.goals import (
    GREATEST_FORCE,
    GREATEST_SPEED,
    Goal,
    GoalKind,
    Vector,
)

__all__ = ["check_goal", "goal_of", "put_goal"]

_FARTHEST = 3.2  # m from the hull's origin, what a goal's bytes can tell
_LONGEST_S = 60.0
_WIDEST = 0.025  # m of tolerance
_UNIT = 0.05  # error of a normal's length


def check_goal(goal: Goal, limbs: int) -> None:
    """Refuse a goal that cannot be meant.

    Args:
        goal: it; its number does not matter.
        limbs: number of limbs of the robot.

    Raises:
        FrameError: says which value is wrong and which are allowed.
    """
    if not 0 <= goal.limb < limbs:
        raise FrameError(f"Goal for limb {goal.limb}: there are 0 to {limbs - 1}.")
    if goal.kind is GoalKind.STOP:
        return
    places = () if goal.kind is GoalKind.PRESS else (goal.position, *goal.points)
    for place in places:
        if not math.hypot(*place) <= _FARTHEST:  # also NaN
            told = ", ".join(f"{1e3 * value:.0f}" for value in place)
            raise FrameError(
                f"Goal at ({told}) mm: it must be finite and within {_FARTHEST:g} m "
                "of the hull's origin."
            )
    if len(goal.points) > GOAL_POINTS:
        raise FrameError(
            f"Goal with {len(goal.points)} points on the way: at most {GOAL_POINTS}."
        )
    if goal.kind is GoalKind.FOLLOW and not goal.points:
        raise FrameError("Goal to follow a path without points: give at least one.")
    length = math.hypot(*goal.normal)
    if goal.kind is GoalKind.PRESS and not abs(length - 1.0) <= _UNIT:
        raise FrameError(
            f"Goal to press along a direction of length {length:.3g}: it must be 1."
        )
    for name, value, least, most, unit in (
        ("speed", goal.speed, 1e-3, GREATEST_SPEED, "m/s"),
        ("force", goal.force, 0.1, GREATEST_FORCE, "N"),
        ("time", goal.time, 0.0, _LONGEST_S, "s"),
        ("tolerance", goal.tolerance, 1e-3, _WIDEST, "m"),
    ):
        if not least <= value <= most:
            raise FrameError(
                f"Goal with a {name} of {value:g} {unit}: {least:g} to {most:g} {unit}."
            )


def put_goal(goal: Goal, wish_out: GoalWish) -> None:
    """Write a goal into a wish; whoever publishes it counts its revision.

    Args:
        goal: checked.
        wish_out: the wish.
    """
    wish_out.kind[0], wish_out.limb[0] = int(goal.kind), goal.limb
    wish_out.position[:] = goal.position
    wish_out.normal[:] = goal.normal
    wish_out.points[0] = len(goal.points)
    wish_out.path[:] = 0.0
    for row, point in zip(wish_out.path, goal.points, strict=False):
        row[:] = point
    wish_out.speed[0], wish_out.force[0] = goal.speed, goal.force
    wish_out.time[0], wish_out.tolerance[0] = goal.time, goal.tolerance


def goal_of(wish: GoalWish, limbs: int) -> Goal:
    """Return the goal of a wish.

    Args:
        wish: the wish.
        limbs: number of limbs of the robot.

    Raises:
        FrameError: it is none, or `check_goal` refuses it.
    """
    kind, points = int(wish.kind[0]), int(wish.points[0])
    if not 0 <= kind <= max(GoalKind) or not 0 <= points <= GOAL_POINTS:
        raise FrameError(f"Goal of kind {kind} with {points} points: not known.")
    goal = Goal(
        number=1,
        kind=GoalKind(kind),
        limb=int(wish.limb[0]),
        position=_three(wish.position.tolist()),
        normal=_three(wish.normal.tolist()),
        points=tuple(_three(row) for row in wish.path[:points].tolist()),
        speed=float(wish.speed[0]),
        force=float(wish.force[0]),
        time=float(wish.time[0]),
        tolerance=float(wish.tolerance[0]),
    )
    check_goal(goal, limbs)
    return goal


def _three(values: list[float]) -> Vector:
    x, y, z = values
    return x, y, z
