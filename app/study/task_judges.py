"""The success of each kind of task, one judge a kind; all take what is true."""

from collections.abc import Callable
from typing import Any

import numpy as np

from app.clock import NS_PER_S
from app.config.task import (
    PathParameters,
    PegParameters,
    PressParameters,
    ReachParameters,
    RetrieveParameters,
)
from app.config.task_place import PlacedTask
from app.errors import ModelError
from app.study.task_rules import (
    judge_path,
    judge_peg,
    judge_press,
    judge_reach,
    judge_retrieve,
)
from app.study.task_standing import (
    NEVER,
    PathData,
    PegData,
    PressData,
    ReachData,
    RetrieveData,
    RunData,
)
from app.study.task_truth import MomentsData
from models.bound import Bound, bind
from models.curve import Curve
from models.numerics import IntArray

__all__ = ["Judge", "PathJudge", "ReachJudge", "RetrieveJudge", "make_judge"]

_MM = 1e-3
_REST_S = 1.0  # that an object must rest once it was let go


def _none() -> IntArray:
    return np.array([NEVER])


def _zero() -> IntArray:
    return np.zeros(1, dtype=np.int64)


class Judge:
    """Says how a task of one kind stands."""

    def __init__(
        self,
        rule: Callable[..., int],
        task: tuple[Any, ...],
        run: RunData,
        moments: MomentsData,
    ) -> None:
        """Bind.

        Args:
            rule: a kernel of `app.study.task_rules`.
            task: its first argument.
            run: gets the verdict.
            moments: what is judged.
        """
        self._parts = Bound(task), Bound(run), Bound(moments)
        self._rule = bind(rule, *self._parts, 0, 0)

    def take(self, first: int, count: int) -> int:
        """Judge milliseconds, from number `first` on.

        Returns:
            How many were judged: `count`, or up to the one that ended the task.
        """
        return self._rule(*self._parts, first, count)


class ReachJudge(Judge):
    """Every target in turn: near enough, slow enough, for long enough."""

    def __init__(
        self,
        reach: ReachParameters,
        task: PlacedTask,
        run: RunData,
        moments: MomentsData,
    ) -> None:
        """Begin with the first target."""
        self._data = ReachData(
            targets=np.ascontiguousarray(task.targets),
            radius=0.5 * task.width,
            speed=_MM * reach.speed_mm_s,
            dwell_ns=round(reach.dwell_s * NS_PER_S),
            since_ns=_none(),
            hits=_zero(),
            hits_ns=np.zeros(len(task.targets), dtype=np.int64),
        )
        super().__init__(judge_reach, self._data, run, moments)

    @property
    def hits(self) -> int:
        """How many targets have been met."""
        return self._data.hits.item()

    @property
    def hits_ns(self) -> list[int]:
        """When each was [ns]."""
        listed: list[int] = self._data.hits_ns[: self.hits].tolist()
        return listed


class PathJudge(Judge):
    """Along a curve: rms distance to it, and how near the tip ends to its end."""

    def __init__(
        self, path: PathParameters, curve: Curve, run: RunData, moments: MomentsData
    ) -> None:
        """Begin; what comes before the reference has set out does not count."""
        self._data = PathData(
            points=np.ascontiguousarray(curve.points),
            arc=np.ascontiguousarray(curve.arc),
            end=_MM * path.end_mm,
            rms=_MM * path.rms_mm,
            counted=_zero(),
            squares=np.zeros(1),
            furthest=np.zeros(1),
        )
        super().__init__(judge_path, self._data, run, moments)

    @property
    def rms(self) -> float:
        """Root mean square distance to the nearest point of the curve [m]."""
        return float(np.sqrt(self._data.squares[0] / max(1, self._data.counted[0])))

    @property
    def furthest(self) -> float:
        """Arc length that the tip has come to [m]."""
        return self._data.furthest.item()


def _press(press: PressParameters, task: PlacedTask) -> PressData:
    return PressData(
        normals=np.array([pad.normal for pad in task.pads]),
        stiffer=int(np.argmax([pad.stiffness for pad in task.pads])),
        peak=press.peak_n,
        force=press.force_n,
        slack=press.tolerance * press.force_n,
        hold_ns=round(press.hold_s * NS_PER_S),
        since_ns=_none(),
    )


class RetrieveJudge(Judge):
    """Grasp, carry, let go: where the object has come to rest once released."""

    def __init__(
        self,
        retrieve: RetrieveParameters,
        task: PlacedTask,
        run: RunData,
        moments: MomentsData,
    ) -> None:
        """Begin with nothing held."""
        if task.goal is None:
            raise ModelError("A retrieval needs a goal: lay a task of that kind.")
        contact = retrieve.contact_n
        data = RetrieveData(
            contact=np.inf if contact is None else contact,
            goal=np.ascontiguousarray(task.goal),
            up=np.ascontiguousarray(task.up),
            radius=task.goal_radius,
            release=retrieve.release,
            rest_ns=round(_REST_S * NS_PER_S),
            since_ns=_none(),
            held=_zero(),
            grasps=_zero(),
            last=np.zeros(3),
            last_ns=_none(),
        )
        super().__init__(judge_retrieve, data, run, moments)


def _peg(peg: PegParameters, task: PlacedTask) -> PegData:
    if task.mouth is None:
        raise ModelError("A peg needs a hole: lay a task of that kind.")
    return PegData(
        mouth=np.ascontiguousarray(task.mouth),
        up=np.ascontiguousarray(task.up),
        depth=_MM * peg.depth_mm - _MM,
        # a millimetre of give: the hole's wall yields to a peg that leans on it
        aside=0.5 * task.clearance + _MM,
        lateral=peg.lateral_n,
    )


def make_judge(task: PlacedTask, run: RunData, moments: MomentsData) -> Judge:
    """Make the judge of a task's kind.

    Args:
        task: laid before the robot.
        run: gets the verdict.
        moments: what is judged.

    Raises:
        ModelError: no such kind, or the task lacks what it needs.
    """
    parameters = task.parameters
    if parameters.reach is not None:
        return ReachJudge(parameters.reach, task, run, moments)
    if parameters.path is not None and task.curve is not None:
        return PathJudge(parameters.path, task.curve, run, moments)
    if parameters.press is not None:
        return Judge(judge_press, _press(parameters.press, task), run, moments)
    if parameters.retrieve is not None:
        return RetrieveJudge(parameters.retrieve, task, run, moments)
    if parameters.peg is not None:
        return Judge(judge_peg, _peg(parameters.peg, task), run, moments)
    raise ModelError(f"Task {parameters.name!r} is of no kind that can be judged.")
