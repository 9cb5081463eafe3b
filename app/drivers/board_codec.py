"""Bytes of our own board protocol, version 1: COBS frames with a CRC-16.

    wire     COBS(payload, crc16) 0x00
    crc16    little endian, over the payload: polynomial 0x1021, start 0xFFFF, not
             reflected (CRC-16/IBM-3740, also called CCITT-FALSE)
    payload  version u8 = 1, kind u8, sequence u16, then by kind; all little endian

The tables stand in app/README.md; assets/firmware holds the other implementation. All
is pure: bytes in, messages out, and nothing but FrameError on any bytes.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntFlag
from typing import ClassVar

from cobs import cobs
from fastcrc import crc16

from app.errors import FrameError

__all__ = [
    "LONGEST_FRAME",
    "MOST_CHANNELS",
    "PROTOCOL",
    "Clear",
    "Drive",
    "FrameReader",
    "Identify",
    "Identity",
    "Message",
    "Setup",
    "SetupReply",
    "Status",
    "StatusBit",
    "decode",
    "encode",
]

PROTOCOL = 1
MOST_CHANNELS = 16
LONGEST_FRAME = 128
"""Bytes between two zeros [B]; a longer one is thrown away unread."""
_HEADER = struct.Struct("<BBH")
_U16 = "<{}H"


class StatusBit(IntFlag):
    """Status bits of a board."""

    SET_UP = 1  # has its limits and watchdog; without them it moves nothing
    TRIPPED = 2  # its watchdog made safe; ends with the next RELAX or SAFE
    VENTED = 4  # the vent is open
    OUTPUT_FAILED = 8  # a DAC does not answer; latched until Clear
    CHANNEL_FAULT = 16  # a bit of `faults` is set; latched until Clear
    DUPLICATE = 32  # this sequence number was the last one too: not acted upon
    REFUSED = 64  # the action asked for is not in force


@dataclass(frozen=True)
class Drive:
    """What all channels shall do; answered by Status; feeds the watchdog.

    Attributes:
        sequence: u16; the same one twice is acted upon once.
        action: u8, as app.drivers.base.Action.
        driven: u16, bit i: channel i follows its setpoint, else it relaxes.
        setpoint_mv: wanted outputs [mV], u16 each.
    """

    KIND: ClassVar[int] = 0x01
    sequence: int
    action: int
    driven: int
    setpoint_mv: tuple[int, ...]


@dataclass(frozen=True)
class Setup:
    """Limits and watchdog; answered by SetupReply. Ends in SAFE.

    Attributes:
        sequence: u16.
        watchdog_ms: silence after which the board vents [ms]; kept in 20..5000.
        limits_mv: of each channel (greatest output, output at RELAX, measured value
            that latches a fault; 0: none) [mV], u16 each.
    """

    KIND: ClassVar[int] = 0x02
    sequence: int
    watchdog_ms: int
    limits_mv: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class SetupReply(Setup):
    """The limits now in force."""

    KIND: ClassVar[int] = 0x82


@dataclass(frozen=True)
class Identify:
    """Who are you; answered by Identity."""

    KIND: ClassVar[int] = 0x03
    sequence: int


@dataclass(frozen=True)
class Clear:
    """Clear latched faults and go to SAFE; answered by Status."""

    KIND: ClassVar[int] = 0x04
    sequence: int


@dataclass(frozen=True)
class Status:
    """State of a board, n channels.

    Attributes:
        sequence: of the frame that this answers.
        uptime_ms: since the board started [ms], u32.
        firmware: version, high byte major, low byte minor.
        watchdog_ms: in force [ms].
        bits: StatusBit.
        rejected: frames thrown away since start, u16, wraps.
        faults: bit i: channel i has a latched fault and stays at 0 V.
        action: in force.
        applied_mv: outputs [mV].
        measured_mv: inputs [mV].
        load_ma: valve currents [mA]; 0 where none is measured.
    """

    KIND: ClassVar[int] = 0x81
    sequence: int
    uptime_ms: int
    firmware: int
    watchdog_ms: int
    bits: int
    rejected: int
    faults: int
    action: int
    applied_mv: tuple[int, ...]
    measured_mv: tuple[int, ...]
    load_ma: tuple[int, ...]


@dataclass(frozen=True)
class Identity:
    """Who answers.

    Attributes:
        sequence: of the frame that this answers.
        firmware: version, high byte major, low byte minor.
        channels: number of channels.
        serial: number of the board, u32.
        name: at most 16 ASCII bytes.
    """

    KIND: ClassVar[int] = 0x83
    sequence: int
    firmware: int
    channels: int
    serial: int
    name: str


Message = Drive | Setup | SetupReply | Identify | Clear | Status | Identity
_DRIVE = struct.Struct("<BBH")
_SETUP = struct.Struct("<HBB")
_STATUS = struct.Struct("<IHHHHHBB")
_IDENTITY = struct.Struct("<HBBI16s")


def encode(message: Message) -> bytes:
    """Return the bytes on the wire, the closing zero included.

    Raises:
        FrameError: a field does not fit its place.
    """
    try:
        header = _HEADER.pack(PROTOCOL, message.KIND, message.sequence)
        payload = header + _body(message)
    except struct.error as error:
        raise FrameError(f"{message} does not fit its frame: {error}.") from error
    return _wrap(payload)


def _wrap(payload: bytes) -> bytes:
    check = crc16.ibm_3740(payload).to_bytes(2, "little")
    stuffed: bytes = cobs.encode(payload + check)
    return stuffed + b"\0"


def _body(message: Message) -> bytes:
    match message:
        case Drive():
            count = len(message.setpoint_mv)
            head = _DRIVE.pack(message.action, count, message.driven)
            return head + _words(message.setpoint_mv)
        case Setup():
            head = _SETUP.pack(message.watchdog_ms, len(message.limits_mv), 0)
            return head + b"".join(_words(limits) for limits in message.limits_mv)
        case Status():
            head = _STATUS.pack(
                message.uptime_ms,
                message.firmware,
                message.watchdog_ms,
                message.bits,
                message.rejected,
                message.faults,
                message.action,
                len(message.applied_mv),
            )
            return (
                head
                + _words(message.applied_mv)
                + _words(message.measured_mv)
                + _words(message.load_ma)
            )
        case Identity():
            return _IDENTITY.pack(
                message.firmware,
                message.channels,
                0,
                message.serial,
                message.name.encode("ascii", "replace"),
            )
        case _:
            return b""


def _words(values: tuple[int, ...]) -> bytes:
    return struct.pack(_U16.format(len(values)), *values)


def decode(frame: bytes) -> Message:
    """Read one frame.

    Args:
        frame: the bytes between two zeros, without either.

    Raises:
        FrameError: not a whole frame of this protocol; says what is wrong.
    """
    try:
        whole: bytes = cobs.decode(frame)
    except cobs.DecodeError as error:
        raise FrameError(f"Not COBS: {error}.") from error
    if len(whole) < _HEADER.size + 2:
        raise FrameError(f"A frame of {len(whole)} bytes is too short.")
    payload, check = whole[:-2], int.from_bytes(whole[-2:], "little")
    if crc16.ibm_3740(payload) != check:
        raise FrameError("Wrong checksum.")
    version, kind, sequence = _HEADER.unpack_from(payload)
    if version != PROTOCOL:
        raise FrameError(f"Protocol version {version}; this is version {PROTOCOL}.")
    reader = _READERS.get(kind)
    if reader is None:
        raise FrameError(f"Unknown kind {kind:#04x}.")
    try:
        return reader(sequence, payload[_HEADER.size :])
    except struct.error as error:
        raise FrameError(f"Wrong length of kind {kind:#04x}: {error}.") from error


def _read_words(body: bytes, count: int) -> tuple[int, ...]:
    if not 1 <= count <= MOST_CHANNELS:
        raise FrameError(f"{count} channels; allowed are 1 to {MOST_CHANNELS}.")
    return struct.unpack(_U16.format(len(body) // 2), body)


def _exactly(words: tuple[int, ...], count: int) -> tuple[int, ...]:
    if len(words) != count:
        raise FrameError(f"{len(words)} values in place of {count}.")
    return words


def _read_drive(sequence: int, body: bytes) -> Drive:
    action, count, driven = _DRIVE.unpack_from(body)
    words = _exactly(_read_words(body[_DRIVE.size :], count), count)
    if action > 3:
        raise FrameError(f"Unknown action {action}; known are 0 to 3.")
    return Drive(sequence, action, driven, words)


def _limits(body: bytes) -> tuple[int, tuple[tuple[int, int, int], ...]]:
    watchdog_ms, count, _ = _SETUP.unpack_from(body)
    words = _exactly(_read_words(body[_SETUP.size :], count), 3 * count)
    return watchdog_ms, tuple(zip(words[::3], words[1::3], words[2::3], strict=True))


def _read_setup(sequence: int, body: bytes) -> Setup:
    return Setup(sequence, *_limits(body))


def _read_setup_reply(sequence: int, body: bytes) -> SetupReply:
    return SetupReply(sequence, *_limits(body))


def _read_identify(sequence: int, body: bytes) -> Identify:
    _nothing(body)
    return Identify(sequence)


def _read_clear(sequence: int, body: bytes) -> Clear:
    _nothing(body)
    return Clear(sequence)


def _nothing(body: bytes) -> None:
    if body:
        raise FrameError(f"{len(body)} bytes too many.")


def _read_status(sequence: int, body: bytes) -> Status:
    uptime_ms, firmware, watchdog_ms, bits, rejected, faults, action, count = (
        _STATUS.unpack_from(body)
    )
    words = _exactly(_read_words(body[_STATUS.size :], count), 3 * count)
    return Status(
        sequence,
        uptime_ms,
        firmware,
        watchdog_ms,
        bits,
        rejected,
        faults,
        action,
        words[:count],
        words[count : 2 * count],
        words[2 * count :],
    )


def _read_identity(sequence: int, body: bytes) -> Identity:
    firmware, channels, _, number, name = _IDENTITY.unpack(body)
    if not 1 <= channels <= MOST_CHANNELS:
        raise FrameError(f"{channels} channels; allowed are 1 to {MOST_CHANNELS}.")
    text = name.rstrip(b"\0").decode("ascii", "replace")
    return Identity(sequence, firmware, channels, number, text)


_READERS: dict[int, Callable[[int, bytes], Message]] = {
    Drive.KIND: _read_drive,
    Setup.KIND: _read_setup,
    SetupReply.KIND: _read_setup_reply,
    Identify.KIND: _read_identify,
    Clear.KIND: _read_clear,
    Status.KIND: _read_status,
    Identity.KIND: _read_identity,
}


class FrameReader:
    """Cuts a stream of bytes at its zeros; holds at most one frame."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._too_long = False

    def feed(self, received: bytes) -> Iterator[bytes | None]:
        """Take bytes as they come, in any pieces.

        Yields:
            Each whole frame without its zero; None for one that was too long. Zeros
            that follow each other hold no frame.
        """
        *ended, rest = received.split(b"\0")
        for piece in ended:
            self._hold(piece)
            if self._too_long:
                yield None
            elif self._held:
                yield bytes(self._held)
            self._held.clear()
            self._too_long = False
        self._hold(rest)

    def _hold(self, piece: bytes) -> None:
        if len(self._held) + len(piece) > LONGEST_FRAME:
            self._too_long = True
            self._held.clear()
        if not self._too_long:
            self._held += piece
