"""The rendered surface: its law, its bounds, its shapes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.environment import (
    allocate_surface,
    steepest_slope,
    surface_distance,
    surface_force,
)
from models.environment_law import elastic_depth, elastic_energy, elastic_force
from models.environment_report import PLANE, SPHERE

EXACT = 1e-9  # rounding only

laws = given(
    stiffness=st.floats(1.0, 1e5),
    exponent=st.one_of(st.just(1.0), st.floats(1.05, 3.0)),
    steepest=st.floats(10.0, 1e5),
    depth=st.floats(1e-5, 0.05),
)


def surface(kind=PLANE, stiffness=500.0, damping=0.0, exponent=1.0, **more):
    made = allocate_surface(**more)
    made.known[0], made.kind[0] = 1, kind
    made.point[:], made.normal[:] = (0.0, 0.0, -0.3), (0.0, 0.0, 1.0)
    made.radius[0] = 0.04
    made.stiffness[0], made.damping[0] = stiffness, damping
    made.exponent[0] = exponent
    return made


def force(made, position, velocity=(0.0, 0.0, 0.0)):
    out = np.zeros(3)
    depth = surface_force(made, np.array(position), np.array(velocity), out)
    return depth, out


def test_a_plane_pushes_out_in_proportion():
    depth, out = force(surface(), (0.1, 0.2, -0.304))
    assert depth == pytest.approx(0.004)
    assert out == pytest.approx([0.0, 0.0, 2.0], abs=EXACT)


def test_outside_and_unknown_make_no_force():
    assert force(surface(), (0.0, 0.0, -0.299)) == (0.0, pytest.approx(np.zeros(3)))
    hidden = surface()
    hidden.known[0] = 0
    assert force(hidden, (0.0, 0.0, -0.31))[1] == pytest.approx(np.zeros(3))


def test_a_sphere_pushes_along_its_radius():
    made = surface(SPHERE)
    direction = np.array([0.6, 0.0, 0.8])
    depth, out = force(made, made.point + 0.03 * direction)
    assert depth == pytest.approx(0.01)
    assert out == pytest.approx(5.0 * direction, abs=EXACT)


def test_at_the_centre_of_a_sphere_the_last_normal_stands():
    made, normal = surface(SPHERE), np.zeros(3)
    assert surface_distance(made, made.point, normal) == pytest.approx(-0.04)
    assert normal == pytest.approx(made.normal)


def test_damping_counts_inwards_and_the_surface_never_pulls():
    made = surface(damping=0.8)
    inwards = force(made, (0.0, 0.0, -0.302), (0.0, 0.0, -0.1))[1][2]
    assert inwards == pytest.approx(1.0 + 0.08)
    assert force(made, (0.0, 0.0, -0.3001), (0.0, 0.0, 0.5))[1][2] == 0.0


def test_hunt_crossley_damps_with_the_power_of_the_depth():
    made = surface(stiffness=300.0, damping=40.0, exponent=1.3)
    still = force(made, (0.0, 0.0, -0.31))[1][2]
    moving = force(made, (0.0, 0.0, -0.31), (0.0, 0.0, -0.1))[1][2]
    assert still == pytest.approx(300.0 * 0.01**1.3)
    assert moving - still == pytest.approx(40.0 * 0.01**1.3 * 0.1)


def test_a_sampled_wall_stays_within_colgates_bound():
    for damping in (0.0, 0.5, 5.0):
        for exponent in (1.0, 1.5):
            made = surface(
                stiffness=1e5, damping=damping, exponent=exponent, device_damping=2.0
            )
            step, speed = 1e-6, 0.1
            low, high = (
                force(made, (0.0, 0.0, -0.31 - shift))[1][2] for shift in (0.0, step)
            )
            slope = (high - low) / step
            moving = force(made, (0.0, 0.0, -0.31), (0.0, 0.0, -speed))[1][2]
            wall = slope * 1e-3 / 2.0 + (moving - low) / speed
            assert wall < 2.0
            assert slope == pytest.approx(steepest_slope(made), rel=1e-4)


@settings(deadline=None)
@laws
def test_depth_undoes_force(stiffness, exponent, steepest, depth):
    made = elastic_force(stiffness, exponent, steepest, depth)
    assert elastic_depth(stiffness, exponent, steepest, made) == pytest.approx(depth)


@settings(deadline=None)
@laws
def test_force_is_the_slope_of_the_energy(stiffness, exponent, steepest, depth):
    step = 1e-4 * depth
    low, high = (
        elastic_energy(stiffness, exponent, steepest, depth + shift)
        for shift in (-step, step)
    )
    made = elastic_force(stiffness, exponent, steepest, depth)
    assert (high - low) / (2.0 * step) == pytest.approx(made, rel=1e-3)


def test_a_damping_that_is_not_positive_is_refused():
    with pytest.raises(ValueError, match="device_damping is 0"):
        allocate_surface(0.0)
