"""How the hand moved: in how many goes, for how much of the time.

A move is a stretch with a speed above 5 mm/s; moves are told apart by a speed below
3 mm/s for 0.2 s or more between them. Its count is what tells move-and-wait (Ferrell
1965) from going on.
"""

from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray

__all__ = ["Moves", "count_moves"]

_MOVING = 5e-3  # [m/s]
_RESTING = 3e-3
_APART_S = 0.2


class Moves(NamedTuple):
    """Of one trial."""

    number: int
    duty: float
    """Share of the time in moves, 0..1."""
    mean_s: float | None
    """Mean length of a move [s]; None where there was none."""


def count_moves(place: FloatArray, period_s: float) -> Moves:
    """Count moves.

    Args:
        place: (n, 3) [m].
        period_s: between samples [s].
    """
    if len(place) < 2:
        return Moves(0, 0.0, None)
    speed = np.linalg.norm(np.diff(place, axis=0), axis=1) / period_s
    least = max(1, round(_APART_S / period_s))
    starts, ends = [], []
    moving, rested = False, 0
    for k, value in enumerate(speed.tolist()):
        if not moving:
            if value > _MOVING:
                moving, rested = True, 0
                starts.append(k)
            continue
        rested = rested + 1 if value < _RESTING else 0
        if rested >= least:
            moving = False
            ends.append(k + 1 - rested)
    if moving:
        ends.append(len(speed) - rested)
    lengths = period_s * (np.array(ends) - np.array(starts))
    return Moves(
        len(starts),
        float(lengths.sum() / (len(speed) * period_s)),
        float(lengths.mean()) if len(starts) else None,
    )
