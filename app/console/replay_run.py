"""Opening a replay: one call for the command line."""

import signal
from pathlib import Path
from typing import cast

from PyQt6.QtCore import QTimer
from PyQt6.QtWidgets import QMainWindow

from app.console.beside import Align, BesideWindow
from app.console.replay import ReplayWindow
from app.console.replay_source import ReplaySource
from app.console.run import make_application, show_window

__all__ = ["run_replay"]


def run_replay(path: Path, beside: Path | None, align: str) -> int:
    """Show a recording, or two, until the window is closed.

    Args:
        path: the recording.
        beside: another one, shown on the right; None for none.
        align: what of two recordings is laid over each other.

    Returns:
        Exit status.

    Raises:
        LogError: a recording cannot be read.
        ConfigError: the robot's file in it is not understood.
    """
    app = make_application()
    source = ReplaySource(path)
    window: QMainWindow
    if beside is None:
        window = replay = ReplayWindow(source)
        start = replay.start
    else:
        pair = BesideWindow((source, ReplaySource(beside)), cast("Align", align))
        window, start = pair, pair.start
    show_window(window)
    start()
    for number in (signal.SIGINT, signal.SIGTERM):
        # not at once: the signal may come in the middle of a frame
        signal.signal(number, lambda *_: QTimer.singleShot(0, window.close))
    return app.exec()
