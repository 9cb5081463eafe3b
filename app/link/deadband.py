"""Perceptual deadband: what an operator would not notice is not sent; pure.

A change is felt where it exceeds a constant share of what is there (Weber's law; for
teleoperation Hinterseer et al. 2008). Here the change is of a limb's setpoint against
the one last sent, and what is there is that setpoint itself, both as the motion of the
tip away from the straight limb that they can make at most: the sum over the segments of
lever times bend, plus extension. The floor is the resolution: less cannot be told.
"""

import numpy as np

from app.clock import NS_PER_MS
from app.link.limb_steps import LimbSteps
from app.link.schema import Schema
from models.numerics import FloatArray

__all__ = ["KEEP_ALIVE_NS", "Deadband"]

KEEP_ALIVE_NS = 150 * NS_PER_MS
"""A frame goes at least so often where the link lets it: a third of the robot's
patience, which is never below 500 ms."""


class Deadband:
    """Tells which limbs have moved enough to be told."""

    def __init__(self, schema: Schema, share: float = 0.0) -> None:
        """Prepare.

        Args:
            schema: of the robot.
            share: Weber fraction of the setpoint last sent; 0 = every limb is told
                whenever there is room.
        """
        self.share = share
        self.suppressed = 0
        """Limbs that were not told for it."""
        self._steps = LimbSteps(schema)

    def motion(self, limb: int, rows: FloatArray, earlier: FloatArray) -> float:
        """Return how far a tip moves at most between two poses [m].

        Args:
            limb: index of the limb.
            rows: (S, 3) coordinates of the robot now [rad, rad, m].
            earlier: (S, 3) then.
        """
        return self._steps.measure(rows, earlier)[0][limb]

    def exceeded(
        self, limb: int, rows: FloatArray, sent: FloatArray, floor: float
    ) -> bool:
        """Tell whether a limb's setpoint must be told.

        Args:
            limb: index of the limb.
            rows: (S, 3) setpoint of the robot now [rad, rad, m].
            sent: (S, 3) as last sent.
            floor: resolution at the tip [m].
        """
        if self.share <= 0.0:
            return True
        there = self.motion(limb, sent, np.zeros_like(sent))
        return self.motion(limb, rows, sent) > max(floor, self.share * there)
