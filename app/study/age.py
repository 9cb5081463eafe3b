"""Age of information: how old what is known is, over time (Kaul, Yates, Gruteser 2012).

Δ(t) = t - (generation time of the newest command that has been applied by t). Between
two applications it grows by a second a second; an application of something older than
what is in force changes nothing. Mean and quantiles here are over time, and exact: the
age is uniform between its values at both ends of each piece.

For packets generated every P, lost independently with probability p, and applied after
a constant T: Δ = T + (J + U) P, J geometric of p, U uniform on 0..1, so that

    mean = T + P (1 + p)/(2 (1 - p)),    P(Δ > T + (j + f) P) = p^j (1 - f (1 - p)).
"""

from typing import NamedTuple

import numpy as np

from app.clock import NS_PER_S
from app.errors import ModelError
from models.numerics import FloatArray, IntArray

__all__ = ["AgePieces", "age_mean", "age_pieces", "age_quantile", "periodic_age"]


class AgePieces(NamedTuple):
    """Stretches of time in which the age only grows."""

    start_s: FloatArray
    """(n,) age at the beginning of each [s]."""
    length_s: FloatArray
    """(n,) how long each lasts [s]."""


def age_pieces(
    generated_ns: IntArray, applied_ns: IntArray, start_ns: int, end_ns: int
) -> AgePieces:
    """Cut the time from start to end into stretches.

    Args:
        generated_ns: (n,) when what was applied had been generated [ns].
        applied_ns: (n,) when it was applied, in any order [ns].
        start_ns: beginning of the time to look at, not before the first
            application [ns].
        end_ns: its end [ns].

    Raises:
        ModelError: nothing had been applied by the beginning, or the end is not after
            it.
    """
    order = np.lexsort((generated_ns, applied_ns))
    newest = np.maximum.accumulate(generated_ns[order])
    applied = applied_ns[order]
    first = int(np.searchsorted(applied, start_ns, "right")) - 1
    if first < 0 or end_ns <= start_ns:
        raise ModelError(
            f"No age between {start_ns} and {end_ns} ns: nothing had been applied by "
            "then, or no time passes. Begin after the first application."
        )
    last = int(np.searchsorted(applied, end_ns, "left"))
    begins = np.concatenate([[start_ns], applied[first + 1 : last]])
    ends = np.concatenate([applied[first + 1 : last], [end_ns]])
    held = newest[first:last]
    return AgePieces((begins - held) / NS_PER_S, (ends - begins) / NS_PER_S)


def age_mean(pieces: AgePieces) -> float:
    """Return the mean over time [s]."""
    area = pieces.length_s * (pieces.start_s + 0.5 * pieces.length_s)
    return float(area.sum() / pieces.length_s.sum())


def age_quantile(pieces: AgePieces, share: float) -> float:
    """Return the age [s] that is not exceeded for a share 0..1 of the time."""
    starts = np.sort(pieces.start_s)
    ends = np.sort(pieces.start_s + pieces.length_s)
    corners = np.concatenate([starts, ends])
    order = np.argsort(corners, kind="stable")
    corners = corners[order]
    open_pieces = np.cumsum(np.where(order < starts.size, 1.0, -1.0))
    grown = np.concatenate([[0.0], np.cumsum(open_pieces[:-1] * np.diff(corners))])
    wanted = share * grown[-1]
    k = min(int(np.searchsorted(grown, wanted, "left")), corners.size - 1)
    if k == 0:
        return float(corners[0])
    step = grown[k] - grown[k - 1]
    part = (wanted - grown[k - 1]) / step if step > 0.0 else 1.0
    return float(corners[k - 1] + part * (corners[k] - corners[k - 1]))


def periodic_age(
    period_s: float, delay_s: float, loss: float, share: float
) -> tuple[float, float]:
    """Return mean and quantile of the periodic case [s] by the formulas above.

    Args:
        period_s: between two generations [s].
        delay_s: from generation to application [s].
        loss: probability 0..1, below 1.
        share: of the quantile, 0..1.
    """
    mean = delay_s + period_s * (1.0 + loss) / (2.0 * (1.0 - loss))
    left, whole = 1.0 - share, 0
    while loss ** (whole + 1) > left:
        whole += 1
    part = (1.0 - left / loss**whole) / (1.0 - loss)
    return mean, delay_s + (whole + part) * period_s
