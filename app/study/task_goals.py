"""A task under supervised control: a person who gives the robot goals, one by one.

| task    | goals                                                                    |
|---------|--------------------------------------------------------------------------|
| targets | reach each; the next when the screen marks it as met, else it once more  |
| a path  | reach its start, rest a second, follow it through seven points           |
| one pad | reach the place above it, press along its normal for as long as asked    |

What the station has been told decides, so each goal costs a round trip and the person's
reaction. Goals can neither compare two pads nor lead a gripper about an object.
"""

from collections.abc import Callable

import numpy as np

from app.clock import NS_PER_S
from app.config.task_place import PlacedTask
from app.messages import GOAL_POINTS, StationMode
from app.study.trial import Trial
from app.teleop.goals import GREATEST_SPEED, Goal, GoalKind, GoalState, Vector
from models.curve import curve_point
from models.numerics import FloatArray

__all__ = ["TaskGoals", "goals_can"]

_REACTION_NS = NS_PER_S // 4
_IDLE_NS = NS_PER_S
_PEAK = 15.0 / 8.0  # greatest speed over the mean, at minimum jerk
_TOLERANCES = (5e-3, 2e-3, 1e-3)  # [m], of the first goal for a place and of others
_SLACK_S = 1.0  # that a press holds longer than it must


def goals_can(task: PlacedTask) -> bool:
    """Whether goals can do a task."""
    return bool(task.targets.size) or task.curve is not None or len(task.pads) == 1


def _vector(place: FloatArray) -> Vector:
    x, y, z = (float(value) for value in place)
    return x, y, z


class TaskGoals:
    """Gives a trial's goals."""

    def __init__(self, trial: Trial, task: PlacedTask, hits: Callable[[], int]) -> None:
        """Prepare.

        Args:
            trial: whose station asks.
            task: `goals_can` it.
            hits: how many targets the person's screen marks as met.
        """
        self._trial, self._task, self._hits = trial, task, hits
        self._asked = 0
        self._kind: GoalKind | None = None  # of the last
        self._tried = 0  # times that the present target was gone to again; or the pad
        self._last_target = -1
        self._wait_ns: int | None = None
        self.started_ns: int | None = None
        """When the path's goal was given [ns]; None: not yet."""
        self.path_over = False
        """Whether the station has been told that the path was followed."""

    def step(self, now_ns: int) -> None:
        """Give the next goal, where it is time."""
        trial = self._trial
        newest = trial.exchange.goals.newest
        if int(trial.state.mode[0]) != StationMode.ARMED:
            self._wait_ns = None
            return
        if self._asked and (newest is None or not newest.status.ended):
            self._wait_ns = None
            return
        # one that the station could not take is not the newest: it is not done
        done = (
            newest is not None
            and newest.status.state is GoalState.DONE
            and newest.goal.kind is self._kind
        )
        if self._wait_ns is None:
            pause = _IDLE_NS if self._task.curve is not None else 0
            self._wait_ns = now_ns + _REACTION_NS + (pause if self._asked else 0)
            if self.started_ns is not None and done:
                self.path_over = True
        if now_ns < self._wait_ns:
            return
        goal = self._next(now_ns, done=done)
        if goal is not None:
            self._asked += 1
            self._kind = goal.kind
            self._wait_ns = None
            trial.want(trial.wishes.goal(goal))

    def _next(self, now_ns: int, *, done: bool) -> Goal | None:
        if self._task.targets.size:
            return self._target()
        if self._task.curve is not None:
            return self._path(now_ns, done=done)
        return self._press(done=done)

    def _reach(self, place: FloatArray, tolerance: float = _TOLERANCES[0]) -> Goal:
        limb = self._task.limb
        return Goal(0, GoalKind.REACH, limb, _vector(place), tolerance=tolerance)

    def _target(self) -> Goal | None:
        """The target to go to; a nearer tolerance where it was not met before."""
        number = self._hits()
        if number >= len(self._task.targets):
            return None
        self._tried = self._tried + 1 if number == self._last_target else 0
        self._last_target = number
        finer = min(self._tried, len(_TOLERANCES) - 1)
        return self._reach(self._task.targets[number], _TOLERANCES[finer])

    def _path(self, now_ns: int, *, done: bool) -> Goal | None:
        task, curve = self._task, self._task.curve
        if curve is None or self.path_over:
            return None
        if not done or self.started_ns is not None or not self._asked:
            self.started_ns = None
            return self._reach(curve.points[0])
        self.started_ns = now_ns
        arcs = np.linspace(0.0, curve.length, GOAL_POINTS + 2)[1:-1]
        return Goal(
            0,
            GoalKind.FOLLOW,
            task.limb,
            _vector(curve.points[-1]),
            points=tuple(_vector(curve_point(curve, float(arc))) for arc in arcs),
            speed=min(GREATEST_SPEED, _PEAK * task.speed),
        )

    def _press(self, *, done: bool) -> Goal | None:
        task, press = self._task, self._task.parameters.press
        if press is None:
            return None
        pad = task.pads[0]
        above = pad.place + 1e-3 * press.start_above_mm * pad.normal
        if not done or self._tried or not self._asked:
            self._tried = 0
            return self._reach(above)
        self._tried = 1
        return Goal(
            0,
            GoalKind.PRESS,
            task.limb,
            normal=_vector(-pad.normal),
            force=press.force_n,
            time=press.hold_s + _SLACK_S,
        )
