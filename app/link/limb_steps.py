"""How far each limb's setpoint is from an earlier one; pure.

Two measures: the motion of the tip that the change can make at most, the sum over the
segments of lever times bend, plus extension; and the greatest change of a coordinate.
"""

import math
from typing import NamedTuple

import numpy as np

from app.link.schema import Schema
from models.bound import Bound, bind
from models.numerics import FloatArray, IntArray, kernel

__all__ = ["LimbSteps", "StepsData", "allocate_steps", "tip_motion"]

_EXTENSION_SCALE = 10.0  # rad/m: 1 mm of extension counts as 0.01 rad of bend


class StepsData(NamedTuple):
    """The robot, and its pose then and now."""

    limb_start: IntArray  # (L + 1,) first segment of each limb
    levers: FloatArray  # (S,) how far the tip moves for a bend of a segment [m/rad]
    rows: FloatArray  # (S, 3) now [rad, rad, m]
    earlier: FloatArray  # (S, 3) then [rad, rad, m]


def allocate_steps(schema: Schema) -> StepsData:
    """Make what is measured of a robot, straight then and now."""
    segments = schema.segment_start[-1]
    return StepsData(
        limb_start=np.array(schema.segment_start, dtype=np.int64),
        levers=np.array([schema.lever(segment) for segment in range(segments)]),
        rows=np.zeros((segments, 3)),
        earlier=np.zeros((segments, 3)),
    )


@kernel
def tip_motion(data: StepsData, limb: int) -> float:
    """Return how far the tip of a limb moves at most [m]."""
    bent, extended = 0.0, 0.0
    for segment in range(data.limb_start[limb], data.limb_start[limb + 1]):
        first = data.rows[segment, 0] - data.earlier[segment, 0]
        second = data.rows[segment, 1] - data.earlier[segment, 1]
        bent += data.levers[segment] * math.hypot(first, second)
        extended += abs(data.rows[segment, 2] - data.earlier[segment, 2])
    return bent + extended


@kernel
def limb_steps(data: StepsData, motion_out: FloatArray, change_out: FloatArray) -> None:
    """Measure the steps of all limbs.

    Args:
        data: the robot, and its pose then and now.
        motion_out: (L,) of each tip at most [m].
        change_out: (L,) greatest of a coordinate [rad].
    """
    for limb in range(motion_out.size):
        change = 0.0
        for segment in range(data.limb_start[limb], data.limb_start[limb + 1]):
            first = data.rows[segment, 0] - data.earlier[segment, 0]
            second = data.rows[segment, 1] - data.earlier[segment, 1]
            extension = abs(data.rows[segment, 2] - data.earlier[segment, 2])
            change = max(change, abs(first), abs(second), _EXTENSION_SCALE * extension)
        motion_out[limb] = tip_motion(data, limb)
        change_out[limb] = change


class LimbSteps:
    """Measures the steps of one robot's limbs."""

    def __init__(self, schema: Schema) -> None:
        """Prepare for a robot."""
        self._data = allocate_steps(schema)
        self._motion = np.zeros(schema.limbs)
        self._change = np.zeros(schema.limbs)
        self._bound = Bound(self._data)
        self._kernel = bind(limb_steps, self._bound, self._motion, self._change)

    def measure(
        self, rows: FloatArray, earlier: FloatArray
    ) -> tuple[list[float], list[float]]:
        """Compare two poses.

        Args:
            rows: (S, 3) coordinates of the robot now [rad, rad, m].
            earlier: (S, 3) then.

        Returns:
            For each limb, how far its tip moves at most [m]; and its greatest change of
            a coordinate [rad].
        """
        # the bound kernel looks at no type: it gets arrays of our own
        self._data.rows[...] = rows
        self._data.earlier[...] = earlier
        self._kernel(self._bound, self._motion, self._change)
        return self._motion.tolist(), self._change.tolist()
