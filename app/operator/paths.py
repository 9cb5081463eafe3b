"""Tip paths that a scripted operator follows: a line there and back, and a circle.

A limb of constant length cannot move its tip freely: at each distance from its axis
there is one height that a uniform bend reaches, and less. So a path is laid out on the
`Dome` through the tip's present place, the surface that the tip of a uniformly bent
arc of fixed length sweeps; a one-segment limb then follows it exactly. A flat path
along hull axes can be asked for instead. Positions are in the hull frame [m].
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from models.numerics import FloatArray

__all__ = ["CirclePath", "Dome", "LinePath", "TipPath", "minimum_jerk", "steepest"]

_SAMPLES = 128  # of a round, to find its greatest speed
_BEND_MOST = 2.2  # past 2.33 rad an arc's end comes nearer to its axis again


class TipPath(Protocol):
    """A closed way through space that begins where the tip is."""

    def point(self, progress: float) -> FloatArray:
        """Return the (3,) position after `progress` rounds [m], hull frame."""


def minimum_jerk(fraction: float) -> float:
    """Go smoothly from 0 to 1: 10 f³ - 15 f⁴ + 6 f⁵ (Flash and Hogan 1985)."""
    f = min(1.0, max(0.0, fraction))
    return f * f * f * (10.0 + f * (6.0 * f - 15.0))


def steepest(path: TipPath) -> float:
    """Return the greatest way per round of progress anywhere on a path [m]."""
    points = np.stack([path.point(k / _SAMPLES) for k in range(_SAMPLES + 1)])
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    return float(steps.max()) * _SAMPLES


@dataclass(frozen=True)
class Dome:
    """The surface swept by the tip of a uniformly bent arc of one length.

    Attributes:
        pose_base_to_hull: (4, 4) pose of the limb's base [m].
        length: arc length [m].
    """

    pose_base_to_hull: FloatArray
    length: float

    @classmethod
    def through(cls, pose_base_to_hull: FloatArray, tip: FloatArray) -> "Dome":
        """Find the dome of a limb through a point [m] of the hull frame."""
        across, height = _in_base(pose_base_to_hull, tip)
        # the chord makes half the bending angle with the axis
        half = math.atan2(math.hypot(*across), height)
        chord = math.hypot(*across, height)
        length = chord * half / math.sin(half) if half > 1e-6 else chord
        return cls(pose_base_to_hull, length)

    def point(self, across: FloatArray) -> FloatArray:
        """Return the (3,) point [m] over a place (2,) [m] across the limb's axis."""
        wanted = float(np.hypot(*across)) / self.length
        bend = _bend_reaching(wanted)
        if bend < 1e-9:
            place, height = across, self.length
        else:
            reached = (1.0 - math.cos(bend)) / bend
            scale = min(1.0, reached / max(wanted, 1e-12))
            place, height = scale * across, self.length * math.sin(bend) / bend
        base = self.pose_base_to_hull
        local = np.array([place[0], place[1], height])
        point: FloatArray = base[:3, :3] @ local + base[:3, 3]
        return point


@dataclass(frozen=True)
class LinePath:
    """There and back with minimum jerk; one round is both ways.

    Attributes:
        start: (3,) where the tip is [m], hull frame.
        reach: (3,) the far end from there [m]; hull frame, or on a dome the first two
            are across the limb's axis in its base frame.
        dome: the surface to stay on, or None for a straight line.
    """

    start: FloatArray
    reach: FloatArray
    dome: Dome | None = None

    @cached_property
    def _across(self) -> FloatArray:
        """(2,) of the start across the limb's axis [m]; 0 without a dome."""
        if self.dome is None:
            return np.zeros(2)
        return _in_base(self.dome.pose_base_to_hull, self.start)[0]

    def point(self, progress: float) -> FloatArray:
        """Return the (3,) position after `progress` rounds [m]."""
        phase = progress % 1.0
        out = minimum_jerk(2.0 * phase if phase < 0.5 else 2.0 - 2.0 * phase)
        if self.dome is None:
            return self.start + out * self.reach
        return self.dome.point(self._across + out * self.reach[:2])


@dataclass(frozen=True)
class CirclePath:
    """A circle through the start.

    Attributes:
        start: (3,) where the tip is [m], hull frame.
        inward: (3,) from the start to the centre, as long as the radius [m]; on a dome
            the first two are across the limb's axis in its base frame.
        sideways: (3,) the same length, square to `inward`: the first direction.
        dome: the surface to stay on, or None for a flat circle.
    """

    start: FloatArray
    inward: FloatArray
    sideways: FloatArray
    dome: Dome | None = None

    @cached_property
    def _across(self) -> FloatArray:
        """(2,) of the start across the limb's axis [m]; 0 without a dome."""
        if self.dome is None:
            return np.zeros(2)
        return _in_base(self.dome.pose_base_to_hull, self.start)[0]

    def point(self, progress: float) -> FloatArray:
        """Return the (3,) position after `progress` rounds [m]."""
        angle = 2.0 * math.pi * progress
        move = (1.0 - math.cos(angle)) * self.inward + math.sin(angle) * self.sideways
        if self.dome is None:
            return self.start + move
        return self.dome.point(self._across + move[:2])


def _in_base(
    pose_base_to_hull: FloatArray, point: FloatArray
) -> tuple[FloatArray, float]:
    """Split a hull point into (2,) across the limb's axis and height along it [m]."""
    local = pose_base_to_hull[:3, :3].T @ (point - pose_base_to_hull[:3, 3])
    return local[:2], float(local[2])


def _bend_reaching(ratio: float) -> float:
    """Solve (1 - cos θ)/θ = ratio for θ [rad] by Newton's method; at most 2.2 rad."""
    if ratio >= (1.0 - math.cos(_BEND_MOST)) / _BEND_MOST:
        return _BEND_MOST
    bend = 2.0 * ratio
    for _ in range(8):
        if bend < 1e-6:
            return bend
        cosine, sine = math.cos(bend), math.sin(bend)
        error = (1.0 - cosine) / bend - ratio
        slope = (bend * sine - 1.0 + cosine) / (bend * bend)
        last, bend = bend, min(_BEND_MOST, bend - error / slope)
        if bend == last:
            break
    return bend
