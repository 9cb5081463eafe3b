"""A seabed of any shape: a height field, its slope, and the distance of a point to it.

Heights at the nodes of a regular grid are joined by bicubic Catmull-Rom patches: they
pass through the nodes, and slope and normal are continuous. Beyond its edge the field
goes on level across that edge, so the slope jumps there: let the grid be larger than
the robot's reach.

The distance is that to the plane that touches the field at the nearest point, found by
three Gauss-Newton steps: exact to rounding on a plane, and to 1 % of the distance while
(distance x curvature) stays below 0.3. Where rougher ground leads the search astray, it
is the distance to the plane that touches right below. No overhangs.
Leaves out the ground that is not there yet: scour, sinking, sediment.

Source: Catmull and Rom 1974; the bound of the slope is that of the patches' Bezier net.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from models.numerics import FloatArray, kernel

__all__ = [
    "HeightFieldModel",
    "build_height_field",
    "height_and_slope",
    "height_field_distance",
    "no_height_field",
]

_NEAREST_STEPS = 3
_TO_BEZIER = np.array(  # the four nodes of a Catmull-Rom piece to its Bezier points
    [
        [0.0, 1.0, 0.0, 0.0],
        [-1 / 6, 1.0, 1 / 6, 0.0],
        [0.0, 1 / 6, 1.0, -1 / 6],
        [0.0, 0.0, 1.0, 0.0],
    ]
)


class HeightFieldModel(NamedTuple):
    """Heights z over the x, y of the world; no field at all where `height` is empty."""

    origin: FloatArray
    """(2,) x and y of the first node [m]."""
    spacing: FloatArray
    """(2,) between nodes along x and y [m]."""
    height: FloatArray
    """(I+2, J+2) heights [m] of the nodes, x first, with a rim of extrapolated ones."""
    bound: FloatArray
    """(3,) no point of the field is higher [m]; no slope along x or y is steeper; so
    the distance to the field is at least bound[2] times the height above it."""


def no_height_field() -> HeightFieldModel:
    """Make the field of a world without a seabed."""
    return HeightFieldModel(np.zeros(2), np.ones(2), np.zeros((0, 0)), np.zeros(3))


def build_height_field(
    height: ArrayLike, spacing: ArrayLike, origin: ArrayLike = (0.0, 0.0)
) -> HeightFieldModel:
    """Check a grid of heights and lay it out for kernels.

    Args:
        height: (I, J) height [m] at x = origin + i spacing, y = origin + j spacing.
        spacing: one number or (2,) along x and y [m].
        origin: (2,) x and y of node (0, 0) [m].

    Returns:
        The field.

    Raises:
        ValueError: fewer than 2 by 2 nodes, a height or origin that is not finite, or a
            spacing that is not positive.
    """
    nodes = np.array(height, dtype=np.float64)
    if nodes.ndim != 2 or min(nodes.shape) < 2:
        message = f"height has shape {nodes.shape}; give at least (2, 2) nodes"
        raise ValueError(message)
    if not np.all(np.isfinite(nodes)):
        message = f"height has {np.sum(~np.isfinite(nodes))} values that are not finite"
        raise ValueError(message)
    steps = np.array(np.broadcast_to(np.asarray(spacing, np.float64), (2,)))
    if not np.all((steps > 0.0) & np.isfinite(steps)):
        message = f"spacing is {steps.tolist()} m; it must be above 0"
        raise ValueError(message)
    start = np.array(origin, dtype=np.float64)
    if start.shape != (2,) or not np.all(np.isfinite(start)):
        message = f"origin is {start.tolist()}; give x and y of the first node [m]"
        raise ValueError(message)
    padded = np.pad(nodes, 1, mode="reflect", reflect_type="odd")
    patches = np.lib.stride_tricks.sliding_window_view(padded, (4, 4))
    net = np.einsum("ia,xyab,jb->xyij", _TO_BEZIER, patches, _TO_BEZIER)
    steepest = max(
        3.0 * np.abs(np.diff(net, axis=2)).max() / steps[0],
        3.0 * np.abs(np.diff(net, axis=3)).max() / steps[1],
    )
    least = 1.0 / math.sqrt(1.0 + 2.0 * steepest * steepest)
    bound = np.array([net.max(), steepest, least])
    return HeightFieldModel(start, steps, padded, bound)


@kernel
def _weights(
    t: float,
) -> tuple[float, float, float, float, float, float, float, float]:
    """Catmull-Rom weights of four nodes at 0 <= t <= 1, and their derivatives by t."""
    u = t * t
    v = u * t
    return (
        0.5 * (-t + 2.0 * u - v),
        0.5 * (2.0 - 5.0 * u + 3.0 * v),
        0.5 * (t + 4.0 * u - 3.0 * v),
        0.5 * (v - u),
        0.5 * (-1.0 + 4.0 * t - 3.0 * u),
        0.5 * (9.0 * u - 10.0 * t),
        0.5 * (1.0 + 8.0 * t - 9.0 * u),
        0.5 * (3.0 * u - 2.0 * t),
    )


@kernel
def height_and_slope(
    field: HeightFieldModel, x: float, y: float
) -> tuple[float, float, float]:
    """Height of the field and its slope at a place.

    Args:
        field: a field with nodes.
        x: in the world, finite [m].
        y: [m].

    Returns:
        Height [m], dz/dx and dz/dy; across an edge that the place is beyond, 0.
    """
    last_i = field.height.shape[0] - 3
    last_j = field.height.shape[1] - 3
    across = (x - field.origin[0]) / field.spacing[0]
    along = (y - field.origin[1]) / field.spacing[1]
    inside_x = 1.0 if 0.0 <= across <= last_i else 0.0
    inside_y = 1.0 if 0.0 <= along <= last_j else 0.0
    across = min(max(across, 0.0), float(last_i))
    along = min(max(along, 0.0), float(last_j))
    i = min(int(across), last_i - 1)
    j = min(int(along), last_j - 1)
    wx = _weights(across - i)
    wy = _weights(along - j)
    height = 0.0
    slope_x = 0.0
    slope_y = 0.0
    for a in range(4):
        line = field.height[i + a]
        value = 0.0
        rate = 0.0
        for b in range(4):
            value += wy[b] * line[j + b]
            rate += wy[4 + b] * line[j + b]
        height += wx[a] * value
        slope_x += wx[4 + a] * value
        slope_y += wx[a] * rate
    return (
        height,
        inside_x * slope_x / field.spacing[0],
        inside_y * slope_y / field.spacing[1],
    )


@kernel
def height_field_distance(
    field: HeightFieldModel, x: float, y: float, z: float
) -> tuple[float, float, float, float]:
    """Signed distance of a point to the seabed, and the direction away from it.

    Args:
        field: a field with nodes.
        x: in the world, finite [m].
        y: [m].
        z: [m].

    Returns:
        Distance [m], negative below the seabed, and the upward unit normal at the
        nearest point.
    """
    at_x = x
    at_y = y
    height, slope_x, slope_y = height_and_slope(field, x, y)
    gap = z - height
    up = 1.0 / math.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
    below = (up * gap, -slope_x * up, -slope_y * up, up)
    for _ in range(_NEAREST_STEPS):
        rise = height - z
        gx = at_x - x + rise * slope_x
        gy = at_y - y + rise * slope_y
        share = (slope_x * gx + slope_y * gy) / (
            1.0 + slope_x * slope_x + slope_y * slope_y
        )
        at_x -= gx - share * slope_x
        at_y -= gy - share * slope_y
        height, slope_x, slope_y = height_and_slope(field, at_x, at_y)
    up = 1.0 / math.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
    nx = -slope_x * up
    ny = -slope_y * up
    distance = nx * (x - at_x) + ny * (y - at_y) + up * (z - height)
    share = distance / gap if gap != 0.0 else 0.0
    if not field.bound[2] <= share <= 1.0:
        return below
    return distance, nx, ny, up
