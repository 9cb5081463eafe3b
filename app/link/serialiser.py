"""Who sends next, from when to when: turns, lanes, slots, bit rate; pure."""

from collections.abc import Sequence

from app.clock import NS_PER_S
from app.link.packets import Direction, Passage
from app.link.settings import ChannelSettings
from app.link.streams import lane

__all__ = ["Queue", "Serialiser", "make_serialisers"]

_LANES = [lane(key) for key in range(256)]


class Queue:
    """What waits to go one way: at most one packet a stream, by lane, oldest first."""

    def __init__(self) -> None:
        self._lanes: list[dict[int, Passage]] = [{} for _ in range(max(_LANES) + 1)]
        self.count = 0
        """How many wait."""

    def put(self, packet: Passage) -> Passage | None:
        """Let a packet wait; return the one of its stream whose place it takes."""
        waiting = self._lanes[_LANES[packet.key]]
        older = waiting.get(packet.key)
        waiting[packet.key] = packet
        if older is None:
            self.count += 1
        return older

    def first(self) -> tuple[int, Passage]:
        """Return what goes first, and its lane; something must wait."""
        number = next(k for k, waiting in enumerate(self._lanes) if waiting)
        return number, next(iter(self._lanes[number].values()))

    def take(self, packet: Passage) -> None:
        """Remove what waits."""
        self.count -= 1
        del self._lanes[_LANES[packet.key]][packet.key]

    def take_longer(self, size_bytes: int) -> list[Passage]:
        """Remove all packets longer than this; -1 for all."""
        longer = [
            packet
            for waiting in self._lanes
            for packet in waiting.values()
            if len(packet.payload) > size_bytes
        ]
        for packet in longer:
            self.take(packet)
        return longer


class Serialiser:
    """One transmitter's time, for one way or, on a shared medium, for both.

    Attributes:
        directions: the ways it serves.
        sending: the packet on it.
        free_ns: end of the last packet [ns].
        wake_ns: when to look again, where something waits for its start [ns].
    """

    def __init__(self, directions: tuple[Direction, ...], free_ns: int) -> None:
        self.directions = directions
        self.sending: Passage | None = None
        self.free_ns = free_ns
        self.wake_ns = free_ns
        self._last: Direction | None = None

    def pick(self, queues: Sequence[Queue]) -> Passage | None:
        """Choose the next packet: the lowest lane, the ways in turn, the oldest stream.

        Args:
            queues: by way.
        """
        best, lowest = None, 0
        for way in self.directions:
            if not queues[way].count:
                continue
            number, packet = queues[way].first()
            if (
                best is None
                or number < lowest
                or (number == lowest and best.direction is self._last)
            ):
                best, lowest = packet, number
        return best

    def took(self, packet: Passage) -> None:
        """A packet has started."""
        self._last = packet.direction
        self.sending = packet
        self.free_ns = packet.ends_ns

    def next_ns(self, queues: Sequence[Queue]) -> int | None:
        """Return when there is something to do [ns]; None while nothing waits.

        Args:
            queues: by way.
        """
        if self.sending is not None:
            return self.free_ns
        for way in self.directions:
            if queues[way].count:
                return self.wake_ns
        return None

    def air_time(
        self,
        settings: ChannelSettings,
        way: Direction,
        earliest_ns: int,
        bits: int,
        slots_ns: int,
        trace_ns: int,
    ) -> tuple[int, int]:
        """Return when a packet starts and ends [ns].

        Args:
            settings: rate, duplex and trace.
            way: its direction.
            earliest_ns: it may not start before [ns].
            bits: its length, overhead included.
            slots_ns: time from which slots are counted [ns].
            trace_ns: time from which a trace runs [ns].
        """
        started_ns = max(earliest_ns, self.free_ns)
        if settings.duplex == "tdd":
            rate_bps = settings.rate_at(way, started_ns - trace_ns)
            started_ns, ends_ns = _slotted(
                settings.cycle_ns, way, started_ns - slots_ns, bits, rate_bps
            )
            return started_ns + slots_ns, ends_ns + slots_ns
        if self._last not in {None, way}:
            started_ns = max(earliest_ns, self.free_ns + settings.turnaround_ns)
        replay = settings.replay
        if replay is not None and replay.uses_rate:
            ends_ns = trace_ns + replay.sent_ns(started_ns - trace_ns, bits)
            return started_ns, max(started_ns + 1, ends_ns)
        return started_ns, started_ns + _duration_ns(bits, settings.rate_bps[way])


def _duration_ns(bits: int, rate_bps: float) -> int:
    return max(1, -(-bits * NS_PER_S // round(rate_bps)))


def _slotted(
    cycle_ns: int, way: Direction, earliest_ns: int, bits: int, rate_bps: float
) -> tuple[int, int]:
    """Fit a packet into its way's slots, half of each cycle, at twice the mean rate."""
    duration_ns = (_duration_ns(bits, rate_bps) + 1) // 2
    slot_ns = cycle_ns // 2
    into_ns = (earliest_ns - way * slot_ns) % cycle_ns
    if into_ns + duration_ns <= slot_ns:
        return earliest_ns, earliest_ns + duration_ns
    started_ns = earliest_ns + (cycle_ns - into_ns) % cycle_ns
    slots = -(-duration_ns // slot_ns)
    last_ns = duration_ns - (slots - 1) * slot_ns
    return started_ns, started_ns + (slots - 1) * cycle_ns + last_ns


def make_serialisers(settings: ChannelSettings, now_ns: int) -> list[Serialiser]:
    """Make what a link's duplex wants, free from `now_ns` [ns]."""
    if settings.duplex == "half":
        return [Serialiser((Direction.DOWN, Direction.UP), now_ns)]
    return [Serialiser((way,), now_ns) for way in Direction]
