"""What was wanted of the tips, and when, to compare later telemetry with; pure.

Live a state is added every 2 ms; in virtual time the rows that the control loop has
logged, many at once.
"""

from typing import NamedTuple

import numpy as np

from app.clock import NS_PER_MS
from app.control.mailbox import Layout
from app.messages import StationMode, StationState, state_shapes
from models.numerics import FloatArray, IntArray
from models.robot import RobotModel

__all__ = ["Wanted", "WantedHistory"]

_STEP_NS = 2 * NS_PER_MS
_ROWS = 8192  # 16 s: longer than any preset's delay
_ARMED = int(StationMode.ARMED)
_NOBODY = -1


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


class WantedHistory:
    """The last 16 s of what was wanted, every 2 ms at most."""

    def __init__(self, model: RobotModel) -> None:
        """Begin with nothing."""
        limbs = int(model.tip_speed_limit.size)
        layout = Layout(StationState, state_shapes(model))
        self._first = {name: first for name, first, _ in layout.describe()}
        self._count = 0
        self.newest_ns = 0
        """Time of the newest state [ns]; 0 = there is none."""
        self._times_ns = np.zeros(_ROWS, dtype=np.int64)
        self._driven = np.full(_ROWS, _NOBODY)
        self._targets = np.zeros((_ROWS, limbs, 3))
        self._commands = np.zeros((_ROWS, limbs, 3))

    def add(self, state: StationState) -> None:
        """Remember a state."""
        time_ns = state.time_ns.item()
        if self._count and time_ns - self.newest_ns < _STEP_NS:
            return
        is_driven = state.mode.item() == _ARMED and state.active_source.item() >= 0
        place = self._count % _ROWS
        self._times_ns[place] = self.newest_ns = time_ns
        self._driven[place] = state.selected_limb.item() if is_driven else _NOBODY
        self._targets[place] = state.target_position
        self._commands[place] = state.tip_commanded
        self._count += 1

    def add_rows(self, rows: IntArray) -> None:
        """Remember (n, words) states as the loop logs them, one every 2 ms or more."""
        many = len(rows)
        if not many:
            return
        first = self._first
        places = np.arange(self._count, self._count + many) % _ROWS
        times_ns = rows[:, first["time_ns"]]
        self._times_ns[places] = times_ns
        self.newest_ns = int(times_ns[-1])
        armed = rows[:, first["mode"]] == _ARMED
        is_driven = armed & (rows[:, first["active_source"]] >= 0)
        self._driven[places] = np.where(
            is_driven, rows[:, first["selected_limb"]], _NOBODY
        )
        for name, kept in (
            ("target_position", self._targets),
            ("tip_commanded", self._commands),
        ):
            chosen = rows[:, first[name] : first[name] + kept[0].size]
            kept[places] = chosen.view(np.float64).reshape(many, *kept[0].shape)
        self._count += many

    def at(self, time_ns: int) -> Wanted | None:
        """Return what was wanted in the newest remembered state not after a time.

        Args:
            time_ns: station time [ns].

        Returns:
            None where nothing is remembered, or nothing was driven.
        """
        head = self._count % _ROWS
        newer, older = self._times_ns[:head], self._times_ns[head : self._count]
        if head and newer.item(0) <= time_ns:
            place = int(newer.searchsorted(time_ns, side="right")) - 1
        else:
            place = head + int(older.searchsorted(time_ns, side="right")) - 1
            if place < head:
                return None
        limb = self._driven.item(place)
        if limb == _NOBODY:
            return None
        return Wanted(limb, self._targets[place], self._commands[place])
