"""Figures of contact: forces, loops of force and place, energies, surfaces learned."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from app.study.analysis.table import Row
from app.study.metrics.energy import net_energy
from app.study.report.canvas import INK, PALE, legend_above, new_figure
from app.study.report.data import StudyData, condition_title
from models.numerics import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_energy", "draw_forces", "draw_loops", "draw_surface"]

_LINE: dict[str, Any] = {"linewidth": 1.1}
_HEARD = "#7c868d"
_NEAR_MM = -20.0  # depth from which on loops are drawn
_DRAWN_N = 4.0  # of the surface's own law


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
    legend_above(figure, *axes)
    return figure


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
                ("force_told", ":", _HEARD, "as the station has heard"),
                ("force_hand", "-", color, "at the hand (coloured)"),
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
    legend_above(figure, *axes)
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
            trace, style = data.trace(row), data.styles[strategy]
            pad = data.task(row).pads[0]
            face = float(pad.place @ pad.normal) + data.tip_radius(row)
            depth = 1e3 * (face - trace["hand"] @ pad.normal)
            push = np.where(
                depth > _NEAR_MM, -(trace["force_hand"] @ pad.normal), np.nan
            )
            axis.plot(
                depth, push, color=style.color, linestyle=style.dash, label=strategy,
                **_LINE,
            )  # fmt: skip
        row = next(iter(picked.values()))
        pad = data.task(row).pads[0]
        stiffness = pad.stiffness * float(row.result["hardness"])
        deep = np.linspace(
            0.0, 1e3 * (_DRAWN_N / stiffness) ** (1.0 / pad.exponent), 40
        )
        axis.plot(
            deep, stiffness * (1e-3 * deep) ** pad.exponent, color=INK,
            linestyle=":", label="the surface itself",
        )  # fmt: skip
        axis.set_xlabel("hand past the surface [mm]")
        axis.set_ylabel("push shown to the hand [N]")

    return _panels(data, conditions, draw)


def draw_energy(data: StudyData) -> "Figure | None":
    """Energy at the hand's port over time, and what is left of it less the tip's."""
    conditions = data.conditions_with("contact_s")[:3]
    if not conditions:
        return None
    figure, axes = new_figure(len(conditions), 2, height=2.1)
    for k, condition in enumerate(conditions):
        upper, lower = axes[k], axes[len(conditions) + k]
        for strategy, row in data.pick(condition).items():
            trace, style = data.trace(row), data.styles[strategy]
            look: dict[str, Any] = {"color": style.color, "linestyle": style.dash}
            port = trace["port_energy"].astype(np.float64)
            net = net_energy(
                port,
                trace["force_tip"].astype(np.float64),
                trace["tip"].astype(np.float64),
                data.force_scale(row),
            )
            time = trace["time_s"]
            upper.plot(time, 1e3 * port, label=strategy, **look, **_LINE)
            lower.plot(time, 1e3 * net, **look, **_LINE)
        for axis, name in ((upper, "E_port"), (lower, "E_net")):
            axis.axhline(0.0, color=INK, linewidth=0.8)
            axis.set_ylabel(f"{name} [mJ]")
        upper.set_title(condition_title(condition))
        lower.set_xlabel("time [s]")
    legend_above(figure, *axes)
    return figure


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
    legend_above(figure, *axes)
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
