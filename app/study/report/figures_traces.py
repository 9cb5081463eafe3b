"""Figures of single trials and of what goes on in them: paths, and the link's age."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from app.clock import NS_PER_S
from app.study.age import age_pieces, age_quantile
from app.study.analysis.statistics import bootstrap_interval
from app.study.analysis.table import Row
from app.study.metrics.path import path_profile
from app.study.report.canvas import INK, PALE, legend_above, new_figure, plot_intervals
from app.study.report.data import StudyData, condition_title
from models.numerics import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "draw_age",
    "draw_paths",
    "draw_speed_accuracy",
]

_SHARES = np.linspace(0.0, 1.0, 101)
_STRAIGHT = 1e-3
_BINS = 150
_LINE: dict[str, Any] = {"linewidth": 1.1}


def draw_speed_accuracy(data: StudyData) -> "Figure | None":
    """Movement time against the index of difficulty, of reaching tasks, by link."""
    rows = [row for row in data.table.rows if row.figures.get("movement_s") is not None]
    bits = sorted({_bits(row) for row in rows})
    if len(bits) < 2:
        return None  # one difficulty says nothing of the trade
    links = list(dict.fromkeys(row.cell.link for row in rows))
    columns = min(3, len(links))
    figure, axes = new_figure(columns, math.ceil(len(links) / columns), share_y=True)
    for axis, link in zip(axes, links, strict=False):
        for strategy in data.table.levels("strategy"):
            style, points = data.styles[strategy], []
            for k, index in enumerate(bits):
                times = [
                    float(row.figures["movement_s"])
                    for row in rows
                    if (row.cell.link, row.cell.strategy) == (link, strategy)
                    and _bits(row) == index
                ]
                if times:
                    found = bootstrap_interval(np.array(times), "median", seed=k)
                    points.append((index, *found))
            if points:
                plot_intervals(
                    axis, points, marker=style.marker, color=style.color,
                    linestyle=style.dash, label=strategy,
                )  # fmt: skip
        axis.set_title(link)
        axis.set_xlabel("index of difficulty [bit]")
    for axis in axes[len(links) :]:
        axis.set_visible(False)
    axes[0].set_ylim(bottom=0.0)  # of all, once all is drawn
    axes[0].set_ylabel("movement time [s]")
    legend_above(figure, *axes)
    return figure


def _bits(row: Row) -> float:
    """Index of difficulty of a trial [bit], so that equal ones are equal."""
    return round(float(row.figures["index_bit"]), 6)


def draw_paths(data: StudyData) -> "Figure | None":
    """Paths as the robot went them, seen along their normal, and error along them."""
    conditions = data.conditions_with("path_rms_mm")[:3]
    if not conditions:
        return None
    figure, axes = new_figure(len(conditions), 2, height=2.6)
    for k, condition in enumerate(conditions):
        plan, along = axes[k], axes[len(conditions) + k]
        picked = data.pick(condition)
        task = data.task(next(iter(picked.values())))
        if task.curve is None:
            continue
        plane, straight = _plane_of(task.curve.points, task.up)
        middle = task.curve.points.mean(axis=0)
        wanted = 1e3 * (task.curve.points - middle) @ plane
        plan.plot(wanted[:, 0], wanted[:, 1], color=INK, linewidth=2.5, alpha=0.25,
                  label="path")  # fmt: skip
        for strategy, row in picked.items():
            trace, style = data.trace(row), data.styles[strategy]
            look: dict[str, Any] = {"color": style.color, "linestyle": style.dash}
            since = trace["time_s"] >= (row.result["path_s"] or np.inf)
            if not since.any():
                continue
            tip = trace["tip"][since].astype(np.float64)
            shown = 1e3 * (tip - middle) @ plane
            plan.plot(shown[:, 0], shown[:, 1], label=strategy, **look, **_LINE)
            arc, gap = path_profile(task.curve, tip)
            along.plot(1e3 * arc, 1e3 * gap, **look, **_LINE)
        if straight:  # what is beside it is far less than what is along it
            most = max(1.0, 1.1 * float(np.abs(plan.dataLim.intervaly).max()))
            plan.set_ylim(-most, most)
        else:
            plan.set_aspect("equal", adjustable="datalim")
        seed = next(iter(picked.values())).seed
        plan.set_title(f"{condition_title(condition)}, seed {seed}")
        plan.set_xlabel("along the line [mm]" if straight else "in its plane [mm]")
        plan.set_ylabel("above it [mm]" if straight else "in its plane [mm]")
        along.set_xlabel("arc length along the path [mm]")
        along.set_ylabel("distance to the path [mm]")
        along.set_ylim(bottom=0.0)
    legend_above(figure, *axes)
    return figure


def _plane_of(points: FloatArray, up: FloatArray) -> tuple[FloatArray, bool]:
    """Directions (3, 2) in which points lie furthest apart; and if they lie in a line.

    Of a line the second is that across it which is nearest to `up`.
    """
    _, sizes, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    straight = bool(sizes[1] < _STRAIGHT * sizes[0])
    plane: FloatArray = axes[:2].T.copy()
    if straight:
        across = up - (up @ plane[:, 0]) * plane[:, 0]
        plane[:, 1] = across / np.linalg.norm(across)
    return plane, straight


def draw_age(data: StudyData) -> "Figure | None":
    """Age of the newest command applied: its distribution, and over one trial."""
    conditions = data.conditions_with("age_mean_s")[:3]
    if not conditions:
        return None
    figure, axes = new_figure(len(conditions), 2, height=2.3)
    for k, condition in enumerate(conditions):
        upper, lower = axes[k], axes[len(conditions) + k]
        for strategy in data.table.levels("strategy"):
            style = data.styles[strategy]
            ages = [
                _ages(data.trace(row), row) for row in data.rows(condition, strategy)
            ]
            known = [item for item in ages if item is not None]
            if known:
                upper.plot(
                    np.mean(known, axis=0), _SHARES, color=style.color, label=strategy,
                    linestyle=style.dash, **_LINE,
                )  # fmt: skip
        picked = data.pick(condition)
        for strategy, row in picked.items():
            time, age = _age_over_time(data.trace(row))
            style = data.styles[strategy]
            lower.plot(time, age, color=style.color, linestyle=style.dash, **_LINE)
        row = next(iter(picked.values()))
        for start, length, *period in data.outages(row):
            every = period[0] if period else math.inf
            end = float(row.figures["end_s"])
            at = start
            while at < end:
                lower.axvspan(at, at + length, color=PALE, alpha=0.5, linewidth=0.0)
                at += every
        upper.set_title(condition_title(condition))
        upper.set_xlabel("age of the command [s]")
        upper.set_ylabel("share of the time")
        upper.set_ylim(0.0, 1.0)
        lower.set_xlabel(f"time, seed {row.seed} [s]")
        lower.set_ylabel("peak age [s]")
        lower.set_ylim(0.0, 1.1 * max(float(lower.dataLim.y1), 1e-3))
    legend_above(figure, *axes)
    return figure


def _ages(trace: dict[str, Any], row: Row) -> FloatArray | None:
    """Ages [s] that are not exceeded for each share of the time."""
    applied = trace["applied_ns"]
    if len(applied) < 2 or row.figures.get("age_mean_s") is None:
        return None
    zero = int(trace["clock_zero_ns"][0])
    start = max(
        int(applied[0, 0]), zero + round(float(row.figures["start_s"]) * NS_PER_S)
    )
    end = zero + round(float(row.figures["end_s"]) * NS_PER_S)
    pieces = age_pieces(applied[:, 1], applied[:, 0], start, end)
    return np.array([age_quantile(pieces, float(share)) for share in _SHARES])


def _age_over_time(trace: dict[str, Any]) -> tuple[FloatArray, FloatArray]:
    """Times and the greatest age [s] in each of a number of equal spans of time."""
    applied, zero = trace["applied_ns"], int(trace["clock_zero_ns"][0])
    if len(applied) < 2:
        return np.zeros(0), np.zeros(0)
    newest = np.maximum.accumulate(applied[:, 1])
    times = 1e-9 * (applied[1:, 0] - zero)
    peaks = 1e-9 * (applied[1:, 0] - newest[:-1])  # just before the next is applied
    edges = np.linspace(times[0], times[-1], min(_BINS, len(times)) + 1)
    spans = np.clip(np.searchsorted(edges, times, side="right") - 1, 0, edges.size - 2)
    greatest = np.full(edges.size - 1, np.nan)
    np.fmax.at(greatest, spans, peaks)
    some = np.isfinite(greatest)
    return 0.5 * (edges[1:] + edges[:-1])[some], greatest[some]
