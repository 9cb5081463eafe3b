"""When a task is done, or over: judged at the robot, once a millisecond. Pure.

The judge sees what is true at the robot, not what the operator is shown.

| ends with  | where                                                              |
|------------|--------------------------------------------------------------------|
| success    | as the task's file says                                            |
| failed     | the path was passed too far from it, or the wrong pad was named    |
| drop       | the object came to rest outside its goal                           |
| over-force | a contact force above the task's limits                            |
| diverged   | the tip is not finite, or further than 0.5 m from where it started |
| timeout    | none of these in time                                              |
"""

import math

from app.clock import NS_PER_S
from app.config.task_place import PlacedTask
from app.study.task_judges import Judge, make_judge
from app.study.task_truth import Truth, Verdict

__all__ = ["TaskRun"]

_FAR = 0.5  # [m]


class TaskRun:
    """One trial of a task, from the moment it starts."""

    def __init__(self, task: PlacedTask, start_ns: int, round_trip_s: float) -> None:
        """Start.

        Args:
            task: laid before the robot.
            start_ns: when the operator was told to begin [ns].
            round_trip_s: of the link [s]; lengthens the time-out.
        """
        self.verdict = Verdict.RUNNING
        self.peak_force = 0.0  # [N] greatest so far
        self.judge: Judge = make_judge(task)
        self._task = task
        self._start_ns = start_ns
        self._timeout_s = task.parameters.timeout(round_trip_s)
        self._first_tip: list[float] | None = None
        self._ended_ns = start_ns

    @property
    def time_s(self) -> float:
        """From the start to the end, or to the last step while it runs [s]."""
        return (self._ended_ns - self._start_ns) / NS_PER_S

    def step(self, truth: Truth) -> Verdict:
        """Take in what is true now; after the end nothing changes any more."""
        if self.verdict is not Verdict.RUNNING:
            return self.verdict
        self._ended_ns = truth.time_ns
        self.verdict = self._judge(truth)
        return self.verdict

    def _judge(self, truth: Truth) -> Verdict:
        tip, force = truth.tip.tolist(), math.hypot(*truth.force.tolist())
        if self._first_tip is None:
            self._first_tip = tip
        if not (math.dist(tip, self._first_tip) <= _FAR and force < math.inf):
            return Verdict.DIVERGED
        self.peak_force = max(self.peak_force, force)
        if force > self._task.parameters.abort_n:
            return Verdict.OVER_FORCE
        verdict = self.judge.step(truth)
        if verdict is Verdict.RUNNING and self.time_s >= self._timeout_s:
            return Verdict.TIMEOUT
        return verdict
