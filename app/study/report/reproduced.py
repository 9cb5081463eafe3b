"""The part of a report that sets published results beside what is found here."""

from functools import partial
from pathlib import Path

from app.study.fact import Fact
from app.study.factorial.store import write_whole
from app.study.report.canvas import drawn_svg
from app.study.report.data import StudyData
from app.study.report.figures_line import draw_line
from app.study.report.harness import fact_rows
from app.study.report.page import Page
from app.study.report.tables import facts_csv
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
        fact_rows(facts),
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
        svg = drawn_svg(partial(draw_line, data))
        if svg is not None:
            page.figure(
                svg,
                "Distance from the line along it: every trial, and their median. "
                "Dashed: what was published for the first 85 % (dotted).",
            )
    path = data.store.folder / "reproduced.csv"
    write_whole(path, facts_csv(_HEADS, facts).encode())
    return [path]
