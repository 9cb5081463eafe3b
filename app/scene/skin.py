"""Meshes that move with the frames of the limbs: skin, tools, and bare sections.

Every vertex names a row of the robot's frames, counted along all segments with N+1
rows each, and its place in that frame; a row with a fraction lies between two frames.
So a limb is bent on the graphics side and only the frames change.
"""

import math
from typing import NamedTuple

import numpy as np

from app.config.kinematics import limb_gaps
from app.config.limbs import LimbParameters
from app.config.robot import RobotParameters
from app.scene.meshes import (
    Color,
    Mesh,
    grid,
    lathe,
    linear,
    merge,
    move,
    pose_along,
)
from app.scene.modules import module_mesh
from app.scene.parts import place
from app.scene.tools import dorsal_shade, tip_tool
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = ["LimbMesh", "section_meshes", "shell_meshes", "skin_meshes"]

_SIDES = 16
_RINGS_A_SECTION = 2
_SHELL_SIDES = 12
_SHELL_RINGS_A_SECTION = 2
_METAL = linear("#aab4b8", 0.8)
_DARK = linear("#2c3338", 0.5)
_BODY_TO_LIMB = np.array(  # x, y, z of a body are z, x, y of its limb
    [
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]
)


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
        if parameters.role == "body":
            parts = [_ribbed(part) for part in parts]
        joined = parameters.actuation in ("tendons", "chambers")
        for segment in range(int(start) + 1, int(stop) if joined else 0):
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
        for k, rigid in enumerate(_rigid_parts(robot, parameters, tip_radius)):
            if rigid is not None:
                row = (int(start) + k) * (sections + 1)
                parts.append(_ride(min(row, last), rigid))
        parts.append(_ride(last, tip_tool(parameters, tip_radius, color)))
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
        tip = float(model.segment_radius[stop - 1, 1])
        outer = tip + min(0.006, 0.6 * tip)
        gaps = limb_gaps(robot.limbs[limb])
        for k in np.flatnonzero(gaps[1:-1]) + 1:
            radius = float(model.segment_radius[start + k, 0])
            pipe = lathe([(-float(gaps[k]), radius), (0.0, radius)], color, 12)
            parts.append(_ride((int(start) + int(k)) * (sections + 1), pipe))
        cap = lathe(
            [
                (-0.034, tip),
                (-0.026, outer),
                (0.004, outer),
                (0.011, 0.6 * outer),
                (0.012, 0.0),
            ],
            color,
            _SHELL_SIDES,
        )
        cap = move(cap, place(0.0, 0.0, float(gaps[-1])))
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
        last = int(stop) * sections - 1
        for k, rigid in enumerate(_rigid_parts(robot, parameters, tip_radius)):
            if rigid is None:
                continue
            row = min((int(start) + k) * sections, last)
            chord = (
                float(model.segment_length[start + k]) / sections if row < last else 0
            )
            parts.append(_ride(row, move(rigid, place(0.0, 0.0, -chord))))
        parts.append(_ride(last, tip_tool(parameters, tip_radius, color)))
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
    angle = np.asarray(np.arange(sides) * (2.0 * math.pi / sides), dtype=np.float64)
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
    shade[..., :3] *= dorsal_shade(angle)[None]
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
    disc = move(disc, place(0.0, 0.0, -0.5 * chord))
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


def _ribbed(part: LimbMesh) -> LimbMesh:
    """Give a soft joint's fabric its hoops: dark where they draw it in."""
    wave = np.cos(2.0 * math.pi * part.row)
    color = part.mesh.color.copy()
    color[:, :3] *= (0.80 + 0.20 * wave)[:, None]
    position = part.mesh.position * (0.91 + 0.06 * wave)[:, None]
    return part._replace(mesh=part.mesh._replace(position=position, color=color))


def _rigid_parts(
    robot: RobotParameters, limb: LimbParameters, radius: float
) -> list[Mesh | None]:
    """Rigid parts in a limb's gaps; z along the limb, 0 where a segment begins.

    Returns:
        n+1: before each segment, lying behind 0, and behind the last one, before 0.
    """
    gaps = limb_gaps(limb)
    parts: list[Mesh | None] = [None] * gaps.size
    snake = robot.snake if robot.snake and robot.snake.limb == limb.name else None
    last = gaps.size - 1
    for k in np.flatnonzero(gaps):
        length = float(gaps[k])
        shift = place(0.0, 0.0, 0.0 if k == last else -length)
        if snake is None:
            outer = 1.06 * radius
            pipe = lathe([(0.0, outer), (length, outer)], _DARK, _SIDES)
            parts[k] = move(pipe, shift)
        elif k > 0:  # module 0 is the hull
            own = [item for item in snake.propellers if item.module == k]
            module = module_mesh(length, radius, own, head=bool(k == last))
            parts[k] = move(module, shift @ _BODY_TO_LIMB)
    return parts
