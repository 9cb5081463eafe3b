"""`limblink tasks`: what there is to do, who can, and whether a robot reaches it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import tasks
from app.cli.options import application
from app.config.loader import find_asset
from app.config.task import task_names
from app.errors import ConfigError


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks.out, "_width", 300)


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(application, list(arguments), catch_exceptions=False)
    assert result.exit_code == code
    return result.stdout


def test_tasks_and_operators_are_listed() -> None:
    table = run("tasks")
    for name in task_names():
        assert name in table
    for word in ("submover", "replay:FILE", "rov-arm/arm", "half full arc120"):
        assert word in table


def test_reach_is_checked() -> None:
    table = run("tasks", "--check", "rov-arm", "--task", "circle", "--task", "line")
    assert table.count("yes") == 4
    assert "NO" not in table


def test_a_task_out_of_reach_ends_with_status_1(tmp_path: Path) -> None:
    text = find_asset("tasks", "line").read_text(encoding="utf-8")
    file = tmp_path / "far.toml"
    file.write_text(text.replace("-295.0", "-595.0"), encoding="utf-8")
    assert "NO" in run("tasks", "--check", "rov-arm", "--task", str(file), code=1)


def test_a_robot_without_any_task() -> None:
    with pytest.raises(ConfigError, match="preset for the robot"):
        run("tasks", "--check", "quadropus")
