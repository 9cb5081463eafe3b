"""A link's preset and the live changes to it, resolved for the channel."""

from dataclasses import dataclass
from typing import Literal

from app.clock import NS_PER_S
from app.config.link import LinkParameters
from app.link.outages import Outage
from app.link.packets import Direction
from app.link.replay import Replay
from app.link.weather import WeatherSettings

__all__ = ["ChannelSettings", "LinkOverrides"]

_FOR_EVER_NS = 10**9 * NS_PER_S


@dataclass(frozen=True)
class LinkOverrides:
    """Live changes to a preset; a negative value leaves it as the preset says.

    They win over a trace too.

    Attributes:
        delay_ms: mean one-way delay after serialisation [ms].
        jitter_ms: standard deviation of the delay [ms].
        loss: residual loss outside blockages, 0..1.
        bandwidth_bps: rate of each way, or of the shared medium [bit/s].
        distance_m: between station and robot [m]; on an acoustic link it gives the
            propagation, distance / 1500 m/s. Meant to be fed from the scene as the
            robot moves; `delay_ms` wins over it.
    """

    delay_ms: float = -1.0
    jitter_ms: float = -1.0
    loss: float = -1.0
    bandwidth_bps: float = -1.0
    distance_m: float = -1.0


@dataclass(frozen=True)
class ChannelSettings:
    """A preset and its overrides, resolved."""

    name: str
    rate_bps: tuple[float, float]
    delay_ms: float
    least_delay_ms: float
    weather: WeatherSettings
    duplex: Literal["full", "half", "tdd"]
    ordered: bool
    mtu_bytes: int
    overhead_bytes: int
    cycle_ns: int
    turnaround_ns: int = 0
    outages: tuple[Outage, ...] = ()
    replay: Replay | None = None

    @classmethod
    def of(
        cls, link: LinkParameters, overrides: LinkOverrides | None = None
    ) -> "ChannelSettings":
        """Resolve a link and live overrides."""
        wish = overrides or LinkOverrides()
        propagation_ms = link.propagation_ms
        if wish.distance_m >= 0.0 and link.wave_speed_m_s > 0.0:
            propagation_ms = link.propagation_at_ms(wish.distance_m)
        delay_ms = propagation_ms + link.processing_ms
        if wish.delay_ms >= 0.0:
            delay_ms = wish.delay_ms
        down, up = link.down_bps, link.up_bps
        if wish.bandwidth_bps >= 0.0:
            down = up = max(1.0, wish.bandwidth_bps)
        return cls(
            name=link.name,
            rate_bps=(down, up),
            delay_ms=delay_ms,
            least_delay_ms=min(propagation_ms, delay_ms),
            weather=_weather(link, wish),
            duplex=link.medium.duplex,
            ordered=link.medium.ordered,
            mtu_bytes=link.medium.mtu_bytes,
            overhead_bytes=link.medium.overhead_bytes,
            cycle_ns=round(link.medium.cycle_s * NS_PER_S),
            turnaround_ns=round(link.medium.turnaround_s * NS_PER_S),
            outages=_outages(link),
            replay=_replay(link, wish),
        )

    def rate_at(self, way: Direction, time_ns: int) -> float:
        """Return a way's bit rate [bit/s] so long after a trace took hold [ns]."""
        traced = None if self.replay is None else self.replay.rate_bps(time_ns)
        return self.rate_bps[way] if traced is None else float(traced)

    def delay_at(self, time_ns: int) -> float:
        """Return the mean delay [ms] so long after a trace took hold [ns]."""
        traced = None if self.replay is None else self.replay.delay_ms(time_ns)
        return self.delay_ms if traced is None else traced

    def loss_at(self, time_ns: int) -> float:
        """Return the loss outside blockages so long after a trace took hold [ns]."""
        traced = None if self.replay is None else self.replay.loss(time_ns)
        return self.weather.residual if traced is None else traced


def _weather(link: LinkParameters, wish: LinkOverrides) -> WeatherSettings:
    """What a trace has in a column of its own, the weather leaves alone."""
    jitter, loss, trace = link.jitter, link.loss, link.trace_table
    jitter_ms, kind, spikes = jitter.deviation_ms, jitter.kind, jitter.spike_per_s
    if trace is not None and trace.delay_ms is not None:
        jitter_ms, spikes = 0.0, 0.0
    if wish.jitter_ms >= 0.0:
        jitter_ms = wish.jitter_ms
        kind = "normal" if kind == "none" and jitter_ms > 0.0 else kind
    residual, bad_s = loss.residual, loss.bad_s
    if trace is not None and trace.loss is not None:
        residual, bad_s = 0.0, 0.0
    if wish.loss >= 0.0:
        residual = min(1.0, wish.loss)
    return WeatherSettings(
        good_s=loss.good_s,
        bad_s=bad_s,
        residual=residual,
        jitter_kind=kind,
        jitter_ms=jitter_ms,
        correlation_s=jitter.correlation_s,
        spike_ms=jitter.spike_ms,
        spike_per_s=spikes,
    )


def _outages(link: LinkParameters) -> tuple[Outage, ...]:
    entries = [
        Outage(*(round(seconds * NS_PER_S) for seconds in entry))
        for entry in link.loss.outages
    ]
    table = link.trace_table
    if table is not None and link.trace is not None and link.trace.at_end == "cut":
        entries.append(Outage(table.length_ns, _FOR_EVER_NS))
    return tuple(entries)


def _replay(link: LinkParameters, wish: LinkOverrides) -> Replay | None:
    table = link.trace_table
    if table is None or link.trace is None:
        return None
    return Replay(
        table,
        loops=link.trace.at_end == "loop",
        uses_delay=wish.delay_ms < 0.0 and table.delay_ms is not None,
        uses_loss=wish.loss < 0.0 and table.loss is not None,
        uses_rate=wish.bandwidth_bps < 0.0 and table.rate_bps is not None,
    )
