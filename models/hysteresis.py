"""Pressure to length of a soft chamber with hysteresis, and its inverse.

The modified Prandtl-Ishlinskii model (Kuhnen 2003, European J. Control 9, 407-418): a
weighted sum of play operators, then a monotone function without memory,

    z = Σ w_i P_i[p],   w_0 > 0, w_i >= 0, Σ w_i = 1,   length = S(z)

A play of threshold r keeps its state s while |p - s| <= r and is dragged along
otherwise: s = max(p - r, min(p + r, s)). Threshold 0 is the pressure itself. The sum
gives loops and minor loops, wiped out by larger ones; S, piecewise linear, makes the
loading and the unloading branch of unlike shape (Liu 2020 Fig. 3g, Gong 2018 Fig. 2c).

Both parts are inverted exactly. The states have |s_i+1 - s_i| <= r_i+1 - r_i, so that
z as a function of the next pressure is piecewise linear with known corners, and one
walk along them gives the pressure. It is the inverse Prandtl-Ishlinskii operator of
Krejci and Kuhnen 2001 (IEE Proc. 148, 185-192), with the states of the forward model
instead of its own: a pressure that was cut to what the valve can do is simply put
into the forward model, and the memory stays true.

Independent of rate: creep, and the delay of tubes and valves, are left out. Beyond the
fitted range S goes on straight.
"""

from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, kernel

__all__ = [
    "AFTER_FALLING",
    "AFTER_RISING",
    "VIRGIN",
    "HysteresisModel",
    "hysteresis_history",
    "hysteresis_length",
    "hysteresis_pressure",
    "initial_plays",
    "play_series",
]

AFTER_FALLING = 0
"""The pressure came down by more than twice the greatest threshold."""
AFTER_RISING = 1
"""The pressure came up by more than twice the greatest threshold."""
VIRGIN = 2
"""Never under pressure before: every play at what 0 drags it to."""


class HysteresisModel(NamedTuple):
    """Constant parameters of one chamber, m plays and k knots."""

    threshold: FloatArray
    """(m,) of the plays [Pa]; 0 first, increasing."""
    weight: FloatArray
    """(m,) of the plays; the first positive, none negative, their sum 1."""
    knot: FloatArray
    """(k,) corners of S [Pa], increasing."""
    length: FloatArray
    """(k,) S at the knots [m], increasing or decreasing throughout."""


def initial_plays(threshold: FloatArray, pressure: float, start: int) -> FloatArray:
    """Return the states of the plays at a pressure that was reached in a known way.

    Args:
        threshold: (m,) of the plays, as in the model [Pa].
        pressure: present pressure [Pa].
        start: AFTER_FALLING, AFTER_RISING or VIRGIN.

    Returns:
        (m,) states [Pa].
    """
    low: FloatArray = pressure - threshold
    high: FloatArray = pressure + threshold
    if start == AFTER_FALLING:
        return high
    return low if start == AFTER_RISING else np.clip(0.0, low, high)


@kernel
def _curve(model: HysteresisModel, z: float) -> float:
    """S(z), straight on beyond the ends."""
    i = 1
    while i < model.knot.shape[0] - 1 and z > model.knot[i]:
        i += 1
    slope = (model.length[i] - model.length[i - 1]) / (
        model.knot[i] - model.knot[i - 1]
    )
    return float(model.length[i - 1] + slope * (z - model.knot[i - 1]))


@kernel
def _curve_inverse(model: HysteresisModel, length: float) -> float:
    rising = model.length[1] > model.length[0]
    i = 1
    while i < model.knot.shape[0] - 1 and (length > model.length[i]) == rising:
        i += 1
    slope = (model.knot[i] - model.knot[i - 1]) / (
        model.length[i] - model.length[i - 1]
    )
    return float(model.knot[i - 1] + slope * (length - model.length[i - 1]))


@kernel
def hysteresis_length(
    model: HysteresisModel, pressure: float, play_out: FloatArray
) -> float:
    """Put a pressure on the chamber and take its length.

    Args:
        model: the chamber.
        pressure: gauge pressure [Pa].
        play_out: (m,) states of the plays [Pa], advanced in place; left alone where the
            pressure is not finite.

    Returns:
        Length [m]; not a number where the pressure is not finite.
    """
    if not abs(pressure) < np.inf:
        return float(np.nan)
    z = 0.0
    for i in range(model.threshold.shape[0]):
        r = model.threshold[i]
        play_out[i] = max(pressure - r, min(pressure + r, play_out[i]))
        z += model.weight[i] * play_out[i]
    return _curve(model, z)


@kernel
def hysteresis_pressure(
    model: HysteresisModel, length: float, play: FloatArray
) -> float:
    """Find the pressure that brings the chamber to a length, from its present state.

    The states are not advanced: limit the pressure, then call `hysteresis_length`.

    Args:
        model: the chamber.
        length: wanted length [m].
        play: (m,) present states [Pa], as `initial_plays` and `hysteresis_length` give.

    Returns:
        Gauge pressure [Pa]; not a number where the length is not finite.
    """
    if not abs(length) < np.inf:
        return float(np.nan)
    size = model.threshold.shape[0]
    gap = _curve_inverse(model, length)
    for i in range(size):
        gap -= model.weight[i] * play[i]
    # from the present pressure, past each corner at which one more play is dragged
    sign = 1.0 if gap > 0.0 else -1.0
    gap = abs(gap)
    pressure = play[0]
    slope = 0.0
    for i in range(size):
        corner = play[i] + sign * model.threshold[i]
        way = max(sign * (corner - pressure), 0.0)
        if way * slope >= gap and i > 0:
            return float(pressure + sign * gap / slope)
        gap -= way * slope
        pressure += sign * way
        slope += model.weight[i]
    return float(pressure + sign * gap / slope)


@kernel
def hysteresis_history(
    model: HysteresisModel,
    pressure: FloatArray,
    play_out: FloatArray,
    length_out: FloatArray,
) -> None:
    """Run a chamber through a series of pressures.

    Args:
        model: the chamber.
        pressure: (n,) gauge pressures, in time order [Pa].
        play_out: (m,) states of the plays [Pa], advanced in place.
        length_out: (n,) [m].
    """
    for k in range(pressure.shape[0]):
        length_out[k] = hysteresis_length(model, pressure[k], play_out)


@kernel
def _play_series(
    pressure: FloatArray, threshold: float, first: float, play_out: FloatArray
) -> None:
    state = first
    for k in range(pressure.shape[0]):
        state = max(pressure[k] - threshold, min(pressure[k] + threshold, state))
        play_out[k] = state


@kernel
def play_series(
    pressure: FloatArray, threshold: FloatArray, first: FloatArray, play_out: FloatArray
) -> None:
    """Run every play through a series of pressures.

    Args:
        pressure: (n,) [Pa].
        threshold: (m,) [Pa].
        first: (m,) states before the first pressure [Pa].
        play_out: (m, n) states after each [Pa].
    """
    for i in range(threshold.shape[0]):
        _play_series(pressure, threshold[i], first[i], play_out[i])
