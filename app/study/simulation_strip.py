"""A strip of pictures of a simulated motion: equal times, side by side, one scale.

Drawn with matplotlib alone, in a parallel projection, patches sorted by depth: no
graphics card, no window.
"""

import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from app.errors import ConfigError
from app.study.simulate import Simulation
from app.study.simulation_record import Trace
from app.study.simulation_run import Sample
from app.study.simulation_scene import robot_surfaces
from models.numerics import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_strip"]

_LIGHT = np.array([-0.35, 0.55, 0.76])  # in the view: right, up, to the eye
_AMBIENT = 0.42
_WIDTH_IN, _HEIGHT_IN = 17.0, 6.0  # at most
_WATER = "#eef4f7"
_INK = "#39444c"
_SAND = "#e6dcc3"
_TRAIL = "#d23c2e"


class _View(NamedTuple):
    right: FloatArray
    up: FloatArray
    eye: FloatArray


def draw_strip(simulation: Simulation, out: Path, frames: int | None = None) -> None:
    """Draw a strip of a simulation.

    Args:
        simulation: what to draw.
        out: picture to write; its ending says PNG, PDF or SVG.
        frames: how many; None for what the case says.

    Raises:
        ConfigError: it cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    case, trace = simulation.case, simulation.trace
    count = min(frames or case.output.frames, trace.time_s.size)
    rows = np.unique(np.linspace(0, trace.time_s.size - 1, count).round().astype(int))
    view = _view(case.output.azimuth_deg, case.output.elevation_deg)
    follow = case.output.follow and case.base.motion != "fixed"
    patches = [_patches(simulation, _row(trace, row), view, follow) for row in rows]
    flat = np.concatenate([polygons.reshape(-1, 2) for polygons, _ in patches])
    low, high = flat.min(axis=0), flat.max(axis=0)
    size = high - low
    gap = 0.06 * float(size.max())
    step = float(size[0]) + gap
    width = step * len(rows) + gap
    height = float(size[1]) + 3.2 * gap
    scale = min(_WIDTH_IN / width, _HEIGHT_IN / height)
    figure = Figure(
        figsize=(max(width * scale, 6.0), height * scale + 0.5), layout="constrained"
    )
    FigureCanvasAgg(figure)
    axis = figure.add_subplot()
    axis.set_facecolor(_WATER)
    for k, (row, (polygons, colors)) in enumerate(zip(rows, patches, strict=True)):
        shift = np.array([k * step, 0.0])
        _draw_frame(axis, polygons + shift, colors)
        span = int(rows[k - 1]) if k else int(row), int(row) + 1
        _draw_trails(axis, simulation, trace, slice(*span), view, shift, follow)
        _caption(
            axis,
            trace,
            int(row),
            float(low[0] + 0.5 * size[0] + shift[0]),
            low,
            gap,
            follow,
        )
        if k:
            axis.axvline(float(low[0] + shift[0] - 0.5 * gap), color="white", lw=1.5)
    if case.ground is not None and not follow:
        _draw_ground(axis, 1e-3 * case.ground.height_mm, view, low, width)
    _scale_bar(axis, low, high, gap)
    axis.set_xlim(float(low[0] - gap), float(low[0] - gap + width))
    axis.set_ylim(float(low[1] - 2.0 * gap), float(high[1] + 1.2 * gap))
    axis.set_aspect("equal")
    axis.set_xticks([])
    axis.set_yticks([])
    for edge in axis.spines.values():
        edge.set_visible(False)
    figure.suptitle(f"{simulation.robot.name}: {case.title}", color=_INK, fontsize=12)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(out, dpi=150)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{out}: the picture cannot be written: {error}. Give a PNG, PDF or SVG "
            "file in a folder you may write to."
        ) from error


def _view(azimuth_deg: float, elevation_deg: float) -> _View:
    azimuth, elevation = math.radians(azimuth_deg), math.radians(elevation_deg)
    eye = np.array(
        [
            math.cos(azimuth) * math.cos(elevation),
            math.sin(azimuth) * math.cos(elevation),
            math.sin(elevation),
        ]
    )
    right = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
    return _View(right, np.cross(eye, right), eye)


def _row(trace: Trace, row: int) -> Sample:
    return Sample(**{name: getattr(trace, name)[row] for name in Sample._fields})


def _patches(
    simulation: Simulation, sample: Sample, view: _View, follow: bool
) -> tuple[FloatArray, FloatArray]:
    """(n, 4, 2) patches that face the eye, farthest first, and (n, 3) their colours."""
    from matplotlib.colors import to_rgb

    axes = np.stack([view.right, view.up, view.eye])
    origin = sample.root_pose[:3, 3] if follow else np.zeros(3)
    corners, colors = [], []
    for surface in robot_surfaces(
        simulation.robot, simulation.plan, simulation.case, sample
    ):
        seen = (surface.points - origin) @ axes.T
        quads = np.stack(
            [seen[:-1, :-1], seen[:-1, 1:], seen[1:, 1:], seen[1:, :-1]], axis=2
        ).reshape(-1, 4, 3)
        corners.append(quads)
        colors.append(np.tile(to_rgb(surface.color), (len(quads), 1)))
    quads, tints = np.concatenate(corners), np.concatenate(colors)
    normal = np.cross(quads[:, 2] - quads[:, 0], quads[:, 3] - quads[:, 1])
    size = np.linalg.norm(normal, axis=1)
    whole = size > 1e-14
    quads, tints, normal = quads[whole], tints[whole], normal[whole] / size[whole, None]
    normal *= np.where(normal[:, 2:] < 0.0, -1.0, 1.0)  # both sides are seen
    light = np.clip(normal @ (_LIGHT / np.linalg.norm(_LIGHT)), 0.0, 1.0)
    shade = _AMBIENT + (1.0 - _AMBIENT) * light
    glint = 0.25 * light[:, None] ** 24
    tints = np.clip(tints * shade[:, None] + glint, 0.0, 1.0)
    order = np.argsort(quads[:, :, 2].mean(axis=1))
    return quads[order, :, :2], tints[order]


def _draw_frame(axis: "Axes", polygons: FloatArray, colors: FloatArray) -> None:
    from matplotlib.collections import PolyCollection

    axis.add_collection(
        PolyCollection(
            list(polygons), facecolors=colors, edgecolors=colors, linewidths=0.3
        )
    )


def _draw_trails(
    axis: "Axes",
    simulation: Simulation,
    trace: Trace,
    span: slice,
    view: _View,
    shift: FloatArray,
    follow: bool,
) -> None:
    """The tips' ways since the picture before, in the frame that this one is in."""
    for limb in range(len(simulation.plan.limbs)):
        path = trace.tips[span, limb]
        if follow:
            path = path - trace.root_pose[span, :3, 3]
        across, up = path @ view.right + shift[0], path @ view.up + shift[1]
        axis.plot(across, up, color=_TRAIL, lw=0.8, alpha=0.6)


def _caption(
    axis: "Axes",
    trace: Trace,
    row: int,
    middle: float,
    low: FloatArray,
    gap: float,
    follow: bool,
) -> None:
    words = f"{trace.time_s[row]:.2f} s"
    if follow:
        way = np.linalg.norm(trace.root_pose[row, :3, 3] - trace.root_pose[0, :3, 3])
        words += f", {1e3 * way:.0f} mm"
    axis.text(
        middle,
        float(low[1]) - 0.6 * gap,
        words,
        ha="center",
        va="top",
        fontsize=10,
        color=_INK,
    )


def _draw_ground(
    axis: "Axes", height: float, view: _View, low: FloatArray, width: float
) -> None:
    """The ground's level, at the depth of the world's origin."""
    level = height * float(view.up[2])
    left = float(low[0]) - width
    axis.axhspan(float(low[1]) - width, level, color=_SAND, zorder=0)
    axis.plot([left, left + 3.0 * width], [level, level], color=_INK, lw=0.8, zorder=0)


def _scale_bar(axis: "Axes", low: FloatArray, high: FloatArray, gap: float) -> None:
    """A bar of a round length at the upper left."""
    rough = 0.35 * float(high[0] - low[0])
    power = 10.0 ** math.floor(math.log10(rough))
    length = power * max(part for part in (1, 2, 5) if part * power <= rough)
    x, y = float(low[0]), float(high[1]) + 0.6 * gap
    axis.plot([x, x + length], [y, y], color=_INK, lw=2.0, solid_capstyle="butt")
    axis.text(
        x + length + 0.3 * gap, y, f"{1e3 * length:g} mm", va="center", fontsize=9,
        color=_INK,
    )  # fmt: skip
