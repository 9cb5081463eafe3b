"""The force of one contact: Hunt-Crossley along the normal, Coulomb across it.

With the penetration δ and its rate δ̇ (positive inwards), and the slip velocity w:

    F_n = k δ^p max(0, 1 + d δ̇)                 Hunt and Crossley 1975
    F_t = -μ F_n w / sqrt(|w|² + w_s²)          Coulomb, smooth through w = 0

F_n never pulls, and F_t lies inside the cone. The dissipation d is about 3/2 of (1 - e)
over the impact speed, e the coefficient of restitution, while that is near 1. A contact
that holds a tangential load of a fraction f of μ F_n creeps at w_s f / sqrt(1 - f²): at
half the limit 0.58 w_s, at 99 % of it 7 w_s. There is no static friction beyond that.

In a step of length h both are evaluated at its end: δ + h δ̇₁ and w₁. The impulses
λ = h F of one contact against its compliance W (velocity change by unit impulse) then
solve a scalar equation each: that of the normal is monotone and concave, and Newton's
method climbs it from one side without overshoot. As k δ^p is the slope of a convex
energy, and the damper and the friction oppose the velocities at the step's end, no step
of any length adds energy.
"""

import math
from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, inner_kernel, kernel

__all__ = [
    "DEFAULT_LAW",
    "ContactLaw",
    "contact_force",
    "elastic_force",
    "friction_impulse",
    "normal_impulse",
    "pack_law",
    "tangents",
]

_MOST_STEPS = 30
_SETTLED = 1e-12


class ContactLaw(NamedTuple):
    """Parameters of a contact; `pack_law` checks them."""

    stiffness: float = 2e4
    """k [N/m^p]."""
    exponent: float = 1.0
    """p, 1 to 3: 1 for a spring, 1.5 for round bodies (Hertz)."""
    dissipation: float = 0.5
    """d [s/m]."""
    friction: float = 0.5
    """μ."""
    slip_speed: float = 1e-3
    """w_s [m/s], at which friction has 0.71 of its limit."""


DEFAULT_LAW = ContactLaw()


def pack_law(law: ContactLaw) -> FloatArray:
    """Check a law and lay it out for kernels.

    Args:
        law: the parameters.

    Returns:
        (5,) k, p, d, μ, w_s.

    Raises:
        ValueError: a parameter outside its range.
    """
    row = np.array(law, dtype=np.float64)
    stiffness, exponent, dissipation, friction, slip_speed = row.tolist()
    faults = {
        f"stiffness is {stiffness} N/m^p; it must be above 0": not stiffness > 0.0,
        f"exponent is {exponent}; allowed are 1 to 3": not 1.0 <= exponent <= 3.0,
        f"dissipation is {dissipation} s/m; it must be 0 or above": dissipation < 0.0,
        f"friction is {friction}; it must be 0 or above": friction < 0.0,
        f"slip_speed is {slip_speed} m/s; it must be above 0": not slip_speed > 0.0,
        f"contact law is {row.tolist()}: it must be finite": not np.all(
            np.isfinite(row)
        ),
    }
    for message, wrong in faults.items():
        if wrong:
            raise ValueError(message)
    return row


@inner_kernel
def tangents(
    nx: float, ny: float, nz: float
) -> tuple[float, float, float, float, float, float]:
    """Two unit vectors across a unit vector (Duff et al. 2017)."""
    sign = math.copysign(1.0, nz)
    a = -1.0 / (sign + nz)
    b = nx * ny * a
    return (
        1.0 + sign * nx * nx * a,
        sign * b,
        -sign * nx,
        b,
        sign + ny * ny * a,
        -ny,
    )


@kernel
def elastic_force(
    stiffness: float, exponent: float, depth: float
) -> tuple[float, float]:
    """Elastic part k δ^p of the normal force, and its slope.

    Args:
        stiffness: k [N/m^p].
        exponent: p.
        depth: δ [m]; no force at 0 and below.

    Returns:
        Force [N] and its derivative by δ [N/m].
    """
    if not depth > 0.0:
        return 0.0, 0.0
    if exponent == 1.0:
        return stiffness * depth, stiffness
    if exponent == 1.5:
        slope = stiffness * math.sqrt(depth)
    else:
        slope = stiffness * depth ** (exponent - 1.0)
    return slope * depth, exponent * slope


@kernel
def contact_force(
    law: FloatArray, depth: float, normal_speed: float, slip_x: float, slip_y: float
) -> tuple[float, float, float]:
    """Force of the law at a state.

    Args:
        law: (5,) from `pack_law`.
        depth: δ [m].
        normal_speed: of separation, -δ̇ [m/s].
        slip_x: slip velocity along the first tangent [m/s].
        slip_y: along the second one [m/s].

    Returns:
        Normal force, 0 or above, and friction along the two tangents [N].
    """
    force, _ = elastic_force(law[0], law[1], depth)
    force *= max(0.0, 1.0 - law[2] * normal_speed)
    slip = math.sqrt(slip_x * slip_x + slip_y * slip_y + law[4] * law[4])
    drag = -law[3] * force / slip
    return force, drag * slip_x, drag * slip_y


@kernel
def normal_impulse(
    law: FloatArray, period: float, depth: float, speed: float, compliance: float
) -> float:
    """Normal impulse of one step, with the force taken at the step's end.

    Solves y = u + W h F(δ - h y, -y) for the separation speed y at the end.

    Args:
        law: (5,) from `pack_law`.
        period: h [s].
        depth: δ at the start of the step; negative for a gap [m].
        speed: separation speed u that there would be without this impulse [m/s].
        compliance: W, above 0 [1/kg].

    Returns:
        λ_n, 0 or above [N s].
    """
    y = speed
    for _ in range(_MOST_STEPS):
        force, slope = elastic_force(law[0], law[1], depth - period * y)
        factor = 1.0 - law[2] * y
        if not (force > 0.0 and factor > 0.0):
            break
        gain = compliance * period
        step = (gain * force * factor - (y - speed)) / (
            1.0 + gain * (period * slope * factor + law[2] * force)
        )
        y += step
        if not step > _SETTLED * abs(y):
            break
    return max(0.0, (y - speed) / compliance)


@kernel
def friction_impulse(
    law: FloatArray,
    normal: float,
    slip_x: float,
    slip_y: float,
    compliance_x: float,
    compliance_y: float,
) -> tuple[float, float]:
    """Friction impulses of one step, with the slip taken at its end.

    Along the principal axes of the tangential compliance W the impulses are
    -u_i/(τ + W_i), with τ from the secular equation

        Σ u_i²/(τ + W_i)² + w_s²/τ² = (μ λ_n)²

    whose root Newton's method on the inverse norms meets from below in a few steps, as
    in a trust region (Moré and Sorensen 1983).

    Args:
        law: (5,) from `pack_law`.
        normal: λ_n [N s].
        slip_x: slip u without these impulses along the first axis [m/s].
        slip_y: along the second one [m/s].
        compliance_x: W along the first axis, the greater one [1/kg].
        compliance_y: along the second one, 0 or above [1/kg].

    Returns:
        Impulses along the two axes [N s], of at most μ λ_n together.
    """
    most = law[3] * normal
    if not most > 0.0:
        return 0.0, 0.0
    limit = law[4]
    whole = math.sqrt(slip_x * slip_x + slip_y * slip_y + limit * limit)
    soft = max(limit / most, whole / most - compliance_x)
    for _ in range(_MOST_STEPS):
        x = slip_x / (soft + compliance_x)
        y = slip_y / (soft + compliance_y)
        z = limit / soft
        square = x * x + y * y + z * z
        norm = math.sqrt(square)
        slope = (
            x * x / (soft + compliance_x) + y * y / (soft + compliance_y) + z * z / soft
        )
        step = square / slope * (norm - most) / most
        soft += step
        if not step > _SETTLED * soft:
            break
    x = slip_x / (soft + compliance_x)
    y = slip_y / (soft + compliance_y)
    z = limit / soft
    scale = -most / math.sqrt(x * x + y * y + z * z)
    return scale * x, scale * y
