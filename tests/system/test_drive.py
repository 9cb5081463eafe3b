"""The whole path with its real processes: gamepad to limb, links, and virtual time."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.config.link import load_link
from app.messages import RobotState, Source, StationMode
from app.operator.virtual_gamepad import VirtualGamepad
from app.session import open_log
from app.station.processes import Supervisor
from app.station.service import Station
from app.station.session import create_session
from app.study.recorded_session import RecordedSession
from app.study.station_rerun import OUTPUTS, StationRerun, rerun_station
from app.study.trial_run import run_trial
from app.study.trial_setup import TrialSetup
from models.tip import limb_tips
from tests.recordings import rewritten
from tests.system.rig import CLOCK, MODEL, View, alive, wait_for
from tests.system.witness import witness

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]

BELOW_EMULATOR = 59  # its priority is 60


class StationlessSupervisor(Supervisor):
    """Starts link and robot; the test itself is the station."""

    @property
    def names(self) -> list[str]:
        return ["robot", "link"]


class _Pump:
    """Runs the station's watch while a test waits."""

    def __init__(self, station: Station) -> None:
        self.station = station
        self.rounds = 0

    def wait(self, what: str, done, timeout_s: float = 20.0) -> float:
        def check() -> bool:
            self.station.watch(self.rounds)
            self.rounds += 1
            return bool(done())

        return wait_for(what, check, timeout_s)


def _mean_tip(view: View, milliseconds: int) -> np.ndarray:
    """Mean of the first limb's confirmed tip over some time (3,) [m]."""
    until_ns = CLOCK.now_ns() + milliseconds * NS_PER_MS
    tips = []
    while CLOCK.now_ns() < until_ns:
        tips.append(limb_tips(MODEL, view.health.confirmed_coordinates)[0])
        CLOCK.wait_until(CLOCK.now_ns() + 10 * NS_PER_MS)
    return np.mean(tips, axis=0)


def test_a_gamepad_drives_the_limb_and_unplugging_it_stops_the_limb(
    tmp_path: Path,
) -> None:
    log = tmp_path / "drive.mcap"
    session = create_session("ursula", "optical-lab", operator="gamepad", log=log)
    supervisor = StationlessSupervisor(session)
    pad = VirtualGamepad()
    station = Station(session, pad)
    try:
        supervisor.start()
        station.start()
        view = View(session)
        pump = _Pump(station)
        # the first processes of a run: a slow disk has to give all of Python to them
        pump.wait("telemetry", lambda: view.health.robot_heard_ns[0] > 0, 60.0)
        pump.wait("the pad", lambda: view.state.source_fresh[Source.GAMEPAD] == 1)
        CLOCK.wait_until(CLOCK.now_ns() + 60 * NS_PER_MS)
        pad.press("start")
        pump.wait("arming", lambda: view.state.mode[0] == StationMode.ARMED)
        pad.release("start")
        pump.wait(
            "the robot follows",
            lambda: view.health.robot_state[0] == RobotState.ACTIVE,
        )
        start = _mean_tip(view, 200)
        command = view.state.tip_commanded[0].copy()
        pad.press("rightshoulder").set_axis("leftx", -0.5)
        drove: set[int] = set()

        def moved() -> bool:
            # both: a limb that has just stiffened swings, and may come first
            drove.add(int(view.state.active_source[0]))
            tips = limb_tips(MODEL, view.health.confirmed_coordinates)
            return bool(
                view.state.tip_commanded[0, 1] > command[1] + 0.03
                and tips[0, 1] > start[1] + 0.03
            )

        pump.wait("command and tip of the robot move 30 mm to port", moved)
        assert drove - {-1} == {Source.GAMEPAD}  # a late pad moves nothing meanwhile
        # unplug it in motion
        pad.detach()
        pump.wait("neutral", lambda: view.state.active_source[0] == -1, 1.0)
        at_loss = view.state.tip_commanded[0].copy()
        place = _mean_tip(view, 200)

        def still() -> bool:
            """Whether two means, half a second apart, are one place near the command.

            At the speed it had, the limb would go on by 25 mm between them; sensor
            noise is 1.5 mm a sample. It comes to rest, sagging, in the time of its
            emulator, which a starved machine lets fall behind.
            """
            nonlocal place
            before = place
            CLOCK.wait_until(CLOCK.now_ns() + 300 * NS_PER_MS)
            place = _mean_tip(view, 200)
            return bool(
                np.linalg.norm(place - before) < 5e-3
                and np.linalg.norm(place - at_loss) < 15e-3
            )

        pump.wait("the limb comes to rest where its command stopped", still)
        assert np.linalg.norm(view.state.tip_commanded[0] - at_loss) < 1e-6
        pump.wait("one more round", lambda: True)
    finally:
        summary = station.stop()
        supervisor.stop()
        session.close()
    assert summary["log"] == str(log)
    texts = [event["text"] for event in summary["events"]]
    assert any("The gamepad moves the grasper" in text for text in texts)
    assert any("was unplugged" in text or "disconnected" in text for text in texts), (
        texts
    )
    recording = open_log(log)
    seen = {message.topic for message in recording.messages()}
    assert {
        "/state",
        "/input/gamepad",
        "/frame/down",
        "/frame/up",
        "/packet",
        "/health",
        "/event",
    } <= seen


def _drive(tmp_path: Path, *options: str, timeout_s: float = 120.0) -> dict:
    result = subprocess.run(
        [sys.executable, "-m", "app", "drive", "--headless", "--json", *options,
         "--log", str(tmp_path / "run.mcap")],
        capture_output=True, text=True, timeout=timeout_s, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-2000:]
    return json.loads(result.stdout.splitlines()[-1])


def test_an_acoustic_link_delays_loses_and_limits_as_its_preset_says(
    tmp_path: Path,
) -> None:
    seconds = 30.0
    with witness(BELOW_EMULATOR) as machine:
        summary = _drive(
            tmp_path, "--link", "acoustic-hs", "--operator", "circle",
            "--seconds", str(seconds), "--seed", "5",
        )  # fmt: skip
    link = load_link("acoustic-hs")
    figures = summary["link"]
    # delivered when scheduled, but for what the machine itself was late by
    for way in ("down", "up"):
        scheduled = figures["scheduled_delay_ms"][way]
        carried = figures["carried_delay_ms"][way]
        for rank in ("p50", "p99"):
            assert carried[rank] - scheduled[rank] < 2.0 + machine.longest_ms
        assert scheduled["p50"] > link.propagation_ms
    error = link.loss_standard_error(seconds, figures["packets"])
    assert abs(figures["loss"] - link.expected_loss()) < 3.0 * error
    assert figures["down_bps"] + figures["up_bps"] < link.down_bps
    assert summary["loop"]["ticks"] > 900 * seconds - machine.lost_ms
    assert summary["tip_error_mm"]["rms"] is not None
    assert Path(summary["log"]).stat().st_size > 100_000


LET_GO = 25  # samples, of 250 a second: some are overtaken before they are read
GOALS = """
robot = "ursula"
[[goals]]
kind = "reach"
limb = "palpation"
at_mm = [520.0, 110.0, 100.0]
[[goals]]
kind = "stop"
limb = "palpation"
"""


def _redone(log: Path, folder: Path) -> StationRerun:
    folder.mkdir()
    return rerun_station(RecordedSession(log, folder))


def test_the_stations_side_of_a_live_drive_comes_out_again(tmp_path: Path) -> None:
    plan = tmp_path / "goals.toml"
    plan.write_text(GOALS)
    for seconds in ("3", "10", "30"):  # a robot may be slow to start
        (tmp_path / "run.mcap").unlink(missing_ok=True)
        summary = _drive(
            tmp_path, "--link", "optical-rov", "--strategy", "two-port",
            "--scene", "wall", "--operator", "presser", "--task", "press",
            "--goals", str(plan), "--blend", "0.6", "--aim", "grasper:500,-120,90",
            "--seconds", seconds,
        )  # fmt: skip
        log = Path(summary["log"])
        if sum(1 for _ in open_log(log).messages({"/telemetry"})) > 20:
            break
    plan.unlink()  # it is in the recording
    found = _redone(log, tmp_path / "as it was")
    assert str(found.first) == "None"
    assert found.unknown == ""
    assert found.full_states is True
    assert found.altered == ()
    assert found.goals == 2
    assert found.counts["/state"] >= summary["loop"]["ticks"]
    assert found.counts["/frame/down"] > 50
    assert all(found.counts[topic] > 10 for topic in OUTPUTS)

    frames = found.counts["/frame/down"]

    def flip(topic: str, number: int, data: bytes) -> bytes:
        if topic == "/input/script" and 0 <= number - middle < LET_GO:
            sample = inputs[number].content
            assert sample.SerializeToString(deterministic=True) == data
            sample.present = False
            data = sample.SerializeToString(deterministic=True)
        if (topic, number) == ("/frame/down", frames - 20):
            data = data[:-1] + bytes([data[-1] ^ 1])  # the payload comes last
        return data

    inputs = list(open_log(log).messages({"/input/script"}))
    middle = len(inputs) // 2
    wrong = rewritten(log, tmp_path / "wrong.mcap", flip)
    found = _redone(wrong, tmp_path / "as it is")
    assert found.altered == ("/frame/down", "/input/script")
    assert {"/state", "/frame/down"} <= set(found.different)
    assert found.first is not None
    assert found.first.topic == "/state"
    at_ns = (
        inputs[middle].time_ns - next(iter(open_log(log).messages({"/state"}))).time_ns
    )
    assert 0.0 <= found.first.time_s - at_ns / NS_PER_S < 0.05 + LET_GO / 250.0


def test_equal_seeds_give_equal_bytes_in_virtual_time(tmp_path: Path) -> None:
    logs = [tmp_path / f"{name}.mcap" for name in ("first", "second", "other")]
    for log, seed in zip(logs, (7, 7, 8), strict=True):
        run_trial(TrialSetup(link="optical-turbid", seed=seed), 3.0, log)
    first, second, other = (log.read_bytes() for log in logs)
    assert first == second
    assert first != other
    assert sum(1 for _ in open_log(logs[0]).messages(["/state"])) == 3000


def test_a_killed_drive_takes_its_children_with_it(tmp_path: Path) -> None:
    name = f"kill-{os.getpid()}"
    parent = subprocess.Popen(
        [sys.executable, "-m", "app", "drive", "--headless", "--name", name,
         "--seconds", "60", "--log", str(tmp_path / "run.mcap")],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    children: list[int] = []

    def three_children() -> bool:
        path = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
        children[:] = [int(word) for word in path.read_text().split()]
        return len(children) == 3

    wait_for("three children", three_children)
    parent.kill()
    parent.wait()
    took_s = wait_for("no child", lambda: not any(map(alive, children)), 10.0)
    assert took_s < 8.0
    assert math.isfinite(took_s)
