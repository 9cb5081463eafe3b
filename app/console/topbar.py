"""The bar that is always on top: arm, disarm, lamps, emergency stop and its reset."""

from PyQt6.QtCore import QRectF, QSize, Qt
from PyQt6.QtGui import QPainter, QPaintEvent, QPen
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy

from app.config.robot import RobotParameters
from app.console.controls import ConsoleControls
from app.console.readings import StationReadings
from app.console.theme import ALARM, AMBER, GOOD, MUTED, base_pixel_size, color, font
from app.console.widgets import HoldButton, Lamp
from app.console.words import MODE_WORDS, ROBOT_WORDS, SOURCE_WORDS, duration_ms
from app.messages import RobotState, Source, StationMode

__all__ = ["StopButton", "TopBar"]

_ARM_HOLD_MS = 500
_RESET_HOLD_MS = 800


class StopButton(QPushButton):
    """The emergency stop: acts when pressed, latches, is released by a click."""

    def __init__(self, controls: ConsoleControls) -> None:
        super().__init__("EMERGENCY STOP")
        self._controls = controls
        self._latched = False
        self.is_released = False
        self._size = base_pixel_size()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName("emergency stop")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.pressed.connect(self._press)

    def sizeHint(self) -> QSize:
        """Return a size that cannot be missed."""
        return QSize(int(15.5 * self._size), int(3.4 * self._size))

    def _press(self) -> None:
        if self._latched and not self.is_released:
            self.is_released = True
        else:
            self.is_released = False
            self._controls.press_estop()
        self.update()

    def show_mode(self, mode: StationMode) -> None:
        """Follow the station: a stop pressed elsewhere latches this button as well."""
        latched = mode == StationMode.ESTOP
        if latched != self._latched:
            self._latched = latched
            self.is_released = False
            self.update()

    @property
    def words(self) -> tuple[str, str]:
        """The two lines that the button shows."""
        if not self._latched:
            return "EMERGENCY STOP", "click, or ESC anywhere"
        if self.is_released:
            return "RELEASED", "now hold RESET · click: stop again"
        return "STOPPED", "click to release"

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Draw a red button that is seen to be in or out."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5)
        pressed_in = self.isDown() or (self._latched and not self.is_released)
        fill = "#7d0f18" if pressed_in else "#d3202f"
        if not self.isEnabled():
            fill = "#4a2a30"
        elif self.underMouse() and not pressed_in:
            fill = "#e8303f"
        painter.setBrush(color(fill))
        edge = "#ffffff" if self.hasFocus() else "#ffb3b3" if pressed_in else "#ff7a7a"
        painter.setPen(QPen(color(edge), 3.0 if pressed_in or self.hasFocus() else 1.5))
        painter.drawRoundedRect(box, 6.0, 6.0)
        first, second = self.words
        painter.setPen(color("#ffffff" if self.isEnabled() else "#b79aa0"))
        painter.setFont(font(self._size + 3, bold=True))
        centre = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter
        split = box.y() + 0.60 * box.height()
        upper = QRectF(box.x(), box.y() + 1.0, box.width(), split - box.y())
        painter.drawText(upper, int(centre), first)
        painter.setFont(font(self._size - 2))
        lower = QRectF(box.x(), split - 2.0, box.width(), box.bottom() - split)
        painter.drawText(lower, int(centre), second)
        painter.end()


class TopBar(QFrame):
    """Arming and stopping, and the lamps that must never be out of sight."""

    def __init__(self, robot: RobotParameters, controls: ConsoleControls) -> None:
        super().__init__()
        self.setObjectName("bar")
        size = base_pixel_size()
        self.setFixedHeight(int(4.5 * size))
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 4, 8, 4)
        row.setSpacing(6)
        brand = QLabel(
            f"limblink<br><span style='color:{MUTED}; font-size:{size - 1}px;"
            f" font-weight:normal'>{robot.name.upper()}</span>"
        )
        brand.setObjectName("brand")
        brand.setToolTip(robot.title)
        row.addWidget(brand)
        row.addSpacing(4)
        self.arm = HoldButton("HOLD TO ARM", _ARM_HOLD_MS, controls.press_arm, GOOD)
        self.arm.setToolTip(
            "Hold for half a second to arm. Release the deadman first; nothing moves "
            "until it is held again."
        )
        self.disarm = QPushButton("DISARM")
        self.disarm.setToolTip("The robot holds its pose, then turns compliant.")
        self.disarm.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.disarm.pressed.connect(controls.press_disarm)
        for button in (self.arm, self.disarm):
            button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
            button.setFont(font(size, bold=True))
            row.addWidget(button)
        self.mode = Lamp("STATION")
        self.deadman = Lamp("DEADMAN")
        self.charge = Lamp("IN CHARGE")
        self.robot = Lamp("ROBOT")
        self.link = Lamp("LINK, POSE AGE")
        self.record = Lamp("RECORDING")
        for lamp in (
            self.mode,
            self.deadman,
            self.charge,
            self.robot,
            self.link,
            self.record,
        ):
            row.addWidget(lamp, 1)
        self.reset = HoldButton(
            "HOLD TO\nRESET", _RESET_HOLD_MS, controls.press_reset, AMBER
        )
        self.reset.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.reset.setToolTip(
            "Second act after a stop: release the red button first, then hold this."
        )
        row.addWidget(self.reset)
        self.stop = StopButton(controls)
        row.addWidget(self.stop)

    def refresh(self, readings: StationReadings, *, writable: bool) -> None:
        """Show the newest states."""
        state = readings.state
        mode = StationMode(int(state.mode[0]))
        alive = readings.is_alive
        self.stop.show_mode(mode if alive else StationMode.DISARMED)
        self.stop.setEnabled(writable)
        stopped = mode == StationMode.ESTOP
        self.arm.setEnabled(writable and alive and mode == StationMode.DISARMED)
        self.disarm.setEnabled(writable and alive and mode == StationMode.ARMED)
        self.reset.setEnabled(writable and alive and stopped and self.stop.is_released)
        if not alive:
            word = "STARTING" if readings.waiting else "ENDED"
            shade = AMBER if readings.waiting else ALARM
            self.mode.show_word(word, shade, filled=True)
            for lamp in (self.deadman, self.charge, self.robot, self.link):
                lamp.show_word("unknown", MUTED, filled=False)
        else:
            shade = {StationMode.ARMED: GOOD, StationMode.ESTOP: ALARM}.get(mode, MUTED)
            filled = mode != StationMode.DISARMED
            self.mode.show_word(MODE_WORDS[mode], shade, filled=filled)
            self._show_operators(readings)
            self._show_robot(readings)
        self._show_recording(readings)

    def _show_operators(self, readings: StationReadings) -> None:
        state = readings.state
        active = int(state.active_source[0])
        held = [
            SOURCE_WORDS[source]
            for source in Source
            if state.source_fresh[source] and readings.inputs[source].deadman[0]
        ]
        self.deadman.show_word(
            "HELD" if held else "released",
            GOOD if held else MUTED,
            filled=bool(held),
            why="held at: " + ", ".join(held) if held else "Nothing moves without it.",
        )
        if active >= 0:
            self.charge.show_word(SOURCE_WORDS[Source(active)], GOOD, filled=False)
        else:
            self.charge.show_word("nobody", MUTED, filled=False)

    def _show_robot(self, readings: StationReadings) -> None:
        health = readings.health
        number = int(health.robot_state[0])
        if not readings.is_link_alive:
            self.robot.show_word("unknown", MUTED, filled=False)
            why = "The station's link thread does not report."
            self.link.show_word("NO REPORT", ALARM, filled=True, why=why)
            return
        if not readings.has_robot or number not in list(RobotState):
            self.robot.show_word("NOT HEARD", ALARM, filled=True)
            self.link.show_word("NO POSE YET", ALARM, filled=True)
            return
        robot = RobotState(number)
        word, why = ROBOT_WORDS[robot]
        shade = {
            RobotState.ACTIVE: GOOD,
            RobotState.IDLE: MUTED,
            RobotState.ESTOP: ALARM,
        }.get(robot, AMBER)
        quiet = robot in {RobotState.IDLE, RobotState.ACTIVE}
        self.robot.show_word(word, shade, filled=not quiet, why=why)
        age_ms, limit_ms = float(health.age_ms[0]), readings.age_limit_ms()
        age = duration_ms(age_ms)
        if health.cut[0]:
            self.link.show_word(f"CUT · {age}", ALARM, filled=True)
        elif not age_ms <= limit_ms:
            self.link.show_word(f"LATE · {age}", ALARM, filled=True)
        elif age_ms > 0.5 * limit_ms:
            self.link.show_word(age, AMBER, filled=False)
        else:
            self.link.show_word(age, GOOD, filled=False)

    def _show_recording(self, readings: StationReadings) -> None:
        recording = readings.recording
        if recording.path is None:
            self.record.show_word("no log", MUTED, filled=False)
        elif recording.is_growing(readings.now_ns):
            words = f"● {recording.megabytes:.1f} MB"
            self.record.show_word(
                words, "#ff8f8f", filled=False, why=str(recording.path)
            )
        else:
            self.record.show_word("STANDS STILL", AMBER, filled=True)
