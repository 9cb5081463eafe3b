"""Every fact of the papers: checked against the code and the robots, or excused.

tests/data/paper_facts.json holds 215 numbers and corrections. Each has either a check
here (`@_checks`, or a row of `_PARAMETERS` that names the robot's key) or a row of
`_EXCUSED` with a reason; a fact with neither, or with two, fails.

Tolerance: that of the fact; 1e-12 m and rad where it says "exact" of a formula, and
1e-12 of the number where it is one of a table.
"""

import json
import math
import tomllib
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from app.config.robot import build_robot_model, load_robot
from models.arc import arc_pose
from models.chain import chain_frames, chain_joints
from models.chamber import (
    LIU_PRESSURE_GAIN,
    LIU_PRESSURE_OFFSET,
    build_chamber_model,
    chamber_coordinates,
    chamber_lengths,
    proximal_pressure,
    shortest_idle_length,
)
from models.conventions import emet_direction, emet_poses
from models.gait import GAITS, build_gait_model, check_gait, neutral_feet
from models.leg import build_leg_model, leg_forward
from models.leg_inverse import leg_inverse
from models.lie import adjoint, coadjoint, pose_exp, twist_adjoint
from models.opposing import (
    PairBendModel,
    PairElongationModel,
    hanging_to_base,
    pair_bend_forward,
    pair_bend_inverse,
    pair_elongation_forward,
    pair_elongation_inverse,
)
from models.snake import snake_poses
from models.snake_jacobian import snake_jacobian_in_body
from models.star import (
    mantle_profile,
    mantle_volume,
    monopus_frames,
    poseidrone_frames,
    quadropus_frames,
    star_arm_section,
)

_EXACT = 1e-12
_STARS = ("poseidrone", "quadropus", "monopus")
_FILE = Path(__file__).resolve().parents[2] / "data" / "paper_facts.json"
_FACTS = {
    fact["id"]: fact for fact in json.loads(_FILE.read_text(encoding="utf-8"))["facts"]
}
_CHECKS: list[tuple[str, object]] = []


def _numbers(paper, *parts):
    """Ids from numbers and (first, last) ranges."""
    ids = []
    for part in parts:
        first, last = part if isinstance(part, tuple) else (part, part)
        ids += [f"P00{paper}-{number:03d}" for number in range(first, last + 1)]
    return ids


def _checks(*ids):
    """Enter a function that takes the fact's value (or its row) as the check of ids."""

    def enter(function):
        _CHECKS.extend((name, function) for name in ids)
        return function

    return enter


@cache
def _robot(name):
    text = resources.files("assets").joinpath("robots", f"{name}.toml").read_text()
    return tomllib.loads(text)


def _at(name, *keys):
    item = _robot(name)
    for key in keys:
        item = item[key]
    return item


# --- parameters: fact, robots, key, factor to the fact's unit -------------------------

_ARM = ("limbs", 0)
_JOINT = ("limbs", 0, "chambers", 0)
_PARAMETERS = [
    ("P000-001", _STARS, ("material", "young_modulus_kpa"), 1e3),
    ("P000-002", _STARS, ("material", "poisson_ratio"), 1.0),
    ("P000-003", _STARS, ("material", "viscosity_pa_s"), 1.0),
    ("P000-004", _STARS, ("material", "density_kg_m3"), 1.0),
    ("P000-005", _STARS, ("hydrodynamics", "drag_tangent"), 1.0),
    ("P000-006", _STARS, ("hydrodynamics", "drag_normal"), 1.0),
    ("P000-007", _STARS, ("hydrodynamics", "drag_normal"), 1.0),
    ("P000-008", _STARS, ("hydrodynamics", "added_mass"), 1.0),
    ("P000-010", _STARS, (*_ARM, "base_diameter_mm"), 0.5e-3),
    ("P000-011", _STARS, (*_ARM, "tip_diameter_mm"), 0.5e-3),
    ("P000-012", _STARS, ("mantle", "young_modulus_kpa"), 1e3),
    ("P000-013", _STARS, ("mantle", "poisson_ratio"), 1.0),
    ("P000-014", _STARS, ("mantle", "viscosity_pa_s"), 1.0),
    ("P000-015", _STARS, ("mantle", "density_kg_m3"), 1.0),
    ("P000-016", _STARS, ("mantle", "drag"), 1.0),
    ("P000-017", _STARS, ("mantle", "added_mass"), 1.0),
    ("P000-018", _STARS, ("mantle", "flow_loss"), 1.0),
    ("P000-020", _STARS, ("mantle", "half_thickness_mm"), 1e-3),
    ("P000-021", _STARS, ("mantle", "radius_mm"), 1e-3),
    ("P000-022", _STARS, ("mantle", "outflow_area_mm2"), 1e-6),
    ("P000-023", _STARS, ("mantle", "inflow_area_mm2"), 1e-6),
    ("P000-024", _STARS, ("mantle", "active_range_mm", 0), 1e-3),
    ("P000-025", _STARS, ("mantle", "active_range_mm", 1), 1e-3),
    ("P000-026", _STARS[:1], ("hull", "dry_mass_kg"), 0.25),
    ("P000-027", _STARS, ("hull", "drag_area_m2"), 1.0),
    ("P000-029", _STARS[:1], ("hull", "length_mm"), 1e-3),
    ("P000-030", _STARS[:1], ("hull", "diameter_mm"), 1e-3),
    ("P000-031", _STARS[1:], ("hull", "dry_mass_kg"), 1.0),
    ("P000-032", _STARS[1:], ("hull", "length_mm"), 1e-3),
    ("P000-033", _STARS[1:], ("hull", "diameter_mm"), 0.5e-3),
    ("P000-034", _STARS, ("water", "density_kg_m3"), 1.0),
    ("P000-047", _STARS[1:], ("mantle", "pulse_frequency_hz"), 1.0),
    ("P001-001", ("snake",), (*_ARM, "segment_length_mm", 0), 1e-3),
    # both radii of Table 1 are taken as diameters: with them as radii a module would
    # displace nine times its mass (P001-051)
    ("P001-002", ("snake",), (*_ARM, "base_diameter_mm"), 1e-3),
    ("P001-017", ("snake",), ("hull", "diameter_mm"), 1e-3),
    ("P001-003", ("snake",), ("snake", "actuator_radius_mm"), 1e-3),
    ("P001-004", ("snake",), (*_JOINT, "distance_mm"), 1e-3),
    ("P001-005", ("snake",), ("snake", "silicone_wall_mm"), 1e-3),
    ("P001-006", ("snake",), ("snake", "fabric_layer_mm"), 1e-3),
    ("P001-007", ("snake",), ("snake", "yeoh_j_m3", 0), 1.0),
    ("P001-008", ("snake",), ("snake", "yeoh_j_m3", 1), 1.0),
    ("P001-009", ("snake",), ("snake", "yeoh_j_m3", 2), 1.0),
    ("P001-010", ("snake",), ("snake", "viscous_consistency"), 1.0),
    ("P001-011", ("snake",), ("snake", "viscous_index"), 1.0),
    ("P001-012", ("snake",), ("snake", "fabric_modulus_kpa"), 1e3),
    ("P001-013", ("snake",), ("snake", "joint_mass_kg"), 1.0),
    ("P001-014", ("snake",), ("snake", "module_mass_kg"), 1.0),
    ("P001-015", ("snake",), ("snake", "propellers", 0, "position_mm", 1), 1e-3),
    ("P001-016", ("snake",), ("hull", "length_mm"), 1e-3),
    ("P001-018", ("snake",), ("snake", "added_mass"), 1.0),
    ("P001-019", ("snake",), ("snake", "added_mass_surge"), 1.0),
    ("P001-020", ("snake",), ("snake", "drag"), 1.0),
    ("P001-021", ("snake",), ("snake", "drag_surge"), 1.0),
    ("P001-022", ("snake",), ("snake", "drag_roll"), 1.0),
    ("P001-023", ("snake",), ("water", "density_kg_m3"), 1.0),
    ("P001-024", ("snake",), ("water", "gravity_m_s2"), 1.0),
    ("P002-002", ("ursula",), (*_ARM, "base_diameter_mm"), 1e-3),
    ("P002-003", ("ursula",), (*_ARM, "tip_diameter_mm"), 1e-3),
    ("P002-004", ("ursula",), ("material", "density_kg_m3"), 1.0),
    ("P002-005", ("ursula",), ("material", "young_modulus_kpa"), 1e3),
    ("P002-006", ("ursula",), ("material", "tensile_strength_mpa"), 1e6),
    ("P002-007", ("ursula",), ("material", "poisson_ratio"), 1.0),
    ("P002-008", ("ursula",), ("tendons", "per_segment"), 1.0),
    ("P002-009", ("ursula",), ("hull", "dry_mass_kg"), 1.0),
    ("P002-010", ("ursula",), ("hull", "length_mm"), 1e-3),
    ("P002-011", ("ursula",), ("hull", "diameter_mm"), 1e-3),
    ("P002-012", ("ursula",), ("chain", "sections"), 1.0),
    ("P003-009", ("silver2",), (*_ARM, "base_diameter_mm"), 1e-3),
    ("P003-017", ("silver2",), ("limits", "tip_speed_mm_s"), 1e-3),
]


@pytest.mark.parametrize("row", _PARAMETERS, ids=[row[0] for row in _PARAMETERS])
def test_parameter_is_the_robots(row):
    name, robots, keys, factor = row
    for robot in robots:
        value = factor * _at(robot, *keys)
        assert value == pytest.approx(_FACTS[name]["value"], rel=_EXACT, abs=0.0)


# --- what is not checked, and why -----------------------------------------------------

_EXCUSED = [
    (_numbers(0, 28), "dynamics: issue 4; added mass of the root, printed as 0"),
    (_numbers(0, 42), "reported error of an experiment whose speeds are in no text"),
    (_numbers(0, 43), "grid of the published scheme, which is not used here"),
    (
        _numbers(0, (44, 46), (66, 71)),
        "dynamics: issue 4; speed, efficiency, power, force or turning of a swimmer",
    ),
    (
        _numbers(0, 48),
        "dynamics: issue 4; hoop load of the shell, which has no model of motion yet",
    ),
    (_numbers(0, 50), "dynamics: issue 4; time course of the loads of one run"),
    (
        _numbers(0, 51),
        "motor current to cable tension of one experiment; no motor here",
    ),
    (
        _numbers(0, 55, 56),
        "dynamics: issue 4; constitutive law and inertia of the shell",
    ),
    (
        _numbers(0, (58, 65)),
        "dynamics: issue 4; loads, inertia or integrator of eq. 23",
    ),
    (_numbers(1, (31, 35), 37), "dynamics: issue 4; energy, mass, damping or weight"),
    (_numbers(1, 36), "dynamics: issue 4; C of eq. 33 needs M; dJ/dt is in test_snake"),
    (_numbers(1, 38, 39), "dynamics: issue 4; added mass by strip theory"),
    (_numbers(1, (40, 48)), "material of the actuators: issue 4; Yeoh and power law"),
    (_numbers(2, 16, 17), "rates of loop and window, not of the limb; scripts/bench"),
    (_numbers(2, 31), "statics: issue 4; sag under weight is a load case of the rod"),
    (_numbers(3, 10, 11), "weight: issue 4; the two printed masses exclude each other"),
    (_numbers(3, 12), "energy of the battery, no part of any model"),
    (
        [*_numbers(3, 13), *_numbers(4, 4)],
        "size of a sampled workspace: the command `limblink workspace` and its tests",
    ),
    (_numbers(3, 14), "workspace of an earlier arm, which is none of the robots"),
    (_numbers(3, 15), "computing time on the authors' machine: scripts/bench"),
    (_numbers(3, 18), "speeds of the legs in one pull test, no limit of the legs"),
    (
        _numbers(3, (20, 29), (31, 33)),
        "reported outcome: force, power, energy or error of an experiment",
    ),
    (
        _numbers(3, 30),
        "reported outcome: height in one test, 20 to 37 cm, legs unstated",
    ),
    (_numbers(4, 5, 18, 25), "reported outcome: error or success in an experiment"),
    (_numbers(4, (19, 24)), "reported outcome: reaction of a moved arm; issue 4"),
]


# --- Renda 2018 -----------------------------------------------------------------------


def _star_frames(name):
    return {
        "poseidrone": poseidrone_frames,
        "quadropus": quadropus_frames,
        "monopus": monopus_frames,
    }[name]()


def _agrees_with_toml(name, tolerance=_EXACT):
    """Arms and mantle of models/star are those that the TOML puts on the hull."""
    frames = _star_frames(name)
    arms = build_robot_model(load_robot(name)).pose_base_to_hull
    assert np.allclose(arms[:, :3, 3], frames.arm_to_root[:, :3, 3], atol=_EXACT)
    for arm, frame in _pairs(arms, frames.arm_to_root):
        assert np.allclose(arm, frame, rtol=0, atol=tolerance)
    mantle = frames.mantle_to_root
    position = np.array(_at(name, "mantle", "position_mm")) * 1e-3
    assert np.allclose(position, mantle[:3, 3], atol=_EXACT)
    assert np.allclose(_at(name, "mantle", "direction"), mantle[:3, 2], atol=_EXACT)


def _pairs(arms, frames):
    """Arms of the TOML with the frames at the same place: their order is free."""
    for arm in arms:
        gap = np.linalg.norm(frames[:, :3, 3] - arm[:3, 3], axis=1)
        yield arm, frames[int(gap.argmin())]


@_checks("P000-009")
def _arm_length(value):
    for name in _STARS:
        for limb in _at(name, "limbs"):
            assert sum(limb["segment_length_mm"]) * 1e-3 == pytest.approx(value)


@_checks("P000-019")
def _mantle_length(value):
    for name in _STARS:
        mantle = _at(name, "mantle")
        dome = mantle["radius_mm"] * math.radians(90.0 - mantle["cut_angle_deg"])
        # 118.35 mm, printed without decimals
        assert round(dome + mantle["cylinder_length_mm"]) == round(1e3 * value)


@_checks("P000-035", "P000-036")
def _poseidrone_arm(value):
    first = poseidrone_frames().dummy_arm_to_root[0]
    if np.ndim(value) == 2:
        assert np.allclose(first[:3, :3], value, rtol=0, atol=0.01)
        printed = np.array(value) * [[1, 1, -1], [1, 1, 1], [1, 1, 1]]
        assert printed[:, 0] @ printed[:, 2] == pytest.approx(0.0891, abs=1e-4)
        assert np.linalg.det(printed) == pytest.approx(0.984, abs=1e-3)
    else:
        assert np.allclose(first[:3, 3], value, rtol=0, atol=_EXACT)
    _agrees_with_toml("poseidrone", 0.01)


@_checks("P000-037")
def _poseidrone_mantle(value):
    assert np.array_equal(poseidrone_frames().mantle_to_root[:3], value)


@_checks("P000-038")
def _poseidrone_bar(value):
    bar = poseidrone_frames().part_to_root[0, :3]
    assert np.allclose(bar[:, :3], np.array(value)[:, :3], rtol=0, atol=0.01)
    assert np.allclose(bar[:, 3], np.array(value)[:, 3], rtol=0, atol=_EXACT)
    assert np.linalg.norm(bar[:, 3]) == pytest.approx(0.141 / 2, abs=5e-4)


@_checks("P000-039")
def _monopus_arm(value):
    assert np.allclose(monopus_frames().dummy_arm_to_root[0, :3, 3], value, atol=_EXACT)
    _agrees_with_toml("monopus")


@_checks("P000-040")
def _quadropus_arm(value):
    frames = quadropus_frames()
    assert np.allclose(frames.dummy_arm_to_root[0, :3, 3], value, rtol=0, atol=_EXACT)
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    for before, after in zip(
        frames.dummy_arm_to_root, frames.dummy_arm_to_root[1:], strict=False
    ):
        assert np.allclose(turn @ before[:3], after[:3], rtol=0, atol=_EXACT)
    _agrees_with_toml("quadropus")


@_checks("P000-041")
def _first_section(value):
    """Limb axes (x, y, z) are the section's (normal, binormal, tangent)."""
    for name in _STARS:
        frames = _star_frames(name)
        section = frames.dummy_arm_to_root[:, :3, :3] @ np.array(value)
        limb = frames.arm_to_root[:, :3, :3]
        assert np.allclose(limb, section[..., [1, 2, 0]], rtol=0, atol=_EXACT)
    tangent, normal, binormal = (
        quadropus_frames().dummy_arm_to_root[0, :3, :3] @ np.array(value)
    ).T
    assert np.allclose(tangent, [-1.0, 0.0, 0.0], atol=_EXACT)
    assert np.allclose(normal, [0.0, 0.0, 1.0], atol=_EXACT)
    assert np.allclose(binormal, [0.0, 1.0, 0.0], atol=_EXACT)


@_checks("P000-049")
def _arm_moments(value):
    """A moment -m about the section's z opens the arms; +m of eq. 25 closes them."""
    for name in _STARS[1:]:
        for limb in _at(name, "limbs"):
            assert limb["moment_limit_mn_m"] * 1e-3 == pytest.approx(max(value))
    pose = np.empty((4, 4))
    for arm in quadropus_frames().arm_to_root:
        off_axis = []
        for moment in (-1.0, 1.0):
            star_arm_section(0.245, np.array([0.3 * moment, 0.0, 0.0]), arm, 1.0, pose)
            off_axis.append(arm[1:3, 3] @ pose[1:3, 3] / 0.01)
        assert off_axis[0] > 0.01 > off_axis[1]


@_checks("P000-052")
def _mantle_volume(value):
    for name in _STARS:
        mantle = _at(name, "mantle")
        radius = mantle["radius_mm"] * 1e-3
        cap = math.radians(mantle["cut_angle_deg"])
        dome = radius * (0.5 * np.pi - cap)
        abscissa = np.linspace(0.0, dome, 2001)
        abscissa = np.append(abscissa, dome + mantle["cylinder_length_mm"] * 1e-3)
        volume = mantle_volume(mantle_profile(abscissa, radius, cap))
        assert volume == pytest.approx(value, rel=1e-6)


@_checks("P000-053")
def _mantle_integral(value):
    """U = ∫ π r² dX on the published grid of 20 + 78 steps."""
    step = 0.031 * np.pi / 4 / 20
    radius = mantle_profile(step * np.arange(99), 0.031, np.pi / 4)[:, 0]
    square = radius * radius
    integral = np.pi * step * (square.sum() - 0.5 * (square[0] + square[-1]))
    assert integral == pytest.approx(value, rel=1e-5)


@_checks("P000-054")
def _compatibility(_):
    """Take g = exp(X a) exp(t b): ξ = Ad of exp(-t b) times a, and η = b everywhere."""
    a, b = np.array([[0.3, -0.5, 0.9, 1.1, 0.2, -0.4], [1.0, 0.7, -0.6, 0.1, 0.5, 2.0]])
    strain = []
    pose, matrix = np.empty((4, 4)), np.empty((6, 6))
    for time in (-1e-5, 0.0, 1e-5):
        pose_exp(-time * b, pose)
        adjoint(pose, matrix)
        strain.append(matrix @ a)
    rate = (strain[2] - strain[0]) / 2e-5
    twist_adjoint(strain[1], matrix)
    assert np.allclose(rate, matrix @ b, rtol=0, atol=1e-8)
    assert np.abs(rate - matrix.T @ b).max() > 1.0


@_checks("P000-057")
def _root_inertia(_):
    """M_r = Ad⁻ᵀ M Ad⁻¹ keeps the kinetic energy; the printed Ad M Ad⁻¹ does not."""
    part = np.diag([2e-4, 2e-4, 1e-6, 0.051, 0.051, 0.051])
    there, wrench = np.empty((6, 6)), np.empty((6, 6))
    pose = poseidrone_frames().part_to_root[1]
    adjoint(pose, there)
    coadjoint(pose, wrench)
    root = wrench @ part @ np.linalg.inv(there)
    twist = np.array([0.3, -0.5, 0.9, 0.11, 0.2, -0.4])
    in_part = np.linalg.solve(there, twist)
    assert twist @ root @ twist == pytest.approx(in_part @ part @ in_part, rel=1e-12)
    printed = there.T @ part @ np.linalg.inv(there)
    assert np.allclose(root, root.T, rtol=0, atol=1e-15)
    assert np.abs(printed - printed.T).max() > 1e-3


# --- Zhang 2022 -----------------------------------------------------------------------


def _zhang_arrays():
    limb = _at("snake", "limbs", 0)
    return np.array(limb["gap_mm"]) * 1e-3, np.array(limb["segment_length_mm"]) * 1e-3


def _zhang_poses(coordinates):
    modules, joints = _zhang_arrays()
    poses = np.empty((2 * len(joints) + 2, 4, 4))
    snake_poses(modules, joints, coordinates, np.eye(4), poses)
    return poses


def _zhang_jacobian(coordinates, body, fraction, base=None):
    modules, joints = _zhang_arrays()
    poses = np.empty((2 * len(joints) + 2, 4, 4))
    base = np.eye(4) if base is None else base
    snake_poses(modules, joints, coordinates, base, poses)
    pose, jacobian = np.empty((4, 4)), np.empty((6, 6 + 3 * len(joints)))
    snake_jacobian_in_body(
        *(modules, joints, coordinates, poses, body, fraction, np.zeros(3)),
        *(pose, jacobian),
    )
    return pose, jacobian


_BENT = np.array([[0.6, -0.9, 0.01], [-0.3, 1.1, 0.02]])


@_checks("P001-025")
def _snake_length(value):
    head = _zhang_poses(np.zeros((2, 3)))[-1]
    assert np.allclose(head[:3, 3], [value, 0.0, 0.0], rtol=0, atol=_EXACT)
    assert len(_zhang_arrays()[0]) == 3
    assert len(_at("snake", "snake", "propellers")) == 6
    chambers = _at("snake", "limbs", 0, "chambers")
    assert sum(len(joint["azimuth_deg"]) for joint in chambers) == 6


@_checks("P001-026")
def _zhang_lengths(value):
    joint = _at("snake", *_JOINT)
    model = build_chamber_model(
        np.radians(joint["azimuth_deg"]), joint["distance_mm"] * 1e-3, 0.2, 0.26
    )
    length = np.array([0.210, 0.200, 0.205])
    coordinates, back = np.empty(3), np.empty(3)
    assert chamber_coordinates(model, length, coordinates) < _EXACT
    bend = np.hypot(*coordinates[:2])
    assert 0.2 + coordinates[2] == pytest.approx(value["L"], abs=_EXACT)
    assert bend == pytest.approx(value["theta"], abs=_EXACT)
    direction = math.atan2(coordinates[1], coordinates[0])
    assert direction == pytest.approx(value["phi"], abs=_EXACT)
    chamber_lengths(model, coordinates, back)
    assert np.allclose(back, length, rtol=0, atol=_EXACT)


@_checks("P001-027", "P004-007")
def _arc_of_zhang_and_gong(_):
    """R = Rz(φ) Ry(θ) Rz(-φ) and p; the snake's axes are those renamed (z, x, y)."""
    generator = np.random.default_rng(27)
    for _ in range(200):
        theta, phi = generator.uniform(0.01, 3.0), generator.uniform(-np.pi, np.pi)
        length = generator.uniform(0.05, 0.5)
        c, s, cp, sp = np.cos(theta), np.sin(theta), np.cos(phi), np.sin(phi)
        turn = np.array([[cp, -sp, 0], [sp, cp, 0], [0, 0, 1]])
        rotation = turn @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]) @ turn.T
        position = length / theta * np.array([cp * (1 - c), sp * (1 - c), s])
        pose = np.empty((4, 4))
        arc_pose(theta * cp, theta * sp, length, pose)
        assert np.allclose(pose[:3, :3], rotation, rtol=0, atol=3e-15)
        assert np.allclose(pose[:3, 3], position, rtol=0, atol=3e-15)
        assert rotation[1, 1] == pytest.approx(cp * cp * (1 - c) + c, abs=3e-15)
    poses = np.empty((4, 4, 4))
    coordinates = np.array([[theta * cp, theta * sp, 0.0]])
    snake_poses(np.array([0.0, 0.0]), np.array([length]), coordinates, np.eye(4), poses)
    order = [2, 0, 1]
    expected = rotation[np.ix_(order, order)]
    assert np.allclose(poses[-1, :3, :3], expected, rtol=0, atol=3e-15)
    assert np.allclose(poses[-1, :3, 3], position[order], rtol=0, atol=3e-15)


@_checks("P001-028")
def _module_does_not_turn(_):
    poses = _zhang_poses(_BENT)
    for module in range(3):
        tail, head = poses[2 * module], poses[2 * module + 1]
        across = np.linalg.inv(tail) @ head
        assert np.allclose(across[:3, :3], np.eye(3), rtol=0, atol=_EXACT)


@_checks("P001-029")
def _body_twist_is_on_the_right(_):
    base, moved = np.empty((4, 4)), np.empty((4, 4))
    pose_exp(np.array([0.4, -0.2, 0.9, 0.5, 1.0, -0.3]), base)
    _, jacobian = _zhang_jacobian(_BENT, 0, 0.0, base)
    assert np.allclose(jacobian[:, :6], np.eye(6), rtol=0, atol=_EXACT)
    twist = np.array([0.3, 0.7, -0.5, 0.2, -1.0, 0.4])
    hat = np.zeros((4, 4))
    hat[0, 1:3], hat[1, 2] = (-twist[2], twist[1]), -twist[0]
    hat[:3, :3] -= hat[:3, :3].T
    hat[:3, 3] = twist[3:]
    slope = np.zeros((4, 4))
    for side in (-1e-5, 1e-5):
        pose_exp(side * twist, moved)
        pose, _ = _zhang_jacobian(_BENT, 0, 0.0, base @ moved)
        slope += pose * np.sign(side) / 2e-5
    assert np.allclose(slope, base @ hat, rtol=0, atol=1e-8)
    assert np.abs(slope - hat @ base).max() > 0.1


@_checks("P001-030")
def _joint_columns(_):
    poses = _zhang_poses(_BENT)
    _, whole = _zhang_jacobian(_BENT, 4, 1.0)
    _, joint = _zhang_jacobian(_BENT, 1, 1.0)
    error = []
    for frame in (poses[2], poses[1]):
        matrix = np.empty((6, 6))
        adjoint(np.linalg.inv(poses[-1]) @ frame, matrix)
        error.append(np.abs(matrix @ joint[:, 6:9] - whole[:, 6:9]).max())
    assert error[0] < _EXACT
    assert error[1] > 0.05


@_checks("P001-049", "P001-050")
def _joint_mass(row):
    """Eqs 16 and 17: slices of a straight joint, moved by its Jacobian."""
    mass, radius = _FACTS["P001-013"]["value"], _FACTS["P001-002"]["value"]
    inertia = np.array([0.5, 0.25, 0.25]) * radius**2
    slice_mass = mass * np.diag([*inertia, 1.0, 1.0, 1.0])
    total = np.zeros((3, 3))
    node, weight = np.polynomial.legendre.leggauss(5)
    for at, share in zip(0.5 * (node + 1.0), 0.5 * weight, strict=True):
        _, jacobian = _zhang_jacobian(np.zeros((2, 3)), 1, at)
        total += share * jacobian[:, 6:9].T @ slice_mass @ jacobian[:, 6:9]
    expected = [_FACTS["P001-050"]["value"]] * 2 + [_FACTS["P001-049"]["value"]]
    assert np.allclose(total, np.diag(expected), rtol=0, atol=1e-9)
    assert row in expected


@_checks("P001-051")
def _snake_volume(value):
    length, size = _at("snake", "hull", "length_mm") * 1e-3, 0.09
    volume = 1000.0 * np.pi * length * np.array([size, 0.5 * size]) ** 2
    assert volume == pytest.approx([value["disp_R09"], value["disp_R045"]], abs=1e-4)
    # the robot's volume is set by its mass, as the text says, and not by its size
    assert _at("snake", "snake", "module_volume_l") == pytest.approx(value["m_R"])


@_checks("P001-052")
def _control_sets(value):
    """Directions only: thrust without a moment, and bends in the named plane."""
    propellers = _at("snake", "snake", "propellers")
    for name, sign in (("straight", 1.0), ("reverse", -1.0)):
        force, moment = np.zeros(3), np.zeros(3)
        for share, propeller in zip(_control(value[name]), propellers, strict=True):
            thrust = share * np.array(propeller["direction"])
            position = np.array(propeller["position_mm"]) * 1e-3
            position[0] += 0.4 * propeller["module"]
            force += thrust
            moment += np.cross(position, thrust)
        assert np.allclose(force, [4.0 * sign, 0.0, 0.0], atol=_EXACT)
        assert np.allclose(moment, 0.0, atol=_EXACT)
    bend = {name: _bend(_control(text)) for name, text in value.items()}
    for name in ("yaw1", "yaw2"):
        assert np.allclose(_zhang_poses(bend[name])[:, 2, 3], 0.0, atol=_EXACT)
    turn = [np.abs(bend[name][:, 0]) for name in ("yaw1", "yaw2")]
    assert np.all(turn[0] > turn[1])  # smaller u, larger radius
    assert np.any(np.abs(_zhang_poses(bend["pitch1"])[:, 2, 3]) > 1e-3)
    spiral = _zhang_poses(bend["spiral"])
    assert np.abs(spiral[-1, 1:3, 3]).min() > 1e-3


def _control(text):
    sign = -1.0 if "=-" in text else 1.0
    return sign * np.array([float(item) for item in text.split("[")[1][:-1].split(",")])


def _bend(control):
    """Joint coordinates for lengths that grow by 0.1 m a unit of u_J."""
    coordinates = np.zeros((2, 3))
    if len(control) == 6:
        model = build_chamber_model(np.radians([0.0, 120.0, 240.0]), 0.024, 0.2, 0.26)
        for joint in range(2):
            length = 0.2 + 0.1 * control[3 * joint : 3 * joint + 3]
            chamber_coordinates(model, length, coordinates[joint])
    return coordinates


# --- Emet 2023 ------------------------------------------------------------------------


def _arc_mm(theta, phi, length=600.0):
    pose = np.empty((4, 4))
    turn = math.radians(theta)
    cosine, sine = math.cos(math.radians(phi)), math.sin(math.radians(phi))
    arc_pose(turn * cosine, turn * sine, length, pose)
    return pose


@_checks("P002-001", "P002-013", "P002-014")
def _ursula_lengths(value):
    model = build_robot_model(load_robot("ursula"))
    start = model.limb_segment_start
    for limb in range(start.size - 1):
        rows = slice(start[limb], start[limb + 1])
        length = model.segment_length[rows]
        if np.ndim(value) == 0:
            assert length.sum() == pytest.approx(value, abs=_EXACT)
        elif (length.size == 1) == (value[1] == 0.6):
            allowed = length[:, None] + model.extension_range[rows]
            assert np.allclose(allowed, value, rtol=0, atol=_EXACT)


@_checks("P002-015")
def _ursula_bends(value):
    model = build_robot_model(load_robot("ursula"))
    sections = _at("ursula", "chain", "sections")
    joints = np.empty((sections, 3))
    for limit in model.bend_limit:
        chain_joints(limit, 0.0, 0.3, sections, joints)
        assert np.allclose(np.degrees(joints[1:, 1]), value[1], rtol=0, atol=_EXACT)


@_checks("P002-018")
def _ursula_mass(value):
    model = build_robot_model(load_robot("ursula"))
    for limb in range(model.limb_segment_start.size - 1):
        rows = slice(model.limb_segment_start[limb], model.limb_segment_start[limb + 1])
        first, last = model.segment_radius[rows].T
        square = first * first + first * last + last * last
        volume = float(np.sum(np.pi / 3.0 * model.segment_length[rows] * square))
        density = float(model.density[rows][0])
        net = (density - 1000.0) * volume * _at("ursula", "water", "gravity_m_s2")
        assert [volume, density * volume, net] == pytest.approx(value, rel=1e-9)


@_checks("P002-019")
def _ursula_stiffness(value):
    model = build_robot_model(load_robot("ursula"))
    ends = [model.segment_radius[0, 0], model.segment_radius[1, 1]]
    stiffness = model.young_modulus[0] * np.pi / 4.0 * np.array(ends) ** 4
    assert stiffness == pytest.approx(value, rel=1e-4)


@_checks("P002-020")
def _chain_on_arc(_):
    generator = np.random.default_rng(20)
    for _ in range(1000):
        sections = int(generator.integers(2, 30))
        delta = generator.uniform(-1.7, 1.7, size=2)
        chain, point = np.empty((sections + 1, 4, 4)), np.empty((4, 4))
        chain_frames(*delta, 0.6, sections, chain)
        for k in range(1, sections + 1):
            part = k / sections
            arc_pose(part * delta[0], part * delta[1], 0.6 * part, point)
            # 1e-10 mm of the fact, which was in double precision too
            assert np.allclose(chain[k, :3, 3], point[:3, 3], rtol=0, atol=1e-13)


@_checks("P002-021")
def _closing_half_angle(_):
    joints, frames = np.empty((10, 3)), np.empty((11, 4, 4))
    chain_frames(np.pi / 2, 0.0, 0.6, 10, frames)
    chain_joints(np.pi / 2, 0.0, 0.6, 10, joints)
    assert np.allclose(frames[10], _metres(_arc_mm(90.0, 0.0)), rtol=0, atol=_EXACT)
    short = np.pi / 2 - joints[:, 1].sum()
    assert math.degrees(short) == pytest.approx(4.5, abs=_EXACT)
    assert short == pytest.approx(joints[0, 1], abs=_EXACT)


def _metres(pose_mm):
    pose = pose_mm.copy()
    pose[:3, 3] *= 1e-3
    return pose


@_checks("P002-022", "P002-023", "P002-030")
def _example_of_the_chain(value):
    """Sec. 4.1: bends of 4.5 and 9 degrees are an arc of 90; its chord is not 60 mm."""
    joints = np.empty((10, 3))
    phi = math.radians(30.0)
    theta = math.pi / 2
    chain_joints(theta * math.cos(phi), theta * math.sin(phi), 600.0, 10, joints)
    if isinstance(value, dict):
        assert value["implies_total_arc_deg"] == 90
        printed = np.array(value["zeta"])[[0, 1, 3, 4, 6, 7]]  # without the slides
        found = np.degrees(joints[:3, :2].ravel())
        assert np.allclose(found, printed, rtol=0, atol=_EXACT)
        tip = _arc_mm(90.0, 30.0)[:3, 3]
        polar = math.degrees(math.atan2(math.hypot(*tip[:2]), tip[2]))
        assert polar == pytest.approx(value["printed_theta_deg"], abs=_EXACT)
    elif isinstance(value, float):
        assert np.allclose(joints[:, 2], value, rtol=0, atol=1e-9)
        tip = np.linalg.norm(_arc_mm(90.0, 30.0)[:3, 3])
        assert (60.0 / value - 1.0) * tip == pytest.approx(0.5558, abs=1e-4)
    else:
        radius = 600.0 / theta
        chord = 2.0 * radius * math.sin(theta / 20.0)
        assert value == "chord"
        assert np.allclose(joints[:, 2], chord, rtol=0, atol=1e-12)
        assert np.all(joints[:, 2] < 600.0 / 10)


@_checks("P002-024", "P002-025", "P002-026")
def _tips_of_arcs(value):
    arcs = [(90.0, 30.0, 1e-7), (45.0, 30.0, 1e-7), (90.0, -5.0, 1e-4)]
    hits = [
        np.allclose(_arc_mm(theta, phi)[:3, 3], value, rtol=0, atol=tolerance)
        for theta, phi, tolerance in arcs
    ]
    facts = [_FACTS[name]["value"] for name in _numbers(2, (24, 26))]
    assert hits == [value == fact for fact in facts]


@_checks("P002-027")
def _first_joint_whole(value):
    frames = np.empty((11, 4, 4))
    chain_frames(math.pi / 2, 0.0, 600.0, 10, frames)
    half = math.radians(4.5)
    turn = np.array(
        [
            [math.cos(half), 0.0, math.sin(half)],
            [0.0, 1.0, 0.0],
            [-math.sin(half), 0.0, math.cos(half)],
        ]
    )
    tip = frames[10, :3, 3]
    assert np.linalg.norm(turn @ tip - tip) == pytest.approx(value, abs=1e-3)


@_checks("P002-028")
def _identity_of_eq_11(_):
    tilt = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    for angle in np.linspace(-3.0, 3.0, 13):
        c, s = np.cos(angle), np.sin(angle)
        about_z = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        pose = np.empty((4, 4))
        arc_pose(angle, 0.0, 1.0, pose)
        assert np.allclose(tilt @ about_z @ tilt.T, pose[:3, :3], rtol=0, atol=1e-15)


@_checks("P002-029")
def _convention_of_eq_20(_):
    theta, phi = np.array([0.7, 1.2]), np.array([0.5, -1.9])
    printed = emet_direction(phi)
    assert printed == pytest.approx([phi[0], phi[1] - phi[0]], abs=1e-15)
    emet = emet_poses(theta, printed, np.full(2, 0.3))
    free = np.eye(4)
    for k in range(2):
        pose = np.empty((4, 4))
        arc_pose(theta[k] * np.cos(phi[k]), theta[k] * np.sin(phi[k]), 0.3, pose)
        free = free @ pose
        c, s = np.cos(phi[k]), np.sin(phi[k])
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        assert np.allclose(emet[k + 1, :3, 3], free[:3, 3], rtol=0, atol=1e-15)
        turned = free[:3, :3] @ turn
        assert np.allclose(emet[k + 1, :3, :3], turned, rtol=0, atol=1e-15)


# --- Liu 2020 -------------------------------------------------------------------------

_LIU_AZIMUTH = np.radians([90.0, 210.0, 330.0])


def _leg(links):
    ranges = [[-np.pi, np.pi], [-np.pi, np.pi], [0.0, np.pi]]
    return build_leg_model(links, ranges, np.eye(4)[None])


@_checks("P003-001", "P003-002")
def _leg_both_ways(_):
    generator = np.random.default_rng(1)
    worst = 0.0
    for _ in range(500):
        l0, l1, l2, l3 = generator.uniform(0.05, 0.3, size=4)
        joint = generator.uniform([-1.2, -0.5, 0.2], [1.2, 0.9, 2.6])
        q1, q2, q3 = joint
        rho = l0 + l2 * np.cos(q2) + l3 * np.cos(q2 - q3)
        if rho < 0.02:
            continue
        model = _leg([l0, l1, l2, l3])
        foot, back, reached = np.empty(3), np.empty(3), np.empty(3)
        leg_forward(model, 0, joint, foot)
        z = l2 * np.sin(q2) + l3 * np.sin(q2 - q3)
        right = [
            rho * np.cos(q1) - l1 * np.sin(q1),
            rho * np.sin(q1) + l1 * np.cos(q1),
            z,
        ]
        assert np.allclose(foot, right, rtol=0, atol=_EXACT)
        assert leg_inverse(model, 0, foot, back, reached) == 0
        assert np.allclose(reached, foot, rtol=0, atol=_EXACT)
        assert np.allclose(back, joint, rtol=0, atol=1e-9)
        # eq. 1b as printed; its arc cosines lose half the digits at a straight leg
        flat = np.hypot(foot[0], foot[1])
        gamma = np.arctan2(l1, np.sqrt(flat * flat - l1 * l1))
        r = flat * np.cos(gamma) - l0
        m = np.hypot(r, z)
        lift = np.arccos((l2**2 + m * m - l3**2) / (2.0 * l2 * m)) + np.arctan2(z, r)
        fold = np.pi - np.arccos((l2**2 - m * m + l3**2) / (2.0 * l2 * l3))
        turn = np.arctan2(foot[1], foot[0]) - gamma
        assert np.allclose([turn, lift, fold], back, rtol=0, atol=1e-9)
        printed = np.array([(rho - l1) * np.cos(q1), (rho - l1) * np.sin(q1), z])
        worst = max(worst, np.linalg.norm(printed - foot) / l1)
    assert worst == pytest.approx(math.sqrt(2.0), abs=0.01)


@_checks("P003-003", "P004-006")
def _chambers_both_ways(_):
    """l = θ (r - d cos(φ - β)); back by the printed θ and φ, and by the model."""
    generator = np.random.default_rng(3)
    d = 0.017
    model = build_chamber_model(_LIU_AZIMUTH, d, 0.1, 0.2)
    for _ in range(500):
        theta, phi = generator.uniform(0.02, 2.0), generator.uniform(-np.pi, np.pi)
        radius = generator.uniform(0.08, 0.3) / theta
        length = theta * (radius - d * np.cos(phi - _LIU_AZIMUTH))
        coordinates, back = np.empty(3), np.empty(3)
        assert chamber_coordinates(model, length, coordinates) < _EXACT
        delta = theta * np.array([np.cos(phi), np.sin(phi)])
        assert np.allclose(coordinates[:2], delta, rtol=0, atol=_EXACT)
        assert 0.1 + coordinates[2] == pytest.approx(theta * radius, abs=_EXACT)
        chamber_lengths(model, coordinates, back)
        assert np.allclose(back, length, rtol=0, atol=_EXACT)
        l1, l2, l3 = length
        root = l1**2 + l2**2 + l3**2 - l1 * l2 - l1 * l3 - l2 * l3
        printed = 2.0 * np.sqrt(root) / (3.0 * d)
        # the root of a difference of squares loses digits: 1e-16 l² / (d² θ)
        assert printed == pytest.approx(theta, abs=1e-12)
        curvature = 2.0 * np.sqrt(root) / ((l1 + l2 + l3) * d)
        assert curvature * length.mean() == pytest.approx(printed, rel=1e-12)
        direction = np.arctan2(l2 + l3 - 2.0 * l1, np.sqrt(3.0) * (l2 - l3))
        assert np.sin(direction - phi) == pytest.approx(0.0, abs=1e-11)


@_checks("P003-004")
def _idle_chamber(_):
    model = build_chamber_model(_LIU_AZIMUTH, 0.024, 0.1, 0.2)
    length = np.empty(3)
    for degrees in np.arange(0.5, 360.0, 1.0):
        phi = math.radians(degrees)
        theta = 0.8
        delta = theta * math.cos(phi), theta * math.sin(phi)
        arc = shortest_idle_length(model, *delta)
        chamber_lengths(model, np.array([*delta, arc - model.rest_length]), length)
        sector = 0 if 30 <= degrees < 150 else 1 if 150 <= degrees < 270 else 2
        assert int(length.argmin()) == sector
        assert length.min() == pytest.approx(0.1, abs=_EXACT)
        radius = 0.1 / theta + 0.024 * math.cos(phi - _LIU_AZIMUTH[sector])
        assert arc / theta == pytest.approx(radius, abs=_EXACT)
    assert shortest_idle_length(model, 0.0, 0.0) == pytest.approx(0.1, abs=1e-15)


@_checks("P003-005", "P004-008")
def _opposed_pair_only_moves(_):
    generator = np.random.default_rng(5)
    model = PairElongationModel(
        build_chamber_model(_LIU_AZIMUTH, 0.017, 0.1, 0.3), 0.09, 0.08, 0.12
    )
    for _ in range(200):
        x, y = generator.uniform(-1.5, 1.5, size=2)
        length, end = generator.uniform(0.1, 0.2), generator.uniform(0.08, 0.12)
        first, second, tip = np.empty((4, 4)), np.empty((4, 4)), np.empty(3)
        arc_pose(x, y, length, first)
        arc_pose(-x, -y, length, second)
        pair = first @ second
        assert np.allclose(pair[:3, :3], np.eye(3), rtol=0, atol=_EXACT)
        assert np.allclose(pair[:3, 3], 2.0 * first[:3, 3], rtol=0, atol=_EXACT)
        bend = np.array([x, y, length - 0.1])
        rows = np.stack([bend, bend * [-1, -1, 1], [0.0, 0.0, end - 0.09]])
        pair_elongation_forward(model, rows, tip)
        expected = 2.0 * first[:3, 3] + [0.0, 0.0, end]
        assert np.allclose(tip, expected, rtol=0, atol=_EXACT)


@_checks("P003-006")
def _liu_closed_form(_):
    generator = np.random.default_rng(6)
    chambers = build_chamber_model(_LIU_AZIMUTH, 0.024, 0.1, 0.5)
    model = PairBendModel(chambers, chambers)
    rows, length, tip = np.empty((3, 3)), np.empty(6), np.empty(5)
    for _ in range(3000):
        bend = generator.uniform(-1.2, 1.2, size=2)
        arc = shortest_idle_length(chambers, *bend) + generator.uniform(0.0, 0.1)
        end = generator.uniform(-1.2, 1.2, size=2)
        last = shortest_idle_length(chambers, *end)
        pair = np.array([*bend, arc - 0.1])
        wanted = np.stack([pair, pair * [-1, -1, 1], [*end, last - 0.1]])
        pair_bend_forward(model, wanted, tip)
        assert pair_bend_inverse(model, tip, rows, length) == 0
        assert np.allclose(rows, wanted, rtol=0, atol=1e-11)
        x, y, z = _arc_point(rows[0], 0.1)
        rho = math.hypot(x, y)
        theta = np.hypot(*rows[0, :2])
        assert theta == pytest.approx(2.0 * math.atan2(rho, z), abs=_EXACT)
        curve = (0.1 + rows[0, 2]) / theta
        assert curve == pytest.approx((rho * rho + z * z) / (2.0 * rho), rel=1e-9)
    straight = np.array([0.0, 0.0, 0.35, 0.0, 0.0])
    assert pair_bend_inverse(model, straight, rows, length) == 0
    assert length == pytest.approx([0.125] * 3 + [0.1] * 3, abs=_EXACT)


def _arc_point(coordinates, rest):
    pose = np.empty((4, 4))
    arc_pose(coordinates[0], coordinates[1], rest + coordinates[2], pose)
    return pose[:3, 3]


@_checks("P003-007")
def _liu_pressures(value):
    limb = _at("silver2", "limbs", 0)
    assert limb["opposing_pressure_gain"] == value["a"] == LIU_PRESSURE_GAIN
    assert limb["opposing_pressure_offset_kpa"] == value["b"]
    assert pytest.approx(value["b"] * 1e3) == LIU_PRESSURE_OFFSET
    pressure = proximal_pressure(LIU_PRESSURE_GAIN, LIU_PRESSURE_OFFSET, 40e3)
    assert pressure == pytest.approx((1.02 * 40.0 - 0.89) * 1e3)


@_checks("P003-008")
def _liu_lengths(value):
    limb = _at("silver2", "limbs", 0)
    arm, gripper = sum(limb["segment_length_mm"]), limb["gripper"]["length_mm"]
    found = np.array([arm + gripper, arm, gripper]) * 1e-3
    assert found == pytest.approx(value, abs=1e-9)


@_checks("P003-016")
def _liu_chambers(value):
    limb = _at("silver2", "limbs", 0)
    assert sum(len(item["azimuth_deg"]) for item in limb["chambers"]) + 1 == value
    assert "gripper" in limb


@_checks("P003-019")
def _walking_speeds(value):
    """Both speeds are walked in reach and stable, at a cycle of 2 and of 1 s."""
    legs = _silver2_legs()
    splay = np.radians([leg["stance_deg"][0] for leg in _at("silver2", "legs")])
    feet = neutral_feet(legs, 0.25, 1.0, splay)
    phase, duty = GAITS["tripod"]
    for speed, period in zip(value, (2.0, 1.0), strict=True):
        way = speed * duty * period
        gait = build_gait_model(feet, phase, duty, period, 0.05, way)
        assert np.hypot(*gait.twist[:2]) == pytest.approx(speed)
        report = check_gait(legs, gait)
        assert report.reached
        assert report.least_margin > 0.05


def _silver2_legs():
    links, ranges, poses = [], [], []
    for leg in _at("silver2", "legs"):
        yaw = math.radians(leg["mount_yaw_deg"])
        pose = np.eye(4)
        pose[:2, :2] = [[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]]
        pose[:3, 3] = np.array(leg["mount_position_mm"]) * 1e-3
        links.append(np.array(leg["link_mm"]) * 1e-3)
        ranges.append(np.radians(leg["joint_range_deg"]))
        poses.append(pose)
    return build_leg_model(links, ranges, poses)


@_checks("P003-034")
def _leg_links(value):
    for leg in _at("silver2", "legs"):
        links = np.array(leg["link_mm"]) * 1e-3
        expected = [value[key] for key in ("l0", "l1", "l2", "l3")]
        assert np.allclose(links, expected, rtol=0, atol=_EXACT)


@_checks("P003-035")
def _leg_foot(value):
    legs = _silver2_legs()
    foot = np.empty(3)
    for leg in range(6):
        leg_forward(legs, leg, np.radians(np.array(value["q_deg"], dtype=float)), foot)
        assert np.allclose(foot, value["foot"], rtol=0, atol=1e-5)


@_checks("P003-036")
def _leg_mounts(value):
    """The simulation's x, to the side, is our y; its y is our x, to the bow."""
    legs = _silver2_legs()
    mounts = legs.pose_leg_to_body[:, :3, 3]
    assert sorted(set(mounts[:, 0])) == pytest.approx(value["y"], abs=_EXACT)
    assert sorted(set(mounts[:, 1])) == pytest.approx([-value["x"], value["x"]])
    assert np.allclose(mounts[:, 2], value["z"], rtol=0, atol=_EXACT)
    outward = legs.pose_leg_to_body[:, :3, 0]
    assert np.allclose(outward[:, 1], np.sign(mounts[:, 1]), rtol=0, atol=_EXACT)


# --- Gong 2018 ------------------------------------------------------------------------


def _gong_model(rest=0.1, distance=0.017):
    chambers = build_chamber_model(_LIU_AZIMUTH, distance, rest, 0.4)
    return PairElongationModel(chambers, 0.1, 1e-3, 1.0)


def _gong_solve(model, world_mm):
    rows, length = np.empty((3, 3)), np.empty(4)
    target = hanging_to_base(np.array(world_mm) * 1e-3)
    status, steps = pair_elongation_inverse(model, target, rows, length)
    assert status == 0
    assert steps <= 8
    tip = np.empty(3)
    pair_elongation_forward(model, rows, tip)
    assert np.allclose(tip, target, rtol=0, atol=_EXACT)
    return rows, length


@_checks("P004-001")
def _gong_lengths(value):
    limb = _at("rov-arm", "limbs", 0)
    coupling = -limb["base_position_mm"][2] - 0.5 * _at("rov-arm", "hull", "height_mm")
    arm = sum(limb["segment_length_mm"]) + coupling
    found = np.array([arm + limb["gripper"]["length_mm"], arm]) * 1e-3
    assert found == pytest.approx(value, abs=_EXACT)


@_checks("P004-002")
def _gong_diameter(value):
    limb = _at("rov-arm", "limbs", 0)
    assert limb["base_diameter_mm"] * 1e-3 == pytest.approx(value, abs=_EXACT)
    assert limb["tip_diameter_mm"] * 1e-3 == pytest.approx(value, abs=_EXACT)
    for segment in limb["chambers"][:2]:
        assert segment["distance_mm"] * 2e-3 == pytest.approx(value, abs=_EXACT)


@_checks("P004-003")
def _gong_mass(value):
    volume = np.pi * 0.017**2 * 0.36
    assert volume * 1000.0 == pytest.approx(0.327, abs=5e-4)
    density = _at("rov-arm", "material", "density_kg_m3")
    assert density * volume == pytest.approx(value, abs=5e-4)


@_checks("P004-009")
def _hanging_frame(_):
    model = _gong_model()
    x, y, z = -110.0, -64.0, -270.0
    rows, length = _gong_solve(model, [x, y, z])
    direction = math.atan2(rows[0, 1], rows[0, 0])
    assert direction == pytest.approx(math.atan2(-y, x), abs=_EXACT)
    theta = np.hypot(*rows[0, :2])
    radius = (model.pair.rest_length + rows[0, 2]) / theta
    elongation = -z * 1e-3 - 2.0 * radius * math.sin(theta)
    assert length[3] == pytest.approx(elongation, abs=_EXACT)
    turn = np.diag([1.0, -1.0, -1.0])  # by π about x
    assert np.array_equal(hanging_to_base(np.eye(3)), turn)


@_checks("P004-010", "P004-011")
def _gong_equation(_):
    generator = np.random.default_rng(11)
    most = 0
    for _ in range(2000):
        rest, distance = generator.uniform(0.05, 0.15), generator.uniform(0.005, 0.02)
        model = _gong_model(rest, distance)
        theta, phi = generator.uniform(0.0, 1.9), generator.uniform(-np.pi, np.pi)
        a = np.cos(phi - _LIU_AZIMUTH).max()
        rho = 2.0 * (rest / theta + distance * a) * (1.0 - np.cos(theta))
        height = 2.0 * (rest / theta + distance * a) * np.sin(theta) + 0.1
        target = np.array([rho * np.cos(phi), rho * np.sin(phi), height])
        rows, length = np.empty((3, 3)), np.empty(4)
        status, steps = pair_elongation_inverse(model, target, rows, length)
        assert status == 0
        most = max(most, steps)
        found = np.hypot(*rows[0, :2])
        assert found == pytest.approx(theta, abs=1e-9)
        radius = (rest + rows[0, 2]) / found
        assert radius * (1.0 - np.cos(found)) == pytest.approx(rho / 2, abs=_EXACT)
    assert most <= 8
    # at x = 0 eq. 13 as printed says 0 = 0; with ρ it still gives the bend
    rows, _ = _gong_solve(_gong_model(), [0.0, 90.0, -300.0])
    assert np.hypot(*rows[0, :2]) > 0.5


_GONG_POINTS = {
    "P004-012": (-110.0, -64.0, -270.0),
    "P004-013": (110.0, 64.0, -295.0),
    "P004-014": (-55.0, -35.0, -285.0),
    "P004-015": (55.0, 35.0, -320.0),
}


@pytest.mark.parametrize("name", _GONG_POINTS)
def test_gong_point(name):
    fact = _FACTS[name]
    assert str(tuple(int(item) for item in _GONG_POINTS[name])) in fact["quantity"]
    value = fact["value"]
    model = _gong_model()
    rows, length = _gong_solve(model, _GONG_POINTS[name])
    theta = np.hypot(*rows[0, :2])
    phi = math.degrees(math.atan2(rows[0, 1], rows[0, 0])) % 360.0
    assert phi == pytest.approx(value["phi_deg"], abs=1e-7)
    assert math.degrees(theta) == pytest.approx(value["theta_deg"], abs=1e-7)
    radius = 1e3 * (0.1 + rows[0, 2]) / theta
    assert radius == pytest.approx(value["r"], abs=1e-7)
    assert 1e3 * length[:3] == pytest.approx(value["l1j"], abs=1e-7)
    assert 1e3 * length[3] == pytest.approx(value["l_e"], abs=1e-7)


@_checks("P004-016")
def _gong_line(value):
    start, end = (np.array(_GONG_POINTS[name]) for name in ("P004-012", "P004-013"))
    way = np.linalg.norm(end - start)
    assert way == pytest.approx(value["mm"], rel=1e-6)
    assert way / 32.0 == pytest.approx(value["s_at_32"], abs=1e-3)
    assert 6.0 * 32.0 / way == pytest.approx(0.75, abs=0.005)
    for share in np.linspace(0.0, 1.0, 101):
        _gong_solve(_gong_model(), start + share * (end - start))


@_checks("P004-017")
def _gong_circle(value):
    start, end = (np.array(_GONG_POINTS[name]) for name in ("P004-014", "P004-015"))
    for point in (start, end):
        assert np.hypot(*point[:2]) == pytest.approx(value["radius_xy"], abs=1e-3)
    turn = [math.degrees(math.atan2(point[1], point[0])) for point in (start, end)]
    assert (turn[1] - turn[0]) % 360.0 == pytest.approx(value["az_span_deg"])
    assert start[2] - end[2] == 35.0
    first = math.radians(turn[0])
    for share in np.linspace(0.0, 1.0, 101):
        angle = first + math.pi * share
        x, y = (value["radius_xy"] * f(angle) for f in (math.cos, math.sin))
        _gong_solve(_gong_model(), [x, y, start[2] - 35.0 * share])


# --- the count ------------------------------------------------------------------------


@pytest.mark.parametrize("entry", _CHECKS, ids=[name for name, _ in _CHECKS])
def test_fact(entry):
    name, check = entry
    check(_FACTS[name]["value"])


def test_every_fact_is_checked_once_or_excused_once():
    checked = [row[0] for row in _PARAMETERS]
    checked += [name for name, _ in _CHECKS] + list(_GONG_POINTS)
    excused = [name for names, _ in _EXCUSED for name in names]
    entered = checked + excused
    assert sorted(set(_FACTS) - set(entered)) == []
    assert sorted(set(entered) - set(_FACTS)) == []
    assert sorted(name for name in set(entered) if entered.count(name) > 1) == []
    assert len(_FACTS) == 215
    assert all(len(reason) > 20 for _, reason in _EXCUSED)
