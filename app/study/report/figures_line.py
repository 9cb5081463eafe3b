"""The figure of the line of Gong 2018: how far beside it every trial went."""

import math
from typing import TYPE_CHECKING

import numpy as np

from app.study.analysis.table import Row
from app.study.metrics.path import path_profile
from app.study.report.canvas import INK, new_figure
from app.study.report.data import StudyData
from app.study.targets.line import PUBLISHED_MM, line_cells
from models.numerics import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_line"]

_FIRST_PART = 0.85
_STEP = 2e-3  # [m] of arc
_LIMIT = "#d55e00"


def draw_line(data: StudyData) -> "Figure | None":
    """One panel a cell: distance from the line over arc length; None without any."""
    cells = {
        title: [row for row in rows if row.result["path_s"] is not None]
        for title, rows in line_cells(data.table.rows).items()
    }
    cells = {title: rows for title, rows in cells.items() if rows}
    if not cells:
        return None
    columns = min(2, len(cells))
    figure, axes = new_figure(
        columns, math.ceil(len(cells) / columns), width=3.8, share_y=True
    )
    for axis, (title, rows) in zip(axes, cells.items(), strict=False):
        curve = data.task(rows[0]).curve
        if curve is None:
            continue
        arcs = np.arange(0.0, curve.length, _STEP)
        color = data.styles[rows[0].cell.strategy].color
        gaps = np.array([_gap(data, row, arcs) for row in rows])
        for gap in gaps:
            axis.plot(1e3 * arcs, 1e3 * gap, color=color, linewidth=0.6, alpha=0.35)
        axis.plot(1e3 * arcs, 1e3 * np.median(gaps, axis=0), color=INK, linewidth=1.6)
        axis.axhline(PUBLISHED_MM, color=_LIMIT, linestyle="--", linewidth=1.0)
        axis.axvline(
            1e3 * _FIRST_PART * curve.length, color=INK, linestyle=":", linewidth=0.8
        )
        axis.set_title(f"{title}, {len(rows)} seeds")
        axis.set_xlabel("arc length along the line [mm]")
        axis.set_ylim(0.0, max(1.1 * PUBLISHED_MM, 1.05e3 * float(gaps.max())))
    for axis in axes[len(cells) :]:
        axis.set_visible(False)
    axes[0].set_ylabel("distance from the line [mm]")
    return figure


def _gap(data: StudyData, row: Row, arcs: FloatArray) -> FloatArray:
    """Distance (k,) [m] where the tip first passed each arc length."""
    trace, curve = data.trace(row), data.task(row).curve
    if curve is None:
        return np.full(arcs.size, np.nan)
    tip = trace["tip"][trace["time_s"] >= float(row.result["path_s"])]
    arc, gap = path_profile(curve, tip.astype(np.float64))
    ahead = np.maximum.accumulate(arc)
    first = np.flatnonzero(np.diff(ahead, prepend=-1.0) > 0.0)
    found: FloatArray = np.interp(arcs, ahead[first], gap[first])
    return found
