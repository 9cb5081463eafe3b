"""Marks go from any process to the station, once each and in order."""

from pathlib import Path

import pytest

from app.errors import ProcessError
from app.messages import Mark
from app.station.marks import MARK_NOTE_MOST, MarkDesk, leave_mark


def test_marks_are_taken_once_and_numbered(tmp_path: Path) -> None:
    desk = MarkDesk(tmp_path)
    assert desk.take() == []
    leave_mark(tmp_path, 2000, "second", "console")
    leave_mark(tmp_path, 1000, "", "command line")
    assert desk.take() == [
        Mark(1000, 1, "", "command line"),
        Mark(2000, 2, "second", "console"),
    ]
    assert desk.take() == []
    leave_mark(tmp_path, 3000, "x" * 2 * MARK_NOTE_MOST, "console")
    [third] = desk.take()
    assert (third.number, len(third.note)) == (3, MARK_NOTE_MOST)


def test_what_is_no_mark_is_passed_over(tmp_path: Path) -> None:
    leave_mark(tmp_path, 1000, "ours", "console")
    (tmp_path / "marks" / "0.json").write_text("{")
    (tmp_path / "marks" / "1.json").write_text('{"time_ns": "soon"}')
    assert [mark.note for mark in MarkDesk(tmp_path).take()] == ["ours"]


def test_a_session_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(ProcessError, match="still running"):
        leave_mark(tmp_path / "gone", 1000, "", "console")
