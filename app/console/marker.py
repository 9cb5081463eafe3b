"""Marking a moment from the console: at once, or with a note that is typed after it."""

from pathlib import Path

from PyQt6.QtWidgets import QLineEdit

from app.clock import MonotonicClock
from app.console.theme import MODEL_COLOR, SURFACE, TEXT, base_pixel_size
from app.console.viewport import Viewport
from app.errors import ProcessError
from app.station.marks import MARK_NOTE_MOST, leave_mark

__all__ = ["Marker"]

_CLOCK = MonotonicClock()


class Marker(QLineEdit):
    """A line over the picture for the note; the moment is that of the key.

    While it is typed the picture has no focus, so the deadman is released.
    """

    def __init__(self, session: Path, viewport: Viewport) -> None:
        """Make the line, hidden.

        Args:
            session: the session's folder.
            viewport: the picture that it lies over.
        """
        super().__init__(viewport)
        self._session = session
        self._viewport = viewport
        self._time_ns = 0
        self.setMaxLength(MARK_NOTE_MOST)
        self.setPlaceholderText("Note for this mark, then ENTER")
        self.setAccessibleName("note for the mark")
        self.setStyleSheet(
            f"color: {TEXT}; background: {SURFACE}; border: 2px solid {MODEL_COLOR};"
            " border-radius: 4px; padding: 4px 8px;"
        )
        self.editingFinished.connect(self._finish)
        self.hide()

    def mark(self) -> None:
        """Mark this moment, without a note."""
        self._leave(_CLOCK.now_ns(), "")

    def ask(self) -> None:
        """Mark this moment; the note is typed now."""
        if self.isVisible():
            return
        self._time_ns = _CLOCK.now_ns()
        size = base_pixel_size()
        width = min(40 * size, self._viewport.width() - 4 * size)
        left = (self._viewport.width() - width) // 2
        self.setGeometry(left, int(0.6 * self._viewport.height()), width, 3 * size)
        self.clear()
        self.show()
        self.raise_()
        self.setFocus()

    def _finish(self) -> None:
        """Leave the mark with what was typed, when ENTER or the focus ends it."""
        if not self._time_ns:
            return
        time_ns, self._time_ns = self._time_ns, 0
        self._leave(time_ns, self.text().strip())
        self.hide()
        self._viewport.setFocus()

    def _leave(self, time_ns: int, note: str) -> None:
        try:
            leave_mark(self._session, time_ns, note, "console")
        except ProcessError as error:
            self._viewport.say(str(error))
        else:
            self._viewport.say(
                f"Marked: {note}" if note else "Marked (CTRL+N: a note)."
            )
