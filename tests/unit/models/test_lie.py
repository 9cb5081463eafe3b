"""SO(3) and SE(3): power series of the matrix exponential, inverses, 0 and π.

Tolerances: 1e-12 against power series and for round trips in m and rad (rounding of the
series near |w| = 6 is 1e-13); 1e-14 where a rotation comes back from its logarithm;
1e-8 for central differences with a step of 1e-5.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.lie import (
    adjoint,
    coadjoint,
    left_tangent,
    left_tangent_inverse,
    pose_exp,
    pose_inverse,
    pose_log,
    pose_product,
    right_tangent,
    right_tangent_inverse,
    rotation_exp,
    rotation_log,
    rotation_tangent,
    rotation_tangent_inverse,
    transform_twist,
    transform_twist_back,
    twist_adjoint,
)

_EXACT = 1e-12
_ROTATION = 1e-14
_DIFFERENCE = 1e-8
_STEP = 1e-5
_ANGLES = (0.0, 1e-200, 1e-160, 1e-12, 1e-8, 1e-4, 0.3, 0.4999, 0.5, 0.9999, 1.0, 2.0)
_NEAR_PI = tuple(math.pi - gap for gap in (0.1, 1e-3, 1e-6, 1e-9, 1e-12, 0.0))

parts = st.floats(-1.7, 1.7)


def _call(kernel, *inputs, shape):
    out = np.full(shape, np.nan)
    kernel(*(np.asarray(item, dtype=float) for item in inputs), out)
    return out


def _rotation(vector):
    return _call(rotation_exp, vector, shape=(3, 3))


def _logarithm(rotation):
    return _call(rotation_log, rotation, shape=3)


def _pose(twist):
    return _call(pose_exp, twist, shape=(4, 4))


def _hat(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def _twist_matrix(twist):
    matrix = np.zeros((4, 4))
    matrix[:3, :3] = _hat(twist[:3])
    matrix[:3, 3] = twist[3:]
    return matrix


def _series(matrix, shift):
    """Sum of matrix^k / (k + shift)!: the exponential, or for shift 1 the tangent."""
    total = np.zeros_like(matrix)
    term = np.eye(len(matrix)) / math.factorial(shift)
    for k in range(60):
        total += term
        term = term @ matrix / (k + 1 + shift)
    return total


def _axes(seed, count=20):
    axes = np.random.default_rng(seed).normal(size=(count, 3))
    axes = np.concatenate([axes, np.eye(3), -np.eye(3), [[1.0, 1.0, 0.0]]])
    return axes / np.linalg.norm(axes, axis=1, keepdims=True)


def _twists(seed, count=200, turn=3.0):
    generator = np.random.default_rng(seed)
    twists = generator.normal(size=(count, 6))
    twists[:, :3] *= (
        generator.uniform(0.0, turn, size=(count, 1))
        / np.linalg.norm(twists[:, :3], axis=1)[:, None]
    )
    twists[:4, :3] *= np.array([0.0, 1e-12, 1e-6, 1e-3])[:, None]
    return twists


@pytest.mark.parametrize("angle", [*_ANGLES, *_NEAR_PI, 4.0, 6.0])
def test_exp_and_tangents_are_their_power_series(angle):
    for axis in _axes(1):
        twist = np.concatenate([angle * axis, [0.3, -0.7, 0.2]])
        hat = _hat(twist[:3])
        assert np.allclose(_rotation(twist[:3]), _series(hat, 0), rtol=0, atol=_EXACT)
        tangent = _call(rotation_tangent, twist[:3], shape=(3, 3))
        assert np.allclose(tangent, _series(hat, 1), rtol=0, atol=_EXACT)
        matrix = _twist_matrix(twist)
        assert np.allclose(_pose(twist), _series(matrix, 0), rtol=0, atol=_EXACT)
        bracket = _call(twist_adjoint, twist, shape=(6, 6))
        left = _call(left_tangent, twist, shape=(6, 6))
        right = _call(right_tangent, twist, shape=(6, 6))
        assert np.allclose(left, _series(bracket, 1), rtol=0, atol=_EXACT)
        assert np.allclose(right, _series(-bracket, 1), rtol=0, atol=_EXACT)


@pytest.mark.parametrize("angle", [*_ANGLES, *_NEAR_PI, 4.0, 5.5])
def test_inverse_tangents_are_inverses(angle):
    for axis in _axes(2):
        twist = np.concatenate([angle * axis, [0.3, -0.7, 0.2]])
        tangent = _call(rotation_tangent, twist[:3], shape=(3, 3))
        inverse = _call(rotation_tangent_inverse, twist[:3], shape=(3, 3))
        assert np.allclose(tangent @ inverse, np.eye(3), rtol=0, atol=_EXACT)
        for kernel, other in (
            (left_tangent, left_tangent_inverse),
            (right_tangent, right_tangent_inverse),
        ):
            product = _call(kernel, twist, shape=(6, 6)) @ _call(
                other, twist, shape=(6, 6)
            )
            assert np.allclose(product, np.eye(6), rtol=0, atol=10 * _EXACT)


@pytest.mark.parametrize("angle", _ANGLES)
def test_logarithm_gives_back_small_and_middle_vectors(angle):
    for axis in _axes(3):
        vector = angle * axis
        # relative: not a digit is lost at 1e-12 rad, where the diagonal is 1
        bound = 4e-16 * angle
        assert np.allclose(_logarithm(_rotation(vector)), vector, rtol=0, atol=bound)


@pytest.mark.parametrize("angle", _NEAR_PI)
def test_logarithm_next_to_half_a_turn(angle):
    for axis in _axes(4):
        rotation = _rotation(angle * axis)
        vector = _logarithm(rotation)
        length = np.linalg.norm(vector)
        assert length <= math.pi * (1.0 + 3e-16)
        # one ulp of π is 4e-16; that of the rotation's entries is as large
        assert length == pytest.approx(angle, rel=0, abs=2e-15)
        assert np.allclose(_rotation(vector), rotation, rtol=0, atol=_ROTATION)
        if math.pi - angle > 1e-14:
            assert np.allclose(vector, angle * axis, rtol=0, atol=_ROTATION)


@pytest.mark.parametrize(
    ("rotation", "vector"),
    [
        (np.diag([1.0, -1.0, -1.0]), [math.pi, 0.0, 0.0]),
        (np.diag([-1.0, 1.0, -1.0]), [0.0, math.pi, 0.0]),
        (np.diag([-1.0, -1.0, 1.0]), [0.0, 0.0, math.pi]),
        (
            [[0.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, -1.0]],
            [math.pi * math.sqrt(0.5), -math.pi * math.sqrt(0.5), 0.0],
        ),
    ],
)
def test_logarithm_of_an_exact_half_turn(rotation, vector):
    assert np.allclose(_logarithm(rotation), vector, rtol=0, atol=1e-15)


def test_logarithm_of_random_rotations_returns():
    generator = np.random.default_rng(5)
    worst = 0.0
    for _ in range(5000):
        vector = generator.normal(size=3)
        vector *= generator.uniform(0.0, math.pi) / np.linalg.norm(vector)
        worst = max(worst, np.abs(_logarithm(_rotation(vector)) - vector).max())
    assert worst < _ROTATION


def test_pose_logarithm_returns_the_twist():
    for twist in _twists(6, turn=math.pi - 1e-6):
        back = _call(pose_log, _pose(twist), shape=6)
        assert np.allclose(back, twist, rtol=0, atol=_EXACT)


@pytest.mark.parametrize("angle", _NEAR_PI)
def test_pose_logarithm_through_half_a_turn(angle):
    for axis in _axes(7):
        pose = _pose(np.concatenate([angle * axis, [0.3, -0.7, 0.2]]))
        again = _pose(_call(pose_log, pose, shape=6))
        assert np.allclose(again, pose, rtol=0, atol=_ROTATION)


@settings(deadline=None, max_examples=200)
@given(st.tuples(parts, parts, parts, parts, parts, parts))
def test_adjoints_carry_twists_and_keep_power(values):
    twist = np.array(values)
    pose = _pose(twist)
    matrix = _call(adjoint, pose, shape=(6, 6))
    bracket = _call(twist_adjoint, twist, shape=(6, 6))
    assert np.allclose(matrix, _series(bracket, 0), rtol=0, atol=1e-11)
    wrench_map = _call(coadjoint, pose, shape=(6, 6))
    assert np.allclose(matrix.T @ wrench_map, np.eye(6), rtol=0, atol=_EXACT)
    velocity = np.array([0.3, -0.2, 0.5, 1.0, 2.0, -3.0])
    moved = _call(transform_twist, pose, velocity, shape=6)
    assert np.allclose(moved, matrix @ velocity, rtol=0, atol=_EXACT)
    # Ad V is the twist of T V^ T^-1
    conjugate = pose @ _twist_matrix(velocity) @ _call(pose_inverse, pose, shape=(4, 4))
    assert np.allclose(conjugate, _twist_matrix(moved), rtol=0, atol=_EXACT)
    back = _call(transform_twist_back, pose, moved, shape=6)
    assert np.allclose(back, velocity, rtol=0, atol=_EXACT)


def test_products_and_inverses_of_poses():
    first, second = _pose(_twists(8)[5]), _pose(_twists(8)[6])
    product = _call(pose_product, first, second, shape=(4, 4))
    assert np.allclose(product, first @ second, rtol=0, atol=_ROTATION)
    in_place = second.copy()
    pose_product(first, in_place, in_place)
    assert np.array_equal(in_place, product)
    inverse = _call(pose_inverse, first, shape=(4, 4))
    assert np.allclose(inverse @ first, np.eye(4), rtol=0, atol=_ROTATION)


@pytest.mark.parametrize("index", range(0, 200, 9))
def test_tangents_are_derivatives_of_the_exponential(index):
    twist = _twists(9)[index]
    rate = _twists(10)[index]
    slope = (_pose(twist + _STEP * rate) - _pose(twist - _STEP * rate)) / (2.0 * _STEP)
    inverse = _call(pose_inverse, _pose(twist), shape=(4, 4))
    fixed = _call(left_tangent, twist, shape=(6, 6)) @ rate
    moved = _call(right_tangent, twist, shape=(6, 6)) @ rate
    assert np.allclose(_twist_matrix(fixed), slope @ inverse, rtol=0, atol=_DIFFERENCE)
    assert np.allclose(_twist_matrix(moved), inverse @ slope, rtol=0, atol=_DIFFERENCE)
