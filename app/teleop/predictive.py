"""Position forward with the local model (predictive display).

The operator moves a tip target; the local model answers within the tick; only the
commanded posture crosses the link, and the robot's delayed pose comes back for the
eye alone. Rates are integrated here, at the operator's side, so that a lost frame
cannot accumulate (Sheridan 1992 calls it predictive display; Ferrell 1965 measures
what happens without). Nothing the robot sends feeds back into the command.
"""

import numpy as np

from app.messages import InputBlock
from models.numerics import FloatArray, kernel

__all__ = ["LEASH", "move_target"]

LEASH = 0.05
"""The target may lead the commanded tip by this much [m]: past it, it is held, so
that a target beyond reach does not have to be wound back."""

_RATE = 1
_TARGET = 2


@kernel
def move_target(
    speed_limit: float,
    period: float,
    sample: InputBlock,
    offset: FloatArray,
    tip_commanded: FloatArray,
    target_out: FloatArray,
) -> None:
    """Advance the tip target of the selected limb by one tick.

    Args:
        speed_limit: greatest tip speed [m/s]; a full stick asks for it.
        period: tick [s].
        sample: the operator's newest sample, already found fresh and finite.
        offset: (3,) added to an absolute target so that engaging does not jump [m].
        tip_commanded: (3,) commanded tip, hull frame [m].
        target_out: (3,) the target, advanced in place, hull frame [m].
    """
    if sample.mode[0] == _RATE:
        size = 0.0
        for i in range(3):
            size += sample.rate[i] * sample.rate[i]
        scale = speed_limit * period / max(1.0, np.sqrt(size))
        for i in range(3):
            target_out[i] += scale * sample.rate[i]
    elif sample.mode[0] == _TARGET:
        distance = 0.0
        for i in range(3):
            step = sample.target[i] + offset[i] - target_out[i]
            distance += step * step
        distance = np.sqrt(distance)
        share = min(1.0, speed_limit * period / max(distance, 1e-12))
        for i in range(3):
            target_out[i] += share * (sample.target[i] + offset[i] - target_out[i])
    lead = 0.0
    for i in range(3):
        lead += (target_out[i] - tip_commanded[i]) ** 2
    lead = np.sqrt(lead)
    if lead > LEASH:
        for i in range(3):
            target_out[i] = (
                tip_commanded[i] + (target_out[i] - tip_commanded[i]) * LEASH / lead
            )
