"""The shared blocks of one running session, by name in one folder of shared memory.

| file       | kind    | writer                     | read by                     |
|------------|---------|----------------------------|-----------------------------|
| input-0..3 | mailbox | station; 1 console         | control loop                |
| wish       | mailbox | console                    | station's link thread       |
| teleop     | mailbox | console                    | control loop                |
| goal-0     | mailbox | console                    | station's link thread       |
| goal-1     | mailbox | `limblink goal`            | station's link thread       |
| state      | mailbox | control loop               | console, link thread        |
| statistics | mailbox | control loop               | console, station            |
| health     | mailbox | station's link thread      | control loop, console       |
| log        | ring    | control loop               | recorder, console's plots   |
| events     | ring    | station                    | console                     |

A session folder also holds `session.json` (see `app.station.session`).
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from app.control.mailbox import Layout, Mailbox, Ring
from app.messages import (
    EVENT_WORDS,
    GOAL_WISH_SHAPES,
    INPUT_SHAPES,
    LINK_WISH_SHAPES,
    TELEOP_WISH_SHAPES,
    GoalSource,
    GoalWish,
    InputBlock,
    LinkHealth,
    LinkWish,
    Source,
    StationState,
    TeleopWish,
    health_shapes,
    state_shapes,
)
from models.numerics import FloatArray, IntArray
from models.robot import RobotModel

__all__ = [
    "HISTOGRAM_BINS",
    "LoopStatistics",
    "SessionBlocks",
    "bin_upper_edge_ns",
    "histogram_percentile_us",
]

HISTOGRAM_BINS = 320
_BINS_PER_OCTAVE = 16
_FIRST_EDGE_NS = 128.0
LOG_ROWS = 8192
EVENT_ROWS = 512


class LoopStatistics(NamedTuple):
    """Timing of the 1 kHz loop since it started."""

    ticks: IntArray  # (1,)
    overruns: IntArray  # (1,) grid points that were skipped
    late_1ms: IntArray  # (1,) ticks that began more than 1 ms late
    worst_lateness_ns: IntArray  # (1,)
    last_lateness_ns: IntArray  # (1,)
    last_cost_ns: IntArray  # (1,)
    scheduler: IntArray  # (1,) 0 ordinary, 1 SCHED_FIFO, 2 Python fallback
    lateness: IntArray  # (HISTOGRAM_BINS,) start of tick after its grid point
    period: IntArray  # (HISTOGRAM_BINS,) between starts of ticks
    cost: IntArray  # (HISTOGRAM_BINS,) from start to end of a tick


STATISTICS_SHAPES = {
    name: (
        np.int64,
        (HISTOGRAM_BINS,) if name in ("lateness", "period", "cost") else (1,),
    )
    for name in LoopStatistics._fields
}


def bin_upper_edge_ns(index: int) -> float:
    """Upper edge of a histogram bin [ns]; bins grow by 2^(1/16), 4.4 %, a step."""
    return float(_FIRST_EDGE_NS * 2.0 ** (index / _BINS_PER_OCTAVE))


def histogram_percentile_us(histogram: IntArray, percent: float) -> float:
    """Read a percentile from a histogram.

    Args:
        histogram: (HISTOGRAM_BINS,) counts.
        percent: 0..100.

    Returns:
        Upper edge of the bin that holds it [µs]; 0 where there are no counts.
    """
    total = int(histogram.sum())
    if total == 0:
        return 0.0
    rank = int(np.searchsorted(np.cumsum(histogram), total * percent / 100.0))
    return bin_upper_edge_ns(min(rank, HISTOGRAM_BINS - 1)) / 1000.0


class SessionBlocks:
    """All shared blocks of a session, mapped."""

    def __init__(self, folder: Path, model: RobotModel, *, create: bool) -> None:
        """Map every block, making the files where `create` is set.

        Args:
            folder: the session's folder; it must exist.
            model: the robot, which sizes the blocks.
            create: make missing files; else a missing file is an error.

        Raises:
            ProcessError: a block is missing or of another size.
        """
        self.inputs = [
            Mailbox(
                folder / f"input-{int(source)}",
                Layout(InputBlock, INPUT_SHAPES),
                create=create,
            )
            for source in Source
        ]
        self.wish = Mailbox(
            folder / "wish", Layout(LinkWish, LINK_WISH_SHAPES), create=create
        )
        self.teleop = Mailbox(
            folder / "teleop", Layout(TeleopWish, TELEOP_WISH_SHAPES), create=create
        )
        self.goals = [
            Mailbox(
                folder / f"goal-{int(source)}",
                Layout(GoalWish, GOAL_WISH_SHAPES),
                create=create,
            )
            for source in GoalSource
        ]
        self.state_layout = Layout(StationState, state_shapes(model))
        self.state = Mailbox(folder / "state", self.state_layout, create=create)
        self.statistics = Mailbox(
            folder / "statistics",
            Layout(LoopStatistics, STATISTICS_SHAPES),
            create=create,
        )
        self.health = Mailbox(
            folder / "health", Layout(LinkHealth, health_shapes(model)), create=create
        )
        self.log = Ring(
            folder / "log", LOG_ROWS, self.state_layout.words, create=create
        )
        self.events = Ring(folder / "events", EVENT_ROWS, EVENT_WORDS, create=create)

    def log_row(self, row: FloatArray | IntArray) -> StationState:
        """View one row of the log ring as the state it carries."""
        return self.state_layout.view(np.ascontiguousarray(row).view(np.int64))
