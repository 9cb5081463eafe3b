"""The accuracy report of a soft arm, and of the reduced model beside it."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from app.errors import ConfigError
from app.study.arm_cases import LIU_ARM, build_arm
from app.study.reduced_model import (
    accurate_motion,
    compare_reduced,
    corrected,
    reduced_arm,
    settling_time,
    table,
)
from app.study.rod_convergence import (
    NONE,
    ArmError,
    Mesh,
    draw_convergence,
    load_motion,
    measure,
    meshes,
    refinements,
)
from models.tree import TreeModel, allocate_tree_data, allocate_tree_work
from models.tree_statics import tree_modes

DATA = Path(__file__).resolve().parents[2] / "data"


def test_meshes_have_the_coordinates_asked_for() -> None:
    for dofs in range(1, 13):
        found = list(meshes(dofs))
        assert len(set(found)) == len(found) > 0
        for mesh in found:
            assert mesh.dofs == dofs
            assert mesh.bend >= max(mesh.shear, mesh.stretch) >= NONE
            model = build_arm(LIU_ARM, mesh.basis, points=3, pieces=mesh.pieces)
            assert model.dof_parent.size == dofs


def test_refinement_converges() -> None:
    motion = load_motion(DATA / "arm_A.csv")
    lines = refinements()
    one_piece, pieces = list(lines.values())[:2]
    by_order = [measure("A", m, motion, tolerance=1e-5) for m in one_piece[:6:2]]
    by_pieces = [measure("A", m, motion, tolerance=1e-5) for m in pieces[:4]]
    # two more orders divide the error by three or more; pieces of constant curvature
    # are of second order in their length
    for before, after in itertools.pairwise(by_order):
        assert after.greatest_mm < before.greatest_mm / 3.0
    rate = np.log(by_pieces[1].greatest_mm / by_pieces[3].greatest_mm) / np.log(2.0)
    assert 1.2 < rate < 2.5


def test_figure_is_drawn_and_a_wrong_place_is_named(tmp_path: Path) -> None:
    line = [ArmError(Mesh(n), 10.0 ** (1 - n), 1.0, 1, 1.0) for n in range(3)]
    out = tmp_path / "figure.png"
    draw_convergence({"A": {"line": line}, "UW": {"line": line}}, out)
    assert out.read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(ConfigError, match="Cannot write"):
        draw_convergence({"A": {"line": line}}, tmp_path / "none" / "figure.png")
    with pytest.raises(ConfigError, match="Converged motion"):
        load_motion(tmp_path / "absent.csv")


def test_settling_time() -> None:
    time = np.linspace(0.0, 10.0, 1001)
    motion = np.stack([time, np.exp(-time), np.zeros_like(time)], axis=1)
    place = np.zeros(2)
    assert settling_time(motion, place, 0.05) == pytest.approx(np.log(20.0), abs=0.011)
    assert settling_time(motion, place, 2.0) == 0.0
    assert settling_time(motion, place, 1e-6) == np.inf


def test_one_arc_is_too_stiff_for_a_uniform_arm() -> None:
    # a parabola for the first mode: ω² = 20 EI/(m L⁴) instead of 12.36
    def first(model: TreeModel) -> float:
        data, work = allocate_tree_data(model), allocate_tree_work(model)
        return tree_modes(model, data, work).frequency[0]

    fine = first(build_arm(LIU_ARM, Mesh(6, 4).basis, points=12))
    one = first(reduced_arm(LIU_ARM, 1))
    assert one / fine == pytest.approx(np.sqrt(20.0 / 12.362), rel=0.02)
    softer = first(corrected(reduced_arm(LIU_ARM, 1), (fine / one) ** 2, 1.0))
    assert softer == pytest.approx(fine, rel=2e-3)


def test_more_segments_are_nearer() -> None:
    motions = {name: accurate_motion(name, DATA) for name in ("A", "B1")}
    arms = [compare_reduced(["A", "B1"], motions, n) for n in (1, 2, 3)]
    assert arms[0].rms_mm > arms[1].rms_mm > arms[2].rms_mm
    assert arms[2].cases[0].rms_mm == pytest.approx(2.6, abs=0.5)
    assert arms[0].frequency_error > arms[2].frequency_error > 0.0
    lines = table({"arm": arms})
    assert len(lines) == 5
    assert "A: " in lines[-1]
