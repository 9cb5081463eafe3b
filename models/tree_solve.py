"""Linear algebra of a tree: factor and solve with its branch sparsity; added rows.

Two coordinates that no branch joins have no entry in the mass matrix. The factor LᵀL,
taken from the tips to the root, keeps it so (Featherstone 2008, sec. 6.5): its cost
grows with the depth of the tree and not with the number of its limbs.
"""

import numpy as np

from models.numerics import FloatArray, kernel
from models.tree import TreeModel, TreeWork

__all__ = ["add_row", "point_row", "point_velocity", "solve_tree", "tree_factor"]


@kernel
def tree_factor(model: TreeModel, work: TreeWork) -> int:
    """Factor `matrix` into `factor`: matrix = LᵀL, L lower triangular.

    Args:
        model: the tree.
        work: reads matrix, writes factor.

    Returns:
        -1, or the degree of freedom whose pivot is not positive or not finite.
    """
    parent = model.dof_parent
    factor = work.factor
    size = parent.size
    for k in range(size):
        factor[k, k] = work.matrix[k, k]
        i = parent[k]
        while i >= 0:
            factor[k, i] = work.matrix[k, i]
            i = parent[i]
    for k in range(size - 1, -1, -1):
        pivot = factor[k, k]
        if not (pivot.real > 0.0 and pivot.real < np.inf):
            return k
        pivot = np.sqrt(pivot)
        factor[k, k] = pivot
        inverse = 1.0 / pivot
        i = parent[k]
        while i >= 0:
            factor[k, i] *= inverse
            i = parent[i]
        i = parent[k]
        while i >= 0:
            j = i
            value = factor[k, i]
            while j >= 0:
                factor[i, j] -= value * factor[k, j]
                j = parent[j]
            i = parent[i]
    return -1


@kernel
def solve_tree(model: TreeModel, work: TreeWork, vector_out: FloatArray) -> None:
    """Solve with the factor in place: LᵀL x = b.

    Args:
        model: the tree.
        work: holds the factor.
        vector_out: (N,) b, then x.
    """
    parent = model.dof_parent
    factor = work.factor
    size = parent.size
    for i in range(size - 1, -1, -1):
        value = vector_out[i] / factor[i, i]
        vector_out[i] = value
        j = parent[i]
        while j >= 0:
            vector_out[j] -= factor[i, j] * value
            j = parent[j]
    for i in range(size):
        value = vector_out[i]
        j = parent[i]
        while j >= 0:
            value -= factor[i, j] * vector_out[j]
            j = parent[j]
        vector_out[i] = value / factor[i, i]


@kernel
def point_velocity(
    work: TreeWork, point: int, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Velocity of the matter at a place that moves with a point's section.

    Args:
        work: after `tree_motion`.
        point: index of the point.
        x: the place, root frame [m].
        y: likewise.
        z: likewise.

    Returns:
        Its velocity in the root frame [m/s].
    """
    twist = work.point_twist[point]
    return (
        twist[3] + twist[1] * z - twist[2] * y,
        twist[4] + twist[2] * x - twist[0] * z,
        twist[5] + twist[0] * y - twist[1] * x,
    )


@kernel
def point_row(
    model: TreeModel,
    element: int,
    point: int,
    position: FloatArray,
    direction: FloatArray,
    work: TreeWork,
    row_out: FloatArray,
) -> None:
    """The row g with g·v = the velocity, along a direction, of matter at a place.

    A force f along the direction at that place has the generalised force f gᵀ. Written
    on the element's path only (see `add_row`).

    Args:
        model: the tree.
        element: the element; point: one of its points, with whose section the place
            moves.
        point: its index in the tree.
        position: (3,) the place, root frame [m].
        direction: (3,) unit vector, root frame.
        work: after `tree_motion`.
        row_out: (N,) [m per unit of each coordinate].
    """
    mx = position[1] * direction[2] - position[2] * direction[1]
    my = position[2] * direction[0] - position[0] * direction[2]
    mz = position[0] * direction[1] - position[1] * direction[0]
    first = model.element_dof_start[element]
    for d in range(first, model.element_dof_start[element + 1]):
        own = work.point_column[point, d - first]
        row_out[d] = (
            own[0] * mx
            + own[1] * my
            + own[2] * mz
            + own[3] * direction[0]
            + own[4] * direction[1]
            + own[5] * direction[2]
        )
    d = model.element_above_dof[element]
    while d >= 0:
        column = work.column[d]
        row_out[d] = (
            column[0] * mx
            + column[1] * my
            + column[2] * mz
            + column[3] * direction[0]
            + column[4] * direction[1]
            + column[5] * direction[2]
        )
        d = model.dof_parent[d]


@kernel
def add_row(
    model: TreeModel,
    element: int,
    row: FloatArray,
    force: float,
    slope: float,
    work: TreeWork,
) -> None:
    """Add a force along a row to the load, and its implicit share to the matrix.

    For a force f(s, ṡ) = -k s - d ṡ along the row, evaluated at the end of a step h:
    force = f(s + h ṡ, ṡ) at the present speed, slope = h d + h² k.

    Args:
        model: the tree.
        element: the row is nonzero on this element's path only.
        row: (N,) from `point_row`.
        force: [N].
        slope: at least 0 [N s/m times s].
        work: load and matrix are added to.
    """
    d = model.element_last_dof[element]
    while d >= 0:
        work.load[d] += row[d] * force
        if slope > 0.0:
            weighted = slope * row[d]
            j = d
            while j >= 0:
                work.matrix[d, j] += weighted * row[j]
                j = model.dof_parent[j]
        d = model.dof_parent[d]
