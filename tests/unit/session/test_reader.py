"""Reading recordings that are whole, cut anywhere, or damaged."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader

from app.errors import LogError
from app.session.reader import open_log
from app.session.repair import recover, verify
from tests.unit.session import samples

CHUNKS = 4


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    path = tmp_path / "whole.mcap"
    samples.write_recording(path, chunks=CHUNKS)
    return path


def ticks(path: Path) -> list[int]:
    return [message.content.tick for message in open_log(path).messages({"/state"})]


def test_a_whole_recording(whole: Path) -> None:
    log = open_log(whole)
    assert log.complete
    assert log.damage == ""
    assert log.metadata == samples.METADATA
    assert log.attachments == samples.ATTACHMENTS
    assert ticks(whole) == list(range(30 * CHUNKS))
    [event] = log.messages({"/event"})
    assert (event.topic, event.time_ns) == ("/event", samples.EVENT.time_ns)
    assert event.content.text == "The link is cut."
    assert len(list(log.messages())) == (30 + 6) * CHUNKS + 7
    assert log.channels()["/state"]["shape.tip_model"] == "4 x 3"


def test_a_series_over_time(whole: Path) -> None:
    log = open_log(whole)
    times, tips = log.series("/state", "tip_model")
    assert tips.shape == (30 * CHUNKS, 12)
    rows = samples.state_rows(30 * CHUNKS)
    np.testing.assert_array_equal(times, rows[:, 0])
    wanted = samples.STATES.view(rows[17]).tip_model.astype(np.float32).reshape(-1)
    np.testing.assert_array_equal(tips[17], wanted)
    assert log.series("/state", "tick")[1].shape == (30 * CHUNKS,)
    with pytest.raises(LogError, match=r"no field 'tip'; it has .*tip_model"):
        log.series("/state", "tip")
    with pytest.raises(LogError, match="is no number"):
        log.series("/event", "text")


def test_a_file_cut_anywhere_gives_whole_chunks_only(
    whole: Path, tmp_path: Path
) -> None:
    data = whole.read_bytes()
    cut = tmp_path / "cut.mcap"
    seen = set()
    ends = {8, 9, 20, *range(30, len(data), len(data) // 80), len(data) - 9}
    for length in sorted(ends):
        cut.write_bytes(data[:length])
        log = open_log(cut)
        found = [message.content.tick for message in log.messages({"/state"})]
        assert found == list(range(len(found)))
        assert len(found) % 30 == 0
        seen.add(len(found))
        assert not log.complete
        assert "last flush" in log.damage
        assert log.skipped_chunks == 0, "a half chunk is the end, not damage"
    assert seen == {0, 30, 60, 90, 120}


def test_a_damaged_chunk_is_skipped(whole: Path, tmp_path: Path) -> None:
    data = bytearray(whole.read_bytes())
    place = len(data) * 6 // 10  # in the compressed data of the third chunk
    data[place] ^= 0xFF
    bad = tmp_path / "bad.mcap"
    bad.write_bytes(data)
    log = open_log(bad)
    found = [message.content.tick for message in log.messages({"/state"})]
    assert len(found) == 30 * (CHUNKS - 1)
    assert log.skipped_chunks == 1
    assert "1 damaged" in log.damage


def test_recovered_files_open_anywhere(whole: Path, tmp_path: Path) -> None:
    data = whole.read_bytes()
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(data[: len(data) * 7 // 10])
    wanted = ticks(cut)
    assert wanted
    made = recover(cut)
    assert made == tmp_path / "cut.recovered.mcap"
    assert ticks(made) == wanted
    assert open_log(made).complete
    assert open_log(made).attachments == samples.ATTACHMENTS
    with made.open("rb") as file:  # mcap's own reader, which needs a summary
        summary = make_reader(file).get_summary()
    assert summary is not None
    assert summary.statistics is not None
    assert summary.statistics.message_count == len(list(open_log(cut).messages()))
    with pytest.raises(LogError, match="exists and is not overwritten"):
        recover(cut)


def test_what_is_no_recording(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="cannot be opened"):
        open_log(tmp_path / "none.mcap")
    for content in (b"", b"\x89MCAP", b"something else"):
        path = tmp_path / "other.mcap"
        path.write_bytes(content)
        with pytest.raises(LogError, match="not an MCAP recording"):
            open_log(path)


WRITER = """
import sys
from pathlib import Path
from app.session.recorder import Recorder
from tests.unit.session import samples
recorder = Recorder(Path(sys.argv[1]), samples.METADATA)
for k in range(3):
    recorder.write_states(samples.state_rows(30, 30 * k), samples.STATES.describe())
    recorder.flush()
recorder.write_states(samples.state_rows(30, 90), samples.STATES.describe())
print("written", flush=True)
sys.stdin.read()
"""


def test_all_that_was_flushed_outlives_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "killed.mcap"
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"written\n"
        child.send_signal(signal.SIGKILL)
    log = open_log(path)
    assert not log.complete
    assert log.metadata == samples.METADATA
    assert ticks(path) == list(range(90))
    made = recover(path)
    assert verify(made).problems == []
    assert ticks(made) == list(range(90))
