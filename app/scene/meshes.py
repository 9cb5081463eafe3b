"""Triangle meshes made of simple solids: pure numpy, flat lists of vertices.

Positions are metres. A colour has four parts: linear red, green and blue (0..1, above
1 glows), then gloss 0..1; a negative gloss marks a surface that shines by itself and
is not lit. Triangles wind anticlockwise seen from outside.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from models.numerics import FloatArray

__all__ = [
    "Color",
    "Mesh",
    "ball",
    "box",
    "grid",
    "lathe",
    "linear",
    "merge",
    "move",
    "pose_along",
    "sweep",
]

Color = tuple[float, float, float, float]


class Mesh(NamedTuple):
    """Vertices and the triangles between them."""

    position: FloatArray
    """(n, 3) [m]."""
    normal: FloatArray
    """(n, 3) unit vectors outwards."""
    color: FloatArray
    """(n, 4) linear red, green, blue, then gloss."""
    triangles: NDArray[np.int32]
    """(m, 3) indices of vertices."""


def linear(text: str, gloss: float = 0.2, gain: float = 1.0) -> Color:
    """Turn "#rrggbb" into a linear colour, with display gamma 2 as the shaders have.

    Args:
        text: the colour as CSS writes it.
        gloss: 0 matt .. 1 polished; negative: shines by itself.
        gain: factor on the light.
    """
    red, green, blue = (int(text[k : k + 2], 16) / 255.0 for k in (1, 3, 5))
    return gain * red**2, gain * green**2, gain * blue**2, gloss


def merge(parts: Sequence[Mesh]) -> Mesh:
    """Put meshes into one list."""
    offsets = np.cumsum([0] + [part.position.shape[0] for part in parts[:-1]])
    return Mesh(
        np.concatenate([part.position for part in parts]),
        np.concatenate([part.normal for part in parts]),
        np.concatenate([part.color for part in parts]),
        np.concatenate(
            [part.triangles + k for part, k in zip(parts, offsets, strict=True)]
        ).astype(np.int32),
    )


def move(mesh: Mesh, pose: FloatArray) -> Mesh:
    """Carry a mesh by a rigid (4, 4) pose [m]."""
    rotation = pose[:3, :3]
    return mesh._replace(
        position=mesh.position @ rotation.T + pose[:3, 3],
        normal=mesh.normal @ rotation.T,
    )


def pose_along(position: ArrayLike, direction: ArrayLike) -> FloatArray:
    """(4, 4) pose at a position [m] whose z points along a direction."""
    z_axis = np.asarray(direction, dtype=float)
    z_axis = z_axis / np.linalg.norm(z_axis)
    hint = np.eye(3)[int(np.argmin(np.abs(z_axis)))]
    x_axis = np.cross(hint, z_axis)
    x_axis /= np.linalg.norm(x_axis)
    pose = np.eye(4)
    pose[:3, :3] = np.stack([x_axis, np.cross(z_axis, x_axis), z_axis], axis=1)
    pose[:3, 3] = position
    return pose


def grid(
    position: FloatArray, color: Color, *, wrap: bool = False, flip: bool = False
) -> Mesh:
    """Skin a lattice of points; normals come from the lattice itself.

    Args:
        position: (rows, columns, 3) [m].
        color: one for all.
        wrap: the last column joins the first.
        flip: turn the surface inside out.
    """
    rows, columns, _ = position.shape
    lattice = np.arange(rows * columns).reshape(rows, columns)
    right = np.roll(lattice, -1, axis=1) if wrap else lattice[:, 1:]
    left = lattice if wrap else lattice[:, :-1]
    a, b = left[:-1].ravel(), right[:-1].ravel()
    c, d = right[1:].ravel(), left[1:].ravel()
    triangles = np.concatenate(
        [np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]
    )
    if flip:
        triangles = triangles[:, ::-1]
    flat = position.reshape(-1, 3)
    edge1 = flat[triangles[:, 1]] - flat[triangles[:, 0]]
    edge2 = flat[triangles[:, 2]] - flat[triangles[:, 0]]
    facing = np.cross(edge1, edge2)
    kept = np.linalg.norm(facing, axis=1) > 1e-14
    normal = np.zeros_like(flat)
    for corner in range(3):
        np.add.at(normal, triangles[:, corner], facing)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = np.divide(normal, length, out=np.zeros_like(normal), where=length > 1e-16)
    return Mesh(
        flat,
        normal,
        np.tile(np.asarray(color, dtype=float), (flat.shape[0], 1)),
        triangles[kept].astype(np.int32),
    )


def lathe(
    profile: Sequence[tuple[float, float]], color: Color, sides: int = 32
) -> Mesh:
    """Turn a profile about z.

    Args:
        profile: (z, radius) points [m] from bottom to top; give a point twice for a
            sharp edge.
        color: one for all.
        sides: facets about the axis.
    """
    points = np.asarray(profile, dtype=float)
    breaks = np.flatnonzero((np.diff(points, axis=0) == 0.0).all(axis=1)) + 1
    angle = np.arange(sides) * (2.0 * math.pi / sides)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    parts = []
    for run in np.split(points, breaks):
        position = np.empty((run.shape[0], sides, 3))
        position[..., :2] = run[:, None, 1:] * circle
        position[..., 2] = run[:, :1]
        part = grid(position, color, wrap=True)
        tip = run[:, 1] < 1e-9  # a point on the axis: its normal is along the axis
        if tip.any():
            slope = np.zeros((run.shape[0], 3))
            slope[:, 2] = np.where(np.arange(run.shape[0]) == 0, -1.0, 1.0)
            normal = part.normal.reshape(run.shape[0], sides, 3)
            normal[tip] = slope[tip][:, None, :]
            part = part._replace(normal=normal.reshape(-1, 3))
        parts.append(part)
    return merge(parts)


def ball(
    radius: float,
    color: Color,
    sides: int = 20,
    rings: int = 10,
    shape: Callable[[FloatArray], FloatArray] | None = None,
) -> Mesh:
    """A sphere, or what `shape` makes of (n, 3) unit vectors, times a radius [m]."""
    polar = np.linspace(math.pi, 0.0, rings + 1)
    angle = np.arange(sides) * (2.0 * math.pi / sides)
    unit = np.empty((rings + 1, sides, 3))
    unit[..., 0] = np.sin(polar)[:, None] * np.cos(angle)
    unit[..., 1] = np.sin(polar)[:, None] * np.sin(angle)
    unit[..., 2] = np.cos(polar)[:, None]
    flat = unit.reshape(-1, 3)
    position = flat if shape is None else shape(flat)
    mesh = grid(radius * position.reshape(unit.shape), color, wrap=True)
    # every corner of a pole ring sits on the pole: they share one normal
    normal = mesh.normal.reshape(unit.shape)
    for pole in (0, -1):
        mean = normal[pole].mean(axis=0)
        normal[pole] = mean / max(float(np.linalg.norm(mean)), 1e-12)
    return mesh._replace(normal=normal.reshape(-1, 3))


def box(size: Sequence[float], color: Color) -> Mesh:
    """A box about the origin with full edge lengths `size` [m]."""
    half = 0.5 * np.asarray(size, dtype=float)
    positions, normals, triangles = [], [], []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            u, v = (axis + 1) % 3, (axis + 2) % 3
            if sign < 0.0:
                u, v = v, u
            for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                corner = np.zeros(3)
                corner[axis], corner[u], corner[v] = sign, a, b
                positions.append(corner * half)
                normal = np.zeros(3)
                normal[axis] = sign
                normals.append(normal)
            base = len(positions) - 4
            triangles += [[base, base + 1, base + 2], [base, base + 2, base + 3]]
    return Mesh(
        np.asarray(positions),
        np.asarray(normals),
        np.tile(np.asarray(color, dtype=float), (24, 1)),
        np.asarray(triangles, dtype=np.int32),
    )


def sweep(
    path: FloatArray,
    radius: float,
    color: Color,
    sides: int = 10,
    *,
    closed: bool = False,
) -> Mesh:
    """A round bar of one radius [m] along an (n, 3) path [m]; closed joins its ends."""
    ahead = np.roll(path, -1, axis=0) - path
    behind = path - np.roll(path, 1, axis=0)
    if not closed:
        ahead[-1], behind[0] = behind[-1], ahead[0]
    tangent = ahead / np.linalg.norm(ahead, axis=1, keepdims=True)
    tangent = tangent + behind / np.linalg.norm(behind, axis=1, keepdims=True)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    hint = np.eye(3)[int(np.argmin(np.abs(tangent).max(axis=0)))]
    across = np.cross(tangent, hint)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    other = np.cross(tangent, across)
    angle = np.arange(sides) * (2.0 * math.pi / sides)
    rings = path[:, None] + radius * (
        across[:, None] * np.cos(angle)[None, :, None]
        + other[:, None] * np.sin(angle)[None, :, None]
    )
    if closed:
        rings = np.concatenate([rings, rings[:1]])
    return grid(rings, color, wrap=True)
