"""Whole new recordings out of damaged or long ones, and what is wrong with one."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError
from mcap.records import Channel
from mcap.writer import CompressionType, Writer

from app.clock import NS_PER_MS, NS_PER_S
from app.errors import LogError
from app.session.chunks import RawMessage, messages_in, open_recording
from app.session.container import part_path
from app.session.index import FileIndex
from app.session.journal import METADATA_NAME
from app.session.overview import (
    OVERVIEW_NAME,
    SURVEYED,
    OverviewWriter,
    survey,
)
from app.session.reader import Recording
from app.session.schema import make_message

__all__ = ["Verdict", "recover", "trim", "verify"]

_GAP_NS = 20 * NS_PER_MS  # between states that are 1 ms apart

_Tell = Callable[[int, int], object]


def recover(
    path: Path, destination: Path | None = None, tell: _Tell | None = None
) -> Path:
    """Write everything that can be read of a recording as a whole new file.

    Args:
        path: the damaged recording; it is left as it is.
        destination: the file to make; None for `NAME.recovered.mcap` beside it.
        tell: is told how many chunks of how many are done.

    Returns:
        The file made.

    Raises:
        LogError: the source cannot be read or the destination not be made.
    """
    made = destination or path.with_suffix(".recovered.mcap")
    _copy(path, made, {}, None, tell)
    return made


def trim(
    path: Path,
    first_s: float,
    last_s: float,
    destination: Path | None = None,
    tell: _Tell | None = None,
) -> Path:
    """Write a span of a recording as a whole new file.

    Args:
        path: the recording; it is left as it is.
        first_s: from here, since its first message [s].
        last_s: to here [s].
        destination: the file to make; None for `NAME.trimmed.mcap` beside it.
        tell: is told how many chunks of how many are done.

    Returns:
        The file made.

    Raises:
        LogError: the span is empty or outside, the source cannot be read or the
            destination not be made.
    """
    index = FileIndex(path)
    length_s = (index.end_ns - index.start_ns) / NS_PER_S
    if not 0.0 <= first_s < last_s or first_s >= length_s:
        raise LogError(
            f"Nothing of {path} lies from {first_s:g} s to {last_s:g} s: it is "
            f"{length_s:.1f} s long. Give a beginning before the end, and within it."
        )
    made = destination or path.with_suffix(".trimmed.mcap")
    start_ns = index.start_ns
    last_s = min(last_s, length_s + 1.0)
    span = (start_ns + round(first_s * NS_PER_S), start_ns + round(last_s * NS_PER_S))
    facts = {"trimmed_from": path.name, "trimmed_s": f"{first_s:g}..{last_s:g}"}
    _copy(path, made, facts, span, tell)
    return made


class _Copy:
    """A new file with the channels of another."""

    def __init__(self, writer: Writer, index: FileIndex) -> None:
        self._writer = writer
        self._index = index
        self._schemas: dict[int, int] = {0: 0}
        self._channels: dict[int, int] = {}
        self._kinds: dict[int, tuple[str, Any]] = {}
        for channel in index.channels.values():
            schema = index.schemas.get(channel.schema_id)
            if channel.topic in SURVEYED and schema is not None:
                kind = make_message(schema.data, schema.name)
                self._kinds[channel.id] = (channel.topic, kind)
        self._overview = OverviewWriter()
        self._segments = 0

    def add(self, message: RawMessage) -> None:
        """Copy a message."""
        number = self._channels.get(message.channel)
        if number is None:
            number = self._open(self._index.channels[message.channel])
        self._writer.add_message(
            number, message.time_ns, message.data, message.time_ns, message.sequence
        )
        known = self._kinds.get(message.channel)
        if known is None:
            return
        topic, kind = known
        if topic == "/state" and not self._overview.wants_state(message.time_ns):
            return
        survey(self._overview, topic, kind.FromString(message.data))
        if self._overview.due:
            self.add_overview()

    def _open(self, channel: Channel) -> int:
        if channel.schema_id not in self._schemas:
            schema = self._index.schemas[channel.schema_id]
            self._schemas[channel.schema_id] = self._writer.register_schema(
                schema.name, schema.encoding, schema.data
            )
        self._channels[channel.id] = self._writer.register_channel(
            channel.topic,
            channel.message_encoding,
            self._schemas[channel.schema_id],
            channel.metadata,
        )
        return self._channels[channel.id]

    def add_overview(self) -> None:
        """Write what has gathered, after the messages that it is of."""
        if self._overview.empty:
            return
        self._writer.flush()  # type: ignore[no-untyped-call]
        self._segments += 1
        name = f"{OVERVIEW_NAME}-{self._segments:04d}.npz"
        data = self._overview.take()
        self._writer.add_attachment(0, 0, name, "application/x-npz", data)


def _copy(
    path: Path,
    made: Path,
    facts: dict[str, str],
    span: tuple[int, int] | None,
    tell: _Tell | None,
) -> None:
    source = Recording(path)
    index = FileIndex(path)
    try:
        file = made.open("xb")
    except FileExistsError as error:
        raise LogError(
            f"{made} exists and is not overwritten; remove it or name another."
        ) from error
    except OSError as error:
        raise LogError(f"{made} cannot be written: {error.strerror}.") from error
    try:
        with file:
            writer = Writer(
                file, chunk_size=512 * 1024, compression=CompressionType.ZSTD
            )
            writer.start(profile="", library="limblink")
            writer.add_metadata(METADATA_NAME, source.metadata | facts)
            for name, data in source.attachments.items():
                if not name.startswith(OVERVIEW_NAME):
                    writer.add_attachment(0, 0, name, "text/plain", data)
            copy = _Copy(writer, index)
            for message in _messages(index, span, tell):
                copy.add(message)
            copy.add_overview()
            writer.finish()  # type: ignore[no-untyped-call]
    except OSError as error:
        with contextlib.suppress(OSError):
            made.unlink()
        raise LogError(
            f"{made} cannot be written: {error.strerror}. Nothing is left of it; "
            "choose a disk with more room."
        ) from error


def _messages(
    index: FileIndex, span: tuple[int, int] | None, tell: _Tell | None
) -> Iterator[RawMessage]:
    """Iterate the messages in the order of the file, of a span where one is given."""
    wanted = np.arange(index.offset.size)
    if span is not None:
        first_ns, last_ns = span
        wanted = wanted[(index.last_ns >= first_ns) & (index.first_ns <= last_ns)]
    with open_recording(index.path) as file:
        for done, number in enumerate(wanted.tolist()):
            for message in messages_in(index.read_chunk(number, file) or b""):
                if span is None or span[0] <= message.time_ns <= span[1]:
                    yield message
            if tell is not None and done % 16 == 0:
                tell(done, wanted.size)


class Verdict(NamedTuple):
    """What a look at every byte of a recording found."""

    problems: list[str]
    """In words, with what to do; empty where all is well."""
    notes: list[str]
    """What is no fault of the file: states that the recorder could not keep, parts."""
    messages: int
    chunks: int


def verify(path: Path, tell: _Tell | None = None) -> Verdict:
    """Read a recording as a whole and say what is wrong with it.

    Args:
        path: the recording.
        tell: is told how many chunks of how many are done.

    Raises:
        LogError: there is no such file, or it is not an MCAP file.
    """
    source = Recording(path)
    index = FileIndex(path)
    problems: list[str] = []
    if not index.complete:
        problems.append(
            "It was not closed by its writer: what came after the last flush is lost. "
            "`limblink sessions recover` makes a whole file of the rest."
        )
    kinds = {
        channel.id: make_message(schema.data, schema.name)
        for channel in index.channels.values()
        if (schema := index.schemas.get(channel.schema_id)) is not None
    }
    found: dict[int, int] = {}
    times: list[int] = []
    state = index.channel_of("/state")
    checked: set[int] = set()
    with open_recording(path) as file:
        for number in range(index.offset.size):
            content = index.read_chunk(number, file)
            if content is None:
                place = (int(index.first_ns[number]) - index.start_ns) / NS_PER_S
                problems.append(
                    f"Chunk {number + 1} of {index.offset.size}, at {place:.1f} s, is "
                    "damaged: its messages cannot be read."
                )
                continue
            for message in messages_in(content):
                found[message.channel] = found.get(message.channel, 0) + 1
                if state is not None and message.channel == state.id:
                    times.append(message.time_ns)
                if message.channel not in checked:
                    checked.add(message.channel)
                    problems += _check(kinds, index, message)
            if tell is not None and number % 16 == 0:
                tell(number, index.offset.size)
    for channel, count in index.counts.items():
        if found.get(channel, 0) != count:
            problems.append(
                f"{index.channels[channel].topic}: {found.get(channel, 0)} messages "
                f"were found where {count} are listed."
            )
    notes = _gaps(np.asarray(times, dtype=np.int64))
    if "part" in source.metadata:
        before = source.metadata["continues"]
        notes.append(f"It is part {source.metadata['part']}; it continues {before}.")
    following = part_path(path, 2)
    if following.exists():
        notes.append(f"It goes on in {following.name}.")
    return Verdict(problems, notes, sum(found.values()), int(index.offset.size))


def _check(kinds: dict[int, Any], index: FileIndex, message: RawMessage) -> list[str]:
    """Whether the first message of a topic fits its schema."""
    topic = index.channels[message.channel].topic
    kind = kinds.get(message.channel)
    if kind is None:
        return [f"{topic} has no schema."]
    try:
        kind.FromString(message.data)
    except DecodeError as error:
        return [f"{topic}: a message does not fit its schema: {error}."]
    return []


def _gaps(times: np.ndarray) -> list[str]:
    """Where states are missing that the recorder was too slow to keep."""
    steps = np.diff(np.sort(times))
    gaps = steps[steps > _GAP_NS]
    if not gaps.size:
        return []
    longest_s = float(gaps.max()) / NS_PER_S
    words = (
        f"{gaps.size} gaps in the states, the longest {longest_s:.2f} s: the disk was "
        "slow or full, or the station stood still. Its events say which."
    )
    return [words]
