"""The limbs panel: shape, tip, tendons, energy of every limb, and how it reaches."""

import math
from collections.abc import Callable

import numpy as np
from PyQt6.QtCore import QRectF, QSize, Qt
from PyQt6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PyQt6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.config.robot import RobotParameters
from app.console.energy import draw_energy_bar, draw_energy_words
from app.console.readings import StationReadings
from app.console.theme import (
    ALARM,
    AMBER,
    GOOD,
    LINE,
    MODEL_COLOR,
    MUTED,
    TEXT,
    WINDOW,
    base_pixel_size,
    color,
    font,
)
from app.console.touch import grip_words, shows_model
from app.console.widgets import Panel
from app.console.words import reach_words
from models.robot import RobotModel

__all__ = ["LimbCard", "LimbsPanel"]

_Cells = list[str]
_METER_HEIGHT = 6.0  # [px]
_BARS_SHARE = 0.26  # of a row, for the bars of tendons
_METER = (
    "Energy: green, the hand has put in more than it got; red, it got more. The bar is "
    "logarithmic, 0.1 mJ to 10 J. Once more than 0.1 mJ was injected, the most that "
    "ever was stands there in red."
)


class LimbCard(QWidget):
    """One limb as rows of figures; a click selects the limb."""

    def __init__(
        self,
        index: int,
        robot: RobotParameters,
        model: RobotModel,
        select: Callable[[int], None],
    ) -> None:
        super().__init__()
        self._index = index
        self._robot = robot
        self._limb = limb = robot.limbs[index]
        self._model = model
        self._select = select
        start, stop = model.limb_segment_start[index : index + 2]
        self._segments = slice(int(start), int(stop))
        first, last = model.limb_tendon_start[index : index + 2]
        self._tendons = slice(int(first), int(last))
        self._size = base_pixel_size()
        self.rows: list[_Cells] = []
        self.words = "no state yet"
        self._loud = 0
        self.grip = ""
        self._tension = np.zeros(int(last - first))
        self._energy = 0.0
        self._injected = 0.0
        self.selected = False
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(f"limb {index + 1}: {limb.name}")
        self.setToolTip(
            f"Click, or press {index + 1}, to select the {limb.name} limb.\n{_METER}"
        )
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setMaximumHeight(int(1.35 * self.sizeHint().height()))

    def _rows(self) -> float:
        """Rows on the card: title, segments, tip, tendons."""
        return 3.0 + self._segments.stop - self._segments.start

    def sizeHint(self) -> QSize:
        """Return the size of title, a row a segment, tip, tendons, energy meter."""
        height = 1.28 * self._size * self._rows() + 8.0 + _METER_HEIGHT
        return QSize(int(21 * self._size), int(height))

    def minimumSizeHint(self) -> QSize:
        """Return the same height, and the least width that holds the figures."""
        return QSize(int(19 * self._size), self.sizeHint().height())

    def show_state(self, readings: StationReadings) -> None:
        """Take the newest figures of this limb."""
        state = readings.state
        self.selected = int(state.selected_limb[0]) == self._index
        pushed = float(np.linalg.norm(state.force_hand)) if self.selected else 0.0
        self.words, self._loud = reach_words(
            int(state.reach_status[self._index]),
            float(state.reach_error[self._index]),
            int(state.fault[self._index]),
            pushed,
        )
        coordinates, tip = state.coordinates_model, state.tip_model
        tension = state.tension_model
        if not shows_model(readings) and readings.has_robot:
            coordinates = readings.health.confirmed_coordinates
            tip, tension = readings.tip_confirmed, readings.health.confirmed_tension
        rows = []
        for segment in range(self._segments.start, self._segments.stop):
            dx, dy, extension = coordinates[segment]
            length = self._model.segment_length[segment] + extension
            number = segment - self._segments.start + 1
            rows.append(
                [
                    f"seg {number}",
                    f"θ {math.degrees(math.hypot(dx, dy)):.1f}°",
                    f"φ {math.degrees(math.atan2(dy, dx)):.0f}°",
                    f"ℓ {1e3 * length:.1f} mm",
                ]
            )
        x, y, z = 1e3 * tip[self._index]
        rows.append(["tip", f"x {x:.0f}", f"y {y:.0f}", f"z {z:.0f} mm"])
        self.rows = [[cell.replace("-", "−") for cell in cells] for cells in rows]
        self._tension = tension[self._tendons].copy()
        self.grip = grip_words(readings, self._robot, self._index)
        self._energy = float(state.port_energy[self._index])
        self._injected = float(state.injected_energy[self._index])
        self.update()

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Select the limb."""
        self._select(self._index)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Select the limb with Space or Return when the card has the focus."""
        if event is not None and event.key() in {
            Qt.Key.Key_Space,
            Qt.Key.Key_Return,
            Qt.Key.Key_Enter,
        }:
            self._select(self._index)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Draw the card."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        edge = MODEL_COLOR if self.selected or self.hasFocus() else LINE
        painter.setPen(QPen(color(edge), 1.6 if self.selected else 1.0))
        painter.setBrush(color("#1b2c3b" if self.selected else "#121b25"))
        painter.drawRoundedRect(box, 4.0, 4.0)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color(self._limb.color))
        painter.drawRoundedRect(QRectF(4.0, 4.0, 4.0, self.height() - 8.0), 2.0, 2.0)
        row = (self.height() - 7.0 - _METER_HEIGHT) / self._rows()
        left, width = 14.0, self.width() - 20.0
        self._paint_title(painter, QRectF(left, 3.0, width, row))
        painter.setFont(font(self._size - 1))
        top = 3.0 + row
        columns = (0.0, 0.15, 0.39, 0.65, 1.0)
        for cells in self.rows:
            for i, cell in enumerate(cells):
                place = QRectF(
                    left + columns[i] * width,
                    top,
                    (columns[i + 1] - columns[i]) * width,
                    row,
                )
                painter.setPen(color(MUTED if i == 0 else TEXT))
                side = (
                    Qt.AlignmentFlag.AlignLeft
                    if i == 0
                    else Qt.AlignmentFlag.AlignRight
                )
                painter.drawText(place, int(side | Qt.AlignmentFlag.AlignVCenter), cell)
            top += row
        self._paint_tendons(painter, QRectF(left, top, width, row), columns[1])
        meter = QRectF(left, top + row + 1.0, width, _METER_HEIGHT - 2.0)
        draw_energy_bar(painter, meter, self._energy, self._injected)
        painter.end()

    def _paint_title(self, painter: QPainter, place: QRectF) -> None:
        painter.setFont(font(self._size, bold=True))
        painter.setPen(color(TEXT))
        name = f"{self._index + 1}  {self._limb.name}"
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(place, flags, name)
        used = painter.fontMetrics().horizontalAdvance(name + "  ")
        painter.setFont(font(self._size - 1))
        if self.grip:
            painter.setPen(color(MODEL_COLOR))
            painter.drawText(place.adjusted(used, 0.0, 0.0, 0.0), flags, self.grip)
            used += painter.fontMetrics().horizontalAdvance(self.grip + "  ")
        painter.setPen(color((MUTED, AMBER, ALARM)[self._loud]))
        rest = place.adjusted(used, 0.0, 0.0, 0.0)
        words = painter.fontMetrics().elidedText(
            self.words, Qt.TextElideMode.ElideRight, int(rest.width())
        )
        flags = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(rest, flags, words)

    def _paint_tendons(self, painter: QPainter, place: QRectF, indent: float) -> None:
        """Draw a bar a tendon or chamber, full at its limit, and the greatest load."""
        painter.setPen(color(MUTED))
        middle = Qt.AlignmentFlag.AlignVCenter
        least = self._model.tendon_tension_least[self._tendons]
        limits = np.maximum(self._model.tendon_tension_limit[self._tendons], -least)
        word = "push" if least.min(initial=0.0) < 0.0 else "pull"
        painter.drawText(place, int(Qt.AlignmentFlag.AlignLeft | middle), word)
        start = place.x() + indent * place.width()
        room = _BARS_SHARE * place.width()
        pitch = min(0.75 * self._size, room / max(1, self._tension.size))
        for i, tension in enumerate(self._tension):
            share = float(np.clip(abs(tension) / limits[i], 0.0, 1.0))
            slot = QRectF(
                start + i * pitch, place.y() + 2.0, pitch - 2.0, place.height() - 3
            )
            painter.fillRect(slot, color(WINDOW))
            shade = ALARM if share > 0.95 else AMBER if share > 0.75 else GOOD
            filled = slot.height() * share
            painter.fillRect(
                QRectF(slot.x(), slot.bottom() - filled, slot.width(), filled),
                color(shade),
            )
        painter.setPen(color(TEXT))
        text = f"{float(np.abs(self._tension).max(initial=0.0)):.1f} N"
        left = place.adjusted(start + room + 4.0 - place.x(), 0.0, 0.0, 0.0)
        painter.drawText(left, int(Qt.AlignmentFlag.AlignLeft | middle), text)
        draw_energy_words(painter, place, self._energy, self._injected)


class LimbsPanel(Panel):
    """All limbs of the robot."""

    def __init__(
        self,
        robot: RobotParameters,
        model: RobotModel,
        select: Callable[[int], None],
    ) -> None:
        """Make a card for every limb.

        Args:
            robot: names and colours of the limbs.
            model: their sizes and limits.
            select: called with the index of a limb that a person chose.
        """
        super().__init__("Limbs")
        self._of = QLabel("local model")
        self._of.setObjectName("muted")
        self.head.addWidget(self._of)
        self.cards = [
            LimbCard(index, robot, model, select) for index in range(len(robot.limbs))
        ]
        column = QVBoxLayout()
        column.setSpacing(4)
        for card in self.cards:
            column.addWidget(card)
        self.body.addLayout(column)

    def refresh(self, readings: StationReadings) -> None:
        """Show the newest figures."""
        told = not shows_model(readings) and readings.has_robot
        self._of.setText("as the robot told" if told else "local model")
        for card in self.cards:
            card.show_state(readings)
