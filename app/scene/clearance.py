"""The nearest approach of a limb to what is around."""

from typing import NamedTuple

from models.numerics import FloatArray

__all__ = ["Clearance"]


class Clearance(NamedTuple):
    """The nearest approach of a limb to the obstacles.

    Attributes:
        distance: [m]; negative where they overlap, inf where farther than asked.
        obstacle: its name, or "" where none is near.
        point_limb: (3,) on the limb [m], hull frame.
        point_obstacle: (3,) on the obstacle [m], hull frame.
    """

    distance: float
    obstacle: str
    point_limb: FloatArray
    point_obstacle: FloatArray
