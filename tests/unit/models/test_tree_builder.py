"""What the builder makes of rods, bodies and joints: rules, integrals, layout.

Tolerance 1e-12 relative: everything is a polynomial that the rules integrate exactly.
"""

import numpy as np
import pytest

from models.strain_basis import StrainBasis, constant_curvature, legendre, radau_nodes
from models.tree import allocate_tree_data, allocate_tree_work
from models.tree_builder import ROOT, TreeBuilder, frame
from models.tree_motion import tree_motion
from models.tree_solve import solve_tree, tree_factor
from models.tree_step import add_elastic
from tests.unit.models.tree_oracle import full
from tests.unit.models.tree_sample import random_frame

_YOUNG, _SHEAR, _VISCOUS = 1.1e5, 3.6e4, 300.0
_ENDS, _LENGTH, _DENSITY = (0.03, 0.01), 0.6, 1070.0


def _rod(tree, parent=ROOT, pose=None, **options):
    given = {
        "length": _LENGTH,
        "radius": _ENDS,
        "density": _DENSITY,
        "young_modulus": _YOUNG,
        "shear_modulus": _SHEAR,
        "viscosity": _VISCOUS,
        "basis": constant_curvature(),
    }
    return tree.add_rod(
        parent, np.eye(4) if pose is None else pose, **(given | options)
    )


def _one(**options):
    tree = TreeBuilder()
    _rod(tree, **options)
    return tree.build()


@pytest.mark.parametrize("count", [1, 2, 3, 4, 8, 20])
def test_radau_rule_is_exact_and_ends_at_the_tip(count):
    node, weight = radau_nodes(count)
    assert node[-1] == 1.0
    assert np.all(np.diff(node) > 0.0)
    assert node[0] > 0.0
    assert np.all(weight > 0.0)
    for power in range(2 * count - 1):
        assert weight @ node**power == pytest.approx(1.0 / (power + 1), rel=1e-12)


def _power_mean(power):
    """Mean of r^power over the linear taper."""
    a, b = _ENDS
    return (b ** (power + 1) - a ** (power + 1)) / ((power + 1) * (b - a))


def test_constant_curvature_has_the_closed_form_of_the_taper():
    model = _one()
    second, area = 0.25 * np.pi * _power_mean(4), np.pi * _power_mean(2)
    stiffness = np.diag([_YOUNG * second, _YOUNG * second, _YOUNG * area]) / _LENGTH
    damping = 3.0 * np.diag([second, second, area]) * _VISCOUS / _LENGTH
    assert np.allclose(model.element_stiffness[0], stiffness, rtol=1e-12, atol=1e-18)
    assert np.allclose(model.element_damping[0], damping, rtol=1e-12, atol=1e-18)


def test_every_strain_has_its_own_stiffness_and_viscosity():
    basis = legendre(dict.fromkeys(("k_x", "k_y", "k_z", "q_x", "q_y", "q_z"), 0))
    model = _one(basis=basis, axial_stiffness_ratio=2.0)
    second, area = 0.25 * np.pi * _power_mean(4), np.pi * _power_mean(2)
    shear, bend = _SHEAR, _YOUNG
    elastic = [bend * second] * 2 + [2 * shear * second]
    elastic += [shear * area] * 2 + [2.0 * bend * area]
    viscous = np.array([3 * second] * 2 + [2 * second] + [area] * 2 + [3 * area])
    assert np.allclose(
        np.diag(model.element_stiffness[0]), np.array(elastic) / _LENGTH, rtol=1e-12
    )
    assert np.allclose(
        np.diag(model.element_damping[0]), _VISCOUS * viscous / _LENGTH, rtol=1e-12
    )


def test_compliance_is_that_of_the_tapered_beam():
    """Tip deflection L³ r/(3 E I0) + shear, r = R0/R1, and turn, by a tip force."""
    model = _one(basis=legendre({"k_y": 14, "q_x": 14}), points=60)
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    force = 1e-6
    data.wrench[0, 3] = force
    tree_motion(model, 0.0, data, work)
    load = work.load.copy()
    work.matrix[:] = 0.0
    undamped = model._replace(element_damping=0.0 * model.element_damping)
    add_elastic(undamped, 1.0, data, work)
    assert tree_factor(model, work) == -1
    solve_tree(model, work, load)
    data.position[:] = load
    tree_motion(model, 0.0, data, work)
    ratio, inertia = _ENDS[0] / _ENDS[1], 0.25 * np.pi * _ENDS[0] ** 4
    stiff = _YOUNG * inertia
    bend = _LENGTH**3 * ratio / (3.0 * stiff)
    shear = _LENGTH / (_SHEAR * np.pi * _ENDS[0] * _ENDS[1])
    turn = _LENGTH**2 * (ratio**2 / 6.0 + ratio / 3.0) / stiff
    # weight is along the axis of the straight rod: no share in the load
    assert work.point_position[-1, 0] / force == pytest.approx(bend + shear, rel=1e-6)
    assert work.point_rotation[-1, 0, 2] / force == pytest.approx(turn, rel=1e-6)


@pytest.mark.parametrize("points", [2, 4, 7])
@pytest.mark.parametrize("pieces", [1, 3])
def test_mass_and_water_are_those_of_the_volume(points, pieces):
    model = _one(points=points, pieces=pieces, added_mass=1.5)
    volume = np.pi * _LENGTH * _power_mean(2)
    assert model.point_weight.sum() == pytest.approx(_LENGTH, rel=1e-12)
    assert model.point_mass.sum() == pytest.approx(_DENSITY * volume, rel=1e-12)
    assert model.point_displaced.sum() == pytest.approx(1000.0 * volume, rel=1e-12)
    across = 1.5 * 1000.0 * volume
    assert np.allclose(model.point_added.sum(axis=0), (across, across, 0.0), rtol=1e-12)


def test_drag_is_that_of_the_diameter_and_of_the_skin():
    model = _one(drag_normal=1.1, drag_tangent=0.01, points=5)
    half = 0.5 * 1000.0 * 2.0 * _LENGTH * _power_mean(1)
    skin = 0.5 * 1000.0 * np.pi * _LENGTH * _power_mean(1)
    total = model.point_drag.sum(axis=0)
    assert np.allclose(total, (1.1 * half, 1.1 * half, 0.01 * skin), rtol=1e-12)


def test_cylinder_is_solid():
    tree = TreeBuilder(root="free", gravity=(0, 0, 0))
    mass, radius, length = 3.0, 0.05, 0.4
    tree.add_cylinder(
        ROOT,
        frame((0, 0, -length / 2)),
        length=length,
        radius=radius,
        mass=mass,
        displaced_mass=mass,
    )
    model = tree.build()
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    tree_motion(model, 0.0, data, work)
    across = mass * (radius**2 / 4.0 + length**2 / 12.0)
    inertia = np.diag([across, across, mass * radius**2 / 2.0, mass, mass, mass])
    assert np.allclose(full(work.matrix), inertia, atol=1e-14)


def test_layout_of_a_branched_tree():
    tree = TreeBuilder(root="free")
    hull = tree.add_body(ROOT, np.eye(4), mass=1.0, inertia=(1, 1, 1), name="hull")
    _rod(tree, hull, pieces=2, name="arm")
    joint = tree.add_joint(hull, np.eye(4), name="wrist")
    tip = _rod(tree, joint, basis=constant_curvature(stretch=False), name="finger")
    model = tree.build()
    assert tree.names == ["hull", "arm.0", "arm.1", "wrist", "finger"]
    assert tip == 4
    assert model.element_parent.tolist() == [-1, 0, 1, 0, 3]
    assert model.element_dof_start.tolist() == [6, 6, 9, 12, 13, 15]
    assert model.element_last_dof.tolist() == [5, 8, 11, 12, 14]
    assert model.element_above_dof.tolist() == [5, 5, 8, 5, 12]
    assert model.dof_parent.tolist() == [-1, *range(11), 5, 12, 13]
    assert model.dof_element.tolist() == [-1] * 6 + [1] * 3 + [2] * 3 + [3] + [4] * 2
    assert model.element_has_child.tolist() == [1, 1, 0, 1, 0]
    assert model.element_step_start.tolist() == [0, 1, 5, 9, 10, 14]


@pytest.mark.parametrize("component", range(6))
def test_joint_turns_about_or_slides_along_its_axis(component):
    names = ("k_x", "k_y", "k_z", "q_x", "q_y", "q_z")
    tree = TreeBuilder()
    pose = random_frame(np.random.default_rng(1))
    joint = tree.add_joint(ROOT, pose, component=names[component])
    tree.add_body(joint, np.eye(4), mass=1.0, inertia=(1, 1, 1))
    model = tree.build()
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    data.position[0] = 0.4
    tree_motion(model, 0.0, data, work)
    axis, found = (
        np.eye(3)[component % 3],
        frame(work.point_position[-1], work.point_rotation[-1]),
    )
    moved = np.linalg.inv(pose) @ found
    if component < 3:
        assert np.allclose(moved[:3, 3], 0.0, atol=1e-14)
        assert np.allclose(moved[:3, :3] @ axis, axis)
        assert np.trace(moved[:3, :3]) == pytest.approx(1.0 + 2.0 * np.cos(0.4))
        side = np.roll(axis, 1)
        assert np.cross(side, moved[:3, :3] @ side) @ axis == pytest.approx(np.sin(0.4))
    else:
        assert np.allclose(moved, frame(0.4 * axis), atol=1e-14)


def test_reference_strain_is_where_a_rod_is_slack():
    tree = TreeBuilder(gravity=(0, 0, 0))
    _rod(tree, reference_strain=(0.0, 2.0, 0.0, 0.0, 0.0, 1.0))
    model = tree.build()
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    tree_motion(model, 0.0, data, work)
    add_elastic(model, 0.0, data, work)
    assert not work.load.any()
    turn = 2.0 * _LENGTH
    radius = 0.5
    expected = (radius * (1 - np.cos(turn)), 0.0, radius * np.sin(turn))
    assert np.allclose(work.point_position[-1], expected, atol=1e-14)


def test_legendre_lists_orders_of_each_strain():
    basis = legendre({"k_y": 2, "q_x": 0})
    assert basis == StrainBasis((1, 1, 1, 3), (0, 1, 2, 0), (1.0,) * 4)
    assert constant_curvature() == StrainBasis((1, 0, 5), (0, 0, 0), (1.0, -1.0, 1.0))


def test_nonsense_is_refused():
    with pytest.raises(ValueError, match="k_w"):
        legendre({"k_w": 1})
    with pytest.raises(ValueError, match="orders from 0"):
        legendre({"k_x": -1})
    tree = TreeBuilder()
    with pytest.raises(ValueError, match="must be positive"):
        _rod(tree, length=0.0)
    with pytest.raises(ValueError, match="must be positive"):
        _rod(tree, radius=(0.01, 0.0))
    with pytest.raises(ValueError, match="at least one point"):
        _rod(tree, points=0)
    with pytest.raises(ValueError, match="does not exist"):
        _rod(tree, parent=3)
    with pytest.raises(ValueError, match=r"\(4, 4\)"):
        _rod(tree, pose=np.eye(3))
    with pytest.raises(ValueError, match="negative"):
        tree.add_body(ROOT, np.eye(4), mass=-1.0)
    with pytest.raises(ValueError, match="'k'"):
        tree.add_joint(ROOT, np.eye(4), component="k")
    with pytest.raises(ValueError, match="at least one element"):
        tree.build()
