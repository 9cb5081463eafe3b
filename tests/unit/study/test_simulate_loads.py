"""Valves, winding tendons and friction, and the two readings of Renda 2018, by keys."""

import math

import numpy as np
import pytest

from app.config.case import CaseParameters, PhysicsCase, load_case
from app.config.case_loads import Tendon
from app.config.loader import parse_toml
from app.config.robot import load_robot
from app.config.tree import build_tree
from app.errors import ConfigError
from app.study.simulate import Simulation, simulate
from app.study.simulation_drives import make_drives
from app.study.simulation_loads import break_times, make_loads
from models.numerics import FloatArray
from models.tree import allocate_tree_data, allocate_tree_work
from models.tree_motion import tree_motion

STILL = {"gravity_m_s2": 0.0}
CHAMBERS = {"segment": 1, "area_mm2": 100.0}


def case(**fields: object) -> CaseParameters:
    return CaseParameters.model_validate({"title": "t", **fields})


def inflated(seconds: float, **keys: object) -> Simulation:
    made = case(
        posture="straight",
        water=STILL,
        chambers=[{**CHAMBERS, **keys}],
        output={"every_ms": 1.0},
    )
    done = simulate(load_robot("rov-arm"), made, seconds=seconds)
    assert done.fault is None
    return done


def test_a_valve_fills_vents_and_is_choked() -> None:
    """Exact at every step: the command changes at one."""
    plan = {"time_s": [0.0, 0.1], "between": "step"}
    plan |= {"pressure_kpa": [[30.0, 0.0, -90.0], [0.0, 0.0, 0.0]]}
    valve = {"fill_ms": 20.0, "vent_ms": 50.0, "supply_kpa": 25.0, "vacuum_kpa": -10.0}
    done = inflated(0.2, **plan, **valve)
    names = [name for name, _ in done.trace.channels]
    assert names == [f"arm 1 chamber {k}" for k in (1, 2, 3)]
    at, loads = done.trace.time_s, done.trace.loads
    rising = at < 0.0995
    filled = 25.0 * (1.0 - np.exp(-at[rising] / 0.02))
    np.testing.assert_allclose(loads[rising, 0], filled, rtol=1e-9, atol=1e-9)
    drawn = -10.0 * (1.0 - np.exp(-at[rising] / 0.05))
    np.testing.assert_allclose(loads[rising, 2], drawn, rtol=1e-9, atol=1e-9)
    late = ~rising
    since = at[late] - 0.099
    vented = filled[-1] * np.exp(-since / 0.05)
    np.testing.assert_allclose(loads[late, 0], vented, rtol=1e-9)
    assert not loads[:, 1].any()
    choked = inflated(0.05, time_s=[0.0], pressure_kpa=[[30, 0, 0]], rate_kpa_s=200.0)
    expected = 200.0 * choked.trace.time_s
    np.testing.assert_allclose(choked.trace.loads[:, 0], expected, atol=1e-9)


def test_without_valves_the_pressure_is_as_scheduled_and_a_quick_valve_too() -> None:
    plan = {"time_s": [0.0, 0.1], "pressure_kpa": [[0.0, 0.0, 0.0], [20.0, 0.0, 5.0]]}
    plain, quick = inflated(0.15, **plan), inflated(0.15, **plan, supply_kpa=100.0)
    np.testing.assert_array_equal(quick.trace.tips, plain.trace.tips)
    np.testing.assert_array_equal(quick.trace.loads, plain.trace.loads)
    assert plain.trace.loads[-1].tolist() == [20.0, 0.0, 5.0]


def chambers_push(rows: list[list[float]], **keys: object) -> FloatArray:
    """Generalised forces of chambers after rows of pressures, each held for 1 s."""
    table = {"time_s": [float(k) for k in range(len(rows))], "between": "step"}
    chambers = {**CHAMBERS, **table, "pressure_kpa": rows, **keys}
    made = case(posture="straight", chambers=[chambers])
    robot = load_robot("rov-arm")
    plan = build_tree(robot, made)
    (load,) = make_drives(robot, plan, made)
    data, work = allocate_tree_data(plan.model), allocate_tree_work(plan.model)
    for time_s in np.arange(0.0, len(rows), 0.1):
        tree_motion(plan.model, 0.1, data, work)
        before = work.load.copy()
        load.set_inputs(time_s, data)
        load.add(0.1, data, work)
    return work.load - before


def test_the_wall_s_hysteresis_holds_what_its_play_does() -> None:
    """After 20 kPa and back, a play of 4 kPa for half the pressure holds 2 kPa."""
    up, down, held = [20.0, 0.0, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]
    loop = {"hysteresis_kpa": [4.0], "hysteresis_share": [0.5]}
    plain = chambers_push([held])
    assert np.abs(plain).max() > 1e-3
    np.testing.assert_allclose(chambers_push([up, down], **loop), plain, rtol=1e-9)
    less = chambers_push([[18.0, 0.0, 0.0]])
    np.testing.assert_allclose(chambers_push([up], **loop), less, rtol=1e-9)


def tendon_pull(**keys: object) -> tuple[FloatArray, FloatArray]:
    """Generalised force of a tendon of 1 N, and the components of the coordinates."""
    table = {"offset_ratio": 0.6, "time_s": [0.0], "tension_n": [1.0], **keys}
    strain = {
        "basis": "legendre",
        "order": {"k_x": 0, "k_y": 0, "k_z": 0, "q_z": 0},
        "rods": "limb",
        "points": 16,
    }
    made = case(base={"limb": "ventral"}, strain=strain, tendons=[table])
    plan = build_tree(load_robot("quadropus"), made)
    data, work = allocate_tree_data(plan.model), allocate_tree_work(plan.model)
    data.position[6:] = 0.3
    data.velocity[6:] = -0.1
    tree_motion(plan.model, 0.0, data, work)
    before = work.load.copy()
    (load,) = make_loads(plan, made)
    load.set_inputs(0.0, data)
    load.add(0.0, data, work)
    return (work.load - before)[6:], plan.model.dof_component[6:]


def test_a_winding_tendon_twists_and_a_whole_turn_hardly_bends() -> None:
    straight, component = tendon_pull()
    wound, _ = tendon_pull(twist_deg=360.0)
    back, _ = tendon_pull(twist_deg=-360.0)
    turn, bend = component == 2, component == 1
    assert abs(wound[turn]) > 5.0 * abs(straight[turn])
    assert wound[turn] * back[turn] < 0.0
    assert abs(wound[bend]) < 0.4 * abs(straight[bend])
    quarter, _ = tendon_pull(twist_deg=1e-9, azimuth_deg=90.0)
    side, _ = tendon_pull(azimuth_deg=90.0)
    np.testing.assert_allclose(quarter, side, atol=1e-9)


def test_friction_takes_from_what_is_beyond_it() -> None:
    free, component = tendon_pull()
    rough, _ = tendon_pull(friction=0.5)
    bend = component == 1
    assert 0.5 * abs(free[bend]) < abs(rough[bend]) < 0.99 * abs(free[bend])


def test_keys_of_chambers_are_checked() -> None:
    text = (
        'title = "t"\n[[chambers]]\nsegment = 1\ntime_s = [0.0]\n'
        "pressure_kpa = [[0.0, 0.0, 0.0]]\nhysteresis_kpa = [4.0, 2.0]\n"
        "hysteresis_share = [0.5, 0.2]\n"
    )
    with pytest.raises(ConfigError, match=r"hysteresis_kpa must grow"):
        parse_toml(text, CaseParameters, "case.toml")
    with pytest.raises(ConfigError, match=r"together below 1"):
        parse_toml(
            text.replace("[4.0, 2.0]", "[2.0, 4.0]").replace("0.2", "0.5"),
            CaseParameters,
            "case.toml",
        )
    assert Tendon(offset_ratio=0.5, time_s=(0.0,), tension_n=(1.0,)).friction == 0.0


def test_valves_have_no_reference_run() -> None:
    made = case(
        chambers=[
            {**CHAMBERS, "time_s": [0.0], "pressure_kpa": [[1, 0, 0]], "fill_ms": 5.0}
        ]
    )
    with pytest.raises(ConfigError, match=r"valves of this case.*--step-us"):
        simulate(load_robot("rov-arm"), made, seconds=0.01, reference=True)


ITEMS = (
    ("drag_form", "norm", "component"),
    ("munk_moment", False, True),
    *(
        (key, "paper", "published-code")
        for key in (
            "root_drag_area",
            "cone_inertia",
            "recruitment",
            "volume_rate",
            "jet_areas",
            "shell",
        )
    ),
)


def swum(seconds: float = 0.25, **physics: object) -> FloatArray:
    """Root pose and tip of the Monopus after some time, a wave of moment under way."""
    made = load_case("monopus").model_copy(
        update={"physics": PhysicsCase.model_validate(physics)}
    )
    done = simulate(load_robot("monopus"), made, seconds=seconds)
    assert done.fault is None
    return np.concatenate([done.trace.root_pose[-1].ravel(), done.trace.tips[-1, 0]])


def test_the_published_code_is_switched_as_a_whole_and_item_by_item() -> None:
    paper, code = swum(), swum(version="published-code")
    assert np.abs(code - paper).max() > 1e-4
    np.testing.assert_array_equal(
        swum(version="published-code", **{key: a for key, a, _ in ITEMS}), paper
    )
    np.testing.assert_array_equal(swum(**{key: b for key, _, b in ITEMS}), code)
    assert {key for key, *_ in ITEMS} == set(PhysicsCase.model_fields) - {"version"}
    for key, _, value in ITEMS:
        assert np.abs(swum(**{key: value}) - paper).max() > 1e-6, key


@pytest.fixture(scope="module")
def swum_by_code() -> FloatArray:
    return swum(5.0, version="published-code")


@pytest.mark.parametrize(
    ("items", "shift_mm"),
    [
        ({"munk_moment": False}, 13.0),
        ({"volume_rate": "paper"}, 12.0),
        ({"root_drag_area": "paper"}, 9.0),
        ({"cone_inertia": "paper"}, 32.0),
    ],
    ids=["munk", "volume", "area", "inertia"],
)
def test_an_item_moves_the_monopus_as_far_as_in_the_published_scheme(
    swum_by_code: FloatArray, items: dict[str, object], shift_mm: float
) -> None:
    """Root after 5 s, to 30 %: that scheme's grid alone shifts it by 18 mm in 3 s."""
    other = swum(5.0, version="published-code", **items)
    shift = 1e3 * np.linalg.norm((other - swum_by_code)[[3, 7, 11]])
    assert shift == pytest.approx(shift_mm, rel=0.3)


def test_the_code_s_numbers_are_of_renda_s_mantle_alone() -> None:
    robot = load_robot("monopus")
    assert robot.mantle is not None
    wide = robot.mantle.model_copy(update={"inflow_area_mm2": 2000.0})
    other = robot.model_copy(update={"mantle": wide})
    made = case(base={"motion": "floating"}, physics={"version": "published-code"})
    with pytest.raises(ConfigError, match=r'inflow_area.*jet_areas = "paper"'):
        simulate(other, made, seconds=0.01)


def test_a_reference_run_breaks_where_loads_jump() -> None:
    wave = {"moment_mn_m": 1.0, "start_s": 0.5, "recruit_s": 1.0}
    assert break_times(case(moments=[wave]), 2.0) == [0.5, 1.5]
    code = case(moments=[wave], physics={"recruitment": "published-code"})
    np.testing.assert_allclose(break_times(code, 2.0), 0.5 + np.arange(51) / 50)


def test_the_arm_s_root_is_where_a_case_puts_it() -> None:
    """The Monopus's arm at -112 mm, as in the published code."""
    robot = load_robot("monopus")
    ends = []
    for place in ({}, {"base_position_mm": [-112.0, 0.0, 0.0]}):
        made = case(posture="straight", limbs=[{"name": "tail", **place}])
        plan = build_tree(robot, made)
        ends.append(plan.limbs[0].base[0, 3])
    assert ends == pytest.approx([-0.110, -0.112], abs=1e-15)
    assert math.isclose(robot.limbs[0].base_position_mm[0], -110.0)
