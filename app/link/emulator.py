"""The emulated link as a process: a channel between two sockets, kept to time.

Packets are stamped when they are taken in and handed on when the channel says so. The
loop sleeps in poll until 1-2 ms before the next packet is due and in nanosleep for the
rest, because poll counts whole milliseconds.
"""

import gc
from collections.abc import Callable
from contextlib import ExitStack

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S, NS_PER_US, MonotonicClock
from app.config.link import LinkParameters, load_link
from app.errors import ConfigError, FrameError
from app.link.channel import Channel, ChannelSettings, Direction, Fate, PacketRecord
from app.link.emulator_protocol import (
    EmulatorSettings,
    EmulatorStatus,
    decode_settings,
    encode_status,
)
from app.link.endpoint import Endpoint, LinkKeys, Waiter
from app.link.streams import stream_key
from app.messages import Event
from app.real_time import prefer_real_time

__all__ = ["Emulator", "run_emulator"]

_STATUS_NS = 100 * NS_PER_MS
_IDLE_NS = 50 * NS_PER_MS  # how long `stop` may go unasked
_POLL_MARGIN_NS = 1 * NS_PER_MS
_STEP_NS = 500 * NS_PER_US
_RECORDS_MAX = 1000  # in one status
# Below the control loop's 80, above the 40 of station and robot: below those two, on
# two cores, packets were handed on up to 87 ms late; it needs little time of its own.
_PRIORITY = 60
_LATENESS_BIN_NS = 10 * NS_PER_US
_LATENESS_BINS = 5000  # 50 ms
_TOTALS = {
    (way, fate): f"{way.name.lower()}.{fate.value}"
    for way in Direction
    for fate in sorted(Fate, key=lambda fate: fate.value)
}
"""The name of each total in a status, in its order there."""


class Emulator:
    """A channel with settings that can be changed live and statistics; pure."""

    def __init__(
        self, link: LinkParameters, seed: int | tuple[int, int], now_ns: int
    ) -> None:
        """Start with a link as it is; its outages and trace count from now.

        Args:
            link: at first.
            seed: of all that is random; or of each way, down and up.
            now_ns: present time [ns].
        """
        self.link = link
        self.channel = Channel(ChannelSettings.of(link), seed, now_ns)
        self._settings = EmulatorSettings(revision=-1)
        self._preset = link.name
        self._error = ""
        self._status_ns = now_ns
        self._bits_before = (0, 0)
        self._lateness = np.zeros(_LATENESS_BINS, dtype=np.int64)
        self._delivered = 0
        self.undelivered = 0

    def submit(self, now_ns: int, direction: Direction, packet: bytes) -> None:
        """Take a packet in; an empty one is dropped, as it names no stream."""
        if packet:
            self.channel.submit(now_ns, direction, stream_key(packet), packet)

    def settle(self, now_ns: int, packet: bytes) -> None:
        """Act on a settings packet; a wrong one changes nothing and is reported.

        The same preset again keeps the link that is in force, with its trace running
        on and what the command line added to it.
        """
        try:
            settings = decode_settings(packet)
            link = self._link_for(settings.preset)
        except (ConfigError, FrameError) as error:
            self._error = str(error)
            return
        except OSError as error:
            self._error = f"Link file cannot be looked up: {error}."
            return
        self._error = ""
        is_new = settings.revision != self._settings.revision
        self.link, self._settings = link, settings
        self.channel.apply(ChannelSettings.of(link, settings.overrides), now_ns)
        self.channel.cut(now_ns, cut=settings.cut)
        if is_new:
            self.channel.outage(now_ns, round(settings.outage_s * NS_PER_S))

    def _link_for(self, preset: str) -> LinkParameters:
        if preset in {"", self._preset}:
            return self.link
        link = load_link(preset)
        self._preset = preset
        return link

    def note_delivered(self, lateness_ns: int) -> None:
        """Count how long after its scheduled time a packet was handed on [ns]."""
        index = min(_LATENESS_BINS - 1, max(0, lateness_ns // _LATENESS_BIN_NS))
        self._lateness[index] += 1
        self._delivered += 1

    def _lateness_us(self, share: float) -> float:
        if not self._delivered:
            return 0.0
        rank = share * self._delivered
        index = int(np.searchsorted(np.cumsum(self._lateness), rank))
        return (min(index, _LATENESS_BINS - 1) + 1) * _LATENESS_BIN_NS / NS_PER_US

    def status(self, now_ns: int) -> EmulatorStatus:
        """Return what happened since the last status."""
        channel, settings = self.channel, self.channel.settings
        records = channel.take_records()
        elapsed_s = max(now_ns - self._status_ns, 1) / NS_PER_S
        loads = [
            (after - before) / elapsed_s
            for after, before in zip(channel.bits_sent, self._bits_before, strict=True)
        ]
        self._bits_before = (channel.bits_sent[0], channel.bits_sent[1])
        self._status_ns = now_ns
        return EmulatorStatus(
            revision=self._settings.revision,
            preset=settings.name,
            delay_ms=channel.delay_ms(now_ns),
            jitter_ms=settings.weather.jitter_ms,
            loss=settings.weather.residual,
            down_bps=channel.rate_bps(Direction.DOWN, now_ns),
            up_bps=channel.rate_bps(Direction.UP, now_ns),
            duplex=settings.duplex,
            mtu_bytes=settings.mtu_bytes,
            overhead_bytes=settings.overhead_bytes,
            cut=channel.is_cut,
            down_load_bps=loads[Direction.DOWN],
            up_load_bps=loads[Direction.UP],
            queue_ms=_longest_wait_ms(records),
            lateness_us=(self._lateness_us(0.5), self._lateness_us(0.99)),
            totals={
                name: channel.totals[ended]
                for ended, name in _TOTALS.items()
                if ended in channel.totals
            },
            undelivered=self.undelivered,
            error=self._error,
            records=tuple(records[:_RECORDS_MAX]),
            records_lost=max(0, len(records) - _RECORDS_MAX),
            turnaround_ms=settings.turnaround_ns / NS_PER_MS,
            start_ns=channel.start_ns,
        )


def _longest_wait_ms(records: list[PacketRecord]) -> float:
    waits = [
        record.started_ns - record.submitted_ns
        for record in records
        if record.started_ns
    ]
    return max(waits, default=0) / NS_PER_MS


def run_emulator(
    station_address: str,
    robot_address: str,
    control_address: str,
    link: LinkParameters,
    seed: int,
    stop: Callable[[], bool],
    keys: LinkKeys | None = None,
    watch: Callable[[EmulatorStatus], None] | None = None,
    tell: Callable[[Event], None] | None = None,
) -> EmulatorStatus:
    """Bind three endpoints and carry packets until `stop()` is true.

    Args:
        station_address: where the station connects.
        robot_address: where the robot connects.
        control_address: where the station changes settings and hears statistics.
        link: what to imitate at first.
        seed: of all that is random.
        stop: asked at least every 50 ms.
        keys: CURVE keys, needed where an address leaves this host.
        watch: told every status, ten times a second; it must not wait.
        tell: told why an end was refused; it must not wait.

    Returns:
        The last status, of the time of stopping.

    Raises:
        LinkError: an address is bad or in use, or keys are missing.
    """
    prefer_real_time(_PRIORITY)  # before the sockets, whose threads inherit it
    clock = MonotonicClock()
    with ExitStack() as stack:
        station, robot, control = (
            stack.enter_context(Endpoint(address, "bind", keys))
            for address in (station_address, robot_address, control_address)
        )
        waiter = Waiter([station, robot, control])
        emulator = Emulator(link, seed, clock.now_ns())
        gc.collect()
        gc.freeze()
        status_ns = clock.now_ns()
        while not stop():
            for _, packet in control.receive():
                emulator.settle(clock.now_ns(), packet)
            for direction, endpoint in (
                (Direction.DOWN, station),
                (Direction.UP, robot),
            ):
                for _, packet in endpoint.receive():
                    emulator.submit(clock.now_ns(), direction, packet)
            for delivery in emulator.channel.advance(clock.now_ns()):
                target = robot if delivery.direction is Direction.DOWN else station
                if not target.send(delivery.payload):
                    emulator.undelivered += 1
                emulator.note_delivered(clock.now_ns() - delivery.due_ns)
            now_ns = clock.now_ns()
            if now_ns >= status_ns:
                status = emulator.status(now_ns)
                control.send(encode_status(status))
                if watch is not None:
                    watch(status)
                _pass_on((station, robot, control), tell)
                status_ns = max(status_ns + _STATUS_NS, now_ns)
            next_ns = emulator.channel.next_due_ns()
            due_ns = min(status_ns, now_ns + _IDLE_NS, next_ns or status_ns)
            _wait(clock, waiter, due_ns)
        return emulator.status(clock.now_ns())


def _pass_on(
    endpoints: tuple[Endpoint, ...], tell: Callable[[Event], None] | None
) -> None:
    for endpoint in endpoints:
        for event in endpoint.events():
            if tell is not None:
                tell(event)


def _wait(clock: MonotonicClock, waiter: Waiter, due_ns: int) -> None:
    """Wait for a packet or until `due_ns`.

    The last 1-2 ms are slept through in steps, so that a packet waits 0.5 ms at most.
    """
    left_ns = due_ns - clock.now_ns()
    if left_ns > 2 * _POLL_MARGIN_NS:
        waiter.wait((left_ns - _POLL_MARGIN_NS) // NS_PER_MS)
    else:
        clock.wait_until(min(due_ns, clock.now_ns() + _STEP_NS))
