"""The facts of the bilateral strategies, on the product's own kernels."""

from collections import Counter

import pytest

from app.study.bilateral_facts import bilateral_facts
from app.study.fact import fact_at_least, fact_near, fact_that
from app.study.teleop_facts import FACT_SOURCES


@pytest.fixture(scope="module")
def facts():
    return list(bilateral_facts())


@pytest.mark.parametrize("name", ["A1", "A2", "A3", "A4", "A5", "A6", "A12"])
def test_fact_holds(facts, name):
    rows = [fact for fact in facts if fact.name == name]
    assert rows
    assert [row for row in rows if not row.holds] == []


def test_no_fact_is_told_twice(facts):
    assert Counter((row.name, row.what) for row in facts).most_common(1)[0][1] == 1


def test_the_table_has_a_source_for_the_bilateral_strategies():
    assert bilateral_facts in FACT_SOURCES


def test_a_fact_that_is_off_does_not_hold():
    assert not fact_near("A0", "x", 1.0, 1.2, 0.1, "N").holds
    assert not fact_near("A0", "x", 1.0, None, 0.1, "N").holds
    assert not fact_at_least("A0", "x", "1 J", 0.9, 1.0, "J").holds
    assert not fact_that("A0", "x", "none", "31 ms").holds
