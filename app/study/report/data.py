"""What a report is made of: the table, its summaries and comparisons, the traces."""

from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from app.config.robot import build_robot_model, load_robot
from app.config.task import load_task
from app.config.task_place import PlacedTask, place_task
from app.study.analysis.compare import (
    MEASURES,
    CellSummary,
    Comparison,
    MeasureInfo,
    compare,
    summarise,
)
from app.study.analysis.table import Row, Table, row_of
from app.study.factorial.jobs import Job
from app.study.factorial.plan import HarnessName, StudyPlan
from app.study.factorial.run import TRACE
from app.study.factorial.store import Store
from app.study.factorial.trial_job import TrialJob
from app.study.harness.jobs import HarnessJob
from app.study.report.canvas import Style, strategy_styles
from app.study.targets.target import Finding, TargetJob

__all__ = ["StudyData", "condition_title"]

_PICKED_CONDITIONS = 6


class StudyData:
    """A study as far as it is finished."""

    def __init__(self, plan: StudyPlan, jobs: tuple[Job, ...], store: Store) -> None:
        """Read all results.

        Raises:
            LogError: one cannot be read.
        """
        self.plan, self.store = plan, store
        self.trials = [job for job in jobs if isinstance(job, TrialJob)]
        self._specs = {job.name: job.spec for job in self.trials}
        self.table = Table(
            row_of(store.result(job.name)) for job in self.trials if store.has(job.name)
        )
        self.findings: dict[str, list[Finding]] = {}
        """Of every target, seed by seed."""
        for job in jobs:
            if isinstance(job, TargetJob) and store.has(job.name):
                found = store.result(job.name)["finding"]
                self.findings.setdefault(job.target, []).append(found)
        self.harness: dict[HarnessName, dict[str, Any]] = {}
        """What the parts of the harness found, by label."""
        for job in jobs:
            if isinstance(job, HarnessJob) and store.has(job.name):
                found = store.result(job.name)["finding"]
                self.harness.setdefault(job.part, {})[job.label] = found
        self.unfinished = [job for job in jobs if not store.has(job.name)]

    @property
    def info(self) -> MeasureInfo:
        """What strategies are compared by."""
        return MEASURES[self.plan.measure]

    @cached_property
    def styles(self) -> dict[str, Style]:
        """How each strategy is drawn."""
        return strategy_styles([item.title for item in self.plan.strategies])

    @cached_property
    def summaries(self) -> list[CellSummary]:
        """Of every cell."""
        return summarise(self.table, self.info)

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """Of every strategy with the baseline."""
        base = self.plan.reference
        return [] if base is None else compare(self.table, self.info, base)

    @cached_property
    def groups(self) -> list[tuple[str, ...]]:
        """Conditions without the link: task, variant, operator, mismatch."""
        return list(dict.fromkeys(item[1:] for item in self.table.conditions))

    def round_trip_s(self, link: str) -> float:
        """Return the round trip of a link as it is set [s], by its label."""
        row = next(row for row in self.table.rows if row.cell.link == link)
        return float(row.result["round_trip_set_s"])

    def rows(self, condition: tuple[str, ...], strategy: str) -> list[Row]:
        """Trials of one strategy in one condition."""
        return [
            row
            for cell in self.table.cells
            if cell.condition == condition and cell.strategy == strategy
            for row in self.table.of(cell)
        ]

    def pick(self, condition: tuple[str, ...]) -> dict[str, Row]:
        """One trial of each strategy, of the seed in which the most of them succeed."""
        by_seed: dict[int, dict[str, Row]] = {}
        for strategy in self.table.levels("strategy"):
            for row in self.rows(condition, strategy):
                by_seed.setdefault(row.seed, {})[strategy] = row
        if not by_seed:
            return {}
        best = max(
            by_seed,
            key=lambda seed: (
                len(by_seed[seed]),
                sum(row.success for row in by_seed[seed].values()),
                -seed,
            ),
        )
        return by_seed[best]

    def trace(self, row: Row) -> dict[str, Any]:
        """The thinned trace of a trial, by column."""
        return _trace(str(self.store.trials / row.name / TRACE))

    def task(self, row: Row) -> PlacedTask:
        """The task of a trial, laid before its robot."""
        spec = self._specs[row.name]
        return _placed(spec.task, spec.robot, spec.cell.variant)

    def force_scale(self, row: Row) -> float:
        """Return S_f of a trial: what a force at the tip is multiplied with."""
        return self._specs[row.name].teleop.render.force_scale

    def tip_radius(self, row: Row) -> float:
        """Return the radius of the limb's round end in a trial [m]."""
        return _tip_radius(self._specs[row.name].robot, self.task(row).limb)

    def outages(self, row: Row) -> list[tuple[float, ...]]:
        """Outages by schedule on a trial's link, as its file gives them."""
        return list(self._specs[row.name].link.loss.outages)

    def conditions_with(self, *columns: str) -> list[tuple[str, ...]]:
        """Conditions in which some trial has a figure, at most six."""
        found = [
            condition
            for condition in self.table.conditions
            if any(
                row.figures.get(column) is not None
                for cell in self.table.cells
                if cell.condition == condition
                for row in self.table.of(cell)
                for column in columns
            )
        ]
        return found[:_PICKED_CONDITIONS]


@lru_cache(maxsize=64)
def _trace(path: str) -> dict[str, Any]:
    with np.load(path) as found:
        return {name: found[name] for name in found.files}


@lru_cache(maxsize=64)
def _placed(task: str, robot: str, variant: str) -> PlacedTask:
    return place_task(load_task(task), load_robot(robot), variant)


@lru_cache(maxsize=64)
def _tip_radius(robot: str, limb: int) -> float:
    model = build_robot_model(load_robot(robot))
    return float(model.segment_radius[model.limb_segment_start[limb + 1] - 1, 1])


def condition_title(condition: tuple[str, ...]) -> str:
    """Name a condition for people, leaving out what says nothing."""
    link, task, variant, operator, mismatch = condition
    words = [link, task if variant in {"one", "line"} else f"{task} {variant}"]
    if operator not in {"submover", "tracker", "presser", "retriever"}:
        words.append(operator)
    if mismatch != "nominal":
        words.append(mismatch)
    return ", ".join(words)
