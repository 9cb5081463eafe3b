"""Intervals and tests against figures that are known on paper."""

import math

import numpy as np
import pytest

from app.study.analysis.compare import MEASURES, compare, summarise
from app.study.analysis.statistics import (
    bootstrap_interval,
    holm,
    mcnemar,
    paired_delta,
    signed_rank_test,
    slope_interval,
)
from app.study.analysis.table import Row, Table
from app.study.factorial.cells import Cell


def test_the_interval_of_a_mean_is_that_of_student_for_normal_values() -> None:
    values = np.random.default_rng(1).normal(5.0, 2.0, size=200)
    found = bootstrap_interval(values, seed=3, resamples=2000)
    half = 1.97 * values.std(ddof=1) / math.sqrt(200)
    assert found.value == pytest.approx(values.mean())
    assert found.low == pytest.approx(values.mean() - half, abs=0.06)
    assert found.high == pytest.approx(values.mean() + half, abs=0.06)
    assert found == bootstrap_interval(values, seed=3, resamples=2000)


def test_an_interval_without_spread_is_a_point_and_one_value_has_none() -> None:
    same = bootstrap_interval(np.full(5, 2.0), "median", seed=0)
    assert same == (2.0, 2.0, 2.0)
    assert math.isnan(bootstrap_interval(np.array([2.0]), seed=0).low)
    assert math.isnan(bootstrap_interval(np.zeros(0), seed=0).value)


def test_five_pairs_that_all_differ_give_two_in_thirty_two() -> None:
    assert signed_rank_test(np.arange(1.0, 6.0), seed=0) == pytest.approx(2 / 32)
    # Wilcoxon's own table: n = 8, W- = 3 gives 0.0390625
    table = np.array([1.0, 2.0, -3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    assert signed_rank_test(table, seed=0) == pytest.approx(0.0390625)
    assert signed_rank_test(np.zeros(5), seed=0) == 1.0
    assert signed_rank_test(np.array([0.0, 3.0]), seed=0) == 1.0


def test_mcnemar_holm_delta_and_slope() -> None:
    assert mcnemar(5, 0) == pytest.approx(2 / 32)
    assert mcnemar(0, 0) == 1.0
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert paired_delta(np.array([1.0, 2.0, -1.0, 0.0])) == pytest.approx(0.25)
    x = np.arange(10.0)
    slope = slope_interval(x, 2.0 * x + 1.0, seed=0, resamples=100)
    assert slope.value == pytest.approx(2.0)


def row(strategy: str, seed: int, time_s: float | None) -> Row:
    figures = {"counted_s": 100.0 if time_s is None else time_s}
    verdict = "timeout" if time_s is None else "success"
    cell = Cell(strategy, "late", "reach", "a", "submover", "nominal")
    return Row(f"{strategy}{seed}", cell, seed, verdict, figures, {})


def test_a_strategy_that_loses_its_hard_trials_does_not_win() -> None:
    # fast where it succeeds; over successes alone it would halve the time
    base = [row("base", seed, 20.0 + seed) for seed in range(10)]
    hasty = [row("hasty", seed, 10.0 + 0.5 * seed) for seed in range(5)]
    hasty += [row("hasty", seed, None) for seed in range(5, 10)]
    table = Table(base + hasty)
    info = MEASURES["time"]
    (found,) = compare(table, info, "base")
    assert found.effect.value > 1.0
    assert (found.won, found.lost) == (0, 5)
    assert found.verdict(info) != "better"
    told = {item.strategy: item for item in summarise(table, info)}
    assert told["hasty"].ends == {"timeout": 5}
    assert told["hasty"].value.value > told["base"].value.value


def test_pairs_are_made_by_seed_and_the_effect_is_a_ratio() -> None:
    base = [row("base", seed, 10.0 * (1 + seed)) for seed in range(8)]
    half = [row("half", seed, 5.0 * (1 + seed)) for seed in reversed(range(8))]
    (found,) = compare(Table(base + half), MEASURES["time"], "base")
    assert found.pairs == 8
    assert found.effect.value == pytest.approx(0.5)
    assert (found.effect.low, found.effect.high) == pytest.approx((0.5, 0.5))
    assert found.delta == 1.0
    assert found.verdict(MEASURES["time"]) == "better"
