"""A study's report: one file that needs nothing else, failures first."""

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

from app.study.factorial.plan import StudyPlan
from app.study.factorial.store import Store
from app.study.factorial.study import plan_jobs
from app.study.report.canvas import strategy_styles
from app.study.report.page import Page
from app.study.report.write import write_report
from app.study.targets.crossover import crossing

PLAN = StudyPlan.model_validate(
    {
        "name": "fake",
        "title": "Fake <b>study</b>",
        "question": "Which?",
        "robot": "rov-arm",
        "seeds": 7,
        "strategies": [{"name": "move-and-wait"}, {"name": "predictive"}],
        "links": [{"preset": "ideal", "delay_ms": 500.0}],
        "tasks": [{"name": "reach"}],
    }
)


def fill(store: Store) -> None:
    """Results as of trials: predictive is faster, and fails in one."""
    for job in plan_jobs(PLAN):
        spec = job.spec  # type: ignore[attr-defined]
        fast = spec.cell.strategy == "predictive"
        failed = fast and spec.seed == 3
        time_s = (6.0 if fast else 10.0) + 0.5 * spec.seed
        figures = {
            "success": not failed,
            "time_s": None if failed else time_s,
            "counted_s": 60.0 if failed else time_s,
            "end_s": 60.0 if failed else time_s + 1.0,
            "moves": 5 + spec.seed,
            "bytes_per_s": 2000.0,
        }
        result = {
            "name": spec.name,
            "cell": spec.cell.__dict__,
            "seed": spec.seed,
            "verdict": "timeout" if failed else "success",
            "figures": figures,
            "events": [{"severity": "warning", "text": "It stood still."}],
            "round_trip_set_s": 1.0,
            "trace_sha256": "0" * 64,
        }
        store.accept_files(job.name, {"result.json": json.dumps(result).encode()}, 1)


def test_a_report_needs_nothing_else_and_shows_failures_first(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        fill(store)
        page = write_report(PLAN, plan_jobs(PLAN), store)
        text = page.read_text()
    # nothing is fetched: pictures are in the page
    assert not re.search(r"<(script|img|link|iframe)\b", text)
    assert not re.search(r'(?:src|href)="(?!#|data:)', text)
    assert "Fake &lt;b&gt;study&lt;/b&gt;" in text
    assert text.index("<h2>Failures") < text.index("<h2>Results")
    assert "1 of 14 trials did not succeed" in text
    assert "It stood still." in text
    found = list(csv.DictReader(io.StringIO((tmp_path / "trials.csv").read_text())))
    assert len(found) == 14
    assert [row["time_s"] for row in found if row["verdict"] == "timeout"] == [""]
    (told,) = csv.DictReader(io.StringIO((tmp_path / "comparisons.csv").read_text()))
    assert (told["won"], told["lost"], told["pairs"]) == ("0", "1", "7")
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert len(manifest["trials"]) == 14
    assert set(manifest["files"]) == {"trials.csv", "comparisons.csv", "report.html"}


def test_ids_of_one_figure_are_not_those_of_another() -> None:
    page = Page("x")
    svg = '<svg><path id="a"/><use href="#a" clip-path="url(#a)"/></svg>'
    page.figure(svg, "one")
    page.figure(svg, "two")
    text = page.html()
    for name in ("f1-a", "f2-a"):
        assert f'id="{name}"' in text
        assert f'href="#{name}" clip-path="url(#{name})"' in text


def test_many_strategies_are_told_apart_in_every_way() -> None:
    styles = strategy_styles([str(k) for k in range(32)])
    assert len(set(styles.values())) == 32
    first = [styles[str(k)] for k in range(8)]
    assert len({style.color for style in first}) == 8
    assert len({style.marker for style in first}) == 8


def test_where_two_curves_cross_for_good() -> None:
    delays = np.array([1.0, 10.0, 100.0])
    rising, flat = np.array([0.1, 0.2, 0.8]), np.array([0.4, 0.4, 0.4])
    assert crossing(delays, rising, flat) == pytest.approx(10.0 ** (1.0 + 1.0 / 3.0))
    assert crossing(delays, flat, rising) is None
    assert crossing(delays, flat, flat - 0.1) == 1.0
