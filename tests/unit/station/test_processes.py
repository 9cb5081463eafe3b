"""Ending a session's processes, in a time that is counted and not waited."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from app.station.processes import Supervisor
from app.station.session import Session, create_session


class SlowChild:
    """A process that ends so long after it was asked to, by the time that is waited."""

    def __init__(self, takes_s: float, log: list[str], name: str) -> None:
        self._left_s = takes_s
        self._say: Callable[[str], None] = lambda word: log.append(f"{name} {word}")
        self._alive = True

    def is_alive(self) -> bool:
        return self._alive

    def terminate(self) -> None:
        self._say("asked")

    def kill(self) -> None:
        self._say("killed")
        self._alive = False

    def join(self, timeout: float | None = None) -> None:
        if timeout is not None and self._alive:
            self._left_s -= timeout
            self._alive = self._left_s > 0.0


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return create_session("ursula", "ideal", operator="none", log=tmp_path / "a.mcap")


def _stopped(session: Session, **takes_s: float) -> list[str]:
    log: list[str] = []
    supervisor = Supervisor(session)
    children = {name: SlowChild(s, log, name) for name, s in takes_s.items()}
    supervisor._children = cast("dict[str, Any]", children)
    supervisor.stop()
    session.close()
    return log


def test_a_station_that_is_behind_with_its_recording_is_waited_for(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    log = _stopped(session, robot=1.0, link=1.0, station=20.0)
    assert log.index("station asked") < log.index("robot asked")
    assert not [word for word in log if "killed" in word]
    assert "to close its recording" in capsys.readouterr().err


def test_one_that_closes_at_once_is_not_spoken_of(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "station killed" not in _stopped(session, station=0.5)
    assert not capsys.readouterr().err


def test_what_never_ends_is_killed(session: Session) -> None:
    assert {"station killed", "robot killed"} <= set(
        _stopped(session, robot=1e6, station=1e6)
    )
