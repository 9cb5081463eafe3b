"""Equilibria and natural frequencies of a rod against closed forms and fine solutions.

Tolerance 1e-6, relative or of a metre: that of the tables, which are exact to 1e-12
(elastica) or converged boundary value problems (sag). Frequencies: 1e-4 against beam
theory of the same content, 0.5 % across theories.
"""

import numpy as np
import pytest

from models.numerics import FloatArray
from models.strain_basis import constant_curvature, legendre
from models.strand import (
    add_strands,
    add_tension,
    allocate_strand_data,
    allocate_strand_work,
    strand_geometry,
)
from models.strand_builder import make_strands, rod_passes, straight_route
from models.tree import (
    TreeData,
    TreeModel,
    TreeWork,
    allocate_tree_data,
    allocate_tree_work,
)
from models.tree_builder import ROOT, TreeBuilder, frame
from models.tree_motion import tree_motion
from models.tree_statics import solve_equilibrium, tree_modes, tree_stiffness

TOLERANCE = 1e-6

RENDA = {
    "length": 0.245,
    "radius": (0.01, 0.002),
    "density": 1080.0,
    "young_modulus": 110e3,
    "shear_modulus": 55e3,
}
URSULA = {
    "length": 0.6,
    "radius": (0.03, 0.01),
    "density": 1070.0,
    "young_modulus": 69e3,
    "shear_modulus": 23e3,
}
UNIFORM = RENDA | {"radius": (0.01, 0.01)}

# P L²/EI, tip angle [rad], tip deflection / L, tip x / L
ELASTICA = (
    (0.25, 0.1242924421136373, 0.08274591535441744, 0.9958821815900243),
    (0.5, 0.24453364713321832, 0.1621435756583696, 0.9840810375291625),
    (1.0, 0.461351949711879, 0.30172077379981355, 0.9435667637166231),
    (2.0, 0.7817498315565431, 0.49345748039671183, 0.8393582791748327),
    (3.0, 0.9860169467113541, 0.6032534411299774, 0.7455797154358129),
    (4.0, 1.1212393474875764, 0.6699641812776668, 0.671058757753154),
    (5.0, 1.215368117611681, 0.7137915236119128, 0.6123716392755701),
    (7.5, 1.3559265989233307, 0.7767020004430666, 0.5104257514768928),
    (10.0, 1.4302855388038576, 0.8106090248802964, 0.4450044022462487),
)

# horizontal clamp: parameters, water, extensible; tip x, tip y [m], tip angle [rad]
SAG = (
    (URSULA, 1000.0, False, 0.4938673245489814, -0.30408909407390533, -0.84879831112),
    (URSULA, 1000.0, True, 0.4934309523653207, -0.30634945933853924, -0.84792144898),
    (URSULA, 0.0, False, 0.11414336302506632, -0.55175198185365, -1.56892434641),
    (URSULA, 0.0, True, 0.11235064767459975, -0.5713760433765122, -1.56850992338),
    (RENDA, 1022.0, False, 0.24025196419678868, -0.0423318990139862, -0.29743459876),
    (RENDA, 1022.0, True, 0.24024312295842434, -0.042473223656708324, -0.29742189476),
)

# of the first three bending modes [Hz]: Timoshenko (k = 1), Euler and Bernoulli
FREQUENCY = {
    "uniform": (
        (UNIFORM, 0.0, 0.0),
        (0.4690694515663257, 2.8903133566071513, 7.887159318171168),
        (0.47042802304889614, 2.948122096772209, 8.254827237019013),
    ),
    "uniform in water": (
        (UNIFORM, 1022.0, 1.5),
        (0.3017336399562362, 1.8652266686946404, 5.113313834998512),
        (0.3024373035255778, 1.8953422281973298, 5.3070131206321305),
    ),
    "tapered": (
        (RENDA, 0.0, 0.0),
        (0.8268119631038628, 2.4408787079436394, 5.243683427477509),
        (0.8290509991488861, 2.4598980426011883, 5.329571782571496),
    ),
    "tapered in water": (
        (RENDA, 1022.0, 1.5),
        (0.5317453440638982, 1.5708297621966578, 3.3787057326270022),
        (0.5329953497301909, 1.5814638892745845, 3.4263718143801425),
    ),
    "ursula": (
        (URSULA, 0.0, 0.0),
        (0.28209801911491716, 0.9805896766026007, 2.237092446613456),
        (0.28363212603069143, 0.9996340023153942, 2.3322223883829776),
    ),
}

Parts = tuple[TreeModel, TreeData, TreeWork]


def rod(
    arm: dict[str, object],
    orders: dict[str, int],
    *,
    points: int = 14,
    pieces: int = 3,
    water: float = 0.0,
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0),
    **changes: object,
) -> Parts:
    """One arm along z, clamped at the origin; it bends towards x."""
    tree = TreeBuilder(gravity=gravity, water_density=water)
    basis = legendre(orders) if orders else constant_curvature()
    tree.add_rod(
        ROOT, np.eye(4), basis=basis, points=points, pieces=pieces, **(arm | changes)
    )
    model = tree.build()
    return model, allocate_tree_data(model), allocate_tree_work(model)


def tip(parts: Parts) -> FloatArray:
    """Tip along the straight arm, across it, and its angle."""
    model, data, work = parts
    tree_motion(model, 0.0, data, work)
    across, _, along = work.point_position[-1]
    turn = work.point_rotation[-1]
    return np.array([along, across, np.arctan2(turn[0, 2], turn[2, 2])])


def settle(
    parts: Parts, wrench: dict[int, float] | None = None, **options: int
) -> None:
    """Bring the arm to rest, with moments (0..2) and forces (3..5) on its tip."""
    model, data, work = parts
    data.position[:] = 0.0
    data.wrench[:] = 0.0
    for k, value in (wrench or {}).items():
        data.wrench[-1, k] = value
    found = solve_equilibrium(model, data, work, **options)
    assert found.converged, found


def bending_stiffness(arm: dict[str, object]) -> float:
    return 0.25 * np.pi * arm["radius"][0] ** 4 * arm["young_modulus"]


@pytest.mark.parametrize("row", ELASTICA)
def test_elastica_under_a_tip_force(row: tuple[float, ...]) -> None:
    load, angle, across, along = row
    length = UNIFORM["length"]
    parts = rod(UNIFORM, {"k_y": 6}, points=12, pieces=4)
    settle(parts, {3: load * bending_stiffness(UNIFORM) / length**2})
    expected = np.array([along * length, across * length, angle])
    assert np.abs(tip(parts) / expected - 1.0).max() < TOLERANCE


@pytest.mark.parametrize("angle", [0.5, np.pi / 4, np.pi / 2, np.pi, 1.5 * np.pi, 6.2])
@pytest.mark.parametrize("orders", [{}, {"k_y": 3, "q_x": 2, "q_z": 2}])
def test_tip_moment_gives_an_exact_arc(angle: float, orders: dict[str, int]) -> None:
    length = UNIFORM["length"]
    parts = rod(UNIFORM, orders, points=5, pieces=1)
    settle(parts, {1: angle * bending_stiffness(UNIFORM) / length})
    expected = np.array([np.sin(angle), 1.0 - np.cos(angle)]) / angle * length
    assert np.abs(tip(parts)[:2] - expected).max() < TOLERANCE * length


@pytest.mark.parametrize("row", SAG)
def test_sag_under_its_own_weight(row: tuple[object, ...]) -> None:
    arm, water, extensible, *expected = row
    orders = {"k_y": 8, "q_x": 8, "q_z": 8} if extensible else {"k_y": 8}
    parts = rod(arm, orders, water=water, gravity=(-9.81, 0.0, 0.0))
    settle(parts)
    assert np.abs(tip(parts)[:2] - expected[:2]).max() < TOLERANCE
    assert abs(tip(parts)[2] - expected[2]) < 2.0 * TOLERANCE


@pytest.mark.parametrize("arm", [RENDA, URSULA])
def test_compliances_of_a_taper(arm: dict[str, object]) -> None:
    length, (base, end) = arm["length"], arm["radius"]
    r, ei = base / end, bending_stiffness(arm)
    area = np.pi * base * end
    g, e = arm["shear_modulus"], arm["young_modulus"]
    expected = {
        (0, 1): length / (3.0 * ei) * (r + r**2 + r**3),
        (0, 3): length**2 / ei * (r**2 / 6.0 + r / 3.0),
        (1, 1): length**2 / ei * (r**2 / 6.0 + r / 3.0),
        (1, 3): length**3 * r / (3.0 * ei) + length / (g * area),
        (2, 5): length / (e * area),
        (3, 2): length / (3.0 * ei) * (r + r**2 + r**3) * e / (2.0 * g),
    }
    orders = {"k_y": 5, "k_z": 5, "q_x": 5, "q_z": 5}
    model, data, work = rod(arm, orders, points=24, pieces=8)
    tree_motion(model, 0.0, data, work)
    # columns of the tip: turn about y, shift along x, shift along z, turn about z
    column = np.array(
        [_column_at_tip(model, work, d) for d in range(data.position.size)]
    )
    stiffness = tree_stiffness(model, data, work)
    pick = {1: column[:, 1], 3: column[:, 3], 5: column[:, 5], 2: column[:, 2]}
    rows = {0: column[:, 1], 1: column[:, 3], 2: column[:, 5], 3: column[:, 2]}
    for (motion, load), value in expected.items():
        found = rows[motion] @ np.linalg.solve(stiffness, pick[load])
        assert found == pytest.approx(value, rel=TOLERANCE), (motion, load)


def _column_at_tip(model: TreeModel, work: TreeWork, dof: int) -> FloatArray:
    """Twist of the tip by a coordinate, about the tip itself."""
    out = work.column[dof].copy()
    out[3:] += np.cross(out[:3], work.point_position[-1])
    return out


@pytest.mark.parametrize(
    ("moment", "profile", "angle", "along", "across"),
    [
        (5e-3, "linear", 8.271234163715167, 0.0724948909806658, 0.08844257358501675),
        (1e-3, "linear", 1.6542468327430293, 0.19706384820213835, 0.09587559738857103),
        (
            5e-5,
            "uniform",
            0.7325950259290577,
            0.24184984497316098,
            0.019777474917024484,
        ),
    ],
)
def test_internal_moment(
    moment: float, profile: str, angle: float, along: float, across: float
) -> None:
    length, pieces = RENDA["length"], 6
    parts = rod(RENDA, {"k_y": 9}, points=16, pieces=pieces)
    model, data, _work = parts
    for step in range(model.step_length.size):
        element = step // 16
        for side in (0, 1):
            h = model.step_length[step]
            way = model.point_abscissa[step] - h * (0.5 - (side - 0.5) / np.sqrt(3.0))
            x = (way + element * length / pieces) / length
            local = moment * (1.0 - x if profile == "linear" else 1.0)
            own = slice(*model.element_dof_start[element : element + 2])
            data.applied[own] += 0.5 * h * local * model.step_basis[step, side]
    settle(parts)
    along_found, across_found, _ = tip(parts)
    assert np.hypot(along_found - along, across_found - across) < TOLERANCE
    # the whole turn is the sum of the zeroth coordinates
    assert data.position[::10].sum() == pytest.approx(angle, rel=TOLERANCE)


@pytest.mark.parametrize("name", FREQUENCY)
def test_natural_frequencies(name: str) -> None:
    (arm, water, added), timoshenko, bernoulli = FREQUENCY[name]
    changes = {"water": water, "added_mass": added, "pieces": 1, "points": 24}
    parts = rod(arm, {"k_y": 9, "q_x": 9}, **changes)
    modes = tree_modes(*parts)
    found = modes.frequency[modes.damping < 0.5][:3]
    assert np.abs(found / timoshenko - 1.0).max() < 1e-4
    assert np.abs(modes.damping[:3]).max() < 1e-6
    # without shear: above Timoshenko; the first within 0.5 % of both theories
    slender = tree_modes(*rod(arm, {"k_y": 9}, **changes)).frequency[:3]
    assert abs(slender[0] / bernoulli[0] - 1.0) < 5e-3
    assert abs(found[0] / bernoulli[0] - 1.0) < 6e-3
    assert (slender > found).all()


def test_frequencies_of_bernoulli_as_the_arm_gets_thin() -> None:
    # rotary inertia fades with (R/L)²; E falls so that EI/(rho A) keeps its value
    thin = UNIFORM | {"radius": (1e-4, 1e-4), "young_modulus": 110e3 * 1e4}
    found = tree_modes(*rod(thin, {"k_y": 9}, pieces=1, points=32)).frequency[:3]
    expected = np.array(FREQUENCY["uniform"][2])
    assert np.abs(found / expected - 1.0).max() < 1e-5


@pytest.mark.parametrize(("water", "added"), [(0.0, 0.0), (1022.0, 1.5)])
def test_modal_damping_is_that_of_kelvin_and_voigt(water: float, added: float) -> None:
    parts = rod(
        RENDA, {"k_y": 9}, water=water, added_mass=added, viscosity=300.0, pieces=1
    )
    modes = tree_modes(*parts)
    expected = 2.0 * np.pi * modes.frequency[:4] * 900.0 / (2.0 * 110e3)
    assert modes.damping[:4] == pytest.approx(expected, rel=TOLERANCE)
    # the tables: 0.02125 (vacuum) and 0.01367 (water) of Timoshenko's arm
    assert modes.damping[0] == pytest.approx(
        0.02125 if water == 0 else 0.01367, rel=5e-3
    )


def test_tendon_pulls_an_arc_of_the_closed_form() -> None:
    # uniform arm, tendon at distance d: moment T d, axial force -T, a constant strain
    tension, distance = 0.05, 0.006
    model, data, work = rod(UNIFORM, {}, points=6, pieces=1)
    route = straight_route(UNIFORM["length"], distance, distance, 0.0)
    strands = make_strands(model, [rod_passes(model, [0], route)])
    command = allocate_strand_data(strands)
    command.tension[:] = tension
    strand_work = allocate_strand_work(model, strands)

    def pull(model: TreeModel, data: TreeData, work: TreeWork) -> None:
        strand_geometry(model, strands, data, strand_work)
        add_tension(strands, 0.0, command, strand_work)
        add_strands(model, strands, strand_work, work)

    assert solve_equilibrium(model, data, work, forces=pull).converged
    bend = tension * distance * UNIFORM["length"] / bending_stiffness(UNIFORM)
    axial = np.pi * UNIFORM["radius"][0] ** 2 * UNIFORM["young_modulus"]
    assert data.position[0] == pytest.approx(bend, rel=TOLERANCE)
    assert data.position[2] == pytest.approx(
        -tension * UNIFORM["length"] / axial, rel=TOLERANCE
    )


def test_a_floating_body_finds_its_upright_rest() -> None:
    # buoyancy above the weight; depth and place stay, it turns upright
    tree = TreeBuilder(root="free", water_density=1000.0)
    tree.add_body(ROOT, np.eye(4), mass=2.0, inertia=(0.01, 0.02, 0.03))
    tree.add_body(ROOT, frame((0.0, 0.0, 0.05)), displaced_mass=2.0)
    model = tree.build()
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    angle = 0.7
    data.root_pose[:3, :3] = [
        [1.0, 0.0, 0.0],
        [0.0, np.cos(angle), -np.sin(angle)],
        [0.0, np.sin(angle), np.cos(angle)],
    ]
    data.root_pose[:3, 3] = 0.3, 0.2, -1.0
    assert solve_equilibrium(model, data, work, load_steps=1).converged
    assert data.root_pose[2, 2] == pytest.approx(1.0, abs=TOLERANCE)
    modes = tree_modes(model, data, work)
    # a pendulum of m g d about two axes; four rigid motions
    expected = np.sqrt(2.0 * 9.81 * 0.05 / np.array([0.02, 0.01])) / (2.0 * np.pi)
    assert modes.frequency[-2:] == pytest.approx(expected, rel=1e-4)
    assert modes.frequency[:-2].max() < 1e-3


def test_it_says_where_no_equilibrium_is_found() -> None:
    tree = TreeBuilder(root="free", water_density=1000.0)
    tree.add_body(ROOT, np.eye(4), mass=2.0, inertia=(0.01, 0.02, 0.03))
    model = tree.build()
    found = solve_equilibrium(
        model, allocate_tree_data(model), allocate_tree_work(model), iterations=3
    )
    assert not found.converged
    assert found.residual > 0.5
