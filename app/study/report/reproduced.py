"""The part of a report that sets published results beside what is found here."""

import csv
import io
from functools import partial
from pathlib import Path

from app.study.fact import Fact
from app.study.factorial.store import write_whole
from app.study.report.canvas import drawn_svg
from app.study.report.data import StudyData
from app.study.report.page import Page
from app.study.targets.line import LINE_HOW, LINE_SOURCE, judge_line
from app.study.targets.target import find

__all__ = ["reproduce"]

_HEADS = ("result", "what", "published", "here, 95 %", "must be", "holds")


def reproduce(page: Page, data: StudyData) -> list[Path]:
    """Add every target that the plan asks for and that has been worked out.

    Returns:
        The files written beside the page.

    Raises:
        LogError: a file cannot be written.
    """
    wanted = [name for name in data.plan.reproduce if name in data.findings]
    line = judge_line(data.table.rows) if "line" in data.plan.reproduce else []
    if not wanted and not line:
        return []
    page.heading("Published results, reproduced")
    facts: list[Fact] = []
    for name in wanted:
        facts += find(name).judge(data.findings[name])
    facts += line
    page.table(
        _HEADS,
        [
            (
                fact.name,
                fact.what,
                fact.printed,
                fact.ours,
                fact.tolerance,
                "+yes" if fact.holds else "!NO",
            )
            for fact in facts
        ],
        "Estimates over seeds with 95 % intervals (BCa bootstrap).",
    )
    for name in wanted:
        target = find(name)
        findings = data.findings[name]
        page.text(f"{target.title}. {target.source}. {target.how}")
        svg = drawn_svg(partial(target.draw, findings))
        if svg is not None:
            page.figure(svg, f"{target.caption} {len(findings)} seeds.")
    if line:
        page.text(f"The line of a soft arm. {LINE_SOURCE}. {LINE_HOW}")
    path = data.store.folder / "reproduced.csv"
    write_whole(path, _csv(facts).encode())
    return [path]


def _csv(facts: list[Fact]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_HEADS)
    for fact in facts:
        writer.writerow(
            (fact.name, fact.what, fact.printed, fact.ours, fact.tolerance, fact.holds)
        )
    return out.getvalue()
