"""A recorded trace, asked for one moment: delay, loss, and when bits are through; pure.

Times are from the moment the trace took hold; before it, the first row holds.
"""

from bisect import bisect_right
from dataclasses import dataclass

from app.clock import NS_PER_S
from app.config.trace import TraceTable

__all__ = ["Replay"]


@dataclass(frozen=True)
class Replay:
    """A trace and which of its columns are in force.

    Attributes:
        table: the trace.
        loops: it begins again after its last row; else the last row holds.
        uses_delay: its delay is in force, neither a live wish nor the link's own.
        uses_loss: its loss is in force.
        uses_rate: its bit rate is in force.
    """

    table: TraceTable
    loops: bool
    uses_delay: bool
    uses_loss: bool
    uses_rate: bool

    def _place(self, time_ns: int) -> tuple[int, int, int]:
        """Return (rounds done, time in this round [ns], index of the row)."""
        table, rounds, into_ns = self.table, 0, max(0, time_ns)
        if self.loops:
            rounds, into_ns = divmod(into_ns, table.length_ns)
        return rounds, into_ns, bisect_right(table.times_ns, into_ns) - 1

    def delay_ms(self, time_ns: int) -> float | None:
        """Return the delay at a time [ms]; None where the trace's is not in force."""
        column = self.table.delay_ms if self.uses_delay else None
        return None if column is None else column[self._place(time_ns)[2]]

    def loss(self, time_ns: int) -> float | None:
        """Return the loss at a time, 0..1; None where the trace's is not in force."""
        column = self.table.loss if self.uses_loss else None
        return None if column is None else column[self._place(time_ns)[2]]

    def rate_bps(self, time_ns: int) -> int | None:
        """Return the rate at a time [bit/s]; None where the trace's is not in force."""
        rates = self.table.rate_bps if self.uses_rate else None
        return None if rates is None else rates[self._place(time_ns)[2]]

    def _passed(self, time_ns: int) -> int:
        """Return what passes from the begin to a time [bit s 1e-9]."""
        table, (rounds, into_ns, index) = self.table, self._place(time_ns)
        rates, before = table.rate_bps or (), table.bits_before
        within = rates[index] * (into_ns - table.times_ns[index])
        return rounds * before[-1] + before[index] + within

    def sent_ns(self, start_ns: int, bits: int) -> int:
        """Return when bits that start at a time are through [ns]; needs a rate.

        Rows are summed up beforehand, so that none is walked over.
        """
        table = self.table
        rates, before = table.rate_bps or (), table.bits_before
        goal, rounds = self._passed(start_ns) + bits * NS_PER_S, 0
        if self.loops:
            rounds, goal = divmod(goal, before[-1])
        index = min(bisect_right(before, goal), len(rates)) - 1
        left = goal - before[index]
        into_ns = table.times_ns[index] - (-left // rates[index])
        return rounds * table.length_ns + into_ns + min(0, start_ns)
