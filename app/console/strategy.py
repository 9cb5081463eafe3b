"""Choosing how hand and tip are joined, with what the present link allows.

Every strategy stands in the list with its verdict. One that fits is taken at once; any
other is only looked at until it is confirmed by a hold, and forgotten if it is not.
"""

from collections.abc import Callable, Mapping

from PyQt6.QtCore import QModelIndex, QRect, QSize, Qt
from PyQt6.QtGui import QKeyEvent, QPainter, QWheelEvent
from PyQt6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.clock import NS_PER_S, MonotonicClock
from app.console.readings import StationReadings
from app.console.theme import ALARM, AMBER, GOOD, MUTED, TEXT, base_pixel_size, color
from app.console.theme import font as text_font
from app.console.touch import strategy_of
from app.console.verdicts import LinkVerdict, LinkVerdicts
from app.console.widgets import DropDown, HoldButton
from app.console.wishes import TeleopWishes
from app.teleop.strategy import Strategy

__all__ = ["VERDICT_SHADES", "StrategyChooser"]

_CLOCK = MonotonicClock()
_HOLD_MS = 500
_PATIENCE_NS = 8 * NS_PER_S
_BOX_WIDTH = 16.8  # in text heights
_SLOT_WIDTH = 9.0
_LIST_WIDTH = 42.0
_NO_VERDICT = LinkVerdict("", 0, "")
VERDICT_SHADES = (MUTED, GOOD, AMBER, ALARM)
"""Colours of a verdict by its loudness: unknown, fits, slow, unsafe."""


class _Entry(QStyledItemDelegate):
    """Draws a strategy in the list: title, verdict, and below them the reason."""

    def __init__(self, box: "_Box") -> None:
        super().__init__(box)
        self._box = box
        self._size = base_pixel_size()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:
        """Return room for two lines."""
        return QSize(int(_LIST_WIDTH * self._size), int(2.9 * self._size))

    def paint(
        self,
        painter: QPainter | None,
        option: QStyleOptionViewItem,
        index: QModelIndex,
    ) -> None:
        """Draw one entry."""
        if painter is None:
            return
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.fillRect(option.rect, color("#1c5266" if chosen else "#1a2836"))
        inner = option.rect.adjusted(8, 3, -8, -3)
        upper = QRect(inner.x(), inner.y(), inner.width(), inner.height() // 2)
        lower = upper.translated(0, inner.height() // 2)
        strategy = Strategy(index.row())
        verdict = self._box.verdicts.get(strategy, _NO_VERDICT)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(text_font(self._size, bold=True))
        painter.setPen(color(TEXT))
        mark = "● " if index.row() == self._box.currentIndex() else ""
        painter.drawText(
            upper, int(Qt.AlignmentFlag.AlignLeft | middle), mark + strategy.title
        )
        painter.setPen(color(VERDICT_SHADES[verdict.loudness]))
        painter.drawText(upper, int(Qt.AlignmentFlag.AlignRight | middle), verdict.word)
        painter.setFont(text_font(self._size - 1))
        painter.setPen(color(TEXT if chosen else MUTED))
        words = painter.fontMetrics().elidedText(
            verdict.why, Qt.TextElideMode.ElideRight, lower.width()
        )
        painter.drawText(lower, int(Qt.AlignmentFlag.AlignLeft | middle), words)


class _Box(DropDown):
    """A drop-down that changes only by a choice in its list."""

    def __init__(self) -> None:
        super().__init__()
        self.verdicts: Mapping[Strategy, LinkVerdict] = {}
        for strategy in Strategy:
            self.addItem(strategy.title)
        self.setItemDelegate(_Entry(self))
        self.setStyleSheet("combobox-popup: 0;")  # below the box, not over the bar
        self.setMaxVisibleItems(len(Strategy))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName("strategy of teleoperation")

    def showPopup(self) -> None:
        """Open the list, wide enough for the reasons."""
        view = self.view()
        if view is not None:
            view.setMinimumWidth(int(_LIST_WIDTH * base_pixel_size()))
        super().showPopup()

    @property
    def is_open(self) -> bool:
        """Whether the list is shown."""
        view = self.view()
        return view is not None and view.isVisible()

    def wheelEvent(self, event: QWheelEvent | None) -> None:
        """Leave the wheel alone: it would change the strategy by the way."""
        if event is not None:
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Open the list with the keys that would step through it unseen."""
        if event is None:
            return
        if event.key() in {
            Qt.Key.Key_Space,
            Qt.Key.Key_Return,
            Qt.Key.Key_Enter,
            Qt.Key.Key_Up,
            Qt.Key.Key_Down,
        }:
            self.showPopup()
        else:
            event.ignore()


class StrategyChooser(QWidget):
    """The strategy in force, its verdict, and the list of the others."""

    def __init__(
        self,
        wishes: TeleopWishes,
        verdicts: LinkVerdicts,
        return_focus: Callable[[], None],
    ) -> None:
        """Make the row.

        Args:
            wishes: takes what is chosen.
            verdicts: judges every strategy on the present link.
            return_focus: gives the keys back to the picture.
        """
        super().__init__()
        self._wishes = wishes
        self._verdicts = verdicts
        self._return_focus = return_focus
        self.pending: Strategy | None = None
        self._pending_until_ns = 0
        size = base_pixel_size()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        self.box = _Box()
        self.box.setFixedWidth(int(_BOX_WIDTH * size))
        self.box.activated.connect(self._choose)
        self.verdict = QLabel("")
        self.confirm = HoldButton("HOLD TO USE", _HOLD_MS, self._confirm, AMBER)
        self.confirm.setToolTip("Take the strategy in spite of its verdict.")
        self.confirm.setAccessibleName("use the strategy in spite of its verdict")
        self._slot = QStackedWidget()
        self._slot.addWidget(self.verdict)
        self._slot.addWidget(self.confirm)
        self._slot.setFixedWidth(int(_SLOT_WIDTH * size))
        row.addWidget(self.box)
        row.addWidget(self._slot)

    @property
    def text(self) -> str:
        """The title that is shown."""
        return self.box.currentText()

    @property
    def question(self) -> str:
        """What is to be confirmed, as a sentence; "" where nothing is."""
        if self.pending is None:
            return ""
        verdict = self._verdicts.of(self.pending)
        return f"{verdict.word.capitalize()}: {verdict.why}"

    def open_list(self) -> None:
        """Open the list for the keyboard: arrows and Return choose."""
        if self.box.isEnabled():
            self.box.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.box.showPopup()

    def close_list(self) -> None:
        """Close the list and forget what was only looked at."""
        self.box.hidePopup()
        self._forget()

    def _choose(self, index: int) -> None:
        strategy = Strategy(index)
        verdict = self._verdicts.judge(strategy)
        if verdict.loudness <= 1:
            self._forget()
            self._take(strategy)
            return
        self.pending = strategy
        self._pending_until_ns = _CLOCK.now_ns() + _PATIENCE_NS
        self._slot.setCurrentWidget(self.confirm)
        self.confirm.setFocus(Qt.FocusReason.OtherFocusReason)

    def _confirm(self) -> None:
        strategy = self.pending
        self._forget()
        if strategy is not None:
            self._take(strategy)

    def _take(self, strategy: Strategy) -> None:
        self._wishes.choose(strategy)
        self._return_focus()

    def _forget(self) -> None:
        if self.pending is not None and self.confirm.hasFocus():
            self._return_focus()
        self.pending = None
        self._slot.setCurrentWidget(self.verdict)

    def refresh(self, readings: StationReadings, *, writable: bool) -> None:
        """Show the strategy in force and what the link allows."""
        able = writable and readings.is_alive
        self.box.setEnabled(able)
        held = self.confirm.isDown()
        late = readings.now_ns > self._pending_until_ns and not held
        if self.pending is not None and (late or not able):
            self._forget()
        in_force = strategy_of(readings)
        self._verdicts.refresh(readings, in_force)
        if not self.box.is_open:
            self.box.setCurrentIndex(int(self.pending or in_force))
        self.box.verdicts = self._verdicts.all
        verdict = self._verdicts.of(in_force)
        shade = VERDICT_SHADES[verdict.loudness]
        self.verdict.setText(verdict.word)
        self.verdict.setStyleSheet(f"color: {shade}; font-weight: bold")
        self.verdict.setToolTip(verdict.why)
        self.box.setToolTip(
            f"How hand and tip are joined (F8). {in_force.title}: {verdict.why}"
        )
