"""Age of information: exact on small cases, its law, and the emulated channel."""

import numpy as np
import pytest

from app.clock import NS_PER_S
from app.errors import ModelError
from app.study.age import age_mean, age_pieces, age_quantile, periodic_age
from app.study.age_goals import AGE_GOALS, measure_age

S = NS_PER_S


def times(*values: float) -> np.ndarray:
    return np.array([round(value * S) for value in values], dtype=np.int64)


def test_two_commands_by_hand() -> None:
    # age 1 -> 3 s, then 1 -> 2 s
    pieces = age_pieces(times(0, 2), times(1, 3), 1 * S, 4 * S)
    np.testing.assert_allclose(pieces.start_s, [1.0, 1.0])
    np.testing.assert_allclose(pieces.length_s, [2.0, 1.0])
    assert age_mean(pieces) == pytest.approx((2.0 * 2.0 + 1.0 * 1.5) / 3.0)
    assert age_quantile(pieces, 1.0) == pytest.approx(3.0)
    # below 2 s for 2 of 3 s, both pieces there at once
    assert age_quantile(pieces, 2.0 / 3.0) == pytest.approx(2.0)
    assert age_quantile(pieces, 1.0 / 3.0) == pytest.approx(1.5)
    assert age_quantile(pieces, 0.0) == pytest.approx(1.0)


def test_an_older_command_that_comes_late_changes_nothing() -> None:
    one = age_pieces(times(0, 2), times(1, 3), 1 * S, 6 * S)
    other = age_pieces(times(0, 2, 1), times(1, 3, 4), 1 * S, 6 * S)
    assert age_mean(one) == pytest.approx(age_mean(other))
    assert age_quantile(one, 0.7) == pytest.approx(age_quantile(other, 0.7))


def test_a_window_begins_and_ends_inside_pieces() -> None:
    pieces = age_pieces(times(0, 2, 4), times(1, 3, 5), round(1.5 * S), round(3.5 * S))
    np.testing.assert_allclose(pieces.start_s, [1.5, 1.0])
    np.testing.assert_allclose(pieces.length_s, [1.5, 0.5])


@pytest.mark.parametrize(("start", "end"), [(0.5, 2.0), (2.0, 2.0)])
def test_without_anything_applied_or_time_there_is_no_age(
    start: float, end: float
) -> None:
    with pytest.raises(ModelError):
        age_pieces(times(0), times(1), round(start * S), round(end * S))


def test_quantiles_agree_with_dense_samples() -> None:
    random = np.random.default_rng(5)
    generated = np.cumsum(random.integers(1, 10**9, 200))
    applied = generated + random.integers(0, 3 * 10**9, 200)
    start, end = int(applied.min()) + 1, int(applied.max())
    pieces = age_pieces(generated, applied, start, end)
    now = np.linspace(start, end, 200_001)
    order = np.argsort(applied, kind="stable")
    newest = np.maximum.accumulate(generated[order])
    ages = (now - newest[np.searchsorted(applied[order], now, "right") - 1]) / S
    assert age_mean(pieces) == pytest.approx(ages.mean(), rel=1e-3)
    for share in (0.1, 0.5, 0.9, 0.99):
        wanted = np.quantile(ages, share)
        assert age_quantile(pieces, share) == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("goal", AGE_GOALS, ids=lambda goal: f"loss-{goal.loss:g}")
def test_the_law_gives_the_reference_figures(goal) -> None:  # type: ignore[no-untyped-def]
    mean, p99 = periodic_age(0.2, 1.0, goal.loss, 0.99)
    assert mean == pytest.approx(goal.mean_s, rel=0.01)
    assert p99 == pytest.approx(goal.p99_s, rel=0.01)


@pytest.mark.parametrize("goal", AGE_GOALS, ids=lambda goal: f"loss-{goal.loss:g}")
def test_the_channel_gives_the_reference_figures(goal) -> None:  # type: ignore[no-untyped-def]
    mean, p99 = measure_age(goal.loss, 40_000, seed=0)
    assert mean == pytest.approx(goal.mean_s, rel=0.01)
    assert p99 == pytest.approx(goal.p99_s, rel=0.01)
