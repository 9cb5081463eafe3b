"""`limblink links`: presets, and what is sent on each."""

import pytest
from typer.testing import CliRunner

from app.cli import lists
from app.cli.options import application
from app.errors import ConfigError


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists.out, "_width", 240)


def run(*arguments: str) -> str:
    result = CliRunner().invoke(application, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


@pytest.mark.usefixtures("wide")
def test_plan_shows_what_is_sent() -> None:
    table = run("links", "--plan", "--robot", "URSULA")
    (row,) = [line for line in table.splitlines() if "acoustic-m64" in line]
    assert "│   39 │     8 │" in row
    (row,) = [line for line in table.splitlines() if "acoustic-hs" in line]
    assert "│  159 │    28 │" in row
    assert "silver2" not in table


@pytest.mark.usefixtures("wide")
def test_presets_are_listed_without() -> None:
    table = run("links")
    assert "acoustic-psk" in table
    assert "what is sent" not in table


def test_a_robot_without_plan_and_one_that_cannot_be_driven() -> None:
    runner = CliRunner()
    for arguments in (
        ["links", "--robot", "ursula"],
        ["links", "--plan", "--robot", "monopus"],
    ):
        with pytest.raises(ConfigError):
            runner.invoke(application, arguments, catch_exceptions=False)
