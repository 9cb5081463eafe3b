"""Recursive least squares for the law of a contact, one sample at a time.

Linear (Kelvin-Voigt), with forgetting, in space:

    F = g . x + B dp/dt + c,   phi = [x, y, z, dp/dt, 0.1],   K = |g|, n = -g / K

F is the force along the normal, x the tip's place from any origin. On the straight line
of one degree of freedom this is F = K x + B dx/dt + c with the surface at -c / K. In
space the gradient also tells the normal, and it does so from where the tip went, not
from where the force points: friction, which leans the force by up to 30 degrees, does
not lean it. With the force's own direction, a tip that slides 5 mm while it presses
2000 N/m was believed a millimetre deeper than it was (measured).

Logarithmic (Hunt-Crossley in a single stage, Haddadi and Hashtrudi-Zaad 2012), valid
while |B/K dp/dt| stays below about 0.1:

    ln F = ln K + n ln p + (B/K) dp/dt,   phi = [1, dp/dt, ln p]

p grows into the surface. The linear law is fitted in centimetres: a covariance of 1e4
at first then means that nothing is known. In metres it would mean K = 0 +- 100 N/m, and
of a single press into 2000 N/m no more than 2 % would be believed. Across the force the
gradient is 0 in the first samples, and later as far as the tip's way tells nothing of
it: a tip that moves along one line does not tell a tilt from a stiffness. The trace of
the covariance is bounded, so that a long hold without news does not wind it up.
"""

import math
from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, IntArray, inner_kernel, kernel

__all__ = [
    "FIRST_LOGARITHM",
    "LEVEL",
    "SETTLING",
    "UNIT",
    "LinearFit",
    "allocate_linear",
    "fit_linear",
    "fit_logarithm",
    "forget_linear",
]

UNIT = 100.0
"""Units of length in a metre, in which the linear law is fitted."""

LEVEL = 0.1
"""What the constant c is a multiple of: its regressor, near the others' size."""

_FIRST = 1e4
"""Variances of the linear law while nothing is known, each in its unit squared,"""
_FIRST_ACROSS = 25.0
"""but of the gradient across the force, 500 N/m [(N/cm)^2]; later never beyond that,"""
_ACROSS_SHARE = 0.7
"""nor this share of the stiffness, a tilt of 35 degrees,"""
_LEAST_ACROSS = 0.04
"""where that is above 20 N/m [(N/cm)^2]."""
SETTLING = 50
"""Samples for which the gradient is along the force, as its direction settles."""

FIRST_LOGARITHM = (10.0, 100.0, 1.0)
"""Those of the logarithmic law."""

_MOST_TRACE = 1e6


class LinearFit(NamedTuple):
    """The linear law and how well it is known."""

    theta: FloatArray
    """(5,) g [N/cm], B [N s/cm], c / 0.1 [N]."""
    covariance: FloatArray
    """(5, 5)."""
    sample: FloatArray
    """(5,) phi; scratch."""
    gain: FloatArray
    """(5,) covariance times phi; scratch."""
    taken: IntArray
    """(1,) of the samples since nothing was known."""


def allocate_linear() -> LinearFit:
    """Make a law of which nothing is known, about a surface that faces upwards."""
    theta, sample, gain = np.zeros((3, 5))
    taken = np.zeros(1, dtype=np.int64)
    fit = LinearFit(theta, np.zeros((5, 5)), sample, gain, taken)
    forget_linear(np.array([0.0, 0.0, 1.0]), fit)
    return fit


@kernel
def forget_linear(normal: FloatArray, fit_out: LinearFit) -> None:
    """Say that nothing is known of the law but about where the normal points.

    Args:
        normal: (3,) unit.
        fit_out: its covariance is written; the law stays until samples change it.
    """
    P = fit_out.covariance
    fit_out.taken[0] = 0
    for i in range(5):
        for j in range(5):
            P[i, j] = _FIRST if i == j else 0.0
    for i in range(3):
        for j in range(3):
            along = normal[i] * normal[j]
            across = (1.0 if i == j else 0.0) - along
            P[i, j] = _FIRST * along + _FIRST_ACROSS * across


@kernel
def fit_linear(
    forgetting: float,
    normal: FloatArray,
    place: FloatArray,
    rate: float,
    force: float,
    fit_out: LinearFit,
) -> float:
    """Take one sample of force into the linear law.

    Args:
        forgetting: lambda, weight of the past at each sample.
        normal: (3,) unit, about the surface's, as the force tells it.
        place: (3,) of the tip, from any origin [m].
        rate: at which the tip goes in [m/s].
        force: along the normal [N].
        fit_out: updated.

    Returns:
        What the law before this sample left of the force [N].
    """
    P, gain, phi = fit_out.covariance, fit_out.gain, fit_out.sample
    fit_out.taken[0] += 1
    for i in range(3):
        phi[i] = UNIT * place[i]
    phi[3] = UNIT * rate
    phi[4] = LEVEL
    total = forgetting
    left = force
    for i in range(5):
        gain[i] = 0.0
        for j in range(5):
            gain[i] += P[i, j] * phi[j]
        total += phi[i] * gain[i]
        left -= phi[i] * fit_out.theta[i]
    trace = 0.0
    for i in range(5):
        fit_out.theta[i] += gain[i] * left / total
        for j in range(i, 5):
            P[i, j] = (P[i, j] - gain[i] * gain[j] / total) / forgetting
        trace += P[i, i]
    shrink = min(1.0, _MOST_TRACE / trace)
    for i in range(5):
        for j in range(i, 5):
            P[i, j] *= shrink
            P[j, i] = P[i, j]
    if fit_out.taken[0] <= SETTLING:
        along = 0.0
        for i in range(3):
            along += fit_out.theta[i] * normal[i]
        for i in range(3):
            fit_out.theta[i] = along * normal[i]
    _hold_across(normal, fit_out)
    return float(left)


@inner_kernel
def _hold_across(normal: FloatArray, fit_out: LinearFit) -> None:
    """Let the gradient across the force be known no worse than at first: 0, about.

    Measured against the stiffness: of 100 N/m pressed by a tip that drifts across it,
    500 N/m across would let noise turn the normal by 45 degrees.
    """
    P, along, across = fit_out.covariance, fit_out.gain, fit_out.sample
    stiffness = 0.0
    for i in range(3):
        stiffness += normal[i] * fit_out.theta[i]
    most = _FIRST_ACROSS
    if fit_out.taken[0] > SETTLING:
        most = min(most, max(_LEAST_ACROSS, (_ACROSS_SHARE * stiffness) ** 2))
    least = 0
    for i in range(1, 3):
        if abs(normal[i]) < abs(normal[least]):
            least = i
    size = math.sqrt(1.0 - normal[least] ** 2)
    for turn in range(2):
        # two unit vectors across: that of the axis farthest from n, and n x that one
        for i in range(3):
            second, third = (i + 1) % 3, (i + 2) % 3
            axis = (1.0 if i == least else 0.0) - normal[least] * normal[i]
            if turn == 1:
                axis = 0.0
                if third == least:
                    axis = normal[second]
                elif second == least:
                    axis = -normal[third]
            across[i] = axis / size
        variance = 0.0
        for i in range(5):
            along[i] = 0.0
            for j in range(3):
                along[i] += P[i, j] * across[j]
        gradient = 0.0
        for i in range(3):
            variance += across[i] * along[i]
            gradient += across[i] * fit_out.theta[i]
        if variance > most:
            share = (variance - most) / variance**2
            for i in range(5):
                fit_out.theta[i] -= share * along[i] * gradient
                for j in range(5):
                    P[i, j] -= share * along[i] * along[j]


@kernel
def fit_logarithm(
    forgetting: float,
    depth: float,
    rate: float,
    force: float,
    theta_out: FloatArray,
    covariance_out: FloatArray,
) -> float:
    """Take one sample of force into the logarithmic law.

    An error of F is 1/F times as large in ln F, so samples weigh by F squared.

    Args:
        forgetting: lambda.
        depth: p, above 0 [m].
        rate: [m/s].
        force: above 0 [N].
        theta_out: (3,) ln K, B/K [s/m], n; updated.
        covariance_out: (3, 3), updated.

    Returns:
        What the law before this sample left of the force [N].
    """
    left = _step(
        forgetting,
        1.0,
        rate,
        math.log(depth),
        math.log(force),
        force * force,
        theta_out,
        covariance_out,
    )
    return float(force * (1.0 - math.exp(-left)))


@inner_kernel
def _step(
    forgetting: float,
    a: float,
    b: float,
    c: float,
    target: float,
    weight: float,
    theta_out: FloatArray,
    covariance_out: FloatArray,
) -> float:
    """Take one sample of phi = [a, b, c]; return the error before it."""
    P = covariance_out
    p0 = P[0, 0] * a + P[0, 1] * b + P[0, 2] * c
    p1 = P[1, 0] * a + P[1, 1] * b + P[1, 2] * c
    p2 = P[2, 0] * a + P[2, 1] * b + P[2, 2] * c
    scale = 1.0 / (forgetting / weight + a * p0 + b * p1 + c * p2)
    left = target - (theta_out[0] * a + theta_out[1] * b + theta_out[2] * c)
    theta_out[0] += scale * p0 * left
    theta_out[1] += scale * p1 * left
    theta_out[2] += scale * p2 * left
    covariance_out[0, 0] = (P[0, 0] - scale * p0 * p0) / forgetting
    covariance_out[1, 1] = (P[1, 1] - scale * p1 * p1) / forgetting
    covariance_out[2, 2] = (P[2, 2] - scale * p2 * p2) / forgetting
    covariance_out[0, 1] = (P[0, 1] - scale * p0 * p1) / forgetting
    covariance_out[0, 2] = (P[0, 2] - scale * p0 * p2) / forgetting
    covariance_out[1, 2] = (P[1, 2] - scale * p1 * p2) / forgetting
    trace = covariance_out[0, 0] + covariance_out[1, 1] + covariance_out[2, 2]
    shrink = min(1.0, _MOST_TRACE / trace)
    for i in range(3):
        for j in range(i, 3):
            covariance_out[i, j] *= shrink
            covariance_out[j, i] = covariance_out[i, j]
    return float(left)
