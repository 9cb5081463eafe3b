"""Segment coordinates to tendon lengths, and back.

A tendon runs at azimuth β and distance d(σ) from the backbone, d linear in the fraction
σ of the segment as the taper is. In the frame that moves along the arc its tangent per
unit σ is (d' cos β, d' sin β, a) with a(σ) = ℓ - d(σ) δ and δ = Δx cos β + Δy sin β, so
its length in the segment is the integral of sqrt(a² + d'²) with a linear in σ. That
integral, and its derivatives, are closed forms; without taper they give the
l = ℓ - d θ cos(φ - β) of the papers (Gong 2018, Liu 2020, Zhang 2022 eq. 3).

A tendon passes straight through all segments up to the one at whose end it is tied. So
a proximal bend changes the length of a distal segment's tendons too: that coupling is
in the length Jacobian A, block lower triangular where tendons are ordered by their
ends, and `tendon_coordinates` solves all segments at once. Tensions T, which only pull,
load the coordinates with -Aᵀ T (virtual work: T does -T dl). Any number of tendons at
any azimuth, with any share of the local radius. Rigid gaps add a constant to a length.

Valid while a > 0: no section overlaps the next (θ d < ℓ). Leaves out friction.
"""

import numpy as np

from models.numerics import FloatArray, cholesky_solve, kernel
from models.robot import RobotModel
from models.workspace import RodWork

__all__ = [
    "TENDON_NOT_CONVERGED",
    "TENDON_NOT_FINITE",
    "TENDON_OK",
    "tendon_coordinates",
    "tendon_in_segment",
    "tendon_lengths",
    "tendon_load",
    "tendon_tensions",
]

TENDON_OK = 0
TENDON_NOT_CONVERGED = 1
TENDON_NOT_FINITE = 2

_ITERATIONS = 20
_CONVERGED = 1e-13  # m of tendon: 100 times the rounding of a length
_SMALL = 1e-4  # below it the series' error is under 1e-16 of the length


@kernel
def tendon_in_segment(
    length: float, bend: float, offset_start: float, offset_end: float
) -> tuple[float, float, float]:
    """Length of a tendon inside one segment, and its derivatives.

    Args:
        length: arc length ℓ of the segment [m].
        bend: δ = Δx cos β + Δy sin β, the bending angle in the tendon's plane [rad].
        offset_start: distance from the backbone at the segment's start [m].
        offset_end: the same at its end [m].

    Returns:
        Tendon length [m], its derivative by δ [m/rad] and its derivative by ℓ.
    """
    h = offset_end - offset_start
    a0 = length - offset_start * bend
    a1 = length - offset_end * bend
    s0 = np.sqrt(a0 * a0 + h * h)
    s1 = np.sqrt(a1 * a1 + h * h)
    total = s0 + s1
    if not (total > 0.0 and a0 + s0 > 0.0):
        return 0.0, 0.0, 0.0
    stretch = (a0 + a1) / total  # mean of a / sqrt(a² + h²)
    # x = (a1 + s1)/(a0 + s0) - 1 without the subtraction of close numbers
    x = (a1 - a0) * (1.0 + stretch) / (a0 + s0)
    if abs(x) > _SMALL:
        ratio = np.log1p(x) / x
    else:
        ratio = 1.0 - x * (0.5 - x * (1.0 / 3.0 - 0.25 * x))
    inverse = ratio * (1.0 + stretch) / (a0 + s0)  # mean of 1 / sqrt(a² + h²)
    square = h * h
    mean = 0.25 * (total + (a0 + a1) * stretch) + 0.5 * square * inverse
    # excess of the trapezoid over the mean, per δ; it is the mean of
    # -d' (σ - 1/2) a / sqrt(a² + h²), by parts
    if abs(bend) > _SMALL:
        ends = 1.0 + (a0 * a0 + a1 * a1 + square) / (s0 * s1 + a0 * a1)
        excess = 0.5 * square * (ends / total - inverse) / bend
    else:
        excess = bend * square * square / (1.5 * total * total * total)
    return mean, excess - 0.5 * (offset_start + offset_end) * stretch, stretch


@kernel
def tendon_lengths(
    model: RobotModel,
    limb: int,
    coordinates: FloatArray,
    length_out: FloatArray,
    jacobian_out: FloatArray,
) -> None:
    """Geometric length of every tendon of a limb, and its Jacobian.

    Args:
        model: the robot.
        limb: index of the limb.
        coordinates: (n, 3) segment coordinates of this limb [rad, rad, m].
        length_out: (t,) from the limb's base to where the tendon is tied [m].
        jacobian_out: (t, 3 n) its derivatives by the coordinates, in row order
            [m/rad, m/rad, 1].
    """
    first = model.limb_segment_start[limb]
    count = model.limb_segment_start[limb + 1] - first
    tendon = model.limb_tendon_start[limb]
    for i in range(model.limb_tendon_start[limb + 1] - tendon):
        cosine = np.cos(model.tendon_angle[tendon + i])
        sine = np.sin(model.tendon_angle[tendon + i])
        ratio = model.tendon_offset_ratio[tendon + i]
        total = 0.0
        for k in range(count):
            if not (
                model.tendon_origin[tendon + i]
                <= k
                <= model.tendon_termination[tendon + i]
            ):
                jacobian_out[i, 3 * k] = 0.0
                jacobian_out[i, 3 * k + 1] = 0.0
                jacobian_out[i, 3 * k + 2] = 0.0
                continue
            length, by_bend, by_length = tendon_in_segment(
                model.segment_length[first + k] + coordinates[k, 2],
                coordinates[k, 0] * cosine + coordinates[k, 1] * sine,
                ratio * model.segment_radius[first + k, 0],
                ratio * model.segment_radius[first + k, 1],
            )
            total += length
            jacobian_out[i, 3 * k] = cosine * by_bend
            jacobian_out[i, 3 * k + 1] = sine * by_bend
            jacobian_out[i, 3 * k + 2] = by_length
        length_out[i] = total


@kernel
def tendon_coordinates(
    model: RobotModel,
    limb: int,
    length: FloatArray,
    work: RodWork,
    coordinates_out: FloatArray,
) -> int:
    """Segment coordinates whose tendons have these lengths, in the least squares sense.

    Gauss-Newton from the straight limb; lengths are so nearly linear in the coordinates
    that four iterations reach rounding for bends below π/2.

    Args:
        model: the robot.
        limb: index of the limb.
        length: (t,) geometric lengths [m]; at least three independent ones a segment.
        work: workspace.
        coordinates_out: (n, 3) [rad, rad, m].

    Returns:
        TENDON_OK, TENDON_NOT_CONVERGED (best effort given) or TENDON_NOT_FINITE
        (lengths not finite or tendons too few: coordinates not to be used).
    """
    first = model.limb_segment_start[limb]
    count = model.limb_segment_start[limb + 1] - first
    tendon = model.limb_tendon_start[limb]
    tendons = model.limb_tendon_start[limb + 1] - tendon
    size = 3 * count
    for k in range(count):
        for j in range(3):
            coordinates_out[k, j] = 0.0
    for _ in range(_ITERATIONS):
        tendon_lengths(
            model, limb, coordinates_out, work.tendon_length, work.tendon_jacobian
        )
        for i in range(size):
            total = 0.0
            for r in range(tendons):
                gap = length[r] - work.tendon_length[r]
                total += work.tendon_jacobian[r, i] * gap
            work.velocity_change[i] = total
            for j in range(i + 1):
                total = 0.0
                for r in range(tendons):
                    total += work.tendon_jacobian[r, i] * work.tendon_jacobian[r, j]
                work.system[i, j] = total
        if cholesky_solve(work.system, work.velocity_change, size) != 0:
            return TENDON_NOT_FINITE
        largest = 0.0
        for k in range(count):
            radius = model.segment_radius[first + k, 0]
            for j in range(3):
                change = work.velocity_change[3 * k + j]
                coordinates_out[k, j] += change
                largest += abs(change) * (1.0 if j == 2 else radius)
        if not largest < np.inf:
            return TENDON_NOT_FINITE
        if largest < _CONVERGED:
            return TENDON_OK
    return TENDON_NOT_CONVERGED


@kernel
def tendon_load(
    jacobian: FloatArray, tension: FloatArray, width: int, load_out: FloatArray
) -> None:
    """Generalised force of the tendons on the segment coordinates, -Aᵀ T.

    Args:
        jacobian: (t, m) A, derivatives of the lengths, from `tendon_lengths`
            [m/rad, m/rad, 1].
        tension: (t,) T [N].
        width: number m of coordinates, 3 a segment.
        load_out: (m,) moments that bend and forces that extend [N m, N m, N].
    """
    for j in range(width):
        total = 0.0
        for i in range(tension.size):
            total -= jacobian[i, j] * tension[i]
        load_out[j] = total


@kernel
def tendon_tensions(
    model: RobotModel,
    limb: int,
    length: FloatArray,
    paid_out: FloatArray,
    tension_out: FloatArray,
    slack_out: FloatArray,
) -> int:
    """Static tension of every tendon of a limb, and how much of it hangs loose.

    Args:
        model: the robot.
        limb: index of the limb.
        length: (t,) geometric lengths, from `tendon_lengths` [m].
        paid_out: (t,) lengths of unloaded tendon between winch and tie [m].
        tension_out: (t,) stiffness times stretch [N], 0 where slack; not cut at the
            greatest tension, so that an overload can be seen.
        slack_out: (t,) length that hangs loose [m], 0 where the tendon is taut.

    Returns:
        Number of slack tendons, those with length <= paid_out.
    """
    first = model.limb_tendon_start[limb]
    count = 0
    for i in range(model.limb_tendon_start[limb + 1] - first):
        stretch = length[i] - paid_out[i]
        if stretch > 0.0:
            tension_out[i] = model.tendon_stiffness[first + i] * stretch
            slack_out[i] = 0.0
        else:
            tension_out[i] = 0.0
            slack_out[i] = -stretch
            count += 1
    return count
