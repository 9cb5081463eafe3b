"""Who sends next, from when to when: turns, lanes, slots, bit rate; pure."""

from collections.abc import Sequence

from app.clock import NS_PER_S
from app.link.packets import Direction, Passage
from app.link.settings import ChannelSettings
from app.link.streams import lane

__all__ = ["NEVER_NS", "Queue", "Serialiser", "make_serialisers"]

NEVER_NS = 1 << 62
"""Later than all times [ns]."""
_LANES = [lane(key) for key in range(256)]


class Queue:
    """What waits to go one way: at most one packet a stream.

    Attributes:
        waiting: by stream, oldest stream first.
    """

    def __init__(self) -> None:
        self.waiting: dict[int, Passage] = {}

    def put(self, packet: Passage) -> Passage | None:
        """Let a packet wait; return the one of its stream whose place it takes."""
        older = self.waiting.get(packet.key)
        self.waiting[packet.key] = packet
        return older

    def first(self) -> tuple[int, Passage]:
        """Return what goes first, and its lane; something must wait."""
        key = min(self.waiting, key=_LANES.__getitem__)  # the oldest of the lowest lane
        return _LANES[key], self.waiting[key]

    def take(self, packet: Passage) -> None:
        """Remove what waits."""
        del self.waiting[packet.key]

    def take_longer(self, size_bytes: int) -> list[Passage]:
        """Remove all packets longer than this, by lane; -1 for all."""
        longer = [
            self.waiting[key]
            for key in sorted(self.waiting, key=_LANES.__getitem__)
            if len(self.waiting[key].payload) > size_bytes
        ]
        for packet in longer:
            self.take(packet)
        return longer


class Serialiser:
    """One transmitter's time, for one way or, on a shared medium, for both.

    Attributes:
        sending: the packet on it.
        free_ns: end of the last packet [ns].
        wake_ns: when it next has something to do [ns]: what it sends is out, or
            what waits may start; NEVER_NS where there is nothing: it is idle.
    """

    def __init__(self, queues: Sequence[Queue], free_ns: int) -> None:
        """Begin with nothing to send.

        Args:
            queues: of the ways it serves.
            free_ns: it may not send before [ns].
        """
        self.sending: Passage | None = None
        self.free_ns = free_ns
        self.wake_ns = free_ns if any(queue.waiting for queue in queues) else NEVER_NS
        self._queues = queues
        self._last: Direction | None = None

    def pick(self) -> Passage | None:
        """Choose the next packet: the lowest lane, the ways in turn, the oldest stream.

        None where none waits.
        """
        best, lowest = None, 0
        for queue in self._queues:
            if not queue.waiting:
                continue
            number, packet = queue.first()
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
        self.free_ns = self.wake_ns = packet.ends_ns

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
        started_ns = earliest_ns if earliest_ns > self.free_ns else self.free_ns
        if settings.duplex == "tdd":
            rate_bps = settings.rate_at(way, started_ns - trace_ns)
            started_ns, ends_ns = _slotted(
                settings.cycle_ns, way, started_ns - slots_ns, bits, rate_bps
            )
            return started_ns + slots_ns, ends_ns + slots_ns
        if self._last is not None and self._last is not way:
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


def make_serialisers(
    settings: ChannelSettings, now_ns: int, queues: Sequence[Queue]
) -> list[Serialiser]:
    """Make what a link's duplex wants, free from `now_ns` [ns]; queues by way."""
    if settings.duplex == "half":
        return [Serialiser(queues, now_ns)]
    return [Serialiser((queue,), now_ns) for queue in queues]
