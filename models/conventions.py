"""Emet's convention of a limb's shape and the torsion-free one, both ways.

Torsion-free, as everywhere here: a segment turns by Rz(φ) Ry(θ) Rz(-φ) and the next
one counts its φ from there. Emet 2023 eq. 20 prints Rz(φ) Ry(θ), so that the frame in
which the next segment's φ is counted is turned by φ: segment k of the paper has
φ_k - φ_(k-1). With Φ_k = φ_1 + … + φ_k of the paper, segment k bends in the direction
Φ_k free of torsion, and the frames at its end differ by a turn about their common z:

    pose_emet = pose_torsion_free · Rz(Φ_k)

Points, lengths, θ and the direction of the axis are the same in both. For any number of
segments and rigid gaps between them (a gap is along z, which both have in common).

Where θ = 0 the paper's φ bends nothing but still turns the frame, while segment
coordinates hold no φ: from coordinates, such a segment is given the direction of the
one before it, so that the paper's φ is 0 there.
"""

import numpy as np

from models.arc import segment_coordinates
from models.numerics import FloatArray

__all__ = [
    "coordinates_of_emet",
    "emet_direction",
    "emet_frame",
    "emet_of_coordinates",
    "emet_poses",
    "torsion_free_direction",
    "torsion_free_frame",
]


def _wrapped(angle: FloatArray) -> FloatArray:
    """The same directions in -π..π [rad]."""
    return np.arctan2(np.sin(angle), np.cos(angle))


def emet_direction(phi: FloatArray) -> FloatArray:
    """Convert directions of the bending planes to Emet's convention.

    Args:
        phi: (..., n) torsion-free directions of a limb's segments, base first [rad].

    Returns:
        (..., n) the paper's φ of each segment, in -π..π [rad].
    """
    phi = np.asarray(phi, dtype=np.float64)
    before = np.concatenate([np.zeros_like(phi[..., :1]), phi[..., :-1]], axis=-1)
    return _wrapped(phi - before)


def torsion_free_direction(phi: FloatArray) -> FloatArray:
    """Convert Emet's directions of the bending planes back to torsion-free ones.

    Args:
        phi: (..., n) the paper's φ of a limb's segments, base first [rad].

    Returns:
        (..., n) torsion-free directions, in -π..π [rad].
    """
    return _wrapped(np.cumsum(np.asarray(phi, dtype=np.float64), axis=-1))


def coordinates_of_emet(
    theta: FloatArray, phi: FloatArray, length: FloatArray, rest_length: FloatArray
) -> FloatArray:
    """Convert the paper's (θ, φ, ℓ) of a limb to segment coordinates.

    Args:
        theta: (..., n) bending angles, either sign [rad].
        phi: (..., n) the paper's φ of each segment [rad].
        length: (..., n) arc lengths [m].
        rest_length: (n,) [m].

    Returns:
        (..., n, 3) (Δx, Δy, δℓ) [rad, rad, m].
    """
    return segment_coordinates(theta, torsion_free_direction(phi), length, rest_length)


def emet_of_coordinates(
    coordinates: FloatArray, rest_length: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Convert segment coordinates of a limb to the paper's (θ, φ, ℓ).

    Args:
        coordinates: (..., n, 3) (Δx, Δy, δℓ) [rad, rad, m].
        rest_length: (n,) [m].

    Returns:
        θ >= 0 [rad], the paper's φ in -π..π [rad] (0 where θ is 0) and ℓ [m], each of
        shape (..., n).
    """
    theta = np.hypot(coordinates[..., 0], coordinates[..., 1])
    direction = np.arctan2(coordinates[..., 1], coordinates[..., 0])
    for k in range(theta.shape[-1]):
        before = direction[..., k - 1] if k > 0 else np.zeros(theta.shape[:-1])
        direction[..., k] = np.where(theta[..., k] > 0.0, direction[..., k], before)
    return theta, emet_direction(direction), rest_length + coordinates[..., 2]


def _about_z(angle: FloatArray) -> FloatArray:
    """(..., 4, 4) poses that turn about z."""
    pose = np.zeros((*np.shape(angle), 4, 4))
    pose[..., 0, 0] = pose[..., 1, 1] = np.cos(angle)
    pose[..., 1, 0] = np.sin(angle)
    pose[..., 0, 1] = -pose[..., 1, 0]
    pose[..., 2, 2] = pose[..., 3, 3] = 1.0
    return pose


def emet_poses(
    theta: FloatArray,
    phi: FloatArray,
    length: FloatArray,
    gap: FloatArray | None = None,
) -> FloatArray:
    """Poses along a limb as Emet 2023 eqs 15-20 print them: products of Rz(φ) Ry(θ).

    Args:
        theta: (..., n) bending angles, either sign [rad].
        phi: (..., n) the paper's φ of each segment [rad].
        length: (..., n) arc lengths [m].
        gap: (n+1,) rigid lengths before each segment and behind the last one [m].

    Returns:
        (..., n+1, 4, 4) homogeneous poses in the base frame [m] as
        `models.limb.limb_frames` gives them: where each segment starts, then the tip.
    """
    theta = np.asarray(theta, dtype=np.float64)
    count = theta.shape[-1]
    gap = np.zeros(count + 1) if gap is None else gap
    # (1 - cos θ)/θ and sin θ / θ by half angles: no cancellation, no limit at 0
    half = np.sinc(0.5 * theta / np.pi)
    bend = np.zeros((*theta.shape, 4, 4))
    bend[..., 0, 0] = bend[..., 2, 2] = np.cos(theta)
    bend[..., 0, 2] = np.sin(theta)
    bend[..., 2, 0] = -bend[..., 0, 2]
    bend[..., 1, 1] = bend[..., 3, 3] = 1.0
    bend[..., 0, 3] = length * np.sin(0.5 * theta) * half
    bend[..., 2, 3] = length * np.cos(0.5 * theta) * half
    arc = _about_z(np.asarray(phi, dtype=np.float64)) @ bend
    arc[..., :3, 3] += gap[1:, None] * arc[..., :3, 2]
    poses = np.empty((*theta.shape[:-1], count + 1, 4, 4))
    poses[..., 0, :, :] = np.eye(4)
    poses[..., 0, 2, 3] = gap[0]
    for k in range(count):
        poses[..., k + 1, :, :] = poses[..., k, :, :] @ arc[..., k, :, :]
    return poses


def emet_frame(pose: FloatArray, phi: FloatArray) -> FloatArray:
    """Turn torsion-free frames into those of the paper.

    Args:
        pose: (..., n+1, 4, 4) torsion-free poses, as `models.limb.limb_frames` gives.
        phi: (..., n) the paper's φ of each segment [rad].

    Returns:
        (..., n+1, 4, 4) the paper's poses: the same points, turned about z.
    """
    turn = np.cumsum(np.asarray(phi, dtype=np.float64), axis=-1)
    return pose @ _about_z(np.concatenate([0.0 * turn[..., :1], turn], axis=-1))


def torsion_free_frame(pose: FloatArray, phi: FloatArray) -> FloatArray:
    """Turn the paper's frames back into torsion-free ones.

    Args:
        pose: (..., n+1, 4, 4) poses as `emet_poses` gives.
        phi: (..., n) the paper's φ of each segment [rad].

    Returns:
        (..., n+1, 4, 4) torsion-free poses.
    """
    return emet_frame(pose, -np.asarray(phi, dtype=np.float64))
