"""What gives way where a disk is slow or full: the oldest detail, and it is said."""

import threading
from pathlib import Path

import pytest

from app.session import room
from app.session.backlog import Backlog, Entry
from app.session.player import Player
from app.session.reader import open_log
from app.session.recorder import Recorder
from app.session.room import Detail, Room, detail_for
from app.session.thread import RecorderThread
from tests.unit.session import samples

MB = 1 << 20


def nothing(*_: object) -> None:
    """Stand in for a recorder's method."""


def test_the_oldest_detail_gives_way_first() -> None:
    backlog = Backlog(3)
    for name, detail in (("a", True), ("e", False), ("b", True), ("c", True)):
        backlog.add(Entry(nothing, (name,), detail))
    assert [entry.arguments[0] for entry in backlog.take()] == ["e", "b", "c"]
    assert backlog.lost == 1
    for name in "wxyz":
        backlog.add(Entry(nothing, (name,), detail=False))
    assert [entry.arguments[0] for entry in backlog.take()] == ["x", "y", "z"]
    assert backlog.take() == []


def test_detail_follows_the_room_and_does_not_flutter() -> None:
    disk = 100_000 * MB
    assert detail_for(Room(600 * MB, disk), Detail.ALL) is Detail.ALL
    assert detail_for(Room(500 * MB, disk), Detail.ALL) is Detail.THINNED
    assert detail_for(Room(600 * MB, disk), Detail.THINNED) is Detail.THINNED
    assert detail_for(Room(700 * MB, disk), Detail.THINNED) is Detail.ALL
    assert detail_for(Room(100 * MB, disk), Detail.THINNED) is Detail.ESSENTIAL
    assert detail_for(Room(140 * MB, disk), Detail.ESSENTIAL) is Detail.ESSENTIAL
    small = 200 * MB
    assert detail_for(Room(30 * MB, small), Detail.ALL) is Detail.ALL
    assert detail_for(Room(15 * MB, small), Detail.ALL) is Detail.THINNED


class StuckRecorder(Recorder):
    """A recorder whose disk stands still until it is let go."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, {})
        self.stuck = threading.Event()
        self.go = threading.Event()

    def flush(self) -> None:
        self.stuck.set()
        self.go.wait(30.0)
        super().flush()


def test_a_disk_that_stands_still_loses_packets_before_events(tmp_path: Path) -> None:
    path = tmp_path / "stuck.mcap"
    recorder = StuckRecorder(path)
    thread = RecorderThread(recorder, backlog_length=8)
    assert recorder.stuck.wait(30.0)
    for _ in range(20):
        thread.write_packet(samples.PACKET)
    for _ in range(5):
        thread.write_event(samples.EVENT)
    recorder.go.set()
    thread.close()
    log = open_log(path)
    events = [message.content.text for message in log.messages({"/event"})]
    assert events.count(samples.EVENT.text) == 5
    assert len(list(log.messages({"/packet"}))) == 3
    assert any("0 state rows and 17 other records are missing" in e for e in events)


def test_a_disk_that_fills_is_told_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "filling.mcap"
    told = Room(100 * MB, 100_000 * MB)
    monkeypatch.setattr(room, "room_at", lambda _path: told)
    monkeypatch.setattr("app.session.thread.room_at", lambda _path: told)
    thread = RecorderThread(Recorder(path, {}))
    waited = threading.Event()
    while thread.detail is not Detail.ESSENTIAL:
        waited.wait(0.01)
    thread.write_states(samples.state_rows(200), samples.STATES.describe())
    thread.write_packet(samples.PACKET)
    thread.write_mark(samples.MARK)
    thread.close()
    with Player(path) as player:
        assert player.index.count("/state") == 2
        assert player.index.count("/packet") == 0
        assert player.index.count("/mark") == 1
        [event] = player.overview.events
    assert "has 104.9 MB left" in event.text
    assert "only events, marks" in event.text
