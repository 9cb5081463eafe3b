"""Parts that several vehicles share: blocks, ducted propellers, canisters."""

import math

import numpy as np

from app.scene.meshes import Color, Mesh, ball, box, grid, lathe, linear, merge, move
from models.numerics import FloatArray

__all__ = [
    "DARK",
    "GLASS",
    "METAL",
    "beam",
    "block",
    "canister",
    "collar",
    "dome",
    "lamp",
    "place",
    "thruster",
]

DARK = linear("#23292e", 0.35)
METAL = linear("#aab4b8", 0.8)
GLASS = linear("#0b1a22", 1.0)

_BRASS = linear("#c9a24b", 0.6)
_LAMP = linear("#fff2cf", -1.0, 1.3)


def place(x: float, y: float, z: float) -> FloatArray:
    """(4, 4) pose at a point [m], axes as they are."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def block(
    size: tuple[float, float, float], round_off: float, bevel: float, color: Color
) -> Mesh:
    """A block about the origin: corners rounded about z, edges bevelled [m]."""
    half_x, half_y, half_z = (0.5 * value for value in size)
    outline = np.array(
        [
            (
                sx * (half_x - round_off) + round_off * math.cos(a),
                sy * (half_y - round_off) + round_off * math.sin(a),
            )
            for k, (sx, sy) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1)))
            for a in np.linspace(0.5 * math.pi * k, 0.5 * math.pi * (k + 1), 6)
        ]
    )
    inner = outline * (1.0 - bevel / np.array([half_x, half_y]))
    middle = np.zeros_like(outline)
    runs = (
        ((middle, -half_z), (inner, -half_z)),
        ((inner, -half_z), (outline, bevel - half_z)),
        ((outline, bevel - half_z), (outline, half_z - bevel)),
        ((outline, half_z - bevel), (inner, half_z)),
        ((inner, half_z), (middle, half_z)),
    )
    parts = []
    for run in runs:
        rings = [np.column_stack([ring, np.full(len(ring), z)]) for ring, z in run]
        parts.append(grid(np.stack(rings), color, wrap=True))
    flat = {0: -1.0, 4: 1.0}
    for k, up in flat.items():
        normal = np.zeros_like(parts[k].normal)
        normal[:, 2] = up
        parts[k] = parts[k]._replace(normal=normal)
    return merge(parts)


def beam(
    start: FloatArray | tuple[float, float, float],
    stop: FloatArray | tuple[float, float, float],
    width: float,
    height: float,
    color: Color,
) -> Mesh:
    """A bar of rectangular section between two points [m].

    Its height is upwards, along x where the bar itself stands; its width is across.
    """
    a, b = np.asarray(start, dtype=float), np.asarray(stop, dtype=float)
    length = float(np.linalg.norm(b - a))
    ahead = (b - a) / length
    up = np.array([0.0, 0.0, 1.0] if abs(ahead[2]) < 0.9 else [1.0, 0.0, 0.0])
    up = up - (up @ ahead) * ahead
    up /= np.linalg.norm(up)
    pose = np.eye(4)
    pose[:3, :3] = np.stack([np.cross(up, ahead), up, ahead], axis=1)
    pose[:3, 3] = 0.5 * (a + b)
    return move(box((width, height, length), color), pose)


def collar(low: float, high: float, radius: float, inner: float, color: Color) -> Mesh:
    """A ring about z from `low` to `high` with square edges [m]."""
    return lathe(
        [
            (low, inner),
            (low, radius),
            (low, radius),
            (high, radius),
            (high, radius),
            (high, inner),
        ],
        color,
        28,
    )


def canister(radius: float, length: float, color: Color) -> Mesh:
    """A pressure canister about z, its end caps bolted on, from 0 to `length` [m]."""
    cap = radius + 0.004
    parts = [
        lathe([(0.0, radius), (length, radius)], color, 28),
        collar(-0.010, 0.012, cap, 0.0, DARK),
        collar(length - 0.012, length + 0.010, cap, 0.0, DARK),
    ]
    for end in (-0.010, length + 0.010):
        for k in range(8):
            angle = 2.0 * math.pi * (k + 0.5) / 8
            x, y = 0.8 * cap * math.cos(angle), 0.8 * cap * math.sin(angle)
            parts.append(move(ball(0.0032, METAL, 6, 4), place(x, y, end)))
    return merge(parts)


def dome(radius: float, color: Color = GLASS) -> Mesh:
    """Half a ball on a dark ring, about z, from 0 outwards [m]."""
    half = lathe(
        [
            (radius * math.sin(a), radius * math.cos(a))
            for a in np.linspace(0.0, 0.5 * math.pi, 9)
        ],
        color,
        28,
    )
    return merge([half, collar(-0.006, 0.006, radius + 0.004, 0.9 * radius, DARK)])


def lamp(radius: float) -> Mesh:
    """A lamp in its housing about z, its glass at 0, shining along z [m]."""
    housing = lathe(
        [
            (-2.4 * radius, 0.0),
            (-2.4 * radius, 0.8 * radius),
            (-2.0 * radius, radius),
            (0.0, radius),
            (0.0, radius),
            (0.0, 0.82 * radius),
        ],
        METAL,
        18,
    )
    glass = lathe([(-0.001, 0.84 * radius), (0.0, 0.0)], _LAMP, 18)
    return merge([housing, glass])


def thruster(radius: float, length: float) -> Mesh:
    """A ducted propeller about z, which pushes along z; the middle at 0 [m]."""
    inner, half = 0.86 * radius, 0.5 * length
    duct = lathe(
        [
            (-half, inner),
            (-half, 0.5 * (inner + radius)),
            (-0.7 * half, radius),
            (0.8 * half, radius),
            (half, 0.5 * (inner + radius)),
            (0.9 * half, inner),
            (-half, inner),
        ],
        DARK,
        26,
    )
    hub = lathe(
        [
            (-1.1 * half, 0.0),
            (-1.0 * half, 0.10 * radius),
            (-0.5 * half, 0.26 * radius),
            (0.8 * half, 0.26 * radius),
            (1.1 * half, 0.0),
        ],
        METAL,
        16,
    )
    parts = [duct, hub]
    for k in range(3):
        turn = 2.0 * math.pi * k / 3
        blade = box((0.66 * radius, 0.42 * radius, 0.04 * radius), _BRASS)
        pitch = np.eye(4)
        pitch[1:3, 1:3] = [[0.8, -0.6], [0.6, 0.8]]
        pitch[0, 3] = 0.52 * radius
        spin = np.eye(4)
        spin[:2, :2] = [
            [math.cos(turn), -math.sin(turn)],
            [math.sin(turn), math.cos(turn)],
        ]
        parts.append(move(blade, spin @ pitch))
        strut = beam(
            (0.0, 0.0, -0.7 * half), (inner, 0.0, -0.7 * half), 0.004, 0.006, DARK
        )
        parts.append(move(strut, spin))
    return merge(parts)
