"""The last minute as small plots under each other, sampled at 10 Hz."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import Qt

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
from models.numerics import FloatArray

__all__ = ["History", "Strip", "StripPlots"]

_SPAN_S = 60.0
_STEP_NS = 100 * NS_PER_MS
_SAMPLES = 600
_LEAST_STRIP = 3.1  # in text heights


class History:
    """A rolling minute of some figures."""

    def __init__(self, fields: Sequence[str]) -> None:
        """Keep these figures."""
        self.fields = tuple(fields)
        self._times = np.zeros(_SAMPLES)
        self._values = np.full((len(self.fields), _SAMPLES), np.nan)
        self._count = 0
        self._due_ns = 0

    def is_due(self, now_ns: int) -> bool:
        """Whether the next sample is due, at 10 Hz."""
        return now_ns >= self._due_ns

    def take(self, now_ns: int, values: Sequence[float]) -> None:
        """Keep one sample of every field; NaN leaves a gap."""
        self._due_ns = now_ns + _STEP_NS
        slot = self._count % _SAMPLES
        self._times[slot] = now_ns / NS_PER_S
        self._values[:, slot] = values
        self._count += 1

    def curve(self, name: str, now_ns: int) -> tuple[FloatArray, FloatArray]:
        """Return seconds before now (negative) and the values of a field."""
        kept = min(self._count, _SAMPLES)
        order = np.arange(self._count - kept, self._count) % _SAMPLES
        before = self._times[order] - now_ns / NS_PER_S
        return before, self._values[self.fields.index(name), order]


@dataclass(frozen=True)
class Strip:
    """One plot of one or two curves.

    Attributes:
        unit: of the axis.
        fields: the history's names of the curves.
        captions: what the legend calls them.
        scale: axis value over the field's value.
        least: the axis always reaches this, in its unit.
    """

    unit: str
    fields: tuple[str, ...]
    captions: tuple[str, ...]
    scale: float = 1.0
    least: float = 1.0


class StripPlots(pg.GraphicsLayoutWidget):  # type: ignore[misc]
    """Plots over a shared minute."""

    def __init__(self, history: History, strips: Sequence[Strip], name: str) -> None:
        """Make the plots.

        Args:
            history: where their values come from.
            strips: the plots from top to bottom.
            name: what they show, for assistive technology.
        """
        super().__init__()
        self._history = history
        self._strips = tuple(strips)
        self.setBackground(PANEL)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(name)
        self.ci.layout.setContentsMargins(0, 0, 0, 0)
        self.ci.layout.setSpacing(2)
        self._greatest: dict[pg.PlotItem, float] = {}
        size = base_pixel_size()
        self._plots = [
            self._add(row, strip, last=row == len(self._strips) - 1)
            for row, strip in enumerate(self._strips)
        ]
        self.setMinimumHeight(int((_LEAST_STRIP * len(self._strips) + 1.6) * size))

    def _add(
        self, row: int, strip: Strip, *, last: bool
    ) -> tuple[pg.PlotItem, list[pg.PlotCurveItem]]:
        size = base_pixel_size()
        plot = self.addPlot(row=row, col=0)
        plot.setMouseEnabled(x=False, y=False)
        plot.setMenuEnabled(False)
        plot.hideButtons()
        plot.setXRange(-_SPAN_S, 0.05 * _SPAN_S, padding=0.0)
        plot.enableAutoRange("y", False)
        left, bottom = plot.getAxis("left"), plot.getAxis("bottom")
        for axis in (left, bottom):
            axis.setPen(color(LINE))
            axis.setTextPen(color(MUTED))
            axis.setStyle(tickFont=font(size - 3), tickTextOffset=3, tickLength=-3)
            axis.enableAutoSIPrefix(False)
        left.setWidth(int(3.0 * size))
        bottom.setTicks([[(-60, "60 s ago"), (-40, "40 s"), (-20, "20 s"), (0, "now")]])
        bottom.setStyle(showValues=last, hideOverlappingLabels=False)
        bottom.setHeight(int(1.5 * size) if last else 3)
        plot.showGrid(x=False, y=True, alpha=0.12)
        curves, legend = [], []
        for caption, shade in zip(strip.captions, CURVE_COLORS, strict=False):
            curve = pg.PlotCurveItem(pen=pg.mkPen(shade, width=1.4), connect="finite")
            plot.addItem(curve)
            curves.append(curve)
            legend.append(f'<span style="color:{shade}">{caption}</span>')
        label = pg.LabelItem(justify="left")
        label.setText("&nbsp; ".join(legend) + f" [{strip.unit}]", size=f"{size - 2}px")
        label.setParentItem(plot.vb)
        label.anchor(itemPos=(0, 0), parentPos=(0, 0), offset=(4, -3))
        return plot, curves

    def refresh(self, now_ns: int) -> None:
        """Draw the history up to now."""
        for (plot, curves), strip in zip(self._plots, self._strips, strict=True):
            top = strip.least
            for curve, name in zip(curves, strip.fields, strict=True):
                before, values = self._history.curve(name, now_ns)
                scaled = values * strip.scale
                curve.setData(before, scaled)
                finite = scaled[np.isfinite(scaled)]
                if finite.size:
                    top = max(top, float(finite.max()))
            self._fit(plot, _round_up(1.5 * top))  # room for the legend

    def _fit(self, plot: pg.PlotItem, greatest: float) -> None:
        """Scale a strip to 0 .. `greatest`; laying an axis out anew costs 1 ms."""
        if self._greatest.get(plot) == greatest:
            return
        self._greatest[plot] = greatest
        plot.setYRange(0.0, greatest, padding=0.0)
        half = 0.5 * greatest
        plot.getAxis("left").setTicks([[(0.0, "0"), (half, f"{half:g}")]])


def _round_up(wanted: float) -> float:
    """Next 1, 2, 4, 6 or 10 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(wanted))
    for step in (1.0, 2.0, 4.0, 6.0):
        if step * power >= wanted:
            return float(step * power)
    return float(10.0 * power)
