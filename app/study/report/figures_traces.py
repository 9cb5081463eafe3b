"""Figures of single trials and of what goes on in them: paths, forces, energy, age."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from app.clock import NS_PER_S
from app.study.age import age_pieces, age_quantile
from app.study.analysis.table import Row
from app.study.metrics.path import path_profile
from app.study.report.canvas import INK, PALE, new_figure
from app.study.report.data import StudyData, condition_title
from models.numerics import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "draw_age",
    "draw_energy",
    "draw_forces",
    "draw_loops",
    "draw_paths",
    "draw_speed_accuracy",
    "draw_surface",
]

_SHARES = np.linspace(0.0, 1.0, 101)
_LINE: dict[str, Any] = {"linewidth": 1.1}


def _panels(
    data: StudyData,
    conditions: list[tuple[str, ...]],
    draw: "Callable[[Axes, tuple[str, ...], dict[str, Row]], None]",
    *,
    height: float = 2.7,
    columns: int = 3,
) -> "Figure | None":
    """One panel a condition, with one trial of each strategy; None without any."""
    if not conditions:
        return None
    columns = min(columns, len(conditions))
    figure, axes = new_figure(
        columns, math.ceil(len(conditions) / columns), height=height
    )
    for axis, condition in zip(axes, conditions, strict=False):
        draw(axis, condition, data.pick(condition))
        axis.set_title(condition_title(condition))
    for axis in axes[len(conditions) :]:
        axis.set_visible(False)
    handles, names = axes[0].get_legend_handles_labels()
    if names:
        figure.legend(handles, names, loc="outside upper left", ncols=4)
    return figure


def draw_speed_accuracy(data: StudyData) -> "Figure | None":
    """Movement time against the index of difficulty, of reaching tasks."""
    conditions = data.conditions_with("movement_s")
    bits = {
        round(float(row.figures["index_bit"]), 6)
        for row in data.table.rows
        if row.figures.get("index_bit") is not None
    }
    if len(bits) < 2:
        return None  # one difficulty says nothing of the trade
    figure, (axis,) = new_figure(width=4.6, height=3.2)
    links = list(dict.fromkeys(item[0] for item in conditions))
    dashes = ("-", "--", "-.", ":")
    for k, link in enumerate(links):
        for strategy in data.table.levels("strategy"):
            points = []
            for condition in conditions:
                if condition[0] != link:
                    continue
                rows = data.rows(condition, strategy)
                times = data.table.values(rows, "movement_s")
                index = data.table.values(rows, "index_bit")
                if np.isfinite(times).any():
                    points.append(
                        (float(np.nanmean(index)), float(np.nanmedian(times)))
                    )
            if points:
                x, y = np.array(sorted(points)).T
                style = data.styles[strategy]
                axis.plot(
                    x, y, style.marker, color=style.color,
                    linestyle=dashes[k % len(dashes)], label=f"{strategy}, {link}",
                )  # fmt: skip
    axis.set_xlabel("index of difficulty [bit]")
    axis.set_ylabel("movement time, median [s]")
    axis.set_ylim(bottom=0.0)
    axis.legend(fontsize=7)
    return figure


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
        plane = _plane_of(task.curve.points)
        middle = task.curve.points.mean(axis=0)
        wanted = 1e3 * (task.curve.points - middle) @ plane
        plan.plot(wanted[:, 0], wanted[:, 1], color=INK, linewidth=2.5, alpha=0.25,
                  label="path")  # fmt: skip
        for strategy, row in picked.items():
            trace, color = data.trace(row), data.styles[strategy].color
            since = trace["time_s"] >= (row.result["path_s"] or np.inf)
            if not since.any():
                continue
            tip = trace["tip"][since].astype(np.float64)
            shown = 1e3 * (tip - middle) @ plane
            plan.plot(shown[:, 0], shown[:, 1], color=color, label=strategy, **_LINE)
            arc, gap = path_profile(task.curve, tip)
            along.plot(1e3 * arc, 1e3 * gap, color=color, **_LINE)
        plan.set_aspect("equal", adjustable="datalim")
        plan.set_title(condition_title(condition))
        plan.set_xlabel("in the path's plane [mm]")
        plan.set_ylabel("across [mm]")
        along.set_xlabel("arc length along the path [mm]")
        along.set_ylabel("distance to the path [mm]")
        along.set_ylim(bottom=0.0)
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper left", ncols=4)
    return figure


def _plane_of(points: FloatArray) -> FloatArray:
    """The two directions (3, 2) in which points lie furthest apart."""
    _, _, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    plane: FloatArray = axes[:2].T
    return plane


def _normal(data: StudyData, row: Row) -> FloatArray | None:
    pads = data.task(row).pads
    return pads[0].normal if pads else None


def draw_forces(data: StudyData) -> "Figure | None":
    """Force at the hand, true at the tip, and as the station hears it, over time."""
    conditions = [
        item
        for item in data.conditions_with("contact_s")
        if data.task(next(iter(data.pick(item).values()))).pads
    ][:2]
    strategies = data.table.levels("strategy")
    if not conditions:
        return None
    figure, axes = new_figure(
        len(conditions), len(strategies), height=1.5, width=4.6, share_y=True
    )
    for j, condition in enumerate(conditions):
        picked = data.pick(condition)
        for i, strategy in enumerate(strategies):
            axis = axes[i * len(conditions) + j]
            row = picked.get(strategy)
            if row is None:
                continue
            trace, normal = data.trace(row), _normal(data, row)
            if normal is None:
                continue
            color = data.styles[strategy].color
            for name, style, tint, label in (
                ("force_tip", "-", INK, "true, at the tip"),
                ("force_told", ":", PALE, "as the station has heard"),
                ("force_hand", "-", color, "at the hand"),
            ):
                axis.plot(
                    trace["time_s"], -trace[name] @ normal, style, color=tint,
                    label=label, **_LINE,
                )  # fmt: skip
            axis.set_title(
                f"{strategy} · {condition_title(condition)} · seed {row.seed}: "
                f"{row.verdict}",
                loc="left",
                fontsize=8,
            )
            axis.set_ylabel("push [N]")
    for axis in axes[-len(conditions) :]:
        axis.set_xlabel("time [s]")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper left", ncols=3)
    return figure


def draw_loops(data: StudyData) -> "Figure | None":
    """Force shown against how deep the hand is in the true surface."""
    conditions = [
        item
        for item in data.conditions_with("contact_s")
        if data.task(next(iter(data.pick(item).values()))).pads
    ]

    def draw(axis: "Axes", _: tuple[str, ...], picked: dict[str, Row]) -> None:
        for strategy, row in picked.items():
            trace = data.trace(row)
            pad = data.task(row).pads[0]
            depth = (float(pad.place @ pad.normal) - trace["hand"] @ pad.normal) * 1e3
            near = depth > -20.0
            axis.plot(
                depth[near], -(trace["force_hand"] @ pad.normal)[near],
                color=data.styles[strategy].color, label=strategy, **_LINE,
            )  # fmt: skip
        pad = data.task(next(iter(picked.values()))).pads[0]
        deep = np.linspace(0.0, 1e3 * (4.0 / pad.stiffness) ** (1.0 / pad.exponent), 40)
        axis.plot(
            deep, pad.stiffness * (1e-3 * deep) ** pad.exponent, color=INK,
            linestyle=":", label="the surface itself",
        )  # fmt: skip
        axis.set_xlabel("hand past the surface [mm]")
        axis.set_ylabel("push shown to the hand [N]")

    return _panels(data, conditions, draw)


def draw_energy(data: StudyData) -> "Figure | None":
    """Energy at the hand's port over time; below zero it got more than it gave."""
    conditions = data.conditions_with("contact_s")

    def draw(axis: "Axes", _: tuple[str, ...], picked: dict[str, Row]) -> None:
        axis.axhline(0.0, color=INK, linewidth=0.8)
        for strategy, row in picked.items():
            trace = data.trace(row)
            axis.plot(
                trace["time_s"], 1e3 * trace["port_energy"],
                color=data.styles[strategy].color, label=strategy, **_LINE,
            )  # fmt: skip
        axis.set_xlabel("time [s]")
        axis.set_ylabel("E_port [mJ]")

    return _panels(data, conditions, draw)


def draw_surface(data: StudyData) -> "Figure | None":
    """What is learned of a surface: stiffness and place, with every update."""
    conditions = data.conditions_with("stiffness_error")[:3]
    if not conditions:
        return None
    figure, axes = new_figure(len(conditions), 2, height=2.1, share_x=False)
    for k, condition in enumerate(conditions):
        upper, lower = axes[k], axes[len(conditions) + k]
        for strategy in data.table.levels("strategy"):
            for number, row in enumerate(data.rows(condition, strategy)):
                if row.figures.get("stiffness_error") is None:
                    continue
                _learned(upper, lower, data, row, strategy, first=number == 0)
        upper.set_title(condition_title(condition))
        upper.set_ylabel("stiffness / true [1]")
        upper.axhline(1.0, color=INK, linewidth=0.8)
        upper.axhspan(0.85, 1.15, color=PALE, alpha=0.3, linewidth=0.0)
        lower.axhline(0.0, color=INK, linewidth=0.8)
        lower.set_ylabel("place - true [mm]")
        lower.set_xlabel("time [s]")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper left", ncols=3)
    return figure


def _learned(
    upper: "Axes",
    lower: "Axes",
    data: StudyData,
    row: Row,
    strategy: str,
    *,
    first: bool,
) -> None:
    trace, pad = data.trace(row), data.task(row).pads[0]
    color = data.styles[strategy].color
    time, stiffness = trace["time_s"], trace["surface_stiffness"]
    true = pad.stiffness * float(row.result["hardness"])
    error_mm = row.figures["surface_error_mm"]
    place = 1e3 * (trace["surface_point"] @ pad.normal)
    known = np.isfinite(stiffness)
    place = np.where(known, place - place[-1] + error_mm, np.nan)
    changed = np.flatnonzero(known[1:] & (np.diff(stiffness) != 0.0)) + 1
    upper.plot(
        time, stiffness / true, color=color, alpha=0.7,
        label=strategy if first else None, **_LINE,
    )  # fmt: skip
    upper.plot(time[changed], stiffness[changed] / true, ".", color=color, markersize=3)
    lower.plot(time, place, color=color, alpha=0.7, **_LINE)


def draw_age(data: StudyData) -> "Figure | None":
    """Age of the newest command applied: its distribution, and over one trial."""
    conditions = data.conditions_with("age_mean_s")[:3]
    if not conditions:
        return None
    figure, axes = new_figure(len(conditions), 2, height=2.3)
    for k, condition in enumerate(conditions):
        upper, lower = axes[k], axes[len(conditions) + k]
        for strategy in data.table.levels("strategy"):
            color = data.styles[strategy].color
            ages = [
                _ages(data.trace(row), row) for row in data.rows(condition, strategy)
            ]
            known = [item for item in ages if item is not None]
            if known:
                upper.plot(
                    np.mean(known, axis=0), _SHARES, color=color, label=strategy,
                    **_LINE,
                )  # fmt: skip
        picked = data.pick(condition)
        for strategy, row in picked.items():
            time, age = _age_over_time(data.trace(row))
            lower.plot(time, age, color=data.styles[strategy].color, linewidth=0.7)
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
        lower.set_xlabel(f"time, seed {row.seed} [s] (shaded: outages)")
        lower.set_ylabel("age [s]")
        lower.set_ylim(bottom=0.0)
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper left", ncols=4)
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
    applied, zero = trace["applied_ns"], int(trace["clock_zero_ns"][0])
    if not len(applied):
        return np.zeros(0), np.zeros(0)
    newest = np.maximum.accumulate(applied[:, 1])
    times = 1e-9 * (applied[:, 0] - zero)
    before = np.concatenate([[newest[0]], newest[:-1]])
    peaks = 1e-9 * (applied[:, 0] - before)
    lows = 1e-9 * (applied[:, 0] - newest)
    return np.repeat(times, 2), np.stack([peaks, lows], axis=1).ravel()
