"""Propellers: their configuration matrix, and its way through the joints."""

import numpy as np
import pytest

from models.propeller import (
    add_propellers,
    advance_propellers,
    allocate_propeller_data,
    make_propellers,
    propeller_matrix,
)
from models.snake import snake_poses
from models.snake_jacobian import snake_jacobian_in_body
from models.strain_basis import constant_curvature
from models.tree import TreeData, TreeModel, allocate_tree_data, allocate_tree_work
from models.tree_builder import ROOT, TreeBuilder, frame
from models.tree_motion import tree_motion
from models.tree_step import finish_step

ALONG = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""Axes of an element (z along) in those of a snake's body (x along)."""


@pytest.fixture(scope="module")
def snake() -> TreeModel:
    """Three modules, two soft joints; each module's element ends at its head face."""
    tree = TreeBuilder(root="free", gravity=(0.0, 0.0, 0.0))
    element = tree.add_cylinder(
        ROOT,
        frame(rotation=ALONG),
        length=0.2,
        radius=0.045,
        mass=0.563,
        displaced_mass=0.563,
    )
    for _ in range(2):
        element = tree.add_rod(
            element,
            np.eye(4),
            length=0.2,
            radius=(0.045, 0.045),
            density=124.0,
            young_modulus=1e4,
            shear_modulus=4e3,
            basis=constant_curvature(),
        )
        element = tree.add_cylinder(
            element,
            np.eye(4),
            length=0.2,
            radius=0.045,
            mass=0.563,
            displaced_mass=0.563,
        )
    return tree.build()


def bent(model: TreeModel, seed: int) -> TreeData:
    random = np.random.default_rng(seed)
    data = allocate_tree_data(model)
    data.position[6:] = random.normal(size=6) * (0.8, 0.8, 0.01, 0.8, 0.8, 0.01)
    return data


def test_matrix_of_zhang_2022_eq_36() -> None:
    """Two thrusters 76 mm off the axis: surge together, yaw against each other."""
    position = np.array([[0.1, 0.076, 0.0], [0.1, -0.076, 0.0]])
    matrix = propeller_matrix(position, np.array([[1.0, 0.0, 0.0]] * 2))
    assert matrix @ [1.0, 1.0] == pytest.approx([0.0, 0.0, 0.0, 2.0, 0.0, 0.0])
    assert matrix @ [1.0, -1.0] == pytest.approx([0.0, 0.0, -0.152, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_load_is_the_jacobian_of_the_snake_times_the_matrix(
    snake: TreeModel, seed: int
) -> None:
    """Zhang 2022 eq. 37, by models/snake_jacobian, which is independent."""
    random = np.random.default_rng(seed + 10)
    data = bent(snake, seed)
    modules = [0, 0, 1, 2, 2]
    place, way = random.normal(size=(5, 3)) * 0.05, random.normal(size=(5, 3))
    thrust = random.normal(size=5)
    # in the frames at the modules' head faces, whose z is along
    propellers = make_propellers(
        [2 * m for m in modules], place @ ALONG, way @ ALONG, ahead=2.0, limit=9.0
    )
    state = allocate_propeller_data(propellers)
    state.command[:] = thrust
    advance_propellers(propellers, 0.0, state)
    work = allocate_tree_work(snake)
    tree_motion(snake, 0.0, data, work)
    before = work.load.copy()
    add_propellers(snake, propellers, state, work)

    length, rest = np.full(3, 0.2), np.full(2, 0.2)
    coordinates = data.position[6:].reshape(2, 3)
    pose = np.zeros((6, 4, 4))
    snake_poses(length, rest, coordinates, np.eye(4), pose)
    expected = np.zeros(12)
    for m, at, along, force in zip(modules, place, way, thrust, strict=True):
        jacobian, end = np.zeros((6, 12)), np.zeros((4, 4))
        snake_jacobian_in_body(
            length, rest, coordinates, pose, 2 * m, 1.0, np.zeros(3), end, jacobian
        )
        unit = along / np.linalg.norm(along)
        expected += 2.0 * force * jacobian.T @ propeller_matrix(at, unit)[:, 0]
    assert work.load - before == pytest.approx(expected, abs=1e-13)


def test_power_is_thrust_times_speed_along_it(snake: TreeModel) -> None:
    data = bent(snake, 5)
    data.velocity[:] = np.random.default_rng(6).normal(size=12)
    place = np.array([[0.03, -0.02, -0.05]])
    propellers = make_propellers([4], place, np.array([[0.0, 0.6, 0.8]]), ahead=3.0)
    state = allocate_propeller_data(propellers)
    state.command[:] = 1.0
    advance_propellers(propellers, 0.0, state)
    work = allocate_tree_work(snake)
    tree_motion(snake, 0.0, data, work)
    before = work.load.copy()
    add_propellers(snake, propellers, state, work)
    rotation, at = work.point_rotation[-1], work.point_position[-1]
    point = at + rotation @ place[0]
    twist = work.point_twist[-1]
    velocity = twist[3:] + np.cross(twist[:3], point)
    power = 3.0 * float(rotation @ [0.0, 0.6, 0.8] @ velocity)
    assert (work.load - before) @ data.velocity == pytest.approx(power, rel=1e-12)


def test_on_the_root_and_with_reaction(snake: TreeModel) -> None:
    propellers = make_propellers(
        [-1],
        np.array([[0.0, 0.1, 0.0]]),
        np.array([[2.0, 0.0, 0.0]]),
        ahead=4.0,
        reaction=0.02,
    )
    state = allocate_propeller_data(propellers)
    state.command[:] = 1.0
    advance_propellers(propellers, 0.0, state)
    work = allocate_tree_work(snake)
    add_propellers(snake, propellers, state, work)
    expected = np.zeros(12)
    expected[[0, 2, 3]] = (-0.08, -0.4, 4.0)
    assert work.load == pytest.approx(expected)


def test_two_thrusts_along_speed_up_a_straight_body_alone_along_it(
    snake: TreeModel,
) -> None:
    """Newton's law of the whole: 2 T = m dv/dt while nothing else acts."""
    place = np.array([[0.076, 0.0, -0.1], [-0.076, 0.0, -0.1]])
    propellers = make_propellers([0, 0], place, np.eye(3)[[2, 2]], ahead=0.5)
    state = allocate_propeller_data(propellers)
    state.command[:] = 1.0
    data, work = allocate_tree_data(snake), allocate_tree_work(snake)
    stiff = snake._replace(step_basis=np.zeros_like(snake.step_basis))
    advance_propellers(propellers, 0.0, state)
    period = 1e-3
    for _ in range(100):
        tree_motion(stiff, period, data, work)
        for d in range(6, 12):
            work.matrix[d, d] = 1.0
        add_propellers(stiff, propellers, state, work)
        assert finish_step(stiff, period, data, work) == 0
    mass = float(np.sum(snake.point_mass))
    expected = np.zeros(12)
    expected[3] = 1.0 * 0.1 / mass
    assert data.velocity == pytest.approx(expected, abs=1e-14)


def test_lag_slope_limit_and_laws() -> None:
    propellers = make_propellers(
        [-1] * 4,
        np.zeros((4, 3)),
        np.eye(3)[[0, 0, 0, 0]],
        ahead=10.0,
        astern=6.0,
        quadratic=True,
        lag=np.array([0.2, 0.0, 0.0, 0.0]),
        slope=np.array([np.inf, 2.0, np.inf, np.inf]),
        limit=np.array([1.0, 1.0, 0.8, 1.0]),
    )
    state = allocate_propeller_data(propellers)
    state.command[:] = (1.0, 1.0, 5.0, -0.5)
    for _ in range(10):
        assert advance_propellers(propellers, 0.01, state) == 0
    speed = [1.0 - np.exp(-0.5), 0.2, 0.8, -0.5]
    assert state.speed == pytest.approx(speed, rel=1e-12)
    thrust = [10.0 * speed[0] ** 2, 0.4, 6.4, -1.5]
    assert state.thrust == pytest.approx(thrust, rel=1e-12)
    state.command[:] = (np.nan, np.inf, 0.8, -0.5)
    assert advance_propellers(propellers, 0.01, state) == 2
    assert state.speed == pytest.approx(speed, rel=1e-12)


def test_bad_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="need"):
        make_propellers([0], np.zeros(3), np.eye(3)[:1], ahead=1.0)
    with pytest.raises(ValueError, match="length 0"):
        make_propellers([0], np.zeros((1, 3)), np.zeros((1, 3)), ahead=1.0)
