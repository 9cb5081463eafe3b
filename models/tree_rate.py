"""A tree as a system of first order: one state vector and its rate of change.

For integrators with error control, which know no trees (app/study/reference_run). The
state is, one behind another,

- where the root moves: its pose, as a quaternion (w, x, y, z) of any length and the
  position (3,) [m];
- the coordinates of all elements;
- the velocities (N,), the root's body twist first (angular first). Components of it
  that are not free change at `root_acceleration`.

The quaternion Q moves by dQ/dt = Q (0, ω)/2 and is divided by its length where it is
read: poses then stay poses whatever the integrator does to it, and no chart ends.
"""

import numpy as np

from models.numerics import FloatArray, kernel
from models.tree import TreeData, TreeModel, TreeWork
from models.tree_motion import tree_motion
from models.tree_solve import solve_tree, tree_factor
from models.tree_step import add_elastic, hold_root, tree_step

__all__ = [
    "begin_rate",
    "finish_rate",
    "quaternion_of",
    "rate_jacobian",
    "read_state",
    "state_size",
    "tree_rate",
    "tree_state",
    "tree_steps",
]

_DIFFERENCE = 1.5e-8  # of a forward difference, over 1 or the value


def state_size(model: TreeModel) -> int:
    """Length of the state vector of a tree."""
    return 2 * model.dof_parent.size + (1 if model.root_size[0] == 6 else 0)


def tree_state(model: TreeModel, data: TreeData) -> FloatArray:
    """State vector of a tree.

    Args:
        model: the tree.
        data: its root, coordinates and velocities.

    Returns:
        (S,) the state.
    """
    root = int(model.root_size[0])
    parts = [data.position[root:], data.velocity]
    if root == 6:
        parts = [quaternion_of(data.root_pose[:3, :3]), data.root_pose[:3, 3], *parts]
    return np.concatenate(parts)


def quaternion_of(rotation: FloatArray) -> FloatArray:
    """Unit quaternion (4,) w, x, y, z of a rotation (3, 3), of either sign.

    It is the column of 4 Q Qᵀ with the greatest diagonal.
    """
    r = rotation
    square = np.zeros((4, 4))
    square[0, 1:] = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]
    square[1, 2:] = r[0, 1] + r[1, 0], r[0, 2] + r[2, 0]
    square[2, 3] = r[1, 2] + r[2, 1]
    square += square.T
    diagonal = 2.0 * np.diag(r) - np.trace(r)
    np.fill_diagonal(square, 1.0 + np.append(np.trace(r), diagonal))
    column = square[:, int(np.argmax(np.diag(square)))]
    unit: FloatArray = column / np.linalg.norm(column)
    return unit


@kernel
def read_state(model: TreeModel, state: FloatArray, data: TreeData) -> None:
    """Set a tree to a state.

    Args:
        model: the tree.
        state: (S,) the state.
        data: root, coordinates and velocities are set.
    """
    size = model.dof_parent.size
    root = model.root_size[0]
    first = 0
    if root == 6:
        w, x, y, z = state[0], state[1], state[2], state[3]
        k = 2.0 / (w * w + x * x + y * y + z * z)
        pose = data.root_pose
        pose[0, 0] = 1.0 - k * (y * y + z * z)
        pose[0, 1] = k * (x * y - w * z)
        pose[0, 2] = k * (x * z + w * y)
        pose[1, 0] = k * (x * y + w * z)
        pose[1, 1] = 1.0 - k * (x * x + z * z)
        pose[1, 2] = k * (y * z - w * x)
        pose[2, 0] = k * (x * z - w * y)
        pose[2, 1] = k * (y * z + w * x)
        pose[2, 2] = 1.0 - k * (x * x + y * y)
        for i in range(3):
            pose[i, 3] = state[4 + i]
        first = 1  # 7 numbers in the place of 6
    for d in range(root, size):
        data.position[d] = state[first + d]
    for d in range(size):
        data.velocity[d] = state[first + size + d]


@kernel
def begin_rate(
    model: TreeModel, state: FloatArray, data: TreeData, work: TreeWork
) -> None:
    """Set a tree to a state and compute its mass matrix and its own forces.

    Args:
        model: the tree.
        state: (S,) the state.
        data: set to it; its applied forces, wrenches and root acceleration act.
        work: load and matrix, to which other forces may then be added at period 0.
    """
    read_state(model, state, data)
    tree_motion(model, 0.0, data, work)
    add_elastic(model, 0.0, data, work)


@kernel
def finish_rate(
    model: TreeModel,
    state: FloatArray,
    data: TreeData,
    work: TreeWork,
    rate_out: FloatArray,
) -> int:
    """Solve for the accelerations and write the state's rate of change.

    Args:
        model: the tree.
        state: (S,) the state.
        data: set to it.
        work: load and matrix with all forces.
        rate_out: (S,).

    Returns:
        -1, or the degree of freedom at which the mass matrix is not positive definite
        (rate_out is then undefined).
    """
    size = model.dof_parent.size
    root = model.root_size[0]
    hold_root(model, work)
    failed = tree_factor(model, work)
    if failed >= 0:
        return int(failed)
    for d in range(size):
        work.change[d] = work.load[d]
    solve_tree(model, work, work.change)
    first = 0
    v = data.velocity
    if root == 6:
        w, x, y, z = state[0], state[1], state[2], state[3]
        rate_out[0] = -0.5 * (x * v[0] + y * v[1] + z * v[2])
        rate_out[1] = 0.5 * (w * v[0] + y * v[2] - z * v[1])
        rate_out[2] = 0.5 * (w * v[1] + z * v[0] - x * v[2])
        rate_out[3] = 0.5 * (w * v[2] + x * v[1] - y * v[0])
        pose = data.root_pose
        for i in range(3):
            rate_out[4 + i] = pose[i, 0] * v[3] + pose[i, 1] * v[4] + pose[i, 2] * v[5]
        first = 1
    for d in range(root, size):
        rate_out[first + d] = v[d]
    for d in range(size):
        rate_out[first + size + d] = work.change[d]
    for d in range(root):
        if model.root_free[d] == 0:
            rate_out[first + size + d] = data.root_acceleration[d]
    return -1


@kernel
def tree_rate(
    model: TreeModel,
    state: FloatArray,
    data: TreeData,
    work: TreeWork,
    rate_out: FloatArray,
) -> int:
    """Rate of change of a state under the tree's own forces.

    Args:
        model: the tree.
        state: (S,) the state.
        data: set to it.
        work: workspace.
        rate_out: (S,).

    Returns:
        -1, or the degree of freedom at which the mass matrix is not positive definite.
    """
    begin_rate(model, state, data, work)
    return int(finish_rate(model, state, data, work, rate_out))


@kernel
def rate_jacobian(
    model: TreeModel,
    state: FloatArray,
    data: TreeData,
    work: TreeWork,
    scratch_out: FloatArray,
    jacobian_out: FloatArray,
) -> int:
    """Derivative of `tree_rate` by the state, by forward differences.

    Enough for the Newton iterations of an implicit integrator; models/tree_sensitivity
    has derivatives to rounding.

    Args:
        model: the tree.
        state: (S,) the state.
        data: left at a state nearby.
        work: workspace.
        scratch_out: (3, S).
        jacobian_out: (S, S).

    Returns:
        -1, or the degree of freedom at which the mass matrix is not positive definite.
    """
    size = state.size
    moved, base, rate = scratch_out[0], scratch_out[1], scratch_out[2]
    failed = tree_rate(model, state, data, work, base)
    for k in range(size):
        moved[k] = state[k]
    for k in range(size):
        if failed >= 0:
            break
        value = state[k]
        moved[k] = value + _DIFFERENCE * max(1.0, abs(value))
        change = moved[k] - value
        failed = tree_rate(model, moved, data, work, rate)
        for i in range(size):
            jacobian_out[i, k] = (rate[i] - base[i]) / change
        moved[k] = value
    return int(failed)


@kernel
def tree_steps(
    model: TreeModel, period: float, count: int, data: TreeData, work: TreeWork
) -> int:
    """Take several semi-implicit steps under the tree's own forces.

    Args:
        model: the tree.
        period: time step [s].
        count: number of steps.
        data: state, advanced in place.
        work: workspace.

    Returns:
        A `TREE_…` code.
    """
    status = 0
    for _ in range(count):
        status = tree_step(model, period, data, work)
        if status != 0:
            break
    return int(status)
