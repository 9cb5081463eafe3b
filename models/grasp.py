"""A gripper at a limb's tip: when it takes hold of an object, and when it lets go.

An object is taken when its centre is within `offset` of the middle of the gripper, it
moves there slower than `speed` against it, it is no wider than the gripper opens, and
the grip command is at `close` or above. It is let go when the command falls to `open`.
In between it hangs on a compliant joint (models/grasp_joint). A force beyond the limit
of the joint tears it out; the gripper must open before it can take hold again.

Leaves out the fingers themselves: they touch nothing. Offset, speed and `close` are
those of the grasping trials that the product's tasks are made of; the rest is ours.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from models.free_body import FreeBodyData
from models.free_body_motion import BODY_OK
from models.numerics import FloatArray, IntArray, inner_kernel, kernel
from models.robot import RobotModel
from models.tree import TreeWork
from models.tree_solve import point_velocity

__all__ = [
    "DEFAULT_JOINT",
    "DEFAULT_RULE",
    "DROPPED",
    "GRASPED",
    "NOTHING",
    "RELEASED",
    "GraspData",
    "GraspJoint",
    "GraspModel",
    "GraspRule",
    "allocate_grasp_data",
    "build_grasp_model",
    "let_go",
    "take_or_release",
    "tip_point",
]

NOTHING = 0
GRASPED = 1
RELEASED = 2
DROPPED = 3


class GraspRule(NamedTuple):
    """When a gripper takes hold and lets go."""

    offset: float = 0.015
    """Greatest distance of the object's centre from the gripper's [m]."""
    speed: float = 0.020
    """Greatest speed of the object against the gripper [m/s]."""
    close: float = 0.8
    """Grip command, 0 to 1, from which on it takes hold."""
    open: float = 0.5
    """Grip command at and below which it lets go."""


class GraspJoint(NamedTuple):
    """How it holds."""

    stiffness: float = 400.0
    """k [N/m]."""
    damping: float = 4.0
    """d [N s/m]."""
    turn_stiffness: float = 0.2
    """k_r [N m/rad]."""
    turn_damping: float = 0.004
    """d_r [N m s/rad]."""
    force_limit: float = 4.0
    """Force that tears the object out [N]."""


DEFAULT_RULE = GraspRule()
DEFAULT_JOINT = GraspJoint()


class GraspModel(NamedTuple):
    """Grippers of L limbs, and what of B objects they can hold."""

    reach: FloatArray
    """(L,) from the tip along its axis to the middle of the gripper [m]; negative for
    a limb without one."""
    opening: FloatArray
    """(L,) widest object [m]."""
    tip_radius: FloatArray
    """(L,) no object's surface is held nearer to the tip [m]."""
    size: FloatArray
    """(B,) width of each object where it is held [m]."""
    rule: FloatArray
    """(4,) see `GraspRule`."""
    joint: FloatArray
    """(5,) see `GraspJoint`."""


class GraspData(NamedTuple):
    """State of the grippers of L limbs."""

    grip: FloatArray
    """(L,) command, 0 open to 1 closed."""
    held: IntArray
    """(L,) index of the object, or -1."""
    empty: IntArray
    """(L,) 1 where it lost what it held and has not opened since."""
    pose: FloatArray
    """(L, 4, 4) of the object in the tip's frame when it was taken [m]."""
    wrench: FloatArray
    """(L, 6) moment and force of the joint on the object at its centre, hull axes, in
    the last step [N m, N]."""
    event: IntArray
    """(L,) NOTHING, GRASPED, RELEASED or DROPPED in the last step."""
    event_body: IntArray
    """(L,) the object of that event."""
    row: FloatArray
    """(6, W) scratch: velocity of the gripper against the object, turns first, by the
    coordinates of limb and object."""
    gap: FloatArray
    """(6,) scratch: ε and e."""


def build_grasp_model(
    reach: ArrayLike,
    opening: ArrayLike,
    tip_radius: ArrayLike,
    size: ArrayLike,
    rule: GraspRule = DEFAULT_RULE,
    joint: GraspJoint = DEFAULT_JOINT,
) -> GraspModel:
    """Check grippers and lay them out for kernels.

    Args:
        reach: (L,) [m], negative for a limb without a gripper.
        opening: (L,) [m].
        tip_radius: (L,) [m].
        size: (B,) [m].
        rule: when they take hold.
        joint: how they hold.

    Returns:
        The model.

    Raises:
        ValueError: a number that is not finite, arrays of different limbs, a rule or
            a joint with a negative number, or a gripper that opens where it closes.
    """
    model = GraspModel(
        *(
            np.array(values, dtype=np.float64).reshape(-1)
            for values in (reach, opening, tip_radius, size, rule, joint)
        )
    )
    for name, values in zip(GraspModel._fields, model, strict=True):
        if not np.all(np.isfinite(values)):
            message = f"grasp {name} is {values.tolist()}; it must be finite"
            raise ValueError(message)
    if not model.reach.size == model.opening.size == model.tip_radius.size:
        message = (
            f"grippers of {model.reach.size}, {model.opening.size} and "
            f"{model.tip_radius.size} limbs; give each of them for every limb"
        )
        raise ValueError(message)
    if np.any(model.rule < 0.0) or np.any(model.joint < 0.0):
        message = f"grasp rule {rule} and joint {joint}: nothing in them is below 0"
        raise ValueError(message)
    if not rule.open < rule.close:
        message = (
            f"a gripper opens at {rule.open} and closes at {rule.close}: swap them"
        )
        raise ValueError(message)
    return model


def allocate_grasp_data(model: GraspModel, width: int) -> GraspData:
    """Make the Data of grippers: open, empty.

    Args:
        model: the grippers.
        width: W, coordinates of the largest limb and six.
    """
    limbs = model.reach.size
    return GraspData(
        grip=np.zeros(limbs),
        held=np.full(limbs, -1, dtype=np.int64),
        empty=np.zeros(limbs, dtype=np.int64),
        pose=np.tile(np.eye(4), (limbs, 1, 1)),
        wrench=np.zeros((limbs, 6)),
        event=np.zeros(limbs, dtype=np.int64),
        event_body=np.full(limbs, -1, dtype=np.int64),
        row=np.zeros((6, width)),
        gap=np.zeros(6),
    )


@inner_kernel
def tip_point(robot: RobotModel, limb: int) -> int:
    """The point of the tree at a limb's tip.

    Args:
        robot: the robot.
        limb: index of the limb.

    Returns:
        Its index.
    """
    element = robot.limb_segment_start[limb + 1] - 1
    return int(robot.tree.element_step_start[element + 1] - 1)


@inner_kernel
def _holders(body: int, data: GraspData) -> int:
    """Number of limbs that hold an object."""
    count = 0
    for limb in range(data.held.size):
        if data.held[limb] == body:
            count += 1
    return count


@inner_kernel
def let_go(limb: int, event: int, data: GraspData) -> None:
    """End a hold.

    Args:
        limb: index of the limb, which holds an object.
        event: RELEASED, or DROPPED where it did not mean to.
        data: the grippers.
    """
    data.event[limb] = event
    data.event_body[limb] = data.held[limb]
    data.held[limb] = -1
    data.empty[limb] = 1 if event == DROPPED else 0
    for i in range(6):
        data.wrench[limb, i] = 0.0


@kernel
def _take(
    robot: RobotModel,
    model: GraspModel,
    limb: int,
    work: TreeWork,
    bodies: FreeBodyData,
    data: GraspData,
) -> None:
    """Take the nearest object that the rules allow, if any."""
    p = tip_point(robot, limb)
    turn = work.point_rotation[p]
    tip = work.point_position[p]
    best = -1
    nearest = np.inf
    for b in range(model.size.size):
        if bodies.status[b] != BODY_OK or model.size[b] > model.opening[limb]:
            continue
        if _holders(b, data) > 0:
            continue
        ahead = max(model.reach[limb], model.tip_radius[limb] + 0.5 * model.size[b])
        pose = bodies.pose[b]
        x = tip[0] + ahead * turn[0, 2]
        y = tip[1] + ahead * turn[1, 2]
        z = tip[2] + ahead * turn[2, 2]
        off = math.sqrt(
            (pose[0, 3] - x) ** 2 + (pose[1, 3] - y) ** 2 + (pose[2, 3] - z) ** 2
        )
        u, v, w = point_velocity(work, p, pose[0, 3], pose[1, 3], pose[2, 3])
        twist = bodies.twist[b]
        for i in range(3):
            own = pose[i, 0] * twist[3] + pose[i, 1] * twist[4] + pose[i, 2] * twist[5]
            if i == 0:
                u -= own
            elif i == 1:
                v -= own
            else:
                w -= own
        slow = math.sqrt(u * u + v * v + w * w) < model.rule[1]
        if slow and off <= model.rule[0] and off < nearest:
            best = b
            nearest = off
    if best < 0:
        return
    pose = bodies.pose[best]
    for i in range(3):
        for j in range(4):
            total = 0.0
            for k in range(3):
                entry = pose[k, j] - (tip[k] if j == 3 else 0.0)
                total += turn[k, i] * entry
            data.pose[limb, i, j] = total
    data.held[limb] = best
    data.event[limb] = GRASPED
    data.event_body[limb] = best


@inner_kernel
def take_or_release(
    robot: RobotModel,
    model: GraspModel,
    status: IntArray,
    work: TreeWork,
    bodies: FreeBodyData,
    data: GraspData,
) -> None:
    """Apply the rules at the beginning of a step.

    Args:
        robot: the robot.
        model: its grippers.
        status: (L,) not 0 where a limb is frozen: it lets go.
        work: after `tree_motion`.
        bodies: state of the objects.
        data: grippers; gets events.
    """
    for limb in range(model.reach.size):
        data.event[limb] = NOTHING
        if model.reach[limb] < 0.0:
            continue
        body = data.held[limb]
        if data.grip[limb] <= model.rule[3]:
            data.empty[limb] = 0
        if body >= 0:
            if data.grip[limb] <= model.rule[3]:
                let_go(limb, RELEASED, data)
            elif status[limb] != 0 or bodies.status[body] != BODY_OK:
                let_go(limb, DROPPED, data)
        elif (
            data.grip[limb] >= model.rule[2]
            and data.empty[limb] == 0
            and status[limb] == 0
        ):
            _take(robot, model, limb, work, bodies, data)
