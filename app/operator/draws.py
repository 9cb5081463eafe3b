"""What is random in a simulated person, by the number of the move, not of the call.

Each move draws from its own generator, seeded by (seed, "op", move), so that a person
meets the same luck under every strategy and on every link.
"""

import math
from dataclasses import dataclass

import numpy as np

from models.numerics import FloatArray

__all__ = ["REACTION_MEAN_S", "MoveDraws", "draw_move", "draw_noise", "draw_share"]

REACTION_MEAN_S = 0.25
_REACTION_DEVIATION_S = 0.05
_SHAPE = math.sqrt(math.log1p((_REACTION_DEVIATION_S / REACTION_MEAN_S) ** 2))
_SCALE = math.log(REACTION_MEAN_S) - 0.5 * _SHAPE**2
_OPERATOR = int.from_bytes(b"op", "big")
_MOVE, _NOISE, _SHARE = range(3)


@dataclass(frozen=True)
class MoveDraws:
    """What one move draws.

    Attributes:
        reaction_s: from seeing to moving, lognormal of mean 0.25 and SD 0.05 [s].
        along: standard normal, error along the move.
        across: (2,) standard normal, errors across it.
    """

    reaction_s: float
    along: float
    across: tuple[float, float]


def draw_move(seed: int, move: int) -> MoveDraws:
    """Draw for a move, counted from 0."""
    values = np.random.default_rng((seed, _OPERATOR, _MOVE, move)).standard_normal(4)
    reaction, along, right, up = (float(value) for value in values)
    return MoveDraws(math.exp(_SCALE + _SHAPE * reaction), along, (right, up))


def draw_noise(seed: int, block: int, count: int) -> FloatArray:
    """Draw (count, 3) standard normals of a block of frames, counted from 0."""
    random = np.random.default_rng((seed, _OPERATOR, _NOISE, block))
    return random.standard_normal((count, 3))


def draw_share(seed: int, number: int) -> float:
    """Draw the standard normal of a judgement, counted from 0."""
    return float(
        np.random.default_rng((seed, _OPERATOR, _SHARE, number)).standard_normal()
    )
