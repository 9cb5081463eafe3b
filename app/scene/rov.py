"""A small underwater vehicle of three degrees of freedom that carries an arm below.

After Gong 2018 Sec. III.C, which shows a picture and gives no drawing: an open frame
under a float, two propellers astern for surge and yaw and two across for heave.
"""

import numpy as np

from app.config.bodies import HullParameters
from app.scene.meshes import Mesh, linear, merge, move, pose_along, sweep
from app.scene.parts import (
    DARK,
    METAL,
    beam,
    block,
    canister,
    collar,
    dome,
    lamp,
    place,
    thruster,
)

__all__ = ["arm_coupling", "rov_meshes"]

_FLOAT = linear("#f0b429", 0.3)
_FRAME = linear("#39444c", 0.3)
_SKID = linear("#1f2529", 0.2)
_TUBE = linear("#cfd6d9", 0.7)
_TETHER = linear("#e8d23a", 0.2)


def rov_meshes(hull: HullParameters) -> list[Mesh]:
    """Build the vehicle about the hull's origin, its middle [m]."""
    length = hull.length_mm * 1e-3
    width = (hull.width_mm or 0.0) * 1e-3
    height = (hull.height_mm or 0.0) * 1e-3
    top, bottom = 0.5 * height, -0.5 * height
    ahead, side = 0.5 * length, 0.5 * width
    foam = 0.30 * height
    parts = []
    for y in (-1.0, 1.0):
        half = block((0.86 * length, 0.30 * width, foam), 0.035, 0.012, _FLOAT)
        parts.append(move(half, place(-0.02, 0.34 * y * width, top - 0.5 * foam)))
        parts += _side(ahead, side * y, top - foam, bottom)
        heave = thruster(0.044, 0.050)
        parts.append(move(heave, place(-0.05 * length, 0.085 * y, top - 0.7 * foam)))
        surge = move(
            thruster(0.044, 0.056),
            pose_along(
                (-0.42 * length, 0.27 * y * width, -0.08 * height), (1.0, 0.16 * y, 0.0)
            ),
        )
        parts.append(surge)
        light = pose_along(
            (0.47 * length, 0.38 * y * width, -0.12 * height), (1.0, 0.0, -0.3)
        )
        parts.append(move(lamp(0.018), light))
    for x in (-0.33 * length, 0.10 * length, 0.36 * length):
        parts.append(
            beam((x, -side, top - foam), (x, side, top - foam), 0.012, 0.026, _FRAME)
        )
    for x in (-0.30 * length, 0.30 * length):
        low = bottom + 0.014
        parts.append(beam((x, -side, low), (x, side, low), 0.012, 0.030, _FRAME))
    plate = block((0.62 * length, 0.40 * width, 0.010), 0.02, 0.003, _FRAME)
    parts.append(move(plate, place(0.0, 0.0, bottom + 0.006)))
    tube, pack = 0.058, 0.036
    eyes = pose_along((-0.26 * length, 0.0, 0.06 * height), (1.0, 0.0, 0.0))
    parts.append(move(canister(tube, 0.56 * length, _TUBE), eyes))
    window = pose_along((0.30 * length + 0.012, 0.0, 0.06 * height), (1.0, 0.0, 0.0))
    parts.append(move(dome(tube - 0.002), window))
    power = pose_along((-0.24 * length, 0.0, bottom + 0.06), (1.0, 0.0, 0.0))
    parts.append(move(canister(pack, 0.44 * length, _TUBE), power))
    parts.append(_tether(length, top - foam))
    return parts


def _side(ahead: float, y: float, top: float, bottom: float) -> list[Mesh]:
    """One side of the frame: rails, posts and a skid."""
    parts = [
        beam((-0.9 * ahead, y, top), (0.92 * ahead, y, top), 0.012, 0.034, _FRAME),
        beam((-0.98 * ahead, y, bottom), (ahead, y, bottom), 0.022, 0.020, _SKID),
    ]
    for foot, head in ((-0.86, -0.80), (-0.10, -0.10), (0.82, 0.70)):
        parts.append(
            beam(
                (foot * ahead, y, bottom), (head * ahead, y, top), 0.012, 0.036, _FRAME
            )
        )
    return parts


def _tether(length: float, height: float) -> Mesh:
    """The tether where it leaves the stern."""
    t = np.linspace(0.0, 1.0, 14)[:, None]
    start, rise = np.array([-0.36 * length, 0.0, height]), np.array([-0.5, 0.0, 0.9])
    path = start + 0.30 * t * np.array([-0.55, 0.12, 0.1]) + 0.16 * t * t * rise
    return sweep(path, 0.0045, _TETHER, 8)


def arm_coupling(drop: float, radius: float) -> Mesh:
    """The coupling between the vehicle and an arm about z, `drop` long below 0 [m]."""
    rim = collar(-drop - 0.004, 0.004 - drop, radius + 0.006, 0.0, DARK)
    if drop <= 0.0:
        return rim
    return merge([rim, collar(-drop, 0.0, radius + 0.010, 0.0, METAL)])
