"""A link's TOML file: bit rate, delay, jitter, loss in bursts and medium access."""

import math
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PrivateAttr, model_validator

from app.config.loader import Parameters, asset_names, find_asset, load_toml
from app.config.trace import TraceEnd, TraceTable, read_trace
from app.errors import ConfigError

__all__ = [
    "JitterParameters",
    "LinkParameters",
    "LossParameters",
    "MediumParameters",
    "TraceParameters",
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
    """Gilbert-Elliott loss in time: blockage does not depend on the packet rate.

    `outages` come on top, by schedule: [start_s, length_s] for one, [start_s,
    length_s, period_s] for one in every period. Nothing passes in them, and what is on
    its way is lost. They count from the moment the link is taken up.
    """

    good_s: Annotated[float, Field(gt=0.0, le=1e9)]
    bad_s: Annotated[float, Field(ge=0.0, le=1e6)]
    residual: Annotated[float, Field(ge=0.0, le=1.0)]
    outages: Annotated[tuple[tuple[float, ...], ...], Field(max_length=100)] = ()

    @model_validator(mode="after")
    def _outages(self) -> "LossParameters":
        for number, entry in enumerate(self.outages, start=1):
            problem = _outage_problem(entry)
            if problem:
                raise ValueError(f"outages, entry {number}, {list(entry)}: {problem}")
        return self


def _outage_problem(entry: tuple[float, ...]) -> str:
    """Say what is wrong with an outage; "" where nothing is."""
    if len(entry) not in {2, 3}:
        return "write [start_s, length_s] or [start_s, length_s, period_s]"
    if not 0.0 <= entry[0] <= 1e7:
        return "start_s must be 0 to 1e7 s"
    if not 1e-3 <= entry[1] <= 1e7:
        return "length_s must be 0.001 to 1e7 s"
    if len(entry) == 3 and not entry[1] < entry[2] <= 1e7:
        return "period_s must be longer than length_s, 1e7 s at most"
    return ""


class MediumParameters(Parameters):
    """Who may send when, and how much at once.

    `full`: each way has its own rate. `half`: both ways share one transmitter's time,
    and `turnaround_s` passes between packets of opposite ways. `tdd`: the cycle is
    halved into a slot for each way, which a packet must fit; the rate in the slot is
    twice `*_bps`, so that `*_bps` is the average.
    """

    duplex: Literal["full", "half", "tdd"]
    ordered: bool
    mtu_bytes: Annotated[int, Field(ge=8, le=65_535)]
    overhead_bytes: Annotated[int, Field(ge=0, le=1000)] = 0
    cycle_s: Annotated[float, Field(ge=0.0, le=60.0)] = 0.0
    turnaround_s: Annotated[float, Field(ge=0.0, le=60.0)] = 0.0

    @model_validator(mode="after")
    def _consistent(self) -> "MediumParameters":
        if self.turnaround_s > 0.0 and self.duplex != "half":
            raise ValueError("turnaround_s belongs to duplex 'half' only")
        if (self.duplex == "tdd") != (self.cycle_s > 0.0):
            raise ValueError("cycle_s must be above 0 for duplex 'tdd', and only there")
        return self


class TraceParameters(Parameters):
    """A recorded trace that stands in for delay, loss and bit rate.

    `file` is a CSV (see `app.config.trace`), sought beside the TOML. After its last
    row it begins again (`loop`), the last row holds (`hold`), or nothing passes any
    more (`cut`).
    """

    file: Annotated[str, Field(min_length=1)]
    at_end: TraceEnd = "loop"


class LinkParameters(Parameters):
    """A whole link as its TOML file gives it.

    `wave_speed_m_s` makes propagation follow the distance: 1500 where sound carries
    the packets; 0 where distance does not matter.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
    title: str
    source: str
    down_bps: _BitRate
    up_bps: _BitRate
    propagation_ms: _DelayMs
    processing_ms: _DelayMs
    wave_speed_m_s: Annotated[float, Field(ge=0.0, le=3e8)] = 0.0
    jitter: JitterParameters
    loss: LossParameters
    medium: MediumParameters
    trace: TraceParameters | None = None
    _table: TraceTable | None = PrivateAttr(default=None)

    @property
    def trace_table(self) -> TraceTable | None:
        """The rows of the trace, where the link has one."""
        return self._table

    def with_trace(self, path: Path, at_end: TraceEnd = "loop") -> "LinkParameters":
        """Return this link with a trace in place of its delay, loss and bit rate.

        Raises:
            ConfigError: the file cannot be used; names line and column.
        """
        table = read_trace(path)
        trace = TraceParameters(file=str(path), at_end=at_end)
        link = self.model_copy(update={"trace": trace})
        link._table = table  # noqa: SLF001  of its own class
        return link

    def with_outages(self, outages: list[tuple[float, ...]]) -> "LinkParameters":
        """Return this link with more outages by schedule, see `LossParameters`.

        Raises:
            ConfigError: one is not possible.
        """
        for entry in outages:
            if problem := _outage_problem(entry):
                raise ConfigError(f"Outage {list(entry)}: {problem}.")
        both = (*self.loss.outages, *outages)
        loss = self.loss.model_copy(update={"outages": both})
        return self.model_copy(update={"loss": loss})

    def with_distance(self, distance_m: float) -> "LinkParameters":
        """Return this link over another distance [m].

        Raises:
            ConfigError: its delay does not depend on distance.
        """
        if self.wave_speed_m_s == 0.0:
            raise ConfigError(
                f"The delay of link {self.name!r} does not depend on distance. Choose "
                "an acoustic link, or give it wave_speed_m_s in a TOML of your own."
            )
        propagation_ms = self.propagation_at_ms(distance_m)
        return self.model_copy(update={"propagation_ms": propagation_ms})

    def propagation_at_ms(self, distance_m: float) -> float:
        """Return the propagation over a distance [m] in ms, by `wave_speed_m_s`."""
        return 1e3 * distance_m / self.wave_speed_m_s

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
    path = find_asset("links", name)
    link = load_toml(path, LinkParameters)
    if link.trace is None:
        return link
    trace = path.parent / Path(link.trace.file).expanduser()
    return link.with_trace(trace, link.trace.at_end)
