"""Water: coefficients of a section, and weight against the slope of potential energy.

Tolerance 1e-6 relative: five quadrature points a segment against sixteen.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.robot_tree import changed_robot
from models.rod import allocate_rod_work
from models.weight import limb_weight_load
from tests.unit.models.rods import (
    URSULA,
    limb_rows,
    one_limb,
    random_pose,
    section_pose,
)

_WORK = allocate_rod_work(URSULA)
_NODE, _WEIGHT = np.polynomial.legendre.leggauss(16)


def potential(model, limb, coordinates):
    """Potential energy [J] of the submerged weight, in the hull, by 16 points."""
    total = 0.0
    for k, row in enumerate(
        range(limb_rows(model, limb).start, limb_rows(model, limb).stop)
    ):
        r0, r1 = model.segment_radius[row]
        for node, weight in zip(0.5 * (_NODE + 1), 0.5 * _WEIGHT, strict=True):
            radius = r0 + (r1 - r0) * node
            mass = (model.density[row] - model.water_density[0]) * np.pi * radius**2
            mass *= model.segment_length[row] * weight
            position = section_pose(model, limb, coordinates, k, node)[:3, 3]
            total -= mass * (model.gravity_in_hull @ position)
    return total


@settings(deadline=None, max_examples=30)
@given(limb=st.sampled_from([0, 2]), seed=st.integers(0, 2**32 - 1))
def test_weight_is_the_slope_of_the_potential(limb, seed):
    model = changed_robot(URSULA, gravity_in_hull=np.array([3.0, -4.0, -8.0]))
    pose = random_pose(model, limb, seed)
    load = np.zeros(pose.size)
    limb_weight_load(model, limb, pose, _WORK, load)
    step = 1e-5
    for i in range(pose.size):
        change = np.zeros(pose.size)
        change[i] = step
        change = change.reshape(pose.shape)
        slope = potential(model, limb, pose + change)
        slope -= potential(model, limb, pose - change)
        assert load[i] == pytest.approx(-slope / (2 * step), rel=1e-6, abs=1e-8)


def test_a_limb_as_dense_as_water_weighs_nothing():
    model = one_limb(
        2, density=np.full(2, 1000.0), gravity_in_hull=np.array([0.0, 0.0, -9.81])
    )
    load = np.full(6, np.nan)
    pose = np.array([[0.3, 0.2, 0.0], [0.5, -0.1, 0.01]])
    limb_weight_load(model, 0, pose, allocate_rod_work(model), load)
    assert np.array_equal(load, np.zeros(6))
