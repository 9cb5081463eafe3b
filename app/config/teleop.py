"""The strategies' parameters: couplings, passivity, what is rendered to the hand."""

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from app.config.loader import Parameters
from models.numerics import FloatArray

__all__ = [
    "BlendParameters",
    "Diagonal",
    "ForceParameters",
    "MediatedParameters",
    "RenderParameters",
    "SideParameters",
    "StrategyName",
    "TeleopParameters",
    "TwoPortParameters",
    "WaveMode",
    "WaveParameters",
]

StrategyName = Literal[
    "position-position",
    "position-force",
    "waves",
    "two-port",
    "model-mediated",
    "predictive",
    "move-and-wait",
    "supervised",
]
WaveMode = Literal["null", "hold", "integral"]


def _spread(value: object) -> object:
    """Take one number for all three axes."""
    return (value,) * 3 if isinstance(value, int | float) else value


Diagonal = Annotated[tuple[float, float, float], BeforeValidator(_spread)]
"""Along x, y and z of the hull frame; one number stands for all three."""


class SideParameters(Parameters):
    """What is known of the handle, or of the tip, as a mass with drag."""

    mass_kg: Annotated[float, Field(gt=0.0, le=100.0)]
    damping_n_s_per_m: Annotated[float, Field(ge=0.0, le=1e4)]


class ForceParameters(Parameters):
    """Position-force: the share of the contact force that the hand is shown.

    With `auto` the share is 0.8 of the one below which the loop of a relaxed arm is
    stable whatever the delay on the contact given here, the stiffest that is to be
    touched; `share` at most.
    """

    share: Annotated[float, Field(ge=0.0, le=2.0)] = 0.25
    auto: bool = False
    contact_stiffness_n_per_m: Annotated[float, Field(gt=0.0, le=1e6)] = 2000.0
    contact_damping_n_s_per_m: Annotated[float, Field(ge=0.0, le=1e4)] = 5.0


class WaveParameters(Parameters):
    """Wave variables: a small impedance is light in free water, a large one is stiff.

    `mode` is what is made of missing waves: nothing (`null`), the last one (`hold`), or
    the mean since the one before (`integral`). `matched` adds damping of the wave
    impedance at the hand and takes it as the damping of the coupling, against echoes.
    """

    impedance_n_s_per_m: Annotated[float, Field(ge=0.1, le=1000.0)] = 12.0
    mode: WaveMode = "integral"
    matched: bool = False


class TwoPortParameters(Parameters):
    """Time-domain passivity of both ports.

    `textbook` sets initial energy, credit and drift compensation to 0.
    """

    textbook: bool = False
    initial_energy_mj: Annotated[float, Field(ge=0.0, le=10_000.0)] = 20.0
    credit: Annotated[float, Field(ge=0.0, le=1.0)] = 0.8
    drift_rate_per_s: Annotated[float, Field(ge=0.0, le=50.0)] = 2.0
    drift_speed_mm_s: Annotated[float, Field(ge=0.0, le=2000.0)] = 200.0
    damping_limit_n_s_per_m: Annotated[float, Field(ge=0.0, le=1000.0)] = 200.0


class MediatedParameters(Parameters):
    """Model-mediated: what the hand meets is a local surface; the robot follows.

    `naive` adopts every published model at once and is there to be compared with.
    """

    naive: bool = False
    feed_forward: bool = True
    force_limit_n: Annotated[float, Field(gt=0.0, le=100.0)] = 5.0


class RenderParameters(Parameters):
    """The last stage before the hand: cap, slew, guard.

    The guard watches the energy that the rendered force takes from the hand, never
    believes to have more of it than `guard_reserve_mj`, and damps by at most
    `guard_damping_n_s_per_m` once it has given more than that. A force that was shown
    when the strategy changed fades with `fade_s`.
    """

    force_limit_n: Annotated[float, Field(gt=0.0, le=100.0)] = 3.3
    slew_n_per_s: Annotated[float, Field(ge=1.0, le=1e6)] = 1000.0
    guard: bool = True
    guard_damping_n_s_per_m: Annotated[float, Field(ge=0.0, le=20.0)] = 20.0
    guard_reserve_mj: Annotated[float, Field(ge=0.0, le=1e6)] = 500.0
    fade_s: Annotated[float, Field(ge=0.01, le=10.0)] = 0.3
    force_scale: Annotated[float, Field(gt=0.0, le=100.0)] = 1.0
    motion_scale: Annotated[float, Field(gt=0.0, le=100.0)] = 2.5


class BlendParameters(Parameters):
    """Blended assistance: the greatest share of a tip's velocity that leads to a place.

    With a share of 0 there is none. Without a place, in the hull's frame, it waits for
    one that is chosen on the console.
    """

    share: Annotated[float, Field(ge=0.0, le=0.8)] = 0.0
    limb: Annotated[int, Field(ge=0, le=7)] = 0
    aim_mm: tuple[float, float, float] | None = None

    @property
    def aim(self) -> FloatArray:
        """(3,) where it leads [m]; NaN = nowhere."""
        aim_mm = (math.nan,) * 3 if self.aim_mm is None else self.aim_mm
        return 1e-3 * np.array(aim_mm)


class TeleopParameters(Parameters):
    """All that a session's strategies take; the defaults suit a soft limb's tip."""

    strategy: StrategyName = "model-mediated"
    stiffness_n_per_m: Diagonal = (200.0, 200.0, 200.0)
    damping_n_s_per_m: Diagonal = (8.0, 8.0, 8.0)
    handle: SideParameters = SideParameters(mass_kg=0.3, damping_n_s_per_m=2.0)
    tip: SideParameters = SideParameters(mass_kg=0.4, damping_n_s_per_m=4.0)
    command_speed_mm_s: Annotated[float, Field(gt=0.0, le=5000.0)] = 50.0
    force: ForceParameters = ForceParameters()
    waves: WaveParameters = WaveParameters()
    two_port: TwoPortParameters = TwoPortParameters()
    mediated: MediatedParameters = MediatedParameters()
    render: RenderParameters = RenderParameters()
    blend: BlendParameters = BlendParameters()

    @model_validator(mode="after")
    def _ranges(self) -> "TeleopParameters":
        for name, low, high in (
            ("stiffness_n_per_m", 1.0, 1e5),
            ("damping_n_s_per_m", 0.0, 1e4),
        ):
            for value in getattr(self, name):
                if not low <= value <= high:
                    raise ValueError(
                        f"{name} holds {value:g}: each must be {low:g} to {high:g}; "
                        "write one number for all axes, or three for x, y and z"
                    )
        return self
