"""Meshes that move with the frames of the limbs: skin, tools, and bare sections.

Every vertex names a row of the robot's frames, counted along all segments with N+1
rows each, and its place in that frame; a row with a fraction lies between two frames.
So a limb is bent on the graphics side and only the frames change.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.config.robot import RobotParameters
from app.scene.meshes import (
    Color,
    Mesh,
    ball,
    grid,
    lathe,
    linear,
    merge,
    move,
    pose_along,
    sweep,
)
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = ["LimbMesh", "section_meshes", "shell_meshes", "skin_meshes"]

_SIDES = 16
_RINGS_A_SECTION = 2
_SHELL_SIDES = 12
_SHELL_RINGS_A_SECTION = 2
_METAL = linear("#aab4b8", 0.8)
_DARK = linear("#2c3338", 0.5)
_GLASS = linear("#08121a", 1.0)


class LimbMesh(NamedTuple):
    """A mesh whose vertices ride on frames."""

    row: FloatArray
    """(n,) row of the frames, with a fraction between two."""
    mesh: Mesh
    band: FloatArray
    """(n,) how strongly the marks between sections show, 0..1."""


def skin_meshes(robot: RobotParameters, model: RobotModel) -> list[LimbMesh]:
    """Make the skin of every limb, with the tool at its tip.

    Args:
        robot: names roles and colours.
        model: gives radii and the number of segments.

    Returns:
        One mesh a limb, rows over N = robot.chain.sections.
    """
    sections = robot.chain.sections
    meshes = []
    for limb, parameters in enumerate(robot.limbs):
        start, stop = model.limb_segment_start[limb : limb + 2]
        color = linear(parameters.color, 0.5)
        parts = [
            _tube(
                segment,
                sections,
                model.segment_radius[segment],
                color,
                _SIDES,
                _RINGS_A_SECTION,
            )
            for segment in range(int(start), int(stop))
        ]
        for segment in range(int(start) + 1, int(stop)):
            radius = float(model.segment_radius[segment, 0])
            collar = lathe(
                [
                    (-0.006, radius),
                    (-0.004, radius + 0.0025),
                    (0.004, radius + 0.0025),
                    (0.006, radius),
                ],
                _DARK,
                _SIDES,
            )
            parts.append(_ride(segment * (sections + 1), collar))
        tip_radius = float(model.segment_radius[stop - 1, 1])
        last = int(stop) * (sections + 1) - 1
        parts.append(_ride(last, _tool(parameters.role, tip_radius, color)))
        meshes.append(_join(parts))
    return meshes


def shell_meshes(robot: RobotParameters, model: RobotModel) -> list[LimbMesh]:
    """Make a plain hull of every limb, for ghosts, outlines and shadows.

    Returns:
        One mesh a limb with a third of the skin's triangles, closed at the tip.
    """
    sections = robot.chain.sections
    meshes = []
    for limb in range(len(robot.limbs)):
        start, stop = model.limb_segment_start[limb : limb + 2]
        color = linear("#ffffff", 0.0)
        parts = [
            _tube(
                segment,
                sections,
                model.segment_radius[segment],
                color,
                _SHELL_SIDES,
                _SHELL_RINGS_A_SECTION,
            )
            for segment in range(int(start), int(stop))
        ]
        outer = float(model.segment_radius[stop - 1, 1]) + 0.006
        cap = lathe(
            [
                (-0.034, outer - 0.006),
                (-0.026, outer),
                (0.004, outer),
                (0.011, 0.6 * outer),
                (0.012, 0.0),
            ],
            color,
            _SHELL_SIDES,
        )
        parts.append(_ride(int(stop) * (sections + 1) - 1, cap))
        meshes.append(_join(parts))
    return meshes


def section_meshes(robot: RobotParameters, model: RobotModel) -> list[LimbMesh]:
    """Make the bare RRP sections of every limb.

    A section is a hinge barrel about the bending axis, a sleeve and rod for the chord,
    and a thin disc of the limb's local size. Rows here count N link frames a segment,
    each at its section's end with z along the chord.
    """
    sections = robot.chain.sections
    meshes = []
    for limb, parameters in enumerate(robot.limbs):
        start, stop = model.limb_segment_start[limb : limb + 2]
        color = linear(parameters.color, 0.4)
        parts = []
        for segment in range(int(start), int(stop)):
            chord = float(model.segment_length[segment]) / sections
            first, last = model.segment_radius[segment]
            for k in range(sections):
                radius = float(first + (last - first) * (k + 0.5) / sections)
                parts.append(
                    _ride(segment * sections + k, _section(chord, radius, color))
                )
        tip_radius = float(model.segment_radius[stop - 1, 1])
        tool = _tool(parameters.role, tip_radius, color)
        parts.append(_ride(int(stop) * sections - 1, tool))
        meshes.append(_join(parts))
    return meshes


def _ride(row: int, mesh: Mesh) -> LimbMesh:
    count = mesh.position.shape[0]
    return LimbMesh(np.full(count, float(row)), mesh, np.zeros(count))


def _join(parts: list[LimbMesh]) -> LimbMesh:
    return LimbMesh(
        np.concatenate([part.row for part in parts]),
        merge([part.mesh for part in parts]),
        np.concatenate([part.band for part in parts]),
    )


def _tube(
    segment: int,
    sections: int,
    radius: FloatArray,
    color: Color,
    sides: int,
    rings_a_section: int,
) -> LimbMesh:
    """Skin of one segment; its local x side is dorsal and darker, as squids have it."""
    rings = sections * rings_a_section + 1
    along = np.linspace(0.0, 1.0, rings)
    angle = np.arange(sides) * (2.0 * math.pi / sides)
    local = radius[0] + (radius[1] - radius[0]) * along
    position = np.zeros((rings, sides, 3))
    position[..., 0] = local[:, None] * np.cos(angle)
    position[..., 1] = local[:, None] * np.sin(angle)
    # the lattice needs a length to make its triangles; the frames supply the real one
    spread = position.copy()
    spread[..., 2] = along[:, None]
    mesh = grid(spread, color, wrap=True)
    normal = np.zeros_like(position)
    normal[..., 0], normal[..., 1] = np.cos(angle), np.sin(angle)
    shade = np.asarray(color)[None, None, :] * np.ones((rings, sides, 1))
    dorsal = np.cos(angle)[None, :, None]
    shade[..., :3] *= np.where(
        dorsal > 0.0, 1.0 - 0.38 * dorsal**3, 1.0 - 0.22 * dorsal
    )
    row = segment * (sections + 1) + along * sections
    return LimbMesh(
        np.repeat(row, sides),
        Mesh(
            position.reshape(-1, 3),
            normal.reshape(-1, 3),
            shade.reshape(-1, 4),
            mesh.triangles,
        ),
        np.ones(rings * sides),
    )


def _section(chord: float, radius: float, color: Color) -> Mesh:
    disc = lathe(
        [
            (-0.003, 0.3 * radius),
            (-0.003, radius),
            (-0.003, radius),
            (0.003, radius),
            (0.003, radius),
            (0.003, 0.3 * radius),
        ],
        color,
        16,
    )
    disc = move(disc, _shift(-0.5 * chord))
    sleeve = lathe(
        [(-0.80 * chord, 0.006), (-0.38 * chord, 0.006), (-0.38 * chord, 0.003)],
        _DARK,
        8,
    )
    rod = lathe([(-0.40 * chord, 0.0035), (-0.12 * chord, 0.0035)], _METAL, 8)
    barrel = lathe(
        [
            (-0.55 * radius, 0.0),
            (-0.55 * radius, 0.0065),
            (-0.55 * radius, 0.0065),
            (0.55 * radius, 0.0065),
            (0.55 * radius, 0.0065),
            (0.55 * radius, 0.0),
        ],
        _METAL,
        10,
    )
    barrel = move(barrel, pose_along((0.0, 0.0, -chord), (0.0, 1.0, 0.0)))
    return merge([disc, sleeve, rod, barrel])


def _tool(role: str, radius: float, color: Color) -> Mesh:
    """What sits in the tip, z outwards, the tip's point at the origin."""
    if role == "camera":
        return _housing(radius, _GLASS, hood=0.006)
    if role == "light":
        return _housing(radius, linear("#fff2cf", -1.0, 1.6), hood=0.003)
    if role == "palpation":
        return _probe(radius)
    if role == "grasper":
        return _gripper(radius)
    return lathe(
        [
            (radius * math.sin(a), radius * math.cos(a))
            for a in np.linspace(0.0, 0.5 * math.pi, 6)
        ],
        color,
        _SIDES,
    )


def _housing(radius: float, window: Color, hood: float) -> Mesh:
    """A round housing about the tip with a window in front."""
    outer = radius + 0.006
    case = lathe(
        [
            (-0.034, radius),
            (-0.030, outer - 0.001),
            (-0.026, outer),
            (0.006, outer),
            (0.006, outer),
            (0.006 + hood, outer - 0.001),
            (0.006 + hood, outer - 0.001),
            (0.006 + hood, outer - 0.0035),
            (0.006, outer - 0.004),
        ],
        _DARK,
        20,
    )
    ring = lathe(
        [
            (-0.020, outer),
            (-0.019, outer + 0.0012),
            (-0.013, outer + 0.0012),
            (-0.012, outer),
        ],
        _METAL,
        20,
    )
    glass = lathe(
        [
            (0.004 + 0.005 * math.sin(a), (outer - 0.004) * math.cos(a))
            for a in np.linspace(0.0, 0.5 * math.pi, 5)
        ],
        window,
        20,
    )
    return merge([case, ring, glass])


def _probe(radius: float) -> Mesh:
    """A force sensor's ring and a smooth ball to feel with."""
    ring = lathe(
        [
            (-0.022, radius),
            (-0.020, radius + 0.003),
            (-0.008, radius + 0.003),
            (-0.006, radius),
            (-0.002, 0.55 * radius),
        ],
        _DARK,
        20,
    )
    tip = move(ball(0.9 * radius, _METAL, 18, 10), _shift(0.001))
    return merge([ring, tip])


def _gripper(radius: float) -> Mesh:
    """A palm with three curved fingers about the tip's point."""
    palm = lathe(
        [
            (-0.030, radius),
            (-0.027, radius + 0.004),
            (-0.014, radius + 0.004),
            (-0.011, radius + 0.002),
            (-0.010, 0.0),
        ],
        _DARK,
        20,
    )
    parts = [palm]
    bend = np.linspace(0.0, 1.0, 9)
    for k in range(3):
        angle = 2.0 * math.pi * k / 3 + math.pi / 3
        out = radius * (0.75 + 1.15 * np.sin(math.pi * bend**0.8) - 0.50 * bend)
        path = np.stack(
            [out * math.cos(angle), out * math.sin(angle), -0.014 + 0.044 * bend],
            axis=1,
        )
        parts.append(sweep(path, 0.0042, _METAL, 8))
        end = np.eye(4)
        end[:3, 3] = path[-1]
        parts.append(move(ball(0.0052, _DARK, 8, 6), end))
    return merge(parts)


def _shift(z: float) -> NDArray[np.float64]:
    pose = np.eye(4)
    pose[2, 3] = z
    return pose
