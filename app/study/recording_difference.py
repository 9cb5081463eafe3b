"""Whether two recordings hold the same messages, and where they first differ.

Each topic is compared message by message, byte by byte; the first that is not the same
is taken apart to name the field and both values.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from mcap.records import Channel, Message, Metadata, Schema

from app.clock import NS_PER_S
from app.session.digest import DIGEST_NAME, FULL_STATES, TopicDigest
from app.session.reader import Recording
from app.session.schema import make_message

__all__ = [
    "Comparison",
    "Difference",
    "RawMessage",
    "RawReader",
    "compare_recordings",
    "first_field",
]


class RawMessage(NamedTuple):
    """One message as it is in the file."""

    topic: str
    time_ns: int
    data: bytes


class RawReader:
    """One recording, read from begin to end."""

    def __init__(self, recording: Recording) -> None:
        """Begin before the first message."""
        self._recording = recording
        self._schemas: dict[int, tuple[bytes, str]] = {}
        self._kinds: dict[str, tuple[bytes, str]] = {}
        self.facts: dict[str, dict[str, str]] = {}
        self.told: dict[str, str] = {}
        self.digest = TopicDigest()

    def messages(self) -> Iterator[RawMessage]:
        """Yield every message as it was written."""
        topics: dict[int, str] = {}
        for record in self._recording.records():
            if isinstance(record, Message):
                topic = topics.get(record.channel_id)
                if topic is not None:
                    self.digest.add(topic, record.log_time, record.data)
                    yield RawMessage(topic, record.log_time, record.data)
            elif isinstance(record, Schema):
                self._schemas[record.id] = (record.data, record.name)
            elif isinstance(record, Channel) and record.schema_id in self._schemas:
                topics[record.id] = record.topic
                self._kinds[record.topic] = self._schemas[record.schema_id]
                self.facts[record.topic] = dict(record.metadata)
            elif isinstance(record, Metadata) and record.name == DIGEST_NAME:
                self.told = dict(record.metadata)

    def decode(self, raw: RawMessage) -> Any:
        """Read a message with its own file's schema."""
        return make_message(*self._kinds[raw.topic]).FromString(raw.data)

    def altered(self) -> tuple[str, ...] | None:
        """Topics that are not what the writer hashed; None where it tells no hash."""
        if not self.told:
            return None
        told = {k: v for k, v in self.told.items() if k != FULL_STATES}
        found = self.digest.told()
        topics = sorted(told.keys() | found.keys())
        return tuple(topic for topic in topics if told.get(topic) != found.get(topic))


@dataclass(frozen=True)
class Difference:
    """The first place where two recordings are not the same.

    Attributes:
        topic: the channel.
        number: which message of the channel, from 0.
        time_s: of the message, from the begin of the first recording [s].
        place: the field, with its index, or what else is not the same.
        first: value in the first recording.
        second: value in the second.
    """

    topic: str
    number: int
    time_s: float
    place: str
    first: str
    second: str

    def __str__(self) -> str:
        """Say it in a sentence."""
        return (
            f"{self.topic} at {self.time_s:.6f} s (message {self.number}), "
            f"{self.place}: {self.first} was recorded, {self.second} came out"
        )


@dataclass
class Comparison:
    """What two recordings have in common.

    Attributes:
        counts: messages compared, by topic.
        different: of those, how many are not the same, by topic.
        first: the first difference in time; None where there is none.
        digest: of the first recording's messages, by topic, as `TopicDigest` tells.
        full_states: whether the state rows are the same in all their 64 bits; None
            where a recording does not tell.
        altered: topics of the first recording that do not fit the hash it keeps of
            itself; None where it keeps none.
    """

    counts: dict[str, int] = field(default_factory=dict)
    different: dict[str, int] = field(default_factory=dict)
    first: Difference | None = None
    digest: dict[str, str] = field(default_factory=dict)
    full_states: bool | None = None
    altered: tuple[str, ...] | None = None

    @property
    def same(self) -> bool:
        """Nothing is different."""
        return self.first is None and self.full_states is not False

    @property
    def intact(self) -> bool | None:
        """Whether the first recording fits its own hash; None where it has none."""
        return None if self.altered is None else not self.altered


def compare_recordings(
    first: Recording,
    second: Recording,
    wanted: Callable[[str], bool] = lambda _: True,
    *,
    to_the_end: bool = True,
    until: Callable[[str], int] | None = None,
) -> Comparison:
    """Compare two recordings in one pass.

    Args:
        first: what was recorded.
        second: what came out.
        wanted: whether a topic is to be compared.
        to_the_end: messages that only one has are a difference; else the first was cut.
        until: by topic, the time up to which both must have the same messages [ns];
            None: for ever.
    """
    sides = RawReader(first), RawReader(second)
    streams = tuple(side.messages() for side in sides)
    waiting: tuple[dict[str, deque[RawMessage]], ...] = ({}, {})
    result = Comparison()
    begin_ns: int | None = None
    open_sides = {0, 1}
    while open_sides:
        for side in tuple(open_sides):
            raw = next(streams[side], None)
            if raw is None:
                open_sides.discard(side)
                continue
            if side == 0 and begin_ns is None:
                begin_ns = raw.time_ns
            if not wanted(raw.topic):
                continue
            mine = waiting[side].setdefault(raw.topic, deque())
            mine.append(raw)
            others = waiting[1 - side].get(raw.topic)
            if others:
                pair = (
                    waiting[0][raw.topic].popleft(),
                    waiting[1][raw.topic].popleft(),
                )
                _compare(result, sides, pair, begin_ns or 0)
    if to_the_end:
        _compare_rest(result, waiting, begin_ns or 0, until)
    result.digest = sides[0].digest.told()
    result.altered = sides[0].altered()
    rows = [side.told.get(FULL_STATES) for side in sides]
    if None not in rows:
        result.full_states = rows[0] == rows[1]
    return result


def _note(result: Comparison, found: Difference) -> None:
    if result.first is None or _order(found) < _order(result.first):
        result.first = found


def _order(found: Difference) -> tuple[float, bool]:
    """At the same time, a state comes before what is made of it."""
    return found.time_s, found.topic != "/state"


def _compare(
    result: Comparison,
    sides: tuple[RawReader, RawReader],
    pair: tuple[RawMessage, RawMessage],
    begin_ns: int,
) -> None:
    one, other = pair
    topic = one.topic
    number = result.counts.get(topic, 0)
    result.counts[topic] = number + 1
    if one == other:
        return
    result.different[topic] = result.different.get(topic, 0) + 1
    time_s = (one.time_ns - begin_ns) / NS_PER_S
    found = Difference(topic, number, time_s, "", "", "")
    if result.first is not None and _order(result.first) <= _order(found):
        return
    place, was, came = _first_place(sides, pair)
    _note(result, replace(found, place=place, first=was, second=came))


def _compare_rest(
    result: Comparison,
    waiting: tuple[dict[str, deque[RawMessage]], ...],
    begin_ns: int,
    until: Callable[[str], int] | None,
) -> None:
    """Messages that only one of the two has."""
    for side, topics in enumerate(waiting):
        for topic, over in topics.items():
            left = [raw for raw in over if until is None or raw.time_ns <= until(topic)]
            if not left:
                continue
            result.different[topic] = result.different.get(topic, 0) + len(left)
            words = (f"{len(left)} more messages", "none")
            was, came = words if side == 0 else words[::-1]
            time_s = (left[0].time_ns - begin_ns) / NS_PER_S
            number = result.counts.get(topic, 0)
            _note(result, Difference(topic, number, time_s, "from here", was, came))


def _first_place(
    sides: tuple[RawReader, RawReader], pair: tuple[RawMessage, RawMessage]
) -> tuple[str, str, str]:
    if pair[0].data == pair[1].data:
        return "time [ns]", str(pair[0].time_ns), str(pair[1].time_ns)
    one, other = (side.decode(raw) for side, raw in zip(sides, pair, strict=True))
    found = first_field(one, other, sides[0].facts[pair[0].topic])
    return found or ("encoding", f"{len(pair[0].data)} B", f"{len(pair[1].data)} B")


def first_field(
    one: Any, other: Any, facts: Mapping[str, str], skip: Collection[str] = ()
) -> tuple[str, str, str] | None:
    """Name the first field that is not the same in two messages, and both values.

    Args:
        one: decoded message.
        other: likewise.
        facts: of the topic, which tell shapes.
        skip: fields that do not matter.

    Returns:
        Field with index, and the two values; None where nothing differs.
    """
    for entry in one.DESCRIPTOR.fields:
        if entry.name in skip:
            continue
        was, came = getattr(one, entry.name), getattr(other, entry.name, None)
        if isinstance(was, bytes) and isinstance(came, bytes):
            if was != came:
                return _first_byte(entry.name, was, came)
        elif isinstance(was, int | float | str):
            if repr(was) != repr(came):
                return entry.name, repr(was), repr(came)
        else:
            found = _first_item(list(was), list(came or ()))
            if found is not None:
                shape = facts.get(f"shape.{entry.name}", "")
                return f"{entry.name}{_index(found[0], shape)}", *found[1:]
    return None


def _first_byte(name: str, was: bytes, came: bytes) -> tuple[str, str, str]:
    shorter = min(len(was), len(came))
    at = next((i for i in range(shorter) if was[i] != came[i]), shorter)
    if at == shorter:
        return f"length of {name}", f"{len(was)} bytes", f"{len(came)} bytes"
    return f"{name} byte {at}", f"0x{was[at]:02x}", f"0x{came[at]:02x}"


def _first_item(was: list[Any], came: list[Any]) -> tuple[int, str, str] | None:
    if len(was) != len(came):
        return min(len(was), len(came)), f"{len(was)} values", f"{len(came)} values"
    for index, (one, other) in enumerate(zip(was, came, strict=True)):
        if repr(one) != repr(other):
            return index, repr(one), repr(other)
    return None


def _index(flat: int, shape: str) -> str:
    """Write a flat index by the shape that the channel tells, such as "4 x 3"."""
    sizes = [int(part) for part in shape.split(" x ")] if shape else []
    if len(sizes) < 2:
        return f"[{flat}]"
    places: list[int] = []
    for size in reversed(sizes):
        flat, place = divmod(flat, size)
        places.insert(0, place)
    return "".join(f"[{place}]" for place in places)
