"""What was wanted of the tips, and when, to compare later telemetry with; pure.

Live a state is added every 2 ms; in virtual time the rows that the control loop has
logged, many at once.
"""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from app.clock import NS_PER_MS
from app.control.mailbox import Layout
from app.messages import StationMode, StationState, state_shapes
from models.bound import Bound, bind
from models.numerics import FloatArray, IntArray, kernel
from models.robot import RobotModel

__all__ = ["Wanted", "WantedHistory"]

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


class Wanted(NamedTuple):
    """What was wanted in one state.

    Attributes:
        limb: the limb that was driven.
        targets: (L, 3) where each tip ought to be [m]; a view.
        commands: (L, 3) where each tip was told to be [m]; a view.
    """

    limb: int
    targets: FloatArray
    commands: FloatArray


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

    def at(self, time_ns: int) -> Wanted | None:
        """Return what was wanted in the newest remembered state not after a time.

        Args:
            time_ns: station time [ns].

        Returns:
            None where nothing is remembered, or nothing was driven.
        """
        data, head = self._data, self._count % _ROWS
        newer, older = data.times_ns[:head], data.times_ns[head : self._count]
        if head and newer.item(0) <= time_ns:
            place = int(newer.searchsorted(time_ns, side="right")) - 1
        else:
            place = head + int(older.searchsorted(time_ns, side="right")) - 1
            if place < head:
                return None
        limb = data.driven.item(place)
        if limb == _NOBODY:
            return None
        return Wanted(limb, data.targets[place], data.commands[place])
