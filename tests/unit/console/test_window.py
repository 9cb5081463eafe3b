"""The real window over real shared blocks, used as a person would."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.clock import NS_PER_MS
from app.config.link import link_names, load_link
from app.console.window import ConsoleWindow
from app.console.words import distance
from app.errors import DeviceError
from app.messages import InputMode, RobotState, Severity, StationMode
from app.scene import Scene
from tests.unit.console.desk import LEFT, Desk
from tests.unit.console.stand import (
    CLOCK,
    ROBOT,
)


@pytest.fixture
def desk(tmp_path: Path, qtbot: QtBot) -> Iterator[Desk]:
    made = Desk(tmp_path / "session", qtbot)
    yield made
    made.ticker.stop()
    made.window.close()


def test_arming_takes_a_hold_and_not_a_click(desk: Desk) -> None:
    button = desk.window.topbar.arm
    desk.qtbot.waitUntil(button.isEnabled)
    desk.hold(button)
    desk.qtbot.waitUntil(lambda: button.progress > 0.2)
    desk.qtbot.mouseRelease(button, LEFT)
    due_ns = CLOCK.now_ns() + 700 * NS_PER_MS
    desk.qtbot.waitUntil(lambda: CLOCK.now_ns() > due_ns)
    assert desk.station.mode == StationMode.DISARMED
    desk.arm()
    desk.qtbot.waitUntil(lambda: desk.window.topbar.mode.word == "ARMED")
    desk.qtbot.mouseClick(desk.window.topbar.disarm, LEFT)
    desk.qtbot.waitUntil(lambda: desk.window.topbar.mode.word == "DISARMED")


def test_a_refused_arming_says_why(desk: Desk) -> None:
    desk.station.refuse_with = 2
    desk.hold(desk.window.topbar.arm)
    desk.qtbot.waitUntil(lambda: "too old" in desk.window.notice)
    desk.qtbot.mouseRelease(desk.window.topbar.arm, LEFT)
    assert desk.station.mode == StationMode.DISARMED


def test_the_stop_latches_and_takes_two_acts_to_clear(desk: Desk) -> None:
    desk.arm()
    bar = desk.window.topbar
    desk.hold(bar.stop)  # acts on the press, not on the release
    desk.qtbot.waitUntil(lambda: desk.station.mode == StationMode.ESTOP)
    desk.qtbot.mouseRelease(bar.stop, LEFT)
    desk.qtbot.waitUntil(lambda: bar.stop.words[0] == "STOPPED")
    assert not bar.reset.isEnabled()
    assert not bar.arm.isEnabled()
    desk.qtbot.mouseClick(bar.stop, LEFT)
    desk.qtbot.waitUntil(bar.reset.isEnabled)
    assert desk.station.mode == StationMode.ESTOP
    desk.hold(bar.reset)
    desk.qtbot.waitUntil(lambda: desk.station.mode == StationMode.DISARMED)
    desk.qtbot.mouseRelease(bar.reset, LEFT)
    desk.arm()


def test_a_released_stop_can_be_pressed_again(desk: Desk) -> None:
    bar = desk.window.topbar
    desk.qtbot.mouseClick(bar.stop, LEFT)
    desk.qtbot.waitUntil(lambda: bar.stop.words[0] == "STOPPED")
    desk.qtbot.mouseClick(bar.stop, LEFT)
    desk.qtbot.mouseClick(bar.stop, LEFT)
    assert not bar.stop.is_released
    desk.qtbot.waitUntil(
        lambda: int(desk.station.blocks.inputs[1].local.estop_count[0]) == 2
    )


@pytest.mark.parametrize("place", ["viewport", "combo", "arm", "help"])
def test_escape_stops_wherever_the_focus_is(desk: Desk, place: str) -> None:
    desk.arm()
    window = desk.window
    widgets: dict[str, QWidget] = {
        "viewport": window.viewport,
        "combo": window.link.combo,
        "arm": window.topbar.arm,
        "help": window.help,
    }
    if place == "help":
        desk.qtbot.keyClick(window.viewport, Qt.Key.Key_F1)
        assert window.help.isVisible()
    widgets[place].setFocus()
    desk.qtbot.keyClick(widgets[place], Qt.Key.Key_Escape)
    desk.qtbot.waitUntil(lambda: desk.station.mode == StationMode.ESTOP)
    assert int(desk.station.blocks.inputs[1].local.estop_count[0]) == 1


def test_the_help_leaves_the_stop_free(desk: Desk) -> None:
    desk.qtbot.keyClick(desk.window.viewport, Qt.Key.Key_F1)
    assert desk.window.help.geometry().top() >= desk.window.topbar.geometry().bottom()
    desk.qtbot.keyClick(desk.window.viewport, Qt.Key.Key_F1)
    assert not desk.window.help.isVisible()


def test_keys_drive_the_picture_and_let_go_with_the_focus(desk: Desk) -> None:
    desk.arm()
    viewport = desk.window.viewport
    before = desk.station.targets[0].copy()
    desk.qtbot.keyPress(viewport, Qt.Key.Key_Space)
    desk.qtbot.keyPress(viewport, Qt.Key.Key_W)
    desk.qtbot.waitUntil(lambda: desk.station.targets[0][0] > before[0] + 0.02)
    assert desk.sent() == (InputMode.RATE, 0, 1)
    desk.window.link.combo.setFocus()
    desk.qtbot.waitUntil(lambda: desk.sent()[2] == 0)
    stopped = desk.station.targets[0].copy()
    due_ns = CLOCK.now_ns() + 100 * NS_PER_MS
    desk.qtbot.waitUntil(lambda: CLOCK.now_ns() > due_ns)
    np.testing.assert_array_equal(desk.station.targets[0], stopped)


def test_a_digit_selects_and_the_card_follows(desk: Desk) -> None:
    desk.qtbot.keyClick(desk.window.viewport, Qt.Key.Key_3)
    desk.qtbot.waitUntil(lambda: desk.window.limbs.cards[2].selected)
    desk.qtbot.keyClick(desk.window.viewport, Qt.Key.Key_Tab)
    desk.qtbot.waitUntil(lambda: desk.window.limbs.cards[3].selected)
    desk.qtbot.mouseClick(desk.window.limbs.cards[1], LEFT)
    desk.qtbot.waitUntil(lambda: desk.window.limbs.cards[1].selected)
    assert desk.window.viewport.hasFocus()


def test_a_selection_made_elsewhere_is_taken_over(desk: Desk) -> None:
    desk.station.selected = 2
    desk.qtbot.waitUntil(lambda: desk.sent()[1] == 2)


def test_dragging_a_tip_moves_its_target_under_the_cursor(desk: Desk) -> None:
    desk.arm()
    viewport = desk.window.viewport
    start = desk.tip_pixel(1)
    grab = start + QPoint(6, -4)
    desk.qtbot.mousePress(viewport, LEFT, pos=grab)
    desk.qtbot.waitUntil(lambda: desk.sent() == (InputMode.TARGET, 1, 1))
    away = QPoint(-30, 24)
    desk.qtbot.mouseMove(viewport, grab + away)
    drag = desk.window.controls.drag
    assert drag is not None
    x, y, _ = viewport.camera.project(drag.target)
    assert abs(x - (start + away).x()) < 1.5
    assert abs(y - (start + away).y()) < 1.5
    wanted = drag.target.copy()
    desk.qtbot.waitUntil(lambda: bool(np.allclose(desk.station.targets[1], wanted)))
    assert desk.scene.frame is not None
    assert desk.scene.frame.target is not None
    desk.qtbot.mouseRelease(viewport, LEFT, pos=grab + away)
    desk.qtbot.waitUntil(lambda: desk.sent()[2] == 0)


def test_a_drag_before_arming_moves_nothing_and_says_so(desk: Desk) -> None:
    before = desk.station.targets.copy()
    grab = desk.tip_pixel(1)
    desk.qtbot.mousePress(desk.window.viewport, LEFT, pos=grab)
    assert desk.window.controls.drag is None
    desk.qtbot.mouseMove(desk.window.viewport, grab + QPoint(40, 0))
    desk.qtbot.mouseRelease(desk.window.viewport, LEFT, pos=grab)
    np.testing.assert_array_equal(desk.station.targets, before)


def test_losing_the_focus_ends_a_drag(desk: Desk) -> None:
    desk.arm()
    desk.qtbot.mousePress(desk.window.viewport, LEFT, pos=desk.tip_pixel(0))
    desk.qtbot.waitUntil(lambda: desk.sent()[2] == 1)
    desk.window.viewport.clearFocus()
    desk.qtbot.waitUntil(lambda: desk.sent()[2] == 0)


def test_the_view_turns_without_touching_the_robot(desk: Desk) -> None:
    viewport = desk.window.viewport
    before = viewport.camera.position.copy()
    right = Qt.MouseButton.RightButton
    desk.qtbot.mousePress(viewport, right, pos=QPoint(400, 300))
    desk.qtbot.mouseMove(viewport, QPoint(450, 330))
    desk.qtbot.mouseRelease(viewport, right, pos=QPoint(450, 330))
    assert not np.allclose(viewport.camera.position, before)
    desk.qtbot.keyClick(viewport, Qt.Key.Key_Home)
    np.testing.assert_allclose(viewport.camera.position, before)
    assert desk.sent()[2] == 0


def test_preset_slider_reset_and_cut_reach_the_station(desk: Desk) -> None:
    link, station = desk.window.link, desk.station
    desk.qtbot.waitUntil(link.combo.isEnabled)
    index = link_names().index("acoustic-hs")
    link.combo.setFocus()
    desk.qtbot.keyClicks(link.combo, "acoustic-h")
    link.combo.activated.emit(link.combo.currentIndex())
    health = station.blocks.health.local
    desk.qtbot.waitUntil(lambda: int(health.preset[0]) == index)
    desk.qtbot.waitUntil(lambda: link.values["delay_ms"].text() == "633 ms")
    link.sliders["delay_ms"].setValue(link.sliders["delay_ms"].maximum())
    desk.qtbot.waitUntil(lambda: float(health.delay_ms[0]) == 5000.0)
    desk.qtbot.waitUntil(lambda: link.values["delay_ms"].text() == "5.0 s")
    desk.qtbot.waitUntil(link.resets["delay_ms"].isEnabled)
    desk.qtbot.mouseClick(link.resets["delay_ms"], LEFT)
    desk.qtbot.waitUntil(lambda: float(health.delay_ms[0]) < 1000.0)
    desk.qtbot.mouseClick(link.cut, LEFT)
    desk.qtbot.waitUntil(lambda: bool(health.cut[0]))
    desk.qtbot.waitUntil(lambda: "cut" in desk.window.notice)
    desk.qtbot.waitUntil(lambda: desk.window.topbar.link.word.startswith("CUT"))
    desk.qtbot.mouseClick(link.cut, LEFT)
    desk.qtbot.waitUntil(lambda: not health.cut[0])


def test_the_range_slider_sets_the_delay_where_sound_carries_the_packets(
    desk: Desk,
) -> None:
    link, health = desk.window.link, desk.station.blocks.health.local
    desk.qtbot.waitUntil(link.combo.isEnabled)
    link.combo.activated.emit(link_names().index("acoustic-hs"))
    desk.qtbot.waitUntil(lambda: link.values["distance_m"].text() == "500 m")
    link.sliders["distance_m"].setValue(link.sliders["distance_m"].maximum())
    metres = 10_000.0
    delay_ms = 1e3 * metres / 1500.0 + load_link("acoustic-hs").processing_ms
    desk.qtbot.waitUntil(lambda: abs(float(health.delay_ms[0]) - delay_ms) < 1e-6)
    desk.qtbot.waitUntil(lambda: link.values["distance_m"].text() == "10 km")
    desk.qtbot.waitUntil(lambda: link.values["delay_ms"].text() == "7.0 s")
    desk.qtbot.waitUntil(lambda: link.notice.text() == "emulated")
    link.sliders["delay_ms"].setValue(link.sliders["delay_ms"].maximum() // 2)
    desk.qtbot.waitUntil(lambda: float(health.delay_ms[0]) < 2000.0)
    desk.qtbot.waitUntil(lambda: link.values["distance_m"].text() != "10 km")
    metres = (float(health.delay_ms[0]) - load_link("acoustic-hs").processing_ms) * 1.5
    desk.qtbot.waitUntil(lambda: link.values["distance_m"].text() == distance(metres))
    link.combo.activated.emit(link_names().index("tether"))
    desk.qtbot.waitUntil(lambda: link.values["distance_m"].text() == "–")
    desk.qtbot.waitUntil(lambda: not link.sliders["distance_m"].isEnabled())


def test_an_outage_by_button_is_told_apart_from_a_cut(desk: Desk) -> None:
    link, health = desk.window.link, desk.station.blocks.health.local
    desk.qtbot.waitUntil(link.outage.isEnabled)
    desk.qtbot.mouseClick(link.outage, LEFT)
    desk.qtbot.waitUntil(lambda: bool(health.cut[0]))
    desk.qtbot.waitUntil(lambda: link.notice.text() == "outage")
    assert not link.cut.isChecked()


def test_without_an_emulator_the_settings_are_fixed(desk: Desk) -> None:
    desk.station.emulator = False
    desk.qtbot.waitUntil(lambda: not desk.window.link.combo.isEnabled())
    assert "no emulator" in desk.window.link.notice.text()


def test_an_old_pose_is_shouted(desk: Desk) -> None:
    desk.station.pose_age_ms = 3400.0
    desk.qtbot.waitUntil(lambda: desk.window.topbar.link.word.startswith("LATE"))
    desk.qtbot.waitUntil(lambda: desk.window.link.age.text == "3.4 s")


def test_a_silent_link_thread_is_not_taken_for_a_fresh_pose(desk: Desk) -> None:
    desk.station.link_reports = False
    desk.qtbot.waitUntil(lambda: desk.window.topbar.link.word == "NO REPORT")
    assert desk.window.topbar.robot.word == "unknown"
    desk.qtbot.waitUntil(lambda: desk.window.link.age.text == "–")


def test_the_robots_own_decisions_are_explained(desk: Desk) -> None:
    desk.arm()
    desk.station.robot = RobotState.COMPLIANT
    desk.qtbot.waitUntil(lambda: desk.window.topbar.robot.word == "COMPLIANT")
    desk.qtbot.waitUntil(lambda: "arm again" in desk.window.notice)


def test_a_dead_station_is_said_and_restarted(desk: Desk) -> None:
    desk.station.stalled = True
    window = desk.window
    desk.qtbot.waitUntil(lambda: window.topbar.mode.word == "ENDED")
    desk.qtbot.waitUntil(lambda: "station ended" in window.notice)
    assert not window.topbar.arm.isEnabled()
    button = window.findChild(QWidget, "act")
    assert button is not None
    desk.qtbot.mouseClick(button, LEFT)
    desk.qtbot.waitUntil(lambda: desk.supervisor.restarted == ["station"])
    desk.station.remove_blocks()
    desk.station.make_blocks()
    desk.station.stalled = False
    desk.qtbot.waitUntil(lambda: window.topbar.mode.word == "DISARMED")
    desk.arm()


def test_only_one_console_controls_and_another_can_take_over(desk: Desk) -> None:
    first = desk.window
    second = desk.open_window()
    assert first.is_writer
    assert not second.is_writer
    desk.qtbot.waitUntil(lambda: "in control" in second.notice)
    assert not second.topbar.stop.isEnabled()
    first.close()
    desk.qtbot.waitUntil(lambda: "nobody is in control" in second.notice)
    button = second.findChild(QWidget, "act")
    assert button is not None
    desk.qtbot.mouseClick(button, LEFT)
    desk.window = second
    assert second.is_writer
    desk.arm()


def test_a_closing_console_goes_neutral(desk: Desk) -> None:
    desk.arm()
    desk.qtbot.keyPress(desk.window.viewport, Qt.Key.Key_Space)
    desk.qtbot.waitUntil(lambda: desk.sent()[2] == 1)
    desk.window.close()
    desk.station.step()
    assert desk.sent()[2] == 0
    assert desk.scene.closed
    assert desk.window.lock.is_free


def test_a_process_is_restarted_by_a_hold(desk: Desk) -> None:
    desk.supervisor.words["robot"] = "ended: signal 9"
    processes = desk.window.processes
    desk.qtbot.waitUntil(lambda: processes.words("robot") == "ended: signal 9")
    desk.hold(processes.button("robot"))
    desk.qtbot.waitUntil(lambda: desk.supervisor.restarted == ["robot"])
    desk.qtbot.mouseRelease(processes.button("robot"), LEFT)
    desk.qtbot.waitUntil(lambda: processes.words("robot") == "running (99)")


def test_events_arrive_in_order(desk: Desk) -> None:
    desk.station.event(Severity.WARNING, "one")
    desk.station.event(Severity.ALARM, "two")
    desk.qtbot.waitUntil(lambda: len(desk.window.events.texts) == 2)
    assert [text[-3:] for text in desk.window.events.texts] == ["one", "two"]


def test_no_graphics_is_said_in_the_picture(desk: Desk) -> None:
    desk.window.close()

    def fail() -> Scene:
        raise DeviceError("No OpenGL here. Install libegl1.")

    window = ConsoleWindow(desk.station.folder, ROBOT, None, make_scene=fail)
    desk.qtbot.addWidget(window)
    window.show()
    window.start()
    desk.qtbot.waitUntil(lambda: "libegl1" in window.viewport.trouble)
    desk.qtbot.waitUntil(lambda: window.viewport.frames.summary().frames > 2)
    desk.window = window


@pytest.mark.parametrize(
    ("width", "height", "text"), [(1366, 768, 12), (2560, 1440, 16)]
)
def test_nothing_is_cut_off(
    tmp_path: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    height: int,
    text: int,
) -> None:
    monkeypatch.setenv("LIMBLINK_TEXT_PX", str(text))
    desk = Desk(tmp_path / "session", qtbot)
    window = desk.window
    assert window.minimumSizeHint().width() <= width
    assert window.minimumSizeHint().height() <= height
    window.resize(width, height)
    qtbot.waitUntil(lambda: window.viewport.frames.summary().frames > 5)
    picture = window.viewport
    assert picture.width() * picture.height() > 0.38 * width * height
    for panel in (
        *(window.limbs, window.inputs, window.tip),
        *(window.link, window.loop, window.processes),
    ):
        assert panel.width() >= panel.minimumSizeHint().width()
        assert panel.height() >= panel.minimumSizeHint().height()
        assert panel.visibleRegion().boundingRect().size() == panel.size()
    window.viewbar.goals.setChecked(True)
    goals = window.goals
    qtbot.waitUntil(goals.isVisible)
    for widget in (goals, goals.kind, goals.mark, goals.send, goals.stop, goals.assist):
        assert widget.width() >= widget.minimumSizeHint().width()
        assert widget.visibleRegion().boundingRect().size() == widget.size()
    for lamp in (window.topbar.mode, window.topbar.record, window.topbar.link):
        assert lamp.width() >= lamp.minimumSizeHint().width()
    desk.ticker.stop()
    window.close()
