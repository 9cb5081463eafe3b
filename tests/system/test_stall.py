"""A console that holds its GIL for 5 s, in motion: loop and link do not notice."""

import ctypes
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.clock import NS_PER_MS
from app.console.run import make_application
from app.console.window import ConsoleWindow
from app.messages import RobotState, Source
from tests.system.rig import ROBOT, View, running_session, wait_for
from tests.system.witness import witness

pytestmark = [pytest.mark.system, pytest.mark.timeout(120)]

STALL_S = 5
BELOW_LOOP = 79  # its priority is 80


def test_a_console_that_holds_the_gil_stalls_nobody_else(
    tmp_path: Path, qtbot: QtBot
) -> None:
    with running_session(tmp_path / "stall.mcap") as (session, _):
        view = View(session)
        wait_for("motion", lambda: view.health.robot_state[0] == RobotState.ACTIVE)
        make_application()
        window = ConsoleWindow(session.folder, ROBOT, None)
        window.show()
        window.start()
        qtbot.waitUntil(
            lambda: bool(view.state.source_fresh[Source.CONSOLE] == 1), timeout=20_000
        )
        with witness(BELOW_LOOP) as machine:
            qtbot.wait(1000)  # it is there before the stall, and after it
            statistics = view.blocks.statistics
            statistics.refresh()
            overruns = int(statistics.local.overruns[0])
            tick = int(view.state.tick[0])
            ctypes.PyDLL(None).sleep(STALL_S)  # PyDLL keeps the GIL
            state = view.state
            statistics.refresh()
            ticks = int(state.tick[0]) - tick
            overruns = int(statistics.local.overruns[0]) - overruns
            health = view.health
        window.close()
        assert state.source_fresh[Source.CONSOLE] == 0
        assert state.source_age_ns[Source.CONSOLE] > 4000 * NS_PER_MS
        assert state.active_source[0] == Source.SCRIPT
        assert health.robot_state[0] == RobotState.ACTIVE
        assert health.command_age_ms[0] < 500.0
        # none but those that the machine itself loses: a loop that waited for this
        # window would have lost all 5000
        assert overruns <= machine.lost_ms
        assert ticks > 990 * STALL_S - machine.lost_ms
