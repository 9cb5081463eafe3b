"""Derivatives of accelerations and of steps against differences and each other.

Tolerance 1e-7 of the greatest entry: that of differences of fourth order, at the step
where their truncation and the rounding of M⁻¹ (condition up to 2e5) are both below it.
"""

import numpy as np
import pytest

from models.lie import pose_exp, pose_log
from models.tree import allocate_tree_data, allocate_tree_work
from models.tree_builder import ROOT, TreeBuilder, frame
from models.tree_motion import tree_motion
from models.tree_sensitivity import (
    acceleration_sensitivity,
    allocate_sensitivity_work,
    step_sensitivity,
)
from models.tree_step import (
    TREE_OK,
    TREE_REFUSED,
    TREE_SINGULAR,
    tree_acceleration,
    tree_step,
)
from tests.unit.models import tree_oracle as oracle
from tests.unit.models.tree_sample import random_state, random_tree

pytestmark = pytest.mark.timeout(300)  # complex kernels compile for half of it

_STEP = 3e-4
_TOLERANCE = 1e-7
_SEEDS = range(10)
_MILD = (0, 1, 2, 3, 4, 5, 6, 8, 9)  # 7 is too stiff for differences of a step


def _random(seed, speed=1.0):
    generator = np.random.default_rng(seed)
    model = random_tree(generator, elements=1 + seed % 4, current=0.5)
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    random_state(model, generator, data, speed=speed)
    data.applied[:] = 0.01 * generator.normal(size=data.applied.size)
    data.wrench[:] = 0.01 * generator.normal(size=data.wrench.shape)
    return model, data, work


def _varied(model, data, direction, amount):
    size = model.dof_parent.size
    unit = np.eye(size)[direction % size]
    if direction < size:
        return oracle.moved(model, data, unit, amount)
    result = oracle.copied(data)
    (result.velocity if direction < 2 * size else result.applied)[:] += amount * unit
    return result


def _difference(function, model, data, direction, step=_STEP):
    """Central difference of fourth order."""

    def at(share):
        return function(_varied(model, data, direction, share * step))

    return (8.0 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12.0 * step)


def _close(value, expected, tolerance=_TOLERANCE):
    scale = max(1.0, np.abs(expected).max())
    return np.abs(value - expected).max() <= tolerance * scale


def _sensitivity(model, data, work):
    size = model.dof_parent.size
    acceleration = np.empty(size)
    matrices = np.empty((3, size, size))
    varied = allocate_sensitivity_work(model)
    status = acceleration_sensitivity(
        model, data, work, varied, acceleration, *matrices
    )
    assert status == -1
    return acceleration, matrices


@pytest.mark.parametrize("seed", _SEEDS)
def test_acceleration_by_root_state_and_force(seed):
    model, data, work = _random(seed)
    size = model.dof_parent.size
    before = oracle.copied(data)

    def acceleration(state):
        result = np.empty(size)
        assert tree_acceleration(model, state, work, result) == -1
        return result

    expected = np.column_stack(
        [_difference(acceleration, model, data, k) for k in range(3 * size)]
    )
    own, matrices = _sensitivity(model, data, work)
    assert np.array_equal(own, acceleration(data))
    for k, matrix in enumerate(matrices):
        assert _close(matrix, expected[:, k * size : (k + 1) * size])
    for field, kept in zip(data, before, strict=True):
        assert np.array_equal(field, kept)


def test_force_derivative_is_the_inverse_mass():
    model, data, work = _random(7)
    _, (_, _, by_force) = _sensitivity(model, data, work)

    tree_motion(model, 0.0, data, work)
    mass = oracle.full(work.matrix)
    assert _close(by_force @ mass, np.eye(len(mass)), 1e-9)


def test_held_root_components_do_not_answer():
    generator = np.random.default_rng(2)
    model = random_tree(generator, root="free", elements=3)
    model = model._replace(root_free=np.array([0, 1, 1, 0, 1, 1]))
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    random_state(model, generator, data)
    own, matrices = _sensitivity(model, data, work)
    for k in (0, 3):
        assert own[k] == 0.0
        assert not matrices[:, k].any()
        assert not matrices[2, :, k].any()
    assert matrices[:, 1].any()


def _state_change(model, start, state):
    """(2N,) state less the start's, the root's pose by its logarithm."""
    position = state.position - start.position
    if model.root_size[0]:
        twist = np.empty(6)
        pose_log(np.linalg.inv(start.root_pose) @ state.root_pose, twist)
        position[:6] = twist
    return np.concatenate([position, state.velocity - start.velocity])


@pytest.mark.parametrize(("period", "speed"), [(1e-3, 0.5), (1e-2, 1.0), (1e-2, 8.0)])
@pytest.mark.parametrize("seed", _MILD)
def test_step_by_state_and_force(seed, period, speed):
    model, data, work = _random(seed, speed)
    model.dof_speed_limit[:] = 1e6
    size = model.dof_parent.size
    after = oracle.copied(data)
    assert tree_step(model, period, after, work) == TREE_OK

    def step(state):
        state = oracle.copied(state)
        assert tree_step(model, period, state, work) == TREE_OK
        return _state_change(model, after, state)

    expected = np.column_stack(
        [_difference(step, model, data, k, 5e-5) for k in range(3 * size)]
    )
    state_matrix, input_matrix = (
        np.empty((2 * size, 2 * size)),
        np.empty((2 * size, size)),
    )
    varied = allocate_sensitivity_work(model)
    before = oracle.copied(data)
    status = step_sensitivity(
        model, period, data, work, varied, state_matrix, input_matrix
    )
    assert status == TREE_OK
    assert _close(state_matrix, expected[:, : 2 * size])
    assert _close(input_matrix, expected[:, 2 * size :])
    for field, kept in zip(data, before, strict=True):
        assert np.array_equal(field, kept)
    assert np.allclose(data.velocity + work.change, after.velocity, rtol=1e-9)


def test_linear_model_predicts_many_steps():
    """x⁺ - x0⁺ = A (x - x0) along a motion, to second order of the disturbance."""
    model, data, work = _random(2)
    size = model.dof_parent.size
    near = oracle.copied(data)
    generator = np.random.default_rng(0)
    change = 1e-4 * generator.normal(size=2 * size)
    root = int(model.root_size[0])
    near.position[root:] += change[root:size]
    if root:
        step = np.eye(4)
        pose_exp(change[:6], step)
        near.root_pose[:] = near.root_pose @ step
    near.velocity[:] += change[size:]
    state_matrix, input_matrix = (
        np.empty((2 * size, 2 * size)),
        np.empty((2 * size, size)),
    )
    varied = allocate_sensitivity_work(model)
    for _ in range(50):
        step_sensitivity(model, 1e-3, data, work, varied, state_matrix, input_matrix)
        change = state_matrix @ change
        assert tree_step(model, 1e-3, data, work) == TREE_OK
        assert tree_step(model, 1e-3, near, work) == TREE_OK
    actual = _state_change(model, data, near)
    assert np.abs(actual).max() > 1e-5
    assert _close(change / 1e-4, actual / 1e-4, 1e-2)


def test_sensitivity_says_where_there_is_none():
    tree = TreeBuilder()
    joint = tree.add_joint(ROOT, np.eye(4))
    tree.add_body(joint, frame((0, 0, 0.1)))
    model = tree.build()
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    varied = allocate_sensitivity_work(model)
    one = np.empty((3, 1, 1))
    status = acceleration_sensitivity(model, data, work, varied, np.empty(1), *one)
    assert status == 0
    matrix, inputs = np.empty((2, 2)), np.empty((2, 1))
    for period, expected in ((1e-3, TREE_SINGULAR), (np.nan, TREE_REFUSED)):
        status = step_sensitivity(model, period, data, work, varied, matrix, inputs)
        assert status == expected
