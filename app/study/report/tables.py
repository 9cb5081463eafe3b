"""A study's figures as CSV, for R and the like; None is an empty field."""

import csv
import io
import math
from collections.abc import Iterable, Sequence
from typing import Any

from app.study.analysis.table import column_names
from app.study.fact import Fact
from app.study.report.data import StudyData

__all__ = ["comparisons_csv", "facts_csv", "trials_csv"]

_LEVELS = ("strategy", "link", "task", "variant", "operator", "mismatch")


def _text(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value)


def trials_csv(data: StudyData) -> str:
    """One line a trial: its levels, its seed, how it ended, all figures."""
    columns = column_names(data.table.rows)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*_LEVELS, "seed", "verdict", *columns, "name"])
    for row in data.table.rows:
        writer.writerow(
            [
                *(getattr(row.cell, level) for level in _LEVELS),
                row.seed,
                row.verdict,
                *(_text(row.figures.get(name)) for name in columns),
                row.name,
            ]
        )
    return out.getvalue()


def comparisons_csv(data: StudyData) -> str:
    """One line a comparison with the baseline."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        [
            "strategy", "baseline", *_LEVELS[1:], "measure", "pairs", "missing",
            "effect", "low", "high", "p", "p_holm", "delta", "won", "lost",
            "p_success", "verdict",
        ]
    )  # fmt: skip
    for item in data.comparisons:
        figures = (*item.effect, item.p, item.p_holm, item.delta)
        writer.writerow(
            [
                item.strategy, item.baseline, *item.condition, data.info.column,
                item.pairs, item.missing, *(_text(value) for value in figures),
                item.won, item.lost, _text(item.p_success), item.verdict(data.info),
            ]
        )  # fmt: skip
    return out.getvalue()


def facts_csv(heads: Sequence[str], facts: Iterable[Fact]) -> str:
    """One line a fact, under six heads."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    for fact in facts:
        writer.writerow(
            (fact.name, fact.what, fact.printed, fact.ours, fact.tolerance, fact.holds)
        )
    return out.getvalue()
