"""Range of stable periods of the step; what it does with states it cannot go on from.

Linear modes: eigenvalues of the step's exact derivative, to 1e-6 (rigid motion is a
double eigenvalue 1, which rounding splits by its square root).
"""

import numpy as np
import pytest

from models.strain_basis import constant_curvature
from models.tree import allocate_tree_data, allocate_tree_work
from models.tree_builder import ROOT, TreeBuilder, frame
from models.tree_sensitivity import allocate_sensitivity_work, step_sensitivity
from models.tree_step import (
    TREE_DIVERGED,
    TREE_NOT_FINITE,
    TREE_OK,
    TREE_REFUSED,
    TREE_SINGULAR,
    finish_step,
    tree_acceleration,
    tree_energy,
    tree_step,
)
from tests.unit.models import tree_oracle as oracle
from tests.unit.models.tree_sample import random_state, random_tree
from tests.unit.models.tree_soak import soak

pytestmark = pytest.mark.timeout(300)  # complex kernels compile for half of it


def _matrix(model, data, period):
    size = model.dof_parent.size
    matrix, inputs = np.empty((2 * size, 2 * size)), np.empty((2 * size, size))
    work, varied = allocate_tree_work(model), allocate_sensitivity_work(model)
    assert (
        step_sensitivity(model, period, data, work, varied, matrix, inputs) == TREE_OK
    )
    return matrix


@pytest.mark.parametrize("lossless", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_elasticity_viscosity_and_drag_are_stable_at_any_period(seed, lossless):
    generator = np.random.default_rng(seed)
    model = random_tree(
        generator, elements=1 + seed % 4, lossless=lossless, gravity=False
    )
    data = allocate_tree_data(model)
    for period in np.logspace(-5, 2, 8):
        eigenvalues = np.linalg.eigvals(_matrix(model, data, period))
        assert np.abs(eigenvalues).max() < 1.0 + 1e-6


@pytest.mark.parametrize("period", [1e-3, 0.1, 10.0])
def test_elastic_mode_is_damped_by_half_its_phase(period):
    """|eigenvalue|² = 1 / (1 + (h ω)²): where small, a damping ratio of h ω / 2."""
    tree = TreeBuilder(gravity=(0, 0, 0))
    joint = tree.add_joint(ROOT, np.eye(4), component="q_x", stiffness=50.0)
    tree.add_body(joint, np.eye(4), mass=2.0, inertia=(1, 1, 1))
    model = tree.build()
    eigenvalues = np.linalg.eigvals(_matrix(model, allocate_tree_data(model), period))
    square = 1.0 / (1.0 + period**2 * 25.0)
    assert np.allclose(np.abs(eigenvalues) ** 2, square, rtol=1e-12)


@pytest.mark.parametrize("period", [1e-3, 1.0, 100.0])
def test_drag_never_turns_a_motion_round(period):
    tree = TreeBuilder(root="free", gravity=(0, 0, 0))
    tree.add_body(
        ROOT,
        np.eye(4),
        mass=1.0,
        inertia=(1, 1, 1),
        drag_quadratic=(0, 0, 0, 300.0, 300.0, 300.0),
        drag_linear=(0, 0, 0, 5.0, 5.0, 5.0),
    )
    model = tree.build()
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    data.velocity[3:] = 3.0, -20.0, 8.0
    for _ in range(20):
        before = data.velocity[3:].copy()
        assert tree_step(model, period, data, work) == TREE_OK
        assert np.all(np.abs(data.velocity[3:]) < np.abs(before))
        assert np.all(data.velocity[3:] * before > 0.0)


def test_weight_is_explicit_and_stable_below_two_over_its_frequency():
    tree = TreeBuilder()
    joint = tree.add_joint(ROOT, np.eye(4), component="k_x")
    tree.add_body(joint, frame((0, 0, -0.5)), mass=2.0, inertia=(0.01, 0.01, 0.01))
    model = tree.build()
    data = allocate_tree_data(model)
    frequency = np.sqrt(2.0 * 9.81 * 0.5 / (2.0 * 0.25 + 0.01))
    below = np.linalg.eigvals(_matrix(model, data, 1.99 / frequency))
    above = np.linalg.eigvals(_matrix(model, data, 2.01 / frequency))
    assert np.abs(below).max() < 1.0 + 1e-9
    assert np.abs(above).max() > 1.1


@pytest.mark.parametrize("turn", [0.05, 0.3, 1.0, 1.9])
def test_turning_is_damped_up_to_two_radians_a_step(turn):
    """A body that drifts across its own spin: |1 + z + z²/2 + z³/4|, z = i h Ω."""
    tree = TreeBuilder(root="free", gravity=(0, 0, 0))
    tree.add_body(ROOT, np.eye(4), mass=1.0, inertia=(1, 1, 1))
    model = tree.build()
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    period = 0.01
    data.velocity[:] = 0.0, 0.0, turn / period, 1.0, 0.0, 0.3
    for n in range(1, 20):
        assert tree_step(model, period, data, work) == TREE_OK
        factor = np.sqrt(1.0 - turn**4 / 4.0 + turn**6 / 16.0)
        speed = np.hypot(*data.velocity[3:5])
        assert speed == pytest.approx(factor**n, rel=1e-12)
    assert data.velocity[5] == pytest.approx(0.3)


def test_slow_turning_costs_nothing_and_feeds_less_than_two_percent_a_second():
    tree = TreeBuilder(root="free", gravity=(0, 0, 0))
    tree.add_body(ROOT, np.eye(4), mass=1.0, inertia=(1, 2, 3))
    model = tree.build()
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    data.velocity[:] = 1.5, 2.0, 1.0, 1.0, 0.5, 0.3
    energy = np.zeros((2, 3))
    tree_energy(model, data, work, energy[0])
    for _ in range(1000):
        assert tree_step(model, 1e-3, data, work) == TREE_OK
    assert work.corrects[0] == 0
    tree_energy(model, data, work, energy[1])
    assert 1.0 < energy[1].sum() / energy[0].sum() < 1.02


@pytest.mark.parametrize("period", [1e-3, 1e-2])
@pytest.mark.parametrize("seed", range(16))
def test_energy_does_not_grow_without_input(seed, period):
    generator = np.random.default_rng(seed)
    model = random_tree(generator, elements=1 + seed % 4, gravity=False)
    model.munk_moment[0] = 1
    model.dof_speed_limit[:] = 1e6
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    random_state(model, generator, data, bend=0.3, speed=5.0)
    energy = np.zeros(3)
    tree_energy(model, data, work, energy)
    first = energy.sum()
    for n in range(int(2.0 / period)):
        assert tree_step(model, period, data, work) == TREE_OK
        if n % 20 == 0:
            tree_energy(model, data, work, energy)
            assert energy.sum() <= 1.02 * first


def _two_limbs():
    tree = TreeBuilder()
    for angle in (0.0, 0.5):
        turn = [
            [np.cos(angle), 0, np.sin(angle)],
            [0, 1, 0],
            [-np.sin(angle), 0, np.cos(angle)],
        ]
        tree.add_rod(
            ROOT,
            frame((angle, 0, 0), turn),
            length=0.3,
            radius=(0.02, 0.01),
            density=1070.0,
            young_modulus=69e3,
            shear_modulus=23e3,
            viscosity=300.0,
            basis=constant_curvature(),
            pieces=2,
        )
    model = tree.build()
    data = allocate_tree_data(model)
    random_state(model, np.random.default_rng(3), data, bend=0.3)
    return model, data, allocate_tree_work(model)


_FIELDS = ("position", "velocity", "applied", "wrench")


@pytest.mark.parametrize("garbage", [np.nan, np.inf, -np.inf, 1e300, -1e300])
@pytest.mark.parametrize("field", _FIELDS)
def test_the_step_that_meets_garbage_names_the_element_and_stops(field, garbage):
    model, data, work = _two_limbs()
    entry = getattr(data, field)
    entry[(2, 4) if field == "wrench" else 7] = garbage  # element 2: the second limb
    before = oracle.copied(data)
    status = tree_step(model, 1e-3, data, work)
    assert status in {TREE_NOT_FINITE, TREE_DIVERGED}
    assert data.status[0] == status
    assert data.status[1] in {2, 3}
    if not np.isfinite(garbage) or field == "velocity":
        assert tuple(data.status) == (TREE_NOT_FINITE, 2)
    assert np.array_equal(data.position, before.position, equal_nan=True)
    assert np.array_equal(data.root_pose, before.root_pose)
    assert np.array_equal(data.applied, before.applied, equal_nan=True)
    assert np.array_equal(data.wrench, before.wrench, equal_nan=True)
    assert not data.velocity.any()
    # it stays so, and goes on when both are mended
    data.applied[:], data.wrench[:] = 0.0, 0.0
    data.position[7] = 0.0
    assert tree_step(model, 1e-3, data, work) == status
    assert finish_step(model, 1e-3, data, work) == status
    data.status[:] = TREE_OK, -1
    assert tree_step(model, 1e-3, data, work) == TREE_OK
    assert np.isfinite(data.position).all()


@pytest.mark.parametrize("period", [np.nan, np.inf, -np.inf, 0.0, -1e-3, 1e300])
def test_a_period_that_is_not_positive_is_refused(period):
    model, data, work = _two_limbs()
    before = data.position.copy()
    assert tree_step(model, period, data, work) == TREE_REFUSED
    assert data.status[1] == -1
    assert np.array_equal(data.position, before)


_ENTRIES = [(0, 0), (2, 1), (0, 3), (1, 3), (3, 0), (3, 3)]
_POSES = [(at, bad) for at in _ENTRIES for bad in (np.nan, np.inf, 1e300)]


@pytest.mark.parametrize(("entry", "garbage"), [*_POSES, ((0, 0), 30.0), ((3, 3), 0.5)])
def test_a_root_pose_that_is_none_is_refused(entry, garbage):
    generator = np.random.default_rng(4)
    model = random_tree(generator, root="free", elements=3)
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    random_state(model, generator, data)
    data.root_pose[entry] = garbage
    before = oracle.copied(data)
    assert tree_step(model, 1e-3, data, work) == TREE_REFUSED
    assert np.array_equal(data.root_pose, before.root_pose, equal_nan=True)
    assert np.array_equal(data.position, before.position)


def test_a_branch_without_mass_is_named():
    tree = TreeBuilder()
    joint = tree.add_joint(ROOT, np.eye(4))
    tree.add_body(joint, np.eye(4), mass=1.0, inertia=(1, 1, 1))
    empty = tree.add_joint(joint, np.eye(4))
    model = tree.build()
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    assert tree_step(model, 1e-3, data, work) == TREE_SINGULAR
    assert data.status[1] == empty


def test_a_speed_beyond_its_limit_is_named_in_the_step_that_makes_it():
    model, data, work = _two_limbs()
    acceleration = np.empty(model.dof_parent.size)
    slowest = model.dof_speed_limit.copy()
    while True:
        position = data.position.copy()
        tree_acceleration(model, data, work, acceleration)
        data.applied[9] += 50.0  # Δx of the last element
        status = tree_step(model, 1e-3, data, work)
        if status != TREE_OK:
            break
        assert np.all(np.abs(data.velocity) < slowest)
    assert tuple(data.status) == (TREE_DIVERGED, 3)
    assert np.array_equal(data.position, position)


@pytest.mark.timeout(600)
def test_millions_of_steps_of_random_trees_leave_no_state_that_is_not_finite():
    result = soak(3_000_000, seed=4)  # scripts/tree_soak: a hundred million
    assert result.steps >= 3_000_000
    assert result.not_finite == 0
    assert result.propagated == 0
    assert result.refused > 300
    # what is frozen for its speed alone: limp rods that whip about
    assert set(result.frozen) <= {TREE_DIVERGED}
    assert result.frozen.total() < 0.1 * result.robots
