"""All contacts of one step improved together: one damped Newton step.

In the terms of models/contact_solve, with the speeds u = J v + Zᵀ s and the impulses
λ(u) of the law at the step's end, wanted is s = Σ Z λ(u). While the λ_n in the friction
is held, -λ is the gradient of a convex function Φ(u), and s is where

    s²/2 + Φ(J v + Zᵀ s)   is least;   I + Σ Z (-dλ/du) Zᵀ   is its Hessian

(Castro et al. 2022, "An unconstrained convex formulation of compliant contact", with
their dissipation replaced by Hunt and Crossley's and λ_n held at its present value).
The length of the step is where the slope along it vanishes.
"""

import math

from models.contact_law import elastic_force
from models.contact_list import ContactData
from models.numerics import (
    FloatArray,
    called_kernel,
    cholesky_solve,
    inner_kernel,
)

__all__ = ["improve_together"]

_MOST_TRIALS = 12
_LEVEL = 0.1  # of the first slope, at which a step is long enough


@inner_kernel
def _impulses(
    law: FloatArray, period: float, depth: float, speed: FloatArray, held: float
) -> tuple[float, float, float, float, float, float]:
    """λ of the law at speeds of the step's end, -dλ_n/du_n, norm and scale of slip.

    With `held` at or above 0 the friction is that of this normal impulse.
    """
    force, slope = elastic_force(law[0], law[1], depth - period * speed[0])
    factor = max(0.0, 1.0 - law[2] * speed[0])
    normal = period * force * factor
    stiff = period * (period * slope * factor + law[2] * force)
    if not factor > 0.0:
        stiff = 0.0
    norm = math.sqrt(speed[1] * speed[1] + speed[2] * speed[2] + law[4] * law[4])
    scale = law[3] * (held if held >= 0.0 else normal) / norm
    return normal, -scale * speed[1], -scale * speed[2], stiff, norm, scale


@inner_kernel
def _slope(period: float, length: float, data: ContactData) -> float:
    """Slope of the function along the direction of search, at a length of the step."""
    total = 0.0
    for d in range(data.sum.size):
        step = data.direction[d]
        total += (data.sum[d] + length * step) * step
    for c in range(data.count[0]):
        along = data.along[c]
        speed = data.speed[c]
        for i in range(3):
            speed[i] += length * along[i]
        normal, first, second, _, _, _ = _impulses(
            data.law[c], period, data.depth[c], speed, data.impulse[c, 0]
        )
        for i in range(3):
            speed[i] -= length * along[i]
        total -= normal * along[0] + first * along[1] + second * along[2]
    return total


@called_kernel
def _assemble(period: float, share: float, data: ContactData) -> None:
    """Hessian, and minus the gradient as the direction; impulses of the law."""
    size = data.sum.size
    for d in range(size):
        data.direction[d] = -data.sum[d]
        for e in range(d):
            data.hessian[d, e] = 0.0
        data.hessian[d, d] = 1.0
    for c in range(data.count[0]):
        half = data.half[c]
        columns = data.columns[c]
        speed = data.speed[c]
        normal, _, _, _, _, _ = _impulses(
            data.law[c], period, data.depth[c], speed, -1.0
        )
        held = data.impulse[c, 0] + share * (normal - data.impulse[c, 0])
        data.impulse[c, 0] = held
        normal, first, second, stiff, norm, scale = _impulses(
            data.law[c], period, data.depth[c], speed, held
        )
        data.impulse[c, 1] = first
        data.impulse[c, 2] = second
        if not (stiff > 0.0 or scale > 0.0):
            continue
        x = speed[1] / norm
        y = speed[2] / norm
        g11 = scale * (1.0 - x * x)
        g12 = -scale * x * y
        g22 = scale * (1.0 - y * y)
        for k in range(data.packed[c]):
            a, b, e = half[0, k], half[1, k], half[2, k]
            d = columns[k]
            data.direction[d] += a * normal + b * first + e * second
            p = stiff * a
            q = g11 * b + g12 * e
            r = g12 * b + g22 * e
            for m in range(k + 1):
                data.hessian[d, columns[m]] += (
                    p * half[0, m] + q * half[1, m] + r * half[2, m]
                )


@inner_kernel
def _speeds(
    vector: FloatArray, contact: int, data: ContactData
) -> tuple[float, float, float]:
    """Zᵀ times a vector."""
    half = data.half[contact]
    x = y = z = 0.0
    for k in range(data.packed[contact]):
        value = vector[data.columns[contact, k]]
        x += half[0, k] * value
        y += half[1, k] * value
        z += half[2, k] * value
    return x, y, z


@called_kernel
def improve_together(period: float, share: float, data: ContactData) -> float:
    """Take one step, and the impulses of the law at the speeds that it leads to.

    Args:
        period: h [s].
        share: how far the λ_n held for the friction follows the present one, 0..1.
        data: packed contacts; gets s in `sum`, λ(u) in `impulse`, s - Σ Z λ(u) in
            `direction`.

    Returns:
        The greatest speed Zᵀ(s - Σ Z λ), divided by 1 m/s and the contact's own speed.
    """
    size = data.sum.size
    for c in range(data.count[0]):
        x, y, z = _speeds(data.sum, c, data)
        data.speed[c, 0] = data.free[c, 0] + x
        data.speed[c, 1] = data.free[c, 1] + y
        data.speed[c, 2] = data.free[c, 2] + z
    _assemble(period, share, data)
    if cholesky_solve(data.hessian, data.direction, size) == 0:
        for c in range(data.count[0]):
            data.along[c, 0], data.along[c, 1], data.along[c, 2] = _speeds(
                data.direction, c, data
            )
        start = _slope(period, 0.0, data)
        low = 0.0
        high = 1.0
        low_slope = start
        high_slope = _slope(period, 1.0, data)
        length = 1.0
        if high_slope > -_LEVEL * start:
            for _ in range(_MOST_TRIALS):
                length = low + (high - low) * max(
                    0.1, min(0.9, low_slope / (low_slope - high_slope))
                )
                slope = _slope(period, length, data)
                if abs(slope) <= -_LEVEL * start:
                    break
                if slope > 0.0:
                    high = length
                    high_slope = slope
                else:
                    low = length
                    low_slope = slope
        for d in range(size):
            data.sum[d] += length * data.direction[d]
        for c in range(data.count[0]):
            for i in range(3):
                data.speed[c, i] += length * data.along[c, i]
    for d in range(size):
        data.direction[d] = data.sum[d]
    for c in range(data.count[0]):
        normal, first, second, _, _, _ = _impulses(
            data.law[c], period, data.depth[c], data.speed[c], -1.0
        )
        data.impulse[c, 0] = normal
        data.impulse[c, 1] = first
        data.impulse[c, 2] = second
        for k in range(data.packed[c]):
            data.direction[data.columns[c, k]] -= (
                data.half[c, 0, k] * normal
                + data.half[c, 1, k] * first
                + data.half[c, 2, k] * second
            )
    most = 0.0
    for c in range(data.count[0]):
        speed = data.speed[c]
        fastest = max(abs(speed[0]), abs(speed[1]), abs(speed[2]))
        x, y, z = _speeds(data.direction, c, data)
        most = max(most, max(abs(x), abs(y), abs(z)) / (1.0 + fastest))
    return most
