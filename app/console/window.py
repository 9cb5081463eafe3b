"""The console's window: lays the panels out and keeps the two beats.

A precise timer of 10 ms sends the operator's sample and the heartbeat. One of 20 ms
reads the blocks and draws a frame; each frame also does one share of the slow work,
so that no frame carries all the panels.
"""

import gc
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PyQt6.QtCore import QEvent, QObject, QRect, Qt, QTimer
from PyQt6.QtGui import QCloseEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PyQt6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QMainWindow,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app.clock import MonotonicClock
from app.config.robot import RobotParameters, build_robot_model
from app.config.teleop import TeleopParameters
from app.console.column import Column
from app.console.controls import ConsoleControls, ControlLock
from app.console.events import EventsPanel
from app.console.goals import GoalsPanel
from app.console.guide import TaskGuide
from app.console.help import HelpOverlay
from app.console.inputs import InputsPanel
from app.console.limbs import LimbsPanel
from app.console.link import LinkPanel
from app.console.loop import LoopPanel
from app.console.marker import Marker
from app.console.notice import Notice, choose_notice
from app.console.pages import Pages
from app.console.processes import ProcessesPanel, SupervisorLike
from app.console.readings import StationReadings
from app.console.strategy import StrategyChooser
from app.console.theme import base_pixel_size
from app.console.tips import TipPanel
from app.console.topbar import TopBar
from app.console.touch import strategy_of
from app.console.verdicts import LinkVerdicts
from app.console.viewbar import ViewBar
from app.console.viewport import Viewport
from app.errors import DeviceError
from app.messages import StationMode
from app.operator.keyboard import KeyboardOperator
from app.operator.mapping import GamepadMapping
from app.scene import Scene
from app.teleop.strategy import Strategy

__all__ = ["ConsoleWindow"]

_CLOCK = MonotonicClock()
_BEAT_MS = 10
_FRAME_MS = 20
_LONG_FRAME_MS = 14.0  # after such a one the panels wait for a shorter one,
_PATIENCE = 2  # but only for so many frames


class ConsoleWindow(QMainWindow):
    """One console of one session."""

    def __init__(
        self,
        session: Path,
        robot: RobotParameters,
        supervisor: SupervisorLike | None,
        *,
        watch: bool = False,
        mapping: GamepadMapping | None = None,
        teleop: TeleopParameters | None = None,
        make_scene: Callable[[], Scene] | None = None,
    ) -> None:
        """Attach to a session and lay the window out.

        Args:
            session: the session's folder.
            robot: the robot that the session drives.
            supervisor: owner of the processes; None where another console owns them.
            watch: never take control.
            mapping: the gamepad's mapping, for the help.
            teleop: the strategies' parameters, for their verdicts; None: the defaults.
            make_scene: makes the picture's scene; None makes it from the robot.

        Raises:
            ProcessError: the session's blocks are missing.
        """
        super().__init__()
        model = build_robot_model(robot)
        self.readings = StationReadings(session, model)
        self.lock = ControlLock(session)
        self.controls = ConsoleControls(
            self.readings.blocks, KeyboardOperator(len(robot.limbs))
        )
        self._watch_only = watch
        self._supervisor = supervisor
        self._make_scene = make_scene or (lambda: Scene(robot, model))
        self._selected = -1
        self._round = 0
        self._postponed = 0
        self._supervised = False
        self._led = False
        self.setWindowTitle(f"limblink – {robot.title}")
        self.topbar = TopBar(robot, self.controls)
        self.limbs = LimbsPanel(robot, model, self.select_limb)
        self.inputs = InputsPanel()
        self.tip = TipPanel(model)
        self.link = LinkPanel(self.controls.wishes)
        self.loop = LoopPanel()
        self.processes = ProcessesPanel(supervisor)
        self.events = EventsPanel()
        self.viewport = Viewport(robot, model, self.readings, self.controls)
        self.strategy = StrategyChooser(
            self.controls.teleop,
            LinkVerdicts(model, teleop or TeleopParameters()),
            self.viewport.setFocus,
        )
        self.goals = GoalsPanel(
            robot,
            model,
            self.controls,
            lambda: self.viewport.camera.forward,
            self.viewport.mark_next,
        )
        self._lower = Pages((self.tip, self.goals))
        self.viewport.marked = self.goals.mark_at
        self.marker = Marker(session, self.viewport)
        self.viewport.keys_also = {
            "N": self.marker.mark,
            "M": self.goals.mark.click,
            "T": self.goals.mark_tip,
            "B": self.goals.assist.button.click,
        }
        self.viewbar = ViewBar(
            self.viewport,
            self.strategy,
            self._act,
            self._toggle_help,
            self._show_goals,
        )
        self._lay_out()
        self.help = HelpOverlay(self, mapping or GamepadMapping())
        if not watch:
            self.take_control()
        self._beat = QTimer(self)
        self._beat.setTimerType(Qt.TimerType.PreciseTimer)
        self._beat.setInterval(_BEAT_MS)
        self._beat.timeout.connect(self._send)
        self._frame = QTimer(self)
        self._frame.setTimerType(Qt.TimerType.PreciseTimer)
        self._frame.setInterval(_FRAME_MS)
        self._frame.timeout.connect(self._show_frame)
        self._slow: list[Callable[[], None]] = [
            self._refresh_blocks,
            lambda: self.topbar.refresh(self.readings, writable=self.is_writer),
            lambda: self.limbs.refresh(self.readings),
            lambda: self.inputs.refresh(self.readings),
            lambda: self.link.refresh(
                self.readings, writable=self.is_writer and not self._led
            ),
            lambda: self.strategy.refresh(self.readings, writable=self.is_writer),
            self._refresh_goals,
            lambda: self.tip.plots.refresh(_CLOCK.now_ns()),
            lambda: self.link.plots.refresh(_CLOCK.now_ns()),
            lambda: self.topbar.refresh(self.readings, writable=self.is_writer),
            lambda: self.limbs.refresh(self.readings),
            lambda: self.loop.refresh(self.readings, self.viewport.frames.summary()),
            self._refresh_processes,
        ]
        app = QApplication.instance()
        if app is not None:
            app.installEventFilter(self)

    # control

    @property
    def is_writer(self) -> bool:
        """Whether this console commands."""
        return self.controls.is_writer

    def take_control(self) -> bool:
        """Become the console that commands, where nobody else is."""
        if self._watch_only or not self.lock.acquire():
            return False
        self.controls.attach(self.readings.blocks)
        self.controls.is_writer = True
        return True

    def select_limb(self, limb: int) -> None:
        """Select a limb, as a click on its card does."""
        self.controls.select_limb(limb)
        self.viewport.setFocus()

    def start(self) -> None:
        """Begin to beat and draw; the scene is built once the window is seen."""
        self._beat.start()
        self._frame.start()
        QTimer.singleShot(0, self._build_scene)

    def _build_scene(self) -> None:
        try:
            self.viewport.scene = self._make_scene()
        except DeviceError as error:
            self.viewport.trouble = f"No picture: {error}"
        # what is there now stays: to search it all for cycles would stop the picture
        gc.collect()
        gc.freeze()
        self.viewport.frames.clear()

    # beats

    def _send(self) -> None:
        self.controls.publish(_CLOCK.now_ns())

    def _show_frame(self) -> None:
        now_ns = _CLOCK.now_ns()
        if self.readings.refresh(now_ns):
            self._reattach()
        self._follow_selection()
        self.link.take(self.readings)
        self.tip.take(self.readings)
        guide = self.viewport.guide
        if guide is not None:
            guide.take(self.readings)
        self.viewport.render_frame(now_ns)
        self._postponed += 1
        if self.viewport.cost_ms < _LONG_FRAME_MS or self._postponed > _PATIENCE:
            self._postponed = 0
            self._slow[self._round % len(self._slow)]()
            self._round += 1
        if guide is not None and guide.seen:
            self.close()

    def _reattach(self) -> None:
        self.controls.attach(self.readings.blocks)
        self.link.attach(self.controls.wishes)

    def _follow_selection(self) -> None:
        """Take a selection that another operator made, so that ours starts there."""
        state, keyboard = self.readings.state, self.controls.keyboard
        selected = int(state.selected_limb[0])
        keyboard.follow_grip(float(state.grip[selected]), self.readings.now_ns)
        if selected != self._selected:
            self._selected = selected
            keyboard.select(selected)

    def _refresh_blocks(self) -> None:
        self.readings.refresh_slow(_CLOCK.now_ns())
        self.events.add(self.readings.new_events())
        self._show_notice()

    def _refresh_goals(self) -> None:
        self.goals.refresh(self.readings, writable=self.is_writer)
        place = self.goals.draft.place
        self.viewport.mark = None if place is None else np.array(place)
        supervised = strategy_of(self.readings) == Strategy.SUPERVISED
        if supervised and not self._supervised:
            self.viewbar.goals.setChecked(True)
        self._supervised = supervised

    def _show_goals(self, wanted: bool) -> None:
        self._lower.setCurrentWidget(self.goals if wanted else self.tip)

    def _refresh_processes(self) -> None:
        if self._round % 20 < 10:
            self.processes.refresh()

    def _show_notice(self) -> None:
        notice = choose_notice(
            self.readings,
            is_writer=self.is_writer,
            watch_only=self._watch_only,
            lock_free=not self.is_writer and self.lock.is_free,
            lock_holder=self.lock.holder,
            stop_released=self.topbar.stop.is_released,
            can_restart=self._supervisor is not None,
        )
        if self.strategy.question and notice.loudness < 3:
            notice = Notice(self.strategy.question, 2)
        self.viewbar.show_notice(notice)

    def _act(self, action: str) -> None:
        if action == "restart":
            self.processes.restart("station")
        elif action == "take":
            self.take_control()

    # layout

    def _lay_out(self) -> None:
        size = base_pixel_size()
        left = Column(
            (self.limbs, self.inputs, self._lower), (1, 0, 4), int(21.5 * size)
        )
        right = Column(
            (self.link, self.loop, self.processes), (4, 0, 0), int(25.5 * size)
        )
        self._centre = QSplitter(Qt.Orientation.Vertical)
        self._centre.addWidget(self.viewport)
        self._centre.addWidget(self.events)
        self._centre.setChildrenCollapsible(False)
        self._centre.setStretchFactor(0, 1)
        self._centre.setStretchFactor(1, 0)
        middle = QHBoxLayout()
        middle.setContentsMargins(6, 0, 6, 6)
        middle.setSpacing(6)
        middle.addWidget(left)
        middle.addWidget(self._centre, 1)
        middle.addWidget(right)
        whole = QWidget()
        outer = QVBoxLayout(whole)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(4)
        outer.addWidget(self.topbar)
        outer.addWidget(self.viewbar)
        outer.addLayout(middle, 1)
        self.setCentralWidget(whole)

    @property
    def notice(self) -> str:
        """The sentence under the top bar."""
        return self.viewbar.text

    def _below_bar(self) -> QRect:
        return self.rect().adjusted(0, self.topbar.height(), 0, 0)

    def _toggle_help(self) -> None:
        self.help.toggle(self._below_bar())

    # Qt

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Catch the keys that work wherever the focus is, the stop above all.

        On X11 a click beside an open list does nothing but close it; one on the
        stop is caught here.
        """
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._global_key(event)
        if isinstance(event, QMouseEvent) and self._is_stop_past_a_list(event):
            self._stop()
            return True
        return False

    def _is_stop_past_a_list(self, event: QMouseEvent) -> bool:
        popup = QApplication.activePopupWidget()
        if popup is None or event.type() != QEvent.Type.MouseButtonPress:
            return False
        stop = self.topbar.stop
        at = stop.mapFromGlobal(event.globalPosition().toPoint())
        if not (stop.isEnabled() and stop.rect().contains(at)):
            return False
        popup.close()
        return True

    def _global_key(self, event: QKeyEvent) -> bool:
        key = event.key()
        acts: dict[int, Callable[[], object]] = {
            Qt.Key.Key_Escape: self._stop,
            Qt.Key.Key_F1: self._toggle_help,
            Qt.Key.Key_F2: lambda: self.viewport.camera.view("front"),
            Qt.Key.Key_F3: lambda: self.viewport.camera.view("side"),
            Qt.Key.Key_F4: lambda: self.viewport.camera.view("top"),
            Qt.Key.Key_F5: self.viewbar.skin.click,
            Qt.Key.Key_F6: self._change_pane,
            Qt.Key.Key_F7: self.viewbar.inset.click,
        }
        if not self._led:
            acts |= {
                Qt.Key.Key_F8: self.strategy.open_list,
                Qt.Key.Key_F9: self._change_lower,
                Qt.Key.Key_F10: self.goals.ask,
                Qt.Key.Key_F11: self.goals.ask_stop,
            }
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            acts[Qt.Key.Key_N] = self.marker.ask
        if key not in acts or event.modifiers() & Qt.KeyboardModifier.AltModifier:
            return False
        if not event.isAutoRepeat():
            acts[key]()
        return True

    def _change_lower(self) -> None:
        """Show the goals panel with the keys on it, or the plots."""
        self.viewbar.goals.click()
        if self.viewbar.goals.isChecked():
            self.goals.kind.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            self.viewport.setFocus()

    def _stop(self) -> None:
        """Take ESC from anywhere: stop at once, without waiting for the next beat."""
        self.controls.drag = None
        self.strategy.close_list()
        self.controls.keyboard.press("ESC")
        self.controls.keyboard.release("ESC")
        self._send()
        if not self.is_writer:
            self.viewport.say("This console only watches: stop at the one in control.")

    def _change_pane(self) -> None:
        if self.viewport.hasFocus():
            self.topbar.arm.setFocus(Qt.FocusReason.TabFocusReason)
            if not self.topbar.arm.isEnabled():
                self.link.combo.setFocus(Qt.FocusReason.TabFocusReason)
        else:
            self.viewport.setFocus()

    def changeEvent(self, event: QEvent | None) -> None:
        """Let go when another window takes over."""
        super().changeEvent(event)
        if (
            event is not None
            and event.type() == QEvent.Type.ActivationChange
            and not self.isActiveWindow()
        ):
            self.viewport.let_go()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Give the events a sixth of the height, and keep the help over everything."""
        super().resizeEvent(event)
        strip = max(6 * base_pixel_size(), self.height() // 7)
        self._centre.setSizes([self.height() - strip, strip])
        if self.help.isVisible():
            self.help.setGeometry(self._below_bar())

    def closeEvent(self, event: QCloseEvent | None) -> None:
        """Go neutral, give control up, and free the picture."""
        self._beat.stop()
        self._frame.stop()
        app = QApplication.instance()
        if app is not None:
            app.removeEventFilter(self)
        self.viewport.let_go()
        self._send()
        self.lock.close()
        self.controls.is_writer = False
        self.processes.close_threads()
        if self.viewport.scene is not None:
            self.viewport.scene.close()
            self.viewport.scene = None
        super().closeEvent(event)

    def lead(self, guide: TaskGuide) -> None:
        """Lead a participant through a trial.

        They must not know how hand and tip are joined, nor change that or the link.

        Args:
            guide: through the trial.
        """
        self._led = True
        self.viewport.guide = guide
        self.viewport.keys_also = {"N": self.marker.mark}
        for widget in (self.strategy, self.processes, self.viewbar.goals):
            widget.hide()
        self.viewport.camera.settle(*guide.sight())
        self.setWindowTitle(f"limblink – system {guide.letter}")

    @property
    def is_stopped(self) -> bool:
        """Whether the station's emergency stop is latched."""
        return int(self.readings.state.mode[0]) == StationMode.ESTOP
