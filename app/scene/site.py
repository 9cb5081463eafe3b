"""The place the robot works at: a seabed and what stands on it.

The hull is fixed, so the site is given in the hull frame: the robot hovers over sand
beside a subsea pipe with a valve and a few rocks. The obstacles that limbs can come
near are also solids for PyBullet; each says which.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.scene.meshes import (
    Mesh,
    ball,
    box,
    grid,
    lathe,
    linear,
    merge,
    move,
    pose_along,
    sweep,
)
from models.numerics import FloatArray

__all__ = ["SEABED_Z", "Obstacle", "seabed_height", "seabed_mesh", "site_mesh", "site_obstacles"]

SEABED_Z = -0.62  # mean height of the sand below the hull's axis [m]

_SAND = linear("#b9a988", 0.0)
_ROCK = linear("#6f7470", 0.1)
_PIPE = linear("#d8cfae", 0.3)
_STEEL = linear("#8a9499", 0.5)
_RED = linear("#d23c2e", 0.4)
_CONCRETE = linear("#8e8d84", 0.05)

_PIPE_X, _PIPE_Z, _PIPE_RADIUS = 0.98, -0.47, 0.09
_VALVE = np.array([0.98, -0.30, -0.16])
_ROCKS = (
    # x, y, radius, flattening, seed
    (0.60, 0.44, 0.17, 0.75, 1),
    (0.40, 0.62, 0.10, 0.80, 2),
    (0.78, 0.58, 0.08, 0.85, 3),
    (0.42, -0.62, 0.12, 0.70, 4),
    (-0.55, 0.95, 0.30, 0.62, 5),
    (-1.35, -1.05, 0.36, 0.60, 6),
    (2.10, 1.05, 0.55, 0.62, 7),
    (1.75, -1.60, 0.34, 0.70, 8),
    (-0.30, -1.30, 0.14, 0.70, 9),
    (0.15, 1.45, 0.20, 0.65, 10),
)


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A solid a limb can come near.

    Attributes:
        name: for a person.
        kind: "sphere" (size: radius), "box" (half extents) or "cylinder" (radius,
            height; along z).
        size: [m].
        pose: (4, 4) in the hull frame [m].
    """

    name: str
    kind: Literal["sphere", "box", "cylinder"]
    size: tuple[float, ...]
    pose: FloatArray


def seabed_height(x: FloatArray, y: FloatArray) -> FloatArray:
    """Height of the sand [m] over points of the hull's x-y plane [m]."""
    distance = np.hypot(x, y)
    swell = 0.025 * np.sin(1.7 * x + 0.4) * np.cos(1.3 * y - 0.8)
    dunes = 0.10 * np.sin(0.55 * x + 1.1) * np.sin(0.48 * y + 0.3)
    return np.asarray(SEABED_Z + swell + dunes * np.clip((distance - 1.2) / 3.0, 0.0, 3.0))


def seabed_mesh() -> tuple[Mesh, Mesh]:
    """Sand about the robot, fine near and coarse far, out to where water hides it.

    Returns:
        The near part, within 2.6 m, and the rest.
    """
    near = _sand(np.concatenate([[0.0], np.geomspace(0.12, 2.6, 26)]))
    return near, _sand(np.geomspace(2.6, 40.0, 24))


def _sand(ring: FloatArray) -> Mesh:
    angle = np.linspace(0.0, 2.0 * math.pi, 56, endpoint=False)
    x = 0.2 + ring[:, None] * np.cos(angle)
    y = ring[:, None] * np.sin(angle)
    position = np.stack([x, y, seabed_height(x, y)], axis=-1)
    mesh = grid(position, _SAND, wrap=True, flip=True)
    step = 1e-3
    east = (seabed_height(x + step, y) - seabed_height(x - step, y)) / (2.0 * step)
    north = (seabed_height(x, y + step) - seabed_height(x, y - step)) / (2.0 * step)
    normal = np.stack([-east, -north, np.ones_like(x)], axis=-1).reshape(-1, 3)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    return mesh._replace(normal=normal)


def site_obstacles() -> tuple[Obstacle, ...]:
    """Solids for closest points."""
    obstacles = [
        Obstacle(
            f"rock {k + 1}",
            "sphere",
            (radius * (0.5 + 0.5 * flat),),
            _pose(x, y, _rock_height(x, y, radius, flat)),
        )
        for k, (x, y, radius, flat, _) in enumerate(_ROCKS[:4])
    ]
    pipe = pose_along((_PIPE_X, 0.0, _PIPE_Z), (0.0, 1.0, 0.0))
    obstacles.append(Obstacle("pipe", "cylinder", (_PIPE_RADIUS, 4.0), pipe))
    wheel = pose_along(_VALVE, (0.0, 0.0, 1.0))
    obstacles.append(Obstacle("valve wheel", "cylinder", (0.105, 0.022), wheel))
    stem = pose_along(
        (_VALVE[0], _VALVE[1], 0.5 * (_PIPE_Z + _VALVE[2])), (0.0, 0.0, 1.0)
    )
    height = float(_VALVE[2] - _PIPE_Z)
    obstacles.append(Obstacle("valve", "cylinder", (0.05, height), stem))
    ground = Obstacle(
        "seabed", "box", (4.0, 4.0, 0.25), _pose(0.0, 0.0, SEABED_Z - 0.27)
    )
    return (*obstacles, ground)


def site_mesh() -> Mesh:
    """Rocks, the pipe on its saddles and the valve, in the hull frame."""
    return merge([*_rocks(), *_pipe(), *_valve()])


def _pose(x: float, y: float, z: float) -> FloatArray:
    pose = np.eye(4)
    pose[:3, 3] = (x, y, z)
    return pose


def _rock_height(x: float, y: float, radius: float, flat: float) -> float:
    ground = float(seabed_height(np.asarray(x), np.asarray(y)))
    return ground + 0.45 * radius * flat


def _rocks() -> list[Mesh]:
    parts = []
    for x, y, radius, flat, seed in _ROCKS:
        generator = np.random.default_rng(seed)
        waves = generator.normal(size=(7, 3)) * np.linspace(1.2, 4.5, 7)[:, None]
        phases = generator.uniform(0.0, 2.0 * math.pi, 7)
        strengths = np.linspace(0.13, 0.035, 7)

        def shape(
            unit: FloatArray,
            waves: FloatArray = waves,
            phases: FloatArray = phases,
            strengths: FloatArray = strengths,
            flat: float = flat,
        ) -> FloatArray:
            bumps = 1.0 + np.sin(unit @ waves.T + phases) @ strengths
            return unit * bumps[:, None] * np.array([1.0, 1.0, flat])

        rock = ball(radius, _ROCK, 22, 14, shape)
        # silt settles on what faces up
        silt = np.clip(rock.normal[:, 2] - 0.45, 0.0, 1.0)[:, None] * 1.1
        color = rock.color.copy()
        color[:, :3] += silt * (np.asarray(_SAND[:3]) * 0.8 - color[:, :3])
        color[:, :3] *= generator.uniform(0.8, 1.15)
        rock = rock._replace(color=color)
        parts.append(move(rock, _pose(x, y, _rock_height(x, y, radius, flat))))
    return parts


def _pipe() -> list[Mesh]:
    run = lathe([(-9.0, _PIPE_RADIUS), (9.0, _PIPE_RADIUS)], _PIPE, 28)
    cut = [
        lathe([(a, _PIPE_RADIUS), (b, _PIPE_RADIUS)], _PIPE, 28)
        for a, b in zip(
            np.concatenate([[-9.0, -5.0, -3.0], np.linspace(-2.0, 2.0, 17)]),
            np.concatenate([[-5.0, -3.0], np.linspace(-2.0, 2.0, 17), [5.0]]),
            strict=True,
        )
    ]
    del run
    pose = pose_along((_PIPE_X, 0.0, _PIPE_Z), (0.0, 1.0, 0.0))
    parts = [move(part, pose) for part in cut]
    for y in (-1.15, 0.42, 1.9):
        flange = lathe(
            [
                (-0.022, _PIPE_RADIUS),
                (-0.022, 0.128),
                (-0.022, 0.128),
                (-0.003, 0.128),
                (-0.003, 0.128),
                (-0.003, 0.118),
                (0.003, 0.118),
                (0.003, 0.128),
                (0.003, 0.128),
                (0.022, 0.128),
                (0.022, 0.128),
                (0.022, _PIPE_RADIUS),
            ],
            _STEEL,
            28,
        )
        parts.append(move(flange, pose_along((_PIPE_X, y, _PIPE_Z), (0.0, 1.0, 0.0))))
    for y in (-0.75, 1.1):
        ground = float(seabed_height(np.asarray(_PIPE_X), np.asarray(y)))
        top = _PIPE_Z - 0.3 * _PIPE_RADIUS
        height = top - ground + 0.1
        saddle = box((0.30, 0.12, height), _CONCRETE)
        parts.append(move(saddle, _pose(_PIPE_X, y, top - 0.5 * height)))
    return parts


def _valve() -> list[Mesh]:
    x, y, z = (float(value) for value in _VALVE)
    body = lathe(
        [
            (0.0, 0.075),
            (0.12, 0.072),
            (0.14, 0.062),
            (0.14, 0.062),
            (0.145, 0.075),
            (0.165, 0.075),
            (0.165, 0.075),
            (0.165, 0.040),
            (0.21, 0.034),
            (0.23, 0.028),
            (0.23, 0.028),
            (0.23, 0.013),
            (z - _PIPE_Z + 0.03, 0.013),
            (z - _PIPE_Z + 0.03, 0.0),
        ],
        _STEEL,
        24,
    )
    parts = [move(body, _pose(x, y, _PIPE_Z))]
    angle = np.linspace(0.0, 2.0 * math.pi, 40, endpoint=False)
    rim = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    parts.append(move(sweep(0.10 * rim, 0.011, _RED, 10, closed=True), _pose(x, y, z)))
    for k in range(5):
        a = 2.0 * math.pi * k / 5
        end = np.array([0.10 * math.cos(a), 0.10 * math.sin(a), 0.0])
        spoke = sweep(np.stack([0.1 * end + [0, 0, -0.006], end]), 0.007, _RED, 8)
        parts.append(move(spoke, _pose(x, y, z)))
    hub = lathe(
        [(-0.016, 0.0), (-0.016, 0.022), (0.012, 0.022), (0.014, 0.018), (0.014, 0.0)],
        _RED,
        18,
    )
    parts.append(move(hub, _pose(x, y, z)))
    return parts
