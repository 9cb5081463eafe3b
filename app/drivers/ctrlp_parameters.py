"""Parameters of a bus with one Ctrl-P controller: a table [[buses]] of a rig's file."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from app.config.loader import Parameters

__all__ = ["CtrlPActuator", "CtrlPParameters"]

_Kilopascals = Annotated[float, Field(ge=-101.325, le=1000.0)]
_LARGEST_SHARE = 0.7
"""Of the line's rate that live data may take."""


class CtrlPActuator(Parameters):
    """One channel of a controller, gauge pressures."""

    name: Annotated[str, Field(min_length=1, max_length=40)]
    least_kpa: _Kilopascals = 0.0
    greatest_kpa: _Kilopascals
    relax_kpa: _Kilopascals = 0.0

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.least_kpa <= self.relax_kpa <= self.greatest_kpa:
            raise ValueError(
                f"relax_kpa {self.relax_kpa:g} must lie within least_kpa "
                f"{self.least_kpa:g} and greatest_kpa {self.greatest_kpa:g}"
            )
        return self


class CtrlPParameters(Parameters):
    """A bus with one Ctrl-P controller."""

    driver: Literal["ctrlp"]
    port: Annotated[str, Field(min_length=1)]
    baud: Annotated[int, Field(ge=9600, le=4_000_000)] = 115_200
    """Firmware before 2.0 has 2000000."""
    units: Literal["psi", "kpa"] = "psi"
    """What the lines carry, with two decimals: psi (any firmware) in steps of 0.07 kPa,
    kpa (2.1 and later) of 0.01 kPa."""
    timeout_ms: Annotated[float, Field(ge=1.0, le=1000.0)] = 50.0
    """Longest wait for the echo of one command."""
    data_period_ms: Annotated[int, Field(ge=5, le=1000)] = 50
    """Between two lots of live data: the rate at which pressures are read."""
    vent_above_kpa: Annotated[float, Field(gt=0.0, le=1000.0)] | None = None
    """Measured pressure above which the controller vents all channels; sets its maxp.
    Left out: what is stored in the controller stays."""
    start_s: Annotated[float, Field(ge=0.0, le=20.0)] = 4.0
    """How long a controller may take to answer after its port was opened."""
    silent_s: Annotated[float, Field(ge=0.05, le=60.0)] = 1.0
    """Silence after which the controller counts as gone."""
    actuators: Annotated[tuple[CtrlPActuator, ...], Field(min_length=1, max_length=16)]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        highest = max(actuator.greatest_kpa for actuator in self.actuators)
        if self.vent_above_kpa is not None and self.vent_above_kpa < highest:
            raise ValueError(
                f"vent_above_kpa {self.vent_above_kpa:g} lies below the greatest_kpa "
                f"{highest:g} of an actuator"
            )
        lot = 2 * (14 + 9 * len(self.actuators)) + 24
        share = lot / (self.data_period_ms / 1000.0) / (self.baud / 10.0)
        if share > _LARGEST_SHARE:
            least = lot / _LARGEST_SHARE / (self.baud / 10.0) * 1000.0
            raise ValueError(
                f"live data every {self.data_period_ms} ms would fill {share:.0%} of "
                f"the line at {self.baud} baud: give data_period_ms of {least:.0f} or "
                "more, or a higher baud"
            )
        return self
