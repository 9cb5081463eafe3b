"""Figures of the harness of one degree of freedom: delays, impedances, energies."""

from typing import TYPE_CHECKING, Any

import numpy as np

from app.study.harness.critical import GREATEST_S
from app.study.harness.probe import (
    DELAYS_MS,
    FREQUENCIES_HZ,
    WALLS,
    wall_impedance,
)
from app.study.report.canvas import INK, legend_above, new_figure, strategy_styles
from app.study.report.data import StudyData
from app.study.trcrit import CriticalBar, draw_bars

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_critical_delays", "draw_impedance", "draw_net_energy"]

_ROWS = 0.19  # inch a bar


def draw_critical_delays(data: StudyData) -> "Figure | None":
    """T_crit of every strategy at every wall, by grip; None without any."""
    found = data.harness.get("critical-delays")
    if not found:
        return None
    bars = [
        CriticalBar(
            f"{label}, {row['wall']}", row["arm"], row["delay_s"], row["linear_s"]
        )
        for label, rows in found.items()
        for row in rows
    ]
    figure, (axis,) = new_figure(width=7.2, height=0.9 + _ROWS * len(bars))
    draw_bars(axis, bars, GREATEST_S)
    axis.grid(visible=False, axis="y")
    figure.legend(title="grip", loc="outside right upper")
    return figure


def _probes(data: StudyData) -> dict[str, dict[str, Any]]:
    return data.harness.get("probes", {})


def draw_impedance(data: StudyData) -> "Figure | None":
    """ε_Z against the delay, and |Z| against frequency at one of them, wall by wall."""
    found = _probes(data)
    if not found:
        return None
    styles = strategy_styles(list(found))
    figure, axes = new_figure(len(WALLS), 2, height=2.5)
    for k, (name, wall) in enumerate(WALLS.items()):
        upper, lower = axes[k], axes[len(WALLS) + k]
        lower.plot(
            FREQUENCIES_HZ, wall_impedance(wall), color=INK, linewidth=2.5, alpha=0.3,
            label="the wall itself",
        )  # fmt: skip
        for label, walls in found.items():
            style, own = styles[label], walls[name]
            errors = np.array([np.nan if x is None else x for x in own["error"]])
            look: dict[str, Any] = {
                "color": style.color,
                "marker": style.marker,
                "linestyle": style.dash,
            }
            upper.plot(DELAYS_MS, errors, markersize=4, label=label, **look)
            if own["impedance"] is not None:
                lower.plot(FREQUENCIES_HZ, own["impedance"], markersize=3.5, **look)
        upper.set_xscale("log")
        upper.xaxis.set_major_formatter("{x:g}")
        upper.set_ylim(bottom=0.0)
        upper.set_title(f"wall of {name}")
        upper.set_xlabel("delay each way [ms]")
        lower.set_xscale("log")
        lower.set_yscale("log")
        lower.xaxis.set_major_formatter("{x:g}")
        lower.set_xlabel("frequency [Hz]")
    axes[0].set_ylabel("ε_Z [decades]")
    axes[len(WALLS)].set_ylabel("|Z| at the hand [N s/m]")
    legend_above(figure, *axes)
    return figure


def draw_net_energy(data: StudyData) -> "Figure | None":
    """E_port and E_net over the presses and the probe."""
    found = _probes(data)
    if not found:
        return None
    styles = strategy_styles(list(found))
    figure, axes = new_figure(len(WALLS), 2, height=2.2)
    for k, name in enumerate(WALLS):
        for j, (key, title) in enumerate((("port_j", "E_port"), ("net_j", "E_net"))):
            axis = axes[j * len(WALLS) + k]
            axis.axhline(0.0, color=INK, linewidth=0.8)
            for label, walls in found.items():
                own = walls[name]
                axis.plot(
                    own["time_s"], 1e3 * np.array(own[key]), linewidth=1.1,
                    color=styles[label].color, linestyle=styles[label].dash,
                    label=label,
                )  # fmt: skip
            axis.set_ylabel(f"{title} [mJ]")
        axes[k].set_title(f"wall of {name}")
        axes[len(WALLS) + k].set_xlabel("time [s]")
    legend_above(figure, *axes)
    return figure
