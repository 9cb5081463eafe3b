"""Strategies against a baseline, in pairs of trials with the same seed.

Of times the paired difference is that of logarithms, and told as a ratio; of other
figures it is the plain one. A trial that failed counts with its time-out in the
estimate, and above every success in the ranks: no strategy gains by losing its hard
trials. Of figures that a failed trial may have too (forces, traffic) all trials count.
Pairs of which one has no figure are told as missing, not left out in silence.
"""

import hashlib
import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.study.analysis.statistics import (
    Interval,
    bootstrap_interval,
    holm,
    mcnemar,
    paired_delta,
    signed_rank_test,
)
from app.study.analysis.table import Row, Table
from app.study.factorial.plan import Measure

__all__ = [
    "MEASURES",
    "CellSummary",
    "Comparison",
    "MeasureInfo",
    "compare",
    "summarise",
]

_ALPHA = 0.05


@dataclass(frozen=True)
class MeasureInfo:
    """What strategies can be compared by.

    Attributes:
        column: name of the figure.
        title: for axes.
        unit: for axes.
        less_is_better: else more.
        logarithmic: compared as a ratio.
        needs_success: a failed trial has none and counts as the worst.
    """

    column: str
    title: str
    unit: str
    less_is_better: bool = True
    logarithmic: bool = False
    needs_success: bool = False


MEASURES: dict[Measure, MeasureInfo] = {
    "time": MeasureInfo(
        "counted_s", "completion time", "s", logarithmic=True, needs_success=True
    ),
    "path_rms": MeasureInfo("path_rms_mm", "distance to the path (RMS)", "mm"),
    "force_error": MeasureInfo("force_error_aligned", "force error, aligned", "1"),
    "peak_force": MeasureInfo("peak_force_n", "greatest contact force", "N"),
    "throughput": MeasureInfo(
        "throughput_bit_s",
        "throughput",
        "bit/s",
        less_is_better=False,
        needs_success=True,
    ),
    "injected_energy": MeasureInfo("injected_mj", "energy given to the hand", "mJ"),
    "moves": MeasureInfo("moves", "moves of the hand", "1", needs_success=True),
    "bytes_per_s": MeasureInfo(
        "bytes_per_s", "traffic, both ways", "B/s", logarithmic=True
    ),
}


@dataclass(frozen=True)
class Comparison:
    """A strategy against the baseline in one condition.

    Attributes:
        strategy: label.
        baseline: label.
        condition: link, task, variant, operator, mismatch.
        pairs: seeds that both have.
        missing: pairs of which one has no figure.
        effect: mean paired difference; of a logarithmic measure the ratio to the
            baseline.
        p: of no difference.
        p_holm: adjusted for all comparisons of the study.
        delta: Cliff's, above 0 where the strategy is *better*.
        won: pairs in which the strategy alone succeeded.
        lost: pairs in which the baseline alone did.
        p_success: McNemar's.
    """

    strategy: str
    baseline: str
    condition: tuple[str, ...]
    pairs: int
    missing: int
    effect: Interval
    p: float
    p_holm: float
    delta: float
    won: int
    lost: int
    p_success: float

    def verdict(
        self, info: MeasureInfo
    ) -> Literal["better", "worse", "not told apart"]:
        """What is found at the 5 % level after Holm."""
        if not self.p_holm < _ALPHA or self.delta == 0.0:
            return "not told apart"
        return "better" if self.delta > 0.0 else "worse"


@dataclass(frozen=True)
class CellSummary:
    """One cell's figures.

    Attributes:
        strategy: label.
        condition: link, task, variant, operator, mismatch.
        trials: how many there are.
        successes: of them.
        ends: how the others ended, and how often.
        value: median of the measure with its interval.
    """

    strategy: str
    condition: tuple[str, ...]
    trials: int
    successes: int
    ends: dict[str, int]
    value: Interval


def _seed(*words: object) -> int:
    """Seed of a resampling, by what is resampled."""
    text = "\0".join(str(word) for word in words)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def summarise(table: Table, info: MeasureInfo) -> list[CellSummary]:
    """Sum every cell up."""
    found = []
    for cell in table.cells:
        rows = table.of(cell)
        ends: dict[str, int] = {}
        for row in rows:
            if not row.success:
                ends[row.verdict] = ends.get(row.verdict, 0) + 1
        values = table.values(rows, info.column)
        values = values[np.isfinite(values)]
        seed = _seed("cell", info.column, cell)
        interval = bootstrap_interval(values, "median", seed=seed)
        found.append(
            CellSummary(
                cell.strategy,
                cell.condition,
                len(rows),
                sum(row.success for row in rows),
                ends,
                interval,
            )
        )
    return found


def compare(table: Table, info: MeasureInfo, baseline: str) -> list[Comparison]:
    """Compare every strategy with the baseline, in every condition.

    Args:
        table: of the study.
        info: what is compared.
        baseline: label of the strategy that the others are compared with.
    """
    found = []
    for condition in table.conditions:
        cells = {c.strategy: c for c in table.cells if c.condition == condition}
        if baseline not in cells:
            continue
        base = {row.seed: row for row in table.of(cells[baseline])}
        for strategy, cell in cells.items():
            if strategy == baseline:
                continue
            rows = [row for row in table.of(cell) if row.seed in base]
            pairs = [(row, base[row.seed]) for row in rows]
            found.append(_compare_pairs(pairs, info, strategy, baseline, condition))
    adjusted = holm([item.p for item in found])
    return [
        Comparison(**(item.__dict__ | {"p_holm": p}))
        for item, p in zip(found, adjusted, strict=True)
    ]


def _compare_pairs(
    pairs: list[tuple[Row, Row]],
    info: MeasureInfo,
    strategy: str,
    baseline: str,
    condition: tuple[str, ...],
) -> Comparison:
    plain, ranked = [], []
    missing = 0
    for ours, theirs in pairs:
        one, two = (_value(row, info) for row in (ours, theirs))
        if one is None or two is None:
            if not info.needs_success or ours.success == theirs.success:
                missing += 1
                continue
            ranked.append(_failed_rank(info, ours_failed=theirs.success))
            continue
        difference = math.log(one / two) if info.logarithmic else one - two
        plain.append(difference)
        if info.needs_success and ours.success != theirs.success:
            ranked.append(_failed_rank(info, ours_failed=theirs.success))
        elif info.needs_success and not ours.success:
            ranked.append(0.0)
        else:
            ranked.append(difference)
    seed = _seed("pair", info.column, strategy, baseline, condition)
    effect = bootstrap_interval(np.array(plain), seed=seed)
    if info.logarithmic:
        effect = Interval(*(math.exp(value) for value in effect))
    ranks = np.array(ranked)
    sign = -1.0 if info.less_is_better else 1.0
    won = sum(ours.success and not theirs.success for ours, theirs in pairs)
    lost = sum(theirs.success and not ours.success for ours, theirs in pairs)
    return Comparison(
        strategy,
        baseline,
        condition,
        len(pairs),
        missing,
        effect,
        signed_rank_test(ranks, seed=seed),
        1.0,
        sign * paired_delta(ranks) if ranks.size else math.nan,
        won,
        lost,
        mcnemar(won, lost),
    )


def _failed_rank(info: MeasureInfo, *, ours_failed: bool) -> float:
    worse = math.inf if info.less_is_better else -math.inf
    return worse if ours_failed else -worse


def _value(row: Row, info: MeasureInfo) -> float | None:
    value = row.figures.get(info.column)
    if value is None or (info.logarithmic and not value > 0.0):
        return None
    return float(value)
