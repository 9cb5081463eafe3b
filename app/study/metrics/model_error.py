"""How right the station's model is: of the robot, and of what the robot touches.

e_now = |x̂ - x| at the same time: what the operator sees against what is
e_fit = |x̂(t_gen) - x(t_gen)|: what telemetry can mend (the loop's own `mismatch`)
|K̂ - K|/K, (x̂_w - x_w)·n, and how long until K̂ stays within 15 %, from the first contact
"""

from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray

__all__ = ["SurfaceFit", "fit_surface", "place_error"]

_NEAR = 0.15


class SurfaceFit(NamedTuple):
    """Of the surface that is rendered at the end."""

    stiffness_error: float | None
    """|K̂ - K|/K; None where none was learned."""
    place_error: float | None
    """(x̂_w - x_w)·n, positive outside the true surface [m]."""
    near_s: float | None
    """From the first contact until K̂ stays within 15 % [s]; None: it never does."""


def place_error(shown: FloatArray, true: FloatArray) -> tuple[float, float]:
    """Return rms and greatest distance [m] of (n, 3) places at equal times."""
    if not len(shown):
        return 0.0, 0.0
    gap = np.linalg.norm(shown - true, axis=1)
    return float(np.sqrt(np.mean(gap**2))), float(gap.max())


def fit_surface(
    time_s: FloatArray,
    stiffness: FloatArray,
    place: FloatArray,
    true_stiffness: float,
    true_place: float,
    touched_s: float | None,
) -> SurfaceFit:
    """Judge what was learned of a surface.

    Args:
        time_s: (n,) [s].
        stiffness: (n,) as rendered, NaN while none is known [N/m^n].
        place: (n,) of it along the true normal [m].
        true_stiffness: K.
        true_place: along the same normal [m].
        touched_s: when the tip first touched it; None: never [s].
    """
    if not stiffness.size or not np.isfinite(stiffness[-1]):
        return SurfaceFit(None, None, None)
    error = np.abs(stiffness - true_stiffness) / true_stiffness
    near = np.isfinite(error) & (error <= _NEAR)
    near_s = None
    if near[-1] and touched_s is not None:
        off = np.flatnonzero(~near)
        since = 0 if not off.size else int(off[-1]) + 1
        near_s = max(0.0, float(time_s[since]) - touched_s)
    return SurfaceFit(float(error[-1]), float(place[-1]) - true_place, near_s)
