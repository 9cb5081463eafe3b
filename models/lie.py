"""Rotations SO(3) and rigid motions SE(3): exp, log, adjoints and tangents as kernels.

Twists are angular first: (ω, v) or a rotation vector and a translation (w, ρ). Poses
are homogeneous 4x4 matrices. With u = |w|² and the entire functions a, b, c of
models/arc (Rodrigues):

    exp(ŵ) = cos|w| I + b ŵ + a w wᵀ      left tangent  J(w) = b I + a ŵ + c w wᵀ

The tangent of SE(3) is that of SO(3) at w + ε ρ, with ε² = 0: its lower left block is
the derivative of J along ρ. The same holds for the inverse. The right tangent at x is
the left one at -x. All are smooth through 0; the inverse is valid for |w| < 2π.

`rotation_log` goes through the unit quaternion whose greatest component is computed
first, so it loses no digits next to π (a trace or an antisymmetric part alone would
lose half of them). At π itself the two axes ±w are the same rotation, and the one with
its greatest component positive is given.

Matrices taken as rotations must be orthonormal.
Sources: Renda 2018 secs 2-3 (Ad, ad); Murray, Li and Sastry 1994.
"""

import numpy as np

from models.arc import arc_coefficients
from models.numerics import FloatArray, kernel

__all__ = [
    "adjoint",
    "coadjoint",
    "left_tangent",
    "left_tangent_inverse",
    "pose_exp",
    "pose_inverse",
    "pose_log",
    "pose_product",
    "right_tangent",
    "right_tangent_inverse",
    "rotation_exp",
    "rotation_log",
    "rotation_tangent",
    "rotation_tangent_inverse",
    "transform_twist",
    "transform_twist_back",
    "twist_adjoint",
]

_SERIES_BELOW = 1.0  # [rad2]: 12 terms leave 40⁻¹² of the first
_INVERSE_SERIES = (  # |B_2k|/(2k)!, k = 1..12, B the Bernoulli numbers
    8.333333333333333e-02,
    1.388888888888889e-03,
    3.306878306878307e-05,
    8.267195767195768e-07,
    2.08767569878681e-08,
    5.284190138687493e-10,
    1.3382536530684679e-11,
    3.3896802963225827e-13,
    8.586062056277845e-15,
    2.174868698558062e-16,
    5.5090028283602295e-18,
    1.3954464685812522e-19,
)


@kernel
def _inverse_coefficients(u: float) -> tuple[float, float, float, float]:
    """Find g = (θ/2) cot(θ/2), dg/du, e = (1 - g)/u and de/du, with u = θ²."""
    if u < _SERIES_BELOW:
        e = 0.0
        e1 = 0.0
        for k in range(11, -1, -1):
            e1 = e1 * u + e
            e = e * u + _INVERSE_SERIES[k]
        return 1.0 - u * e, -(e + u * e1), e, e1
    a, b, _, _, _, _, _, _, _ = arc_coefficients(u)
    g = 0.5 * b / a
    g1 = (g - g * g - 0.25 * u) / (2.0 * u)
    e = (1.0 - g) / u
    return g, g1, e, -(g1 + e) / u


@kernel
def _fill_rotation(
    diagonal: float,
    skew: float,
    outer: float,
    x: float,
    y: float,
    z: float,
    matrix_out: FloatArray,
) -> None:
    """Write diagonal I + skew ŵ + outer w wᵀ into the leading 3x3 block."""
    matrix_out[0, 0] = diagonal + outer * x * x
    matrix_out[0, 1] = outer * x * y - skew * z
    matrix_out[0, 2] = outer * x * z + skew * y
    matrix_out[1, 0] = outer * x * y + skew * z
    matrix_out[1, 1] = diagonal + outer * y * y
    matrix_out[1, 2] = outer * y * z - skew * x
    matrix_out[2, 0] = outer * x * z - skew * y
    matrix_out[2, 1] = outer * y * z + skew * x
    matrix_out[2, 2] = diagonal + outer * z * z


@kernel
def _fill_tangent(
    inverse: bool, sign: float, twist: FloatArray, matrix_out: FloatArray
) -> None:
    """Write the (6, 6) left tangent, or its inverse, at sign * twist."""
    x = sign * twist[0]
    y = sign * twist[1]
    z = sign * twist[2]
    p = sign * twist[3]
    q = sign * twist[4]
    r = sign * twist[5]
    u = x * x + y * y + z * z
    if inverse:
        diagonal, diagonal1, outer, outer1 = _inverse_coefficients(u)
        skew = -0.5
        skew1 = 0.0
    else:
        skew, diagonal, outer, skew1, diagonal1, outer1, _, _, _ = arc_coefficients(u)
    _fill_rotation(diagonal, skew, outer, x, y, z, matrix_out)
    change = 2.0 * (x * p + y * q + z * r)  # of u along the translation
    _fill_rotation(
        change * diagonal1, change * skew1, change * outer1, x, y, z, matrix_out[3:, :]
    )
    matrix_out[3, 0] += 2.0 * outer * x * p
    matrix_out[4, 1] += 2.0 * outer * y * q
    matrix_out[5, 2] += 2.0 * outer * z * r
    matrix_out[3, 1] += outer * (x * q + y * p) - skew * r
    matrix_out[4, 0] += outer * (x * q + y * p) + skew * r
    matrix_out[3, 2] += outer * (x * r + z * p) + skew * q
    matrix_out[5, 0] += outer * (x * r + z * p) - skew * q
    matrix_out[4, 2] += outer * (y * r + z * q) - skew * p
    matrix_out[5, 1] += outer * (y * r + z * q) + skew * p
    for i in range(3):
        for j in range(3):
            matrix_out[i, j + 3] = 0.0
            matrix_out[i + 3, j + 3] = matrix_out[i, j]


@kernel
def rotation_exp(rotation_vector: FloatArray, rotation_out: FloatArray) -> None:
    """Rotation matrix of a rotation vector.

    Args:
        rotation_vector: (3,) axis times angle [rad].
        rotation_out: (3, 3); of a pose, its rotation part is written only.
    """
    x, y, z = rotation_vector[0], rotation_vector[1], rotation_vector[2]
    u = x * x + y * y + z * z
    a, b, _, _, _, _, _, _, _ = arc_coefficients(u)
    _fill_rotation(1.0 - a * u, b, a, x, y, z, rotation_out)


@kernel
def rotation_log(rotation: FloatArray, rotation_vector_out: FloatArray) -> None:
    """Rotation vector of a rotation matrix, at most π long.

    Accurate to a few 1e-16 rad from 0 through π, where of ±w the vector with its
    greatest component positive is given.

    Args:
        rotation: (3, 3) orthonormal, determinant +1; or a (4, 4) pose.
        rotation_vector_out: (3,) axis times angle, 0..π [rad].
    """
    trace = rotation[0, 0] + rotation[1, 1] + rotation[2, 2]
    largest = 0
    for i in range(1, 3):
        if rotation[i, i] > rotation[largest, largest]:
            largest = i
    if trace >= rotation[largest, largest]:
        scalar = 0.5 * np.sqrt(1.0 + trace)
        for i in range(3):
            j = (i + 1) % 3
            k = (i + 2) % 3
            difference = rotation[k, j] - rotation[j, k]
            rotation_vector_out[i] = 0.25 * difference / scalar
    else:
        i = largest
        j = (i + 1) % 3
        k = (i + 2) % 3
        greatest = 0.5 * np.sqrt(1.0 + rotation[i, i] - rotation[j, j] - rotation[k, k])
        quarter = 0.25 / greatest
        scalar = quarter * (rotation[k, j] - rotation[j, k])
        side = 1.0 if scalar >= 0.0 else -1.0
        scalar *= side
        rotation_vector_out[i] = side * greatest
        quarter *= side
        rotation_vector_out[j] = quarter * (rotation[i, j] + rotation[j, i])
        rotation_vector_out[k] = quarter * (rotation[i, k] + rotation[k, i])
    square = 0.0
    for i in range(3):
        square += rotation_vector_out[i] * rotation_vector_out[i]
    length = np.sqrt(square)
    ratio = 2.0 / scalar
    if length > 0.0:
        ratio = 2.0 * np.arctan2(length, scalar) / length
    for i in range(3):
        rotation_vector_out[i] *= ratio


@kernel
def rotation_tangent(rotation_vector: FloatArray, matrix_out: FloatArray) -> None:
    """Left tangent of SO(3): angular velocity in the fixed frame = J(w) dw/dt.

    The right tangent, for the angular velocity in the turned frame, is its transpose.

    Args:
        rotation_vector: (3,) [rad].
        matrix_out: (3, 3) [1].
    """
    x, y, z = rotation_vector[0], rotation_vector[1], rotation_vector[2]
    a, b, c, _, _, _, _, _, _ = arc_coefficients(x * x + y * y + z * z)
    _fill_rotation(b, a, c, x, y, z, matrix_out)


@kernel
def rotation_tangent_inverse(
    rotation_vector: FloatArray, matrix_out: FloatArray
) -> None:
    """Inverse of `rotation_tangent`; its transpose is the inverse right tangent.

    Args:
        rotation_vector: (3,) shorter than 2π [rad].
        matrix_out: (3, 3) [1].
    """
    x, y, z = rotation_vector[0], rotation_vector[1], rotation_vector[2]
    g, _, e, _ = _inverse_coefficients(x * x + y * y + z * z)
    _fill_rotation(g, -0.5, e, x, y, z, matrix_out)


@kernel
def pose_exp(twist: FloatArray, pose_out: FloatArray) -> None:
    """Pose that a constant twist leads to in unit time.

    Args:
        twist: (6,) rotation vector [rad], then translation part [m].
        pose_out: (4, 4) homogeneous pose [m].
    """
    x, y, z = twist[0], twist[1], twist[2]
    u = x * x + y * y + z * z
    a, b, c, _, _, _, _, _, _ = arc_coefficients(u)
    _fill_rotation(b, a, c, x, y, z, pose_out)
    for i in range(3):
        pose_out[i, 3] = (
            pose_out[i, 0] * twist[3]
            + pose_out[i, 1] * twist[4]
            + pose_out[i, 2] * twist[5]
        )
    _fill_rotation(1.0 - a * u, b, a, x, y, z, pose_out)
    pose_out[3, 0] = 0.0
    pose_out[3, 1] = 0.0
    pose_out[3, 2] = 0.0
    pose_out[3, 3] = 1.0


@kernel
def pose_log(pose: FloatArray, twist_out: FloatArray) -> None:
    """Constant twist that leads to a pose in unit time; turn of at most π.

    Args:
        pose: (4, 4) homogeneous pose [m].
        twist_out: (6,) rotation vector [rad], then translation part [m]. At a turn of
            π the axis is chosen as in `rotation_log`.
    """
    rotation_log(pose, twist_out)
    x, y, z = twist_out[0], twist_out[1], twist_out[2]
    g, _, e, _ = _inverse_coefficients(x * x + y * y + z * z)
    p, q, r = pose[0, 3], pose[1, 3], pose[2, 3]
    along = e * (x * p + y * q + z * r)
    twist_out[3] = g * p - 0.5 * (y * r - z * q) + along * x
    twist_out[4] = g * q - 0.5 * (z * p - x * r) + along * y
    twist_out[5] = g * r - 0.5 * (x * q - y * p) + along * z


@kernel
def pose_product(
    pose_b_to_a: FloatArray, pose_c_to_b: FloatArray, pose_out: FloatArray
) -> None:
    """Pose of frame c in frame a.

    Args:
        pose_b_to_a: (4, 4) [m].
        pose_c_to_b: (4, 4) [m]; may be `pose_out` itself.
        pose_out: (4, 4) pose of c in a [m].
    """
    for j in range(4):
        x = pose_c_to_b[0, j]
        y = pose_c_to_b[1, j]
        z = pose_c_to_b[2, j]
        w = 1.0 if j == 3 else 0.0
        for i in range(3):
            pose_out[i, j] = (
                pose_b_to_a[i, 0] * x
                + pose_b_to_a[i, 1] * y
                + pose_b_to_a[i, 2] * z
                + pose_b_to_a[i, 3] * w
            )
        pose_out[3, j] = w


@kernel
def pose_inverse(pose: FloatArray, pose_out: FloatArray) -> None:
    """Pose of frame a in frame b, from that of b in a.

    Args:
        pose: (4, 4) [m].
        pose_out: (4, 4) [m]; not `pose` itself.
    """
    for i in range(3):
        total = 0.0
        for k in range(3):
            pose_out[i, k] = pose[k, i]
            total -= pose[k, i] * pose[k, 3]
        pose_out[i, 3] = total
        pose_out[3, i] = 0.0
    pose_out[3, 3] = 1.0


@kernel
def adjoint(pose: FloatArray, matrix_out: FloatArray) -> None:
    """Ad = [R 0; p̂R R]: takes a twist in the moved frame to the fixed frame.

    Args:
        pose: (4, 4) pose of the moved frame in the fixed one [m].
        matrix_out: (6, 6), angular first (Renda 2018 sec. 3.1).
    """
    for j in range(3):
        for i in range(3):
            matrix_out[i, j] = pose[i, j]
            matrix_out[i + 3, j + 3] = pose[i, j]
            matrix_out[i, j + 3] = 0.0
        matrix_out[3, j] = pose[1, 3] * pose[2, j] - pose[2, 3] * pose[1, j]
        matrix_out[4, j] = pose[2, 3] * pose[0, j] - pose[0, 3] * pose[2, j]
        matrix_out[5, j] = pose[0, 3] * pose[1, j] - pose[1, 3] * pose[0, j]


@kernel
def coadjoint(pose: FloatArray, matrix_out: FloatArray) -> None:
    """Ad⁻ᵀ = [R p̂R; 0 R]: takes a wrench in the moved frame to the fixed frame.

    Args:
        pose: (4, 4) pose of the moved frame in the fixed one [m].
        matrix_out: (6, 6), moment first. It keeps power: (Ad⁻ᵀ W)·(Ad V) = W·V.
    """
    for j in range(3):
        for i in range(3):
            matrix_out[i, j] = pose[i, j]
            matrix_out[i + 3, j + 3] = pose[i, j]
            matrix_out[i + 3, j] = 0.0
        matrix_out[0, j + 3] = pose[1, 3] * pose[2, j] - pose[2, 3] * pose[1, j]
        matrix_out[1, j + 3] = pose[2, 3] * pose[0, j] - pose[0, 3] * pose[2, j]
        matrix_out[2, j + 3] = pose[0, 3] * pose[1, j] - pose[1, 3] * pose[0, j]


@kernel
def twist_adjoint(twist: FloatArray, matrix_out: FloatArray) -> None:
    """Bracket matrix [ω̂ 0; v̂ ω̂]; its transpose acts on wrenches (Renda 2018 eq. 4).

    Args:
        twist: (6,) angular first.
        matrix_out: (6, 6).
    """
    _fill_rotation(0.0, 1.0, 0.0, twist[0], twist[1], twist[2], matrix_out)
    _fill_rotation(0.0, 1.0, 0.0, twist[3], twist[4], twist[5], matrix_out[3:, :])
    for i in range(3):
        for j in range(3):
            matrix_out[i, j + 3] = 0.0
            matrix_out[i + 3, j + 3] = matrix_out[i, j]


@kernel
def transform_twist(pose: FloatArray, twist: FloatArray, twist_out: FloatArray) -> None:
    """Ad V: a twist in the moved frame, as seen in the fixed frame.

    Args:
        pose: (4, 4) pose of the moved frame in the fixed one [m].
        twist: (6,) in the moved frame [rad/s, m/s].
        twist_out: (6,) in the fixed frame; not `twist` itself.
    """
    for i in range(3):
        angular = 0.0
        linear = 0.0
        for k in range(3):
            angular += pose[i, k] * twist[k]
            linear += pose[i, k] * twist[k + 3]
        twist_out[i] = angular
        twist_out[i + 3] = linear
    twist_out[3] += pose[1, 3] * twist_out[2] - pose[2, 3] * twist_out[1]
    twist_out[4] += pose[2, 3] * twist_out[0] - pose[0, 3] * twist_out[2]
    twist_out[5] += pose[0, 3] * twist_out[1] - pose[1, 3] * twist_out[0]


@kernel
def transform_twist_back(
    pose: FloatArray, twist: FloatArray, twist_out: FloatArray
) -> None:
    """Ad⁻¹ V: a twist in the fixed frame, as seen in the moved frame.

    Args:
        pose: (4, 4) pose of the moved frame in the fixed one [m].
        twist: (6,) in the fixed frame [rad/s, m/s].
        twist_out: (6,) in the moved frame; not `twist` itself.
    """
    x = twist[3] + twist[1] * pose[2, 3] - twist[2] * pose[1, 3]
    y = twist[4] + twist[2] * pose[0, 3] - twist[0] * pose[2, 3]
    z = twist[5] + twist[0] * pose[1, 3] - twist[1] * pose[0, 3]
    for i in range(3):
        twist_out[i] = (
            pose[0, i] * twist[0] + pose[1, i] * twist[1] + pose[2, i] * twist[2]
        )
        twist_out[i + 3] = pose[0, i] * x + pose[1, i] * y + pose[2, i] * z


@kernel
def left_tangent(twist: FloatArray, matrix_out: FloatArray) -> None:
    """Left tangent of SE(3): takes dx/dt to the twist in the fixed frame.

    Args:
        twist: (6,) the logarithm x of the pose [rad, m].
        matrix_out: (6, 6).
    """
    _fill_tangent(False, 1.0, twist, matrix_out)


@kernel
def right_tangent(twist: FloatArray, matrix_out: FloatArray) -> None:
    """Right tangent of SE(3): takes dx/dt to the twist in the moved frame.

    Args:
        twist: (6,) the logarithm x of the pose [rad, m].
        matrix_out: (6, 6).
    """
    _fill_tangent(False, -1.0, twist, matrix_out)


@kernel
def left_tangent_inverse(twist: FloatArray, matrix_out: FloatArray) -> None:
    """Inverse of `left_tangent`, for a turn below 2π.

    Args:
        twist: (6,) the logarithm x of the pose [rad, m].
        matrix_out: (6, 6).
    """
    _fill_tangent(True, 1.0, twist, matrix_out)


@kernel
def right_tangent_inverse(twist: FloatArray, matrix_out: FloatArray) -> None:
    """Inverse of `right_tangent`, for a turn below 2π.

    Args:
        twist: (6,) the logarithm x of the pose [rad, m].
        matrix_out: (6, 6).
    """
    _fill_tangent(True, -1.0, twist, matrix_out)
