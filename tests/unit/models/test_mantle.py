"""The mantle's shape, forces, water and statics.

Tolerances: rounding (1e-9) for identities of the discrete scheme, 1e-6 for slopes by
central differences, 1e-5 for a circle by quadratic elements.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.jet import (
    add_mantle_loads,
    mantle_actuation_power,
    mantle_drag,
    mantle_thrust,
    mantle_volume_rate,
    triangle,
)
from models.mantle import (
    MANTLE_COLLAPSED,
    MANTLE_DIVERGED,
    MANTLE_OK,
    allocate_mantle_data,
    allocate_mantle_work,
    build_mantle,
)
from models.mantle_parameters import (
    PAPER,
    PUBLISHED_CODE,
    VOLUME_CODE,
    VOLUME_PATH,
    VOLUME_TRUE,
)
from models.mantle_shell import (
    add_stiffness_product,
    mantle_elastic_energy,
    mantle_matrix,
)
from models.mantle_step import mantle_finish, mantle_terms
from tests.unit.models.mantles import forces, mantle_rates, random_state


def slope_of(function, place, step):
    """Central differences of a function (K, 3) -> any, flattened over (K, 3)."""
    columns = []
    for k in np.ndindex(place.shape):
        up, down = place.copy(), place.copy()
        up[k] += step
        down[k] -= step
        columns.append((function(up) - function(down)) / (2 * step))
    return np.array(columns)


# the shape at rest


def test_volumes_and_surface_at_rest():
    model = build_mantle(elements=(4, 7, 1))
    still = np.zeros_like(model.rest_position)
    true, _ = mantle_volume_rate(model, model.rest_position, still, VOLUME_TRUE)
    path, _ = mantle_volume_rate(model, model.rest_position, still, VOLUME_PATH)
    assert true == pytest.approx(0.0003389417664404953, rel=1e-5)
    assert path == pytest.approx(0.00034394360054426035, rel=1e-5)
    assert model.area == pytest.approx(0.0225788124886915, rel=1e-5)
    assert model.abscissa[-1] == pytest.approx(0.1183473430653209, rel=1e-12)


def test_published_shape():
    model = build_mantle(PUBLISHED_CODE)
    still = np.zeros_like(model.rest_position)
    path, _ = mantle_volume_rate(model, model.rest_position, still, VOLUME_PATH)
    assert path == pytest.approx(0.00034681369, rel=1e-4)
    assert model.abscissa[-1] == pytest.approx(0.11930198, rel=1e-7)
    assert np.sum(model.node_mass) / 2.1 == pytest.approx(0.336, rel=1e-4)
    assert model.node_rotary[3] / model.node_mass[3] * 2.1 == pytest.approx(
        1e-6 / 3 / 2e-3, rel=1e-9
    )


@pytest.mark.parametrize("order", [1, 2, 3])
def test_rest_is_free_of_stress(order):
    model = build_mantle(order=order)
    still = np.zeros_like(model.rest_position)
    assert mantle_elastic_energy(model, model.rest_position) < 1e-30
    assert np.max(np.abs(forces(model, model.rest_position, still))) < 1e-15


def test_loads_are_whole():
    model = build_mantle()
    assert np.sum(model.hoop_weight) == pytest.approx(2 * np.pi * model.abscissa[-1])
    assert np.sum(model.radial_weight) == pytest.approx(1.0, rel=1e-12)
    inside = (model.abscissa >= 0.0243) & (model.abscissa <= 0.110001)
    assert np.max(np.abs(model.radial_weight[~inside])) < 1e-15
    centre = np.sum(model.radial_weight * model.abscissa)
    assert centre == pytest.approx(0.5 * (0.025 + 0.110), rel=1e-3)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"density": -1.0}, "density"),
        ({"inflow_area": float("nan")}, "inflow_area"),
        ({"band": (0.02, 0.11)}, "band"),
        ({"band": (0.03, 0.2)}, "band"),
    ],
)
def test_parameters_out_of_range_are_refused(change, text):
    with pytest.raises(ValueError, match=text):
        build_mantle(PAPER._replace(**change))
    with pytest.raises(ValueError, match="order"):
        build_mantle(order=4)


# forces and their tangents


@settings(deadline=None, max_examples=10)
@given(
    seed=st.integers(0, 2**32 - 1),
    order=st.sampled_from([1, 2, 3]),
    poisson=st.sampled_from([0.0, 0.4]),
)
def test_forces_are_slopes_of_the_energy(seed, order, poisson):
    model = build_mantle(
        PAPER._replace(poisson_ratio=poisson), elements=(1, 2, 1), order=order
    )
    position, _ = random_state(model, seed)
    force = forces(model, position, np.zeros_like(position))
    slope = slope_of(lambda x: mantle_elastic_energy(model, x), position, 1e-7)
    assert force.ravel() == pytest.approx(-slope, rel=1e-6, abs=1e-6)


@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 2**32 - 1), order=st.sampled_from([1, 2, 3]))
def test_internal_forces_have_no_sum_and_viscosity_only_takes(seed, order):
    model = build_mantle(order=order)
    position, velocity = random_state(model, seed)
    force = forces(model, position, velocity)
    assert abs(np.sum(force[:, 1])) < 1e-11 * np.sum(np.abs(force[:, 1]))
    viscous = force - forces(model, position, np.zeros_like(velocity))
    assert np.sum(viscous * velocity) < 0.0


@pytest.mark.parametrize(("order", "poisson"), [(1, 0.0), (2, 0.3), (3, 0.0)])
def test_matrix_against_differences(order, poisson):
    """Each entry against its diagonal ones; thick, so that bending counts."""
    thick = PAPER._replace(poisson_ratio=poisson, half_thickness=0.01)
    model = build_mantle(thick, elements=(1, 2, 1), order=order)
    work = allocate_mantle_work(model)
    position, velocity = random_state(model, 7)
    still = np.zeros_like(velocity)
    damping, stiffness = 0.1, 0.1
    mantle_matrix(model, position, damping, stiffness, work)
    size = position.size
    matrix = np.zeros((size, size))
    for i in range(size):
        for back in range(min(i + 1, work.band.shape[1])):
            matrix[i, i - back] = matrix[i - back, i] = work.band[i, back]
    k = -slope_of(lambda x: forces(model, x, still).ravel(), position, 1e-6)
    c = -slope_of(lambda v: forces(model, position, v).ravel(), still, 1e-3)
    mass = np.stack([model.node_mass, model.node_mass, model.node_rotary], axis=1)
    wanted = np.diag(mass.ravel()) + damping * c + stiffness * k
    scale = np.sqrt(np.diag(wanted))
    assert np.max(np.abs(matrix - wanted) / scale[:, None] / scale) < 1e-6
    product = np.zeros_like(position)
    add_stiffness_product(model, work.point_stiffness, velocity, 2.0, product)
    assert product.ravel() == pytest.approx(
        2.0 * k @ velocity.ravel(), rel=1e-5, abs=1e-5 * np.max(np.abs(product))
    )


# water


@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_volume_rates_are_slopes_and_the_published_one_is_not(seed):
    model = build_mantle()
    position, velocity = random_state(model, seed, 0.3)
    step = 1e-6
    for form in (VOLUME_TRUE, VOLUME_PATH):
        up, _ = mantle_volume_rate(model, position + step * velocity, velocity, form)
        down, _ = mantle_volume_rate(model, position - step * velocity, velocity, form)
        _, rate = mantle_volume_rate(model, position, velocity, form)
        assert rate == pytest.approx((up - down) / (2 * step), rel=1e-6, abs=1e-10)
    # in the published rate the term of the stretch stands twice
    axial = velocity * np.array([0.0, 1.0, 0.0])
    flat = np.array(model.rest_position)
    _, once = mantle_volume_rate(model, flat, axial, VOLUME_PATH)
    _, twice = mantle_volume_rate(model, flat, axial, VOLUME_CODE)
    assert twice == pytest.approx(2 * once, rel=1e-12)


def test_thrust_and_drag_values():
    model = build_mantle(PUBLISHED_CODE)
    # these two were worked out with A_n of five digits
    assert mantle_thrust(model, -1e-3) == pytest.approx(2.082017642145578, rel=2e-5)
    assert mantle_thrust(model, 1e-3) == pytest.approx(-0.7130149649422681, rel=2e-5)
    drag, slope = mantle_drag(model, model.rest_position, 0.1)
    assert drag == pytest.approx(-0.5 * 1022 * 1.7 * np.pi * 0.031**2 * 0.01)
    assert slope == pytest.approx(2 * drag / 0.1)


def test_triangle():
    assert [triangle(t, 0.66) for t in (0.0, 0.165, 0.33, 0.495, 0.66 * 7)] == (
        pytest.approx([0.0, 0.5, 1.0, 0.5, 0.0], abs=1e-12)
    )


@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_power_balance(seed):
    """The shell's energy grows by the power of root, muscles, water, less viscosity."""
    model = build_mantle()
    position, velocity = random_state(model, seed)
    surge, root_acceleration = 0.3, -0.7
    acceleration = np.zeros_like(position)
    force, mass = mantle_rates(model, position, velocity, surge, 9.0, 4.0, acceleration)
    acceleration[0, 1] = root_acceleration
    axial = velocity + np.array([0.0, surge, 0.0])
    inertia = np.stack([model.node_mass, model.node_mass, model.node_rotary], axis=1)
    growth = np.sum(inertia * acceleration * axial)
    still = np.zeros_like(velocity)
    growth -= np.sum(forces(model, position, still) * velocity)
    _, rate = mantle_volume_rate(model, position, velocity, model.volume_form)
    water = mantle_thrust(model, rate) + mantle_drag(model, position, surge)[0]
    share = np.sum(model.node_area * axial[:, 1]) / model.area
    viscous = forces(model, position, velocity) - forces(model, position, still)
    power = water * share + mantle_actuation_power(model, velocity, 9.0, 4.0)
    power += np.sum(viscous * velocity)
    power -= (force - mass * root_acceleration) * surge
    assert growth == pytest.approx(power, rel=1e-9)


def test_turning_added_mass_works_nothing():
    model = build_mantle(PAPER._replace(flow_loss=0.0))
    position, velocity = random_state(model, 3)
    force = np.zeros_like(position)
    _, turning = add_mantle_loads(model, position, velocity, 0.2, 0.0, 0.0, force)
    assert turning == pytest.approx(np.sum(force[:, 1]), rel=1e-9)
    assert abs(turning) > 1e-3
    axial = velocity + np.array([0.0, 0.2, 0.0])
    assert abs(np.sum(force * axial)) < 1e-12 * np.sum(np.abs(force * axial))


# statics


def test_settled_hoop_tension_gives_the_ring_in_the_middle():
    """N_φ = -T in the middle, τ n22 - ς m22 with λ = 1, β = 0, ς = -1/r*.

    The tension grows slowly: put on at once, it folds the shell over its cap.
    """
    model = build_mantle(PAPER, elements=(4, 12, 2))
    data, work = allocate_mantle_data(model), allocate_mantle_work(model)
    for n in range(600):
        mantle_terms(model, data, 0.0, min(10.0, 0.05 * n), 0.0, 0.01, work)
        mantle_finish(model, 0.0, 0.01, data, work)
    assert np.max(np.abs(data.velocity)) < 1e-9
    radius, stiffness, bending = 0.031, 80.0, 80.0 * 1e-6 / 3
    roots = np.roots(
        [
            0.5 * stiffness,
            0.0,
            bending / radius**2 - 0.5 * stiffness,
            10.0 - bending / radius**2,
        ]
    )
    wanted = max(root.real for root in roots if abs(root.imag) < 1e-12)
    middle = int(np.argmin(np.abs(model.abscissa - 0.07)))
    assert data.position[middle, 0] / radius == pytest.approx(wanted, rel=1e-4)
    assert data.position[middle, 2] == pytest.approx(-0.5 * np.pi, abs=1e-3)
    # the root holds what the shell does not: nothing but along the axis, and that is 0
    assert abs(data.measured[0]) < 1e-9


def test_a_tension_beyond_the_limit_point_collapses_and_freezes():
    # 80/(3√3) = 15.4 N/m is the largest hoop tension with an equilibrium
    model = build_mantle()
    data, work = allocate_mantle_data(model), allocate_mantle_work(model)
    status = MANTLE_OK
    for _ in range(4000):
        mantle_terms(model, data, 0.0, 16.5, 0.0, 1e-3, work)
        status = mantle_finish(model, 0.0, 1e-3, data, work)
        if status != MANTLE_OK:
            break
    assert status in {MANTLE_COLLAPSED, MANTLE_DIVERGED}
    assert np.all(data.position[:, 0] > 0.0)
    assert np.all(data.velocity == 0.0)
