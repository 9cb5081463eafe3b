"""No value, however wild, takes a segment out of its envelope or beyond its rate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from app.config.robot import build_robot_model, load_robot
from app.robot.envelope import advance_applied, clamp_to_envelope
from models.numerics import FloatArray

MODEL = build_robot_model(load_robot("ursula"))
SEGMENTS = MODEL.segment_length.size
ROUNDING = 1e-12  # a handful of operations on values of order 1

wild = arrays(np.float64, (SEGMENTS, 3), elements=st.floats(width=64))
tame = arrays(np.float64, (SEGMENTS, 3), elements=st.floats(-4.0, 4.0))


def inside(coordinates: FloatArray) -> bool:
    bend = np.hypot(coordinates[:, 0], coordinates[:, 1])
    extension = coordinates[:, 2]
    return bool(
        np.all(bend <= MODEL.bend_limit + ROUNDING)
        and np.all(extension >= MODEL.extension_range[:, 0])
        and np.all(extension <= MODEL.extension_range[:, 1])
    )


def clamped(wanted: FloatArray) -> FloatArray:
    out = np.zeros_like(wanted)
    assert clamp_to_envelope(MODEL, 0, wanted, out) != 2
    return out


@settings(deadline=None)
@given(wild)
def test_clamp_gives_a_pose_inside_or_touches_nothing(wanted: FloatArray) -> None:
    before = np.full_like(wanted, 0.125)
    out = before.copy()
    status = clamp_to_envelope(MODEL, 0, wanted, out)
    if np.all(np.isfinite(wanted)):
        assert status in {0, 1}
        assert inside(out)
    else:
        assert status == 2
        assert np.array_equal(out, before)


def test_clamp_leaves_what_is_inside_alone() -> None:
    out = np.zeros((SEGMENTS, 3))
    assert clamp_to_envelope(MODEL, 0, MODEL.rest_coordinates, out) == 0
    assert np.array_equal(out, MODEL.rest_coordinates)


def test_clamp_keeps_the_direction_of_bending() -> None:
    out = clamped(np.tile([3.0, -4.0, 1.0], (SEGMENTS, 1)))
    assert np.allclose(out[:, 0] / out[:, 1], -0.75, rtol=ROUNDING)
    assert np.allclose(np.hypot(out[:, 0], out[:, 1]), MODEL.bend_limit, rtol=ROUNDING)
    assert np.array_equal(out[:, 2], MODEL.extension_range[:, 1])


def test_clamp_uses_the_limits_of_the_segment_that_is_meant() -> None:
    last = SEGMENTS - 1  # the long segment of the light limb: 20 mm
    out = np.zeros((1, 3))
    clamp_to_envelope(MODEL, last, np.array([[0.0, 0.0, -1.0]]), out)
    assert out[0, 2] == MODEL.extension_range[last, 0] == pytest.approx(-0.020)


@settings(deadline=None)
@given(tame, tame, tame, st.integers(-50, 250), st.floats(0.0, 0.005))
def test_advance_stays_inside_and_below_the_rates(
    origin: FloatArray, goal: FloatArray, applied: FloatArray, now: int, period: float
) -> None:
    origin, goal, before = clamped(origin), clamped(goal), clamped(applied)
    after = before.copy()
    begin = np.zeros(SEGMENTS, dtype=np.int64)
    end = np.full(SEGMENTS, 100, dtype=np.int64)
    advance_applied(MODEL, now, period, origin, goal, begin, end, after)
    assert inside(after)
    step = after - before
    most = MODEL.bend_rate_limit * period + ROUNDING
    assert np.all(np.hypot(step[:, 0], step[:, 1]) <= most)
    assert np.all(np.abs(step[:, 2]) <= MODEL.extension_rate_limit * period + ROUNDING)


def test_advance_follows_the_path_where_the_rate_allows_it() -> None:
    origin = clamped(np.zeros((SEGMENTS, 3)))
    goal = clamped(np.tile([0.01, -0.01, -0.0001], (SEGMENTS, 1)))
    applied = origin.copy()
    begin = np.zeros(SEGMENTS, dtype=np.int64)
    end = np.full(SEGMENTS, 20_000_000, dtype=np.int64)
    for now in range(1_000_000, 21_000_000, 1_000_000):
        limited = advance_applied(MODEL, now, 1e-3, origin, goal, begin, end, applied)
        assert limited == 0
        assert np.allclose(applied, goal * now / 20_000_000, atol=ROUNDING)


def test_advance_says_when_a_rate_limits_and_arrives_later() -> None:
    goal = clamped(np.tile([1.0, 0.0, 0.0], (SEGMENTS, 1)))
    applied = np.zeros((SEGMENTS, 3))
    begin = np.zeros(SEGMENTS, dtype=np.int64)
    statuses = [
        advance_applied(MODEL, 5, 1e-3, applied * 0.0, goal, begin, begin, applied)
        for _ in range(650)
    ]
    assert statuses[0] == 1
    assert statuses[-1] == 0
    assert np.allclose(applied, goal, atol=ROUNDING)
