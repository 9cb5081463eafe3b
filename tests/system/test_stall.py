"""A console that holds its GIL for 5 s, in motion: loop and link do not notice."""

import ctypes
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
    """Start cyclictest on every core, just below the loop's priority, if it has one."""
    granted = subprocess.run(
        ["chrt", "-f", "79", "true"], check=False, capture_output=True
    )
    policy = "-m -p79" if granted.returncode == 0 else "--policy=other"
    return subprocess.Popen(
        f"cyclictest -q -S {policy} -i1000 -h500000 -D{STALL_S + 3}".split(),
        stdout=subprocess.PIPE,
        text=True,
    )


def lost_by(witness: subprocess.Popen[str]) -> float:
    """Milliseconds that the witness was late by, where it was late by most of one."""
    lost = 0.0
    output, _ = witness.communicate(timeout=20)
    for line in output.splitlines():
        words = line.split()
        if len(words) > 1 and all(word.isdigit() for word in words):
            late_us, counts = int(words[0]), map(int, words[1:])
            lost += sum(counts) * late_us / 1e3 if late_us >= 700 else 0.0
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
        witness = start_witness()
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
        assert state.source_fresh[Source.CONSOLE] == 0
        assert state.source_age_ns[Source.CONSOLE] > 4000 * NS_PER_MS
        assert state.active_source[0] == Source.SCRIPT
        assert view.health.robot_state[0] == RobotState.ACTIVE
        assert view.health.command_age_ms[0] < 500.0
        # none but those that the machine itself loses: a loop that waited for this
        # window would have lost all 5000
        lost = lost_by(witness)
        assert overruns <= lost
        assert ticks > 990 * STALL_S - lost
        window.close()
