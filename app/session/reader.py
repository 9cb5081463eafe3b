"""Reading a recording, also one that its writer could not finish.

A file cut by a crash has no summary, and its last record may be half there: reading
stops before it and says so (`Recording.damage`). A chunk whose check sum is wrong is
skipped and counted. `recover` writes what can be read as a whole file that any MCAP
program opens.
"""

import struct
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError
from mcap.exceptions import McapError
from mcap.records import (
    Attachment,
    Channel,
    Chunk,
    Header,
    McapRecord,
    Message,
    Metadata,
    Schema,
)
from mcap.stream_reader import StreamReader, breakup_chunk
from mcap.writer import CompressionType, Writer
from zstandard import ZstdError  # mcap lets it through

from app.errors import LogError
from app.session.recorder import METADATA_NAME
from app.session.schema import make_message
from models.numerics import FloatArray, IntArray

__all__ = ["LoggedMessage", "Recording", "open_log", "recover"]


_MAGIC = b"\x89MCAP0\r\n"


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
        with self._open() as file:
            whole = file.seek(0, 2) >= 2 * len(_MAGIC)
            if whole:
                file.seek(-len(_MAGIC), 2)
            self.complete = whole and file.read() == _MAGIC
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
        self, topics: Collection[str] | None = None
    ) -> Iterator[LoggedMessage]:
        """Iterate messages in the order they were written.

        Args:
            topics: only these; None for all.

        Yields:
            Each message, decoded with the schema that the file itself carries.

        Raises:
            LogError: a message does not fit its schema.
        """
        schemas: dict[int, type[Any]] = {}
        channels: dict[int, tuple[str, type[Any]] | None] = {}
        for record in self.records():
            if isinstance(record, Schema) and record.id not in schemas:
                schemas[record.id] = make_message(record.data, record.name)
            elif isinstance(record, Channel):
                wanted = topics is None or record.topic in topics
                kind = schemas.get(record.schema_id)
                channels[record.id] = (
                    (record.topic, kind) if wanted and kind is not None else None
                )
            elif isinstance(record, Message):
                channel = channels.get(record.channel_id)
                if channel is not None:
                    yield _decode(record, *channel)

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
        times: list[int] = []
        values: list[Any] = []
        for message in self.messages({topic}):
            if field not in message.content.DESCRIPTOR.fields_by_name:
                known = ", ".join(message.content.DESCRIPTOR.fields_by_name)
                raise LogError(f"{topic} has no field {field!r}; it has {known}.")
            if isinstance(getattr(message.content, field), str | bytes):
                raise LogError(
                    f"{topic} {field} is no number; read it with messages()."
                )
            value = getattr(message.content, field)
            times.append(message.time_ns)
            values.append(value if isinstance(value, int | float) else list(value))
        return np.asarray(times, dtype=np.int64), np.asarray(values, dtype=np.float64)

    def _open(self) -> IO[bytes]:
        try:
            file = self.path.open("rb")
        except OSError as error:
            raise LogError(
                f"Recording {self.path} cannot be opened: {error.strerror}. Check the "
                "path."
            ) from error
        if file.read(len(_MAGIC)) != _MAGIC:
            file.close()
            raise LogError(
                f"{self.path} is not an MCAP recording, or empty. Give a file that "
                "limblink has written."
            )
        return file

    def records(self) -> Iterator[McapRecord]:
        """Iterate the raw records that can be read, those inside chunks too."""
        skipped = 0
        with self._open() as file:
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


def _unpack(chunk: Chunk) -> list[McapRecord] | None:
    """Return the records of a chunk, None where it is damaged."""
    try:
        return breakup_chunk(chunk, validate_crc=True)
    except (McapError, ZstdError, ValueError, struct.error):
        return None


def _decode(record: Message, topic: str, kind: type[Any]) -> LoggedMessage:
    try:
        content = kind.FromString(record.data)
    except DecodeError as error:
        raise LogError(
            f"A message of {topic} does not fit its schema ({error}): the recording "
            "was written by a faulty program."
        ) from error
    return LoggedMessage(topic, record.log_time, content)


def open_log(path: Path) -> Recording:
    """Open a recording, whole or cut.

    Raises:
        LogError: there is no such file, or it is not an MCAP file.
    """
    return Recording(path)


def recover(path: Path, destination: Path | None = None) -> Path:
    """Write everything that can be read of a recording as a whole new file.

    Args:
        path: the damaged recording; it is left as it is.
        destination: the file to make; None for `NAME.recovered.mcap` beside it.

    Returns:
        The file made.

    Raises:
        LogError: the source cannot be read or the destination not be made.
    """
    made = destination or path.with_suffix(".recovered.mcap")
    source = Recording(path)
    schemas: dict[int, int] = {0: 0}
    channels: dict[int, int] = {}
    try:
        with made.open("xb") as file:
            writer = Writer(file, compression=CompressionType.ZSTD)
            for record in source.records():
                if isinstance(record, Header):
                    writer.start(record.profile, record.library)
                elif isinstance(record, Metadata):
                    writer.add_metadata(record.name, record.metadata)
                elif isinstance(record, Attachment):
                    writer.add_attachment(
                        record.create_time,
                        record.log_time,
                        record.name,
                        record.media_type,
                        record.data,
                    )
                elif isinstance(record, Schema) and record.id not in schemas:
                    schemas[record.id] = writer.register_schema(
                        record.name, record.encoding, record.data
                    )
                elif isinstance(record, Channel) and record.id not in channels:
                    channels[record.id] = writer.register_channel(
                        record.topic,
                        record.message_encoding,
                        schemas[record.schema_id],
                        record.metadata,
                    )
                elif isinstance(record, Message) and record.channel_id in channels:
                    writer.add_message(
                        channels[record.channel_id],
                        record.log_time,
                        record.data,
                        record.publish_time,
                        record.sequence,
                    )
            writer.finish()  # type: ignore[no-untyped-call]
    except FileExistsError as error:
        raise LogError(
            f"{made} exists and is not overwritten; remove it or name another."
        ) from error
    except OSError as error:
        raise LogError(f"{made} cannot be written: {error.strerror}.") from error
    return made
