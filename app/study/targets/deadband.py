"""A perceptual deadband needs a tenth of the packets and is not felt (Hinterseer 2008).

A reach into the stiff wall, held, through position-force and through model mediation,
with the deadband in the loop. Packets are those of both ways together that signals
cause; of model mediation, which tells surfaces, those of the hand alone. The force
error is RMS(F_m - S F_e)/RMS(S F_e) with F_e a delay later or earlier, whichever way
the force goes, S the share of the force that the strategy shows.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from app.study.analysis.statistics import bootstrap_interval
from app.study.fact import Fact
from app.study.metrics.transparency import force_error, shifted
from app.study.one_dof_setup import STIFF, Line, Move, Setup
from app.study.targets.band import Banded, run_banded
from app.study.targets.target import Finding, Target
from app.teleop.strategy import Strategy
from models.numerics import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["DEADBAND", "SHARES"]

SHARES = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
_K = 0.1
_LESS = 0.9
_CHANGE = 0.1
_DURATION_S = 6.0
_SETTINGS = (
    (Strategy.POSITION_FORCE, 0.002, "position-force, 2 ms"),
    (Strategy.MODEL_MEDIATED, 0.1, "model-mediated, 100 ms"),
)


def _setup(strategy: Strategy, delay: float, seed: int) -> Setup:
    """One person's reach: how far, how fast and when varies from seed to seed."""
    random = np.random.default_rng((seed, 0xDB))
    reach = 0.08 * float(random.uniform(0.9, 1.1))
    time_s = float(random.uniform(0.8, 1.3))
    moves: tuple[Move, ...] = (Move(0.0, reach, time_s),)
    if strategy is Strategy.MODEL_MEDIATED:  # a first press finds the surface
        moves = (
            Move(0.0, reach, time_s),
            Move(2.0, 0.0, 1.0),
            Move(3.5, reach, time_s),
        )
    return Setup(
        strategy=strategy,
        wall=STIFF,
        line=Line(delay),
        moves=moves,
        duration=_DURATION_S if len(moves) == 1 else _DURATION_S + 3.5,
        force_noise=0.02,
        limited=True,
        seed=seed,
    )


def _error(banded: Banded) -> float:
    run = banded.run
    late = round(run.setup.line.down / run.setup.period)
    n = run.ticks
    hand, tip = run.traces.hand_force[:n], run.traces.contact_force[:n]
    if run.setup.strategy is Strategy.MODEL_MEDIATED:
        again = int(np.searchsorted(run.time, run.setup.moves[-1].start))
        hand, tip = shifted(hand, late)[again:], tip[again:]
        return force_error(hand, tip) or 0.0
    share = run.setup.parameters.force.share
    return force_error(hand, tip, share, late) or 0.0


def _sent(banded: Banded) -> tuple[int, int]:
    """Packets that went and that would have gone, once the idle time is over."""
    since = banded.run.setup.idle_ticks
    ways = [banded.down[since:]]
    if banded.run.setup.strategy is not Strategy.MODEL_MEDIATED:
        ways.append(banded.up[since:])
    return int(sum(way.sum() for way in ways)), sum(way.size for way in ways)


def _measure(seed: int) -> Finding:
    found: Finding = {}
    for strategy, delay, label in _SETTINGS:
        setup = _setup(strategy, delay, seed)
        rows = []
        for share in SHARES:
            banded = run_banded(setup, share)
            sent, offered = _sent(banded)
            seconds = _DURATION_S if len(setup.moves) == 1 else setup.duration
            rows.append(
                {
                    "share": share,
                    "sent_hz": sent / seconds,
                    "reduction": 1.0 - sent / offered,
                    "error": _error(banded),
                    "exact": banded.exact,
                }
            )
        found[label] = rows
    return found


def _column(
    findings: Sequence[Finding], label: str, share: float, name: str
) -> FloatArray:
    at = SHARES.index(share)
    return np.array([item[label][at][name] for item in findings], dtype=np.float64)


def _judge(findings: Sequence[Finding]) -> list[Fact]:
    facts = []
    for _, _, label in _SETTINGS:
        less = bootstrap_interval(_column(findings, label, _K, "reduction"), seed=1)
        facts.append(
            Fact(
                "deadband",
                f"{label}: packets saved at k = {_K:g}",
                "90 %",
                f"{100 * less.value:.1f} % "
                f"[{100 * less.low:.1f}, {100 * less.high:.1f}]",
                ">= 90 %",
                less.value >= _LESS,
            )
        )
        change = _column(findings, label, _K, "error") - _column(
            findings, label, 0.0, "error"
        )
        more = bootstrap_interval(change, seed=2)
        facts.append(
            Fact(
                "deadband",
                f"{label}: change of the force error at k = {_K:g}",
                "not felt",
                f"{100 * more.value:+.2f} % of the force "
                f"[{100 * more.low:+.2f}, {100 * more.high:+.2f}]",
                "< 10 %",
                abs(more.value) < _CHANGE,
            )
        )
    return facts


def _draw(findings: Sequence[Finding]) -> "Figure":
    from app.study.report.canvas import INK, new_figure, strategy_styles

    figure, (upper, lower) = new_figure(2, 1, width=3.7, height=2.9)
    styles = strategy_styles([label for _, _, label in _SETTINGS])
    for _, _, label in _SETTINGS:
        style = styles[label]
        for axis, name, scale in ((upper, "sent_hz", 1.0), (lower, "error", 100.0)):
            points = np.array(
                [
                    bootstrap_interval(
                        scale * _column(findings, label, share, name),
                        "median",
                        seed=round(1e3 * share),
                    )
                    for share in SHARES
                ]
            )
            spread = np.nan_to_num(
                np.stack([points[:, 0] - points[:, 1], points[:, 2] - points[:, 0]])
            )
            axis.errorbar(
                SHARES, points[:, 0], yerr=np.abs(spread), color=style.color,
                marker=style.marker, label=label,
            )  # fmt: skip
    upper.set_yscale("log")
    upper.set_ylabel("packets sent [1/s]")
    lower.set_ylabel("force error [% of the force]")
    lower.set_ylim(bottom=0.0)
    for axis in (upper, lower):
        axis.set_xlabel("Weber fraction k (0: all is sent)")
        axis.axvline(_K, color=INK, linewidth=0.7, linestyle=":")
    handles, names = upper.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper left", ncols=2)
    return figure


DEADBAND = Target(
    "deadband",
    "A deadband of a tenth",
    "Hinterseer 2008: up to 90 % fewer packets; Kammerl 2010: up to 96 %",
    "One degree of freedom, the product's strategy and deadband kernels at 1 kHz, "
    "deadband in the loop; a reach of 80 mm into a wall of 2000 N/m, held.",
    _measure,
    _judge,
    _draw,
    "Packets and force error against the Weber fraction: median over seeds with 95 % "
    "intervals. Dotted: k = 0.1.",
)
"""The target."""
