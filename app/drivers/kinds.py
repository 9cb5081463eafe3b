"""The drivers that a rig's file can name, and how each is built, real or virtual."""

from app.drivers.base import Driver
from app.drivers.board import BoardParameters, build_board
from app.drivers.ctrlp import build_ctrlp
from app.drivers.ctrlp_parameters import CtrlPParameters
from app.drivers.mavlink_parameters import MavlinkParameters, build_mavlink
from app.drivers.modbus_parameters import ModbusParameters, build_modbus
from app.drivers.servo_parameters import (
    DynamixelParameters,
    FeetechParameters,
    build_dynamixel,
    build_feetech,
    virtual_dynamixel,
    virtual_feetech,
)
from app.drivers.virtual.board import virtual_board
from app.drivers.virtual.carrier import PtyCarrier, TcpCarrier, UdpCarrier
from app.drivers.virtual.ctrlp import virtual_ctrlp
from app.drivers.virtual.mavlink import virtual_mavlink
from app.drivers.virtual.modbus import virtual_modbus

__all__ = ["BusLine", "Carrier", "build_driver", "build_virtual"]

BusLine = (
    BoardParameters
    | CtrlPParameters
    | DynamixelParameters
    | FeetechParameters
    | MavlinkParameters
    | ModbusParameters
)
"""What a bus's table may be, told apart by `driver`."""

Carrier = PtyCarrier | TcpCarrier | UdpCarrier


def build_driver(line: BusLine, rate_hz: float) -> Driver:
    """Make the driver of a bus; nothing is opened.

    Args:
        line: the bus.
        rate_hz: rounds a second that its worker wants.

    Raises:
        ConfigError: what does not fit together, or a rate that the line cannot hold.
    """
    match line:
        case BoardParameters():
            return build_board(line)
        case CtrlPParameters():
            return build_ctrlp(line)
        case DynamixelParameters():
            return build_dynamixel(line)
        case FeetechParameters():
            return build_feetech(line)
        case MavlinkParameters():
            return build_mavlink(line, rate_hz)
        case ModbusParameters():
            return build_modbus(line, rate_hz)


def build_virtual(line: BusLine) -> tuple[Carrier, BusLine]:
    """Serve the shipped virtual devices of a bus.

    Returns:
        The carrier, and the bus's parameters with its address in place of the real.

    Raises:
        ConfigError: what does not fit together.
        DeviceError: the system gives no line.
    """
    match line:
        case BoardParameters():
            return virtual_board(line)
        case CtrlPParameters():
            return virtual_ctrlp(line)
        case DynamixelParameters():
            return virtual_dynamixel(line)
        case FeetechParameters():
            return virtual_feetech(line)
        case MavlinkParameters():
            return virtual_mavlink(line)
        case ModbusParameters():
            return virtual_modbus(line)
