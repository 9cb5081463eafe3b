"""The snake's chain: Zhang's product of poses, Jacobians and their rates.

Tolerances: 1e-12 m and rad between closed forms; 1e-7 for central differences with a
step of 1e-5 (truncation and rounding near 1e-9).
"""

import numpy as np
import pytest

from models.lie import adjoint, pose_exp, pose_log
from models.snake import snake_point_pose, snake_poses
from models.snake_bias import snake_bias_in_body
from models.snake_jacobian import (
    snake_jacobian_in_body,
    snake_jacobian_in_world,
    snake_jacobian_spatial,
)

_EXACT = 1e-12
_DIFFERENCE = 1e-7
_STEP = 1e-5
_MODULES = np.array([0.2, 0.21, 0.19, 0.2])
_JOINTS = np.array([0.2, 0.18, 0.22])
_COUNT = len(_JOINTS)
_POINTS = [
    (body, fraction) for body in range(2 * _COUNT + 1) for fraction in (0.0, 0.38, 1.0)
]
_OFFSET = np.array([0.01, -0.03, 0.045])


def _exp(twist):
    pose = np.empty((4, 4))
    pose_exp(np.asarray(twist, dtype=float), pose)
    return pose


def _poses(coordinates, base=None, modules=_MODULES, joints=_JOINTS):
    poses = np.empty((2 * len(joints) + 2, 4, 4))
    snake_poses(
        modules, joints, coordinates, np.eye(4) if base is None else base, poses
    )
    return poses


def _point(coordinates, base, body, fraction, offset=_OFFSET):
    pose = np.empty((4, 4))
    poses = _poses(coordinates, base)
    snake_point_pose(
        _MODULES, _JOINTS, coordinates, poses, body, fraction, offset, pose
    )
    return pose


def _jacobian(kernel, coordinates, base, body, fraction, offset=_OFFSET):
    pose = np.empty((4, 4))
    jacobian = np.full((6, 6 + 3 * _COUNT), np.nan)
    poses = _poses(coordinates, base)
    kernel(
        *(_MODULES, _JOINTS, coordinates, poses, body, fraction, offset),
        *(pose, jacobian),
    )
    return pose, jacobian


def _random_state(seed, bend=1.5):
    generator = np.random.default_rng(seed)
    coordinates = generator.uniform(-1.0, 1.0, size=(_COUNT, 3)) * [bend, bend, 0.03]
    return coordinates, _exp(generator.normal(size=6)), generator


def _zhang_joint(theta, phi, length):
    """Eqs 4 and 5 corrected, with the axis moved from z to x, entry by entry."""
    c, s, cp, sp = np.cos(theta), np.sin(theta), np.cos(phi), np.sin(phi)
    pose = np.eye(4)
    if theta == 0.0:
        pose[0, 3] = length
        return pose
    printed = np.array(
        [
            [cp * cp * (c - 1) + 1, cp * sp * (c - 1), cp * s],
            [sp * cp * (c - 1), cp * cp * (1 - c) + c, sp * s],
            [-cp * s, -sp * s, c],
        ]
    )
    position = length / theta * np.array([cp * (1 - c), sp * (1 - c), s])
    order = [2, 0, 1]  # (z, x, y) becomes (x, y, z)
    pose[:3, :3] = printed[np.ix_(order, order)]
    pose[:3, 3] = position[order]
    return pose


def _body_twist(before, after, step):
    """Twist in the frame halfway, by central difference."""
    twist = np.empty(6)
    pose_log(np.linalg.inv(before) @ after, twist)
    return twist / (2.0 * step)


def test_straight_snake_of_table_1_is_one_metre():
    poses = _poses(np.zeros((2, 3)), modules=np.full(3, 0.2), joints=np.full(2, 0.2))
    for k, pose in enumerate(poses):
        assert np.array_equal(pose[:3, :3], np.eye(3))
        assert np.allclose(pose[:3, 3], [0.2 * k, 0.0, 0.0], rtol=0, atol=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_frames_are_zhangs_product(seed):
    generator = np.random.default_rng(seed)
    theta = generator.uniform(0.05, 2.5, size=_COUNT)
    theta[seed % _COUNT] = 0.0
    phi = generator.uniform(-np.pi, np.pi, size=_COUNT)
    change = generator.uniform(-0.03, 0.03, size=_COUNT)
    coordinates = np.stack([theta * np.cos(phi), theta * np.sin(phi), change], axis=1)
    base = _exp(generator.normal(size=6))
    poses = _poses(coordinates, base)
    expected = base
    assert np.array_equal(poses[0], base)
    for i in range(_COUNT + 1):
        expected = expected @ _exp([0.0, 0.0, 0.0, _MODULES[i], 0.0, 0.0])
        assert np.allclose(poses[2 * i + 1], expected, rtol=0, atol=_EXACT)
        if i < _COUNT:
            length = _JOINTS[i] + change[i]
            expected = expected @ _zhang_joint(theta[i], phi[i], length)
            assert np.allclose(poses[2 * i + 2], expected, rtol=0, atol=_EXACT)


def test_frames_over_1e5_joint_shapes():
    """Bends from exactly 0 to 3 rad on both sides, against eqs 4-6 in one go."""
    generator = np.random.default_rng(99)
    size = 34_000
    theta = generator.uniform(-3.0, 3.0, size=(size, _COUNT))
    theta[::50] = 0.0
    theta[1::50] *= 10.0 ** generator.uniform(-9.0, -4.0, size=(len(theta[1::50]), 1))
    phi = generator.uniform(-np.pi, np.pi, size=theta.shape)
    change = generator.uniform(-0.05, 0.05, size=theta.shape)
    coordinates = np.stack([theta * np.cos(phi), theta * np.sin(phi), change], axis=2)
    poses = np.empty((size, 2 * _COUNT + 2, 4, 4))
    for k in range(size):
        snake_poses(_MODULES, _JOINTS, coordinates[k], np.eye(4), poses[k])
    expected = np.broadcast_to(np.eye(4), (size, 4, 4))
    for i in range(_COUNT + 1):
        expected = expected @ _exp([0.0, 0.0, 0.0, _MODULES[i], 0.0, 0.0])
        assert np.abs(poses[:, 2 * i + 1] - expected).max() < _EXACT
        if i == _COUNT:
            break
        half = np.sin(0.5 * theta[:, i])
        sine, fall = np.sin(theta[:, i]), 2.0 * half * half  # fall = 1 - cos θ
        length = _JOINTS[i] + change[:, i]
        small = np.where(theta[:, i] == 0.0, 1.0, theta[:, i])
        across = length * np.where(theta[:, i] == 0.0, 0.0, fall / small)
        along = length * np.where(theta[:, i] == 0.0, 1.0, sine / small)
        cosine_plane, sine_plane = np.cos(phi[:, i]), np.sin(phi[:, i])
        joint = np.zeros((size, 4, 4))
        joint[:, 0, 0] = 1.0 - fall
        joint[:, 0, 1] = -cosine_plane * sine
        joint[:, 0, 2] = -sine_plane * sine
        joint[:, 1, 0] = cosine_plane * sine
        joint[:, 2, 0] = sine_plane * sine
        joint[:, 1, 1] = 1.0 - cosine_plane**2 * fall
        joint[:, 2, 2] = 1.0 - sine_plane**2 * fall
        joint[:, 1, 2] = joint[:, 2, 1] = -cosine_plane * sine_plane * fall
        joint[:, 0, 3] = along
        joint[:, 1, 3] = cosine_plane * across
        joint[:, 2, 3] = sine_plane * across
        joint[:, 3, 3] = 1.0
        expected = expected @ joint
        assert np.abs(poses[:, 2 * i + 2] - expected).max() < _EXACT


def test_first_coordinate_bends_to_y_and_second_to_z():
    """A yaw leaves the snake in its xy plane, a pitch in its xz plane (Sec. 3.2)."""
    for axis, quiet in ((0, 2), (1, 1)):
        coordinates = np.zeros((_COUNT, 3))
        coordinates[:, axis] = 0.3
        head = _poses(coordinates)[-1]
        assert head[3 - quiet, 3] > 0.1
        assert abs(head[quiet, 3]) < _EXACT


@pytest.mark.parametrize(("body", "fraction"), _POINTS)
def test_points_join_up_and_turn_with_their_section(body, fraction):
    coordinates, base, _ = _random_state(1)
    poses = _poses(coordinates, base)
    centre = _point(coordinates, base, body, fraction, np.zeros(3))
    if fraction in {0.0, 1.0}:
        end = poses[body + int(fraction)]
        assert np.allclose(centre, end, rtol=0, atol=_EXACT)
    moved = _point(coordinates, base, body, fraction)
    assert np.array_equal(moved[:3, :3], centre[:3, :3])
    expected = centre @ np.append(_OFFSET, 1.0)
    assert np.allclose(moved[:, 3], expected, rtol=0, atol=_EXACT)


@pytest.mark.parametrize(("body", "fraction"), _POINTS)
@pytest.mark.parametrize("bend", [0.0, 1e-9, 1.5])
def test_body_jacobian_is_the_derivative_of_the_pose(body, fraction, bend):
    coordinates, base, _ = _random_state(2, bend)
    if bend == 0.0:
        coordinates[:] = 0.0
    pose, jacobian = _jacobian(
        snake_jacobian_in_body, coordinates, base, body, fraction
    )
    assert np.array_equal(pose, _point(coordinates, base, body, fraction))
    for column in range(6 + 3 * _COUNT):
        ends = []
        for side in (-_STEP, _STEP):
            if column < 6:
                moved = base @ _exp(side * np.eye(6)[column])
                ends.append(_point(coordinates, moved, body, fraction))
            else:
                changed = coordinates.copy()
                changed.flat[column - 6] += side
                ends.append(_point(changed, base, body, fraction))
        slope = _body_twist(*ends, _STEP)
        assert np.allclose(jacobian[:, column], slope, rtol=0, atol=_DIFFERENCE)


@pytest.mark.parametrize(("body", "fraction"), _POINTS)
def test_the_three_jacobians_are_one_twist_in_three_frames(body, fraction):
    coordinates, base, _ = _random_state(3)
    pose, in_body = _jacobian(snake_jacobian_in_body, coordinates, base, body, fraction)
    _, in_world = _jacobian(snake_jacobian_in_world, coordinates, base, body, fraction)
    _, spatial = _jacobian(snake_jacobian_spatial, coordinates, base, body, fraction)
    matrix = np.empty((6, 6))
    adjoint(pose, matrix)
    assert np.allclose(spatial, matrix @ in_body, rtol=0, atol=_EXACT)
    turned = np.kron(np.eye(2), pose[:3, :3]) @ in_body
    assert np.allclose(in_world, turned, rtol=0, atol=_EXACT)
    # a rigid body has one spatial twist, whichever of its points is asked
    if body % 2 == 0:
        _, other = _jacobian(
            snake_jacobian_spatial, coordinates, base, body, 0.7, 3.0 * _OFFSET
        )
        assert np.allclose(spatial, other, rtol=0, atol=_EXACT)


def test_base_columns_are_zhangs_adjoint():
    """Eq. 13: the base twist reaches the head through the inverse Ad of g_e^b."""
    coordinates, base, _ = _random_state(4)
    pose, jacobian = _jacobian(
        snake_jacobian_in_body, coordinates, base, 2 * _COUNT, 1.0, np.zeros(3)
    )
    matrix = np.empty((6, 6))
    adjoint(np.linalg.inv(base) @ pose, matrix)
    assert np.allclose(jacobian[:, :6], np.linalg.inv(matrix), rtol=0, atol=_EXACT)


def test_printed_joint_columns_mix_two_frames():
    """Eqs 12, 17 as printed: the distal frame's J_s under the Ad of the base frame."""
    coordinates, base, _ = _random_state(5)
    poses = _poses(coordinates, base)
    _, jacobian = _jacobian(
        snake_jacobian_in_body, coordinates, base, 2 * _COUNT, 1.0, np.zeros(3)
    )
    joint = 1
    _, at_joint = _jacobian(
        snake_jacobian_in_body, coordinates, base, 2 * joint + 1, 1.0, np.zeros(3)
    )
    columns = slice(6 + 3 * joint, 9 + 3 * joint)
    errors = []
    for frame in (poses[2 * joint + 2], poses[2 * joint + 1]):
        matrix = np.empty((6, 6))
        adjoint(np.linalg.inv(poses[-1]) @ frame, matrix)
        errors.append(
            np.abs(matrix @ at_joint[:, columns] - jacobian[:, columns]).max()
        )
    assert errors[0] < _EXACT
    assert errors[1] > 0.05


@pytest.mark.parametrize(("body", "fraction"), _POINTS)
@pytest.mark.parametrize("bend", [0.0, 1e-9, 1.5])
def test_bias_is_the_rate_of_the_twist(body, fraction, bend):
    coordinates, base, generator = _random_state(6, bend)
    base_twist = generator.normal(size=6)
    rates = generator.normal(size=(_COUNT, 3)) * [1.0, 1.0, 0.1]
    velocity = np.concatenate([base_twist, rates.ravel()])
    pose, work = np.empty((4, 4)), np.empty((8, 3))
    twist, bias = np.empty(6), np.empty(6)
    poses = _poses(coordinates, base)
    snake_bias_in_body(
        *(_MODULES, _JOINTS, coordinates, poses, body, fraction, _OFFSET),
        *(base_twist, rates, pose, work, twist, bias),
    )
    expected, jacobian = _jacobian(
        snake_jacobian_in_body, coordinates, base, body, fraction
    )
    assert np.allclose(pose, expected, rtol=0, atol=_EXACT)
    assert np.allclose(twist, jacobian @ velocity, rtol=0, atol=_EXACT)
    ends = []
    for side in (-_STEP, _STEP):
        moved = base @ _exp(side * base_twist)
        _, there = _jacobian(
            snake_jacobian_in_body, coordinates + side * rates, moved, body, fraction
        )
        ends.append(there @ velocity)
    slope = (ends[1] - ends[0]) / (2.0 * _STEP)
    assert np.allclose(bias, slope, rtol=0, atol=_DIFFERENCE)
