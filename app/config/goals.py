"""A plan's TOML file: goals that a robot reaches by itself, one after the other.

    robot = "ursula"

    [[goals]]
    kind = "reach"
    limb = "palpation"
    at_mm = [300.0, 120.0, -500.0]

Places are of the limb's tip in the hull's frame. What a kind has no use for is left
out: only `press` has a direction (`along`), only `follow` has points on the way.
"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from app.config.limbs import Vector
from app.config.loader import Parameters, asset_names, find_asset, load_toml

__all__ = [
    "GoalKindName",
    "GoalParameters",
    "GoalPlanParameters",
    "goal_plan_names",
    "load_goal_plan",
]

GoalKindName = Literal["reach", "follow", "press", "grasp", "place", "stop"]


class GoalParameters(Parameters):
    """One goal; `force_n` is held by a press, and is the most that others bear."""

    kind: GoalKindName
    limb: str
    at_mm: Vector | None = None
    along: Vector | None = None
    via_mm: Annotated[tuple[Vector, ...], Field(max_length=7)] = ()
    speed_mm_s: Annotated[float, Field(ge=1.0, le=50.0)] = 50.0
    force_n: Annotated[float, Field(ge=0.1, le=5.0)] | None = None
    hold_s: Annotated[float, Field(ge=0.0, le=60.0)] = 1.0
    tolerance_mm: Annotated[float, Field(ge=1.0, le=25.0)] = 5.0

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> "GoalParameters":
        goes = self.kind not in ("press", "stop")
        for key, wanted in (
            ("at_mm", goes),
            ("along", self.kind == "press"),
            ("via_mm", self.kind == "follow"),
        ):
            if bool(getattr(self, key)) != wanted:
                verb = "needs" if wanted else "has no use for"
                raise ValueError(f"a goal to {self.kind} {verb} {key}")
        if self.along is not None and not any(self.along):
            raise ValueError("along is a direction: it cannot be (0, 0, 0)")
        return self


class GoalPlanParameters(Parameters):
    """A robot, and its goals in their order."""

    robot: str
    goals: Annotated[tuple[GoalParameters, ...], Field(min_length=1, max_length=100)]


def goal_plan_names() -> list[str]:
    """Names of the shipped plans."""
    return asset_names("goals")


def load_goal_plan(name: str) -> GoalPlanParameters:
    """Load a plan by its shipped name or path.

    Raises:
        ConfigError: there is none, or it is wrong; names file, line and key.
    """
    return load_toml(find_asset("goals", name), GoalPlanParameters)
