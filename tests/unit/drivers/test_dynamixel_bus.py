"""The virtual Dynamixel bus: by its bytes, and through ROBOTIS's own SDK."""

import random

import dynamixel_sdk as sdk
import numpy as np
import pytest

from app.drivers.servo_table import SERVO_MODELS
from app.drivers.virtual.base import Drive, VirtualActuators
from app.drivers.virtual.carrier import PtyCarrier
from app.drivers.virtual.dynamixel import VirtualDynamixelBus
from app.drivers.virtual.servo_packets import crc

MS = 1_000_000
SHORT, ACCESS, LIMIT, RANGE, FAIL, UNKNOWN = 5, 7, 6, 4, 1, 2


def make_bus(count=2, model="xm430-w350", **more):
    models = dict.fromkeys(range(1, count + 1), SERVO_MODELS[model])
    return VirtualDynamixelBus(models, VirtualActuators(np.zeros(count)), **more)


def instruction(servo, code, parameters=b""):
    stuffed = parameters.replace(b"\xff\xff\xfd", b"\xff\xff\xfd\xfd")
    length = (len(stuffed) + 3).to_bytes(2, "little")
    packet = b"\xff\xff\xfd\x00" + bytes((servo,)) + length + bytes((code,)) + stuffed
    return packet + crc(packet).to_bytes(2, "little")


class Host:
    """Writes and reads items by name, in virtual time."""

    def __init__(self, bus):
        self.bus = bus
        self.now_ns = 10 * MS

    def send(self, servo, code, parameters=b""):
        self.now_ns += 2 * MS
        return self.bus.feed(self.now_ns, instruction(servo, code, parameters))

    def write(self, name, value, servo=1, code=3):
        item = SERVO_MODELS["xm430-w350"].items[name]
        address = item.address.to_bytes(2, "little")
        said = self.send(servo, code, address + item.encode(value))
        return said[8] & 0x7F if said else None

    def read(self, name, servo=1):
        item = SERVO_MODELS["xm430-w350"].items[name]
        asked = item.address.to_bytes(2, "little") + item.size.to_bytes(2, "little")
        return item.decode(self.send(servo, 2, asked)[9:-2])

    def wait(self, ms):
        self.now_ns += ms * MS
        self.bus.advance(self.now_ns)


@pytest.fixture
def host():
    return Host(make_bus())


def test_ping_is_answered_as_the_manual_prints_it():
    bus = make_bus()
    for servo in bus.servos.values():
        servo.memory.set("model_number", 1030)
        servo.memory.set("firmware", 38)
    said = bus.feed(MS, bytes.fromhex("ff ff fd 00 fe 03 00 01 31 42"))
    assert said == bytes.fromhex(
        "ff ff fd 00 01 07 00 55 00 06 04 26 65 5d"
        "ff ff fd 00 02 07 00 55 00 06 04 26 6f 6d"
    )


def test_sync_read_is_answered_as_the_manual_prints_it():
    bus = make_bus()
    bus.actuators.measured[:] = np.array([166, 2079]) * 2 * np.pi / 4096
    said = bus.feed(
        MS, bytes.fromhex("ff ff fd 00 fe 09 00 82 84 00 04 00 01 02 ce fa")
    )
    assert said == bytes.fromhex(
        "ff ff fd 00 01 08 00 55 00 a6 00 00 00 8c c0"
        "ff ff fd 00 02 08 00 55 00 1f 08 00 00 ba be"
    )


def test_eeprom_is_locked_while_the_torque_is_on(host):
    assert host.write("operating_mode", 5) == 0
    assert host.write("torque_enable", 1) == 0
    assert host.write("operating_mode", 4) == ACCESS
    assert host.read("operating_mode") == 5
    assert host.write("torque_enable", 0) == 0
    assert host.write("operating_mode", 4) == 0


def test_ranges_limits_and_addresses_are_kept(host):
    assert host.write("operating_mode", 2) == RANGE
    assert host.write("return_delay", 255) == RANGE
    assert host.write("goal_position", 4096) == LIMIT  # mode 3
    assert host.write("current_limit", 100) == 0
    assert host.write("goal_current", 101) == LIMIT
    assert host.write("goal_current", -100) == 0
    assert host.write("present_position", 5) == ACCESS
    assert host.send(1, 3, b"\x74\x00\x01")[8] == SHORT
    assert host.send(1, 3, b"\x42\x00\x01")[8] == ACCESS
    assert host.send(1, 2, b"\xf0\x00\x40\x00")[8] == ACCESS
    assert host.write("operating_mode", 5) == 0
    assert host.write("goal_position", 1_048_575) == 0
    assert host.write("goal_position", -1_048_576) == RANGE


def test_unknown_instructions_and_factory_reset_are_refused(host):
    assert host.send(1, 0x06, b"\x01")[8] == UNKNOWN
    assert host.send(1, 0x77)[8] == UNKNOWN
    assert host.send(1, 0x05)[8] == UNKNOWN  # action without reg write
    assert host.read("id") == 1


def test_a_wrong_checksum_is_answered_and_does_nothing(host):
    packet = bytearray(instruction(1, 3, b"\x40\x00\x01"))
    packet[-1] ^= 1
    assert host.bus.feed(host.now_ns, bytes(packet))[8] == 3
    assert host.read("torque_enable") == 0


def test_watchdog_stops_where_it_is_and_locks_the_goals(host):
    host.write("operating_mode", 5)
    host.write("torque_enable", 1)
    host.write("goal_position", 4096)
    host.write("bus_watchdog", 5)
    host.wait(99)
    assert host.bus.servos[1].memory.get("bus_watchdog") == 5
    host.wait(20)
    assert host.read("bus_watchdog") == -1
    assert host.read("torque_enable") == 1
    stopped = host.read("goal_position")
    assert stopped < 4096
    assert host.write("goal_position", 0) == RANGE
    assert host.write("goal_current", 10) == RANGE
    assert host.write("bus_watchdog", 0) == 0
    assert host.write("goal_position", 0) == 0


def test_watchdog_sleeps_while_the_torque_is_off(host):
    host.write("bus_watchdog", 1)
    host.wait(1000)
    assert host.read("bus_watchdog") == 1


def test_shutdown_turns_the_torque_off_until_a_reboot(host):
    host.write("torque_enable", 1)
    host.bus.actuators.temperature[0] = 90.0
    host.wait(2)
    said = host.send(1, 1)
    assert said[8] == 0x80  # alert
    assert host.read("hardware_error_status") == 4
    assert host.bus.actuators.drive[0] == Drive.OFF
    assert host.write("torque_enable", 1) == FAIL
    host.bus.actuators.temperature[0] = 30.0
    assert host.send(1, 8)[8] == 0x80
    assert host.send(1, 1) == b""  # it boots
    host.wait(200)
    assert host.read("hardware_error_status") == 0
    assert host.write("torque_enable", 1) == 0


def test_a_restart_loses_ram_and_turns_and_keeps_the_eeprom(host):
    host.write("operating_mode", 5)
    host.write("status_return_level", 1)
    host.bus.actuators.measured[0] = 3.25 * 2 * np.pi
    assert host.read("present_position") == 13312
    host.bus.restart(host.now_ns, 1)
    host.wait(200)
    assert host.read("present_position") == 1024
    assert host.read("status_return_level") == 2
    assert host.read("operating_mode") == 5
    host.write("goal_position", 1024)
    assert host.bus.actuators.goal[0] == pytest.approx(3.25 * 2 * np.pi)


def test_reg_write_waits_for_action(host):
    assert host.write("led", 1, code=4) == 0
    assert host.read("registered_instruction") == 1
    assert host.read("led") == 0
    assert host.send(254, 5) == b""
    assert host.read("led") == 1


def test_bulk_instructions_of_the_manual(host):
    host.bus.feed(
        host.now_ns,
        bytes.fromhex(
            "ff ff fd 00 fe 10 00 93 01 20 00 02 00 a0 00 02 1f 00 01 00 50 b7 68"
        ),
    )
    host.bus.servos[1].memory.set("present_voltage", 119)
    host.bus.actuators.temperature[1] = 36.0
    said = host.bus.feed(
        host.now_ns + MS,
        bytes.fromhex("ff ff fd 00 fe 0d 00 92 01 90 00 02 00 02 92 00 01 00 1a 05"),
    )
    assert said == bytes.fromhex(
        "ff ff fd 00 01 06 00 55 00 77 00 c3 69 ff ff fd 00 02 05 00 55 00 24 8b a9"
    )


def test_status_return_level_silences_it(host):
    host.write("status_return_level", 0)
    assert host.write("led", 1) is None
    assert host.send(1, 2, b"\x41\x00\x01\x00") == b""
    assert host.send(1, 1) != b""


@pytest.fixture
def line():
    bus = make_bus(4)
    with PtyCarrier(bus) as carrier:
        port = sdk.PortHandler(carrier.path)
        assert port.openPort()
        assert port.setBaudRate(1_000_000)
        yield bus, port, sdk.PacketHandler(2.0)
        port.closePort()


def test_sdk_pings_and_finds_all(line):
    _, port, packets = line
    assert packets.ping(port, 3) == (1020, sdk.COMM_SUCCESS, 0)
    found, result = packets.broadcastPing(port)
    assert result == sdk.COMM_SUCCESS
    assert {servo: model for servo, (model, _) in found.items()} == dict.fromkeys(
        (1, 2, 3, 4), 1020
    )


def test_sdk_changes_the_mode_and_meets_the_eeprom_lock(line):
    _, port, packets = line
    assert packets.write1ByteTxRx(port, 1, 11, 5) == (sdk.COMM_SUCCESS, 0)
    assert packets.write1ByteTxRx(port, 1, 64, 1) == (sdk.COMM_SUCCESS, 0)
    result, error = packets.write1ByteTxRx(port, 1, 11, 3)
    assert (result, error) == (sdk.COMM_SUCCESS, sdk.ERRNUM_ACCESS)
    assert packets.read1ByteTxRx(port, 1, 11) == (5, sdk.COMM_SUCCESS, 0)


def test_sdk_syncs_writes_and_reads_through_stuffing(line):
    _, port, packets = line
    for servo in (1, 2, 3, 4):
        packets.write1ByteTxRx(port, servo, 11, 4)
    goals = {1: 100, 2: -1, 3: 0x000FFFFF, 4: -0x20001}  # ff ff fd ff
    writes = sdk.GroupSyncWrite(port, packets, 116, 4)
    for servo, goal in goals.items():
        assert writes.addParam(servo, list(goal.to_bytes(4, "little", signed=True)))
    assert writes.txPacket() == sdk.COMM_SUCCESS
    reads = sdk.GroupSyncRead(port, packets, 116, 4)
    for servo in goals:
        assert reads.addParam(servo)
    assert reads.txRxPacket() == sdk.COMM_SUCCESS
    for servo, goal in goals.items():
        assert reads.getData(servo, 116, 4) == goal & 0xFFFFFFFF


def test_sdk_reads_a_header_that_stands_in_the_table(line):
    bus, port, packets = line
    bus.actuators.measured[0] = -0x20001 / 4096 * 2 * np.pi  # ff ff fd ff
    assert packets.read4ByteTxRx(port, 1, 132) == (0xFFFDFFFF, sdk.COMM_SUCCESS, 0)


def test_sdk_reboots(line):
    bus, port, packets = line
    bus.break_down(2, 32)
    assert packets.reboot(port, 2)[0] == sdk.COMM_SUCCESS
    assert bus.servos[2].memory.get("hardware_error_status") == 0


def fuzz_dynamixel_bus(count: int, seed: int) -> None:
    """Feed broken packets and random bytes; raise where an actuator is told of it."""
    rng = random.Random(seed)
    bus = make_bus(3)
    host = Host(bus)
    for servo in bus.servos:
        host.write("operating_mode", 5, servo)
        host.write("torque_enable", 1, servo)
    good = [
        instruction(1, 3, b"\x74\x00\x00\x08\x00\x00"),
        instruction(
            254, 0x83, b"\x74\x00\x04\x00\x01\x96\x00\x00\x00\x02\xaa\x00\x00\x00"
        ),
        instruction(2, 3, b"\x40\x00\x00"),
        instruction(254, 0x08),
    ]
    before = [told.tolist() for told in bus.actuators.told()]
    now_ns = host.now_ns
    for k in range(count):
        if k % 2:
            junk = bytearray(rng.choice(good))
            # the CRC's low byte comes first: a burst across its start can slip through
            place = rng.choice([*range(4, len(junk) - 3), len(junk) - 2])
            burst = rng.randrange(1, 1 << 16)  # within 16 bits: any CRC-16 sees it
            junk[place] ^= burst & 0xFF
            junk[place + 1] ^= burst >> 8
        else:
            junk = bytearray(rng.randbytes(rng.randrange(1, 60)))
        now_ns += 60 * MS
        bus.feed(now_ns, bytes(junk))
        assert [told.tolist() for told in bus.actuators.told()] == before, junk.hex(" ")


def test_fuzz_dynamixel_bus():
    fuzz_dynamixel_bus(1500, 2)
