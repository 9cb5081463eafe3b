"""One limb's step with its cables, what it holds and the impulses of its contacts.

The limb's system is factored with its cables in the state that the step gives them, so
that an impulse meets the compliance of limb, cables, drag and elasticity.
"""

from models.body_contact import body_halves
from models.contact_solve import ContactData
from models.grasp_joint import add_hold
from models.numerics import FloatArray, inner_kernel
from models.robot import RobotData, RobotModel
from models.robot_contact import (
    SurroundingsData,
    SurroundingsModel,
    segments_of,
    tendons_of,
)
from models.rod import FAULT_NONE, RodWork, limb_cables, limb_system

__all__ = ["clear_halves", "solve_limbs", "sum_contact_forces"]


@inner_kernel
def _column(model: RobotModel, limb: int, held: int, item: int) -> int:
    """Where a coordinate of a limb's system stands among all velocities."""
    first, last = segments_of(model, limb)
    count = 3 * (last - first)
    if item < count:
        return int(3 * first + item)
    return int(model.tree.dof_parent.size + 6 * held + item - count)


@inner_kernel
def _halves(
    model: RobotModel,
    limb: int,
    count: int,
    held: int,
    work: RodWork,
    found: ContactData,
) -> None:
    """Half responses L⁻¹ Jᵀ of a limb's system, factored as L Lᵀ, to each contact."""
    factor = work.system
    for c in range(found.count[0]):
        for i in range(3):
            row = found.row[c, i]
            half = found.half[c, i]
            begun = False
            for k in range(count):
                at = _column(model, limb, held, k)
                total = row[at]
                if begun or total != 0.0:
                    begun = True
                    for j in range(k):
                        total -= factor[k, j] * half[_column(model, limb, held, j)]
                    total /= factor[k, k]
                half[at] = total


@inner_kernel
def _free_velocity(
    model: RobotModel,
    limb: int,
    count: int,
    held: int,
    period: float,
    work: RodWork,
    state: SurroundingsData,
) -> None:
    """Take out of the velocities what the impulses so far have given them."""
    factor = work.system
    vector = state.vector
    for k in range(count):
        total = period * state.applied[_column(model, limb, held, k)]
        for j in range(k):
            total -= factor[k, j] * vector[j]
        vector[k] = total / factor[k, k]
    for k in range(count - 1, -1, -1):
        total = vector[k]
        for j in range(k + 1, count):
            total -= factor[j, k] * vector[j]
        vector[k] = total / factor[k, k]
        state.found.velocity[_column(model, limb, held, k)] -= vector[k]


@inner_kernel
def _solve_limb(
    model: RobotModel,
    world: SurroundingsModel,
    limb: int,
    period: float,
    winch_target: FloatArray,
    data: RobotData,
    state: SurroundingsData,
    work: RodWork,
) -> bool:
    """Solve one limb under the present impulses; tell whether a cable's state changed.

    Leaves its factor in `work.system`, its results in the state's scratch and its
    velocities, as they are with the impulses, in `found.velocity`.
    """
    first, last = segments_of(model, limb)
    start, stop = 3 * first, 3 * last
    held = state.grasp.held[limb]
    count = stop - start
    size = model.tree.dof_parent.size
    for d in range(start, stop):
        work.tree.load[d] = state.load[d] + state.applied[d]
    limb_system(model, limb, work)
    if held >= 0:
        add_hold(
            model,
            world.grasp,
            world.bodies,
            limb,
            period,
            state.pushed[6 * held : 6 * held + 6],
            data.rates[first:last],
            work.tree,
            state.bodies,
            state.grasp,
            work.matrix,
            work.load,
        )
        for i in range(6):
            work.load[count + i] += state.applied[size + 6 * held + i]
        count += 6
    status = limb_cables(model, limb, count, period, winch_target, data, work)
    data.status[limb] = status
    if status != FAULT_NONE:
        state.touched[limb] = 0
        return True
    for d in range(start, stop):
        change = work.velocity_change[d - start]
        state.change[d] = change
        state.found.velocity[d] = data.tree.velocity[d] + change
    if held >= 0:
        for i in range(6):
            state.found.velocity[size + 6 * held + i] = (
                state.bodies.twist[held, i] + work.velocity_change[stop - start + i]
            )
    changed = False
    tendon, end = tendons_of(model, limb)
    for i in range(end - tendon):
        state.servo_length[tendon + i] = work.servo_length[i]
        state.tension[tendon + i] = work.tendon_tension[i]
        if state.cable_state[tendon + i] != work.tendon_state[i]:
            state.cable_state[tendon + i] = work.tendon_state[i]
            changed = True
    return changed


@inner_kernel
def solve_limbs(
    model: RobotModel,
    world: SurroundingsModel,
    prepare: bool,
    period: float,
    winch_target: FloatArray,
    data: RobotData,
    state: SurroundingsData,
    work: RodWork,
) -> bool:
    """Solve all touched limbs.

    Args:
        model: the robot.
        world: what it can touch.
        prepare: leave velocities without the impulses, and the half responses.
        period: time step [s].
        winch_target: (T,) wanted paid-out lengths [m].
        data: state; gets the status of a limb that fails.
        state: impulses so far in `applied`; gets results and velocities.
        work: scratch.

    Returns:
        Whether a cable's state has changed since the last solution.
    """
    changed = False
    for limb in range(model.tip_speed_limit.size):
        if state.touched[limb] == 0:
            continue
        if _solve_limb(model, world, limb, period, winch_target, data, state, work):
            changed = True
        if not prepare or state.touched[limb] == 0:
            continue
        held = state.grasp.held[limb]
        first, last = segments_of(model, limb)
        count = 3 * (last - first)
        if held >= 0:
            count += 6
        _free_velocity(model, limb, count, held, period, work, state)
        _halves(model, limb, count, held, work, state.found)
    return changed


@inner_kernel
def clear_halves(
    model: RobotModel, world: SurroundingsModel, state: SurroundingsData
) -> None:
    """Halves of the objects by their own inertia, and none of the limbs.

    Args:
        model: the robot.
        world: what it can touch.
        state: its contacts get the halves.
    """
    size = model.tree.dof_parent.size
    found = state.found
    for c in range(found.count[0]):
        for i in range(3):
            for d in range(size):
                found.half[c, i, d] = 0.0
    body_halves(world.bodies, size, found)


@inner_kernel
def sum_contact_forces(period: float, state: SurroundingsData) -> None:
    """Sum the contacts' generalised forces.

    Args:
        period: time step [s].
        state: impulses of its contacts go to `applied`.
    """
    found = state.found
    for d in range(state.applied.size):
        state.applied[d] = 0.0
    for c in range(found.count[0]):
        for i in range(3):
            force = found.impulse[c, i] / period
            if force != 0.0:
                for d in range(state.applied.size):
                    state.applied[d] += found.row[c, i, d] * force
