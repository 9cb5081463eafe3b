"""A console that holds its GIL for 5 s, in motion: loop and link do not notice."""

import ctypes
import os
import subprocess
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.clock import NS_PER_MS
from app.console.run import make_application
from app.console.window import ConsoleWindow
from app.messages import RobotState, Source
from tests.system.rig import ROBOT, View, running_session, wait_for

pytestmark = [pytest.mark.system, pytest.mark.timeout(120)]

STALL_S = 5


def start_witness() -> subprocess.Popen[str]:
    """Start cyclictest beside the loop, on its core and just below its priority."""
    return subprocess.Popen(
        f"cyclictest -q -m -t1 -p79 -i1000 -h500000 -D{STALL_S} "
        f"-a{max(os.sched_getaffinity(0))}".split(),
        stdout=subprocess.PIPE,
        text=True,
    )


def lost_by(witness: subprocess.Popen[str]) -> float:
    """Milliseconds that the witness was late by, where it was late by more than one."""
    lost = 0.0
    output, _ = witness.communicate(timeout=20)
    for line in output.splitlines():
        words = line.split()
        if len(words) == 2 and words[0].isdigit() and int(words[0]) >= 900:
            lost += int(words[1]) * int(words[0]) / 1e3
    assert "Histogram" in output
    return lost


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
        statistics = view.blocks.statistics
        statistics.refresh()
        overruns = int(statistics.local.overruns[0])
        tick = int(view.state.tick[0])
        witness = start_witness()
        ctypes.PyDLL(None).sleep(STALL_S)  # PyDLL keeps the GIL
        state = view.state
        lost = lost_by(witness)
        assert int(state.tick[0]) - tick > 990 * STALL_S - lost
        assert state.source_fresh[Source.CONSOLE] == 0
        assert state.source_age_ns[Source.CONSOLE] > 4000 * NS_PER_MS
        assert state.active_source[0] == Source.SCRIPT
        assert view.health.robot_state[0] == RobotState.ACTIVE
        assert view.health.command_age_ms[0] < 500.0
        statistics.refresh()
        # none but those that the machine itself loses, which the witness sees only
        # where they meet it: a loop that waited for this window would lose all 5000
        assert int(statistics.local.overruns[0]) - overruns <= lost + 10
        window.close()
