"""What is true at the robot in one millisecond of a task, and how a task can end."""

from enum import Enum
from typing import NamedTuple

from models.numerics import FloatArray

__all__ = ["Truth", "Verdict"]


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
    """The robot and the things about it, hull frame."""

    time_ns: int
    """[ns]."""
    tip: FloatArray
    """(3,) [m]."""
    speed: float
    """Of the tip [m/s]."""
    force: FloatArray
    """(3,) of contact on the limb [N]."""
    tip_force: FloatArray | None = None
    """(3,) of it at the tip [N]; None where nobody tells."""
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
