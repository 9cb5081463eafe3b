"""What is true at the robot in each millisecond of a task, and how a task can end."""

from enum import Enum
from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, IntArray

__all__ = ["MOMENTS", "MomentsData", "Truth", "Verdict", "allocate_moments"]

MOMENTS = 512
"""Milliseconds that are kept."""


class Verdict(Enum):
    """How a task stands."""

    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"
    DROP = "drop"
    OVER_FORCE = "over-force"
    DIVERGED = "diverged"
    TIMEOUT = "timeout"


class Truth(NamedTuple):
    """The robot and the things about it in one millisecond, hull frame."""

    time_ns: int
    """[ns]."""
    tip: FloatArray
    """(3,) [m]."""
    speed: float
    """Of the tip [m/s]."""
    force: FloatArray
    """(3,) of contact on the limb [N]."""
    object_place: FloatArray | None = None
    """(3,) middle of the object [m]; None where there is none."""
    held: bool = False
    """Whether the gripper holds the object."""
    answer: int | None = None
    """Index of the pad that the operator has named the stiffer."""
    path_begun: bool = True
    """Whether the reference has set out along the path: none counts before that."""
    path_over: bool = False
    """Whether the reference has come to the end of the path."""


class MomentsData(NamedTuple):
    """The same of the last N milliseconds: a ring, where number k is in row k % N."""

    time_ns: IntArray
    """(N,) [ns]."""
    tip: FloatArray
    """(N, 3) [m]."""
    speed: FloatArray
    """(N,) of the tip [m/s]."""
    force: FloatArray
    """(N, 3) of contact on the limb [N]."""
    tip_force: FloatArray
    """(N, 3) of it at the tip [N]; 0 where nobody tells."""
    place: FloatArray
    """(N, 3) middle of the object [m]; NaN where there is none."""
    held: IntArray
    """(N,) 1 = the gripper holds the object."""
    answer: IntArray
    """(N,) index of the pad that was named the stiffer; -1 = none yet."""
    begun: IntArray
    """(N,) 1 = the reference has set out along the path."""
    over: IntArray
    """(N,) 1 = it has come to the path's end."""


def allocate_moments() -> MomentsData:
    """Return an empty ring."""
    count = MOMENTS
    return MomentsData(
        time_ns=np.zeros(count, dtype=np.int64),
        tip=np.zeros((count, 3)),
        speed=np.zeros(count),
        force=np.zeros((count, 3)),
        tip_force=np.zeros((count, 3)),
        place=np.full((count, 3), np.nan),
        held=np.zeros(count, dtype=np.int64),
        answer=np.full(count, -1),
        begun=np.zeros(count, dtype=np.int64),
        over=np.zeros(count, dtype=np.int64),
    )
