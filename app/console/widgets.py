"""Small widgets that several panels use: panels, lamps, figures, hold buttons."""

from collections.abc import Callable

from PyQt6.QtCore import QPointF, QRectF, QSize, Qt, QTimer
from PyQt6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PyQt6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.clock import NS_PER_MS, MonotonicClock
from app.console.theme import LINE, MUTED, TEXT, base_pixel_size, color, font

__all__ = ["DropDown", "Figure", "HoldButton", "Lamp", "Panel", "Sentence"]

_CLOCK = MonotonicClock()


class Panel(QFrame):
    """A titled frame; `body` takes the content, `head` what stands beside the title."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.setObjectName("panel")
        outer = QVBoxLayout(self)
        outer.setContentsMargins(8, 5, 8, 6)
        outer.setSpacing(4)
        self.head = QHBoxLayout()
        self.head.setSpacing(6)
        label = QLabel(title.upper())
        label.setObjectName("title")
        self.head.addWidget(label)
        self.head.addStretch(1)
        outer.addLayout(self.head)
        self.body = QVBoxLayout()
        self.body.setSpacing(4)
        outer.addLayout(self.body)


class Figure(QWidget):
    """A caption above a value with its unit."""

    def __init__(self, caption: str, explanation: str) -> None:
        super().__init__()
        self.setToolTip(explanation)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self._caption = QLabel(caption)
        self._caption.setObjectName("muted")
        self._caption.setFont(font(base_pixel_size() - 2))
        self._value = QLabel("–")
        self._value.setMinimumWidth(1)
        layout.addWidget(self._caption)
        layout.addWidget(self._value)
        self._shade = ""
        self.setAccessibleName(caption)

    def show_value(self, text: str, shade: str = TEXT) -> None:
        """Show a value in a colour of the theme."""
        if text != self._value.text():
            self._value.setText(text)
        if shade != self._shade:
            self._shade = shade
            self._value.setStyleSheet(
                f"color: {shade}; font-weight: bold;"
                f" font-size: {base_pixel_size() + 1}px"
            )

    @property
    def text(self) -> str:
        """What is shown."""
        return self._value.text()


class Sentence(QLabel):
    """One line that ends in "…" where there is no room; the tool tip has all of it."""

    def __init__(self) -> None:
        super().__init__("")
        self.setMinimumWidth(1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Draw what there is room for."""
        painter = QPainter(self)
        words = painter.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideRight, self.width()
        )
        painter.setPen(self.palette().windowText().color())
        painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignVCenter), words)
        painter.end()


class DropDown(QComboBox):
    """A combo box that draws its own arrow; a style sheet can only load one."""

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Draw the box, then a triangle."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        half = 0.3 * base_pixel_size()
        x, y = self.width() - 3.4 * half, 0.5 * self.height()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color(MUTED))
        corners = [
            (x - half, y - 0.5 * half),
            (x + half, y - 0.5 * half),
            (x, y + half),
        ]
        painter.drawPolygon(QPolygonF([QPointF(*corner) for corner in corners]))
        painter.end()


class Lamp(QWidget):
    """A caption, and a word in a box that is filled when it matters."""

    def __init__(self, caption: str) -> None:
        super().__init__()
        self._caption = caption
        self.word = "–"
        self._shade = MUTED
        self._filled = False
        self._size = base_pixel_size()
        self.setAccessibleName(caption)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Return the size that fits the longest usual word."""
        return QSize(int(8.6 * self._size), int(3.0 * self._size))

    def minimumSizeHint(self) -> QSize:
        """Return the least size that stays legible."""
        return QSize(int(6.6 * self._size), int(3.0 * self._size))

    def show_word(self, word: str, shade: str, *, filled: bool, why: str = "") -> None:
        """Show a word.

        Args:
            word: the state.
            shade: its colour.
            filled: fill the box, for states that must be seen from afar.
            why: tool tip.
        """
        if (word, shade, filled) != (self.word, self._shade, self._filled):
            self.word, self._shade, self._filled = word, shade, filled
            self.setAccessibleDescription(word)
            self.update()
        if why != self.toolTip():
            self.setToolTip(why)

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Draw caption and word."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(1.0, 1.0, -1.0, -1.0)
        painter.setPen(QPen(color(self._shade, 0.9 if self._filled else 0.35), 1.2))
        painter.setBrush(color(self._shade, 0.95 if self._filled else 0.10))
        painter.drawRoundedRect(box, 4.0, 4.0)
        inner = box.adjusted(6.0, 2.0, -6.0, -2.0)
        half = inner.height() * 0.44
        painter.setFont(font(self._size - 3))
        painter.setPen(color("#10161c" if self._filled else MUTED))
        top = QRectF(inner.x(), inner.y(), inner.width(), half)
        painter.drawText(top, int(Qt.AlignmentFlag.AlignVCenter), self._caption)
        size = float(self._size)
        words = font(size, bold=True)
        painter.setFont(words)
        while painter.fontMetrics().horizontalAdvance(self.word) > inner.width():
            size -= 1.0
            if size < 8.0:
                break
            painter.setFont(font(size, bold=True))
        painter.setPen(color("#0a0f14" if self._filled else self._shade))
        bottom = QRectF(
            inner.x(), inner.y() + half, inner.width(), inner.height() - half
        )
        painter.drawText(bottom, int(Qt.AlignmentFlag.AlignVCenter), self.word)
        painter.end()


class HoldButton(QPushButton):
    """A button that acts only when held down for a while; a bar shows the progress."""

    def __init__(
        self, text: str, hold_ms: int, act: Callable[[], None], shade: str
    ) -> None:
        """Make the button.

        Args:
            text: what it says.
            hold_ms: how long it must be held [ms].
            act: what it does then.
            shade: colour of the progress bar.
        """
        super().__init__(text)
        self._hold_ms = hold_ms
        self._act = act
        self._shade = shade
        self._since_ns = 0
        self._timer = QTimer(self)
        self._timer.setInterval(20)
        self._timer.timeout.connect(self._advance)
        self.pressed.connect(self._begin)
        self.released.connect(self._cancel)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    @property
    def progress(self) -> float:
        """Share of the hold that has passed, 0..1."""
        if self._since_ns == 0:
            return 0.0
        held_ms = (_CLOCK.now_ns() - self._since_ns) / NS_PER_MS
        return min(1.0, held_ms / self._hold_ms)

    def _begin(self) -> None:
        self._since_ns = _CLOCK.now_ns()
        self._timer.start()

    def _cancel(self) -> None:
        self._since_ns = 0
        self._timer.stop()
        self.update()

    def _advance(self) -> None:
        if not self.isDown() or not self.isEnabled():
            self._cancel()
        elif self.progress >= 1.0:
            self._cancel()
            self._act()
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Let go when the cursor leaves: a hold must be meant."""
        super().mouseMoveEvent(event)
        if not self.isDown() and self._since_ns:
            self._cancel()

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Draw the button, and its progress along the lower edge."""
        super().paintEvent(event)
        painter = QPainter(self)
        lower = QRectF(4.0, self.height() - 6.0, self.width() - 8.0, 3.0)
        if self.isEnabled():
            painter.fillRect(lower, color(LINE))
            lower.setWidth(lower.width() * self.progress)
            painter.fillRect(lower, color(self._shade))
        painter.end()
