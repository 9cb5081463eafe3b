"""Bytes of an MCAP file: its head, its chunks, and the messages inside them.

The mcap package reads a chunk's messages at 15 µs each; an hour holds millions. Here
their heads are read with `struct` and their contents are left as they are.
"""

import io
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Chunk
from mcap.stream_reader import get_chunk_data_stream
from zstandard import ZstdError  # mcap lets it through

from app.errors import LogError

__all__ = [
    "MAGIC",
    "RECORD_HEAD",
    "RawMessage",
    "messages_in",
    "open_recording",
    "parse_chunk",
    "records_in",
    "stream_of",
]

MAGIC = b"\x89MCAP0\r\n"
RECORD_HEAD = struct.Struct("<BQ")  # opcode, length of what follows
_MESSAGE = struct.Struct("<HIQQ")  # channel, sequence, log time, publish time


class RawMessage(NamedTuple):
    """One message before it is decoded."""

    channel: int
    time_ns: int
    data: bytes
    sequence: int = 0


def open_recording(path: Path) -> IO[bytes]:
    """Open a file and read its first bytes, which must be those of MCAP.

    Raises:
        LogError: there is no such file, or it is not an MCAP file.
    """
    try:
        file = path.open("rb")
        head = file.read(len(MAGIC))
    except OSError as error:
        raise LogError(
            f"Recording {path} cannot be opened: {error.strerror}. Check the path."
        ) from error
    if head != MAGIC:
        file.close()
        raise LogError(
            f"{path} is not an MCAP recording, or empty. Give a file that limblink "
            "has written."
        )
    return file


def records_in(content: bytes) -> Iterator[tuple[int, int, int]]:
    """Iterate (opcode, first byte, past the last byte) of the records in a chunk."""
    position, end = 0, len(content)
    while position + RECORD_HEAD.size <= end:
        opcode, length = RECORD_HEAD.unpack_from(content, position)
        position += RECORD_HEAD.size
        yield opcode, position, position + length
        position += length


def messages_in(content: bytes) -> Iterator[RawMessage]:
    """Iterate the messages in a chunk's records."""
    for opcode, start, stop in records_in(content):
        if opcode == Opcode.MESSAGE:
            channel, sequence, time_ns, _ = _MESSAGE.unpack_from(content, start)
            data = content[start + _MESSAGE.size : stop]
            yield RawMessage(channel, time_ns, data, sequence)


def stream_of(content: bytes) -> ReadDataStream:
    """Return bytes as the stream that mcap's records are read from."""
    return ReadDataStream(io.BytesIO(content))


def parse_chunk(stream: ReadDataStream) -> bytes | None:
    """Return the records of the chunk that begins here, None where it is damaged."""
    try:
        chunk = Chunk.read(stream)
        inside, length = get_chunk_data_stream(chunk)
        content = inside.read(length)
    except (McapError, ZstdError, ValueError, struct.error):
        return None
    if chunk.uncompressed_crc and zlib.crc32(content) != chunk.uncompressed_crc:
        return None
    return content
