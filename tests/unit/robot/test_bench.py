"""A rig on the bench: who answers, one actuator moved, its zero and sign written."""

import tomllib
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from app.cli import application
from app.drivers.board import BoardParameters
from app.drivers.probing import probe
from app.drivers.servo_parameters import DynamixelParameters, virtual_dynamixel
from app.drivers.virtual.board import virtual_board
from app.errors import ConfigError, DeviceError
from app.robot.bench import Bench, read, write_calibration, write_range
from app.robot.jog import JogEnd

SERVO = {
    "model": "xm430-w350",
    "least_rad": -2.0,
    "greatest_rad": 2.0,
    "current_limit_ma": 400.0,
}
RIG = """
robot = "rov-arm"
title = "bench"

# seven chambers
[[buses]]
name = "air"
rate_hz = 100.0
driver = "ctrlp"
port = "/dev/none"
units = "kpa"
data_period_ms = 10
baud = 1_000_000
timeout_ms = 300
actuators = [{actuators}]

[[chambers]]
limb = "arm"
bus = "air"
channels = [1, 2, 3, 4, 5, 6, 7]
"""


@pytest.fixture
def rig(tmp_path: Path) -> str:
    one = '{{ name = "c{}", greatest_kpa = 60.0 }}'
    actuators = ", ".join(one.format(k) for k in range(1, 8))
    path = tmp_path / "bench.toml"
    path.write_text(RIG.replace("{actuators}", actuators))
    return str(path)


def test_one_actuator_moves_and_no_other(rig: str) -> None:
    with Bench(rig, virtual=True) as bench:
        name, driver, channel = bench.find("air:2")
        assert name == "air"
        samples = list(bench.jog(driver, channel, 12.0, 0.5, None))
        assert samples[-1].end is JogEnd.THERE
        assert samples[-1].measured == pytest.approx(12.0, abs=1.0)
        asked = np.diff([sample.asked for sample in samples])
        assert asked.max() <= 12.0 * 0.01 / 0.5 + 1e-9
        after = read(driver)
        assert np.nanmax(np.delete(after.measured, channel)) < 0.5
    assert not driver.is_open


def test_an_actuator_that_is_stuck_ends_the_jog(rig: str) -> None:
    with Bench(rig, virtual=True) as bench:
        _, driver, channel = bench.find("air:2")
        bench.carriers[0].device.actuators.stuck[channel] = True
        samples = list(bench.jog(driver, channel, 30.0, 0.5, None))
        assert samples[-1].end is JogEnd.STUCK
        assert samples[-1].asked < 30.0


def test_ends_are_found_at_a_slow_pace_and_it_goes_back(rig: str, monkeypatch) -> None:
    monkeypatch.setattr("app.robot.bench._END_S", 1.5)
    with Bench(rig, virtual=True) as bench:
        _, driver, channel = bench.find("air:1")
        low, high = bench.ends(driver, channel, np.inf)
        assert low < 2.0
        assert 50.0 < high <= 61.0
        assert bench.zero(driver, channel) < 5.0


@pytest.mark.parametrize("name", ["air", "air:0", "air:9", "water:1", "air:x"])
def test_what_is_no_actuator_is_said(rig: str, name: str) -> None:
    with (
        Bench(rig, virtual=True) as bench,
        pytest.raises(ConfigError, match="Actuator"),
    ):
        bench.find(name)


def test_a_calibration_is_written_and_all_else_kept(rig: str, tmp_path: Path) -> None:
    to = tmp_path / "mine.toml"
    write_calibration(Path(rig), to, bus="air", channel=2, zero=1.25, sign=-1)
    text = to.read_text()
    assert "# seven chambers" in text
    chambers = tomllib.loads(text)["chambers"][0]
    assert chambers["zero"] == [0.0, 0.0, 1.25, 0.0, 0.0, 0.0, 0.0]
    assert chambers["sign"] == [1, 1, -1, 1, 1, 1, 1]
    with pytest.raises(ConfigError, match="channel 9"):
        write_calibration(Path(rig), to, bus="air", channel=8, zero=0.0, sign=1)
    with pytest.raises(ConfigError, match="cannot be written"):
        write_calibration(
            Path(rig),
            tmp_path / "no" / "x.toml",
            bus="air",
            channel=1,
            zero=0.0,
            sign=1,
        )


def test_who_answers_on_a_port() -> None:
    parameters = DynamixelParameters.model_validate(
        {
            "driver": "dynamixel",
            "port": "/dev/none",
            "servos": [{"id": 3, **SERVO}, {"id": 7, **SERVO}],
        }
    )
    carrier, own = virtual_dynamixel(parameters)
    with carrier:
        found = list(probe(own.port))
    servos = [who.address for protocol, who in found if protocol == "dynamixel"]
    assert any(address.startswith("id 3 ") for address in servos)
    assert any(address.startswith("id 7 ") for address in servos)
    assert all("xm430" in who.model for p, who in found if p == "dynamixel")
    assert {protocol for protocol, _ in found} == {"dynamixel"}


def test_a_board_tells_its_name() -> None:
    parameters = BoardParameters.model_validate(
        {
            "driver": "board",
            "port": "/dev/none",
            "actuators": [{"name": "a"}, {"name": "b"}],
        }
    )
    carrier, own = virtual_board(parameters)
    with carrier:
        found = list(probe(own.port))
    assert [protocol for protocol, _ in found] == ["board"]
    assert found[0][1].address == "2 channels"


def test_a_port_that_is_not_there_is_said() -> None:
    with pytest.raises(DeviceError, match="/dev/none"):
        list(probe("/dev/none"))


def test_the_command_moves_an_actuator_and_asks_before(rig: str) -> None:
    runner = CliRunner()
    words = [
        "devices",
        "jog",
        rig,
        "air:1",
        "--by",
        "5",
        "--seconds",
        "0.5",
        "--virtual",
    ]
    refused = runner.invoke(application, words, input="n\n")
    assert refused.exit_code != 0
    assert "Keep hands away" in refused.output
    done = runner.invoke(application, words, input="y\n")
    assert done.exit_code == 0, done.output
    assert "c1: there at" in done.output


def test_the_commands_show_and_list(rig: str) -> None:
    runner = CliRunner()
    shown = runner.invoke(application, ["devices", "show", rig, "--virtual"])
    assert shown.exit_code == 0, shown.output
    assert "air:7" in shown.output
    assert "ursula-dynamixel" in runner.invoke(application, ["devices", "rigs"]).output
    cleared = runner.invoke(
        application, ["devices", "clear", rig, "--virtual", "--yes"]
    )
    assert "no latched faults" in cleared.output


def test_a_range_is_found_by_load_and_written(rig: str, tmp_path: Path) -> None:
    path = tmp_path / "servos.toml"
    text = (Path("assets/rigs") / "ursula-dynamixel.toml").read_text()
    path.write_text(text)
    write_range(path, path, bus="arms", channel=2, ends=(-1.5, 2.25))
    servos = tomllib.loads(path.read_text())["buses"][0]["servos"]
    assert (servos[2]["least_rad"], servos[2]["greatest_rad"]) == (-1.5, 2.25)
    assert servos[1]["least_rad"] == -12.0
    with pytest.raises(ConfigError, match="no servos"):
        write_range(Path(rig), path, bus="air", channel=1, ends=(0.0, 1.0))
    with pytest.raises(ConfigError, match="no bus"):
        write_range(Path(rig), path, bus="water", channel=1, ends=(0.0, 1.0))
