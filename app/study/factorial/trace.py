"""What is kept of a trial, every millisecond: the metrics' source, and its fingerprint.

All in the hull frame. `true` is what is so at the robot, which neither station nor
operator can see.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from app.control.loop import PERIOD_NS
from app.link.packets import Direction
from app.study.factorial.trace_rows import SPANS, WIDTH, allocate_rows, write_rows
from app.study.task_truth import MOMENTS
from app.study.task_watch import TaskWatch
from app.study.trial import START_NS, Trial
from models.bound import Bound, bind
from models.numerics import FloatArray, IntArray

__all__ = ["PERIOD_S", "TraceLog", "TrialTrace", "trace_table"]

PERIOD_S = 1e-3
_TOGETHER = 32  # milliseconds that are written at once
_BLOCK = 256  # that are kept in one part


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
        for name, span in SPANS.items():
            setattr(self, name, _column(table, span))

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
            name: _column(rows, span) for name, span in SPANS.items()
        }
        zero = np.array([self.clock_zero_ns])
        return kept | {"applied_ns": self.applied, "clock_zero_ns": zero}


def _column(table: Any, span: slice) -> Any:
    """View a column, (n,) or (n, 3)."""
    column = table[:, span]
    return column[:, 0] if column.shape[1] == 1 else column


def trace_table(count: int, columns: Mapping[str, FloatArray]) -> FloatArray:
    """Put the columns of a trace, (n,) or (n, 3) each, into one table for `TrialTrace`.

    Args:
        count: number of milliseconds n.
        columns: all of them, by name.
    """
    table = np.zeros((count, WIDTH))
    for name, span in SPANS.items():
        table[:, span] = columns[name].reshape(count, -1)
    return table


class TraceLog:
    """Fills a trace while a trial runs, block by block."""

    def __init__(self, trial: Trial, watch: TaskWatch) -> None:
        """Begin empty; `watch` judges the trial."""
        self._trial, self._limb = trial, watch.limb
        trial.witness = self
        self._zero_ns = trial.now_ns
        self._ticks = trial.ticks  # that are kept, or written, or left out
        self._count = 0  # that are to be written
        self._row = 0  # that have been, in the table
        self._full: list[FloatArray] = []
        self._data = allocate_rows(
            trial.model,
            watch.limb,
            watch.run.moments,
            _BLOCK + MOMENTS,
            touches=trial.core.surroundings is not None,
        )
        self._bound, states = Bound(self._data), trial.states(self._ticks)[0]
        self._write_rows = bind(
            write_rows, self._bound, states, states.view(np.float64), 0, 0, False
        )
        self._given = False
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
        given = self._trial.exchange.goals.newest is not None
        if given is not self._given:
            self._write()
            self._given = given
        self._count += count
        if self._count >= _TOGETHER:
            self._write()

    def _write(self) -> None:
        """Write what is to be kept into the table, and keep the table if it is full."""
        for rows in self._trial.states(self._ticks):
            kept = rows[: self._count]
            numbers = kept.view(np.float64)
            self._write_rows(
                self._bound, kept, numbers, self._ticks, self._row, self._given
            )
            self._ticks += len(kept)
            self._row += len(kept)
            self._count -= len(kept)
        if self._row >= _BLOCK:
            self._keep()

    def _keep(self) -> None:
        """Keep what the table holds, with the force that the station had heard of."""
        table, forces = self._data.table[: self._row].copy(), [self._force_told]
        ticks = np.arange(self._ticks - self._row, self._ticks) + 1
        heard_ns = np.array([at_ns for at_ns, _ in self._heard], dtype=np.int64)
        forces += [force for _, force in self._heard]
        newest = np.searchsorted(
            heard_ns, START_NS + ticks * PERIOD_NS, side="right"
        ).tolist()
        table[:, SPANS["force_told"]] = np.array(forces)[newest]
        if newest:
            self._force_told = forces[newest[-1]]
            del self._heard[: newest[-1]]
        self._full.append(table)
        self._row = 0

    def close(self) -> TrialTrace:
        """Return the whole trace."""
        self._write()
        self._keep()
        table = np.concatenate(self._full)
        end_ns = START_NS + self._ticks * PERIOD_NS
        kept = [entry for entry in self._applied if entry[0] <= end_ns]
        applied = np.array(kept, dtype=np.int64).reshape(-1, 2)
        return TrialTrace(table, applied, self._zero_ns)
