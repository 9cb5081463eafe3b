"""Packets of the two servo protocols, as a servo sees them: pure, bytes in, bytes out.

    Protocol 2.0   FF FF FD 00 | id | length 2 | instruction | parameters | CRC-16
                   length counts from the instruction to the CRC; FF FF FD among the
                   parameters is followed by a stuffed FD; CRC polynomial 0x8005
    Protocol 1     FF FF | id | length | instruction | parameters | checksum
                   checksum = ~(id + length + instruction + parameters)

ROBOTIS e-manual, Protocol 2.0 ("Packet Process", "CRC") and Protocol 1.0. In a status
packet the error stands in place of the instruction, in Protocol 2.0 after 0x55.
"""

from typing import NamedTuple

from fastcrc import crc16

__all__ = [
    "BROADCAST",
    "Packet",
    "PacketReader",
    "checksum",
    "crc",
    "status",
    "unstuff",
]

BROADCAST = 0xFE
_STATUS = 0x55
_HEADER = {1: b"\xff\xff", 2: b"\xff\xff\xfd\x00"}
_BEFORE_BODY = {1: 4, 2: 7}
_PATTERN = b"\xff\xff\xfd"
_LONGEST = 1024
_SILENCE_NS = 50_000_000


class Packet(NamedTuple):
    """One instruction that arrived.

    Attributes:
        servo: id it is for; `BROADCAST` for all.
        instruction: its code.
        parameters: with stuffing taken out.
        intact: the checksum is right.
    """

    servo: int
    instruction: int
    parameters: bytes
    intact: bool


def crc(data: bytes) -> int:
    """Return the CRC-16 of Protocol 2.0: polynomial 0x8005, start 0, not reflected."""
    return int(crc16.umts(data))


def checksum(data: bytes) -> int:
    """Return the checksum of Protocol 1 over id to last parameter."""
    return ~sum(data) & 0xFF


def unstuff(data: bytes) -> bytes:
    """Take out the FD that follows every FF FF FD."""
    return data.replace(_PATTERN + b"\xfd", _PATTERN)


def status(protocol: int, servo: int, error: int, parameters: bytes = b"") -> bytes:
    """Return the bytes of a status packet."""
    if protocol == 1:
        body = bytes((servo, len(parameters) + 2, error)) + parameters
        return _HEADER[1] + body + bytes((checksum(body),))
    stuffed = (bytes((_STATUS, error)) + parameters).replace(
        _PATTERN, _PATTERN + b"\xfd"
    )
    packet = (
        _HEADER[2]
        + bytes((servo,))
        + (len(stuffed) + 2).to_bytes(2, "little")
        + stuffed
    )
    return packet + crc(packet).to_bytes(2, "little")


class PacketReader:
    """Finds the instruction packets in a stream; any bytes are taken."""

    def __init__(self, protocol: int) -> None:
        """Start with nothing received.

        Args:
            protocol: 1 or 2.
        """
        self._protocol = protocol
        self._buffer = bytearray()
        self._last_ns = 0

    def feed(self, now_ns: int, received: bytes) -> list[Packet]:
        """Take bytes; return the packets that they complete.

        A packet whose bytes pause for more than 50 ms is given up.
        """
        if now_ns - self._last_ns > _SILENCE_NS:
            self._buffer.clear()
        self._last_ns = now_ns
        self._buffer += received
        packets = []
        while self._seek_header():
            length = self._length()
            if length is None:
                break
            if length < 0:
                del self._buffer[0]
                continue
            if len(self._buffer) < length:
                break
            packet = self._decode(bytes(self._buffer[:length]))
            # after a wrong checksum the length may be wrong too: seek inside
            del self._buffer[: length if packet.intact else len(self._header)]
            packets.append(packet)
        return packets

    @property
    def _header(self) -> bytes:
        return _HEADER[self._protocol]

    def _seek_header(self) -> bool:
        place = self._buffer.find(self._header)
        if place < 0:
            keep = len(self._header) - 1
            del self._buffer[: max(0, len(self._buffer) - keep)]
            return False
        del self._buffer[:place]
        return True

    def _length(self) -> int | None:
        """Whole length of the packet at the start; None: unknown yet; -1: none."""
        before = _BEFORE_BODY[self._protocol]
        if len(self._buffer) < before:
            return None
        if self._protocol == 1:
            # three FF: the first belongs to no header, an id is never FF
            wrong = self._buffer[2] == 0xFF or self._buffer[3] < 2
            return -1 if wrong else before + self._buffer[3]
        body = int.from_bytes(self._buffer[5:7], "little")
        return before + body if 3 <= body <= _LONGEST else -1

    def _decode(self, whole: bytes) -> Packet:
        if self._protocol == 1:
            intact = whole[-1] == checksum(whole[2:-1])
            return Packet(whole[2], whole[4], whole[5:-1], intact)
        intact = int.from_bytes(whole[-2:], "little") == crc(whole[:-2])
        return Packet(whole[4], whole[7], unstuff(whole[8:-2]), intact)
