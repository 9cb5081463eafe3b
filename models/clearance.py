"""Distance of a whole limb to simple obstacles, and its gradient by the coordinates.

A limb is the union of the spheres of its section radius along its axis, gaps counted
in: what a rolling ball sees of it, half a sphere beyond the tip. An obstacle is a solid
half-space, sphere, cylinder or box, and its distance to a point is exact, negative
inside. Distance of the limb = least over its axis of (distance of the point - radius).
On each segment and gap the least is looked for from equal samples and refined to
rounding inside the sample interval; a second dip narrower than a sample interval (an
eighth of a segment) can be missed.

At the nearest point the gradient is that of the distance with the point held at its
fraction of the piece (envelope theorem). It jumps where the nearest point does, and on
the edges of a box or a cylinder from inside.
"""

from typing import NamedTuple

import numpy as np

from models.arc import arc_coefficients, arc_jacobian
from models.limb import LimbModel, limb_frames
from models.numerics import FloatArray, kernel
from models.obstacle import ObstacleModel, obstacle_distance

__all__ = [
    "ClearanceData",
    "allocate_clearance_data",
    "clearance_cost",
    "limb_clearance",
]

_SAMPLES = 8  # intervals of a segment
_REFINEMENTS = 60  # bisections and secants in turn: at most half to bits of rounding
_CLOSE = 1e-12  # of the piece


class ClearanceData(NamedTuple):
    """Work arrays of the clearance of a limb of n segments, and what was nearest."""

    frame: FloatArray
    """(n+1, 4, 4) frames along the limb."""
    column: FloatArray
    """(6, 3) Jacobian of one segment in its own frame."""
    pair: FloatArray
    """(n, 3) gradient of one distance [m/rad, m/rad, 1]."""
    near: FloatArray
    """(9,) nearest point of the axis [m], normal away from the obstacle, section radius
    there [m], index of the obstacle, index of the piece: 2 k the gap before segment k,
    2 k + 1 the segment."""


def allocate_clearance_data(model: LimbModel) -> ClearanceData:
    """Make the work arrays for a limb; one set serves one thread."""
    count = model.segment_length.size
    return ClearanceData(
        frame=np.zeros((count + 1, 4, 4)),
        column=np.zeros((6, 3)),
        pair=np.zeros((count, 3)),
        near=np.zeros(9),
    )


@kernel
def _piece(
    model: LimbModel, coordinates: FloatArray, piece: int
) -> tuple[float, float, float, float, float, float]:
    """Δx, Δy, length [m], start behind its frame [m] and end radii of a piece."""
    at = piece // 2
    if piece % 2 == 0:
        radius = model.segment_radius[max(at - 1, 0), 1 if at > 0 else 0]
        return 0.0, 0.0, model.gap[at], -model.gap[at], radius, radius
    return (
        coordinates[at, 0],
        coordinates[at, 1],
        model.segment_length[at] + coordinates[at, 2],
        0.0,
        model.segment_radius[at, 0],
        model.segment_radius[at, 1],
    )


@kernel
def _at_fraction(
    model: LimbModel,
    obstacles: ObstacleModel,
    coordinates: FloatArray,
    piece: int,
    obstacle: int,
    fraction: float,
    data: ClearanceData,
) -> tuple[float, float]:
    """Distance of the ball at a fraction of a piece, and its slope; notes the point."""
    delta_x, delta_y, length, behind, r0, r1 = _piece(model, coordinates, piece)
    frame = data.frame[piece // 2]
    u = fraction * fraction * (delta_x * delta_x + delta_y * delta_y)
    a, b, _, _, _, _, _, _, _ = arc_coefficients(u)
    across = fraction * fraction * length * a
    lx = across * delta_x
    ly = across * delta_y
    lz = fraction * length * b + behind
    tx = fraction * b * delta_x
    ty = fraction * b * delta_y
    tz = 1.0 - a * u
    x = frame[0, 0] * lx + frame[0, 1] * ly + frame[0, 2] * lz + frame[0, 3]
    y = frame[1, 0] * lx + frame[1, 1] * ly + frame[1, 2] * lz + frame[1, 3]
    z = frame[2, 0] * lx + frame[2, 1] * ly + frame[2, 2] * lz + frame[2, 3]
    distance, nx, ny, nz = obstacle_distance(obstacles, obstacle, x, y, z)
    slope = (
        nx * (frame[0, 0] * tx + frame[0, 1] * ty + frame[0, 2] * tz)
        + ny * (frame[1, 0] * tx + frame[1, 1] * ty + frame[1, 2] * tz)
        + nz * (frame[2, 0] * tx + frame[2, 1] * ty + frame[2, 2] * tz)
    )
    radius = r0 + fraction * (r1 - r0)
    data.near[0] = x
    data.near[1] = y
    data.near[2] = z
    data.near[3] = nx
    data.near[4] = ny
    data.near[5] = nz
    data.near[6] = radius
    data.near[7] = obstacle
    data.near[8] = piece
    return distance - radius, length * slope - (r1 - r0)


@kernel
def _piece_clearance(
    model: LimbModel,
    obstacles: ObstacleModel,
    coordinates: FloatArray,
    piece: int,
    obstacle: int,
    data: ClearanceData,
) -> tuple[float, float]:
    """Least distance of a piece, infinite for no gap, and the fraction where it is.

    One loop for the samples and for the refinement, so that the distance is compiled
    once: first the samples 0.._SAMPLES, then a bracket of the zero of the slope.
    """
    best = np.inf
    best_at = 0.0
    _, _, length, _, _, _ = _piece(model, coordinates, piece)
    if length <= 0.0:
        return best, best_at
    best_slope = 0.0
    low = 0.0
    high = 1.0
    low_slope = 0.0
    high_slope = 0.0
    before_slope = 0.0
    fraction = 0.0
    samples = _SAMPLES if piece % 2 == 1 else 1
    for step in range(_SAMPLES + 1 + _REFINEMENTS):
        distance, slope = _at_fraction(
            model, obstacles, coordinates, piece, obstacle, fraction, data
        )
        if step <= samples:
            if distance < best:
                best = distance
                best_at = fraction
                best_slope = slope
                low = max(step - 1.0, 0.0) / samples
                high = min(step + 1.0, samples) / samples
                low_slope = before_slope
                high_slope = 0.0
            elif high_slope == 0.0 and step / samples <= high:
                high_slope = slope
            before_slope = slope
            if step < samples:
                fraction = (step + 1.0) / samples
                continue
            # the bracket is the side of the best sample where the slope turns
            if best_slope > 0.0:
                high = best_at
                high_slope = best_slope
            else:
                low = best_at
                low_slope = best_slope
            if not (low < high and low_slope < 0.0 < high_slope):
                break
        else:
            if distance < best:
                best = distance
                best_at = fraction
            if slope < 0.0:
                low = fraction
                low_slope = slope
            else:
                high = fraction
                high_slope = slope
            if high - low < _CLOSE or slope == 0.0:
                break
        fraction = 0.5 * (low + high)
        if step % 3 != 0:
            fraction = low - low_slope * (high - low) / (high_slope - low_slope)
            if not low < fraction < high:
                break
    return best, best_at


@kernel
def _pair_gradient(
    model: LimbModel,
    coordinates: FloatArray,
    piece: int,
    fraction: float,
    data: ClearanceData,
) -> None:
    """data.pair: gradient of the distance whose point and normal data.near holds."""
    at = piece // 2
    for k in range(model.segment_length.size):
        for j in range(3):
            data.pair[k, j] = 0.0
        if k > at or (k == at and piece % 2 == 0):
            continue
        part = fraction if k == at else 1.0
        arc_jacobian(
            part * coordinates[k, 0],
            part * coordinates[k, 1],
            part * (model.segment_length[k] + coordinates[k, 2]),
            data.column,
        )
        frame = data.frame[k]
        nx = data.near[3]
        ny = data.near[4]
        nz = data.near[5]
        lever_x = 0.0
        lever_y = 0.0
        lever_z = 0.0
        if k < at:
            after = data.frame[k + 1]
            gap = model.gap[k + 1]
            lever_x = data.near[0] - after[0, 3] + gap * after[0, 2]
            lever_y = data.near[1] - after[1, 3] + gap * after[1, 2]
            lever_z = data.near[2] - after[2, 3] + gap * after[2, 2]
        mx = lever_y * nz - lever_z * ny
        my = lever_z * nx - lever_x * nz
        mz = lever_x * ny - lever_y * nx
        for i in range(3):
            moment = frame[0, i] * mx + frame[1, i] * my + frame[2, i] * mz
            push = frame[0, i] * nx + frame[1, i] * ny + frame[2, i] * nz
            for j in range(3):
                data.pair[k, j] += part * (
                    data.column[i, j] * moment + data.column[3 + i, j] * push
                )


@kernel
def limb_clearance(
    model: LimbModel,
    obstacles: ObstacleModel,
    coordinates: FloatArray,
    data: ClearanceData,
    gradient_out: FloatArray,
) -> float:
    """Least distance of the limb's skin to any obstacle, and its gradient.

    Args:
        model: the limb.
        obstacles: in the limb's base frame.
        coordinates: (n, 3) segment coordinates [rad, rad, m].
        data: work arrays; `near` is left with the nearest point.
        gradient_out: (n, 3) of the distance by the coordinates [m/rad, m/rad, 1];
            zero where there is no obstacle or the fixed base is nearest.

    Returns:
        Distance [m], negative where the limb and an obstacle overlap; infinite where
        there is none.
    """
    limb_frames(model, coordinates, data.frame)
    count = model.segment_length.size
    least = np.inf
    piece = 0
    obstacle = 0
    fraction = 0.0
    for k in range(obstacles.kind.size):
        for p in range(2 * count + 1):
            distance, part = _piece_clearance(model, obstacles, coordinates, p, k, data)
            if distance < least:
                least = distance
                piece = p
                obstacle = k
                fraction = part
    for k in range(count):
        for j in range(3):
            gradient_out[k, j] = 0.0
    if least < np.inf:
        _at_fraction(model, obstacles, coordinates, piece, obstacle, fraction, data)
        _pair_gradient(model, coordinates, piece, fraction, data)
        for k in range(count):
            for j in range(3):
                gradient_out[k, j] = data.pair[k, j]
    return least


@kernel
def clearance_cost(
    model: LimbModel,
    obstacles: ObstacleModel,
    coordinates: FloatArray,
    margin: float,
    data: ClearanceData,
    gradient_out: FloatArray,
) -> tuple[float, float]:
    """Cost of all distances below a margin, as a secondary goal, and its gradient.

    ½ Σ (margin - d)² over every obstacle and every segment or gap nearer than the
    margin: continuous in the coordinates, and so is its gradient, but where the nearest
    point of one piece jumps.

    Args:
        model: the limb.
        obstacles: in the limb's base frame.
        coordinates: (n, 3) segment coordinates [rad, rad, m].
        margin: wanted least distance [m].
        data: work arrays.
        gradient_out: (n, 3) of the cost [m2/rad, m2/rad, m].

    Returns:
        Cost [m2] and least distance [m], infinite where there is no obstacle.
    """
    limb_frames(model, coordinates, data.frame)
    count = model.segment_length.size
    for k in range(count):
        for j in range(3):
            gradient_out[k, j] = 0.0
    cost = 0.0
    least = np.inf
    for o in range(obstacles.kind.size):
        for p in range(2 * count + 1):
            distance, part = _piece_clearance(model, obstacles, coordinates, p, o, data)
            least = min(least, distance)
            lack = margin - distance
            if lack > 0.0:
                cost += 0.5 * lack * lack
                _at_fraction(model, obstacles, coordinates, p, o, part, data)
                _pair_gradient(model, coordinates, p, part, data)
                for k in range(count):
                    for j in range(3):
                        gradient_out[k, j] -= lack * data.pair[k, j]
    return cost, least
