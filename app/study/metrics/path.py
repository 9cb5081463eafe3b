"""How well a path was followed: how far beside it, and how far behind.

    RMS = sqrt(mean d²),   d the distance to the nearest point of the *curve*
    lag = argmin over τ of RMS |x(t) - x_ref(t - τ)|

So what is late and what is beside the path are told apart.
"""

from typing import NamedTuple

import numpy as np

from models.curve import Curve, curve_nearest
from models.numerics import FloatArray, IntArray

__all__ = ["PathFit", "fit_path", "length_ratio", "path_lag", "path_profile"]

_MOST_POINTS = 1000
_LAG_STEP = 0.01  # [s]


class PathFit(NamedTuple):
    """Of one trial."""

    rms: float
    """Distance to the curve [m]."""
    greatest: float
    """[m]."""
    lag_s: float
    """Behind the reference [s]."""
    rms_lagged: float
    """Distance to the reference that is so late [m]."""


def _thinned(count: int) -> IntArray:
    step = max(1, count // _MOST_POINTS)
    picked: IntArray = np.arange(0, count, step)
    return picked


def path_profile(curve: Curve, tip: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return arc length along the curve and distance from it [m], (k,) each.

    Args:
        curve: the path.
        tip: (n, 3) [m]; of more than 1,000, that many evenly picked.
    """
    picked = tip[_thinned(len(tip))]
    nearest = [curve_nearest(curve, place) for place in picked]
    gap, arc = np.array(nearest).reshape(-1, 2).T.copy()
    return arc, gap


def path_lag(
    curve: Curve, speed: float, time_s: FloatArray, tip: FloatArray, most_s: float
) -> tuple[float, float]:
    """Return lag [s] and distance to the reference so late [m].

    Args:
        curve: the path.
        speed: of the reference along it [m/s].
        time_s: (n,) since the reference set out [s].
        tip: (n, 3) [m].
        most_s: greatest lag that is tried [s].
    """
    picked = _thinned(len(tip))
    times, places = time_s[picked], tip[picked]
    best = (0.0, np.inf)
    for lag in np.arange(0.0, most_s + 0.5 * _LAG_STEP, _LAG_STEP):
        arcs = np.clip(speed * (times - lag), 0.0, curve.length)
        reference = np.stack(
            [np.interp(arcs, curve.arc, curve.points[:, k]) for k in range(3)], axis=1
        )
        gap = float(np.sqrt(np.mean(np.sum((places - reference) ** 2, axis=1))))
        if gap < best[1]:
            best = (float(lag), gap)
    return best


def fit_path(
    curve: Curve, speed: float, time_s: FloatArray, tip: FloatArray, most_lag_s: float
) -> PathFit:
    """Measure one trial; arguments as of `path_lag`."""
    _, gap = path_profile(curve, tip)
    lag_s, rms_lagged = path_lag(curve, speed, time_s, tip, most_lag_s)
    return PathFit(float(np.sqrt(np.mean(gap**2))), float(gap.max()), lag_s, rms_lagged)


def length_ratio(tip: FloatArray, least: float) -> float:
    """Return the way of (n, 3) places [m] over the least that would have done [m]."""
    way = float(np.linalg.norm(np.diff(tip, axis=0), axis=1).sum())
    return way / least if least > 0.0 else np.nan
