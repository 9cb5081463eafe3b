"""A robot on legs that stands and walks: commands of its joints, and its steps.

Body control is open loop, as on SILVER2 (Liu 2020, "SILVER2 Kinematics"): feet follow
the gait (models/gait) in a frame that goes along with the wanted body, the body is
moved over them (models/stance), and each joint is commanded the angle that this needs
on rigid, level ground. Weight, springs, contact and slope do what they do.

A walk begins gently: its clock is brought up to speed over a time, so that no foot has
to jump. Leaves out a walk's end and changes of the gait, and any feedback.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from models.contact import ContactModel
from models.contact_solve import ContactData
from models.contact_step import finish_contact_step
from models.free_body import FreeBodyData, FreeBodyModel
from models.gait import GaitModel, gait_feet
from models.leg import LegModel
from models.leg_drive import (
    LegDriveData,
    LegDriveModel,
    add_leg_drives,
    move_motors,
    read_leg_torques,
)
from models.limb_contact import LimbContactModel
from models.numerics import FloatArray, IntArray, called_kernel, inner_kernel, kernel
from models.stance import body_pose, stance_joints
from models.tree import TreeData, TreeModel, TreeWork
from models.tree_motion import tree_motion
from models.tree_step import TREE_OK, add_elastic

__all__ = [
    "LeggedCourse",
    "LeggedWork",
    "allocate_legged_work",
    "legged_command",
    "legged_steps",
    "make_course",
]


class LeggedCourse(NamedTuple):
    """What a robot on legs shall do over time."""

    walk: FloatArray
    """(2,) when the walk begins, never for infinity, and how long it takes to be at
    speed [s]."""
    rise: FloatArray
    """(2,) when the body begins and ends to move over its feet [s]."""
    motion_from: FloatArray
    """(6,) of the body before: x, y, z [m], roll, pitch, yaw [rad], see `body_pose`."""
    motion_to: FloatArray
    """(6,) after it."""


class LeggedWork(NamedTuple):
    """Scratch of the commands, and what the feet did, for L legs."""

    wanted: FloatArray
    """(L, 3) feet of the gait, body frame of the level body [m]."""
    rate: FloatArray
    """(L, 3) their velocities [m/s]."""
    motion: FloatArray
    """(6,) of the body now."""
    pose: FloatArray
    """(4, 4) of it."""
    joint: FloatArray
    """(L, 3) commands [rad]."""
    reached: FloatArray
    """(L, 3) feet at these, body frame [m]."""
    status: IntArray
    """(L,) bits of `leg_inverse` met so far."""
    now: IntArray
    """(L,) bits of the last step."""
    force: FloatArray
    """(L, 2) of the ground on the foot's ball in the last step: along the normal, and
    across it [N]."""
    slip: FloatArray
    """(L,) way that each foot slipped while it touched, so far [m]."""
    saturation: FloatArray
    """(2,) greatest torque over its limit: in the last step, and so far."""


def make_course(
    *,
    walk_start: float = np.inf,
    walk_ramp: float = 1.0,
    rise: tuple[float, float] = (0.0, 1.0),
    motion_from: ArrayLike = (0.0,) * 6,
    motion_to: ArrayLike | None = None,
) -> LeggedCourse:
    """Say what a robot on legs shall do; by default it stands.

    Args:
        walk_start: when the walk begins [s].
        walk_ramp: how long it takes to be at speed [s].
        rise: when the body's motion begins and ends [s].
        motion_from: (6,) body over its feet before, as in `body_pose`.
        motion_to: (6,) after; None for no change.

    Returns:
        The course.

    Raises:
        ValueError: a time that is not in order.
    """
    if not (walk_ramp >= 0.0 and rise[1] > rise[0]):
        message = f"walk_ramp is {walk_ramp} s and rise {rise}: times must grow"
        raise ValueError(message)
    start = np.array(motion_from, dtype=np.float64)
    end = start.copy() if motion_to is None else np.array(motion_to, dtype=np.float64)
    return LeggedCourse(
        np.array([walk_start, walk_ramp]), np.array(rise, np.float64), start, end
    )


def allocate_legged_work(count: int) -> LeggedWork:
    """Allocate the arrays of `LeggedWork` for a number of legs."""
    return LeggedWork(
        wanted=np.zeros((count, 3)),
        rate=np.zeros((count, 3)),
        motion=np.zeros(6),
        pose=np.eye(4),
        joint=np.zeros((count, 3)),
        reached=np.zeros((count, 3)),
        status=np.zeros(count, dtype=np.int64),
        now=np.zeros(count, dtype=np.int64),
        force=np.zeros((count, 2)),
        slip=np.zeros(count),
        saturation=np.zeros(2),
    )


@inner_kernel
def _smooth(part: float) -> float:
    """From 0 to 1 without a jump of speed or acceleration."""
    u = min(max(part, 0.0), 1.0)
    return u * u * u * (10.0 - u * (15.0 - 6.0 * u))


@called_kernel
def legged_command(
    legs: LegModel,
    gait: GaitModel,
    course: LeggedCourse,
    time: float,
    work: LeggedWork,
    command_out: FloatArray,
) -> None:
    """Joint angles that a course wants at a time.

    Args:
        legs: the legs.
        gait: the gait; its neutral feet are those of the standing body.
        course: what to do.
        time: [s].
        work: gets feet, body motion and status.
        command_out: (3 L,) angles, leg by leg, within limits [rad].
    """
    since = time - course.walk[0]
    ramp = course.walk[1]
    clock = 0.0
    if since >= ramp:
        clock = since - 0.5 * ramp
    elif since > 0.0:
        u = since / ramp
        clock = ramp * u * u * u * (1.0 - 0.5 * u)
    gait_feet(gait, clock / gait.period, work.wanted, work.rate)
    part = _smooth((time - course.rise[0]) / (course.rise[1] - course.rise[0]))
    for i in range(6):
        work.motion[i] = (1.0 - part) * course.motion_from[i]
        work.motion[i] += part * course.motion_to[i]
    body_pose(work.motion, work.pose)
    stance_joints(legs, work.wanted, work.pose, work.joint, work.reached, work.now)
    for leg in range(work.now.size):
        work.status[leg] |= work.now[leg]
        for i in range(3):
            command_out[3 * leg + i] = work.joint[leg, i]


@inner_kernel
def _read_feet(
    foot_point: IntArray,
    surfaces: int,
    period: float,
    velocity: FloatArray,
    found: ContactData,
    work: LeggedWork,
) -> None:
    """Forces and slip of the feet in the step that was solved."""
    for leg in range(foot_point.size):
        work.force[leg, 0] = 0.0
        work.force[leg, 1] = 0.0
        for c in range(found.count[0]):
            slot = found.slot[c]
            point = slot // surfaces
            if point != foot_point[leg] or not found.impulse[c, 0] > 0.0:
                continue
            slip_1 = 0.0
            slip_2 = 0.0
            for d in range(velocity.size):
                slip_1 += found.row[c, 1, d] * velocity[d]
                slip_2 += found.row[c, 2, d] * velocity[d]
            work.slip[leg] += period * np.sqrt(slip_1 * slip_1 + slip_2 * slip_2)
            across = np.sqrt(found.impulse[c, 1] ** 2 + found.impulse[c, 2] ** 2)
            work.force[leg, 0] += found.impulse[c, 0] / period
            work.force[leg, 1] += across / period


@kernel
def legged_steps(
    tree: TreeModel,
    drives: LegDriveModel,
    legs: LegModel,
    gait: GaitModel,
    contacts: ContactModel,
    limbs: LimbContactModel,
    bodies: FreeBodyModel,
    course: LeggedCourse,
    foot_point: IntArray,
    period: float,
    start: int,
    count: int,
    data: TreeData,
    drive_data: LegDriveData,
    body_data: FreeBodyData,
    tree_work: TreeWork,
    found: ContactData,
    work: LeggedWork,
) -> int:
    """Advance a robot on legs by some steps, with `applied` and `wrench` as they are.

    Args:
        tree: the robot.
        drives: of its leg joints, leg by leg.
        legs: their kinematics.
        gait: how they walk.
        contacts: the seabed and what else there is.
        limbs: pairs of limbs that can touch.
        bodies: free objects.
        course: what they shall do.
        foot_point: (L,) point of the tree in each foot.
        period: time step [s].
        start: steps done before.
        count: steps to do.
        data: advanced in place.
        drive_data: advanced in place.
        body_data: advanced in place.
        tree_work: workspace.
        found: contacts of the last step.
        work: feet and saturation; sums go on.

    Returns:
        A `TREE_…` code.
    """
    surfaces = len(contacts.law)
    for n in range(count):
        if data.status[0] != TREE_OK:
            return int(data.status[0])
        time = (start + n + 1) * period
        legged_command(legs, gait, course, time, work, drive_data.command)
        move_motors(drives, period, drive_data)
        tree_motion(tree, period, data, tree_work)
        add_elastic(tree, period, data, tree_work)
        add_leg_drives(drives, period, data, drive_data, tree_work)
        finish_contact_step(
            tree, contacts, limbs, bodies, period, data, body_data, tree_work, found
        )
        work.saturation[0] = read_leg_torques(drives, tree_work, drive_data)
        work.saturation[1] = max(work.saturation[0], work.saturation[1])
        _read_feet(foot_point, surfaces, period, data.velocity, found, work)
    return int(data.status[0])
