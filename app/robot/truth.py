"""What was true of the simulated robot in each of its last milliseconds.

Nobody at the station can see it. It is written in the very kernel that moves the robot,
so that a study can let both loops run on and judge afterwards, millisecond by
millisecond.
"""

from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, IntArray, inner_kernel
from models.robot import RobotData, RobotModel
from models.robot_contact import SurroundingsData

__all__ = ["TruthData", "allocate_truth", "note_contact", "note_pose"]

_ROWS = 256


class TruthData(NamedTuple):
    """A ring of milliseconds; the newest is number `done` - 1."""

    done: IntArray
    """(1,) how many there have been."""
    coordinates: FloatArray
    """(N, S, 3) pose [rad, rad, m]."""
    wrench: FloatArray
    """(N, L, 6) of contact on each limb, as `Surroundings.contact_wrench`."""
    tip_force: FloatArray
    """(N, L, 3) at each tip, hull frame [N]."""
    held: IntArray
    """(N, L) object that each gripper holds; -1 = none."""
    place: FloatArray
    """(N, 3) middle of the first object, hull frame [m]; NaN where there is none."""

    def places(self, first: int) -> IntArray:
        """Return (n,) where the milliseconds from number `first` on are."""
        count = self.done.item()
        return np.arange(max(first, count - _ROWS), count) % _ROWS


def allocate_truth(model: RobotModel) -> TruthData:
    """Return an empty ring for a robot."""
    limbs = int(model.tip_speed_limit.size)
    return TruthData(
        done=np.zeros(1, dtype=np.int64),
        coordinates=np.zeros((_ROWS, *model.rest_coordinates.shape)),
        wrench=np.zeros((_ROWS, limbs, 6)),
        tip_force=np.zeros((_ROWS, limbs, 3)),
        held=np.full((_ROWS, limbs), -1),
        place=np.full((_ROWS, 3), np.nan),
    )


@inner_kernel
def note_pose(truth: TruthData, data: RobotData) -> None:
    """Note where the robot is, as the next millisecond.

    Args:
        truth: gets it.
        data: the robot's state.
    """
    row = truth.done[0] % truth.coordinates.shape[0]
    for k in range(data.coordinates.shape[0]):
        for j in range(3):
            truth.coordinates[row, k, j] = data.coordinates[k, j]
    truth.done[0] += 1


@inner_kernel
def note_contact(truth: TruthData, around: SurroundingsData) -> None:
    """Note what it touches, in the millisecond that was noted last.

    Args:
        truth: gets it.
        around: state of its surroundings.
    """
    row = (truth.done[0] - 1) % truth.coordinates.shape[0]
    for limb in range(truth.held.shape[1]):
        for i in range(6):
            truth.wrench[row, limb, i] = around.contact_wrench[limb, i]
        for i in range(3):
            truth.tip_force[row, limb, i] = around.tip_force[limb, i]
        truth.held[row, limb] = around.grasp.held[limb]
    if around.bodies.pose.shape[0] > 0:
        for i in range(3):
            truth.place[row, i] = around.bodies.pose[0, i, 3]
