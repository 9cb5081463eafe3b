"""A link's preset and the live changes to it, resolved for the channel."""

from dataclasses import dataclass
from typing import Literal

from app.clock import NS_PER_S
from app.config.link import LinkParameters
from app.link.weather import WeatherSettings

__all__ = ["ChannelSettings", "LinkOverrides"]


@dataclass(frozen=True)
class LinkOverrides:
    """Live changes to a preset; a negative value leaves it as the preset says.

    Attributes:
        delay_ms: mean one-way delay after serialisation [ms].
        jitter_ms: standard deviation of the delay [ms].
        loss: residual loss outside blockages, 0..1.
        bandwidth_bps: rate of each way, or of the shared medium [bit/s].
    """

    delay_ms: float = -1.0
    jitter_ms: float = -1.0
    loss: float = -1.0
    bandwidth_bps: float = -1.0


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

    @classmethod
    def of(
        cls, link: LinkParameters, overrides: LinkOverrides | None = None
    ) -> "ChannelSettings":
        """Resolve a link and live overrides."""
        wish = overrides or LinkOverrides()
        delay_ms = wish.delay_ms if wish.delay_ms >= 0.0 else link.delay_ms
        jitter_ms, kind = link.jitter.deviation_ms, link.jitter.kind
        if wish.jitter_ms >= 0.0:
            jitter_ms = wish.jitter_ms
            kind = "normal" if kind == "none" and jitter_ms > 0.0 else kind
        down, up = link.down_bps, link.up_bps
        if wish.bandwidth_bps >= 0.0:
            down = up = max(1.0, wish.bandwidth_bps)
        return cls(
            name=link.name,
            rate_bps=(down, up),
            delay_ms=delay_ms,
            least_delay_ms=min(link.propagation_ms, delay_ms),
            weather=WeatherSettings(
                good_s=link.loss.good_s,
                bad_s=link.loss.bad_s,
                residual=link.loss.residual if wish.loss < 0.0 else min(1.0, wish.loss),
                jitter_kind=kind,
                jitter_ms=jitter_ms,
                correlation_s=link.jitter.correlation_s,
                spike_ms=link.jitter.spike_ms,
                spike_per_s=link.jitter.spike_per_s,
            ),
            duplex=link.medium.duplex,
            ordered=link.medium.ordered,
            mtu_bytes=link.medium.mtu_bytes,
            overhead_bytes=link.medium.overhead_bytes,
            cycle_ns=round(link.medium.cycle_s * NS_PER_S),
        )
