"""Cameras: pure geometry from a viewpoint to pixels and back.

Lengths are metres in the hull frame (x bow, y port, z up). Pixels have their origin at
the top left corner, x to the right and y down; a camera's width and height are those
of the widget it serves, in the same pixels that its methods take.
"""

import math
from dataclasses import dataclass

import numpy as np

from models.numerics import FloatArray

__all__ = ["FAR_M", "NEAR_M", "VIEWS", "LimbView", "OrbitCamera", "View"]

NEAR_M = 0.02
FAR_M = 60.0

# name: (azimuth, elevation) of the viewpoint about the focus [deg]; azimuth 0 is ahead
# of the bow, 90 to port
VIEWS = {
    "chase": (-140.0, 24.0),
    "front": (0.0, 4.0),
    "side": (-90.0, 4.0),
    "top": (180.0, 89.0),
}


class View:
    """A viewpoint: position, axes and lens, whatever moves it."""

    def __init__(self, width: int, height: int, field_of_view: float) -> None:
        """Start at the origin looking to the bow.

        Args:
            width: picture width [px].
            height: picture height [px].
            field_of_view: vertical angle of view [rad].
        """
        self.width = max(int(width), 1)
        self.height = max(int(height), 1)
        self.field_of_view = field_of_view
        self.position: FloatArray = np.zeros(3)
        self.axes: FloatArray = np.array(
            [[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
        )
        """(3, 3) rows: right, up and forward, unit vectors in the hull frame."""

    def resize(self, width: int, height: int) -> None:
        """Follow the widget's size [px]."""
        self.width, self.height = max(int(width), 1), max(int(height), 1)

    @property
    def forward(self) -> FloatArray:
        """(3,) direction of view, hull frame."""
        return np.asarray(self.axes[2])

    def view_matrix(self) -> FloatArray:
        """(4, 4) hull frame to eye frame (x right, y up, z towards the viewer)."""
        matrix = np.eye(4)
        matrix[:3, :3] = self.axes * np.array([[1.0], [1.0], [-1.0]])
        matrix[:3, 3] = -matrix[:3, :3] @ self.position
        return matrix

    def projection_matrix(self) -> FloatArray:
        """(4, 4) eye frame to OpenGL clip space."""
        focal = 1.0 / math.tan(0.5 * self.field_of_view)
        matrix = np.zeros((4, 4))
        matrix[0, 0] = focal * self.height / self.width
        matrix[1, 1] = focal
        matrix[2, 2] = (FAR_M + NEAR_M) / (NEAR_M - FAR_M)
        matrix[2, 3] = 2.0 * FAR_M * NEAR_M / (NEAR_M - FAR_M)
        matrix[3, 2] = -1.0
        return matrix

    def pixel_size(self, point: FloatArray) -> float:
        """Length [m] that one pixel covers at the depth of a point, hull frame."""
        depth = max(float((np.asarray(point) - self.position) @ self.axes[2]), NEAR_M)
        return 2.0 * depth * math.tan(0.5 * self.field_of_view) / self.height

    def project(self, point: FloatArray) -> tuple[float, float, float]:
        """Find where a point appears.

        Args:
            point: (3,) [m], hull frame.

        Returns:
            x and y [px] from the top left, and depth along the view [m]; the depth is
            below `NEAR_M` where the point is behind the viewer, and x, y then mean
            nothing.
        """
        right, up, depth = self.axes @ (np.asarray(point, dtype=float) - self.position)
        scale = 0.5 * self.height / math.tan(0.5 * self.field_of_view)
        safe = depth if depth > NEAR_M else NEAR_M
        return (
            0.5 * self.width + scale * float(right) / safe,
            0.5 * self.height - scale * float(up) / safe,
            float(depth),
        )

    def ray(self, x: float, y: float) -> tuple[FloatArray, FloatArray]:
        """Find the line of sight through a pixel.

        Args:
            x: [px] from the left edge.
            y: [px] from the top edge.

        Returns:
            (3,) origin [m] and (3,) unit direction, hull frame.
        """
        reach = math.tan(0.5 * self.field_of_view) / (0.5 * self.height)
        across = np.array(
            [(x - 0.5 * self.width) * reach, (0.5 * self.height - y) * reach, 1.0]
        )
        direction = across @ self.axes
        return self.position.copy(), direction / np.linalg.norm(direction)

    def may_see(self, middle: FloatArray, radius: float) -> bool:
        """Tell whether any of a sphere can be in the picture; errs towards yes.

        Args:
            middle: (3,) its centre [m], hull frame.
            radius: [m].
        """
        sight = middle - self.position
        away = float(np.linalg.norm(sight))
        if away <= radius:
            return True
        diagonal = math.hypot(1.0, self.width / self.height)
        half_view = math.atan(math.tan(0.5 * self.field_of_view) * diagonal)
        cosine = float(sight @ self.axes[2]) / away
        off_axis = math.acos(min(max(cosine, -1.0), 1.0))
        return off_axis <= half_view + math.asin(radius / away)

    def point_at(self, x: float, y: float, through: FloatArray) -> FloatArray:
        """Point under a pixel in the plane parallel to the picture through a point.

        Args:
            x: [px] from the left edge.
            y: [px] from the top edge.
            through: (3,) point whose depth is kept [m], hull frame.

        Returns:
            (3,) point [m], hull frame.
        """
        origin, direction = self.ray(x, y)
        depth = float((np.asarray(through) - origin) @ self.axes[2])
        return origin + direction * (depth / float(direction @ self.axes[2]))


def _look(direction: FloatArray, up_hint: FloatArray) -> FloatArray:
    """(3, 3) rows right, up, forward for a unit direction of view."""
    right = np.cross(direction, up_hint)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(right, direction), direction])


class OrbitCamera(View):
    """A viewpoint on a sphere about a focus: orbit, pan, zoom, reset, preset views."""

    _DISTANCE_RANGE_M = (0.25, 8.0)
    _ELEVATION_RANGE_DEG = (-35.0, 89.0)  # never below the seabed, never over the pole

    def __init__(
        self,
        width: int,
        height: int,
        focus: tuple[float, float, float] = (0.30, 0.0, 0.0),
        distance: float = 1.75,
    ) -> None:
        """Start at the "chase" view.

        Args:
            width: picture width [px].
            height: picture height [px].
            focus: point looked at after a reset [m], hull frame.
            distance: distance to it after a reset [m].
        """
        super().__init__(width, height, math.radians(40.0))
        self._home_focus = np.asarray(focus, dtype=float)
        self._home_distance = distance
        self.reset()

    def settle(self, focus: FloatArray, distance: float) -> None:
        """Look at another place from the start on.

        Args:
            focus: (3,) point looked at after a reset [m], hull frame.
            distance: distance to it after a reset [m].
        """
        self._home_focus = np.asarray(focus, dtype=float)
        self._home_distance = min(max(distance, 0.25), 8.0)
        self.reset()

    def reset(self) -> None:
        """Return to the "chase" view, focus and distance of the start."""
        self.view("chase")

    def view(self, name: str) -> None:
        """Go to one of `VIEWS`, with the focus and distance of the start."""
        azimuth, elevation = VIEWS[name]
        self.azimuth, self.elevation = math.radians(azimuth), math.radians(elevation)
        self.focus = self._home_focus.copy()
        self.distance = self._home_distance
        self._place()

    def orbit(self, x: float, y: float) -> None:
        """Turn about the focus for a drag of (x, y) [px]; the scene follows it."""
        self.azimuth = math.remainder(self.azimuth - 0.006 * x, 2.0 * math.pi)
        low, high = (math.radians(value) for value in self._ELEVATION_RANGE_DEG)
        self.elevation = min(max(self.elevation + 0.006 * y, low), high)
        self._place()

    def pan(self, x: float, y: float) -> None:
        """Shift the focus for a drag of (x, y) [px]; it stays under the pointer."""
        scale = self.pixel_size(self.focus)
        self.focus = self.focus + scale * (y * self.axes[1] - x * self.axes[0])
        self.focus = np.clip(self.focus, [-3.0, -3.0, -0.7], [3.0, 3.0, 2.0])
        self._place()

    def zoom(self, steps: float) -> None:
        """Come nearer by `steps` notches of a wheel; negative goes away."""
        low, high = self._DISTANCE_RANGE_M
        self.distance = min(max(self.distance * 0.88**steps, low), high)
        self._place()

    def _place(self) -> None:
        horizontal = math.cos(self.elevation)
        outward = np.array(
            [
                horizontal * math.cos(self.azimuth),
                horizontal * math.sin(self.azimuth),
                math.sin(self.elevation),
            ]
        )
        self.position = self.focus + self.distance * outward
        self.axes = _look(-outward, np.array([0.0, 0.0, 1.0]))


@dataclass(frozen=True)
class LimbView:
    """How a camera sits in a limb's tip.

    Attributes:
        field_of_view: vertical angle of view [rad].
        advance: how far the lens stands out of the tip, along the limb [m].
    """

    field_of_view: float = math.radians(68.0)
    advance: float = 0.022

    def place(self, pose_tip_to_hull: FloatArray, width: int, height: int) -> View:
        """Make the view of a camera carried by a tip: z looks out, x is up.

        Args:
            pose_tip_to_hull: (4, 4) [m].
            width: picture width [px].
            height: picture height [px].
        """
        view = View(width, height, self.field_of_view)
        rotation = pose_tip_to_hull[:3, :3]
        view.position = pose_tip_to_hull[:3, 3] + self.advance * rotation[:, 2]
        view.axes = _look(rotation[:, 2].copy(), rotation[:, 0].copy())
        return view
