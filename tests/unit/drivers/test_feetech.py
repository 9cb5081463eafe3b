import math
import random
import time

import numpy as np
import pytest
import scservo_sdk as sdk

from app.drivers.base import Action
from app.drivers.servo_table import SERVO_MODELS
from app.drivers.virtual.base import Drive, VirtualActuators
from app.drivers.virtual.carrier import PtyCarrier
from app.drivers.virtual.feetech import VirtualFeetechBus
from app.drivers.virtual.servo_packets import checksum
from app.errors import DeviceError
from tests.unit.drivers.servo_trials import (
    feetechs,
    fuzz_servo_driver,
    rounds_until,
    serve,
)

COUNT = 2 * math.pi / 4096
MS = 1_000_000


def near(goals):
    return lambda reading: bool(
        np.all(np.abs(reading.measured - np.asarray(goals)) < 2 * COUNT)
    )


def instruction(servo, code, parameters=b""):
    body = bytes((servo, len(parameters) + 2, code)) + parameters
    return b"\xff\xff" + body + bytes((checksum(body),))


def make_bus(count=3):
    models = dict.fromkeys(range(1, count + 1), SERVO_MODELS["sts3215"])
    return VirtualFeetechBus(models, VirtualActuators(np.full(count, 3.0)))


@pytest.fixture
def bus():
    carrier, driver = serve(feetechs())
    with carrier, driver:
        yield carrier.device, driver
        driver.close()


@pytest.fixture
def line():
    device = make_bus()
    with PtyCarrier(device) as carrier:
        port = sdk.PortHandler(carrier.path)
        assert port.openPort()
        assert port.setBaudRate(1_000_000)
        yield device, port, sdk.PacketHandler(0)
        port.closePort()


def test_sdk_pings_reads_and_writes(line):
    device, port, packets = line
    assert packets.ping(port, 2) == (777, sdk.COMM_SUCCESS, 0)
    assert packets.write2ByteTxRx(port, 2, 42, 1000) == (sdk.COMM_SUCCESS, 0)
    assert packets.read2ByteTxRx(port, 2, 42) == (1000, sdk.COMM_SUCCESS, 0)
    assert device.actuators.drive[1] == Drive.DRIVEN
    assert device.actuators.goal[1] == pytest.approx(1000 * COUNT)


def test_sdk_syncs_writes_and_reads(line):
    device, port, packets = line
    writes = sdk.GroupSyncWrite(port, packets, 42, 2)
    for servo, goal in ((1, 500), (2, 2048), (3, 4095)):
        assert writes.addParam(servo, [goal & 0xFF, goal >> 8])
    assert writes.txPacket() == sdk.COMM_SUCCESS
    reads = sdk.GroupSyncRead(port, packets, 42, 2)
    for servo in (1, 2, 3):
        assert reads.addParam(servo)
    assert reads.txRxPacket() == sdk.COMM_SUCCESS
    assert [reads.getData(servo, 42, 2) for servo in (1, 2, 3)] == [500, 2048, 4095]
    assert device.actuators.goal[2] == pytest.approx(4095 * COUNT)


def test_what_was_written_under_the_lock_is_forgotten_at_a_restart():
    device = make_bus(1)
    device.feed(10 * MS, instruction(1, 3, b"\x21\x02"))  # mode 2, lock 1
    assert device.servos[1].memory.get("mode") == 2
    device.restart(20 * MS, 1)
    assert device.servos[1].memory.get("mode") == 0
    device.feed(400 * MS, instruction(1, 3, b"\x37\x00"))
    device.feed(410 * MS, instruction(1, 3, b"\x21\x02"))
    device.restart(420 * MS, 1)
    assert device.servos[1].memory.get("mode") == 2


def test_out_of_range_and_unknown_do_nothing_and_tell_no_error():
    device = make_bus(1)
    before = device.servos[1].memory.read(0, 56)
    for packet in (
        instruction(1, 3, b"\x30\xff\xff"),  # torque limit 65535
        instruction(1, 3, b"\x38\x00\x00"),  # present position
        instruction(1, 6),  # factory reset
        instruction(1, 3, b"\x2a\x00"),  # half a goal
    ):
        said = device.feed(10 * MS, packet)
        assert said == bytes.fromhex("ff ff 01 02 00 fc")
    assert device.servos[1].memory.read(0, 56) == before


def test_follow_begins_softly_and_keeps_to_the_range(bus):
    device, driver = bus
    assert math.isnan(driver.watchdog_s)
    goals = np.array([1.0, -9.0, 9.0])
    driver.exchange(Action.FOLLOW, goals)
    second = driver.exchange(Action.FOLLOW, goals)
    assert second.applied == pytest.approx([3.25] * 3, abs=COUNT)
    assert (device.actuators.drive == Drive.RELAXED).all()
    reading = rounds_until(driver, Action.FOLLOW, goals, near([1.0, 0.5, 6.0]))
    assert (reading.applied >= 0.5).all()
    assert (reading.applied <= 6.0).all()
    assert device.servos[1].memory.get("torque_limit") == 800
    assert driver.identify()[0].firmware == "3.10"


def test_a_goal_never_goes_to_a_servo_that_is_off(bus):
    device, driver = bus
    reading = driver.exchange(Action.FOLLOW, np.array([math.nan, 1.0, 1.0]))
    for _ in range(5):
        reading = driver.exchange(Action.FOLLOW, np.array([math.nan, 1.0, 1.0]))
    assert math.isnan(reading.applied[0])
    assert device.actuators.drive[0] == Drive.OFF
    driver.exchange(Action.SAFE, np.ones(3))
    assert (device.actuators.drive == Drive.OFF).all()


def test_relax_gives_way(bus):
    device, driver = bus
    rounds_until(driver, Action.FOLLOW, [2.0] * 3, near([2.0] * 3))
    driver.exchange(Action.RELAX, np.ones(3))
    device.actuators.measured[:] = 2.5
    rounds_until(
        driver,
        Action.RELAX,
        [2.0] * 3,
        lambda r: np.allclose(r.applied, 2.5, atol=2 * COUNT),
    )
    assert device.servos[1].memory.get("torque_limit") == 50


def test_a_servo_that_restarts_is_not_driven_before_it_is_set_up(bus):
    device, driver = bus
    rounds_until(driver, Action.FOLLOW, [2.0] * 3, near([2.0] * 3))
    drives = []
    command = device.actuators.command

    def noted(index, goal, drive):
        if index == 0:
            drives.append(drive)
        command(index, goal, drive)

    device.actuators.command = noted
    device.restart(time.monotonic_ns(), 1)
    rounds_until(driver, Action.FOLLOW, [1.5] * 3, lambda r: not r.answered[0])
    rounds_until(driver, Action.FOLLOW, [1.5] * 3, near([1.5] * 3))
    awake = [drive for drive in drives if drive != Drive.OFF]
    assert awake[0] == Drive.RELAXED
    assert awake[-1] == Drive.DRIVEN


def test_a_silent_servo_does_not_stop_the_others(bus):
    device, driver = bus
    rounds_until(driver, Action.FOLLOW, [2.0] * 3, near([2.0] * 3))
    device.actuators.silent[0] = True
    reading = driver.exchange(Action.FOLLOW, np.full(3, 3.0))
    assert list(reading.answered) == [False, True, True]
    device.actuators.silent[0] = False
    reading = rounds_until(driver, Action.FOLLOW, [3.0] * 3, near([3.0] * 3))
    assert reading.faults == ()


def test_an_alarm_is_latched_and_cleared(bus):
    device, driver = bus
    rounds_until(driver, Action.FOLLOW, [2.0] * 3, near([2.0] * 3))
    device.actuators.temperature[1] = 90.0
    reading = rounds_until(
        driver, Action.FOLLOW, [2.0] * 3, lambda r: any(f.latched for f in r.faults)
    )
    assert "overheated" in reading.faults[0].text
    rounds_until(driver, Action.FOLLOW, [2.0] * 3, lambda r: r.temperature[1] == 90.0)
    device.actuators.temperature[1] = 40.0
    driver.exchange(Action.FOLLOW, np.full(3, 3.0))
    assert device.actuators.drive[1] == Drive.OFF
    driver.clear_faults()
    reading = rounds_until(driver, Action.FOLLOW, [3.0] * 3, near([3.0] * 3))
    assert reading.faults == ()


def test_open_sets_the_mode_under_an_open_lock_and_checks_the_limits():
    carrier, driver = serve(feetechs())
    with carrier:
        table = carrier.device.servos[1].memory
        table.set("mode", 1)
        table.set("return_delay", 5)
        with driver:
            assert table.get("mode") == 0
            assert table.get("return_delay") == 0
            assert table.get("lock") == 1
            assert carrier.device._saved == {}
    carrier, driver = serve(feetechs())
    with carrier:
        carrier.device.servos[2].memory.set("max_angle_limit", 2000)
        with pytest.raises(DeviceError, match="Servo 2 lets pass"):
            driver.open()


def test_a_pulled_cable_is_a_device_error():
    carrier, driver = serve(feetechs())
    with carrier:
        driver.open()
        carrier.unplug()
        with pytest.raises(DeviceError, match="gone"):
            driver.exchange(Action.SAFE, np.ones(3))
        driver.close()


def fuzz_feetech_bus(count: int, seed: int) -> None:
    """Feed broken packets and random bytes; raise where an actuator is told of it.

    The checksum is a sum of 8 bits: one changed byte is always seen, more are not.
    """
    rng = random.Random(seed)
    device = make_bus()
    for servo in device.servos:
        device.feed(10 * MS, instruction(servo, 3, b"\x28\x01"))
    good = [
        instruction(1, 3, b"\x2a\x00\x08"),
        instruction(254, 0x83, b"\x2a\x02\x01\x10\x00\x02\x10\x00"),
    ]
    before = [told.tolist() for told in device.actuators.told()]
    now_ns = 20 * MS
    for k in range(count):
        if k % 2:
            junk = bytearray(rng.choice(good))
            place = rng.choice([2, *range(4, len(junk))])
            junk[place] ^= rng.randrange(1, 256)
        else:
            junk = bytearray(rng.randbytes(rng.randrange(1, 60)))
        now_ns += 60 * MS
        device.feed(now_ns, bytes(junk))
        assert [told.tolist() for told in device.actuators.told()] == before, junk.hex()


def fuzz_feetech_driver(count: int, seed: int) -> None:
    """Let the bus lie to the driver."""
    fuzz_servo_driver(feetechs(timeout_ms=1.0), count, seed)


def test_fuzz_feetech():
    fuzz_feetech_bus(1500, 4)
    fuzz_feetech_driver(150, 5)
