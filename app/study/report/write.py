"""The report of a study: what was asked, what failed, what was found, with what."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from app.study.analysis.compare import Comparison
from app.study.analysis.statistics import RESAMPLES, Interval
from app.study.analysis.table import Row
from app.study.factorial.jobs import Job
from app.study.factorial.plan import StudyPlan
from app.study.factorial.store import Store, write_whole
from app.study.factorial.study import library_versions, write_manifest
from app.study.report.canvas import drawn_svg
from app.study.report.data import StudyData, condition_title
from app.study.report.exhibits import EXHIBITS, FAILURES, THREATS
from app.study.report.harness import add_harness
from app.study.report.page import Page
from app.study.report.reproduced import reproduce
from app.study.report.tables import comparisons_csv, trials_csv

__all__ = ["write_report"]

_MOST_FAILURES = 40


def write_report(
    plan: StudyPlan,
    jobs: tuple[Job, ...],
    store: Store,
    also: Callable[[Page], list[Path]] = lambda _: [],
) -> Path:
    """Write report.html, the CSV files and the manifest of what is finished.

    Args:
        plan: the study.
        jobs: all of it.
        store: what is finished.
        also: adds a section of its own, and returns the files written beside it.

    Returns:
        The path of the page.

    Raises:
        LogError: a result cannot be read, or a file not be written.
    """
    data = StudyData(plan, jobs, store)
    page = Page(plan.title)
    page.text(plan.question, "question")
    if data.unfinished:
        page.text(
            f"{len(data.unfinished)} of {len(jobs)} jobs are not finished: this is a "
            "report of the others.",
            "warn",
        )
    written = []
    if data.table.rows:
        _failures(page, data)
        _verdicts(page, data)
        _results(page, data)
        _links(page, data)
        for name, text in (
            ("trials.csv", trials_csv(data)),
            ("comparisons.csv", comparisons_csv(data)),
        ):
            write_whole(store.folder / name, text.encode())
            written.append(store.folder / name)
    written += also(page)
    written += reproduce(page, data)
    written += add_harness(page, data)
    _configuration(page, data)
    if data.table.rows:
        _index(page, data)
        page.heading("What may be wrong with it")
        page.items(THREATS)
    path = store.folder / "report.html"
    write_whole(path, page.html().encode())
    write_manifest(plan, jobs, store, [*written, path])
    return path


def _number(value: float | None, digits: int = 3) -> str:
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:.{digits}g}" if abs(value) < 1e4 else f"{value:.0f}"


def _between(interval: Interval) -> str:
    if not math.isfinite(interval.low):
        return _number(interval.value)
    return (
        f"{_number(interval.value)} [{_number(interval.low)}, {_number(interval.high)}]"
    )


def _verdicts(page: Page, data: StudyData) -> None:
    info = data.info
    page.heading("Verdict")
    if not data.comparisons:
        page.text(f"There are no trials to be compared with {data.plan.reference}.")
        return
    told = [item for item in data.comparisons if item.verdict(info) != "not told apart"]
    for item in told:
        page.text(_sentence(item, data), "verdict")
    if not told:
        page.text(
            f"By {info.title}, no strategy is told apart from {data.plan.reference} at "
            f"the 5 % level with {len(data.plan.roots)} seeds, after Holm's correction "
            f"for {len(data.comparisons)} comparisons.",
            "verdict",
        )
    rows = []
    for item in data.comparisons:
        word = item.verdict(info)
        mark = {"better": "+", "worse": "!"}.get(word, "")
        rows.append(
            (
                item.strategy,
                condition_title(item.condition),
                f"{mark}{word}",
                _between(item.effect),
                _number(item.p_holm, 2),
                _number(item.delta, 2),
                f"{item.won} / {item.lost}",
                _number(item.p_success, 2),
                str(item.pairs)
                + (f" ({item.missing} missing)" if item.missing else ""),
            )
        )
    effect = "ratio" if info.logarithmic else f"difference [{info.unit}]"
    page.table(
        (
            "strategy", "condition", f"against {data.plan.reference}",
            f"#{effect}, 95 %", "#p (Holm)", "#Cliff's δ", "#won / lost",
            "#p (McNemar)", "#pairs",
        ),
        rows,
        f"{info.title.capitalize()} against {data.plan.reference}, paired by seed. "
        f"Intervals: BCa bootstrap, {RESAMPLES:,} resamples. p: signed ranks, exact "
        "where that is possible; a trial that failed ranks last. δ above 0: better. "
        "Won, lost: pairs in which one alone succeeded.",
    )  # fmt: skip


def _sentence(item: Comparison, data: StudyData) -> str:
    info = data.info
    where = condition_title(item.condition)
    if info.logarithmic:
        amount = f"{_between(item.effect)} times that of {item.baseline}"
    else:
        amount = f"{_between(item.effect)} {info.unit} from {item.baseline}"
    return (
        f"{where}: {item.strategy} is {item.verdict(info)} than {item.baseline}. Its "
        f"{info.title} is {amount} (p = {_number(item.p_holm, 2)} after Holm)."
    )


def _failures(page: Page, data: StudyData) -> None:
    rows = data.table.rows
    failed = [row for row in rows if not row.success]
    page.heading("Failures")
    page.text(
        f"{len(failed)} of {len(rows)} trials did not succeed."
        if failed
        else f"All {len(rows)} trials succeeded."
    )
    for draw, caption in FAILURES:
        svg = drawn_svg(partial(draw, data))
        if svg is not None:
            page.figure(svg, caption)
    if failed:
        page.table(
            ("trial", "#seed", "end", "#after s", "last words"),
            [
                (
                    f"{row.cell.strategy} · {condition_title(row.cell.condition)}",
                    str(row.seed),
                    f"!{row.verdict}",
                    _number(row.figures["end_s"]),
                    _last_words(row.result["events"]),
                )
                for row in failed[:_MOST_FAILURES]
            ],
            f"Trials that failed{_more(len(failed))}.",
        )


def _more(count: int) -> str:
    if count <= _MOST_FAILURES:
        return ""
    return f", the first {_MOST_FAILURES} of {count}; all are in trials.csv"


def _last_words(events: list[dict[str, Any]]) -> str:
    told = [item for item in events if item["severity"] != "info"]
    return str(told[-1]["text"]) if told else "–"


def _results(page: Page, data: StudyData) -> None:
    info = data.info
    page.heading("Results")
    page.table(
        (
            "strategy", "condition", "#trials", "#succeeded",
            f"#{info.title} [{info.unit}], median and 95 %",
        ),
        [
            (
                item.strategy,
                condition_title(item.condition),
                str(item.trials),
                str(item.successes),
                _between(item.value),
            )
            for item in data.summaries
        ],
        "Every cell. A trial that failed counts with its time-out."
        if info.needs_success
        else "Every cell, failed trials included.",
    )  # fmt: skip
    for draw, caption in EXHIBITS:
        svg = drawn_svg(partial(draw, data))
        if svg is not None:
            page.figure(svg, caption.format(title=info.title.capitalize()))


def _links(page: Page, data: StudyData) -> None:
    page.heading("The link as measured")
    rows = []
    for link in data.table.levels("link"):
        own = [row for row in data.table.rows if row.cell.link == link]
        for strategy in data.table.levels("strategy"):
            some = [row for row in own if row.cell.strategy == strategy]
            if not some:
                continue

            def median(name: str, some: list[Row] = some) -> str:
                values = data.table.values(some, name)
                values = values[np.isfinite(values)]
                return _number(float(np.median(values)) if values.size else None)

            rows.append(
                (
                    link, strategy, _number(data.round_trip_s(link)),
                    median("round_trip_s"), median("down_delay_s"),
                    median("up_delay_s"), median("down_lost"), median("up_lost"),
                    median("down_sent_hz"), median("up_sent_hz"),
                    median("bytes_per_s"), median("age_mean_s"), median("age_p99_s"),
                )
            )  # fmt: skip
    page.table(
        (
            "link", "strategy", "#round trip set [s]", "#measured [s]", "#down [s]",
            "#up [s]", "#lost down", "#lost up", "#down [1/s]", "#up [1/s]",
            "#bytes/s", "#age, mean [s]", "#age, p99 [s]",
        ),
        rows,
        "Medians over trials of what packets met. Down and up: from handing over to "
        "arrival, waiting and serialisation included. Age: of the newest command that "
        "the robot had applied.",
    )  # fmt: skip


def _configuration(page: Page, data: StudyData) -> None:
    plan = data.plan
    page.heading("Configuration")
    page.text(
        f"Seeds: {', '.join(str(root) for root in plan.roots)}. Each is the root of a "
        "SeedSequence with children for operator, link down, link up, environment and "
        "sensors; the link is drawn by slots of 10 ms and the operator by moves, so "
        "that all strategies meet the same. Versions: "
        + ", ".join(f"{name} {text}" for name, text in library_versions().items())
        + ". The hashes of every file are in manifest.json."
    )
    page.code(plan.model_dump_json(indent=1), "The plan, resolved")


def _index(page: Page, data: StudyData) -> None:
    page.heading("Trials")
    page.text(
        "Each trial has a folder under trials/ with result.json, trace.npz and, where "
        "recorded, recording.mcap (limblink replay FILE; Foxglove opens it too). The "
        "fingerprint is the SHA-256 of its 1 kHz trace."
    )
    page.table(
        ("trial", "end", f"#{data.info.title} [{data.info.unit}]", "fingerprint"),
        [
            (
                row.name,
                row.verdict if row.success else f"!{row.verdict}",
                _number(row.figures.get(data.info.column)),
                str(row.result["trace_sha256"])[:16],
            )
            for row in data.table.rows
        ],
        folded=f"All {len(data.table.rows)} trials",
    )
