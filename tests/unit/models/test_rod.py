"""The step: energy, statics, stability, faults.

Tolerances: 1e-9 of the energy for one step of decay, which the explicit Coriolis terms
may spoil by the cube of the period; 1.5e-3 of the length for the elastica, which is the
error of eight arcs.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.runtime import _nrt_python, rtsys

from models.limb import limb_poses
from models.material import segment_material
from models.robot import RobotData, allocate_robot_data
from models.robot_tree import changed_robot
from models.rod import (
    FAULT_NONE,
    FAULT_NOT_FINITE,
    allocate_rod_work,
    reset_robot_data,
    robot_energy,
    robot_step,
)
from models.tendon import tendon_lengths
from tests.unit.models.rods import (
    LENGTH,
    URSULA,
    YOUNG,
    limb_rows,
    one_limb,
    random_pose,
)

_SEEDS = st.integers(0, 2**32 - 1)
_PERIOD = 1e-3
_GRAVITY = np.array([0.0, 0.0, -9.81])


def _robot(model, coordinates=None):
    """Data at rest at a pose, with its work and the winches' present lengths."""
    data, work = allocate_robot_data(model), allocate_rod_work(model)
    if coordinates is None:
        coordinates = model.rest_coordinates
    assert reset_robot_data(model, coordinates, work, data) == 0
    return data, work, data.servo_length.copy()


def _free(model, coordinates=None):
    """Data at rest at a pose, every cable slack for good, with work and winches."""
    data, work = allocate_robot_data(model), allocate_rod_work(model)
    if coordinates is not None:
        data.coordinates[:] = coordinates
    data.servo_length[:] = 10.0
    return data, work, data.servo_length.copy()


def _anywhere(seed):
    """Coordinates (S, 3) of all of URSULA's limbs inside their limits."""
    return np.concatenate([random_pose(URSULA, i, seed + i) for i in range(4)])


def _energy(model, data, work):
    energy = np.zeros(3)
    robot_energy(model, data, work, energy)
    return energy


def _tip(model, data):
    poses = np.zeros((len(data.coordinates) + 1, 4, 4))
    limb_poses(model, 0, data.coordinates, poses)
    return (model.pose_base_to_hull[0] @ poses[-1])[:3, 3]


def _settle(model, data, work, winch, seconds=30.0, period=0.02):
    """Let a limb without damping come to rest; viscosity is given for it alone."""
    thick = changed_robot(model, viscosity=np.full(model.viscosity.size, 2e4))
    for _ in range(int(seconds / period)):
        assert robot_step(thick, period, winch, data, work) == 0
    assert np.abs(data.rates).max() < 1e-6


@settings(deadline=None, max_examples=15)
@given(seed=_SEEDS)
def test_energy_never_rises_when_nothing_drives(seed):
    data, work, winch = _robot(URSULA, _anywhere(seed))
    generator = np.random.default_rng(seed)
    data.coordinates[:] = _anywhere(
        seed + 1
    )  # off its equilibrium: cables tear and slip
    data.rates[:] = generator.normal(size=(6, 3)) * [1.0, 1.0, 0.02]
    before = _energy(URSULA, data, work).sum()
    start = before
    for _ in range(200):
        robot_step(URSULA, _PERIOD, winch, data, work)
        after = _energy(URSULA, data, work).sum()
        assert after <= before + 1e-9 * abs(start)
        before = after
    assert after < start


def _swing_loss(period):
    """Share of its energy that an undamped limb loses in a second of swinging."""
    model = one_limb(2, added_mass=np.full(2, 1.5))
    pose = np.array([[0.8, 0.3, 0.0], [0.8, -0.3, 0.0]])
    data, work, winch = _free(model, pose)
    start = _energy(model, data, work).sum()
    for _ in range(round(1.0 / period)):
        robot_step(model, period, winch, data, work)
    energy = _energy(model, data, work)
    assert energy[0] > 0.01 * start
    return 1.0 - energy.sum() / start


def test_without_dissipation_energy_stays_to_first_order_in_the_period():
    coarse, fine = _swing_loss(1e-3), _swing_loss(0.5e-3)
    assert 0.0 < coarse < 0.01
    assert coarse / fine == pytest.approx(2.0, abs=0.15)


def test_sag_under_weight_converges_to_the_reference():
    # analytic_references: inextensible tip at (0.49387, -0.30409) m
    errors = []
    for segments in (2, 4, 8):
        model = one_limb(segments, gravity_in_hull=_GRAVITY)
        model = changed_robot(model, axial_stiffness_ratio=np.full(segments, 1e3))
        data, work, winch = _free(model)
        _settle(model, data, work, winch)
        tip = _tip(model, data)
        errors.append(np.hypot(tip[0] - 0.49386732, tip[2] + 0.30408909))
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=1.5)
    assert errors[1] / errors[2] == pytest.approx(4.0, abs=0.6)
    assert errors[2] < 2e-3


def test_a_moment_at_the_tip_makes_an_arc():
    model = one_limb(3, uniform=True)
    data, work, winch = _free(model)
    moment = 1.2 * YOUNG * math.pi * 0.03**4 / 4 / LENGTH  # κ L = 1.2
    data.tip_wrench[0] = [0.0, -moment, 0.0, 0.0, 0.0, 0.0]
    _settle(model, data, work, winch)
    assert data.coordinates[:, 0] == pytest.approx(np.full(3, 0.4), rel=1e-6)
    assert np.abs(data.coordinates[:, 1:]).max() < 1e-9


def test_a_force_at_the_tip_makes_the_elastica():
    # dead load P L² = E I: dv/L = 0.301721, x/L = 0.943567
    model = one_limb(8, uniform=True, axial_stiffness_ratio=np.full(8, 1e4))
    data, work, winch = _free(model)
    stiffness = YOUNG * math.pi * 0.03**4 / 4
    data.tip_wrench[0, 5] = stiffness / LENGTH**2
    _settle(model, data, work, winch)
    tip = _tip(model, data) / LENGTH
    assert tip == pytest.approx([0.943567, 0.0, 0.301721], abs=1.5e-3)


def test_a_small_swing_has_the_frequency_of_the_matrices():
    model = one_limb(1)
    data, work, winch = _free(model)
    data.coordinates[0, 0] = 1e-3
    turns = []
    for tick in range(8000):
        before = data.coordinates[0, 0]
        robot_step(model, _PERIOD, winch, data, work)
        if before * data.coordinates[0, 0] < 0.0:
            share = before / (before - data.coordinates[0, 0])
            turns.append((tick + share) * _PERIOD)
    inertia = _mass_of_one(model, work)
    expected = math.sqrt(segment_material(model, 0)[0] / inertia) / (2 * math.pi)
    found = 0.5 * (len(turns) - 1) / (turns[-1] - turns[0])
    assert found == pytest.approx(expected, rel=1e-4)


def _mass_of_one(model, work):
    data = allocate_robot_data(model)
    _energy(model, data, work)
    return work.tree.matrix[0, 0]


@settings(deadline=None, max_examples=10)
@given(seed=_SEEDS)
def test_reset_leaves_the_robot_at_rest(seed):
    data, work, winch = _robot(URSULA, _anywhere(seed))
    start = data.coordinates.copy()
    for _ in range(500):
        robot_step(URSULA, _PERIOD, winch, data, work)
    moved = np.abs(data.coordinates - start)
    assert moved[:, :2].max() < 1e-3
    assert moved[:, 2].max() < 2e-5
    assert np.all(data.tension > 0.0)


def test_winches_move_the_limb_to_another_pose():
    data, work, _ = _robot(URSULA)
    goal, goal_work, winch = _robot(URSULA, _anywhere(5))
    del goal_work
    for _ in range(15000):
        robot_step(URSULA, _PERIOD, winch, data, work)
    assert np.allclose(data.coordinates, goal.coordinates, rtol=0.0, atol=1e-3)


def test_it_stays_finite_under_any_command_and_load_for_100_000_steps():
    data, work, _ = _robot(URSULA)
    generator = np.random.default_rng(7)
    rest = data.servo_length.copy()
    winch = rest.copy()
    for _ in range(2500):
        winch[:] = rest + generator.uniform(-0.08, 0.08, winch.size)
        data.tip_wrench[:, :3] = generator.normal(size=(4, 3)) * 0.05
        data.tip_wrench[:, 3:] = generator.normal(size=(4, 3)) * 1.0
        for _ in range(40):
            assert robot_step(URSULA, _PERIOD, winch, data, work) == 0
        assert np.abs(data.coordinates[:, :2]).max() < 2 * math.pi
        assert np.abs(data.coordinates[:, 2]).max() < 0.1
        assert np.all(data.tension >= 0.0)
        assert np.all(data.tension <= 40.0)
    assert np.abs(data.rates[:, :2]).max() < 20.0


@pytest.mark.parametrize("period", [1e-4, 1e-3, 1e-2])
def test_cables_are_stable_at_any_period(period):
    stiff = changed_robot(
        URSULA, tendon_stiffness=np.full(24, 1e6), tendon_damping=np.zeros(24)
    )
    data, work, winch = _robot(stiff)
    data.coordinates[:] = _anywhere(11)
    for _ in range(500):
        assert robot_step(stiff, period, winch, data, work) == 0
    assert np.abs(data.rates).max() < 5.0


def test_tensions_are_those_of_the_cables_at_the_end_of_the_step():
    data, work, winch = _robot(URSULA)
    data.rates[:] = [0.3, -0.2, 0.002]
    for _ in range(3):
        before, servo = _cable_lengths(data, work), data.servo_length.copy()
        robot_step(URSULA, _PERIOD, winch - 0.005, data, work)
        stretch = _cable_lengths(data, work) - data.servo_length
        rate = (stretch - before + servo) / _PERIOD
        tension = np.clip(20000.0 * stretch + 40.0 * rate, 0.0, 40.0)
        # to second order in the way of a step: 1e-7 m of curvature times 20 kN/m
        assert np.allclose(data.tension, tension, rtol=0.0, atol=5e-3)
    assert data.tension.max() > 5.0


def _cable_lengths(data, work):
    lengths = np.zeros(24)
    for limb in range(4):
        rows = limb_rows(URSULA, limb)
        tendons = slice(*URSULA.limb_tendon_start[limb : limb + 2])
        tendon_lengths(
            URSULA, limb, data.coordinates[rows], lengths[tendons], work.tendon_jacobian
        )
    return lengths


def test_a_slack_cable_pulls_not_and_a_taut_one_not_above_its_limit():
    data, work, winch = _robot(URSULA)
    for _ in range(1500):
        robot_step(URSULA, _PERIOD, winch + 0.05, data, work)
    assert np.array_equal(data.tension, np.zeros(24))
    for _ in range(1500):
        robot_step(URSULA, _PERIOD, winch - 0.25, data, work)
    assert data.tension.max() == 40.0


def test_a_limb_that_is_not_finite_freezes_alone_and_reset_frees_it():
    data, work, winch = _robot(URSULA)
    for _ in range(5):
        robot_step(URSULA, _PERIOD, winch - 0.01, data, work)
    good = data.coordinates.copy()
    data.coordinates[2, 1] = np.nan  # the second limb
    for _ in range(3):
        assert robot_step(URSULA, _PERIOD, winch - 0.01, data, work) == 1
    assert list(data.status) == [FAULT_NONE, FAULT_NOT_FINITE, FAULT_NONE, FAULT_NONE]
    assert np.array_equal(data.coordinates[2:4], good[2:4])
    assert not np.any(data.rates[2:4])
    assert not np.allclose(data.coordinates[:2], good[:2], rtol=0.0, atol=1e-9)
    assert all(np.all(np.isfinite(field)) for field in (*data[:-1], *data.tree))
    assert reset_robot_data(URSULA, good, work, data) == 0
    assert robot_step(URSULA, _PERIOD, winch, data, work) == 0


@pytest.mark.parametrize("field", ["rates", "servo_length", "tip_wrench", "command"])
def test_no_input_that_is_not_finite_reaches_the_state(field):
    data, work, winch = _robot(URSULA)
    target = winch.copy()
    for _ in range(3):
        robot_step(URSULA, _PERIOD, winch, data, work)
    kept = RobotData(*(value.copy() for value in data[:-1]), tree=data.tree)
    if field == "command":
        target[0] = np.nan
    else:
        getattr(data, field).flat[0] = np.inf
    assert robot_step(URSULA, _PERIOD, target, data, work) == 1
    assert data.status[0] == FAULT_NOT_FINITE
    assert np.array_equal(data.coordinates[:2], kept.coordinates[:2])
    assert np.array_equal(data.servo_length[:8], kept.servo_length[:8])
    assert np.array_equal(data.tension[:8], kept.tension[:8])
    assert not np.any(data.rates[:2])


def test_reset_refuses_a_pose_that_is_not_finite_and_sets_the_others():
    data, work, _ = _robot(URSULA)
    before = data.coordinates.copy()
    pose = _anywhere(3)
    pose[0, 0] = np.nan
    assert reset_robot_data(URSULA, pose, work, data) == 1
    assert np.array_equal(data.coordinates[:2], before[:2])
    assert np.array_equal(data.coordinates[2:, :2], pose[2:, :2])


def _arrays(block):
    """Number of arrays in a NamedTuple, those of nested ones included."""
    return sum(_arrays(v) if isinstance(v, tuple) else 1 for v in block)


def test_a_step_allocates_nothing():
    data, work, winch = _robot(URSULA)
    robot_step(URSULA, _PERIOD, winch, data, work)
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    robot_step(URSULA, _PERIOD, winch - 0.02, data, work)
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    # the call from Python wraps each array it hands in, and that is all
    handed = sum(_arrays(block) for block in (URSULA, data, work)) + 1
    assert after.alloc - before.alloc <= handed
