"""Reading a recording, also one that its writer could not finish.

A file cut by a crash has no summary, and its last record may be half there: reading
stops before it and says so (`Recording.damage`). A chunk whose check sum is wrong is
skipped and counted. `app.session.repair` makes a whole file of what can be read.
"""

import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError
from mcap.exceptions import McapError
from mcap.records import (
    Attachment,
    Channel,
    Chunk,
    McapRecord,
    Message,
    Metadata,
)
from mcap.stream_reader import StreamReader, breakup_chunk
from zstandard import ZstdError  # mcap lets it through

from app.errors import LogError
from app.session.chunks import MAGIC, RawMessage, messages_in, open_recording
from app.session.index import FileIndex
from app.session.journal import METADATA_NAME
from app.session.schema import make_message
from models.numerics import FloatArray, IntArray

__all__ = ["LoggedMessage", "Recording", "open_log"]

_FOREVER_NS = (1 << 63) - 1


class LoggedMessage(NamedTuple):
    """One message of a recording."""

    topic: str
    time_ns: int
    content: Any
    """Protobuf message with the fields of the topic's schema."""


class Recording:
    """A recording on disk; each pass over it reads the file anew.

    Attributes:
        path: the file.
        metadata: what the recorder was told of the run.
        attachments: files kept in it, by name.
        complete: its writer closed it properly.
        skipped_chunks: damaged chunks that the last whole pass left out.
    """

    def __init__(self, path: Path) -> None:
        """Open a recording and read its head.

        Raises:
            LogError: there is no such file, or it is not an MCAP file.
        """
        self.path = path
        self.metadata: dict[str, str] = {}
        self.attachments: dict[str, bytes] = {}
        self.skipped_chunks = 0
        with open_recording(self.path) as file:
            whole = file.seek(0, 2) >= 2 * len(MAGIC)
            if whole:
                file.seek(-len(MAGIC), 2)
            self.complete = whole and file.read() == MAGIC
        for record in self.records():
            if isinstance(record, Metadata) and record.name == METADATA_NAME:
                self.metadata.update(record.metadata)
            elif isinstance(record, Attachment):
                self.attachments[record.name] = record.data
            elif isinstance(record, Message):
                break

    @property
    def damage(self) -> str:
        """What is wrong with the file in words, "" where nothing is."""
        faults = []
        if not self.complete:
            faults.append(
                "not closed by its writer: what came after the last flush is lost"
            )
        if self.skipped_chunks:
            faults.append(f"{self.skipped_chunks} damaged chunks were skipped")
        return "; ".join(faults)

    def messages(
        self,
        topics: Collection[str] | None = None,
        *,
        first_ns: int | None = None,
        last_ns: int | None = None,
    ) -> Iterator[LoggedMessage]:
        """Iterate messages in the order they were written.

        Args:
            topics: only these; None for all.
            first_ns: none before this time [ns]; None for no limit.
            last_ns: none after this time [ns]; None for no limit.

        Yields:
            Each message, decoded with the schema that the file itself carries.

        Raises:
            LogError: a message does not fit its schema.
        """
        index = FileIndex(self.path)
        wanted: dict[int, tuple[str, type[Any]]] = {}
        for channel in index.channels.values():
            schema = index.schemas.get(channel.schema_id)
            if schema is not None and (topics is None or channel.topic in topics):
                kind = make_message(schema.data, schema.name)
                wanted[channel.id] = (channel.topic, kind)
        first = -_FOREVER_NS if first_ns is None else first_ns
        last = _FOREVER_NS if last_ns is None else last_ns
        self.skipped_chunks = 0
        with open_recording(self.path) as file:
            for number in index.chunks_within(wanted, first, last):
                content = index.read_chunk(number, file)
                self.skipped_chunks += content is None
                for message in messages_in(content or b""):
                    known = wanted.get(message.channel)
                    if known is not None and first <= message.time_ns <= last:
                        yield _decode(message, *known)

    def channels(self) -> dict[str, Mapping[str, str]]:
        """Return every topic with its metadata: units, shapes, meanings of numbers."""
        return {
            record.topic: record.metadata
            for record in self.records()
            if isinstance(record, Channel)
        }

    def series(self, topic: str, field: str) -> tuple[IntArray, FloatArray]:
        """Collect one field over time.

        Args:
            topic: such as "/state".
            field: such as "tip_model".

        Returns:
            Times (n,) [ns], and values (n,) or (n, k), k as the field is repeated.

        Raises:
            LogError: the topic's messages have no such field, or it is text.
        """
        times, values = self.several(topic, (field,))
        return times, values[field]

    def several(
        self, topic: str, fields: Sequence[str]
    ) -> tuple[IntArray, dict[str, FloatArray]]:
        """Collect several fields over time, in one pass through the file.

        Args:
            topic: such as "/state".
            fields: such as "tip_model".

        Returns:
            Times (n,) [ns], and by field the values (n,) or (n, k), as `series` does.

        Raises:
            LogError: the topic's messages have no such field, or it is text.
        """
        times: list[int] = []
        values: dict[str, list[Any]] = {field: [] for field in fields}
        for message in self.messages({topic}):
            if not times:
                _check_numbers(topic, message.content, fields)
            times.append(message.time_ns)
            for field, column in values.items():
                value = getattr(message.content, field)
                column.append(value if isinstance(value, int | float) else list(value))
        return np.asarray(times, dtype=np.int64), {
            field: np.asarray(column, dtype=np.float64)
            for field, column in values.items()
        }

    def records(self) -> Iterator[McapRecord]:
        """Iterate the raw records that can be read, those inside chunks too."""
        skipped = 0
        with open_recording(self.path) as file:
            reader = StreamReader(file, skip_magic=True, emit_chunks=True)
            try:
                for record in reader.records:
                    if isinstance(record, Chunk):
                        inside = _unpack(record)
                        skipped += inside is None
                        yield from inside or ()
                    else:
                        yield record
            except (McapError, struct.error, UnicodeDecodeError):
                pass  # the end of what can be read; `complete` tells
        self.skipped_chunks = skipped


def _check_numbers(topic: str, content: Any, fields: Sequence[str]) -> None:
    known = content.DESCRIPTOR.fields_by_name
    for field in fields:
        if field not in known:
            raise LogError(
                f"{topic} has no field {field!r}; it has {', '.join(known)}."
            )
        if isinstance(getattr(content, field), str | bytes):
            raise LogError(f"{topic} {field} is no number; read it with messages().")


def _unpack(chunk: Chunk) -> list[McapRecord] | None:
    """Return the records of a chunk, None where it is damaged."""
    try:
        return breakup_chunk(chunk, validate_crc=True)
    except (McapError, ZstdError, ValueError, struct.error):
        return None


def _decode(record: RawMessage, topic: str, kind: type[Any]) -> LoggedMessage:
    try:
        content = kind.FromString(record.data)
    except DecodeError as error:
        raise LogError(
            f"A message of {topic} does not fit its schema ({error}): the recording "
            "was written by a faulty program."
        ) from error
    return LoggedMessage(topic, record.time_ns, content)


def open_log(path: Path) -> Recording:
    """Open a recording, whole or cut.

    Raises:
        LogError: there is no such file, or it is not an MCAP file.
    """
    return Recording(path)
