"""The travelling moment: exact integrals, both fronts, signs, and its static shape."""

import numpy as np
import pytest
from numpy.polynomial import legendre as polynomial

from models.strain_basis import StrainBasis, constant_curvature, legendre
from models.travelling_moment import (
    TravellingMoment,
    add_travelling_moment,
    front_length,
    make_travelling_moment,
)
from models.tree import TreeModel, allocate_tree_work
from models.tree_builder import ROOT, TreeBuilder

LENGTH = 0.245
MOMENT = 5e-3


def arm(basis: StrainBasis, pieces: int = 1, points: int = 6) -> TreeModel:
    """Renda's arm."""
    tree = TreeBuilder(gravity=(0.0, 0.0, 0.0))
    tree.add_rod(
        ROOT,
        np.eye(4),
        length=LENGTH,
        radius=(0.01, 0.002),
        density=1080.0,
        young_modulus=110e3,
        shear_modulus=55e3,
        basis=basis,
        pieces=pieces,
        points=points,
    )
    return tree.build()


def load(model: TreeModel, parameters: TravellingMoment, time: float) -> np.ndarray:
    work = allocate_tree_work(model)
    add_travelling_moment(parameters, time, work)
    return work.load


@pytest.mark.parametrize("pieces", [1, 3])
@pytest.mark.parametrize("time", [0.0, 1e-6, 0.21, 0.5, 0.99, 1.0, 1.01])
def test_generalised_force_is_the_integral_up_to_the_front(
    pieces: int, time: float
) -> None:
    model = arm(legendre({"k_y": 5, "k_x": 1, "q_x": 1}), pieces)
    parameters = make_travelling_moment(model, range(pieces), 1, MOMENT)
    found = load(model, parameters, time)
    front = LENGTH * time if 0.0 < time <= 1.0 else 0.0
    piece = LENGTH / pieces
    node, weight = polynomial.leggauss(40)
    for k in range(pieces):
        for order in range(6):
            end = min(piece, front - k * piece)
            expected = 0.0
            if end > 0.0:
                x = 0.5 * end * (1.0 + node)
                value = polynomial.legval(2.0 * x / piece - 1.0, np.eye(6)[order])
                share = MOMENT * (1.0 - (k * piece + x) / front) / piece
                expected = float(np.sum(0.5 * end * weight * share * value))
            assert found[10 * k + order] == pytest.approx(expected, abs=1e-16)
        assert np.all(found[10 * k + 6 : 10 * k + 10] == 0.0)


def test_stepped_front_is_that_of_the_published_code() -> None:
    """linspace(m, 0, floor(S t)) on the first sections of S at X = 0 .. L."""
    model = arm(constant_curvature())
    parameters = make_travelling_moment(model, [0], 1, MOMENT, sections=50)
    grid = np.linspace(0.0, LENGTH, 50)
    for time in (0.005, 0.03, 0.039, 0.3301, 0.77, 1.0):
        recruited = int(np.floor(50 * time))
        expected = grid[recruited - 1] if recruited > 0 else 0.0
        assert front_length(parameters, time) == pytest.approx(expected, abs=1e-15)
    smooth = make_travelling_moment(model, [0], 1, MOMENT)
    apart = [
        abs(front_length(parameters, t) - front_length(smooth, t))
        for t in np.linspace(0.01, 1.0, 397)
    ]
    assert max(apart) < 2.0 * LENGTH / 49.0


def test_signs_of_the_papers_axes() -> None:
    """Renda's z is y here and bends to +x: Δx > 0. His y is x here: Δy < 0."""
    model = arm(constant_curvature())
    about_z = load(model, make_travelling_moment(model, [0], 1, MOMENT), 1.0)
    about_y = load(model, make_travelling_moment(model, [0], 0, MOMENT), 1.0)
    assert about_z == pytest.approx([0.5 * MOMENT, 0.0, 0.0])
    assert about_y == pytest.approx([0.0, -0.5 * MOMENT, 0.0])


def test_two_recruitments_of_the_monopus() -> None:
    """Renda 2018 eq. 28: bent for 1 s, released, bent about the other axis."""
    model = arm(constant_curvature())
    first = make_travelling_moment(model, [0], 1, -MOMENT)
    second = make_travelling_moment(model, [0], 0, -MOMENT, start=2.5)
    for time, fronts in (
        (0.4, (0.4, 0.0)),
        (1.7, (0.0, 0.0)),
        (2.5, (0.0, 0.0)),
        (3.0, (0.0, 0.5)),
        (3.51, (0.0, 0.0)),
    ):
        found = [front_length(p, time) / LENGTH for p in (first, second)]
        assert found == pytest.approx(fronts, abs=1e-12)


def test_turn_at_rest_is_the_analytic_one() -> None:
    """m (1 - X/L) at the moment of full recruitment: total turn of 8.271 rad."""
    model = arm(legendre({"k_y": 14}), points=12)
    force = load(model, make_travelling_moment(model, [0], 1, MOMENT), 1.0)
    bend = np.linalg.solve(model.element_stiffness[0], force)
    ratio = 5.0
    stiffness = 110e3 * np.pi * 0.01**4 / 4.0
    turn = MOMENT * LENGTH * (ratio**2 / 6.0 + ratio / 3.0) / stiffness
    assert turn == pytest.approx(8.271, abs=5e-4)
    assert bend[0] == pytest.approx(turn, rel=1e-6)


def test_what_cannot_be_told_is_refused() -> None:
    model = arm(legendre({"k_y": 8}), points=3)
    with pytest.raises(ValueError, match="Legendre"):
        make_travelling_moment(model, [0], 1, MOMENT)
    with pytest.raises(ValueError, match="duration"):
        make_travelling_moment(model, [0], 1, MOMENT, duration=0.0)
