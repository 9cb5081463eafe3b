"""How a rendered surface follows what the robot reports without pushing the hand.

With the penetration p of the hand:

1. the first surface never appears inside the hand: it is moved out to it;
2. at p = 0 stiffness, damping, exponent and shape are adopted at once;
3. stiffness up: the force is kept, so p shrinks and the stored energy falls;
4. stiffness down: the penetration is kept, so force and stored energy fall;
5. the surface retreats slowly, and advances at p = 0 only, never into the hand.

In contact stiffness moves at most 2000 N/m, and the surface 50 mm, in a second. None
raises the energy that is stored, so none injects any. Rules 3 and 4 are after Mitra and
Niemeyer 2008. Ours: 6. in contact the normal turns about the hand, p kept, at 1 rad/s;
7. a surface that is gone retreats by rule 5 and is forgotten at p = 0; 8. an exponent
is adopted at p = 0, and until then the stiffness goes to what makes the new law's force
at the penetration where the report came.
"""

import numpy as np

from models.environment import LocalSurface, steepest_slope, surface_distance
from models.environment_law import elastic_depth, elastic_force
from models.environment_report import PLANE, SurfaceStatus
from models.numerics import FloatArray, inner_kernel, kernel

__all__ = ["engage_surface", "update_surface"]

_STIFFNESS_SLEW = 2000.0
_RETREAT = 0.05
_TURN = 1.0
_SHORTEST = 1e-9
_LEAST_DEPTH = 5e-4
_GONE = int(SurfaceStatus.GONE)


@kernel
def update_surface(
    hand: FloatArray,
    surface_out: LocalSurface,
) -> float:
    """Move the rendered surface by one period towards the newest report.

    Args:
        hand: (3,) the hand's proxy now [m].
        surface_out: the surface, advanced in place. `surface_force` after it tells the
            force; by the rules the update never raises the energy that is stored.

    Returns:
        Penetration of the hand after the update [m], 0 outside.
    """
    heard = surface_out.heard
    if heard.number[0] == 0:
        return 0.0
    came = heard.number[0] != surface_out.taken[0]
    surface_out.taken[0] = heard.number[0]
    gone = heard.status[0] == _GONE or not heard.stiffness[0] > 0.0
    if surface_out.naive[0] == 1:
        if came:
            _adopt(surface_out)
        surface_out.known[0] = 0 if gone else 1
        return max(0.0, -_signed(hand, surface_out))
    depth = -_signed(hand, surface_out) if surface_out.known[0] == 1 else 0.0
    if not depth > 0.0:
        surface_out.known[0] = 0 if gone else 1
        if not gone:
            _adopt(surface_out)
            _move_out(hand, surface_out)
        return 0.0
    if came and not gone:
        _take_aim(depth, surface_out)
    slowest = depth - _RETREAT * surface_out.period[0]
    depth = min(depth, max(slowest, _reported_depth(hand, gone, surface_out), 0.0))
    depth = _stiffen(depth, surface_out)
    _place(hand, depth, surface_out)
    return depth


@kernel
def engage_surface(
    hand: FloatArray, shown: FloatArray, surface_out: LocalSurface
) -> None:
    """Let a known surface begin with the force that the hand is shown already.

    Args:
        hand: (3,) the hand's proxy [m].
        shown: (3,) force that the hand pushes against now [N].
        surface_out: the surface: where the hand is in it, it is moved out until its
            elastic force is that part of `shown` which points into it, or none.
    """
    if surface_out.known[0] == 0:
        return
    depth = -_signed(hand, surface_out)
    if not depth > 0.0:
        return
    pressed = 0.0
    for i in range(3):
        pressed -= shown[i] * surface_out.normal[i]
    allowed = elastic_depth(
        surface_out.stiffness[0],
        surface_out.exponent[0],
        steepest_slope(surface_out),
        max(pressed, 0.0),
    )
    _place(hand, min(depth, allowed), surface_out)


@inner_kernel
def _signed(hand: FloatArray, surface_out: LocalSurface) -> float:
    """Distance of the hand to the rendered surface [m]; a sphere's normal is set."""
    if surface_out.kind[0] == PLANE:
        distance = 0.0
        for i in range(3):
            distance += surface_out.normal[i] * (hand[i] - surface_out.point[i])
        return distance
    return surface_distance(surface_out, hand, surface_out.normal)


@inner_kernel
def _adopt(surface_out: LocalSurface) -> None:
    """Take over everything that the report says."""
    heard = surface_out.heard
    surface_out.kind[0] = heard.kind[0]
    for i in range(3):
        surface_out.point[i] = heard.point[i]
        surface_out.normal[i] = heard.normal[i]
    surface_out.radius[0] = heard.radius[0]
    surface_out.stiffness[0] = heard.stiffness[0]
    surface_out.damping[0] = heard.damping[0]
    surface_out.exponent[0] = heard.exponent[0]
    surface_out.aim[0] = heard.stiffness[0]


@inner_kernel
def _move_out(hand: FloatArray, surface_out: LocalSurface) -> None:
    """Move the surface along its normal until the hand just touches it."""
    distance = _signed(hand, surface_out)
    if distance < 0.0:
        for i in range(3):
            surface_out.point[i] += distance * surface_out.normal[i]


@inner_kernel
def _take_aim(depth: float, surface_out: LocalSurface) -> None:
    """Say where the stiffness goes, in the units of the present exponent."""
    heard = surface_out.heard
    other = heard.exponent[0] - surface_out.exponent[0]
    surface_out.aim[0] = heard.stiffness[0] * max(depth, _LEAST_DEPTH) ** other


@inner_kernel
def _reported_depth(hand: FloatArray, gone: bool, surface_out: LocalSurface) -> float:
    """Penetration into what is reported [m]; the normal turns towards its normal."""
    if gone:
        return 0.0
    heard = surface_out.heard
    if heard.kind[0] == PLANE:
        outside = 0.0
        for i in range(3):
            outside += heard.normal[i] * (hand[i] - heard.point[i])
        _turn(heard.normal[0], heard.normal[1], heard.normal[2], surface_out)
        return -outside
    x = hand[0] - heard.point[0]
    y = hand[1] - heard.point[1]
    z = hand[2] - heard.point[2]
    size = np.sqrt(x * x + y * y + z * z)
    if size > _SHORTEST:
        _turn(x / size, y / size, z / size, surface_out)
    return float(heard.radius[0] - size)


@inner_kernel
def _turn(x: float, y: float, z: float, surface_out: LocalSurface) -> None:
    """Turn the normal towards a unit vector by at most one period's angle."""
    normal = surface_out.normal
    cosine = x * normal[0] + y * normal[1] + z * normal[2]
    ax = x - cosine * normal[0]
    ay = y - cosine * normal[1]
    az = z - cosine * normal[2]
    sine = np.sqrt(ax * ax + ay * ay + az * az)
    if sine < _SHORTEST:
        return
    angle = min(np.arctan2(sine, cosine), _TURN * surface_out.period[0])
    along = np.cos(angle)
    across = np.sin(angle) / sine
    surface_out.normal[0] = along * normal[0] + across * ax
    surface_out.normal[1] = along * normal[1] + across * ay
    surface_out.normal[2] = along * normal[2] + across * az
    size = np.sqrt(
        surface_out.normal[0] ** 2
        + surface_out.normal[1] ** 2
        + surface_out.normal[2] ** 2
    )
    for i in range(3):
        surface_out.normal[i] /= size


@inner_kernel
def _stiffen(depth: float, surface_out: LocalSurface) -> float:
    """Move the stiffness towards its aim; return the new penetration [m]."""
    stiffness = surface_out.stiffness[0]
    change = surface_out.aim[0] - stiffness
    if change == 0.0 or not depth > 0.0:
        return depth
    exponent = surface_out.exponent[0]
    steepest = steepest_slope(surface_out)
    force = elastic_force(stiffness, exponent, steepest, depth)
    # the slew is of force over depth, whatever the exponent
    most = _STIFFNESS_SLEW * surface_out.period[0] * stiffness * depth / force
    surface_out.stiffness[0] = stiffness + min(max(change, -most), most)
    if change < 0.0:
        return depth
    return elastic_depth(surface_out.stiffness[0], exponent, steepest, force)


@inner_kernel
def _place(hand: FloatArray, depth: float, surface_out: LocalSurface) -> None:
    """Put the surface where the hand penetrates it by so much along the normal."""
    reach = depth
    if surface_out.kind[0] != PLANE:
        reach = depth - surface_out.radius[0]
    for i in range(3):
        surface_out.point[i] = hand[i] + reach * surface_out.normal[i]
