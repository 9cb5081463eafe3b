"""Forces of a contact: the greatest, the typical, and what was too much.

peak,   RMS over the time in contact (|F| above 50 mN),
overload = ∫ max(0, |F| - F_lim) dt
"""

from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray

__all__ = ["CONTACT_N", "ContactForce", "measure_force"]

CONTACT_N = 0.05
"""Force from which on there is contact [N]."""


class ContactForce(NamedTuple):
    """Of one trial."""

    peak: float
    """[N]."""
    rms: float | None
    """In contact [N]; None where there was none."""
    overload: float
    """[N s]."""
    contact_s: float
    """Time in contact [s]."""


def measure_force(size: FloatArray, limit: float, period_s: float) -> ContactForce:
    """Measure one trial.

    Args:
        size: (n,) of the contact force [N].
        limit: F_lim [N].
        period_s: between samples [s].
    """
    if not size.size:
        return ContactForce(0.0, None, 0.0, 0.0)
    touching = size > CONTACT_N
    rms = float(np.sqrt(np.mean(size[touching] ** 2))) if touching.any() else None
    return ContactForce(
        float(size.max()),
        rms,
        float(np.maximum(0.0, size - limit).sum()) * period_s,
        float(touching.sum()) * period_s,
    )
