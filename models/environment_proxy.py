"""Where the robot is to be while the hand is at the rendered surface.

The rendered surface may lie elsewhere than the reported one (by the rules of
`models.environment_update`), and be softer: to be passive, or as the device is too
weak. The robot must not press harder for that than the hand does. So its proxy is
placed by the reported surface: as deep in it as the elastic force that is shown takes
it there, and on it while the hand is inside the reported surface and feels nothing.
Else the proxy is the hand. All ours.

The gap between the two surfaces is taken up at 50 mm/s where it opens, so that the
command does not jump with a report, and ten times as fast where it closes.
"""

import numpy as np

from models.environment import LocalSurface, steepest_slope, surface_distance
from models.environment_law import elastic_force
from models.environment_report import SurfaceStatus, report_depth
from models.numerics import FloatArray, kernel

__all__ = ["place_proxy"]

_OPENING = 0.05
_CLOSING = 0.5
_GONE = int(SurfaceStatus.GONE)


@kernel
def place_proxy(
    hand: FloatArray,
    velocity: FloatArray,
    most: float,
    surface_out: LocalSurface,
    velocity_out: FloatArray,
    position_out: FloatArray,
) -> None:
    """Place the robot's proxy for one tick.

    Args:
        hand: (3,) [m].
        velocity: (3,) of the hand [m/s].
        most: greatest force that the hand can be shown [N].
        surface_out: the surface, after `update_surface`; its gap is advanced in place.
        velocity_out: (3,) of the proxy [m/s].
        position_out: (3,) of the proxy [m].
    """
    depth = 0.0
    inside = 0.0
    for i in range(3):
        velocity_out[i] = surface_out.normal[i]
    if surface_out.known[0] == 1:
        depth = max(0.0, -surface_distance(surface_out, hand, velocity_out))
        if surface_out.heard.status[0] != _GONE:
            inside = report_depth(surface_out.heard, hand)
    touching = depth > 0.0 or inside > 0.0
    reported = _reported_depth(surface_out, depth, most) if depth > 0.0 else 0.0
    reports = touching and surface_out.heard.status[0] != _GONE
    _take_up(inside - depth if reports else 0.0, surface_out)
    lifted = surface_out.gap[0] + depth - reported
    share = 1.0
    if touching:
        share = reported / depth if depth > 0.0 else 0.0
    rate = 0.0
    for i in range(3):
        rate += velocity_out[i] * velocity[i]
    for i in range(3):
        out = velocity_out[i]
        position_out[i] = hand[i] + lifted * out
        velocity_out[i] = velocity[i] - (1.0 - share) * rate * out


@kernel
def _take_up(wanted: float, surface_out: LocalSurface) -> None:
    """Let the gap go towards the real one."""
    gap = surface_out.gap[0]
    speed = _CLOSING if abs(wanted) < abs(gap) else _OPENING
    step = speed * surface_out.period[0]
    surface_out.gap[0] = gap + min(max(wanted - gap, -step), step)


@kernel
def _reported_depth(surface: LocalSurface, depth: float, most: float) -> float:
    """Depth at which the surface, unbounded, makes the elastic force shown [m]."""
    stiffness = surface.stiffness[0]
    exponent = surface.exponent[0]
    shown = elastic_force(stiffness, exponent, steepest_slope(surface), depth)
    shown = min(shown, most)
    return float(np.power(shown / stiffness, 1.0 / exponent))
