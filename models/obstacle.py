"""Obstacles of four kinds and their distance to a point.

A solid half-space, sphere, cylinder or box in the frame of a limb's base. The distance
is exact, negative inside; its gradient jumps where the nearest point of the surface
does, as in the middle of a solid.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from models.numerics import FloatArray, IntArray, kernel

__all__ = [
    "BOX",
    "CYLINDER",
    "PLANE",
    "SPHERE",
    "ObstacleModel",
    "build_obstacle_model",
    "obstacle_distance",
]

PLANE = 0
"""Solid below z = 0 of its own frame; no size."""
SPHERE = 1
"""Radius size[0] about the origin of its frame."""
CYLINDER = 2
"""Radius size[0] about its own z axis, from z = -size[1] to size[1]."""
BOX = 3
"""Half lengths size[0..2] along its own axes."""

_KINDS = {"plane": PLANE, "sphere": SPHERE, "cylinder": CYLINDER, "box": BOX}


class ObstacleModel(NamedTuple):
    """K obstacles in the frame of a limb's base."""

    kind: IntArray
    """(K,) PLANE, SPHERE, CYLINDER or BOX."""
    pose: FloatArray
    """(K, 4, 4) pose of the obstacle in the limb's base frame [m]."""
    size: FloatArray
    """(K, 3) see the kinds [m]."""


def build_obstacle_model(
    obstacles: Sequence[tuple[str, ArrayLike, ArrayLike]],
) -> ObstacleModel:
    """Build obstacles from (kind, pose, size) each.

    Args:
        obstacles: kind "plane", "sphere", "cylinder" or "box"; (4, 4) pose in the
            limb's base frame, or (3,) position [m]; up to three sizes [m].

    Raises:
        ValueError: unknown kind, wrong number of sizes, or a size that is not positive.
    """
    count = len(obstacles)
    model = ObstacleModel(
        np.zeros(count, dtype=np.int64),
        np.tile(np.eye(4), (count, 1, 1)),
        np.zeros((count, 3)),
    )
    for k, (name, given, sizes) in enumerate(obstacles):
        if name not in _KINDS:
            message = f"obstacle kind {name!r}: one of {', '.join(_KINDS)}"
            raise ValueError(message)
        size = np.atleast_1d(np.asarray(sizes, dtype=np.float64))
        if size.size != _KINDS[name] or not np.all(size > 0.0):
            message = f"{name}: {_KINDS[name]} positive sizes, not {size.tolist()}"
            raise ValueError(message)
        model.kind[k] = _KINDS[name]
        place = np.asarray(given, dtype=np.float64)
        if place.shape == (4, 4):
            model.pose[k] = place
        else:
            model.pose[k, :3, 3] = place
        model.size[k, : size.size] = size
    return model


@kernel
def obstacle_distance(
    model: ObstacleModel, obstacle: int, x: float, y: float, z: float
) -> tuple[float, float, float, float]:
    """Signed distance of a point to an obstacle, and the direction away from it.

    Args:
        model: the obstacles.
        obstacle: index.
        x: of the point in the limb's base frame [m].
        y: [m].
        z: [m].

    Returns:
        Distance [m], negative inside, and its gradient by the point, a unit vector
        (any one where it is not unique, as in the middle of a sphere).
    """
    pose = model.pose[obstacle]
    dx = x - pose[0, 3]
    dy = y - pose[1, 3]
    dz = z - pose[2, 3]
    lx = pose[0, 0] * dx + pose[1, 0] * dy + pose[2, 0] * dz
    ly = pose[0, 1] * dx + pose[1, 1] * dy + pose[2, 1] * dz
    lz = pose[0, 2] * dx + pose[1, 2] * dy + pose[2, 2] * dz
    kind = model.kind[obstacle]
    nx = 0.0
    ny = 0.0
    nz = 1.0
    distance = lz
    if kind == SPHERE:
        far = math.sqrt(lx * lx + ly * ly + lz * lz)
        distance = far - model.size[obstacle, 0]
        if far > 0.0:
            nx = lx / far
            ny = ly / far
            nz = lz / far
    elif kind == CYLINDER:
        rho = math.sqrt(lx * lx + ly * ly)
        out_x = lx / rho if rho > 0.0 else 1.0
        out_y = ly / rho if rho > 0.0 else 0.0
        up = math.copysign(1.0, lz)
        side = rho - model.size[obstacle, 0]
        top = abs(lz) - model.size[obstacle, 1]
        if side > 0.0 and top > 0.0:
            distance = math.sqrt(side * side + top * top)
            nx = out_x * side / distance
            ny = out_y * side / distance
            nz = up * top / distance
        elif side > top:
            distance = side
            nx = out_x
            ny = out_y
            nz = 0.0
        else:
            distance = top
            nz = up
    elif kind == BOX:
        ex = abs(lx) - model.size[obstacle, 0]
        ey = abs(ly) - model.size[obstacle, 1]
        ez = abs(lz) - model.size[obstacle, 2]
        most = max(ex, ey, ez)
        if most > 0.0:
            nx = max(ex, 0.0)
            ny = max(ey, 0.0)
            nz = max(ez, 0.0)
            distance = math.sqrt(nx * nx + ny * ny + nz * nz)
            nx = math.copysign(nx / distance, lx)
            ny = math.copysign(ny / distance, ly)
            nz = math.copysign(nz / distance, lz)
        else:
            distance = most
            nx = math.copysign(1.0, lx) if ex == most else 0.0
            ny = math.copysign(1.0, ly) if ey == most and nx == 0.0 else 0.0
            nz = math.copysign(1.0, lz) if nx == 0.0 and ny == 0.0 else 0.0
    return (
        distance,
        pose[0, 0] * nx + pose[0, 1] * ny + pose[0, 2] * nz,
        pose[1, 0] * nx + pose[1, 1] * ny + pose[1, 2] * nz,
        pose[2, 0] * nx + pose[2, 1] * ny + pose[2, 2] * nz,
    )
