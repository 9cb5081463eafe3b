"""The success of each kind of task, one judge a kind; all step with what is true."""

from typing import Protocol

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
from app.study.task_truth import Truth, Verdict
from models.curve import Curve, curve_nearest
from models.numerics import FloatArray

__all__ = ["Judge", "PathJudge", "ReachJudge", "RetrieveJudge", "make_judge"]

_MM = 1e-3
_REST = 2e-2  # [m/s] of an object that has come to rest, after letting go
_REST_S = 1.0


class Judge(Protocol):
    """Says how a task of one kind stands."""

    def step(self, truth: Truth) -> Verdict:
        """Take in one millisecond."""


class _Held:
    """Whether something has been so for long enough."""

    def __init__(self, seconds: float) -> None:
        self._length_ns = round(seconds * NS_PER_S)
        self._since_ns: int | None = None

    def step(self, now_ns: int, *, so: bool) -> bool:
        if not so:
            self._since_ns = None
            return False
        if self._since_ns is None:
            self._since_ns = now_ns
        return now_ns - self._since_ns >= self._length_ns


class ReachJudge:
    """Every target in turn: near enough, slow enough, for long enough."""

    def __init__(self, reach: ReachParameters, task: PlacedTask) -> None:
        """Begin with the first target."""
        self._targets, self._width = task.targets, task.width
        self._speed = _MM * reach.speed_mm_s
        self._dwell_s = reach.dwell_s
        self._held = _Held(reach.dwell_s)
        self.hits_ns: list[int] = []

    def step(self, truth: Truth) -> Verdict:
        """Take in one millisecond."""
        target = self._targets[len(self.hits_ns)]
        near = float(np.linalg.norm(truth.tip - target)) <= 0.5 * self._width
        if self._held.step(truth.time_ns, so=near and truth.speed < self._speed):
            self.hits_ns.append(truth.time_ns)
            self._held = _Held(self._dwell_s)
        done = len(self.hits_ns) == len(self._targets)
        return Verdict.SUCCESS if done else Verdict.RUNNING


class PathJudge:
    """Along a curve: rms distance to it, and how near the tip ends to its end."""

    def __init__(self, path: PathParameters, curve: Curve) -> None:
        """Begin; what comes before the reference has set out does not count."""
        self._curve = curve
        self._end, self._rms = _MM * path.end_mm, _MM * path.rms_mm
        self._squares, self._count = 0.0, 0
        self._over_ns: int | None = None
        self.furthest = 0.0

    @property
    def rms(self) -> float:
        """Root mean square distance to the nearest point of the curve [m]."""
        return float(np.sqrt(self._squares / max(1, self._count)))

    def step(self, truth: Truth) -> Verdict:
        """Take in one millisecond."""
        if not truth.path_begun:
            self._squares, self._count, self._over_ns = 0.0, 0, None
            return Verdict.RUNNING
        gap, along = curve_nearest(self._curve, truth.tip)
        self._squares += gap**2
        self._count += 1
        self.furthest = max(self.furthest, along)
        if not truth.path_over:
            return Verdict.RUNNING
        if self._over_ns is None:
            self._over_ns = truth.time_ns
        left = float(np.linalg.norm(truth.tip - self._curve.points[-1]))
        if left <= self._end:
            return Verdict.SUCCESS if self.rms < self._rms else Verdict.FAILED
        return Verdict.RUNNING


class _PressJudge:
    def __init__(self, press: PressParameters, task: PlacedTask) -> None:
        self._press = press
        self._pads = task.pads
        self._held = _Held(press.hold_s)
        self._stiffer = int(np.argmax([pad.stiffness for pad in task.pads]))

    def step(self, truth: Truth) -> Verdict:
        forces = [float(truth.force @ pad.normal) for pad in self._pads]
        if max(forces) > self._press.peak_n:
            return Verdict.OVER_FORCE
        if len(self._pads) == 2:
            if truth.answer is None:
                return Verdict.RUNNING
            right = truth.answer == self._stiffer
            return Verdict.SUCCESS if right else Verdict.FAILED
        error = abs(forces[0] - self._press.force_n)
        within = error <= self._press.tolerance * self._press.force_n
        done = self._held.step(truth.time_ns, so=within)
        return Verdict.SUCCESS if done else Verdict.RUNNING


class RetrieveJudge:
    """Grasp, carry, let go: where the object has come to rest once released."""

    def __init__(self, retrieve: RetrieveParameters, task: PlacedTask) -> None:
        """Begin with nothing held."""
        self._retrieve = retrieve
        self._goal, self._up = task.goal, task.up
        self._goal_radius = task.goal_radius
        self._was_held = False
        self._rest = _Held(_REST_S)
        self._last: tuple[int, FloatArray] | None = None
        self.grasps = 0

    def step(self, truth: Truth) -> Verdict:
        """Take in one millisecond."""
        limit = self._retrieve.contact_n
        if limit is not None and float(np.linalg.norm(truth.force)) > limit:
            return Verdict.OVER_FORCE
        place = truth.object_place
        if place is None or self._goal is None:
            raise ModelError("A retrieval needs an object: give its place each time.")
        self.grasps += truth.held and not self._was_held
        self._was_held = truth.held
        way = place - self._goal
        rests = self._at_rest(truth.time_ns, place)
        if truth.held and not self._retrieve.release:
            near = float(np.linalg.norm(way)) <= self._goal_radius
            return Verdict.SUCCESS if near else Verdict.RUNNING
        if truth.held or not self.grasps or not rests:
            return Verdict.RUNNING
        level = float(np.linalg.norm(way - (way @ self._up) * self._up))
        inside = level <= self._goal_radius and self._retrieve.release
        return Verdict.SUCCESS if inside else Verdict.DROP

    def _at_rest(self, now_ns: int, place: FloatArray) -> bool:
        moved = np.inf
        if self._last is not None and now_ns > self._last[0]:
            way = float(np.linalg.norm(place - self._last[1]))
            moved = way * NS_PER_S / (now_ns - self._last[0])
        self._last = (now_ns, place.copy())
        return self._rest.step(now_ns, so=moved < _REST and not self._was_held)


class _PegJudge:
    def __init__(self, peg: PegParameters, task: PlacedTask) -> None:
        self._depth, self._lateral = _MM * peg.depth_mm, peg.lateral_n
        self._clearance = task.clearance
        self._mouth, self._up = task.mouth, task.up

    def step(self, truth: Truth) -> Verdict:
        if self._mouth is None:
            raise ModelError("A peg needs a hole: lay a task of that kind.")
        across = truth.force - (truth.force @ self._up) * self._up
        if float(np.linalg.norm(across)) > self._lateral:
            return Verdict.OVER_FORCE
        way = truth.tip - self._mouth
        depth = -float(way @ self._up)
        aside = float(np.linalg.norm(way + depth * self._up))
        # a millimetre of give: the hole's wall yields to a peg that leans on it
        inside = aside <= 0.5 * self._clearance + _MM
        return (
            Verdict.SUCCESS
            if inside and depth >= self._depth - _MM
            else Verdict.RUNNING
        )


def make_judge(task: PlacedTask) -> Judge:
    """Make the judge of a task's kind."""
    parameters = task.parameters
    if parameters.reach is not None:
        return ReachJudge(parameters.reach, task)
    if parameters.path is not None and task.curve is not None:
        return PathJudge(parameters.path, task.curve)
    if parameters.press is not None:
        return _PressJudge(parameters.press, task)
    if parameters.retrieve is not None:
        return RetrieveJudge(parameters.retrieve, task)
    if parameters.peg is not None:
        return _PegJudge(parameters.peg, task)
    raise ModelError(f"Task {parameters.name!r} is of no kind that can be judged.")
