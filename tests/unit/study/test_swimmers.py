"""Renda's swimmers with arms and mantle, against converged reference runs.

Tolerances stand at the goals (app.study.swimmer_goals): 2 % of the Quadropus's speed,
1 % of thrust and of the volume, 10 % of the Monopus's path, 3 % of the Poseidrone's
speed. Time steps and bases are converged to 0.1 % (scripts/swimmers --converge).
"""

from pathlib import Path

import numpy as np
import pytest

from app.errors import ModelError
from app.study.swimmer_goals import (
    Goal,
    arm_grid,
    arms_goals,
    monopus_goals,
    poseidrone_goals,
    poseidrone_readings,
    quadropus_goals,
)
from app.study.swimmers import CODE, PAPER, swim
from models.strain_basis import constant_curvature
from models.tree import allocate_tree_data, allocate_tree_work
from models.tree_builder import ROOT, TreeBuilder, frame
from models.tree_motion import tree_motion

_DATA = Path(__file__).parents[2] / "data"


def _missed(goals: list[Goal]) -> list[str]:
    return [f"{g.what}: {g.found:.4g}" for g in goals if not g.holds]


def test_quadropus_speed_efficiency_momentum_and_volume() -> None:
    goals = quadropus_goals(_DATA, periods=8)
    assert len(goals) == 10
    assert _missed(goals) == []


def test_forces_of_the_quadropus_arms() -> None:
    goals = [goal for goal in arms_goals((7.0,)) if "[N]" in goal.what]
    assert len(goals) == 3
    assert _missed(goals) == []


def test_the_published_gain_by_the_arms_is_an_error_of_its_grid() -> None:
    """0.7 and 1.6 % in the first and second second; refined, the arms lose speed."""
    grid = arm_grid(_DATA)
    # one clamped arm: 3.03, 1.65, 1.05 mN s in the first second by halved grids
    assert grid.found == pytest.approx(grid.limit, abs=1e-4)
    assert grid.impulse[0, 0] > 6.0 * grid.found[0]
    assert grid.gain[0] == pytest.approx(-0.0076, abs=5e-4)
    assert grid.gain[1] == pytest.approx(-0.0002, abs=5e-4)
    # the grid's error of that force, on the root: more than the whole published gain
    assert grid.gain_with_error[0] - grid.gain[0] > 0.007 - grid.gain[0]
    assert grid.gain_with_error[1] - grid.gain[1] > 0.016 - grid.gain[1]


def test_monopus_path_radius_and_rate_of_turning() -> None:
    goals = monopus_goals(_DATA)
    assert len(goals) == 8
    assert _missed(goals) == []


def test_poseidrone_at_three_frequencies() -> None:
    goals = poseidrone_goals(_DATA)
    assert len(goals) == 3
    assert _missed(goals) == []
    speeds = [goal.found for goal in goals]
    assert speeds[0] > speeds[1] > speeds[2]  # it rises with the frequency


def test_the_form_of_the_drag_parts_the_papers_poseidrone_from_the_codes() -> None:
    speed = poseidrone_readings()
    assert speed["paper"] / speed["published code"] == pytest.approx(0.914, abs=0.01)
    for version in ("paper", "published code"):
        other = {"paper": "drag by components", "published code": "drag by the norm"}
        switched = speed[f"{version}, {other[version]}"]
        wanted = speed["published code" if version == "paper" else "paper"]
        assert switched == pytest.approx(wanted, rel=0.01)


@pytest.mark.parametrize("roll", [0.0, 30.0, 45.0])
def test_drag_by_components_depends_on_how_a_section_is_rolled(roll: float) -> None:
    """Across a round arm: cos³ + sin³ of the roll, 1/√2 at 45°; by the norm, 1."""
    angle = np.radians(roll)
    turn = np.array(
        [
            [np.cos(angle), -np.sin(angle), 0.0],
            [np.sin(angle), np.cos(angle), 0.0],
            [0.0, 0.0, 1.0],
        ]
    )
    force = {}
    for form in ("norm", "component"):
        builder = TreeBuilder(
            root="free", water_density=1000.0, current=(0.3, 0.0, 0.0), drag_form=form
        )
        builder.add_rod(
            ROOT, frame((0.0, 0.0, 0.0), turn), length=0.2, radius=(0.01, 0.01),
            density=1000.0, young_modulus=1e5, shear_modulus=5e4, viscosity=100.0,
            basis=constant_curvature(), drag_normal=2.5, drag_tangent=0.01,
        )  # fmt: skip
        model = builder.build()
        data, work = allocate_tree_data(model), allocate_tree_work(model)
        tree_motion(model, 0.0, data, work)
        force[form] = work.load[3:5].copy()
    assert force["norm"][0] == pytest.approx(1000.0 * 0.01 * 2.5 * 0.2 * 0.09, rel=1e-9)
    share = np.cos(angle) ** 3 + np.sin(angle) ** 3
    assert force["component"][0] == pytest.approx(share * force["norm"][0], rel=1e-9)


def test_a_run_that_is_lost_says_so() -> None:
    with pytest.raises(ModelError, match="stopped at"):
        swim("quadropus-m0", PAPER, seconds=1.0, step_s=0.1)


def test_the_moment_and_the_pulse_of_a_case_can_be_changed() -> None:
    slow, fast = (
        swim("quadropus-m5", CODE, seconds=0.5, pulse_s=pulse, moment_mn_m=0.0)
        for pulse in (1.0, 0.5)
    )
    assert fast.volume.min() < slow.volume.min()
    assert fast.place[-1, 0] != slow.place[-1, 0]
