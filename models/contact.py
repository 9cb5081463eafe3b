"""Contact of the points of a tree with obstacles and the seabed.

Every point of the tree with a radius is a ball of it that moves with its section. An
obstacle is a half-space, sphere, cylinder or box at rest in the world
(models/obstacle), the seabed a height field (models/surface); each has its own law
(models/contact_law). The force acts where the ball's surface is deepest, so that a ball
rolls; the matter of a rod's section takes the moment.

There are two ways to use a contact.

- `find_contacts`, `tree_halves` and models/contact_solve, as models/contact_step does:
  impulses at the step's end, solved exactly. They never pull, stay inside the cone and
  add no energy, at any stiffness. For a simulated robot.
- `find_contacts` and `add_contact_forces`: forces at the present state, linearised once
  for the step's end (normal force by its tangent at the predicted depth, friction at
  constant slip speed). At period 0 the force in the equations of motion, for runs with
  error control.
  The slopes are never negative, so steps are stable; but within a step the force can
  pull or leave the cone, by its slope times the change of speed.

Between two points of a limb nothing touches: points closer than their radius leave no
gap. Leaves out moving obstacles (see models/free_body) and torsional friction.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from models.contact_law import (
    DEFAULT_LAW,
    ContactLaw,
    contact_force,
    elastic_force,
    pack_law,
    tangents,
)
from models.contact_solve import ContactData, open_contact
from models.numerics import FloatArray, called_kernel, inner_kernel, kernel
from models.obstacle import ObstacleModel, build_obstacle_model, obstacle_distance
from models.surface import (
    HeightFieldModel,
    height_and_slope,
    height_field_distance,
    no_height_field,
)
from models.tree import TreeData, TreeModel, TreeWork
from models.tree_solve import add_row, point_velocity

__all__ = [
    "MARGIN_SPEED",
    "ContactModel",
    "add_contact_forces",
    "build_contact_model",
    "find_contacts",
    "into_world",
    "surface_count",
    "surface_distance",
    "tree_halves",
    "tree_rows",
]

MARGIN_SPEED = 0.2
"""Speed that a point may gain in a step and still be found in time [m/s]."""


class ContactModel(NamedTuple):
    """What a robot can touch: K obstacles, and a seabed or none."""

    obstacle: ObstacleModel
    """K obstacles, poses in the world."""
    field: HeightFieldModel
    """Seabed in the world; empty where there is none."""
    law: FloatArray
    """(K+1, 5) law of each obstacle, then of the seabed: `contact_law.pack_law`."""


def build_contact_model(
    obstacles: Sequence[tuple[str, ArrayLike, ArrayLike]] = (),
    laws: ContactLaw | Sequence[ContactLaw] = DEFAULT_LAW,
    *,
    seabed: HeightFieldModel | None = None,
    seabed_law: ContactLaw = DEFAULT_LAW,
) -> ContactModel:
    """Check obstacles and laws and lay them out for kernels.

    Args:
        obstacles: (kind, pose in the world, sizes) each, as in `build_obstacle_model`.
        laws: one for all obstacles, or one for each.
        seabed: from `build_height_field`.
        seabed_law: its law.

    Returns:
        The model.

    Raises:
        ValueError: an obstacle that `build_obstacle_model` refuses, a pose that is not
            rigid, a law out of range, or a number of laws that is not that of the
            obstacles.
    """
    listed = [laws] * len(obstacles) if isinstance(laws, ContactLaw) else list(laws)
    if len(listed) != len(obstacles):
        message = f"{len(listed)} laws for {len(obstacles)} obstacles; give one or each"
        raise ValueError(message)
    model = build_obstacle_model(obstacles)
    for k, pose in enumerate(model.pose):
        square = pose[:3, :3] @ pose[:3, :3].T
        if not (
            np.allclose(square, np.eye(3), rtol=0.0, atol=1e-9)
            and np.linalg.det(pose[:3, :3]) > 0.0
            and np.all(np.isfinite(pose))
        ):
            message = f"obstacle {k} has no rigid pose: check its rotation"
            raise ValueError(message)
    return ContactModel(
        model,
        no_height_field() if seabed is None else seabed,
        np.array([pack_law(law) for law in [*listed, seabed_law]]),
    )


@inner_kernel
def surface_count(model: ContactModel) -> int:
    """Number of surfaces: obstacles, and the seabed where there is one."""
    return model.obstacle.kind.size + (1 if model.field.height.size > 0 else 0)


@kernel
def surface_distance(
    model: ContactModel, surface: int, x: float, y: float, z: float, reach: float
) -> tuple[float, float, float, float]:
    """Signed distance of a point to a surface, and the direction away from it.

    Args:
        model: what can be touched.
        surface: index of the obstacle; their number for the seabed.
        x: of the point in the world, finite [m].
        y: [m].
        z: [m].
        reach: distances above this need not be exact, only above it too [m].

    Returns:
        Distance [m], negative inside, and a unit vector.
    """
    if surface < model.obstacle.kind.size:
        return obstacle_distance(model.obstacle, surface, x, y, z)
    above = z - model.field.bound[0]
    if above > reach:
        return above, 0.0, 0.0, 1.0
    height, _, _ = height_and_slope(model.field, x, y)
    above = (z - height) * model.field.bound[2]
    if above > reach:
        return above, 0.0, 0.0, 1.0
    return height_field_distance(model.field, x, y, z)


@inner_kernel
def _into_root(
    pose: FloatArray, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """A vector in the world, in the axes of a frame with this pose."""
    return (
        pose[0, 0] * x + pose[1, 0] * y + pose[2, 0] * z,
        pose[0, 1] * x + pose[1, 1] * y + pose[2, 1] * z,
        pose[0, 2] * x + pose[1, 2] * y + pose[2, 2] * z,
    )


@inner_kernel
def into_world(
    pose: FloatArray, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """A vector in the axes of a frame with this pose, in the world."""
    return (
        pose[0, 0] * x + pose[0, 1] * y + pose[0, 2] * z,
        pose[1, 0] * x + pose[1, 1] * y + pose[1, 2] * z,
        pose[2, 0] * x + pose[2, 1] * y + pose[2, 2] * z,
    )


@called_kernel
def tree_rows(
    model: TreeModel,
    element: int,
    point: int,
    place: FloatArray,
    normal: FloatArray,
    scale: float,
    data: TreeData,
    work: TreeWork,
    row_out: FloatArray,
) -> None:
    """Add the rows of a place's velocity along a normal and its two tangents.

    Args:
        model: the tree.
        element: the element.
        point: one of its points, with whose section the place moves.
        place: (3,) in the world [m].
        normal: (3,) unit vector in the world.
        scale: factor.
        data: pose of the root.
        work: after `tree_motion`.
        row_out: (3, at least N) is added to [m per unit of each coordinate].
    """
    pose = data.root_pose
    t = tangents(normal[0], normal[1], normal[2])
    x, y, z = _into_root(
        pose, place[0] - pose[0, 3], place[1] - pose[1, 3], place[2] - pose[2, 3]
    )
    nx, ny, nz = _into_root(
        pose, scale * normal[0], scale * normal[1], scale * normal[2]
    )
    ax, ay, az = _into_root(pose, scale * t[0], scale * t[1], scale * t[2])
    bx, by, bz = _into_root(pose, scale * t[3], scale * t[4], scale * t[5])
    first = model.element_dof_start[element]
    d = model.element_last_dof[element]
    while d >= 0:
        own = model.dof_element[d] == element
        column = work.point_column[point, d - first] if own else work.column[d]
        u = column[3] + column[1] * z - column[2] * y
        v = column[4] + column[2] * x - column[0] * z
        w = column[5] + column[0] * y - column[1] * x
        if d >= 6 or model.root_size[0] == 0 or model.root_free[d] == 1:
            row_out[0, d] += nx * u + ny * v + nz * w
            row_out[1, d] += ax * u + ay * v + az * w
            row_out[2, d] += bx * u + by * v + bz * w
        d = model.dof_parent[d]


@called_kernel
def find_contacts(
    model: TreeModel,
    contacts: ContactModel,
    period: float,
    data: TreeData,
    work: TreeWork,
    found: ContactData,
) -> None:
    """Enter all contacts of a tree's points that may touch within a step.

    Slot of point p and surface k: p (K+1) + k.

    Args:
        model: the tree.
        contacts: what it can touch.
        period: time step [s].
        data: state.
        work: after `tree_motion`.
        found: gets the contacts and their rows.
    """
    pose = data.root_pose
    surfaces = surface_count(contacts)
    slots = contacts.law.shape[0]
    for e in range(model.element_parent.size):
        for p in range(model.element_step_start[e], model.element_step_start[e + 1]):
            radius = model.point_radius[p]
            if not radius > 0.0:
                continue
            at = work.point_position[p]
            u, v, w = point_velocity(work, p, at[0], at[1], at[2])
            margin = period * (MARGIN_SPEED + 2.0 * math.sqrt(u * u + v * v + w * w))
            x, y, z = into_world(pose, at[0], at[1], at[2])
            x += pose[0, 3]
            y += pose[1, 3]
            z += pose[2, 3]
            if not abs(x) + abs(y) + abs(z) + margin < np.inf:
                continue
            for k in range(surfaces):
                distance, nx, ny, nz = surface_distance(
                    contacts, k, x, y, z, radius + margin
                )
                if not distance < radius + margin:
                    continue
                c = open_contact(
                    contacts.law[k],
                    p * slots + k,
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
                place = found.place[c]
                normal = found.normal[c]
                row = found.row[c]
                tree_rows(model, e, p, place, normal, 1.0, data, work, row)


@called_kernel
def add_contact_forces(
    model: TreeModel, period: float, data: TreeData, work: TreeWork, found: ContactData
) -> None:
    """Add the forces of all contacts found, linearised for the end of a step.

    The force at the predicted depth and present speed goes to the load, its slope to
    the matrix; not so the slope between two limbs, whose coordinates have no entry in
    common there.

    Args:
        model: the tree.
        period: time step [s]; 0 for the plain forces.
        data: state.
        work: after `tree_motion`; load and matrix are added to.
        found: the contacts; gets their forces in `impulse` [N].
    """
    for c in range(found.count[0]):
        row = found.row[c]
        law = found.law[c]
        for k in range(3):
            found.impulse[c, k] = 0.0
        speed = 0.0
        slip_x = 0.0
        slip_y = 0.0
        for d in range(model.dof_parent.size):
            speed += row[0, d] * data.velocity[d]
            slip_x += row[1, d] * data.velocity[d]
            slip_y += row[2, d] * data.velocity[d]
        ahead = found.depth[c] - period * speed
        normal, drag_x, drag_y = contact_force(law, ahead, speed, slip_x, slip_y)
        if not normal > 0.0:
            continue
        found.impulse[c, 0] = normal
        found.impulse[c, 1] = drag_x
        found.impulse[c, 2] = drag_y
        force, slope = elastic_force(law[0], law[1], ahead)
        slope = period * slope * (1.0 - law[2] * speed) + law[2] * force
        slip = math.sqrt(slip_x * slip_x + slip_y * slip_y + law[4] * law[4])
        drag = law[3] * normal / slip
        if found.partner[c, 1] < 0:
            element = found.partner[c, 0]
            add_row(model, element, row[0], normal, period * slope, work)
            add_row(model, element, row[1], drag_x, period * drag, work)
            add_row(model, element, row[2], drag_y, period * drag, work)
        else:
            for d in range(model.dof_parent.size):
                work.load[d] += (
                    row[0, d] * normal + row[1, d] * drag_x + row[2, d] * drag_y
                )


@inner_kernel
def tree_halves(model: TreeModel, work: TreeWork, found: ContactData) -> None:
    """Find the half responses L⁻ᵀ Jᵀ of a tree's velocities to each contact.

    Args:
        model: the tree.
        work: holds the factor of the step's matrix.
        found: the contacts, with rows; gets the halves.
    """
    parent = model.dof_parent
    factor = work.factor
    for c in range(found.count[0]):
        half = found.half[c]
        for d in range(parent.size):
            for i in range(3):
                half[i, d] = found.row[c, i, d]
        for d in range(parent.size - 1, -1, -1):
            if half[0, d] == 0.0 and half[1, d] == 0.0 and half[2, d] == 0.0:
                continue
            scale = 1.0 / factor[d, d]
            x = half[0, d] * scale
            y = half[1, d] * scale
            z = half[2, d] * scale
            half[0, d], half[1, d], half[2, d] = x, y, z
            j = parent[d]
            while j >= 0:
                entry = factor[d, j]
                half[0, j] -= entry * x
                half[1, j] -= entry * y
                half[2, j] -= entry * z
                j = parent[j]
