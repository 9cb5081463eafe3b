"""What a person is told who has written a robot's file with a mistake in it."""

from importlib import resources

import pytest

from app.config.loader import parse_toml
from app.config.robot import RobotParameters
from app.errors import ConfigError


def text_of(name: str) -> str:
    return resources.files("assets").joinpath("robots", f"{name}.toml").read_text()


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


CASES = [
    # robot, what is replaced (once), by what, words of the message
    ("rov-arm", "fingers = 4", "finger = 4", ["unknown key", "fingers", "finger'"]),
    ("rov-arm", "length_mm = 60.0", "length_mm = 0.06", ["metres", "write 60"]),
    ("rov-arm", "young_modulus_kpa = 150.0", "young_modulus_kpa = 150000.0",
     ["kilopascals", "write 150"]),
    ("rov-arm", "azimuth_deg = [270.0", "azimuth_deg = [260.0", ["turned by 180"]),
    ("rov-arm", "azimuth_deg = [270.0, 30.0, 150.0]", "azimuth_deg = [0.0, 180.0]",
     ["at least three", "2"]),
    ("rov-arm", "azimuth_deg = [90.0, 210.0, 330.0]",
     "azimuth_deg = [0.0, 180.0, 0.0]", ["in one line"]),
    ("rov-arm", "length_range_mm = [87.0", "length_range_mm = [90.0",
     ["segment 3", "87"]),
    ("rov-arm", "pressure_range_kpa = [0.0, 60.0]",
     "pressure_range_kpa = [0.0, 60000.0]", ["kilopascals"]),
    ("rov-arm", 'actuation = "chambers"', 'actuation = "tendons"', ["chambers"]),
    ("rov-arm", "width_mm = 340.0", "#", ['shape = "vehicle"', "with width_mm"]),
    ("rov-arm", "base_direction = [0.0, 0.0, -1.0]",
     "base_direction = [0.0, 0.0, 0.0]", ["must not be zero"]),
    ("silver2", "stance_deg = [-28.0", "stance_deg = [-78.0", ["coxa", "-78", "60"]),
    ("silver2", "[0.0, 160.0]]", "[-20.0, 160.0]]", ["knee", "one side"]),
    ("silver2", 'base = "legs"', 'base = "floating"', ["legs"]),
    ("snake", 'limb = "body"', 'limb = "tail"', ["tail", "body"]),
    ("snake", "gap_mm = [200.0, 200.0, 200.0]", "gap_mm = [200.0, 200.0]",
     ["gap_mm needs 3"]),
    ("snake", "module = 2", "module = 3", ["module 3", "2 (head)"]),
    ("monopus", "moment_limit_mn_m = 7.0", "#", ["moment_limit_mn_m"]),
    ("monopus", "extension_range_mm = [-12.0", "extension_range_mm = [3.0", ["0"]),
    ("monopus", "cut_angle_deg = 45.0", "cut_angle_deg = 145.0", ["cut_angle_deg"]),
    ("ursula", "[tendons]", "[tendon]", ["unknown key 'tendon'", "tendons"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "part", "other", "words"), CASES)
def test_a_mistake_is_named_with_its_cure(
    name: str, part: str, other: str, words: list[str]
) -> None:
    text = text_of(name)
    assert part in text
    wrong = text.replace(part, other, 1)
    with pytest.raises(ConfigError) as caught:
        parse_toml(wrong, RobotParameters, "mine.toml")
    message = str(caught.value)
    assert message.startswith("mine.toml: ")
    for word in words:
        assert word in message
    assert len(message) < 1200
    assert "\n  line " in message or name in {"silver2", "snake", "ursula"}


@pytest.mark.parametrize(
    ("name", "part", "other"),
    [
        ("rov-arm", "fingers = 4", "fingers = 40"),  # a table in a table of an array
        ("silver2", "mount_yaw_deg = -90.0", "mount_yaw_deg = -900.0"),  # the 4th leg
        ("snake", "distance_mm = 24.0\n", "distance_mm = -24.0\n"),  # the 2nd chambers
        ("monopus", "flow_loss = 1.0", "flow_loss = 3.0"),
        ("ursula", 'name = "ursula"', 'name = "URSULA"'),  # before any table
    ],
)
def test_the_line_is_the_key_s_own(name: str, part: str, other: str) -> None:
    text = text_of(name).replace(part, other, 1)
    with pytest.raises(ConfigError) as caught:
        parse_toml(text, RobotParameters, "mine.toml")
    assert f"line {line_of(text, other)}: " in str(caught.value)


def test_a_missing_key_is_placed_at_its_table() -> None:
    text = text_of("silver2").replace("mount_yaw_deg = -90.0\n", "", 1)
    fourth = [k for k, row in enumerate(text.splitlines(), 1) if row == "[[legs]]"][3]
    with pytest.raises(ConfigError, match=rf"line {fourth}: key 'legs.3.mount_yaw_deg"):
        parse_toml(text, RobotParameters, "mine.toml")
