"""How well the simulated robot explains the real one.

Each measurement is compared with the simulation at the same time (`correct_state`).
The tip's error gives a running root mean square. Around the tip that is drawn lies a
tube: the tip is inside it as far as past errors tell, and the older the newest
measurement, the more it may have strayed:

    radius = 2 sqrt(sigma^2 + rms^2) + v age

The alarm comes where the error exceeds for a while what noise, quantisation and the
model's own accuracy explain, and goes where it falls well below that. After a time of
grace, for a limb that swings, the error is averaged anew. All ours.
"""

import math
from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, IntArray, kernel

__all__ = [
    "MismatchData",
    "MismatchModel",
    "allocate_mismatch",
    "build_mismatch",
    "observe_mismatch",
    "tube_radius",
]

_SIGMAS = 4.0
_LOWER = 0.6


class MismatchModel(NamedTuple):
    """What is expected of the error at the tip."""

    sigma: float
    """Standard deviation of the measured tip: noise and quantisation, 3-D [m]."""
    accuracy: float
    """Error of the model in its range of validity [m]."""
    stray: float
    """Speed at which the tip may leave what is simulated, unseen [m/s]."""
    memory: float
    """Time over which the error is averaged [s]."""
    patience: float
    """The error must be too large for so long before the alarm [s]."""


class MismatchData(NamedTuple):
    """The running error, (1,) each."""

    square: FloatArray
    """Mean square of the tip's error [m^2]."""
    over: FloatArray
    """How long the error has been too large; negative: a time of grace [s]."""
    alarm: IntArray
    """1: the model does not explain the robot."""
    count: IntArray  # type: ignore[assignment]  # hides tuple.count
    """Measurements so far."""


def build_mismatch(
    noise: float,
    step: float,
    accuracy: float = 5e-3,
    stray: float = 0.01,
    memory: float = 1.0,
    patience: float = 0.5,
) -> MismatchModel:
    """Derive what is expected from the sensors and the link.

    Args:
        noise: standard deviation of the measured tip, each axis [m].
        step: of the quantised tip, each axis [m].
        accuracy: error of the model in its range of validity [m].
        stray: speed at which the tip may leave what is simulated, unseen [m/s].
        memory: time over which the error is averaged [s].
        patience: time before the alarm [s].

    Raises:
        ValueError: a value that is negative or not finite, or no memory.
    """
    values = {
        "noise": noise,
        "step": step,
        "accuracy": accuracy,
        "stray": stray,
        "memory": memory,
        "patience": patience,
    }
    for name, value in values.items():
        if not 0.0 <= value < math.inf or (name == "memory" and value == 0.0):
            message = f"{name} is {value}; it must not be negative, nor memory 0"
            raise ValueError(message)
    sigma = math.sqrt(3.0 * (noise * noise + step * step / 12.0))
    return MismatchModel(sigma, accuracy, stray, memory, patience)


def allocate_mismatch() -> MismatchData:
    """Make the monitor of a tip that was never measured."""
    return MismatchData(
        np.zeros(1),
        np.zeros(1),
        np.zeros(1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


@kernel
def observe_mismatch(
    model: MismatchModel, error: FloatArray, elapsed: float, data: MismatchData
) -> float:
    """Take the error of one measurement.

    Args:
        model: what is expected.
        error: (3,) tip simulated less measured, at the time of the measurement [m].
        elapsed: time between this measurement and the one before [s].
        data: the monitor; its alarm is set or cleared.

    Returns:
        Running root mean square of the error [m].
    """
    square = error[0] ** 2 + error[1] ** 2 + error[2] ** 2
    elapsed = max(elapsed, 0.0)
    most = model.accuracy + _SIGMAS * model.sigma
    was_large = data.square[0] > most * most
    in_grace = data.over[0] < 0.0
    if in_grace:
        data.over[0] = min(data.over[0] + elapsed, 0.0)
    share = 1.0 - math.exp(-elapsed / model.memory)
    if data.count[0] == 0 or (in_grace and data.over[0] == 0.0):
        share = 1.0
    data.count[0] += 1
    data.square[0] += share * (square - data.square[0])
    size = math.sqrt(data.square[0])
    if size > most:
        if was_large and not in_grace:  # one alone, after a silence, may be chance
            data.over[0] += elapsed
        if data.over[0] >= model.patience:
            data.alarm[0] = 1
    else:
        data.over[0] = min(data.over[0], 0.0)
        if size < _LOWER * most:
            data.alarm[0] = 0
    return size


@kernel
def tube_radius(model: MismatchModel, age: float, data: MismatchData) -> float:
    """Radius of the tube around the simulated tip.

    Args:
        model: what is expected.
        age: of the newest measurement [s].
        data: the monitor.

    Returns:
        Radius [m]; infinite while nothing was measured.
    """
    if data.count[0] == 0:
        return math.inf
    spread = math.sqrt(model.sigma * model.sigma + data.square[0])
    return 2.0 * spread + model.stray * max(age, 0.0)
