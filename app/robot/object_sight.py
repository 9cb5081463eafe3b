"""Which movable object the robot tells of next, as a perception system would.

One object a frame, at a rate that leaves the link to the limbs: objects that move or
are held come first, one that lies still is told of now and then. Where telemetry has
room for nothing but coordinates, objects are not told of, and the station knows how
old its knowledge is.
"""

from dataclasses import dataclass

import numpy as np

from app.clock import NS_PER_S
from app.link.object_section import OBJECT_BYTES, ObjectTold
from app.messages import OBJECTS
from app.robot.surroundings import Surroundings
from models.numerics import FloatArray
from models.tree_rate import quaternion_of

__all__ = ["ObjectSight"]

_MOST_HZ = 20.0
_SHARE = 0.15  # of the rate of telemetry, for all objects
_STILL_NS = 2 * NS_PER_S  # an object that lies still is told of so often
_MOVED_M, _TURNED = 1e-3, 0.02
_SECTION_BYTES = OBJECT_BYTES + 2
_FARTHEST_M = 4.0  # beyond, it is gone


@dataclass
class _Last:
    """What was told of one object."""

    time_ns: int
    pose: FloatArray
    holder: int


class ObjectSight:
    """Looks at the objects of one simulated robot's surroundings."""

    def __init__(self, around: Surroundings) -> None:
        """Begin with nothing told.

        Args:
            around: what stands about the robot.
        """
        self._around = around
        self._last: list[_Last | None] = [None] * min(len(around.objects), OBJECTS)
        self._due_ns = 0

    def next(self, now_ns: int, bytes_per_s: float | None) -> ObjectTold | None:
        """Return the object that this frame tells of, if any.

        Args:
            now_ns: robot time [ns].
            bytes_per_s: rate of telemetry; None = no limit.
        """
        if now_ns < self._due_ns or not self._last:
            return None
        poses = self._around.poses
        held = self._around.data.grasp.held
        best, oldest_ns = -1, now_ns
        for number, last in enumerate(self._last):
            pose = poses[number]
            if not np.linalg.norm(pose[:3, 3]) < _FARTHEST_M:  # also NaN
                continue
            holder = _holder(held, number)
            if last is None:
                best = number
                break
            still = holder == last.holder and not _differ(pose, last.pose)
            if still and now_ns - last.time_ns < _STILL_NS:
                continue
            if last.time_ns < oldest_ns:
                best, oldest_ns = number, last.time_ns
        if best < 0:
            return None
        rate_hz = _MOST_HZ
        if bytes_per_s is not None:
            rate_hz = min(rate_hz, _SHARE * bytes_per_s / _SECTION_BYTES)
        self._due_ns = now_ns + round(NS_PER_S / max(rate_hz, 1e-3))
        pose, holder = poses[best].copy(), _holder(held, best)
        self._last[best] = _Last(now_ns, pose, holder)
        x, y, z = pose[:3, 3].tolist()
        a, b, c, d = quaternion_of(pose[:3, :3]).tolist()
        return ObjectTold(best, holder, (x, y, z), (a, b, c, d))


def _holder(held: np.ndarray, number: int) -> int:
    limbs = np.flatnonzero(held == number)
    return int(limbs[0]) if limbs.size else -1


def _differ(pose: FloatArray, last: FloatArray) -> bool:
    gap = np.abs(pose - last)
    return bool(gap[:3, 3].max() > _MOVED_M or gap[:3, :3].max() > _TURNED)
