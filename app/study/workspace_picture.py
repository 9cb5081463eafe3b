"""The picture of a limb's workspace, and the report beside it."""

from pathlib import Path
from typing import Any

import numpy as np

from app.config.robot import load_robot
from app.errors import ConfigError
from app.study.workspace import (
    SAMPLES,
    Workspace,
    describe_workspace,
    sample_workspace,
)
from models.numerics import FloatArray

__all__ = ["draw_workspace", "report_workspace"]

_SECTION = 0.04  # half thickness of a drawn section, over the greatest size


def report_workspace(
    robot: str, limb: str, out: Path, count: int = SAMPLES, seed: int = 0
) -> list[str]:
    """Sample a limb's workspace, draw it, and say how large it is.

    Args:
        robot: a shipped name, or the path of a TOML file.
        limb: name of one of its limbs or legs.
        out: picture to write (PNG, PDF or SVG, by its ending).
        count: number of samples.
        seed: of the random numbers.

    Returns:
        Lines of text: sizes beside the source's, and the limits.

    Raises:
        ConfigError: no such robot or limb, or `out` cannot be written.
    """
    workspace = sample_workspace(load_robot(robot), limb, count, seed)
    draw_workspace(workspace, out)
    return describe_workspace(workspace)


def draw_workspace(workspace: Workspace, out: Path) -> None:
    """Draw two sections and the view along the limb, with the bounding box.

    Args:
        workspace: what to draw.
        out: picture to write; its ending says PNG, PDF or SVG.

    Raises:
        ConfigError: it cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    points = workspace.points * 1e3
    figure = Figure(figsize=(12.0, 5.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 3)
    thick = _SECTION * float(workspace.size.max()) * 1e3
    middle = 0.5 * (workspace.low + workspace.high) * 1e3
    views = (
        (0, 2, 1, "section at y = 0"),
        (1, 2, 0, "section at x = 0"),
        (0, 1, None, "all of it, seen along z"),
    )
    for axis, (across, up, cut, title) in zip(axes, views, strict=True):
        _draw_view(axis, points, across, up, None if cut is None else (cut, 0.0, thick))
        axis.set_title(title, fontsize=10, pad=18)
        box = workspace.low * 1e3, workspace.high * 1e3
        _draw_box(axis, box, across, up, middle)
    figure.suptitle(f"{workspace.robot} {workspace.limb}: where its tip can get")
    figure.supxlabel("\n".join(describe_workspace(workspace)), fontsize=8.5)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(out, dpi=110)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{out}: the picture cannot be written: {error}. Give a PNG, PDF or SVG "
            "file in a folder you may write to."
        ) from error


def _draw_view(
    axis: Any,
    points: FloatArray,
    across: int,
    up: int,
    cut: tuple[int, float, float] | None,
) -> None:
    """Fill the cells that a section, or the whole set, touches."""
    if cut is not None:
        normal, at, thick = cut
        points = points[np.abs(points[:, normal] - at) <= thick]
    size = (
        max(float(np.ptp(points[:, k])) for k in (across, up)) if len(points) else 1.0
    )
    cell = max(size / 75.0, 1e-3)
    edges = [
        np.arange(points[:, k].min() - cell, points[:, k].max() + 2.0 * cell, cell)
        for k in (across, up)
    ]
    counts, *_ = np.histogram2d(points[:, across], points[:, up], bins=edges)
    filled = np.where(counts.T > 0.0, 1.0, np.nan)
    axis.pcolormesh(*edges, filled, cmap="Blues", vmin=0.0, vmax=1.7)
    axis.plot(0.0, 0.0, "o", color="#d23c2e", markersize=5)
    axis.annotate("base", (0.0, 0.0), (6, 4), textcoords="offset points", fontsize=8)
    axis.set_aspect("equal")
    axis.set_xlabel(f"{'xyz'[across]} [mm]")
    axis.set_ylabel(f"{'xyz'[up]} [mm]")
    axis.grid(visible=True, alpha=0.3)


def _draw_box(
    axis: Any,
    box: tuple[FloatArray, FloatArray],
    across: int,
    up: int,
    middle: FloatArray,
) -> None:
    """Outline the bounding box with the lengths of its edges."""
    low, high = box
    x0, x1, y0, y1 = low[across], high[across], low[up], high[up]
    axis.plot([x0, x1, x1, x0, x0], [y0, y0, y1, y1, y0], color="#39444c", lw=1.0)
    style = {"textcoords": "offset points", "fontsize": 9, "color": "#39444c"}
    axis.annotate(
        f"{x1 - x0:.0f} mm", (middle[across], y1), (0, 4), ha="center", **style
    )
    axis.annotate(
        f"{y1 - y0:.0f} mm",
        (x1, middle[up]),
        (4, 0),
        va="center",
        rotation=90,
        **style,
    )
