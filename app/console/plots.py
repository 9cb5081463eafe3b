"""The link's last minute as curves: delay, loss and bits a second, sampled at 10 Hz."""

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QMargins, Qt

from app.clock import NS_PER_MS, NS_PER_S
from app.console.theme import (
    CURVE_COLORS,
    LINE,
    MUTED,
    PANEL,
    base_pixel_size,
    color,
    font,
)
from app.messages import LinkHealth
from models.numerics import FloatArray

__all__ = ["LinkHistory", "LinkPlots"]

_SPAN_S = 60.0
_STEP_NS = 100 * NS_PER_MS
_SAMPLES = 600
_FIELDS = ("age_ms", "rtt_ms", "loss_down", "loss_up", "down_bps", "up_bps")


class LinkHistory:
    """A rolling minute of the link's figures."""

    def __init__(self) -> None:
        self._times = np.zeros(_SAMPLES)
        self._values = np.full((len(_FIELDS), _SAMPLES), np.nan)
        self._count = 0
        self._due_ns = 0

    def take(self, now_ns: int, health: LinkHealth, *, alive: bool) -> None:
        """Sample the health at 10 Hz; a gap where the station is silent."""
        if now_ns < self._due_ns:
            return
        self._due_ns = now_ns + _STEP_NS
        slot = self._count % _SAMPLES
        self._times[slot] = now_ns / NS_PER_S
        for row, name in enumerate(_FIELDS):
            value = float(getattr(health, name)[0])
            self._values[row, slot] = value if alive and value >= 0.0 else np.nan
        self._count += 1

    def curve(self, name: str, now_ns: int) -> tuple[FloatArray, FloatArray]:
        """Return seconds before now (negative) and the values of a field."""
        kept = min(self._count, _SAMPLES)
        order = np.arange(self._count - kept, self._count) % _SAMPLES
        before = self._times[order] - now_ns / NS_PER_S
        return before, self._values[_FIELDS.index(name), order]


class LinkPlots(pg.GraphicsLayoutWidget):  # type: ignore[misc]
    """Three small plots over a shared minute."""

    def __init__(self, history: LinkHistory) -> None:
        super().__init__()
        self._history = history
        self.setBackground(PANEL)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName("age, round trip, loss and bit rate of the last minute")
        self.ci.layout.setContentsMargins(0, 0, 0, 0)
        self.ci.layout.setSpacing(2)
        size = base_pixel_size()
        self._plots = [
            self._add(0, "ms", ("age_ms", "rtt_ms"), ("age", "round trip"), 1.0),
            self._add(1, "%", ("loss_down", "loss_up"), ("lost down", "up"), 100.0),
            self._add(2, "kbit/s", ("down_bps", "up_bps"), ("down", "up"), 1e-3),
        ]
        for plot, _, _ in self._plots[:-1]:
            plot.getAxis("bottom").setStyle(showValues=False)
            plot.getAxis("bottom").setHeight(3)
        last = self._plots[-1][0].getAxis("bottom")
        last.setHeight(int(1.5 * size))
        self.setMinimumHeight(int(12.5 * size))
        self.setViewportMargins(QMargins(0, 0, 0, 0))

    def _add(
        self,
        row: int,
        unit: str,
        fields: tuple[str, str],
        names: tuple[str, str],
        scale: float,
    ) -> tuple[pg.PlotItem, list[pg.PlotCurveItem], float]:
        size = base_pixel_size()
        plot = self.addPlot(row=row, col=0)
        plot.setMouseEnabled(x=False, y=False)
        plot.setMenuEnabled(False)
        plot.hideButtons()
        plot.setXRange(-_SPAN_S, 0.0, padding=0.0)
        plot.enableAutoRange("y", False)
        for side in ("left", "bottom"):
            axis = plot.getAxis(side)
            axis.setPen(color(LINE))
            axis.setTextPen(color(MUTED))
            axis.setStyle(tickFont=font(size - 3), tickTextOffset=3, tickLength=-3)
        plot.getAxis("left").setWidth(int(3.4 * size))
        plot.getAxis("left").setStyle(maxTickLevel=0, textFillLimits=[(0, 0.55)])
        plot.getAxis("left").enableAutoSIPrefix(False)
        plot.getAxis("bottom").setTickSpacing(20.0, 20.0)
        plot.getAxis("bottom").tickStrings = _seconds_ago
        plot.showGrid(x=False, y=True, alpha=0.12)
        curves = []
        html = []
        for name, shade in zip(names, CURVE_COLORS, strict=True):
            curve = pg.PlotCurveItem(pen=pg.mkPen(shade, width=1.4), connect="finite")
            plot.addItem(curve)
            curves.append(curve)
            html.append(f'<span style="color:{shade}">{name}</span>')
        label = pg.LabelItem(justify="left")
        label.setText("&nbsp; ".join(html) + f" [{unit}]", size=f"{size - 2}px")
        label.setParentItem(plot.vb)
        label.anchor(itemPos=(0, 0), parentPos=(0, 0), offset=(4, -3))
        plot.curve_fields = fields
        return plot, curves, scale

    def refresh(self, now_ns: int) -> None:
        """Draw the history up to now."""
        for plot, curves, scale in self._plots:
            top = 0.0
            for curve, name in zip(curves, plot.curve_fields, strict=True):
                before, values = self._history.curve(name, now_ns)
                scaled = values * scale
                curve.setData(before, scaled)
                finite = scaled[np.isfinite(scaled)]
                if finite.size:
                    top = max(top, float(finite.max()))
            plot.setYRange(0.0, _round_up(top), padding=0.0)


def _round_up(value: float) -> float:
    """Next 1, 2 or 5 times a power of ten with head room for the label."""
    wanted = max(value * 1.45, 1.0)
    power = 10.0 ** np.floor(np.log10(wanted))
    for step in (1.0, 2.0, 5.0):
        if step * power >= wanted:
            return float(step * power)
    return float(10.0 * power)


def _seconds_ago(values: list[float], _scale: float, _spacing: float) -> list[str]:
    return ["now" if abs(value) < 0.5 else f"{value:.0f} s" for value in values]
