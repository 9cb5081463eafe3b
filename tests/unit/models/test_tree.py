"""Kinematics, masses and forces of a tree, against definitions and other modules.

Tolerances: 1e-12 of the greatest entry where both are exact; 1e-7 for central
differences with a step of 1e-5.
"""

import numpy as np
import pytest

from models.arc import arc_pose
from models.limb import build_limb_model, limb_frames, limb_jacobian
from models.strain_basis import constant_curvature, legendre
from models.tree import allocate_tree_data, allocate_tree_work
from models.tree_builder import ROOT, TreeBuilder, frame
from models.tree_motion import tree_motion
from models.tree_solve import (
    add_row,
    point_row,
    point_velocity,
    solve_tree,
    tree_factor,
)
from models.tree_step import hold_root, tree_acceleration
from tests.unit.models import tree_oracle as oracle
from tests.unit.models.tree_sample import (
    random_frame,
    random_rotation,
    random_state,
    random_tree,
)

_SEEDS = range(12)
_STEP = 1e-5


def _random(seed, **options):
    generator = np.random.default_rng(seed)
    model = random_tree(generator, elements=1 + seed % 5, **options)
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    random_state(model, generator, data)
    data.applied[:] = generator.normal(size=data.applied.size)
    data.wrench[:] = generator.normal(size=data.wrench.shape)
    return generator, model, data, work


def _close(value, expected, tolerance):
    scale = max(1.0, np.abs(expected).max())
    return np.abs(value - expected).max() <= tolerance * scale


def _limb(lengths, **options):
    tree = TreeBuilder(**options)
    parent = ROOT
    for length in lengths:
        parent = tree.add_rod(
            parent,
            np.eye(4),
            length=length,
            radius=(0.02, 0.01),
            density=1070.0,
            young_modulus=69e3,
            shear_modulus=23e3,
            basis=constant_curvature(),
        )
    return tree.build()


def _pose(work, point):
    return frame(work.point_position[point], work.point_rotation[point])


def test_constant_curvature_is_the_limb_of_the_kinematics():
    lengths = np.array([0.3, 0.2, 0.1])
    model = _limb(lengths)
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    limb = build_limb_model(
        lengths, 0.02, bend_limit=3.0, extension_range=(-0.05, 0.05)
    )
    generator = np.random.default_rng(0)
    coordinates = generator.uniform([-2, -2, -0.03], [2, 2, 0.03], (3, 3))
    data.position[:] = coordinates.ravel()
    tree_motion(model, 0.0, data, work)
    frames, jacobian = np.empty((4, 4, 4)), np.empty((6, 9))
    limb_frames(limb, coordinates, frames)
    limb_jacobian(limb, coordinates, frames, jacobian)
    ends = model.element_step_start[1:] - 1
    for end, expected in zip(ends, frames[1:], strict=True):
        assert np.allclose(_pose(work, end), expected, atol=1e-13)
    tip = ends[-1]
    spatial = oracle.point_jacobian(model, work, tip)
    spatial[3:] -= oracle.cross(work.point_position[tip]) @ spatial[:3]
    assert np.allclose(spatial, jacobian, atol=1e-13)


def test_points_of_a_piece_are_on_its_arc():
    model = _limb([0.4])
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    data.position[:] = 0.9, -1.3, 0.02
    tree_motion(model, 0.0, data, work)
    for s, at in enumerate(model.point_abscissa / 0.4):
        expected = np.empty((4, 4))
        arc_pose(0.9 * at, -1.3 * at, 0.42 * at, expected)
        assert np.allclose(_pose(work, s), expected, atol=1e-14)


def _tip_of(points):
    tree = TreeBuilder()
    tree.add_rod(
        ROOT,
        np.eye(4),
        length=0.4,
        radius=(0.02, 0.01),
        density=1000.0,
        young_modulus=1e5,
        shear_modulus=3e4,
        basis=legendre({"k_x": 2, "k_y": 3, "k_z": 1, "q_x": 1, "q_z": 2}),
        points=points,
    )
    model = tree.build()
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    generator = np.random.default_rng(5)
    data.position[:] = generator.uniform(-1, 1, data.position.size) * np.where(
        model.dof_component < 3, 2.0, 0.05
    )
    tree_motion(model, 0.0, data, work)
    return _pose(work, -1)


def test_steps_converge_with_the_fourth_order():
    exact = _tip_of(160)
    errors = [np.abs(_tip_of(n) - exact).max() for n in (5, 10, 20, 40)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert errors[-1] < 1e-6
    assert np.all(orders[1:] > 3.7)


@pytest.mark.parametrize("seed", _SEEDS)
def test_columns_are_the_derivatives_of_the_poses(seed):
    _, model, data, work = _random(seed)
    tree_motion(model, 0.0, data, work)
    side = allocate_tree_work(model)
    points, size = model.step_length.size, model.dof_parent.size
    jacobians = [oracle.point_jacobian(model, work, s) for s in range(points)]
    for d in range(size):
        unit = np.eye(size)[d]
        ends = []
        for sign in (1.0, -1.0):
            state = oracle.moved(model, data, unit, sign * _STEP)
            tree_motion(model, 0.0, state, side)
            ends.append([state.root_pose @ _pose(side, s) for s in range(points)])
        for s in range(points):
            rate = (ends[0][s] - ends[1][s]) / (2 * _STEP)
            twist = np.linalg.inv(data.root_pose) @ rate @ np.linalg.inv(_pose(work, s))
            found = [twist[2, 1], twist[0, 2], twist[1, 0], *twist[:3, 3]]
            assert np.allclose(jacobians[s][:, d], found, atol=1e-8)
    for s in range(points):
        assert _close(work.point_twist[s], jacobians[s] @ data.velocity, 1e-12)


@pytest.mark.parametrize("seed", _SEEDS)
def test_bias_is_the_acceleration_at_constant_rates(seed):
    _, model, data, work = _random(seed)
    tree_motion(model, 0.0, data, work)
    twists = []
    side = allocate_tree_work(model)
    for sign in (1.0, -1.0):
        state = oracle.moved(model, data, data.velocity, sign * _STEP)
        tree_motion(model, 0.0, state, side)
        twists.append(side.point_twist.copy())
    rate = (twists[0] - twists[1]) / (2 * _STEP)
    root = np.zeros(6)
    if model.root_size[0]:
        root = data.velocity[:6]
    spin = oracle.cross(root[:3])
    for s in range(model.step_length.size):
        turn, shift = work.point_twist[s, :3], work.point_twist[s, 3:]
        carried = np.concatenate(
            [spin @ turn, spin @ shift + oracle.cross(root[3:]) @ turn]
        )
        assert _close(work.point_bias[s], rate[s] + carried, 1e-7)


@pytest.mark.parametrize("seed", _SEEDS)
def test_mass_matrix_is_the_sum_over_points(seed):
    _, model, data, work = _random(seed)
    tree_motion(model, 0.0, data, work)
    expected = oracle.mass_matrix(model, work)
    assert _close(oracle.full(work.matrix), expected, 1e-13)
    for d in range(model.dof_parent.size):
        strangers = set(range(d)) - set(oracle.ancestors(model, d))
        assert not expected[d, sorted(strangers)].any()


@pytest.mark.parametrize("seed", _SEEDS)
def test_forces_are_the_sum_over_points(seed):
    _, model, data, work = _random(seed, current=1.0)
    data.velocity[:] = 0.0
    model.point_added[:] = 0.0  # against a current at rest it has inertia forces too
    tree_motion(model, 0.0, data, work)
    assert _close(work.load, oracle.rest_load(model, data, work), 1e-12)


@pytest.mark.parametrize("seed", _SEEDS)
def test_coriolis_forces_are_those_of_the_bias(seed):
    """Drag and weight as summed; inertia from the bias of every point."""
    _, model, data, work = _random(seed)
    model.munk_moment[0] = 1
    tree_motion(model, 0.0, data, work)
    expected = oracle.rest_load(model, data, work)
    for s in range(model.step_length.size):
        rotation, place = work.point_rotation[s], work.point_position[s]
        jacobian = oracle.body_jacobian(model, work, s)
        spin, speed = np.split(jacobian @ data.velocity, 2)
        bias = work.point_bias[s]
        turn = rotation.T @ bias[:3]
        # of the velocity's components along the moving axes
        rate = rotation.T @ (bias[3:] + np.cross(bias[:3], place))
        root_speed = rotation @ speed
        rate += rotation.T @ np.cross(rotation @ spin, root_speed)
        rate -= np.cross(spin, speed)
        inertia, mass = model.point_inertia[s], oracle.point_inertia(model, s)[3:, 3:]
        momentum = mass @ speed
        force = mass @ rate + np.cross(spin, momentum)
        moment = inertia * turn + np.cross(spin, inertia * spin)
        expected -= jacobian.T @ np.concatenate([moment, force])
    assert _close(work.load, expected, 1e-12)


@pytest.mark.parametrize("seed", _SEEDS)
@pytest.mark.parametrize("period", [1e-3, 0.1])
def test_implicit_drag_is_the_slope_at_constant_speed(seed, period):
    _, model, data, work = _random(seed, current=0.5)
    tree_motion(model, 0.0, data, work)
    mass = oracle.full(work.matrix)
    tree_motion(model, period, data, work)
    added = oracle.full(work.matrix) - mass
    expected = np.zeros_like(mass)
    for s in range(model.step_length.size):
        jacobian = oracle.body_jacobian(model, work, s)
        rotation = data.root_pose[:3, :3] @ work.point_rotation[s]
        height = (
            data.root_pose[:3, 3] + data.root_pose[:3, :3] @ work.point_position[s]
        )[2]
        flow = (jacobian @ data.velocity)[3:] - rotation.T @ (
            model.current + height * model.current_shear
        )
        spin = (jacobian @ data.velocity)[:3]
        norm = np.linalg.norm(flow) if model.drag_form[0] == 0 else np.abs(flow)
        linear = model.point_drag[s] * norm
        turning = np.zeros(3)
        if model.point_kind[s] == 2:
            linear = linear + model.point_drag_linear[s]
            turning = model.point_drag_turn[s] * np.abs(spin)
            turning = turning + model.point_drag_turn_linear[s]
        slope = np.diag(np.concatenate([turning, linear]))
        expected += period * jacobian.T @ slope @ jacobian
    assert _close(added, expected, 1e-12)


@pytest.mark.parametrize("seed", _SEEDS)
def test_factor_and_solution_are_those_of_the_full_matrix(seed):
    generator, model, data, work = _random(seed)
    tree_motion(model, 0.0, data, work)
    matrix = oracle.full(work.matrix)
    assert tree_factor(model, work) == -1
    factor = np.tril(work.factor)
    assert _close(factor.T @ factor, matrix, 1e-13)
    load = generator.normal(size=model.dof_parent.size)
    solution = load.copy()
    solve_tree(model, work, solution)
    assert _close(matrix @ solution, load, 1e-9)


def test_factor_names_the_pivot_that_is_not_positive():
    _, model, data, work = _random(8)
    tree_motion(model, 0.0, data, work)
    work.matrix[1, 1] = -1.0
    assert tree_factor(model, work) == 1
    work.matrix[1, 1] = np.nan
    assert tree_factor(model, work) == 1


@pytest.mark.parametrize("seed", _SEEDS)
def test_rows_are_velocities_and_their_forces(seed):
    generator, model, data, work = _random(seed)
    tree_motion(model, 0.0, data, work)
    point = int(generator.integers(model.step_length.size))
    element = oracle.element_of(model, point)
    place = work.point_position[point] + generator.uniform(-0.05, 0.05, 3)
    direction = generator.normal(size=3)
    row = np.zeros(model.dof_parent.size)
    point_row(model, element, point, place, direction, work, row)
    velocity = point_velocity(work, point, *place)
    assert row @ data.velocity == pytest.approx(np.dot(direction, velocity), abs=1e-12)
    load, matrix = work.load.copy(), oracle.full(work.matrix)
    add_row(model, element, row, 3.0, 0.2, work)
    assert np.allclose(work.load, load + 3.0 * row, atol=1e-13)
    assert _close(oracle.full(work.matrix), matrix + 0.2 * np.outer(row, row), 1e-13)


@pytest.mark.parametrize("munk", [True, False])
@pytest.mark.parametrize("seed", _SEEDS)
def test_a_uniform_current_is_a_moving_frame(seed, munk):
    generator, model, data, _ = _random(seed, root="free")
    model.munk_moment[0] = munk
    work, size = allocate_tree_work(model), model.dof_parent.size
    still, carried = np.empty(size), np.empty(size)
    tree_acceleration(model, data, work, still)
    wind = generator.normal(size=3)
    moving = model._replace(current=wind)
    shift = data.root_pose[:3, :3].T @ wind
    data.velocity[3:6] += shift
    tree_acceleration(moving, data, work, carried)
    # components along the root's axes, which turn
    still[3:6] -= np.cross(data.velocity[:3], shift)
    assert _close(carried, still, 1e-12)


def test_sheared_current_is_that_of_the_height():
    arm = np.array([0.2, -0.1, 0.3])
    tree = TreeBuilder(
        root="free", gravity=(0, 0, 0), current=(0.1, 0, 0), current_shear=(0.5, 0, 0)
    )
    tree.add_body(
        ROOT, frame(arm), mass=1.0, inertia=(1, 1, 1), drag_linear=(0, 0, 0, 1, 1, 1)
    )
    model = tree.build()
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    data.root_pose[:3, :3] = random_rotation(np.random.default_rng(1))
    data.root_pose[:3, 3] = 3.0, 4.0, 2.0
    tree_motion(model, 0.0, data, work)
    force = data.root_pose[:3, :3] @ work.load[3:]
    height = 2.0 + data.root_pose[2, :3] @ arm
    assert np.allclose(force, (0.1 + 0.5 * height, 0.0, 0.0), atol=1e-15)
    assert np.allclose(work.load[:3], np.cross(arm, work.load[3:]), atol=1e-15)


def _body(**options):
    tree = TreeBuilder(root="free", gravity=(0, 0, 0), **options.pop("tree", {}))
    tree.add_body(ROOT, np.eye(4), mass=2.0, inertia=(0.1, 0.2, 0.25), **options)
    model = tree.build()
    return model, allocate_tree_data(model), allocate_tree_work(model)


def test_added_mass_turns_a_body_across_the_flow():
    model, data, work = _body(added_mass=(0, 0, 0, 1.0, 3.0, 0.5))
    data.velocity[3:] = 0.3, -0.2, 0.5
    tree_motion(model, 0.0, data, work)
    speed = data.velocity[3:]
    assert np.allclose(work.load[:3], -np.cross(speed, (1.0, 3.0, 0.5) * speed))
    assert np.allclose(work.load[3:], 0.0)
    assert np.allclose(np.diag(work.matrix), (0.1, 0.2, 0.25, 3.0, 5.0, 2.5))


@pytest.mark.parametrize("form", ["norm", "component"])
def test_drag_of_a_body_in_both_forms(form):
    quadratic = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    linear = quadratic[::-1].copy()
    model, data, work = _body(
        drag_quadratic=quadratic, drag_linear=linear, tree={"drag_form": form}
    )
    data.velocity[3:] = 0.3, -0.2, 0.6
    tree_motion(model, 0.0, data, work)
    speed = data.velocity[3:]
    size = 0.7 if form == "norm" else np.abs(speed)
    expected = -(linear[3:] + quadratic[3:] * size) * speed
    assert np.allclose(work.load[3:], expected, atol=1e-15)
    assert np.allclose(work.load[:3], 0.0, atol=1e-15)
    data.velocity[:] = 0.3, -0.2, 0.6, 0.0, 0.0, 0.0
    model.point_inertia[:] = 0.1
    tree_motion(model, 0.0, data, work)
    spin = data.velocity[:3]
    expected = -(linear[:3] + quadratic[:3] * np.abs(spin)) * spin
    assert np.allclose(work.load[:3], expected, atol=1e-15)


def test_buoyancy_above_the_weight_rights_a_hull():
    tree = TreeBuilder(root="free")
    tree.add_body(ROOT, np.eye(4), mass=10.0, inertia=(1, 1, 1))
    tree.add_body(ROOT, frame((0, 0, 0.05)), displaced_mass=10.0)
    model = tree.build()
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    roll = 0.3
    c, s = np.cos(roll), np.sin(roll)
    data.root_pose[:3, :3] = [[1, 0, 0], [0, c, -s], [0, s, c]]
    tree_motion(model, 0.0, data, work)
    moment = -10.0 * 9.81 * 0.05 * np.sin(roll)
    assert np.allclose(work.load, (moment, 0, 0, 0, 0, 0), atol=1e-13)


def test_a_held_root_does_not_accelerate():
    generator = np.random.default_rng(2)
    model = random_tree(generator, root="free", elements=4)
    model = model._replace(root_free=np.array([1, 0, 1, 0, 1, 1]))
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    random_state(model, generator, data, speed=0.5)
    acceleration = np.empty(model.dof_parent.size)
    tree_acceleration(model, data, work, acceleration)
    assert acceleration[1] == acceleration[3] == 0.0
    tree_motion(model, 0.0, data, work)
    residual = oracle.full(work.matrix) @ acceleration - work.load
    stiffness = np.zeros_like(residual)
    for e in range(model.element_parent.size):
        own = slice(model.element_dof_start[e], model.element_dof_start[e + 1])
        count = own.stop - own.start
        stiffness[own] = (
            model.element_stiffness[e, :count, :count]
            @ (data.position[own] - model.dof_rest[own])
            + model.element_damping[e, :count, :count] @ data.velocity[own]
        )
    free = [0, 2, 4, 5, *range(6, model.dof_parent.size)]
    assert np.abs((residual + stiffness)[free]).max() < 1e-10
    hold_root(model, work)
    assert work.matrix[3, 3] == 1.0


def test_frames_of_the_sample_are_poses():
    generator = np.random.default_rng(0)
    for _ in range(20):
        rotation = random_frame(generator)[:3, :3]
        assert np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-14)
        assert np.linalg.det(rotation) == pytest.approx(1.0)


def test_a_held_root_s_acceleration_is_that_of_the_columns_and_of_gravity():
    """d'Alembert: the load loses M_·r a; a lift in a vacuum is gravity turned round."""
    _, model, data, work = _random(11, root="free")
    tree_motion(model, 0.0, data, work)
    lower = np.tril(work.matrix)
    before, columns = work.load.copy(), (lower + np.tril(lower, -1).T)[:, :6]
    data.root_acceleration[:] = np.random.default_rng(13).normal(size=6)
    tree_motion(model, 0.0, data, work)
    expected = before - columns @ data.root_acceleration
    assert work.load == pytest.approx(expected, rel=1e-11, abs=1e-11)
    # 2 m/s2 up along the world's z, in the root's axes
    dry = model._replace(
        point_displaced=0.0 * model.point_displaced, point_added=0.0 * model.point_added
    )
    data.root_acceleration[:3] = 0.0
    data.root_acceleration[3:] = 2.0 * data.root_pose[2, :3]
    tree_motion(dry, 0.0, data, work)
    lifted = work.load.copy()
    data.root_acceleration[:] = 0.0
    heavier = dry._replace(gravity=dry.gravity - [0.0, 0.0, 2.0])
    tree_motion(heavier, 0.0, data, work)
    assert work.load == pytest.approx(lifted, rel=1e-11, abs=1e-11)


def test_a_carried_root_alone_is_no_turning():
    _, model, data, work = _random(11, root="free")
    data.root_acceleration[:] = [3.0, -2.0, 4.0, 30.0, 20.0, -10.0]
    data.velocity[:] = 0.0
    tree_motion(model, 1e-3, data, work)
    assert work.corrects[0] == 0
    data.velocity[0] = 30.0
    tree_motion(model, 1e-3, data, work)
    assert work.corrects[0] == 1
