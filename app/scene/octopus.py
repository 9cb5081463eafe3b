"""Roots and mantle of the pulsed-jet swimmers of Renda 2018.

The mantle is drawn at rest, from models/star: its cap, the part of a sphere that is
cut off, is rigid; the jet leaves astern. Valves, float and fittings are not in the
paper's numbers: the float is that of Fig. 8, "fitted to the dorsal part".
"""

import math

import numpy as np

from app.config.bodies import HullParameters, MantleParameters
from app.scene.meshes import (
    Color,
    Mesh,
    ball,
    lathe,
    linear,
    merge,
    move,
    pose_along,
    sweep,
)
from app.scene.parts import DARK, METAL, beam, collar, place
from models.numerics import FloatArray
from models.star import mantle_profile

__all__ = ["bars_meshes", "cone_meshes", "mantle_bracket", "mantle_mesh"]

_PLASTIC = linear("#e9edee", 0.4)
_BAR = linear("#c2cace", 0.7)
_FLOAT = linear("#f08a2c", 0.35)
_CABLE = linear("#5a2f2a", 0.2)
_INSIDE = linear("#3a1714", 0.1)


def mantle_mesh(mantle: MantleParameters, core: float) -> Mesh:
    """Build the mantle in the hull frame.

    Args:
        mantle: its shape.
        core: radius of what stands in its mouth [m]; 0 gives it a round nozzle.
    """
    radius, cut = mantle.radius_mm * 1e-3, math.radians(mantle.cut_angle_deg)
    thick = mantle.half_thickness_mm * 1e-3
    dome = radius * (0.5 * math.pi - cut)
    end = dome + mantle.cylinder_length_mm * 1e-3
    way = np.concatenate([np.linspace(0.0, dome, 12), np.linspace(dome, end, 16)[1:]])
    around, along, _ = mantle_profile(way, radius, cut).T
    color = linear(mantle.color, 0.55)
    outer = [(float(z), float(r) + thick) for z, r in zip(along, around, strict=True)]
    skin = _folded(lathe(outer[::-1], color, 48))
    rear = float(along[-1])
    area = mantle.outflow_area_mm2 * 1e-6
    mouth = math.sqrt(core * core + area / math.pi)
    lip = [(0.0, radius + thick), (-0.004, radius), (-0.007, 0.86 * radius)]
    lip += [(-0.007, 1.03 * mouth)]
    lid = lathe([(rear + z, r) for z, r in lip[::-1]], color, 48)
    dark = lathe([(rear - 0.002, 0.0), (rear - 0.002, radius)], _INSIDE, 32)
    cap = lathe(
        [
            (radius * (math.cos(a) - math.cos(cut)), radius * math.sin(a) + thick)
            for a in np.linspace(cut, 0.08, 8)
        ]
        + [(radius * (1.0 - math.cos(cut)) + thick, 0.0)],
        _PLASTIC,
        40,
    )
    parts = [skin, lid, dark, cap]
    parts.append(collar(-0.003, 0.002, float(around[0]) + 0.0025, 0.8 * radius, DARK))
    if core <= 0.0:
        parts.append(_nozzle(rear - 0.007, mouth, color))
    first, last = (value * 1e-3 for value in mantle.active_range_mm)
    for x in np.linspace(first, last, 5):
        (r, z, _) = mantle_profile(np.array([x]), radius, cut)[0]
        parts.append(_hoop(float(z), float(r) + thick, 0.0009))
    parts += _valves(mantle, rear + 0.016, radius + thick)
    pose = pose_along(np.asarray(mantle.position_mm) * 1e-3, mantle.direction)
    return move(merge(parts), pose)


def _folded(mesh: Mesh) -> Mesh:
    """Shade soft lengthwise folds."""
    angle = np.arctan2(mesh.position[:, 1], mesh.position[:, 0])
    color = mesh.color.copy()
    color[:, :3] *= (0.92 + 0.08 * np.cos(8.0 * angle))[:, None]
    return mesh._replace(color=color)


def _hoop(z: float, radius: float, thick: float) -> Mesh:
    angle = np.linspace(0.0, 2.0 * math.pi, 48, endpoint=False)
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    return move(sweep(radius * ring, thick, _CABLE, 6, closed=True), place(0, 0, z))


def _nozzle(z: float, radius: float, color: Color) -> Mesh:
    return lathe(
        [
            (z - 0.016, 0.92 * radius),
            (z - 0.018, radius),
            (z - 0.016, 1.12 * radius),
            (z, 1.16 * radius),
        ],
        color,
        32,
    )


def _valves(mantle: MantleParameters, z: float, radius: float) -> list[Mesh]:
    """Three inlets that together make the inflow area more than the outflow's."""
    area = (mantle.inflow_area_mm2 - mantle.outflow_area_mm2) * 1e-6
    if area <= 0.0:
        return []
    size = math.sqrt(area / (3.0 * math.pi))
    parts = []
    for k in range(3):
        angle = 2.0 * math.pi * (k + 0.25) / 3
        outward = np.array([math.cos(angle), math.sin(angle), 0.0])
        flap = lathe([(-0.004, size), (0.0006, size), (0.0016, 0.0)], _INSIDE, 20)
        # a flat flap on a round wall: its rim would stand out, so it is bent
        flap = _wrapped(flap, radius)
        pose = np.eye(4)
        pose[:3, :3] = np.column_stack(
            [np.cross([0, 0, 1.0], outward), [0, 0, 1.0], outward]
        )
        pose[:3, 3] = radius * outward + np.array([0.0, 0.0, z])
        parts.append(move(flap, pose))
    return parts


def _wrapped(mesh: Mesh, radius: float) -> Mesh:
    """Bend a flat thing that faces z about the y axis onto a cylinder [m]."""
    position = mesh.position.copy()
    angle = position[:, 0] / radius
    reach = radius + position[:, 2]
    position[:, 0] = reach * np.sin(angle)
    position[:, 2] = reach * np.cos(angle) - radius
    return mesh._replace(position=position)


def bars_meshes(hull: HullParameters, ends: FloatArray) -> list[Mesh]:
    """Bars from the origin to each arm's base, and the float above them.

    Args:
        hull: its diameter is the bars' thickness.
        ends: (n, 3) bases of the arms [m].
    """
    thick = (hull.diameter_mm or 0.0) * 1e-3
    parts = [ball(0.013, _PLASTIC, 20, 12)]
    for end in ends:
        parts.append(beam(np.zeros(3), end, thick, thick, _BAR))
        socket = lathe(
            [
                (-0.016, 0.006),
                (-0.014, 0.0125),
                (0.004, 0.0125),
                (0.006, 0.011),
            ],
            DARK,
            22,
        )
        down = end / np.linalg.norm(end) + np.array([0.0, 0.0, -2.5])
        parts.append(move(socket, pose_along(end, down)))
    bladder = ball(
        1.0, _FLOAT, 28, 16, lambda unit: unit * np.array([0.052, 0.034, 0.021])
    )
    parts.append(move(bladder, place(0.0, 0.0, 0.030)))
    strap = lathe([(-0.003, 0.0355), (0.003, 0.0355)], DARK, 28)
    squeeze = np.array([0.62, 1.0, 1.0])
    strap = strap._replace(position=strap.position * squeeze)
    parts.append(move(strap, pose_along((0.0, 0.0, 0.030), (1.0, 0.0, 0.0))))
    return parts


def mantle_bracket(mantle: MantleParameters) -> Mesh:
    """A bracket from the root's origin to the rim of the mantle's cap."""
    rim = np.asarray(mantle.position_mm) * 1e-3
    cut = math.radians(mantle.cut_angle_deg)
    top = rim + np.array([0.0, 0.0, mantle.radius_mm * 1e-3 * math.sin(cut) + 0.002])
    path = [np.zeros(3), 0.5 * top + np.array([0.0, 0.0, 0.008]), top]
    bow = np.asarray(path)
    t = np.linspace(0.0, 1.0, 12)[:, None]
    curve = (1 - t) ** 2 * bow[0] + 2 * t * (1 - t) * bow[1] + t * t * bow[2]
    return sweep(curve, 0.003, METAL, 8)


def cone_meshes(hull: HullParameters) -> list[Mesh]:
    """The cone, apex at the origin, base astern."""
    length = hull.length_mm * 1e-3
    radius = (hull.diameter_mm or 0.0) * 0.5e-3
    cone = lathe(
        [
            (-length - 0.006, 0.0),
            (-length - 0.006, 0.93 * radius),
            (-length - 0.006, 0.93 * radius),
            (-length, radius),
            (-length, radius),
            (0.0, 0.0),
        ],
        DARK,
        32,
    )
    return [move(cone, pose_along((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)))]
