"""What is kept of a trial, every millisecond: the metrics' source, and its fingerprint.

All in the hull frame. `true` is what is so at the robot, which neither station nor
operator can see.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from app.control.mailbox import Layout
from app.messages import StationMode, StationState, state_shapes
from app.study.task_truth import Truth
from app.study.trial import Trial
from models.numerics import FloatArray, IntArray

__all__ = ["PERIOD_S", "TraceLog", "TrialTrace", "trace_table"]

PERIOD_S = 1e-3
_BLOCK = 256  # milliseconds whose columns are made at once
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


class _Others(NamedTuple):
    """What a millisecond leaves beside the words of the station's state."""

    truth: Truth
    ticks: int
    given: bool
    """Whether a goal is in force, at which nobody's hand drives."""


class TraceLog:
    """Fills a trace while a trial runs.

    Each millisecond only what will be overwritten is put aside; columns are made of it
    block by block.
    """

    def __init__(self, trial: Trial, limb: int) -> None:
        """Begin empty; `limb` is the index of the one that does the task."""
        self._trial, self._limb = trial, limb
        self._zero_ns = trial.now_ns
        self._full: list[FloatArray] = []
        layout = Layout(StationState, state_shapes(trial.model))
        self._first_word = {name: first for name, first, _ in layout.describe()}
        self._states: IntArray = np.zeros((_BLOCK, layout.words), dtype=np.int64)
        self._force_tip: FloatArray = np.zeros((_BLOCK, 3))
        self._force_told: FloatArray = np.zeros((_BLOCK, 3))
        self._others: list[_Others] = []
        self._applied: list[tuple[int, int]] = []
        self._newest: object = None

    def take(self, truth: Truth) -> None:
        """Keep the millisecond that the trial has just done, and what is true of it.

        The arrays of `truth` are kept themselves: nobody may write to them any more.
        """
        trial, limb, row = self._trial, self._limb, len(self._others)
        around = trial.core.surroundings
        self._states[row] = trial.loop.state_words
        if around is not None:
            np.negative(around.tip_force[limb], out=self._force_tip[row])
        self._force_told[row] = trial.health.contact_force[limb]
        given = trial.exchange.goals.newest is not None
        self._others.append(_Others(truth, trial.ticks, given))
        newest = trial.core.bridge.newest
        if newest is not self._newest and newest is not None:
            self._newest = newest
            self._applied.append((truth.time_ns, newest.generated_ns))
        if row + 1 == _BLOCK:
            self._full.append(self._columns())
            self._others.clear()

    def _columns(self) -> FloatArray:
        """Make the table (n, columns) of what has been put aside."""
        count = len(self._others)
        truths, ticks, given = zip(*self._others, strict=True)
        nowhere = np.full(3, np.nan)
        places = [
            nowhere if truth.object_place is None else truth.object_place
            for truth in truths
        ]
        known = self._integers("surface_known", self._limb) != 0
        armed = self._integers("mode") == StationMode.ARMED
        driven = (self._integers("active_source") >= 0) | np.array(given)
        columns = {
            "time_s": 1e-3 * np.array(ticks),
            "tip": np.concatenate([truth.tip for truth in truths]),
            "hand": self._vectors("target_position", self._limb),
            "shown": self._vectors("tip_model", self._limb),
            "force_hand": self._vectors("force_hand"),
            "force_tip": self._force_tip[:count],
            "force_limb": -np.concatenate([truth.force for truth in truths]),
            "force_told": self._force_told[:count],
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
        return self._states[: len(self._others), self._first_word[name] + index]

    def _numbers(self, name: str) -> FloatArray:
        """The limb's number (n,) in a field of the station's state."""
        return self._integers(name, self._limb).view(np.float64)

    def _vectors(self, name: str, index: int = 0) -> FloatArray:
        """One vector (n, 3) of a field of the station's state."""
        first = self._first_word[name] + 3 * index
        words = self._states[: len(self._others), first : first + 3]
        return words.view(np.float64)

    def close(self) -> TrialTrace:
        """Return the whole trace."""
        rest = [self._columns()] if self._others else []
        table = np.concatenate([np.zeros((0, _WIDTH)), *self._full, *rest])
        applied = np.array(self._applied, dtype=np.int64).reshape(-1, 2)
        return TrialTrace(table, applied, self._zero_ns)
