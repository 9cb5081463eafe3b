"""How a person's trial stands, step by step: for the recording's judge and the console.

The time runs from when the limb is first taken in hand. On a path, what comes before
the tip has been at its begin does not count.
"""

from dataclasses import replace

import numpy as np

from app.clock import NS_PER_S
from app.config.task import TaskParameters
from app.config.task_place import PlacedTask
from app.study.task_judges import PathJudge, ReachJudge
from app.study.task_run import TaskRun
from app.study.task_truth import Truth, Verdict
from models.numerics import FloatArray

__all__ = ["PersonStand", "stricter"]

_NEAR = 0.01  # [m] of a path's ends
_ALONG = 0.85  # of a path, before its end counts
_STRICT, _LONGER_S = 0.9, 0.1


def stricter(task: PlacedTask) -> PlacedTask:
    """Return a task a little harder to do.

    Who is told at once that it is done, from what has come by then, shall not find it
    undone by the recording.
    """
    parameters = task.parameters
    if parameters.reach is not None:
        reach = parameters.reach.model_copy(
            update={
                "dwell_s": parameters.reach.dwell_s + _LONGER_S,
                "speed_mm_s": _STRICT * parameters.reach.speed_mm_s,
            }
        )
        changed = parameters.model_copy(update={"reach": reach})
        return replace(task, parameters=changed, width=_STRICT * task.width)
    if parameters.press is not None:
        press = parameters.press.model_copy(
            update={
                "hold_s": parameters.press.hold_s + _LONGER_S,
                "tolerance": _STRICT * parameters.press.tolerance,
            }
        )
        return replace(task, parameters=parameters.model_copy(update={"press": press}))
    return task


class PersonStand:
    """One trial of a person."""

    def __init__(self, task: PlacedTask, longest_s: float) -> None:
        """Begin; nothing is in hand yet.

        Args:
            task: laid before the robot.
            longest_s: time from when it is taken in hand [s].
        """
        parameters: TaskParameters = task.parameters.model_copy(
            update={"timeout_s": longest_s, "timeout_round_trips": 0.0}
        )
        self._task = replace(task, parameters=parameters)
        self._longest_s = longest_s
        TaskRun(self._task, 0, 0.0)  # its kernel is compiled while no hand is busy
        self._run: TaskRun | None = None
        self.begun_ns: int | None = None
        """When the limb was taken in hand [ns]; None: not yet."""
        self.path_ns: int | None = None
        """When the path was begun [ns]; None: not yet, or there is none."""
        self.verdict = Verdict.RUNNING

    @property
    def hits_ns(self) -> list[int]:
        """When targets were met so far [ns]."""
        judge = None if self._run is None else self._run.judge
        return judge.hits_ns if isinstance(judge, ReachJudge) else []

    def left_s(self, now_ns: int) -> float:
        """Return how much time is left [s]."""
        since_ns = 0 if self.begun_ns is None else now_ns - self.begun_ns
        return max(0.0, self._longest_s - since_ns / NS_PER_S)

    def step(
        self,
        time_ns: int,
        tip: FloatArray,
        speed: float,
        force: FloatArray,
        *,
        driving: bool,
    ) -> Verdict:
        """Take in what is known of one moment, in the order of their times.

        Args:
            time_ns: when it was so [ns].
            tip: (3,) [m], hull frame.
            speed: of the tip [m/s].
            force: (3,) of contact on the limb [N].
            driving: whether the operator has the limb in hand.
        """
        if self.verdict is not Verdict.RUNNING:
            return self.verdict
        if self.begun_ns is None:
            if not driving:
                return self.verdict
            self.begun_ns = time_ns
        if self._task.curve is not None and self.path_ns is None:
            self._look_for_the_path(time_ns, tip, driving=driving)
        if self._task.curve is None or self.path_ns is not None:
            if self._run is None:
                self._run = TaskRun(self._task, self.begun_ns, 0.0)
            truth = Truth(time_ns, tip, speed, force, path_over=self._is_over(tip))
            self.verdict = self._run.step(truth)
        elif self.left_s(time_ns) <= 0.0:
            self.verdict = Verdict.TIMEOUT
        return self.verdict

    def _look_for_the_path(
        self, time_ns: int, tip: FloatArray, *, driving: bool
    ) -> None:
        curve = self._task.curve
        if curve is not None and driving:
            gap = float(np.linalg.norm(tip - curve.points[0]))
            self.path_ns = time_ns if gap < _NEAR else None

    def _is_over(self, tip: FloatArray) -> bool:
        """Whether a path has been followed to its end."""
        curve, judge = self._task.curve, None if self._run is None else self._run.judge
        if curve is None or not isinstance(judge, PathJudge):
            return False
        if judge.furthest < _ALONG * curve.length:
            return False
        return float(np.linalg.norm(tip - curve.points[-1])) < _NEAR
