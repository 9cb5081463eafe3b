"""Blended assistance: the nearer the tip is to a goal, the more of its speed is ours.

    v = (1 - α) v_operator + α v_automatic,   α = clip(1 - distance / 50 mm, 0, most)

`most` is chosen, at most 0.8; 0 leaves the operator all.

The operator always keeps a fifth, and all of it farther off than 50 mm, so that going
away from the goal is never fought for long (arbitration by distance, as Dragan and
Srinivasa 2013 put it; on a soft growing robot Stroppa et al. 2021). v_automatic leads
to the goal and slows down in front of it.
"""

import math

from models.numerics import FloatArray, kernel

__all__ = ["BLEND_DISTANCE", "BLEND_MOST", "blend_velocity"]

BLEND_DISTANCE = 0.05
"""Of the tip from the goal, from which on there is assistance [m]."""
BLEND_MOST = 0.8
"""Greatest share of the automatic velocity that can be chosen."""

_RATE = 2.0  # 1/s: the automatic velocity over the distance


@kernel
def blend_velocity(
    speed_limit: float,
    most: float,
    operator: FloatArray,
    tip: FloatArray,
    goal: FloatArray,
    velocity_out: FloatArray,
) -> float:
    """Blend an operator's velocity with one that leads to a goal.

    Args:
        speed_limit: greatest of the automatic velocity [m/s].
        most: greatest share of it, 0..BLEND_MOST.
        operator: (3,) velocity that the operator asks for [m/s].
        tip: (3,) commanded tip [m].
        goal: (3,) where the assistance leads [m]; not finite: nowhere.
        velocity_out: (3,) what is to be done [m/s].

    Returns:
        α, the share of the automatic velocity.
    """
    distance = 0.0
    for i in range(3):
        distance += (goal[i] - tip[i]) ** 2
    distance = math.sqrt(distance)
    share = 0.0
    if distance < BLEND_DISTANCE:
        share = min(1.0 - distance / BLEND_DISTANCE, most)
    rate = _RATE
    if distance * _RATE > speed_limit:
        rate = speed_limit / distance
    for i in range(3):
        velocity_out[i] = operator[i]
        if share > 0.0:
            velocity_out[i] = (1.0 - share) * operator[i] + share * rate * (
                goal[i] - tip[i]
            )
    return share
