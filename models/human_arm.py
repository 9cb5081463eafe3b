"""The arm of the person who holds the handle: spring, damper and mass in series.

    F_h = k (x_ref - x) + b (v_ref - v),      the arm's mass moves with the handle

x is the handle, x_ref where the person wants it; one axis here, the three are alike.
The relaxed arm is one published fit of an arm that holds a handle (0.554 kg, 6.45
N s/m, 135 N/m; Scientific Reports 5:18004, Fig. 3); light and firm grips are ASSUMED.
A person who holds a force moves x_ref:

    dx_ref/dt = g (F* - F),      0 where |F* - F| < 10 % of |F*|,

with F the force of 0.15 s ago and g = 0.01 m/(N s). Left out: the coupling of the
axes, and that a person stiffens when the handle shakes.
"""

from typing import NamedTuple

from models.numerics import kernel

__all__ = [
    "FORCE_DEAD_ZONE",
    "FORCE_DELAY",
    "FORCE_GAIN",
    "GRIPS",
    "ArmGrip",
    "arm_force",
    "arm_reference_rate",
]

FORCE_GAIN = 0.01
"""[m/(N s)] of the reference to the error of a held force."""
FORCE_DELAY = 0.15
"""[s] from a force to its effect on the reference."""
FORCE_DEAD_ZONE = 0.1
"""Share of the wanted force below which an error is let be."""


class ArmGrip(NamedTuple):
    """How an arm holds the handle."""

    mass: float
    """That it adds to the handle [kg]."""
    damping: float
    """[N s/m]."""
    stiffness: float
    """[N/m]."""


GRIPS = {
    "relaxed": ArmGrip(0.55, 6.45, 135.0),
    "light": ArmGrip(0.1, 1.0, 10.0),
    "firm": ArmGrip(0.8, 15.0, 400.0),
}
"""The simulated arms by name."""


@kernel
def arm_force(
    damping: float,
    stiffness: float,
    reference: float,
    reference_velocity: float,
    position: float,
    velocity: float,
) -> float:
    """Return the arm's force on the handle [N], on one axis.

    Args:
        damping: of the arm [N s/m].
        stiffness: of the arm [N/m].
        reference: where the person wants the handle [m].
        reference_velocity: how fast that moves [m/s].
        position: of the handle [m].
        velocity: of the handle [m/s].
    """
    return stiffness * (reference - position) + damping * (
        reference_velocity - velocity
    )


@kernel
def arm_reference_rate(
    wanted: float, felt: float, force_gain: float, dead_zone: float
) -> float:
    """Return how fast a person moves the reference to hold a force [m/s].

    Args:
        wanted: force that the hand is to exert [N].
        felt: force that it exerted `FORCE_DELAY` ago [N].
        force_gain: [m/(N s)].
        dead_zone: share of the wanted force below which an error is let be.
    """
    error = wanted - felt
    if abs(error) < dead_zone * abs(wanted):
        return 0.0
    return force_gain * error
