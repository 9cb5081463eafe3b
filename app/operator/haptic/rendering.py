"""The last step before a force is felt: limit, slew limit, and fading where it is old.

A force that was worked out too long ago is not held: whoever made it may have died in
the middle of a contact. It fades to nothing, and the force that comes after an
interruption fades in, so that neither end is a blow. The change from one written force
to the next is bounded whatever is asked for, late ticks, reopened devices and jumping
models included; a bounded change from zero after each opening is what makes a
disconnected handle come back softly.
"""

from typing import NamedTuple

import numpy as np

from app.operator.haptic.signals import HapticForce
from models.numerics import FloatArray, IntArray, kernel

__all__ = [
    "LIMITED",
    "NOT_FINITE",
    "SLEWED",
    "STALE",
    "RenderData",
    "RenderModel",
    "allocate_render_data",
    "render_force",
]

STALE = 1
"""Bit: the force, or the reading that it answers, is older than allowed."""
LIMITED = 2
"""Bit: the force was shortened to the limit."""
SLEWED = 4
"""Bit: the force changed as fast as it may."""
NOT_FINITE = 8
"""Bit: the force that was asked for was not a number."""


class RenderModel(NamedTuple):
    """Bounds of what a hand may feel; SI units."""

    force_limit: float = 3.3
    """Greatest force [N]."""
    slew_limit: float = 1000.0
    """Greatest change of force [N/s]."""
    period: float = 1e-3
    """Between two writings [s]; a late one may not change more."""
    stale_ns: int = 20_000_000
    """Age after which a force fades [ns]."""
    fade_out: float = 0.1
    """From the whole force to none [s]."""
    fade_in: float = 0.2
    """From none to the whole force [s]."""


class RenderData(NamedTuple):
    """What rendering remembers."""

    force: FloatArray
    """(3,) written last [N]."""
    asked: FloatArray
    """(3,) last force that was fresh and finite [N]."""
    gain: FloatArray
    """(1,) share of it that is let through, 0..1."""
    greatest_step: FloatArray
    """(1,) greatest change between two writings since the beginning [N]."""
    counts: IntArray
    """(4,) writings that were stale, limited, slewed, not finite."""


def allocate_render_data() -> RenderData:
    """Begin with no force."""
    return RenderData(
        np.zeros(3),
        np.zeros(3),
        np.zeros(1),
        np.zeros(1),
        np.zeros(4, dtype=np.int64),
    )


@kernel
def render_force(
    model: RenderModel,
    now_ns: int,
    blind: bool,
    applied: FloatArray,
    asked: HapticForce,
    data: RenderData,
    force_out: FloatArray,
) -> int:
    """Work out the force to write now.

    Args:
        model: the bounds.
        now_ns: present time [ns].
        blind: the device no longer tells where the hand is: as if the force were old.
        applied: (3,) what the device was told last; zeros after opening [N].
        asked: what the control loop wants felt.
        data: memory, advanced in place.
        force_out: (3,) the force to write [N].

    Returns:
        Bits STALE, LIMITED, SLEWED, NOT_FINITE.
    """
    status = 0
    age = now_ns - asked.time_ns[0]
    fresh = not blind and asked.time_ns[0] != 0 and age <= model.stale_ns
    size = 0.0
    for i in range(3):
        size += asked.force[i] * asked.force[i]
    if not size < np.inf:
        status |= NOT_FINITE
        fresh = False
    if fresh:
        shorten = 1.0
        size = np.sqrt(size)
        if size > model.force_limit:
            status |= LIMITED
            shorten = model.force_limit / size
        for i in range(3):
            data.asked[i] = shorten * asked.force[i]
        data.gain[0] = min(1.0, data.gain[0] + model.period / model.fade_in)
    else:
        status |= STALE
        data.gain[0] = max(0.0, data.gain[0] - model.period / model.fade_out)
    change = 0.0
    for i in range(3):
        change += (data.gain[0] * data.asked[i] - applied[i]) ** 2
    change = np.sqrt(change)
    allowed = model.slew_limit * model.period
    share = 1.0
    if change > allowed:
        status |= SLEWED
        share = allowed / change
    data.greatest_step[0] = max(data.greatest_step[0], share * change)
    for i in range(3):
        step = share * (data.gain[0] * data.asked[i] - applied[i])
        force_out[i] = applied[i] + step
        data.force[i] = force_out[i]
    for k in range(4):
        data.counts[k] += (status >> k) & 1
    return status
