"""Equations of motion against the kinetic energy of sections moved by finite steps.

Tolerance 1e-6 relative: central differences, and the same quadrature points on both
sides.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.limb import limb_tip_jacobian
from models.material import segment_material
from models.robot import allocate_robot_data
from models.robot_tree import SEGMENT_POINTS, changed_robot
from models.rod import allocate_rod_work
from models.strain_basis import radau_nodes
from models.tree_motion import tree_motion
from models.tree_step import tree_energy
from models.weight import limb_weight_load
from tests.unit.models.rods import (
    URSULA,
    limb_rows,
    one_limb,
    random_pose,
    section_pose,
)

_WORK = allocate_rod_work(URSULA)
_LIMB = st.sampled_from([0, 2])
_SEEDS = st.integers(0, 2**32 - 1)
_STILL = np.zeros(6)


def _terms(limb, pose, rates, model=URSULA, work=_WORK, period=0.0, wrench=_STILL):
    """Mass matrix, Coriolis forces, the other forces, kinetic and potential energy."""
    data, rows = allocate_robot_data(model), limb_rows(model, limb)
    data.coordinates[rows], data.rates[rows] = pose, rates
    data.tree.wrench[rows.stop - 1] = wrench
    tree_motion(model.tree, period, data.tree, work.tree)
    own = slice(3 * rows.start, 3 * rows.stop)
    matrix = np.tril(work.tree.matrix[own, own])
    matrix = matrix + np.tril(matrix, -1).T
    load = work.tree.load[own].copy()
    bias = _dry_load(model, data, work)[own]
    energy = np.zeros(3)
    tree_energy(model.tree, data.tree, work.tree, energy)
    return matrix, bias, load + bias, energy[0], energy[2]


def _dry_load(model, data, work):
    """Coriolis forces: what is left of the load without weight, drag and wrench."""
    bare = model.tree._replace(
        gravity=np.zeros(3), point_drag=np.zeros_like(model.tree.point_drag)
    )
    still = data.tree._replace(wrench=np.zeros_like(data.tree.wrench))
    tree_motion(bare, 0.0, still, work.tree)
    return -work.tree.load


def _mass(limb, pose):
    return _terms(limb, pose, np.zeros_like(pose))[0]


def _rates(pose, seed):
    scale = np.tile([2.0, 2.0, 0.05], len(pose))
    return (np.random.default_rng(seed + 1).normal(size=pose.size) * scale).reshape(
        pose.shape
    )


def _sections(limb, pose, rates, model=URSULA):
    """Yield at each point: share of length, radius, row, tangent, v, ω in the hull."""
    step = 1e-6
    for k in range(len(pose)):
        row = limb_rows(model, limb).start + k
        r0, r1 = model.segment_radius[row]
        for node, weight in zip(*radau_nodes(SEGMENT_POINTS), strict=True):
            here = section_pose(model, limb, pose, k, node)
            after = section_pose(model, limb, pose + step * rates, k, node)
            before = section_pose(model, limb, pose - step * rates, k, node)
            speed = (after - before) / (2 * step)
            spin = speed[:3, :3] @ here[:3, :3].T
            omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
            share = weight * model.segment_length[row]
            radius = r0 + (r1 - r0) * node
            yield share, radius, row, here[:3, 2], speed[:3, 3], omega


@settings(deadline=None, max_examples=25)
@given(limb=_LIMB, seed=_SEEDS)
def test_mass_matrix_gives_the_sections_kinetic_energy(limb, seed):
    pose = random_pose(URSULA, limb, seed)
    rates = _rates(pose, seed)
    energy = 0.0
    for share, radius, row, tangent, v, omega in _sections(limb, pose, rates):
        line = URSULA.density[row] * np.pi * radius**2
        across = v - (v @ tangent) * tangent
        added = URSULA.added_mass[row] * 1000.0 * np.pi * radius**2
        turn = omega @ omega + (omega @ tangent) ** 2
        energy += 0.5 * share * line * (v @ v + 0.25 * radius**2 * turn)
        energy += 0.5 * share * added * (across @ across)
    matrix, _, _, kinetic, _ = _terms(limb, pose, rates)
    flat = rates.ravel()
    assert kinetic == pytest.approx(energy, rel=1e-6)
    assert 0.5 * flat @ matrix @ flat == pytest.approx(energy, rel=1e-6)


@settings(deadline=None, max_examples=25)
@given(limb=_LIMB, seed=_SEEDS)
def test_mass_matrix_is_positive_definite(limb, seed):
    assert np.all(np.linalg.eigvalsh(_mass(limb, random_pose(URSULA, limb, seed))) > 0)


def _slope_of_mass(limb, pose):
    """∂M/∂q as (m, m, m), last index the coordinate."""
    size, step = pose.size, 1e-5
    slope = np.zeros((size, size, size))
    for i in range(size):
        change = np.zeros(size)
        change[i] = step
        change = change.reshape(pose.shape)
        difference = _mass(limb, pose + change) - _mass(limb, pose - change)
        slope[:, :, i] = difference / (2 * step)
    return slope


@settings(deadline=None, max_examples=25)
@given(limb=_LIMB, seed=_SEEDS)
def test_bias_is_the_christoffel_form_and_does_no_work(limb, seed):
    pose = random_pose(URSULA, limb, seed)
    rates = _rates(pose, seed)
    flat = rates.ravel()
    slope = _slope_of_mass(limb, pose)
    expected = np.einsum("kij,i,j->k", slope, flat, flat)
    expected -= 0.5 * np.einsum("ijk,i,j->k", slope, flat, flat)
    bias = _terms(limb, pose, rates)[1]
    scale = np.abs(expected).max()
    assert np.allclose(bias, expected, rtol=0.0, atol=1e-6 * scale + 1e-9)
    # (dM/dt - 2 C) skew: half of q̇ᵀ dM/dt q̇ is the power of the bias
    change = 0.5 * flat @ np.einsum("ijk,k->ij", slope, flat) @ flat
    assert flat @ bias == pytest.approx(change, rel=1e-6, abs=1e-9)


def test_added_mass_has_a_part_in_the_bias_that_is_tested():
    pose = random_pose(URSULA, 0, 3)
    rates = _rates(pose, 3)
    dry = changed_robot(URSULA, added_mass=np.zeros(6))
    wet, bare = _terms(0, pose, rates)[1], _terms(0, pose, rates, dry)[1]
    assert np.linalg.norm(wet - bare) > 0.1 * np.linalg.norm(bare)


@settings(deadline=None, max_examples=25)
@given(limb=_LIMB, seed=_SEEDS)
def test_load_at_rest_is_weight_and_tip_wrench(limb, seed):
    pose = random_pose(URSULA, limb, seed)
    wrench = np.random.default_rng(seed).normal(size=6)
    weight = np.zeros(pose.size)
    limb_weight_load(URSULA, limb, pose, _WORK, weight)
    poses = np.zeros((len(pose) + 1, 4, 4))
    jacobian = np.zeros((6, pose.size))
    limb_tip_jacobian(URSULA, limb, pose, poses, jacobian)
    turn = URSULA.pose_base_to_hull[limb, :3, :3]
    in_base = np.concatenate([turn.T @ wrench[:3], turn.T @ wrench[3:]])
    load = _terms(limb, pose, np.zeros_like(pose), wrench=wrench)[2]
    assert np.allclose(load, weight + jacobian.T @ in_base, rtol=0.0, atol=1e-12)


@settings(deadline=None, max_examples=25)
@given(limb=_LIMB, seed=_SEEDS)
def test_drag_is_that_of_every_section(limb, seed):
    still = changed_robot(
        URSULA, gravity_in_hull=np.zeros(3), drag_tangent=np.full(6, 0.3)
    )
    pose = random_pose(still, limb, seed)
    rates = _rates(pose, seed)
    power, implicit = 0.0, 0.0
    for share, radius, row, tangent, v, _ in _sections(limb, pose, rates, still):
        drag_n = 1000.0 * still.drag_normal[row] * radius
        drag_t = 1000.0 * 0.5 * np.pi * still.drag_tangent[row] * radius
        along = v @ tangent
        force = drag_n * (v @ v - along**2) + drag_t * along**2
        power -= share * np.sqrt(v @ v) * force
        implicit += share * np.sqrt(v @ v) * force
    mass = _terms(limb, pose, rates, still)[0]
    matrix, _, load, _, _ = _terms(limb, pose, rates, still, period=0.01)
    flat = rates.ravel()
    assert flat @ load == pytest.approx(power, rel=1e-6)
    assert flat @ (matrix - mass) @ flat == pytest.approx(0.01 * implicit, rel=1e-6)


@settings(deadline=None, max_examples=10)
@given(limb=_LIMB, seed=_SEEDS)
def test_potential_energy_falls_as_weight_pulls(limb, seed):
    pose = random_pose(URSULA, limb, seed)
    still, step = np.zeros_like(pose), 1e-5
    load = _terms(limb, pose, still)[2]
    for i in range(pose.size):
        change = np.zeros(pose.size)
        change[i] = step
        change = change.reshape(pose.shape)
        slope = _terms(limb, pose + change, still)[4]
        slope -= _terms(limb, pose - change, still)[4]
        assert load[i] == pytest.approx(-slope / (2 * step), rel=1e-6, abs=1e-9)


def test_nothing_is_singular_where_the_limb_is_straight():
    rates = np.array([[1.0, -2.0, 0.01], [0.5, 0.7, -0.02]])
    straight = _terms(0, np.zeros((2, 3)), rates)
    nearly = _terms(0, np.full((2, 3), 1e-9), rates)
    for exact, near in zip(straight, nearly, strict=True):
        assert np.all(np.isfinite(exact))
        assert np.allclose(exact, near, rtol=0.0, atol=1e-7)


@pytest.mark.parametrize(
    ("added", "expected"), [(0.0, 0.28363212603), (1.0, 0.20392108652)]
)
def test_first_frequency_is_that_of_the_tapered_beam(added, expected):
    # Euler-Bernoulli: models of 8 arcs lie above it; rotary inertia takes 0.1 % off
    model = one_limb(8, added_mass=np.full(8, added))
    work = allocate_rod_work(model)
    pose = np.zeros((8, 3))
    mass = _terms(0, pose, pose, model, work)[0][::3, ::3]
    stiffness = np.diag([segment_material(model, k)[0] for k in range(8)])
    squares = np.linalg.eigvals(np.linalg.solve(mass, stiffness))
    first = np.sqrt(np.min(squares.real)) / (2 * np.pi)
    assert first == pytest.approx(expected, rel=0.01)
