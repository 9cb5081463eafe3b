"""What is compiled before anything is driven, once."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from app.errors import ProcessError
from app.station import warmup


class Child:
    """A process that has ended."""

    started: list[str] = []  # noqa: RUF012  # emptied for each test
    status = 0

    def __init__(self, command: list[str]) -> None:
        self.started.append(command[-1].rsplit("w.", 1)[-1])

    def wait(self) -> int:
        return self.status


@pytest.fixture(autouse=True)
def children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The processes that were started; nothing is compiled."""
    monkeypatch.setenv("LIMBLINK_CACHE", str(tmp_path))
    monkeypatch.setattr(warmup.subprocess, "Popen", Child)
    monkeypatch.setattr(
        warmup,
        "warm_up_steps",
        lambda: [("loop", lambda: Child.started.append("loop"))],
    )
    Child.started.clear()
    monkeypatch.setattr(Child, "status", 0)
    return Child.started


def console() -> Console:
    return Console(file=io.StringIO())


def test_contact_is_compiled_where_it_is_wanted_and_all_of_it_once(
    children: list[str],
) -> None:
    warmup.warm_up(console(), contact=False)
    assert children == ["warm_up_robot_side()", "loop"]
    assert warmup.is_warm()
    children.clear()
    warmup.warm_up(console(), contact=False)
    assert children == []
    warmup.warm_up(console(), contact=True)
    assert children == ["warm_up_contact()"]
    children.clear()
    warmup.warm_up(console(), contact=True)
    assert children == []


def test_a_process_that_fails_is_said_and_tried_again(
    children: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Child, "status", 1)
    with pytest.raises(ProcessError, match="limblink doctor"):
        warmup.warm_up(console(), contact=True)
    assert not warmup.is_warm()
    monkeypatch.setattr(Child, "status", 0)
    children.clear()
    warmup.warm_up(console(), contact=True)
    assert sorted(children) == ["loop", "warm_up_contact()", "warm_up_robot_side()"]
