"""Recording what the console shows, twice a second, beside the session's recording."""

from pathlib import Path

from PyQt6.QtCore import QBuffer, QIODevice, QTimer
from PyQt6.QtWidgets import QWidget

from app.clock import MonotonicClock
from app.errors import LogError
from app.session.video import VideoRecorder, video_path

__all__ = ["ConsoleVideo"]

_CLOCK = MonotonicClock()
_PERIOD_MS = 500
_QUALITY = 70


class ConsoleVideo:
    """Takes the window's picture; a full disk ends it, never the window."""

    def __init__(self, window: QWidget, recording: Path) -> None:
        """Begin.

        Args:
            window: whose pictures are taken.
            recording: the session's recording, beside which they go.

        Raises:
            LogError: the file cannot be made.
        """
        self.failure = ""
        self._window = window
        self.path = video_path(recording)
        self._recorder = VideoRecorder(self.path, {"recording": recording.name})
        self._timer = QTimer(window)
        self._timer.setInterval(_PERIOD_MS)
        self._timer.timeout.connect(self.take)
        self._timer.start()

    def take(self) -> None:
        """Keep the present picture."""
        time_ns = _CLOCK.now_ns()
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        self._window.grab().save(buffer, "JPG", _QUALITY)
        try:
            self._recorder.write(time_ns, buffer.data().data())
        except LogError as error:
            self.failure = str(error)
            self._timer.stop()

    def close(self) -> None:
        """End, and close the file; idempotent."""
        self._timer.stop()
        try:
            self._recorder.close()
        except LogError as error:
            self.failure = self.failure or str(error)
