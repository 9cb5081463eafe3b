"""The one place where a report's figures are made: their look, and how they are kept.

Colours are those of Okabe and Ito, told apart by all; each strategy keeps its colour,
its mark and its dashes in every figure. Equal figures give equal bytes.
"""

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "INK",
    "PALE",
    "Style",
    "drawn_svg",
    "legend_above",
    "new_figure",
    "plot_intervals",
    "strategy_styles",
]

INK = "#2b3238"
PALE = "#b8c0c6"
_COLORS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5c48",
    "#333333",
)  # fmt: skip
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
_DASHES = ("-", "--", "-.", ":")
_ENTRY_IN, _LETTER_IN = 0.5, 0.07  # [inch] of a legend's entry at 8 points
_LOOK: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.labelsize": 8.5,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 5,
    "errorbar.capsize": 2.5,
    "svg.fonttype": "path",
    "svg.hashsalt": "limblink",
}


class Style(NamedTuple):
    """How a strategy is drawn everywhere."""

    color: str
    marker: str
    dash: str


def strategy_styles(labels: Sequence[str]) -> dict[str, Style]:
    """Give each strategy its style, in the plan's order; 32 are told apart."""
    styles = {}
    for k, label in enumerate(labels):
        again, color = divmod(k, len(_COLORS))
        styles[label] = Style(
            _COLORS[color],
            _MARKS[(color + again) % len(_MARKS)],
            _DASHES[(color + again) % len(_DASHES)],
        )
    return styles


def new_figure(
    columns: int = 1,
    rows: int = 1,
    *,
    width: float = 3.6,
    height: float = 2.7,
    share_x: bool = False,
    share_y: bool = False,
) -> "tuple[Figure, list[Axes]]":
    """Make a figure with panels, row by row.

    Args:
        columns: panels side by side.
        rows: panels one above the other.
        width: of a panel [inch].
        height: of a panel [inch].
        share_x: all panels have one horizontal range.
        share_y: all panels have one vertical range.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(
        rows, columns, squeeze=False, sharex=share_x, sharey=share_y
    )
    return figure, list(panels.ravel())


def legend_above(figure: "Figure", *axes: "Axes") -> None:
    """Put what is labelled in some panels above all, in as many columns as fit."""
    named: dict[str, Any] = {}
    for axis in axes:
        for handle, name in zip(*axis.get_legend_handles_labels(), strict=True):
            named.setdefault(name, handle)
    if not named:
        return
    widest = _ENTRY_IN + _LETTER_IN * max(len(name) for name in named)
    columns = max(1, min(len(named), int(figure.get_figwidth() / widest)))
    figure.legend(
        list(named.values()), list(named), loc="outside upper left", ncols=columns
    )


def plot_intervals(
    axis: "Axes", points: Sequence[tuple[float, ...]], **look: Any
) -> None:
    """Draw medians with their intervals.

    Args:
        axis: of a panel.
        points: x, median, lower and upper end of each; an end may be NaN.
        look: as matplotlib's errorbar takes it.
    """
    x, middle, low, high = np.array(points).T
    spread = np.abs(np.nan_to_num(np.stack([middle - low, high - middle])))
    axis.errorbar(x, middle, yerr=spread, **look)


def drawn_svg(draw: "Callable[[], Figure | None]") -> str | None:
    """Draw a figure in a report's look; return it as an SVG element for a page.

    Args:
        draw: makes the figure; None where there is nothing to draw.
    """
    import matplotlib as mpl

    text = io.StringIO()
    plain: dict[str, Any] = {"Date": None, "Creator": None}
    with mpl.rc_context(_LOOK):
        figure = draw()
        if figure is None:
            return None
        figure.savefig(text, format="svg", metadata=plain)
    whole = text.getvalue()
    return whole[whole.index("<svg") :]
