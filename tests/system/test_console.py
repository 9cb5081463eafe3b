"""The real window, scene and control loop on one session; the robot is a mirror.

The mirror reports what the loop commands, at once, so that what is seen is the way
from a hand through the window's process to the loop and back to the picture.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, Qt, QTimer
from pytestqt.qtbot import QtBot

from app.clock import NS_PER_MS, NS_PER_S
from app.console.run import make_application
from app.console.window import ConsoleWindow
from app.control.blocks import SessionBlocks
from app.control.loop import ControlLoop
from app.messages import RobotState, Source, StationMode
from app.teleop.strategy import Strategy
from tests.unit.console.stand import CLOCK, MODEL, ROBOT

LEFT = Qt.MouseButton.LeftButton
REACHED_M = 2e-3


class Mirror:
    """A robot that is where the loop commands it to be, and says so at once."""

    def __init__(self, blocks: SessionBlocks) -> None:
        self._health = blocks.health
        self._state = blocks.state
        self._health.local.confirmed_coordinates[:] = MODEL.rest_coordinates
        self.publish()

    def publish(self) -> None:
        """Take the newest command, and report it."""
        now_ns = CLOCK.now_ns()
        self._state.refresh()
        state, health = self._state.local, self._health.local
        armed = int(state.mode[0]) == StationMode.ARMED
        if armed:
            health.confirmed_coordinates[:] = state.coordinates_commanded
            health.robot_epoch[0] = state.arm_epoch[0]
        health.robot_state[0] = RobotState.ACTIVE if armed else RobotState.IDLE
        health.time_ns[0] = health.robot_heard_ns[0] = now_ns
        health.confirmed_generated_ns[:] = now_ns
        health.telemetry_limit_ns[0] = NS_PER_S
        health.emulator_present[0] = 1
        self._health.publish()


class Rig:
    """Loop, mirror, window and a person's hand."""

    def __init__(self, folder: Path, qtbot: QtBot) -> None:
        folder.mkdir()
        self.qtbot = qtbot
        self.blocks = SessionBlocks(folder, MODEL, create=True)
        self.reader = SessionBlocks(folder, MODEL, create=False)
        self.mirror = Mirror(self.blocks)
        self.loop = ControlLoop(MODEL, self.blocks)
        self.loop.warm_up()
        self.loop.start()
        self.ticker = QTimer()
        self.ticker.setInterval(5)
        self.ticker.timeout.connect(self.mirror.publish)
        self.ticker.start()
        make_application()
        self.window = ConsoleWindow(folder, ROBOT, None)
        qtbot.addWidget(self.window)
        self.window.resize(1280, 800)
        self.window.show()
        qtbot.waitExposed(self.window)
        self.window.activateWindow()
        self.window.viewport.setFocus()
        self.window.start()
        self.wait(lambda: self.window.readings.is_alive)
        self.wait(lambda: self.window.viewport.scene is not None)
        self.wait(lambda: self.window.viewport.frames.summary().frames > 3)

    def wait(self, condition: object, seconds: float = 20.0) -> None:
        self.qtbot.waitUntil(condition, timeout=int(1000 * seconds))  # type: ignore[arg-type]

    def hold(self, done: Callable[[], bool], *keys: Qt.Key) -> None:
        """Hold keys until something is so; anew after a stall, which lets them go."""
        controls, viewport = self.window.controls, self.window.viewport
        while True:
            stalls = controls.stalls
            for key in keys:
                self.qtbot.keyPress(viewport, key)
            self.wait(lambda stalls=stalls: done() or controls.stalls > stalls)
            if done():
                return
            for key in keys:
                self.qtbot.keyRelease(viewport, key)

    def arm(self) -> None:
        button = self.window.topbar.arm
        self.wait(button.isEnabled)
        self.qtbot.mousePress(button, LEFT)
        self.wait(lambda: self.mode == StationMode.ARMED)
        self.qtbot.mouseRelease(button, LEFT)

    def tip_pixel(self, limb: int) -> QPoint:
        tip = self.window.readings.state.tip_model[limb]
        x, y, _ = self.window.viewport.camera.project(tip)
        return QPoint(round(x), round(y))

    @property
    def mode(self) -> int:
        return int(self.window.readings.state.mode[0])

    def picture(self) -> np.ndarray:
        image = self.window.viewport.grab().toImage()
        pixels = image.constBits()
        assert pixels is not None
        octets = np.frombuffer(pixels.asstring(image.sizeInBytes()), dtype=np.uint8)
        return octets.reshape(image.height(), -1, 4)[..., :3].astype(float)

    def close(self) -> None:
        self.window.close()
        self.ticker.stop()
        self.loop.stop()


@pytest.fixture
def rig(tmp_path: Path, qtbot: QtBot) -> Iterator[Rig]:
    made = Rig(tmp_path / "session", qtbot)
    yield made
    made.close()


def test_a_hand_on_a_tip_moves_model_robot_and_picture(rig: Rig) -> None:
    before = rig.picture()
    assert before.std() > 10.0  # something is drawn
    rig.arm()
    viewport, readings = rig.window.viewport, rig.window.readings
    grab = rig.tip_pixel(0)
    rig.qtbot.mousePress(viewport, LEFT, pos=grab)
    rig.wait(lambda: int(readings.state.active_source[0]) == Source.CONSOLE)
    np.testing.assert_allclose(
        readings.state.target_position[0], readings.state.tip_commanded[0], atol=1e-4
    )  # nothing jumps at the press
    start = readings.state.tip_model[0].copy()
    for step in range(1, 11):
        rig.qtbot.mouseMove(viewport, grab + QPoint(-4 * step, -3 * step))
    drag = rig.window.controls.drag
    assert drag is not None
    wanted = drag.target.copy()
    assert float(np.linalg.norm(wanted - start)) > 0.03
    rig.wait(
        lambda: float(np.linalg.norm(readings.tip_confirmed[0] - wanted)) < REACHED_M
    )
    rig.qtbot.mouseRelease(viewport, LEFT, pos=grab)
    rig.wait(lambda: int(readings.state.active_source[0]) == -1)
    rig.wait(lambda: float(np.linalg.norm(readings.state.tip_model[0] - start)) > 0.02)
    assert float(np.abs(rig.picture() - before).mean()) > 0.5


def test_a_stop_in_motion_and_the_way_back(rig: Rig) -> None:
    rig.arm()
    viewport, readings, bar = (
        rig.window.viewport,
        rig.window.readings,
        rig.window.topbar,
    )
    start = readings.state.tip_commanded[0].copy()
    rig.hold(
        lambda: float(np.linalg.norm(readings.state.tip_commanded[0] - start)) > 0.01,
        Qt.Key.Key_Space,
        Qt.Key.Key_R,
    )
    rig.qtbot.keyClick(viewport, Qt.Key.Key_Escape)
    rig.wait(lambda: rig.mode == StationMode.ESTOP)
    halted = readings.state.coordinates_commanded.copy()
    due_ns = CLOCK.now_ns() + 100 * NS_PER_MS
    rig.wait(lambda: CLOCK.now_ns() > due_ns)
    np.testing.assert_array_equal(readings.state.coordinates_commanded, halted)
    rig.qtbot.keyRelease(viewport, Qt.Key.Key_R)
    rig.qtbot.keyRelease(viewport, Qt.Key.Key_Space)
    rig.wait(lambda: bar.stop.words[0] == "STOPPED")
    rig.qtbot.mouseClick(bar.stop, LEFT)
    rig.wait(bar.reset.isEnabled)
    rig.qtbot.mousePress(bar.reset, LEFT)
    rig.wait(lambda: rig.mode == StationMode.DISARMED)
    rig.qtbot.mouseRelease(bar.reset, LEFT)
    rig.arm()


def test_arming_with_the_deadman_held_is_refused_in_words(rig: Rig) -> None:
    bar, controls = rig.window.topbar, rig.window.controls

    def refused() -> bool:
        return "release the deadman" in rig.window.notice

    for _ in range(5):  # a window that stalls lets the deadman go: only then, anew
        stalls = controls.stalls
        rig.hold(lambda: "HELD" in bar.deadman.word, Qt.Key.Key_Space)
        rig.qtbot.mousePress(bar.arm, LEFT)
        rig.wait(lambda stalls=stalls: refused() or controls.stalls > stalls)
        rig.qtbot.mouseRelease(bar.arm, LEFT)
        rig.qtbot.keyRelease(rig.window.viewport, Qt.Key.Key_Space)
        if rig.mode == StationMode.ARMED:
            rig.qtbot.mouseClick(bar.disarm, LEFT)
            rig.wait(lambda: rig.mode == StationMode.DISARMED)
        if refused():
            break
    assert refused()
    assert rig.mode == StationMode.DISARMED


def test_a_window_that_stands_still_goes_neutral_and_stays_so(rig: Rig) -> None:
    rig.arm()
    viewport = rig.window.viewport
    rig.qtbot.keyPress(viewport, Qt.Key.Key_Space)
    rig.qtbot.keyPress(viewport, Qt.Key.Key_R)
    rig.wait(lambda: int(rig.window.readings.state.active_source[0]) == Source.CONSOLE)
    rig.reader.log.read()
    due_ns = CLOCK.now_ns() + 600 * NS_PER_MS
    while CLOCK.now_ns() < due_ns:  # blocks this thread as a frozen window would
        pass
    rows, lost = rig.reader.log.read()
    assert lost == 0
    states = [rig.reader.log_row(row) for row in rows]
    late = [state for state in states if int(state.source_age_ns[1]) > 151 * NS_PER_MS]
    assert len(late) > 100
    assert {int(state.active_source[0]) for state in late} == {-1}
    rig.wait(lambda: rig.window.controls.stalls > 0)
    back_ns = CLOCK.now_ns() + 50 * NS_PER_MS
    rig.wait(lambda: CLOCK.now_ns() > back_ns)
    rig.reader.state.refresh()
    after = rig.reader.state.local
    assert (int(after.source_fresh[1]), int(after.active_source[0])) == (1, -1)


def test_skin_and_sections_and_inset_look_different(rig: Rig) -> None:
    skin = rig.picture()
    rig.qtbot.keyClick(rig.window.viewport, Qt.Key.Key_F5)
    frames = rig.window.viewport.frames
    frames.clear()
    rig.wait(lambda: frames.summary().frames > 3)
    sections = rig.picture()
    assert float(np.abs(sections - skin).mean()) > 0.5
    rig.qtbot.keyClick(rig.window.viewport, Qt.Key.Key_F7)
    frames.clear()
    rig.wait(lambda: frames.summary().frames > 3)
    corner = np.abs(rig.picture() - sections)[20:120, -150:-20]
    assert float(corner.mean()) > 1.0


def test_a_strategy_chosen_in_mid_session_is_taken_up_by_the_loop(rig: Rig) -> None:
    rig.arm()
    window, readings = rig.window, rig.window.readings
    rig.hold(
        lambda: int(readings.state.active_source[0]) == Source.CONSOLE, Qt.Key.Key_Space
    )
    stalls, engaged = window.controls.stalls, int(readings.state.sent_engagement[0])
    window.controls.teleop.choose(Strategy.MOVE_AND_WAIT)
    rig.wait(lambda: int(readings.state.strategy[0]) == Strategy.MOVE_AND_WAIT)
    rig.wait(lambda: int(readings.state.sent_engagement[0]) > engaged)
    rig.wait(lambda: window.strategy.text == Strategy.MOVE_AND_WAIT.title)
    rig.wait(
        lambda: (
            int(readings.state.active_source[0]) == Source.CONSOLE
            or window.controls.stalls > stalls
        )
    )
    assert rig.mode == StationMode.ARMED


def test_g_with_the_deadman_closes_a_gripper_once(rig: Rig) -> None:
    rig.arm()
    viewport, readings = rig.window.viewport, rig.window.readings
    rig.qtbot.keyPress(viewport, Qt.Key.Key_Space)
    rig.wait(lambda: int(readings.state.active_source[0]) == Source.CONSOLE)
    rig.qtbot.keyClick(viewport, Qt.Key.Key_G)
    rig.wait(lambda: float(readings.state.grip[0]) == 1.0)
    rig.qtbot.keyRelease(viewport, Qt.Key.Key_Space)
    rig.qtbot.keyClick(viewport, Qt.Key.Key_2)
    rig.wait(lambda: int(readings.state.selected_limb[0]) == 1)
    rig.qtbot.keyPress(viewport, Qt.Key.Key_Space)
    rig.wait(lambda: int(readings.state.active_source[0]) == Source.CONSOLE)
    later_ns = CLOCK.now_ns() + 200 * NS_PER_MS
    rig.wait(lambda: CLOCK.now_ns() > later_ns)
    np.testing.assert_array_equal(readings.state.grip, [1.0, 0.0, 0.0, 0.0])
