"""One step of a tree, accelerations, energies and momentum.

Linearly implicit Euler: with elasticity K, viscosity D and drag taken at the end of
the step,

    (M + h (D + G) + h² K) Δv = h (Q - K (q + h v) - D v),   v += Δv,   q += h v

G the drag's linearisation at constant |v|. Elasticity, viscosity and drag take energy
out at any period. A mode of frequency ω is damped numerically by ω h / 2 of critical.
Coriolis forces are explicit, or those of mid-step where they matter
(models/tree_turning); weight, buoyancy and applied forces are explicit in the position,
which is stable where h² times their stiffness is below 4 M.

A state that is not finite, or faster than `dof_speed_limit`, is found in the step that
makes it (models/tree_guard).
"""

import numpy as np

from models.arc import arc_coefficients
from models.numerics import FloatArray, inner_kernel, kernel
from models.strain_step import step_pose
from models.tree import TreeData, TreeModel, TreeWork
from models.tree_guard import (
    TREE_DIVERGED,
    TREE_NOT_FINITE,
    TREE_OK,
    TREE_REFUSED,
    TREE_SINGULAR,
    fastest,
    freeze,
    is_refused,
    largest_input,
)
from models.tree_motion import tree_motion
from models.tree_solve import solve_tree, tree_factor
from models.tree_turning import correct_turning, hold_root

__all__ = [
    "TREE_DIVERGED",
    "TREE_NOT_FINITE",
    "TREE_OK",
    "TREE_REFUSED",
    "TREE_SINGULAR",
    "add_elastic",
    "finish_step",
    "hold_root",
    "tree_acceleration",
    "tree_energy",
    "tree_momentum",
    "tree_step",
]


@kernel
def add_elastic(
    model: TreeModel, period: float, data: TreeData, work: TreeWork
) -> None:
    """Add elasticity and viscosity to the load, and their implicit share to the matrix.

    Args:
        model: the tree.
        period: time step [s]; 0 for the plain forces.
        data: position and velocity.
        work: load and matrix are added to.
    """
    for e in range(model.element_parent.size):
        if data.resting[e] == 1:
            continue
        first = model.element_dof_start[e]
        count = model.element_dof_start[e + 1] - first
        for i in range(count):
            total = 0.0 * work.load[first + i]
            for j in range(count):
                stiffness = model.element_stiffness[e, i, j]
                damping = model.element_damping[e, i, j]
                d = first + j
                stretch = data.position[d] - model.dof_rest[d]
                total += (
                    stiffness * (stretch + period * data.velocity[d])
                    + damping * data.velocity[d]
                )
                if j <= i:
                    work.matrix[first + i, d] += period * (damping + period * stiffness)
            work.load[first + i] -= total


@inner_kernel
def _turn_root(period: float, velocity: FloatArray, pose_out: FloatArray) -> None:
    """Move the root's pose by its twist over a period."""
    x, y, z = period * velocity[0], period * velocity[1], period * velocity[2]
    p, q, r = period * velocity[3], period * velocity[4], period * velocity[5]
    a, b, c, _, _, _, _, _, _ = arc_coefficients(x * x + y * y + z * z)
    e00, e01, e02, e10, e11, e12, e20, e21, e22, dx, dy, dz = step_pose(
        a, b, c, x, y, z, p, q, r
    )
    for i in range(3):
        k, m, n = pose_out[i, 0], pose_out[i, 1], pose_out[i, 2]
        pose_out[i, 0] = k * e00 + m * e10 + n * e20
        pose_out[i, 1] = k * e01 + m * e11 + n * e21
        pose_out[i, 2] = k * e02 + m * e12 + n * e22
        pose_out[i, 3] += k * dx + m * dy + n * dz
    # back onto the rotations: one step of (3 R - R Rᵀ R)/2
    g00 = g01 = g02 = g11 = g12 = g22 = 0.0
    for i in range(3):
        k, m, n = pose_out[i, 0], pose_out[i, 1], pose_out[i, 2]
        g00 += k * k
        g01 += k * m
        g02 += k * n
        g11 += m * m
        g12 += m * n
        g22 += n * n
    for i in range(3):
        k, m, n = pose_out[i, 0], pose_out[i, 1], pose_out[i, 2]
        pose_out[i, 0] = 1.5 * k - 0.5 * (k * g00 + m * g01 + n * g02)
        pose_out[i, 1] = 1.5 * m - 0.5 * (k * g01 + m * g11 + n * g12)
        pose_out[i, 2] = 1.5 * n - 0.5 * (k * g02 + m * g12 + n * g22)


@kernel
def finish_step(model: TreeModel, period: float, data: TreeData, work: TreeWork) -> int:
    """Solve what `tree_motion` and the forces left in work, and advance the state.

    Args:
        model: the tree.
        period: time step [s], that of the forces.
        data: advanced; unchanged but for status and speed where the step fails.
        work: matrix and load; gets the velocity change in `change`.

    Returns:
        A `TREE_…` code.
    """
    if data.status[0] != TREE_OK:
        return int(data.status[0])
    if is_refused(period, data):
        return freeze(TREE_REFUSED, -1, data)
    size = model.dof_parent.size
    if work.corrects[0] == 1:
        correct_turning(model, period, data, work)
    hold_root(model, work)
    for d in range(size):
        work.change[d] = period * work.load[d]
        if not abs(work.load[d]) < np.inf:
            return freeze(TREE_NOT_FINITE, largest_input(model, data), data)
    failed = tree_factor(model, work)
    if failed >= 0:
        if abs(work.matrix[failed, failed]) < np.inf:
            return freeze(TREE_SINGULAR, int(model.dof_element[failed]), data)
        return freeze(TREE_NOT_FINITE, largest_input(model, data), data)
    solve_tree(model, work, work.change)
    fast = fastest(model, data, work)
    if fast >= 0:
        return freeze(TREE_DIVERGED, int(model.dof_element[fast]), data)
    for d in range(size):
        data.velocity[d] += work.change[d]
    root = model.root_size[0]
    for d in range(root, size):
        data.position[d] += period * data.velocity[d]
    if root == 6:
        _turn_root(period, data.velocity, data.root_pose)
    return TREE_OK


@kernel
def tree_step(model: TreeModel, period: float, data: TreeData, work: TreeWork) -> int:
    """Advance a tree under its own forces by one period.

    Args:
        model: the tree.
        period: time step [s].
        data: state, advanced in place.
        work: workspace.

    Returns:
        A `TREE_…` code; a tree that is frozen stays so until its status is cleared.
    """
    if data.status[0] != TREE_OK:
        return int(data.status[0])
    tree_motion(model, period, data, work)
    add_elastic(model, period, data, work)
    return int(finish_step(model, period, data, work))


@kernel
def tree_acceleration(
    model: TreeModel, data: TreeData, work: TreeWork, acceleration_out: FloatArray
) -> int:
    """Accelerations of a tree under its own forces.

    Args:
        model: the tree.
        data: state.
        work: workspace.
        acceleration_out: (N,) time derivative of `velocity`.

    Returns:
        -1, or the degree of freedom at which the mass matrix is not positive definite.
    """
    tree_motion(model, 0.0, data, work)
    add_elastic(model, 0.0, data, work)
    hold_root(model, work)
    failed = tree_factor(model, work)
    for d in range(acceleration_out.size):
        acceleration_out[d] = work.load[d]
    if failed < 0:
        solve_tree(model, work, acceleration_out)
    return int(failed)


@kernel
def tree_energy(
    model: TreeModel, data: TreeData, work: TreeWork, energy_out: FloatArray
) -> None:
    """Energy of a tree.

    Args:
        model: the tree.
        data: state.
        work: workspace; `tree_motion` is run at period 0.
        energy_out: (3,) kinetic with added mass, elastic, and potential of weight less
            buoyancy, zero at the world's origin [J].
    """
    tree_motion(model, 0.0, data, work)
    size = model.dof_parent.size
    kinetic = 0.0
    for d in range(size):
        v = data.velocity[d]
        kinetic += 0.5 * work.matrix[d, d] * v * v
        j = model.dof_parent[d]
        while j >= 0:
            kinetic += work.matrix[d, j] * v * data.velocity[j]
            j = model.dof_parent[j]
    elastic = 0.0
    potential = 0.0
    pose = data.root_pose
    for e in range(model.element_parent.size):
        first = model.element_dof_start[e]
        count = model.element_dof_start[e + 1] - first
        for i in range(count):
            stretch = data.position[first + i] - model.dof_rest[first + i]
            for j in range(count):
                other = data.position[first + j] - model.dof_rest[first + j]
                elastic += 0.5 * stretch * other * model.element_stiffness[e, i, j]
    for s in range(model.step_length.size):
        net = model.point_mass[s] - model.point_displaced[s]
        for i in range(3):
            place = pose[i, 3]
            for k in range(3):
                place += pose[i, k] * work.point_position[s, k]
            potential -= net * model.gravity[i] * place
    energy_out[0] = kinetic
    energy_out[1] = elastic
    energy_out[2] = potential


@kernel
def tree_momentum(
    model: TreeModel, data: TreeData, work: TreeWork, momentum_out: FloatArray
) -> None:
    """Momentum of a tree, added mass included, about the world's origin.

    Args:
        model: the tree.
        data: state.
        work: after `tree_motion` at this state.
        momentum_out: (6,) angular [N m s], then linear [N s], world axes.
    """
    total_x = total_y = total_z = total_p = total_q = total_r = 0.0
    for s in range(model.step_length.size):
        if model.point_kind[s] == 0:
            continue
        twist = work.point_twist[s]
        place = work.point_position[s]
        x, y, z = place[0], place[1], place[2]
        u = twist[3] + twist[1] * z - twist[2] * y
        v = twist[4] + twist[2] * x - twist[0] * z
        w = twist[5] + twist[0] * y - twist[1] * x
        linear_x = linear_y = linear_z = turn_x = turn_y = turn_z = 0.0
        rotation = work.point_rotation[s]
        for i in range(3):
            a, b, c = rotation[0, i], rotation[1, i], rotation[2, i]
            along = (model.point_mass[s] + model.point_added[s, i]) * (
                a * u + b * v + c * w
            )
            about = model.point_inertia[s, i] * (
                a * twist[0] + b * twist[1] + c * twist[2]
            )
            linear_x += a * along
            linear_y += b * along
            linear_z += c * along
            turn_x += a * about
            turn_y += b * about
            turn_z += c * about
        total_p += linear_x
        total_q += linear_y
        total_r += linear_z
        total_x += turn_x + y * linear_z - z * linear_y
        total_y += turn_y + z * linear_x - x * linear_z
        total_z += turn_z + x * linear_y - y * linear_x
    pose = data.root_pose
    for i in range(3):
        a, b, c = pose[i, 0], pose[i, 1], pose[i, 2]
        momentum_out[i] = a * total_x + b * total_y + c * total_z
        momentum_out[3 + i] = a * total_p + b * total_q + c * total_r
    x, y, z = pose[0, 3], pose[1, 3], pose[2, 3]
    p, q, r = momentum_out[3], momentum_out[4], momentum_out[5]
    momentum_out[0] += y * r - z * q
    momentum_out[1] += z * p - x * r
    momentum_out[2] += x * q - y * p
