"""What a report shows of trials on a path and in contact, and of the harness."""

import csv
import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.config.robot import load_robot
from app.config.task import load_task
from app.config.task_place import PlacedTask, place_task
from app.study.analysis.table import row_of
from app.study.fact import Fact
from app.study.factorial.plan import StudyPlan
from app.study.factorial.run import TRACE, packed
from app.study.factorial.store import Store
from app.study.factorial.study import plan_jobs
from app.study.factorial.trace import trace_table
from app.study.factorial.trial_job import TrialJob
from app.study.harness.jobs import HarnessJob
from app.study.report import harness, reproduced, write
from app.study.targets.line import judge_line

COUNT = 120
TIME = np.linspace(0.0, 12.0, COUNT)
PLAN = StudyPlan.model_validate(
    {
        "name": "traces",
        "title": "Traces",
        "question": "Which?",
        "robot": "rov-arm",
        "seeds": 2,
        "reproduce": ["line"],
        "harness": ["facts", "critical-delays"],
        "strategies": [
            {"name": "two-port"},
            {"name": "two-port", "label": "two-port k 0.1", "deadband": 0.1},
        ],
        "links": [{"preset": "ideal", "delay_ms": 50.0}],
        "tasks": [
            {"name": "line", "operators": ["programme"]},
            {"name": "press", "variants": ["k300"], "robot": "ursula"},
        ],
    }
)


def columns(task: PlacedTask, seed: int) -> dict[str, Any]:
    """A tip along the line, a millimetre or two beside it; or in and out of the pad."""
    flat, far = np.zeros((COUNT, 3)), np.full((COUNT, 3), np.nan)
    found: dict[str, Any] = {
        "time_s": TIME, "force_hand": flat, "force_tip": flat, "force_limb": flat,
        "force_told": flat, "object": far, "port_energy": 0.001 * TIME,
        "injected_energy": 0.0 * TIME, "mismatch": 0.0 * TIME,
        "surface_stiffness": np.where(TIME > 6.0, 280.0, np.nan),
        "surface_point": flat, "surface_normal": flat, "driving": np.ones(COUNT),
        "held": 0.0 * TIME,
    }  # fmt: skip
    if task.curve is not None:
        share = np.clip((TIME - 2.0) / 8.0, 0.0, 1.0)
        index = np.round(share * (len(task.curve.points) - 1)).astype(int)
        tip = task.curve.points[index] + np.array([0.0, 0.0, 1e-3 * (1 + seed)])
    else:
        depth = 0.01 * np.sin(TIME)[:, None]
        tip = task.pads[0].place - depth * task.pads[0].normal
        push = -300.0 * np.maximum(0.0, depth) * task.pads[0].normal
        found |= {"force_hand": push, "force_tip": push, "surface_point": tip}
    return found | {"tip": tip, "hand": tip, "shown": tip}


def fill(job: TrialJob, store: Store) -> None:
    spec = job.spec
    task = place_task(load_task(spec.task), load_robot(spec.robot), spec.cell.variant)
    names = ("path_rms_mm", "path_rms_85_mm", "path_most_85_mm", "path_lag_s")
    figures: dict[str, Any] = {
        "success": True, "time_s": 9.0, "counted_s": 9.0, "start_s": 0.0,
        "end_s": 12.0, "moves": 3, "bytes_per_s": 2e3, "age_mean_s": 0.06,
        "down_sent_hz": 900.0 if spec.deadband == 0.0 else 60.0, "up_sent_hz": 900.0,
    }  # fmt: skip
    if task.curve is not None:
        figures |= dict.fromkeys(names, 1.0 + spec.seed)
    else:
        figures |= {"contact_s": 6.0, "stiffness_error": 0.1, "surface_error_mm": 0.4}
    result = {
        "name": spec.name, "cell": spec.cell.__dict__, "seed": spec.seed,
        "verdict": "success", "figures": figures, "events": [], "hardness": 1.0,
        "path_s": 2.0, "round_trip_set_s": 0.1, "trace_sha256": "0" * 64,
    }  # fmt: skip
    stamps = (1e9 * TIME).astype(np.int64)
    arrays = columns(task, spec.seed)
    assert trace_table(COUNT, arrays).shape[0] == COUNT  # no column is missing
    arrays = {name: value.astype(np.float32) for name, value in arrays.items()} | {
        "applied_ns": np.stack([stamps, stamps - 50_000_000], axis=1),
        "clock_zero_ns": np.array([0]),
    }
    files = {"result.json": json.dumps(result).encode(), TRACE: packed(arrays)}
    store.accept_files(job.name, files, 1)


def fill_harness(job: HarnessJob, store: Store) -> None:
    finding: Any = [
        {"wall": "stiff", "arm": arm, "delay_s": delay, "linear_s": None, "sign": ""}
        for arm, delay in (("relaxed", 0.033), ("light", None))
    ]
    if job.part == "facts":
        off = job.label == "operator_facts"
        fact = Fact("A1", f"of {job.label}", "1 ms", "2 ms", "± 1", holds=not off)
        finding = [asdict(fact)]
    result = {"name": job.name, "finding": finding}
    store.accept_files(job.name, {"result.json": json.dumps(result).encode()}, 1)


def test_traces_and_the_harness_are_drawn_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drawn(draw: Any) -> str | None:  # all but the file, which takes long
        return None if draw() is None else "<svg/>"

    for part in (harness, reproduced, write):
        monkeypatch.setattr(part, "drawn_svg", drawn)
    jobs = plan_jobs(PLAN)
    with Store(tmp_path) as store:
        for job in jobs:
            if isinstance(job, TrialJob):
                fill(job, store)
            elif isinstance(job, HarnessJob):
                fill_harness(job, store)
        text = write.write_report(PLAN, jobs, store).read_text()
        rows = [row_of(store.result(j.name)) for j in jobs if isinstance(j, TrialJob)]
    for words in (
        "Paths as the robot went them",
        "Push along the surface",
        "Push shown to the hand",
        "What was learned of the surface",
        "E_net: that, less what the tip",
        "Age of the newest command",
        "Packets sent both ways",
        "Distance from the line along it",
        "From which delay each way on",
    ):
        assert text.count(words) >= 1, words
    # what does not hold stands first
    assert "2 of 3 acceptance facts hold" in text
    assert text.index("of operator_facts") < text.index("of bilateral_facts")
    facts = list(csv.DictReader(io.StringIO((tmp_path / "facts.csv").read_text())))
    assert [row["holds"] for row in facts].count("False") == 1
    # one deadband more is no other strategy to the harness
    assert sum(isinstance(j, HarnessJob) and j.part != "facts" for j in jobs) == 1
    told = {fact.what: fact for fact in judge_line(rows)}
    greatest = told["programme, two-port, ideal: greatest distance, first 85 %"]
    assert greatest.holds
    assert "worst 2.00" in greatest.ours


def test_a_line_that_strays_or_is_not_set_out_on_does_not_hold() -> None:
    def row(most_mm: float | None) -> Any:
        cell = {
            "strategy": "predictive", "link": "ideal", "task": "line",
            "variant": "line", "operator": "programme", "mismatch": "nominal",
        }  # fmt: skip
        figures = {"path_most_85_mm": most_mm}
        return row_of(
            {"name": "x", "cell": cell, "seed": 0, "verdict": "failed",
             "figures": figures}
        )  # fmt: skip

    assert judge_line([row(3.0), row(4.0)])[0].holds
    assert not judge_line([row(3.0), row(6.7)])[0].holds
    assert not judge_line([row(3.0), row(None)])[0].holds
    assert not judge_line([row(None)])[0].holds
    assert judge_line([]) == []
