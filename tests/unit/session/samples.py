"""A small, repeatable session that every test of recordings writes."""

from pathlib import Path
from typing import Any

import numpy as np

from app.config.robot import build_robot_model, load_robot
from app.control.blocks import STATISTICS_SHAPES, LoopStatistics
from app.control.mailbox import Layout
from app.link.channel import Direction, Fate, PacketRecord
from app.messages import (
    Event,
    InputMode,
    LinkHealth,
    Mark,
    OperatorInput,
    Severity,
    Source,
    StationState,
    health_shapes,
    state_shapes,
)
from app.session.recorder import Journal, Recorder

MODEL = build_robot_model(load_robot("ursula"))
STATES: Layout[StationState] = Layout(StationState, state_shapes(MODEL))
HEALTH: Layout[LinkHealth] = Layout(LinkHealth, health_shapes(MODEL))
STATISTICS: Layout[LoopStatistics] = Layout(LoopStatistics, STATISTICS_SHAPES)
START_NS = 5_000_000_000
METADATA = {"seed": "7", "robot": "ursula"}
ATTACHMENTS = {"ursula.toml": b'name = "ursula"\n'}


def fill(view: Any, seed: int) -> None:
    """Give every word of a block a value of its own; some negative."""
    random = np.random.default_rng(seed)
    for array in view:
        if array.dtype == np.int64:
            array[...] = random.integers(-5, 1000, array.shape)
        else:
            array[...] = random.standard_normal(array.shape)


def state_rows(count: int, first: int = 0) -> np.ndarray:
    rows = np.zeros((count, STATES.words), dtype=np.int64)
    for i in range(count):
        view = STATES.view(rows[i])
        fill(view, first + i)
        view.time_ns[0] = START_NS + (first + i) * 1_000_000
        view.tick[0] = first + i
    return rows


def health() -> LinkHealth:
    view = HEALTH.view(np.zeros(HEALTH.words, dtype=np.int64))
    fill(view, 1)
    view.time_ns[0] = START_NS + 3
    return view


def statistics() -> LoopStatistics:
    view = STATISTICS.view(np.zeros(STATISTICS.words, dtype=np.int64))
    fill(view, 2)
    return view


SAMPLE = OperatorInput(
    stamp_ns=START_NS + 1,
    present=True,
    deadman=True,
    mode=InputMode.RATE,
    limb=2,
    rate=(0.25, -1.0, 0.125),
    arm_count=3,
)
PACKET = PacketRecord(
    direction=Direction.UP,
    key=0x18,
    size_bytes=38,
    fate=Fate.LOST_BURST,
    submitted_ns=START_NS + 5,
    started_ns=START_NS + 6,
)
EVENT = Event(
    START_NS + 7, Severity.ALARM, "link", "The link is cut.", {"age_ms": 812.5}
)
MARK = Mark(START_NS + 8, 1, "first touch", "console")


def write_all(journal: Journal) -> None:
    """Write one of everything and 30 states."""
    journal.write_states(state_rows(30), STATES.describe())
    journal.write_input(Source.GAMEPAD, SAMPLE)
    journal.write_frame(Direction.DOWN, START_NS + 2, 0, b"\x10\x00\xff")
    journal.write_frame(Direction.UP, START_NS + 2, START_NS + 9, b"\x18")
    journal.write_packet(PACKET)
    journal.write_health(health())
    journal.write_event(EVENT)
    journal.write_statistics(START_NS + 8, statistics())


def write_recording(path: Path, chunks: int = 1) -> None:
    """Write a whole recording of `chunks` flushed parts of 30 states each."""
    with Recorder(path, METADATA, ATTACHMENTS) as recorder:
        write_all(recorder)
        recorder.flush()
        for k in range(1, chunks):
            recorder.write_states(state_rows(30, first=30 * k), STATES.describe())
            recorder.flush()
