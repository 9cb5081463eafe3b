"""Choosing a strategy: its verdict first, a second act where it does not fit."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PyQt6.QtGui import QMouseEvent, QWheelEvent
from pytestqt.qtbot import QtBot

from app.clock import NS_PER_MS
from app.config.link import link_names, load_link
from app.console.verdicts import present_figures
from app.console.wishes import TeleopWishes
from app.control.blocks import SessionBlocks
from app.messages import InputMode, StationMode
from app.teleop.strategy import Strategy
from app.teleop.traffic import figures_of
from tests.unit.console.desk import LEFT, Desk
from tests.unit.console.stand import CLOCK, MODEL

FITS, UNFIT = Strategy.PREDICTIVE, Strategy.WAVES  # on an acoustic link


@pytest.fixture
def desk(tmp_path: Path, qtbot: QtBot) -> Iterator[Desk]:
    made = Desk(tmp_path / "session", qtbot)
    made.window.controls.wishes.choose_preset(link_names().index("acoustic-hs"))
    judged(made)
    yield made
    made.ticker.stop()
    made.window.close()


def pause(desk: Desk, length_ms: int) -> None:
    """Let the window and the station run on."""
    due_ns = CLOCK.now_ns() + length_ms * NS_PER_MS
    desk.qtbot.waitUntil(lambda: CLOCK.now_ns() > due_ns)


def judged(desk: Desk) -> None:
    """Wait until every strategy is judged on the acoustic link."""
    chooser = desk.window.strategy
    desk.qtbot.waitUntil(
        lambda: (
            len(chooser.box.verdicts) == len(Strategy)
            and all(item.loudness for item in chooser.box.verdicts.values())
            and chooser.box.verdicts[UNFIT].loudness == 3
        )
    )


def pick(desk: Desk, strategy: Strategy) -> None:
    """Choose in the list as the mouse does."""
    box = desk.window.strategy.box
    desk.qtbot.waitUntil(box.isEnabled)
    box.showPopup()
    view = box.view()
    assert view is not None
    desk.qtbot.waitUntil(view.isVisible)
    model = box.model()
    assert model is not None
    place = view.visualRect(model.index(int(strategy), 0)).center()
    pause(desk, 500)  # a list that has just opened is deaf
    viewport = view.viewport()
    assert viewport is not None
    desk.qtbot.mouseMove(viewport, place)
    desk.qtbot.mouseClick(viewport, LEFT, pos=place)
    desk.qtbot.waitUntil(lambda: not view.isVisible())


def test_a_wish_counts_on_from_what_stands_there(tmp_path: Path) -> None:
    blocks = SessionBlocks(tmp_path, MODEL, create=True)
    first = TeleopWishes(blocks)
    first.publish()
    assert not blocks.teleop.shared[8:].any()  # a console that opens wants nothing
    first.choose(Strategy.WAVES)
    first.publish()
    first.choose(Strategy.TWO_PORT)  # dies before it has told
    second = TeleopWishes(SessionBlocks(tmp_path, MODEL, create=False))
    assert second.revision == 1
    second.publish()
    second.choose(Strategy.PREDICTIVE)
    second.publish()
    blocks.teleop.refresh()
    wish = blocks.teleop.local
    assert (int(wish.revision[0]), int(wish.strategy[0])) == (2, Strategy.PREDICTIVE)


def test_what_fits_is_taken_at_once_in_mid_session(desk: Desk) -> None:
    desk.arm()
    pick(desk, FITS)
    desk.qtbot.waitUntil(lambda: desk.station.strategy == FITS)
    desk.qtbot.waitUntil(lambda: desk.window.strategy.text == FITS.title)
    desk.qtbot.waitUntil(lambda: desk.window.strategy.verdict.text() == "fits")
    assert desk.station.mode == StationMode.ARMED
    assert desk.window.viewport.hasFocus()


def test_what_does_not_fit_waits_for_a_hold(desk: Desk) -> None:
    chooser = desk.window.strategy
    before = desk.station.strategy
    pick(desk, UNFIT)
    desk.qtbot.waitUntil(chooser.confirm.isVisible)
    assert "packets" in chooser.question
    desk.qtbot.waitUntil(lambda: desk.window.notice == chooser.question)
    beats = desk.station.blocks.inputs[1].local.stamp_ns[0]
    desk.qtbot.mouseClick(chooser.confirm, LEFT)  # too short to be meant
    pause(desk, 100)
    assert desk.station.strategy == before
    assert desk.station.blocks.inputs[1].local.stamp_ns[0] > beats  # it still beats
    desk.hold(chooser.confirm)
    desk.qtbot.waitUntil(lambda: desk.station.strategy == UNFIT)
    desk.qtbot.mouseRelease(chooser.confirm, LEFT)
    desk.qtbot.waitUntil(lambda: chooser.verdict.text() == "does not fit")


def test_a_question_that_is_not_answered_is_forgotten(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.console.strategy._PATIENCE_NS", 50 * NS_PER_MS)
    before = Strategy(desk.station.strategy)
    pick(desk, UNFIT)
    chooser = desk.window.strategy
    desk.qtbot.waitUntil(lambda: chooser.pending is None)
    desk.qtbot.waitUntil(lambda: chooser.text == before.title)
    assert desk.station.strategy == before
    assert desk.window.viewport.hasFocus()


def test_the_keyboard_opens_chooses_and_confirms(desk: Desk) -> None:
    window, chooser = desk.window, desk.window.strategy
    desk.qtbot.keyClick(window.viewport, Qt.Key.Key_F8)
    view = chooser.box.view()
    assert view is not None
    desk.qtbot.waitUntil(view.isVisible)
    while view.currentIndex().row() != UNFIT:
        desk.qtbot.keyClick(view, Qt.Key.Key_Up)
    desk.qtbot.keyClick(view, Qt.Key.Key_Return)
    desk.qtbot.waitUntil(chooser.confirm.hasFocus)
    pause(desk, 200)  # the window system gives the focus back a little later
    desk.qtbot.keyPress(chooser.confirm, Qt.Key.Key_Space)
    desk.qtbot.waitUntil(lambda: desk.station.strategy == UNFIT)
    desk.qtbot.keyRelease(chooser.confirm, Qt.Key.Key_Space)
    desk.qtbot.waitUntil(window.viewport.hasFocus)


def test_neither_wheel_nor_keys_change_it_by_the_way(desk: Desk) -> None:
    box = desk.window.strategy.box
    before = box.currentIndex()
    box.setFocus()
    for key in (Qt.Key.Key_W, Qt.Key.Key_P, Qt.Key.Key_PageDown, Qt.Key.Key_End):
        desk.qtbot.keyClick(box, key)
    middle = box.rect().center().toPointF()
    wheel = QWheelEvent(
        middle,
        box.mapToGlobal(middle),
        QPoint(0, 0),
        QPoint(0, -240),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QCoreApplication.sendEvent(box, wheel)
    assert box.currentIndex() == before
    assert desk.window.controls.teleop.revision == 0


def test_an_emergency_stop_closes_the_list(desk: Desk) -> None:
    desk.arm()
    desk.window.strategy.open_list()
    view = desk.window.strategy.box.view()
    assert view is not None
    desk.qtbot.waitUntil(view.isVisible)
    desk.qtbot.keyClick(view, Qt.Key.Key_Escape)
    desk.qtbot.waitUntil(lambda: desk.station.mode == StationMode.ESTOP)
    assert not view.isVisible()


def test_a_watching_console_sees_and_does_not_change(desk: Desk) -> None:
    watcher = desk.open_window(watch=True)
    desk.station.strategy = int(FITS)
    desk.qtbot.waitUntil(lambda: watcher.strategy.text == FITS.title)
    desk.qtbot.waitUntil(lambda: watcher.strategy.verdict.text() == "fits")
    assert not watcher.strategy.box.isEnabled()
    desk.qtbot.keyClick(watcher.viewport, Qt.Key.Key_F8)
    assert not watcher.strategy.box.is_open
    watcher.strategy.box.activated.emit(int(Strategy.SUPERVISED))
    pause(desk, 100)
    assert desk.station.strategy == FITS
    watcher.close()


def test_the_verdicts_follow_the_link(desk: Desk) -> None:
    chooser = desk.window.strategy
    desk.window.controls.wishes.choose_preset(link_names().index("ideal"))
    desk.qtbot.waitUntil(lambda: chooser.box.verdicts[UNFIT].word == "fits")
    desk.window.controls.wishes.set_override("bandwidth_bps", 4_000.0)
    desk.qtbot.waitUntil(lambda: chooser.box.verdicts[UNFIT].loudness == 3)


def test_the_figures_are_those_in_force(tmp_path: Path) -> None:
    health = SessionBlocks(tmp_path, MODEL, create=True).health.local
    link = load_link("optical-rov")
    assert present_figures(health, link) is None
    health.emulator_present[0] = 1
    health.delay_ms[0], health.rtt_ms[0] = link.delay_ms, 999.0
    health.jitter_ms[0] = link.jitter.deviation_ms
    health.loss_set[0] = link.loss.residual
    health.bandwidth_bps[0] = link.down_bps
    assert present_figures(health, link) == figures_of(link)
    health.bandwidth_bps[0] = 1000.0
    health.loss_set[0] = 0.4
    slower = present_figures(health, link)
    assert slower is not None
    assert (slower.down_bps, slower.up_bps, slower.loss) == (500.0, 500.0, 0.4)
    health.emulator_present[0] = 0  # a real link: nobody knows but the echo
    measured = present_figures(health, None)
    assert measured is not None
    assert math.isclose(measured.down + measured.up, 0.999)


def test_g_with_the_deadman_closes_the_gripper_of_the_selected_limb(
    desk: Desk,
) -> None:
    desk.arm()
    viewport = desk.window.viewport
    desk.qtbot.keyClick(viewport, Qt.Key.Key_2)
    desk.qtbot.waitUntil(lambda: desk.station.selected == 1)
    desk.qtbot.keyPress(viewport, Qt.Key.Key_Space)
    desk.qtbot.waitUntil(lambda: desk.sent() == (InputMode.RATE, 1, 1))
    desk.qtbot.keyClick(viewport, Qt.Key.Key_G)
    desk.qtbot.waitUntil(lambda: desk.window.limbs.cards[1].grip == "grip closed")
    assert desk.window.limbs.cards[0].grip == ""
    np.testing.assert_array_equal(desk.station.grips, [0.0, 1.0, 0.0, 0.0])
    desk.qtbot.keyRelease(viewport, Qt.Key.Key_Space)
    desk.qtbot.keyClick(viewport, Qt.Key.Key_4)
    desk.qtbot.waitUntil(lambda: desk.station.selected == 3)
    desk.qtbot.keyPress(viewport, Qt.Key.Key_Space)
    pause(desk, 200)
    np.testing.assert_array_equal(desk.station.grips, [0.0, 1.0, 0.0, 0.0])
    desk.qtbot.keyRelease(viewport, Qt.Key.Key_Space)


def test_g_without_the_deadman_says_what_is_missing_and_does_nothing(
    desk: Desk,
) -> None:
    desk.arm()
    viewport = desk.window.viewport
    desk.qtbot.keyClick(viewport, Qt.Key.Key_G)
    assert "deadman" in viewport.hint
    pause(desk, 1200)
    desk.qtbot.keyPress(viewport, Qt.Key.Key_Space)
    desk.qtbot.waitUntil(lambda: desk.sent()[2] == 1)
    pause(desk, 100)
    np.testing.assert_array_equal(desk.station.grips, np.zeros(4))
    desk.qtbot.keyRelease(viewport, Qt.Key.Key_Space)


def test_a_click_on_the_stop_stops_past_an_open_list(desk: Desk) -> None:
    desk.arm()
    window = desk.window
    window.strategy.open_list()
    view = window.strategy.box.view()
    assert view is not None
    desk.qtbot.waitUntil(view.isVisible)
    popup = view.window()
    assert popup is not None
    stop = window.topbar.stop
    at = stop.mapToGlobal(stop.rect().center().toPointF())
    press = QMouseEvent(
        QEvent.Type.MouseButtonPress,
        popup.mapFromGlobal(at),
        at,
        LEFT,
        LEFT,
        Qt.KeyboardModifier.NoModifier,
    )
    QCoreApplication.sendEvent(popup, press)
    desk.qtbot.waitUntil(lambda: desk.station.mode == StationMode.ESTOP)
    assert not view.isVisible()
    assert int(desk.station.blocks.inputs[1].local.estop_count[0]) == 1
