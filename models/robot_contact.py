"""What one copy of a robot can touch: the constant Model and the mutable Data.

Obstacles and a seabed (models/contact), segments that can touch each other
(models/limb_contact), movable objects (models/free_body) and the limbs' grippers
(models/grasp). The hull stands still and its frame is the world's.
models/robot_contact_step advances it all.
"""

from typing import NamedTuple

import numpy as np

from models.body_contact import BODY_POINTS
from models.contact import ContactModel
from models.contact_solve import ContactData, allocate_contact_data
from models.free_body import FreeBodyData, FreeBodyModel, allocate_free_body_data
from models.grasp import GraspData, GraspModel, allocate_grasp_data
from models.limb_contact import LimbContactModel
from models.numerics import FloatArray, IntArray, inner_kernel
from models.robot import RobotModel
from models.rod import RodWork, allocate_rod_work

__all__ = [
    "SurroundingsData",
    "SurroundingsModel",
    "allocate_surroundings_data",
    "allocate_surroundings_work",
    "segments_of",
    "tendons_of",
]

_CAPACITY = 96


class SurroundingsModel(NamedTuple):
    """What a robot can touch. Its arrays may be changed between two steps."""

    contacts: ContactModel
    """Obstacles and the seabed, in the hull's frame."""
    limbs: LimbContactModel
    """Pairs of segments that can touch."""
    bodies: FreeBodyModel
    """B movable objects."""
    grasp: GraspModel
    """Grippers of the limbs."""


class SurroundingsData(NamedTuple):
    """Mutable state of what surrounds one copy of a robot."""

    bodies: FreeBodyData
    """Objects, poses in the hull's frame."""
    found: ContactData
    """Contacts of the last step."""
    grasp: GraspData
    """Grippers."""
    contact_wrench: FloatArray
    """(L, 6) what contacts did to each limb in the last step: moment about the hull's
    origin, then force, hull frame [N m, N]."""
    tip_force: FloatArray
    """(L, 3) the part of it at the tip, with what the gripper holds [N]."""
    touched: IntArray
    """(L,) 1 where contacts or a joint were solved with the limb in the last step."""
    load: FloatArray
    """(N,) scratch: generalised forces without contact."""
    applied: FloatArray
    """(D,) scratch: those of the contacts."""
    pushed: FloatArray
    """(6 B,) scratch: twists without contact and joints."""
    change: FloatArray
    """(N,) scratch: velocity change."""
    servo_length: FloatArray
    """(T,) scratch: paid out at the step's end [m]."""
    tension: FloatArray
    """(T,) scratch: at the step's end [N]."""
    cable_state: IntArray
    """(T,) scratch: as `RodWork.tendon_state`."""
    vector: FloatArray
    """(W,) scratch of a limb's system with what it holds."""


def _width(model: RobotModel) -> int:
    """Coordinates of the largest limb and of what it holds."""
    return 3 * int(np.max(np.diff(model.limb_segment_start))) + 6


def allocate_surroundings_work(model: RobotModel, *, rests: bool = False) -> RodWork:
    """Allocate a robot's workspace with room for what a limb holds.

    Args:
        model: the robot.
        rests: limbs may come to rest.

    Returns:
        A workspace for `surroundings_step`, and for all that take a `RodWork`.
    """
    work = allocate_rod_work(model, rests=rests)
    width = _width(model)
    block = max(width, work.system.shape[0])
    return work._replace(
        matrix=np.zeros((width, width)),
        load=np.zeros(width),
        system=np.zeros((block, block)),
        velocity_change=np.zeros(block),
        velocity_kept=np.zeros(width),
        velocity_trial=np.zeros(width),
    )


def allocate_surroundings_data(
    model: RobotModel, world: SurroundingsModel, *, capacity: int = _CAPACITY
) -> SurroundingsData:
    """Make the Data of a robot's surroundings: objects at the origin, grippers open.

    Args:
        model: the robot.
        world: what it can touch.
        capacity: most contacts of one step; those beyond are left out and counted.

    Returns:
        The arrays.

    Raises:
        ValueError: grippers of another number of limbs or objects.
    """
    limbs = model.tip_speed_limit.size
    count = world.bodies.kind.size
    if (world.grasp.reach.size, world.grasp.size.size) != (limbs, count):
        message = (
            f"grippers of {world.grasp.reach.size} limbs for {world.grasp.size.size} "
            f"objects; the robot has {limbs} limbs, and there are {count} objects"
        )
        raise ValueError(message)
    tree = model.tree
    size = tree.dof_parent.size
    tendons = model.tendon_angle.size
    surfaces = world.contacts.law.shape[0]
    slots = tree.point_radius.size * (surfaces + world.limbs.pair.shape[0] + count)
    slots += BODY_POINTS * count * (surfaces + count)
    width = _width(model)
    return SurroundingsData(
        bodies=allocate_free_body_data(world.bodies),
        found=allocate_contact_data(capacity, slots, size + 6 * count),
        grasp=allocate_grasp_data(world.grasp, width),
        contact_wrench=np.zeros((limbs, 6)),
        tip_force=np.zeros((limbs, 3)),
        touched=np.zeros(limbs, dtype=np.int64),
        load=np.zeros(size),
        applied=np.zeros(size + 6 * count),
        pushed=np.zeros(6 * count),
        change=np.zeros(size),
        servo_length=np.zeros(tendons),
        tension=np.zeros(tendons),
        cable_state=np.zeros(tendons, dtype=np.int64),
        vector=np.zeros(width),
    )


@inner_kernel
def segments_of(model: RobotModel, limb: int) -> tuple[int, int]:
    """First segment of a limb, and one past its last.

    Args:
        model: the robot.
        limb: index of the limb.
    """
    return model.limb_segment_start[limb], model.limb_segment_start[limb + 1]


@inner_kernel
def tendons_of(model: RobotModel, limb: int) -> tuple[int, int]:
    """First tendon of a limb, and one past its last.

    Args:
        model: the robot.
        limb: index of the limb.
    """
    return model.limb_tendon_start[limb], model.limb_tendon_start[limb + 1]
