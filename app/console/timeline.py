"""The timeline under a replay: what happened when; a click or a drag goes there."""

from collections.abc import Callable

from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import (
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PyQt6.QtWidgets import QToolTip, QWidget

from app.clock import NS_PER_S
from app.console.theme import (
    ALARM,
    AMBER,
    FELT_COLOR,
    GOOD,
    LINE,
    MODEL_COLOR,
    MUTED,
    PANEL,
    TEXT,
    WINDOW,
    base_pixel_size,
    color,
    font,
)
from app.messages import Severity
from app.session.timeline import Span, SpanKind, Timeline, clock_words

__all__ = ["TimelineView"]

_TICKS_S = (0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200)
_LEAST_SPAN_NS = 200_000_000
_NEAR_PX = 5.0
_MARGIN = 10.0
# kind: (top and bottom as shares of the band, colour, opacity)
_SPAN_LOOKS = {
    SpanKind.LATE: (0.0, 0.62, AMBER, 0.30),
    SpanKind.CUT: (0.0, 0.62, ALARM, 0.60),
    SpanKind.GAP: (0.0, 1.0, MUTED, 0.45),
    SpanKind.ARMED: (0.82, 1.0, GOOD, 0.70),
    SpanKind.STOPPED: (0.82, 1.0, ALARM, 1.0),
    SpanKind.CONTACT: (0.66, 0.80, FELT_COLOR, 0.85),
}
_LEGEND = (
    ("armed", GOOD),
    ("contact", FELT_COLOR),
    ("link cut", ALARM),
    ("late pose", AMBER),
    ("▼ mark", MODEL_COLOR),
    ("▲ warning", AMBER),
    ("■ alarm", ALARM),
)


class TimelineView(QWidget):
    """One recording from left to right; the wheel zooms, double click shows all."""

    def __init__(
        self,
        timeline: Timeline,
        go: Callable[[int], None],
        caption: str = "",
        extent: tuple[int, int] | None = None,
    ) -> None:
        """Make the widget.

        Args:
            timeline: what is shown.
            go: is called with the time [ns] that a person points at.
            caption: in front of the legend.
            extent: first and last time of the axis [ns]; None: the recording's own.
        """
        super().__init__()
        self.timeline = timeline
        self._go = go
        self._caption = caption
        self._size = base_pixel_size()
        self._time_ns = timeline.start_ns
        self._extent = extent or (timeline.start_ns, timeline.end_ns)
        self.first_ns, self.last_ns = self._extent
        self._picture: QPixmap | None = None
        self._dragging = ""
        self._from = 0.0
        self.setFixedHeight(int(5.4 * self._size))
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName("timeline of the recording")

    def show_time(self, time_ns: int) -> None:
        """Move the line that says where the replay is [ns]."""
        if time_ns == self._time_ns:
            return
        self._time_ns = time_ns
        if not self.first_ns <= time_ns <= self.last_ns:
            self._show(time_ns - (self.last_ns - self.first_ns) // 10)
        self.update()

    # places

    def x_of(self, time_ns: int) -> float:
        """Return where a time lies [px]."""
        width = self.width() - 2.0 * _MARGIN
        span = max(self.last_ns - self.first_ns, 1)
        return _MARGIN + width * (time_ns - self.first_ns) / span

    def time_at(self, x: float) -> int:
        """Return the time at a place [ns]."""
        width = max(self.width() - 2.0 * _MARGIN, 1.0)
        share = min(max((x - _MARGIN) / width, 0.0), 1.0)
        return self.first_ns + round(share * (self.last_ns - self.first_ns))

    def _show(self, first_ns: int, span_ns: int | None = None) -> None:
        """Show a part, within the recording."""
        whole = self._extent[1] - self._extent[0]
        span = span_ns if span_ns is not None else self.last_ns - self.first_ns
        span = max(min(span, whole), min(_LEAST_SPAN_NS, whole))
        latest = self._extent[1] - span
        self.first_ns = min(max(first_ns, self._extent[0]), latest)
        self.last_ns = self.first_ns + span
        self._picture = None
        self.update()

    def _band(self) -> QRectF:
        top = 1.55 * self._size
        height = self.height() - top - 1.5 * self._size
        return QRectF(_MARGIN, top, self.width() - 2.0 * _MARGIN, height)

    # painting

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Show the picture of the whole, and the line of the moment over it."""
        ratio = self.devicePixelRatioF()
        if self._picture is None:
            self._picture = QPixmap((self.size().toSizeF() * ratio).toSize())
            self._picture.setDevicePixelRatio(ratio)
            self._picture.fill(color(PANEL))
            painter = QPainter(self._picture)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_all(painter)
            painter.end()
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x = self.x_of(self._time_ns)
        band = self._band()
        painter.setPen(QPen(color(TEXT), 1.6))
        painter.drawLine(QPointF(x, band.top() - 3.0), QPointF(x, band.bottom() + 2.0))
        painter.setBrush(color(TEXT))
        half = 0.36 * self._size
        top = band.top() - 4.0
        corners = ((x - half, top - half), (x + half, top - half), (x, top + 1.0))
        painter.drawPolygon(QPolygonF([QPointF(*corner) for corner in corners]))
        painter.end()

    def _paint_all(self, painter: QPainter) -> None:
        band = self._band()
        painter.fillRect(band, color(WINDOW))
        for span in self.timeline.spans:
            self._paint_span(painter, band, span)
        self._paint_ticks(painter, band)
        for event in self.timeline.events:
            if event.severity:
                self._paint_event(painter, band, event.time_ns, event.severity)
        for mark in self.timeline.marks:
            self._paint_mark(painter, band, mark.time_ns, str(mark.number))
        painter.setPen(QPen(color(LINE), 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(band)
        self._paint_legend(painter)

    def _paint_span(self, painter: QPainter, band: QRectF, span: Span) -> None:
        left, right = self.x_of(span.first_ns), self.x_of(span.last_ns)
        if right < band.left() or left > band.right():
            return
        top, bottom, shade, opacity = _SPAN_LOOKS[span.kind]
        left = max(left, band.left())
        right = max(min(right, band.right()), left + 1.0)
        height = (bottom - top) * band.height()
        place = QRectF(left, band.top() + top * band.height(), right - left, height)
        painter.fillRect(place, color(shade, opacity))

    def _paint_event(
        self, painter: QPainter, band: QRectF, time_ns: int, severity: Severity
    ) -> None:
        x = self.x_of(time_ns)
        if not band.left() <= x <= band.right():
            return
        painter.setPen(Qt.PenStyle.NoPen)
        half, y = 0.34 * self._size, band.top() + 0.33 * band.height()
        if severity == Severity.ALARM:
            painter.setBrush(color(ALARM))
            painter.drawRect(QRectF(x - half, y - half, 2.0 * half, 2.0 * half))
            return
        painter.setBrush(color(AMBER))
        corners = ((x - half, y + half), (x + half, y + half), (x, y - half))
        painter.drawPolygon(QPolygonF([QPointF(*corner) for corner in corners]))

    def _paint_mark(
        self, painter: QPainter, band: QRectF, time_ns: int, words: str
    ) -> None:
        x = self.x_of(time_ns)
        if not band.left() <= x <= band.right():
            return
        painter.setPen(QPen(color(MODEL_COLOR), 1.2))
        painter.drawLine(QPointF(x, band.top()), QPointF(x, band.bottom()))
        painter.setBrush(color(MODEL_COLOR))
        painter.setPen(Qt.PenStyle.NoPen)
        width = (0.7 * len(words) + 0.5) * self._size
        left = x if x + width <= band.right() else x - width
        flag = QRectF(left, band.top(), width, self._size)
        painter.drawRect(flag)
        painter.setFont(font(self._size - 3, bold=True))
        painter.setPen(color(WINDOW))
        painter.drawText(flag, int(Qt.AlignmentFlag.AlignCenter), words)

    def _paint_ticks(self, painter: QPainter, band: QRectF) -> None:
        span_s = (self.last_ns - self.first_ns) / NS_PER_S
        most = max(2.0, band.width() / (7.0 * self._size))
        step_s = next((t for t in _TICKS_S if span_s / t <= most), 2 * _TICKS_S[-1])
        step_ns = round(step_s * NS_PER_S)
        painter.setFont(font(self._size - 2))
        first = -(-(self.first_ns - self.timeline.start_ns) // step_ns)
        last = (self.last_ns - self.timeline.start_ns) // step_ns
        for k in range(first, last + 1):
            x = self.x_of(self.timeline.start_ns + k * step_ns)
            painter.setPen(QPen(color(LINE), 1.0))
            painter.drawLine(QPointF(x, band.top()), QPointF(x, band.bottom()))
            words = clock_words(k * step_ns)
            if step_s >= 1.0:
                words = words.removesuffix(".0")
            painter.setPen(color(MUTED))
            width = painter.fontMetrics().horizontalAdvance(words) + 4.0
            left = min(max(x - 0.5 * width, 0.0), self.width() - width)
            place = QRectF(left, band.bottom() + 1.0, width, 1.3 * self._size)
            painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), words)

    def _paint_legend(self, painter: QPainter) -> None:
        painter.setFont(font(self._size - 2))
        x, height = _MARGIN, 1.15 * self._size
        middle = int(Qt.AlignmentFlag.AlignVCenter)
        if self._caption:
            painter.setPen(color(TEXT))
            width = painter.fontMetrics().horizontalAdvance(self._caption)
            room = QRectF(x, 0.0, width + 4.0, height)
            painter.drawText(room, middle, self._caption)
            x += width + 1.6 * self._size
        for words, shade in _LEGEND:
            if words[0].isalpha():
                box = QRectF(x, 0.42 * height, 0.9 * self._size, 0.28 * height)
                painter.fillRect(box, color(shade))
                x += 1.2 * self._size
            painter.setPen(color(MUTED if words[0].isalpha() else shade))
            width = painter.fontMetrics().horizontalAdvance(words)
            painter.drawText(QRectF(x, 0.0, width + 4.0, height), middle, words)
            x += width + 1.2 * self._size

    # mouse

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Go to the place, or begin to move the part that is shown."""
        if event is None:
            return
        self._from = event.position().x()
        if event.button() == Qt.MouseButton.LeftButton:
            self._dragging = "scrub"
            self._go(self.time_at(self._from))
        else:
            self._dragging = "pan"

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Scrub, move the part that is shown, or say what is under the cursor."""
        if event is None:
            return
        x = event.position().x()
        time_ns = self.time_at(x)
        if self._dragging == "scrub":
            self._go(time_ns)
        elif self._dragging == "pan":
            self._show(self.first_ns - time_ns + self.time_at(self._from))
            self._from = x
        else:
            within = self.time_at(x + _NEAR_PX) - time_ns
            said = self.timeline.near(time_ns, within)
            at = clock_words(time_ns - self.timeline.start_ns)
            place = event.globalPosition().toPoint()
            QToolTip.showText(place, f"{at}\n{said}".strip(), self)

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:
        """Let go."""
        self._dragging = ""

    def mouseDoubleClickEvent(self, event: QMouseEvent | None) -> None:
        """Show the whole recording."""
        self._show(self._extent[0], self._extent[1] - self._extent[0])

    def wheelEvent(self, event: QWheelEvent | None) -> None:
        """Zoom about the cursor."""
        if event is None:
            return
        x = event.position().x()
        time_ns = self.time_at(x)
        factor = 0.8 ** (event.angleDelta().y() / 120.0)
        span = round((self.last_ns - self.first_ns) * factor)
        share = (time_ns - self.first_ns) / max(self.last_ns - self.first_ns, 1)
        self._show(round(time_ns - share * span), span)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Draw anew."""
        self._picture = None
        super().resizeEvent(event)
