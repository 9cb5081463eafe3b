"""The step's cables: the piecewise linear problem solved to the end.

Tolerance 1e-8 of the forces, the rounding of systems with a condition near 1e7.
"""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from models.cable import solve_step
from models.rod import allocate_rod_work
from tests.unit.models.rods import URSULA


@settings(deadline=None, max_examples=200)
@example(seed=11112, stiffness=1e4)  # cycles where the search may end uphill
@given(seed=st.integers(0, 2**32 - 1), stiffness=st.sampled_from([1.0, 1e2, 1e4]))
def test_velocity_change_and_tensions_agree_in_every_state(seed, stiffness):
    generator = np.random.default_rng(seed)
    work = allocate_rod_work(URSULA)
    size, tendons, period = 6, 8, 1e-3
    root = generator.normal(size=(size, size))
    matrix = root @ root.T + 0.01 * np.eye(size)
    work.matrix[:] = np.tril(matrix)
    work.load[:] = 100.0 * generator.normal(size=size)
    work.tendon_jacobian[:] = generator.normal(size=(tendons, size))
    work.tendon_jacobian[:4, 3:] = 0.0
    work.tendon_width[:] = [3, 3, 3, 3, 6, 6, 6, 6]
    work.tendon_limit[:] = 40.0
    work.tendon_slope[:] = stiffness
    free = 60.0 * generator.normal(size=tendons)
    work.tendon_tension[:] = free

    assert solve_step(size, tendons, period, work) == 0

    change, tension = work.velocity_change[:size], work.tendon_tension
    wanted = np.clip(free + stiffness * work.tendon_jacobian @ change, 0.0, 40.0)
    assert np.allclose(tension, wanted, rtol=0.0, atol=1e-9)
    left = matrix @ change - period * (work.load - work.tendon_jacobian.T @ tension)
    assert np.abs(left).max() < 1e-8


def test_a_matrix_that_is_not_positive_is_told():
    work = allocate_rod_work(URSULA)
    work.matrix[0, 0] = -1.0
    assert solve_step(1, 0, 1e-3, work) == 1


@pytest.mark.parametrize(("free", "state"), [(-1.0, 0), (20.0, 1), (50.0, 2)])
def test_the_state_of_each_cable_is_left_for_the_reader(free, state):
    work = allocate_rod_work(URSULA)
    work.matrix[0, 0] = 1.0
    work.tendon_width[0], work.tendon_limit[0] = 1, 40.0
    work.tendon_tension[0], work.tendon_slope[0] = free, 1.0
    assert solve_step(1, 1, 1e-3, work) == 0
    assert work.tendon_state[0] == state
    assert work.tendon_tension[0] == min(max(free, 0.0), 40.0)
