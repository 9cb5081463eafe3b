"""Movable objects in the console: where the robot last saw them, and how long ago.

An object that a limb holds goes with that limb's tip as the robot tells it, since poses
of limbs come more often than those of objects. An object that the robot has never told
of stands where the scene's file has it.
"""

from dataclasses import dataclass

import numpy as np
from PyQt6.QtCore import QPointF
from PyQt6.QtGui import QPainter

from app.clock import NS_PER_MS
from app.console.readings import StationReadings
from app.console.theme import AMBER, TEXT, WINDOW, base_pixel_size, color, font
from app.console.words import duration_ms
from app.messages import OBJECTS
from app.scene.cameras import NEAR_M, View
from models.limb import limb_poses
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = ["ObjectTracker", "draw_objects"]

_OLD_MS = 4000.0  # an object that lies still is told of every 2 s
_LABEL_M = 0.05  # above its middle


@dataclass
class _Told:
    """One object as told."""

    time_ns: int
    pose: FloatArray
    holder: int
    pose_in_tip: FloatArray | None


class ObjectTracker:
    """Where the objects are now, for one console."""

    def __init__(self, model: RobotModel) -> None:
        """Begin with nothing told.

        Args:
            model: the robot, whose tips carry objects.
        """
        self._model = model
        self._told: list[_Told | None] = [None] * OBJECTS
        longest = int(np.max(np.diff(model.limb_segment_start)))
        self._poses = np.zeros((longest + 1, 4, 4))

    def poses(self, readings: StationReadings, count: int) -> FloatArray:
        """(count, 4, 4) of the objects [m], hull frame; NaN where never told.

        Args:
            readings: the newest readings.
            count: how many the scene has.
        """
        health = readings.health
        poses = np.full((count, 4, 4), np.nan)
        for number in range(min(count, OBJECTS)):
            time_ns = int(health.object_told_ns[number])
            if time_ns == 0:
                self._told[number] = None
                continue
            told = self._told[number]
            if told is None or told.time_ns != time_ns:
                told = self._told[number] = self._take(readings, number)
            poses[number] = told.pose
            if told.pose_in_tip is not None:
                poses[number] = self._tip(readings, told.holder) @ told.pose_in_tip
        return poses

    def _take(self, readings: StationReadings, number: int) -> _Told:
        health = readings.health
        pose = np.eye(4)
        pose[:3, :3] = _rotation(health.object_turn[number])
        pose[:3, 3] = health.object_position[number]
        holder, inside = int(health.object_holder[number]), None
        if 0 <= holder < self._model.tip_speed_limit.size:
            inside = np.linalg.inv(self._tip(readings, holder)) @ pose
        return _Told(int(health.object_told_ns[number]), pose, holder, inside)

    def _tip(self, readings: StationReadings, limb: int) -> FloatArray:
        """(4, 4) of a limb's tip as the robot told it, hull frame [m]."""
        start, stop = self._model.limb_segment_start[limb : limb + 2]
        rows = np.ascontiguousarray(readings.health.confirmed_coordinates[start:stop])
        limb_poses(self._model, limb, rows, self._poses)
        pose: FloatArray = (
            self._model.pose_base_to_hull[limb] @ self._poses[stop - start]
        )
        return pose

    def words(self, readings: StationReadings, number: int) -> tuple[str, bool]:
        """Say how old the knowledge of an object is, and whether that is too old."""
        told = self._told[number] if number < OBJECTS else None
        if told is None:
            return "as in the scene's file", True
        age_ms = max(0.0, (readings.now_ns - told.time_ns) / NS_PER_MS)
        held = ", held" if told.holder >= 0 else ""
        return f"seen {duration_ms(age_ms)} ago{held}", age_ms > _OLD_MS


def _rotation(turn: FloatArray) -> FloatArray:
    """(3, 3) of a unit quaternion wxyz."""
    w, x, y, z = turn.tolist()
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def draw_objects(
    painter: QPainter,
    view: View,
    names: tuple[str, ...],
    poses: FloatArray,
    readings: StationReadings,
    tracker: ObjectTracker,
) -> None:
    """Write the name and age of every object above it.

    Args:
        painter: on the picture.
        view: the picture's camera.
        names: of the objects.
        poses: (B, 4, 4) as they are drawn [m], hull frame.
        readings: the newest readings.
        tracker: knows the ages.
    """
    size = base_pixel_size()
    painter.setFont(font(size - 1, bold=True))
    for number, (name, pose) in enumerate(zip(names, poses, strict=True)):
        x, y, depth = view.project(pose[:3, 3] + np.array([0.0, 0.0, _LABEL_M]))
        if depth <= NEAR_M:
            continue
        told, old = tracker.words(readings, number)
        words = f"{name}: {told}"
        width = painter.fontMetrics().horizontalAdvance(words)
        at = QPointF(x - 0.5 * width, y - 0.4 * size)
        painter.setPen(color(WINDOW))
        for dx, dy in ((1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)):
            painter.drawText(at + QPointF(dx, dy), words)
        painter.setPen(color(AMBER if old else TEXT))
        painter.drawText(at, words)
