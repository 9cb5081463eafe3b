"""Inertia of all that hangs on an element, about the root's origin: 21 numbers.

J xx xy xz yy yz zz, then C row by row, then A xx xy xz yy yz zz, for the momentum
angular = J ω + C v, linear = Cᵀ ω + A v of a twist (ω, v). Inertias of parts add up;
added mass makes A other than a mass times the identity.
"""

from models.numerics import FloatArray, inner_kernel

__all__ = ["add_inertia", "apply_inertia"]


@inner_kernel
def apply_inertia(
    inertia: FloatArray,
    x: float,
    y: float,
    z: float,
    p: float,
    q: float,
    r: float,
) -> tuple[float, float, float, float, float, float]:
    """Momentum, angular first, of a composite inertia (21,) with a twist."""
    return (
        inertia[0] * x
        + inertia[1] * y
        + inertia[2] * z
        + inertia[6] * p
        + inertia[7] * q
        + inertia[8] * r,
        inertia[1] * x
        + inertia[3] * y
        + inertia[4] * z
        + inertia[9] * p
        + inertia[10] * q
        + inertia[11] * r,
        inertia[2] * x
        + inertia[4] * y
        + inertia[5] * z
        + inertia[12] * p
        + inertia[13] * q
        + inertia[14] * r,
        inertia[6] * x
        + inertia[9] * y
        + inertia[12] * z
        + inertia[15] * p
        + inertia[16] * q
        + inertia[17] * r,
        inertia[7] * x
        + inertia[10] * y
        + inertia[13] * z
        + inertia[16] * p
        + inertia[18] * q
        + inertia[19] * r,
        inertia[8] * x
        + inertia[11] * y
        + inertia[14] * z
        + inertia[17] * p
        + inertia[19] * q
        + inertia[20] * r,
    )


@inner_kernel
def add_inertia(
    rotation: FloatArray,
    x: float,
    y: float,
    z: float,
    ix: float,
    iy: float,
    iz: float,
    mx: float,
    my: float,
    mz: float,
    inertia_out: FloatArray,
) -> None:
    """Add a point's inertia, diagonal in its own axes, about the root's origin."""
    a00 = a01 = a02 = a11 = a12 = a22 = 0.0
    for i in range(3):
        a = rotation[0, i]
        b = rotation[1, i]
        c = rotation[2, i]
        m = mx if i == 0 else (my if i == 1 else mz)
        moment = ix if i == 0 else (iy if i == 1 else iz)
        a00 += m * a * a
        a01 += m * a * b
        a02 += m * a * c
        a11 += m * b * b
        a12 += m * b * c
        a22 += m * c * c
        inertia_out[0] += moment * a * a
        inertia_out[1] += moment * a * b
        inertia_out[2] += moment * a * c
        inertia_out[3] += moment * b * b
        inertia_out[4] += moment * b * c
        inertia_out[5] += moment * c * c
    # C = p~ A, J += -p~ A p~ = p~ (p~ A)ᵀ
    c00 = y * a02 - z * a01
    c01 = y * a12 - z * a11
    c02 = y * a22 - z * a12
    c10 = z * a00 - x * a02
    c11 = z * a01 - x * a12
    c12 = z * a02 - x * a22
    c20 = x * a01 - y * a00
    c21 = x * a11 - y * a01
    c22 = x * a12 - y * a02
    inertia_out[0] += y * c02 - z * c01
    inertia_out[1] += z * c00 - x * c02
    inertia_out[2] += x * c01 - y * c00
    inertia_out[3] += z * c10 - x * c12
    inertia_out[4] += x * c11 - y * c10
    inertia_out[5] += x * c21 - y * c20
    inertia_out[6] += c00
    inertia_out[7] += c01
    inertia_out[8] += c02
    inertia_out[9] += c10
    inertia_out[10] += c11
    inertia_out[11] += c12
    inertia_out[12] += c20
    inertia_out[13] += c21
    inertia_out[14] += c22
    inertia_out[15] += a00
    inertia_out[16] += a01
    inertia_out[17] += a02
    inertia_out[18] += a11
    inertia_out[19] += a12
    inertia_out[20] += a22
