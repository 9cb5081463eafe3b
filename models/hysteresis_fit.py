"""Fit of the hysteresis of a chamber to samples of pressure and length.

Errors of length are minimised, not of z as in Kuhnen 2003. For fixed weights S is a
non-negative least-squares problem. A step of the weights is another, of weights and S
together, linear about the present ones (Gauss-Newton); it is halved until the error of
the best S falls.

Thresholds are spread evenly below half the range of the pressure: in a loop over the
range a play of half of it never moves back. What happened before the first sample is
unknown; three cases are tried. Finds a local optimum, from equal weights.
"""

from typing import NamedTuple

import numpy as np

from models.hysteresis import (
    AFTER_FALLING,
    AFTER_RISING,
    VIRGIN,
    HysteresisModel,
    hysteresis_history,
    initial_plays,
    play_series,
)
from models.numerics import FloatArray

__all__ = ["HysteresisFit", "fit_hysteresis", "nonnegative_least_squares"]

_LEAST_SHARE = 1e-3  # of the mean slope, for S and for w_0: keeps the inverse bounded
_BLOCK = 128  # rows
_FIT_STEPS = 60
_FIT_SAMPLES = 5000  # drawn from more; 100,000 would take 25 s and better nothing
_LEAST_STEP = 1e-3
_FIT_SETTLED = 1e-6  # relative change of the error


class HysteresisFit(NamedTuple):
    """What a fit found."""

    model: HysteresisModel
    start: int
    """What went before the first sample: AFTER_FALLING, AFTER_RISING or VIRGIN."""
    error_rms: float
    """Root mean square of length sample minus model [m]."""
    error_greatest: float
    """Greatest amount of it [m]."""


def _triangle(matrix: FloatArray) -> FloatArray:
    """Triangular factor: the same least-squares solutions, with few rows.

    Block by block, so that BLAS stays in one thread: its threads wait for each other
    actively, and where another program has a core, that costs fifty times the fit.
    """
    factor = np.empty((0, matrix.shape[1]))
    for first in range(0, len(matrix), _BLOCK):
        rows = np.vstack([factor, matrix[first : first + _BLOCK]])
        factor = np.linalg.qr(rows).R
    return factor


def _times(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """Matrix by vector without BLAS, for the same reason."""
    product: FloatArray = np.einsum("ij,j->i", matrix, vector)
    return product


def nonnegative_least_squares(matrix: FloatArray, wanted: FloatArray) -> FloatArray:
    """Minimise |A x - b| over x >= 0 (Lawson and Hanson 1974, ch. 23).

    Args:
        matrix: (n, m) A, n >= m.
        wanted: (n,) b.

    Returns:
        (m,) x.
    """
    size = matrix.shape[1]
    triangle = _triangle(np.column_stack([matrix, wanted]))[:size]
    r, wanted = triangle[:, :size], triangle[:, size]
    scale = np.linalg.norm(r, axis=0)
    scale[scale == 0.0] = 1.0
    r = r / scale
    x = np.zeros(size)
    free = np.zeros(size, dtype=bool)
    tolerance = 1e-13 * float(np.linalg.norm(wanted))
    for _ in range(10 * size):
        descent = r.T @ (wanted - r @ x)
        descent[free] = -np.inf
        entering = int(np.argmax(descent))
        if not descent[entering] > tolerance:
            break
        free[entering] = True
        while True:
            trial = np.zeros(size)
            trial[free] = np.linalg.lstsq(r[:, free], wanted, rcond=None)[0]
            blocked = free & (trial <= 0.0)
            if not blocked.any():
                break
            back = x[blocked] / (x[blocked] - trial[blocked])
            x += float(back.min()) * (trial - x)
            free &= x > 1e-15 * float(np.abs(x).max(initial=0.0))
            x[~free] = 0.0
            if not free.any():
                trial = x
                break
        x = trial
    solution: FloatArray = x / scale
    return solution


def _bounded_below(
    matrix: FloatArray, wanted: FloatArray, least: FloatArray
) -> FloatArray:
    return least + nonnegative_least_squares(matrix, wanted - _times(matrix, least))


class _Trial(NamedTuple):
    """A set of weights and the best S for it."""

    weight: FloatArray
    z: FloatArray
    knot: FloatArray
    value: FloatArray
    error: float
    """Sum of squared errors of length [m2]."""


def _curve_columns(
    z: FloatArray, knot: FloatArray, stroke: float
) -> tuple[FloatArray, FloatArray]:
    """Columns of S: a constant either way, then how far z is through each interval.

    Also the least of each coefficient, so that S rises.
    """
    # the first and the last interval go on without end
    lower = np.zeros(len(knot) - 1)
    upper = np.ones(len(knot) - 1)
    lower[0], upper[-1] = -np.inf, np.inf
    share = np.clip((z[:, None] - knot[:-1]) / np.diff(knot), lower, upper)
    ones = np.ones((len(z), 1))
    least = np.full(len(knot) + 1, _LEAST_SHARE * stroke / (len(knot) - 1))
    least[:2] = 0.0
    return np.hstack([ones, -ones, share]), least


def _with_weight(
    weight: FloatArray, play: FloatArray, length: FloatArray, knots: int
) -> _Trial:
    z = _times(play.T, weight)
    knot = np.linspace(z.min(), z.max(), knots)
    matrix, least = _curve_columns(z, knot, float(np.ptp(length)))
    mean = float(length.mean())
    found = _bounded_below(matrix, length - mean, least)
    value = mean + found[0] - found[1] + np.concatenate([[0.0], np.cumsum(found[2:])])
    gap = length - mean - _times(matrix, found)
    return _Trial(weight, z, knot, value, float(gap @ gap))


def _next_weight(
    trial: _Trial, play: FloatArray, length: FloatArray
) -> FloatArray | None:
    """Weights that would be best, with the S best for them, were all of it linear."""
    knot, value, z = trial.knot, trial.value, trial.z
    stroke = float(np.ptp(length))
    columns, least = _curve_columns(z, knot, stroke)
    # knots keep to the ends of z, which move with the weights
    share = (z - knot[0]) / (knot[-1] - knot[0])
    low, high = play[:, [int(z.argmin())]], play[:, [int(z.argmax())]]
    at = np.clip(np.searchsorted(knot, z) - 1, 0, len(knot) - 2)
    slope = (np.diff(value) / np.diff(knot))[at]
    by_weight = (slope * (play - (1.0 - share) * low - share * high)).T
    size = len(play)
    matrix = np.hstack([columns, by_weight])
    mean = float(length.mean())
    wanted = length - mean + _times(by_weight, trial.weight)
    # weights all larger, z all larger: one row settles their sum
    fixed = np.concatenate([np.zeros(len(least)), np.ones(size)])
    scale = stroke * float(np.sqrt(len(z)))
    least = np.concatenate([least, [_LEAST_SHARE], np.zeros(size - 1)])
    found = _bounded_below(
        np.vstack([matrix, scale * fixed]), np.append(wanted, scale), least
    )[-size:]
    total = float(found.sum())
    return found / total if total > 0.0 else None


def _fit_from(play: FloatArray, length: FloatArray, knots: int) -> _Trial:
    """Fit rising data to the states of the plays, (m, n)."""
    trial = _with_weight(np.full(len(play), 1.0 / len(play)), play, length, knots)
    for _ in range(_FIT_STEPS):
        aim = _next_weight(trial, play, length)
        if aim is None:
            break
        share = 1.0
        following = _with_weight(aim, play, length, knots)
        while following.error >= trial.error and share > _LEAST_STEP:
            share *= 0.5
            weight = trial.weight + share * (aim - trial.weight)
            following = _with_weight(weight, play, length, knots)
        if not following.error < trial.error * (1.0 - _FIT_SETTLED):
            break
        trial = following
    return trial


def fit_hysteresis(
    pressure: FloatArray, length: FloatArray, plays: int = 12, knots: int = 9
) -> HysteresisFit:
    """Fit the model to samples of one chamber.

    Args:
        pressure: (n,) gauge pressure in time order [Pa].
        length: (n,) chamber length at the same times [m].
        plays: number of thresholds, that at 0 included.
        knots: number of corners of S.

    Returns:
        The best fit of the three possible starts.

    Raises:
        ValueError: fewer samples than plays + knots, not finite, or a pressure or a
            length that never changes.
    """
    pressure = np.ascontiguousarray(pressure, dtype=np.float64)
    length = np.asarray(length, dtype=np.float64)
    if not (np.isfinite(pressure).all() and np.isfinite(length).all()):
        raise ValueError("samples must be finite")
    if len(pressure) != len(length) or len(pressure) < plays + knots:
        raise ValueError(
            f"{len(pressure)} pressures and {len(length)} lengths: {plays} plays and "
            f"{knots} knots need at least {plays + knots} of both"
        )
    if np.ptp(pressure) == 0.0 or np.ptp(length) == 0.0:
        raise ValueError("pressure and length must both change")
    half = 0.5 * float(np.ptp(pressure))
    threshold = np.linspace(0.0, half, plays, endpoint=False)
    covariance = float((pressure - pressure.mean()) @ (length - length.mean()))
    sign = 1.0 if covariance >= 0.0 else -1.0
    drawn = np.arange(len(pressure))
    if len(pressure) > _FIT_SAMPLES:
        generator = np.random.default_rng(0)
        drawn = generator.choice(len(pressure), _FIT_SAMPLES, replace=False)
    found: list[tuple[float, int, HysteresisModel]] = []
    for start in (AFTER_FALLING, AFTER_RISING, VIRGIN):
        first = initial_plays(threshold, float(pressure[0]), start)
        play = np.empty((plays, len(pressure)))
        play_series(pressure, threshold, first, play)
        trial = _fit_from(play[:, drawn], sign * length[drawn], knots)
        model = HysteresisModel(threshold, trial.weight, trial.knot, sign * trial.value)
        found.append((trial.error, start, model))
    _, start, model = min(found, key=lambda item: item[0])
    modelled = np.empty(len(pressure))
    first = initial_plays(threshold, float(pressure[0]), start)
    hysteresis_history(model, pressure, first, modelled)
    error = length - modelled
    return HysteresisFit(
        model, start, float(np.sqrt(np.mean(error**2))), float(np.abs(error).max())
    )
