"""Parameters of a bus with one limblink board: a table [[buses]] of a rig's file."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from app.config.loader import Parameters
from app.drivers.board_codec import MOST_CHANNELS

__all__ = ["ATTEMPTS", "BoardActuator", "BoardParameters"]

ATTEMPTS = 2
"""Frames sent in one round before it counts as unanswered."""
_Millivolts = Annotated[int, Field(ge=0, le=10_000)]


class BoardActuator(Parameters):
    """One output of a board, in mV of its 0-10 V range."""

    name: Annotated[str, Field(min_length=1, max_length=40)]
    least_mv: _Millivolts = 0
    greatest_mv: _Millivolts = 10_000
    relax_mv: _Millivolts = 0
    trip_mv: Annotated[int, Field(ge=0, le=65_535)] = 0
    """Measured value above which the board vents this channel; 0: none."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.least_mv > self.greatest_mv:
            raise ValueError(
                f"least_mv {self.least_mv} lies above greatest_mv {self.greatest_mv}"
            )
        if self.relax_mv > self.greatest_mv:
            raise ValueError(
                f"relax_mv {self.relax_mv} lies above greatest_mv {self.greatest_mv}"
            )
        if 0 < self.trip_mv <= self.relax_mv:
            raise ValueError(
                f"trip_mv {self.trip_mv} must lie above relax_mv {self.relax_mv}, or "
                "be 0 for no trip"
            )
        return self


class BoardParameters(Parameters):
    """A bus with one board, as a table [[buses]] of a rig's TOML file holds it."""

    driver: Literal["board"]
    port: Annotated[str, Field(min_length=1)]
    baud: Annotated[int, Field(ge=9600, le=4_000_000)] = 115_200
    """Means nothing on native USB."""
    timeout_ms: Annotated[float, Field(ge=1.0, le=1000.0)] = 20.0
    """Longest wait for one answer."""
    watchdog_ms: Annotated[int, Field(ge=20, le=5000)] = 300
    """Silence after which the board vents."""
    start_s: Annotated[float, Field(ge=0.0, le=20.0)] = 4.0
    """How long a board may take to answer after its port was opened."""
    silent_s: Annotated[float, Field(ge=0.05, le=60.0)] = 1.0
    """Silence after which the board counts as gone."""
    actuators: Annotated[
        tuple[BoardActuator, ...], Field(min_length=1, max_length=MOST_CHANNELS)
    ]

    @model_validator(mode="after")
    def _watchdog_outlasts_a_round(self) -> Self:
        longest = ATTEMPTS * self.timeout_ms
        if self.watchdog_ms <= longest:
            raise ValueError(
                f"watchdog_ms {self.watchdog_ms} must lie above {ATTEMPTS} times "
                f"timeout_ms, {longest:g}: one lost answer would vent the robot"
            )
        return self
