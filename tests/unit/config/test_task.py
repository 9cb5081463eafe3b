"""Task files: what they may say, and how they lie before a robot."""

import numpy as np
import pytest

from app.config.loader import find_asset, parse_toml
from app.config.robot import build_robot_model, load_robot
from app.config.task import TaskParameters, load_task, task_names
from app.config.task_place import place_task, task_robots
from app.errors import ConfigError
from app.operator.scripted import make_scripted

ROV = load_robot("rov-arm")
LINE = find_asset("tasks", "line").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", task_names())
def test_every_shipped_task_lies_before_its_robots_and_has_its_operator(
    name: str,
) -> None:
    task = load_task(name)
    assert task.name == name
    for robot_name, limb in task_robots(task):
        robot = load_robot(robot_name)
        for variant in task.variants:
            placed = place_task(task, robot, variant)
            assert placed.limb_name == limb
            assert np.isfinite(placed.ways).all()
        make_scripted(task.operator, build_robot_model(robot), task=placed)


def test_the_frame_is_that_of_gong_under_a_level_vehicle() -> None:
    task = place_task(load_task("line"), ROV)
    np.testing.assert_allclose(1e3 * task.start, [-110.0, -64.0, -270.0 - 138.0])
    np.testing.assert_allclose(task.up, [0.0, 0.0, 1.0], atol=1e-12)


def test_targets_are_visited_across_the_circle() -> None:
    task = place_task(load_task("reach"), ROV, "a200-w10")
    assert task.width == pytest.approx(0.01)
    steps = np.linalg.norm(np.diff(task.targets, axis=0), axis=1)
    np.testing.assert_allclose(steps, 0.2 * np.sin(np.radians(80.0)), rtol=1e-9)
    assert len({tuple(np.round(target, 9)) for target in task.targets}) == 9


def test_shift_and_turn_move_the_task_in_its_own_frame() -> None:
    preset = '\n[[presets]]\nrobot = "{}"\nlimb = "arm"\n'
    text = LINE.split("[[presets]]")[0] + preset.format("rov-arm")
    text += "shift_mm = [10.0, 0.0, 5.0]\nturn_deg = 90.0\n"
    task = place_task(parse_toml(text, TaskParameters, "mine"), ROV)
    # turned by 90 degrees, (x, y) is (-y, x); the shift is in the turned frame
    np.testing.assert_allclose(
        1e3 * task.start, [64.0, -110.0 + 10.0, -270.0 - 138.0 + 5.0]
    )


def test_variants_change_the_pad() -> None:
    task = load_task("press")
    assert [
        place_task(task, ROV, variant).pads[0].stiffness for variant in task.variants
    ] == [150.0, 100.0, 300.0, 2000.0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("[path]", "[path]\nradius_mm = 10.0\nsweep_deg = { a = 1.0 }"), "a line, or"),
        (("speed_mm_s = 32.0", "speed_mm_s = -1.0"), "speed_mm_s"),
        (("title", "titel"), "unknown key 'titel'"),
        (("operator", 'scene = "wall"\noperator'), "a scene, or"),
    ],
)
def test_a_wrong_file_is_explained(change: tuple[str, str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        parse_toml(LINE.replace(*change, 1), TaskParameters, "mine.toml")


def test_robot_variant_and_operator_must_fit() -> None:
    task = load_task("line")
    with pytest.raises(ConfigError, match=r"no preset.*rov-arm"):
        place_task(task, load_robot("quadropus"))
    with pytest.raises(ConfigError, match=r"no variant 'round'.*line"):
        place_task(task, ROV, "round")
    placed = place_task(task, ROV)
    model = build_robot_model(ROV)
    with pytest.raises(ConfigError, match="choose 'tracker'"):
        make_scripted("presser", model, task=placed)
    with pytest.raises(ConfigError, match="does no task"):
        make_scripted("circle", model, task=placed)
