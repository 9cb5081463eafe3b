"""Who answers on a serial port, in each protocol that can be asked without harm.

Nothing is moved and nothing is stored: servos and valves are read, boards asked for
their names. Opening a port restarts some Arduino-class boards, as it always does.
"""

from collections.abc import Callable, Iterator

from app.clock import NS_PER_MS, MonotonicClock
from app.drivers.base import Identity
from app.drivers.board_codec import FrameReader, Identify, decode, encode
from app.drivers.board_codec import Identity as BoardIdentity
from app.drivers.modbus_bus import (
    ModbusBus,
    RefusedRequestError,
    RtuLine,
    SilentDeviceError,
)
from app.drivers.servo_bus import ServoBus
from app.drivers.servo_table import SERVO_MODELS
from app.drivers.transport import SerialLine
from app.errors import DeviceError, FrameError

__all__ = ["probe"]

_SERVO_BAUDS = (57_600, 1_000_000, 3_000_000)
_SERVO_IDS = range(1, 33)
_SERVO_TIMEOUT_S = 0.004
_MODBUS_BAUDS = (9600, 115_200)
_MODBUS_DEVICES = range(1, 9)
_MODBUS_TIMEOUT_S = 0.05
_BOARD_MS = 400


def probe(port: str) -> Iterator[tuple[str, Identity]]:
    """Ask on a serial port in every protocol.

    Args:
        port: its path.

    Yields:
        Name of the protocol, and who answered.

    Raises:
        DeviceError: the port cannot be opened.
    """
    with SerialLine(port, 115_200):
        pass  # missing, busy or not permitted: said once, in its own words
    asks: tuple[tuple[str, Callable[[str], Iterator[Identity]]], ...] = (
        ("board", _boards),
        ("dynamixel", lambda name: _servos(name, 2)),
        ("feetech", lambda name: _servos(name, 1)),
        ("modbus", _modbus),
    )
    for protocol, ask in asks:
        for identity in ask(port):
            yield protocol, identity


def _servos(port: str, protocol: int) -> Iterator[Identity]:
    address = 0 if protocol == 2 else 3
    firmware_at = 6 if protocol == 2 else 0
    names = {model.number: model.name for model in SERVO_MODELS.values()}
    for baud in _SERVO_BAUDS:
        try:
            bus = ServoBus(
                port, baud_rate=baud, timeout_s=_SERVO_TIMEOUT_S, protocol=protocol
            )
        except DeviceError:
            continue  # a baud rate that this adapter has not
        try:
            for servo in _SERVO_IDS:
                answer = bus.read(servo, address, 2)
                if answer is None:
                    continue
                number = int.from_bytes(answer.data, "little")
                told = bus.read(servo, firmware_at, 1)
                yield Identity(
                    f"id {servo} at {baud} baud",
                    names.get(number, f"model number {number}"),
                    "" if told is None else str(told.data[0]),
                )
        finally:
            bus.close()


def _boards(port: str) -> Iterator[Identity]:
    clock = MonotonicClock()
    with SerialLine(port, 115_200) as line:
        line.discard_input()
        line.write(encode(Identify(1)))
        reader = FrameReader()
        deadline_ns = clock.now_ns() + _BOARD_MS * NS_PER_MS
        while clock.now_ns() < deadline_ns:
            for frame in reader.feed(line.read(deadline_ns)):
                if frame is None:
                    continue
                try:
                    said = decode(frame)
                except FrameError:
                    continue
                if isinstance(said, BoardIdentity):
                    yield Identity(
                        f"{said.channels} channels",
                        said.name,
                        f"{said.firmware >> 8}.{said.firmware & 0xFF}",
                    )
                    return


def _modbus(port: str) -> Iterator[Identity]:
    for baud in _MODBUS_BAUDS:
        bus = ModbusBus(RtuLine(port, baud, "N", 1), timeout_s=_MODBUS_TIMEOUT_S)
        try:
            bus.open()
            for device in _MODBUS_DEVICES:
                try:
                    bus.read(device, 3, 0, 1)
                except SilentDeviceError:
                    continue
                except RefusedRequestError:
                    pass  # it has no such register, and said so
                yield Identity(f"device {device} at {baud} baud", "Modbus device", "")
        finally:
            bus.close()
