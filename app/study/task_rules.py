"""The rules of tasks as kernels: each judges some milliseconds, one after the other.

What ends any task comes first, then what ends a task of this kind, then its time. A
kernel returns how many milliseconds it has judged: up to the one that ended the task.
"""

import numpy as np

from app.clock import NS_PER_S
from app.study.task_standing import (
    NEVER,
    PathData,
    PegData,
    PressData,
    ReachData,
    RetrieveData,
    RunData,
)
from app.study.task_truth import MomentsData, Verdict
from models.curve import curve_foot
from models.numerics import FloatArray, IntArray, inner_kernel, kernel

__all__ = [
    "CODES",
    "judge_path",
    "judge_peg",
    "judge_press",
    "judge_reach",
    "judge_retrieve",
]

CODES = tuple(Verdict)
"""Verdicts by the numbers that stand for them here."""

_RUNNING = CODES.index(Verdict.RUNNING)
_SUCCESS = CODES.index(Verdict.SUCCESS)
_FAILED = CODES.index(Verdict.FAILED)
_DROP = CODES.index(Verdict.DROP)
_OVER_FORCE = CODES.index(Verdict.OVER_FORCE)
_DIVERGED = CODES.index(Verdict.DIVERGED)
_TIMEOUT = CODES.index(Verdict.TIMEOUT)

_FAR = 0.5  # [m]
_REST = 2e-2  # [m/s] of an object that has come to rest, after letting go


# -- any task -------------------------------------------------------------------------


@inner_kernel
def _distance(one: FloatArray, other: FloatArray) -> float:
    x, y, z = one[0] - other[0], one[1] - other[1], one[2] - other[2]
    return float(np.sqrt(x * x + y * y + z * z))


@inner_kernel
def _along(x: float, y: float, z: float, axis: FloatArray) -> float:
    """Part of a vector along an axis of length 1."""
    return float(x * axis[0] + y * axis[1] + z * axis[2])


@inner_kernel
def _across(x: float, y: float, z: float, axis: FloatArray) -> float:
    """Length of the part of a vector that is normal to an axis of length 1."""
    along = _along(x, y, z, axis)
    x, y, z = x - along * axis[0], y - along * axis[1], z - along * axis[2]
    return float(np.sqrt(x * x + y * y + z * z))


@inner_kernel
def _size(vector: FloatArray) -> float:
    x, y, z = vector[0], vector[1], vector[2]
    return float(np.sqrt(x * x + y * y + z * z))


@inner_kernel
def _lasts(now_ns: int, length_ns: int, so: bool, since_ns_out: IntArray) -> bool:
    """Whether something has been so for long enough."""
    if not so:
        since_ns_out[0] = NEVER
        return False
    if since_ns_out[0] == NEVER:
        since_ns_out[0] = now_ns
    return bool(now_ns - since_ns_out[0] >= length_ns)


@inner_kernel
def _begin(run: RunData, moments: MomentsData, row: int) -> int:
    """Judge what ends any task."""
    tip, force = moments.tip[row], _size(moments.force[row])
    if run.ended_ns[0] == NEVER:
        for i in range(3):
            run.first_tip[i] = tip[i]
    run.ended_ns[0] = moments.time_ns[row]
    if not (_distance(tip, run.first_tip) <= _FAR and force < np.inf):
        return _DIVERGED
    run.peak_force[0] = max(run.peak_force[0], force)
    return _OVER_FORCE if force > run.abort else _RUNNING


@inner_kernel
def _end(run: RunData, verdict: int) -> bool:
    """Note a verdict, or that the time is over; whether the task has ended."""
    time_s = (run.ended_ns[0] - run.start_ns) / NS_PER_S
    if verdict == _RUNNING and time_s >= run.timeout_s:
        verdict = _TIMEOUT
    run.verdict[0] = verdict
    return verdict != _RUNNING


# -- each kind ------------------------------------------------------------------------


@kernel
def judge_reach(
    task: ReachData, run: RunData, moments: MomentsData, first: int, count: int
) -> int:
    """Judge milliseconds: every target near enough, slow enough, for long enough."""
    for done in range(count):
        row = (first + done) % moments.time_ns.size
        verdict = _begin(run, moments, row)
        if verdict == _RUNNING:
            verdict = _reach(task, moments, row)
        if _end(run, verdict):
            return done + 1
    return count


@inner_kernel
def _reach(task: ReachData, moments: MomentsData, row: int) -> int:
    now_ns, number = moments.time_ns[row], task.hits[0]
    near = _distance(moments.tip[row], task.targets[number]) <= task.radius
    dwells = near and moments.speed[row] < task.speed
    if _lasts(now_ns, task.dwell_ns, dwells, task.since_ns):
        task.hits_ns[number] = now_ns
        task.hits[0] = number + 1
        task.since_ns[0] = NEVER
    return _SUCCESS if task.hits[0] == task.targets.shape[0] else _RUNNING


@kernel
def judge_path(
    task: PathData, run: RunData, moments: MomentsData, first: int, count: int
) -> int:
    """Judge milliseconds: rms distance to a curve, and that the tip gets to its end.

    What comes before the reference has set out does not count.
    """
    for done in range(count):
        row = (first + done) % moments.time_ns.size
        verdict = _begin(run, moments, row)
        if verdict == _RUNNING:
            verdict = _path(task, moments, row)
        if _end(run, verdict):
            return done + 1
    return count


@inner_kernel
def _path(task: PathData, moments: MomentsData, row: int) -> int:
    if moments.begun[row] == 0:
        task.squares[0] = 0.0
        task.counted[0] = 0
        return _RUNNING
    tip = moments.tip[row]
    gap, along = curve_foot(task.points, task.arc, tip)
    task.squares[0] += gap * gap
    task.counted[0] += 1
    task.furthest[0] = max(task.furthest[0], along)
    if moments.over[row] == 0:
        return _RUNNING
    if _distance(tip, task.points[task.points.shape[0] - 1]) > task.end:
        return _RUNNING
    rms = np.sqrt(task.squares[0] / task.counted[0])
    return _SUCCESS if rms < task.rms else _FAILED


@kernel
def judge_press(
    task: PressData, run: RunData, moments: MomentsData, first: int, count: int
) -> int:
    """Judge milliseconds: a force held for long enough, or the right pad named."""
    for done in range(count):
        row = (first + done) % moments.time_ns.size
        verdict = _begin(run, moments, row)
        if verdict == _RUNNING:
            verdict = _press(task, moments, row)
        if _end(run, verdict):
            return done + 1
    return count


@inner_kernel
def _press(task: PressData, moments: MomentsData, row: int) -> int:
    force = moments.force[row]
    pads = task.normals.shape[0]
    for pad in range(pads):
        if _along(force[0], force[1], force[2], task.normals[pad]) > task.peak:
            return _OVER_FORCE
    if pads == 2:
        answer = moments.answer[row]
        if answer < 0:
            return _RUNNING
        return _SUCCESS if answer == task.stiffer else _FAILED
    pushed = _along(force[0], force[1], force[2], task.normals[0])
    within = abs(pushed - task.force) <= task.slack
    held = _lasts(moments.time_ns[row], task.hold_ns, within, task.since_ns)
    return _SUCCESS if held else _RUNNING


@kernel
def judge_retrieve(
    task: RetrieveData, run: RunData, moments: MomentsData, first: int, count: int
) -> int:
    """Judge milliseconds: where an object has come to rest once it was let go."""
    for done in range(count):
        row = (first + done) % moments.time_ns.size
        verdict = _begin(run, moments, row)
        if verdict == _RUNNING:
            verdict = _retrieve(task, moments, row)
        if _end(run, verdict):
            return done + 1
    return count


@inner_kernel
def _retrieve(task: RetrieveData, moments: MomentsData, row: int) -> int:
    if _size(moments.force[row]) > task.contact:
        return _OVER_FORCE
    held, place = moments.held[row], moments.place[row]
    if held == 1 and task.held[0] == 0:
        task.grasps[0] += 1
    task.held[0] = held
    rests = _rests(task, moments.time_ns[row], place)
    if held == 1 and not task.release:
        near = _distance(place, task.goal) <= task.radius
        return _SUCCESS if near else _RUNNING
    if held == 1 or task.grasps[0] == 0 or not rests:
        return _RUNNING
    goal = task.goal
    level = _across(place[0] - goal[0], place[1] - goal[1], place[2] - goal[2], task.up)
    return _SUCCESS if level <= task.radius and task.release else _DROP


@inner_kernel
def _rests(task: RetrieveData, now_ns: int, place: FloatArray) -> bool:
    """Whether the object, which nothing holds, has rested for long enough."""
    moved = np.inf
    if now_ns > task.last_ns[0] and task.last_ns[0] != NEVER:
        way = _distance(place, task.last)
        moved = way * NS_PER_S / (now_ns - task.last_ns[0])
    task.last_ns[0] = now_ns
    for i in range(3):
        task.last[i] = place[i]
    so = moved < _REST and task.held[0] == 0
    return _lasts(now_ns, task.rest_ns, so, task.since_ns)


@kernel
def judge_peg(
    task: PegData, run: RunData, moments: MomentsData, first: int, count: int
) -> int:
    """Judge milliseconds: a peg deep in its hole, pressed to no side too hard."""
    for done in range(count):
        row = (first + done) % moments.time_ns.size
        verdict = _begin(run, moments, row)
        if verdict == _RUNNING:
            verdict = _peg(task, moments, row)
        if _end(run, verdict):
            return done + 1
    return count


@inner_kernel
def _peg(task: PegData, moments: MomentsData, row: int) -> int:
    force, tip, mouth = moments.force[row], moments.tip[row], task.mouth
    if _across(force[0], force[1], force[2], task.up) > task.lateral:
        return _OVER_FORCE
    x, y, z = tip[0] - mouth[0], tip[1] - mouth[1], tip[2] - mouth[2]
    deep = -_along(x, y, z, task.up) >= task.depth
    aside = _across(x, y, z, task.up)
    return _SUCCESS if deep and aside <= task.aside else _RUNNING
