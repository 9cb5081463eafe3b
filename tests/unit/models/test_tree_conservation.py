"""What a tree keeps: energy, momentum, virtual work; on random robots.

Rates come by complex steps, and so to rounding: 1e-10 of the greatest term. Runs of
10 s are those of an integrator of order 8 at 1e-6 (energy 1e-4) and 1e-12 (momentum
1e-10).
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.tree import allocate_tree_data, allocate_tree_work
from models.tree_motion import tree_motion
from models.tree_rate import read_state, state_size, tree_rate, tree_state
from models.tree_step import (
    add_elastic,
    tree_acceleration,
    tree_energy,
    tree_momentum,
)
from tests.unit.models import tree_oracle as oracle
from tests.unit.models.tree_sample import random_state, random_tree

pytestmark = pytest.mark.timeout(300)  # complex kernels compile for half of it

_SMALL = 1e-30
_SEED = st.integers(0, 10**6)
_MANY = settings(deadline=None, max_examples=40, derandomize=True)
_RUNS = settings(deadline=None, max_examples=8, derandomize=True)


def _random(seed, bend=0.7, speed=1.0, most=5, **options):
    generator = np.random.default_rng(seed)
    elements = 1 + seed % most
    model = random_tree(generator, elements=elements, **options)
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    random_state(model, generator, data, bend=bend, speed=speed)
    return generator, model, data, work


def _along(model, data, acceleration):
    """The complex state that moves on by the state's own rate."""
    moving = allocate_tree_data(model, np.complex128)
    root = int(model.root_size[0])
    moving.position[:] = data.position
    moving.position[root:] += 1j * _SMALL * data.velocity[root:]
    moving.velocity[:] = data.velocity + 1j * _SMALL * acceleration
    moving.root_pose[:] = data.root_pose
    if root:
        rate = np.zeros((4, 4))
        rate[:3, :3] = oracle.cross(data.velocity[:3])
        rate[:3, 3] = data.velocity[3:6]
        moving.root_pose[:] += 1j * _SMALL * data.root_pose @ rate
    return moving, allocate_tree_work(model, np.complex128)


def _energy_rate(model, data, acceleration):
    moving, work = _along(model, data, acceleration)
    energy = np.zeros(3, np.complex128)
    tree_energy(model, moving, work, energy)
    return energy.imag / _SMALL


def _acceleration(model, data, work):
    acceleration = np.empty(model.dof_parent.size)
    assert tree_acceleration(model, data, work, acceleration) == -1
    return acceleration


def _dissipation(model, data, work):
    """Power that drag and viscosity take, summed over points and elements."""
    drag = oracle.rest_load(model, data, work)
    dry = model._replace(
        point_drag=np.zeros_like(model.point_drag),
        point_drag_linear=np.zeros_like(model.point_drag_linear),
        point_drag_turn=np.zeros_like(model.point_drag_turn),
        point_drag_turn_linear=np.zeros_like(model.point_drag_turn_linear),
    )
    power = (oracle.rest_load(dry, data, work) - drag) @ data.velocity
    for e in range(model.element_parent.size):
        own = slice(model.element_dof_start[e], model.element_dof_start[e + 1])
        count = own.stop - own.start
        rate = data.velocity[own]
        power += rate @ model.element_damping[e, :count, :count] @ rate
    return power


@_MANY
@given(seed=_SEED)
def test_virtual_work(seed):
    """Power of all that acts = rate of energy + dissipation."""
    generator, model, data, work = _random(seed)
    model.munk_moment[0] = 1
    data.applied[:] = generator.normal(size=data.applied.size)
    data.wrench[:] = generator.normal(size=data.wrench.shape)
    acceleration = _acceleration(model, data, work)
    power = data.applied @ data.velocity
    for e in range(model.element_parent.size):
        twist = work.point_twist[model.element_step_start[e + 1] - 1]
        place = work.point_position[model.element_step_start[e + 1] - 1]
        moment, force = data.wrench[e, :3], data.wrench[e, 3:]
        power += twist[:3] @ (moment + np.cross(place, force)) + twist[3:] @ force
    loss = _dissipation(model, data, work)
    rates = _energy_rate(model, data, acceleration)
    assert loss >= 0.0
    scale = max(1.0, np.abs(rates).max(), abs(loss), abs(power))
    assert abs(rates.sum() - power + loss) <= 1e-10 * scale


@_MANY
@given(seed=_SEED)
def test_momentum_of_a_floating_tree_has_no_rate(seed):
    _, model, data, work = _random(seed, root="free", lossless=True, gravity=False)
    acceleration = _acceleration(model, data, work)
    moving, varied = _along(model, data, acceleration)
    tree_motion(model, 0.0, moving, varied)
    momentum = np.zeros(6, np.complex128)
    tree_momentum(model, moving, varied, momentum)
    rate = momentum.imag / _SMALL
    scale = max(1.0, np.abs(momentum.real).max(), np.abs(acceleration).max())
    assert np.abs(rate).max() <= 1e-10 * scale


@_MANY
@given(seed=_SEED)
def test_momentum_is_the_mass_matrix_at_work(seed):
    """About the root's origin, along its axes, it is the root's rows of M v."""
    _, model, data, work = _random(seed, root="free", lossless=True)
    data.root_pose[:] = np.eye(4)
    tree_motion(model, 0.0, data, work)
    momentum = np.zeros(6)
    tree_momentum(model, data, work, momentum)
    expected = (oracle.full(work.matrix) @ data.velocity)[:6]
    assert np.allclose(momentum, expected, rtol=1e-12, atol=1e-12)


def _inertia_force(model, data, work, velocity):
    """c(q, v): all that is left of the load of a lossless tree without weight."""
    data.velocity[:] = velocity
    tree_motion(model, 0.0, data, work)
    return -work.load


def _matrix_rate(model, data, velocity):
    data.velocity[:] = velocity
    moving, work = _along(model, data, np.zeros_like(velocity))
    tree_motion(model, 0.0, moving, work)
    return oracle.full(work.matrix.imag) / _SMALL


@_MANY
@given(seed=_SEED)
def test_coriolis_matrix_of_a_fixed_tree_is_skew_to_the_mass_rate(seed):
    """dM/dt - 2 C is skew, C the polar form of the Coriolis forces (Christoffel)."""
    _, model, data, work = _random(seed, root="fixed", lossless=True, gravity=False)
    velocity = data.velocity.copy()
    size = velocity.size
    own = _inertia_force(model, data, work, velocity)
    coriolis = np.zeros((size, size))
    for j, unit in enumerate(np.eye(size)):
        both = _inertia_force(model, data, work, velocity + unit)
        alone = _inertia_force(model, data, work, unit)
        coriolis[:, j] = 0.5 * (both - own - alone)
    assert np.allclose(coriolis @ velocity, own, atol=1e-11)
    rate = _matrix_rate(model, data, velocity)
    skew = rate - 2.0 * coriolis
    scale = max(1.0, np.abs(rate).max())
    assert np.abs(skew + skew.T).max() <= 1e-11 * scale


@_MANY
@given(seed=_SEED)
def test_coriolis_forces_of_a_floating_tree_do_the_mass_rates_work(seed):
    """vᵀ (dM/dt v - 2 c) = 0, and the root's own motion changes no M."""
    _, model, data, work = _random(seed, root="free", lossless=True, gravity=False)
    velocity = data.velocity.copy()
    own = _inertia_force(model, data, work, velocity)
    rate = _matrix_rate(model, data, velocity)
    power = velocity @ rate @ velocity
    assert abs(power - 2.0 * velocity @ own) <= 1e-11 * max(1.0, abs(power))
    alone = np.concatenate([velocity[:6], np.zeros(velocity.size - 6)])
    assert not _matrix_rate(model, data, alone).any()


def _run(model, data, work, times, tolerance):
    """States at times, by an explicit Runge-Kutta method of order 8."""
    from scipy.integrate import solve_ivp

    rate = np.empty(state_size(model))

    def slope(_, state):
        assert tree_rate(model, state, data, work, rate) == -1
        return rate.copy()

    run = solve_ivp(
        slope,
        (0.0, times[-1]),
        tree_state(model, data),
        "DOP853",
        times,
        rtol=tolerance,
        atol=0.1 * tolerance,
    )
    assert run.success
    return np.ascontiguousarray(run.y.T)


def _energies(model, data, work, states):
    energies = np.zeros((len(states), 3))
    for state, energy in zip(states, energies, strict=True):
        read_state(model, state, data)
        tree_energy(model, data, work, energy)
    return energies


@_RUNS
@given(seed=_SEED)
def test_energy_is_kept_for_ten_seconds(seed):
    _, model, data, work = _random(seed, bend=0.3, most=2, lossless=True)
    states = _run(model, data, work, np.linspace(0.0, 10.0, 21), 1e-6)
    energies = _energies(model, data, work, states)
    drift = np.abs(energies.sum(axis=1) - energies[0].sum()).max()
    assert drift <= 1e-4 * np.abs(energies).max()


@_RUNS
@given(seed=_SEED)
def test_energy_falls_where_there_is_dissipation(seed):
    _, model, data, work = _random(seed, bend=0.3, most=2)
    model.munk_moment[0] = 1
    states = _run(model, data, work, np.linspace(0.0, 1.0, 41), 1e-7)
    energies = _energies(model, data, work, states)
    assert np.diff(energies.sum(axis=1)).max() <= 1e-6 * np.abs(energies).max()


@pytest.mark.parametrize("seed", [5, 9, 25, 33])
def test_momentum_is_kept_for_ten_seconds(seed):
    _, model, data, work = _random(
        seed, bend=0.3, most=2, root="free", lossless=True, gravity=False
    )
    assert model.dof_parent.size > 6
    states = _run(model, data, work, np.linspace(0.0, 10.0, 11), 1e-12)
    momenta = np.zeros((len(states), 6))
    for state, momentum in zip(states, momenta, strict=True):
        read_state(model, state, data)
        tree_motion(model, 0.0, data, work)
        tree_momentum(model, data, work, momentum)
    scale = np.abs(momenta[0]).max()
    assert np.abs(momenta - momenta[0]).max() <= 1e-10 * scale


def test_added_mass_without_its_moment_does_not_keep_energy():
    """Renda 2018 eq. 13 leaves the Munk moment out; the identity needs it."""
    _, model, data, work = _random(6, root="free", lossless=True, gravity=False)
    model.munk_moment[0] = 0
    rates = _energy_rate(model, data, _acceleration(model, data, work))
    assert abs(rates.sum()) > 1e-3


def test_elastic_forces_are_the_gradient_of_the_energy():
    _, model, data, work = _random(9)
    data.velocity[:] = 0.0
    tree_motion(model, 0.0, data, work)
    before = work.load.copy()
    add_elastic(model, 0.0, data, work)
    force = work.load - before
    root = int(model.root_size[0])
    gradient = np.zeros_like(force)
    for d in range(root, force.size):
        moving = allocate_tree_data(model, np.complex128)
        moving.position[:] = data.position
        moving.position[d] += 1j * _SMALL
        energy = np.zeros(3, np.complex128)
        varied = allocate_tree_work(model, np.complex128)
        tree_energy(model, moving, varied, energy)
        gradient[d] = energy[1].imag / _SMALL
    assert np.allclose(force, -gradient, rtol=1e-12, atol=1e-12)
