"""A bus's thread: newest wins, old commands fade, a lost bus comes back giving way."""

import threading

import numpy as np
import pytest

from app.drivers.base import Action, Channel, Driver, Identity, Reading
from app.drivers.worker import BusWorker
from app.errors import DeviceError
from models.numerics import FloatArray

WAIT_S = 20.0  # longest wait for a thread, not a speed


class ScriptedDriver(Driver):
    """Two channels; records its rounds, and fails when told to."""

    def __init__(self) -> None:
        channels = (Channel("a", "rad", -1.0, 1.0), Channel("b", "rad", -1.0, 1.0))
        super().__init__(channels, timeout_s=0.01)
        self.rounds: list[tuple[Action, FloatArray]] = []
        self.changed = threading.Condition()
        self.plugged = True
        self.opened = 0
        self.cleared = 0

    def _open_bus(self) -> None:
        if not self.plugged:
            raise DeviceError("port is missing")
        self.opened += 1

    def _close_bus(self) -> None:
        pass

    def _identify(self) -> list[Identity]:
        return []

    def _clear_faults(self) -> None:
        self.cleared += 1

    def _exchange(self, action: Action, applied: FloatArray) -> Reading:
        if not self.plugged:
            raise DeviceError("unplugged")
        with self.changed:
            self.rounds.append((action, applied))
            self.changed.notify_all()
        reading = self.nothing_read(applied)
        return reading._replace(measured=applied, answered=np.ones(2, dtype=np.bool_))

    def wait(self, action: Action) -> FloatArray:
        """Wait for a round with an action from now on; return what it applied."""
        with self.changed:
            seen = len(self.rounds)
            assert self.changed.wait_for(
                lambda: any(a is action for a, _ in self.rounds[seen:]), WAIT_S
            )
            return next(v for a, v in reversed(self.rounds) if a is action)


@pytest.fixture
def bus():
    driver = ScriptedDriver()
    worker = BusWorker(driver, "test", 500.0, stale_s=0.05, safe_s=0.2)
    yield driver, worker
    worker.close()


def keep(
    worker: BusWorker, driver: ScriptedDriver, action: Action, values
) -> FloatArray:
    """Renew a command until a round has it."""
    import time

    for _ in range(2000):
        worker.command(time.monotonic_ns(), action, np.array(values))
        with driver.changed:
            seen = len(driver.rounds)
            driver.changed.wait_for(lambda n=seen: len(driver.rounds) > n, 1.0)
            if driver.rounds and driver.rounds[-1][0] is action:
                return driver.rounds[-1][1]
    raise AssertionError("never obeyed")


def test_it_begins_safe_and_follows_what_is_asked(bus) -> None:
    driver, worker = bus
    worker.start()
    driver.wait(Action.SAFE)
    assert keep(worker, driver, Action.FOLLOW, [0.5, -0.5]) == pytest.approx(
        [0.5, -0.5]
    )
    assert keep(worker, driver, Action.FOLLOW, [9.0, np.nan]) == pytest.approx(
        [1, -0.5]
    )
    state = worker.state()
    assert state.alive
    assert state.rate_hz > 0.0


def test_a_command_that_is_not_renewed_fades(bus) -> None:
    driver, worker = bus
    worker.start()
    keep(worker, driver, Action.FOLLOW, [0.5, 0.5])
    assert driver.wait(Action.HOLD) == pytest.approx([0.5, 0.5])
    driver.wait(Action.SAFE)


def test_a_lost_bus_comes_back_giving_way_until_it_is_acknowledged(bus) -> None:
    driver, worker = bus
    worker.start()
    keep(worker, driver, Action.FOLLOW, [0.5, 0.5])
    driver.plugged = False
    for _ in range(20_000):
        if not worker.state().alive:
            break
    while worker.state().alive:
        pass
    state = worker.state()
    assert state.interrupted
    assert "unplugged" in state.text
    assert state.reading is not None
    assert not state.reading.answered.any()
    driver.plugged = True
    driver.wait(Action.SAFE)  # opened again; the old command has faded
    assert driver.opened == 2
    keep(worker, driver, Action.RELAX, [0.2, 0.2])
    assert worker.state().interrupted
    import time

    seen = len(driver.rounds)
    for _ in range(5):
        worker.command(time.monotonic_ns(), Action.FOLLOW, np.array([0.9, 0.9]))
        driver.wait(Action.RELAX)
    assert all(a is not Action.FOLLOW for a, _ in driver.rounds[seen:])
    worker.resume()
    keep(worker, driver, Action.FOLLOW, [0.1, 0.1])


def test_faults_are_cleared_when_asked(bus) -> None:
    driver, worker = bus
    worker.start()
    assert driver.cleared == 0
    worker.clear_faults()
    driver.wait(Action.SAFE)
    driver.wait(Action.SAFE)
    assert driver.cleared == 1


def test_a_bus_that_cannot_be_opened_says_so_at_once(bus) -> None:
    driver, worker = bus
    driver.plugged = False
    with pytest.raises(DeviceError, match="port is missing"):
        worker.start()


def test_closing_twice_is_harmless(bus) -> None:
    driver, worker = bus
    worker.start()
    worker.close()
    worker.close()
    assert not driver.is_open
    assert driver.rounds[-1][0] is Action.SAFE
