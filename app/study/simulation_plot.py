"""The figure of a simulation: where it went, how fast, its energy, what drove it."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from app.errors import ConfigError
from app.study.simulate import Simulation
from app.study.simulation_record import Trace
from models.numerics import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_plot"]

_INK = "#39444c"
_AXES = ("#c8432f", "#3f8f4f", "#2f6fc0")
_COLORS = (
    "#2f6fc0", "#c8432f", "#3f8f4f", "#8a5fb0", "#c78a1e", "#3aa3a0", "#7a5c48",
    "#d46a9f",
)  # fmt: skip
_MOST_LINES = 8
_RECORDED_ONLY = ("mantle volume rate", "mantle power")
_STRAIGHT = 0.01  # a path that strays less from a line is not drawn


def draw_plot(simulation: Simulation, out: Path) -> None:
    """Draw tips, root, energy and loads over time.

    Args:
        simulation: what to draw.
        out: picture to write; its ending says PNG, PDF or SVG.

    Raises:
        ConfigError: it cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    trace, case = simulation.trace, simulation.case
    groups = _load_groups(trace)
    moving = case.base.motion != "fixed"
    spans = np.sort(np.ptp(trace.root_pose[:, :3, 3], axis=0))
    winds = moving and spans[1] > _STRAIGHT * spans[2]
    panels = 3 + winds + max(len(groups), 1)
    rows = (panels + 1) // 2
    figure = Figure(figsize=(12.5, 3.1 * rows + 0.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = list(np.ravel(figure.subplots(rows, 2)))
    spare = iter(axes)
    _draw_tips(next(spare), simulation)
    if moving:
        if winds:
            _draw_path(next(spare), trace)
        _draw_speed(next(spare), trace)
    else:
        _draw_base(next(spare), trace)
    _draw_energy(next(spare), trace)
    if not groups:
        _draw_shape(next(spare), simulation)
    for unit, columns in groups.items():
        _draw_loads(next(spare), trace, unit, columns)
    for axis in spare:
        axis.set_visible(False)
    for axis in axes:
        axis.grid(visible=True, alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(colors=_INK, labelsize=9)
    figure.suptitle(f"{simulation.robot.name}: {case.title}", color=_INK, fontsize=13)
    if case.source:
        figure.supxlabel(case.source, fontsize=8.5, color=_INK)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(out, dpi=110)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{out}: the picture cannot be written: {error}. Give a PNG, PDF or SVG "
            "file in a folder you may write to."
        ) from error


def _load_groups(trace: Trace) -> dict[str, list[int]]:
    """Columns of the loads by unit."""
    groups: dict[str, list[int]] = {}
    for column, (name, unit) in enumerate(trace.channels):
        if name in _RECORDED_ONLY:
            continue
        groups.setdefault(unit, []).append(column)
    return groups


def _draw_tips(axis: "Axes", simulation: Simulation) -> None:
    """One tip by its coordinates, several by their distance from the start."""
    trace = simulation.trace
    origin = trace.root_pose[:, :3, 3]
    turn = trace.root_pose[:, :3, :3]
    tips = np.einsum("tji,tlj->tli", turn, trace.tips - origin[:, None])
    names = [limb.limb.name for limb in simulation.plan.limbs]
    if len(names) == 1:
        for k in range(3):
            axis.plot(trace.time_s, 1e3 * tips[:, 0, k], color=_AXES[k], label="xyz"[k])
        axis.set_ylabel("in the hull frame [mm]")
        axis.set_title(f"tip of {names[0]}", fontsize=10, color=_INK)
    else:
        way = np.linalg.norm(tips - tips[:1], axis=2)
        for k, limb in enumerate(simulation.plan.limbs):
            color = limb.limb.color if _distinct(simulation) else _COLORS[k % 8]
            axis.plot(trace.time_s, 1e3 * way[:, k], color=color, label=names[k])
        axis.set_ylabel("from the start, in the hull [mm]")
        axis.set_title("tips of the limbs", fontsize=10, color=_INK)
    axis.set_xlabel("time [s]")
    axis.legend(fontsize=8, frameon=False)


def _distinct(simulation: Simulation) -> bool:
    colors = [limb.limb.color for limb in simulation.plan.limbs]
    return len(set(colors)) == len(colors)


def _draw_path(axis: "Axes", trace: Trace) -> None:
    """The root's path, seen in the two directions that it moves most in."""
    path = 1e3 * (trace.root_pose[:, :3, 3] - trace.root_pose[0, :3, 3])
    spans = np.ptp(path, axis=0)
    across, up = sorted(np.argsort(spans)[-2:])
    axis.plot(path[:, across], path[:, up], color=_COLORS[0])
    axis.plot(*path[0, [across, up]], "o", color=_COLORS[2], markersize=5)
    axis.plot(*path[-1, [across, up]], "s", color=_COLORS[1], markersize=5)
    axis.set_xlabel(f"{'xyz'[across]} [mm]")
    axis.set_ylabel(f"{'xyz'[up]} [mm]")
    axis.set_aspect("equal", adjustable="datalim")
    axis.set_title("path of the root, from ● to ■", fontsize=10, color=_INK)


def _draw_speed(axis: "Axes", trace: Trace) -> None:
    velocity = 1e3 * trace.root_twist[:, 3:]
    for k in range(3):
        if np.abs(velocity[:, k]).max() > 1e-3:
            label = f"v_{'xyz'[k]}"
            axis.plot(trace.time_s, velocity[:, k], color=_AXES[k], label=label)
    axis.set_ylabel("in the root frame [mm/s]")
    axis.set_xlabel("time [s]")
    turn = np.degrees(np.linalg.norm(trace.root_twist[:, :3], axis=1))
    if turn.max() > 1e-3:
        other = axis.twinx()
        other.plot(trace.time_s, turn, color=_INK, lw=0.9, ls="--")
        other.set_ylabel("rate of turn, dashed [deg/s]", color=_INK, fontsize=9)
        other.spines[["top"]].set_visible(False)
        other.tick_params(colors=_INK, labelsize=9)
    if axis.lines:
        axis.legend(fontsize=8, frameon=False)
    axis.set_title("velocity of the root", fontsize=10, color=_INK)


def _draw_base(axis: "Axes", trace: Trace) -> None:
    for k in range(3):
        axis.plot(
            trace.time_s, trace.base_wrench[:, 3 + k], color=_AXES[k],
            label=f"F_{'xyz'[k]}",
        )  # fmt: skip
    axis.set_ylabel("force [N]")
    axis.set_xlabel("time [s]")
    moment = np.linalg.norm(trace.base_wrench[:, :3], axis=1)
    other = axis.twinx()
    other.plot(trace.time_s, moment, color=_INK, lw=0.9, ls="--")
    other.set_ylabel("moment, dashed [N m]", color=_INK, fontsize=9)
    other.spines[["top"]].set_visible(False)
    other.tick_params(colors=_INK, labelsize=9)
    axis.legend(fontsize=8, frameon=False)
    axis.set_title("what the robot does to its base", fontsize=10, color=_INK)


def _draw_energy(axis: "Axes", trace: Trace) -> None:
    energy = 1e3 * trace.energy
    energy[:, 2] -= energy[0, 2]
    names = ("kinetic", "elastic", "weight less buoyancy")
    for k, name in enumerate(names):
        if np.ptp(energy[:, k]) > 0.0 or k < 2:
            axis.plot(trace.time_s, energy[:, k], color=_COLORS[k], label=name)
    axis.plot(trace.time_s, energy.sum(axis=1), color=_INK, lw=1.0, label="sum")
    axis.set_ylabel("energy [mJ]")
    axis.set_xlabel("time [s]")
    axis.legend(fontsize=8, frameon=False)
    axis.set_title("energy", fontsize=10, color=_INK)


def _draw_shape(axis: "Axes", simulation: Simulation) -> None:
    """Coordinates of the limbs, where nothing drives the robot."""
    trace = simulation.trace
    size = np.ptp(trace.position[:, 6:], axis=0)
    bends = simulation.plan.model.dof_component[6:] < 3
    size = size * np.where(bends, np.degrees(1.0), 1e3)
    largest = np.argsort(size)[::-1][:_MOST_LINES]
    for rank, column in enumerate(largest[size[largest] > 0.02 * size.max()]):
        dof = 6 + int(column)
        element = int(simulation.plan.model.dof_element[dof])
        value = trace.position[:, dof]
        scaled = np.degrees(value) if bends[column] else 1e3 * value
        unit = "deg" if bends[column] else "mm"
        name = f"{simulation.plan.names[element]} [{unit}]"
        axis.plot(trace.time_s, scaled, color=_COLORS[rank], label=name)
    axis.set_xlabel("time [s]")
    axis.legend(fontsize=7.5, frameon=False)
    axis.set_title(
        "coordinates that change most (nothing drives it)", fontsize=10, color=_INK
    )


_TITLES = {
    "N": "forces",
    "N m": "moments",
    "Pa": "pressures",
    "kPa": "pressures",
    "m": "lengths",
    "mm": "lengths",
}


def _draw_loads(axis: "Axes", trace: Trace, unit: str, columns: list[int]) -> None:
    listed = sorted(columns, key=lambda k: -_size(trace.loads[:, k]))[:_MOST_LINES]
    for rank, column in enumerate(sorted(listed)):
        axis.plot(
            trace.time_s, trace.loads[:, column], color=_COLORS[rank],
            label=trace.channels[column][0],
        )  # fmt: skip
    axis.set_ylabel(f"[{unit}]")
    axis.set_xlabel("time [s]")
    axis.legend(fontsize=8, frameon=False)
    names = [trace.channels[column][0] for column in sorted(listed)]
    one = names[0] if len(names) == 1 else _TITLES.get(unit, "loads")
    axis.set_title(one if len(one) < 40 else "loads", fontsize=10, color=_INK)


def _size(values: FloatArray) -> float:
    return float(np.abs(values).max(initial=0.0))
