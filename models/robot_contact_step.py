"""The robot's limbs among obstacles and movable objects, advanced by one tick.

The equations are those of models/rod, with the impulses of all contacts and the joints
of the grippers in the same implicit step:

    A Δv = h (Q - Jᵀ_cables τ) + Jᵀ λ,      λ = h F(δ - h J v₁, J v₁)

Every point of a limb's tree is a ball of its section's radius (models/contact). Each
limb's system is factored with its cables in the state that the step gives them, so an
impulse meets the compliance of limb, cables, drag and elasticity; impulses and cables'
states take turns until none of these changes. An object that a gripper holds is six
more coordinates of its limb's system (models/grasp). Nothing of it adds energy
(models/contact_law), at any stiffness and period.

Where nothing is near and nothing is held, the limbs' step is `robot_step` to the bit.
The hull stands still, and its frame is the world's. Leaves out the hull itself, which
nothing touches, and edges that poke between two points of a limb.
"""

from models.body_contact import (
    find_body_contacts,
    find_body_tree_contacts,
    push_by_contacts,
)
from models.contact import find_contacts
from models.contact_law import tangents
from models.contact_solve import forget_contacts, solve_contacts
from models.free_body_motion import move_bodies, push_bodies
from models.grasp import take_or_release, tip_point
from models.grasp_joint import weigh_hold
from models.limb_contact import find_limb_contacts
from models.limb_rest import disturb, note_rest, rests, wake_limbs
from models.numerics import FloatArray, inner_kernel, kernel
from models.robot import RobotData, RobotModel
from models.robot_contact import SurroundingsData, SurroundingsModel, segments_of
from models.robot_contact_solve import clear_halves, solve_limbs, sum_contact_forces
from models.rod import FAULT_NONE, RodWork, hold_frozen_limb, limb_step, load_tips
from models.tree_motion import tree_motion
from models.tree_step import add_elastic

__all__ = ["surroundings_step"]

_MOST_TURNS = 4


@inner_kernel
def _find(
    model: RobotModel,
    world: SurroundingsModel,
    period: float,
    data: RobotData,
    state: SurroundingsData,
    work: RodWork,
) -> None:
    """Enter all contacts; note which limbs they touch, and which hold something."""
    tree = model.tree
    points = tree.point_radius.size
    size = tree.dof_parent.size
    found = state.found
    limb_slot = points * world.contacts.law.shape[0]
    body_slot = limb_slot + points * world.limbs.pair.shape[0]
    own_slot = body_slot + points * world.bodies.kind.size
    forget_contacts(found)
    find_contacts(tree, world.contacts, period, data.tree, work.tree, found)
    find_limb_contacts(
        tree, world.limbs, period, limb_slot, data.tree, work.tree, found
    )
    find_body_tree_contacts(
        tree, world.bodies, period, body_slot, data.tree, work.tree, state.bodies, found
    )
    find_body_contacts(
        world.bodies, world.contacts, period, size, own_slot, state.bodies, found
    )
    for limb in range(model.tip_speed_limit.size):
        state.touched[limb] = 1 if state.grasp.held[limb] >= 0 else 0
        for i in range(6):
            state.contact_wrench[limb, i] = 0.0
        for i in range(3):
            state.tip_force[limb, i] = 0.0
        first, last = segments_of(model, limb)
        for c in range(found.count[0]):
            for side in range(2):
                if first <= found.partner[c, side] < last:
                    state.touched[limb] = 1


@inner_kernel
def _point_of(model: RobotModel, world: SurroundingsModel, slot: int) -> int:
    """The tree's point that touches, as a ball, by a contact's slot; -1 = none."""
    points = model.tree.point_radius.size
    surfaces = world.contacts.law.shape[0]
    pairs = world.limbs.pair.shape[0]
    bodies = world.bodies.kind.size
    if slot < points * surfaces:
        return int(slot // surfaces)
    slot -= points * surfaces
    if slot < points * pairs:
        return int(slot // pairs)
    slot -= points * pairs
    if slot < points * bodies:
        return int(slot // bodies)
    return -1


@inner_kernel
def _weigh(
    model: RobotModel, world: SurroundingsModel, period: float, state: SurroundingsData
) -> None:
    """Sum the contacts' forces on each limb and on its tip."""
    found = state.found
    for c in range(found.count[0]):
        nx, ny, nz = found.normal[c]
        ax, ay, az, bx, by, bz = tangents(nx, ny, nz)
        n, a, b = found.impulse[c]
        if n == 0.0:
            continue
        u = (n * nx + a * ax + b * bx) / period
        v = (n * ny + a * ay + b * by) / period
        w = (n * nz + a * az + b * bz) / period
        x, y, z = found.place[c]
        point = _point_of(model, world, found.slot[c])
        for limb in range(model.tip_speed_limit.size):
            first, last = segments_of(model, limb)
            tip = tip_point(model, limb)
            for side in range(2):
                if not first <= found.partner[c, side] < last:
                    continue
                sign = 1.0 if side == 0 else -1.0
                wrench = state.contact_wrench[limb]
                wrench[0] += sign * (y * w - z * v)
                wrench[1] += sign * (z * u - x * w)
                wrench[2] += sign * (x * v - y * u)
                wrench[3] += sign * u
                wrench[4] += sign * v
                wrench[5] += sign * w
                if side == 0 and point == tip:
                    state.tip_force[limb, 0] += u
                    state.tip_force[limb, 1] += v
                    state.tip_force[limb, 2] += w


@inner_kernel
def _take_over(
    model: RobotModel,
    limb: int,
    period: float,
    data: RobotData,
    state: SurroundingsData,
    work: RodWork,
) -> None:
    """Write a touched limb's results to its Data."""
    for k in range(model.limb_segment_start[limb], model.limb_segment_start[limb + 1]):
        for j in range(3):
            data.rates[k, j] += state.change[3 * k + j]
            data.coordinates[k, j] += period * data.rates[k, j]
            work.kept_coordinates[k, j] = data.coordinates[k, j]
    for t in range(model.limb_tendon_start[limb], model.limb_tendon_start[limb + 1]):
        data.servo_length[t] = state.servo_length[t]
        data.tension[t] = state.tension[t]
        work.kept_servo[t] = state.servo_length[t]
        work.kept_tension[t] = state.tension[t]


@inner_kernel
def _touch(
    model: RobotModel,
    world: SurroundingsModel,
    period: float,
    winch_target: FloatArray,
    data: RobotData,
    state: SurroundingsData,
    work: RodWork,
) -> None:
    """Impulses and cables of all touched limbs in turns, until both agree."""
    for d in range(state.load.size):
        state.load[d] = work.tree.load[d]
        state.found.velocity[d] = 0.0
    for limb in range(model.tip_speed_limit.size):
        if data.status[limb] != FAULT_NONE:
            state.touched[limb] = 0
    for d in range(state.applied.size):
        state.applied[d] = 0.0
    found = state.found
    for _ in range(_MOST_TURNS):
        clear_halves(model, world, state)
        solve_limbs(model, world, True, period, winch_target, data, state, work)
        if found.count[0] == 0:
            break
        solve_contacts(period, found.velocity, found)
        sum_contact_forces(period, state)
        if not solve_limbs(
            model, world, False, period, winch_target, data, state, work
        ):
            break
    _weigh(model, world, period, state)


@inner_kernel
def _push_free(
    model: RobotModel, world: SurroundingsModel, state: SurroundingsData
) -> None:
    """Give the objects that no limb holds what the contacts give them."""
    size = model.tree.dof_parent.size
    for limb in range(state.touched.size):
        held = state.grasp.held[limb]
        if held >= 0 and state.touched[limb] == 1:
            for i in range(6):
                state.pushed[6 * held + i] = state.found.velocity[size + 6 * held + i]
    push_by_contacts(world.bodies, size, state.found, state.found.velocity)
    for limb in range(state.touched.size):
        held = state.grasp.held[limb]
        if held >= 0 and state.touched[limb] == 1:
            for i in range(6):
                state.found.velocity[size + 6 * held + i] = state.pushed[6 * held + i]


@kernel
def surroundings_step(
    model: RobotModel,
    world: SurroundingsModel,
    period: float,
    winch_target: FloatArray,
    data: RobotData,
    state: SurroundingsData,
    work: RodWork,
) -> int:
    """Advance a robot and all that it can touch by one period.

    Stands in for `robot_step`, whose rules for frozen limbs hold here too. A frozen
    limb is an obstacle at rest, and lets go of what it held.

    Args:
        model: the robot.
        world: what it can touch.
        period: time step [s].
        winch_target: (T,) wanted paid-out lengths [m].
        data: state of the robot, advanced in place.
        state: of what it can touch, advanced in place.
        work: from `allocate_surroundings_work`, belongs to this data.

    Returns:
        Number of frozen limbs.
    """
    frozen = 0
    size = model.tree.dof_parent.size
    found = state.found
    load_tips(model, data)
    wake_limbs(model, winch_target, work.kept_coordinates, data, work.rest)
    tree_motion(model.tree, period, data.tree, work.tree)
    add_elastic(model.tree, period, data.tree, work.tree)
    push_bodies(world.bodies, period, size, state.bodies, found.velocity)
    for d in range(state.pushed.size):
        state.pushed[d] = found.velocity[size + d]
    take_or_release(
        model, world.grasp, data.status, work.tree, state.bodies, state.grasp
    )
    _find(model, world, period, data, state, work)
    busy = found.count[0] > 0
    for limb in range(state.touched.size):
        if state.touched[limb] == 1:
            busy = True
    if busy:
        _touch(model, world, period, winch_target, data, state, work)
        if found.count[0] > 0:
            _push_free(model, world, state)
    for limb in range(model.tip_speed_limit.size):
        if state.touched[limb] == 1:
            _take_over(model, limb, period, data, state, work)
            disturb(model, limb, data, work.rest)
        elif rests(model, limb, data):
            continue
        elif data.status[limb] == FAULT_NONE:
            data.status[limb] = limb_step(model, limb, period, winch_target, data, work)
            note_rest(model, limb, period, winch_target, data, work.rest)
        if data.status[limb] != FAULT_NONE:
            frozen += 1
            hold_frozen_limb(model, limb, work, data)
        held = state.grasp.held[limb]
        if held >= 0 and state.touched[limb] == 1:
            first, last = segments_of(model, limb)
            at = size + 6 * held
            weigh_hold(
                model,
                world.grasp,
                limb,
                period,
                data.rates[first:last],
                found.velocity[at : at + 6],
                work.tree,
                state.bodies,
                state.grasp,
            )
            for i in range(3):
                state.tip_force[limb, i] -= state.grasp.wrench[limb, 3 + i]
    move_bodies(world.bodies, period, size, found.velocity, state.bodies)
    return frozen
