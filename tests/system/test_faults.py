"""What fails in a running session: soon safe, nothing moves, nothing is lost.

A few of the faults of scripts/safety_times, on a robot whose safety times are short.
Each is caused in motion and mended, and the robot then armed anew.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.config.loader import find_asset
from tests.system.fault_cases import (
    Row,
    cut_cable,
    flood,
    full_disk,
    small_disk,
    stepped_clock,
    stopped_station,
    unplugged,
)
from tests.system.fault_devices import served_rig
from tests.system.faults import Trial, trial

pytestmark = [pytest.mark.system, pytest.mark.timeout(180)]

SPARE_S = 1.0
_QUICK = {
    "hold_after_ms = 500.0": "hold_after_ms = 300.0",
    "compliant_after_ms = 5000.0": "compliant_after_ms = 1500.0",
    "slack_after_ms = 30000.0": "slack_after_ms = 20000.0",
}


def quick_robot(folder: Path) -> str:
    text = find_asset("robots", "ursula").read_text()
    for shipped, quick in _QUICK.items():
        assert shipped in text
        text = text.replace(shipped, quick)
    path = folder / "ursula.toml"
    path.write_text(text)
    return str(path)


def check(row: Row) -> None:
    assert row.failures(SPARE_S) == []


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    folder = tmp_path_factory.mktemp("faults")
    robot = quick_robot(folder)
    with trial(folder / "log.mcap", robot, "ideal", stepped=True) as session:
        yield session


@pytest.mark.parametrize("kind", ["replay", "wrong_hour"])
def test_a_flood_moves_nothing_and_interrupts_nothing(
    running: Trial, kind: str
) -> None:
    check(flood(running, kind, 1.0))


def test_a_cut_cable_lets_the_robot_go_by_itself(running: Trial) -> None:
    check(cut_cable(running))


def test_a_frozen_station_is_silence_though_its_sockets_stay_up(running: Trial) -> None:
    check(stopped_station(running))


def test_a_full_disk_ends_the_recording_and_nothing_else(
    running: Trial, tmp_path: Path
) -> None:
    with small_disk(tmp_path, mount=False) as fill:
        check(full_disk(running, fill, 1.5))


def test_clocks_that_step_apart_are_learned_anew(running: Trial) -> None:
    check(stepped_clock(running, 1.0))


def test_a_serial_line_that_comes_back_moves_nothing_by_itself(tmp_path: Path) -> None:
    with (
        served_rig("ursula-dynamixel", tmp_path) as rig,
        trial(tmp_path / "rig.mcap", link="ideal", rig=str(rig.path)) as session,
    ):
        check(unplugged(session, rig))
