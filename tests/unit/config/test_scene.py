"""Scenes load, are refused with a cure, and lie within reach of their robots' limbs."""

import math

import numpy as np
import pytest

from app.config.loader import parse_toml
from app.config.robot import build_robot_model, load_robot
from app.config.scene import (
    ObjectParameters,
    PlacementParameters,
    SceneParameters,
    SurfaceParameters,
    load_scene,
    placement_for,
    scene_names,
)
from app.config.scene_posture import robot_in_scene
from app.config.scene_reach import check_reach, reached_points
from app.config.scene_world import build_scene_world, contact_law, pose_from
from app.errors import ConfigError
from app.robot.body import Applied
from app.robot.plant import Plant, PlantMismatch
from app.robot.safety import Actuation
from app.robot.surroundings import Surroundings

PLACED = [
    (name, item.name) for name in scene_names() for item in load_scene(name).robots
]
WALL = """
name = "mine"
title = "Mine"
[[obstacles]]
name = "wall"
kind = "box"
position_mm = [0, 0, -100]
size_mm = [10, 20, 30]
"""


def test_what_is_shipped() -> None:
    assert scene_names() == ["grasp", "open-water", "opening", "overhang", "wall"]
    assert load_scene("open-water").is_empty
    assert {robot for _, robot in PLACED} == {"ursula", "rov-arm", "silver2"}


@pytest.mark.parametrize(("scene", "robot"), PLACED)
def test_every_shipped_scene_is_within_reach(scene: str, robot: str) -> None:
    parameters = load_robot(robot)
    model = build_robot_model(parameters)
    check_reach(load_scene(scene), parameters, model)
    assert reached_points(load_scene(scene), parameters, model)


@pytest.mark.parametrize(("scene", "robot"), PLACED)
def test_no_limb_at_rest_is_inside_an_obstacle_or_object(
    scene: str, robot: str
) -> None:
    parameters = robot_in_scene(load_robot(robot), load_scene(scene))
    model = build_robot_model(parameters)
    around = Surroundings(load_scene(scene), parameters, model)
    plant = Plant(model, PlantMismatch(noise=0.0), 0, surroundings=around)
    plant.step(Applied(model.rest_coordinates, Actuation.STIFF))
    assert not around.contact_wrench.any()


def test_a_scene_gives_its_limb_a_posture_and_changes_nothing_else() -> None:
    robot, scene = load_robot("silver2"), load_scene("opening")
    folded = robot_in_scene(robot, scene)
    assert folded.limbs[0].rest_bend_deg == scene.robots[0].rest_bend_deg
    unfolded = {"rest_bend_deg": (65.0, 65.0, 25.0)}
    unfolded["rest_direction_deg"] = robot.limbs[0].rest_direction_deg
    back = folded.limbs[0].model_copy(update=unfolded)
    assert folded.model_copy(update={"limbs": (back,)}) == robot
    assert robot_in_scene(robot, load_scene("grasp")) is robot


def test_a_posture_of_too_few_segments_is_refused() -> None:
    robot, scene = load_robot("silver2"), load_scene("opening")
    short = {"rest_bend_deg": (60.0, 60.0), "rest_direction_deg": (0.0, 180.0)}
    placed = scene.robots[0].model_copy(update=short)
    wrong = scene.model_copy(update={"robots": (placed,)})
    with pytest.raises(ConfigError, match=r"rest_bend_deg.*2 values.*3 segments"):
        robot_in_scene(robot, wrong)


def test_a_thing_out_of_reach_is_refused_by_name() -> None:
    robot = load_robot("rov-arm")
    scene = load_scene("grasp")
    far = scene.robots[0].model_copy(update={"positions_mm": {"ball": (400.0, 0, 0)}})
    with pytest.raises(ConfigError, match=r"misses object ball by \d+ mm"):
        check_reach(
            scene.model_copy(update={"robots": (far,)}), robot, build_robot_model(robot)
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("colour = 1", r"unknown key 'obstacles.0.colour'; known here: .*friction"),
        ("stiffness_n_per_m = 0", "line .*stiffness_n_per_m = 0"),
        ("exponent = 4.0", "exponent = 4.0"),
        ("size_mm = [10, 20]", r"a box has 3 size_mm .* not \[10.0, 20.0\]"),
        ("damping_n_s_per_m = 1\nexponent = 1.3", "Kelvin-Voigt wall, exponent 1"),
        ("damping_n_s_per_m = 1\ndissipation_s_per_m = 1", "not both"),
        ('[[obstacles]]\nname = "wall"\nkind = "plane"\nposition_mm = [0,0,0]',
         "two things are called 'wall'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_cure(change: str, message: str) -> None:
    key = change.split(" =", maxsplit=1)[0]
    text = "\n".join(
        line for line in WALL.splitlines() if not line.startswith(f"{key} =")
    )
    with pytest.raises(ConfigError, match=message):
        parse_toml(f"{text}\n{change}\n", SceneParameters, "mine.toml")


def test_a_robot_without_a_place_and_a_limb_that_is_not_there_are_refused() -> None:
    scene = load_scene("opening")
    ursula = load_robot("ursula")
    with pytest.raises(ConfigError, match="it has for silver2, rov-arm"):
        placement_for(scene, "ursula")
    wrong = PlacementParameters(name="ursula", limb="tail")
    with pytest.raises(ConfigError, match="'tail' of 'ursula', which has grasper"):
        build_scene_world(
            scene.model_copy(update={"robots": (wrong,)}),
            ursula,
            build_robot_model(ursula),
        )
    with pytest.raises(ConfigError, match="Shipped: grasp"):
        load_scene("moon")


def test_the_law_is_that_of_the_file() -> None:
    kelvin = contact_law(
        SurfaceParameters(stiffness_n_per_m=150, damping_n_s_per_m=2, friction=0.3)
    )
    assert (kelvin.stiffness, kelvin.exponent, kelvin.friction) == (150.0, 1.0, 0.3)
    # at 2 N the Hunt-Crossley damping F d is that of the Kelvin-Voigt wall
    assert 2.0 * kelvin.dissipation == pytest.approx(2.0)
    hunt = contact_law(SurfaceParameters(exponent=1.3, dissipation_s_per_m=0.4))
    assert (hunt.exponent, hunt.dissipation) == (1.3, 0.4)


def test_places_are_turned_and_put_into_the_hull() -> None:
    robot = load_robot("ursula")
    scene = load_scene("wall")
    world = build_scene_world(scene, robot, build_robot_model(robot))
    model = build_robot_model(robot)
    # the wall faces the arm: its normal is against the limb's base axis
    out = world.obstacles[0].pose[:3, 2]
    assert out == pytest.approx(-model.pose_base_to_hull[1][:3, 2], abs=1e-4)
    turned = pose_from((0.0, 0.0, 0.0), (0.0, 0.0, 90.0))
    assert turned[:3, 0] == pytest.approx([0.0, 1.0, 0.0])
    assert pose_from((0, 0, 0), (90.0, 0, 0))[:3, 1] == pytest.approx([0.0, 0.0, 1.0])


def test_an_object_weighs_in_water_what_the_task_says() -> None:
    robot = load_robot("rov-arm")
    world = build_scene_world(load_scene("grasp"), robot, build_robot_model(robot))
    bodies = world.model.bodies
    wet = (bodies.mass[0] - bodies.displaced[0]) * 9.81
    assert wet == pytest.approx(0.2, abs=2e-3)
    assert world.basket is not None
    opening, radius, depth = world.basket
    assert (radius, depth) == (0.06, 0.04)
    ball, basket = world.objects[0].pose[:3, 3], opening
    assert basket[2] - ball[2] == pytest.approx(0.05, abs=1e-3)
    assert math.dist(ball[:2], basket[:2]) == pytest.approx(math.hypot(0.18, 0.03))


def test_volumes_and_grasp_widths_are_those_of_the_shapes() -> None:
    given = {"name": "it", "position_mm": (0, 0, 0), "mass_kg": 1.0}
    rod = ObjectParameters(kind="cylinder", size_mm=(100.0, 200.0), **given)
    assert rod.volume_l == pytest.approx(math.pi / 4 * 2.0)
    assert rod.grasp_mm == 100.0
    brick = ObjectParameters(
        kind="box", size_mm=(100.0, 200.0, 50.0), grasp_size_mm=60.0, **given
    )
    assert brick.volume_l == pytest.approx(1.0)
    assert brick.grasp_mm == 60.0


def test_a_relief_becomes_a_height_field_and_a_current_moves_objects() -> None:
    relief = "[seabed]\nheight_mm = -600\nrelief_mm = [[0, 10], [20, 30]]\n"
    scene = parse_toml(
        f'name = "a"\ntitle = "A"\ncurrent_m_s = [0.2, 0, 0]\n{relief}',
        SceneParameters,
        "a.toml",
    )
    robot = load_robot("ursula")
    world = build_scene_world(scene, robot, build_robot_model(robot))
    assert world.model.contacts.field.height.shape == (4, 4)
    assert world.model.contacts.field.height[1:3, 1:3] == pytest.approx(
        np.array([[-0.6, -0.59], [-0.58, -0.57]])
    )
    assert world.model.bodies.current.tolist() == [0.2, 0.0, 0.0]
    level = parse_toml(
        'name = "b"\ntitle = "B"\n[seabed]\nheight_mm = -600\n', SceneParameters, "b"
    )
    floor = build_scene_world(level, robot, build_robot_model(robot)).obstacles
    assert [item.kind for item in floor] == ["plane"]
