"""Strands: lengths and rows against finite differences and the closed form."""

import math

import numpy as np
import pytest

from models.strain_basis import STRAINS, constant_curvature, legendre
from models.strand import (
    StrandModel,
    StrandWork,
    add_strands,
    add_tension,
    allocate_strand_data,
    allocate_strand_work,
    strand_geometry,
)
from models.strand_builder import (
    helical_route,
    make_strands,
    rod_passes,
    straight_route,
)
from models.tendon import tendon_in_segment
from models.tree import (
    TreeData,
    TreeModel,
    TreeWork,
    allocate_tree_data,
    allocate_tree_work,
)
from models.tree_builder import ROOT, TreeBuilder, frame
from models.tree_motion import tree_motion
from models.tree_step import add_elastic, finish_step

SILICONE = {"density": 1080.0, "young_modulus": 110e3, "shear_modulus": 55e3}
ROUNDING = 1e-14


def planar_arm(points: int) -> TreeModel:
    """One tapered segment of constant curvature."""
    tree = TreeBuilder(gravity=(0.0, 0.0, 0.0))
    tree.add_rod(
        ROOT,
        np.eye(4),
        length=0.3,
        radius=(0.02, 0.008),
        basis=constant_curvature(),
        points=points,
        **SILICONE,
    )
    return tree.build()


@pytest.fixture(scope="module")
def chain() -> tuple[TreeModel, StrandModel]:
    """A floating hull with two rods of all six strains, three strands and a branch."""
    tree = TreeBuilder(root="free", gravity=(0.0, 0.0, 0.0))
    hull = tree.add_body(ROOT, np.eye(4), mass=2.0, inertia=(0.1, 0.1, 0.1))
    every = dict.fromkeys(STRAINS, 1)
    first = tree.add_rod(
        hull,
        frame((0.0, 0.1, 0.0)),
        length=0.2,
        radius=(0.02, 0.015),
        basis=legendre(every),
        **SILICONE,
    )
    tree.add_rod(
        hull,
        frame((0.1, 0.0, 0.0)),
        length=0.2,
        radius=(0.02, 0.015),
        basis=constant_curvature(),
        **SILICONE,
    )
    cuff = tree.add_body(first, frame((0.0, 0.0, 0.01)), mass=0.05)
    last = tree.add_rod(
        cuff,
        np.eye(4),
        length=0.1,
        radius=(0.015, 0.01),
        basis=legendre({"k_x": 2, "k_y": 2, "q_z": 1}),
        **SILICONE,
    )
    model = tree.build()
    strands = make_strands(
        model,
        [
            [(first, straight_route(0.2, 0.015, 0.01, 0.4))],
            [
                (first, straight_route(0.2, 0.015, 0.012, 2.0)),
                (last, straight_route(0.1, 0.012, 0.004, 2.0)),
            ],
            [(last, helical_route(0.008, -1.0, 15.0))],
        ],
        stiffness=500.0,
        damping=3.0,
        limit=40.0,
        gap=np.array([0.0, 0.01, 0.0]),
        friction=np.array([0.0, 0.3, 0.2]),
        friction_speed=1e-4,
    )
    return model, strands


def excited(model: TreeModel, seed: int) -> tuple[TreeData, TreeWork]:
    """A random state."""
    random = np.random.default_rng(seed)
    data = allocate_tree_data(model)
    bend = np.where(model.dof_component < 3, 0.6, 0.02)
    data.position[:] = bend * random.normal(size=bend.size)
    data.position[: model.root_size[0]] = 0.0
    data.velocity[:] = random.normal(size=bend.size)
    return data, allocate_tree_work(model)


def geometry(model: TreeModel, strands: StrandModel, data: TreeData) -> StrandWork:
    """Lengths and rows."""
    work = allocate_strand_work(model, strands)
    strand_geometry(model, strands, data, work)
    return work


def dense(model: TreeModel, work: TreeWork) -> np.ndarray:
    """The whole matrix from its lower triangle."""
    lower = np.tril(work.matrix)
    return lower + np.tril(lower, -1).T


@pytest.mark.parametrize("bend", [(0.0, 0.0), (1.1, -0.7), (2.5, 0.3)])
def test_constant_curvature_with_taper_is_the_closed_form(
    bend: tuple[float, float],
) -> None:
    azimuth = 0.9
    start, end = 0.6 * 0.02, 0.6 * 0.008
    along = bend[0] * math.cos(azimuth) + bend[1] * math.sin(azimuth)
    length, by_bend, by_length = tendon_in_segment(0.3 + 0.01, along, start, end)
    errors = []
    for points in (1, 3, 6, 16):
        model = planar_arm(points)
        strands = make_strands(model, [[(0, straight_route(0.3, start, end, azimuth))]])
        data = allocate_tree_data(model)
        data.position[:] = (*bend, 0.01)
        work = geometry(model, strands, data)
        exact = [by_bend * math.cos(azimuth), by_bend * math.sin(azimuth), by_length]
        errors.append(
            max(abs(work.length[0] - length), float(np.max(abs(work.row[0] - exact))))
        )
    assert errors[-1] < ROUNDING
    assert errors[0] < 1e-6


def test_row_is_the_derivative_of_the_length(
    chain: tuple[TreeModel, StrandModel],
) -> None:
    model, strands = chain
    data, _ = excited(model, 1)
    work = geometry(model, strands, data)
    step = 1e-6
    for d in range(model.root_size[0], model.dof_parent.size):
        ends = []
        for side in (-step, step):
            moved = data._replace(position=data.position.copy())
            moved.position[d] += side
            ends.append(geometry(model, strands, moved).length)
        slope = (ends[1] - ends[0]) / (2.0 * step)
        assert np.allclose(work.row[:, d], slope, rtol=0.0, atol=1e-9)
    assert np.all(work.row[:, : model.root_size[0]] == 0.0)
    assert np.allclose(work.rate, work.row @ data.velocity, atol=1e-14)


def test_straight_helix_has_the_length_and_turn_of_a_helix() -> None:
    model = planar_arm(4)
    strands = make_strands(model, [[(0, helical_route(0.01, 0.0, 40.0))]], friction=0.2)
    work = geometry(model, strands, allocate_tree_data(model))
    stretch = math.hypot(1.0, 0.01 * 40.0)
    assert work.length[0] == pytest.approx(0.3 * stretch, rel=1e-14)
    turn = 0.01 * 40.0**2 / stretch * 0.3
    assert np.sum(work.node_turn) == pytest.approx(turn, rel=1e-7)


def test_a_rod_in_pieces_has_the_length_of_one() -> None:
    lengths = []
    for pieces in (1, 3):
        tree = TreeBuilder()
        tree.add_rod(
            ROOT,
            np.eye(4),
            length=0.3,
            radius=(0.02, 0.008),
            basis=constant_curvature(),
            pieces=pieces,
            points=6,
            **SILICONE,
        )
        model = tree.build()
        route = straight_route(0.3, 0.012, 0.005, 0.3)
        strands = make_strands(model, [rod_passes(model, range(pieces), route)])
        data = allocate_tree_data(model)
        data.position[:] = np.tile([1.2, 0.4, 0.03], pieces) / pieces
        lengths.append(geometry(model, strands, data).length[0])
    assert lengths[0] == pytest.approx(lengths[1], abs=ROUNDING)


def test_tension_law_is_clipped_and_implicit_only_inside() -> None:
    model = planar_arm(2)
    strands = make_strands(
        model,
        [[(0, straight_route(0.3, 0.01, 0.01, 0.0))]] * 4,
        stiffness=np.array([100.0, 100.0, 100.0, 0.0]),
        damping=np.array([2.0, 0.0, 0.0, 0.0]),
        limit=5.0,
    )
    data = allocate_tree_data(model)
    data.velocity[2] = 0.5
    work = geometry(model, strands, data)
    command = allocate_strand_data(strands)
    command.paid_out[:] = (0.28, 0.32, 0.2, 0.0)
    command.tension[3] = 0.05
    period = 1e-3
    add_tension(strands, period, command, work)
    stretch = 0.02 + period * 0.5
    assert work.force == pytest.approx([100.0 * stretch + 1.0, 0.0, 5.0, 0.05])
    assert work.slope == pytest.approx([period * (2.0 + 0.1), 0.0, 0.0, 0.0])


def test_load_and_matrix_keep_virtual_work_and_sparsity(
    chain: tuple[TreeModel, StrandModel],
) -> None:
    model, strands = chain
    strands = strands._replace(friction=np.zeros(3))
    data, work = excited(model, 2)
    tree_motion(model, 1e-3, data, work)
    load, matrix = work.load.copy(), dense(model, work)
    strand = geometry(model, strands, data)
    add_tension(strands, 1e-3, allocate_strand_data(strands), strand)
    add_strands(model, strands, strand, work)
    expected = -strand.row.T @ strand.force
    assert np.allclose(work.load - load, expected, atol=1e-12)
    added = strand.row.T @ np.diag(strand.slope) @ strand.row
    assert np.allclose(dense(model, work) - matrix, added, atol=1e-15)


@pytest.mark.parametrize("seed", range(6))
def test_friction_only_takes_power(
    chain: tuple[TreeModel, StrandModel], seed: int
) -> None:
    model, strands = chain
    data, work = excited(model, seed)
    data.velocity[:] *= 1e-3 if seed % 2 else 1.0
    tree_motion(model, 0.0, data, work)
    load, matrix = work.load.copy(), dense(model, work)
    strand = geometry(model, strands, data)
    strand.force[:] = 10.0
    strand.slope[:] = 1.0
    add_strands(model, strands, strand, work)
    winch = -float(strand.force @ strand.rate)
    limb = float((work.load - load) @ data.velocity)
    assert winch - limb > 0.0
    added = dense(model, work) - matrix
    # symmetric part of the linearised force p gᵀ never exceeds what is implicit
    pull = np.where(strands.friction[:, None] > 0.0, strand.pull, strand.row)
    outer = pull.T @ strand.row
    least = np.linalg.eigvalsh(added - 0.5 * (outer + outer.T))[0]
    assert least > -1e-12


def test_capstan_of_a_plane_arc() -> None:
    model = planar_arm(8)
    strands = make_strands(
        model, [[(0, straight_route(0.3, 0.01, 0.01, 0.0))]], friction=0.3
    )
    data = allocate_tree_data(model)
    data.position[0] = 1.5
    data.velocity[2] = -1.0
    work = geometry(model, strands, data)
    # the share that reaches the tip after a turn of 1.5 rad, by the row of the stretch
    # of the arc: mean of exp(-μ α) over the arc
    mean = (1.0 - math.exp(-0.3 * 1.5)) / (0.3 * 1.5)
    assert work.pull[0, 2] == pytest.approx(mean, rel=2e-3)
    assert np.sum(work.node_turn) == pytest.approx(1.5, rel=1e-12)


def test_prescribed_tension_bends_to_the_static_balance() -> None:
    """At rest K q = -gᵀ T, with the row at the bent shape."""
    model = planar_arm(6)
    strands = make_strands(model, [[(0, straight_route(0.3, 0.012, 0.0048, 0.0))]])
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    heavy = model.element_damping.copy()
    heavy[0] += np.diag([3e-3, 3e-3, 5.0])
    model = model._replace(element_damping=heavy)
    strand = allocate_strand_work(model, strands)
    command = allocate_strand_data(strands)
    command.tension[0] = 1.0
    period = 2e-3
    for _ in range(4000):
        tree_motion(model, period, data, work)
        add_elastic(model, period, data, work)
        strand_geometry(model, strands, data, strand)
        add_tension(strands, period, command, strand)
        add_strands(model, strands, strand, work)
        assert finish_step(model, period, data, work) == 0
    residual = model.element_stiffness[0] @ data.position + strand.row[0]
    assert np.max(abs(data.velocity)) < 1e-9
    assert np.allclose(residual, 0.0, atol=1e-10)
    assert data.position[0] > 0.3


def test_rods_that_are_not_one_chain_are_refused(
    chain: tuple[TreeModel, StrandModel],
) -> None:
    model, _ = chain
    route = straight_route(0.2, 0.01, 0.01, 0.0)
    with pytest.raises(ValueError, match="does not hang on"):
        make_strands(model, [[(1, route), (2, route)]])
    with pytest.raises(ValueError, match="passes no rod"):
        make_strands(model, [[]])
