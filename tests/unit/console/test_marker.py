"""Marks set from the real window: N at once, CTRL+N with a note."""

from pathlib import Path

from PyQt6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.station.marks import MarkDesk
from tests.unit.console.desk import Desk


def test_a_key_marks_and_a_note_belongs_to_its_key(
    tmp_path: Path, qtbot: QtBot
) -> None:
    desk = Desk(tmp_path / "session", qtbot)
    marks = MarkDesk(desk.station.folder)
    window = desk.window
    qtbot.keyClick(window.viewport, Qt.Key.Key_N)
    [first] = marks.take()
    assert (first.number, first.note, first.source) == (1, "", "console")
    control = Qt.KeyboardModifier.ControlModifier
    qtbot.keyClick(window.viewport, Qt.Key.Key_N, control)
    qtbot.waitUntil(window.marker.hasFocus)
    assert not window.viewport.hasFocus(), "so the deadman is released"
    qtbot.keyClicks(window.marker, "valve n")
    assert marks.take() == [], "not before ENTER"
    qtbot.keyClick(window.marker, Qt.Key.Key_Return)
    [second] = marks.take()
    assert second.note == "valve n"
    assert second.time_ns > first.time_ns
    assert not window.marker.isVisible()
    desk.ticker.stop()
    window.close()
