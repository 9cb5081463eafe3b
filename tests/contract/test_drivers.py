"""What every driver promises, on its shipped virtual device over real bytes.

One class over all protocols: clamps, refuses what is not finite, drives nothing before
it is told to, gives way, makes safe, and tells that its cable was pulled.
Values are compared to 2 % of a channel's range.
"""

import threading

import numpy as np
import pytest

from app.drivers.base import Action, Driver, Reading
from app.drivers.board import BoardParameters
from app.drivers.ctrlp_parameters import CtrlPParameters
from app.drivers.kinds import BusLine, build_driver, build_virtual
from app.drivers.mavlink_parameters import MavlinkParameters
from app.drivers.modbus_parameters import ModbusParameters
from app.drivers.servo_parameters import DynamixelParameters, FeetechParameters
from app.drivers.virtual.base import Drive
from app.errors import DeviceError

RATE_HZ = 20.0
ROUNDS = 400  # longest that anything here takes

LINES: dict[str, BusLine] = {
    "board": BoardParameters.model_validate(
        {
            "driver": "board",
            "port": "/dev/none",
            "actuators": [{"name": f"valve {k}"} for k in range(3)],
        }
    ),
    "ctrlp": CtrlPParameters.model_validate(
        {
            "driver": "ctrlp",
            "port": "/dev/none",
            "units": "kpa",
            "data_period_ms": 10,
            "baud": 1_000_000,
            "actuators": [{"name": f"c{k}", "greatest_kpa": 60.0} for k in range(3)],
        }
    ),
    "dynamixel": DynamixelParameters.model_validate(
        {
            "driver": "dynamixel",
            "port": "/dev/none",
            "servos": [
                {
                    "id": k + 1,
                    "model": "xm430-w350",
                    "least_rad": -2.0,
                    "greatest_rad": 2.0,
                    "current_limit_ma": 400.0,
                }
                for k in range(3)
            ],
        }
    ),
    "feetech": FeetechParameters.model_validate(
        {
            "driver": "feetech",
            "port": "/dev/none",
            "servos": [
                {
                    "id": k + 1,
                    "least_rad": 1.0,
                    "greatest_rad": 5.0,
                    "torque_limit_percent": 60.0,
                }
                for k in range(3)
            ],
        }
    ),
    "mavlink": MavlinkParameters.model_validate(
        {"driver": "mavlink", "host": "127.0.0.1", "mode": "manual", "quiet_s": 0.2}
    ),
    "modbus-rtu": ModbusParameters.model_validate(
        {
            "driver": "modbus",
            "port": "/dev/none",
            "devices": [{"number": 1, "profile": "generic-watchdog-ao"}],
            "actuators": [
                {"outlet": k + 1, "range_mv": [0.0, 10_000.0]} for k in range(3)
            ],
        }
    ),
    "modbus-tcp": ModbusParameters.model_validate(
        {
            "driver": "modbus",
            "host": "127.0.0.1",
            "devices": [{"profile": "ifm-al1940-itv", "full_scale_kpa": 100.0}],
            "actuators": [
                {"outlet": k + 1, "range_kpa": [0.0, 60.0]} for k in range(3)
            ],
        }
    ),
}


@pytest.fixture(params=LINES, ids=LINES)
def bus(request):
    """A driver that is not open, its carrier, and its name."""
    carrier, line = build_virtual(LINES[request.param])
    driver = build_driver(line, RATE_HZ)
    yield request.param, driver, carrier
    driver.close()
    carrier.close()


def middle(driver: Driver) -> np.ndarray:
    """Setpoints a quarter into each range."""
    return np.array([0.75 * c.least + 0.25 * c.greatest for c in driver.channels])


def follow(driver: Driver, setpoint: np.ndarray, rounds: int = 12) -> Reading:
    """Ask until it is applied, and some rounds more."""
    reading = driver.exchange(Action.FOLLOW, setpoint)
    known = np.isfinite(setpoint)
    wanted = np.array([setpoint, [c.least for c in driver.channels]]).max(axis=0)
    wanted = np.minimum(wanted, [c.greatest for c in driver.channels])
    for _ in range(ROUNDS):
        off = np.abs(reading.applied - wanted)[known]
        if (off < 0.02 * span(driver)).all():
            break
        pause()
        reading = driver.exchange(Action.FOLLOW, setpoint)
    for _ in range(rounds):
        reading = driver.exchange(Action.FOLLOW, setpoint)
    return reading


def pause() -> None:
    """A round's time: for devices that are asked faster than they can change."""
    threading.Event().wait(0.005)


def span(driver: Driver) -> float:
    return max(c.greatest - c.least for c in driver.channels)


class TestEveryDriver:
    def test_opens_identifies_and_closes_twice(self, bus) -> None:
        _, driver, _ = bus
        driver.open()
        driver.open()
        assert driver.identify()
        driver.close()
        driver.close()
        assert not driver.is_open
        with pytest.raises(DeviceError):
            driver.exchange(Action.SAFE, middle(driver))

    def test_drives_nothing_before_it_is_told_where(self, bus) -> None:
        _, driver, carrier = bus
        driver.open()
        for action in (Action.SAFE, Action.RELAX, Action.HOLD):
            for _ in range(4):
                driver.exchange(action, np.full(len(driver.channels), np.nan))
        nothing = np.full(len(driver.channels), np.nan)
        for _ in range(4):
            driver.exchange(Action.FOLLOW, nothing)
        goal, drive = carrier.device.actuators.told()
        moves = (drive == Drive.DRIVEN) & (np.abs(goal) > 1e-9)
        if bus[0] in {"dynamixel", "feetech"}:  # they may hold where they stand
            moves &= np.abs(goal - carrier.device.actuators.measured) > 0.02
        assert not moves.any()

    def test_follows_clamps_and_tells_what_was_applied(self, bus) -> None:
        name, driver, _ = bus
        driver.open()
        wanted = middle(driver)
        reading = follow(driver, wanted)
        assert reading.applied == pytest.approx(wanted, abs=0.02 * span(driver))
        far = np.array([c.greatest + 10.0 * span(driver) for c in driver.channels])
        reading = follow(driver, far)
        most = np.array([c.greatest for c in driver.channels])
        assert (reading.applied <= most + 1e-6).all()
        if name != "mavlink":
            assert reading.answered.all()

    @pytest.mark.parametrize("wild", [np.nan, np.inf, -np.inf])
    def test_a_setpoint_that_is_not_finite_moves_nothing(self, bus, wild) -> None:
        _, driver, _ = bus
        driver.open()
        before = follow(driver, middle(driver)).applied
        wanted = middle(driver) + 0.1 * span(driver)
        wanted[0] = wild
        after = follow(driver, wanted).applied
        assert after[0] == pytest.approx(before[0], abs=1e-6)

    def test_a_wrong_shape_is_refused(self, bus) -> None:
        _, driver, _ = bus
        driver.open()
        with pytest.raises(ValueError, match="shape"):
            driver.exchange(Action.FOLLOW, np.zeros(len(driver.channels) + 1))

    def test_safe_lets_all_go(self, bus) -> None:
        name, driver, carrier = bus
        driver.open()
        follow(driver, middle(driver))
        for _ in range(6):
            driver.exchange(Action.SAFE, middle(driver))
        goal, drive = carrier.device.actuators.told()
        vented = (drive == Drive.OFF) | (np.abs(goal) < 1e-6)
        assert vented.all(), (name, goal, drive)

    def test_closing_makes_safe(self, bus) -> None:
        _, driver, carrier = bus
        driver.open()
        follow(driver, middle(driver))
        driver.close()
        for _ in range(200):
            goal, drive = carrier.device.actuators.told()
            if ((drive == Drive.OFF) | (np.abs(goal) < 1e-6)).all():
                return
            carrier.settle()
        raise AssertionError((goal, drive))

    def test_a_pulled_cable_is_told_within_its_time(self, bus) -> None:
        name, driver, carrier = bus
        driver.open()
        follow(driver, middle(driver))
        carrier.close()
        told = False
        for _ in range(ROUNDS):
            try:
                reading = driver.exchange(Action.FOLLOW, middle(driver))
            except DeviceError:
                told = True
                break
            if name == "mavlink" and not reading.answered.any():
                told = True  # UDP knows no cable: nobody answers
                break
            pause()
        assert told
        driver.close()
        assert not driver.is_open

    def test_what_is_measured_comes_from_the_device(self, bus) -> None:
        name, driver, carrier = bus
        if name == "mavlink":
            return  # it tells no stick positions
        driver.open()
        reading = follow(driver, middle(driver), rounds=20)
        for _ in range(ROUNDS):
            told = reading.measured
            true = carrier.device.actuators.measured
            close = np.abs(told - true) < 0.03 * span(driver)
            if np.isfinite(told).all() and close.all():
                return
            carrier.settle()
            reading = driver.exchange(Action.FOLLOW, middle(driver))
        raise AssertionError((told, true))
