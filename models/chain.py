"""One segment as a chain of N rigid RRP sections that lie on its arc.

Source: Emet 2023 eqs 7-13. Each section turns in the plane of the arc (first R), bends
(second R) and slides along its chord (P). With Δ = θ/N the bends are Δ/2, Δ, Δ, ...,
the chord is s = 2 (ℓ/θ) sin(Δ/2), and only the first plane angle is not zero. Every
section end is then a point of the arc, exactly, for any N and any θ.

Where the paper slips, the right form is used:

- Eq. 9 calls the chord an arc length and the example of Sec. 4.1 uses ℓ/N = 60 mm for
  it; the chord there is 59.938 mm, and 60 mm puts the tip 0.56 mm too far.
- The bends 4.5 and 9 degrees of that example belong to θ = 90 degrees, not to 45.
- After the last bend the frame is short of the arc's by Δ/2. The paper claims that
  eqs 13 and 20 agree; they do after a closing turn Ry(Δ/2), which is added here.
- Eq. 20 leaves out Rz(-φ), so the paper counts the direction of a segment's plane from
  the plane of the segment before it (see models/conventions).

Leaves out the width of a section: the chain is a line of frames.
"""

import numpy as np

from models.arc import arc_coefficients
from models.limb import LimbModel, limb_frames
from models.numerics import FloatArray, kernel

__all__ = [
    "chain_frames",
    "chain_joints",
    "limb_sections",
]


@kernel
def chain_joints(
    delta_x: float,
    delta_y: float,
    length: float,
    sections: int,
    joint_out: FloatArray,
) -> None:
    """Joint positions of the chain that stands for an arc.

    The plane angle is 0 where the arc is straight and jumps by π when a bend passes
    through zero; no point of the chain jumps with it.

    Args:
        delta_x: θ cos φ [rad].
        delta_y: θ sin φ [rad].
        length: arc length ℓ [m].
        sections: number N of sections.
        joint_out: (N, 3) plane angle ζ1 [rad], bend ζ2 [rad] and slide s [m] of each
            section. A closing bend equal to the first one, joint_out[0, 1], and a turn
            back by -joint_out[0, 0] end the chain (see `chain_frames`).
    """
    theta = np.hypot(delta_x, delta_y)
    bend = theta / sections
    _, sinc, _, _, _, _, _, _, _ = arc_coefficients(0.25 * bend * bend)
    chord = length / sections * sinc
    for k in range(sections):
        joint_out[k, 0] = 0.0
        joint_out[k, 1] = bend
        joint_out[k, 2] = chord
    joint_out[0, 0] = np.arctan2(delta_y, delta_x)
    joint_out[0, 1] = 0.5 * bend


@kernel
def chain_frames(
    delta_x: float,
    delta_y: float,
    length: float,
    sections: int,
    pose_out: FloatArray,
) -> None:
    """Frames at the ends of the sections, in the frame of the segment's start.

    Args:
        delta_x: θ cos φ [rad].
        delta_y: θ sin φ [rad].
        length: arc length ℓ [m].
        sections: number N of sections.
        pose_out: (N+1, 4, 4) homogeneous poses [m]. pose_out[0] is the identity.
            pose_out[k], 0 < k < N, is the frame after the slide of section k: its
            origin on the arc at the fraction k/N, its axes Rz(φ) Ry((k - 1/2) Δ),
            z along the chord. pose_out[N] is closed by Ry(Δ/2) Rz(-φ) and is the
            pose of the arc's end.
    """
    theta = np.hypot(delta_x, delta_y)
    plane = np.arctan2(delta_y, delta_x)
    cos_plane = np.cos(plane)
    sin_plane = np.sin(plane)
    bend = theta / sections
    _, sinc, _, _, _, _, _, _, _ = arc_coefficients(0.25 * bend * bend)
    chord = length / sections * sinc
    for i in range(4):
        for j in range(4):
            pose_out[0, i, j] = 1.0 if i == j else 0.0
    for k in range(1, sections + 1):
        polar = (k - 0.5) * bend
        sine = np.sin(polar)
        cosine = np.cos(polar)
        pose_out[k, 0, 3] = pose_out[k - 1, 0, 3] + chord * sine * cos_plane
        pose_out[k, 1, 3] = pose_out[k - 1, 1, 3] + chord * sine * sin_plane
        pose_out[k, 2, 3] = pose_out[k - 1, 2, 3] + chord * cosine
        if k == sections:
            sine = np.sin(theta)
            cosine = np.cos(theta)
        pose_out[k, 0, 0] = cosine * cos_plane
        pose_out[k, 1, 0] = cosine * sin_plane
        pose_out[k, 2, 0] = -sine
        pose_out[k, 0, 1] = -sin_plane
        pose_out[k, 1, 1] = cos_plane
        pose_out[k, 2, 1] = 0.0
        pose_out[k, 0, 2] = sine * cos_plane
        pose_out[k, 1, 2] = sine * sin_plane
        pose_out[k, 2, 2] = cosine
        pose_out[k, 3, 0] = 0.0
        pose_out[k, 3, 1] = 0.0
        pose_out[k, 3, 2] = 0.0
        pose_out[k, 3, 3] = 1.0
    # Rz(-φ) on the right of the last frame turns its x and y axes back
    for i in range(3):
        x_axis = pose_out[sections, i, 0]
        y_axis = pose_out[sections, i, 1]
        pose_out[sections, i, 0] = x_axis * cos_plane - y_axis * sin_plane
        pose_out[sections, i, 1] = x_axis * sin_plane + y_axis * cos_plane


@kernel
def limb_sections(
    model: LimbModel,
    coordinates: FloatArray,
    sections: int,
    frame_out: FloatArray,
    pose_out: FloatArray,
) -> None:
    """Frames at the ends of all sections of a limb, in the limb's base frame.

    Args:
        model: the limb.
        coordinates: (n, 3) segment coordinates [rad, rad, m].
        sections: number N of sections of each segment.
        frame_out: (n+1, 4, 4) as `limb_frames` gives.
        pose_out: (n, N+1, 4, 4) homogeneous poses [m]: for each segment those of
            `chain_frames`, from its start to its closed end.
    """
    limb_frames(model, coordinates, frame_out)
    for k in range(model.segment_length.size):
        chain_frames(
            coordinates[k, 0],
            coordinates[k, 1],
            model.segment_length[k] + coordinates[k, 2],
            sections,
            pose_out[k],
        )
        for m in range(sections + 1):
            for j in range(4):
                x = pose_out[k, m, 0, j]
                y = pose_out[k, m, 1, j]
                z = pose_out[k, m, 2, j]
                w = pose_out[k, m, 3, j]
                for i in range(3):
                    pose_out[k, m, i, j] = (
                        frame_out[k, i, 0] * x
                        + frame_out[k, i, 1] * y
                        + frame_out[k, i, 2] * z
                        + frame_out[k, i, 3] * w
                    )
