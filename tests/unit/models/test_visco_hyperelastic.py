"""Visco-hyperelastic walls against Zhang 2022's numbers, energy and stable steps."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.strain_basis import constant_curvature
from models.strand import (
    StrandModel,
    StrandWork,
    add_strands,
    allocate_strand_work,
    strand_geometry,
)
from models.strand_builder import (
    make_strands,
    straight_route,
)
from models.tree import TreeModel, allocate_tree_data, allocate_tree_work
from models.tree_builder import ROOT, TreeBuilder
from models.tree_motion import tree_motion
from models.tree_step import finish_step
from models.visco_hyperelastic import (
    actuator_areas,
    add_walls,
    make_walls,
    viscous_stress,
    wall_area,
    wall_energy,
    yeoh_energy,
    yeoh_stress,
)

YEOH = np.array([12563.0, -67.784, 2.7385])
LENGTH = 0.2
OFFSET = 0.024
AREAS = actuator_areas(0.045, 0.008, 0.006, 0.002)


@pytest.fixture(scope="module")
def joint() -> tuple[TreeModel, StrandModel]:
    """One soft joint with three actuators, without elasticity of its own."""
    tree = TreeBuilder(gravity=(0.0, 0.0, 0.0))
    tree.add_rod(
        ROOT,
        np.eye(4),
        length=LENGTH,
        radius=(0.045, 0.045),
        density=124.0,
        young_modulus=0.0,
        shear_modulus=0.0,
        basis=constant_curvature(),
    )
    model = tree.build()
    return model, make_strands(
        model,
        [
            [(0, straight_route(LENGTH, OFFSET, OFFSET, azimuth))]
            for azimuth in np.radians([0.0, 120.0, 240.0])
        ],
    )


def forces(
    joint: tuple[TreeModel, StrandModel],
    position: np.ndarray,
    velocity: np.ndarray,
    period: float = 0.0,
    **material: float,
) -> StrandWork:
    """Forces of the walls at a state of the joint."""
    model, strands = joint
    data = allocate_tree_data(model)
    data.position[:] = position
    data.velocity[:] = velocity
    work = allocate_strand_work(model, strands)
    strand_geometry(model, strands, data, work)
    walls = make_walls(strands, np.arange(3), LENGTH, areas=AREAS, **material)
    add_walls(walls, period, work)
    return work


@pytest.mark.parametrize(
    ("stretch", "stress", "energy"),
    [
        (1.1, 6871.224060793407, 353.9944080512815),
        (1.2, 12688.062141771848, 1339.2854255691827),
        (1.5, 26360.84112847222, 7305.894857349534),
        (2.0, 43136.541, 24876.772),
    ],
)
def test_yeoh_numbers(stretch: float, stress: float, energy: float) -> None:
    assert yeoh_stress(YEOH, stretch)[0] == pytest.approx(stress, rel=1e-12)
    assert yeoh_energy(YEOH, stretch) == pytest.approx(energy, rel=1e-12)


@pytest.mark.parametrize("stretch", [0.1, 0.19, 0.21, 0.5, 0.9, 1.0, 1.3, 2.5])
def test_stress_and_its_slope_are_derivatives(stretch: float) -> None:
    step = 1e-6
    stress, slope = yeoh_stress(YEOH, stretch)
    ends = [yeoh_stress(YEOH, stretch + side)[0] for side in (-step, step)]
    assert slope == pytest.approx((ends[1] - ends[0]) / (2.0 * step), rel=1e-7)
    assert slope > 0.0
    if stretch > 0.2:
        ends = [yeoh_energy(YEOH, stretch + side) for side in (-step, step)]
        by_energy = (ends[1] - ends[0]) / (2.0 * step)
        assert stress == pytest.approx(by_energy, rel=1e-7, abs=1e-4)


def test_small_strain_modulus_is_six_c1() -> None:
    assert yeoh_stress(YEOH, 1.0)[1] == pytest.approx(75378.0, rel=1e-12)


@pytest.mark.parametrize(
    ("rate", "stress"),
    [(0.01, 5592.413713384299), (0.1, 11158.332332030866), (1.0, 22263.8)],
)
def test_power_law_numbers(rate: float, stress: float) -> None:
    assert viscous_stress(22263.8, 0.3, 1e-9, rate)[0] == pytest.approx(
        stress, rel=1e-9
    )
    # the regularised law: 0.35 % at ten times the slow rate
    off = 1.0 - viscous_stress(22263.8, 0.3, 1e-3, rate)[0] / stress
    assert off == pytest.approx(1.0 - (1.0 + (1e-3 / rate) ** 2) ** -0.35, rel=1e-9)
    assert 0.0 < off < 0.0036


@settings(deadline=None, max_examples=100)
@given(st.floats(-1e3, 1e3), st.floats(0.05, 1.0), st.floats(1e-6, 1.0))
def test_viscosity_is_passive_odd_and_rising(
    rate: float, power: float, slow: float
) -> None:
    stress, viscosity = viscous_stress(100.0, power, slow, rate)
    assert viscosity > 0.0
    assert stress * rate >= 0.0
    assert stress == -viscous_stress(100.0, power, slow, -rate)[0]
    assert viscous_stress(100.0, power, slow, rate + 1e-3)[0] > stress


def test_areas_are_not_the_printed_ones() -> None:
    """Eq. 21's last term is 4 times the wall's; the first is an area as well."""
    matrix, fabric = actuator_areas(0.09, 0.008, 0.006, 0.002)
    filling = np.pi * (0.09**2 - 3.0 * 0.016**2) / 3.0
    assert matrix - filling == pytest.approx(302e-6, abs=1e-6)
    assert 2.0 * np.pi * 0.008 * 0.024 == pytest.approx(1206e-6, abs=1e-6)
    assert fabric == pytest.approx(2.0 * np.pi * 0.014 * 0.002, rel=1e-14)


@pytest.mark.parametrize("strain", [-0.5, -0.2, 0.0, 0.4])
@pytest.mark.parametrize("ratio", [0.0, 0.01])
def test_mixture(strain: float, ratio: float) -> None:
    area, slope = wall_area(2.0, 1.0, 0.6, ratio, strain)
    step = 1e-6
    ends = [wall_area(2.0, 1.0, 0.6, ratio, strain + s)[0] for s in (-step, step)]
    assert slope == pytest.approx((ends[1] - ends[0]) / (2.0 * step), abs=1e-8)
    if strain > -0.3:
        share = (strain + 0.6) / (strain + 1.0)
        composite = 1.0 / (share + (1.0 - share) * ratio)  # eq. 20, E_m = 1
        assert area == pytest.approx(2.0 + composite, rel=1e-14)


def test_elastic_energy_comes_back(joint: tuple[TreeModel, StrandModel]) -> None:
    """The work over a closed path of the joint is zero; eq. 19's force is not this."""
    turns = np.linspace(0.0, 2.0 * np.pi, 801)
    path = np.stack(
        [np.cos(turns) - 1.0, np.sin(turns), 0.03 * np.sin(2.0 * turns)], axis=1
    )
    done, largest = 0.0, 0.0
    for start, end in itertools.pairwise(path):
        middle = 0.5 * (start + end)
        work = forces(joint, middle, np.zeros(3), matrix_share=0.6)
        part = float((work.row.T @ work.force) @ (end - start))
        done += part
        largest = max(largest, abs(done))
    assert largest > 1e-2
    assert abs(done) < 2e-6 * largest  # of second order in the 800 chords


def test_force_is_the_slope_of_the_energy(
    joint: tuple[TreeModel, StrandModel],
) -> None:
    strands = joint[1]
    walls = make_walls(strands, np.arange(3), LENGTH, areas=AREAS, matrix_share=0.6)
    random, step = np.random.default_rng(5), 1e-6
    for _ in range(5):
        position = random.normal(size=3) * (0.8, 0.8, 0.02)
        work = forces(joint, position, np.zeros(3), matrix_share=0.6)
        load = work.row.T @ work.force
        for k in range(3):
            ends = []
            for side in (-step, step):
                moved = position.copy()
                moved[k] += side
                lengths = forces(joint, moved, np.zeros(3), matrix_share=0.6).length
                ends.append(wall_energy(walls, lengths))
            slope = (ends[1] - ends[0]) / (2.0 * step)
            assert slope == pytest.approx(load[k], rel=1e-6, abs=1e-6)
    straight = forces(joint, np.zeros(3), np.zeros(3)).length
    assert wall_energy(walls, straight) == pytest.approx(0.0, abs=1e-12)


def test_slope_is_positive_and_force_is_that_at_the_end_of_the_step(
    joint: tuple[TreeModel, StrandModel],
) -> None:
    random = np.random.default_rng(3)
    period = 1e-4
    for _ in range(20):
        position = random.normal(size=3) * (0.8, 0.8, 0.02)
        velocity = random.normal(size=3) * (0.5, 0.5, 0.02)
        wall = {"consistency": 0.0, "matrix_share": 0.6}
        now = forces(joint, position, velocity, period, **wall)
        later = forces(joint, position + period * velocity, velocity, **wall)
        assert np.all(now.slope > 0.0)
        assert np.allclose(now.force, later.force, rtol=1e-6, atol=1e-5)


def test_hydraulic_joint_bends_stiffly_by_its_three_walls(
    joint: tuple[TreeModel, StrandModel],
) -> None:
    """At small bends the moment is 3/2 r_s² k θ, k = A 6 C1/L of one actuator."""
    bend = 1e-4
    work = forces(joint, np.array([bend, 0.0, 0.0]), np.zeros(3))
    moment = float((work.row.T @ work.force)[0])
    k = 6.0 * 12563.0 * sum(AREAS) / LENGTH
    assert moment == pytest.approx(1.5 * OFFSET**2 * k * bend, rel=1e-3)


def _release(
    joint: tuple[TreeModel, StrandModel], period: float, steps: int
) -> np.ndarray:
    model, strands = joint
    data, tree = allocate_tree_data(model), allocate_tree_work(model)
    work = allocate_strand_work(model, strands)
    walls = make_walls(strands, np.arange(3), LENGTH, areas=AREAS)
    data.position[:] = (1.0, -0.4, 0.02)
    history = []
    for _ in range(steps):
        tree_motion(model, period, data, tree)
        strand_geometry(model, strands, data, work)
        add_walls(walls, period, work)
        add_strands(model, strands, work, tree)
        assert finish_step(model, period, data, tree) == 0
        history.append(data.position.copy())
    return np.array(history)


@pytest.mark.parametrize("period", [1e-3, 1e-2])
def test_released_joint_creeps_back_without_chatter(
    joint: tuple[TreeModel, StrandModel], period: float
) -> None:
    """With the tangent of the power law the rates would grow as (1 - 1/k)^n."""
    history = _release(joint, period, 200)
    bend = np.hypot(history[:, 0], history[:, 1])
    assert np.all(np.diff(bend) < 0.0)
    assert history[-1, 2] < 0.02


def test_tangent_of_the_power_law_chatters_and_the_secant_does_not() -> None:
    """A mass that a strong damper stops, k = 0.3: why a step takes the secant."""
    period, mass = 1e-2, 1e-3
    speeds: dict[str, list[float]] = {}
    for law in ("secant", "tangent"):
        speed = 1.0
        speeds[law] = [speed]
        for _ in range(6):
            stress, slope = viscous_stress(100.0, 0.3, 1e-9, speed)
            if law == "tangent":
                slope *= 0.3
            speed -= period * stress / (mass + period * slope)
            speeds[law].append(speed)
    assert all(0.0 <= b < a for a, b in itertools.pairwise(speeds["secant"]))
    assert abs(speeds["tangent"][-1]) > 10.0


def test_complex_step_gives_the_derivatives_of_the_force(
    joint: tuple[TreeModel, StrandModel],
) -> None:
    """Geometry and walls run on complex numbers, as sensitivities need."""
    model, strands = joint
    walls = make_walls(strands, np.arange(3), LENGTH, areas=AREAS, matrix_share=0.6)
    position, velocity = np.array([0.4, -0.2, 0.01]), np.array([0.3, 0.1, 0.02])

    def load(position: np.ndarray, velocity: np.ndarray, dtype: type) -> np.ndarray:
        data = allocate_tree_data(model)
        data = data._replace(
            position=position.astype(dtype), velocity=velocity.astype(dtype)
        )
        work = allocate_strand_work(model, strands, dtype)
        strand_geometry(model, strands, data, work)
        add_walls(walls, 0.0, work)
        return -work.row.T @ work.force

    for d in range(3):
        for speed in (0, 1):
            turn = np.zeros(3)
            turn[d] = 1.0
            by_q, by_v = (turn, 0.0 * turn) if speed == 0 else (0.0 * turn, turn)
            exact = load(position + 1e-30j * by_q, velocity + 1e-30j * by_v, complex)
            ends = [
                load(position + s * by_q, velocity + s * by_v, float)
                for s in (-1e-6, 1e-6)
            ]
            slope = (ends[1] - ends[0]) / 2e-6
            assert exact.imag / 1e-30 == pytest.approx(slope, rel=1e-6, abs=1e-6)


def test_bad_material_is_refused(joint: tuple[TreeModel, StrandModel]) -> None:
    _, strands = joint
    for bad in ({"power": 0.0}, {"slow_rate": 0.0}, {"matrix_share": 0.0}):
        with pytest.raises(ValueError, match="need"):
            make_walls(strands, np.arange(3), LENGTH, **bad)
    with pytest.raises(ValueError, match="3 strands"):
        make_walls(strands, np.array([3]), LENGTH)
