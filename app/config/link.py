"""A link's TOML file: bit rate, delay, jitter, loss in bursts and medium access."""

import math
from typing import Annotated, Literal

from pydantic import Field, model_validator

from app.config.loader import Parameters, asset_names, find_asset, load_toml

__all__ = [
    "JitterParameters",
    "LinkParameters",
    "LossParameters",
    "MediumParameters",
    "link_names",
    "load_link",
]

_BitRate = Annotated[float, Field(ge=1.0, le=1e11)]
_DelayMs = Annotated[float, Field(ge=0.0, le=60_000.0)]


class JitterParameters(Parameters):
    """How the one-way delay varies.

    `normal` and `uniform` lie about the mean delay and never fall below propagation;
    `lognormal` (shape 0.5) and `gamma` (shape 2) only add to it. All are scaled to
    `deviation_ms`, their standard deviation. A spike holds all packets that start
    within it until it ends.
    """

    kind: Literal["none", "normal", "uniform", "lognormal", "gamma"]
    deviation_ms: _DelayMs = 0.0
    correlation_s: Annotated[float, Field(ge=0.0, le=3600.0)] = 0.0
    spike_ms: _DelayMs = 0.0
    spike_per_s: Annotated[float, Field(ge=0.0, le=50.0)] = 0.0

    @model_validator(mode="after")
    def _consistent(self) -> "JitterParameters":
        if self.kind == "none" and self.deviation_ms > 0.0:
            raise ValueError("deviation_ms must be 0 where kind is 'none'")
        if (self.spike_ms > 0.0) != (self.spike_per_s > 0.0):
            raise ValueError("spike_ms and spike_per_s must be given together")
        return self


class LossParameters(Parameters):
    """Gilbert-Elliott loss in time: blockage does not depend on the packet rate."""

    good_s: Annotated[float, Field(gt=0.0, le=1e9)]
    bad_s: Annotated[float, Field(ge=0.0, le=1e6)]
    residual: Annotated[float, Field(ge=0.0, le=1.0)]


class MediumParameters(Parameters):
    """Who may send when, and how much at once.

    `full`: each way has its own rate. `half`: both ways share one transmitter's time.
    `tdd`: the cycle is halved into a slot for each way, which a packet must fit; the
    rate in the slot is twice `*_bps`, so that `*_bps` is the average.
    """

    duplex: Literal["full", "half", "tdd"]
    ordered: bool
    mtu_bytes: Annotated[int, Field(ge=8, le=65_535)]
    overhead_bytes: Annotated[int, Field(ge=0, le=1000)] = 0
    cycle_s: Annotated[float, Field(ge=0.0, le=60.0)] = 0.0

    @model_validator(mode="after")
    def _cycle(self) -> "MediumParameters":
        if (self.duplex == "tdd") != (self.cycle_s > 0.0):
            raise ValueError("cycle_s must be above 0 for duplex 'tdd', and only there")
        return self


class LinkParameters(Parameters):
    """A whole link as its TOML file gives it."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
    title: str
    source: str
    down_bps: _BitRate
    up_bps: _BitRate
    propagation_ms: _DelayMs
    processing_ms: _DelayMs
    jitter: JitterParameters
    loss: LossParameters
    medium: MediumParameters

    @property
    def delay_ms(self) -> float:
        """Mean one-way delay after serialisation, without additive jitter [ms]."""
        return self.propagation_ms + self.processing_ms

    def expected_loss(self) -> float:
        """Share of packets that are lost in the long run, 0..1."""
        blocked = self.loss.bad_s / (self.loss.good_s + self.loss.bad_s)
        return blocked + (1.0 - blocked) * self.loss.residual

    def loss_standard_error(self, duration_s: float, packets: int) -> float:
        """Standard error of the share lost in a run, bursts included.

        The share of time blocked is the mean of a two-state Markov process over the
        run, whose variance falls with the run's length over the correlation time
        1/(1/good + 1/bad), not with the number of packets.

        Args:
            duration_s: length of the run [s].
            packets: number of packets sent in it, evenly.
        """
        good, bad = self.loss.good_s, self.loss.bad_s
        blocked, residual = bad / (good + bad), self.loss.residual
        variance = 0.0
        if bad > 0.0:
            relative = duration_s * (1.0 / good + 1.0 / bad)
            variance = (
                (1.0 - residual) ** 2
                * blocked
                * (1.0 - blocked)
                * 2.0
                * (relative + math.expm1(-relative))
                / relative**2
            )
        variance += (1.0 - blocked) * residual * (1.0 - residual) / max(packets, 1)
        return math.sqrt(variance)


def link_names() -> list[str]:
    """Return the sorted names of the shipped links; `LinkWish.preset` indexes it."""
    return asset_names("links")


def load_link(name: str) -> LinkParameters:
    """Load a shipped link by name, or a file of the user's own by path.

    Raises:
        ConfigError: no such link, or its file is wrong.
    """
    return load_toml(find_asset("links", name), LinkParameters)
