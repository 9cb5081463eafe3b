"""Judges a task while a trial runs: takes what was true at the robot, tick by tick."""

import math

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
from app.study.trial import Trial
from models.bound import Bound, bind, bound
from models.numerics import FloatArray, kernel
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


@kernel
def note_moments(
    model: RobotModel,
    limb: int,
    truth: TruthData,
    first: int,
    count: int,
    first_ns: int,
    answer: int,
    started_ns: int,
    duration_s: float,
    moments: MomentsData,
    poses_out: FloatArray,
) -> None:
    """Note what was true of a limb in some of the last milliseconds.

    Args:
        model: the robot.
        limb: index of the limb.
        truth: of the robot.
        first: number of the first.
        count: how many.
        first_ns: time of the first [ns].
        answer: pad that has been named the stiffer; -1: none.
        started_ns: when the reference set out along the path [ns]; `NEVER`: it has not.
        duration_s: how long it is on its way [s].
        moments: written.
        poses_out: (n+1, 4, 4) along the limb.
    """
    for k in range(count):
        at = (first + k) % truth.held.shape[0]
        row = (first + k) % moments.time_ns.size
        now_ns = first_ns + k * PERIOD_NS
        tip, before = moments.tip[row], moments.tip[row - 1]
        tip_in_hull(model, limb, truth.coordinates[at], poses_out, tip)
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
        moments.answer[row] = answer
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
        self._ticks = trial.ticks
        self._row(self._ticks - 1)[:] = limb_tip(
            trial.model, task.limb, trial.true_pose
        )
        start, stop = trial.model.limb_segment_start[task.limb : task.limb + 2]
        self._parts = bound(trial.model), task.limb, bound(truth)
        self._out = Bound(self.run.moments), np.zeros((int(stop - start) + 1, 4, 4))
        self._note = bind(
            note_moments, *self._parts, 0, 0, 0, 0, 0, math.inf, *self._out
        )

    def take(self) -> int:
        """Note the ticks that the trial has done since in `run.moments`.

        What operator and goals have come to counts as it is now for all of them.

        Returns:
            How many; those before the last 256 are left out.
        """
        trial, last = self._trial, self._ticks
        stop = self._ticks = trial.ticks
        first = max(last, stop - _MOST)
        if first > last:
            self._row(first - 1)[:] = self._row(last - 1)
        answer = None if self._judging is None else self._judging.answer
        started_ns, duration_s = self._reference()
        count = stop - first
        self._note(
            *self._parts,
            first,
            count,
            trial.now_ns - (count - 1) * PERIOD_NS,
            -1 if answer is None else answer,
            started_ns,
            duration_s,
            *self._out,
        )
        return count

    def _row(self, number: int) -> FloatArray:
        """View the tip (3,) in one millisecond [m]."""
        tip: FloatArray = self.run.moments.tip[number % MOMENTS]
        return tip

    def _reference(self) -> tuple[int, float]:
        """When it set out along the path [ns], and how long it is on its way [s]."""
        curve, goals = self._task.curve, self._goals
        if curve is None:
            return NEVER, math.inf
        started_ns = path_started_ns(self._trial, goals)
        if started_ns is None:
            return NEVER, math.inf
        if goals is not None:
            return started_ns, 0.0 if goals.path_over else math.inf
        return started_ns, curve.length / self._task.speed
