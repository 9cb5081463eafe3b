"""What the emulated channel does beside what its preset says, in virtual time.

Every row is a statistic of many packets, with the range that the preset's own law
allows: three standard errors, which count packets of one blockage, or of one spell of
jitter, as the few independent ones they are.
"""

import itertools
import math
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from app.clock import NS_PER_MS, NS_PER_S
from app.config.link import LinkParameters
from app.link.channel import Channel, ChannelSettings, Direction, Fate, PacketRecord
from app.link.weather import SLOT_NS, Weather

__all__ = [
    "ChannelGoal",
    "burst_goals",
    "delay_goals",
    "loss_goals",
    "preset_goals",
    "run_packets",
    "throughput_goals",
]

_Floats = npt.NDArray[np.float64]
_ERRORS = 3.0
_SIZE = 25  # bytes of a packet, where the MTU allows
_LEAST_INTERVAL_NS = 2 * SLOT_NS
_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
_NORMAL = NormalDist()


@dataclass(frozen=True)
class ChannelGoal:
    """One statistic and the range it ought to lie in."""

    what: str
    found: float
    wanted: float
    low: float
    high: float

    @property
    def holds(self) -> bool:
        """Whether it does."""
        return self.low <= self.found <= self.high


def _goal(what: str, found: float, wanted: float, margin: float) -> ChannelGoal:
    margin += 1e-9 * (1.0 + abs(wanted))
    return ChannelGoal(what, found, wanted, wanted - margin, wanted + margin)


def _interval_ns(link: LinkParameters, size: int) -> int:
    """Time between packets, so long that none waits for another [ns]."""
    if link.medium.duplex == "tdd":
        return round(2 * link.medium.cycle_s * NS_PER_S)
    air_s = 8 * (size + link.medium.overhead_bytes) / link.down_bps
    return max(_LEAST_INTERVAL_NS, round(1.25 * air_s * NS_PER_S) + SLOT_NS)


def run_packets(link: LinkParameters, packets: int, seed: int) -> list[PacketRecord]:
    """Send packets down one by one, each at a random time within its interval.

    Args:
        link: what to imitate.
        packets: how many.
        seed: of the channel and of the times.

    Returns:
        Their records, in order of submission.
    """
    size = min(_SIZE, link.medium.mtu_bytes)
    interval_ns = _interval_ns(link, size)
    spread_ns = SLOT_NS
    if link.medium.duplex == "tdd":
        spread_ns = round(link.medium.cycle_s * NS_PER_S)
    offsets = np.random.default_rng(seed).integers(0, spread_ns, packets)
    channel, payload = Channel(ChannelSettings.of(link), seed), bytes(size)
    records = []
    for k, offset_ns in enumerate(offsets.tolist()):
        now_ns = k * interval_ns + offset_ns
        channel.submit(now_ns, Direction.DOWN, 0x20, payload)
        channel.advance(now_ns)
        records += channel.take_records()
    while (due_ns := channel.next_due_ns()) is not None:
        channel.advance(due_ns)
    records += channel.take_records()
    return sorted(records, key=lambda record: record.submitted_ns)


def loss_goals(link: LinkParameters, records: list[PacketRecord]) -> list[ChannelGoal]:
    """Compare the share lost with the preset's."""
    lost = sum(record.fate is not Fate.DELIVERED for record in records)
    duration_s = (records[-1].submitted_ns - records[0].submitted_ns) / NS_PER_S
    error = link.loss_standard_error(duration_s, len(records))
    share = lost / len(records)
    return [_goal("lost", share, link.expected_loss(), _ERRORS * error)]


def _law_ms(link: LinkParameters) -> tuple[_Floats, _Floats]:
    """One-way delay after serialisation as the preset says: points, weights."""
    jitter = link.jitter
    u = (np.arange(4000) + 0.5) / 4000
    if jitter.kind == "normal":
        unit = np.array([_NORMAL.inv_cdf(x) for x in u.tolist()])
    elif jitter.kind == "uniform":
        unit = math.sqrt(12.0) * (u - 0.5)
    elif jitter.kind == "lognormal":  # shape 0.5
        raw = np.exp(0.5 * np.array([_NORMAL.inv_cdf(x) for x in u.tolist()]))
        unit = raw / math.sqrt(math.expm1(0.25) * math.exp(0.25))
    elif jitter.kind == "gamma":  # shape 2, from its distribution function
        grid = np.linspace(0.0, 30.0, 300_001)
        unit = np.interp(u, 1.0 - (1.0 + grid) * np.exp(-grid), grid) / math.sqrt(2.0)
    else:
        unit = np.zeros_like(u)
    points = link.delay_ms + jitter.deviation_ms * unit
    points = np.maximum(points, link.propagation_ms)
    weights = np.full(len(points), 1.0 / len(points))
    if jitter.spike_per_s > 0.0:
        per_ms = 1e-3 * jitter.spike_per_s
        ages = (np.arange(200) + 0.5) / 200 * jitter.spike_ms
        chances = per_ms * jitter.spike_ms / 200 * np.exp(-per_ms * ages)
        held = points[None, :] + (jitter.spike_ms - ages)[:, None]
        points = np.concatenate([points, held.ravel()])
        weights = np.concatenate(
            [
                weights * (1.0 - chances.sum()),
                (chances[:, None] * weights[None, :]).ravel(),
            ]
        )
    order = np.argsort(points)
    return points[order], weights[order]


def delay_goals(link: LinkParameters, records: list[PacketRecord]) -> list[ChannelGoal]:
    """Compare delays with the preset's law: mean, deviation, shares below quantiles.

    The delay is from the last bit out to arrival. On a slotted link, the wait for the
    slot is compared too; it is even over the cycle.
    """
    came = [record for record in records if record.fate is Fate.DELIVERED]
    bits = 8 * (came[0].size_bytes + link.medium.overhead_bytes)
    air_ns = -(-bits * NS_PER_S // round(link.down_bps))
    if link.medium.duplex == "tdd":
        air_ns = (air_ns + 1) // 2
    delays = np.array([r.scheduled_due_ns - r.started_ns - air_ns for r in came])
    delays_ms = delays / NS_PER_MS
    points, weights = _law_ms(link)
    mean = float((points * weights).sum())
    deviation = math.sqrt(float(((points - mean) ** 2 * weights).sum()))
    fourth = float(((points - mean) ** 4 * weights).sum())
    spell_s = max(2.0 * link.jitter.correlation_s, 2e-3 * link.jitter.spike_ms)
    duration_s = (came[-1].submitted_ns - came[0].submitted_ns) / NS_PER_S
    count = min(float(len(came)), duration_s / spell_s if spell_s else math.inf)
    goals = [
        _goal(
            "delay, mean [ms]",
            float(delays_ms.mean()),
            mean,
            _ERRORS * deviation / math.sqrt(count) + 1e-6,
        )
    ]
    if deviation > 0.0:
        error = math.sqrt(max(0.0, fourth - deviation**4) / count) / (2 * deviation)
        goals.append(
            _goal(
                "delay, standard deviation [ms]",
                float(delays_ms.std()),
                deviation,
                _ERRORS * error,
            )
        )
        below = np.cumsum(weights)
        for share in _SHARES:
            limit_ms = float(np.interp(share, below, points))
            error = math.sqrt(share * (1.0 - share) / count)
            goals.append(
                _goal(
                    f"delay, share below {limit_ms:.4g} ms",
                    float((delays_ms <= limit_ms).mean()),
                    share,
                    _ERRORS * error,
                )
            )
    if link.medium.duplex == "tdd":
        goals += _slot_goals(link, records)
    return goals


def _slot_goals(link: LinkParameters, records: list[PacketRecord]) -> list[ChannelGoal]:
    cycle_ms = 1e3 * link.medium.cycle_s
    waits = np.array([(r.started_ns - r.submitted_ns) / NS_PER_MS for r in records])
    error = cycle_ms / math.sqrt(12 * len(waits))
    goals = [
        _goal(
            "wait for the slot, mean [ms]", waits.mean(), cycle_ms / 2, _ERRORS * error
        )
    ]
    for share in (0.25, 0.75):
        error = math.sqrt(share * (1.0 - share) / len(waits))
        goals.append(
            _goal(
                f"wait, share below {share * cycle_ms:g} ms",
                float((waits <= share * cycle_ms).mean()),
                share,
                _ERRORS * error,
            )
        )
    return goals


def burst_goals(link: LinkParameters, bursts: int, seed: int) -> list[ChannelGoal]:
    """Compare lengths of blockages, met once a step, with the geometric law.

    Args:
        link: what to imitate.
        bursts: about how many to wait for.
        seed: of the weather.
    """
    good, bad = link.loss.good_s, link.loss.bad_s
    if bad == 0.0:
        return []
    step_ns = max(1, round(0.2 * bad * NS_PER_S / SLOT_NS)) * SLOT_NS
    steps = math.ceil(bursts * (good + bad) * NS_PER_S / step_ns)
    calm = replace(ChannelSettings.of(link).weather, correlation_s=0.0, spike_per_s=0.0)
    weather = Weather(calm, seed, 0)
    blocked = [weather.is_blocked(k * step_ns) for k in range(steps)]
    runs = [(state, sum(1 for _ in run)) for state, run in itertools.groupby(blocked)]
    runs = runs[1:-1]  # the first began, and the last ends, out of sight
    step_s = step_ns / NS_PER_S
    settled = -math.expm1(-step_s * (1.0 / good + 1.0 / bad))
    goals = []
    for state, name, share in (
        (True, "blocked", good / (good + bad)),
        (False, "open", bad / (good + bad)),
    ):
        lengths = np.array([length for was, length in runs if was is state])
        end = settled * share  # chance that a run ends at a step
        deviation = math.sqrt(1.0 - end) / end
        goals.append(
            _goal(
                f"{name}, mean length of {len(lengths)} [s]",
                float(lengths.mean()) * step_s,
                step_s / end,
                _ERRORS * step_s * deviation / math.sqrt(len(lengths)),
            )
        )
        longer = (1.0 - end) ** math.floor(1.0 / end)
        goals.append(
            _goal(
                f"{name}, share longer than the mean",
                float((lengths > math.floor(1.0 / end)).mean()),
                longer,
                _ERRORS * math.sqrt(longer * (1.0 - longer) / len(lengths)),
            )
        )
    return goals


def throughput_goals(link: LinkParameters, packets: int) -> list[ChannelGoal]:
    """Compare bits a second, overhead included, with the preset's, within 1 %.

    One way is kept full; on a shared medium then both, where every turn costs the
    turn-around time.
    """
    goals = [_throughput(link, packets, (Direction.DOWN,), "down")]
    if link.medium.duplex == "half":
        goals.append(_throughput(link, packets, tuple(Direction), "both ways in turn"))
    else:
        goals.append(_throughput(link, packets, (Direction.UP,), "up"))
    return goals


def _throughput(
    link: LinkParameters, packets: int, ways: tuple[Direction, ...], words: str
) -> ChannelGoal:
    settings = ChannelSettings.of(link)
    channel = Channel(settings, 0)
    payload = bytes(link.medium.mtu_bytes)
    bits = 8 * (len(payload) + link.medium.overhead_bytes)
    records: list[PacketRecord] = []
    now_ns: int | None = 0
    for _ in range(2 * packets):
        for way in ways:
            if now_ns is not None and not channel.waiting_for(way):
                channel.submit(now_ns, way, 0x20, payload)
        now_ns = _step(channel, records)
    while now_ns is not None:
        now_ns = _step(channel, records)
    starts = [record.started_ns for record in records]
    starts.sort()
    rate = (len(starts) - 1) * bits * NS_PER_S / (starts[-1] - starts[0])
    wanted = settings.rate_bps[ways[0]]
    if len(ways) == 2:
        air_s = bits / wanted
        wanted *= air_s / (air_s + link.medium.turnaround_s)
    return _goal(f"throughput, {words} [bit/s]", rate, wanted, 0.01 * wanted)


def _step(channel: Channel, records: list[PacketRecord]) -> int | None:
    """Go to what happens next; return its time [ns]."""
    now_ns = channel.next_due_ns()
    if now_ns is not None:
        channel.advance(now_ns)
        records += channel.take_records()
    return now_ns


def preset_goals(
    link: LinkParameters, packets: int, bursts: int, seed: int
) -> list[ChannelGoal]:
    """Return every row for one link.

    Args:
        link: what to imitate.
        packets: for loss and delay.
        bursts: for their lengths.
        seed: of all that is random.
    """
    records = run_packets(link, packets, seed)
    return [
        *loss_goals(link, records),
        *delay_goals(link, records),
        *burst_goals(link, bursts, seed),
        *throughput_goals(link, 300),
    ]
