"""What is kept of a trial, every millisecond: the metrics' source, and its fingerprint.

All in the hull frame. `true` is what is so at the robot, which neither station nor
operator can see.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from app.control.loop import PERIOD_NS
from app.control.mailbox import Layout
from app.link.packets import Direction
from app.messages import StationMode, StationState, state_shapes
from app.study.task_truth import MOMENTS
from app.study.task_watch import TaskWatch
from app.study.trial import START_NS, Trial
from models.numerics import FloatArray, IntArray

__all__ = ["PERIOD_S", "TraceLog", "TrialTrace", "trace_table"]

PERIOD_S = 1e-3
_BLOCK = 256  # milliseconds whose columns are made at once; half of `MOMENTS`
_COLUMNS = {
    "time_s": 1,
    "tip": 3,  # true
    "hand": 3,  # where the operator wants the tip
    "shown": 3,  # the local model's tip
    "force_hand": 3,  # that the hand pushes with
    "force_tip": 3,  # that the tip pushes with, true
    "force_limb": 3,  # that the whole limb pushes with, true
    "force_told": 3,  # that the tip pushes with, as the station has heard
    "object": 3,  # place of the object, NaN where there is none
    "port_energy": 1,
    "injected_energy": 1,
    "mismatch": 1,
    "surface_stiffness": 1,  # as rendered, NaN while none is known
    "surface_point": 3,
    "surface_normal": 3,
    "driving": 1,
    "held": 1,
}
_SPANS: dict[str, slice] = {}
_WIDTH = 0
for _name, _size in _COLUMNS.items():
    _SPANS[_name] = slice(_WIDTH, _WIDTH + _size)
    _WIDTH += _size


class TrialTrace:
    """A whole trial; each column is an attribute, (n,) or (n, 3), SI."""

    time_s: FloatArray
    tip: FloatArray
    hand: FloatArray
    shown: FloatArray
    force_hand: FloatArray
    force_tip: FloatArray
    force_limb: FloatArray
    force_told: FloatArray
    object: FloatArray
    port_energy: FloatArray
    injected_energy: FloatArray
    mismatch: FloatArray
    surface_stiffness: FloatArray
    surface_point: FloatArray
    surface_normal: FloatArray
    driving: FloatArray
    held: FloatArray

    def __init__(
        self, table: FloatArray, applied: IntArray, clock_zero_ns: int
    ) -> None:
        """Take over.

        Args:
            table: (n, columns) as `TraceLog` fills it.
            applied: (m, 2) when a command was applied, and when it had been given [ns].
            clock_zero_ns: the clock at time 0 [ns].
        """
        self._table = table
        self.applied = applied
        self.clock_zero_ns = clock_zero_ns
        for name, span in _SPANS.items():
            column = table[:, span]
            setattr(self, name, column[:, 0] if _COLUMNS[name] == 1 else column)

    def __len__(self) -> int:
        """Return the number of milliseconds."""
        return len(self._table)

    def until(self, count: int) -> "TrialTrace":
        """Return the first so many milliseconds."""
        return TrialTrace(self._table[:count], self.applied, self.clock_zero_ns)

    def after(self, start_s: float) -> "TrialTrace":
        """Return what came from a time on [s]."""
        first = int(np.searchsorted(self.time_s, start_s - 0.5 * PERIOD_S))
        return TrialTrace(self._table[first:], self.applied, self.clock_zero_ns)

    def fingerprint(self) -> str:
        """Return the SHA-256 of all of it, as hexadecimal."""
        digest = hashlib.sha256(np.ascontiguousarray(self._table).tobytes())
        digest.update(np.ascontiguousarray(self.applied).tobytes())
        return digest.hexdigest()

    def thinned(self, every: int) -> dict[str, Any]:
        """Return single-precision columns of every so many milliseconds, by name."""
        rows = self._table[::every].astype(np.float32)
        kept: dict[str, Any] = {
            name: rows[:, span] if _COLUMNS[name] > 1 else rows[:, span][:, 0]
            for name, span in _SPANS.items()
        }
        zero = np.array([self.clock_zero_ns])
        return kept | {"applied_ns": self.applied, "clock_zero_ns": zero}


def trace_table(count: int, columns: Mapping[str, FloatArray]) -> FloatArray:
    """Put the columns of a trace, (n,) or (n, 3) each, into one table for `TrialTrace`.

    Args:
        count: number of milliseconds n.
        columns: all of them, by name.
    """
    table = np.zeros((count, _WIDTH))
    for name, span in _SPANS.items():
        table[:, span] = columns[name].reshape(count, -1)
    return table


class TraceLog:
    """Fills a trace while a trial runs, block by block."""

    def __init__(self, trial: Trial, watch: TaskWatch) -> None:
        """Begin empty; `watch` judges the trial."""
        self._trial, self._limb = trial, watch.limb
        self._moments = watch.run.moments
        trial.witness = self
        self._zero_ns = trial.now_ns
        self._ticks = trial.ticks
        self._full: list[FloatArray] = []
        layout = Layout(StationState, state_shapes(trial.model))
        self._first_word = {name: first for name, first, _ in layout.describe()}
        self._count = 0  # ticks of which no columns are made yet
        self._given: list[tuple[int, bool]] = []  # so many of them: was there a goal
        self._force_told = self._heard_force()
        self._heard: list[tuple[int, FloatArray]] = []
        self._applied: list[tuple[int, int]] = []
        self._newest: object = None

    def arrived(self, now_ns: int, direction: Direction) -> None:
        """Keep what a packet changed, as `Witness`."""
        if direction is Direction.UP:
            self._heard.append((now_ns, self._heard_force()))
            return
        newest = self._trial.core.bridge.newest
        if newest is not self._newest and newest is not None:
            self._newest = newest
            self._applied.append((now_ns, newest.generated_ns))

    def _heard_force(self) -> FloatArray:
        """Return the force (3,) at the tip that the station has heard of [N]."""
        force: FloatArray = self._trial.health.contact_force[self._limb].copy()
        return force

    def take(self, count: int) -> None:
        """Keep so many of the ticks that the trial has done since.

        Args:
            count: all that the watch has taken, 256 at most, or the first of them where
                the rest shall not be kept.
        """
        self._given.append((count, self._trial.exchange.goals.newest is not None))
        self._count += count
        if self._count >= _BLOCK:
            self._full.append(self._columns())

    def _columns(self) -> FloatArray:
        """Make the table (n, columns) of the ticks that have none yet."""
        first, count = self._ticks, self._count
        now, rows = self._moments, np.arange(first, first + count) % MOMENTS
        self._states = np.concatenate(self._trial.states(first))[:count]
        around = self._trial.core.surroundings
        times_ns = now.time_ns[rows]
        known = self._integers("surface_known", self._limb) != 0
        armed = self._integers("mode") == StationMode.ARMED
        counts, given = zip(*self._given, strict=True)
        driven = (self._integers("active_source") >= 0) | np.repeat(given, counts)
        columns = {
            "time_s": 1e-3 * ((times_ns - START_NS) // PERIOD_NS),
            "tip": now.tip[rows],
            "hand": self._vectors("target_position", self._limb),
            "shown": self._vectors("tip_model", self._limb),
            "force_hand": self._vectors("force_hand"),
            "force_tip": np.zeros((count, 3))
            if around is None
            else -now.tip_force[rows],
            "force_limb": -now.force[rows],
            "force_told": self._told(times_ns),
            "object": now.place[rows],
            "port_energy": self._numbers("port_energy"),
            "injected_energy": self._numbers("injected_energy"),
            "mismatch": self._numbers("mismatch"),
            "surface_stiffness": np.where(
                known, self._numbers("surface_stiffness"), np.nan
            ),
            "surface_point": self._vectors("surface_point", self._limb),
            "surface_normal": self._vectors("surface_normal", self._limb),
            "driving": armed & driven,
            "held": now.held[rows],
        }
        self._ticks, self._count, self._given = first + count, 0, []
        return trace_table(count, columns)

    def _told(self, times_ns: IntArray) -> FloatArray:
        """Return the force (n, 3) that the station had heard of at times [N]."""
        forces = np.array([self._force_told, *(force for _, force in self._heard)])
        heard_ns = np.array([at_ns for at_ns, _ in self._heard], dtype=np.int64)
        newest = np.searchsorted(heard_ns, times_ns, side="right")
        self._force_told = forces[newest[-1]]
        del self._heard[: newest[-1]]
        told: FloatArray = forces[newest]
        return told

    def _integers(self, name: str, index: int = 0) -> IntArray:
        """One whole number (n,) of a field of the station's state."""
        return self._states[:, self._first_word[name] + index]

    def _numbers(self, name: str) -> FloatArray:
        """The limb's number (n,) in a field of the station's state."""
        return self._integers(name, self._limb).view(np.float64)

    def _vectors(self, name: str, index: int = 0) -> FloatArray:
        """One vector (n, 3) of a field of the station's state."""
        first = self._first_word[name] + 3 * index
        return self._states[:, first : first + 3].view(np.float64)

    def close(self) -> TrialTrace:
        """Return the whole trace."""
        if self._count:
            self._full.append(self._columns())
        table = np.concatenate([np.zeros((0, _WIDTH)), *self._full])
        end_ns = START_NS + self._ticks * PERIOD_NS
        kept = [entry for entry in self._applied if entry[0] <= end_ns]
        applied = np.array(kept, dtype=np.int64).reshape(-1, 2)
        return TrialTrace(table, applied, self._zero_ns)
