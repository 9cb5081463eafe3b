"""Judges a task while a trial runs: takes what was true at the robot, tick by tick."""

import math
from typing import NamedTuple

import numpy as np

from app.clock import NS_PER_S
from app.control.loop import PERIOD_NS
from app.errors import ConfigError
from app.operator.performer import Performer
from app.operator.presser import PressingHand
from app.operator.tracker import PathHand
from app.robot.truth import TruthData
from app.study.task_goals import TaskGoals
from app.study.task_judges import RetrieveJudge
from app.study.task_run import TaskRun
from app.study.task_standing import NEVER
from app.study.task_truth import MOMENTS, MomentsData
from app.study.trial import START_NS, Trial
from models.bound import Bound, bind
from models.numerics import FloatArray, IntArray, kernel
from models.robot import RobotModel
from models.tip import limb_tip, tip_in_hull

__all__ = ["TaskWatch", "path_started_ns"]

_MOST = 256
_STEP_S = 1e-3


def path_started_ns(trial: Trial, goals: TaskGoals | None) -> int | None:
    """Return when the reference set out along the path [ns]; None: it has not."""
    if goals is not None:
        return goals.started_ns
    operator = trial.operator
    if isinstance(operator, Performer) and isinstance(operator.hand, PathHand):
        return operator.hand.started_ns
    return None


class _WatchData(NamedTuple):
    """What is watched, and where it is noted."""

    model: RobotModel
    limb: int
    """Index of the limb."""
    start_ns: int
    """When the trial began [ns]."""
    truth: TruthData
    answer: IntArray
    """(1,) pad that has been named the stiffer; -1 = none."""
    started_ns: IntArray
    """(1,) when the reference set out along the path [ns]; `NEVER`: it has not."""
    duration_s: FloatArray
    """(1,) how long it is on its way [s]."""
    moments: MomentsData
    poses: FloatArray
    """(n+1, 4, 4) along the limb."""


@kernel
def note_moments(data: _WatchData, first: int, count: int) -> None:
    """Note what was true in some of the last milliseconds.

    Args:
        data: its moments are written.
        first: number of the first.
        count: how many.
    """
    limb, truth, moments = data.limb, data.truth, data.moments
    started_ns, duration_s = data.started_ns[0], data.duration_s[0]
    for number in range(first, first + count):
        at, row = number % truth.held.shape[0], number % moments.time_ns.size
        now_ns = data.start_ns + (number + 1) * PERIOD_NS
        tip, before = moments.tip[row], moments.tip[row - 1]
        tip_in_hull(data.model, limb, truth.coordinates[at], data.poses, tip)
        square = 0.0
        for i in range(3):
            square += (tip[i] - before[i]) ** 2
            moments.force[row, i] = truth.wrench[at, limb, 3 + i]
            moments.tip_force[row, i] = truth.tip_force[at, limb, i]
            moments.place[row, i] = truth.place[at, i]
        since_s = (now_ns - started_ns) / NS_PER_S
        moments.time_ns[row] = now_ns
        moments.speed[row] = np.sqrt(square) / _STEP_S
        moments.held[row] = truth.held[at, limb] >= 0
        moments.answer[row] = data.answer[0]
        moments.begun[row] = started_ns != NEVER and since_s >= 0.0
        moments.over[row] = started_ns != NEVER and since_s >= duration_s


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
            ConfigError: the trial has no task, no simulated robot, or no object where
                one is to be retrieved.
        """
        task, truth = trial.task, trial.core.truth
        if task is None:
            raise ConfigError("This trial has no task to be judged: name one.")
        if truth is None:
            raise ConfigError("Nobody sees the truth of a rig: simulate the robot.")
        self._trial, self._goals, self._task = trial, goals, task
        self.run = TaskRun(task, trial.now_ns, round_trip_s)
        self.limb = task.limb
        around = trial.core.surroundings
        if isinstance(self.run.judge, RetrieveJudge) and not (
            around is not None and around.objects
        ):
            raise ConfigError("A retrieval needs an object: choose a scene with one.")
        hand = trial.operator.hand if isinstance(trial.operator, Performer) else None
        self._judging: PressingHand | None = None
        if isinstance(hand, PressingHand) and len(task.pads) == 2:
            self._judging = hand
        start, stop = trial.model.limb_segment_start[task.limb : task.limb + 2]
        self._data = _WatchData(
            model=trial.model,
            limb=task.limb,
            start_ns=START_NS,
            truth=truth,
            answer=np.array([-1]),
            started_ns=np.array([NEVER]),
            duration_s=np.array([math.inf]),
            moments=self.run.moments,
            poses=np.zeros((int(stop - start) + 1, 4, 4)),
        )
        self._bound = Bound(self._data)
        self._note = bind(note_moments, self._bound, 0, 0)
        self._ticks = trial.ticks
        tip = limb_tip(trial.model, task.limb, trial.true_pose)
        self._tip_in(self._ticks - 1)[:] = tip

    def take(self) -> int:
        """Note the ticks that the trial has done since in `run.moments`.

        What operator and goals have come to counts as it is now for all of them.

        Returns:
            How many; those before the last 256 are left out.
        """
        first, stop = self._ticks, self._trial.ticks
        if stop - first > _MOST:
            first = stop - _MOST
            self._tip_in(first - 1)[:] = self._tip_in(self._ticks - 1)
        if self._task.curve is not None:
            self._note_reference()
        elif self._judging is not None and self._judging.answer is not None:
            self._data.answer[0] = self._judging.answer
        self._note(self._bound, first, stop - first)
        self._ticks = stop
        return stop - first

    def _tip_in(self, number: int) -> FloatArray:
        """View the tip (3,) in one millisecond [m]."""
        tip: FloatArray = self.run.moments.tip[number % MOMENTS]
        return tip

    def _note_reference(self) -> None:
        """Note when it set out along the path, and how long it is on its way."""
        task, goals = self._task, self._goals
        started_ns = path_started_ns(self._trial, goals)
        self._data.started_ns[0] = NEVER if started_ns is None else started_ns
        if goals is not None:
            self._data.duration_s[0] = 0.0 if goals.path_over else math.inf
        elif task.curve is not None:
            self._data.duration_s[0] = task.curve.length / task.speed
