"""Opening the console: one call for the command line."""

import signal
import sys
from pathlib import Path

from PyQt6.QtCore import QTimer
from PyQt6.QtWidgets import QApplication

from app.config.robot import RobotParameters
from app.console.processes import SupervisorLike
from app.console.theme import base_pixel_size, font, style_sheet
from app.console.window import ConsoleWindow
from app.operator.mapping import load_gamepad_mapping

__all__ = ["make_application", "run_console"]

_WIDTH, _HEIGHT = 1600, 900


def make_application() -> QApplication:
    """Return the application, dressed; makes it where there is none."""
    present = QApplication.instance()
    app = present if isinstance(present, QApplication) else QApplication(sys.argv[:1])
    app.setApplicationName("limblink")
    app.setStyle("Fusion")
    app.setFont(font(base_pixel_size()))
    app.setStyleSheet(style_sheet(base_pixel_size()))
    return app


def run_console(
    session: Path,
    robot: RobotParameters,
    supervisor: SupervisorLike | None,
    watch: bool = False,
) -> int:
    """Show the console until it is closed.

    Args:
        session: folder of the session's shared blocks.
        robot: the robot that the session drives.
        supervisor: owner of the session's processes; None where another console has
            them.
        watch: look on, never take control.

    Returns:
        Exit status.

    Raises:
        ProcessError: the session is not running.
        ConfigError: the user's gamepad mapping is wrong.
    """
    app = make_application()
    window = ConsoleWindow(
        session, robot, supervisor, watch=watch, mapping=load_gamepad_mapping()
    )
    screen = app.primaryScreen()
    room = screen.availableGeometry() if screen is not None else None
    if room is not None and (
        room.width() <= _WIDTH + 40 or room.height() <= _HEIGHT + 60
    ):
        window.setGeometry(room)
        window.showMaximized()
    else:
        window.resize(_WIDTH, _HEIGHT)
        window.show()
    window.activateWindow()
    window.viewport.setFocus()
    window.start()
    for number in (signal.SIGINT, signal.SIGTERM):
        # not at once: the signal may come in the middle of a frame
        signal.signal(number, lambda *_: QTimer.singleShot(0, window.close))
    return app.exec()
