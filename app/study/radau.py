"""Stiff systems to a tolerance: Radau IIA of order 5 with chosen steps.

Three stages, simplified Newton iterations with a Jacobian by differences, error
estimate and step control of Hairer and Wanner (1996, Solving Ordinary Differential
Equations II, sec. IV.8). L-stable; exact Jacobians are not needed. Plain numpy: for
reference motions of some hundred unknowns, not for the loop.
"""

from collections.abc import Callable

import numpy as np

from app.errors import ModelError
from models.numerics import FloatArray

__all__ = ["integrate"]

_ROOT_6 = 6.0**0.5
_NODE = np.array([(4.0 - _ROOT_6) / 10.0, (4.0 + _ROOT_6) / 10.0, 1.0])
_POWERS = _NODE[:, None] ** np.arange(3)
_MATRIX = (_NODE[:, None] ** np.arange(1, 4) / np.arange(1, 4)) @ np.linalg.inv(_POWERS)
_ERROR = np.array([-13.0 - 7.0 * _ROOT_6, -13.0 + 7.0 * _ROOT_6, -1.0]) / 3.0
_REAL_ROOT = 3.0 + 3.0 ** (2.0 / 3.0) - 3.0 ** (1.0 / 3.0)
_MOST_ITERATIONS = 8
_LEAST_STEP = 1e-10  # of the whole span

Rates = Callable[[float, FloatArray], FloatArray]


def integrate(
    rates: Rates,
    state: FloatArray,
    start: float,
    stop: float,
    tolerance: float,
    first_step: float,
) -> tuple[FloatArray, float]:
    """Integrate over a span.

    Args:
        rates: time and state (n,) to the state's time derivative (n,).
        state: (n,) at the start.
        start: [s].
        stop: [s].
        tolerance: of the error of a step, relative and absolute.
        first_step: to try [s].

    Returns:
        State at the end, and the step to try next [s].

    Raises:
        ModelError: no step is small enough, or the state is not finite.
    """
    time, step = start, min(first_step, stop - start)
    size = state.size
    slope = rates(time, state)
    jacobian = _jacobian(rates, time, state, slope)
    inverse, inverse_step = np.zeros((0, 0)), 0.0
    rejected = False
    while time < stop * (1.0 - 1e-14):
        step = min(step, stop - time)
        if step < _LEAST_STEP * (stop - start):
            raise ModelError(
                f"The reference integration needs steps below {step:.1e} s at "
                f"{time:.6g} s: a load jumps, or the state diverges."
            )
        if step != inverse_step:
            inverse, inverse_step = _newton_inverse(jacobian, step), step
        stages, iterations = _solve_stages(
            rates, time, state, step, inverse, tolerance, slope
        )
        if stages is None:
            step *= 0.5
            continue
        scale = tolerance * (1.0 + np.maximum(np.abs(state), np.abs(state + stages[2])))
        real = np.linalg.inv(_REAL_ROOT / step * np.eye(size) - jacobian)
        estimate = real @ (slope + _ERROR @ stages / step)
        error = _norm(estimate / scale)
        if rejected and error > 1.0:
            correction = rates(time, state + estimate) + _ERROR @ stages / step
            error = _norm((real @ correction) / scale)
        safety = 0.9 * (2 * _MOST_ITERATIONS + 1) / (2 * _MOST_ITERATIONS + iterations)
        factor = min(8.0, max(0.2, safety * max(error, 1e-10) ** -0.25))
        if error > 1.0:
            step *= factor
            rejected = True
            continue
        rejected = False
        time = time + step
        state = state + stages[2]
        if not np.isfinite(state).all():
            raise ModelError(f"The reference state is not finite at {time:.6g} s.")
        slope = rates(time, state)
        jacobian, inverse_step = _jacobian(rates, time, state, slope), 0.0
        if factor > 1.2 or factor < 1.0:
            step *= factor
    return state, step


def _norm(values: FloatArray) -> float:
    return float(np.sqrt(np.mean(values * values)))


def _jacobian(
    rates: Rates, time: float, state: FloatArray, slope: FloatArray
) -> FloatArray:
    """(n, n) by forward differences."""
    size = state.size
    matrix = np.empty((size, size))
    for k in range(size):
        change = 1.5e-8 * max(1e-3, abs(state[k]))
        moved = state.copy()
        moved[k] += change
        matrix[:, k] = (rates(time, moved) - slope) / (moved[k] - state[k])
    return matrix


def _newton_inverse(jacobian: FloatArray, step: float) -> FloatArray:
    size = jacobian.shape[0]
    whole: FloatArray = np.linalg.inv(
        np.eye(3 * size) - step * np.kron(_MATRIX, jacobian)
    )
    return whole


def _solve_stages(
    rates: Rates,
    time: float,
    state: FloatArray,
    step: float,
    inverse: FloatArray,
    tolerance: float,
    slope: FloatArray,
) -> tuple[FloatArray | None, int]:
    """Displacements (3, n) of the stages, None where Newton does not converge."""
    stages = step * _NODE[:, None] * slope
    scale = tolerance * (1.0 + np.abs(state))
    before = 0.0
    for iteration in range(1, _MOST_ITERATIONS + 1):
        values = np.stack(
            [
                rates(time + c * step, state + z)
                for c, z in zip(_NODE, stages, strict=True)
            ]
        )
        if not np.isfinite(values).all():
            return None, iteration
        residual = stages - step * _MATRIX @ values
        change = -(inverse @ residual.reshape(-1)).reshape(3, -1)
        stages = stages + change
        size = _norm(change / scale)
        if size < 1e-3:
            return stages, iteration
        if before:
            shrink = size / before
            left = _MOST_ITERATIONS - iteration
            if shrink >= 1.0 or shrink**left / (1.0 - shrink) * size > 0.1:
                return None, iteration
            if shrink / (1.0 - shrink) * size < 1e-2:
                return stages, iteration
        before = size
    return None, _MOST_ITERATIONS
