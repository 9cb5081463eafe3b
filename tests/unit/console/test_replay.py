"""The replay console over a small recording: in step, everywhere, and no commands."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.clock import NS_PER_MS, NS_PER_S
from app.config.loader import find_asset
from app.console.beside import BesideWindow, anchor_of
from app.console.replay import ReplayWindow
from app.console.replay_history import TipReplay
from app.console.replay_source import ReplaySource
from app.console.run import make_application
from app.console.tips import TIP_FIELDS
from app.console.transport import Transport
from app.errors import LogError
from app.messages import Event, Mark, RobotState, Severity, StationMode
from app.scene import Scene
from app.session import Recorder
from tests.unit.console.stand import MODEL, StandScene
from tests.unit.session import samples

START_NS = samples.START_NS
SECONDS = 8
ARMED_S, CUT_S = 2.0, (4.0, 5.0)


def at(seconds: float) -> int:
    return START_NS + round(seconds * NS_PER_S)


def write_drive(path: Path, armed_s: float = ARMED_S) -> Path:
    """A drive at 100 states a second: armed from 2 s on, the link cut from 4 to 5 s."""
    robot = find_asset("robots", "ursula")
    files = {"robots-ursula.toml": robot.read_bytes()}
    facts = {"robot": "ursula", "link": "optical-rov", "strategy": "model-mediated"}
    row = np.zeros((1, samples.STATES.words), dtype=np.int64)
    state = samples.STATES.view(row[0])
    health = samples.HEALTH.view(np.zeros(samples.HEALTH.words, dtype=np.int64))
    state.coordinates_model[:] = MODEL.rest_coordinates
    health.confirmed_coordinates[:] = MODEL.rest_coordinates
    with Recorder(path, facts, files) as recorder:
        for k in range(100 * SECONDS):
            now_ns = START_NS + 10 * k * NS_PER_MS
            seconds = k / 100
            state.time_ns[0], state.tick[0] = now_ns, k
            state.mode[0] = int(seconds >= armed_s)
            state.reach_error[0] = 1e-3 * seconds
            state.tip_model[0, 0] = 0.1 * seconds
            recorder.write_states(row, samples.STATES.describe())
            if k % 10 == 0:
                cut = CUT_S[0] <= seconds < CUT_S[1]
                health.time_ns[0] = health.robot_heard_ns[0] = now_ns
                health.robot_state[0] = RobotState.ACTIVE
                health.age_ms[0] = 1000 * (seconds - CUT_S[0]) if cut else 30.0
                health.cut[0] = int(cut)
                health.telemetry_limit_ns[0] = 500 * NS_PER_MS
                health.confirmed_generated_ns[:] = now_ns - 30 * NS_PER_MS
                recorder.write_health(health)
            if k == 450:
                event = Event(now_ns, Severity.WARNING, "link", "Link is cut.")
                recorder.write_event(event)
                recorder.write_mark(Mark(now_ns, 1, "here", "console"))
            if k % 6 == 5:
                recorder.flush()
    return path


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_drive(tmp_path_factory.mktemp("replay") / "drive.mcap")


@pytest.fixture(scope="module")
def window(drive: Path) -> Iterator[ReplayWindow]:
    app = make_application()
    made = ReplayWindow(ReplaySource(drive))
    made.viewport.scene = cast("Scene", StandScene())
    made.resize(1366, 768)
    made.show()
    app.processEvents()
    yield made
    made.close()


def test_a_moment_is_shown_everywhere(window: ReplayWindow) -> None:
    window.show_moment(at(1.0))
    assert window.topbar.mode.word == "DISARMED"
    assert window.topbar.record.word == "REPLAY"
    window.show_moment(at(4.55))
    assert int(window.readings.state.tick[0]) == 455
    assert window.topbar.mode.word == "ARMED"
    assert window.topbar.link.word.startswith("CUT")
    scene = cast("StandScene", window.viewport.scene)
    assert scene.frame is not None
    assert scene.frame.time_ns == at(4.55)
    window.show_moment(at(1.0))
    assert int(window.readings.state.mode[0]) == StationMode.DISARMED, "and back"


def test_nothing_can_be_commanded(window: ReplayWindow, qtbot: QtBot) -> None:
    window.show_moment(at(3.0))
    for button in (
        window.topbar.arm,
        window.topbar.disarm,
        window.topbar.stop,
        window.topbar.reset,
        window.link.combo,
        window.link.cut,
    ):
        assert not button.isEnabled()
    place = window.viewport.camera.project(window.readings.state.tip_model[0])
    qtbot.mousePress(
        window.viewport,
        Qt.MouseButton.LeftButton,
        pos=QPoint(round(place[0]), round(place[1])),
    )
    assert window.controls.drag is None


def test_keys_play_and_step(window: ReplayWindow, qtbot: QtBot) -> None:
    window.show_moment(at(2.0))
    for key, wanted in (
        (Qt.Key.Key_Period, at(2.01)),
        (Qt.Key.Key_Comma, at(2.0)),
        (Qt.Key.Key_Right, at(2.1)),
        (Qt.Key.Key_N, at(4.0)),
        (Qt.Key.Key_N, at(4.5)),
        (Qt.Key.Key_P, at(4.0)),
        (Qt.Key.Key_End, at(7.99)),
        (Qt.Key.Key_Home, at(0.0)),
    ):
        qtbot.keyClick(window.viewport, key)
        assert window.transport.time_ns == wanted, key
    qtbot.keyClick(window.viewport, Qt.Key.Key_Space)
    qtbot.keyClick(window.viewport, Qt.Key.Key_BracketRight)
    assert window.transport.playing
    assert window.transport.speed == 2.0
    window.transport.toggle()


def test_a_click_on_the_timeline_goes_there(window: ReplayWindow, qtbot: QtBot) -> None:
    view = window.timeline
    x = round(view.x_of(at(6.0)))
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(x, 30))
    assert abs(window.transport.time_ns - at(6.0)) < 20 * NS_PER_MS
    assert view.time_at(view.x_of(at(6.0))) == pytest.approx(at(6.0), abs=1000)
    assert "mark 1: here" in view.timeline.near(at(4.5), NS_PER_MS)


def test_a_click_on_an_event_goes_there(window: ReplayWindow, qtbot: QtBot) -> None:
    item = window.events.list.item(0)
    assert item is not None
    assert "Link is cut." in item.text()
    place = window.events.list.visualItemRect(item).center()
    port = window.events.list.viewport()
    assert port is not None
    qtbot.mouseClick(port, Qt.MouseButton.LeftButton, pos=place)
    assert window.transport.time_ns == at(4.5)


def test_plots_are_in_step(drive: Path) -> None:
    source = ReplaySource(drive)
    history = TipReplay(TIP_FIELDS, source.player.overview, source.model)
    before, reach = history.curve("target_tip", at(6.0))
    assert before[-1] == pytest.approx(0.0)
    assert before[0] == pytest.approx(-6.0)
    np.testing.assert_allclose(reach, 1e-3 * (before + 6.0), atol=1e-8)
    _, speed = history.curve("speed", at(6.0))
    np.testing.assert_allclose(speed[1:], 0.1, rtol=1e-3)
    _, gap = history.curve("model_robot", at(6.0))
    assert np.isfinite(gap).all()
    source.close()


def test_two_side_by_side_share_one_moment(
    drive: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    make_application()
    other = write_drive(tmp_path / "later.mcap", armed_s=3.0)
    sources = [ReplaySource(drive), ReplaySource(other)]
    assert anchor_of(sources[1], "armed") == at(3.0)
    window = BesideWindow(sources, "armed")
    qtbot.addWidget(window)
    for pane in window.panes:
        pane.viewport.scene = cast("Scene", StandScene())
    window.resize(1366, 768)
    window.show()
    qtbot.waitExposed(window)
    window.show_moment(NS_PER_S)
    ticks = [int(pane.source.readings.state.tick[0]) for pane in window.panes]
    assert ticks == [300, 400]
    window.go_to_moment(1)
    assert window.transport.time_ns == at(4.5) - at(3.0), "the other's mark is nearer"
    window.close()


def test_transport_keeps_time_and_ends() -> None:
    transport = Transport(1000, 1000 + 10 * NS_PER_S)
    transport.advance(0)
    transport.speed = 0.5
    transport.toggle()
    assert transport.advance(2 * NS_PER_S) == 1000 + NS_PER_S
    transport.seek(-5)
    assert transport.time_ns == 1000
    transport.speed = 16.0
    assert transport.advance(20 * NS_PER_S) == transport.end_ns
    assert not transport.playing
    transport.toggle()
    assert transport.time_ns == 1000, "from the start again"
    for _ in range(20):
        transport.change_speed(-1)
    assert transport.speed == 0.1


def test_what_is_no_drive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "marks.mcap"
    with Recorder(path, {"robot": "ursula"}) as recorder:
        recorder.write_event(samples.EVENT)
    with pytest.raises(LogError, match="it is no drive"):
        ReplaySource(path)
    path = tmp_path / "nameless.mcap"
    with Recorder(path, {}) as recorder:
        recorder.write_states(samples.state_rows(3), samples.STATES.describe())
    with pytest.raises(LogError, match="does not say which robot"):
        ReplaySource(path)
