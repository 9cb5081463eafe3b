"""Contact of free objects with surfaces, with a tree's points and with each other.

An object touches surfaces with its own points: a sphere with its ball, a box with its
corners, a cylinder with six points of its rims. Those of a rim are the one that lies
deepest along the surface's normal and the two at a third of a turn from it, so that a
cylinder rolls smoothly, and stands on either face. A tree's points, as balls, touch the
object's exact shape, and so do the points of another object. The law is the object's:
of the touched one where two objects meet.

Leaves out edges and faces against edges: an obstacle or a seabed that pokes into a face
between its corners is not felt.
"""

import math

from models.contact import (
    MARGIN_SPEED,
    ContactModel,
    into_world,
    surface_count,
    surface_distance,
    tree_rows,
)
from models.contact_law import tangents
from models.contact_solve import ContactData, open_contact
from models.free_body import FreeBodyData, FreeBodyModel
from models.free_body_motion import BODY_OK, into_body
from models.numerics import FloatArray, inner_kernel, kernel
from models.obstacle import BOX, SPHERE, ObstacleModel, obstacle_distance
from models.tree import TreeData, TreeModel, TreeWork
from models.tree_solve import point_velocity

__all__ = [
    "BODY_POINTS",
    "body_halves",
    "find_body_contacts",
    "find_body_tree_contacts",
    "push_by_contacts",
]

BODY_POINTS = 8
"""Most points of an object."""
_THIRD = math.sqrt(0.75)


@inner_kernel
def _body_rows(
    model: FreeBodyModel,
    body: int,
    offset: int,
    contact: int,
    scale: float,
    data: FreeBodyData,
    found: ContactData,
) -> None:
    """Rows of a contact's place on an object; none for a frozen one."""
    if data.status[body] != BODY_OK:
        return
    pose = data.pose[body]
    place = found.place[contact]
    n = found.normal[contact]
    t = tangents(n[0], n[1], n[2])
    x, y, z = into_body(
        pose, place[0] - pose[0, 3], place[1] - pose[1, 3], place[2] - pose[2, 3]
    )
    first = offset + 6 * body
    for i in range(3):
        row = found.row[contact, i]
        if i == 0:
            u, v, w = into_body(pose, n[0], n[1], n[2])
        elif i == 1:
            u, v, w = into_body(pose, t[0], t[1], t[2])
        else:
            u, v, w = into_body(pose, t[3], t[4], t[5])
        row[first] += scale * (y * w - z * v)
        row[first + 1] += scale * (z * u - x * w)
        row[first + 2] += scale * (x * v - y * u)
        row[first + 3] += scale * u
        row[first + 4] += scale * v
        row[first + 5] += scale * w


@inner_kernel
def body_halves(model: FreeBodyModel, offset: int, found: ContactData) -> None:
    """Find the half responses of the objects' twists to each contact.

    Args:
        model: the objects.
        offset: place of the first object's twist among the velocities.
        found: the contacts, with rows; gets the halves.
    """
    for b in range(model.kind.size):
        for j in range(6):
            scale = 1.0 / math.sqrt(model.inertia[b, j])
            d = offset + 6 * b + j
            for c in range(found.count[0]):
                for i in range(3):
                    found.half[c, i, d] = scale * found.row[c, i, d]


@inner_kernel
def push_by_contacts(
    model: FreeBodyModel, offset: int, found: ContactData, velocity_out: FloatArray
) -> None:
    """Add to the objects' twists what the contacts give them.

    Args:
        model: the objects.
        offset: place of the first object's twist among the velocities.
        found: the contacts, solved.
        velocity_out: (D,) is added to.
    """
    for b in range(model.kind.size):
        for j in range(6):
            d = offset + 6 * b + j
            velocity_out[d] += found.sum[d] / math.sqrt(model.inertia[b, j])


@kernel
def _body_points(
    model: FreeBodyModel,
    body: int,
    nx: float,
    ny: float,
    nz: float,
    data: FreeBodyData,
) -> int:
    """Write the points of an object that may touch below a normal; their number."""
    pose = data.pose[body]
    size = model.size[body]
    if model.kind[body] == SPHERE:
        for i in range(3):
            data.corner[0, i] = pose[i, 3]
        return 1
    if model.kind[body] == BOX:
        for k in range(8):
            x = size[0] if k & 1 else -size[0]
            y = size[1] if k & 2 else -size[1]
            z = size[2] if k & 4 else -size[2]
            for i in range(3):
                data.corner[k, i] = (
                    pose[i, 3] + pose[i, 0] * x + pose[i, 1] * y + pose[i, 2] * z
                )
        return 8
    u, v, _ = into_body(pose, -nx, -ny, -nz)
    across = math.sqrt(u * u + v * v)
    if across > 0.0:
        u /= across
        v /= across
    else:
        u = 1.0
    for k in range(6):
        turn = k % 3
        cosine = 1.0 if turn == 0 else -0.5
        sine = 0.0 if turn == 0 else (_THIRD if turn == 1 else -_THIRD)
        x = size[0] * (cosine * u - sine * v)
        y = size[0] * (sine * u + cosine * v)
        z = size[1] if k < 3 else -size[1]
        for i in range(3):
            data.corner[k, i] = (
                pose[i, 3] + pose[i, 0] * x + pose[i, 1] * y + pose[i, 2] * z
            )
    return 6


@kernel
def _reach(model: FreeBodyModel, body: int) -> float:
    """Radius of the ball about an object."""
    size = model.size[body]
    if model.kind[body] == SPHERE:
        return float(size[0])
    return math.sqrt(size[0] * size[0] + size[1] * size[1] + size[2] * size[2])


@kernel
def _margin(
    model: FreeBodyModel, body: int, period: float, data: FreeBodyData
) -> float:
    """Way that no point of an object leaves in a step [m]."""
    t = data.twist[body]
    turn = math.sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2])
    speed = math.sqrt(t[3] * t[3] + t[4] * t[4] + t[5] * t[5])
    return period * (MARGIN_SPEED + 2.0 * (speed + turn * _reach(model, body)))


@inner_kernel
def find_body_contacts(
    model: FreeBodyModel,
    contacts: ContactModel,
    period: float,
    offset: int,
    first_slot: int,
    data: FreeBodyData,
    found: ContactData,
) -> None:
    """Enter the contacts of objects with surfaces and among themselves.

    Slot of point i of object b on target k: first_slot + (8 b + i)(K + 1 + B) + k, a
    target being a surface or, after K + 1 of them, an object.

    Args:
        model: the objects.
        contacts: surfaces.
        period: time step [s].
        offset: place of the first object's twist among the velocities.
        first_slot: slots before are of others.
        data: state of the objects.
        found: gets the contacts and their rows.
    """
    surfaces = surface_count(contacts)
    slots = contacts.law.shape[0]
    count = model.kind.size
    shapes = ObstacleModel(model.kind, data.pose, model.size)
    for b in range(count):
        if data.status[b] != BODY_OK:
            continue
        reach = _reach(model, b)
        margin = _margin(model, b, period, data)
        radius = reach if model.kind[b] == SPHERE else 0.0
        x = data.pose[b, 0, 3]
        y = data.pose[b, 1, 3]
        z = data.pose[b, 2, 3]
        for k in range(slots + count):
            other = k - slots
            if other == b or (surfaces <= k < slots):
                continue
            if other >= 0:
                gap = margin + _margin(model, other, period, data)
                distance, nx, ny, nz = obstacle_distance(shapes, other, x, y, z)
            else:
                gap = margin
                distance, nx, ny, nz = surface_distance(
                    contacts, k, x, y, z, reach + gap
                )
            if not distance < reach + gap:
                continue
            points = _body_points(model, b, nx, ny, nz, data)
            for i in range(points):
                u = data.corner[i, 0]
                v = data.corner[i, 1]
                w = data.corner[i, 2]
                if other >= 0:
                    distance, nx, ny, nz = obstacle_distance(shapes, other, u, v, w)
                else:
                    distance, nx, ny, nz = surface_distance(
                        contacts, k, u, v, w, radius + gap
                    )
                if not distance < radius + gap:
                    continue
                c = open_contact(
                    model.law[other if other >= 0 else b],
                    first_slot + (BODY_POINTS * b + i) * (slots + count) + k,
                    radius - distance,
                    u - radius * nx,
                    v - radius * ny,
                    w - radius * nz,
                    nx,
                    ny,
                    nz,
                    found,
                )
                if c >= 0:
                    _body_rows(model, b, offset, c, 1.0, data, found)
                    if other >= 0:
                        _body_rows(model, other, offset, c, -1.0, data, found)


@inner_kernel
def find_body_tree_contacts(
    tree: TreeModel,
    model: FreeBodyModel,
    period: float,
    first_slot: int,
    data: TreeData,
    work: TreeWork,
    bodies: FreeBodyData,
    found: ContactData,
) -> None:
    """Enter the contacts of a tree's points with objects.

    Slot of point p and object b: first_slot + p B + b. The objects' twists follow the
    tree's velocities.

    Args:
        tree: the tree.
        model: the objects.
        period: time step [s].
        first_slot: slots before are of others.
        data: state of the tree.
        work: after `tree_motion`.
        bodies: state of the objects.
        found: gets the contacts and their rows.
    """
    count = model.kind.size
    pose = data.root_pose
    shapes = ObstacleModel(model.kind, bodies.pose, model.size)
    offset = tree.dof_parent.size
    for b in range(count):
        around = _margin(model, b, period, bodies)
        reach = _reach(model, b) + around
        for e in range(tree.element_parent.size):
            for p in range(tree.element_step_start[e], tree.element_step_start[e + 1]):
                radius = tree.point_radius[p]
                if not radius > 0.0:
                    continue
                at = work.point_position[p]
                u, v, w = point_velocity(work, p, at[0], at[1], at[2])
                speed = MARGIN_SPEED + 2.0 * math.sqrt(u * u + v * v + w * w)
                gap = around + period * speed
                x, y, z = into_world(pose, at[0], at[1], at[2])
                x += pose[0, 3]
                y += pose[1, 3]
                z += pose[2, 3]
                dx = x - bodies.pose[b, 0, 3]
                dy = y - bodies.pose[b, 1, 3]
                dz = z - bodies.pose[b, 2, 3]
                far = reach + radius + gap
                if not dx * dx + dy * dy + dz * dz < far * far:
                    continue
                distance, nx, ny, nz = obstacle_distance(shapes, b, x, y, z)
                if not distance < radius + gap:
                    continue
                c = open_contact(
                    model.law[b],
                    first_slot + p * count + b,
                    radius - distance,
                    x - radius * nx,
                    y - radius * ny,
                    z - radius * nz,
                    nx,
                    ny,
                    nz,
                    found,
                )
                if c < 0:
                    continue
                found.partner[c, 0] = e
                normal = found.normal[c]
                row = found.row[c]
                tree_rows(tree, e, p, found.place[c], normal, 1.0, data, work, row)
                _body_rows(model, b, offset, c, -1.0, bodies, found)
