"""Speed and accuracy of reaching together: effective throughput (ISO/TS 9241-411).

    TP = ID_e/MT,   ID_e = log2(A_e/W_e + 1),   W_e = 4.133 SD(end along the axis)

A_e is the mean way travelled along the line from target to target, the axis. One cell
is one pair of A and W; a study's throughput is the mean over its cells. The first reach
of a trial, from wherever the tip was, is left out.
"""

import math
from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray

__all__ = ["Reaches", "Throughput", "effective_throughput", "overshoot", "reaches_of"]

_WIDTH_OF_SD = 4.133  # of a normal distribution, with 4 % outside
_LEAST_ERROR = 1e-6  # [m] below which no tip is known


class Reaches(NamedTuple):
    """From one hit to the next, (n,) each; the first reach is left out."""

    time_s: FloatArray
    """MT [s]."""
    travelled: FloatArray
    """Along the axis from the target before [m]."""
    error: FloatArray
    """End along the axis, less the target [m]."""
    distance: FloatArray
    """From target to target [m]."""


class Throughput(NamedTuple):
    """Of one cell."""

    bits_per_s: float
    effective_bits: float
    """ID_e."""
    movement_s: float
    """Mean MT [s]."""


def reaches_of(
    time_s: FloatArray, tip: FloatArray, targets: FloatArray, hits_s: FloatArray
) -> Reaches:
    """Cut a trial into reaches.

    Args:
        time_s: (n,) of the samples [s].
        tip: (n, 3) [m].
        targets: (m, 3) in their order [m].
        hits_s: (k,) when they were met [s], k at most m.
    """
    rows: list[tuple[float, float, float, float]] = []
    at = np.clip(np.searchsorted(time_s, hits_s), 0, time_s.size - 1)
    for k in range(1, len(hits_s)):
        way = targets[k] - targets[k - 1]
        length = float(np.linalg.norm(way))
        axis = way / max(length, _LEAST_ERROR)
        end, begin = tip[at[k]], tip[at[k - 1]]
        rows.append(
            (
                float(hits_s[k] - hits_s[k - 1]),
                float((end - begin) @ axis),
                float((end - targets[k]) @ axis),
                length,
            )
        )
    table = np.array(rows, dtype=np.float64).reshape(-1, 4)
    return Reaches(table[:, 0], table[:, 1], table[:, 2], table[:, 3])


def effective_throughput(reaches: Reaches) -> Throughput | None:
    """Return the throughput of one cell; None for fewer than two reaches."""
    if reaches.time_s.size < 2:
        return None
    width = _WIDTH_OF_SD * max(float(np.std(reaches.error, ddof=1)), _LEAST_ERROR)
    bits = math.log2(max(float(reaches.travelled.mean()), 0.0) / width + 1.0)
    movement_s = float(reaches.time_s.mean())
    return Throughput(bits / movement_s, bits, movement_s)


def overshoot(
    time_s: FloatArray, tip: FloatArray, targets: FloatArray, hits_s: FloatArray
) -> float | None:
    """Return the greatest travel past a target along its axis, as a share of A.

    Args:
        time_s: (n,) [s].
        tip: (n, 3) [m].
        targets: (m, 3) [m].
        hits_s: (k,) when they were met [s].

    Returns:
        0 where no target was passed; None for fewer than two hits.
    """
    if len(hits_s) < 2:
        return None
    worst = 0.0
    at = np.clip(np.searchsorted(time_s, hits_s), 0, time_s.size - 1)
    for k in range(1, len(hits_s)):
        way = targets[k] - targets[k - 1]
        length = max(float(np.linalg.norm(way)), _LEAST_ERROR)
        past = (tip[at[k - 1] : at[k] + 1] - targets[k]) @ (way / length)
        worst = max(worst, float(past.max()) / length)
    return worst
