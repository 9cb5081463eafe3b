"""Marks that a person sets, from whichever process: notes left in the session's folder.

A mark is stamped where it is set. The station takes the notes up ten times a second,
numbers them, and records them; a note that is half written is not seen.
"""

import json
import os
import secrets
from pathlib import Path

from app.errors import ProcessError
from app.messages import Mark

__all__ = ["MARK_NOTE_MOST", "MarkDesk", "leave_mark"]

_FOLDER = "marks"
MARK_NOTE_MOST = 500
"""Most characters of a note."""


def leave_mark(folder: Path, time_ns: int, note: str, source: str) -> None:
    """Leave a mark for a session's station.

    Args:
        folder: the session's folder.
        time_ns: the moment that is marked [ns], monotonic.
        note: what to remember; longer ones are cut.
        source: where it is set: "console", "command line".

    Raises:
        ProcessError: the session is gone.
    """
    place = folder / _FOLDER
    text = json.dumps({"time_ns": time_ns, "note": note[:MARK_NOTE_MOST], "by": source})
    name = f"{time_ns}-{os.getpid()}-{secrets.token_hex(3)}"
    try:
        place.mkdir(exist_ok=True)
        part = place / f".{name}"
        part.write_text(text, encoding="utf-8")
        part.replace(place / f"{name}.json")
    except OSError as error:
        raise ProcessError(
            f"The mark cannot be left in {place}: {error.strerror}. Is the session "
            "still running?"
        ) from error


class MarkDesk:
    """Takes up the marks of one session."""

    def __init__(self, folder: Path) -> None:
        """Look in a session's folder; notes of an earlier station are taken up too."""
        self._place = folder / _FOLDER
        self._number = 0

    def take(self) -> list[Mark]:
        """Return the marks that were set since the last call, oldest first."""
        try:
            paths = sorted(self._place.glob("*.json"))
        except OSError:
            return []
        marks = []
        for path in paths:
            try:
                table = json.loads(path.read_text(encoding="utf-8"))
                path.unlink()
                told = int(table["time_ns"]), str(table["note"]), str(table["by"])
            except (OSError, ValueError, KeyError, TypeError):
                continue  # no mark of ours
            self._number += 1
            marks.append(Mark(told[0], self._number, told[1], told[2]))
        return marks
