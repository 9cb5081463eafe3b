"""Judges a task while a trial runs: takes what is true at the robot, tick by tick."""

import math

import numpy as np

from app.clock import NS_PER_S
from app.config.task_place import PlacedTask
from app.errors import ConfigError
from app.operator.performer import Performer
from app.operator.presser import PressingHand
from app.operator.tracker import PathHand
from app.study.task_goals import TaskGoals
from app.study.task_run import TaskRun
from app.study.task_truth import Truth, Verdict
from app.study.trial import Trial
from models.bound import bind, bound
from models.numerics import FloatArray
from models.tip import tip_position

__all__ = ["TaskWatch", "path_started_ns"]

_STEP_S = 1e-3


def path_started_ns(trial: Trial, goals: TaskGoals | None) -> int | None:
    """Return when the reference set out along the path [ns]; None: it has not."""
    if goals is not None:
        return goals.started_ns
    operator = trial.operator
    if isinstance(operator, Performer) and isinstance(operator.hand, PathHand):
        return operator.hand.started_ns
    return None


class TaskWatch:
    """One trial's task."""

    def __init__(
        self, trial: Trial, round_trip_s: float, goals: TaskGoals | None = None
    ) -> None:
        """Start the clock of the task.

        Args:
            trial: with a task; not stepped yet.
            round_trip_s: of its link [s].
            goals: that do it under supervised control; None: a hand does.

        Raises:
            ConfigError: the trial has no task.
        """
        if trial.task is None:
            raise ConfigError("This trial has no task to be judged: name one.")
        self._trial, self._goals = trial, goals
        self._task: PlacedTask = trial.task
        self.run = TaskRun(self._task, trial.now_ns, round_trip_s)
        model, limb = trial.model, self._task.limb
        start, stop = model.limb_segment_start[limb : limb + 2]
        self._rows = slice(int(start), int(stop))
        self._poses = np.zeros((int(stop - start) + 1, 4, 4))
        self._model, pose = bound(model), trial.true_pose[self._rows]
        self._locate = bind(
            tip_position, self._model, limb, pose, self._poses, np.zeros(3)
        )
        self._tip: FloatArray | None = None
        self.truth = self._truth()
        """What was true at the robot in the last tick."""

    def step(self) -> Verdict:
        """Judge the tick that the trial has just done."""
        self.truth = self._truth()
        return self.run.step(self.truth)

    def _truth(self) -> Truth:
        trial, limb = self._trial, self._task.limb
        now_ns = trial.now_ns
        since_s = self._path_s(now_ns)
        tip = self._true_tip()
        before = tip if self._tip is None else self._tip
        self._tip = tip
        around = trial.core.surroundings
        force, place, held = np.zeros(3), None, False
        if around is not None:
            force = around.contact_wrench[limb, 3:].copy()
            held = bool(around.held_by(limb))
            if len(around.objects):
                place = around.poses[0, :3, 3].copy()
        return Truth(
            time_ns=now_ns,
            tip=tip,
            speed=math.dist(tip.tolist(), before.tolist()) / _STEP_S,
            force=force,
            object_place=place,
            held=held,
            answer=self._answer(),
            path_begun=since_s is not None and since_s >= 0.0,
            path_over=self._path_over(since_s),
        )

    def _true_tip(self) -> FloatArray:
        pose, tip = self._trial.true_pose[self._rows], np.zeros(3)
        self._locate(self._model, self._task.limb, pose, self._poses, tip)
        return tip

    def _answer(self) -> int | None:
        operator = self._trial.operator
        if isinstance(operator, Performer) and isinstance(operator.hand, PressingHand):
            return operator.hand.answer
        return None

    def _path_s(self, now_ns: int) -> float | None:
        """Time since the reference set out along the path [s]; None: not yet."""
        started_ns = path_started_ns(self._trial, self._goals)
        return None if started_ns is None else (now_ns - started_ns) / NS_PER_S

    def _path_over(self, since_s: float | None) -> bool:
        if self._goals is not None:
            return self._goals.path_over
        curve = self._task.curve
        if curve is None or since_s is None:
            return False
        return since_s >= curve.length / self._task.speed
