"""How a tip goes to a goal: along a curve, at minimum jerk, without a jolt at first.

The curve through the points is a Catmull-Rom spline, cut into chords. Along it the way
grows as s³ (10 - 15 s + 6 s²) with s the share of the time (Flash and Hogan 1985); the
greatest speed is 15/8 of the mean. A tip that is still moving when a motion begins goes
on from its velocity v: what is added, v t (1 - 6 s² + 8 s³ - 3 s⁴), begins with v and
ends at rest at 0, its first two derivatives too.
"""

import math
from collections.abc import Sequence

import numpy as np

from models.numerics import FloatArray

__all__ = ["TipMotion"]

_CHORDS = 16  # for each piece of the spline
_PEAK = 15.0 / 8.0  # greatest speed over the mean
_COAST_S = 0.3  # until what is left of an earlier motion has died away
_LEAST_S = 0.2


class TipMotion:
    """One motion from where a tip is commanded to be."""

    def __init__(
        self,
        start: FloatArray,
        velocity: FloatArray,
        points: Sequence[Sequence[float]],
        speed: float,
        greatest_speed: float,
    ) -> None:
        """Plan it.

        Args:
            start: (3,) [m].
            velocity: (3,) of the tip's command now [m/s].
            points: to go through, the last to end at [m]; none to stop.
            speed: greatest along the curve [m/s].
            greatest_speed: of the command whatever is added [m/s].
        """
        self._curve = _spline(np.array([start, *points], dtype=np.float64))
        steps = np.linalg.norm(np.diff(self._curve, axis=0), axis=1)
        self._way = np.concatenate(([0.0], np.cumsum(steps)))
        self.length = float(self._way[-1])
        """Of the curve [m]."""
        self.duration = max(_PEAK * self.length / speed, _LEAST_S)
        """Time that it takes [s]."""
        self.elapsed = 0.0
        """Since it began [s]."""
        self._left = np.array(velocity, dtype=np.float64)
        self._most = greatest_speed
        self.position = np.array(start, dtype=np.float64)
        """(3,) of the tip's command now [m]."""
        self.velocity = np.array(velocity, dtype=np.float64)
        """(3,) [m/s]."""

    @property
    def share(self) -> float:
        """Of the time that has passed, 0..1."""
        return min(self.elapsed / self.duration, 1.0)

    @property
    def arrived(self) -> bool:
        """The command is at the end, at rest."""
        return self.elapsed >= max(self.duration, _COAST_S) and not self.velocity.any()

    def step(self, period: float) -> FloatArray:
        """Move on by a period [s]; return the (3,) command [m]."""
        self.elapsed += period
        s = self.share
        way = self.length * s * s * s * (10.0 - s * (15.0 - 6.0 * s))
        k = int(np.searchsorted(self._way, way, side="right"))
        k = min(max(k, 1), len(self._way) - 1)
        chord = self._way[k] - self._way[k - 1]
        along = (way - self._way[k - 1]) / chord if chord > 0.0 else 1.0
        wanted = self._curve[k - 1] + along * (self._curve[k] - self._curve[k - 1])
        if self.elapsed < _COAST_S:
            u = self.elapsed / _COAST_S
            fading = 1.0 - u * u * (6.0 - u * (8.0 - 3.0 * u))
            wanted = wanted + self.elapsed * fading * self._left
        step = wanted - self.position
        size = math.sqrt(float(step @ step))
        if size > self._most * period:
            step *= self._most * period / size
        self.position = self.position + step
        self.velocity = step / period
        return self.position


def _spline(points: FloatArray) -> FloatArray:
    """Return chords of the curve through (n, 3) points, at least two."""
    if len(points) < 2:
        return np.concatenate((points, points))
    before = np.concatenate(([2.0 * points[0] - points[1]], points[:-1]))
    after = np.concatenate((points[1:], [2.0 * points[-1] - points[-2]]))
    slope = 0.5 * (after - before)
    u = np.linspace(0.0, 1.0, _CHORDS + 1)[1:, None]
    pieces = [points[:1]]
    for k in range(len(points) - 1):
        gap = points[k + 1] - points[k]
        pieces.append(
            points[k]
            + u * slope[k]
            + u * u * (3.0 * gap - 2.0 * slope[k] - slope[k + 1])
            + u * u * u * (slope[k] + slope[k + 1] - 2.0 * gap)
        )
    return np.concatenate(pieces)
