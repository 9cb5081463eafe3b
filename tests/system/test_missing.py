"""What the station says of itself when something that it would like is missing."""

import os
from pathlib import Path

import pytest

from app.clock import NS_PER_MS, MonotonicClock
from app.control.blocks import SessionBlocks
from app.messages import unpack_event
from app.station.service import Station
from app.station.session import create_session
from tests.system.rig import MODEL


def test_missing_rights_and_a_missing_controller_are_named_with_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    monkeypatch.setenv("SDL_JOYSTICK_DISABLE_UDEV", "1")
    session = create_session("ursula", "ideal", log=tmp_path / "a.mcap")
    station = Station(session)
    events = SessionBlocks(session.folder, MODEL, create=False).events
    clock = MonotonicClock()
    try:
        station.start()
        for number in range(1, 102):
            station.watch(number)
            clock.wait_until(clock.now_ns() + NS_PER_MS)
        rows, _ = events.read()
        texts = " ".join(unpack_event(row).text for row in rows)
    finally:
        station.stop()
        session.close()
    assert "No real-time rights" in texts
    assert "limits.d" in texts
    assert "No game controller is connected" in texts
