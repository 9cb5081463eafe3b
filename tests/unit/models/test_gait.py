"""The walking gait: periodic, continuous, no foot slips, never falls over.

Tolerances: 1e-12 m for closed forms; 1e-7 for central differences with a step of 1e-6
of a cycle.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.gait import (
    GAITS,
    build_gait_model,
    check_gait,
    gait_feet,
    neutral_feet,
    support_margin,
)
from tests.unit.models.silver2 import SPLAY, STANCE_WIDTH, silver2_legs

_EXACT = 1e-12
_DIFFERENCE = 1e-7
_CENTRE = (0.0, 0.018)
_LEGS = silver2_legs()
_NEUTRAL = neutral_feet(_LEGS, 0.25, STANCE_WIDTH, SPLAY)


def _gait(
    name="tripod", stride=0.1, direction=0.0, turn=0.0, period=2.0, elevation=0.05
):
    phase, duty = GAITS[name]
    return build_gait_model(
        _NEUTRAL, phase, duty, period, elevation, stride, direction, turn
    )


def _feet(gait, cycle):
    count = gait.phase.size
    foot, velocity = np.empty((count, 3)), np.empty((count, 3))
    standing = gait_feet(gait, cycle, foot, velocity)
    return foot, velocity, np.array([bool(standing >> i & 1) for i in range(count)])


def _body(gait, time):
    """Pose (3, 3) of the body in the plane, by the exponential of the twist."""
    v_x, v_y, rate = gait.twist
    turn = rate * time
    pose = np.eye(3)
    pose[:2, :2] = [
        [math.cos(turn), -math.sin(turn)],
        [math.sin(turn), math.cos(turn)],
    ]
    chord = np.expm1(1j * turn) / (1j * rate) if abs(rate) > 1e-14 else time
    way = (v_x + 1j * v_y) * chord
    pose[:2, 2] = way.real, way.imag
    return pose


def _in_ground(gait, cycle):
    foot, _, standing = _feet(gait, cycle)
    pose = _body(gait, cycle * gait.period)
    return foot[:, :2] @ pose[:2, :2].T + pose[:2, 2], foot[:, 2], standing


gaits = st.builds(
    _gait,
    name=st.sampled_from(sorted(GAITS)),
    stride=st.floats(0.0, 0.2),
    direction=st.floats(-math.pi, math.pi),
    turn=st.just(0.0) | st.floats(-0.4, 0.4),
    period=st.floats(0.5, 10.0),
    elevation=st.floats(0.0, 0.1),
)
cycles = st.floats(-3.0, 3.0)


def test_neutral_feet_are_those_of_the_simulation_model():
    """Its standing feet, from the constants that paper facts P003-034, 036 name."""
    feet = neutral_feet(_LEGS, 0.150724, STANCE_WIDTH, SPLAY)
    assert np.allclose(feet[0], [0.398528, -0.321728, -0.150724], atol=1e-6)
    assert np.allclose(feet[1], [0.483081, 0.018, -0.150724], atol=1e-6)
    assert np.allclose(feet[5], [-0.398528, 0.356528, -0.150724], atol=2e-6)


@settings(deadline=None)
@given(gait=gaits, cycle=cycles)
def test_periodic(gait, cycle):
    foot, velocity, _ = _feet(gait, cycle)
    again, velocity_again, _ = _feet(gait, cycle + 1.0)
    assert np.allclose(foot, again, atol=_EXACT)
    assert np.allclose(velocity, velocity_again, atol=1e-11)


@settings(deadline=None)
@given(gait=gaits, cycle=cycles)
def test_velocity_is_the_derivative_also_where_feet_leave_and_land(gait, cycle):
    """Continuous position and speed: differences across every event agree too."""
    step = 1e-6
    events = [cycle, -gait.phase[1], gait.duty - gait.phase[1], gait.duty]
    for at in events:
        _, velocity, _ = _feet(gait, at)
        after, _, _ = _feet(gait, at + step)
        before, _, _ = _feet(gait, at - step)
        rate = (after - before) / (2.0 * step * gait.period)
        assert np.allclose(velocity, rate, atol=_DIFFERENCE)


@settings(deadline=None)
@given(gait=gaits, cycle=cycles)
def test_a_standing_foot_does_not_slip(gait, cycle):
    """It keeps its place on the ground, and moves exactly opposite to the body."""
    foot, velocity, standing = _feet(gait, cycle)
    assert standing.sum() >= {0.5: 3, 2 / 3: 4, 5 / 6: 5}[gait.duty]
    v_x, v_y, rate = gait.twist
    assert np.array_equal(velocity[standing, 0], -v_x + rate * foot[standing, 1])
    assert np.array_equal(velocity[standing, 1], -v_y - rate * foot[standing, 0])
    assert not velocity[standing, 2].any()
    assert np.array_equal(foot[standing, 2], _NEUTRAL[standing, 2])
    place, _, _ = _in_ground(gait, cycle)
    for later in np.linspace(cycle, cycle + 0.9 * gait.duty, 7):
        later_place, _, later_standing = _in_ground(gait, later)
        standing &= later_standing
        assert np.allclose(later_place[standing], place[standing], atol=_EXACT)


@pytest.mark.parametrize("name", sorted(GAITS))
def test_straight_lines_of_the_stride_and_arcs_of_the_elevation(name):
    """Liu 2020: d_f on the ground, z_f above it."""
    gait = _gait(name, stride=0.12, direction=0.7, elevation=0.06)
    along = np.array([math.cos(0.7), math.sin(0.7)])
    foot = np.array([_feet(gait, c)[0] for c in np.linspace(0.0, 1.0, 1201)])
    stands = np.array([_feet(gait, c)[2] for c in np.linspace(0.0, 1.0, 1201)])
    for leg in range(6):
        way = foot[:, leg, :2] - _NEUTRAL[leg, :2]
        assert np.abs(way @ [-along[1], along[0]]).max() < _EXACT
        on_ground = (way @ along)[stands[:, leg]]
        assert math.isclose(np.ptp(on_ground), 0.12, abs_tol=4e-4)
        assert math.isclose(on_ground.max(), 0.06, abs_tol=4e-4)
        rise = foot[:, leg, 2] - _NEUTRAL[leg, 2]
        assert math.isclose(rise.max(), 0.06, abs_tol=1e-6)
        assert rise.min() == 0.0
        assert np.all(rise[~stands[:, leg]] >= 0.0)
        # the overshoot that the module states, the greatest for the least duty
        assert np.abs(way @ along).max() < 0.06 + 0.097 * 0.12


@pytest.mark.parametrize("speed", [0.05, 0.15, 0.2])
def test_walking_speeds_of_the_paper(speed):
    """Paper fact P003-019: 0.05 to 0.2 m/s, 0.15 sideways."""
    duty = GAITS["tripod"][1]
    gait = _gait(stride=0.1, direction=math.pi / 2, period=0.1 / duty / speed)
    assert np.allclose(gait.twist, [0.0, speed, 0.0], atol=_EXACT)
    assert np.allclose(_body(gait, 1.0)[:2, 2], [0.0, speed], atol=_EXACT)
    assert check_gait(_LEGS, gait, _CENTRE).reached


def test_turning_in_place():
    gait = _gait(stride=0.0, turn=0.3)
    around = np.linalg.norm(_NEUTRAL[:, :2], axis=1)
    for cycle in np.linspace(0.0, 1.0, 41):
        foot, _, standing = _feet(gait, cycle)
        distance = np.linalg.norm(foot[:, :2], axis=1)
        assert np.allclose(distance[standing], around[standing], atol=_EXACT)
    # in one period the body turns by turn / duty
    first, _, _ = _in_ground(gait, 0.0)
    second, _, _ = _in_ground(gait, 1.0)
    turn = np.angle((second @ [1, 1j]) / (first @ [1, 1j]))
    assert np.allclose(turn, 0.6, atol=_EXACT)


def test_a_slow_turn_is_nearly_straight():
    straight, turning = _gait(turn=0.0), _gait(turn=1e-9)
    for cycle in np.linspace(0.0, 1.0, 23):
        assert np.allclose(
            _feet(straight, cycle)[0], _feet(turning, cycle)[0], atol=3e-9
        )


@pytest.mark.parametrize("name", sorted(GAITS))
def test_shipped_gaits_are_statically_stable(name):
    """In every direction and turning, with steps of 0.15 m and of 20 degrees."""
    walks = [(0.15, direction, 0.0) for direction in np.arange(0.0, 6.2, math.pi / 6)]
    walks += [(0.0, 0.0, 0.35), (0.0, 0.0, -0.35), (0.1, 1.0, 0.2)]
    for stride, direction, turn in walks:
        gait = _gait(name, stride, direction, turn)
        report = check_gait(_LEGS, gait, _CENTRE, samples=120)
        assert report.reached
        assert report.least_margin > 0.09


def test_a_gait_that_falls_over_is_found():
    phase = (0.0, 0.0, 0.0, 0.5, 0.5, 0.5)  # all legs of a side lifted at once
    gait = build_gait_model(_NEUTRAL, phase, 0.5, 2.0, 0.05, 0.1)
    assert check_gait(_LEGS, gait, _CENTRE).least_margin < -0.1


def test_report_of_a_gait():
    report = check_gait(_LEGS, _gait(stride=0.1), _CENTRE)
    assert not report.status.any()
    assert np.all(report.joint_range[..., 0] <= report.joint_range[..., 1])
    assert np.all(report.joint_range >= _LEGS.joint_range[..., :1])
    assert np.all(report.joint_range <= _LEGS.joint_range[..., 1:])
    slower = check_gait(_LEGS, _gait(stride=0.1, period=4.0), _CENTRE)
    assert np.allclose(report.joint_speed, 2.0 * slower.joint_speed, rtol=1e-9)
    assert not check_gait(_LEGS, _gait(stride=0.6), _CENTRE).reached


def test_margin_of_simple_polygons():
    square = np.array([[1.0, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0], [0, 0, 0]])
    assert math.isclose(support_margin(square, 0b11111, 0.0, 0.0), 1.0)
    assert math.isclose(support_margin(square, 0b01111, 0.75, 0.0), 0.25)
    assert math.isclose(support_margin(square, 0b01111, 0.0, 3.0), -2.0)
    # without the last corner the diagonal is an edge
    assert math.isclose(support_margin(square, 0b00111, 0.0, 0.0), 0.0, abs_tol=_EXACT)
    inside = support_margin(square, 0b00111, -0.5, 0.5)
    assert math.isclose(inside, 0.5)
    assert math.isclose(support_margin(square, 0b00011, 0.0, 0.0), -1.0)
    assert support_margin(square, 0b00001, 0.0, 0.0) == -math.inf
    assert support_margin(square, 0, 0.0, 0.0) == -math.inf


@settings(deadline=None)
@given(seed=st.integers(0, 2**31), x=st.floats(-2, 2), y=st.floats(-2, 2))
def test_margin_of_a_mean_is_positive(seed, x, y):
    """A mixture of the feet is inside; the sign agrees with a search for a divider."""
    foot = np.random.default_rng(seed).normal(size=(6, 3))
    inside = foot.mean(axis=0)
    assert support_margin(foot, 63, inside[0], inside[1]) > 0.0
    angle = np.linspace(0.0, 2.0 * math.pi, 720, endpoint=False)
    way = np.stack([np.cos(angle), np.sin(angle)])
    room = ((foot[:, :2] - [x, y]) @ way).max(axis=0).min()
    margin = support_margin(foot, 63, x, y)
    if room > 0.0:
        assert margin <= room + _EXACT
        # the nearest edge's normal is within a quarter degree of one of the angles
        assert margin >= room - 0.05
    else:
        assert margin <= 0.0


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"duty": 0.0}, "duty"),
        ({"duty": 1.0}, "duty"),
        ({"period": 0.0}, "period"),
        ({"period": math.nan}, "period"),
        ({"elevation": -0.1}, "elevation"),
        ({"phase": [0.0, 0.5]}, "phase"),
        ({"stride": math.nan}, "stride"),
    ],
)
def test_parameters_that_make_no_gait(change, word):
    given_ = {
        "phase": GAITS["tripod"][0],
        "duty": 0.5,
        "period": 2.0,
        "elevation": 0.05,
        "stride": 0.1,
    }
    with pytest.raises(ValueError, match=word):
        build_gait_model(_NEUTRAL, **{**given_, **change})


def test_a_stance_too_narrow_for_the_body():
    with pytest.raises(ValueError, match="stance_width"):
        neutral_feet(_LEGS, 0.2, 0.3)
