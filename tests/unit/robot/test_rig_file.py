"""What a rig's file may say, and what is said of one that is wrong."""

from pathlib import Path

import pytest

from app.config.loader import asset_names
from app.errors import ConfigError
from app.robot.rig_file import load_rig

SHIPPED = asset_names("rigs")


def file_with(folder: Path, name: str, old: str, new: str) -> str:
    text = (Path("assets/rigs") / f"{name}.toml").read_text()
    assert old in text
    path = folder / "mine.toml"
    path.write_text(text.replace(old, new, 1))
    return str(path)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_rigs_load(name: str) -> None:
    rig, robot = load_rig(name)
    assert rig.robot == robot.name
    assert rig.title


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('robot = "ursula"', 'robot = "nautilus"', "nautilus"),
        ('limb = "light"', 'limb = "lamp"', "ursula has grasper"),
        ("channels = [5, 6, 7, 8]", "channels = [5, 6, 7]", "'light' has 4 tendons"),
        ("channels = [5, 6, 7, 8]", "channels = [1, 2, 3, 4]", "has two actuators"),
        ('bus = "tentacles"', 'bus = "legs"', "is none of"),
        ('driver = "dynamixel"', 'driver = "steam"', "driver"),
        ("rate_hz = 100.0", "rate_hz = 1e6", "rate_hz"),
        ("drum_radius_mm = 12.0", "drum_radius_mm = -1.0", "drum_radius_mm"),
        ("drum_radius_mm = 12.0", "drum_radius = 12.0", "drum_radius"),
        ("id = 1,", "id = 2,", "its own id"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_rig(file_with(tmp_path, "ursula-dynamixel", old, new))


def test_a_limb_is_driven_by_what_it_has(tmp_path: Path) -> None:
    path = file_with(
        tmp_path,
        "rov-arm-ctrlp",
        "[[chambers]]",
        "[[winches]]\ndrum_radius_mm = 10.0",
    )
    with pytest.raises(ConfigError, match="driven by chambers"):
        load_rig(path)


def test_legs_are_the_robots(tmp_path: Path) -> None:
    path = file_with(tmp_path, "silver2-modbus", '"port-front"', '"port-fore"')
    with pytest.raises(ConfigError, match="port-fore"):
        load_rig(path)
