"""The emulated link: what happens to each packet and when it arrives; pure, seeded.

    submit -> one waiting packet a stream (a newer one replaces it)
           -> serialiser: a packet of B bytes occupies it for 8 B / rate
           -> lost or not, decided when it starts
           -> delay + jitter after its last bit -> delivery

So a queue holds at most one packet a stream, and the bit rate is never exceeded. On a
half-duplex link both ways share one serialiser, taking turns; in TDD each way has half
of every cycle. Left out: collisions, turn-round times and retransmission by the modem.
"""

import heapq
from collections import Counter
from dataclasses import dataclass, replace

from app.clock import NS_PER_MS, NS_PER_S
from app.link.packets import Delivery, Direction, Fate, PacketRecord
from app.link.settings import ChannelSettings, LinkOverrides
from app.link.streams import URGENT_KEY_END
from app.link.weather import Weather

__all__ = [
    "Channel",
    "ChannelSettings",
    "Delivery",
    "Direction",
    "Fate",
    "LinkOverrides",
    "PacketRecord",
]


@dataclass(slots=True)
class _Sending:
    payload: bytes
    record: PacketRecord
    ends_ns: int
    deviation_ms: float


class _Serialiser:
    """One transmitter's time, for one way or, on a shared medium, for both."""

    def __init__(self, directions: tuple[Direction, ...]) -> None:
        self.directions = directions
        self.turn = 0
        self.sending: _Sending | None = None
        self.free_ns = 0


class Channel:
    """Both ways of a link. Times given must not go back."""

    def __init__(self, settings: ChannelSettings, seed: int, start_ns: int = 0) -> None:
        """Make an idle channel.

        Args:
            settings: what to imitate.
            seed: of all that is random.
            start_ns: time from which slots are counted [ns].
        """
        self.settings = settings
        self.start_ns = start_ns
        self.totals: Counter[tuple[Direction, Fate]] = Counter()
        self.bits_sent = [0, 0]  # on the medium, overhead included
        self._weather = [Weather(settings.weather, seed, way) for way in Direction]
        self._waiting: list[dict[int, tuple[bytes, PacketRecord]]] = [{}, {}]
        self._flying: list[tuple[int, int, bytes, PacketRecord]] = []
        self._count = 0
        self._last_due_ns = [0, 0]
        self._cut = False
        self._records: list[PacketRecord] = []
        self._serialisers = self._make_serialisers()

    def _make_serialisers(self) -> list[_Serialiser]:
        if self.settings.duplex == "half":
            return [_Serialiser((Direction.DOWN, Direction.UP))]
        return [_Serialiser((way,)) for way in Direction]

    # -- settings ------------------------------------------------------------------

    def apply(self, settings: ChannelSettings, now_ns: int) -> None:
        """Take up other settings; packets on their way keep their time of arrival.

        What is left of a packet being sent is sent at the new rate.
        """
        self._run(now_ns)
        before, self.settings = self.settings, settings
        for weather in self._weather:
            weather.advance(now_ns - self.start_ns)
            weather.apply(settings.weather)
        if settings.duplex != before.duplex:
            for serialiser in self._serialisers:
                self._land(serialiser.sending)
            self._serialisers = self._make_serialisers()
            for serialiser in self._serialisers:
                serialiser.free_ns = now_ns
        else:
            for serialiser in self._serialisers:
                self._rescale(serialiser, before, now_ns)
        for way in Direction:
            waiting = self._waiting[way]
            for key in [
                k for k, v in waiting.items() if len(v[0]) > settings.mtu_bytes
            ]:
                self._end(waiting.pop(key)[1], Fate.OVERSIZE)
        self._run(now_ns)

    def _rescale(
        self, serialiser: _Serialiser, before: ChannelSettings, now_ns: int
    ) -> None:
        sending = serialiser.sending
        if sending is None:
            return
        way = sending.record.direction
        ratio = before.rate_bps[way] / self.settings.rate_bps[way]
        sending.ends_ns = now_ns + round((sending.ends_ns - now_ns) * ratio)
        serialiser.free_ns = sending.ends_ns

    def cut(self, now_ns: int, *, cut: bool) -> None:
        """Part or mend the link; parting loses all that is on its way."""
        self._run(now_ns)
        self._cut = cut
        if not cut:
            return
        for waiting in self._waiting:
            for _, record in waiting.values():
                self._end(record, Fate.CUT)
            waiting.clear()
        for serialiser in self._serialisers:
            if serialiser.sending is not None:
                self._end(serialiser.sending.record, Fate.CUT)
                serialiser.sending = None
            serialiser.free_ns = now_ns
        for _, _, _, record in self._flying:
            self._end(record, Fate.CUT)
        self._flying.clear()

    @property
    def is_cut(self) -> bool:
        """The link is parted."""
        return self._cut

    # -- traffic -------------------------------------------------------------------

    def submit(
        self, now_ns: int, direction: Direction, key: int, payload: bytes
    ) -> None:
        """Hand a packet over; it replaces one of the same stream that still waits."""
        self._run(now_ns)
        record = PacketRecord(
            direction, key, len(payload), Fate.DELIVERED, submitted_ns=now_ns
        )
        if self._cut:
            self._end(record, Fate.CUT)
            return
        if len(payload) > self.settings.mtu_bytes:
            self._end(record, Fate.OVERSIZE)
            return
        older = self._waiting[direction].get(key)
        if older is not None:
            self._end(older[1], Fate.SUPERSEDED)
        self._waiting[direction][key] = (payload, record)  # keeps the older's place
        self._run(now_ns)

    def advance(self, now_ns: int) -> list[Delivery]:
        """Return what has arrived by now, in order of arrival."""
        self._run(now_ns)
        deliveries: list[Delivery] = []
        while self._flying and self._flying[0][0] <= now_ns:
            due_ns, _, payload, record = heapq.heappop(self._flying)
            record = replace(record, delivered_ns=now_ns)
            self._end(record, Fate.DELIVERED)
            deliveries.append(Delivery(due_ns, record.direction, payload, record))
        return deliveries

    def next_due_ns(self) -> int | None:
        """Return when `advance` must next be called [ns]; None where nothing is on."""
        times = [serialiser.free_ns for serialiser in self._busy()]
        if self._flying:
            times.append(self._flying[0][0])
        return min(times) if times else None

    def _busy(self) -> list[_Serialiser]:
        return [
            serialiser
            for serialiser in self._serialisers
            if serialiser.sending is not None
            or any(self._waiting[way] for way in serialiser.directions)
        ]

    def waiting(self) -> int:
        """Return how many packets wait for a serialiser; at most one a stream."""
        return len(self._waiting[0]) + len(self._waiting[1])

    def take_records(self) -> list[PacketRecord]:
        """Return the packets that ended since the last call, in that order."""
        records, self._records = self._records, []
        return records

    # -- inside --------------------------------------------------------------------

    def _end(self, record: PacketRecord, fate: Fate) -> None:
        self.totals[record.direction, fate] += 1
        self._records.append(
            record if record.fate is fate else replace(record, fate=fate)
        )

    def _run(self, now_ns: int) -> None:
        """Let every serialiser work up to now."""
        for serialiser in self._serialisers:
            while True:
                if serialiser.sending is not None:
                    if serialiser.sending.ends_ns > now_ns:
                        break
                    self._land(serialiser.sending)
                    serialiser.sending = None
                if not self._start(serialiser, now_ns):
                    break

    def _land(self, sending: _Sending | None) -> None:
        """The last bit is out: let it fly, or end it where it is lost."""
        if sending is None:
            return
        record = sending.record
        if record.fate is not Fate.DELIVERED:
            self._end(record, record.fate)
            return
        delay_ms = max(
            self.settings.delay_ms + sending.deviation_ms, self.settings.least_delay_ms
        )
        due_ns = sending.ends_ns + round(delay_ms * NS_PER_MS)
        if self.settings.ordered:
            due_ns = max(due_ns, self._last_due_ns[record.direction])
            self._last_due_ns[record.direction] = due_ns
        self._count += 1
        record = replace(record, scheduled_due_ns=due_ns)
        heapq.heappush(self._flying, (due_ns, self._count, sending.payload, record))

    def _pick(self, serialiser: _Serialiser) -> tuple[Direction, int] | None:
        """Choose the next packet: mode frames first, then each way in turn."""
        ways = [way for way in serialiser.directions if self._waiting[way]]
        for way in ways:
            for key in self._waiting[way]:
                if key < URGENT_KEY_END:
                    return way, key
        if not ways:
            return None
        way = ways[serialiser.turn % len(ways)]
        return way, next(iter(self._waiting[way]))

    def _start(self, serialiser: _Serialiser, now_ns: int) -> bool:
        picked = self._pick(serialiser)
        if picked is None:
            return False
        way, key = picked
        payload, record = self._waiting[way][key]
        earliest_ns = max(serialiser.free_ns, record.submitted_ns)
        started_ns, ends_ns = self._air_time(way, earliest_ns, len(payload))
        if started_ns > now_ns:
            serialiser.free_ns = started_ns
            return False
        del self._waiting[way][key]
        serialiser.turn = 1 - way
        fate, deviation_ms = self._weather[way].draw(started_ns - self.start_ns)
        record = replace(
            record,
            started_ns=started_ns,
            fate=Fate(fate) if fate else Fate.DELIVERED,
        )
        self.bits_sent[way] += 8 * (len(payload) + self.settings.overhead_bytes)
        serialiser.sending = _Sending(payload, record, ends_ns, deviation_ms)
        serialiser.free_ns = ends_ns
        return True

    def _air_time(self, way: Direction, earliest_ns: int, size: int) -> tuple[int, int]:
        """When a packet starts and ends that may start at `earliest_ns`."""
        bits = 8 * (size + self.settings.overhead_bytes)
        duration_ns = max(1, -(-bits * NS_PER_S // round(self.settings.rate_bps[way])))
        cycle_ns = self.settings.cycle_ns
        if self.settings.duplex != "tdd":
            return earliest_ns, earliest_ns + duration_ns
        # In its slot, half of the cycle, a way sends at twice its mean rate.
        duration_ns = (duration_ns + 1) // 2
        slot_ns = cycle_ns // 2
        first_ns = self.start_ns + way * slot_ns
        into_ns = (earliest_ns - first_ns) % cycle_ns
        slots = -(-duration_ns // slot_ns)
        if into_ns + duration_ns <= slot_ns:
            return earliest_ns, earliest_ns + duration_ns
        started_ns = earliest_ns + (cycle_ns - into_ns) % cycle_ns
        last_ns = duration_ns - (slots - 1) * slot_ns
        return started_ns, started_ns + (slots - 1) * cycle_ns + last_ns
