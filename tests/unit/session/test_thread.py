"""The recorder's thread: the same bytes of content, never in the caller's way."""

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from app.control.mailbox import Ring
from app.errors import LogError
from app.session.reader import open_log
from app.session.recorder import Recorder
from app.session.thread import RecorderThread
from tests.unit.session import samples


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    yield
    assert "recorder" not in {thread.name for thread in threading.enumerate()}


def test_it_keeps_what_a_recorder_keeps(tmp_path: Path) -> None:
    direct, threaded = tmp_path / "direct.mcap", tmp_path / "threaded.mcap"
    with Recorder(direct, {}) as recorder:
        samples.write_all(recorder)
    thread = RecorderThread(Recorder(threaded, {}))
    samples.write_all(thread)
    thread.close()
    thread.close()
    contents = [
        [
            (m.topic, m.time_ns, m.content.SerializeToString())
            for m in open_log(p).messages()
        ]
        for p in (direct, threaded)
    ]
    assert contents[0] == contents[1]
    assert open_log(threaded).complete


def test_arrays_may_change_after_the_call(tmp_path: Path) -> None:
    path = tmp_path / "copied.mcap"
    thread = RecorderThread(Recorder(path, {}))
    health, statistics, rows = (
        samples.health(),
        samples.statistics(),
        samples.state_rows(1),
    )
    thread.write_health(health)
    thread.write_statistics(1, statistics)
    thread.write_states(rows, samples.STATES.describe())
    wanted = float(health.rtt_ms[0]), int(statistics.ticks[0])
    for block in (health, statistics):
        for array in block:
            array[...] = 0
    rows[:] = 0
    thread.close()
    log = open_log(path)
    assert log.series("/health", "rtt_ms")[1][0] == wanted[0]
    assert log.series("/statistics", "ticks")[1][0] == wanted[1]
    assert log.series("/state", "time_ns")[1][0] == samples.START_NS


def test_it_drains_a_ring(tmp_path: Path) -> None:
    path = tmp_path / "ring.mcap"
    words = samples.STATES.words
    writer = Ring(tmp_path / "log", 64, words, create=True)
    reader = Ring(tmp_path / "log", 64, words, create=False)
    for row in samples.state_rows(40):
        writer.push(row)
    thread = RecorderThread(Recorder(path, {}), reader, samples.STATES.describe())
    thread.close()
    _, ticks = open_log(path).series("/state", "tick")
    np.testing.assert_array_equal(ticks, np.arange(40))


class LossySource:
    """A ring whose writer was ahead once."""

    def __init__(self) -> None:
        self.lost = 12

    def read(self) -> tuple[np.ndarray, int]:
        lost, self.lost = self.lost, 0
        return np.zeros((0, samples.STATES.words), dtype=np.int64), lost


def test_lost_rows_are_told_in_the_recording(tmp_path: Path) -> None:
    path = tmp_path / "lossy.mcap"
    thread = RecorderThread(
        Recorder(path, {}), LossySource(), samples.STATES.describe()
    )
    thread.close()
    [event] = open_log(path).messages({"/event"})
    assert event.content.text.startswith(
        "12 state rows and 0 other records are missing"
    )
    assert thread.lost_rows == 12


class FailingRecorder(Recorder):
    """A recorder whose disk fills up at the second write."""

    def write_event(self, event: object) -> None:
        raise LogError("Recording x failed: No space left on device.")


def test_a_failing_disk_ends_the_recording_only(tmp_path: Path) -> None:
    thread = RecorderThread(FailingRecorder(tmp_path / "full.mcap", {}))
    thread.write_event(samples.EVENT)
    with pytest.raises(LogError, match="No space left"):
        thread.close()
    assert "No space left" in thread.failure
    thread.write_event(samples.EVENT)  # must neither raise nor pile up


def test_it_flushes_while_it_runs(tmp_path: Path) -> None:
    """Events reach the file while the thread runs, without close."""
    path = tmp_path / "running.mcap"
    flushed = threading.Event()

    class Watched(Recorder):
        def flush(self) -> None:
            super().flush()
            if self.counts.get("/event"):
                flushed.set()

    thread = RecorderThread(Watched(path, {}))
    thread.write_event(samples.EVENT)
    assert flushed.wait(30.0)
    assert [m.content.text for m in open_log(path).messages()] == [samples.EVENT.text]
    thread.close()
