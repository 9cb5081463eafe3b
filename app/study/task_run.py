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

import numpy as np

from app.clock import NS_PER_S
from app.config.task_place import PlacedTask
from app.errors import ModelError
from app.study.task_judges import Judge, RetrieveJudge, make_judge
from app.study.task_rules import CODES
from app.study.task_standing import NEVER, RunData
from app.study.task_truth import Truth, Verdict, allocate_moments

__all__ = ["TaskRun"]


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
        self.moments = allocate_moments()
        """What is judged; who calls `take` fills them in before."""
        self._data = RunData(
            abort=task.parameters.abort_n,
            start_ns=start_ns,
            timeout_s=task.parameters.timeout(round_trip_s),
            first_tip=np.zeros(3),
            ended_ns=np.array([NEVER]),
            peak_force=np.zeros(1),
            verdict=np.zeros(1, dtype=np.int64),
        )
        self.judge: Judge = make_judge(task, self._data, self.moments)

    @property
    def peak_force(self) -> float:
        """Greatest force so far [N]."""
        return self._data.peak_force.item()

    @property
    def time_s(self) -> float:
        """From the start to the end, or to the last step while it runs [s]."""
        ended_ns = self._data.ended_ns.item()
        return max(0, ended_ns - self._data.start_ns) / NS_PER_S

    def take(self, first: int, count: int) -> int:
        """Judge milliseconds of `moments`; after the end nothing changes any more.

        Args:
            first: number of the first.
            count: how many.

        Returns:
            How many were judged: all, or up to the one that ended the task.
        """
        if self.verdict is not Verdict.RUNNING:
            return 0
        judged = self.judge.take(first, count)
        self.verdict = CODES[self._data.verdict.item()]
        return judged

    def step(self, truth: Truth) -> Verdict:
        """Take in what is true now; after the end nothing changes any more.

        Raises:
            ModelError: there is no object where one is to be retrieved.
        """
        place = truth.object_place
        if place is None and isinstance(self.judge, RetrieveJudge):
            raise ModelError("A retrieval needs an object: give its place each time.")
        now = self.moments
        now.time_ns[0] = truth.time_ns
        now.tip[0], now.speed[0], now.force[0] = truth.tip, truth.speed, truth.force
        now.place[0] = np.nan if place is None else place
        now.held[0] = truth.held
        now.answer[0] = -1 if truth.answer is None else truth.answer
        now.begun[0], now.over[0] = truth.path_begun, truth.path_over
        self.take(0, 1)
        return self.verdict
