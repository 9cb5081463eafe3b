"""Marks in the scene: target, trail and the lines that join poses. Pure numpy.

Every function returns rows of `app.scene.picture.LINE_FLOATS` numbers.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from app.scene.picture import LINE_FLOATS
from app.scene.site import Ground, seabed_height
from models.numerics import FloatArray

__all__ = [
    "MODEL_COLOR",
    "TARGET_COLOR",
    "GoalMark",
    "GuideMark",
    "Lines",
    "aim_mark",
    "dashes",
    "goal_mark",
    "guide_mark",
    "lines",
    "target_mark",
    "trail",
]

Lines = NDArray[np.float32]

TARGET_COLOR = (1.0, 0.13, 0.55)
"""Linear colour of all that the operator asks for: magenta, which no limb has."""
MODEL_COLOR = (0.16, 0.92, 1.0)
"""Linear colour of all that the local model says: cyan."""

AIM_COLOR = (1.0, 1.0, 1.0)
_GOAL_COLORS = ((1.0, 0.50, 0.03), (0.10, 0.90, 0.30), (1.0, 0.10, 0.08))
_LEAST_PX = 9.0  # radius of a goal's ball
_PRESS_M = 0.09  # length of the arrow of a press
_AXES = ((1.0, 0.12, 0.10), (0.16, 0.85, 0.20), (0.20, 0.40, 1.0))
_WHITE = (1.0, 1.0, 1.0)


def lines(
    start: FloatArray,
    stop: FloatArray,
    color: tuple[float, float, float],
    opacity: FloatArray | float,
    thickness: float,
    stop_opacity: FloatArray | float | None = None,
) -> Lines:
    """Make straight lines.

    Args:
        start: (n, 3) [m], hull frame.
        stop: (n, 3) [m].
        color: linear.
        opacity: at the start, 0..1, one or (n,).
        thickness: [px].
        stop_opacity: at the stop; as at the start where None.
    """
    rows = np.empty((start.shape[0], LINE_FLOATS), dtype=np.float32)
    rows[:, 0:3], rows[:, 3:6] = start, stop
    rows[:, 6:9], rows[:, 10:13] = color, color
    rows[:, 9] = opacity
    rows[:, 13] = opacity if stop_opacity is None else stop_opacity
    rows[:, 14] = thickness
    return rows


def dashes(
    start: FloatArray,
    stop: FloatArray,
    color: tuple[float, float, float],
    opacity: float,
    thickness: float,
    pitch: float = 0.016,
) -> Lines:
    """A dashed line between two (3,) points, one dash and gap every `pitch` [m]."""
    length = float(np.linalg.norm(stop - start))
    count = min(max(round(length / pitch), 1), 120)
    t = np.arange(count)[:, None] / count
    span = (stop - start)[None, :]
    begin = start + t * span
    return lines(begin, begin + span * (0.55 / count), color, opacity, thickness)


def target_mark(
    target: FloatArray,
    view_axes: FloatArray,
    size: float,
    bright: float,
    *,
    reached: bool = True,
    ground: Ground | None = None,
) -> Lines:
    """Ring that faces the eye, axes of the hull, and a plumb line to the sand.

    Args:
        target: (3,) [m], hull frame.
        view_axes: (3, 3) rows right, up, forward of the camera.
        size: radius of the ring [m].
        bright: 1 while the operator drives, less when nobody does.
        reached: False breaks the ring: the limb cannot get there.
        ground: the sand; None for what URSULA hovers over.
    """
    angle = np.linspace(0.0, 2.0 * math.pi, 41)
    circle = (
        target
        + size * np.cos(angle)[:, None] * view_axes[0]
        + size * np.sin(angle)[:, None] * view_axes[1]
    )
    shown = slice(None) if reached else slice(None, None, 2)
    ring = lines(circle[:-1], circle[1:], TARGET_COLOR, bright, 2.6)
    parts = [ring[shown]]
    for axis, color in enumerate(_AXES):
        arm = np.zeros(3)
        arm[axis] = 1.35 * size
        parts.append(
            lines(
                np.stack([target - 0.3 * arm]),
                np.stack([target + arm]),
                color,
                0.35 + 0.6 * bright,
                2.0,
            )
        )
    ticks = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    outward = ticks @ view_axes[:2]
    parts.append(
        lines(
            target + size * outward,
            target + 1.4 * size * outward,
            TARGET_COLOR,
            bright,
            2.6,
        )
    )
    parts += _plumb_line(target, size, ground or Ground())
    return np.concatenate(parts)


def _plumb_line(place: FloatArray, size: float, ground: Ground) -> list[Lines]:
    """A dashed line down to the sand, and a cross there: how deep, how far."""
    foot = place.copy()
    foot[2] = float(seabed_height(place[0], place[1], ground)) + 0.004
    if foot[2] >= place[2]:
        return []
    flat = 0.5 * size * np.array([[1.0, 0, 0], [0, 1.0, 0]])
    return [
        dashes(place, foot, _WHITE, 0.20, 1.2, 0.03),
        lines(foot - flat, foot + flat, _WHITE, 0.45, 1.4),
    ]


def _ball(
    place: FloatArray,
    radius: float,
    color: tuple[float, float, float],
    opacity: float,
    thickness: float,
) -> Lines:
    """A ball as three great circles."""
    angle = np.linspace(0.0, 2.0 * math.pi, 33)[:, None]
    rings = [
        place
        + radius * (np.cos(angle) * np.eye(3)[one] + np.sin(angle) * np.eye(3)[two])
        for one, two in ((0, 1), (1, 2), (2, 0))
    ]
    starts = np.concatenate([ring[:-1] for ring in rings])
    stops = np.concatenate([ring[1:] for ring in rings])
    return lines(starts, stops, color, opacity, thickness)


@dataclass(frozen=True, eq=False)
class GuideMark:
    """What a person is to reach, one ball after another, and along which line.

    Attributes:
        balls: (n, 3) their middles [m], hull frame.
        radius: of all [m].
        done: how many are; the next one is bright.
        line: (m, 3) points of a line to follow [m]; None: none.
    """

    balls: FloatArray
    radius: float
    done: int
    line: FloatArray | None = None


def guide_mark(guide: GuideMark, ground: Ground) -> Lines:
    """Balls that are done in green, the next one bright with its plumb line."""
    parts = []
    if guide.line is not None:
        points = guide.line
        parts.append(lines(points[:-1], points[1:], _GOAL_COLORS[0], 0.8, 2.4))
    for number, place in enumerate(guide.balls):
        if number == guide.done:
            parts.append(_ball(place, guide.radius, _GOAL_COLORS[0], 1.0, 2.4))
            parts += _plumb_line(place, guide.radius, ground)
        else:
            color = _GOAL_COLORS[1] if number < guide.done else _WHITE
            parts.append(_ball(place, guide.radius, color, 0.35, 1.4))
    return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class GoalMark:
    """A goal that a limb works on.

    Attributes:
        place: (3,) where its tip shall be; of a press, where it is [m], hull frame.
        path: (n, 3) points on the way there, from the tip on [m].
        along: (3,) unit direction of a press; None: it goes to the place.
        tolerance: how near is there [m].
        outcome: 0 not ended, 1 done, 2 failed.
    """

    place: FloatArray
    path: FloatArray
    along: FloatArray | None = None
    tolerance: float = 0.005
    outcome: int = 0


def goal_mark(
    goal: GoalMark, view_axes: FloatArray, pixel_size: Callable[[FloatArray], float]
) -> Lines:
    """A ball of three rings as wide as the tolerance, and the way to it.

    Args:
        goal: the goal.
        view_axes: (3, 3) rows right, up, forward of the camera.
        pixel_size: length that a pixel covers at a place [m].
    """
    color = _GOAL_COLORS[goal.outcome]
    size = max(goal.tolerance, _LEAST_PX * pixel_size(goal.place))
    parts = []
    if goal.along is not None:
        head = goal.place + _PRESS_M * goal.along
        across = np.cross(goal.along, view_axes[2])
        across *= 0.25 * _PRESS_M / max(float(np.linalg.norm(across)), 1e-6)
        back = head - 0.3 * _PRESS_M * goal.along
        starts = np.stack([goal.place, head, head])
        stops = np.stack([head, back + across, back - across])
        parts.append(lines(starts, stops, color, 1.0, 3.4))
    else:
        parts.append(_ball(goal.place, size, color, 0.95, 2.2))
    if goal.outcome == 0 and goal.along is None:
        way = np.concatenate([goal.path.reshape(-1, 3), goal.place[None]])
        for start, stop in pairwise(way):
            parts.append(dashes(start, stop, color, 0.75, 2.0))
        for point in way[1:-1]:
            arm = 0.5 * size * view_axes[:2]
            parts.append(lines(point - arm, point + arm, color, 0.95, 2.0))
    return np.concatenate(parts)


def aim_mark(place: FloatArray, size: float) -> Lines:
    """A cross of three axes at a (3,) place that a person has marked [m]."""
    arms = size * np.eye(3)
    cross = lines(place - arms, place + arms, AIM_COLOR, 0.95, 1.8)
    corners = (
        0.6 * size * np.array([[1.0, 0, 0], [0, 1.0, 0], [-1.0, 0, 0], [0, -1.0, 0]])
    )
    corners = place + corners
    diamond = lines(corners, np.roll(corners, -1, axis=0), AIM_COLOR, 0.8, 1.8)
    return np.concatenate([cross, diamond])


def trail(
    points: FloatArray, color: tuple[float, float, float], opacity: float
) -> Lines:
    """A path that fades towards its older end, (n, 3) points oldest first [m]."""
    if points.shape[0] < 2:
        return np.zeros((0, LINE_FLOATS), dtype=np.float32)
    fade = opacity * np.linspace(0.0, 1.0, points.shape[0]) ** 1.5
    return lines(points[:-1], points[1:], color, fade[:-1], 2.2, fade[1:])
