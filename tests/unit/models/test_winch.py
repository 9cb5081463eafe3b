"""Winches: the tensions behind a pose, and the lag of the servos.

Tolerance 1e-9 N m for balanced bending; 1e-4 N where the weak preference for little
co-contraction (1e-5 of the axial stiffness of the problem) may be seen.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.material import segment_material
from models.robot_tree import changed_robot
from models.rod import allocate_rod_work
from models.tendon import tendon_lengths
from models.weight import limb_weight_load
from models.winch import (
    WINCH_NOT_FINITE,
    WINCH_OK,
    WINCH_TENSION_LIMITED,
    servo_advance,
    winch_lengths,
)
from tests.unit.models.rods import URSULA, limb_rows, random_pose

_LIMB = st.sampled_from([0, 1, 2])
_SEEDS = st.integers(0, 2**32 - 1)
_STIFFNESS, _LIMIT, _PRETENSION = 20000.0, 40.0, 0.5


def _solve(limb, pose, model=URSULA):
    """Status, paid-out lengths, tensions and shift of the equilibrium."""
    work = allocate_rod_work(model)
    length = np.full(np.diff(model.limb_tendon_start)[limb], np.nan)
    status = winch_lengths(model, limb, pose, work, length)
    tension = work.tendon_tension[: length.size].copy()
    return status, length, tension, work.pose_shift[: len(pose)].copy()


def _unbalanced(limb, pose, tension, model=URSULA):
    """Generalised force (n, 3) that remains at a pose with these tensions."""
    work = allocate_rod_work(model)
    load = np.zeros(pose.size)
    limb_weight_load(model, limb, pose, work, load)
    length, jacobian = np.zeros(tension.size), np.zeros((tension.size, pose.size))
    tendon_lengths(model, limb, pose, length, jacobian)
    rows = range(limb_rows(model, limb).start, limb_rows(model, limb).stop)
    stiffness = np.array([segment_material(model, k) for k in rows])
    elastic = pose * stiffness[:, [0, 0, 1]]
    return load.reshape(pose.shape) - elastic - (jacobian.T @ tension).reshape(-1, 3)


@settings(deadline=None, max_examples=60)
@given(limb=_LIMB, seed=_SEEDS)
def test_tensions_balance_the_bend_within_their_bounds(limb, seed):
    pose = random_pose(URSULA, limb, seed)
    status, length, tension, shift = _solve(limb, pose)
    assert status == WINCH_OK
    assert np.all(tension >= _PRETENSION)
    assert np.all(tension <= _LIMIT)
    # left at the equilibrium next to the pose: the weight's change with δℓ, which the
    # taut cables hold within 2e-4 rad (20 kN/m at 15 mm)
    reached = pose + [0.0, 0.0, 1.0] * shift
    left = _unbalanced(limb, reached, tension)
    assert np.abs(left[:, :2]).max() < 1e-3
    assert np.abs(left[:, 2]).max() < 2e-3
    geometric = np.zeros_like(length)
    tendon_lengths(URSULA, limb, reached, geometric, np.zeros((length.size, pose.size)))
    stretch = geometric - length
    assert np.allclose(stretch, tension / _STIFFNESS, rtol=0.0, atol=5e-8)


@settings(deadline=None, max_examples=30)
@given(seed=_SEEDS)
def test_a_pose_that_tendons_can_hold_is_held_exactly(seed):
    # shorten every segment by 8 mm, enough to need more tension than any bend here
    pose = random_pose(URSULA, 0, seed) * [0.3, 0.3, 0.0] + [0.0, 0.0, -0.008]
    status, _, tension, shift = _solve(0, pose)
    assert status == WINCH_OK
    assert np.abs(shift[:, 2]).max() < 1e-5
    assert np.abs(shift[:, :2]).max() < 1e-6
    assert np.abs(_unbalanced(0, pose, tension)[:, :2]).max() < 1e-6


def test_where_a_bend_needs_more_compression_the_bend_is_met_and_length_gives_way():
    pose = np.array([[math.pi / 2, 0.0, 0.0]])
    _, _, tension, shift = _solve(2, pose)
    assert abs(shift[0, 0]) < 1e-5
    assert shift[0, 2] < -1e-3
    # no co-contraction: all but the tendon inside the bend keep their pretension
    assert np.allclose(np.sort(tension)[:3], _PRETENSION, rtol=0.0, atol=1e-4)


def test_lengths_are_continuous_along_a_path_through_the_straight_limb():
    steps = np.linspace(-1.0, 1.0, 2001)
    lengths = []
    for s in steps:
        turn = 0.7 + 2.0 * s
        pose = np.array(
            [
                [1.2 * s * math.cos(turn), 1.2 * s * math.sin(turn), -0.004],
                [-0.9 * s, 0.8 * s * s, -0.003 - 0.003 * s],
            ]
        )
        lengths.append(_solve(0, pose)[1])
    jumps = np.abs(np.diff(lengths, axis=0)).max()
    assert jumps < 2e-4  # 0.2 m of tendon a unit of s, times the step of 1e-3


def test_a_weak_winch_says_so_and_stays_below_its_limit():
    weak = changed_robot(URSULA, tendon_tension_limit=np.full(24, 1.0))
    pose = np.array([[1.2, 0.3, -0.002], [0.2, 0.9, -0.002]])
    status, length, tension, _ = _solve(0, pose, weak)
    assert status == WINCH_TENSION_LIMITED
    assert np.all(tension <= 1.0)
    assert np.any(tension == 1.0)
    assert np.all(np.isfinite(length))


def test_it_is_the_minimum_of_its_quadratic_programme():
    pose = np.array([[0.8, -0.5, -0.001], [-0.6, 0.7, -0.003]])
    tension = _solve(0, pose)[2]
    bending, axial, _, _ = segment_material(URSULA, 1)
    weight = np.array([1 / bending**2, 1 / bending**2, 0.1 / (0.3 * axial) ** 2])
    best = np.inf
    generator = np.random.default_rng(1)
    own = np.arange(4, 8)

    def cost(trial):
        left = _unbalanced(0, pose, trial)[1]
        bias = np.sum((trial[own] - _PRETENSION) ** 2)
        return weight @ left**2 + 1e-5 * weight[2] * bias

    for scale in (1e-4, 1e-3, 1e-2, 0.1, 1.0):
        for _ in range(100):
            trial = tension.copy()
            trial[own] += scale * generator.normal(size=4)
            trial = np.clip(trial, _PRETENSION, _LIMIT)
            best = min(best, cost(trial))
    assert cost(tension) <= best * (1 + 1e-9)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_pose_that_is_not_finite_changes_nothing(value):
    work = allocate_rod_work(URSULA)
    length = np.arange(8.0)
    pose = np.zeros((2, 3))
    pose[1, 2] = value
    assert winch_lengths(URSULA, 0, pose, work, length) == WINCH_NOT_FINITE
    assert np.array_equal(length, np.arange(8.0))


def test_servo_lags_exponentially_whatever_the_period():
    once = servo_advance(0.5, 0.5001, 0.05, 0.12, 0.01)
    assert once == pytest.approx(0.5001 - 0.0001 * math.exp(-0.2), abs=1e-15)
    half = servo_advance(0.5, 0.5001, 0.05, 0.12, 0.005)
    assert servo_advance(half, 0.5001, 0.05, 0.12, 0.005) == pytest.approx(once)


@pytest.mark.parametrize("direction", [-1.0, 1.0])
def test_servo_keeps_its_speed_limit(direction):
    moved = servo_advance(0.5, 0.5 + direction, 0.05, 0.12, 0.001)
    assert moved == pytest.approx(0.5 + direction * 0.12e-3, abs=1e-15)
