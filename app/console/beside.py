"""Two recordings side by side: one transport, both pictures and plots in step."""

from collections.abc import Sequence
from typing import Literal

from PyQt6.QtCore import Qt, QTimer
from PyQt6.QtGui import QCloseEvent, QKeyEvent, QResizeEvent
from PyQt6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app.clock import MonotonicClock
from app.console.controls import ConsoleControls
from app.console.link import age_shade
from app.console.replay_history import TipReplay
from app.console.replay_keys import replay_key
from app.console.replay_source import ReplaySource
from app.console.replay_viewport import ReplayViewport
from app.console.theme import AMBER, MUTED, TEXT, base_pixel_size
from app.console.timeline import TimelineView
from app.console.tips import TIP_FIELDS, TipPanel
from app.console.transport import Transport, TransportBar
from app.console.words import MODE_WORDS, duration_ms
from app.errors import DeviceError
from app.messages import StationMode
from app.operator.keyboard import KeyboardOperator
from app.session.timeline import SpanKind

__all__ = ["Align", "BesideWindow", "anchor_of"]

_CLOCK = MonotonicClock()
_FRAME_MS = 20

Align = Literal["start", "armed", "mark"]


def anchor_of(source: ReplaySource, align: Align) -> int:
    """Return the moment of a recording that is laid over that of the other [ns].

    Args:
        source: the recording.
        align: its start, its first arming, or its first mark; the start where there is
            none.
    """
    timeline = source.timeline
    if align == "armed":
        armed = (span for span in timeline.spans if span.kind is SpanKind.ARMED)
        return next((span.first_ns for span in armed), timeline.start_ns)
    if align == "mark" and timeline.marks:
        return timeline.marks[0].time_ns
    return timeline.start_ns


class _Pane(QWidget):
    """One of the recordings: facts, picture, plots, what happened last."""

    def __init__(self, source: ReplaySource, anchor_ns: int) -> None:
        super().__init__()
        self.source = source
        self.anchor_ns = anchor_ns
        robot, model = source.robot, source.model
        controls = ConsoleControls(
            source.readings.blocks, KeyboardOperator(len(robot.limbs))
        )
        self.viewport = ReplayViewport(robot, model, source.readings, controls)
        self.viewport.setMinimumSize(200, 160)
        self.viewport.shown.inset = False
        history = TipReplay(TIP_FIELDS, source.player.overview, model)
        self.tip = TipPanel(model, history)
        self._facts = QLabel(f"{source.facts}  ·  {robot.name}")
        self._facts.setStyleSheet("font-weight: bold")
        self._facts.setMinimumWidth(1)
        self._state = QLabel("")
        self._last = QLabel("")
        self._last.setMinimumWidth(1)
        self._last.setStyleSheet(f"color: {MUTED}")
        head = QHBoxLayout()
        head.addWidget(self._facts, 1)
        head.addWidget(self._state)
        self.split = QSplitter(Qt.Orientation.Vertical)
        self.split.addWidget(self.viewport)
        self.split.addWidget(self.tip)
        self.split.setChildrenCollapsible(False)
        self.split.setStretchFactor(0, 1)
        self.split.setStretchFactor(1, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 4, 4, 0)
        column.setSpacing(3)
        column.addLayout(head)
        column.addWidget(self.split, 1)
        column.addWidget(self._last)

    def time_of(self, moment_ns: int) -> int:
        """Return the recording's own time of a common moment, within it [ns]."""
        timeline = self.source.timeline
        time_ns = self.anchor_ns + moment_ns
        return min(max(time_ns, timeline.start_ns), timeline.end_ns)

    def build_scene(self) -> None:
        """Build the picture's scene; where that fails the picture says why."""
        try:
            self.viewport.scene = self.source.make_scene()
        except DeviceError as error:
            self.viewport.trouble = f"No picture: {error}"

    def show_picture(self, moment_ns: int) -> None:
        """Show a common moment [ns] in the picture."""
        self.source.seek(self.time_of(moment_ns))
        self.viewport.render_frame(_CLOCK.now_ns())

    def show_rest(self, moment_ns: int) -> None:
        """Show it in plots and words."""
        time_ns = self.time_of(moment_ns)
        readings = self.source.readings
        self.tip.plots.refresh(time_ns)
        mode = MODE_WORDS[StationMode(int(readings.state.mode[0]))]
        age_ms = float(readings.health.age_ms[0])
        words, shade = mode, TEXT
        if readings.has_robot:
            words = f"{mode}, pose {duration_ms(age_ms)} old"
            shade = age_shade(age_ms, readings.age_limit_ms())
        if time_ns != self.anchor_ns + moment_ns:
            words, shade = "outside this recording", AMBER
        self._state.setText(words)
        self._state.setStyleSheet(f"color: {shade}")
        past = [e for e in self.source.timeline.events if e.time_ns <= time_ns]
        self._last.setText(f"{past[-1].source}: {past[-1].text}" if past else "")

    def close_all(self) -> None:
        """Free the picture and close the file."""
        if self.viewport.scene is not None:
            self.viewport.scene.close()
            self.viewport.scene = None
        self.source.close()


class BesideWindow(QMainWindow):
    """Two recordings in one window."""

    def __init__(self, sources: Sequence[ReplaySource], align: Align) -> None:
        """Lay the window out.

        Args:
            sources: the recordings, from left to right.
            align: what of them is laid over each other.
        """
        super().__init__()
        self.panes = [_Pane(source, anchor_of(source, align)) for source in sources]
        starts = [p.source.timeline.start_ns - p.anchor_ns for p in self.panes]
        ends = [p.source.timeline.end_ns - p.anchor_ns for p in self.panes]
        self.transport = Transport(min(starts), max(ends))
        names = " and ".join(source.path.name for source in sources)
        self.setWindowTitle(f"limblink replay – {names}")
        self.timelines = [
            TimelineView(
                pane.source.timeline,
                lambda time_ns, pane=pane: self.transport.seek(  # type: ignore[misc]
                    time_ns - pane.anchor_ns
                ),
                pane.source.path.stem,
                (pane.anchor_ns + min(starts), pane.anchor_ns + max(ends)),
            )
            for pane in self.panes
        ]
        self.bar = TransportBar(self.transport, self.step, self.go_to_moment)
        self.bar.words.setText(f"laid over each other by {align}")
        row = QHBoxLayout()
        row.setSpacing(4)
        for pane in self.panes:
            row.addWidget(pane, 1)
        whole = QWidget()
        outer = QVBoxLayout(whole)
        outer.setContentsMargins(0, 0, 0, 4)
        outer.setSpacing(3)
        outer.addLayout(row, 1)
        for timeline in self.timelines:
            outer.addWidget(timeline)
        outer.addWidget(self.bar)
        self.setCentralWidget(whole)
        self._shown_ns: int | None = None
        self._round = 0
        self._frame = QTimer(self)
        self._frame.setTimerType(Qt.TimerType.PreciseTimer)
        self._frame.setInterval(_FRAME_MS)
        self._frame.timeout.connect(self._show_frame)

    def step(self, ticks: int) -> None:
        """Go so many control ticks of the left recording on, and stand there."""
        self.transport.playing = False
        pane = self.panes[0]
        here = pane.time_of(self.transport.time_ns)
        there = pane.source.player.step("/state", here, ticks)
        self.transport.seek(there - pane.anchor_ns)

    def go_to_moment(self, step: int) -> None:
        """Go to the next mark, warning or outage of either recording, or the last."""
        now_ns = self.transport.time_ns
        moments = [
            pane.source.timeline.next_moment(pane.anchor_ns + now_ns, step)
            - pane.anchor_ns
            for pane in self.panes
        ]
        self.transport.seek(min(moments) if step > 0 else max(moments))

    def start(self) -> None:
        """Begin to draw; the scenes are built once the window is seen."""
        self._frame.start()
        QTimer.singleShot(0, self.build_scenes)

    def build_scenes(self) -> None:
        """Build both pictures' scenes."""
        for pane in self.panes:
            if pane.viewport.scene is None:
                pane.build_scene()

    def show_moment(self, moment_ns: int) -> None:
        """Show a common moment [ns] everywhere, at once."""
        self.transport.seek(moment_ns)
        self._show_pictures()
        for pane in self.panes:
            pane.show_rest(self.transport.time_ns)
        self.bar.refresh()

    def _show_frame(self) -> None:
        moment_ns = self.transport.advance(_CLOCK.now_ns())
        self._round += 1
        if moment_ns != self._shown_ns or self.underMouse() or self._round % 5 == 0:
            self._show_pictures()
        pane = self.panes[self._round % len(self.panes)]
        if self._round % 4 < len(self.panes):
            pane.show_rest(self.transport.time_ns)
        self.bar.refresh()

    def _show_pictures(self) -> None:
        moment_ns = self.transport.time_ns
        self._shown_ns = moment_ns
        for pane, timeline in zip(self.panes, self.timelines, strict=True):
            pane.show_picture(moment_ns)
            timeline.show_time(pane.time_of(moment_ns))

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Give the pictures three fifths of the height."""
        super().resizeEvent(event)
        for pane in self.panes:
            plots = max(14 * base_pixel_size(), self.height() // 4)
            pane.split.setSizes([self.height() - plots, plots])

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Play, step, or go."""
        if event is not None and not replay_key(
            event, self.transport, self.step, self.go_to_moment
        ):
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent | None) -> None:
        """Free the pictures and close the files."""
        self._frame.stop()
        for pane in self.panes:
            pane.close_all()
        super().closeEvent(event)
