"""The mantle's step: momentum, energy, order, faults.

Tolerances: rounding (1e-13 N s) for momentum; 1e-6 and 2e-4 of the energy in 1 s for
the equations and for the step without dissipation.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.jet import triangle
from models.mantle import (
    MANTLE_NOT_FINITE,
    MANTLE_OK,
    allocate_mantle_data,
    allocate_mantle_work,
    build_mantle,
)
from models.mantle_parameters import PAPER, PUBLISHED_CODE
from models.mantle_shell import mantle_elastic_energy
from models.mantle_step import (
    mantle_finish,
    mantle_kinetic_energy,
    mantle_terms,
)
from tests.unit.models.mantles import mantle_rates, swim

_STILL = {"drag_coefficient": 0.0, "flow_loss": 0.0, "convected": 0.0}


# momentum and energy


def test_root_and_shell_exchange_momentum_exactly():
    """Every step, to rounding; with the water only its impulse is added."""
    model = build_mantle(PUBLISHED_CODE._replace(convected=0.0))
    data, work = allocate_mantle_data(model), allocate_mantle_work(model)
    surge, mass, period = 0.0, 0.204, 1e-3

    def momentum():
        return mass * surge + np.sum(model.node_mass * (data.velocity[:, 1] + surge))

    for n in range(400):
        before = momentum()
        mantle_terms(
            model, data, surge, 15 * triangle(n * period, 0.66), 0.0, period, work
        )
        change = period * work.effective[0] / (mass + work.effective[1])
        mantle_finish(model, change, period, data, work)
        surge += change
        impulse = period * (data.measured[1] + data.measured[2])
        assert momentum() - before == pytest.approx(impulse, abs=1e-13)
        assert mass * change == pytest.approx(period * data.measured[0], abs=1e-13)
    assert abs(surge) > 0.05


def test_without_water_momentum_stays():
    model = build_mantle(PAPER._replace(**_STILL))
    run = swim(model, 1.0, hoop=14.0, drag=0.0, mass=0.2)
    velocity = run.data.velocity[:, 1] + run.velocity[-1]
    momentum = 0.2 * run.velocity[-1] + np.sum(model.node_mass * velocity)
    assert np.max(np.abs(run.velocity)) > 1e-3
    assert abs(momentum) < 1e-12


def _free_rates(model, mass):
    """y' of a shell and a free root: position, velocity, root's velocity."""
    shape = model.rest_position.shape
    size = model.rest_position.size

    def rates(_, state, hoop=0.0):
        y = np.ascontiguousarray(state)  # kernels are compiled for such alone
        velocity = y[size : 2 * size].reshape(shape)
        out = np.zeros(shape)
        position = y[:size].reshape(shape)
        force, own = mantle_rates(model, position, velocity, y[-1], hoop, 0.0, out)
        surge = force / (mass + own)
        out[1:, 1] -= surge
        return np.concatenate([y[size : 2 * size], out.ravel(), [surge]])

    return rates


def test_energy_without_dissipation():
    from scipy.integrate import solve_ivp

    model = build_mantle(PAPER._replace(viscosity=0.0, **_STILL), elements=(1, 3, 1))
    size, mass = model.rest_position.size, 0.204
    start = np.zeros(2 * size + 1)
    start[:size] = model.rest_position.ravel()
    start[size + 3 : 2 * size : 3] = -0.1 * np.sin(20 * model.abscissa[1:])
    start[size + 4 : 2 * size : 3] = -0.05 * model.abscissa[1:] / 0.118

    def energy(y):
        shape = model.rest_position.shape
        kinetic = mantle_kinetic_energy(model, y[size : 2 * size].reshape(shape), y[-1])
        return (
            kinetic
            + 0.5 * mass * y[-1] ** 2
            + mantle_elastic_energy(model, y[:size].reshape(shape))
        )

    end = solve_ivp(
        _free_rates(model, mass), (0, 1.0), start, "DOP853", rtol=1e-9, atol=1e-11
    ).y[:, -1]
    assert mantle_elastic_energy(
        model, end[:size].reshape(model.rest_position.shape)
    ) > 0.05 * energy(start)
    assert energy(end) == pytest.approx(energy(start), rel=1e-6)

    energies = [energy(start)]
    for viscosity in (0.0, 500.0):
        model = build_mantle(
            PAPER._replace(viscosity=viscosity, **_STILL), elements=(1, 3, 1)
        )
        data, work = allocate_mantle_data(model), allocate_mantle_work(model)
        data.velocity[:] = start[size : 2 * size].reshape(data.velocity.shape)
        surge = 0.0
        for _ in range(1000):
            mantle_terms(model, data, surge, 0.0, 0.0, 1e-3, work)
            change = 1e-3 * work.effective[0] / (mass + work.effective[1])
            mantle_finish(model, change, 1e-3, data, work)
            surge += change
            state = [data.position.ravel(), data.velocity.ravel(), [surge]]
            energies.append(energy(np.concatenate(state)))
        if viscosity == 0.0:
            assert np.max(np.abs(np.array(energies) / energies[0] - 1)) < 2e-4
        else:
            assert np.all(np.diff(energies) <= 1e-15 * energies[0])
            assert energies[-1] < 0.1 * energies[0]
        energies = energies[:1]


def test_step_against_an_implicit_integrator_and_its_order():
    from scipy.integrate import solve_ivp

    model = build_mantle(PUBLISHED_CODE, elements=(1, 2, 1))
    size, mass, seconds = model.rest_position.size, 0.3, 0.16
    rates = _free_rates(model, mass)
    start = np.zeros(2 * size + 1)
    start[:size] = model.rest_position.ravel()
    start[-1] = 0.5
    truth = solve_ivp(
        lambda t, y: rates(t, y, 50.0 * t),
        (0, seconds),
        start,
        "Radau",
        rtol=1e-8,
        atol=1e-10,
    ).y[:, -1]
    errors = []
    for period in (8e-3, 4e-3, 2e-3, 1e-3):
        data, work = allocate_mantle_data(model), allocate_mantle_work(model)
        surge = start[-1]
        for n in range(round(seconds / period)):
            hoop = 50.0 * (n + 0.5) * period
            mantle_terms(model, data, surge, hoop, 0.0, period, work)
            change = period * work.effective[0] / (mass + work.effective[1])
            mantle_finish(model, change, period, data, work)
            surge += change
        radius = data.position[:, 0] - truth[:size:3]
        errors.append((np.max(np.abs(radius)), abs(surge - truth[-1])))
    errors = np.array(errors)
    assert abs(truth[-1] - start[-1]) > 0.03
    assert errors[-1, 0] < 1e-6
    assert errors[-1, 1] < 1e-4 * truth[-1]
    assert np.all(errors[:-1] / errors[1:] > 3.8)


# faults


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", range(4))
def test_garbage_freezes_the_shell(bad, place):
    model = build_mantle()
    data, work = allocate_mantle_data(model), allocate_mantle_work(model)
    inputs = [0.1, 5.0, 1.0, 1e-3]
    for _ in range(20):
        mantle_terms(model, data, *inputs[:3], 1e-3, work)
        mantle_finish(model, 1e-3, 1e-3, data, work)
    good = data.position.copy()
    inputs[place] = bad
    change = inputs[3] if place == 3 else 0.0
    mantle_terms(model, data, *inputs[:3], 1e-3, work)
    assert np.all(np.isfinite(work.effective))
    assert mantle_finish(model, change, 1e-3, data, work) == MANTLE_NOT_FINITE
    assert np.array_equal(data.position, good)
    assert np.all(data.velocity == 0.0)
    assert np.all(data.measured == 0.0)
    # it stays frozen, and rides on the root with all its mass
    assert mantle_terms(model, data, 0.1, 0.0, 0.0, 1e-3, work) == MANTLE_NOT_FINITE
    assert work.effective == pytest.approx([0.0, np.sum(model.node_mass)], rel=1e-12)


@settings(deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 2**32 - 1),
    exponent=st.floats(-4.0, -2.7),
    size=st.floats(0.0, 30.0),
)
def test_steps_of_any_length_stay_finite(seed, exponent, size):
    """Steps of 0.1 to 2 ms, jumping muscles, knocks of 30 m/s2 rms on the root."""
    random = np.random.default_rng(seed)
    model = build_mantle()
    data, work = allocate_mantle_data(model), allocate_mantle_work(model)
    period = 10.0**exponent
    surge = 0.0
    for _ in range(150):
        hoop, radial = random.uniform(0, 9), random.uniform(0, 3)
        mantle_terms(model, data, surge, hoop, radial, period, work)
        assert work.effective[1] > 0.0
        knock = random.normal() * size * period
        change = period * work.effective[0] / (0.2 + work.effective[1]) + knock
        assert mantle_finish(model, change, period, data, work) == MANTLE_OK
        surge += change
    assert np.max(np.abs(data.velocity[:, :2])) < 10.0


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**32 - 1))
def test_any_input_leaves_a_finite_state_and_a_bounded_root(seed):
    """Inputs of any size: what the root gets is finite, its added mass positive."""
    random = np.random.default_rng(seed)
    model = build_mantle()
    data, work = allocate_mantle_data(model), allocate_mantle_work(model)
    inputs = random.normal(size=(20, 4)) * 10.0 ** random.uniform(-3, 5, (20, 4))
    period = 10.0 ** random.uniform(-4, 0)
    inputs[random.integers(20), random.integers(4)] = random.choice(
        [np.nan, np.inf, 1e300, -1e300]
    )
    for surge, hoop, radial, change in inputs:
        mantle_terms(model, data, surge, hoop, radial, period, work)
        assert np.all(np.isfinite(work.effective))
        assert work.effective[1] > 0.0
        mantle_finish(model, change, period, data, work)
        for field in (data.position, data.velocity, data.measured):
            assert np.all(np.isfinite(field))
        assert np.all(data.position[:, 0] > 0.0)
    assert data.status[0] != MANTLE_OK


def test_a_step_of_no_length_is_refused():
    model = build_mantle()
    data, work = allocate_mantle_data(model), allocate_mantle_work(model)
    assert mantle_terms(model, data, 0.1, 5.0, 0.0, 0.0, work) != MANTLE_OK
    assert work.effective == pytest.approx([0.0, np.sum(model.node_mass)], rel=1e-12)
