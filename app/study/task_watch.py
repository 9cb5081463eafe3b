"""Judges a task while a trial runs: takes what was true at the robot, tick by tick."""

import math

import numpy as np

from app.clock import NS_PER_S
from app.config.task_place import PlacedTask
from app.control.loop import PERIOD_NS
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
        self._ticks = trial.ticks
        self._tip: list[float] = self._true_tip(pose).tolist()

    def step(self) -> Verdict:
        """Judge the ticks that the trial has done since it was judged last."""
        for truth in self.take():
            self.run.step(truth)
        return self.run.verdict

    def take(self) -> list[Truth]:
        """Return what was true in each tick that the trial has done since.

        At most the last 256 ticks. What operator and goals have come to counts as it is
        now for all of them.
        """
        trial, limb, log = self._trial, self._task.limb, self._trial.core.truth
        first, self._ticks = self._ticks, trial.ticks
        if log is None:
            return []
        places = log.places(first)
        around = trial.core.surroundings
        objects = around is not None and len(around.objects) > 0
        force, at_tip = log.wrench[places, limb, 3:], log.tip_force[places, limb]
        held, place = log.held[places, limb].tolist(), log.place[places]
        answer, started_ns = self._answer(), path_started_ns(trial, self._goals)
        time_ns = trial.now_ns - len(places) * PERIOD_NS
        truths = []
        for row, pose in enumerate(log.coordinates[places, self._rows]):
            time_ns += PERIOD_NS
            tip = self._true_tip(pose)
            before, self._tip = self._tip, tip.tolist()
            since_s = None if started_ns is None else (time_ns - started_ns) / NS_PER_S
            truths.append(
                Truth(
                    time_ns=time_ns,
                    tip=tip,
                    speed=math.dist(self._tip, before) / _STEP_S,
                    force=force[row],
                    tip_force=None if around is None else at_tip[row],
                    object_place=place[row] if objects else None,
                    held=held[row] >= 0,
                    answer=answer,
                    path_begun=since_s is not None and since_s >= 0.0,
                    path_over=self._path_over(since_s),
                )
            )
        return truths

    def _true_tip(self, pose: FloatArray) -> FloatArray:
        """Return the tip (3,) at a pose (n, 3) of the limb."""
        tip = np.zeros(3)
        self._locate(self._model, self._task.limb, pose, self._poses, tip)
        return tip

    def _answer(self) -> int | None:
        operator = self._trial.operator
        if isinstance(operator, Performer) and isinstance(operator.hand, PressingHand):
            return operator.hand.answer
        return None

    def _path_over(self, since_s: float | None) -> bool:
        if self._goals is not None:
            return self._goals.path_over
        curve = self._task.curve
        if curve is None or since_s is None:
            return False
        return since_s >= curve.length / self._task.speed
