"""Rigid modules of a snake robot after Zhang 2022: white cases with propellers.

A module lies along x of its own frame, from its tail end at the origin. Outer
propellers stand on struts, those on the axis in a tunnel across the case.
"""

import math

import numpy as np

from app.config.bodies import PropellerParameters
from app.scene.meshes import Mesh, lathe, linear, merge, move, pose_along, sweep
from app.scene.parts import DARK, METAL, beam, collar, dome, lamp, place, thruster

__all__ = ["module_mesh"]

_CASE = linear("#e6eaec", 0.5)
_BLUE = linear("#2f7fd0", 0.5)
_HOSE = linear("#5c6a72", 0.3)


def module_mesh(
    length: float,
    radius: float,
    propellers: list[PropellerParameters],
    *,
    tail: bool = False,
    head: bool = False,
) -> Mesh:
    """Build a module.

    Args:
        length: [m].
        radius: [m].
        propellers: its own.
        tail: it is the last one, with the water hoses.
        head: it is the first one, with a camera and lamps.
    """
    start = 0.30 * radius if tail else 0.0
    stop = length - (0.55 * radius if head else 0.0)
    case = lathe([(start, radius), (stop, radius)], _CASE, 40)
    parts = [case]
    if tail:
        parts.append(_stern(radius))
    else:
        parts.append(collar(0.0, 0.014, 1.03 * radius, 0.2 * radius, DARK))
    if head:
        parts += _bow(length, radius)
    else:
        parts.append(collar(length - 0.014, length, 1.03 * radius, 0.2 * radius, DARK))
    for share in (0.16, 0.84):
        ring = share * length
        parts.append(collar(ring - 0.004, ring + 0.004, 1.008 * radius, radius, _BLUE))
    along_x = pose_along((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    parts = [move(part, along_x) for part in parts]
    if tail:
        parts += _hoses(radius)
    for propeller in propellers:
        parts += _propeller(propeller, radius)
    return merge(parts)


def _stern(radius: float) -> Mesh:
    return lathe(
        [
            (0.0, 0.0),
            (0.0, 0.62 * radius),
            (0.10 * radius, 0.82 * radius),
            (0.30 * radius, radius),
        ],
        DARK,
        40,
    )


def _bow(length: float, radius: float) -> list[Mesh]:
    """A faired nose with a dome for the camera between two lamps."""
    start = length - 0.55 * radius
    nose = lathe(
        [
            (start, radius),
            (start + 0.18 * radius, 0.97 * radius),
            (start + 0.36 * radius, 0.86 * radius),
            (start + 0.47 * radius, 0.72 * radius),
            (start + 0.50 * radius, 0.62 * radius),
            (start + 0.50 * radius, 0.62 * radius),
            (start + 0.50 * radius, 0.0),
        ],
        _CASE,
        40,
    )
    front = start + 0.50 * radius
    parts = [nose, move(dome(0.40 * radius), place(0.0, 0.0, front))]
    for angle in (0.25 * math.pi, 0.75 * math.pi, 1.25 * math.pi, 1.75 * math.pi):
        x, y = 0.70 * radius * math.cos(angle), 0.70 * radius * math.sin(angle)
        eye = pose_along((x, y, front - 0.004), (0.3 * math.cos(angle), 0.0, 1.0))
        parts.append(move(lamp(0.13 * radius), eye))
    return parts


def _hoses(radius: float) -> list[Mesh]:
    """The water pipes it drags behind."""
    parts = []
    t = np.linspace(0.0, 1.0, 16)[:, None]
    for k in range(6):
        angle = 2.0 * math.pi * k / 6
        y, z = 0.42 * radius * math.cos(angle), 0.42 * radius * math.sin(angle)
        gather = 1.0 - 0.72 * np.minimum(1.6 * t, 1.0)
        path = np.hstack(
            [-0.26 * t, y * gather - 0.05 * t * t, z * gather + 0.05 * t * t]
        )
        parts.append(sweep(path, 0.0038, _HOSE, 7))
    return parts


def _propeller(propeller: PropellerParameters, radius: float) -> list[Mesh]:
    where = np.asarray(propeller.position_mm) * 1e-3
    off = float(np.hypot(where[1], where[2]))
    if off < 0.5 * radius:
        return _tunnel(where, np.asarray(propeller.direction, dtype=float), radius)
    duct = 0.96 * (off - radius) if off - radius < 0.030 else 0.030
    outward = np.array([0.0, where[1], where[2]]) / off
    inner = np.array([where[0], 0.0, 0.0]) + 0.96 * radius * outward
    arms = [
        beam(
            inner + np.array([shift, 0.0, 0.0]),
            where - outward * duct * 0.7 + np.array([shift, 0.0, 0.0]),
            0.006,
            0.014,
            METAL,
        )
        for shift in (-0.012, 0.012)
    ]
    body = move(thruster(duct, 0.058), pose_along(where, propeller.direction))
    return [body, *arms]


def _tunnel(where: np.ndarray, direction: np.ndarray, radius: float) -> list[Mesh]:
    """A propeller inside, seen through an opening at each end of its tunnel."""
    axis = direction / np.linalg.norm(direction)
    parts = []
    hole = 0.56 * radius
    for side in (-1.0, 1.0):
        reach = math.sqrt(radius * radius - hole * hole)
        rim = lathe(
            [
                (reach - 0.004, hole + 0.004),
                (radius + 0.003, hole + 0.004),
                (radius + 0.003, hole + 0.004),
                (radius + 0.003, hole),
                (radius + 0.003, hole),
                (radius - 0.004, 0.96 * hole),
                (radius - 0.004, 0.0),
            ],
            DARK,
            26,
        )
        blades = move(thruster(0.93 * hole, 0.012), place(0.0, 0.0, radius - 0.001))
        pose = pose_along(where, side * axis)
        parts += [move(rim, pose), move(blades, pose)]
    return parts
