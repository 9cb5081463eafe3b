"""A recording as one table: rows on one time base, a column for every number.

Rows are at the times of one channel, or evenly spaced; of every other channel a row has
the newest value at or before its time, nothing before its first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from google.protobuf.descriptor import FieldDescriptor

from app.clock import NS_PER_S
from app.errors import LogError
from app.session.index import FileIndex
from app.session.order import in_time
from app.session.reader import Recording
from app.session.schema import make_message

__all__ = ["DEFAULT_CHANNELS", "Column", "Row", "Table", "TableChoice"]

Value = int | float | str | None
Row = tuple[int, list[Value]]
"""Time [ns], and a value for every column but the times; None where nothing is."""

_TEXT, _BYTES = FieldDescriptor.CPPTYPE_STRING, FieldDescriptor.TYPE_BYTES
_REAL = {FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT}
DEFAULT_CHANNELS = ("/state", "/input/*", "/health", "/robot")


class Column(NamedTuple):
    """One field of one channel.

    Attributes:
        topic: the channel.
        field: of its messages.
        unit: "" where it has none.
        shape: () of a single value.
        kind: float, int or str.
    """

    topic: str
    field: str
    unit: str
    shape: tuple[int, ...]
    kind: type

    @property
    def size(self) -> int:
        """How many values."""
        size = 1
        for count in self.shape:
            size *= count
        return size

    @property
    def name(self) -> str:
        """Such as "state.tip_model"."""
        return f"{self.topic.strip('/').replace('/', '.')}.{self.field}"

    def heads(self) -> list[str]:
        """Return the header of each value, with its unit: "state.mode", "a[0] [m]"."""
        unit = f" [{self.unit}]" if self.unit else ""
        places = [""]
        for count in self.shape:
            places = [f"{place}[{i}]" for place in places for i in range(count)]
        return [f"{self.name}{place}{unit}" for place in places]


@dataclass(frozen=True)
class TableChoice:
    """What of a recording is wanted.

    Attributes:
        channels: topics or patterns, each with ":field,field" where not all are wanted.
        base: channel whose times are the rows'; not with a rate.
        rate_hz: of evenly spaced rows; None: as the base.
    """

    channels: Sequence[str] = DEFAULT_CHANNELS
    base: str = "/state"
    rate_hz: float | None = None


class Table:
    """One recording as a table.

    Attributes:
        columns: what it holds, beside the time.
        left_out: fields that are bytes.
        first_ns: time of the recording's first message [ns].
        last_ns: of its last [ns].
    """

    def __init__(self, recording: Recording, choice: TableChoice) -> None:
        """Lay the columns out.

        Raises:
            LogError: the recording has no such channel or field, or holds nothing.
        """
        self._recording = recording
        self._choice = choice
        index = FileIndex(recording.path)
        if not len(index.first_ns):
            raise LogError(f"{recording.path} holds no messages: nothing to export.")
        self.first_ns = int(index.first_ns.min())
        self.last_ns = int(index.last_ns.max())
        known = {channel.topic: channel for channel in index.channels.values()}
        wanted = _wanted(choice, sorted(known), recording)
        self.columns: list[Column] = []
        self.left_out: list[str] = []
        self._fields: dict[str, list[Column]] = {}
        for topic, only in wanted.items():
            channel = known[topic]
            schema = index.schemas[channel.schema_id]
            kind = make_message(schema.data, schema.name)
            fields = list(kind.DESCRIPTOR.fields)
            names = [field.name for field in fields]
            for name in only or ():
                if name not in names:
                    raise LogError(
                        f"{topic} has no field {name!r}: {', '.join(names)}."
                    )
            chosen = [field for field in fields if not only or field.name in only]
            self._add(topic, chosen, channel.metadata)
        if not self.columns:
            raise LogError("Nothing is left to export: the fields chosen are bytes.")

    def _add(self, topic: str, fields: Sequence[Any], metadata: dict[str, str]) -> None:
        """Add the columns of a channel."""
        open_ended = [
            field.name
            for field in fields
            if field.is_repeated and f"shape.{field.name}" not in metadata
        ]
        lengths = self._lengths(topic, open_ended)
        for field in fields:
            if field.type == _BYTES:
                self.left_out.append(f"{topic}:{field.name}")
                continue
            shape: tuple[int, ...] = ()
            if field.is_repeated:
                told = metadata.get(f"shape.{field.name}")
                shape = (lengths.get(field.name, 0),)
                if told is not None:
                    shape = tuple(int(part) for part in told.split(" x "))
            kind: type = float if field.cpp_type in _REAL else int
            if field.cpp_type == _TEXT:
                kind = str
            unit = metadata.get(f"unit.{field.name}", "")
            column = Column(topic, field.name, unit, shape, kind)
            if column.size:
                self.columns.append(column)
                self._fields.setdefault(topic, []).append(column)

    def _lengths(self, topic: str, names: Sequence[str]) -> dict[str, int]:
        """Greatest length of each field of which no shape is told."""
        lengths = dict.fromkeys(names, 0)
        if names:
            for message in self._recording.messages({topic}):
                for name in names:
                    count = len(getattr(message.content, name))
                    lengths[name] = max(lengths[name], count)
        return lengths

    def rows(self) -> Iterator[Row]:
        """Yield the rows in the order of time."""
        blocks: dict[str, list[Value]] = {}
        places: dict[str, int] = {}
        row: list[Value] = []
        for topic, columns in self._fields.items():
            places[topic] = len(row)
            blocks[topic] = [None] * sum(column.size for column in columns)
            row += blocks[topic]
        topics = {*self._fields}
        rate = self._choice.rate_hz
        if rate is None:
            topics.add(self._choice.base)
        pending: int | None = None  # time of a row whose channels may go on
        count = 0
        for message in in_time(self._recording.messages(topics)):
            time_ns = message.time_ns
            if rate is None:
                if pending is not None and time_ns > pending:
                    yield pending, list(row)
                    pending = None
                if message.topic == self._choice.base:
                    pending = time_ns
            else:
                while self.first_ns + round(count * NS_PER_S / rate) < time_ns:
                    yield self.first_ns + round(count * NS_PER_S / rate), list(row)
                    count += 1
            chosen = self._fields.get(message.topic)
            if chosen is not None:
                values = _values(message.content, chosen)
                place = places[message.topic]
                row[place : place + len(values)] = values
        if pending is not None:
            yield pending, list(row)
        if rate is not None:
            while self.first_ns + round(count * NS_PER_S / rate) <= self.last_ns:
                yield self.first_ns + round(count * NS_PER_S / rate), list(row)
                count += 1


def _values(content: Any, columns: Sequence[Column]) -> list[Value]:
    values: list[Value] = []
    for column in columns:
        value = getattr(content, column.field)
        if not column.shape:
            values.append(int(value) if column.kind is int else value)
            continue
        values += value
        values += [None] * (column.size - len(value))
    return values


def _wanted(
    choice: TableChoice, known: Sequence[str], recording: Recording
) -> dict[str, list[str]]:
    """Topics with the fields that are wanted of each; no fields: all."""
    if choice.rate_hz is None and choice.base not in known:
        raise LogError(
            f"{recording.path} has no channel {choice.base!r} to take the times of: "
            f"{', '.join(known)}. Choose one with --base, or give --rate."
        )
    wanted: dict[str, list[str]] = {}
    for text in choice.channels:
        pattern, _, fields = text.partition(":")
        if not pattern.startswith("/"):
            pattern = f"/{pattern}"
        found = [topic for topic in known if fnmatchcase(topic, pattern)]
        if not found and choice.channels is not DEFAULT_CHANNELS:
            raise LogError(
                f"{recording.path} has no channel {pattern!r}: {', '.join(known)}."
            )
        for topic in found:
            names = [name.strip() for name in fields.split(",") if name.strip()]
            wanted.setdefault(topic, []).extend(names)
    return wanted
