"""Facts A14 and A15: reaching over a late link, and the age of what is known.

The printed figures of A14 are means over persons, on one axis: over two or three, the
error across a move makes more of them correct it. Here 2,000 persons are averaged move
by move; that the simulated person, looked at frame by frame, does the same is tested.
"""

from collections.abc import Iterator

from app.study.age import periodic_age
from app.study.age_goals import AGE_GOALS, DELAY_S, PERIOD_S, QUANTILE, measure_age
from app.study.fact import Fact, fact_near
from app.study.move_and_wait import WAIT_GOALS, mean_reach

__all__ = ["operator_facts"]

_PERSONS = 2000
_ROUND_TRIP_S = 4.0
_WAIT_MARGIN = 0.03
_AGE_MARGIN = 0.01
_PACKETS = 40_000
_NARROW_S = (8.58, 16.59, 12.58)  # W 5: at once, late, late but predicted


def _waiting() -> Iterator[Fact]:
    for goal in WAIT_GOALS:
        width = 1e-3 * goal.width_mm
        late = mean_reach(width, _ROUND_TRIP_S, _PERSONS)
        at_once = mean_reach(width, 0.0, _PERSONS)
        slope = (late.time_s - at_once.time_s) / _ROUND_TRIP_S
        yield _near(f"dT/dRTT, W {goal.width_mm:g} mm", goal.moves, slope, "")
    width = 1e-3 * WAIT_GOALS[-1].width_mm
    predicted = mean_reach(width, _ROUND_TRIP_S, _PERSONS, predicted=True)
    for what, printed, ours in zip(
        ("RTT 0", "RTT 4 s", "RTT 4 s predicted"),
        _NARROW_S,
        (at_once.time_s, late.time_s, predicted.time_s),
        strict=True,
    ):
        yield _near(f"T, W 5 mm, {what}", printed, ours, "s")


def _near(what: str, printed: float, ours: float, unit: str) -> Fact:
    return fact_near("A14", what, printed, ours, _WAIT_MARGIN * printed, unit)


def _ages() -> Iterator[Fact]:
    for goal in AGE_GOALS:
        law = periodic_age(PERIOD_S, DELAY_S, goal.loss, QUANTILE)
        sent = measure_age(goal.loss, _PACKETS, seed=0)
        for how, found in (("law", law), ("channel", sent)):
            for name, printed, ours in zip(
                ("mean", "p99"), (goal.mean_s, goal.p99_s), found, strict=True
            ):
                what = f"age {name}, loss {goal.loss:g}, {how}"
                yield fact_near("A15", what, printed, ours, _AGE_MARGIN * printed, "s")


def operator_facts() -> Iterator[Fact]:
    """Find both facts."""
    yield from _waiting()
    yield from _ages()
