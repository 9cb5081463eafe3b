"""The MCAP file under a recording: chunks, flushes, parts, and the overview inside.

A flush hands a complete chunk to the operating system: it outlives the death of this
process. `sync` makes the disk keep it, which outlives a loss of power. After
`part_bytes` the file is closed and goes on in `NAME.part2.mcap`, which stands for
itself: it carries the same metadata and attachments.
"""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

import mcap
from mcap.well_known import MessageEncoding, SchemaEncoding
from mcap.writer import CompressionType, Writer

from app.errors import LogError
from app.session.digest import DIGEST_NAME, TopicDigest
from app.session.journal import METADATA_NAME
from app.session.overview import OVERVIEW_NAME, OverviewWriter
from app.session.schema import Schema

__all__ = ["PART_BYTES", "LogFile", "part_path"]

PART_BYTES = 4 << 30
_CHUNK_BYTES = 512 * 1024
_UINT32 = 0xFFFF_FFFF
_MEDIA_TYPES = {".toml": "application/toml", ".json": "application/json"}


def part_path(path: Path, number: int) -> Path:
    """Name a part of a recording: the first has the recording's own name."""
    if number == 1:
        return path
    return path.with_name(f"{path.stem}.part{number}{path.suffix}")


class LogFile:
    """One recording on disk, in one part or several."""

    def __init__(
        self,
        path: Path,
        metadata: Mapping[str, str],
        attachments: Mapping[str, bytes],
        *,
        overwrite: bool = False,
        part_bytes: int = PART_BYTES,
    ) -> None:
        """Open the first part and write its head.

        Args:
            path: file to make; its folder is made too.
            metadata: facts of the run.
            attachments: files by name.
            overwrite: replace existing files.
            part_bytes: after so many a new part begins [bytes].

        Raises:
            LogError: the file exists or cannot be made.
        """
        self.path = path
        self.part = 1
        self.counts: dict[str, int] = {}
        self.overview = OverviewWriter()
        self._metadata = dict(metadata)
        self._attachments = dict(attachments)
        self._overwrite = overwrite
        self._part_bytes = part_bytes
        self._failure = ""  # why it was closed, where the disk did it
        self._begin()

    @property
    def closed(self) -> bool:
        """Whether the file is closed, by `close` or by a failure."""
        return self._file.closed

    @property
    def part_name(self) -> Path:
        """The part that is being written."""
        return part_path(self.path, self.part)

    def _begin(self) -> None:
        path = self.part_name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists() and not self._overwrite:
                raise LogError(
                    f"Recording {path} exists and is not overwritten. Give another "
                    "name or remove it."
                )
            self._file = path.open("wb")
        except OSError as error:
            raise LogError(
                f"Recording {path} cannot be made: {error.strerror}. Give a path in a "
                "folder that you may write to."
            ) from error
        self._channels: dict[str, int] = {}
        self._schemas: dict[str, int] = {}
        self._segments = 0
        self.digest = TopicDigest()
        self._writer = Writer(
            self._file, chunk_size=_CHUNK_BYTES, compression=CompressionType.ZSTD
        )
        facts = self._metadata
        if self.part > 1:
            before = part_path(self.path, self.part - 1).name
            facts = facts | {"part": str(self.part), "continues": before}
        try:
            self._writer.start(profile="", library=f"limblink; mcap {mcap.__version__}")
            self._writer.add_metadata(METADATA_NAME, facts)
            for name, data in self._attachments.items():
                media_type = _MEDIA_TYPES.get(Path(name).suffix, "text/plain")
                self._writer.add_attachment(0, 0, name, media_type, data)
        except OSError as error:
            raise self._failed(error) from error
        self.flush()

    def add(
        self, topic: str, schema: Schema, extra: Mapping[str, str], time_ns: int,
        data: bytes,
    ) -> None:  # fmt: skip
        """Write one message.

        Args:
            topic: of the message.
            schema: of its content.
            extra: metadata of the topic beside the schema's; taken with its first.
            time_ns: of the message [ns].
            data: its encoded content.

        Raises:
            LogError: the recording is closed, or the disk refused it.
        """
        if self._file.closed:
            why = self._failure or f"Recording {self.path} is closed."
            raise LogError(f"{why} Nothing more is kept.")
        if self._full:
            self.close()
            self.part += 1
            self._begin()
        channel = self._channels.get(topic)
        if channel is None:
            channel = self._open_channel(topic, schema, extra)
        count = self.counts.get(topic, 0)
        self.counts[topic] = count + 1
        self.digest.add(topic, time_ns, data)
        try:
            self._writer.add_message(channel, time_ns, data, time_ns, count & _UINT32)
        except OSError as error:
            raise self._failed(error) from error

    def _open_channel(
        self, topic: str, schema: Schema, extra: Mapping[str, str]
    ) -> int:
        if schema.name not in self._schemas:
            self._schemas[schema.name] = self._writer.register_schema(
                schema.name, SchemaEncoding.Protobuf, schema.descriptor_set
            )
        self._channels[topic] = self._writer.register_channel(
            topic,
            MessageEncoding.Protobuf,
            self._schemas[schema.name],
            schema.metadata() | dict(extra),
        )
        return self._channels[topic]

    def flush(self) -> None:
        """Hand everything written so far to the operating system as a whole chunk.

        Raises:
            LogError: the disk refused it; the file is then closed.
        """
        if self._file.closed:
            return
        try:
            self._writer.flush()  # type: ignore[no-untyped-call]
            if self.overview.due:
                self._add_overview()
            self._full = self._file.tell() > self._part_bytes
        except OSError as error:
            raise self._failed(error) from error

    def sync(self) -> None:
        """Wait until the disk keeps what was flushed; another thread may call this.

        Raises:
            LogError: the disk failed.
        """
        try:
            os.fsync(self._file.fileno())
        except ValueError:
            return  # closed just now: nothing is left to wait for
        except OSError as error:
            raise LogError(
                f"Recording {self.path}: the disk does not keep it: {error.strerror}. "
                "Record elsewhere."
            ) from error

    def close(self) -> None:
        """Write overview and summary and close; a second call does nothing.

        Raises:
            LogError: the disk refused it; all that was flushed before can be read.
        """
        if self._file.closed:
            return
        try:
            self._writer.flush()  # type: ignore[no-untyped-call]
            if not self.overview.empty:
                self._add_overview()
            self._writer.add_metadata(DIGEST_NAME, self.digest.told())
            self._writer.finish()  # type: ignore[no-untyped-call]
            self._file.close()
        except OSError as error:
            raise self._failed(error) from error

    def _add_overview(self) -> None:
        """Keep the overview since the last time, so that no reader must read all."""
        self._segments += 1
        self._writer.add_attachment(
            0,
            0,
            f"{OVERVIEW_NAME}-{self._segments:04d}.npz",
            "application/x-npz",
            self.overview.take(),
        )
        self._file.flush()

    def _failed(self, error: OSError) -> LogError:
        # Closing tries to write the rest, which the disk has just refused.
        with contextlib.suppress(OSError):
            self._file.close()
        self._failure = (
            f"Recording {self.path} failed: {error.strerror}. What was flushed before "
            "can be read; free disk space or record elsewhere."
        )
        return LogError(self._failure)
