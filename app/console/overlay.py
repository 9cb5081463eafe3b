"""What is written over the picture: legend, ages, selected limb, big warnings."""

import math

from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QPainter, QPen, QPixmap

from app.config.robot import RobotParameters
from app.console.link import age_shade
from app.console.readings import StationReadings
from app.console.theme import (
    ALARM,
    AMBER,
    LINE,
    MODEL_COLOR,
    MUTED,
    TARGET_COLOR,
    TEXT,
    WINDOW,
    base_pixel_size,
    color,
    font,
)
from app.console.touch import limb_lines, shows_model
from app.console.words import duration_ms
from app.messages import StationMode
from models.robot import RobotModel

__all__ = ["LIMB_PLATE_LINES", "Overlay", "limb_plate_width"]

LIMB_PLATE_LINES = 10
"""Most lines that the plate of the selected limb has room for."""

_LEGEND_WIDTH = 23.0  # in text heights
_PLATES_EVERY = 5  # frames
_PLATES_JUMP_NS = 200_000_000  # a replay went elsewhere
_LIMB_WIDTH = 23.0
_LOUD = (MUTED, TEXT, AMBER, ALARM)
_SHADE = 0.62  # opacity of the plates behind text


def limb_plate_width(size: int) -> float:
    """Width of the selected limb's plate for a text height, both [px]."""
    return _LIMB_WIDTH * size


class Overlay:
    """Draws over the picture with the newest readings."""

    def __init__(self, robot: RobotParameters, model: RobotModel) -> None:
        self._robot = robot
        self._model = model
        self._size = base_pixel_size()
        self._plates: list[tuple[QPointF, QPixmap]] = []
        self._plates_of: tuple[QRectF, int] | None = None
        self._plates_age = 0
        self._plates_ns = 0

    def paint(
        self,
        painter: QPainter,
        place: QRectF,
        readings: StationReadings,
        *,
        drives: bool,
        hint: str,
        task: str = "",
    ) -> None:
        """Draw everything.

        Args:
            painter: on the picture.
            place: the picture's rectangle.
            readings: the newest readings.
            drives: the keyboard drives, the picture has the focus.
            hint: a passing remark for the person, or "".
            task: what a participant is to do, or "".
        """
        self._plates_age += 1
        key = (place, int(readings.state.selected_limb[0]))
        jumped = abs(readings.now_ns - self._plates_ns) > _PLATES_JUMP_NS
        if key != self._plates_of or self._plates_age >= _PLATES_EVERY or jumped:
            self._plates_of, self._plates_age = key, 0
            self._plates_ns = readings.now_ns
            device = painter.device()
            ratio = device.devicePixelRatioF() if device is not None else 1.0
            self._draw_plates(place, readings, ratio)
        for corner, plate in self._plates:
            painter.drawPixmap(corner, plate)
        self._warnings(painter, place, readings)
        if task:
            self._task(painter, place, task)
        if hint:
            self._line(painter, place, 4.1, hint, AMBER)
        elif not drives:
            self._line(
                painter,
                place,
                2.2,
                "Click the picture to drive with the keyboard",
                MUTED,
            )

    def _draw_plates(
        self, place: QRectF, readings: StationReadings, ratio: float
    ) -> None:
        """Keep the plates with text as pictures: text is dear, and read at 10 Hz."""
        size = self._size
        bottom = QRectF(0.0, 0.0, (_LEGEND_WIDTH + 1.0) * size, 6.0 * size + 16.0)
        bottom.moveBottomLeft(place.bottomLeft())
        lines = 1.4 * (LIMB_PLATE_LINES + 1.25)
        width = limb_plate_width(size) + size
        top = QRectF(place.left(), place.top(), width, lines * size + 16.0)
        self._plates = []
        for part, draw in ((bottom, self._legend), (top, self._limb)):
            pixmap = QPixmap((part.size() * ratio).toSize())
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(Qt.GlobalColor.transparent)
            painter = QPainter(pixmap)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.translate(-part.topLeft())
            draw(painter, place, readings)
            painter.end()
            self._plates.append((part.topLeft(), pixmap))

    def _plate(self, painter: QPainter, place: QRectF) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color(WINDOW, _SHADE))
        painter.drawRoundedRect(place, 4.0, 4.0)

    def _legend(
        self, painter: QPainter, place: QRectF, readings: StationReadings
    ) -> None:
        size = self._size
        selected = int(readings.state.selected_limb[0])
        age_ms = readings.confirmed_age_ms(selected)
        limit_ms = readings.age_limit_ms()
        if math.isnan(age_ms):
            robot, shade = "robot: no pose received yet", AMBER
        else:
            robot = f"robot, confirmed {duration_ms(age_ms)} ago"
            shade = age_shade(age_ms, limit_ms)
        limb_color = self._robot.limbs[selected].color
        rows = [("skin", limb_color, robot, shade)]
        if shows_model(readings):
            ghost = "local model: what the robot will do"
            rows.append(("ghost", MODEL_COLOR, ghost, TEXT))
            rows.append(("target", TARGET_COLOR, "operator's target", TEXT))
        else:
            rows.append(("", MUTED, "model and target hidden:", MUTED))
            rows.append(("", MUTED, "move, then wait to see it", MUTED))
        height = 1.5 * size
        plate = QRectF(
            place.left() + 8.0,
            place.bottom() - 8.0 - len(rows) * height - 8.0,
            _LEGEND_WIDTH * size,
            len(rows) * height + 8.0,
        )
        self._plate(painter, plate)
        painter.setFont(font(size))
        for i, (kind, mark, text, text_shade) in enumerate(rows):
            top = plate.top() + 4.0 + i * height
            swatch = QRectF(
                plate.left() + 8.0, top + 0.28 * height, 1.9 * size, 0.44 * height
            )
            self._swatch(painter, kind, swatch, mark)
            painter.setPen(color(text_shade))
            painter.drawText(
                QRectF(swatch.right() + 8.0, top, plate.width(), height),
                int(Qt.AlignmentFlag.AlignVCenter),
                text,
            )

    def _swatch(self, painter: QPainter, kind: str, place: QRectF, mark: str) -> None:
        if kind == "":
            return
        if kind == "skin":
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color(mark))
            painter.drawRoundedRect(place, 0.5 * place.height(), 0.5 * place.height())
        elif kind == "ghost":
            painter.setPen(QPen(color(mark), 1.6))
            painter.setBrush(color(mark, 0.25))
            painter.drawRoundedRect(place, 0.5 * place.height(), 0.5 * place.height())
        else:
            centre = place.center()
            radius = 0.5 * place.height()
            painter.setPen(QPen(color(mark), 1.8))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(centre, radius, radius)
            reach = 1.5 * radius
            painter.drawLine(centre - QPointF(reach, 0.0), centre + QPointF(reach, 0.0))
            painter.drawLine(centre - QPointF(0.0, reach), centre + QPointF(0.0, reach))

    def _limb(
        self, painter: QPainter, place: QRectF, readings: StationReadings
    ) -> None:
        size = self._size
        selected = int(readings.state.selected_limb[0])
        limb = self._robot.limbs[selected]
        lines = limb_lines(readings, self._robot, self._model)[:LIMB_PLATE_LINES]
        height = 1.4 * size
        plate = QRectF(
            place.left() + 8.0,
            place.top() + 8.0,
            limb_plate_width(size),
            (len(lines) + 1.25) * height + 6.0,
        )
        self._plate(painter, plate)
        painter.fillRect(
            QRectF(plate.left(), plate.top(), 4.0, plate.height()), color(limb.color)
        )
        painter.setPen(color(TEXT))
        painter.setFont(font(size + 3, bold=True))
        left = plate.left() + 12.0
        row = QRectF(left, plate.top() + 3.0, plate.width(), 1.25 * height)
        middle = int(Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(row, middle, f"{selected + 1}  {limb.name}")
        painter.setFont(font(size))
        top = row.bottom()
        for text, loud in lines:
            painter.setFont(font(size, bold=loud > 1))
            painter.setPen(color(_LOUD[loud]))
            painter.drawText(QRectF(left, top, plate.width(), height), middle, text)
            top += height

    def _warnings(
        self, painter: QPainter, place: QRectF, readings: StationReadings
    ) -> None:
        state, health = readings.state, readings.health
        selected = int(state.selected_limb[0])
        age_ms = readings.confirmed_age_ms(selected)
        if readings.waiting:
            return
        if not readings.is_alive:
            self._big(
                painter, place, "STATION ENDED", "this picture stands still", ALARM
            )
        elif int(state.mode[0]) == StationMode.ESTOP:
            words = "release the red button, hold RESET, then arm again"
            self._big(painter, place, "EMERGENCY STOP", words, ALARM)
        elif health.cut[0]:
            words = "nothing passes"
            if not math.isnan(age_ms):
                words += f"; robot's pose is {duration_ms(age_ms)} old"
            self._big(painter, place, "LINK CUT", words, ALARM)
        elif state.unexplained[selected] and shows_model(readings):
            off = 1e3 * float(state.mismatch[selected])
            words = f"{off:.0f} mm apart: let go, wait for its pose, arm again"
            self._big(painter, place, "THE MODEL IS NOT THE ROBOT", words, ALARM)
        elif age_ms > readings.age_limit_ms():
            words = "the robot may be elsewhere by now"
            big = f"ROBOT'S POSE IS {duration_ms(age_ms)} OLD"
            self._big(painter, place, big, words, AMBER)

    def _big(
        self, painter: QPainter, place: QRectF, words: str, why: str, shade: str
    ) -> None:
        size = self._size
        painter.setFont(font(2.0 * size, bold=True))
        width = painter.fontMetrics().horizontalAdvance(words)
        painter.setFont(font(size))
        width = max(width, painter.fontMetrics().horizontalAdvance(why)) + 3 * size
        plate = QRectF(0.0, 0.0, width, 4.6 * size)
        # right of the legend, above the hint: hides neither limbs nor inset
        free = place.left() + 8.0 + _LEGEND_WIDTH * size
        plate.moveCenter(QPointF(max(0.5 * (free + place.right()), free), 0.0))
        plate.moveRight(min(plate.right(), place.right() - 8.0))
        plate.moveBottom(place.bottom() - 2.9 * size)
        painter.setPen(QPen(color(shade), 1.6))
        painter.setBrush(color(WINDOW, 0.8))
        painter.drawRoundedRect(plate, 6.0, 6.0)
        centre = int(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter)
        painter.setPen(color(shade))
        painter.setFont(font(2.0 * size, bold=True))
        painter.drawText(plate.adjusted(0.0, 4.0, 0.0, -1.7 * size), centre, words)
        painter.setPen(color(TEXT))
        painter.setFont(font(size))
        painter.drawText(plate.adjusted(0.0, 2.7 * size, 0.0, -4.0), centre, why)

    def _task(self, painter: QPainter, place: QRectF, words: str) -> None:
        """Write one line at the upper edge, right of the limb's plate."""
        size = self._size
        painter.setFont(font(1.25 * size, bold=True))
        width = painter.fontMetrics().horizontalAdvance(words) + 2 * size
        plate = QRectF(0.0, place.top() + 8.0, width, 2.3 * size)
        plate.moveCenter(QPointF(place.center().x(), plate.center().y()))
        plate.moveLeft(max(plate.left(), 16.0 + limb_plate_width(size)))
        painter.setPen(QPen(color(AMBER), 1.6))
        painter.setBrush(color(WINDOW, 0.8))
        painter.drawRoundedRect(plate, 4.0, 4.0)
        painter.setPen(color(TEXT))
        painter.drawText(plate, int(Qt.AlignmentFlag.AlignCenter), words)

    def _line(
        self, painter: QPainter, place: QRectF, up: float, words: str, shade: str
    ) -> None:
        """Write one line at the lower edge, right of the legend."""
        size = self._size
        painter.setFont(font(size, bold=shade != MUTED))
        width = painter.fontMetrics().horizontalAdvance(words) + 2 * size
        plate = QRectF(0.0, 0.0, width, 1.8 * size)
        plate.moveBottomRight(QPointF(place.right() - 8.0, place.bottom() - 8.0))
        plate.translate(0.0, -(up - 2.2) * size)
        self._plate(painter, plate)
        painter.setPen(color(shade if shade != MUTED else TEXT))
        painter.drawText(plate, int(Qt.AlignmentFlag.AlignCenter), words)

    def frame(self, painter: QPainter, place: QRectF, *, drives: bool) -> None:
        """Draw the picture's edge, bright where the keyboard drives."""
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(
            QPen(color(MODEL_COLOR if drives else LINE), 2.0 if drives else 1.0)
        )
        painter.drawRect(place.adjusted(1.0, 1.0, -1.0, -1.0))
