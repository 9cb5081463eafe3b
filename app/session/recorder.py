"""Writing a recording: one MCAP file, whole up to the last flush whatever happens.

`Recorder` writes at once and is what a virtual-time study uses: equal calls give equal
bytes, because every time is an argument and nothing of the host is written but what the
caller passes as metadata. `app.session.thread.RecorderThread` offers the same `Journal`
to a live process, off its control path.

| topic                   | message        | written                              |
|-------------------------|----------------|--------------------------------------|
| /state                  | State          | every tick, 1 kHz                    |
| /input/gamepad, …       | OperatorInput  | every new sample of a source         |
| /frame/down, /frame/up  | Frame          | every frame, bytes as on the wire    |
| /packet                 | Packet         | every packet's fate in the channel   |
| /health                 | Health         | as the link thread publishes         |
| /event                  | Event          | when it happens                      |
| /statistics             | LoopStatistics | each second                          |
| /simulation             | Simulation     | every sample of a simulated case     |

A flush hands a complete chunk to the operating system: it outlives the death of this
process, though not a loss of power before the kernel has written it to disk.
"""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import mcap
from mcap.well_known import MessageEncoding, SchemaEncoding
from mcap.writer import CompressionType, Writer

from app.errors import LogError
from app.link.channel import Direction, PacketRecord
from app.messages import Event, LinkHealth, OperatorInput, Source
from app.session.schema import SCHEMAS, Schema, StateEncoder, fill_message
from models.numerics import FloatArray, IntArray

__all__ = [
    "METADATA_NAME",
    "Journal",
    "LayoutDescription",
    "Recorder",
    "StatisticsLike",
]

LayoutDescription = Sequence[tuple[str, int, tuple[int, ...]]]

METADATA_NAME = "limblink"
_CHUNK_BYTES = 512 * 1024
_UINT32 = 0xFFFF_FFFF


class StatisticsLike(Protocol):
    """Loop statistics: a NamedTuple of int64 arrays, see `app.control.blocks`."""

    @property
    def ticks(self) -> IntArray:
        """Ticks since the loop started, (1,)."""

    @property
    def lateness(self) -> IntArray:
        """Histogram of lateness, counts."""


class Journal(Protocol):
    """What a running session tells its recording; all times in ns."""

    def write_states(self, rows: IntArray, description: LayoutDescription) -> None:
        """Keep (n, words) rows of `StationState`, laid out as described."""

    def write_input(self, source: Source, sample: OperatorInput) -> None:
        """Keep one sample of an operator."""

    def write_frame(
        self, direction: Direction, sent_ns: int, received_ns: int, payload: bytes
    ) -> None:
        """Keep one frame as it was on the wire; a time not known is 0."""

    def write_packet(self, packet: PacketRecord) -> None:
        """Keep the fate of one packet in the emulated channel."""

    def write_health(self, health: LinkHealth) -> None:
        """Keep what is known of the link."""

    def write_event(self, event: Event) -> None:
        """Keep something a person should know of."""

    def write_statistics(self, time_ns: int, statistics: StatisticsLike) -> None:
        """Keep the loop's statistics so far."""


class Recorder:
    """A recording being written, in the calling thread."""

    def __init__(
        self,
        path: Path,
        metadata: Mapping[str, str],
        attachments: Mapping[str, bytes] | None = None,
        *,
        overwrite: bool = False,
    ) -> None:
        """Open the file and write who, what and with which configuration.

        Args:
            path: file to make; its folder is made too.
            metadata: facts of the run: versions, seed, robot, link, start time.
            attachments: files by name, such as the resolved configuration as TOML.
            overwrite: replace an existing file.

        Raises:
            LogError: the file exists or cannot be made.
        """
        self.path = path
        self.counts: dict[str, int] = {}
        self._encoder: StateEncoder | None = None
        self._channels: dict[str, int] = {}
        self._schema_ids: dict[str, int] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists() and not overwrite:
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
        self._writer = Writer(
            self._file, chunk_size=_CHUNK_BYTES, compression=CompressionType.ZSTD
        )
        try:
            self._writer.start(profile="", library=f"limblink; mcap {mcap.__version__}")
            self._writer.add_metadata(METADATA_NAME, dict(metadata))
            for name, data in (attachments or {}).items():
                media_type = (
                    "application/toml" if name.endswith(".toml") else "text/plain"
                )
                self._writer.add_attachment(0, 0, name, media_type, data)
        except OSError as error:
            raise self._failed(error) from error
        self.flush()

    def __enter__(self) -> "Recorder":
        """Return the recorder itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    @property
    def closed(self) -> bool:
        """Whether the file is closed, by `close` or by a failure."""
        return self._file.closed

    def write_states(self, rows: IntArray, description: LayoutDescription) -> None:
        """Keep (n, words) rows of `StationState`, laid out as described.

        Raises:
            LogError: the rows do not fit the schema, or the disk refused them.
        """
        encoder = self._encoder
        if encoder is None:
            encoder = self._encoder = StateEncoder(description)
        times = rows[:, encoder.time_word].tolist()
        channel = self._channel("/state", SCHEMAS["State"], encoder.metadata())
        for time_ns, data in zip(times, encoder.encode(rows), strict=True):
            self._add(channel, "/state", time_ns, data)

    def write_input(self, source: Source, sample: OperatorInput) -> None:
        """Keep one sample of an operator."""
        message = SCHEMAS["OperatorInput"].message(source=int(source), **asdict(sample))
        self._write(
            f"/input/{source.name.lower()}", "OperatorInput", sample.stamp_ns, message
        )

    def write_frame(
        self, direction: Direction, sent_ns: int, received_ns: int, payload: bytes
    ) -> None:
        """Keep one frame as it was on the wire.

        Args:
            direction: which way it goes.
            sent_ns: when it was sent [ns], 0 where not known.
            received_ns: when it was received [ns], 0 where not known.
            payload: the frame's bytes.
        """
        way = direction.name.lower()
        message = SCHEMAS["Frame"].message(
            sent_ns=sent_ns, received_ns=received_ns, direction=way, payload=payload
        )
        # Station time: a frame down is timed when it went, one up when it came.
        down = direction == Direction.DOWN
        first, second = (sent_ns, received_ns) if down else (received_ns, sent_ns)
        self._write(f"/frame/{way}", "Frame", first or second, message)

    def write_packet(self, packet: PacketRecord) -> None:
        """Keep the fate of one packet in the emulated channel."""
        message = SCHEMAS["Packet"].message(
            submitted_ns=packet.submitted_ns,
            started_ns=packet.started_ns,
            scheduled_due_ns=packet.scheduled_due_ns,
            delivered_ns=packet.delivered_ns,
            direction=packet.direction.name.lower(),
            key=packet.key,
            size_bytes=packet.size_bytes,
            fate=packet.fate.value,
        )
        self._write("/packet", "Packet", packet.submitted_ns, message)

    def write_health(self, health: LinkHealth) -> None:
        """Keep what is known of the link."""
        message = fill_message(SCHEMAS["Health"], health)
        self._write("/health", "Health", int(health.time_ns[0]), message)

    def write_event(self, event: Event) -> None:
        """Keep something a person should know of."""
        message = SCHEMAS["Event"].message(
            time_ns=event.time_ns,
            severity=int(event.severity),
            source=event.source,
            text=event.text,
            field_names=list(event.fields),
            field_values=list(event.fields.values()),
        )
        self._write("/event", "Event", event.time_ns, message)

    def write_statistics(self, time_ns: int, statistics: StatisticsLike) -> None:
        """Keep the loop's statistics so far."""
        message = fill_message(SCHEMAS["LoopStatistics"], statistics)
        self._write("/statistics", "LoopStatistics", time_ns, message)

    def write_simulation(
        self, time_ns: int, fields: Mapping[str, FloatArray], names: Mapping[str, str]
    ) -> None:
        """Keep one moment of a simulated robot.

        Args:
            time_ns: since the start of the case [ns].
            fields: those of the schema "Simulation" but for the time, flattened in row
                order.
            names: what stands at which place of a field, by field, such as the limbs
                of `tips`; kept with the first sample.
        """
        schema = SCHEMAS["Simulation"]
        message = schema.message(
            time_ns=time_ns,
            **{name: values.reshape(-1).tolist() for name, values in fields.items()},
        )
        extra = {f"names.{field}": text for field, text in names.items()}
        channel = self._channel("/simulation", schema, extra)
        data = message.SerializeToString(deterministic=True)
        self._add(channel, "/simulation", time_ns, data)

    def flush(self) -> None:
        """Hand everything written so far to the operating system as a whole chunk.

        Raises:
            LogError: the disk refused it; the recorder is then closed.
        """
        if self._file.closed:
            return
        try:
            self._writer.flush()  # type: ignore[no-untyped-call]
        except OSError as error:
            raise self._failed(error) from error

    def close(self) -> None:
        """Write the summary and close; a second call does nothing.

        Raises:
            LogError: the disk refused it; all that was flushed before can be read.
        """
        if self._file.closed:
            return
        try:
            self._writer.finish()  # type: ignore[no-untyped-call]
            self._file.close()
        except OSError as error:
            raise self._failed(error) from error

    def _write(self, topic: str, name: str, time_ns: int, message: Any) -> None:
        schema = SCHEMAS[name]
        data = message.SerializeToString(deterministic=True)
        self._add(self._channel(topic, schema, {}), topic, time_ns, data)

    def _channel(self, topic: str, schema: Schema, extra: dict[str, str]) -> int:
        known = self._channels.get(topic)
        if known is not None:
            return known
        if schema.name not in self._schema_ids:
            self._schema_ids[schema.name] = self._writer.register_schema(
                schema.name, SchemaEncoding.Protobuf, schema.descriptor_set
            )
        channel = self._writer.register_channel(
            topic,
            MessageEncoding.Protobuf,
            self._schema_ids[schema.name],
            schema.metadata() | extra,
        )
        self._channels[topic] = channel
        self.counts[topic] = 0
        return channel

    def _add(self, channel: int, topic: str, time_ns: int, data: bytes) -> None:
        if self._file.closed:
            raise LogError(f"Recording {self.path} is closed; nothing more is kept.")
        count = self.counts[topic]
        self.counts[topic] = count + 1
        try:
            self._writer.add_message(channel, time_ns, data, time_ns, count & _UINT32)
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> LogError:
        # Closing tries to write the rest, which the disk has just refused.
        with contextlib.suppress(OSError):
            self._file.close()
        return LogError(
            f"Recording {self.path} failed: {error.strerror}. What was flushed before "
            "can be read; free disk space or record elsewhere."
        )
