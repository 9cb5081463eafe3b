"""A whole robot as its TOML file gives it: the schema."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from app.config.bodies import (
    HullParameters,
    LegParameters,
    MantleParameters,
    SnakeParameters,
)
from app.config.limbs import LimbParameters
from app.config.loader import Parameters

__all__ = ["RobotParameters", "SafetyParameters"]


class WaterParameters(Parameters):
    """The fluid."""

    density_kg_m3: Annotated[float, Field(ge=900.0, le=1100.0)]
    gravity_m_s2: Annotated[float, Field(ge=0.0, le=20.0)]


class MaterialParameters(Parameters):
    """The elastomer of the limbs."""

    density_kg_m3: Annotated[float, Field(ge=500.0, le=5000.0)]
    young_modulus_kpa: Annotated[float, Field(ge=1.0, le=1e5)]
    poisson_ratio: Annotated[float, Field(ge=0.0, le=0.5)]
    axial_stiffness_ratio: Annotated[float, Field(ge=1.0, le=1000.0)]
    viscosity_pa_s: Annotated[float, Field(ge=0.0, le=1e5)]
    tensile_strength_mpa: Annotated[float, Field(gt=0.0, le=100.0)]


class HydrodynamicParameters(Parameters):
    """Coefficients of Renda 2018 eqs 11 and 13."""

    drag_normal: Annotated[float, Field(ge=0.0, le=10.0)]
    drag_tangent: Annotated[float, Field(ge=0.0, le=10.0)]
    added_mass: Annotated[float, Field(ge=0.0, le=10.0)]


class TendonParameters(Parameters):
    """The tendons of every segment and their winches."""

    per_segment: Annotated[int, Field(ge=3, le=12)]
    offset_ratio: Annotated[float, Field(gt=0.0, lt=1.0)]
    stiffness_n_per_m: Annotated[float, Field(ge=10.0, le=1e6)]
    damping_n_s_per_m: Annotated[float, Field(ge=0.0, le=1e5)]
    pretension_n: Annotated[float, Field(ge=0.0, le=100.0)]
    tension_limit_n: Annotated[float, Field(gt=0.0, le=1e4)]
    servo_time_constant_ms: Annotated[float, Field(ge=1.0, le=5000.0)]
    servo_speed_mm_s: Annotated[float, Field(ge=1.0, le=5000.0)]


class ValveParameters(Parameters):
    """The chambers of all limbs and the valves that fill them.

    A filled chamber is a strut between valve and limb: it pushes by its stiffness times
    what its length under no load is more than its own, up to the greatest push.
    """

    stiffness_n_per_m: Annotated[float, Field(ge=10.0, le=1e6)]
    damping_n_s_per_m: Annotated[float, Field(ge=0.0, le=1e5)]
    push_limit_n: Annotated[float, Field(gt=0.0, le=1e4)]
    fill_time_constant_ms: Annotated[float, Field(ge=1.0, le=5000.0)]
    fill_speed_mm_s: Annotated[float, Field(ge=1.0, le=5000.0)]


class LimitParameters(Parameters):
    """What a command may ask of any segment."""

    bend_deg: Annotated[float, Field(gt=0.0, le=350.0)]
    bend_rate_deg_s: Annotated[float, Field(gt=0.0, le=2000.0)]
    extension_rate_mm_s: Annotated[float, Field(gt=0.0, le=1000.0)]
    tip_speed_mm_s: Annotated[float, Field(gt=0.0, le=5000.0)]


class SafetyParameters(Parameters):
    """What the robot does on its own when commands stop, and how soon."""

    command_age_limit_ms: Annotated[float, Field(ge=50.0, le=60_000.0)]
    hold_after_ms: Annotated[float, Field(ge=50.0, le=60_000.0)]
    compliant_after_ms: Annotated[float, Field(ge=100.0, le=600_000.0)]
    slack_after_ms: Annotated[float, Field(ge=200.0, le=3_600_000.0)]
    estop_action: Literal["hold", "slack"]
    on_loss: Literal["relax", "hold", "vent", "home"] = "relax"
    """What silence of compliant_after_ms leads to: the limbs give way, hold on, are
    slack or vented, or go to the rest posture and hold it. After slack_after_ms all are
    slack or vented."""

    @model_validator(mode="after")
    def _ordered(self) -> "SafetyParameters":
        if not self.hold_after_ms < self.compliant_after_ms < self.slack_after_ms:
            raise ValueError(
                "hold_after_ms < compliant_after_ms < slack_after_ms must hold"
            )
        return self


class ChainParameters(Parameters):
    """The RRP chain that stands for a segment (Emet 2023 eqs 7-13)."""

    sections: Annotated[int, Field(ge=2, le=40)]


class RobotParameters(Parameters):
    """A whole robot as its TOML file gives it."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
    title: str
    source: str
    hull: HullParameters
    water: WaterParameters
    material: MaterialParameters
    hydrodynamics: HydrodynamicParameters
    tendons: TendonParameters | None = None
    valves: ValveParameters | None = None
    limits: LimitParameters
    safety: SafetyParameters
    chain: ChainParameters
    limbs: Annotated[tuple[LimbParameters, ...], Field(min_length=1, max_length=8)]
    legs: Annotated[tuple[LegParameters, ...], Field(max_length=12)] = ()
    snake: SnakeParameters | None = None
    mantle: MantleParameters | None = None

    @model_validator(mode="after")
    def _consistent(self) -> "RobotParameters":
        for kind, names in (
            ("limbs", [limb.name for limb in self.limbs]),
            ("legs", [leg.name for leg in self.legs]),
        ):
            if len(set(names)) != len(names):
                raise ValueError(f"two {kind} share a name: {names}")
        pulled = [limb.name for limb in self.limbs if limb.actuation == "tendons"]
        if pulled and self.tendons is None:
            raise ValueError(
                f"limb {pulled[0]!r} is pulled by tendons: add the table [tendons], or "
                "set the limb's actuation"
            )
        if self.tendons is not None and not pulled:
            raise ValueError("no limb is pulled by tendons: remove the table [tendons]")
        blown = any(limb.actuation == "chambers" for limb in self.limbs)
        if self.valves is not None and not blown:
            raise ValueError("no limb has chambers: remove the table [valves]")
        if (self.hull.base == "legs") != bool(self.legs):
            raise ValueError('hull.base = "legs" and the tables [[legs]] go together')
        self._check_snake()
        return self

    def _check_snake(self) -> None:
        if (self.hull.base == "chain") != (self.snake is not None):
            raise ValueError('hull.base = "chain" and the table [snake] go together')
        if self.snake is None:
            return
        bodies = [limb for limb in self.limbs if limb.name == self.snake.limb]
        if not bodies:
            raise ValueError(
                f"snake.limb = {self.snake.limb!r} is none of "
                f"{[limb.name for limb in self.limbs]}"
            )
        gaps = bodies[0].gap_mm
        if not gaps or min(gaps) <= 0.0 or gaps[0] != self.hull.length_mm:
            raise ValueError(
                f"gap_mm of limb {self.snake.limb!r} must give the length of every "
                "rigid module from tail to head, the first one hull.length_mm"
            )
        most = len(gaps) - 1
        for propeller in self.snake.propellers:
            if propeller.module > most:
                raise ValueError(
                    f"a propeller stands on module {propeller.module}; the modules "
                    f"are 0 (tail) to {most} (head)"
                )
