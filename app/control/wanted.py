"""What was wanted of the tips, and when, to compare later telemetry with; pure.

Live a state is added every 2 ms; in virtual time the rows that the control loop has
logged, many at once.
"""

import math
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from app.clock import NS_PER_MS
from app.control.mailbox import Layout
from app.messages import StationMode, StationState, state_shapes
from models.bound import Bound, bind, bound
from models.numerics import FloatArray, IntArray, kernel
from models.robot import RobotModel
from models.tip import tip_in_hull

__all__ = ["WantedHistory"]

_STEP_NS = 2 * NS_PER_MS
_ROWS = 8192  # 16 s: longer than any preset's delay
_ARMED = int(StationMode.ARMED)
_NOBODY = -1
_FIELDS = (
    "time_ns",
    "mode",
    "active_source",
    "selected_limb",
    "target_position",
    "tip_commanded",
)


class _HistoryData(NamedTuple):
    """A ring of what was wanted."""

    places: IntArray
    """(6,) first words in a state's row: time, mode, source, limb, target, command."""
    times_ns: IntArray
    """(N,) [ns]."""
    driven: IntArray
    """(N,) limb; -1 where nobody drove."""
    targets: FloatArray
    """(N, L, 3) [m]."""
    commands: FloatArray
    """(N, L, 3) [m]."""


@kernel
def remember_rows(
    history: _HistoryData,
    count: int,
    rows: IntArray,
    values: FloatArray,
    first: int,
    every: int,
) -> int:
    """Remember some of the states that the loop has logged.

    Args:
        history: written.
        count: of states remembered so far.
        rows: (n, words) states.
        values: the same words as real numbers.
        first: the first to be remembered.
        every: how many rows it is to the next.

    Returns:
        The count after them.
    """
    time, mode, source, limb, target, command = history.places
    for n in range(first, rows.shape[0], every):
        place = count % history.times_ns.size
        history.times_ns[place] = rows[n, time]
        is_driven = rows[n, mode] == _ARMED and rows[n, source] >= 0
        history.driven[place] = rows[n, limb] if is_driven else _NOBODY
        for k in range(history.targets.shape[1]):
            for i in range(3):
                history.targets[place, k, i] = values[n, target + 3 * k + i]
                history.commands[place, k, i] = values[n, command + 3 * k + i]
        count += 1
    return count


@kernel
def _place(history: _HistoryData, count: int, time_ns: int) -> int:
    """Where the newest state not after a time is; -1: none, or nobody drove."""
    rows = history.times_ns.size
    first = max(0, count - rows)
    low, high = first, count
    while low < high:
        middle = (low + high) // 2
        if history.times_ns[middle % rows] <= time_ns:
            low = middle + 1
        else:
            high = middle
    if low == first:
        return -1
    place = (low - 1) % rows
    return place if history.driven[place] != _NOBODY else -1


@kernel
def _apart(tip: FloatArray, place: FloatArray) -> float:
    x, y, z = tip[0] - place[0], tip[1] - place[1], tip[2] - place[2]
    return math.sqrt(x * x + y * y + z * z)


@kernel
def compare_pose(
    model: RobotModel,
    history: _HistoryData,
    count: int,
    limb: int,
    time_ns: int,
    then_ns: int,
    coordinates: FloatArray,
    poses_out: FloatArray,
    tip_out: FloatArray,
    apart_out: FloatArray,
) -> int:
    """Compare a pose with what was wanted of the limb that was driven.

    Args:
        model: the robot.
        history: of what was wanted.
        count: of states remembered so far.
        limb: whose pose it is; -1: every limb's.
        time_ns: when it was so [ns].
        then_ns: when what was commanded is looked at [ns].
        coordinates: (S, 3) of all limbs [rad, rad, m].
        poses_out: (n+1, 4, 4) along a limb [m]; scratch.
        tip_out: (3,) of the limb [m]; scratch.
        apart_out: (2,) distance of the tip to its target, and to its command [m].

    Returns:
        How many of them are known.
    """
    now = _place(history, count, time_ns)
    if now < 0 or (limb >= 0 and limb != history.driven[now]):
        return 0
    driven = history.driven[now]
    tip_in_hull(model, driven, coordinates, poses_out, tip_out)
    apart_out[0] = _apart(tip_out, history.targets[now, driven])
    then = _place(history, count, then_ns)
    if then < 0:
        return 1
    apart_out[1] = _apart(tip_out, history.commands[then, driven])
    return 2


class WantedHistory:
    """The last 16 s of what was wanted, every 2 ms at most."""

    def __init__(self, model: RobotModel) -> None:
        """Begin with nothing."""
        limbs = int(model.tip_speed_limit.size)
        layout = Layout(StationState, state_shapes(model))
        first = {name: first for name, first, _ in layout.describe()}
        self._count = 0
        self.newest_ns = 0
        """Time of the newest state [ns]; 0 = there is none."""
        self._data = _HistoryData(
            places=np.array([first[name] for name in _FIELDS]),
            times_ns=np.zeros(_ROWS, dtype=np.int64),
            driven=np.full(_ROWS, _NOBODY),
            targets=np.zeros((_ROWS, limbs, 3)),
            commands=np.zeros((_ROWS, limbs, 3)),
        )
        self._bound = Bound(self._data)
        self._model = bound(model)
        segments = int(model.limb_segment_start[-1])
        self._pose = np.zeros((segments, 3))
        self._poses = np.zeros((segments + 1, 4, 4))
        self._tip, self._apart = np.zeros(3), np.zeros(2)

    @cached_property
    def _remember(self) -> Callable[..., int]:
        """Only virtual time has rows: a live session compiles nothing for them."""
        rows, values = np.zeros((1, 1), dtype=np.int64), np.zeros((1, 1))
        return bind(remember_rows, self._bound, 0, rows, values, 0, 1)

    def add(self, state: StationState) -> None:
        """Remember a state."""
        time_ns = state.time_ns.item()
        if self._count and time_ns - self.newest_ns < _STEP_NS:
            return
        data, place = self._data, self._count % _ROWS
        is_driven = state.mode.item() == _ARMED and state.active_source.item() >= 0
        data.times_ns[place] = self.newest_ns = time_ns
        data.driven[place] = state.selected_limb.item() if is_driven else _NOBODY
        data.targets[place] = state.target_position
        data.commands[place] = state.tip_commanded
        self._count += 1

    def add_rows(self, rows: IntArray, first: int = 0, every: int = 1) -> None:
        """Remember states as the loop logs them.

        Args:
            rows: (n, words) states, one after the other in memory.
            first: the first to be remembered.
            every: how many rows it is to the next, 2 ms or more.
        """
        values = rows.view(np.float64)
        count = self._remember(self._bound, self._count, rows, values, first, every)
        if count > self._count:
            self._count = count
            self.newest_ns = self._data.times_ns.item((count - 1) % _ROWS)

    def compare(
        self, limb: int, time_ns: int, then_ns: int, coordinates: FloatArray
    ) -> list[float]:
        """Compare a pose with what was wanted of the limb that was driven.

        Args:
            limb: whose pose it is; -1: every limb's.
            time_ns: when it was so [ns].
            then_ns: when the command had been given that it answers [ns].
            coordinates: (S, 3) of all limbs [rad, rad, m].

        Returns:
            How far its tip was from its target, and from its command then [m]; fewer
            where nothing is remembered, or nothing or another limb was driven.
        """
        self._pose[...] = coordinates
        known = self._compare(
            self._model,
            self._bound,
            self._count,
            limb,
            time_ns,
            then_ns,
            self._pose,
            self._poses,
            self._tip,
            self._apart,
        )
        apart: list[float] = self._apart[:known].tolist()
        return apart

    @cached_property
    def _compare(self) -> Callable[..., int]:
        """Bound when the robot is first heard: it may have to be compiled."""
        numbers = (0, 0, 0, 0)
        arrays = (self._pose, self._poses, self._tip, self._apart)
        return bind(compare_pose, self._model, self._bound, *numbers, *arrays)
