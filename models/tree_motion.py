"""Equations of motion of a tree of rods, rigid bodies and joints.

    M(q) a + c(q, v) = Q_weight + Q_drag + Q_wrench + Q_applied,   a = dv/dt

by a recursion from the root outwards (poses, twists, accelerations at a = 0) and back
(wrenches, inertias of what hangs below). Everything is in the root frame about the
root's origin, so that the columns of a coordinate, once its element ends, are the same
for all that hangs there: an element costs its own coordinates, not those of its
ancestors. With the root's twist among the velocities a floating tree costs little more
than a fixed one.

At a point with the body-frame velocity v relative to the water, added mass B acts as
the kinetic energy v·B v/2 (Renda 2018 eq. 13 with the transport term) and, with
`munk_moment`, the moment -v x B v that goes with it. Weight less buoyancy acts at the
point. Drag is that of eq. 11; bodies have linear drag and drag against turning too.

A root that is held or moved from outside has the acceleration `root_acceleration`: the
load of everything else contains it, and so do the root's own rows, whose load less
M_rq d²q/dt² is what holds the root.

The matrix gets period times the drag's linearisation at constant |v|.
Leaves out: change of a section's radius by stretch, acceleration of the water itself.
"""

from models.numerics import called_kernel, inner_kernel
from models.strain_step import cross
from models.tree import TreeData, TreeModel, TreeWork
from models.tree_advance import advance
from models.tree_inertia import apply_inertia
from models.tree_point import point_forces

__all__ = ["tree_motion"]

_TURNING_GROWTH = 0.02
"""1/s: explicit Coriolis forces may add this share of a motion's energy a second."""
_TURNING_FLOOR = 1e-15
"""W: what they may add to a tree at rest, where the share is one of rounding."""


@inner_kernel
def _clear_coordinate(
    model: TreeModel, dof: int, data: TreeData, work: TreeWork
) -> None:
    """Clear the sums of one coordinate."""
    work.load[dof] = data.applied[dof]
    work.matrix[dof, dof] = 0.0
    j = model.dof_parent[dof]
    while j >= 0:
        work.matrix[dof, j] = 0.0
        j = model.dof_parent[j]
    for k in range(6):
        work.dof_momentum[dof, k] = 0.0


@inner_kernel
def _set_out(model: TreeModel, data: TreeData, work: TreeWork) -> None:
    """Clear the sums; turn gravity and current into the root frame."""
    pose = data.root_pose
    elements = model.element_parent.size
    for i in range(model.root_size[0]):
        _clear_coordinate(model, i, data, work)
        for k in range(6):
            work.column[i, k] = 1.0 if i == k else 0.0
    for e in range(elements + 1):
        if e < elements:
            if data.resting[e] == 1:
                continue
            for i in range(model.element_dof_start[e], model.element_dof_start[e + 1]):
                _clear_coordinate(model, i, data, work)
        for k in range(21):
            work.inertia_below[e, k] = 0.0
        for k in range(6):
            work.wrench_below[e, k] = 0.0
    for k in range(3):
        work.turning[k] = 0.0
    height = pose[2, 3]
    for i in range(3):
        weight = 0.0
        flow = 0.0
        shear = 0.0
        for k in range(3):
            weight += pose[k, i] * model.gravity[k]
            flow += pose[k, i] * (model.current[k] + height * model.current_shear[k])
            shear += pose[k, i] * model.current_shear[k]
        work.water[i] = weight
        work.water[3 + i] = flow
        work.water[6 + i] = shear
        work.water[9 + i] = pose[2, i]


@inner_kernel
def _root_twist(
    model: TreeModel, data: TreeData
) -> tuple[float, float, float, float, float, float]:
    """The root's twist."""
    if model.root_size[0] == 0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    v = data.velocity
    return v[0], v[1], v[2], v[3], v[4], v[5]


@inner_kernel
def _start_pose(model: TreeModel, element: int, point: int, work: TreeWork) -> None:
    """Pose of an element's start, into its first point's place."""
    own = model.element_pose[element]
    rotation = work.point_rotation[point]
    position = work.point_position[point]
    parent = model.element_parent[element]
    if parent < 0:
        for i in range(3):
            for j in range(3):
                rotation[i, j] = own[i, j]
            position[i] = own[i, 3]
        return
    last = model.element_step_start[parent + 1] - 1
    base = work.point_rotation[last]
    for i in range(3):
        for j in range(3):
            rotation[i, j] = (
                base[i, 0] * own[0, j] + base[i, 1] * own[1, j] + base[i, 2] * own[2, j]
            )
        position[i] = work.point_position[last, i] + (
            base[i, 0] * own[0, 3] + base[i, 1] * own[1, 3] + base[i, 2] * own[2, 3]
        )


@inner_kernel
def _gather(model: TreeModel, element: int, data: TreeData, work: TreeWork) -> None:
    """Way back at one element: what hangs on its end, and the ancestors' share."""
    first = model.element_dof_start[element]
    last = model.element_dof_start[element + 1]
    point = model.element_step_start[element + 1] - 1
    position = work.point_position[point]
    outer = data.wrench[element]
    below = work.wrench_below[element]
    sx, sy, sz = cross(
        position[0], position[1], position[2], outer[3], outer[4], outer[5]
    )
    below[0] += outer[0] + sx
    below[1] += outer[1] + sy
    below[2] += outer[2] + sz
    below[3] += outer[3]
    below[4] += outer[4]
    below[5] += outer[5]
    above = model.element_above_dof[element]
    child = model.element_has_child[element] == 1
    for d in range(first, last):
        column = work.column[d]
        for k in range(6):
            work.load[d] += column[k] * below[k]
        momentum = work.dof_momentum[d]
        if child:
            x, y, z, p, q, r = apply_inertia(
                work.inertia_below[element],
                column[0],
                column[1],
                column[2],
                column[3],
                column[4],
                column[5],
            )
            for i in range(first, d + 1):
                other = work.column[i]
                work.matrix[d, i] += (
                    other[0] * x
                    + other[1] * y
                    + other[2] * z
                    + other[3] * p
                    + other[4] * q
                    + other[5] * r
                )
            momentum[0] += x
            momentum[1] += y
            momentum[2] += z
            momentum[3] += p
            momentum[4] += q
            momentum[5] += r
        i = above
        while i >= 6 or (i >= 0 and model.root_size[0] == 0):
            other = work.column[i]
            work.matrix[d, i] += (
                other[0] * momentum[0]
                + other[1] * momentum[1]
                + other[2] * momentum[2]
                + other[3] * momentum[3]
                + other[4] * momentum[4]
                + other[5] * momentum[5]
            )
            i = model.dof_parent[i]
        if model.root_size[0] == 6:
            for k in range(6):
                work.matrix[d, k] += momentum[k]
    if above >= 0:
        parent = model.element_parent[element]
        into = parent if parent >= 0 else model.element_parent.size
        for k in range(6):
            work.wrench_below[into, k] += below[k]
        if child:
            for k in range(21):
                work.inertia_below[into, k] += work.inertia_below[element, k]


@inner_kernel
def _keep_motion(model: TreeModel, period: float, work: TreeWork) -> None:
    """Keep matrix and load apart for `correct_turning`, where it has to act."""
    rate = work.turning
    fast = (
        period * rate[0].real > _TURNING_GROWTH * rate[1].real + _TURNING_FLOOR
        or period * rate[2].real > _TURNING_GROWTH
    )
    work.corrects[0] = 1 if fast else 0
    if not fast:
        return
    for d in range(model.dof_parent.size):
        work.motion_load[d] = work.load[d]
        j = d
        while j >= 0:
            work.motion_matrix[d, j] = work.matrix[d, j]
            j = model.dof_parent[j]


@called_kernel
def tree_motion(
    model: TreeModel, period: float, data: TreeData, work: TreeWork
) -> None:
    """Mass matrix, and all forces but elastic ones, at the present state.

    Args:
        model: the tree.
        period: time step of the implicit drag [s]; 0 gives the mass matrix alone.
        data: position, velocity, root, applied forces and wrenches are read.
        work: gets poses, twists, columns, `matrix` and `load`.
    """
    elements = model.element_parent.size
    _set_out(model, data, work)
    for e in range(elements):
        if data.resting[e] == 1:
            continue
        start = model.element_step_start[e]
        stop = model.element_step_start[e + 1]
        count = model.element_dof_start[e + 1] - model.element_dof_start[e]
        parent = model.element_parent[e]
        for s in range(start, stop):
            twist = work.point_twist[s]
            bias = work.point_bias[s]
            if s == start:
                _start_pose(model, e, s, work)
                if parent < 0:
                    root = _root_twist(model, data)
                    for k in range(6):
                        twist[k] = root[k]
                        bias[k] = data.root_acceleration[k]
                else:
                    before = model.element_step_start[parent + 1] - 1
                    for k in range(6):
                        twist[k] = work.point_twist[before, k]
                        bias[k] = work.point_bias[before, k]
                for j in range(count):
                    for k in range(6):
                        work.point_column[s, j, k] = 0.0
            else:
                for i in range(3):
                    for k in range(3):
                        work.point_rotation[s, i, k] = work.point_rotation[s - 1, i, k]
                    work.point_position[s, i] = work.point_position[s - 1, i]
                for k in range(6):
                    twist[k] = work.point_twist[s - 1, k]
                    bias[k] = work.point_bias[s - 1, k]
                for j in range(count):
                    for k in range(6):
                        work.point_column[s, j, k] = work.point_column[s - 1, j, k]
            if model.step_length[s] > 0.0:
                advance(model, e, s, data, work)
            if model.point_kind[s] > 0:
                point_forces(model, e, s, period, data, work)
        first = model.element_dof_start[e]
        for j in range(count):
            for k in range(6):
                work.column[first + j, k] = work.point_column[stop - 1, j, k]
    for e in range(elements - 1, -1, -1):
        if data.resting[e] == 0:
            _gather(model, e, data, work)
    if model.root_size[0] == 6:
        inertia = work.inertia_below[elements]
        for d in range(6):
            work.load[d] += work.wrench_below[elements, d]
            x, y, z, p, q, r = apply_inertia(
                inertia,
                work.column[d, 0],
                work.column[d, 1],
                work.column[d, 2],
                work.column[d, 3],
                work.column[d, 4],
                work.column[d, 5],
            )
            momentum = (x, y, z, p, q, r)
            for i in range(d + 1):
                work.matrix[d, i] += momentum[i]
    if period > 0.0 and work.corrects[0] != 2:
        _keep_motion(model, period, work)
