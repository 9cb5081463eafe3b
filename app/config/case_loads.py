"""What drives a simulated robot over time: the tables of a case's actuation."""

from itertools import pairwise
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from app.config.limbs import Name, Vector
from app.config.loader import Parameters

__all__ = [
    "Chambers",
    "InternalLoad",
    "MantlePulse",
    "PropellerThrust",
    "Schedule",
    "Stroke",
    "Tendon",
    "TipLoad",
    "TravellingMoment",
]

_Time = Annotated[float, Field(ge=0.0, le=3600.0)]
_Newton = Annotated[float, Field(ge=-1e4, le=1e4)]
_Tension = Annotated[float, Field(ge=0.0, le=1e4)]
_Pull = Annotated[float, Field(ge=-1000.0, le=1000.0)]
_Pressure = Annotated[float, Field(ge=-101.0, le=2000.0)]
_Lag = Annotated[float, Field(ge=0.0, le=60_000.0)]
_Angle = Annotated[float, Field(ge=-360.0, le=360.0)]
_Frequency = Annotated[float, Field(gt=0.0, le=50.0)]


class Schedule(Parameters):
    """Values at given times: the first before them, the last behind them.

    In between they are joined by straight lines, or kept up to the next time ("step").
    """

    timed: ClassVar[tuple[str, ...]] = ()

    time_s: Annotated[tuple[_Time, ...], Field(min_length=1, max_length=10_000)]
    between: Literal["line", "step"] = "line"

    @model_validator(mode="after")
    def _ordered(self) -> "Schedule":
        if any(b <= a for a, b in pairwise(self.time_s)):
            raise ValueError("time_s must grow from value to value")
        for name in self.timed:
            value = getattr(self, name)
            if value is not None and len(value) != len(self.time_s):
                raise ValueError(
                    f"{name} needs {len(self.time_s)} values, one for each time_s"
                )
        return self


class Tendon(Schedule):
    """One tendon along a limb: pulled with a tension, or taken in by a length.

    It runs at an azimuth of the section, which with `twist_deg` turns by so much from
    the base to where it is tied. `friction` is its coefficient in its guides.
    """

    timed: ClassVar[tuple[str, ...]] = ("tension_n", "pull_mm")

    limbs: tuple[Name, ...] = ()
    azimuth_deg: _Angle = 0.0
    twist_deg: Annotated[float, Field(ge=-3600.0, le=3600.0)] = 0.0
    offset_ratio: Annotated[float, Field(gt=0.0, lt=1.0)]
    friction: Annotated[float, Field(ge=0.0, le=2.0)] = 0.0
    segments: Annotated[int, Field(ge=1, le=16)] | None = None
    tension_n: tuple[_Tension, ...] | None = None
    pull_mm: tuple[_Pull, ...] | None = None
    stiffness_n_per_m: Annotated[float, Field(ge=1.0, le=1e6)] = 20_000.0
    damping_n_s_per_m: Annotated[float, Field(ge=0.0, le=1e5)] = 40.0

    @model_validator(mode="after")
    def _one_of_two(self) -> "Tendon":
        if (self.tension_n is None) == (self.pull_mm is None):
            raise ValueError("give tension_n or pull_mm, one of the two")
        return self


class TravellingMoment(Parameters):
    """An internal moment recruited from base to tip (Renda 2018 eqs 25 and 28).

    m (1 - X/l) up to l = L (t - start)/recruit, then nothing. `direction_deg` is where
    it bends the limb: 0 towards x of its base, 90 towards y.
    """

    limbs: tuple[Name, ...] = ()
    moment_mn_m: Annotated[float, Field(ge=0.0, le=1e6)]
    direction_deg: _Angle = 0.0
    start_s: _Time = 0.0
    recruit_s: Annotated[float, Field(gt=0.0, le=3600.0)]


class InternalLoad(Schedule):
    """A uniform bending moment and axial force in a segment, as of its chambers.

    `bending_n_m` are the moments towards x and y of the segment's start; with constant
    curvature they are the generalised forces of Δx and Δy, `axial_n` that of δℓ.
    """

    timed: ClassVar[tuple[str, ...]] = ("bending_n_m", "axial_n")

    limbs: tuple[Name, ...] = ()
    segment: Annotated[int, Field(ge=1, le=16)]
    bending_n_m: tuple[tuple[_Newton, _Newton], ...] | None = None
    axial_n: tuple[_Newton, ...] | None = None

    @model_validator(mode="after")
    def _something(self) -> "InternalLoad":
        if self.bending_n_m is None and self.axial_n is None:
            raise ValueError("give bending_n_m, axial_n or both")
        return self


class Chambers(Schedule):
    """Pressures over ambient in all chambers of a segment, a row for each time.

    `area_mm2` is the section of one chamber, on which its pressure pushes; a snake's
    file gives it. Without a key of the valves the pressure is as scheduled; with one it
    follows, from none at the start, as the valve of each chamber lets it, and the
    chamber's wall takes its share by hysteresis (models/valve).
    """

    timed: ClassVar[tuple[str, ...]] = ("pressure_kpa",)

    limbs: tuple[Name, ...] = ()
    segment: Annotated[int, Field(ge=1, le=16)]
    area_mm2: Annotated[float, Field(gt=0.0, le=1e6)] | None = None
    pressure_kpa: tuple[tuple[_Pressure, ...], ...]
    fill_ms: _Lag = 0.0
    vent_ms: _Lag = 0.0
    rate_kpa_s: Annotated[float, Field(gt=0.0, le=1e6)] | None = None
    supply_kpa: Annotated[float, Field(ge=0.0, le=2000.0)] | None = None
    vacuum_kpa: Annotated[float, Field(ge=-101.0, le=0.0)] | None = None
    hysteresis_kpa: tuple[Annotated[float, Field(gt=0.0, le=2000.0)], ...] = ()
    hysteresis_share: tuple[Annotated[float, Field(gt=0.0, lt=1.0)], ...] = ()

    @property
    def valved(self) -> bool:
        """Whether its pressures go through valves."""
        return any(
            (
                *(self.fill_ms, self.vent_ms, self.rate_kpa_s, self.hysteresis_kpa),
                self.supply_kpa is not None,
                self.vacuum_kpa is not None,
            )
        )

    @model_validator(mode="after")
    def _plays(self) -> "Chambers":
        widths, shares = self.hysteresis_kpa, self.hysteresis_share
        grow = all(b > a for a, b in pairwise(widths))
        if len(widths) != len(shares) or not grow or not sum(shares) < 1.0:
            raise ValueError(
                "hysteresis_kpa must grow from value to value, and hysteresis_share "
                "needs one value for each, together below 1"
            )
        return self


class TipLoad(Schedule):
    """A force and a moment at a limb's tip, in the hull frame."""

    timed: ClassVar[tuple[str, ...]] = ("force_n", "moment_n_m")

    limbs: tuple[Name, ...] = ()
    force_n: tuple[Vector, ...] | None = None
    moment_n_m: tuple[Vector, ...] | None = None

    @model_validator(mode="after")
    def _something(self) -> "TipLoad":
        if self.force_n is None and self.moment_n_m is None:
            raise ValueError("give force_n, moment_n_m or both")
        return self


class PropellerThrust(Schedule):
    """Thrust of one of a snake's propellers, counted from 1 in its file's order."""

    timed: ClassVar[tuple[str, ...]] = ("thrust_n",)

    propeller: Annotated[int, Field(ge=1, le=64)]
    thrust_n: tuple[_Newton, ...]


class MantlePulse(Parameters):
    """Pulsation of a mantle: a load that rises and falls once a period.

    "hoop" is a line tension along the circumference, `peak` in N/m (Renda 2018 sec.
    7.1); "cable" is the total radial force of the cables, `peak` in N (sec. 6.1). The
    frequency is the robot's `pulse_frequency_hz` where none is given.
    """

    load: Literal["hoop", "cable"]
    peak: Annotated[float, Field(ge=0.0, le=1e4)]
    frequency_hz: _Frequency | None = None


class Stroke(Parameters):
    """A straight to-and-fro of the base: amplitude sin(2π f t) along a direction.

    `stroke_mm` is the whole way from end to end, twice the amplitude of the sine. The
    stroke is taken up over `ramp_s`, so that no jump of the velocity rings in the limb.
    """

    direction: Vector
    stroke_mm: Annotated[float, Field(gt=0.0, le=10_000.0)]
    frequency_hz: _Frequency
    ramp_s: Annotated[float, Field(ge=0.0, le=60.0)] = 0.0

    @model_validator(mode="after")
    def _directed(self) -> "Stroke":
        if max(abs(value) for value in self.direction) < 1e-6:
            raise ValueError("direction must not be zero")
        return self
