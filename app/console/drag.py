"""Dragging a limb's tip with the mouse: pixels to a target in the hull frame.

The target moves by differences of points under the cursor, so neither the press nor
a change of plane, camera or modifier makes it jump.
"""

import numpy as np

from app.scene.cameras import NEAR_M, View
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = ["TipDrag", "nearest_tip"]

_REACH_MARGIN = 1.05  # the target stays within this multiple of the limb's length


def nearest_tip(
    camera: View, tips: FloatArray, px: float, py: float, within: float
) -> int:
    """Find the tip that a person means.

    Args:
        camera: the camera of the picture.
        tips: (L, 3) tips in the hull frame [m].
        px: cursor, pixels from the left.
        py: cursor, pixels from the top.
        within: greatest distance that counts [pixels].

    Returns:
        The limb's index, or -1 where no tip is near.
    """
    best, best_distance = -1, within
    for limb in range(len(tips)):
        x, y, depth = camera.project(tips[limb])
        distance = float(np.hypot(x - px, y - py))
        if depth > NEAR_M and distance < best_distance:
            best, best_distance = limb, distance
    return best


class TipDrag:
    """One drag, from press to release."""

    def __init__(
        self,
        model: RobotModel,
        limb: int,
        target: FloatArray,
        cursor: tuple[float, float],
    ) -> None:
        """Begin where the target is, whatever the cursor's exact place.

        Args:
            model: the robot.
            limb: the limb that is dragged.
            target: (3,) present target of its tip [m], hull frame.
            cursor: pixel of the press.
        """
        self.limb = limb
        self.target = np.array(target, dtype=float)
        self._cursor = cursor
        start, stop = model.limb_segment_start[limb : limb + 2]
        self._base = model.pose_base_to_hull[limb][:3, 3]
        self._reach = _REACH_MARGIN * float(model.segment_length[start:stop].sum())

    def move(
        self,
        camera: View,
        cursor: tuple[float, float],
        *,
        along_view: bool,
        clutch: bool,
    ) -> None:
        """Follow the cursor.

        Args:
            camera: the camera of the picture.
            cursor: new pixel.
            along_view: up and down move along the view instead of in its plane.
            clutch: the cursor moves, the target stays.
        """
        before, self._cursor = self._cursor, cursor
        if clutch:
            return
        if along_view:
            self.depth_step(camera, before[1] - cursor[1])
        else:
            self.push(
                camera.point_at(*cursor, self.target)
                - camera.point_at(*before, self.target)
            )

    def push(self, step: FloatArray) -> None:
        """Move the target by (3,) [m], kept about the limb's reach."""
        moved = self.target + step
        arm = moved - self._base
        distance = float(np.linalg.norm(arm))
        if distance > self._reach:
            moved = self._base + arm * (self._reach / distance)
        if bool(np.isfinite(moved).all()):
            self.target = moved

    def depth_step(self, camera: View, pixels: float) -> None:
        """Move along the view by what `pixels` measure at the target."""
        self.push(camera.forward * (pixels * camera.pixel_size(self.target)))
