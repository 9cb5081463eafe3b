"""What a scene puts about the robot, to draw: obstacles, objects, learned surfaces.

An obstacle between the eye and a limb turns translucent, so that the limb stays in
sight. Pure numpy.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.config.scene_world import Solid
from app.scene.meshes import Mesh, ball, box, lathe, linear, merge
from app.scene.picture import ThingLook
from app.scene.site import Obstacle
from models.numerics import FloatArray

__all__ = [
    "SurfaceMark",
    "ThingLooks",
    "age_color",
    "as_obstacle",
    "surface_mesh",
    "thing_mesh",
]

_SHEET_M = 0.24  # half a side of what is drawn of a plane
_SHEET_THICK_M = 0.008
_PLANE_M = 2.0  # half a side of what limbs are kept clear of
_HIDING = 0.30  # opacity of an obstacle that hides a limb
_SHEET = 0.55  # and of a plane that hides none
_FADE = 0.25  # of the way to a new opacity, a picture
_DISC_M = 0.055  # radius of a learned surface
_NORMAL_M = 0.075

_AGES_S = (0.0, 2.0, 8.0, 30.0)
_AGE_COLORS = ((0.10, 0.95, 0.40), (0.75, 0.95, 0.15), (1.0, 0.45, 0.06), (0.4,) * 3)


@dataclass(frozen=True, eq=False)
class SurfaceMark:
    """A surface that the station has learned of.

    Attributes:
        point: (3,) on it [m], hull frame.
        normal: (3,) unit, outward.
        age_s: since it was measured [s].
        stiffness: [N/m]; softer ones are drawn fainter.
    """

    point: FloatArray
    normal: FloatArray
    age_s: float = 0.0
    stiffness: float = 1000.0


def as_obstacle(solid: Solid) -> Obstacle:
    """Describe a solid as `app.scene.world` takes it."""
    size = tuple(float(value) for value in solid.size)
    if solid.kind == "plane":
        pose = solid.pose.copy()
        pose[:3, 3] -= _SHEET_THICK_M * pose[:3, 2]
        return Obstacle(solid.name, "box", (_PLANE_M, _PLANE_M, _SHEET_THICK_M), pose)
    if solid.kind == "cylinder":
        return Obstacle(solid.name, "cylinder", (size[0], 2.0 * size[1]), solid.pose)
    kind = "sphere" if solid.kind == "sphere" else "box"
    return Obstacle(solid.name, kind, size, solid.pose)  # type: ignore[arg-type]


def thing_mesh(solid: Solid) -> Mesh:
    """Mesh of a solid in its own frame; of a plane a sheet about its origin."""
    color = linear(solid.color, 0.25)
    size = solid.size
    if solid.kind == "sphere":
        mesh = ball(float(size[0]), color, 28, 16)
        # two darker bands, so that one sees it roll
        band = np.abs(mesh.position[:, :2]).min(axis=1) < 0.14 * size[0]
        mesh.color[band, :3] *= 0.45
        return mesh
    if solid.kind == "cylinder":
        radius, half = float(size[0]), float(size[1])
        profile = [(-half, 0.0), (-half, radius), (-half, radius)]
        profile += [(half, radius), (half, radius), (half, 0.0)]
        return lathe(profile, color, 36)
    if solid.kind == "box":
        return box((2.0 * size).tolist(), color)
    sheet = box((2.0 * _SHEET_M, 2.0 * _SHEET_M, _SHEET_THICK_M), color)
    sheet.position[:, 2] -= 0.5 * _SHEET_THICK_M
    return sheet


def surface_mesh() -> Mesh:
    """A disc with its normal, of radius 1 and white, that shines by itself."""
    white = (1.0, 1.0, 1.0, -1.0)
    thick = 0.03
    disc = lathe([(-thick, 0.0), (-thick, 0.9), (thick, 0.9), (thick, 0.0)], white, 40)
    rim = lathe([(-2 * thick, 0.9), (-2 * thick, 1.0), (2 * thick, 1.0),
                 (2 * thick, 0.9), (-2 * thick, 0.9)], white, 40)  # fmt: skip
    length = _NORMAL_M / _DISC_M
    stem = lathe([(0.0, 0.035), (0.8 * length, 0.035)], white, 12)
    head = lathe([(0.8 * length, 0.0), (0.8 * length, 0.11), (length, 0.0)], white, 16)
    return merge([disc, rim, stem, head])


def age_color(age_s: float) -> tuple[float, float, float]:
    """Linear colour of knowledge: green when new, amber after 8 s, grey from 30 s."""
    red, green, blue = (
        float(np.interp(age_s, _AGES_S, [color[k] for color in _AGE_COLORS]))
        for k in range(3)
    )
    return red, green, blue


def _bounds(solid: Solid) -> tuple[FloatArray, FloatArray]:
    """Centre and half sides of a box about a solid, in its own frame."""
    size = solid.size
    if solid.kind == "plane":
        half = np.array([_SHEET_M, _SHEET_M, 0.5 * _SHEET_THICK_M])
        return np.array([0.0, 0.0, -half[2]]), half
    if solid.kind == "sphere":
        return np.zeros(3), np.full(3, float(size[0]))
    if solid.kind == "cylinder":
        return np.zeros(3), np.array([size[0], size[0], size[1]])
    return np.zeros(3), np.asarray(size, dtype=float)


class ThingLooks:
    """How obstacles and objects look, picture after picture."""

    def __init__(self, obstacles: Sequence[Solid], objects: Sequence[Solid]) -> None:
        """Take what stands still, then what can be moved."""
        self._count = len(obstacles)
        self._solids = (*obstacles, *objects)
        bounds = [_bounds(item) for item in obstacles]
        self._middle = np.array([b[0] for b in bounds]).reshape(-1, 3)
        self._half = np.array([b[1] for b in bounds]).reshape(-1, 3)
        self._most = np.array(
            [_SHEET if item.kind == "plane" else 1.0 for item in obstacles]
        )
        self._opacity = self._most.copy()
        # what has one name fades as one
        names = [item.name for item in obstacles]
        self._same = np.array([names.index(name) for name in names], dtype=np.int64)

    @property
    def meshes(self) -> list[Mesh]:
        """Obstacles' meshes, then objects', last the disc of a learned surface."""
        return [*(thing_mesh(item) for item in self._solids), surface_mesh()]

    def hides(
        self, eye: FloatArray, points: FloatArray, poses: FloatArray
    ) -> NDArray[np.bool_]:
        """(K,) whether an obstacle is between the eye and any of some points.

        Args:
            eye: (3,) [m].
            points: (n, 3) [m].
            poses: (K, 4, 4) of the obstacles [m].
        """
        turn = poses[:, :3, :3].transpose(0, 2, 1)
        shift = poses[:, :3, 3]
        start = np.einsum("kij,kj->ki", turn, eye - shift) - self._middle
        stop = np.einsum("kij,knj->kni", turn, points[None] - shift[:, None])
        way = stop - self._middle[:, None] - start[:, None]
        way = np.where(np.abs(way) < 1e-12, 1e-12, way)
        one = (-self._half - start)[:, None] / way
        two = (self._half - start)[:, None] / way
        enter = np.minimum(one, two).max(axis=2)
        leave = np.maximum(one, two).min(axis=2)
        crossed = (enter < leave) & (leave > 0.0) & (enter < 0.985)
        each = crossed.any(axis=1)
        return np.array([each[self._same == k].any() for k in self._same], dtype=bool)

    def looks(
        self,
        eye: FloatArray | None,
        points: FloatArray,
        obstacle_poses: FloatArray,
        object_poses: FloatArray,
        surfaces: Sequence[SurfaceMark],
        *,
        at_once: bool = False,
    ) -> list[ThingLook]:
        """Find how everything looks now.

        Args:
            eye: (3,) [m]; None: nothing is made translucent.
            points: (n, 3) on the limbs [m].
            obstacle_poses: (K, 4, 4) [m].
            object_poses: (B, 4, 4) [m]; an object that is not finite is not drawn.
            surfaces: what the station has learned of.
            at_once: take new opacities at once, for a picture that stands alone.
        """
        wanted = self._most
        if self._count and eye is not None:
            hidden = self.hides(eye, points, obstacle_poses)
            wanted = np.where(hidden, np.minimum(_HIDING, self._most), self._most)
        share = 1.0 if at_once else _FADE
        self._opacity += share * (wanted - self._opacity)
        looks = [
            ThingLook(k, pose, float(opacity))
            for k, (pose, opacity) in enumerate(
                zip(obstacle_poses, np.round(self._opacity, 2), strict=True)
            )
        ]
        looks += [
            ThingLook(self._count + k, pose, 1.0)
            for k, pose in enumerate(object_poses)
            if np.all(np.isfinite(pose))
        ]
        looks += [_surface_look(len(self._solids), mark) for mark in surfaces]
        return looks


def _surface_look(index: int, mark: SurfaceMark) -> ThingLook:
    normal = np.asarray(mark.normal, dtype=float)
    normal = normal / max(float(np.linalg.norm(normal)), 1e-9)
    side = np.eye(3)[int(np.argmin(np.abs(normal)))]
    across = np.cross(side, normal)
    across /= np.linalg.norm(across)
    pose = np.eye(4)
    pose[:3, 0], pose[:3, 1] = across, np.cross(normal, across)
    pose[:3, 2] = normal
    pose[:3, :3] *= _DISC_M
    pose[:3, 3] = np.asarray(mark.point) + 0.001 * normal
    firm = min(max(math.log10(max(mark.stiffness, 1.0)) / 3.0, 0.3), 1.0)
    return ThingLook(index, pose, 0.25 + 0.45 * firm, age_color(mark.age_s))
