"""What a person gets wrong: a sentence with cause and cure, never a traceback."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROBOT = Path(__file__).parents[2] / "assets" / "robots" / "ursula.toml"

pytestmark = [pytest.mark.system, pytest.mark.timeout(120)]


def _run(*words: str, **environment: str) -> str:
    """Run limblink; return what it says, having checked that it is an error."""
    result = subprocess.run(
        [sys.executable, "-m", "app", *words],
        capture_output=True, text=True, timeout=100, check=False,
        env={**os.environ, "COLUMNS": "400", **environment},
    )  # fmt: skip
    assert result.returncode == 2, result.stdout + result.stderr
    assert "Traceback" not in result.stderr + result.stdout
    assert "Error: " in result.stderr
    return result.stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[water]", "[water]\ncolour = 1", "unknown key 'water.colour'"),
        ("length_mm = 1200.0", "length_mm = 1.2", "if you meant metres, write 1200"),
        ("bend_deg = 90.0", "bend_deg = -90.0", "limits.bend_deg = -90.0"),
        ('name = "ursula"', 'name = "ursula', "not valid TOML"),
    ],
    ids=["unknown-key", "wrong-unit", "out-of-range", "broken"],
)
def test_a_bad_robot_file_names_line_key_and_cure(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    path = tmp_path / "mine.toml"
    text = ROBOT.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    message = _run("drive", "--headless", "--robot", str(path))
    assert said in message
    assert str(path) in message
    assert "line" in message


def test_a_busy_port_names_the_address_and_the_cure() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"tcp://127.0.0.1:{other.getsockname()[1]}"
        message = _run("robot", "--bind", address)
    assert address in message
    assert "choose another address" in message


def test_an_open_network_needs_keys() -> None:
    assert "limblink keys" in _run("robot", "--bind", "tcp://0.0.0.0:5601")


def test_no_display_names_the_way_without() -> None:
    message = _run(DISPLAY="", WAYLAND_DISPLAY="", QT_QPA_PLATFORM="")
    assert "limblink drive --headless" in message


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("drive", "--headless", "--link", "acoustic"), "Shipped: acoustic-hs"),
        (("drive", "--headless", "--operator", "joe"), "Choose one of: gamepad"),
        (("drive", "--headless", "--mismatch", "stiff=2"), "known: stiffness"),
        (("--attach", "nobody"), "Start one with `limblink`"),
        (("robot",), "exactly one of --bind"),
    ],
    ids=["link", "operator", "mismatch", "session", "robot"],
)
def test_a_wrong_option_lists_the_right_ones(words: tuple[str, ...], said: str) -> None:
    assert said in _run(*words)
