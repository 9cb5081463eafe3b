"""Move and wait: every move costs a round trip; a prediction waits once (Ferrell 1965).

The simulated person of the product, frame by frame, reaches over 200 mm for targets of
20 and 5 mm. The time until the person *knows* grows with the round trip by the number
of moves with the robot's own picture, and by one, the confirmation, with a prediction;
the time until the hand rests does not grow at all then.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from app.study.analysis.statistics import Interval, bootstrap_interval
from app.study.fact import Fact
from app.study.move_and_wait import step_reach
from app.study.targets.target import Finding, Target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["WAITING"]

_WIDTHS_MM = (20.0, 5.0)
_TRIPS_S = (0.0, 0.5, 1.0, 2.0, 4.0)
_PERSONS = 4  # of one seed
_MARGIN = 0.03


def _measure(seed: int) -> Finding:
    found: Finding = {}
    for width in _WIDTHS_MM:
        for predicted in (False, True):
            reaches = [
                [
                    step_reach(1e-3 * width, trip, person, predicted=predicted)
                    for trip in _TRIPS_S
                ]
                for person in range(_PERSONS * seed, _PERSONS * (seed + 1))
            ]
            found[_key(width, predicted=predicted)] = {
                "time_s": [[item.time_s for item in row] for row in reaches],
                "moves": [[item.moves for item in row] for row in reaches],
            }
    return found


def _key(width: float, *, predicted: bool) -> str:
    return f"{'predictive' if predicted else 'move-and-wait'}, {width:g} mm"


def _times(
    findings: Sequence[Finding], key: str, name: str
) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """(persons, round trips)."""
    rows = [row for item in findings for row in item[key][name]]
    found: np.ndarray[tuple[int, int], np.dtype[np.float64]] = np.array(
        rows, dtype=np.float64
    )
    return found


def _slopes(findings: Sequence[Finding], key: str) -> Interval:
    """Slope of time over round trip, person by person, with its interval."""
    times = _times(findings, key, "time_s")
    trips = np.array(_TRIPS_S)
    away = trips - trips.mean()
    slopes = (times - times.mean(axis=1, keepdims=True)) @ away / (away @ away)
    return bootstrap_interval(slopes, seed=5)


def _judge(findings: Sequence[Finding]) -> list[Fact]:
    facts = []
    for width in _WIDTHS_MM:
        key = _key(width, predicted=False)
        slope = _slopes(findings, key)
        moves = float(_times(findings, key, "moves").mean())
        facts.append(
            Fact(
                "move-and-wait",
                f"{key}: dT/dRTT against the number of moves",
                f"{moves:.2f} moves",
                f"{slope.value:.2f} [{slope.low:.2f}, {slope.high:.2f}]",
                "± 3 %",
                abs(slope.value - moves) <= _MARGIN * moves,
            )
        )
        key = _key(width, predicted=True)
        slope = _slopes(findings, key)
        facts.append(
            Fact(
                "move-and-wait",
                f"{key}: dT/dRTT, the confirmation left out",
                "flat",
                f"{slope.value - 1.0:+.3f} [{slope.low - 1.0:+.3f}, "
                f"{slope.high - 1.0:+.3f}]",
                "± 0.05",
                abs(slope.value - 1.0) <= 0.05,
            )
        )
    return facts


def _draw(findings: Sequence[Finding]) -> "Figure":
    from app.study.report.canvas import new_figure, strategy_styles

    figure, axes = new_figure(len(_WIDTHS_MM), 1, width=3.7, height=2.9, share_y=True)
    styles = strategy_styles(["move-and-wait", "predictive"])
    for axis, width in zip(axes, _WIDTHS_MM, strict=True):
        for predicted in (False, True):
            key = _key(width, predicted=predicted)
            style = styles["predictive" if predicted else "move-and-wait"]
            times = _times(findings, key, "time_s")
            trips = np.array(_TRIPS_S)
            points = np.array(
                [bootstrap_interval(times[:, k], seed=k) for k in range(trips.size)]
            )
            spread = np.stack(
                [points[:, 0] - points[:, 1], points[:, 2] - points[:, 0]]
            )
            slope = _slopes(findings, key)
            axis.errorbar(
                trips, points[:, 0], yerr=np.nan_to_num(np.abs(spread)),
                color=style.color, marker=style.marker, linestyle="none",
                label=f"{key.split(',')[0]}: {slope.value:.2f} s/s",
            )  # fmt: skip
            line = points[:, 0].mean() + slope.value * (trips - trips.mean())
            axis.plot(trips, line, color=style.color, linewidth=0.9)
            if predicted:
                axis.plot(
                    trips, line - trips, color=style.color, linewidth=0.9,
                    linestyle="--", label="its hand rests",
                )  # fmt: skip
        axis.set_title(f"target {width:g} mm, 200 mm away")
        axis.set_xlabel("round trip [s]")
        axis.legend()
    axes[0].set_ylim(bottom=0.0)  # of both, once all is drawn
    axes[0].set_ylabel("time until the person knows [s]")
    return figure


WAITING = Target(
    "move-and-wait",
    "A round trip for every move",
    "Ferrell 1965: completion time is that without delay and a round trip a move; "
    "Hu et al. 2016: a predictive display removes almost all of it",
    "The product's simulated person, frame by frame on one axis, with a robot that "
    "follows at once; four persons a seed.",
    _measure,
    _judge,
    _draw,
    "Time until the person knows that the target is met: mean over persons with 95 % "
    "intervals, and the line through them with its slope.",
)
"""The target."""
