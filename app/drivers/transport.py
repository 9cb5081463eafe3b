"""Serial ports of this computer; the one module that touches pyserial."""

import os
from dataclasses import dataclass

from serial.tools import list_ports

__all__ = ["SerialPort", "list_serial_ports"]


@dataclass(frozen=True)
class SerialPort:
    """A serial port that the operating system shows.

    Attributes:
        device: its path, such as /dev/ttyUSB0.
        description: what hangs on it, as USB tells; the path's name where it does not.
        permitted: this user may read and write it.
    """

    device: str
    description: str
    permitted: bool


def list_serial_ports() -> list[SerialPort]:
    """List the serial ports, by path; none is opened."""
    return sorted(
        (
            SerialPort(
                device=port.device,
                description=port.description
                if port.description != "n/a"
                else port.name,
                permitted=os.access(port.device, os.R_OK | os.W_OK),
            )
            for port in list_ports.comports()
        ),
        key=lambda port: port.device,
    )
