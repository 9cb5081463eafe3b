"""From which delay on model mediation shows forces better than two-port passivity.

Xu, Liu and Steinbach 2017: TDPA is better at small delays, a model at larger ones;
where they cross could not be read. Here a surface that nobody knows is pressed again
and again. The error of a press is RMS(F_m - F_e)/RMS(F_e), at most 1, F_e shifted by
the delay that the strategy has: back for TDPA, whose force comes from the robot, forth
for model mediation, whose robot follows the hand. A press in which the robot does not
touch counts 1: losing contact is no transparency. The error of n presses is their root
mean square. In the first, model mediation is blind until the surface has been told; in
all others it is exact; so the delay at which the two cross falls with n.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from app.study.analysis.statistics import bootstrap_interval
from app.study.fact import Fact
from app.study.metrics.transparency import force_error, shifted
from app.study.one_dof import run_one_dof
from app.study.one_dof_setup import Line, Move, Setup, Wall
from app.study.targets.target import Finding, Target
from app.teleop.strategy import Strategy
from models.numerics import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CROSSOVER", "crossing"]

_DELAYS_MS = (1.0, 2.0, 5.0, 10.0, 20.0, 35.0, 50.0, 75.0, 100.0, 150.0, 200.0, 500.0)
_STRATEGIES = (Strategy.TWO_PORT, Strategy.MODEL_MEDIATED)
_PRESSES = (2, 4, 10)
_JUDGED = 4
_RUN = 3  # presses that are run: the later ones are alike
_REACH = 0.08
_HOLD_S, _AWAY_S, _BACK_S = 2.0, 1.5, 1.0
_TOUCH_N = 0.1


def _setup(strategy: Strategy, delay: float, seed: int) -> Setup:
    """Presses of one person; how far, how fast and how hard varies with the seed."""
    random = np.random.default_rng((seed, 0xC0))
    reach = _REACH * float(random.uniform(0.9, 1.1))
    time_s = float(random.uniform(0.8, 1.3))
    wall = Wall(stiffness=500.0 * float(np.exp(0.3 * random.standard_normal())))
    moves: list[Move] = []
    at = 0.0
    for _ in range(_RUN):
        moves.append(Move(at, reach, time_s))
        at += time_s + _HOLD_S + 2.0 * delay
        moves.append(Move(at, 0.0, _BACK_S))
        at += _BACK_S + _AWAY_S + 2.0 * delay
    return Setup(
        strategy=strategy,
        wall=wall,
        line=Line(delay),
        moves=tuple(moves),
        duration=at,
        force_noise=0.02,
        limited=True,
        seed=seed,
    )


def _errors_of(setup: Setup) -> list[float]:
    """Error of every press."""
    run = run_one_dof(setup)
    late = round(setup.line.down / setup.period)
    hand = run.traces.hand_force[: run.ticks]
    tip = run.traces.contact_force[: run.ticks]
    if setup.strategy is Strategy.MODEL_MEDIATED:
        hand = shifted(hand, late)
    else:
        tip = shifted(tip, late)
    errors = []
    for go, back in zip(setup.moves[::2], setup.moves[1::2], strict=True):
        end = back.start + back.duration + 2.0 * setup.line.down
        span = (run.time >= go.start) & (run.time < end)
        touched = bool(np.sqrt(np.mean(tip[span] ** 2)) > _TOUCH_N)
        error = force_error(hand[span], tip[span]) if touched else 1.0
        errors.append(min(1.0, 1.0 if error is None else error))
    return errors


def _measure(seed: int) -> Finding:
    return {
        strategy.short: [
            _errors_of(_setup(strategy, 1e-3 * delay, seed)) for delay in _DELAYS_MS
        ]
        for strategy in _STRATEGIES
    }


def _error(presses: Sequence[float], count: int) -> float:
    """Error of so many presses, from that of the first and those of the later ones."""
    first, later = presses[0] ** 2, float(np.mean(np.square(presses[1:])))
    return float(np.sqrt((first + (count - 1) * later) / count))


def crossing(delays: FloatArray, first: FloatArray, second: FloatArray) -> float | None:
    """Return the delay from which on the second is lower for good; None: never.

    Args:
        delays: (n,) rising, above 0.
        first: (n,) of the one that is lower at small delays.
        second: (n,) of the other.
    """
    ahead = second - first
    if ahead[-1] >= 0.0:
        return None
    worse = np.flatnonzero(ahead >= 0.0)
    if not worse.size:
        return float(delays[0])
    k = int(worse[-1])
    part = ahead[k] / (ahead[k] - ahead[k + 1])
    low, high = np.log(delays[k]), np.log(delays[k + 1])
    return float(np.exp(low + part * (high - low)))


def _errors(finding: Finding, strategy: Strategy, count: int) -> FloatArray:
    """Error of so many presses at every delay."""
    rows = finding[strategy.short]
    return np.array([_error(row, count) for row in rows], dtype=np.float64)


def _crossings(findings: Sequence[Finding], count: int) -> FloatArray:
    delays = np.array(_DELAYS_MS)
    found = [
        crossing(delays, *(_errors(item, strategy, count) for strategy in _STRATEGIES))
        for item in findings
    ]
    return np.array([item for item in found if item is not None], dtype=np.float64)


def _judge(findings: Sequence[Finding]) -> list[Fact]:
    facts = []
    for count in _PRESSES:
        found = _crossings(findings, count)
        at = bootstrap_interval(found, "median", seed=7)
        facts.append(
            Fact(
                "crossover",
                f"delay each way from which a model is better, {count} presses",
                "there is one",
                f"{at.value:.0f} ms [{at.low:.0f}, {at.high:.0f}], in "
                f"{found.size} of {len(findings)} seeds",
                "in all seeds",
                found.size == len(findings),
            )
        )
    for k, better in ((0, 0), (-1, 1)):
        means = [
            float(np.mean([_errors(item, one, _JUDGED)[k] for item in findings]))
            for one in _STRATEGIES
        ]
        facts.append(
            Fact(
                "crossover",
                f"force error of {_JUDGED} presses at {_DELAYS_MS[k]:g} ms",
                f"{_STRATEGIES[better].short} less",
                ", ".join(
                    f"{one.short} {100 * mean:.0f} %"
                    for one, mean in zip(_STRATEGIES, means, strict=True)
                ),
                "order",
                means[better] < means[1 - better],
            )
        )
    return facts


def _draw(findings: Sequence[Finding]) -> "Figure":
    from app.study.report.canvas import (
        INK,
        PALE,
        legend_above,
        new_figure,
        strategy_styles,
    )

    figure, axes = new_figure(len(_PRESSES), 1, width=3.0, height=2.9, share_y=True)
    styles = strategy_styles([item.short for item in _STRATEGIES])
    for axis, count in zip(axes, _PRESSES, strict=True):
        for strategy in _STRATEGIES:
            style = styles[strategy.short]
            rows = np.array([_errors(item, strategy, count) for item in findings])
            points = np.array(
                [
                    bootstrap_interval(100.0 * rows[:, k], "median", seed=k)
                    for k in range(len(_DELAYS_MS))
                ]
            )
            spread = np.stack(
                [points[:, 0] - points[:, 1], points[:, 2] - points[:, 0]]
            )
            axis.errorbar(
                _DELAYS_MS, points[:, 0], yerr=np.nan_to_num(np.abs(spread)),
                color=style.color, marker=style.marker, label=strategy.title,
            )  # fmt: skip
        at = bootstrap_interval(_crossings(findings, count), "median", seed=7)
        if np.isfinite(at.value):
            axis.axvline(at.value, color=INK, linewidth=0.8, linestyle=":")
            axis.annotate(
                f"{at.value:.0f} ms", (at.value, 1.0), xytext=(3, -2), color=INK,
                xycoords=("data", "axes fraction"), textcoords="offset points",
                fontsize=8, va="top",
            )  # fmt: skip
            if np.isfinite(at.low):
                axis.axvspan(at.low, at.high, color=PALE, alpha=0.35, linewidth=0.0)
        axis.set_xscale("log")
        axis.set_title(f"{count} presses")
        axis.set_xlabel("delay each way [ms]")
        axis.set_ylim(0.0, 105.0)
    axes[0].set_ylabel("force error of all presses [%]")
    legend_above(figure, *axes)
    return figure


CROSSOVER = Target(
    "crossover",
    "From two-port passivity to a model",
    "Xu, Liu and Steinbach 2017: TDPA better at small, a model at larger delays",
    "One degree of freedom, the product's strategy kernels with guard and limits at "
    "1 kHz; a surface of about 500 N/m that nobody knows, pressed again and again.",
    _measure,
    _judge,
    _draw,
    "Force error against the delay, for a surface that is pressed so often: median "
    "over seeds with 95 % intervals. Dotted and shaded: where the two cross.",
)
"""The target."""
