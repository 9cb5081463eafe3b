"""Recursive least squares for the law of a contact, one sample at a time.

Linear (Kelvin-Voigt), with forgetting:

    F = K x + B dx/dt + c,   phi = [x, dx/dt, 0.1],   the surface at x_w = -c / K

Logarithmic (Hunt-Crossley in a single stage, Haddadi and Hashtrudi-Zaad 2012), valid
while |B/K dp/dt| stays below about 0.1:

    ln F = ln K + n ln p + (B/K) dp/dt,   phi = [1, dp/dt, ln p]

x and p grow into the surface. The linear law is fitted in centimetres: a covariance of
1e4 at first then means that nothing is known. In metres it would mean K = 0 +- 100 N/m,
and of a single press into 2000 N/m no more than 2 % would be believed. The trace of the
covariance is bounded, so that a long hold without news does not wind it up.
"""

import math

from models.numerics import FloatArray, inner_kernel, kernel

__all__ = [
    "FIRST_LINEAR",
    "FIRST_LOGARITHM",
    "LEVEL",
    "UNIT",
    "fit_linear",
    "fit_logarithm",
]

UNIT = 100.0
"""Units of length in a metre, in which the linear law is fitted."""

LEVEL = 0.1
"""What the constant c is a multiple of: its regressor, near the others' size."""

FIRST_LINEAR = (1e4, 1e4, 1e4)
"""Variances of the linear law while nothing is known, each in its unit squared."""
FIRST_LOGARITHM = (10.0, 100.0, 1.0)
"""Those of the logarithmic law."""

_MOST_TRACE = 1e6


@kernel
def fit_linear(
    forgetting: float,
    depth: float,
    rate: float,
    force: float,
    theta_out: FloatArray,
    covariance_out: FloatArray,
) -> float:
    """Take one sample of force into the linear law.

    Args:
        forgetting: lambda, weight of the past at each sample.
        depth: x along the inward normal, from any origin [m].
        rate: [m/s].
        force: along the outward normal [N].
        theta_out: (3,) K [N/cm], B [N s/cm], c / 0.1 [N]; updated.
        covariance_out: (3, 3), updated.

    Returns:
        What the law before this sample left of the force [N].
    """
    return _step(
        forgetting,
        UNIT * depth,
        UNIT * rate,
        LEVEL,
        force,
        1.0,
        theta_out,
        covariance_out,
    )


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
