"""Every shipped robot: what its file says, in SI, and what it can be used for.

Tolerance 1e-12 where a number is only converted, 2 mm and 0.01 where a paper prints a
frame with two digits.
"""

import re
from importlib import resources

import numpy as np
import pytest

from app.config.kinematics import (
    chamber_models,
    leg_model,
    limb_gaps,
    opposing_model,
    snake_lengths,
)
from app.config.robot import (
    build_robot_model,
    check_drivable,
    load_robot,
    robot_names,
    why_not_drivable,
)
from app.errors import ConfigError
from models.chamber import chamber_lengths
from models.leg import leg_forward
from models.opposing import (
    PairBendModel,
    PairElongationModel,
    hanging_to_base,
    pair_elongation_inverse,
)
from models.robot import allocate_robot_data
from models.star import monopus_frames, poseidrone_frames, quadropus_frames

NAMES = {"ursula", "rov-arm", "silver2", "snake", "poseidrone", "quadropus", "monopus"}


def test_all_seven_are_shipped_and_those_that_drive_come_first() -> None:
    assert set(robot_names()) == NAMES
    assert robot_names()[:3] == ["rov-arm", "silver2", "ursula"]


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_model_is_of_one_piece(name: str) -> None:
    robot = load_robot(name)
    model = build_robot_model(robot)
    segments, limbs = model.segment_length.size, len(robot.limbs)
    assert model.limb_segment_start[-1] == segments
    assert model.limb_tendon_start[-1] == model.tendon_angle.size
    assert model.pose_base_to_hull.shape == (limbs, 4, 4)
    arrays = {**model._asdict(), **model.tree._asdict()}
    del arrays["tree"]
    for field, values in arrays.items():
        assert np.isfinite(values).all(), field
        size = {"segment": segments, "tendon": model.tendon_angle.size}
        for word, count in size.items():
            if field.startswith(f"{word}_"):
                assert values.shape[0] == count, field
    for pose in model.pose_base_to_hull:
        rotation = pose[:3, :3]
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(rotation) > 0.0
    assert (model.bend_limit > 0.0).all()
    assert (model.extension_range[:, 0] <= 0.0).all()
    assert (model.extension_range[:, 1] >= 0.0).all()
    bend = np.hypot(*model.rest_coordinates[:, :2].T)
    assert (bend <= model.bend_limit).all()
    assert allocate_robot_data(model).coordinates.shape == (segments, 3)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_rest_posture_is_within_the_chambers(name: str) -> None:
    robot = load_robot(name)
    rest = build_robot_model(robot).rest_coordinates
    models = [model for limb in robot.limbs for model in chamber_models(limb)]
    for coordinates, model in zip(rest, models, strict=True):
        if model is None:
            assert coordinates[2] == 0.0
            continue
        lengths = np.zeros(model.initial_length.size)
        chamber_lengths(model, coordinates, lengths)
        assert lengths.min() == pytest.approx(model.initial_length[0])
        assert (lengths <= model.greatest_length).all()


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_value_has_a_source_or_says_that_it_has_none(name: str) -> None:
    text = resources.files("assets").joinpath("robots", f"{name}.toml").read_text()
    assert "ASSUMED" in text
    for limb in load_robot(name).limbs:
        for chambers in limb.chambers:
            assert "length_range_mm" in chambers.assumed  # no paper prints one


def test_only_what_has_dynamics_may_be_driven() -> None:
    able = {"ursula", "silver2", "rov-arm"}
    for name in able:
        check_drivable(load_robot(name))
    for name in NAMES - able:
        robot = load_robot(name)
        assert why_not_drivable(robot)
        with pytest.raises(ConfigError, match=r"cannot be driven yet: .*ursula"):
            check_drivable(robot)


def test_gong_s_arm() -> None:
    """Sizes of Sec. II.A, and the l0 = 100 mm case of models/opposing."""
    (arm,) = load_robot("rov-arm").limbs
    assert arm.base_diameter_mm == arm.tip_diameter_mm == 34.0
    coupling = -125.0 - arm.base_position_mm[2]
    assert coupling + sum(arm.segment_length_mm) == pytest.approx(300.0)
    assert arm.gripper is not None
    assert arm.gripper.length_mm + 300.0 == 360.0
    assert sum(max(len(each.azimuth_deg), 1) for each in arm.chambers) == 7
    model = opposing_model(arm)
    assert isinstance(model, PairElongationModel)
    coordinates, lengths = np.zeros((3, 3)), np.zeros(4)
    for world in (
        (-0.110, -0.064, -0.270),
        (0.110, 0.064, -0.295),
        (-0.055, -0.035, -0.285),
        (0.055, 0.035, -0.320),
    ):
        tip = hanging_to_base(np.array(world))
        status, _ = pair_elongation_inverse(model, tip, coordinates, lengths)
        assert status == 0, world


def test_gong_s_arm_hangs_as_the_world_turned_about_x() -> None:
    pose = build_robot_model(load_robot("rov-arm")).pose_base_to_hull[0]
    np.testing.assert_allclose(pose[:3, :3], np.diag([1.0, -1.0, -1.0]), atol=1e-12)


def test_liu_s_arm() -> None:
    (arm,) = load_robot("silver2").limbs
    assert sum(arm.segment_length_mm) == pytest.approx(310.0, abs=1e-6)
    assert arm.base_diameter_mm == 48.0
    assert arm.gripper is not None
    assert arm.gripper.length_mm + 310.0 == 435.0
    assert sum(len(each.azimuth_deg) for each in arm.chambers) + 1 == 10
    assert (arm.opposing_pressure_gain, arm.opposing_pressure_offset_kpa) == (
        1.02,
        -0.89,
    )
    assert isinstance(opposing_model(arm), PairBendModel)


def test_silver2_stands_level_on_six_feet() -> None:
    robot = load_robot("silver2")
    legs = leg_model(robot)
    assert legs is not None
    assert legs.link.shape == (6, 4)
    foot = np.zeros(3)
    feet = []
    for k, leg in enumerate(robot.legs):
        leg_forward(legs, k, np.radians(leg.stance_deg), foot)
        feet.append(legs.pose_leg_to_body[k] @ np.append(foot, 1.0))
    height = np.array(feet)[:, 2]
    np.testing.assert_allclose(height, height[0], atol=1e-12)
    ground = -1e-3 * robot.hull.over_seabed_mm
    assert height[0] - 0.012 == pytest.approx(ground, abs=2e-3)
    port, starboard = np.array(feet)[:3], np.array(feet)[3:]
    np.testing.assert_allclose(port * [1, -1, 1, 1], starboard, atol=1e-12)
    # the arm, hanging straight with its gripper, is as long as the robot is high
    (arm,) = robot.limbs
    assert arm.base_position_mm[2] - 435.0 == pytest.approx(ground * 1e3, abs=12.0)


def test_the_snake_s_lengths() -> None:
    robot = load_robot("snake")
    lengths = snake_lengths(robot)
    assert lengths is not None
    modules, joints = lengths
    assert modules.sum() + joints.sum() == pytest.approx(1.0)
    assert robot.snake is not None
    assert len(robot.snake.propellers) == 6
    assert sum(len(each.azimuth_deg) for each in robot.limbs[0].chambers) == 6


@pytest.mark.parametrize(
    ("name", "frames"),
    [
        ("poseidrone", poseidrone_frames),
        ("quadropus", quadropus_frames),
        ("monopus", monopus_frames),
    ],
)
def test_renda_s_frames(name: str, frames: object) -> None:
    robot = load_robot(name)
    expected = frames()  # type: ignore[operator]
    poses = build_robot_model(robot).pose_base_to_hull
    position, rotation = poses[:, :3, 3], poses[:, :3, :3]
    np.testing.assert_allclose(position, expected.arm_to_root[:, :3, 3], atol=2e-3)
    np.testing.assert_allclose(rotation, expected.arm_to_root[:, :3, :3], atol=0.01)
    assert robot.mantle is not None
    mantle = expected.mantle_to_root
    np.testing.assert_allclose(
        np.array(robot.mantle.position_mm) * 1e-3, mantle[:3, 3], atol=1e-12
    )
    np.testing.assert_allclose(robot.mantle.direction, mantle[:3, 2], atol=1e-12)


def test_a_limb_s_own_material_replaces_the_robot_s() -> None:
    settings = load_robot("ursula").model_dump()
    settings["limbs"][1]["material"] = {"young_modulus_kpa": 500.0}
    settings["limbs"][1]["hydrodynamics"] = {"added_mass": 0.25}
    model = build_robot_model(type(load_robot("ursula")).model_validate(settings))
    assert model.young_modulus.tolist() == [69e3, 69e3, 500e3, 500e3, 69e3, 69e3]
    assert model.added_mass.tolist() == [1.5, 1.5, 0.25, 0.25, 1.5, 1.5]
    assert model.density.tolist() == [1070.0] * 6


def test_gaps_stand_before_and_behind_segments() -> None:
    np.testing.assert_allclose(
        limb_gaps(load_robot("snake").limbs[0]), [0.2, 0.2, 0.2], atol=1e-12
    )
    assert limb_gaps(load_robot("ursula").limbs[0]).tolist() == [0.0, 0.0, 0.0]


def test_keys_carry_their_units() -> None:
    """A length without _mm or a pressure without _kpa would be a trap."""
    unit = re.compile(r"_(mm|mm2|m2|deg|kpa|mpa|kg|l|hz|ms|s|n|kg_m3|m_s2|pa_s|j_m3)$")
    known = {"color", "name", "title", "source", "role", "shape", "base", "actuation"}
    for name in NAMES:
        text = resources.files("assets").joinpath("robots", f"{name}.toml").read_text()
        for key in re.findall(r"^(\w+) = \d", text, flags=re.M):
            dimensionless = key in {
                "poisson_ratio", "axial_stiffness_ratio", "drag_normal",
                "drag_tangent", "added_mass", "added_mass_surge", "drag", "drag_surge",
                "drag_roll", "per_segment", "offset_ratio", "sections", "fingers",
                "opposing_pressure_gain", "module", "flow_loss", "viscous_consistency",
                "viscous_index",
            }  # fmt: skip
            other = key.endswith(("_n_per_m", "_n_s_per_m", "_mm_s", "_deg_s", "_mn_m"))
            assert dimensionless or other or unit.search(key) or key in known, key
