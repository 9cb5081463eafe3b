"""Opening the console: one call for the command line."""

import signal
import sys
from collections.abc import Callable

from PyQt6.QtCore import QTimer
from PyQt6.QtWidgets import QApplication, QMainWindow

from app.config.robot import RobotParameters, build_robot_model, load_robot
from app.config.scene import load_scene
from app.config.scene_world import build_scene_world
from app.console.guide import TaskGuide
from app.console.theme import base_pixel_size, font, style_sheet
from app.console.video import ConsoleVideo
from app.console.window import ConsoleWindow
from app.errors import DeviceError
from app.operator.mapping import load_gamepad_mapping
from app.scene import Scene
from app.station.processes import Supervisor
from app.station.ready import wait_for_blocks
from app.station.session import Session

__all__ = ["build_scene_ahead", "make_application", "run_console", "show_window"]

_WIDTH, _HEIGHT = 1600, 900


def make_application() -> QApplication:
    """Return the application, dressed; makes it where there is none."""
    present = QApplication.instance()
    app = present if isinstance(present, QApplication) else QApplication(sys.argv[:1])
    sheet = style_sheet(base_pixel_size())
    if app.styleSheet() != sheet:  # to dress it again takes all its windows' time
        app.setApplicationName("limblink")
        app.setStyle("Fusion")
        app.setFont(font(base_pixel_size()))
        app.setStyleSheet(sheet)
    return app


def build_scene_ahead(robot: RobotParameters, around: str) -> Callable[[], Scene]:
    """Build the picture now, and return a call that hands it over, or its error.

    Args:
        robot: its parameters.
        around: what stands about it: a shipped scene or a path.

    Raises:
        ConfigError: the scene is wrong, or not for this robot.
    """
    model = build_robot_model(robot)
    parameters = load_scene(around)
    world = None
    if not parameters.is_empty:
        world = build_scene_world(parameters, robot, model)
    try:
        scene = Scene(robot, model, around=world)
    except DeviceError as error:
        trouble = error

        def refuse() -> Scene:
            raise trouble

        return refuse
    return lambda: scene


def show_window(window: QMainWindow) -> None:
    """Show a window: large where there is room, else as large as the screen."""
    screen = QApplication.primaryScreen()
    room = screen.availableGeometry() if screen is not None else None
    if room is not None and (
        room.width() <= _WIDTH + 40 or room.height() <= _HEIGHT + 60
    ):
        window.setGeometry(room)
        window.showMaximized()
    else:
        window.resize(_WIDTH, _HEIGHT)
        window.show()


def run_console(
    session: Session,
    supervisor: Supervisor | None,
    *,
    watch: bool = False,
    guide: TaskGuide | None = None,
    seen: Callable[[], None] = lambda: None,
) -> int:
    """Show the console until it is closed.

    Args:
        session: the session to show; its processes may still be loading, and the
            scene is built meanwhile.
        supervisor: owner of the session's processes; None where another console has
            them.
        watch: look on, never take control.
        guide: leads a participant, who must not know the strategy, through a trial,
            and closes at its end; None: nobody is led.
        seen: called when the window is about to come.

    Returns:
        Exit status.

    Raises:
        ProcessError: the session is not running.
        ConfigError: the robot's file or the user's gamepad mapping is wrong.
        LogError: pictures are to be kept, and their file cannot be made.
    """
    robot = load_robot(session.robot)
    mapping = load_gamepad_mapping()
    app = make_application()
    make_scene = build_scene_ahead(robot, session.scene_name)
    wait_for_blocks(session, robot, supervisor)
    window = ConsoleWindow(
        session.folder,
        robot,
        supervisor,
        watch=watch,
        mapping=mapping,
        make_scene=make_scene,
    )
    if guide is not None:
        window.lead(guide)
    seen()
    show_window(window)
    window.activateWindow()
    window.viewport.setFocus()
    window.start()

    def end(*_: object) -> None:
        if guide is not None:
            guide.interrupted = True
        # not at once: the signal may come in the middle of a frame
        QTimer.singleShot(0, window.close)

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, end) for number in numbers}
    video = None
    if session.video and supervisor is not None and session.log is not None:
        video = ConsoleVideo(window, session.log)
    try:
        return app.exec()
    finally:
        if video is not None:
            video.close()
        for number, handler in before.items():
            signal.signal(number, handler)
