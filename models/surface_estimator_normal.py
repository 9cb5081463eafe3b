"""The normal of what a tip touches: the force's direction, with the friction taken off.

A tip that slides with the unit velocity s feels F = F_n n - mu F_n s. The direction of
the low-passed force (2 Hz) would lean by the friction angle phi, tan phi = mu. With S =
|F| s, over about a second,

    sin phi = -cov(F, S) / var(S),   n along <F> + sin phi <S>

which needs that the tip slides, more than it presses in, and to and fro or in several
directions: sliding one way only, friction looks like a tilt. Else what was found before
stands (0 at first). Slower than some 5 mm/s counts as rest. Ours.
"""

import math
from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, kernel

__all__ = ["NormalData", "allocate_normal", "follow_normal"]

_SLOW_HZ = 0.15
_LEAST_SLIP = 5e-3
_LEAST_SHARE = 0.3
_LEAST_FORCE = 0.3
_SPREAD = 0.3
_LEAST_WEIGHT = 0.65
_MOST_FRICTION = 0.95


class NormalData(NamedTuple):
    """Low-passed force and slip of a contact."""

    normal: FloatArray
    """(3,) outward unit normal."""
    friction: FloatArray
    """(1,) sin phi."""
    force: FloatArray
    """(3,) low-passed force [N]."""
    slip: FloatArray
    """(3,) low-passed force's size times direction of slip, S [N]."""
    slow_force: FloatArray
    """(3,) mean force over a second [N]."""
    slow_slip: FloatArray
    """(3,) mean S [N]."""
    product: FloatArray
    """(2,) means of F S and S S [N^2]."""
    weight: FloatArray
    """(1,) of all slow means: 0 at first, 1 after some seconds of contact."""


def allocate_normal() -> NormalData:
    """Make the normal of a tip that has touched nothing: upwards."""
    return NormalData(
        np.array([0.0, 0.0, 1.0]),
        np.zeros(1),
        np.zeros(3),
        np.zeros(3),
        np.zeros(3),
        np.zeros(3),
        np.zeros(2),
        np.zeros(1),
    )


@kernel
def follow_normal(
    cutoff_hz: float,
    period: float,
    velocity: FloatArray,
    force: FloatArray,
    scene_normal: FloatArray,
    data: NormalData,
) -> None:
    """Take one sample of a tip in contact.

    Args:
        cutoff_hz: of the direction [Hz].
        period: between samples [s].
        velocity: (3,) of the tip [m/s].
        force: (3,) of the surface on the tip [N].
        scene_normal: (3,) outward unit normal where the scene tells it, else zeros.
        data: the normal, advanced.
    """
    size = math.sqrt(force[0] ** 2 + force[1] ** 2 + force[2] ** 2)
    rate = 0.0
    speed = 0.0
    told = 0.0
    for i in range(3):
        rate += data.normal[i] * velocity[i]
        told += scene_normal[i] ** 2
    for i in range(3):
        speed += (velocity[i] - rate * data.normal[i]) ** 2
    # little near rest, and where a tilted normal feigns a slip
    size *= math.sqrt(speed) / (speed + rate * rate + _LEAST_SLIP**2)
    fast = 1.0 - math.exp(-2.0 * math.pi * cutoff_hz * period)
    slow = 1.0 - math.exp(-2.0 * math.pi * _SLOW_HZ * period)
    product = 0.0
    square = 0.0
    for i in range(3):
        slip = size * (velocity[i] - rate * data.normal[i])
        data.force[i] += fast * (force[i] - data.force[i])
        data.slip[i] += fast * (slip - data.slip[i])
        data.slow_force[i] += slow * (force[i] - data.slow_force[i])
        data.slow_slip[i] += slow * (slip - data.slow_slip[i])
        product += force[i] * slip
        square += slip * slip
    data.weight[0] += slow * (1.0 - data.weight[0])
    data.product[0] += slow * (product - data.product[0])
    data.product[1] += slow * (square - data.product[1])
    _find_friction(data)
    size = 0.0
    for i in range(3):
        size += (data.force[i] + data.friction[0] * data.slip[i]) ** 2
    size = math.sqrt(size)
    for i in range(3):
        if told > 0.5:
            data.normal[i] = scene_normal[i]
        elif size > 0.0:
            lean = data.force[i] + data.friction[0] * data.slip[i]
            data.normal[i] = lean / size


@kernel
def _find_friction(data: NormalData) -> None:
    """Tell friction from a tilt, where the slip has changed its direction."""
    weight = data.weight[0]
    common = data.product[0] / weight
    square = data.product[1] / weight
    spread = square
    pressed = 0.0
    for i in range(3):
        slip = data.slow_slip[i] / weight
        common -= data.slow_force[i] / weight * slip
        spread -= slip * slip
        pressed += (data.slow_force[i] / weight) ** 2
    sliding = square > _LEAST_SHARE * max(pressed, _LEAST_FORCE**2)
    if sliding and spread > _SPREAD * square and weight > _LEAST_WEIGHT:
        data.friction[0] = min(max(-common / spread, 0.0), _MOST_FRICTION)
