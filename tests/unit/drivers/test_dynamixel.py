import math
import time
from types import SimpleNamespace

import numpy as np
import pytest

from app.drivers import servo_driver
from app.drivers.base import Action
from app.drivers.virtual.base import Drive
from app.errors import DeviceError
from tests.unit.drivers.servo_trials import (
    dynamixels,
    fuzz_servo_driver,
    rounds_until,
    serve,
)

COUNT = 2 * math.pi / 4096


@pytest.fixture
def bus():
    carrier, driver = serve(dynamixels())
    with carrier, driver:
        yield carrier, carrier.device, driver
        driver.close()


def memory(device, servo):
    return device.servos[servo].memory


def near(goals):
    return lambda reading: bool(
        np.all(np.abs(reading.measured - np.asarray(goals)) < 2 * COUNT)
    )


def test_open_sets_the_servos_up_and_moves_none(bus):
    _, device, driver = bus
    for servo in device.servos:
        table = memory(device, servo)
        assert table.get("operating_mode") == 5
        assert table.get("return_delay") == 0
        assert table.get("bus_watchdog") == 10
        assert table.get("torque_enable") == 0
    assert driver.watchdog_s == pytest.approx(0.2)
    assert (device.actuators.drive == Drive.OFF).all()
    assert [one.model for one in driver.identify()] == ["xm430-w350"] * 3


def test_the_eeprom_is_written_only_where_it_differs(bus, monkeypatch):
    _, device, driver = bus
    driver.close()
    written = []
    store = device._store
    monkeypatch.setattr(
        device,
        "_store",
        lambda servo, name, value: (written.append(name), store(servo, name, value)),
    )
    driver.open()
    assert "goal_position" in written
    assert not {"operating_mode", "return_delay", "drive_mode"} & set(written)


def test_follow_begins_softly_then_goes_there(bus):
    _, device, driver = bus
    goals = np.array([15.0, -3.0, 100.0])
    first = driver.exchange(Action.FOLLOW, goals)
    assert np.isnan(first.applied).all()  # nobody was read yet: nobody is driven
    second = driver.exchange(Action.FOLLOW, goals)
    assert second.applied == pytest.approx([0.0, 0.0, 0.0], abs=COUNT)
    assert (device.actuators.drive == Drive.RELAXED).all()
    reading = rounds_until(driver, Action.FOLLOW, goals, near([15.0, -3.0, 20.0]))
    assert reading.applied == pytest.approx([15.0, -3.0, 20.0], abs=COUNT)
    assert (reading.applied <= 20.0).all()
    assert memory(device, 1).get("goal_current") == int(400 / 2.69)
    assert reading.faults == ()


def test_a_setpoint_that_is_no_number_drives_nothing(bus):
    _, device, driver = bus
    goals = np.array([math.nan, math.inf, 1.0])
    reading = rounds_until(
        driver, Action.FOLLOW, goals, lambda r: abs(r.measured[2] - 1.0) < 2 * COUNT
    )
    assert np.isnan(reading.applied[:2]).all()
    assert list(device.actuators.drive) == [Drive.OFF, Drive.OFF, Drive.DRIVEN]


def test_relax_gives_way_where_it_stands_and_safe_lets_go(bus):
    _, device, driver = bus
    rounds_until(driver, Action.FOLLOW, [1.0, 1.0, 1.0], near([1.0, 1.0, 1.0]))
    driver.exchange(Action.RELAX, np.ones(3))
    device.actuators.measured[:] = 0.5  # somebody pulls
    reading = rounds_until(
        driver,
        Action.RELAX,
        [9.0, 9.0, 9.0],
        lambda r: np.allclose(r.applied, 0.5, atol=2 * COUNT),
    )
    assert (device.actuators.drive == Drive.RELAXED).all()
    assert memory(device, 1).get("goal_current") == int(30 / 2.69)
    reading = driver.exchange(Action.SAFE, np.zeros(3))
    assert np.isnan(reading.applied).all()
    assert (device.actuators.drive == Drive.OFF).all()


def test_hold_keeps_the_last_setpoint(bus):
    _, _, driver = bus
    rounds_until(driver, Action.FOLLOW, [1.0, 2.0, 3.0], near([1.0, 2.0, 3.0]))
    reading = driver.exchange(Action.HOLD, np.full(3, 9.0))
    assert reading.applied == pytest.approx([1.0, 2.0, 3.0], abs=COUNT)


def test_a_silent_servo_costs_little_and_the_others_go_on(bus, monkeypatch):
    _, device, driver = bus
    rounds_until(driver, Action.FOLLOW, [1.0, 1.0, 1.0], near([1.0, 1.0, 1.0]))
    device.actuators.silent[1] = True
    read, missed = driver._items.bus.read, []

    def counted(servo, address, size):
        answer = read(servo, address, size)
        if answer is None:
            missed.append(servo)
        return answer

    monkeypatch.setattr(driver._items.bus, "read", counted)
    now = [time.monotonic_ns()]
    clock = SimpleNamespace(monotonic_ns=lambda: now[0])
    monkeypatch.setattr(servo_driver, "time", clock)
    reading = driver.exchange(Action.FOLLOW, np.full(3, 2.0))
    assert missed == [2]
    assert list(reading.answered) == [True, False, True]
    assert [fault.channel for fault in reading.faults] == [1]
    tried = []
    for tick in range(1, 75):  # of 10 ms
        now[0] += 10_000_000
        missed.clear()
        reading = driver.exchange(Action.FOLLOW, np.full(3, 2.0))
        assert list(reading.answered) == [True, False, True]
        assert math.isnan(reading.applied[1])
        tried += [tick] * len(missed)
    assert tried == [10, 30, 70]  # left out until it is tried again, ever later
    assert driver.longest_exchange_s < 0.5
    monkeypatch.setattr(servo_driver, "time", time)
    rounds_until(
        driver, Action.FOLLOW, [2.0] * 3, lambda r: abs(r.measured[2] - 2.0) < 0.01
    )
    device.actuators.silent[1] = False
    reading = rounds_until(driver, Action.FOLLOW, [2.5] * 3, near([2.5] * 3))
    assert reading.faults == ()


def test_one_wild_reading_is_none(bus):
    _, device, driver = bus
    rounds_until(driver, Action.FOLLOW, [1.0] * 3, near([1.0] * 3))
    device.actuators.sense(np.array([1.0, 9.0, 1.0]))
    reading = driver.exchange(Action.RELAX, np.ones(3))
    assert list(reading.answered) == [True, False, True]
    device.actuators.sense(np.ones(3))
    reading = driver.exchange(Action.RELAX, np.ones(3))
    assert reading.applied == pytest.approx(np.ones(3), abs=2 * COUNT)
    assert reading.answered.all()
    device.actuators.sense(np.array([1.0, 9.0, 1.0]))
    driver.exchange(Action.RELAX, np.ones(3))
    assert driver.exchange(Action.RELAX, np.ones(3)).measured[1] == pytest.approx(
        9.0, abs=2 * COUNT
    )


def test_wrong_checksums_are_silence(bus):
    _, device, driver = bus
    rounds_until(driver, Action.FOLLOW, [1.0] * 3, near([1.0] * 3))
    device.corrupted[0] = True
    reading = driver.exchange(Action.FOLLOW, np.full(3, 1.0))
    assert list(reading.answered) == [False, True, True]
    assert math.isnan(reading.measured[0])
    device.corrupted[0] = False
    rounds_until(driver, Action.FOLLOW, [1.0] * 3, lambda r: r.answered.all())


def test_a_servo_stopped_by_its_watchdog_is_armed_again_softly(bus):
    _, device, driver = bus
    rounds_until(driver, Action.FOLLOW, [1.0] * 3, near([1.0] * 3))
    now_ns = time.monotonic_ns()
    for servo in device.servos.values():
        device._watch(now_ns + 10**9, servo)
    driver._last_ns -= 10**9  # as if the owner had been away
    assert memory(device, 1).get("bus_watchdog") == -1
    reading = driver.exchange(Action.FOLLOW, np.full(3, 1.0))
    assert len(reading.faults) == 3
    assert "watchdog" in reading.faults[0].text
    assert (device.actuators.drive == Drive.RELAXED).all()
    reading = driver.exchange(Action.FOLLOW, np.full(3, 1.5))
    assert reading.faults == ()
    assert (device.actuators.drive == Drive.DRIVEN).all()
    assert memory(device, 1).get("bus_watchdog") == 10


def test_a_watchdog_that_tripped_unseen_is_found_in_turn(bus):
    _, device, driver = bus
    rounds_until(driver, Action.FOLLOW, [1.0] * 3, near([1.0] * 3))
    device._watch(time.monotonic_ns() + 10**9, device.servos[2])
    rounds_until(driver, Action.FOLLOW, [2.0] * 3, near([2.0] * 3))


def test_a_servo_that_restarted_gets_its_turns_back(bus):
    _, device, driver = bus
    goals = [15.0, 1.0, 1.0]
    rounds_until(driver, Action.FOLLOW, goals, near(goals))
    device.restart(time.monotonic_ns(), 1)
    reading = rounds_until(driver, Action.FOLLOW, goals, lambda r: not r.answered[0])
    assert device.actuators.drive[0] == Drive.OFF
    reading = rounds_until(driver, Action.FOLLOW, goals, near(goals))
    assert device.servos[1].turns == 2
    reading = rounds_until(
        driver,
        Action.FOLLOW,
        [14.0, 1.0, 1.0],
        lambda _: abs(device.actuators.measured[0] - 14.0) < 0.01,
    )
    assert reading.faults == ()


def test_a_servo_that_restarted_elsewhere_is_latched(bus):
    _, device, driver = bus
    rounds_until(driver, Action.FOLLOW, [15.0] * 3, near([15.0] * 3))
    device.restart(time.monotonic_ns(), 1)
    device.actuators.measured[0] = 15.0 - 2.5
    reading = rounds_until(
        driver, Action.FOLLOW, [15.0] * 3, lambda r: any(f.latched for f in r.faults)
    )
    assert "lost its turns" in reading.faults[0].text
    rounds_until(driver, Action.FOLLOW, [15.0] * 3, lambda r: r.answered[0])
    assert device.actuators.drive[0] == Drive.OFF
    driver.clear_faults()
    rounds_until(
        driver,
        Action.FOLLOW,
        [15.0] * 3,
        lambda _: device.actuators.drive[0] == Drive.DRIVEN,
    )


def test_a_hardware_error_is_latched_and_cleared_by_a_reboot(bus):
    _, device, driver = bus
    rounds_until(driver, Action.FOLLOW, [1.0] * 3, near([1.0] * 3))
    device.break_down(2, 0x20)
    reading = rounds_until(
        driver, Action.FOLLOW, [2.0] * 3, lambda r: any(f.latched for f in r.faults)
    )
    assert "overload" in reading.faults[0].text
    assert reading.faults[0].channel == 1
    reading = driver.exchange(Action.FOLLOW, np.full(3, 2.0))
    assert math.isnan(reading.applied[1])
    assert reading.answered[1]
    driver.clear_faults()
    rounds_until(driver, Action.FOLLOW, [2.0] * 3, near([2.0] * 3))
    assert memory(device, 2).get("hardware_error_status") == 0


def test_temperature_and_load_are_told(bus):
    _, device, driver = bus
    device.actuators.sense(np.zeros(3), np.full(3, 269.0), np.full(3, 41.0))
    reading = rounds_until(
        driver, Action.RELAX, [0.0] * 3, lambda r: (r.temperature == 41.0).all()
    )
    assert reading.load == pytest.approx([269.0] * 3)


def test_a_pulled_cable_is_a_device_error_and_a_new_one_opens():
    carrier, driver = serve(dynamixels())
    with carrier:
        driver.open()
        carrier.unplug()
        with pytest.raises(DeviceError, match="gone"):
            driver.exchange(Action.FOLLOW, np.ones(3))
        driver.close()
    carrier, other = serve(dynamixels())
    with carrier:
        driver._port = other._port  # the same adapter, plugged in again
        with driver:
            assert np.isnan(driver.exchange(Action.HOLD, np.ones(3)).applied).all()
            assert (carrier.device.actuators.drive == Drive.OFF).all()


def test_open_names_the_servo_that_does_not_answer():
    carrier, driver = serve(dynamixels())
    with carrier:
        carrier.device.actuators.silent[1] = True
        with pytest.raises(
            DeviceError, match=r"servo 2\. Check power.*start_incomplete"
        ):
            driver.open()
    carrier, driver = serve(dynamixels(start_incomplete=True))
    with carrier:
        carrier.device.actuators.silent[1] = True
        with driver:
            reading = driver.exchange(Action.HOLD, np.zeros(3))
            assert list(reading.answered) == [True, False, True]


def test_open_refuses_another_model():
    carrier, driver = serve(dynamixels())
    with carrier:
        memory(carrier.device, 3).set("model_number", 1060)
        with pytest.raises(
            DeviceError, match="Servo 3 has model number 1060, not 1020"
        ):
            driver.open()


def test_a_servo_that_answers_nothing_is_made_to_answer():
    carrier, driver = serve(dynamixels())
    with carrier:
        memory(carrier.device, 1).set("status_return_level", 0)
        with driver:
            assert driver.exchange(Action.HOLD, np.zeros(3)).answered.all()


def test_two_models_share_a_bus_each_with_its_own_unit_of_current():
    parameters = dynamixels(2)
    small = parameters.servos[1].model_copy(update={"model": "xl330-m288"})
    both = parameters.model_copy(update={"servos": (parameters.servos[0], small)})
    carrier, driver = serve(both)
    with carrier, driver:
        device = carrier.device
        rounds_until(driver, Action.FOLLOW, [1.0] * 2, near([1.0] * 2))
        assert memory(device, 1).get("goal_current") == 148
        assert memory(device, 2).get("goal_current") == 400
        device.actuators.sense(np.ones(2), np.full(2, 100.0))
        reading = rounds_until(
            driver, Action.FOLLOW, [1.0] * 2, lambda r: (r.load > 90.0).all()
        )
        assert reading.load == pytest.approx([99.53, 100.0])


def test_nobody_at_all_is_a_device_error():
    carrier, driver = serve(dynamixels(timeout_ms=20.0))
    with carrier, driver:
        carrier.device.actuators.silent[:] = True
        with pytest.raises(DeviceError, match="no servo has answered"):
            rounds_until(driver, Action.HOLD, [0.0] * 3, lambda _: False)


def fuzz_dynamixel_driver(count: int, seed: int) -> None:
    """Let the bus lie to the driver."""
    fuzz_servo_driver(dynamixels(timeout_ms=1.0), count, seed)


def test_fuzz_dynamixel_driver():
    fuzz_dynamixel_driver(200, 3)
