"""Intervals and tests for paired trials, by scipy. Nothing here knows what it compares.

| question                       | answer                                            |
|--------------------------------|---------------------------------------------------|
| how sure is a mean or median   | bootstrap, bias-corrected and accelerated, 95 %   |
| do pairs differ                | signed ranks under all (or 9,999) changes of sign |
| do successes differ            | McNemar's test, exact                             |
| by how much, without units     | Cliff's delta within pairs, -1..1                 |
| many comparisons               | Holm's step-down                                  |

The bootstrap's and the permutations' generators are seeded by the caller, so that a
report is the same whenever it is made.
"""

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from models.numerics import FloatArray

__all__ = [
    "RESAMPLES",
    "Interval",
    "bootstrap_interval",
    "holm",
    "mcnemar",
    "paired_delta",
    "signed_rank_test",
    "slope_interval",
]

RESAMPLES = 10_000
_PERMUTATIONS = 9_999
_LEVEL = 0.95


class Interval(NamedTuple):
    """An estimate and where it may lie, 95 %; not finite where it is not known."""

    value: float
    low: float
    high: float


_STATISTICS: dict[str, Callable[..., FloatArray]] = {
    "mean": np.mean,
    "median": np.median,
}


def bootstrap_interval(
    values: FloatArray,
    statistic: Literal["mean", "median"] = "mean",
    *,
    seed: int,
    resamples: int = RESAMPLES,
) -> Interval:
    """Estimate a mean or median of (n,) independent values.

    Where the values leave BCa undefined (all equal, or a jackknife without spread) the
    interval is that of the percentiles; of fewer than two values none is known.
    """
    estimate = _STATISTICS[statistic]
    if values.size == 0:
        return Interval(math.nan, math.nan, math.nan)
    value = float(estimate(values))
    if values.size < 2:
        return Interval(value, math.nan, math.nan)
    if float(np.ptp(values)) == 0.0:
        return Interval(value, value, value)
    for method in ("BCa", "percentile"):
        found = _bootstrap((values,), estimate, method, seed, resamples)
        if math.isfinite(found[0]) and math.isfinite(found[1]):
            return Interval(value, *found)
    return Interval(value, math.nan, math.nan)


def slope_interval(
    x: FloatArray, y: FloatArray, *, seed: int, resamples: int = RESAMPLES
) -> Interval:
    """Estimate the slope of the least-squares line through (n,) resampled pairs."""

    def slope(x: FloatArray, y: FloatArray, axis: int = -1) -> FloatArray:
        dx = x - x.mean(axis=axis, keepdims=True)
        dy = y - y.mean(axis=axis, keepdims=True)
        spread = (dx * dx).sum(axis=axis)
        found: FloatArray = (dx * dy).sum(axis=axis) / np.where(
            spread == 0.0, np.nan, spread
        )
        return found

    value = float(slope(x, y))
    if x.size < 3 or float(np.ptp(y)) == 0.0:
        return Interval(value, value, value)
    for method in ("BCa", "percentile"):
        low, high = _bootstrap((x, y), slope, method, seed, resamples, paired=True)
        if math.isfinite(low) and math.isfinite(high):
            return Interval(value, low, high)
    return Interval(value, math.nan, math.nan)


def _bootstrap(
    data: tuple[FloatArray, ...],
    statistic: Callable[..., FloatArray],
    method: str,
    seed: int,
    resamples: int,
    *,
    paired: bool = False,
) -> tuple[float, float]:
    from scipy import stats

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # degenerate: told by what is not finite
        found = stats.bootstrap(
            data,
            statistic,
            n_resamples=resamples,
            confidence_level=_LEVEL,
            method=method,
            vectorized=True,
            paired=paired,
            rng=np.random.default_rng(seed),
        ).confidence_interval
    return float(found.low), float(found.high)


def signed_rank_test(differences: FloatArray, *, seed: int) -> float:
    """Return the two-sided p of no difference within pairs.

    Wilcoxon's statistic without its zeros, against all 2^n changes of sign where these
    are at most 9,999, else against so many drawn. An infinite difference has the
    highest rank, as of a pair of which one failed.

    Args:
        differences: (n,) within pairs.
        seed: of the signs drawn.
    """
    from scipy import stats

    kept = differences[differences != 0.0]
    if kept.size < 2:
        return 1.0  # one pair may differ either way
    ranks = np.sign(kept) * stats.rankdata(np.abs(kept))
    found = stats.permutation_test(
        (ranks,),
        np.sum,
        permutation_type="samples",
        n_resamples=_PERMUTATIONS,
        vectorized=True,
        rng=np.random.default_rng(seed),
    )
    return float(found.pvalue)


def mcnemar(first_only: int, second_only: int) -> float:
    """Return the exact two-sided p of equal success within pairs.

    Args:
        first_only: pairs of which the first alone succeeded.
        second_only: pairs of which the second alone did.
    """
    from scipy import stats

    trials = first_only + second_only
    if trials == 0:
        return 1.0
    return float(stats.binomtest(first_only, trials, 0.5).pvalue)


def paired_delta(differences: FloatArray) -> float:
    """Return Cliff's delta within pairs: share above 0 less share below, -1..1."""
    if differences.size == 0:
        return math.nan
    return float(np.mean(np.sign(differences)))


def holm(values: Sequence[float]) -> list[float]:
    """Adjust p values for their number by Holm's step-down."""
    order = sorted(range(len(values)), key=lambda k: values[k])
    adjusted = [1.0] * len(values)
    worst = 0.0
    for rank, k in enumerate(order):
        worst = max(worst, (len(values) - rank) * values[k])
        adjusted[k] = min(1.0, worst)
    return adjusted
