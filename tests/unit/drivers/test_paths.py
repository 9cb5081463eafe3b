"""Paths by which a stale value could move an actuator below the robot's loop."""

import threading
import time
from contextlib import suppress

import numpy as np
import pytest

from app.drivers.base import Action, Channel, Driver, Identity, Reading
from app.drivers.board import build_board
from app.drivers.ctrlp import build_ctrlp
from app.drivers.virtual.board import VirtualBoard, virtual_board
from app.drivers.virtual.ctrlp import VirtualCtrlP, virtual_ctrlp
from app.drivers.worker import BusWorker
from app.errors import DeviceError
from app.robot.jog import jog
from models.numerics import FloatArray
from tests.unit.drivers.test_board import PARAMETERS as BOARD
from tests.unit.drivers.test_board import WANTED
from tests.unit.drivers.test_ctrlp import PARAMETERS, hear

WAIT_S = 20.0
SHORT_S = 0.3  # for what never comes while a defect is there


class Bus(Driver):
    """One channel; keeps its rounds, may lose one, or fail in an unforeseen way."""

    def __init__(self, least: float = -1.0) -> None:
        super().__init__((Channel("a", "rad", least, 1.0),), timeout_s=0.01)
        self.rounds: list[tuple[Action, float]] = []
        self.changed = threading.Condition()
        self.lose = 0
        self.bug = False
        self.measured = 0.0

    def _open_bus(self) -> None:
        return

    def _close_bus(self) -> None:
        return

    def _identify(self) -> list[Identity]:
        return []

    def _exchange(self, action: Action, applied: FloatArray) -> Reading:
        if self.bug:
            self.bug = False
            raise IndexError("a mistake in a driver, met by an answer never seen")
        nothing = self.nothing_read(applied)
        if self.lose:
            self.lose -= 1
            return nothing
        with self.changed:
            self.rounds.append((action, float(applied[0])))
            self.changed.notify_all()
        return nothing._replace(
            measured=np.array([self.measured]), answered=np.ones(1, dtype=np.bool_)
        )

    def wait(self, action: Action, seconds: float = WAIT_S) -> bool:
        """Wait for a round with an action from now on."""
        with self.changed:
            seen = len(self.rounds)
            return self.changed.wait_for(
                lambda: any(a is action for a, _ in self.rounds[seen:]), seconds
            )


def ask(driver: Bus, action: Action, value: float = np.nan) -> float:
    """Do one round; return what was applied."""
    driver.exchange(action, np.array([value]))
    return driver.rounds[-1][1]


@pytest.mark.parametrize("between", [Action.RELAX, Action.SAFE])
@pytest.mark.parametrize("again", [Action.HOLD, Action.FOLLOW])
def test_no_setpoint_outlives_giving_way(between: Action, again: Action) -> None:
    with Bus() as driver:
        assert ask(driver, Action.FOLLOW, 0.8) == 0.8
        ask(driver, between)
        assert np.isnan(ask(driver, again))


def test_closing_is_repeated_until_it_is_answered() -> None:
    driver = Bus()
    driver.open()
    ask(driver, Action.FOLLOW, 0.8)
    driver.lose = 1
    driver.close()
    assert driver.rounds[-1][0] is Action.SAFE


def start(driver: Bus) -> BusWorker:
    """Begin a worker that fades quickly, and let it follow."""
    worker = BusWorker(driver, "test", 500.0, stale_s=0.03, safe_s=0.1)
    worker.start()
    driver.wait(Action.SAFE)
    for _ in range(500):
        worker.command(time.monotonic_ns(), Action.FOLLOW, np.array([0.8]))
        if driver.wait(Action.FOLLOW, 0.02):
            break
    return worker


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_mistake_in_a_driver_makes_its_bus_safe() -> None:
    driver = Bus()
    worker = start(driver)
    try:
        driver.bug = True
        assert driver.wait(Action.SAFE, SHORT_S)
    finally:
        worker.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_bus_without_its_thread_is_not_alive() -> None:
    driver = Bus()
    worker = start(driver)
    try:
        driver.bug = True
        driver.wait(Action.SAFE, SHORT_S)  # the time that it takes
        state = worker.state()
        assert state.interrupted or not state.alive
    finally:
        worker.close()


def test_what_faded_to_safe_follows_nothing_before_it_is_acknowledged() -> None:
    driver = Bus()
    worker = start(driver)
    try:
        assert driver.wait(Action.SAFE)
        assert worker.state().interrupted
    finally:
        worker.close()


def test_a_controller_that_is_not_heard_is_vented_all_the_same() -> None:
    carrier, parameters = virtual_ctrlp(PARAMETERS)
    device = carrier.device
    assert isinstance(device, VirtualCtrlP)
    with carrier, build_ctrlp(parameters) as driver:
        driver.exchange(Action.FOLLOW, np.array([10.0, 20.0, 30.0]))
        driver.exchange(Action.FOLLOW, np.array([10.0, 20.0, 30.0]))
        assert set(device.modes) == {1}
        device.damage_out = lambda data: b""  # its own line is broken, ours is not
        lines = hear(device)
        with suppress(DeviceError):  # the owner closes it then
            driver.exchange(Action.FOLLOW, np.array([10.0, 20.0, 30.0]))
        driver.close()
        assert any(line.startswith("valve;-1") for line in lines)


def test_jogging_never_jumps_into_the_range() -> None:
    with Bus(least=0.0) as driver:
        driver.measured = -0.8  # its zero was never found
        try:
            next(jog(driver, 0, 0.1, 0.01))
        except DeviceError:
            return
        assert abs(driver.rounds[-1][1] - driver.measured) < 0.05


def test_jogging_one_leaves_what_was_jogged_before_alone() -> None:
    class Two(Bus):
        def __init__(self) -> None:
            Driver.__init__(
                self,
                (Channel("a", "rad", -1.0, 1.0), Channel("b", "rad", -1.0, 1.0)),
                timeout_s=0.01,
            )
            self.applied: list[FloatArray] = []

        def _exchange(self, action: Action, applied: FloatArray) -> Reading:
            self.applied.append(applied.copy())
            zero = np.zeros(2)
            return self.nothing_read(applied)._replace(
                measured=zero, answered=np.ones(2, dtype=np.bool_)
            )

    with Two() as driver:
        next(jog(driver, 0, 0.5, 0.05))
        driver.exchange(Action.SAFE, np.full(2, np.nan))
        next(jog(driver, 1, 0.5, 0.05))
        assert np.isnan(driver.applied[-1][0])


def test_a_device_that_restarted_and_vented_ends_what_is_followed() -> None:
    carrier, parameters = virtual_board(BOARD)
    device = carrier.device
    assert isinstance(device, VirtualBoard)
    pause = threading.Event()
    with carrier:
        worker = BusWorker(build_board(parameters), "air", 100.0)
        worker.start()
        try:
            driven, vented = False, False
            for _ in range(400):
                worker.command(time.monotonic_ns(), Action.FOLLOW, WANTED)
                pause.wait(0.005)
                state = worker.state()
                assert state.reading is not None
                is_there = np.array_equal(state.reading.applied, WANTED)
                if is_there and not driven:
                    driven = True
                    device.restart()
                vented |= driven and not is_there
                if vented and (is_there or state.interrupted):
                    break
            assert vented
            assert worker.state().interrupted
        finally:
            worker.close()
