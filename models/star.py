"""Renda's star: a root body with soft arms and a mantle, each on a fixed frame.

Source: Renda 2018 secs 2, 3.1, 6.1 and 7. A section of an arm stands at g_r g_rb g_b, a
point of the mantle at g_r g_rs g_s. Frames of the root: E1 is the way it swims; in the
Poseidrone E3 is up.

Two conventions meet. Renda's section has x along the arm, y normal, z binormal, and at
rest g_b(0) turns the arm along -E3 of its dummy frame (fact of the published code).
A limb here has z along it. Their first sections are one rotation of the axes apart, so
that the base of a limb is g_rb Ry(π), whose x is Renda's normal: Δx > 0 is a positive
curvature about Renda's z. `strain_poses` works in Renda's axes, `star_arm_poses` in
those of a limb.

What the paper prints, and what is right:

- g_rb1(1,3) of the Poseidrone is -0.06; +0.06 is not orthogonal to the other columns.
- g_rs of the Poseidrone has the first row (0, 0, 1, 90 mm).
- g_rb of the Monopus is at -110 mm; the published code has -112, the cone's length.
- eq. 25: a moment +m about z closes the Quadropus's arms; the published code has -m.
- θ of sec. 3.1 runs from -π/4 to -π/2 on the mantle: it reaches back from its cap over
  the cone, and the jet leaves between the arms.

The mantle is the reference shape only: its motion is the shell's, not in this module.
Leaves out what the root body is made of, but for the frames of its parts.
"""

from typing import NamedTuple

import numpy as np

from models.arc import arc_pose
from models.lie import pose_exp, pose_product
from models.numerics import FloatArray, IntArray, kernel

__all__ = [
    "StarFrames",
    "limb_frame",
    "mantle_frame",
    "mantle_profile",
    "mantle_volume",
    "monopus_frames",
    "poseidrone_frames",
    "quadropus_frames",
    "star_arm_poses",
    "star_arm_section",
    "strain_poses",
    "turned_copies",
]

_FORWARD = (1.0, 0.0, 0.0)
_PORT = (0.0, 1.0, 0.0)


@kernel
def star_arm_poses(
    arm_segment_start: IntArray,
    segment_length: FloatArray,
    coordinates: FloatArray,
    pose_arm_to_root: FloatArray,
    pose_root_to_world: FloatArray,
    pose_out: FloatArray,
) -> None:
    """Poses of the base and of every segment's end of all arms, in the world.

    Args:
        arm_segment_start: (A+1,) segments of arm i are start[i] .. start[i+1]-1.
        segment_length: (S,) rest arc length [m].
        coordinates: (S, 3) (Δx, Δy, δℓ) of constant-curvature segments [rad, rad, m].
        pose_arm_to_root: (A, 4, 4) base of each arm, z along it (`limb_frame`) [m].
        pose_root_to_world: (4, 4) g_r [m].
        pose_out: (S+A, 4, 4) [m]; arm i has start[i+1] - start[i] + 1 poses, its base
            at start[i] + i.
    """
    for arm in range(arm_segment_start.size - 1):
        first = arm_segment_start[arm]
        pose_product(pose_root_to_world, pose_arm_to_root[arm], pose_out[first + arm])
        for s in range(first, arm_segment_start[arm + 1]):
            star_arm_section(
                segment_length[s],
                coordinates[s],
                pose_out[s + arm],
                1.0,
                pose_out[s + arm + 1],
            )


@kernel
def star_arm_section(
    segment_length: float,
    coordinates: FloatArray,
    pose_start: FloatArray,
    fraction: float,
    pose_out: FloatArray,
) -> None:
    """Pose of a section inside a segment of an arm.

    Args:
        segment_length: rest arc length of the segment [m].
        coordinates: (3,) of the segment [rad, rad, m].
        pose_start: (4, 4) pose of the segment's start [m].
        fraction: of the way along the segment, 0..1.
        pose_out: (4, 4) in the frame that `pose_start` is in [m].
    """
    arc_pose(
        fraction * coordinates[0],
        fraction * coordinates[1],
        fraction * (segment_length + coordinates[2]),
        pose_out,
    )
    pose_product(pose_start, pose_out, pose_out)


@kernel
def strain_poses(
    strain: FloatArray,
    step: FloatArray,
    pose_start: FloatArray,
    pose_out: FloatArray,
    twist_out: FloatArray,
) -> None:
    """Poses along an arm whose strain is sampled: g' = g ξ̂ (Renda 2018 sec. 3.1).

    Exact where ξ is constant over a step; with ξ sampled in the middle of each step,
    the error falls with the square of the step.

    Args:
        strain: (M, 6) ξ = (k, q) of each step: curvatures [rad/m], then stretches [1],
            (1, 0, 0) unstrained, in the section's axes, x along the arm.
        step: (M,) length of each step at rest [m].
        pose_start: (4, 4) pose of the first section in Renda's axes [m].
        pose_out: (M+1, 4, 4) poses of the sections between the steps [m]. pose_out[0]
            is `pose_start`.
        twist_out: (6,) work.
    """
    for i in range(4):
        for j in range(4):
            pose_out[0, i, j] = pose_start[i, j]
    for m in range(step.size):
        for i in range(6):
            twist_out[i] = step[m] * strain[m, i]
        pose_exp(twist_out, pose_out[m + 1])
        pose_product(pose_out[m], pose_out[m + 1], pose_out[m + 1])


class StarFrames(NamedTuple):
    """Constant frames of a star on its root frame (o, E1, E2, E3)."""

    dummy_arm_to_root: FloatArray
    """(A, 4, 4) g_rb of each arm [m]."""
    arm_to_root: FloatArray
    """(A, 4, 4) base of each arm as a limb: z along the straight arm [m]."""
    mantle_to_root: FloatArray
    """(4, 4) g_rs: E3s along the axis, forward, origin at the cap's edge plane [m]."""
    part_to_root: FloatArray
    """(B, 4, 4) g_rr: principal frames of the rigid parts, z along each [m]."""


def _pose(
    position_mm: tuple[float, float, float],
    z_axis: tuple[float, float, float] = _FORWARD,
    y_axis: tuple[float, float, float] = _PORT,
) -> FloatArray:
    """Homogeneous pose [m] from a position in mm and two axes at right angles."""
    pose = np.eye(4)
    pose[:3, 2] = np.array(z_axis) / np.linalg.norm(z_axis)
    pose[:3, 1] = np.array(y_axis) / np.linalg.norm(y_axis)
    pose[:3, 0] = np.cross(pose[:3, 1], pose[:3, 2])
    pose[:3, 3] = np.array(position_mm) * 1e-3
    return pose


def turned_copies(pose: FloatArray, axis: FloatArray, count: int) -> FloatArray:
    """Repeat a frame around an axis of the root, in equal turns.

    Args:
        pose: (4, 4) first frame in the root frame [m].
        axis: (3,) unit vector in the root frame.
        count: number of frames.

    Returns:
        (count, 4, 4) the first frame, then turned by 2π/count, 4π/count, ...
    """
    copies = np.empty((count, 4, 4))
    twist = np.zeros(6)
    turn = np.empty((4, 4))
    for k in range(count):
        twist[:3] = 2.0 * np.pi * k / count * np.asarray(axis)
        pose_exp(twist, turn)
        copies[k] = turn @ pose
    return copies


def limb_frame(dummy_to_root: FloatArray) -> FloatArray:
    """Base frame of a limb (z along it) for one of Renda's dummy frames g_rb.

    Args:
        dummy_to_root: (..., 4, 4) g_rb [m].

    Returns:
        (..., 4, 4) g_rb Ry(π) [m]: z is -E3 of the dummy frame, x is -E1, Renda's
        normal, and y is E2, his binormal.
    """
    frame: FloatArray = dummy_to_root @ np.diag([-1.0, 1.0, -1.0, 1.0])
    return frame


def monopus_frames() -> StarFrames:
    """Frames of the Monopus: one arm behind the cone (Renda 2018 sec. 7).

    The arm stands at -110 mm as printed; the published code has -112 mm.
    """
    arms = _pose((-110.0, 0.0, 0.0))[None]
    return StarFrames(arms, limb_frame(arms), _pose((0.0, 0.0, 0.0)), _cone())


def quadropus_frames() -> StarFrames:
    """Frames of the Quadropus: four arms around E1, 10 mm off the axis (sec. 7)."""
    arms = turned_copies(_pose((-112.0, 0.0, -10.0)), np.array(_FORWARD), 4)
    return StarFrames(arms, limb_frame(arms), _pose((0.0, 0.0, 0.0)), _cone())


def _cone() -> FloatArray:
    """(1, 4, 4) frame of the cone's centre, 3/4 of its 112 mm behind its point."""
    return _pose((-84.0, 0.0, 0.0))[None]


def poseidrone_frames() -> StarFrames:
    """Frames of the Poseidrone: four arms at the ends of four bars (sec. 6.1).

    The printed rotations have two digits. Of each, the third column (along the arm or
    the bar) is taken and made a unit vector, and the second is (-1, 1, 0)/√2; the first
    follows, and agrees with the printed one to its digits.
    """
    up = np.array([0.0, 0.0, 1.0])
    across = (-1.0, 1.0, 0.0)
    arm = _pose((76.0, 76.0, -90.0), (-0.06, -0.06, 0.99), across)
    bar = _pose((38.0, 38.0, -45.0), (-0.54, -0.54, 0.64), across)
    arms = turned_copies(arm, up, 4)
    mantle = _pose((90.0, 0.0, -50.0))
    return StarFrames(arms, limb_frame(arms), mantle, turned_copies(bar, up, 4))


def mantle_profile(abscissa: FloatArray, radius: float, cap_angle: float) -> FloatArray:
    """Meridian of the mantle at rest: a sphere cut by a rigid cap, then a cylinder.

    Args:
        abscissa: (P,) X_s along the meridian from the cap's edge [m]. The sphere ends
            at radius (π/2 - cap_angle); what is beyond is on the cylinder.
        radius: T_s of the sphere and the cylinder [m].
        cap_angle: polar angle of the cap's edge on the sphere, 0..π/2 [rad].

    Returns:
        (P, 3) radius r [m], altitude z along E3s [m], 0 at the cap's edge and negative
        behind it, and the angle θ of Renda 2018 sec. 3.1 [rad], with r' = cos θ and
        z' = sin θ.
    """
    abscissa = np.asarray(abscissa, dtype=np.float64)
    polar = np.minimum(cap_angle + abscissa / radius, 0.5 * np.pi)
    cylinder = np.maximum(abscissa - radius * (0.5 * np.pi - cap_angle), 0.0)
    altitude = radius * (np.cos(polar) - np.cos(cap_angle)) - cylinder
    return np.stack([radius * np.sin(polar), altitude, -polar], axis=1)


def mantle_frame(
    radius: float, altitude: float, theta: float, azimuth: float
) -> FloatArray:
    """Frame g_s of a point of the mantle, in the mantle's frame (sec. 3.1).

    Args:
        radius: r of the point [m].
        altitude: z of the point [m].
        theta: θ of its meridian [rad].
        azimuth: φ about E3s [rad].

    Returns:
        (4, 4) pose [m] with x along the meridian, y along the normal and z against
        the direction of growing φ.
    """
    cosine, sine = np.cos(azimuth), np.sin(azimuth)
    outward = np.array([cosine, sine, 0.0])
    up = np.array([0.0, 0.0, 1.0])
    pose = np.eye(4)
    pose[:3, 0] = np.cos(theta) * outward + np.sin(theta) * up
    pose[:3, 1] = -np.sin(theta) * outward + np.cos(theta) * up
    pose[:3, 2] = [sine, -cosine, 0.0]
    pose[:3, 3] = radius * outward + altitude * up
    return pose


def mantle_volume(profile: FloatArray) -> float:
    """Volume that a meridian encloses with the planes of its ends.

    Renda's U = ∫ π r² |g'| dX counts arc length for altitude, and so 1.5 % too much of
    the mantle at rest; here |dz| is taken, as a stack of frusta.

    Args:
        profile: (P, 2 or more) radius [m], altitude [m] along the meridian.

    Returns:
        [m3].
    """
    before, after = profile[:-1, 0], profile[1:, 0]
    height = np.abs(np.diff(profile[:, 1]))
    areas = before * before + before * after + after * after
    return float(np.pi / 3.0 * np.sum(areas * height))
