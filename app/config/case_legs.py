"""What a robot on legs does in a case: it stands, walks, or moves its body."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from app.config.limbs import Vector
from app.config.loader import Parameters

__all__ = ["LegsCase", "RiseCase", "WalkCase"]

_Time = Annotated[float, Field(ge=0.0, le=3600.0)]
_Angle = Annotated[float, Field(ge=-360.0, le=360.0)]


class WalkCase(Parameters):
    """A static gait (Liu 2020), from the stance of the robot's file.

    `stride_mm` is the way of the body while a foot stands; direction 0 is to the bow,
    90 to port. The walk is brought up to speed over `ramp_s`.
    """

    gait: Literal["tripod", "ripple", "wave"] = "ripple"
    speed_mm_s: Annotated[float, Field(gt=0.0, le=1000.0)]
    stride_mm: Annotated[float, Field(gt=0.0, le=1000.0)] = 100.0
    elevation_mm: Annotated[float, Field(ge=0.0, le=500.0)] = 80.0
    direction_deg: _Angle = 0.0
    turn_deg: _Angle = 0.0
    start_s: _Time = 1.0
    ramp_s: _Time = 1.0


class RiseCase(Parameters):
    """A motion of the body over its standing feet, from one place to another."""

    from_mm: Vector = (0.0, 0.0, 0.0)
    to_mm: Vector = (0.0, 0.0, 0.0)
    from_tilt_deg: Vector = (0.0, 0.0, 0.0)
    to_tilt_deg: Vector = (0.0, 0.0, 0.0)
    start_s: _Time = 1.0
    end_s: _Time

    @model_validator(mode="after")
    def _forward(self) -> "RiseCase":
        if not self.end_s > self.start_s:
            raise ValueError("a rise needs an end_s behind its start_s")
        return self


class LegsCase(Parameters):
    """Legs of a floating base; with neither table the robot stands."""

    walk: WalkCase | None = None
    rise: RiseCase | None = None
