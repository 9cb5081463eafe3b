"""Sessions: operators by name, folders of the dead cleared, nothing taken twice."""

import os
from pathlib import Path

import pytest

from app.errors import ConfigError, ProcessError
from app.operator.scripted import SCRIPTED_NAMES
from app.station import session as module
from app.station.session import (
    OPERATOR_NAMES,
    check_operator,
    create_session,
    find_session,
)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "sessions_folder", lambda: tmp_path / "sessions")


def test_every_scripted_operator_can_be_named() -> None:
    assert set(SCRIPTED_NAMES) < set(OPERATOR_NAMES)
    for name in OPERATOR_NAMES:
        check_operator(name)
    with pytest.raises(ConfigError, match="Choose one of: gamepad"):
        check_operator("nobody")


def test_a_session_is_found_by_name_with_its_settings() -> None:
    made = create_session("ursula", "tether", name="one", operator="line", seed=4)
    found = find_session("one")
    assert found == made
    assert (found.operator, found.seed, found.with_emulator) == ("line", 4, True)
    with pytest.raises(ConfigError, match="--attach one"):
        create_session("ursula", "tether", name="one")
    made.close()
    with pytest.raises(ProcessError, match="Running: none"):
        find_session("one")


def test_a_robot_elsewhere_needs_neither_emulator_nor_robot_here() -> None:
    made = create_session("ursula", "tether", robot_address="tcp://10.0.0.2:5601")
    assert made.station_address == "tcp://10.0.0.2:5601"
    assert not made.with_emulator
    assert not made.with_robot
    made.close()


def test_folders_of_the_dead_are_cleared_and_of_the_living_kept() -> None:
    dead = create_session("ursula", "tether", name="dead")
    living = create_session("ursula", "tether", name="living")
    (dead.folder / "owner").write_text("999999999")
    assert (living.folder / "owner").read_text() == str(os.getpid())
    create_session("ursula", "tether", name="new").close()
    assert not dead.folder.exists()
    assert living.folder.exists()
    living.close()
