"""Rotations and poses for many frames at once; quaternions are xyzw, as PyBullet's."""

import math

import numpy as np

from models.numerics import FloatArray

__all__ = ["closing_rotations", "poses_from_quaternions", "quaternion_from_rotation"]


def poses_from_quaternions(
    position: FloatArray, quaternion_xyzw: FloatArray
) -> FloatArray:
    """Make homogeneous poses.

    Args:
        position: (n, 3) [m].
        quaternion_xyzw: (n, 4) unit quaternions.

    Returns:
        (n, 4, 4).
    """
    x, y, z, w = quaternion_xyzw.T
    poses = np.zeros((position.shape[0], 4, 4))
    poses[:, 0, 0] = 1.0 - 2.0 * (y * y + z * z)
    poses[:, 0, 1] = 2.0 * (x * y - z * w)
    poses[:, 0, 2] = 2.0 * (x * z + y * w)
    poses[:, 1, 0] = 2.0 * (x * y + z * w)
    poses[:, 1, 1] = 1.0 - 2.0 * (x * x + z * z)
    poses[:, 1, 2] = 2.0 * (y * z - x * w)
    poses[:, 2, 0] = 2.0 * (x * z - y * w)
    poses[:, 2, 1] = 2.0 * (y * z + x * w)
    poses[:, 2, 2] = 1.0 - 2.0 * (x * x + y * y)
    poses[:, :3, 3] = position
    poses[:, 3, 3] = 1.0
    return poses


def quaternion_from_rotation(rotation: FloatArray) -> tuple[float, float, float, float]:
    """Unit quaternion, xyzw, of a (3, 3) rotation; accurate for any angle."""
    m = rotation
    squares = (  # four times the square of x, y, z, w
        1.0 + m[0, 0] - m[1, 1] - m[2, 2],
        1.0 - m[0, 0] + m[1, 1] - m[2, 2],
        1.0 - m[0, 0] - m[1, 1] + m[2, 2],
        1.0 + m[0, 0] + m[1, 1] + m[2, 2],
    )
    largest = max(range(4), key=lambda k: float(squares[k]))
    value = 0.5 * math.sqrt(float(squares[largest]))
    f = 0.25 / value
    rows = (
        (
            value,
            f * (m[0, 1] + m[1, 0]),
            f * (m[0, 2] + m[2, 0]),
            f * (m[2, 1] - m[1, 2]),
        ),
        (
            f * (m[0, 1] + m[1, 0]),
            value,
            f * (m[1, 2] + m[2, 1]),
            f * (m[0, 2] - m[2, 0]),
        ),
        (
            f * (m[0, 2] + m[2, 0]),
            f * (m[1, 2] + m[2, 1]),
            value,
            f * (m[1, 0] - m[0, 1]),
        ),
        (
            f * (m[2, 1] - m[1, 2]),
            f * (m[0, 2] - m[2, 0]),
            f * (m[1, 0] - m[0, 1]),
            value,
        ),
    )
    x, y, z, w = (float(part) for part in rows[largest])
    return x, y, z, w


def closing_rotations(coordinates: FloatArray, sections: int) -> FloatArray:
    """Turn from a chord's frame to the arc's frame at the chord's end.

    Ry(Δ/2) Rz(-φ) with Δ = θ/N: half a bend on, and the plane angle back.

    Args:
        coordinates: (S, 3) segment coordinates (Δx, Δy, δℓ) [rad, rad, m].
        sections: number N of sections a segment.

    Returns:
        (S, 3, 3) rotations.
    """
    half = 0.5 * np.hypot(coordinates[:, 0], coordinates[:, 1]) / sections
    plane = np.arctan2(coordinates[:, 1], coordinates[:, 0])
    closing = np.zeros((half.size, 3, 3))
    closing[:, 0, 0] = np.cos(half) * np.cos(plane)
    closing[:, 0, 1] = np.cos(half) * np.sin(plane)
    closing[:, 0, 2] = np.sin(half)
    closing[:, 1, 0] = -np.sin(plane)
    closing[:, 1, 1] = np.cos(plane)
    closing[:, 2, 0] = -np.sin(half) * np.cos(plane)
    closing[:, 2, 1] = -np.sin(half) * np.sin(plane)
    closing[:, 2, 2] = np.cos(half)
    return closing
