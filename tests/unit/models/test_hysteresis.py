"""The hysteresis model, its inverse and its fit, on chambers whose operators are known.

Pressures come back to 1e-9 Pa of 60 kPa (rounding, over the least slope of S). The fit
has to be as good as the noise, and to 0.3 % of the stroke without noise where the
true corners are not those of the fit.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.hysteresis import (
    AFTER_FALLING,
    AFTER_RISING,
    VIRGIN,
    HysteresisModel,
    hysteresis_history,
    hysteresis_length,
    hysteresis_pressure,
    initial_plays,
)
from models.hysteresis_fit import fit_hysteresis, nonnegative_least_squares

_EXACT = 1e-9  # [Pa]
_MOST = 60e3

_THRESHOLD = np.array([0.0, 1.3e3, 4e3, 8e3, 13e3, 19e3, 26e3])
_WEIGHT = np.array([0.4, 0.15, 0.1, 0.15, 0.05, 0.1, 0.05])
_KNOT = np.linspace(-10e3, 70e3, 33)
_CHAMBER = HysteresisModel(
    _THRESHOLD, _WEIGHT, _KNOT, 0.1 + 0.05 * ((_KNOT + 20e3) / 90e3) ** 2
)
_MUSCLE = _CHAMBER._replace(length=0.3 - _CHAMBER.length)  # shortens under pressure

_MAJOR = (0.0, _MOST, 0.0, _MOST, 0.0)
_MINOR = (0, 60e3, 0, 50e3, 10e3, 40e3, 20e3, 45e3, 0, 30e3, 10e3, 60e3, 0)


def _ramps(levels, each=80):
    parts = [
        np.linspace(a, b, each, endpoint=False) for a, b in itertools.pairwise(levels)
    ]
    return np.concatenate([*parts, [float(levels[-1])]])


def _run(model, pressure, start=AFTER_FALLING):
    play = initial_plays(model.threshold, float(pressure[0]), start)
    out = np.full(len(pressure), np.nan)
    hysteresis_history(model, pressure, play, out)
    return out, play


@settings(deadline=None, max_examples=60)
@given(
    model=st.sampled_from([_CHAMBER, _MUSCLE]),
    start=st.sampled_from([AFTER_FALLING, AFTER_RISING, VIRGIN]),
    pressures=st.lists(st.floats(-5e3, 80e3), min_size=1, max_size=25),
)
def test_inverse_after_forward_and_forward_after_inverse(model, start, pressures):
    play = initial_plays(model.threshold, 0.0, start)
    for pressure in pressures:
        after = play.copy()
        length = hysteresis_length(model, pressure, after)
        found = hysteresis_pressure(model, length, play)
        assert found == pytest.approx(pressure, abs=_EXACT)
        trial = play.copy()
        again = hysteresis_length(model, found, trial)
        assert again == pytest.approx(length, abs=1e-15)
        play = after


def test_wanted_lengths_are_met_along_a_path():
    wanted = 0.115 + 0.012 * np.sin(np.linspace(0.0, 40.0, 4000))
    wanted += 0.004 * np.sin(np.linspace(0.0, 333.0, 4000))
    play = initial_plays(_CHAMBER.threshold, 0.0, AFTER_FALLING)
    for length in wanted:
        pressure = hysteresis_pressure(_CHAMBER, length, play)
        assert hysteresis_length(_CHAMBER, pressure, play) == pytest.approx(
            length, abs=1e-15
        )


def test_walk_is_the_inverse_operator_of_krejci_and_kuhnen():
    """Their thresholds r', weights w' and states, with S the identity."""
    line = np.array([0.0, 1e5])
    model = HysteresisModel(_THRESHOLD, _WEIGHT, line, line)
    total = np.cumsum(_WEIGHT)
    r = [
        float(_WEIGHT[: i + 1] @ (_THRESHOLD[i] - _THRESHOLD[: i + 1]))
        for i in range(7)
    ]
    weight = np.diff(1.0 / total, prepend=0.0)
    play = initial_plays(model.threshold, 0.0, VIRGIN)
    inverse_play = np.zeros(7)
    z = np.concatenate([_ramps([0, 30e3, 5e3, 25e3, -8e3, 12e3, 3e3, 50e3, 0], 31)])
    for value in z:
        inverse_play = np.maximum(value - r, np.minimum(value + r, inverse_play))
        pressure = hysteresis_pressure(model, value, play)
        assert pressure == pytest.approx(weight @ inverse_play, abs=_EXACT)
        hysteresis_length(model, pressure, play)


def test_a_pressure_that_was_cut_leaves_a_true_memory():
    play = initial_plays(_CHAMBER.threshold, 0.0, AFTER_FALLING)
    real = play.copy()
    for wanted in np.concatenate(
        [np.linspace(0.103, 0.16, 50), np.linspace(0.16, 0.11)]
    ):
        pressure = min(max(hysteresis_pressure(_CHAMBER, wanted, play), 0.0), _MOST)
        predicted = hysteresis_length(_CHAMBER, pressure, play)
        assert hysteresis_length(_CHAMBER, pressure, real) == predicted
    assert predicted == pytest.approx(0.11, abs=1e-12)


def test_larger_loops_wipe_out_smaller_ones():
    plain, _ = _run(_CHAMBER, _ramps([0, _MOST, 5e3]))
    busy, _ = _run(
        _CHAMBER, _ramps([0, 30e3, 12e3, 26e3, 20e3, 40e3, 10e3, _MOST, 5e3])
    )
    assert np.allclose(busy[-80:], plain[-80:], rtol=0.0, atol=1e-15)


def test_a_minor_loop_closes_and_lies_inside():
    out, _ = _run(_CHAMBER, _ramps([0, _MOST, 0, 40e3, 20e3, 40e3]))
    assert out[-1] == pytest.approx(out[3 * 80], abs=1e-15)
    up, down = out[4 * 80 : 5 * 80], out[3 * 80 : 4 * 80]
    assert np.all(up[1:] <= down[:0:-1] + 1e-15)
    assert (down[:0:-1] - up[1:]).max() > 1e-4
    major = out[80:160][::-1]  # unloading from the greatest pressure
    level = _ramps([0, _MOST, 0])[80:160][::-1]
    assert np.all(down <= np.interp(_ramps([40e3, 20e3])[:80], level, major) + 1e-15)


def test_loading_and_unloading_are_two_branches():
    pressure = _ramps(_MAJOR)
    out, _ = _run(_CHAMBER, pressure)
    up, down = out[160:240], out[241:321][::-1]
    assert np.all(down[1:] >= up[1:])
    assert (down - up).max() > 0.1 * np.ptp(out)
    assert np.allclose(out[160:240], out[:80], rtol=0.0, atol=1e-15)  # closed


def test_virgin_loading_is_not_that_of_a_worked_chamber():
    first, _ = _run(_CHAMBER, _ramps(_MAJOR), VIRGIN)
    worked, _ = _run(_CHAMBER, _ramps(_MAJOR), AFTER_FALLING)
    assert worked[0] - first[0] > 1e-3
    assert np.allclose(first[80:], worked[80:], rtol=0.0, atol=1e-15)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_leaves_the_memory_alone(value):
    play = initial_plays(_CHAMBER.threshold, 10e3, AFTER_RISING)
    before = play.copy()
    assert np.isnan(hysteresis_length(_CHAMBER, value, play))
    assert np.isnan(hysteresis_pressure(_CHAMBER, value, play))
    assert np.array_equal(play, before)


def test_nonnegative_least_squares_against_scipy():
    from scipy.optimize import nnls

    generator = np.random.default_rng(3)
    held = 0
    for _ in range(60):
        size = int(generator.integers(1, 15))
        # ramps, much alike: unknowns that were let in have to leave again
        ramp = np.linspace(0.0, 1.0, 40)[:, None] - generator.uniform(size=size)
        matrix = np.maximum(ramp, 0.0) + 0.02 * generator.normal(size=(40, size))
        wanted = matrix @ generator.normal(size=size) + 0.1 * generator.normal(size=40)
        matrix *= 10.0 ** generator.uniform(-6, 6, size)
        wanted *= 10.0 ** generator.uniform(-6, 6)
        found = nonnegative_least_squares(matrix, wanted)
        scale = np.linalg.norm(matrix, axis=0)
        expected = nnls(matrix / scale, wanted)[0]
        assert np.all(found >= 0.0)
        assert np.allclose(
            found * scale, expected, rtol=0.0, atol=1e-10 * np.linalg.norm(wanted)
        )
        held += np.count_nonzero(found == 0.0)
    assert held > 100


def test_nonnegative_least_squares_with_columns_alike_or_empty():
    column = np.linspace(1.0, 2.0, 20)
    matrix = np.column_stack([column, column, np.zeros(20), -column])
    found = nonnegative_least_squares(matrix, 3.0 * column)
    assert np.allclose(matrix @ found, 3.0 * column)
    assert np.all(found >= 0.0)
    assert np.array_equal(nonnegative_least_squares(matrix, np.zeros(20)), np.zeros(4))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_fit_finds_the_operators_where_they_are_of_its_kind(sign):
    threshold = np.linspace(0.0, 30e3, 6, endpoint=False)
    weight = np.array([0.5, 0.2, 0.0, 0.15, 0.1, 0.05])
    line = np.array([0.0, 80e3])
    true = HysteresisModel(threshold, weight, line, 0.1 + sign * line * 4e-7)
    pressure = _ramps(_MINOR)
    length, _ = _run(true, pressure)
    fit = fit_hysteresis(pressure, length, plays=6, knots=4)
    assert fit.start == AFTER_FALLING
    assert fit.error_greatest < 1e-9
    assert np.allclose(fit.model.weight, weight, atol=1e-5)
    assert fit.model.weight.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("model", [_CHAMBER, _MUSCLE])
@pytest.mark.parametrize("levels", [_MAJOR, _MINOR])
@pytest.mark.parametrize("start", [AFTER_FALLING, VIRGIN])
def test_fit_follows_loops_with_and_without_noise(model, levels, start):
    pressure = _ramps(levels)
    length, _ = _run(model, pressure, start)
    stroke = float(np.ptp(length))
    fit = fit_hysteresis(pressure, length)
    assert fit.start == start
    assert fit.error_rms < 0.003 * stroke
    noise = 1e-4 * np.random.default_rng(8).normal(size=len(length))
    fit = fit_hysteresis(pressure, length + noise)
    assert fit.start == start
    assert fit.error_rms < 1.1e-4
    out, _ = _run(fit.model, pressure, start)
    assert np.sqrt(np.mean((out - length) ** 2)) < 5e-5  # nearer the truth than noise


def test_fit_to_loops_foretells_other_loops_and_inverts():
    generator = np.random.default_rng(9)
    pressure = _ramps(_MINOR)
    length, _ = _run(_CHAMBER, pressure)
    fit = fit_hysteresis(pressure, length + 1e-4 * generator.normal(size=len(length)))
    other = _ramps([0, 55e3, 15e3, 35e3, 25e3, 50e3, 3e3, 20e3, 8e3, 45e3])
    true, _ = _run(_CHAMBER, other)
    modelled, _ = _run(fit.model, other)
    assert np.abs(modelled - true).max() < 0.02 * np.ptp(true)
    # control: the fitted inverse in front of the true chamber
    play = initial_plays(fit.model.threshold, 0.0, fit.start)
    real = initial_plays(_CHAMBER.threshold, 0.0, AFTER_FALLING)
    for wanted in 0.114 + 0.008 * np.sin(np.linspace(0.0, 30.0, 600)):
        got = hysteresis_pressure(fit.model, wanted, play)
        hysteresis_length(fit.model, got, play)
        assert abs(hysteresis_length(_CHAMBER, got, real) - wanted) < 5e-4


def test_a_fit_can_always_be_inverted():
    """A dead zone, where the data give S and w_0 no slope at all."""
    pressure = _ramps(_MAJOR)
    length = 0.1 + 1e-6 * np.maximum(pressure - 30e3, 0.0)
    model = fit_hysteresis(pressure, length).model
    assert np.all(np.diff(model.length) > 0.0)
    assert model.weight[0] > 0.0
    play = initial_plays(model.threshold, 0.0, AFTER_FALLING)
    for value in (10e3, 20e3, 50e3, 5e3):
        got = hysteresis_pressure(
            model, hysteresis_length(model, value, play.copy()), play
        )
        assert got == pytest.approx(value, abs=1e-5)
        hysteresis_length(model, value, play)


def test_many_samples_are_thinned_and_still_all_are_judged():
    pressure = np.tile(_ramps([0, _MOST, 0], 500)[:-1], 12)
    length, _ = _run(_CHAMBER, pressure)
    length[7777] += 0.05
    fit = fit_hysteresis(pressure, length)
    assert fit.error_greatest > 0.049
    assert fit.error_rms < 1e-3


@pytest.mark.parametrize(
    ("pressure", "length", "text"),
    [
        (np.arange(10.0), np.arange(10.0), "at least 21"),
        (np.arange(30.0), np.arange(29.0), "29 lengths"),
        (np.full(30, np.nan), np.arange(30.0), "finite"),
        (np.full(30, 1.0), np.arange(30.0), "change"),
        (np.arange(30.0), np.full(30, 1.0), "change"),
    ],
)
def test_samples_that_tell_nothing_are_refused(pressure, length, text):
    with pytest.raises(ValueError, match=text):
        fit_hysteresis(pressure, length)
