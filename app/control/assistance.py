"""Blended assistance in the tick: the target is led to the aim as far as it may be.

The velocity that the operator asks for is that of the tip's target; what the blend adds
to it moves an absolute device's base along, so that the hand never snaps back.
"""

from app.control.coupling_data import CouplingData
from app.teleop.blending import blend_velocity
from models.numerics import FloatArray, kernel

__all__ = ["lead_target"]


@kernel
def lead_target(
    speed_limit: float,
    period: float,
    limb: int,
    data: CouplingData,
    target_out: FloatArray,
    offset_out: FloatArray,
) -> None:
    """Lead a target that the operator has just moved.

    Args:
        speed_limit: greatest tip speed [m/s].
        period: tick [s].
        limb: whose target it is.
        data: of the coupling: `before` is where the target was; its share is written.
        target_out: (3,) the target, hull frame [m].
        offset_out: (3,) of an absolute device's target [m].
    """
    if data.blend[0] <= 0.0 or data.aim_limb[0] != limb:
        return
    for i in range(3):
        data.asked[i] = (target_out[i] - data.before[i]) / period
    data.blend_share[0] = blend_velocity(
        speed_limit, data.blend[0], data.asked, data.before, data.aim, data.blended
    )
    if data.blend_share[0] <= 0.0:
        return
    for i in range(3):
        led = data.before[i] + period * data.blended[i]
        offset_out[i] += led - target_out[i]
        target_out[i] = led
