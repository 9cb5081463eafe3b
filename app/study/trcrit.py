"""The critical delay of a strategy: from which delay each way on it is unstable.

Found on the harness of one degree of freedom, which runs the product's own kernels
(`app.study.one_dof`), by what `Run.stable` calls unstable: a grid of delays up to 1 s
first, as the curve need not be monotone, then bisection to 1 ms below its first
unstable delay.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from app.errors import ConfigError
from app.study.one_dof import run_one_dof
from app.study.one_dof_limits import DELAY_GRID, critical_delay, loop_of
from app.study.one_dof_setup import FREE, SOFT, STIFF, Setup, Wall
from app.teleop.held_loop import shown_share
from app.teleop.limits import delay_limit
from app.teleop.strategy import Strategy
from models.human_arm import GRIPS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "WALLS",
    "CriticalBar",
    "CriticalCase",
    "CriticalDelay",
    "critical_cases",
    "draw_bars",
    "draw_critical",
    "find_critical",
    "wall_named",
]

WALLS = {"free": FREE, "soft": SOFT, "stiff": STIFF}
"""Walls by name: none; 150 N/m and 2 N s/m; 2000 N/m and 5 N s/m."""

_COLORS = {"relaxed": "#0072b2", "light": "#e69f00", "firm": "#009e73"}
_INK = "#39444c"


@dataclass(frozen=True)
class CriticalCase:
    """What is asked about.

    Attributes:
        wall: its name, or its stiffness and damping as text.
        arm: a grip of `models.human_arm`.
        setup: the run whose delay is varied.
    """

    wall: str
    arm: str
    setup: Setup


@dataclass(frozen=True)
class CriticalDelay:
    """What was found of one case.

    Attributes:
        case: what was asked about.
        delay: critical delay each way [s], within half a millisecond; None: stable on
            the whole grid.
        linear: limit of the linear loop [s], infinite where it has none; None where
            the strategy has no linear law.
        stable_again: first greater delay of the grid that is stable [s]; None: none.
        sign: how it shows at the first unstable delay.
    """

    case: CriticalCase
    delay: float | None
    linear: float | None
    stable_again: float | None
    sign: str


def wall_named(text: str) -> tuple[str, Wall]:
    """Return a wall by name, or by stiffness [N/m] and damping [N s/m] as "K,B".

    Raises:
        ConfigError: it is neither.
    """
    if text in WALLS:
        return text, WALLS[text]
    try:
        stiffness, damping = (float(part) for part in text.split(","))
    except ValueError:
        stiffness = damping = math.nan
    if not (0.0 < stiffness <= 1e6 and 0.0 <= damping <= 1e4):
        raise ConfigError(
            f"--wall {text}: give {', '.join(WALLS)}, or stiffness and damping as "
            "K,B with K up to 1e6 N/m and B from 0 to 1e4 N s/m, such as 500,2."
        )
    name = f"{stiffness:g} N/m, {damping:g} N s/m"
    return name, Wall(stiffness=stiffness, damping=damping)


def critical_cases(
    strategies: Sequence[Strategy],
    walls: Sequence[str],
    arms: Sequence[str],
    base: Setup,
) -> list[CriticalCase]:
    """Return every case of a question, strategy by strategy.

    Args:
        strategies: to be tried.
        walls: as `wall_named` takes them.
        arms: grips of `models.human_arm`.
        base: all else.

    Raises:
        ConfigError: there is no such wall or arm.
    """
    for arm in arms:
        if arm not in GRIPS:
            raise ConfigError(f"--arm {arm}: there are {', '.join(GRIPS)}.")
    named = [wall_named(text) for text in walls]
    return [
        CriticalCase(
            name, arm, replace(base, strategy=strategy, wall=wall, arm=GRIPS[arm])
        )
        for strategy in strategies
        for name, wall in named
        for arm in arms
    ]


def find_critical(
    cases: Sequence[CriticalCase], greatest: float = 1.0
) -> Iterator[CriticalDelay]:
    """Find the critical delays one after another; each takes a second or so.

    Args:
        cases: what is asked about.
        greatest: delay up to which is looked [s].
    """
    grid = [delay for delay in DELAY_GRID if delay < greatest + 1e-9]
    for case in cases:
        delay = critical_delay(case.setup, grid)
        again, sign = None, ""
        if delay is not None:
            period = case.setup.period
            first = round(delay / period + 0.5) * period
            run = run_one_dof(case.setup.with_delay(first))
            sign = "leaves 0.5 m" if run.diverged else "swings on"
            above = (item for item in grid if item > delay)
            again = next(
                (d for d in above if run_one_dof(case.setup.with_delay(d)).stable),
                None,
            )
        yield CriticalDelay(case, delay, _linear(case.setup), again, sign)


def _linear(setup: Setup) -> float | None:
    """Limit of the linear loop [s]; None where there is no such law."""
    if setup.line.packet_ticks > 1 or setup.limited:
        return None
    loop, contact = loop_of(setup)
    if setup.strategy is Strategy.POSITION_POSITION:
        return delay_limit(loop, contact)
    if setup.strategy is Strategy.POSITION_FORCE:
        return delay_limit(loop, contact, shown_share(setup.parameters))
    return None


def draw_critical(found: Sequence[CriticalDelay], out: Path, greatest: float) -> None:
    """Draw a bar for every case, grouped by strategy and wall.

    Args:
        found: what to draw.
        out: picture to write; its ending says PNG, PDF or SVG.
        greatest: delay up to which was looked [s].

    Raises:
        ConfigError: it cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    bars = [
        CriticalBar(
            f"{item.case.setup.strategy.title}, {item.case.wall}",
            item.case.arm,
            item.delay,
            item.linear,
        )
        for item in found
    ]
    height = 1.6 + 0.34 * len(bars)
    figure = Figure(figsize=(9.0, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    draw_bars(axes, bars, greatest)
    axes.set_title("From which delay on the hand is not stable (one degree of freedom)")
    figure.legend(title="grip", loc="outside right upper", fontsize=8)
    try:
        figure.savefig(out, dpi=130)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"Cannot draw {out}: {error}. Use a writable folder and the ending .png, "
            ".pdf or .svg."
        ) from error


class CriticalBar(NamedTuple):
    """A critical delay as it is drawn."""

    title: str
    """Of its group; bars of one title stand together."""
    arm: str
    """A grip of `models.human_arm`."""
    delay: float | None
    """Each way [s]; None: stable up to the greatest that was tried."""
    linear: float | None
    """Limit of the linear loop [s]; None: there is none."""


def draw_bars(axes: "Axes", bars: Sequence[CriticalBar], greatest: float) -> None:
    """Draw bars, a row each.

    Args:
        axes: empty ones.
        bars: what to draw.
        greatest: delay up to which was looked [s].
    """
    for arm in dict.fromkeys(bar.arm for bar in bars):
        axes.plot([], [], "s", color=_COLORS[arm], markersize=9, label=arm)
    for row, bar in enumerate(bars):
        color = _COLORS[bar.arm]
        if bar.delay is None:
            axes.barh(row, 1e3 * greatest, color=color, alpha=0.25)
            text = f"  stable to {1e3 * greatest:g} ms"
            axes.text(1.0, row, text, va="center", size=8, color=_INK)
        else:
            axes.barh(row, 1e3 * bar.delay, color=color)
            drawn = [bar.delay, bar.linear or 0.0]
            axes.text(
                1e3 * max(value for value in drawn if value <= greatest),
                row,
                f"  {1e3 * bar.delay:.1f}",
                va="center",
                size=8,
                color=_INK,
            )
        if bar.linear is not None and bar.linear <= greatest:
            axes.plot([1e3 * bar.linear] * 2, [row - 0.4, row + 0.4], color=_INK)
    titles = [bar.title for bar in bars]
    first = [k for k, title in enumerate(titles) if title not in titles[:k]]
    middles = [k + 0.5 * (titles.count(titles[k]) - 1) for k in first]
    axes.set_yticks(middles, [titles[k] for k in first])
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlim(1.0, 2.0e3 * greatest)
    axes.set_xlabel("critical delay each way [ms]; line: limit of the linear loop")
