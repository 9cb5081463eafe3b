"""kill -9 of each process in motion: the others live, the robot protects itself."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from app.config.link import load_link
from app.errors import FrameError
from app.link.endpoint import Endpoint
from app.link.frame import Codec, HelloFrame, SetpointFrame, TelemetryFrame
from app.messages import RobotState, StationMode
from app.session import open_log
from app.station.link_worker import ROBOT_ID
from tests.system.rig import CLOCK, MODEL, ROBOT, View, alive, running_session, wait_for

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]


def _moving(view: View) -> bool:
    return (
        view.health.robot_state[0] == RobotState.ACTIVE
        and view.health.robot_epoch[0] == view.state.arm_epoch[0]
        and view.state.active_source[0] >= 0
    )


def _moving_again(view: View, epoch: int) -> bool:
    return int(view.state.arm_epoch[0]) != epoch and _moving(view)


def _read(codec: Codec, received_ns: int, packet: bytes) -> object:
    try:
        return codec.decode(packet, received_ns)
    except FrameError:
        return None


def _met(ear: Endpoint, codec: Codec) -> bool:
    """Knock as a stranger may, and take up the session that the robot then tells."""
    knock = SetpointFrame(
        sequence=0,
        generated_ns=CLOCK.now_ns(),
        robot=ROBOT_ID,
        limb=0,
        epoch=0,
        mode=StationMode.DISARMED,
        period_ms=100.0,
        coordinates=np.full((2, 3), np.nan),
    )
    ear.send(codec.encode(knock))
    for received_ns, packet in ear.receive(50):
        frame = _read(codec, received_ns, packet)
        if isinstance(frame, HelloFrame):
            codec.bind(frame.session)
            return True
    return False


def test_a_killed_robot_leaves_the_rest_alive_and_can_return(tmp_path: Path) -> None:
    with running_session(tmp_path / "a.mcap") as (session, supervisor):
        view = View(session)
        wait_for("motion", lambda: _moving(view))
        others = [supervisor.pid("station"), supervisor.pid("link")]
        epoch = int(view.state.arm_epoch[0])
        os.kill(supervisor.pid("robot"), signal.SIGKILL)
        wait_for("its end", lambda: not supervisor.running("robot"))
        assert "signal 9" in supervisor.status()["robot"]
        supervisor.restart("robot")
        wait_for("motion again, by a new arming", lambda: _moving_again(view, epoch))
        assert all(alive(pid) for pid in others)


def test_a_killed_emulator_leaves_the_rest_alive_and_can_return(
    tmp_path: Path,
) -> None:
    with running_session(tmp_path / "b.mcap") as (session, supervisor):
        view = View(session)
        wait_for("motion", lambda: _moving(view))
        others = [supervisor.pid("station"), supervisor.pid("robot")]
        os.kill(supervisor.pid("link"), signal.SIGKILL)
        wait_for("its end", lambda: not supervisor.running("link"))
        wait_for("emulator gone", lambda: not view.health.emulator_present[0], 5.0)
        supervisor.restart("link")
        wait_for("emulator back", lambda: bool(view.health.emulator_present[0]))
        wait_for("motion again", lambda: _moving(view))
        assert all(alive(pid) for pid in others)


def test_a_killed_station_leaves_a_readable_log_and_a_robot_that_lets_go(
    tmp_path: Path,
) -> None:
    log = tmp_path / "c.mcap"
    with running_session(log) as (session, supervisor):
        view = View(session)
        wait_for("motion", lambda: _moving(view))
        CLOCK.wait_until(CLOCK.now_ns() + 1_000_000_000)
        others = [supervisor.pid("robot"), supervisor.pid("link")]
        epoch = int(view.state.arm_epoch[0])
        codec = Codec(MODEL, ROBOT_ID, load_link(session.link).medium.mtu_bytes)
        since: dict[RobotState, float] = {}
        with Endpoint(session.station_address, "connect") as ear:
            wait_for("the robot's session", lambda: _met(ear, codec))
            last_tick_ns = int(view.state.time_ns[0])
            os.kill(supervisor.pid("station"), signal.SIGKILL)
            killed_ns = CLOCK.now_ns()

            def compliant() -> bool:
                for received_ns, packet in ear.receive(20):
                    frame = _read(codec, received_ns, packet)
                    if isinstance(frame, TelemetryFrame):
                        elapsed_s = (frame.generated_ns - killed_ns) * 1e-9
                        since.setdefault(RobotState(frame.state), elapsed_s)
                return RobotState.COMPLIANT in since

            wait_for("the robot lets go", compliant, 15.0)
        safety = ROBOT.safety
        assert since[RobotState.HOLD] < safety.hold_after_ms * 1e-3 + 0.6
        assert abs(since[RobotState.COMPLIANT] - safety.compliant_after_ms * 1e-3) < 0.6
        assert all(alive(pid) for pid in others)
        recording = open_log(log)
        times = [message.time_ns for message in recording.messages(["/state"])]
        assert last_tick_ns - times[-1] < 200_000_000
        supervisor.restart("station")
        wait_for("motion, after a new arming", lambda: _moving_again(view, epoch))
        assert int(view.state.mode[0]) == StationMode.ARMED
        assert (tmp_path / "c-2.mcap").exists()


def test_a_killed_console_is_missed_by_nobody(tmp_path: Path) -> None:
    with running_session(tmp_path / "d.mcap") as (session, supervisor):
        view = View(session)
        wait_for("motion", lambda: _moving(view))
        console = subprocess.Popen(
            [sys.executable, "-m", "app", "--attach", session.name],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

        def drawing() -> bool:
            wish = view.blocks.wish
            return wish.refresh() and int(wish.local.console_pid[0]) == console.pid

        try:
            wait_for("the console's heartbeat", drawing, 90.0)
        finally:
            console.kill()
            console.wait()
        tick = int(view.state.tick[0])
        wait_for("a thousand ticks more", lambda: view.state.tick[0] > tick + 1000)
        assert _moving(view)
        assert all(alive(supervisor.pid(name)) for name in supervisor.names)
