"""The commands of `limblink haptic`, without hardware."""

import pytest
from typer.testing import CliRunner

from app.cli import haptic as commands
from app.errors import ConfigError
from app.operator.haptic import kinds
from app.station.stop import StopFlag


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch):
    """Run a command in this process, whose signals stay as they are."""
    monkeypatch.setattr(StopFlag, "install", lambda _: None)
    monkeypatch.setattr(kinds, "find_caps", list)
    shown: list[str] = []
    monkeypatch.setattr(commands.out, "print", lambda *a, **_: shown.append(str(a[0])))

    def call(*arguments: str):
        return CliRunner().invoke(commands.haptic, list(arguments)), shown

    return call


def test_a_virtual_device_is_tried(run) -> None:
    result, shown = run("test", "inverse3", "--virtual", "--seconds", "0.5")
    assert result.exit_code == 0, result.output
    assert any("cycles at" in line for line in shown)
    assert any("late p50" in line for line in shown)


def test_a_device_that_is_not_there_ends_with_status_1(run) -> None:
    result, shown = run(
        "test", "inverse3", "--url", "ws://127.0.0.1:9", "--seconds", "0.1"
    )
    assert result.exit_code == 1
    assert not shown


def test_find_and_serve(run) -> None:
    result, shown = run("find", "--url", "ws://127.0.0.1:9")
    assert (result.exit_code, len(shown)) == (0, 1)
    result, shown = run("serve", "--port", "0", "--seconds", "0.1")
    assert result.exit_code == 0, result.output
    assert any("answers at ws://" in line for line in shown)


def test_another_name_is_refused(run) -> None:
    result, _ = run("test", "falcon")
    assert isinstance(result.exception, ConfigError)


@pytest.mark.parametrize("name", ["find", "test", "serve"])
def test_help_has_examples(run, name: str) -> None:
    result, _ = run(name, "--help")
    assert "Examples" in result.output
