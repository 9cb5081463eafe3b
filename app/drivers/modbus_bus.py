"""Modbus requests over a serial line or TCP; the one module that touches pymodbus.

pymodbus frames, checks and matches answers to requests. Its own waits are replaced:
they poll, and read the wall clock. Its `connected` says nothing of a device, so that
whether one lives is known from answers only.
"""

import logging
import math
import select
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pymodbus.client import ModbusSerialClient, ModbusTcpClient
from pymodbus.exceptions import ConnectionException, ModbusException
from pymodbus.pdu import ModbusPDU

from app.clock import NS_PER_S
from app.errors import DeviceError

__all__ = [
    "ModbusBus",
    "RefusedRequestError",
    "RtuLine",
    "SilentDeviceError",
    "TcpLine",
    "rtu_request_s",
]

_EXCEPTIONS = {
    1: "illegal function",
    2: "illegal data address",
    3: "illegal data value",
    4: "server device failure",
    5: "acknowledge",
    6: "server device busy",
    8: "memory parity error",
    10: "gateway path unavailable",
    11: "gateway target device failed to respond",
}
_NO_ANSWERS = 1_000_000_000  # pymodbus drops the connection after so many
_OTHER_ERRORS = (ModbusException, ValueError, IndexError, TypeError, KeyError)

# Every unanswered request would be a line of its own on the console.
logging.getLogger("pymodbus").setLevel(logging.CRITICAL + 1)


class SilentDeviceError(DeviceError):
    """A device did not answer, or with nothing that could be understood."""


class RefusedRequestError(DeviceError):
    """A device answered with an exception code."""


@dataclass(frozen=True)
class RtuLine:
    """A serial line of Modbus RTU.

    Attributes:
        port: its path.
        baud: [bit/s].
        parity: "N", "E" or "O".
        stop_bits: 1 or 2.
    """

    port: str
    baud: int = 9600
    parity: Literal["N", "E", "O"] = "N"
    stop_bits: Literal[1, 2] = 1

    @property
    def character_s(self) -> float:
        """Time of one byte: start, 8 data, parity and stop bits [s]."""
        return (9 + (self.parity != "N") + self.stop_bits) / self.baud


@dataclass(frozen=True)
class TcpLine:
    """A Modbus TCP server."""

    host: str
    port: int = 502


def rtu_request_s(line: RtuLine, bytes_out: int, bytes_in: int) -> float:
    """Time of one request and its answer on the wire, silences included [s].

    After each frame the line must be silent for 3.5 characters, above 19200 bit/s for
    1.75 ms (MODBUS over serial line V1.02, sec 2.5.1.1). What the device takes to think
    comes on top.
    """
    silence_s = 3.5 * line.character_s if line.baud <= 19_200 else 1.75e-3
    return (bytes_out + bytes_in) * line.character_s + 2.0 * silence_s


class _Port(Protocol):
    """What a serial port of pyserial and a socket share."""

    def fileno(self) -> int: ...


def _wait_readable(port: _Port, deadline_ns: int) -> bool:
    left_s = max(0, deadline_ns - time.monotonic_ns()) / NS_PER_S
    poll = select.poll()
    poll.register(port.fileno(), select.POLLIN)
    return bool(poll.poll(math.ceil(left_s * 1000.0)))


def _shut(client: Any) -> None:
    """Close a client; the library's method has no types."""
    client.close()


class _SerialClient(ModbusSerialClient):
    """The library's serial client with a wait that sleeps, on the monotonic clock."""

    deadline_ns = 0

    def recv(self, size: int | None) -> bytes:
        """Wait until the deadline for bytes; nothing is a timeout to the library."""
        port = self.socket
        if port is None:
            raise ConnectionException("not open")
        try:
            if not _wait_readable(port, self.deadline_ns):
                return b""
            return bytes(port.read(max(1, port.in_waiting)))
        except (OSError, TypeError, ValueError) as error:
            _shut(self)
            raise ConnectionException(str(error)) from error


class _TcpClient(ModbusTcpClient):
    """The library's TCP client, likewise."""

    deadline_ns = 0

    def recv(self, size: int | None) -> bytes:
        """Wait until the deadline for bytes; nothing is a timeout to the library."""
        port = self.socket
        if port is None:
            raise ConnectionException("not open")
        try:
            if not _wait_readable(port, self.deadline_ns):
                return b""
            received: bytes = port.recv(4096)
        except (OSError, ValueError) as error:
            _shut(self)
            raise ConnectionException(str(error)) from error
        if not received:
            _shut(self)
            raise ConnectionException("the other end closed the connection")
        return received

    def send(self, request: bytes, addr: tuple[Any, ...] | None = None) -> int:
        """Drop what an earlier request's late answer left, then send."""
        port = self.socket
        if port is None:
            raise ConnectionException("not open")
        try:
            while _wait_readable(port, 0):
                if not port.recv(4096):
                    raise OSError("the other end closed the connection")
            port.sendall(request)
        except (OSError, ValueError) as error:
            _shut(self)
            raise ConnectionException(str(error)) from error
        return len(request)


class ModbusBus:
    """Requests to the devices of one line, one at a time."""

    def __init__(self, line: RtuLine | TcpLine, *, timeout_s: float) -> None:
        """Describe the line; nothing is opened.

        Args:
            line: serial or TCP.
            timeout_s: longest wait for one answer [s].
        """
        self.line = line
        self._timeout_ns = round(timeout_s * NS_PER_S)
        self._timeout_s = timeout_s
        self._client: _SerialClient | _TcpClient | None = None
        self._until_ns: int | None = None

    def limit(self, longest_s: float | None) -> None:
        """Let all requests from now on end within a time [s]; None: no limit."""
        self._until_ns = (
            None
            if longest_s is None
            else time.monotonic_ns() + round(longest_s * NS_PER_S)
        )

    def open(self) -> None:
        """Open the port.

        Raises:
            DeviceError: it is missing, busy or not permitted; says what to do.
        """
        if self._client is not None:
            return
        line = self.line
        client: _SerialClient | _TcpClient
        if isinstance(line, RtuLine):
            where = f"Serial port {line.port}"
            cure = "Is it plugged in, free, and may this user open it (group dialout)?"
            client = _SerialClient(
                line.port,
                baudrate=line.baud,
                parity=line.parity,
                stopbits=line.stop_bits,
                timeout=self._timeout_s,
                retries=0,
            )
        else:
            where = f"Modbus TCP server {line.host}:{line.port}"
            cure = "Is the device on, and address and network right?"
            client = _TcpClient(
                line.host,
                port=line.port,
                timeout=self._timeout_s,
                retries=0,
            )
        client.set_max_no_responses(_NO_ANSWERS)
        if not client.connect():
            raise DeviceError(f"{where} cannot be opened. {cure}")
        self._client = client

    def close(self) -> None:
        """Close the port; any further call does nothing."""
        client, self._client = self._client, None
        if client is not None:
            with suppress(OSError):
                _shut(client)

    def read(self, device: int, function: int, first: int, count: int) -> list[int]:
        """Read registers.

        Args:
            device: its number on the line.
            function: 3 holding or 4 input registers.
            first: register on the wire, from 0.
            count: 1 to 125.

        Raises:
            SilentDeviceError: no answer, or not that of this request.
            RefusedRequestError: the device refuses; says why.
            DeviceError: the line is gone.
        """
        client = self._ready()
        call = (
            client.read_holding_registers
            if function == 3
            else client.read_input_registers
        )
        answer = self._ask(
            device, lambda: call(first, count=count, device_id=device), first
        )
        registers = answer.registers
        if answer.function_code != function or len(registers) != count:
            raise SilentDeviceError(
                f"Modbus device {device}: asked for {count} registers from {first}, "
                f"it answered with {len(registers)} (function {answer.function_code})."
            )
        return list(registers)

    def write(self, device: int, function: int, first: int, values: list[int]) -> None:
        """Write registers: function 16, or 6 for a single one.

        Raises:
            SilentDeviceError: no answer, or not that of this request.
            RefusedRequestError: the device refuses; says why.
            DeviceError: the line is gone.
        """
        client = self._ready()
        if function == 6:
            answer = self._ask(
                device,
                lambda: client.write_register(first, values[0], device_id=device),
                first,
            )
            same = answer.function_code == 6 and list(answer.registers) == values[:1]
        else:
            answer = self._ask(
                device,
                lambda: client.write_registers(first, values, device_id=device),
                first,
            )
            same = answer.function_code == 16 and answer.count == len(values)
        if not (same and answer.address == first):
            raise SilentDeviceError(
                f"Modbus device {device}: the answer to writing {len(values)} registers"
                f" from {first} names others ({answer.address})."
            )

    def _ready(self) -> _SerialClient | _TcpClient:
        client = self._client
        if client is None or client.socket is None:
            raise DeviceError("The Modbus line is not open.")
        deadline_ns = time.monotonic_ns() + self._timeout_ns
        if self._until_ns is not None:
            deadline_ns = min(deadline_ns, self._until_ns)
        client.deadline_ns = deadline_ns
        return client

    def _ask(
        self, device: int, call: Callable[[], ModbusPDU | None], first: int
    ) -> ModbusPDU:
        try:
            answer = call()
        except ConnectionException as error:
            raise DeviceError(
                f"The Modbus line is gone ({error.string.strip()}). Check cable, power "
                "and network."
            ) from error
        except OSError as error:
            raise DeviceError(f"The Modbus line is gone ({error}).") from error
        except _OTHER_ERRORS as error:
            raise SilentDeviceError(
                f"Modbus device {device} does not answer (register {first}). Check its "
                "power, number and line settings."
            ) from error
        if answer is None:
            raise SilentDeviceError(f"Modbus device {device} gave no answer.")
        if answer.isError():
            code = getattr(answer, "exception_code", 0)
            raise RefusedRequestError(
                f"Modbus device {device} refuses register {first}: code {code}, "
                f"{_EXCEPTIONS.get(code, 'not of the standard')}."
            )
        return answer
