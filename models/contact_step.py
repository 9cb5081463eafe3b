"""One step of a tree, its contacts and free objects, all solved together.

    contacts = build_contact_model([("plane", (0, 0, 0), [])])
    limbs = build_limb_contacts([(2, 5)])
    objects = build_free_bodies([sphere_body(0.04, 0.3)])
    found = allocate_contacts(tree, contacts, limbs, objects)
    contact_step(tree, contacts, limbs, objects, period, data, moved, work, found)

The tree's velocities without contact come from the matrix of its step (elasticity,
viscosity, drag implicit), so that an impulse meets the same compliance as every other
force of that step. Gyroscopic forces of a fast turn are those of the step without
contact. Where nothing is near, a step costs the search only.

Order of the slots: points on surfaces, points on limbs, points on objects, objects on
surfaces and on each other.
"""

from models.body_contact import (
    BODY_POINTS,
    body_halves,
    find_body_contacts,
    find_body_tree_contacts,
    push_by_contacts,
)
from models.contact import ContactModel, find_contacts, tree_halves
from models.contact_law import tangents
from models.contact_solve import (
    ContactData,
    allocate_contact_data,
    forget_contacts,
    solve_contacts,
)
from models.free_body import FreeBodyData, FreeBodyModel
from models.free_body_motion import move_bodies, push_bodies
from models.limb_contact import LimbContactModel, find_limb_contacts
from models.numerics import FloatArray, called_kernel, kernel
from models.tree import TreeData, TreeModel, TreeWork
from models.tree_guard import is_refused
from models.tree_motion import tree_motion
from models.tree_solve import solve_tree, tree_factor
from models.tree_step import TREE_OK, add_elastic, finish_step
from models.tree_turning import correct_turning, hold_root

__all__ = [
    "allocate_contacts",
    "contact_step",
    "finish_contact_step",
    "outside_wrench",
]


def allocate_contacts(
    tree: TreeModel,
    contacts: ContactModel,
    limbs: LimbContactModel,
    bodies: FreeBodyModel,
    *,
    capacity: int = 64,
) -> ContactData:
    """Make room for the contacts of a tree and of free objects.

    Args:
        tree: the tree.
        contacts: surfaces.
        limbs: pairs of limbs.
        bodies: free objects.
        capacity: most contacts of one step; those beyond are left out and counted.

    Returns:
        The arrays.
    """
    points, size = tree.point_radius.size, tree.dof_parent.size
    surfaces = contacts.law.shape[0]
    count = bodies.kind.size
    slots = points * (surfaces + limbs.pair.shape[0] + count)
    slots += BODY_POINTS * count * (surfaces + count)
    return allocate_contact_data(capacity, slots, size + 6 * count)


@called_kernel
def finish_contact_step(
    tree: TreeModel,
    contacts: ContactModel,
    limbs: LimbContactModel,
    bodies: FreeBodyModel,
    period: float,
    data: TreeData,
    body_data: FreeBodyData,
    work: TreeWork,
    found: ContactData,
) -> int:
    """Solve contacts with what the forces left in work, and advance the state.

    Stands in for `finish_step` of models/tree_step.

    Args:
        tree: the tree.
        contacts: surfaces.
        limbs: pairs of limbs.
        bodies: free objects.
        period: time step [s], that of the forces.
        data: advanced in place; frozen where a contact is not finite.
        body_data: advanced in place.
        work: matrix and load; gets the velocity change in `change`.
        found: the contacts.

    Returns:
        A `TREE_…` code.
    """
    if data.status[0] != TREE_OK or is_refused(period, data):
        return int(finish_step(tree, period, data, work))
    size = tree.dof_parent.size
    points = tree.point_radius.size
    limb_slot = points * contacts.law.shape[0]
    body_slot = limb_slot + points * limbs.pair.shape[0]
    own_slot = body_slot + points * bodies.kind.shape[0]
    velocity = found.velocity
    forget_contacts(found)
    push_bodies(bodies, period, size, body_data, velocity)
    find_contacts(tree, contacts, period, data, work, found)
    find_limb_contacts(tree, limbs, period, limb_slot, data, work, found)
    find_body_tree_contacts(
        tree, bodies, period, body_slot, data, work, body_data, found
    )
    find_body_contacts(bodies, contacts, period, size, own_slot, body_data, found)
    if found.count[0] > 0:
        if work.corrects[0] == 1:
            correct_turning(tree, period, data, work)
        hold_root(tree, work)
        if tree_factor(tree, work) < 0:
            for d in range(size):
                velocity[d] = period * work.load[d]
            solve_tree(tree, work, velocity)
            for d in range(size):
                velocity[d] += data.velocity[d]
            tree_halves(tree, work, found)
            body_halves(bodies, size, found)
            solve_contacts(period, velocity, found)
            push_by_contacts(bodies, size, found, velocity)
            for c in range(found.count[0]):
                for i in range(3):
                    force = found.impulse[c, i] / period
                    for d in range(size):
                        work.load[d] += found.row[c, i, d] * force
    status = finish_step(tree, period, data, work)
    move_bodies(bodies, period, size, velocity, body_data)
    return int(status)


@kernel
def contact_step(
    tree: TreeModel,
    contacts: ContactModel,
    limbs: LimbContactModel,
    bodies: FreeBodyModel,
    period: float,
    data: TreeData,
    body_data: FreeBodyData,
    work: TreeWork,
    found: ContactData,
) -> int:
    """Advance a tree under its own forces, its contacts and the objects by one period.

    Args:
        tree: the tree.
        contacts: surfaces.
        limbs: pairs of limbs.
        bodies: free objects.
        period: time step [s].
        data: advanced in place.
        body_data: advanced in place.
        work: workspace.
        found: the contacts.

    Returns:
        A `TREE_…` code; a tree that is frozen stays so, the objects too.
    """
    if data.status[0] != TREE_OK:
        return int(data.status[0])
    tree_motion(tree, period, data, work)
    add_elastic(tree, period, data, work)
    return int(
        finish_contact_step(
            tree, contacts, limbs, bodies, period, data, body_data, work, found
        )
    )


@kernel
def outside_wrench(found: ContactData, period: float, wrench_out: FloatArray) -> None:
    """Sum what ground, obstacles and objects did to a tree in a step.

    Args:
        found: the contacts, solved.
        period: of the step [s].
        wrench_out: (6,) moment about the world's origin and force [N m, N].
    """
    for i in range(6):
        wrench_out[i] = 0.0
    for c in range(found.count[0]):
        if found.partner[c, 0] < 0 or found.partner[c, 1] >= 0:
            continue
        nx, ny, nz = found.normal[c]
        ax, ay, az, bx, by, bz = tangents(nx, ny, nz)
        n, a, b = found.impulse[c]
        u = (n * nx + a * ax + b * bx) / period
        v = (n * ny + a * ay + b * by) / period
        w = (n * nz + a * az + b * bz) / period
        x, y, z = found.place[c]
        wrench_out[0] += y * w - z * v
        wrench_out[1] += z * u - x * w
        wrench_out[2] += x * v - y * u
        wrench_out[3] += u
        wrench_out[4] += v
        wrench_out[5] += w
