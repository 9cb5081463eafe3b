"""Where everything lies in a recording, so that no reader must read all of it.

A whole file ends in a summary that lists its chunks; an hour recorded live has 60 000,
so they are parsed as arrays here. A cut file has no summary: its record heads are
walked, which skips what the chunks hold.
"""

import mmap
import struct
import zlib
from array import array
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, Schema, Statistics

from app.errors import LogError
from app.session.chunks import (
    MAGIC,
    RECORD_HEAD,
    messages_in,
    open_recording,
    parse_chunk,
    records_in,
    stream_of,
)
from models.numerics import IntArray

__all__ = ["FileIndex", "Place"]

_HEAD = RECORD_HEAD
_CHUNK = struct.Struct("<QQQII")  # first, last, size, check sum, length of name
_CHUNK_INDEX = struct.Struct("<QQQQI")  # first, last, offset, length, bytes of map
_FOOTER = struct.Struct("<QQI")
_FOOTER_BYTES = _HEAD.size + _FOOTER.size + len(MAGIC)
_BITS = 63
_MAP_ENTRY_BYTES = 10  # channel and offset of its message index
_INDEX_ENTRY_BYTES = 16  # time and offset of a message


class Place(NamedTuple):
    """Where a named record lies in the file [bytes]."""

    name: str
    offset: int
    length: int


_Tell = Callable[[int, int], object]


class FileIndex:
    """Chunks, channels and attachments of one file.

    Attributes:
        complete: its writer closed it properly.
        first_ns, last_ns: (n,) times of the first and last message of each chunk [ns].
        offset, length: (n,) where each chunk lies [bytes].
        topics: (n,) bits of the channels that have messages in a chunk.
        schemas, channels: by id.
        counts: messages by channel.
        attachments: in the order of the file.
    """

    def __init__(self, path: Path, tell: _Tell | None = None) -> None:
        """Read the summary, or walk the file where it has none.

        Args:
            path: the file.
            tell: is told how many bytes of how many a walk has passed.

        Raises:
            LogError: there is no such file, or it is not an MCAP file.
        """
        self.path = path
        self.complete = False
        self.schemas: dict[int, Schema] = {}
        self.channels: dict[int, Channel] = {}
        self.counts: dict[int, int] = {}
        self.attachments: list[Place] = []
        self._rows = array("q")  # five numbers a chunk: tuples take ten times as much
        self._bits: IntArray = np.zeros(1, dtype=np.int64)
        with open_recording(path) as file:
            summary = _read_summary(file)
            if summary is None or not self._take_summary(summary):
                self._walk(file, tell)
        table = np.asarray(self._rows, dtype=np.int64).reshape(-1, 5)
        self.first_ns, self.last_ns = table[:, 0].copy(), table[:, 1].copy()
        self.offset, self.length = table[:, 2].copy(), table[:, 3].copy()
        self.topics: IntArray = table[:, 4] | self._bits
        del self._rows

    @property
    def start_ns(self) -> int:
        """Time of the first message [ns]; 0 in an empty recording."""
        return int(self.first_ns.min()) if self.first_ns.size else 0

    @property
    def end_ns(self) -> int:
        """Time of the last message [ns]; 0 in an empty recording."""
        return int(self.last_ns.max()) if self.last_ns.size else 0

    def channel_of(self, topic: str) -> Channel | None:
        """Return the channel of a topic, None where it was never written."""
        for channel in self.channels.values():
            if channel.topic == topic:
                return channel
        return None

    def count(self, topic: str) -> int:
        """Return how many messages of a topic there are."""
        channel = self.channel_of(topic)
        return 0 if channel is None else self.counts.get(channel.id, 0)

    def chunks_with(self, channel: int) -> IntArray:
        """Return the numbers of the chunks that hold messages of a channel."""
        return np.flatnonzero(self.topics & _bit(channel))

    def chunks_within(
        self, channels: Iterable[int], first_ns: int, last_ns: int
    ) -> list[int]:
        """Return the numbers of the chunks that may hold messages of a span.

        Args:
            channels: of the messages.
            first_ns: begin of the span [ns].
            last_ns: its end [ns].
        """
        bits = 0
        for channel in channels:
            bits |= _bit(channel)
        inside = (self.last_ns >= first_ns) & (self.first_ns <= last_ns)
        return [int(k) for k in np.flatnonzero(inside & ((self.topics & bits) != 0))]

    def read_attachment(self, place: Place) -> bytes:
        """Return the content of an attachment.

        Raises:
            LogError: it cannot be read.
        """
        try:
            with self.path.open("rb") as file:
                file.seek(place.offset)
                record = file.read(place.length)
            return _attachment(record[_HEAD.size :])[1]
        except (OSError, struct.error) as error:
            raise LogError(
                f"{self.path}: attachment {place.name} cannot be read: {error}."
            ) from error

    def read_chunk(self, number: int, file: IO[bytes]) -> bytes | None:
        """Return the records of a chunk as bytes, None where it is damaged.

        Args:
            number: of the chunk.
            file: this file, opened.
        """
        file.seek(int(self.offset[number]) + _HEAD.size)
        return parse_chunk(ReadDataStream(file))

    # -- a whole file --------------------------------------------------------------

    def _take_summary(self, summary: bytes) -> bool:
        position, end = 0, len(summary)
        rows, maps = self._rows, array("q")
        try:
            while position + _HEAD.size <= end:
                opcode, length = _HEAD.unpack_from(summary, position)
                position += _HEAD.size
                if opcode == Opcode.CHUNK_INDEX:
                    *row, wide = _CHUNK_INDEX.unpack_from(summary, position)
                    rows.extend((*row, 0))
                    maps.extend((position + _CHUNK_INDEX.size, wide))
                else:
                    self._take(opcode, summary[position : position + length])
                position += length
            self._bits = _bits_of_maps(summary, maps)
        except (McapError, struct.error, UnicodeDecodeError, IndexError):
            del rows[:]
            return False
        self.complete = True
        return True

    def _take(self, opcode: int, content: bytes) -> None:
        stream = stream_of(content)
        if opcode == Opcode.SCHEMA:
            schema = Schema.read(stream)
            self.schemas.setdefault(schema.id, schema)
        elif opcode == Opcode.CHANNEL:
            channel = Channel.read(stream)
            self.channels.setdefault(channel.id, channel)
        elif opcode == Opcode.STATISTICS:
            self.counts = dict(Statistics.read(stream).channel_message_counts)
        elif opcode == Opcode.ATTACHMENT_INDEX:
            offset, length = struct.unpack_from("<QQ", content)
            (size,) = struct.unpack_from("<I", content, 40)
            name = content[44 : 44 + size].decode()
            self.attachments.append(Place(name, offset, length))

    # -- a cut one -----------------------------------------------------------------

    def _walk(self, file: IO[bytes], tell: _Tell | None) -> None:
        self.schemas.clear()
        self.channels.clear()
        self.counts.clear()
        self.attachments.clear()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            end = len(data)
            position, count = len(MAGIC), 0
            row: list[int] = []
            told: dict[int, int] = {}  # messages of the chunk by channel
            try:
                while position + _HEAD.size <= end:
                    opcode, length = _HEAD.unpack_from(data, position)
                    content = position + _HEAD.size
                    if content + length > end or opcode == Opcode.DATA_END:
                        break
                    if opcode == Opcode.CHUNK:
                        self._keep(row, told)
                        row, told = self._chunk(data, position, length), {}
                    elif opcode == Opcode.MESSAGE_INDEX and row:
                        channel = int.from_bytes(data[content : content + 2], "little")
                        row[4] |= _bit(channel)
                        told[channel] = (length - 6) // _INDEX_ENTRY_BYTES
                    elif opcode == Opcode.ATTACHMENT:
                        name, _ = _attachment(data[content : content + length])
                        place = Place(name, position, length + _HEAD.size)
                        self.attachments.append(place)
                    position = content + length
                    count += 1
                    if tell is not None and count % 4096 == 0:
                        tell(position, end)
            except (struct.error, UnicodeDecodeError):
                pass  # the end of what can be read; `complete` tells
            if row:  # the indexes after the last chunk may be cut: it is read itself
                told = _count(data[row[2] + _HEAD.size : row[2] + row[3]]) or told
                for channel in told:
                    row[4] |= _bit(channel)
            self._keep(row, told)

    def _keep(self, row: list[int], told: dict[int, int]) -> None:
        if row:
            self._rows.extend(row)
        for channel, count in told.items():
            self.counts[channel] = self.counts.get(channel, 0) + count

    def _chunk(self, data: mmap.mmap, position: int, length: int) -> list[int]:
        """Row of a chunk, of what its first bytes tell; channels in it where new."""
        first, last, *_ = _CHUNK.unpack_from(data, position + _HEAD.size)
        if not self.channels or self._names_more(data, position + _HEAD.size + length):
            record = data[position + _HEAD.size : position + _HEAD.size + length]
            content = parse_chunk(stream_of(record)) or b""
            for opcode, start, stop in records_in(content):
                if opcode != Opcode.MESSAGE:
                    self._take(opcode, content[start:stop])
        return [first, last, position, length + _HEAD.size, 0]

    def _names_more(self, data: mmap.mmap, position: int) -> bool:
        """Whether what follows a chunk names a channel not known, or is no index."""
        seen = False
        while position + _HEAD.size + 2 <= len(data):
            opcode, length = _HEAD.unpack_from(data, position)
            if opcode != Opcode.MESSAGE_INDEX:
                break
            seen = True
            position += _HEAD.size
            if int.from_bytes(data[position : position + 2], "little") not in (
                self.channels
            ):
                return True
            position += length
        return not seen


def _count(chunk: bytes) -> dict[int, int]:
    """Messages in a chunk's record by channel."""
    counts: dict[int, int] = {}
    for message in messages_in(parse_chunk(stream_of(chunk)) or b""):
        counts[message.channel] = counts.get(message.channel, 0) + 1
    return counts


def _bits_of_maps(summary: bytes, maps: "array[int]") -> IntArray:
    """Bits of the channels in the maps of chunk indexes.

    Args:
        summary: the summary.
        maps: first byte and number of bytes of each map, in turn.
    """
    octets = np.frombuffer(summary, dtype=np.uint8)
    places = np.asarray(maps, dtype=np.int64).reshape(-1, 2)
    bits = np.zeros(len(places), dtype=np.int64)
    for entry in range(int(places[:, 1].max(initial=0)) // _MAP_ENTRY_BYTES):
        first = places[:, 0] + entry * _MAP_ENTRY_BYTES
        there = (entry + 1) * _MAP_ENTRY_BYTES <= places[:, 1]
        low, high = octets[first[there]], octets[first[there] + 1]
        channel = low.astype(np.int64) | high.astype(np.int64) << 8
        bits[there] |= np.int64(1) << channel % _BITS
    return bits


def _bit(channel: int) -> int:
    """Bit of a channel; those past the 63rd share bits, and cost a look more."""
    return 1 << (channel % _BITS)


def _read_summary(file: IO[bytes]) -> bytes | None:
    """Return the bytes of the summary, None where the file has none that fits."""
    size = file.seek(0, 2)
    if size < len(MAGIC) + _FOOTER_BYTES:
        return None
    file.seek(size - _FOOTER_BYTES)
    footer = file.read(_FOOTER_BYTES)
    opcode, _ = _HEAD.unpack_from(footer)
    start, _, check = _FOOTER.unpack_from(footer, _HEAD.size)
    if opcode != Opcode.FOOTER or footer[-len(MAGIC) :] != MAGIC or not start:
        return None
    file.seek(start)
    summary = file.read(size - _FOOTER_BYTES - start)
    if check and zlib.crc32(footer[: _HEAD.size + 16], zlib.crc32(summary)) != check:
        return None
    return summary


def _attachment(content: bytes) -> tuple[str, bytes]:
    """Name and data of an attachment record."""
    position = 16
    (size,) = struct.unpack_from("<I", content, position)
    name = content[position + 4 : position + 4 + size].decode()
    position += 4 + size
    (size,) = struct.unpack_from("<I", content, position)
    position += 4 + size
    (size,) = struct.unpack_from("<Q", content, position)
    return name, content[position + 8 : position + 8 + size]
