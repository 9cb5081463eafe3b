"""One constant-curvature segment: segment coordinates to pose, and its derivatives.

The torsion-free convention R = Rz(φ) Ry(θ) Rz(-φ) is used throughout; Emet 2023
eq. 20 prints Rz(φ) Ry(θ), which differs by Rz(φ) on the right (see models/chain).
With u = Δx² + Δy² = θ² everything below is an entire function of u, so nothing is
singular at θ = 0. Valid for any bending angle below 2π.
"""

import numpy as np

from models.numerics import FloatArray, kernel

__all__ = [
    "arc_coefficients",
    "arc_jacobian",
    "arc_parameters",
    "arc_pose",
    "segment_coordinates",
]


@kernel
def arc_coefficients(
    u: float,
) -> tuple[float, float, float, float, float, float, float, float, float]:
    """Evaluate the three functions of u = θ² behind every arc formula.

    a(u) = (1 - cos θ)/θ², b(u) = sin θ / θ, c(u) = (θ - sin θ)/θ³. Below u = 0.25 by
    Horner's rule in 8 terms (truncation below 1e-18), above it by the closed forms.
    Runs on complex numbers too.

    Args:
        u: square of the bending angle [rad2].

    Returns:
        a, b, c, then da/du, db/du, dc/du, then the second derivatives.
    """
    if u.real < 0.25:
        # coefficient k of a, b, c: (-1)^k / (2k+2)!, (2k+1)!, (2k+3)!
        a0, a1, a2, a3 = 1 / 2, -1 / 24, 1 / 720, -1 / 40320
        a4, a5, a6, a7 = 1 / 3628800, -1 / 479001600, 1 / 87178291200, -4.779477e-14
        b1, b2, b3, b4 = -1 / 6, 1 / 120, -1 / 5040, 1 / 362880
        b5, b6, b7 = -1 / 39916800, 1 / 6227020800, -1 / 1307674368000
        c7 = -2.8114572543455206e-15
        a = a0 + u * (
            a1 + u * (a2 + u * (a3 + u * (a4 + u * (a5 + u * (a6 + u * a7)))))
        )
        da = a1 + u * (
            2 * a2
            + u * (3 * a3 + u * (4 * a4 + u * (5 * a5 + u * (6 * a6 + u * 7 * a7))))
        )
        dda = 2 * a2 + u * (
            6 * a3 + u * (12 * a4 + u * (20 * a5 + u * (30 * a6 + u * 42 * a7)))
        )
        b = 1.0 + u * (
            b1 + u * (b2 + u * (b3 + u * (b4 + u * (b5 + u * (b6 + u * b7)))))
        )
        db = b1 + u * (
            2 * b2
            + u * (3 * b3 + u * (4 * b4 + u * (5 * b5 + u * (6 * b6 + u * 7 * b7))))
        )
        ddb = 2 * b2 + u * (
            6 * b3 + u * (12 * b4 + u * (20 * b5 + u * (30 * b6 + u * 42 * b7)))
        )
        # c_k = -b_{k+1}
        c = -b1 - u * (
            b2 + u * (b3 + u * (b4 + u * (b5 + u * (b6 + u * (b7 - u * c7)))))
        )
        dc = -b2 - u * (
            2 * b3
            + u * (3 * b4 + u * (4 * b5 + u * (5 * b6 + u * (6 * b7 - u * 7 * c7))))
        )
        ddc = -2 * b3 - u * (
            6 * b4 + u * (12 * b5 + u * (20 * b6 + u * (30 * b7 - u * 42 * c7)))
        )
        return a, b, c, da, db, dc, dda, ddb, ddc
    theta = np.sqrt(u)
    cosine = np.cos(theta)
    half = 0.5 / u
    a = (1.0 - cosine) / u
    b = np.sin(theta) / theta
    c = (1.0 - b) / u
    da = (b - 2.0 * a) * half
    db = (cosine - b) * half
    dc = (a - 3.0 * c) * half
    dda = (db - 4.0 * da) * half
    ddb = (-0.5 * b - 3.0 * db) * half
    ddc = (da - 5.0 * dc) * half
    return a, b, c, da, db, dc, dda, ddb, ddc


@kernel
def arc_pose(
    delta_x: float, delta_y: float, length: float, pose_out: FloatArray
) -> None:
    """Pose of the end of an arc in the frame of its start.

    Args:
        delta_x: θ cos φ [rad].
        delta_y: θ sin φ [rad].
        length: arc length ℓ [m].
        pose_out: (4, 4) homogeneous pose [m].
    """
    a, b, _, _, _, _, _, _, _ = arc_coefficients(delta_x * delta_x + delta_y * delta_y)
    pose_out[0, 0] = 1.0 - a * delta_x * delta_x
    pose_out[0, 1] = -a * delta_x * delta_y
    pose_out[0, 2] = b * delta_x
    pose_out[1, 0] = -a * delta_x * delta_y
    pose_out[1, 1] = 1.0 - a * delta_y * delta_y
    pose_out[1, 2] = b * delta_y
    pose_out[2, 0] = -b * delta_x
    pose_out[2, 1] = -b * delta_y
    pose_out[2, 2] = 1.0 - a * (delta_x * delta_x + delta_y * delta_y)
    pose_out[0, 3] = length * a * delta_x
    pose_out[1, 3] = length * a * delta_y
    pose_out[2, 3] = length * b
    pose_out[3, 0] = 0.0
    pose_out[3, 1] = 0.0
    pose_out[3, 2] = 0.0
    pose_out[3, 3] = 1.0


@kernel
def arc_jacobian(
    delta_x: float, delta_y: float, length: float, jacobian_out: FloatArray
) -> None:
    """Twist of the end of an arc for unit rates of its segment coordinates.

    Args:
        delta_x: θ cos φ [rad].
        delta_y: θ sin φ [rad].
        length: arc length ℓ [m].
        jacobian_out: (6, 3): angular velocity [rad/s] then velocity [m/s] of the end
            point, both in the frame of the start, for rates of (Δx, Δy, δℓ).
    """
    a, b, c, a1, b1, _, _, _, _ = arc_coefficients(
        delta_x * delta_x + delta_y * delta_y
    )
    # ω = J_l(w) ẇ with w = (-Δy, Δx, 0): ω = ẇ + a w×ẇ + c w×(w×ẇ)
    for k in range(2):
        rate_x = 1.0 if k == 0 else 0.0
        rate_y = 1.0 - rate_x
        across = delta_x * rate_y - delta_y * rate_x  # (w × ẇ)_z
        jacobian_out[0, k] = -rate_y + c * delta_x * across
        jacobian_out[1, k] = rate_x + c * delta_y * across
        jacobian_out[2, k] = a * across
        along = 2.0 * (delta_x * rate_x + delta_y * rate_y)  # du/dt
        jacobian_out[3, k] = length * (a * rate_x + a1 * along * delta_x)
        jacobian_out[4, k] = length * (a * rate_y + a1 * along * delta_y)
        jacobian_out[5, k] = length * b1 * along
    jacobian_out[0, 2] = 0.0
    jacobian_out[1, 2] = 0.0
    jacobian_out[2, 2] = 0.0
    jacobian_out[3, 2] = a * delta_x
    jacobian_out[4, 2] = a * delta_y
    jacobian_out[5, 2] = b


def arc_parameters(
    coordinates: FloatArray, rest_length: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Convert segment coordinates to the (θ, φ, ℓ) of the papers, for people.

    Args:
        coordinates: (..., 3) (Δx, Δy, δℓ) [rad, rad, m].
        rest_length: (...,) [m].

    Returns:
        Bending angle θ >= 0 [rad], direction φ in -π..π [rad] (0 where θ is 0), and
        arc length ℓ [m], each of shape (...,).
    """
    delta_x, delta_y = coordinates[..., 0], coordinates[..., 1]
    return (
        np.hypot(delta_x, delta_y),
        np.arctan2(delta_y, delta_x),
        rest_length + coordinates[..., 2],
    )


def segment_coordinates(
    theta: FloatArray, phi: FloatArray, length: FloatArray, rest_length: FloatArray
) -> FloatArray:
    """Convert the papers' (θ, φ, ℓ) to segment coordinates.

    Args:
        theta: (...,) bending angle, either sign [rad].
        phi: (...,) direction of the bending plane [rad].
        length: (...,) arc length [m].
        rest_length: (...,) [m].

    Returns:
        (..., 3) (Δx, Δy, δℓ) [rad, rad, m].
    """
    return np.stack(
        [theta * np.cos(phi), theta * np.sin(phi), length - rest_length], axis=-1
    )
