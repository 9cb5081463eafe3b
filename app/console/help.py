"""The help overlay (F1): keys, mouse and gamepad, over the dimmed window."""

from collections.abc import Iterable

from PyQt6.QtCore import QRect, Qt
from PyQt6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PyQt6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from app.console.theme import MODEL_COLOR, MUTED, base_pixel_size, color
from app.operator.keyboard import KEYS
from app.operator.mapping import GamepadMapping

__all__ = ["MOUSE", "WINDOW_KEYS", "HelpOverlay"]

MOUSE = (
    ("left drag at a tip", "the tip follows (button = deadman)"),
    ("… with CTRL", "up and down move along the view"),
    ("… with SHIFT", "clutch: the target stays"),
    ("… and wheel", "nearer and farther along the view"),
    ("right drag", "orbit the view"),
    ("middle drag", "pan the view"),
    ("wheel", "zoom"),
    ("click a limb's card", "select that limb"),
    ("M, then click", "mark a place for goals and assistance"),
    ("T", "mark the place of the model's tip"),
    ("B", "blended assistance on or off"),
)

WINDOW_KEYS = (
    ("F1", "this help"),
    ("F2  F3  F4", "view from ahead, side, top"),
    ("HOME", "view from behind, as at the start"),
    ("F5", "smooth skin or bare sections"),
    ("F7", "camera limb's picture"),
    ("F8", "strategy: how hand and tip are joined"),
    ("F9", "goals panel, or the plots"),
    ("F10  F11", "send the goal; stop it, the limb is yours again"),
    ("N", "mark this moment in the recording; CTRL+N: with a note"),
    ("F6", "keys drive the limb / reach the panels"),
)


class HelpOverlay(QWidget):
    """Covers the panels, never the stop, until it is clicked or F1 is pressed."""

    def __init__(self, parent: QWidget, mapping: GamepadMapping) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        card = QFrame(self)
        card.setObjectName("panel")
        size = base_pixel_size()
        columns = QHBoxLayout(card)
        columns.setContentsMargins(2 * size, size, 2 * size, size)
        columns.setSpacing(3 * size)
        steps = (
            ("1", "wait until ROBOT and LINK are lit"),
            ("2", "hold ARM (or ENTER, START)"),
            ("3", "hold the deadman and move"),
            ("4", "ESC stops everything at once"),
        )
        left = QVBoxLayout()
        left.addLayout(_table("To drive", steps))
        left.addSpacing(size // 2)
        left.addLayout(_table("Keyboard (click the picture first)", KEYS))
        left.addStretch(1)
        middle = QVBoxLayout()
        middle.addLayout(_table("Mouse in the picture", MOUSE))
        middle.addSpacing(size // 2)
        middle.addLayout(_table("Window", WINDOW_KEYS))
        middle.addStretch(1)
        right = QVBoxLayout()
        right.addLayout(_table("Gamepad", mapping.describe()))
        right.addStretch(1)
        for column in (left, middle, right):
            columns.addLayout(column)
        outer = QHBoxLayout(self)
        outer.addStretch(1)
        outer.addWidget(card, 0, Qt.AlignmentFlag.AlignVCenter)
        outer.addStretch(1)
        self.hide()

    def toggle(self, place: QRect) -> None:
        """Show over a part of the parent, or hide."""
        if self.isVisible():
            self.hide()
            return
        self.setGeometry(place)
        self.show()
        self.raise_()

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Go away."""
        self.hide()

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Dim what lies below."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), color("#05090d", 0.72))
        painter.end()


def _table(title: str, rows: Iterable[tuple[str, str]]) -> QGridLayout:
    size = base_pixel_size()
    grid = QGridLayout()
    grid.setHorizontalSpacing(size)
    grid.setVerticalSpacing(2)
    head = QLabel(title)
    head.setStyleSheet(
        f"color: {MODEL_COLOR}; font-weight: bold; font-size: {size + 1}px"
    )
    grid.addWidget(head, 0, 0, 1, 2)
    for row, (what, effect) in enumerate(rows, start=1):
        press = QLabel(what)
        press.setStyleSheet("font-weight: bold")
        press.setWordWrap(len(what) > 24)
        press.setMaximumWidth(14 * size)
        does = QLabel(effect)
        does.setStyleSheet(f"color: {MUTED}")
        does.setWordWrap(len(effect) > 34)
        does.setMinimumWidth(15 * size)
        does.setMaximumWidth(20 * size)
        grid.addWidget(press, row, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(does, row, 1, Qt.AlignmentFlag.AlignTop)
    grid.setColumnStretch(1, 1)
    return grid
