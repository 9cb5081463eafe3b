"""The running error of a model, its tube and its alarm."""

import math

import numpy as np
import pytest

from models.mismatch import (
    allocate_mismatch,
    build_mismatch,
    observe_mismatch,
    tube_radius,
)

MODEL = build_mismatch(noise=1e-3, step=1e-3)


def feed(data, size, count, elapsed=0.1):
    for _ in range(count):
        rms = observe_mismatch(MODEL, np.array([size, 0.0, 0.0]), elapsed, data)
    return rms


def test_sigma_is_that_of_noise_and_quantisation_in_three_axes():
    assert MODEL.sigma == pytest.approx(math.sqrt(3.0 * (1.0 + 1.0 / 12.0)) * 1e-3)


def test_the_running_error_is_a_root_mean_square():
    data = allocate_mismatch()
    assert feed(data, 0.003, 1) == pytest.approx(0.003)
    rng = np.random.default_rng(1)
    sizes = []
    for _ in range(3000):
        error = 2e-3 * rng.standard_normal(3)
        sizes.append(observe_mismatch(MODEL, error, 0.1, data))
    expected = math.sqrt(3.0) * 2e-3
    assert np.sqrt(np.mean(np.square(sizes))) == pytest.approx(expected, rel=0.05)


def test_the_tube_grows_with_age_and_is_infinite_before_the_first():
    data = allocate_mismatch()
    assert tube_radius(MODEL, 0.0, data) == math.inf
    feed(data, 0.004, 1)
    fresh = tube_radius(MODEL, 0.0, data)
    assert fresh == pytest.approx(2.0 * math.hypot(MODEL.sigma, 0.004))
    assert tube_radius(MODEL, 2.0, data) - fresh == pytest.approx(0.02)
    assert tube_radius(MODEL, -1.0, data) == fresh


def test_noise_alone_gives_no_alarm():
    data, rng = allocate_mismatch(), np.random.default_rng(2)
    for _ in range(20_000):
        noise = 1e-3 * rng.standard_normal(3)
        steps = np.round(noise / 1e-3) * 1e-3
        observe_mismatch(MODEL, steps, 0.1, data)
        assert data.alarm[0] == 0


def test_the_alarm_waits_comes_and_goes_with_hysteresis():
    data = allocate_mismatch()
    limit = MODEL.accuracy + 4.0 * MODEL.sigma
    feed(data, 0.0, 20)
    feed(data, 3.0 * limit, 4)
    assert data.alarm[0] == 0  # not for long enough yet
    feed(data, 3.0 * limit, 4)
    assert data.alarm[0] == 1
    feed(data, 0.8 * limit, 60)
    assert data.alarm[0] == 1  # below the limit, but not well below
    feed(data, 0.5 * limit, 60)
    assert data.alarm[0] == 0


def test_one_great_error_after_a_silence_is_no_alarm():
    data = allocate_mismatch()
    feed(data, 0.0, 20)
    feed(data, 0.1, 1, elapsed=5.0)
    assert data.alarm[0] == 0
    feed(data, 0.1, 1, elapsed=5.0)
    assert data.alarm[0] == 1


def test_what_a_time_of_grace_saw_is_not_counted():
    data = allocate_mismatch()
    data.over[0] = -2.0
    feed(data, 0.001, 1)  # a small one does not end it
    feed(data, 0.2, 18)
    assert data.alarm[0] == 0
    assert feed(data, 0.001, 2) == pytest.approx(0.001)  # averaged anew
    assert data.over[0] == 0.0
    feed(data, 0.2, 20)
    assert data.alarm[0] == 1


@pytest.mark.parametrize("wrong", [{"noise": -1.0}, {"memory": 0.0}])
def test_wrong_expectations_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        build_mismatch(**{"noise": 1e-3, "step": 1e-3, **wrong})
