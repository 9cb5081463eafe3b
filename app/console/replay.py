"""The replay window: the console over a recording, everything live but the commands.

Panels, picture and plots are those of the console; they read the moment that the
timeline points at. Nothing is sent: there is no station.
"""

from collections.abc import Callable

from PyQt6.QtCore import Qt, QTimer
from PyQt6.QtGui import QCloseEvent, QKeyEvent, QResizeEvent
from PyQt6.QtWidgets import (
    QHBoxLayout,
    QMainWindow,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app.clock import MonotonicClock
from app.console.column import Column
from app.console.controls import ConsoleControls
from app.console.inputs import InputsPanel
from app.console.limbs import LimbsPanel
from app.console.link import LINK_FIELDS, LinkPanel
from app.console.loop import LoopPanel
from app.console.replay_events import ReplayEvents
from app.console.replay_history import LinkReplay, TipReplay
from app.console.replay_keys import replay_key
from app.console.replay_source import ReplaySource
from app.console.replay_viewport import ReplayViewport
from app.console.theme import AMBER, base_pixel_size
from app.console.timeline import TimelineView
from app.console.tips import TIP_FIELDS, TipPanel
from app.console.topbar import TopBar
from app.console.transport import Transport, TransportBar
from app.errors import DeviceError
from app.operator.keyboard import KeyboardOperator

__all__ = ["ReplayWindow"]

_CLOCK = MonotonicClock()
_FRAME_MS = 20
_IDLE_FRAMES = 5  # a picture that stands still is drawn at 10 Hz


class ReplayWindow(QMainWindow):
    """One recording in the console."""

    def __init__(self, source: ReplaySource) -> None:
        """Lay the window out; the recording's start is shown."""
        super().__init__()
        self.source = source
        robot, model, readings = source.robot, source.model, source.readings
        overview = source.player.overview
        self.readings = readings
        self.controls = ConsoleControls(
            readings.blocks, KeyboardOperator(len(robot.limbs))
        )
        self.transport = Transport(source.timeline.start_ns, source.timeline.end_ns)
        self.setWindowTitle(f"limblink replay – {source.path.name}")
        self.topbar = TopBar(robot, self.controls)
        self.limbs = LimbsPanel(robot, model, lambda _limb: None)
        self.inputs = InputsPanel()
        self.tip = TipPanel(model, TipReplay(TIP_FIELDS, overview, model))
        self.link = LinkPanel(self.controls.wishes, LinkReplay(LINK_FIELDS, overview))
        self.loop = LoopPanel()
        self.events = ReplayEvents(source.timeline, self.go)
        self.viewport = ReplayViewport(robot, model, readings, self.controls)
        self.timeline = TimelineView(source.timeline, self.go, source.facts)
        self.bar = TransportBar(self.transport, self.step, self.go_to_moment)
        self.bar.words.setText(source.player.recording.damage)
        self._lay_out()
        self._shown_ns = -1
        self._idle = 0
        self._round = 0
        self._frame = QTimer(self)
        self._frame.setTimerType(Qt.TimerType.PreciseTimer)
        self._frame.setInterval(_FRAME_MS)
        self._frame.timeout.connect(self._show_frame)
        self._slow: list[Callable[[], None]] = [
            self._show_top,
            lambda: self.limbs.refresh(readings),
            lambda: self.inputs.refresh(readings),
            lambda: self.link.refresh(readings, writable=False),
            lambda: self.tip.plots.refresh(self.transport.time_ns),
            lambda: self.link.plots.refresh(self.transport.time_ns),
            lambda: self.loop.refresh(readings, self.viewport.frames.summary()),
        ]

    # moving

    def go(self, time_ns: int) -> None:
        """Go to a moment [ns]."""
        self.transport.seek(time_ns)

    def step(self, ticks: int) -> None:
        """Go so many control ticks on, and stand there."""
        self.transport.playing = False
        here = self.transport.time_ns
        self.transport.seek(self.source.player.step("/state", here, ticks))

    def go_to_moment(self, step: int) -> None:
        """Go to the next mark, warning or outage (+1), or to the last one (-1)."""
        timeline = self.source.timeline
        self.transport.seek(timeline.next_moment(self.transport.time_ns, step))

    # frames

    def start(self) -> None:
        """Begin to draw; the scene is built once the window is seen."""
        self._frame.start()
        QTimer.singleShot(0, self.build_scene)

    def build_scene(self) -> None:
        """Build the picture's scene; where that fails the picture says why."""
        if self.viewport.scene is not None:
            return
        try:
            self.viewport.scene = self.source.make_scene()
        except DeviceError as error:
            self.viewport.trouble = f"No picture: {error}"

    def show_moment(self, time_ns: int) -> None:
        """Show a moment in the picture and every panel, at once."""
        self.transport.seek(time_ns)
        self.show_picture(self.transport.time_ns)
        for show in self._slow:
            show()

    def _show_frame(self) -> None:
        time_ns = self.transport.advance(_CLOCK.now_ns())
        moved = time_ns != self._shown_ns
        self._idle = 0 if moved else self._idle + 1
        if moved or self.viewport.underMouse() or self._idle % _IDLE_FRAMES == 0:
            self.show_picture(time_ns)
        self.bar.refresh()
        turns = 1 if self.transport.playing else 2
        for _ in range(turns):
            self._slow[self._round % len(self._slow)]()
            self._round += 1

    def show_picture(self, time_ns: int) -> None:
        """Show a moment [ns] in the picture and on the timeline; panels follow."""
        if time_ns != self._shown_ns:
            self._shown_ns = time_ns
            self.source.seek(time_ns)
            self.timeline.show_time(time_ns)
            self.events.show_time(time_ns)
            self.bar.refresh()
        self.viewport.render_frame(_CLOCK.now_ns())

    def _show_top(self) -> None:
        self.topbar.refresh(self.readings, writable=False)
        self.topbar.record.show_word(
            "REPLAY", AMBER, filled=True, why=str(self.source.path)
        )

    # layout

    def _lay_out(self) -> None:
        size = base_pixel_size()
        rest = QWidget()
        rest.setObjectName("column")
        panels = (self.limbs, self.inputs, self.loop, rest)
        left = Column(panels, (0, 0, 0, 1), int(24.5 * size))
        right = Column((self.link, self.tip), (3, 4), int(25.5 * size))
        self._centre = QSplitter(Qt.Orientation.Vertical)
        self._centre.addWidget(self.viewport)
        self._centre.addWidget(self.events)
        self._centre.setChildrenCollapsible(False)
        self._centre.setStretchFactor(0, 1)
        self._centre.setStretchFactor(1, 0)
        middle = QHBoxLayout()
        middle.setContentsMargins(6, 4, 6, 0)
        middle.setSpacing(6)
        middle.addWidget(left)
        middle.addWidget(self._centre, 1)
        middle.addWidget(right)
        whole = QWidget()
        outer = QVBoxLayout(whole)
        outer.setContentsMargins(0, 0, 0, 4)
        outer.setSpacing(3)
        outer.addWidget(self.topbar)
        outer.addLayout(middle, 1)
        outer.addWidget(self.timeline)
        outer.addWidget(self.bar)
        self.setCentralWidget(whole)

    # Qt

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Play, step, go, or turn the view."""
        if event is None:
            return
        views = {
            Qt.Key.Key_F2: "front",
            Qt.Key.Key_F3: "side",
            Qt.Key.Key_F4: "top",
        }
        key = Qt.Key(event.key())
        if key in views:
            self.viewport.camera.view(views[key])
        elif key == Qt.Key.Key_F5:
            self.viewport.shown.skin = not self.viewport.shown.skin
        elif key == Qt.Key.Key_F7:
            self.viewport.shown.inset = not self.viewport.shown.inset
        elif not replay_key(event, self.transport, self.step, self.go_to_moment):
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Give the events a sixth of the height."""
        super().resizeEvent(event)
        strip = max(6 * base_pixel_size(), self.height() // 7)
        self._centre.setSizes([self.height() - strip, strip])

    def closeEvent(self, event: QCloseEvent | None) -> None:
        """Free the picture and close the file."""
        self._frame.stop()
        if self.viewport.scene is not None:
            self.viewport.scene.close()
            self.viewport.scene = None
        self.source.close()
        super().closeEvent(event)
