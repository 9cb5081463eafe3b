"""The serving side of Modbus: frames in, what was asked, frames out; pure.

Function codes 3, 4, 6, 16 and 23 and exception codes 1 to 3 (Modbus Application
Protocol V1.1b3, sec 6.3, 6.4, 6.6, 6.12, 6.17 and 7). RTU frames carry the device
number and CRC-16/MODBUS, low byte first (MODBUS over serial line V1.02, sec 2.5.1); TCP
frames the MBAP header (MODBUS Messaging on TCP/IP V1.0b, sec 3.1.3). The master's side
is pymodbus.
"""

from typing import NamedTuple, Protocol

from fastcrc import crc16

__all__ = [
    "ILLEGAL_ADDRESS",
    "ILLEGAL_FUNCTION",
    "ILLEGAL_VALUE",
    "Registers",
    "Request",
    "answer_pdu",
    "rtu_frame",
    "take_rtu",
    "take_tcp",
    "tcp_frame",
]

ILLEGAL_FUNCTION = 1
ILLEGAL_ADDRESS = 2
ILLEGAL_VALUE = 3

_SHORT = (1, 2, 3, 4, 5, 6)
_LONGEST_RTU = 256
_LONGEST_READ = 125
_LONGEST_WRITE = 123
_LONGEST_WRITE_23 = 121


class Request(NamedTuple):
    """One request.

    Attributes:
        device: number of the device that is asked; 0 on a serial line: all.
        pdu: function code and data.
        transaction: of the TCP header; 0 on a serial line.
    """

    device: int
    pdu: bytes
    transaction: int = 0


class Registers(Protocol):
    """What a device holds."""

    def read(self, function: int, first: int, count: int) -> list[int] | int:
        """Return the words, or an exception code."""

    def write(self, function: int, first: int, words: list[int]) -> int:
        """Take the words; return 0 or an exception code, and then take none."""


def take_rtu(buffer: bytes) -> tuple[int, Request | None]:
    """Take one request off bytes of a serial line.

    Returns:
        How many bytes are done with, and the request. (0, None): more must come; the
        caller drops them when the line was silent meanwhile, as a device does. Bytes
        whose checksum is wrong are dropped to the end: only silence tells where the
        next frame begins.
    """
    if len(buffer) < 4:
        return 0, None
    function = buffer[1]
    if function in _SHORT:
        size = 8
    elif function in {15, 16}:
        if len(buffer) < 7:
            return 0, None
        size = 9 + buffer[6]
    elif function == 23:
        if len(buffer) < 11:
            return 0, None
        size = 13 + buffer[10]
    else:
        size = len(buffer)
    if size > _LONGEST_RTU:
        return len(buffer), None
    if len(buffer) < size:
        return 0, None
    if crc16.modbus(buffer[: size - 2]) != int.from_bytes(
        buffer[size - 2 : size], "little"
    ):
        return len(buffer), None
    return size, Request(buffer[0], buffer[1 : size - 2])


def take_tcp(buffer: bytes) -> tuple[int, Request | None]:
    """Take one request off bytes of a TCP connection; see `take_rtu`.

    A header that is none drops everything: its length says nothing.
    """
    if len(buffer) < 7:
        return 0, None
    protocol = int.from_bytes(buffer[2:4], "big")
    size = int.from_bytes(buffer[4:6], "big")
    if protocol != 0 or not 2 <= size <= 254:
        return len(buffer), None
    if len(buffer) < 6 + size:
        return 0, None
    return 6 + size, Request(
        buffer[6], buffer[7 : 6 + size], int.from_bytes(buffer[:2], "big")
    )


def rtu_frame(device: int, pdu: bytes) -> bytes:
    """Frame an answer for a serial line."""
    body = bytes([device]) + pdu
    return body + crc16.modbus(body).to_bytes(2, "little")


def tcp_frame(request: Request, pdu: bytes) -> bytes:
    """Frame an answer to a request over TCP."""
    return (
        request.transaction.to_bytes(2, "big")
        + b"\0\0"
        + (1 + len(pdu)).to_bytes(2, "big")
        + bytes([request.device])
        + pdu
    )


def answer_pdu(pdu: bytes, registers: Registers) -> bytes:
    """Do what a request asks and return the answer's function code and data."""
    if not pdu:
        return b""
    function = pdu[0]
    answer: bytes | int
    if function in {3, 4}:
        answer = _read(pdu, registers)
    elif function == 6:
        answer = _write_one(pdu, registers)
    elif function == 16:
        answer = _write_many(pdu, registers)
    elif function == 23:
        answer = _read_and_write(pdu, registers)
    else:
        answer = ILLEGAL_FUNCTION
    if isinstance(answer, int):
        return bytes([function | 0x80, answer])
    return bytes([function]) + answer


def _word(pdu: bytes, place: int) -> int:
    return int.from_bytes(pdu[place : place + 2], "big")


def _words(data: bytes) -> list[int]:
    return [_word(data, place) for place in range(0, len(data), 2)]


def _packed(words: list[int]) -> bytes:
    return bytes([2 * len(words)]) + b"".join(word.to_bytes(2, "big") for word in words)


def _read(pdu: bytes, registers: Registers) -> bytes | int:
    if len(pdu) != 5 or not 1 <= _word(pdu, 3) <= _LONGEST_READ:
        return ILLEGAL_VALUE
    words = registers.read(pdu[0], _word(pdu, 1), _word(pdu, 3))
    return words if isinstance(words, int) else _packed(words)


def _write_one(pdu: bytes, registers: Registers) -> bytes | int:
    if len(pdu) != 5:
        return ILLEGAL_VALUE
    refused = registers.write(6, _word(pdu, 1), [_word(pdu, 3)])
    return refused or pdu[1:5]


def _write_many(pdu: bytes, registers: Registers) -> bytes | int:
    if len(pdu) < 6:
        return ILLEGAL_VALUE
    count = _word(pdu, 3)
    if not 1 <= count <= _LONGEST_WRITE or not pdu[5] == 2 * count == len(pdu) - 6:
        return ILLEGAL_VALUE
    refused = registers.write(16, _word(pdu, 1), _words(pdu[6:]))
    return refused or pdu[1:5]


def _read_and_write(pdu: bytes, registers: Registers) -> bytes | int:
    if len(pdu) < 10:
        return ILLEGAL_VALUE
    count, written = _word(pdu, 3), _word(pdu, 7)
    if not (1 <= count <= _LONGEST_READ and 1 <= written <= _LONGEST_WRITE_23):
        return ILLEGAL_VALUE
    if not pdu[9] == 2 * written == len(pdu) - 10:
        return ILLEGAL_VALUE
    refused = registers.write(23, _word(pdu, 5), _words(pdu[10:]))
    if refused:
        return refused
    words = registers.read(3, _word(pdu, 1), count)
    return words if isinstance(words, int) else _packed(words)
