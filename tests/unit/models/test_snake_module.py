"""Zhang's matrices corrected, and the tree that has the same ones."""

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss

from models.numerics import FloatArray
from models.snake_module import BODY_TO_ELEMENT, SnakeModule, add_module
from models.tree import TreeModel, TreeWork, allocate_tree_data, allocate_tree_work
from models.tree_builder import ROOT, TreeBuilder, frame
from models.tree_motion import tree_motion
from tests.unit.models.snake_matrices import (
    added_mass_matrix,
    body_inertia_matrix,
    coriolis_term,
    hydrostatic_wrench,
    linear_drag_matrix,
    printed_added_mass_matrix,
    quadratic_drag_wrench,
    to_element_order,
)

MODULE = SnakeModule()
ODD = SnakeModule(
    displaced_mass=0.6,
    centre_of_mass=(0.1, 0.0, -0.004),
    centre_of_buoyancy=(0.1, 0.001, 0.003),
    drag_speed=0.3,
)
ORDER = to_element_order()


def tree_of(module: SnakeModule, *, quadratic_drag: bool, strips: int = 4) -> TreeModel:
    """One free module whose tail end is the root frame."""
    builder = TreeBuilder(root="free", water_density=module.water_density)
    add_module(
        builder,
        ROOT,
        np.eye(4),
        module,
        quadratic_drag=quadratic_drag,
        strips=strips,
    )
    return builder.build()


def run(
    model: TreeModel,
    twist: FloatArray,
    rotation: FloatArray | None = None,
    period: float = 0.0,
) -> TreeWork:
    """Matrix and load at his twist (linear first) and attitude."""
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    data.velocity[:] = ORDER @ twist
    if rotation is not None:
        data.root_pose[:] = frame(rotation=rotation @ BODY_TO_ELEMENT.T)
    tree_motion(model, period, data, work)
    return work


def whole(work: TreeWork) -> FloatArray:
    """The matrix in his order."""
    lower = np.tril(work.matrix)
    return ORDER.T @ (lower + np.tril(lower, -1).T) @ ORDER


def attitude(seed: int) -> FloatArray:
    q, r = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    if np.linalg.det(q) < 0.0:
        q[:, 0] *= -1.0
    return q


def test_printed_added_mass_is_impossible_and_the_corrected_is_the_strip_integral() -> (
    None
):
    printed, right = printed_added_mass_matrix(MODULE), added_mass_matrix(MODULE)
    assert np.max(abs(printed - printed.T)) > 0.1
    unit = 5.0893800988
    assert np.min(np.linalg.eigvals(printed / unit).real) < -0.003
    strips = np.zeros((6, 6))
    node, weight = leggauss(8)
    for x, w in zip(0.1 * (1.0 + node), 0.5 * weight, strict=True):
        across = np.array([[0, 1, 0, 0, 0, x], [0, 0, 1, 0, -x, 0]])
        strips += w * unit * across.T @ across
    strips[0, 0] = 0.2 * unit
    assert right == pytest.approx(strips, abs=1e-9)
    assert right == pytest.approx(right.T)
    assert np.min(np.linalg.eigvalsh(right)) > -1e-15


def test_inertia_is_that_of_the_solid_cylinder() -> None:
    """Integrated over its volume, frame at the tail end."""
    total = np.zeros((6, 6))
    node, weight = leggauss(6)
    r, length, m = MODULE.radius, MODULE.length, MODULE.mass
    for x, wx in zip(0.5 * length * (1.0 + node), 0.5 * weight, strict=True):
        for s, ws in zip(0.5 * (1.0 + node), 0.5 * weight, strict=True):
            for phi in np.arange(8) * np.pi / 4.0:
                y, z = r * s * np.cos(phi), r * s * np.sin(phi)
                part = m * wx * 2.0 * s * ws / 8.0
                velocity = np.array(
                    [[1, 0, 0, 0, z, -y], [0, 1, 0, -z, 0, x], [0, 0, 1, y, -x, 0]]
                )
                total += part * velocity.T @ velocity
    matrix = body_inertia_matrix(MODULE)
    assert matrix == pytest.approx(total, abs=1e-14)
    assert matrix[4, 4] == pytest.approx(m * r * r / 4.0 + m * length**2 / 3.0)
    # printed: π R²/4 = 6.36e-3 m2, which has no mass in it
    assert np.pi * r * r / 4.0 != pytest.approx(matrix[4, 4], rel=0.1)


def test_linear_drag_has_a_radius_in_it_and_only_takes_power() -> None:
    matrix = linear_drag_matrix(ODD)
    assert np.min(np.linalg.eigvalsh(matrix)) > 0.0
    assert matrix[1, 1] == pytest.approx(1000.0 * np.pi * 0.09 * 0.2 * 0.3)
    twice = linear_drag_matrix(ODD._replace(radius=0.18))
    assert twice[1, 1] == pytest.approx(2.0 * matrix[1, 1])


@pytest.mark.parametrize("module", [MODULE, ODD])
def test_tree_has_his_inertia(module: SnakeModule) -> None:
    work = run(tree_of(module, quadratic_drag=False), np.zeros(6))
    expected = body_inertia_matrix(module) + added_mass_matrix(module)
    assert whole(work) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("seed", range(4))
def test_tree_has_his_coriolis_drag_and_hydrostatic_wrenches(seed: int) -> None:
    twist = np.random.default_rng(seed).normal(size=6)
    rotation = attitude(seed)
    work = run(tree_of(ODD, quadratic_drag=False), twist, rotation)
    inertia = body_inertia_matrix(ODD) + added_mass_matrix(ODD)
    expected = (
        -coriolis_term(inertia, twist, np.zeros(6))
        - linear_drag_matrix(ODD) @ twist
        + hydrostatic_wrench(ODD, rotation)
    )
    assert ORDER.T @ work.load == pytest.approx(expected, abs=2e-14)


def test_implicit_share_is_the_drag_matrix() -> None:
    model = tree_of(ODD, quadratic_drag=False)
    twist = np.array([0.3, -0.2, 0.1, 0.5, -0.4, 0.2])
    gained = whole(run(model, twist, period=1e-2)) - whole(run(model, twist))
    assert gained == pytest.approx(1e-2 * linear_drag_matrix(ODD), abs=1e-15)


@pytest.mark.parametrize("seed", range(3))
def test_coriolis_does_no_work_and_is_his_c_with_the_corrected_sign(seed: int) -> None:
    random = np.random.default_rng(seed)
    inertia = body_inertia_matrix(ODD) + added_mass_matrix(ODD)
    twist = random.normal(size=6)
    term = coriolis_term(inertia, twist, np.zeros(6))
    assert term @ twist == pytest.approx(0.0, abs=1e-14)
    # momentum of a free body is constant in the world: dp/dt + ω x p = 0
    momentum = inertia @ twist
    linear = np.cross(twist[3:], momentum[:3])
    angular = np.cross(twist[3:], momentum[3:]) + np.cross(twist[:3], momentum[:3])
    assert term == pytest.approx(np.concatenate([linear, angular]), abs=1e-13)


def test_strips_of_quadratic_drag_converge_to_the_integral() -> None:
    twist = np.array([0.4, 0.1, -0.2, 0.3, 1.5, -2.0])
    exact = quadratic_drag_wrench(MODULE, twist, 400)
    errors = []
    for strips in (2, 4, 8, 16):
        model = tree_of(MODULE._replace(mass=1.0), quadratic_drag=True, strips=strips)
        still = tree_of(MODULE._replace(mass=1.0), quadratic_drag=False, strips=strips)
        drag = ORDER.T @ (run(model, twist).load - run(still, twist).load)
        errors.append(float(np.max(abs(drag - exact))))
    assert errors[1] < 2e-3 * np.max(abs(exact))
    assert errors[3] < 1e-6 * np.max(abs(exact))


def test_broadside_and_axial_drag_are_plain_numbers() -> None:
    across = quadratic_drag_wrench(MODULE, np.array([0.0, 2.0, 0.0, 0.0, 0.0, 0.0]))
    force = 1000.0 * 0.09 * 1.0 * 4.0 * 0.2
    assert across == pytest.approx([0.0, -force, 0.0, 0.0, 0.0, -0.1 * force])
    along = quadratic_drag_wrench(MODULE, np.array([2.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    assert along == pytest.approx([-0.2 * force, 0.0, 0.0, 0.0, 0.0, 0.0])


def test_centre_of_buoyancy_above_the_mass_rights_the_module() -> None:
    module = MODULE._replace(
        centre_of_mass=(0.1, 0.0, -0.005), centre_of_buoyancy=(0.1, 0.0, 0.005)
    )
    angle = 0.3
    roll = np.array(
        [
            [1.0, 0.0, 0.0],
            [0.0, np.cos(angle), -np.sin(angle)],
            [0.0, np.sin(angle), np.cos(angle)],
        ]
    )
    wrench = hydrostatic_wrench(module, roll)
    assert wrench[:3] == pytest.approx(np.zeros(3), abs=1e-15)
    assert wrench[3] == pytest.approx(-0.563 * 9.81 * 0.01 * np.sin(angle))
