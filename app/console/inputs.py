"""The input panel: who may command, how old each source's sample is, and the stick."""

from PyQt6.QtCore import QRectF, QSize, Qt
from PyQt6.QtGui import QPainter, QPaintEvent, QPen
from PyQt6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app.clock import NS_PER_MS
from app.console.readings import StationReadings
from app.console.theme import (
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
from app.console.widgets import Panel
from app.console.words import SOURCE_WORDS, duration_ms
from app.messages import InputMode, Source

__all__ = ["InputsPanel"]


class _SourceTable(QWidget):
    """A row for every source: its name and what it does."""

    def __init__(self) -> None:
        super().__init__()
        self._size = base_pixel_size()
        self.rows: list[tuple[str, str, str]] = [
            (SOURCE_WORDS[source], "–", MUTED) for source in Source
        ]
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Return room for a row a source."""
        return QSize(int(13 * self._size), int(1.3 * len(Source) * self._size))

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Draw the rows."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        height = self.height() / len(self.rows)
        middle = Qt.AlignmentFlag.AlignVCenter
        for i, (name, words, shade) in enumerate(self.rows):
            place = QRectF(0.0, i * height, self.width(), height)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color(shade))
            radius = 0.3 * self._size
            painter.drawEllipse(
                QRectF(1.0, place.center().y() - radius, 2 * radius, 2 * radius)
            )
            painter.setFont(font(self._size - 1))
            painter.setPen(color(TEXT))
            place.setLeft(self._size)
            painter.drawText(place, int(middle), name)
            painter.setPen(color(shade))
            words_at = place.adjusted(4.9 * self._size, 0.0, 0.0, 0.0)
            painter.drawText(words_at, int(middle), words)
        painter.end()


class _StickView(QWidget):
    """The wanted tip rate: bow and port as a dot, up as a bar."""

    def __init__(self) -> None:
        super().__init__()
        self._size = base_pixel_size()
        self.rate = (0.0, 0.0, 0.0)
        self.active = False
        self.setToolTip(
            "Wanted tip velocity of the source in charge, as a share of the limit: "
            "the dot is bow (up) and port (left), the bar is up and down."
        )
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Return a square with room for the bar."""
        return QSize(int(5.8 * self._size), int(4.5 * self._size))

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Draw stick and bar."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        side = float(min(self.height() - 2, self.width() - 1.2 * self._size))
        field = QRectF(1.0, 1.0, side, side)
        painter.setBrush(color(WINDOW))
        painter.setPen(QPen(color(LINE), 1.0))
        painter.drawEllipse(field)
        painter.drawLine(field.center(), field.center())
        painter.drawLine(
            int(field.left()),
            int(field.center().y()),
            int(field.right()),
            int(field.center().y()),
        )
        painter.drawLine(
            int(field.center().x()),
            int(field.top()),
            int(field.center().x()),
            int(field.bottom()),
        )
        bow, port, up = self.rate
        shade = MODEL_COLOR if self.active else MUTED
        painter.setBrush(color(shade))
        painter.setPen(Qt.PenStyle.NoPen)
        half = side / 2.0
        dot = 0.32 * self._size
        centre_x = field.center().x() - port * (half - dot)
        centre_y = field.center().y() - bow * (half - dot)
        painter.drawEllipse(QRectF(centre_x - dot, centre_y - dot, 2 * dot, 2 * dot))
        bar = QRectF(field.right() + 0.4 * self._size, 1.0, 0.6 * self._size, side)
        painter.fillRect(bar, color(WINDOW))
        length = up * half
        painter.fillRect(
            QRectF(
                bar.x(), bar.center().y() - max(length, 0.0), bar.width(), abs(length)
            ),
            color(shade),
        )
        painter.setPen(QPen(color(LINE), 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(bar)
        painter.end()


class InputsPanel(Panel):
    """Every source of input, and the stick of the one in charge."""

    def __init__(self) -> None:
        super().__init__("Operators")
        row = QHBoxLayout()
        self._table = _SourceTable()
        self._stick = _StickView()
        row.addWidget(self._table, 1)
        row.addWidget(self._stick)
        self.body.addLayout(row)

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """Name, words and colour of every source."""
        return self._table.rows

    def refresh(self, readings: StationReadings) -> None:
        """Show the newest samples."""
        state = readings.state
        active = int(state.active_source[0]) if readings.is_alive else -1
        rows = []
        for source in Source:
            sample = readings.inputs[source]
            fresh = bool(state.source_fresh[source])
            age_ms = float(state.source_age_ns[source]) / NS_PER_MS
            if not readings.is_alive:
                words, shade = "unknown", MUTED
            elif int(sample.stamp_ns[0]) == 0:
                words, shade = "not started", MUTED
            elif not sample.present[0]:
                words, shade = "not connected", MUTED
            elif not fresh:
                words, shade = f"silent {duration_ms(age_ms)}", AMBER
            elif source == active:
                words, shade = "in charge", GOOD
            elif sample.deadman[0]:
                words, shade = "deadman held", AMBER
            else:
                words, shade = "ready", TEXT
            rows.append((SOURCE_WORDS[source], words, shade))
        self._table.rows = rows
        shown = readings.inputs[active if active >= 0 else Source.GAMEPAD]
        in_charge = active >= 0 and int(shown.mode[0]) == InputMode.RATE
        x, y, z = (float(min(1.0, max(-1.0, value))) for value in shown.rate)
        self._stick.rate = (x, y, z) if in_charge or active < 0 else (0.0, 0.0, 0.0)
        self._stick.active = in_charge
        self._table.update()
        self._stick.update()
