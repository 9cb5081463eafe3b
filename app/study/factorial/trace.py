"""What is kept of a trial, every millisecond: the metrics' source, and its fingerprint.

All in the hull frame. `true` is what is so at the robot, which neither station nor
operator can see.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from app.control.loop import PERIOD_NS
from app.control.mailbox import Layout
from app.link.packets import Direction
from app.messages import StationMode, StationState, state_shapes
from app.study.task_truth import Truth
from app.study.trial import START_NS, Trial
from models.numerics import FloatArray, IntArray

__all__ = ["PERIOD_S", "TraceLog", "TrialTrace", "trace_table"]

PERIOD_S = 1e-3
_BLOCK = 256  # milliseconds whose columns are made at once
_MOST = 256  # that are taken at once
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
    """Fills a trace while a trial runs.

    Only what will be overwritten is put aside; columns are made of it block by block.
    """

    def __init__(self, trial: Trial, limb: int) -> None:
        """Begin empty; `limb` is the index of the one that does the task."""
        self._trial, self._limb = trial, limb
        trial.witness = self
        self._zero_ns = trial.now_ns
        self._ticks = trial.ticks
        self._full: list[FloatArray] = []
        layout = Layout(StationState, state_shapes(trial.model))
        self._first_word = {name: first for name, first, _ in layout.describe()}
        shape = (_BLOCK + _MOST, layout.words)
        self._states: IntArray = np.zeros(shape, dtype=np.int64)
        self._truths: list[Truth] = []
        self._told: list[FloatArray] = []
        self._given: list[bool] = []
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

    def take(self, truths: Sequence[Truth]) -> None:
        """Keep the ticks that the trial has done since, and what was true in each.

        Args:
            truths: of these ticks, or of the first of them where the rest shall not be
                kept. Their arrays are kept themselves: nobody may write to them any
                more; 256 at most.
        """
        row, end = len(self._truths), len(self._truths) + len(truths)
        for rows in self._trial.states(self._ticks):
            kept = rows[: end - row]
            self._states[row : row + len(kept)] = kept
            row += len(kept)
        self._ticks += len(truths)
        self._truths += truths
        given = self._trial.exchange.goals.newest is not None
        self._given += [given] * len(truths)
        heard = self._heard
        for truth in truths:
            while heard and heard[0][0] <= truth.time_ns:
                self._force_told = heard.pop(0)[1]
            self._told.append(self._force_told)
        if end >= _BLOCK:
            self._full.append(self._columns())
            self._truths, self._told, self._given = [], [], []

    def _columns(self) -> FloatArray:
        """Make the table (n, columns) of what has been put aside."""
        truths, count = self._truths, len(self._truths)
        nowhere, nothing = np.full(3, np.nan), np.zeros(3)
        places = [
            nowhere if truth.object_place is None else truth.object_place
            for truth in truths
        ]
        at_tip = [
            nothing if truth.tip_force is None else -truth.tip_force for truth in truths
        ]
        times_ns = np.array([truth.time_ns for truth in truths])
        known = self._integers("surface_known", self._limb) != 0
        armed = self._integers("mode") == StationMode.ARMED
        driven = (self._integers("active_source") >= 0) | np.array(self._given)
        columns = {
            "time_s": 1e-3 * ((times_ns - START_NS) // PERIOD_NS),
            "tip": np.concatenate([truth.tip for truth in truths]),
            "hand": self._vectors("target_position", self._limb),
            "shown": self._vectors("tip_model", self._limb),
            "force_hand": self._vectors("force_hand"),
            "force_tip": np.concatenate(at_tip),
            "force_limb": -np.concatenate([truth.force for truth in truths]),
            "force_told": np.concatenate(self._told),
            "object": np.concatenate(places),
            "port_energy": self._numbers("port_energy"),
            "injected_energy": self._numbers("injected_energy"),
            "mismatch": self._numbers("mismatch"),
            "surface_stiffness": np.where(
                known, self._numbers("surface_stiffness"), np.nan
            ),
            "surface_point": self._vectors("surface_point", self._limb),
            "surface_normal": self._vectors("surface_normal", self._limb),
            "driving": armed & driven,
            "held": np.array([truth.held for truth in truths]),
        }
        return trace_table(count, columns)

    def _integers(self, name: str, index: int = 0) -> IntArray:
        """One whole number (n,) of a field of the station's state."""
        return self._states[: len(self._truths), self._first_word[name] + index]

    def _numbers(self, name: str) -> FloatArray:
        """The limb's number (n,) in a field of the station's state."""
        return self._integers(name, self._limb).view(np.float64)

    def _vectors(self, name: str, index: int = 0) -> FloatArray:
        """One vector (n, 3) of a field of the station's state."""
        first = self._first_word[name] + 3 * index
        words = self._states[: len(self._truths), first : first + 3]
        return words.view(np.float64)

    def close(self) -> TrialTrace:
        """Return the whole trace."""
        rest = [self._columns()] if self._truths else []
        table = np.concatenate([np.zeros((0, _WIDTH)), *self._full, *rest])
        end_ns = START_NS + self._ticks * PERIOD_NS
        kept = [entry for entry in self._applied if entry[0] <= end_ns]
        applied = np.array(kept, dtype=np.int64).reshape(-1, 2)
        return TrialTrace(table, applied, self._zero_ns)
