"""What is kept of a trial, every millisecond: the metrics' source, and its fingerprint.

All in the hull frame. `true` is what is so at the robot, which neither station nor
operator can see.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from app.messages import StationMode
from app.study.task_truth import Truth
from app.study.trial import Trial
from models.numerics import FloatArray, IntArray

__all__ = ["PERIOD_S", "TraceLog", "TrialTrace", "trace_table"]

PERIOD_S = 1e-3
_BLOCK = 4096
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
    """Fills a trace while a trial runs."""

    def __init__(self, trial: Trial, limb: int) -> None:
        """Begin empty; `limb` is the index of the one that does the task."""
        self._trial, self._limb = trial, limb
        self._zero_ns = trial.now_ns
        self._full: list[FloatArray] = []
        self._block = np.zeros((_BLOCK, _WIDTH))
        self._filled = 0
        self._applied: list[tuple[int, int]] = []
        self._newest: object = None

    def take(self, truth: Truth) -> None:
        """Keep the millisecond that the trial has just done, and what is true of it."""
        if self._filled == _BLOCK:
            self._full.append(self._block)
            self._block, self._filled = np.zeros((_BLOCK, _WIDTH)), 0
        row = self._block[self._filled]
        self._filled += 1
        self._fill(row, truth)
        newest = self._trial.core.bridge.newest
        if newest is not self._newest and newest is not None:
            self._newest = newest
            self._applied.append((truth.time_ns, newest.generated_ns))

    def _fill(self, row: FloatArray, truth: Truth) -> None:
        trial, limb, state = self._trial, self._limb, self._trial.state
        around = trial.core.surroundings
        row[0] = 1e-3 * trial.ticks
        row[_SPANS["tip"]] = truth.tip
        row[_SPANS["hand"]] = state.target_position[limb]
        row[_SPANS["shown"]] = state.tip_model[limb]
        row[_SPANS["force_hand"]] = state.force_hand
        row[_SPANS["force_limb"]] = -truth.force
        if around is not None:
            row[_SPANS["force_tip"]] = -around.tip_force[limb]
        row[_SPANS["force_told"]] = trial.health.contact_force[limb]
        place = truth.object_place
        row[_SPANS["object"]] = np.nan if place is None else place
        row[_SPANS["port_energy"]] = state.port_energy[limb]
        row[_SPANS["injected_energy"]] = state.injected_energy[limb]
        row[_SPANS["mismatch"]] = state.mismatch[limb]
        known = state.surface_known[limb]
        row[_SPANS["surface_stiffness"]] = (
            state.surface_stiffness[limb] if known else np.nan
        )
        row[_SPANS["surface_point"]] = state.surface_point[limb]
        row[_SPANS["surface_normal"]] = state.surface_normal[limb]
        given = trial.exchange.goals.newest is not None  # nobody's hand drives then
        armed = int(state.mode[0]) == StationMode.ARMED
        row[_SPANS["driving"]] = armed and (state.active_source[0] >= 0 or given)
        row[_SPANS["held"]] = truth.held

    def close(self) -> TrialTrace:
        """Return the whole trace."""
        table = np.concatenate([*self._full, self._block[: self._filled]])
        applied = np.array(self._applied, dtype=np.int64).reshape(-1, 2)
        return TrialTrace(table, applied, self._zero_ns)
