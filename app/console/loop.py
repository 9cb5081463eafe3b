"""The loop panel: lateness and cost of the 1 kHz ticks, and how the screen does."""

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QGridLayout, QLabel

from app.console.frames import FrameSummary
from app.console.readings import StationReadings
from app.console.theme import (
    ALARM,
    AMBER,
    CURVE_COLORS,
    GOOD,
    LINE,
    MUTED,
    PANEL,
    TEXT,
    base_pixel_size,
    color,
    font,
)
from app.console.widgets import Panel
from app.console.words import SCHEDULER_WORDS, latency_us
from app.control.blocks import (
    HISTOGRAM_BINS,
    bin_upper_edge_ns,
    histogram_percentile_us,
)
from models.numerics import IntArray

__all__ = ["LoopPanel"]

_MERGED = 4  # bins drawn as one
_EDGES_LOG_US = np.log10(
    [bin_upper_edge_ns(i - 1) / 1e3 for i in range(0, HISTOGRAM_BINS + 1, _MERGED)]
)
_TICKS = [(0.0, "1 µs"), (1.0, "10"), (2.0, "100"), (3.0, "1 ms"), (4.0, "10")]
_LATE_US = 1000.0


def _shares(histogram: IntArray) -> IntArray:
    """Share of ticks a drawn bar [%], on a root scale so that rare ones are seen."""
    merged = histogram.reshape(-1, _MERGED).sum(axis=1)
    total = max(1, int(histogram.sum()))
    return np.asarray((merged / total) ** 0.25)


class LoopPanel(Panel):
    """Timing of the control loop and of the window."""

    def __init__(self) -> None:
        super().__init__("Control loop, 1 kHz")
        size = base_pixel_size()
        self.scheduler = QLabel("")
        self.head.addWidget(self.scheduler)
        self.plot = pg.PlotWidget(background=PANEL)
        self.plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.plot.setMouseEnabled(x=False, y=False)
        self.plot.setMenuEnabled(False)
        self.plot.hideButtons()
        self.plot.hideAxis("left")
        self.plot.setXRange(-0.3, 4.3, padding=0.0)
        self.plot.setYRange(0.0, 1.0, padding=0.02)
        axis = self.plot.getAxis("bottom")
        axis.setPen(color(LINE))
        axis.setTextPen(color(MUTED))
        axis.setStyle(tickFont=font(size - 3), tickTextOffset=2, tickLength=-3)
        axis.setTicks([_TICKS])
        axis.setHeight(int(1.4 * size))
        self.plot.setToolTip(
            "Share of ticks (fourth root, so that rare ones show) by lateness of their "
            "start and by cost; logarithmic time. The line marks 1 ms."
        )
        self.plot.setFixedHeight(int(5.6 * size))
        self.plot.addItem(
            pg.InfiniteLine(
                3.0, pen=pg.mkPen(ALARM, width=1, style=Qt.PenStyle.DashLine)
            )
        )
        self._curves = []
        names = []
        for name, shade in zip(("lateness", "tick cost"), CURVE_COLORS, strict=True):
            fill = color(shade, 0.22)
            curve = pg.PlotCurveItem(
                _EDGES_LOG_US,
                np.zeros(HISTOGRAM_BINS // _MERGED),
                stepMode="center",
                pen=pg.mkPen(shade, width=1.2),
                fillLevel=0,
                brush=fill,
            )
            self.plot.addItem(curve)
            self._curves.append(curve)
            names.append(f'<span style="color:{shade}">{name}</span>')
        label = pg.LabelItem(justify="left")
        label.setText("&nbsp; ".join(names), size=f"{size - 2}px")
        label.setParentItem(self.plot.getPlotItem().vb)
        label.anchor(itemPos=(0, 0), parentPos=(0, 0), offset=(2, -4))
        self.body.addWidget(self.plot)
        table = QGridLayout()
        table.setHorizontalSpacing(6)
        table.setVerticalSpacing(1)
        self.cells: dict[tuple[str, str], QLabel] = {}
        for column, head in enumerate(("", "p50", "p99", "p99.9"), start=0):
            cell = QLabel(head)
            cell.setObjectName("muted")
            cell.setAlignment(Qt.AlignmentFlag.AlignRight)
            table.addWidget(cell, 0, column)
        for row, name in enumerate(("lateness", "tick cost"), start=1):
            caption = QLabel(name)
            caption.setObjectName("muted")
            table.addWidget(caption, row, 0)
            for column, head in enumerate(("p50", "p99", "p99.9"), start=1):
                cell = QLabel("–")
                cell.setAlignment(Qt.AlignmentFlag.AlignRight)
                table.addWidget(cell, row, column)
                self.cells[name, head] = cell
        self.body.addLayout(table)
        self.counts = QLabel("–")
        self.frames = QLabel("–")
        self.frames.setToolTip(
            "This window: frames a second, interval and cost of a frame, median / 99 %."
        )
        for line in (self.counts, self.frames):
            line.setMinimumWidth(1)
            self.body.addWidget(line)

    def refresh(self, readings: StationReadings, frames: FrameSummary) -> None:
        """Show the newest statistics."""
        statistics = readings.statistics
        for name, histogram, curve in (
            ("lateness", statistics.lateness, self._curves[0]),
            ("tick cost", statistics.cost, self._curves[1]),
        ):
            curve.setData(_EDGES_LOG_US, _shares(histogram))
            for head, rank in (("p50", 50.0), ("p99", 99.0), ("p99.9", 99.9)):
                value = histogram_percentile_us(histogram, rank)
                cell = self.cells[name, head]
                cell.setText(latency_us(value))
                shade = AMBER if value > _LATE_US else TEXT
                cell.setStyleSheet(f"color: {shade}")
        ticks = int(statistics.ticks[0])
        overruns = int(statistics.overruns[0])
        late = int(statistics.late_1ms[0])
        shade = AMBER if overruns else GOOD
        self.counts.setText(
            f'{ticks:,} ticks, <span style="color:{shade}">{overruns:,} overruns'
            f"</span>, {late:,} late by 1 ms"
        )
        kind = int(statistics.scheduler[0])
        self.scheduler.setText(SCHEDULER_WORDS.get(kind, "?"))
        self.scheduler.setStyleSheet(f"color: {GOOD if kind == 1 else AMBER}")
        self.frames.setText(
            f"screen {frames.rate_hz:.0f} Hz, {frames.interval_p50_ms:.0f} / "
            f"{frames.interval_p99_ms:.0f} ms, costs {frames.cost_p50_ms:.0f} / "
            f"{frames.cost_p99_ms:.0f} ms"
        )
