"""The ring of past states, and corrections through it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.state_history import (
    allocate_history,
    clear_history,
    correct_state,
    push_state,
    state_at,
)

MS = 1_000_000
EXACT = 1e-12  # rounding only


def at(ns):
    return np.array([int(ns)])


def ramp(data, ticks, slope=1.0):
    """Push a state that grows by `slope` a second, and its double."""
    for tick in range(ticks):
        value = slope * tick * 1e-3
        push_state(at(tick * MS), np.array([value, 2.0 * value]), data)


def test_between_two_states_it_is_linear():
    data, out = allocate_history(2), np.zeros(2)
    ramp(data, 100)
    assert state_at(at(50.25 * MS), data, out) == 1
    assert out == pytest.approx([0.05025, 0.1005], abs=EXACT)


def test_what_is_not_covered_is_refused():
    data, out = allocate_history(2, length=0.05), np.full(2, 7.0)
    assert state_at(at(0), data, out) == 0
    ramp(data, 120)
    assert state_at(at(69 * MS), data, out) == 0
    assert state_at(at(120 * MS), data, out) == 0
    assert np.all(out == 7.0)
    assert state_at(at(70 * MS), data, out) == 1
    assert state_at(at(119 * MS), data, out) == 1
    clear_history(data)
    assert state_at(at(100 * MS), data, out) == 0


@settings(deadline=None)
@given(
    steps=st.lists(st.integers(1, 9), min_size=2, max_size=40),
    share=st.floats(0.0, 1.0),
)
def test_uneven_times_are_found(steps, share):
    data, out = allocate_history(1, length=0.02), np.zeros(1)
    times = np.cumsum(steps) * MS
    for time in times:
        push_state(at(time), np.array([time / MS]), data)
    first = times[max(0, len(times) - 20)]
    asked = int(first + share * (times[-1] - first))
    assert state_at(at(asked), data, out) == 1
    assert out[0] == pytest.approx(asked / MS)


def test_a_time_that_does_not_grow_is_left_out():
    data, out = allocate_history(1), np.zeros(1)
    push_state(at(5), np.array([1.0]), data)
    push_state(at(5), np.array([9.0]), data)
    assert state_at(at(5), data, out) == 1
    assert out[0] == 1.0


def test_a_correction_moves_now_and_the_past():
    data, state, error = allocate_history(2), np.array([0.099, 0.198]), np.zeros(2)
    ramp(data, 100)
    measured = np.array([0.04, np.nan])
    assert correct_state(0.2, at(50 * MS), measured, data, state, error) == 1
    assert error == pytest.approx([0.01, 0.0], abs=EXACT)
    assert state == pytest.approx([0.097, 0.198], abs=EXACT)
    out = np.zeros(2)
    state_at(at(50 * MS), data, out)
    assert out == pytest.approx([0.048, 0.1], abs=EXACT)
    assert correct_state(0.2, at(500 * MS), measured, data, state, error) == 0
    assert state == pytest.approx([0.097, 0.198], abs=EXACT)


@pytest.mark.parametrize("delay_ms", [100, 500, 1000, 2000])
def test_an_offset_is_corrected_without_swinging_whatever_the_delay(delay_ms):
    data, error = allocate_history(1), np.zeros(1)
    state, real, errors = np.array([0.01]), 0.0, []
    for tick in range(12_000):
        push_state(at(tick * MS), state, data)
        if tick % 100 == 0 and tick >= delay_ms:
            measured = at((tick - delay_ms) * MS)
            correct_state(0.2, measured, np.array([real]), data, state, error)
            errors.append(error[0])
    assert np.all(np.diff(errors) <= EXACT)
    assert min(errors) >= -EXACT
    assert abs(state[0]) < 1e-6


def test_a_history_without_room_is_refused():
    with pytest.raises(ValueError, match="0 coordinates"):
        allocate_history(0)
    with pytest.raises(ValueError, match="at 0"):
        allocate_history(1, period=0.0)
