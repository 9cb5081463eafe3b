"""A simulated case: its start, its loads, its base, its faults, its files.

Positions against models/limb to 1e-12; motions to what a step of 1 ms leaves, each
stated where it is used.
"""

import csv
import json
import math
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from app.cli import run
from app.config.case import CaseParameters, case_names, load_case
from app.config.case_loads import PropellerThrust
from app.config.robot import build_robot_model, load_robot
from app.config.tree import build_tree
from app.errors import ConfigError, LogError, ModelError
from app.session import open_log
from app.study.simulate import check_fault, prepare, simulate, summary
from app.study.simulation_loads import strain_nodes, value_at
from app.study.simulation_run import Simulator
from models.limb import limb_tip_jacobian
from models.numerics import FloatArray
from models.tree import allocate_tree_data, allocate_tree_work
from models.tree_motion import tree_motion
from models.tree_step import tree_momentum

ARM = {"motion": "fixed", "limb": "ventral"}
STILL = {"gravity_m_s2": 0.0}


def case(**fields: object) -> CaseParameters:
    return CaseParameters.model_validate({"title": "t", **fields})


def tip_in_base(robot: str, made: CaseParameters, **options: float) -> FloatArray:
    """(T, 3) tip of the first limb in its base frame."""
    done = simulate(load_robot(robot), made, **options)  # type: ignore[arg-type]
    assert done.fault is None
    base = done.plan.limbs[0].base
    tips: FloatArray = (done.trace.tips[:, 0] - base[:3, 3]) @ base[:3, :3]
    return tips


@pytest.mark.parametrize("name", ["ursula", "quadropus", "rov-arm"])
def test_a_robot_starts_in_the_posture_of_its_file(name: str) -> None:
    robot = load_robot(name)
    made = case()
    simulator = Simulator(robot, build_tree(robot, made), made, 1e-3)
    tips = simulator.sample().tips
    model = build_robot_model(robot)
    for k, limb in enumerate(robot.limbs):
        first, stop = model.limb_segment_start[k : k + 2]
        poses, jacobian = (
            np.zeros((stop - first + 1, 4, 4)),
            np.zeros((6, 3 * (stop - first))),
        )
        limb_tip_jacobian(model, k, model.rest_coordinates[first:stop], poses, jacobian)
        tip = model.pose_base_to_hull[k] @ poses[-1]
        if limb.gripper is not None:
            tip[:3, 3] += 1e-3 * limb.gripper.length_mm * tip[:3, 2]
        np.testing.assert_allclose(tips[k], tip[:3, 3], atol=1e-9)


def test_a_richer_basis_takes_the_posture_too() -> None:
    strain = {"basis": "legendre", "order": {"k_x": 2, "k_y": 2, "q_z": 1}, "pieces": 2}
    robot = load_robot("ursula")
    ends = []
    for made in (case(), case(strain=strain), case(strain={**strain, "rods": "limb"})):
        simulator = Simulator(robot, build_tree(robot, made), made, 1e-3)
        ends.append(simulator.sample().tips)
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-9)
    np.testing.assert_allclose(ends[2], ends[0], atol=1e-9)


def test_a_posture_out_of_the_basis_is_refused() -> None:
    robot = load_robot("monopus")  # its rest bends to the side
    made = case(strain={"basis": "legendre", "order": {"k_y": 2, "q_z": 1}})
    with pytest.raises(ConfigError, match=r"needs the strain k_x.*posture"):
        Simulator(robot, build_tree(robot, made), made, 1e-3)


def test_the_shipped_arm_moves_as_the_converged_reference_run() -> None:
    """The tip within 0.5 mm over 0.6 s."""
    text = resources.files("tests.data").joinpath("arm_release.csv").read_text()
    table = np.array(
        [[float(x) for x in row] for row in list(csv.reader(text.split()))[1:]]
    )
    table = table[table[:, 0] < 0.65]
    made = load_case("renda-arm-release")
    tips = tip_in_base("quadropus", made, seconds=0.6)
    rows = np.round(table[:, 0] / 0.01).astype(int)
    np.testing.assert_allclose(tips[rows][:, [2, 0]], table[:, 1:], atol=0.5e-3)


def test_reference_and_small_steps_agree() -> None:
    """Within 0.02 mm where 1 ms is 0.15 mm off the converged run."""
    made = case(
        base=ARM, water=STILL, limbs=[{"name": "ventral", "bend_deg": [45, 45]}]
    )
    fine = tip_in_base("quadropus", made, seconds=0.1, step_us=20.0)
    exact = tip_in_base("quadropus", made, seconds=0.1, reference=True)
    np.testing.assert_allclose(exact, fine, atol=2e-5)


def test_a_muscle_wave_bends_towards_its_direction() -> None:
    for degrees, way in ((0.0, (1.0, 0.0)), (90.0, (0.0, 1.0)), (180.0, (-1.0, 0.0))):
        wave = {"moment_mn_m": 1.0, "direction_deg": degrees, "recruit_s": 0.3}
        made = case(base=ARM, water=STILL, posture="straight", moments=[wave])
        tip = tip_in_base("quadropus", made, seconds=0.3)[-1, :2]
        assert tip @ way > 0.002
        assert abs(tip @ (way[1], -way[0])) < 1e-9


def test_a_tendon_pulls_to_its_side_with_its_tension() -> None:
    tendon = {"offset_ratio": 0.6, "azimuth_deg": 90.0, "time_s": [0.0]}
    for load in ({"tension_n": [0.05]}, {"pull_mm": [4.0]}):
        made = case(
            base=ARM, water=STILL, posture="straight", tendons=[{**tendon, **load}]
        )
        done = simulate(load_robot("quadropus"), made, seconds=0.3)
        base = done.plan.limbs[0].base
        assert (base[:3, :3].T @ (done.trace.tips[-1, 0] - base[:3, 3]))[1] > 0.01
        assert done.trace.channels[0] == ("tendon ventral 90 deg", "N")
        assert done.trace.loads[-1, 0] > 0.03


def test_chambers_bend_away_and_an_internal_load_is_a_generalised_force() -> None:
    """Pressure at azimuth 90 of a segment hung by x: equal to its moment about it."""
    area, arm, pressure = 100.0, 17.0, 10.0
    chambers = {"segment": 1, "area_mm2": area, "time_s": [0.0]}
    moment = 1e3 * pressure * area * 1e-6 * arm * 1e-3
    tables = (
        {"chambers": [{**chambers, "pressure_kpa": [[pressure, 0.0, 0.0]]}]},
        {
            "internal_loads": [
                {
                    "segment": 1,
                    "time_s": [0.0],
                    "bending_n_m": [[0.0, -moment]],
                    "axial_n": [1e3 * pressure * area * 1e-6],
                }
            ]
        },
    )
    tips = [
        tip_in_base(
            "rov-arm", case(posture="straight", water=STILL, **table), seconds=2.0
        )
        for table in tables
    ]
    assert tips[0][-1, 1] < -0.001
    np.testing.assert_allclose(tips[0], tips[1], atol=1e-9)


def test_a_tip_load_at_rest_is_found_on_the_base() -> None:
    """0.2 N to bow and 3 mN m; what is left after 6 s is below 1 %."""
    load = {"time_s": [0.0], "force_n": [[0.2, 0.0, 0.0]], "moment_n_m": [[0, 3e-3, 0]]}
    made = case(
        base={"limb": "arm"},
        water=STILL,
        posture="straight",
        tip_loads=[load],
        material={"viscosity_pa_s": 30_000.0},
    )
    done = simulate(load_robot("rov-arm"), made, seconds=6.0)
    moment, force = np.split(done.trace.base_wrench[-1], 2)
    tip = done.trace.tips[-1, 0] - done.plan.limbs[0].base[:3, 3]
    np.testing.assert_allclose(force, [0.2, 0.0, 0.0], atol=2e-3)
    expected = np.cross(tip, [0.2, 0.0, 0.0])
    expected[1] += 3e-3
    np.testing.assert_allclose(moment, expected, atol=1e-3)


def test_a_stroked_base_goes_its_way_and_feels_the_arm_s_inertia() -> None:
    """In a vacuum and stiff, the force is mass times acceleration, to 1 %."""
    stroke = {"direction": [0, 2, 0], "stroke_mm": 40.0, "frequency_hz": 1.0}
    made = case(
        base={"limb": "arm"},
        water={"density_kg_m3": 0.0, "gravity_m_s2": 0.0},
        posture="straight",
        material={"young_modulus_kpa": 1e5, "viscosity_pa_s": 1e5},
        stroke=stroke,
        output={"every_ms": 5.0},
    )
    done = simulate(load_robot("rov-arm"), made, seconds=1.0)
    at = done.trace.time_s
    way = done.trace.root_pose[:, :3, 3]
    np.testing.assert_allclose(way[:, 1], 0.02 * np.sin(2 * np.pi * at), atol=1e-12)
    np.testing.assert_allclose(way[:, [0, 2]], 0.0, atol=1e-12)
    omega = 2.0 * np.pi
    push = -done.plan.model.point_mass.sum() * 0.02 * omega**2 * np.sin(omega * at)
    late = at > 0.2  # the jump of the velocity at the start has died out
    force = -done.trace.base_wrench[late, 4]
    np.testing.assert_allclose(force, push[late], atol=0.02 * np.abs(push).max())


def test_the_force_on_a_stroked_base_is_the_momentum_of_a_soft_arm() -> None:
    """In a vacuum; to 1 % of the greatest momentum, the error of steps of 0.5 ms."""
    made = case(
        base={"limb": "arm"},
        water={"density_kg_m3": 0.0, "gravity_m_s2": 0.0},
        posture="straight",
        stroke={"direction": [1, 0, 0], "stroke_mm": 100.0, "frequency_hz": 1.0},
        output={"every_ms": 0.5},
    )
    done = simulate(load_robot("rov-arm"), made, seconds=0.6, step_us=500.0)
    model, trace = done.plan.model, done.trace
    data, work = allocate_tree_data(model), allocate_tree_work(model)
    momentum = np.zeros((trace.time_s.size, 6))
    for k in range(trace.time_s.size):
        data.root_pose[:], data.position[:] = trace.root_pose[k], trace.position[k]
        data.velocity[:] = trace.velocity[k]
        tree_motion(model, 0.0, data, work)
        tree_momentum(model, data, work, momentum[k])
    impulse = np.cumsum(-trace.base_wrench[1:, 3]) * 0.0005
    gained = momentum[1:, 3] - momentum[0, 3]
    np.testing.assert_allclose(impulse, gained, atol=0.01 * np.abs(gained).max())
    base = done.plan.limbs[0].base
    away = (trace.tips[:, 0] - trace.root_pose[:, :3, 3] - base[:3, 3]) @ base[:3, 0]
    assert np.abs(away).max() > 0.01


def test_a_reference_run_carries_its_base_too() -> None:
    """Steps of 0.1 ms leave 1 % of the force, and the way is met to the tolerance."""
    made = case(
        base={"limb": "arm", "roll_pitch_yaw_deg": [0.0, 0.0, 90.0]},
        posture="straight",
        stroke={
            "direction": [1.0, 0.0, 0.0],
            "stroke_mm": 100.0,
            "frequency_hz": 2.0,
            "ramp_s": 0.105,  # between samples: the force jumps
        },
    )
    robot = load_robot("rov-arm")
    exact = simulate(robot, made, seconds=0.3, reference=True).trace
    fine = simulate(robot, made, seconds=0.3, step_us=100.0).trace
    np.testing.assert_allclose(
        exact.root_pose[:, :3, 3], fine.root_pose[:, :3, 3], atol=2e-6
    )
    np.testing.assert_allclose(exact.tips, fine.tips, atol=1e-4)
    force = exact.base_wrench[1:, 3:]
    assert np.abs(force[:, 1]).max() > 1.0
    np.testing.assert_allclose(
        force, fine.base_wrench[1:, 3:], atol=0.01 * np.abs(force).max()
    )


def test_nodes_of_a_rod_integrate_cubics() -> None:
    plan = build_tree(load_robot("quadropus"), case())
    piece = plan.limbs[0].pieces[0]
    nodes = strain_nodes(plan.model, piece.element)
    for power in range(4):
        total = sum(weight * at**power for *_, at, weight in nodes)
        exact = piece.length ** (power + 1) / (power + 1)
        assert total == pytest.approx(exact, rel=1e-12)


def test_a_limb_lies_on_the_ground() -> None:
    made = case(
        base={"limb": "camera"},
        posture="straight",
        ground={"height_mm": -100.0},
        material={"viscosity_pa_s": 3000.0},
    )
    free = case(
        base={"limb": "camera"},
        posture="straight",
        material={"viscosity_pa_s": 3000.0},
    )
    ends = [
        simulate(load_robot("ursula"), each, seconds=2.0).trace.tips[-1, 0, 2]
        for each in (made, free)
    ]
    assert ends[1] < -0.15
    assert -0.1 - 2e-3 < ends[0] - 0.01 < -0.1 + 2e-3  # a tip of 10 mm radius


def test_values_between_times() -> None:
    table = {"propeller": 1, "time_s": [1.0, 2.0], "thrust_n": [0.0, 4.0]}
    line = PropellerThrust.model_validate(table)
    step = PropellerThrust.model_validate({**table, "between": "step"})
    times = (0.0, 1.25, 2.0, 9.0)
    assert [value_at(line, "thrust_n", t)[0] for t in times] == [0.0, 1.0, 4.0, 4.0]
    assert [value_at(step, "thrust_n", t)[0] for t in times] == [0.0, 0.0, 4.0, 4.0]


def test_a_lost_state_names_body_time_and_cause_and_keeps_the_rest(
    tmp_path: Path,
) -> None:
    load = {
        "time_s": [0.0, 0.05, 0.051],
        "force_n": [[0, 0, 0], [0, 0, 0], [0, 0, 1e4]],
    }
    made = case(base={"limb": "camera"}, tip_loads=[load])
    path = tmp_path / "lost.mcap"
    done = simulate(load_robot("ursula"), made, seconds=0.2, record=path)
    assert done.fault is not None
    assert done.fault.body == "camera"
    assert 0.05 < done.fault.time_s < 0.07
    with pytest.raises(
        ModelError, match=r"at 'camera': it moves.*lost\.mcap.*--step-us"
    ):
        check_fault(done, path)
    recording = open_log(path)
    assert recording.complete
    times, _ = recording.series("/simulation", "tips")
    assert times.size == done.trace.time_s.size >= 5
    assert summary(done)["stopped"]["body"] == "camera"


def test_a_recording_tells_all_and_is_the_same_each_time(tmp_path: Path) -> None:
    paths = [tmp_path / "a.mcap", tmp_path / "b.mcap"]
    robot, made = load_robot("monopus"), case(base={"motion": "floating"})
    for path in paths:
        done = simulate(robot, made, seconds=0.05, record=path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    recording = open_log(paths[0])
    assert recording.metadata["robot"] == "monopus"
    times, tips = recording.series("/simulation", "tips")
    np.testing.assert_array_equal(times, np.arange(6) * 10_000_000)
    np.testing.assert_allclose(tips, done.trace.tips.reshape(6, 3), atol=1e-15)
    _, turn = recording.series("/simulation", "root_orientation")
    np.testing.assert_allclose(np.linalg.norm(turn, axis=1), 1.0, atol=1e-12)
    names = recording.channels()["/simulation"]
    assert names["names.tips"] == "tail x y z"
    assert "thrust [N]" in names["names.loads"]
    assert names["names.coordinates"].startswith("tail segment 1 k_y 0")
    with pytest.raises(LogError, match="is not overwritten"):
        simulate(robot, made, seconds=0.05, record=paths[0])


def test_a_mantle_drives_its_robot_forward() -> None:
    """The first pulse: Quadropus at 0.25 s, within 5 % of the converged run."""
    done = simulate(load_robot("quadropus"), load_case("quadropus-m0"), seconds=0.25)
    speed = done.trace.root_twist[-1, 3]
    assert 0.05 < speed < 0.09
    np.testing.assert_allclose(done.trace.root_twist[-1, [0, 1, 2, 4, 5]], 0, atol=1e-9)
    volume = done.trace.loads[
        :, [n for n, _ in done.trace.channels].index("mantle volume")
    ]
    assert volume[0] == pytest.approx(338.9, abs=1.0)
    assert volume[-1] < 0.85 * volume[0]


def test_a_mantle_has_no_reference_run() -> None:
    with pytest.raises(ConfigError, match="--step-us"):
        simulate(load_robot("monopus"), case(), seconds=0.01, reference=True)


def test_the_command_lists_draws_and_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert run(["simulate", "--list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in case_names())
    plot, strip = tmp_path / "a.png", tmp_path / "deep" / "b.svg"
    words = ["simulate", "monopus", "--seconds", "0.05", "--json"]
    assert (
        run([*words, "--plot", str(plot), "--strip", str(strip), "--frames", "3"]) == 0
    )
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert figures["robot"] == "monopus"
    assert figures["seconds"] == pytest.approx(0.05)
    assert math.isfinite(figures["mean_speed_m_s"])
    assert plot.read_bytes()[:4] == b"\x89PNG"
    assert plot.stat().st_size > 20_000
    assert "monopus" in strip.read_text() or strip.stat().st_size > 20_000
    assert run([*words[:4], "--quiet"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Name a robot or a --case"),
        (["ursula", "--case", "swim"], "No case called 'swim'"),
        (["ursula", "--case", "monopus", "--reference", "--step-us", "5"], "--step-us"),
        (["ursula", "--case", "snake-straight", "--quiet"], "'ursula' has none"),
    ],
)
def test_what_a_person_gets_wrong_is_a_sentence(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["simulate", *words]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_case_stands_for_its_robot() -> None:
    robot, made = prepare(None, "monopus")
    assert robot.name == made.robot == "monopus"
    robot, _ = prepare("quadropus", "poseidrone-1.26")
    assert robot.name == "quadropus"
