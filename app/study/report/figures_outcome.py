"""Figures of how trials ended, how long they took, and who did better."""

import math
from itertools import product
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from app.study.analysis.compare import Comparison
from app.study.analysis.statistics import bootstrap_interval
from app.study.factorial.plan import StrategyChoice
from app.study.report.canvas import INK, legend_above, new_figure, plot_intervals
from app.study.report.data import StudyData, condition_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "draw_ends",
    "draw_forest",
    "draw_moves",
    "draw_packets",
    "draw_pareto",
    "draw_success",
    "draw_times",
]

_ENDS = {
    "success": "#dfe5e8",
    "timeout": "#e69f00",
    "failed": "#cc79a7",
    "drop": "#56b4e9",
    "over-force": "#d55e00",
    "diverged": "#333333",
}
_COLUMNS = 3
_PAGE_IN, _CELL_IN = 11.5, 0.55  # [inch] of a page, of a cell of successes
_LETTER_IN, _LINE_IN = 0.09, 0.17  # [inch] of a title
_MOST_LEVEL = 3  # names of links that stand level
_MOST_BARS, _MOST_PAIRS = 40, 60
_NARROW = 3.0  # of a range of ratios, to both sides
_MOST_TICKS, _TICKS_APART = 8, 0.08
_ASIDE = 0.12  # of the range of delays, over which strategies stand side by side


def draw_success(data: StudyData) -> "Figure":
    """Share of successes by strategy and link, a panel a task: figures and shades."""
    strategies, groups = data.table.levels("strategy"), data.groups
    links = sorted(data.table.levels("link"), key=data.round_trip_s)
    columns = min(max(1, int(_PAGE_IN / (1.6 + _CELL_IN * len(links)))), len(groups))
    width = (1.6 if columns == 1 else 0.8) + _CELL_IN * len(links)
    titles = [
        fill(
            condition_title(("", *group)).removeprefix(", "), round(width / _LETTER_IN)
        )
        for group in groups
    ]
    figure, axes = new_figure(
        columns,
        math.ceil(len(groups) / columns),
        width=width,
        height=1.1
        + 0.27 * len(strategies)
        + _LINE_IN * max(title.count("\n") for title in titles),
        share_y=True,
    )
    for axis, group, title in zip(axes, groups, titles, strict=False):
        share = np.full((len(strategies), len(links)), np.nan)
        for (i, strategy), (j, link) in product(
            enumerate(strategies), enumerate(links)
        ):
            rows = data.rows((link, *group), strategy)
            if rows:
                done = sum(row.success for row in rows)
                share[i, j] = done / len(rows)
                axis.text(
                    j, i, f"{done}/{len(rows)}", ha="center", va="center",
                    color="black" if share[i, j] > 0.55 else "white",
                )  # fmt: skip
        picture = axis.imshow(share, cmap="cividis", vmin=0.0, vmax=1.0, aspect="auto")
        axis.set_title(title)
        turn = 0.0 if len(links) <= _MOST_LEVEL else 45.0
        axis.set_xticks(range(len(links)), links, rotation=turn)
        axis.set_yticks(range(len(strategies)), strategies)
        axis.grid(visible=False)
    for axis in axes[len(groups) :]:
        axis.set_visible(False)
    slim = max(20.0, 6.0 * float(figure.get_figheight()))
    figure.colorbar(picture, ax=axes, label="share of successes", aspect=slim)
    return figure


def draw_ends(data: StudyData) -> "Figure | None":
    """How trials ended that did not succeed; None where all did."""
    from matplotlib.ticker import MaxNLocator

    failed = [item for item in data.summaries if item.ends]
    if not failed:
        return None
    worst = sorted(failed, key=lambda item: item.successes / item.trials)[:_MOST_BARS]
    failed = [item for item in failed if item in worst]
    figure, (axis,) = new_figure(width=6.4, height=1.0 + 0.24 * len(failed))
    names = [f"{item.strategy} · {condition_title(item.condition)}" for item in failed]
    left = np.zeros(len(failed))
    for end, color in _ENDS.items():
        counts = np.array(
            [item.successes if end == "success" else item.ends.get(end, 0)
             for item in failed], dtype=float,
        )  # fmt: skip
        if counts.any():
            axis.barh(range(len(failed)), counts, left=left, color=color, label=end)
        left += counts
    axis.set_yticks(range(len(failed)), names)
    axis.invert_yaxis()
    axis.set_xlabel("trials")
    axis.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axis.legend(ncols=3, loc="lower right", bbox_to_anchor=(1.0, 1.0))
    return figure


def draw_times(data: StudyData) -> "Figure":
    """The measure against the round trip: median, 95 % interval, every trial."""
    groups = data.groups
    columns = min(_COLUMNS, len(groups))
    figure, axes = new_figure(columns, math.ceil(len(groups) / columns), height=2.9)
    for axis, group in zip(axes, groups, strict=False):
        _draw_group(axis, data, group)
        axis.set_title(condition_title(("", *group)).removeprefix(", "))
    for axis in axes[len(groups) :]:
        axis.set_visible(False)
    legend_above(figure, *axes)
    return figure


def _draw_group(axis: "Axes", data: StudyData, group: tuple[str, ...]) -> None:
    info = data.info
    links = sorted(data.table.levels("link"), key=data.round_trip_s)
    trips = {link: data.round_trip_s(link) for link in links}
    first, last = min(trips.values()), max(trips.values())
    span = max(last - first, 0.5 * last, 0.1)
    strategies = data.table.levels("strategy")
    for k, strategy in enumerate(strategies):
        style = data.styles[strategy]
        shift = (
            min(0.03, _ASIDE / len(strategies))
            * span
            * (k - 0.5 * (len(strategies) - 1))
        )
        points: list[tuple[float, ...]] = []
        for link in links:
            rows = data.rows((link, *group), strategy)
            values = data.table.values(rows, info.column)
            failed = np.array([not row.success for row in rows], dtype=bool)
            x = trips[link] + shift
            hurt = failed & np.isfinite(values) & info.needs_success
            good = np.isfinite(values) & ~hurt
            axis.plot(
                np.full(good.sum(), x), values[good], ".", color=style.color,
                alpha=0.35, markersize=3,
            )  # fmt: skip
            axis.plot(
                np.full(hurt.sum(), x), values[hurt], "x", color=style.color,
                alpha=0.8, markersize=4,
            )  # fmt: skip
            kept = values[np.isfinite(values)]
            if kept.size:
                seed = len(points) + 1000 * k
                points.append((x, *bootstrap_interval(kept, "median", seed=seed)))
        if not points:
            continue
        plot_intervals(
            axis, points, color=style.color, marker=style.marker,
            linestyle=style.dash, label=strategy,
        )  # fmt: skip
    axis.set_xlim(first - 0.15 * span, last + 0.15 * span)
    if len(trips) <= _MOST_TICKS:
        ticks = sorted(set(trips.values()))
        apart = np.diff(ticks, prepend=-np.inf) > _TICKS_APART * span
        axis.set_xticks([tick for tick, far in zip(ticks, apart, strict=True) if far])
        axis.xaxis.set_major_formatter("{x:g}")
    axis.set_xlabel("round trip, as set [s]")
    axis.set_ylabel(f"{info.title} [{info.unit}]")
    _from_zero(axis)


def _from_zero(axis: "Axes") -> None:
    """Let the vertical range begin at 0 and leave room above what is drawn."""
    axis.set_ylim(0.0, 1.1 * max(float(axis.dataLim.y1), 1e-9))


def draw_forest(data: StudyData) -> "Figure | None":
    """Paired differences from the baseline with their intervals; None without any."""
    found = [item for item in data.comparisons if math.isfinite(item.effect.value)]
    if not found:
        return None
    clearest = sorted(found, key=_p_holm)[:_MOST_PAIRS]
    found = [item for item in found if item in clearest]
    info = data.info
    figure, (axis,) = new_figure(width=7.2, height=1.0 + 0.27 * len(found))
    none = 1.0 if info.logarithmic else 0.0
    axis.axvline(none, color=INK, linewidth=0.8)
    for k, item in enumerate(found):
        style = data.styles[item.strategy]
        value, low, high = item.effect
        low, high = (end if math.isfinite(end) else value for end in (low, high))
        clear = item.verdict(info) != "not told apart"
        axis.plot([low, high], [k, k], color=style.color)
        axis.plot(
            value, k, style.marker, color=style.color,
            markerfacecolor=style.color if clear else "white",
        )  # fmt: skip
    axis.set_yticks(
        range(len(found)),
        [f"{item.strategy} · {condition_title(item.condition)}" for item in found],
    )
    axis.set_ylim(len(found) - 0.4, -0.6)
    if info.logarithmic:
        axis.set_xscale("log")
        ends = [end for item in found for end in item.effect if math.isfinite(end)]
        wide = max(*ends, 1.0 / min(ends), 1.05) ** 1.1
        axis.set_xlim(1.0 / wide, wide)
        _log_ticks(axis, narrow=wide < _NARROW)
        axis.set_xlabel(
            f"{info.title}: ratio to {found[0].baseline} (mean of pairs, 95 % interval)"
        )
    else:
        axis.set_xlabel(
            f"{info.title}: difference from {found[0].baseline} [{info.unit}] "
            "(mean of pairs, 95 % interval)"
        )
    better = "better" if info.less_is_better else "worse"
    axis.annotate(
        f"← {better}", (0.0, 1.01), xycoords="axes fraction", color=INK, fontsize=8
    )
    return figure


def _p_holm(item: Comparison) -> float:
    return item.p_holm if math.isfinite(item.p_holm) else 1.0


def _log_ticks(axis: "Axes", *, narrow: bool = False) -> None:
    """Ticks with plain numbers; `narrow`: within less than a factor of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    axis.xaxis.set_major_locator(
        MaxNLocator(7) if narrow else LogLocator(subs=(1.0, 2.0, 5.0))
    )
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())


def draw_moves(data: StudyData) -> "Figure":
    """How many moves the hand made, strategy by strategy."""
    from matplotlib.ticker import MaxNLocator

    rows = data.table.rows
    most = int(max((row.figures.get("moves") or 0) for row in rows))
    bins = np.arange(0.5, most + 1.5, max(1, math.ceil(most / 24)))
    if bins.size < 2:
        bins = np.array([0.5, 1.5])
    strategies = data.table.levels("strategy")
    figure, axes = new_figure(
        1, len(strategies), width=5.2, height=1.1, share_x=True, share_y=True
    )
    for axis, strategy in zip(axes, strategies, strict=True):
        own = [row for row in rows if row.cell.strategy == strategy]
        for success, alpha in ((True, 0.85), (False, 0.35)):
            counts = [
                row.figures.get("moves") or 0 for row in own if row.success is success
            ]
            if counts:
                axis.hist(
                    counts, bins=bins.tolist(), color=data.styles[strategy].color,
                    alpha=alpha, label=None if success else "failed",
                )  # fmt: skip
        axis.set_title(strategy, loc="left")
        axis.set_ylabel("trials")
        axis.yaxis.set_major_locator(MaxNLocator(3, integer=True))
        axis.xaxis.set_major_locator(MaxNLocator(10, integer=True))
    axes[-1].set_xlabel("moves of the hand in a trial")
    return figure


def draw_packets(data: StudyData) -> "Figure | None":
    """Packets a second against k, for strategies that the plan has with several."""
    by_name: dict[str, list[StrategyChoice]] = {}
    for choice in data.plan.strategies:
        by_name.setdefault(choice.name, []).append(choice)
    families = {
        name: sorted(own, key=lambda item: item.deadband)
        for name, own in by_name.items()
        if len({item.deadband for item in own}) > 1
    }
    if not families:
        return None
    links = sorted(data.table.levels("link"), key=data.round_trip_s)
    columns = min(_COLUMNS, len(links))
    figure, axes = new_figure(
        columns, math.ceil(len(links) / columns), height=2.6, share_y=True
    )
    for axis, link in zip(axes, links, strict=False):
        for choices in families.values():
            style = data.styles[choices[0].title]
            points: list[tuple[float, ...]] = []
            for choice in choices:
                rows = [
                    row
                    for row in data.table.rows
                    if row.cell.link == link and row.cell.strategy == choice.title
                ]
                sent = sum(
                    data.table.values(rows, f"{way}_sent_hz") for way in ("down", "up")
                )
                kept = np.asarray(sent)[np.isfinite(sent)]
                if kept.size:
                    found = bootstrap_interval(kept, "median", seed=len(points))
                    points.append((choice.deadband, *found))
            if points:
                plot_intervals(
                    axis, points, color=style.color, marker=style.marker,
                    label=choices[0].name,
                )  # fmt: skip
        axis.set_title(link)
        axis.set_xlabel("Weber fraction k [1]")
    for axis in axes[len(links) :]:
        axis.set_visible(False)
    axes[0].set_ylim(bottom=0.0)  # of all, once all is drawn
    axes[0].set_ylabel("packets per second, both ways")
    legend_above(figure, *axes)
    return figure


def draw_pareto(data: StudyData) -> "Figure":
    """What the measure costs in traffic: median of every cell, a panel a task."""
    info, groups = data.info, data.groups
    columns = min(_COLUMNS, len(groups))
    figure, axes = new_figure(columns, math.ceil(len(groups) / columns), height=2.8)
    links = sorted(data.table.levels("link"), key=data.round_trip_s)
    for axis, group in zip(axes, groups, strict=False):
        for strategy in data.table.levels("strategy"):
            style = data.styles[strategy]
            label: str | None = strategy
            for k, link in enumerate(links):
                rows = data.rows((link, *group), strategy)
                traffic = data.table.values(rows, "bytes_per_s")
                values = data.table.values(rows, info.column)
                kept = np.isfinite(traffic) & np.isfinite(values)
                if not kept.any():
                    continue
                axis.plot(
                    np.median(traffic[kept]), np.median(values[kept]), style.marker,
                    color=style.color, label=label, markeredgecolor="white",
                    markersize=5.0 + 5.0 * k / max(1, len(links) - 1),
                    markeredgewidth=0.5,
                )  # fmt: skip
                label = None
        axis.set_xscale("log")
        low, high = axis.dataLim.x0, axis.dataLim.x1
        axis.set_xlim(low / 1.3, high * 1.3)
        _log_ticks(axis, narrow=1.3 * high < _NARROW * low)
        axis.set_title(condition_title(("", *group)).removeprefix(", "))
        axis.set_xlabel("bytes per second, both ways")
        axis.set_ylabel(f"{info.title} [{info.unit}]")
        _from_zero(axis)
    for axis in axes[len(groups) :]:
        axis.set_visible(False)
    legend_above(figure, *axes)
    return figure
