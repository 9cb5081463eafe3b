"""The emulated link: what happens to each packet and when it arrives; pure, seeded.

    submit -> one waiting packet a stream (a newer one replaces it)
           -> serialiser: a packet of B bytes occupies it for 8 B / rate
           -> lost or not, decided when it starts
           -> delay + jitter after its last bit -> delivery

So a queue holds at most one packet a stream, and the bit rate is never exceeded. On a
half-duplex link both ways share one serialiser, taking turns with a turn-around time
between them; in TDD each way has half of every cycle. In an outage, by schedule, on
demand or for as long as the link is cut, nothing passes and what is on its way is lost.
Left out: collisions in the water (packets of opposite ways may cross there), echoes,
and retransmission by the modem.
"""

import heapq
from collections import Counter

from app.clock import NS_PER_MS
from app.link.outages import is_out, next_change_ns
from app.link.packets import Delivery, Direction, Fate, PacketRecord, Passage
from app.link.serialiser import NEVER_NS, Queue, Serialiser, make_serialisers
from app.link.settings import ChannelSettings, LinkOverrides
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


class Channel:
    """Both ways of a link. Times given must not go back."""

    def __init__(
        self,
        settings: ChannelSettings,
        seed: int | tuple[int, int],
        start_ns: int = 0,
    ) -> None:
        """Make an idle channel.

        Args:
            settings: what to imitate.
            seed: of all that is random; or of each way, down and up.
            start_ns: time from which slots, outages and a trace are counted [ns].
        """
        self.settings = settings
        self.start_ns = start_ns
        self.totals: Counter[tuple[Direction, Fate]] = Counter()
        self.bits_sent = [0, 0]  # on the medium, overhead included
        seeds = (seed, seed) if isinstance(seed, int) else seed
        self._weather = [
            Weather(settings.weather, seeds[way], way) for way in Direction
        ]
        self._queues = (Queue(), Queue())
        self._flying: list[tuple[int, int, Passage]] = []
        self._count = 0
        self._last_due_ns = [0, 0]
        self._records: list[PacketRecord] = []
        self._serialisers = make_serialisers(settings, start_ns, self._queues)
        self._taken_up_ns = start_ns  # origin of outages and trace
        self._cut = False
        self._out_until_ns = start_ns  # on demand
        self._parted = False
        self._change_ns = NEVER_NS
        self._work_ns = start_ns  # before it no packet starts or is out, nothing parts
        self.next_ns = start_ns
        """Before this time [ns] `advance` returns nothing and changes nothing, and no
        packet ends; every call but `take_records` may set it anew."""
        self._watch(start_ns)

    # -- settings ------------------------------------------------------------------

    def apply(self, settings: ChannelSettings, now_ns: int) -> None:
        """Take up other settings; packets on their way keep their time of arrival.

        What is left of a packet being sent is sent at the new rate. A schedule of
        outages or a trace begins now if it is not the one in force.
        """
        self._run(now_ns)
        before, self.settings = self.settings, settings
        rates = [before.rate_at(way, now_ns - self._taken_up_ns) for way in Direction]
        if _program(settings) != _program(before):
            self._taken_up_ns = now_ns
        for weather in self._weather:
            weather.advance(now_ns - self.start_ns)
            weather.apply(settings.weather)
        if settings.duplex != before.duplex:
            for serialiser in self._serialisers:
                self._land(serialiser.sending)
            self._serialisers = make_serialisers(settings, now_ns, self._queues)
        else:
            for serialiser in self._serialisers:
                self._rescale(serialiser, rates, now_ns)
        for queue in self._queues:
            for packet in queue.take_longer(settings.mtu_bytes):
                self._end(packet, Fate.OVERSIZE)
        self._watch(now_ns)
        self._run(now_ns)
        self._look_ahead()

    def _rescale(self, serialiser: Serialiser, rates: list[float], now_ns: int) -> None:
        serialiser.wake_ns = now_ns
        sending = serialiser.sending
        if sending is None:
            return
        way = sending.direction
        ratio = rates[way] / self.settings.rate_at(way, now_ns - self._taken_up_ns)
        sending.ends_ns = now_ns + round((sending.ends_ns - now_ns) * ratio)
        serialiser.free_ns = sending.ends_ns

    def cut(self, now_ns: int, *, cut: bool) -> None:
        """Part or mend the link; parting loses all that is on its way."""
        self._run(now_ns)
        self._cut = cut
        self._watch(now_ns)

    def outage(self, now_ns: int, length_ns: int) -> None:
        """Part the link from now for so long [ns]; 0 ends such an outage."""
        self._run(now_ns)
        self._out_until_ns = now_ns + length_ns
        self._watch(now_ns)

    @property
    def is_cut(self) -> bool:
        """Nothing passes: the link is cut, or an outage is on."""
        return self._parted

    def delay_ms(self, now_ns: int) -> float:
        """Return the mean one-way delay at a time [ms], a trace's where it has one."""
        return self.settings.delay_at(now_ns - self._taken_up_ns)

    def rate_bps(self, way: Direction, now_ns: int) -> float:
        """Return a way's bit rate at a time [bit/s], a trace's where it has one."""
        return self.settings.rate_at(way, now_ns - self._taken_up_ns)

    # -- traffic -------------------------------------------------------------------

    def submit(
        self, now_ns: int, direction: Direction, key: int, payload: bytes
    ) -> None:
        """Hand a packet over; it replaces one of the same stream that still waits."""
        if now_ns >= self._work_ns:
            self._run(now_ns)
        packet = Passage(direction, key, payload, now_ns)
        if self._parted:
            self._end(packet, Fate.CUT)
            return
        if len(payload) > self.settings.mtu_bytes:
            self._end(packet, Fate.OVERSIZE)
            return
        serialiser = self._serialisers[direction % len(self._serialisers)]
        if serialiser.wake_ns == NEVER_NS:  # idle
            if not self._start(serialiser, packet, now_ns):
                self._queues[direction].put(packet)
        else:
            older = self._queues[direction].put(packet)
            if older is not None:
                self._end(older, Fate.SUPERSEDED)
            self._serve(serialiser, now_ns)
        wake_ns = serialiser.wake_ns  # for another nothing has changed
        if wake_ns < self._work_ns:
            self._work_ns = wake_ns
        if wake_ns < self.next_ns:
            self.next_ns = wake_ns

    def advance(self, now_ns: int) -> list[Delivery]:
        """Return what has arrived by now, in order of arrival."""
        if now_ns < self.next_ns:
            return []
        if now_ns >= self._work_ns:
            self._run(now_ns)
        deliveries: list[Delivery] = []
        flying = self._flying
        while flying and flying[0][0] <= now_ns:
            due_ns, _, packet = heapq.heappop(flying)
            record = self._end(packet, Fate.DELIVERED, now_ns)
            deliveries.append(
                Delivery(due_ns, packet.direction, packet.payload, record)
            )
        self._look_ahead()
        return deliveries

    def next_due_ns(self) -> int | None:
        """Return when `advance` must next be called [ns]; None where nothing is on."""
        next_ns = min(serialiser.wake_ns for serialiser in self._serialisers)
        if self._flying:
            next_ns = min(next_ns, self._flying[0][0])
        return None if next_ns == NEVER_NS else next_ns

    def waiting(self) -> int:
        """Return how many packets wait for a serialiser; at most one a stream."""
        return sum(len(queue.waiting) for queue in self._queues)

    def waiting_for(self, way: Direction) -> int:
        """Return how many packets wait to go one way."""
        return len(self._queues[way].waiting)

    def take_records(self) -> list[PacketRecord]:
        """Return the packets that ended since the last call, in that order."""
        records, self._records = self._records, []
        return records

    # -- inside --------------------------------------------------------------------

    def _end(self, packet: Passage, fate: Fate, delivered_ns: int = 0) -> PacketRecord:
        way = packet.direction
        self.totals[way, fate] += 1
        record = PacketRecord(
            way,
            packet.key,
            len(packet.payload),
            fate,
            packet.submitted_ns,
            packet.started_ns,
            packet.due_ns,
            delivered_ns,
        )
        self._records.append(record)
        return record

    def _run(self, now_ns: int) -> None:
        """Let all that is due by now happen, in order of time."""
        if now_ns < self._work_ns:
            return
        while (change_ns := self._change_ns) <= now_ns:
            self._work(change_ns)
            self._watch(change_ns)
        self._work(now_ns)

    def _work(self, now_ns: int) -> None:
        """Let every serialiser work up to now, and note when one must next."""
        work_ns = self._change_ns
        for serialiser in self._serialisers:
            if serialiser.wake_ns <= now_ns:
                self._serve(serialiser, now_ns)
            if serialiser.wake_ns < work_ns:
                work_ns = serialiser.wake_ns
        self._work_ns = work_ns

    def _look_ahead(self) -> None:
        """Note before when nothing is due."""
        next_ns, flying = self._work_ns, self._flying
        if flying and flying[0][0] < next_ns:
            next_ns = flying[0][0]
        self.next_ns = next_ns

    def _watch(self, now_ns: int) -> None:
        """Part or mend the link as it ought to be now; note when that changes next."""
        into_ns = now_ns - self._taken_up_ns
        schedule = self.settings.outages
        parted = self._cut or now_ns < self._out_until_ns or is_out(schedule, into_ns)
        change_ns = next_change_ns(schedule, into_ns)
        changes = [] if change_ns is None else [change_ns + self._taken_up_ns]
        if now_ns < self._out_until_ns:
            changes.append(self._out_until_ns)
        self._change_ns = min(changes, default=NEVER_NS)
        if parted and not self._parted:
            self._part(now_ns)
        self._parted = parted
        self._work_ns = now_ns
        self._look_ahead()

    def _part(self, now_ns: int) -> None:
        """Lose all that is on its way; what has arrived by now is safe."""
        for queue in self._queues:
            for packet in queue.take_longer(-1):
                self._end(packet, Fate.CUT)
        for serialiser in self._serialisers:
            if serialiser.sending is not None:
                self._end(serialiser.sending, Fate.CUT)
                serialiser.sending = None
            serialiser.free_ns = min(serialiser.free_ns, now_ns)
            serialiser.wake_ns = NEVER_NS
        arrived = [flight for flight in self._flying if flight[0] <= now_ns]
        for flight in sorted(self._flying):
            if flight[0] > now_ns:
                self._end(flight[2], Fate.CUT)
        self._flying = arrived
        heapq.heapify(self._flying)

    def _serve(self, serialiser: Serialiser, now_ns: int) -> None:
        """Let a serialiser work up to now."""
        while True:
            sending = serialiser.sending
            if sending is not None:
                serialiser.wake_ns = sending.ends_ns
                if sending.ends_ns > now_ns:
                    return
                self._land(sending)
                serialiser.sending = None
            packet = serialiser.pick()
            if packet is None:
                serialiser.wake_ns = NEVER_NS
                return
            if not self._start(serialiser, packet, now_ns):
                return
            self._queues[packet.direction].take(packet)

    def _land(self, packet: Passage | None) -> None:
        """The last bit is out: let it fly, or end it where it is lost."""
        if packet is None:
            return
        if packet.fate is not Fate.DELIVERED:
            self._end(packet, packet.fate)
            return
        way, settings = packet.direction, self.settings
        mean_ms, least_ms = settings.delay_ms, settings.least_delay_ms
        if settings.replay is not None:
            mean_ms = settings.delay_at(packet.started_ns - self._taken_up_ns)
        if mean_ms < least_ms:
            least_ms = mean_ms
        delay_ms = max(mean_ms + packet.deviation_ms, least_ms)
        due_ns = packet.ends_ns + round(delay_ms * NS_PER_MS)
        if settings.ordered:
            due_ns = self._last_due_ns[way] = max(due_ns, self._last_due_ns[way])
        packet.due_ns = due_ns
        self._count += 1
        heapq.heappush(self._flying, (due_ns, self._count, packet))

    def _start(self, serialiser: Serialiser, packet: Passage, now_ns: int) -> bool:
        """Start a packet; False where it has to wait for its time."""
        way, settings, taken_up_ns = packet.direction, self.settings, self._taken_up_ns
        bits = 8 * (len(packet.payload) + settings.overhead_bytes)
        started_ns, ends_ns = serialiser.air_time(
            settings, way, packet.submitted_ns, bits, self.start_ns, taken_up_ns
        )
        if started_ns > now_ns:
            serialiser.wake_ns = started_ns
            return False
        loss = settings.weather.residual
        if settings.replay is not None:
            loss = settings.loss_at(started_ns - taken_up_ns)
        lost, packet.deviation_ms = self._weather[way].draw(
            started_ns - self.start_ns, loss
        )
        if lost:
            packet.fate = Fate(lost)
        packet.started_ns, packet.ends_ns = started_ns, ends_ns
        self.bits_sent[way] += bits
        serialiser.took(packet)
        return True


def _program(settings: ChannelSettings) -> tuple[object, object]:
    """What runs by the time since it was taken up: outages and trace."""
    table = settings.replay.table if settings.replay else None
    return settings.outages, id(table)
