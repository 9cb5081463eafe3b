"""The real window over the stand's shared blocks, and the hand of a person."""

from pathlib import Path
from typing import cast

from PyQt6.QtCore import QPoint, Qt, QTimer
from PyQt6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.console.run import make_application
from app.console.window import ConsoleWindow
from app.messages import Source, StationMode
from app.scene import Scene
from tests.unit.console.stand import ROBOT, StandScene, StandStation, StandSupervisor

__all__ = ["LEFT", "Desk"]

LEFT = Qt.MouseButton.LeftButton


class Desk:
    """A station, the window before it, and the hand of a person."""

    def __init__(self, folder: Path, qtbot: QtBot) -> None:
        self.station = StandStation(folder)
        self.station.step()
        self.supervisor = StandSupervisor()
        self.scene = StandScene()
        self.qtbot = qtbot
        self.ticker = QTimer()
        self.ticker.setInterval(5)
        self.ticker.timeout.connect(self.station.step)
        self.ticker.start()
        make_application()
        self.window = self.open_window()

    def open_window(self, *, watch: bool = False) -> ConsoleWindow:
        window = ConsoleWindow(
            self.station.folder,
            ROBOT,
            self.supervisor,
            watch=watch,
            make_scene=lambda: cast("Scene", self.scene),
        )
        self.qtbot.addWidget(window)
        window.resize(1366, 768)
        window.show()
        self.qtbot.waitExposed(window)
        window.activateWindow()
        window.viewport.setFocus()
        window.start()
        self.qtbot.waitUntil(lambda: window.readings.is_alive)
        self.qtbot.waitUntil(lambda: window.viewport.frames.summary().frames > 2)
        return window

    def hold(self, widget: QWidget) -> None:
        """Press with the mouse; the caller lets go."""
        self.qtbot.mousePress(widget, LEFT)

    def arm(self) -> None:
        button = self.window.topbar.arm
        self.qtbot.waitUntil(button.isEnabled)
        self.hold(button)
        self.qtbot.waitUntil(lambda: self.station.mode == StationMode.ARMED)
        self.qtbot.mouseRelease(button, LEFT)
        self.qtbot.waitUntil(
            lambda: int(self.window.readings.state.mode[0]) == StationMode.ARMED
        )

    def tip_pixel(self, limb: int) -> QPoint:
        tip = self.window.readings.state.tip_model[limb]
        x, y, _ = self.window.viewport.camera.project(tip)
        return QPoint(round(x), round(y))

    def sent(self) -> tuple[int, int, int]:
        """Mode, limb and deadman of the newest sample that the station has."""
        sample = self.station.blocks.inputs[Source.CONSOLE].local
        return int(sample.mode[0]), int(sample.limb[0]), int(sample.deadman[0])
