"""Where the tips of a robot are, by a kernel that is bound once; pure."""

import numpy as np

from models.bound import bind, bound
from models.numerics import FloatArray
from models.robot import RobotModel
from models.tip import tip_in_hull

__all__ = ["TipFinder"]


class TipFinder:
    """`models.tip.limb_tip` for one robot and many poses."""

    def __init__(self, model: RobotModel) -> None:
        """Load the kernel, or compile it."""
        segments = int(model.limb_segment_start[-1])
        self._model = bound(model)
        self._pose = np.zeros((segments, 3))
        self._poses = np.zeros((segments + 1, 4, 4))  # along a limb
        self._tip = np.zeros(3)
        self._find = bind(
            tip_in_hull, self._model, 0, self._pose, self._poses, self._tip
        )

    def tip(self, limb: int, coordinates: FloatArray) -> FloatArray:
        """Return the tip of one limb.

        Args:
            limb: its index.
            coordinates: (S, 3) of the robot [rad, rad, m].

        Returns:
            (3,) in the hull frame [m]; a view, good until the next call.
        """
        self._pose[...] = coordinates
        self._find(self._model, limb, self._pose, self._poses, self._tip)
        return self._tip
