"""The place the robot works at: a seabed and what stands on it.

The hull is fixed, so the site is given in the hull frame: the robot hovers over sand
beside a subsea pipe with a valve and a few rocks. The obstacles that limbs can come
near are also solids for PyBullet; each says which.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from app.config.robot import RobotParameters
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

__all__ = [
    "SEABED_Z",
    "Ground",
    "Obstacle",
    "far_rocks_mesh",
    "seabed_height",
    "seabed_mesh",
    "site_mesh",
    "site_obstacles",
]

SEABED_Z = -0.62  # mean height of the sand below the hull's axis [m]

_CENTRE_X = 0.2  # of the fine sand [m]

_SAND = linear("#a59c8a", 0.0)
_ROCK = linear("#676c69", 0.1)
_PIPE = linear("#a7a48f", 0.25)
_STEEL = linear("#8a9499", 0.5)
_RED = linear("#d23c2e", 0.4)
_CONCRETE = linear("#8e8d84", 0.05)

_PIPE_X, _PIPE_Z, _PIPE_RADIUS = 0.98, -0.47, 0.09
_VALVE = np.array([0.98, -0.30, -0.16])
_ROCKS = (
    # x, y, radius, flattening, seed
    (0.46, 0.64, 0.15, 0.75, 1),
    (0.28, 0.86, 0.09, 0.80, 2),
    (0.66, 0.74, 0.07, 0.85, 3),
    (0.40, -0.66, 0.11, 0.70, 4),
    (-0.75, 1.25, 0.30, 0.62, 5),
    (-1.45, -1.15, 0.36, 0.60, 6),
    (3.30, 2.30, 0.55, 0.62, 7),
    (2.05, -1.50, 0.34, 0.70, 8),
    (-0.30, -1.35, 0.14, 0.70, 9),
    (3.60, -0.40, 0.42, 0.60, 10),
    (1.55, 0.35, 0.09, 0.80, 11),
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


@dataclass(frozen=True)
class Ground:
    """The sand under a robot.

    Attributes:
        z: its mean height in the hull frame [m].
        level_radius: within this distance of the hull it is level [m], for feet.
    """

    z: float = SEABED_Z
    level_radius: float = 0.0

    @classmethod
    def under(cls, robot: RobotParameters) -> "Ground":
        """Make the sand as far below the hull as the robot's file says."""
        return cls(-1e-3 * robot.hull.over_seabed_mm, 0.8 if robot.legs else 0.0)


_GROUND = Ground()


def seabed_height(x: FloatArray, y: FloatArray, ground: Ground = _GROUND) -> FloatArray:
    """Height of the sand [m] over points of the hull's x-y plane [m]."""
    distance = np.hypot(x, y)
    swell = 0.025 * np.sin(1.7 * x + 0.4) * np.cos(1.3 * y - 0.8)
    if ground.level_radius:
        swell = swell * np.clip(2.0 * distance / ground.level_radius - 2.0, 0.0, 1.0)
    dunes = 0.10 * np.sin(0.55 * x + 1.1) * np.sin(0.48 * y + 0.3)
    return np.asarray(
        ground.z + swell + dunes * np.clip((distance - 1.2) / 3.0, 0.0, 3.0)
    )


def seabed_mesh(ground: Ground = _GROUND) -> tuple[Mesh, Mesh]:
    """Sand about the robot, fine near and coarse far, out to where water hides it.

    The near part is fine enough to carry shadows and the lamp's light at its vertices.
    The gloss of its colours says how much grain shows there.

    Returns:
        The near part, a square, and the rest.
    """
    reach = 2.4
    ahead, across = np.linspace(-1.0, 1.0, 61), np.linspace(-1.0, 1.0, 61)
    # closer together in the middle: 5 cm under the robot, 14 cm at the edge
    ahead, across = (0.6 * line + 0.4 * line**3 for line in (ahead, across))
    x, y = np.meshgrid(_CENTRE_X + reach * ahead, reach * across, indexing="ij")
    near = _sand(x, y, ground, wrap=False)
    angle = np.linspace(0.0, 2.0 * math.pi, 64, endpoint=False) + math.pi / 64
    square = reach / np.maximum(np.abs(np.cos(angle)), np.abs(np.sin(angle)))
    ring = np.geomspace(1.0, 17.0, 26)[:, None]
    # from the square's edge to a circle, a little under the near part where they meet
    blend = np.clip((ring - 1.0) / 2.0, 0.0, 1.0)
    radius = ring * ((1.0 - blend) * 0.985 * square + blend * reach)
    x, y = _CENTRE_X + radius * np.cos(angle), radius * np.sin(angle)
    far = _sand(x, y, ground, wrap=True)
    far.position[: angle.size, 2] -= 0.004
    return near, far


def _sand(x: FloatArray, y: FloatArray, ground: Ground, *, wrap: bool) -> Mesh:
    def height(x: FloatArray, y: FloatArray) -> FloatArray:
        return seabed_height(x, y, ground)

    position = np.stack([x, y, height(x, y)], axis=-1)
    mesh = grid(position, _SAND, wrap=wrap, flip=True)
    step = 1e-3
    east = (height(x + step, y) - height(x - step, y)) / (2.0 * step)
    north = (height(x, y + step) - height(x, y - step)) / (2.0 * step)
    normal = np.stack([-east, -north, np.ones_like(x)], axis=-1).reshape(-1, 3)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    color = mesh.color.copy()
    away = np.hypot(x - _CENTRE_X, y).ravel()
    color[:, 3] = np.clip((2.6 - away) / 1.4, 0.0, 1.0)
    drift = np.sin(2.3 * x + 1.1 * np.sin(1.9 * y)) * np.sin(1.7 * y + 0.6)
    color[:, :3] *= 1.0 + 0.10 * drift.reshape(-1, 1)
    return mesh._replace(normal=normal, color=color)


def site_obstacles(ground: Ground = _GROUND) -> tuple[Obstacle, ...]:
    """Solids for closest points, on the given ground."""
    lift = _pose(0.0, 0.0, ground.z - SEABED_Z)
    level = replace(ground, z=SEABED_Z)
    return tuple(
        replace(obstacle, pose=lift @ obstacle.pose) for obstacle in _obstacles(level)
    )


def _obstacles(ground: Ground) -> tuple[Obstacle, ...]:
    obstacles = [
        Obstacle(
            f"rock {k + 1}",
            "sphere",
            (radius * (0.5 + 0.5 * flat),),
            _pose(x, y, _rock_height(x, y, radius, flat, ground)),
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
    sand = Obstacle("seabed", "box", (4.0, 4.0, 0.25), _pose(0, 0, SEABED_Z - 0.27))
    return (*obstacles, sand)


def site_mesh(ground: Ground = _GROUND) -> Mesh:
    """Rocks, the pipe on its saddles and the valve, in the hull frame."""
    level = replace(ground, z=SEABED_Z)
    mesh = merge([*_rocks(level), *_pipe(), *_valve()])
    return move(mesh, _pose(0.0, 0.0, ground.z - SEABED_Z))


def far_rocks_mesh(ground: Ground = _GROUND) -> Mesh:
    """Rocks that no limb can come near, in the hull frame: for a scene of its own."""
    mesh = merge(_rocks(replace(ground, z=SEABED_Z))[4:])
    return move(mesh, _pose(0.0, 0.0, ground.z - SEABED_Z))


def _pose(x: float, y: float, z: float) -> FloatArray:
    pose = np.eye(4)
    pose[:3, 3] = (x, y, z)
    return pose


def _rock_height(
    x: float, y: float, radius: float, flat: float, ground: Ground
) -> float:
    sand = float(seabed_height(np.asarray(x), np.asarray(y), ground))
    return sand + 0.45 * radius * flat


def _rocks(ground: Ground) -> list[Mesh]:
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
            return np.asarray(unit * bumps[:, None] * np.array([1.0, 1.0, flat]))

        near = math.hypot(x, y) < 1.1
        sides, rings = (22, 14) if near else (16, 10)
        rock = ball(radius, _ROCK, sides, rings, shape)
        color = rock.color.copy()
        grain = np.sin(rock.position / radius @ (5.0 * waves.T) + 2.0 * phases)
        color[:, :3] *= 1.0 + 0.10 * grain.sum(axis=1, keepdims=True) / math.sqrt(7.0)
        # silt settles on what faces up, and little light reaches the foot
        silt = np.clip(rock.normal[:, 2] - 0.5, 0.0, 1.0)[:, None]
        color[:, :3] += silt * (np.asarray(_SAND[:3]) * 0.7 - color[:, :3])
        foot = np.clip(0.75 + 0.9 * rock.position[:, 2] / (radius * flat), 0.35, 1.0)
        color[:, :3] *= foot[:, None] * generator.uniform(0.85, 1.15)
        rock = rock._replace(color=color)
        parts.append(move(rock, _pose(x, y, _rock_height(x, y, radius, flat, ground))))
    return parts


def _pipe() -> list[Mesh]:
    ends = np.concatenate(
        [[-9.0, -5.0, -3.0], np.linspace(-2.0, 2.0, 11), [3.0, 5.0, 9.0]]
    )
    run = lathe([(float(end), _PIPE_RADIUS) for end in ends], _PIPE, 26)
    pose = pose_along((_PIPE_X, 0.0, _PIPE_Z), (0.0, 1.0, 0.0))
    parts = [move(run, pose)]
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
            22,
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
    angle = np.linspace(0.0, 2.0 * math.pi, 36, endpoint=False)
    rim = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    parts.append(move(sweep(0.10 * rim, 0.011, _RED, 8, closed=True), _pose(x, y, z)))
    for k in range(5):
        a = 2.0 * math.pi * k / 5
        end = np.array([0.10 * math.cos(a), 0.10 * math.sin(a), 0.0])
        spoke = sweep(np.stack([0.1 * end + [0, 0, -0.006], end]), 0.007, _RED, 6)
        parts.append(move(spoke, _pose(x, y, z)))
    hub = lathe(
        [(-0.016, 0.0), (-0.016, 0.022), (0.012, 0.022), (0.014, 0.018), (0.014, 0.0)],
        _RED,
        18,
    )
    parts.append(move(hub, _pose(x, y, z)))
    return parts
