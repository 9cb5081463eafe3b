"""What the tick remembers from one millisecond to the next."""

from typing import NamedTuple

import numpy as np

from app.messages import Source
from models.inverse import InverseData, allocate_inverse_data
from models.numerics import FloatArray, IntArray
from models.robot import RobotData, RobotModel, allocate_robot_data
from models.rod import RodWork, allocate_rod_work, reset_robot_data
from models.tip import tip_in_hull

__all__ = ["TickData", "allocate_tick_data"]


class TickData(NamedTuple):
    """Mutable state of the tick; private to the control loop."""

    mode: IntArray  # (1,)
    epoch: IntArray  # (1,)
    refusal: IntArray  # (1,)
    active: IntArray  # (1,) Source or -1
    selected: IntArray  # (1,)
    engaged: IntArray  # (1,) the robot has followed this epoch
    settle: IntArray  # (1,) put the local model at rest at the command
    rebase: IntArray  # (1,) take a new offset before the next motion
    counts: IntArray  # (3, 4) arm, disarm, estop, reset counts already acted on
    limbs_seen: IntArray  # (3,) limb that each source last named
    ticks: IntArray  # (1,)
    offset: FloatArray  # (3,)
    target: FloatArray  # (L, 3) hull frame
    tip: FloatArray  # (L, 3) commanded tip, hull frame
    commanded: FloatArray  # (S, 3)
    winch: FloatArray  # (T,) wanted paid-out lengths
    reach: IntArray  # (L,)
    target_in_base: FloatArray  # (3,)
    aimed: FloatArray  # (L, 3) target_in_base that the command was last led to
    left: FloatArray  # (S, 3) command as that left it
    settled: IntArray  # (L,) 1 where that did not move it any more
    poses: FloatArray  # (longest + 1, 4, 4)


def allocate_tick_data(
    model: RobotModel,
) -> tuple[TickData, RobotData, InverseData, RodWork]:
    """Make everything that a tick changes: disarmed, straight, at rest."""
    limbs = model.tip_speed_limit.size
    longest = int(np.max(np.diff(model.limb_segment_start)))

    def ints(*shape: int) -> IntArray:
        return np.zeros(shape, dtype=np.int64)

    data = TickData(
        mode=ints(1),
        epoch=ints(1),
        refusal=ints(1),
        active=ints(1) - 1,
        selected=ints(1),
        engaged=ints(1),
        settle=ints(1),
        rebase=ints(1) + 1,
        counts=ints(len(Source), 4) - 1,
        limbs_seen=ints(len(Source)),
        ticks=ints(1),
        offset=np.zeros(3),
        target=np.zeros((limbs, 3)),
        tip=np.zeros((limbs, 3)),
        commanded=model.rest_coordinates.copy(),
        winch=np.zeros(model.tendon_angle.size),
        reach=ints(limbs),
        target_in_base=np.zeros(3),
        aimed=np.zeros((limbs, 3)),
        left=np.zeros_like(model.rest_coordinates),
        settled=ints(limbs),
        poses=np.zeros((longest + 1, 4, 4)),
    )
    robot = allocate_robot_data(model)
    work = allocate_rod_work(model, rests=True)
    reset_robot_data(model, data.commanded, work, robot)
    for limb in range(limbs):
        tip_in_hull(model, limb, data.commanded, data.poses, data.target[limb])
    data.tip[:] = data.target
    return data, robot, allocate_inverse_data(model), work
