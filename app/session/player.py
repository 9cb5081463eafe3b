"""A recording at any moment, without reading all of it.

Chunks around the moment are unpacked and the last few dozen are kept, so that playing
on, stepping and scrubbing nearby touch the disk little.
"""

import bisect
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from app.clock import NS_PER_S
from app.errors import LogError
from app.session.chunks import messages_in, open_recording
from app.session.index import FileIndex
from app.session.overview import (
    OVERVIEW_NAME,
    SURVEYED,
    Overview,
    OverviewWriter,
    join_segments,
    survey,
)
from app.session.reader import LoggedMessage, Recording
from app.session.schema import make_message

__all__ = ["Player"]

_KEPT = 48  # chunks: some seconds of 1 kHz states
_LOOK_BACK = 64  # chunks in which the newest message of a topic is looked for
_PATIENCE_NS = NS_PER_S  # messages of one chunk lie this far apart at most

_Tell = Callable[[int, int], object]
_Chunk = dict[int, tuple[list[int], list[bytes]]]


class Player:
    """Random access to one recording."""

    def __init__(self, path: Path, tell: _Tell | None = None) -> None:
        """Open a recording.

        Args:
            path: the file.
            tell: is told how much of a cut file was looked at.

        Raises:
            LogError: it cannot be read, or has no messages.
        """
        self.path = path
        self.recording = Recording(path)
        self.index = FileIndex(path, tell)
        if not self.index.offset.size:
            raise LogError(
                f"{path} holds no messages: its recorder was stopped at once. "
                "Nothing can be replayed."
            )
        self.start_ns, self.end_ns = self.index.start_ns, self.index.end_ns
        self._file = open_recording(path)
        self._kinds: dict[int, type[Any]] = {}
        self._kept: OrderedDict[int, _Chunk] = OrderedDict()
        self._chunks: dict[int, Any] = {}
        self.damaged: set[int] = set()
        """Numbers of the chunks that were met and could not be read."""
        self.overview = self._survey(tell)

    def __enter__(self) -> "Player":
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; idempotent."""
        self._file.close()

    # -- one moment ----------------------------------------------------------------

    def at(self, topic: str, time_ns: int) -> LoggedMessage | None:
        """Return the newest message of a topic at a moment.

        Args:
            topic: such as "/state".
            time_ns: the moment [ns].

        Returns:
            The message; None before the first one, and where the newest is hidden
            behind `_LOOK_BACK` chunks with later ones.
        """
        channel = self.index.channel_of(topic)
        if channel is None:
            return None
        chunks = self._chunks_of(channel.id)
        first = self.index.first_ns[chunks]
        last = int(np.searchsorted(first, time_ns, side="right"))
        for number in chunks[max(0, last - _LOOK_BACK) : last][::-1]:
            times, contents = self._chunk(int(number)).get(channel.id, ([], []))
            place = bisect.bisect_right(times, time_ns)
            if place:
                data = contents[place - 1]
                return self._decode(topic, channel.id, times[place - 1], data)
        return None

    def between(
        self, topics: set[str] | None, first_ns: int, last_ns: int
    ) -> Iterator[LoggedMessage]:
        """Iterate the messages of a span, chunk by chunk, in time order within each.

        Args:
            topics: only these; None for all.
            first_ns: no earlier ones [ns].
            last_ns: no later ones [ns].
        """
        wanted = {
            channel.id: channel.topic
            for channel in self.index.channels.values()
            if topics is None or channel.topic in topics
        }
        inside = (self.index.last_ns >= first_ns) & (self.index.first_ns <= last_ns)
        for number in np.flatnonzero(inside).tolist():
            found = [
                (time_ns, channel, data)
                for channel, (times, contents) in self._chunk(number).items()
                if channel in wanted
                for time_ns, data in zip(times, contents, strict=True)
                if first_ns <= time_ns <= last_ns
            ]
            for time_ns, channel, data in sorted(found, key=lambda row: row[0]):
                yield self._decode(wanted[channel], channel, time_ns, data)

    def step(self, topic: str, time_ns: int, steps: int) -> int:
        """Return the time of a message some messages of a topic away.

        Args:
            topic: whose messages are counted.
            time_ns: from here [ns].
            steps: so many on; negative, back.

        Returns:
            Its time, or that of the outermost one that is there [ns].
        """
        channel = self.index.channel_of(topic)
        if channel is None:
            return time_ns
        reach_ns = abs(steps) * NS_PER_S // 1000 + _PATIENCE_NS
        near = (self.index.last_ns >= time_ns - reach_ns) & (
            self.index.first_ns <= time_ns + reach_ns
        )
        times = sorted(
            time
            for number in np.flatnonzero(near).tolist()
            for time in self._chunk(number).get(channel.id, ([], []))[0]
        )
        if not times:
            return time_ns
        if steps >= 0:
            place = bisect.bisect_right(times, time_ns) + steps - 1
        else:
            place = bisect.bisect_left(times, time_ns) + steps
        return times[min(max(place, 0), len(times) - 1)]

    def _chunks_of(self, channel: int) -> Any:
        if channel not in self._chunks:
            self._chunks[channel] = self.index.chunks_with(channel)
        return self._chunks[channel]

    def _chunk(self, number: int) -> _Chunk:
        """Messages of a chunk by channel, in time order; none where it is damaged."""
        known = self._kept.get(number)
        if known is not None:
            self._kept.move_to_end(number)
            return known
        content = self.index.read_chunk(number, self._file)
        if content is None:
            self.damaged.add(number)
        made: _Chunk = {}
        for channel, time_ns, data, _ in messages_in(content or b""):
            times, contents = made.setdefault(channel, ([], []))
            place = len(times)
            if times and time_ns < times[-1]:
                place = bisect.bisect_right(times, time_ns)
            times.insert(place, time_ns)
            contents.insert(place, data)
        self._kept[number] = made
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return made

    def _decode(
        self, topic: str, channel: int, time_ns: int, data: bytes
    ) -> LoggedMessage:
        kind = self._kinds.get(channel)
        if kind is None:
            schema = self.index.schemas.get(self.index.channels[channel].schema_id)
            if schema is None:
                raise LogError(
                    f"{self.path}: {topic} has no schema. Another program wrote it."
                )
            kind = self._kinds[channel] = make_message(schema.data, schema.name)
        try:
            return LoggedMessage(topic, time_ns, kind.FromString(data))
        except DecodeError as error:
            raise LogError(
                f"A message of {topic} does not fit its schema ({error}): the "
                "recording was written by a faulty program."
            ) from error

    # -- the whole -----------------------------------------------------------------

    def _survey(self, tell: _Tell | None) -> Overview:
        """The overview in the file, and of what it does not cover the messages'."""
        places = [
            place
            for place in self.index.attachments
            if place.name.startswith(OVERVIEW_NAME)
        ]
        segments = [self.index.read_attachment(place) for place in places]
        covered = max((place.offset for place in places), default=0)
        rest = np.flatnonzero(self.index.offset > covered)
        if rest.size:
            segments.append(self._read_rest(rest.tolist(), tell))
        return join_segments(segments)

    def _read_rest(self, numbers: list[int], tell: _Tell | None) -> bytes:
        writer = OverviewWriter()
        wanted = {
            channel.id: channel.topic
            for channel in self.index.channels.values()
            if channel.topic in SURVEYED
        }
        for done, number in enumerate(numbers):
            content = self.index.read_chunk(number, self._file)
            for channel, time_ns, data, _ in messages_in(content or b""):
                topic = wanted.get(channel)
                if topic is None:
                    continue
                if topic == "/state" and not writer.wants_state(time_ns):
                    continue
                survey(
                    writer, topic, self._decode(topic, channel, time_ns, data).content
                )
            if tell is not None and done % 64 == 0:
                tell(done, len(numbers))
        return writer.take()
