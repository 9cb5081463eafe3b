"""Mailboxes and rings: whole values only, across processes, and nothing lost unseen."""

import multiprocessing
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from app.control.mailbox import Layout, Mailbox, Ring, mailbox_write
from app.errors import ProcessError
from app.messages import (
    INPUT_SHAPES,
    InputBlock,
    InputMode,
    OperatorInput,
    put_sample,
)
from models.numerics import FloatArray, IntArray


class Pair(NamedTuple):
    count: IntArray
    values: FloatArray


LAYOUT = Layout(Pair, {"count": (np.int64, (1,)), "values": (np.float64, (40, 3))})
WRITES = 300_000


def _write_many(path: Path, writes: int) -> None:
    box = Mailbox(path, LAYOUT, create=False)
    value = np.zeros(LAYOUT.words, dtype=np.int64)
    for count in range(1, writes + 1):
        value[:] = count
        mailbox_write(box.shared, value)


def test_reader_in_another_process_never_sees_a_torn_value(tmp_path: Path) -> None:
    path = tmp_path / "box"
    reader = Mailbox(path, LAYOUT, create=True)
    reader.publish()
    writer = multiprocessing.get_context("spawn").Process(
        target=_write_many, args=(path, WRITES)
    )
    writer.start()
    last = reads = torn = 0
    while last < WRITES:
        if not reader.refresh():
            continue
        words = reader.local_words
        torn += int(words.min() != words.max())
        assert words[0] >= last
        last = int(words[0])
        reads += 1
        if not writer.is_alive() and last < WRITES:
            reader.refresh()
            break
    writer.join()
    assert torn == 0
    assert int(reader.local_words[0]) == WRITES
    assert reads > 1000


def test_a_writer_that_died_in_the_middle_leaves_the_old_value(tmp_path: Path) -> None:
    box = Mailbox(tmp_path / "box", LAYOUT, create=True)
    box.local.values[:] = 7.0
    box.publish()
    box.shared[0] += 1  # as a writer killed between its two counts leaves it
    assert not box.refresh()
    assert (box.local.values == 7.0).all()
    again = Mailbox(tmp_path / "box", LAYOUT, create=True)
    again.publish()
    assert box.refresh()


def test_blocks_of_another_size_or_missing_are_refused(tmp_path: Path) -> None:
    Mailbox(tmp_path / "box", LAYOUT, create=True)
    other = Layout(Pair, {"count": (np.int64, (1,)), "values": (np.float64, (41, 3))})
    with pytest.raises(ProcessError, match="another version or robot"):
        Mailbox(tmp_path / "box", other, create=False)
    with pytest.raises(ProcessError, match="not running"):
        Mailbox(tmp_path / "none", LAYOUT, create=False)


def test_ring_hands_over_every_row_and_counts_the_lost(tmp_path: Path) -> None:
    writer = Ring(tmp_path / "ring", 16, 4, create=True)
    reader = Ring(tmp_path / "ring", 16, 4, create=False)
    for value in range(10):
        writer.push(np.full(4, value, dtype=np.int64))
    rows, lost = reader.read()
    assert rows[:, 0].tolist() == list(range(10))
    assert lost == 0
    for value in range(10, 50):
        writer.push(np.full(4, value, dtype=np.int64))
    rows, lost = reader.read()
    assert rows[:, 0].tolist() == list(range(34, 50))
    assert lost == 24
    assert reader.read()[0].shape == (0, 4)


def test_a_sample_is_written_where_its_block_is_read(tmp_path: Path) -> None:
    box = Mailbox(tmp_path / "box", Layout(InputBlock, INPUT_SHAPES), create=True)
    sample = OperatorInput(
        *(1 << 60, True, False, True, InputMode.TARGET, 5),
        *((0.1, -0.2, 0.3), (0.4, 0.5, -0.6), (-0.7, 0.8, 0.9)),
        *(0.75, 11, 12, 13, 14),
    )
    put_sample(sample, box.local_words)
    assert box.local.sample() == sample


def test_the_writer_views_its_own_rows_across_the_rings_end(tmp_path: Path) -> None:
    ring = Ring(tmp_path / "ring", 16, 4, create=True)
    row = np.zeros(4, dtype=np.int64)
    assert [len(rows) for rows in ring.own(0)] == [0]
    for number in range(40):
        row[:] = number
        ring.push(row)
        for first in range(max(0, number - 15), number + 2):
            seen = [int(line[0]) for rows in ring.own(first) for line in rows]
            assert seen == list(range(first, number + 1))
