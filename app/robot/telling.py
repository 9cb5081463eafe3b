"""What there is to tell of a measurement: one kernel looks at all limbs."""

from typing import NamedTuple

import numpy as np

from app.robot.envelope import motion_since
from models.numerics import FloatArray, kernel
from models.robot import RobotModel

__all__ = ["TellingData", "allocate_telling", "look_at"]


class TellingData(NamedTuple):
    """What is measured and what has been told of it."""

    model: RobotModel
    finite: FloatArray
    """(S, 3) measured last, each row as it was when it was finite [rad, rad, m]."""
    told: FloatArray
    """(S, 3) of each segment when it was told last [rad, rad, m]."""
    change: FloatArray
    """(L,) how far each limb has moved since it was told [rad]."""


def allocate_telling(model: RobotModel) -> TellingData:
    """Begin with nothing measured or told."""
    finite, told = np.zeros((2, *model.rest_coordinates.shape))
    return TellingData(model, finite, told, np.zeros(model.tip_speed_limit.size))


@kernel
def look_at(
    data: TellingData, measured: FloatArray, felt: FloatArray, least_n: float
) -> int:
    """Take a measurement up.

    Args:
        data: `finite` and `change` are brought up to date.
        measured: (S, 3) [rad, rad, m]; rows that are not finite say nothing.
        felt: (L, 3) force of each tip on what it touches, hull frame [N].
        least_n: a force of which no component is above it counts for nothing [N].

    Returns:
        The limb whose tip has the greatest component of force; -1 where there is none,
        or where one of the forces is not finite.
    """
    for k in range(measured.shape[0]):
        total = 0.0
        for j in range(3):
            total += abs(measured[k, j])
        if total < np.inf:
            for j in range(3):
                data.finite[k, j] = measured[k, j]
    motion_since(data.model, data.finite, data.told, data.change)
    total = 0.0
    greatest = least_n
    limb = -1
    for k in range(felt.shape[0]):
        for i in range(3):
            size = abs(felt[k, i])
            total += size
            if size > greatest:
                greatest = size
                limb = k
    return limb if total < np.inf else -1
