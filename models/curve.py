"""A curve through space as a fine polyline: points by arc length, and distances to it.

A chord of length s of a circle of radius r lies at most s²/8r from it: 2 µm at 1 mm
and 65 mm.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, inner_kernel

__all__ = [
    "Curve",
    "build_curve",
    "curve_foot",
    "curve_nearest",
    "curve_point",
]


class Curve(NamedTuple):
    """A polyline."""

    points: FloatArray
    """(n, 3) corners, n at least 2 [m]."""
    arc: FloatArray
    """(n,) arc length from the first corner [m]."""

    @property
    def length(self) -> float:
        """Whole arc length [m]."""
        return float(self.arc[-1])


def build_curve(place: Callable[[float], FloatArray], spacing: float = 1e-3) -> Curve:
    """Sample a curve evenly in its parameter.

    Args:
        place: maps 0..1 to a (3,) position [m].
        spacing: mean distance of the corners [m].
    """
    rough = np.stack([place(k / 64.0) for k in range(65)])
    length = float(np.linalg.norm(np.diff(rough, axis=0), axis=1).sum())
    count = max(2, 1 + int(np.ceil(length / spacing)))
    points = np.stack([place(k / (count - 1)) for k in range(count)])
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    return Curve(points, np.concatenate([np.zeros(1), np.cumsum(steps)]))


def curve_point(curve: Curve, arc: float) -> FloatArray:
    """Return the (3,) point at an arc length [m]; the nearer end outside the curve."""
    along = min(max(arc, 0.0), curve.length)
    k = min(int(np.searchsorted(curve.arc, along, "right")), curve.arc.size - 1)
    step = float(curve.arc[k] - curve.arc[k - 1])
    share = (along - float(curve.arc[k - 1])) / step if step > 0.0 else 0.0
    point: FloatArray = curve.points[k - 1] + share * (
        curve.points[k] - curve.points[k - 1]
    )
    return point


def curve_nearest(curve: Curve, place: FloatArray) -> tuple[float, float]:
    """Return distance and arc length of the point nearest to a (3,) place [m]."""
    starts, steps = curve.points[:-1], np.diff(curve.points, axis=0)
    squares = np.maximum(np.einsum("ij,ij->i", steps, steps), 1e-30)
    shares = np.einsum("ij,ij->i", place - starts, steps) / squares
    shares = np.clip(shares, 0.0, 1.0)
    gaps = np.linalg.norm(starts + shares[:, None] * steps - place, axis=1)
    k = int(np.argmin(gaps))
    return float(gaps[k]), float(curve.arc[k] + shares[k] * np.sqrt(squares[k]))


@inner_kernel
def curve_foot(
    points: FloatArray, arc: FloatArray, place: FloatArray
) -> tuple[float, float]:
    """Find the point of a curve that is nearest to a place, as `curve_nearest`.

    Args:
        points: (n, 3) of the curve [m].
        arc: (n,) of it [m].
        place: (3,) [m].

    Returns:
        Its distance and its arc length [m].
    """
    least, found = np.inf, 0.0
    for k in range(arc.size - 1):
        square, share = 1e-30, 0.0
        for i in range(3):
            step = points[k + 1, i] - points[k, i]
            square += step * step
            share += step * (place[i] - points[k, i])
        share = min(max(share / square, 0.0), 1.0)
        gap = 0.0
        for i in range(3):
            way = points[k, i] + share * (points[k + 1, i] - points[k, i]) - place[i]
            gap += way * way
        if gap < least:
            least, found = gap, arc[k] + share * np.sqrt(square)
    return np.sqrt(least), found
