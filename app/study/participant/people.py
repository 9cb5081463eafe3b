"""A report's section on the people: how many, and the workload that they told."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from app.errors import LogError
from app.study.analysis.statistics import (
    Interval,
    bootstrap_interval,
    holm,
    paired_delta,
    signed_rank_test,
)
from app.study.factorial.store import Store, write_whole
from app.study.participant.workload import SCALES
from app.study.report.page import Page

__all__ = ["add_people", "workload_path"]

_SEED = 1988


def workload_path(store: Store, participant: int, letter: str) -> Path:
    """Return where a participant's answers about a system are kept."""
    return store.folder / f"workload_p{participant:02d}_{letter}.json"


def add_people(page: Page, store: Store, baseline: str) -> list[Path]:
    """Add what people answered, by strategy.

    Args:
        page: the report.
        store: of the study.
        baseline: label of the strategy that the others are compared with.

    Returns:
        The files written beside the page.

    Raises:
        LogError: an answer cannot be read, or a file not be written.
    """
    told = [_read(path) for path in sorted(store.folder.glob("workload_p*.json"))]
    page.heading("People")
    people = {item["participant"] for item in told}
    page.text(
        f"The NASA-TLX form was answered by {len(people)} (raw: the mean of six scales "
        "of 0 to 100; more is worse). Seeds stand for people here: 100 times the "
        "participant's number, and how often the same was done before."
    )
    if not told:
        return []
    names = sorted({item["strategy"] for item in told}, key=lambda s: s != baseline)
    raw = {
        name: {
            item["participant"]: float(item["raw_load"])
            for item in told
            if item["strategy"] == name
        }
        for name in names
    }
    _table(page, told, raw)
    _compared(page, raw, baseline)
    path = store.folder / "workload.csv"
    write_whole(path, _csv(told).encode())
    return [path]


def _table(
    page: Page, told: list[dict[str, Any]], raw: dict[str, dict[int, float]]
) -> None:
    rows = []
    for name, loads in raw.items():
        interval = bootstrap_interval(np.array(list(loads.values())), seed=_SEED)
        means = [
            np.mean([e["answers"][scale.key] for e in told if e["strategy"] == name])
            for scale in SCALES
        ]
        cells = (name, str(len(loads)), _shown(interval))
        rows.append((*cells, *(f"{mean:.0f}" for mean in means)))
    heads = ("strategy", "#people", "#raw load, mean and 95 %")
    page.table(
        (*heads, *(f"#{scale.title}" for scale in SCALES)),
        rows,
        "Workload by strategy. Performance: 0 is perfect, 100 is failure.",
    )


def _compared(page: Page, raw: dict[str, dict[int, float]], baseline: str) -> None:
    base = raw.get(baseline, {})
    found = []
    for name, loads in raw.items():
        both = sorted(set(loads) & set(base))
        if name != baseline and both:
            ways = np.array([loads[person] - base[person] for person in both])
            found.append((name, ways, signed_rank_test(ways, seed=_SEED)))
    if not found:
        return
    page.table(
        ("strategy", f"#load less that of {baseline}, 95 %", "#p (Holm)", "#Cliff's δ",
         "#people"),
        [
            (
                name,
                _shown(bootstrap_interval(ways, seed=_SEED)),
                f"{p:.2g}",
                f"{0.0 - paired_delta(ways):.2g}",
                str(ways.size),
            )
            for (name, ways, _), p in zip(
                found, holm([item[2] for item in found]), strict=True
            )
        ],
        "Raw load within people. p: signed ranks. δ above 0: less load.",
    )  # fmt: skip


def _shown(interval: Interval) -> str:
    if not np.isfinite(interval.low):
        return f"{interval.value:.1f}"
    return f"{interval.value:.1f} [{interval.low:.1f}, {interval.high:.1f}]"


def _read(path: Path) -> dict[str, Any]:
    keys = {"participant", "strategy", "letter", "raw_load", "answers"}
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if not keys <= set(found):
            raise ValueError(f"needs {', '.join(sorted(keys))}")
    except (OSError, ValueError) as error:
        raise LogError(
            f"{path}: cannot be read: {error}. Move it away: that form is asked for "
            "again."
        ) from error
    return found


def _csv(told: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    scales = [scale.key for scale in SCALES]
    writer.writerow(["participant", "strategy", "letter", *scales, "raw_load"])
    for item in told:
        answers = [item["answers"][key] for key in scales]
        writer.writerow(
            [item["participant"], item["strategy"], item["letter"], *answers,
             item["raw_load"]]
        )  # fmt: skip
    return out.getvalue()
