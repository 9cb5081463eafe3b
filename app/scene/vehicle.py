"""The hull as a mesh: a squid-like vehicle after Emet 2023 Sec. 2.1 and Fig. 1.

Head with the tendon winches and a stereo pair, pen (the rigid inner shell) with four
rails, expandable mantle, tail with the tether's connector, three pectoral fins a side,
and the dorsal fin of the visible-light link. The bow plate lies at x = 0; the hull
runs aft from there. Shapes are drawn after the figure, sizes after the text.
"""

import math

import numpy as np

from app.config.robot import RobotParameters
from app.scene.meshes import (
    Color,
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

__all__ = ["hull_mesh"]

_SHELL = linear("#bcc5c7", 0.35)
_DARK = linear("#3c464c", 0.3)
_MANTLE = linear("#5b6f78", 0.55)
_RAIL = linear("#9aa5a8", 0.6)
_FIN = linear("#5d7480", 0.4)
_YELLOW = linear("#f0b429", 0.3)
_GLASS = linear("#0b1a22", 1.0)


def hull_mesh(robot: RobotParameters) -> Mesh:
    """Build the hull in the hull frame.

    Args:
        robot: its hull gives length and greatest diameter, its limbs the flanges.

    Returns:
        One closed mesh of about 6,000 triangles [m].
    """
    length = robot.hull.length_mm * 1e-3
    radius = (robot.hull.diameter_mm or 0.0) * 0.5e-3
    # axis of the lathe: z forward, so that the profile runs from tail to bow
    aft = pose_along((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    parts = [move(part, aft) for part in _body(length, radius)]
    parts += _rails(length, radius)
    for side in (-1.0, 1.0):
        parts += _pectoral_fins(length, radius, side)
        parts += _eye(radius, side)
    parts += _dorsal_fin(length, radius)
    parts += _lamps(length, radius)
    parts += _nozzle(length, radius)
    for limb in robot.limbs:
        base = np.asarray(limb.base_position_mm) * 1e-3
        pose = pose_along(base, limb.base_direction)
        parts.append(move(_flange(0.5e-3 * limb.base_diameter_mm), pose))
    return merge(parts)


def _body(length: float, radius: float) -> list[Mesh]:
    """Head, neck, mantle and tail about z, bow at z = 0."""
    u, r = length, radius
    head = lathe(
        [
            (-0.245 * u, 0.70 * r),
            (-0.238 * u, 0.84 * r),
            (-0.215 * u, 0.93 * r),
            (-0.170 * u, 0.985 * r),
            (-0.115 * u, r),
            (-0.060 * u, r),
            (-0.030 * u, 0.985 * r),
            (-0.012 * u, 0.955 * r),
            (-0.003 * u, 0.915 * r),
            (0.0, 0.885 * r),
        ],
        _SHELL,
        36,
    )
    plate = lathe([(0.0, 0.885 * r), (0.002, 0.87 * r), (0.002, 0.0)], _DARK, 36)
    band = lathe(
        [
            (-0.148 * u, 0.998 * r),
            (-0.146 * u, 1.006 * r),
            (-0.128 * u, 1.012 * r),
            (-0.126 * u, 1.004 * r),
        ],
        _YELLOW,
        36,
    )
    neck = lathe([(-0.29 * u, 0.70 * r), (-0.24 * u, 0.70 * r)], _DARK, 36)
    mantle_points = 18
    mantle = []
    for k in range(mantle_points):
        t = k / (mantle_points - 1)  # 0 at the tail end
        swell = math.sin(math.pi * t**1.15) ** 0.75 if 0.0 < t < 1.0 else 0.0
        mantle.append(((-0.90 + 0.63 * t) * u, (0.42 + 0.30 * t + 0.24 * swell) * r))
    lip = mantle[-1]
    mantle += [
        (lip[0] + 0.004 * u, lip[1] + 0.02 * r),
        (lip[0] + 0.008 * u, lip[1] + 0.01 * r),
        (lip[0] + 0.008 * u, lip[1] - 0.03 * r),
    ]
    skin = _ribbed(lathe(mantle, _MANTLE, 40))
    tail = lathe(
        [
            (-1.0 * u, 0.0),
            (-1.0 * u, 0.10 * r),
            (-1.0 * u, 0.10 * r),
            (-0.985 * u, 0.125 * r),
            (-0.975 * u, 0.20 * r),
            (-0.945 * u, 0.34 * r),
            (-0.915 * u, 0.43 * r),
            (-0.895 * u, 0.47 * r),
            (-0.885 * u, 0.47 * r),
            (-0.878 * u, 0.44 * r),
        ],
        _SHELL,
        36,
    )
    ring = lathe(
        [
            (-0.922 * u, 0.425 * r),
            (-0.920 * u, 0.44 * r),
            (-0.910 * u, 0.458 * r),
            (-0.908 * u, 0.45 * r),
        ],
        _YELLOW,
        36,
    )
    return [head, plate, band, neck, skin, tail, ring]


def _ribbed(mesh: Mesh) -> Mesh:
    """Darken sixteen lengthwise folds of the soft mantle."""
    angle = np.arctan2(mesh.position[:, 1], mesh.position[:, 0])
    shade = 0.86 + 0.14 * np.cos(24.0 * angle)
    color = mesh.color.copy()
    color[:, :3] *= shade[:, None]
    return mesh._replace(color=color)


def _mantle_radius(x: float, length: float, radius: float) -> float:
    """Outer radius of the mantle at x [m]."""
    t = min(max((x / length + 0.90) / 0.63, 0.0), 1.0)
    swell = math.sin(math.pi * t**1.15) ** 0.75 if 0.0 < t < 1.0 else 0.0
    return (0.42 + 0.30 * t + 0.24 * swell) * radius


def _rails(length: float, radius: float) -> list[Mesh]:
    """Port, starboard, dorsal and ventral rails along the pen, outside the mantle."""
    parts = []
    for quarter in range(4):
        angle = 0.5 * math.pi * quarter
        outward = np.array([0.0, math.cos(angle), math.sin(angle)])
        path = np.array(
            [
                [x, 0.0, 0.0] + (_mantle_radius(x, length, radius) + 0.006) * outward
                for x in np.linspace(-0.90, -0.275, 12) * length
            ]
        )
        front = np.array([[-0.235 * length, 0.0, 0.0] + 0.86 * radius * outward])
        parts.append(sweep(np.concatenate([path, front]), 0.0075, _RAIL, 6))
    return parts


def _blade(outline: list[tuple[float, float]], thickness: float, color: Color) -> Mesh:
    """A thin closed fin over a root line: (x, span) outline [m], in the x-y plane."""
    edge = np.asarray(outline)
    columns = edge.shape[0]
    across = np.array([0.0, 0.35, 0.75, 0.96, 1.0, 0.96, 0.75, 0.35, 0.0])
    height = np.array([1.0, 0.85, 0.5, 0.2, 0.0, -0.2, -0.5, -0.85, -1.0])
    position = np.zeros((across.size, columns, 3))
    lead = np.linspace(edge[0, 0], edge[-1, 0], columns)
    for row in range(across.size):
        position[row, :, 0] = lead + across[row] * (edge[:, 0] - lead)
        position[row, :, 1] = across[row] * edge[:, 1]
        position[row, :, 2] = (
            0.5 * thickness * height[row] * np.minimum(1.0, edge[:, 1] / 0.02 + 0.05)
        )
    return grid(position, color)


def _pectoral_fins(length: float, radius: float, side: float) -> list[Mesh]:
    """Three flexible fins along one lateral rail; side +1 is port."""
    parts = []
    for k, (front, span) in enumerate(((-0.36, 0.115), (-0.54, 0.135), (-0.72, 0.125))):
        chord = 0.155 * length
        root = front * length
        outline = []
        for t in np.linspace(0.0, 1.0, 14):
            shape = math.sin(math.pi * t**0.72) ** 0.62 if 0.0 < t < 1.0 else 0.0
            outline.append((-chord * (t + 0.16 * shape), span * shape))
        fin = _blade(outline, 0.012, _FIN)
        position = fin.position.copy()
        # a still of the travelling wave: each fin a little out of phase
        wave = np.sin(position[:, 0] / chord * 3.4 + 1.3 * k)
        position[:, 2] += 0.16 * position[:, 1] * wave
        position[:, 0] += root
        position[:, 1] += np.array(
            [_mantle_radius(x, length, radius) for x in position[:, 0]]
        )
        position[:, 1] *= side
        triangles = fin.triangles if side > 0 else fin.triangles[:, ::-1]
        normal = fin.normal * np.array([1.0, side, 1.0])
        parts.append(Mesh(position, normal, fin.color, np.ascontiguousarray(triangles)))
    return parts


def _dorsal_fin(length: float, radius: float) -> list[Mesh]:
    """The visible-light link: a fin on the dorsal rail with two rows of emitters."""
    outline = []
    chord = 0.17 * length
    for t in np.linspace(0.0, 1.0, 14):
        shape = math.sin(math.pi * t**0.8) ** 0.5 if 0.0 < t < 1.0 else 0.0
        outline.append((-chord * (t + 0.30 * shape), 0.082 * shape))
    fin = _blade(outline, 0.022, _SHELL)
    root = -0.36 * length
    base = _mantle_radius(root - 0.5 * chord, length, radius) + 0.004
    rotation = np.eye(4)
    rotation[:3, :3] = [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]
    rotation[:3, 3] = (root, 0.0, base)
    parts = [move(fin, rotation)]
    glow = linear("#7fd6ff", -1.0, 1.3)
    for k in range(5):
        x = root - 0.055 - 0.030 * k
        for side in (-1.0, 1.0):
            pose = pose_along((x, side * 0.0082, base + 0.042), (0.0, side, 0.0))
            parts.append(move(ball(0.0045, glow, 8, 5), pose))
    return parts


def _eye(radius: float, side: float) -> list[Mesh]:
    """One camera of the stereo pair, in a dome on the head; side +1 is port."""
    outward = np.array([0.62, side, 0.10])
    outward /= np.linalg.norm(outward)
    centre = np.array([-0.075, side * 0.80 * radius, 0.012])
    pose = pose_along(centre, outward)
    socket = lathe(
        [(0.0, 0.047), (0.020, 0.045), (0.026, 0.041), (0.026, 0.041), (0.027, 0.033)],
        _DARK,
        20,
    )
    dome = lathe(
        [
            (0.027 + 0.030 * math.sin(a), 0.034 * math.cos(a))
            for a in np.linspace(0.0, 0.5 * math.pi, 7)
        ],
        _GLASS,
        20,
    )
    return [move(socket, pose), move(dome, pose)]


def _lamps(length: float, radius: float) -> list[Mesh]:
    """Navigation lights: red to port, green to starboard, white astern."""
    parts = []
    for side, color in ((1.0, "#ff3b30"), (-1.0, "#2bd45a")):
        where = (-0.195 * length, side * 0.90 * radius, 0.30 * radius)
        parts.append(move(ball(0.008, linear(color, -1.0, 1.5), 10, 6), _at(where)))
    where = (-0.95 * length, 0.0, 0.34 * radius)
    parts.append(move(ball(0.007, linear("#ffffff", -1.0, 1.3), 10, 6), _at(where)))
    connector = lathe(
        [(0.0, 0.013), (0.022, 0.013), (0.022, 0.013), (0.022, 0.0)], _DARK, 14
    )
    pose = pose_along((-1.0 * length + 0.002, 0.0, 0.0), (-1.0, 0.0, 0.0))
    parts.append(move(connector, pose))
    return parts


def _nozzle(length: float, radius: float) -> list[Mesh]:
    """The steerable jet nozzle under the neck."""
    pipe = lathe(
        [
            (-0.05, 0.030),
            (0.0, 0.030),
            (0.035, 0.022),
            (0.035, 0.022),
            (0.035, 0.017),
            (0.010, 0.015),
        ],
        _DARK,
        20,
    )
    pose = pose_along((-0.258 * length, 0.0, -0.80 * radius), (0.94, 0.0, -0.34))
    bracket = box((0.05, 0.03, 0.03), _RAIL)
    return [
        move(pipe, pose),
        move(bracket, _at((-0.262 * length, 0.0, -0.66 * radius))),
    ]


def _flange(limb_radius: float) -> Mesh:
    """Mounting flange of a limb with its bolts, z along the limb."""
    outer = limb_radius + 0.010
    ring = lathe(
        [
            (-0.012, outer),
            (0.010, outer),
            (0.012, outer - 0.002),
            (0.012, limb_radius - 0.002),
        ],
        _RAIL,
        22,
    )
    parts = [ring]
    for k in range(8):
        angle = 2.0 * math.pi * k / 8
        where = (
            (limb_radius + 0.005) * math.cos(angle),
            (limb_radius + 0.005) * math.sin(angle),
            0.012,
        )
        parts.append(move(ball(0.0026, _DARK, 5, 2), _at(where)))
    return merge(parts)


def _at(where: tuple[float, float, float]) -> FloatArray:
    pose = np.eye(4)
    pose[:3, 3] = where
    return pose
