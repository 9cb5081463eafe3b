"""What a tree does with a state that it cannot go on from: name it, and stop.

A step that meets an input, force or speed that is not finite or out of range leaves
position and root pose as they are, sets the speeds to zero, and writes its cause and
the element that it lies in to `status`. The tree then stays so until that is cleared.
"""

import numpy as np

from models.numerics import inner_kernel
from models.tree import TreeData, TreeModel, TreeWork

__all__ = [
    "TREE_DIVERGED",
    "TREE_NOT_FINITE",
    "TREE_OK",
    "TREE_REFUSED",
    "TREE_SINGULAR",
    "fastest",
    "freeze",
    "is_refused",
    "largest_input",
]

TREE_OK = 0
TREE_NOT_FINITE = 1
"""An input, a force or a state is not a finite number, or so large as to overflow."""
TREE_SINGULAR = 2
"""The mass matrix is not positive definite."""
TREE_DIVERGED = 3
"""A speed is beyond its limit."""
TREE_REFUSED = 4
"""The period is not within (0, 1000 s], or the root's pose is no pose."""

_SLACK = 0.1
"""How far the squares of a rotation's columns may be from 1."""
_LONGEST = 1e3
"""s: no step is so long; a turn of a longer one could overflow."""
_FAR = 1e9
"""m: no robot is so far from the world's origin."""


@inner_kernel
def is_refused(period: float, data: TreeData) -> bool:
    """Whether the period is not above 0 and sensible, or root_pose is not a pose."""
    pose = data.root_pose
    if not (period > 0.0 and period <= _LONGEST):
        return True
    for j in range(3):
        square = pose[0, j] ** 2 + pose[1, j] ** 2 + pose[2, j] ** 2
        if not abs(square - 1.0) < _SLACK:
            return True
    for i in range(3):
        if not (abs(pose[i, 3]) < _FAR and abs(pose[3, i]) < _SLACK):
            return True
    return not abs(pose[3, 3] - 1.0) < _SLACK


@inner_kernel
def largest_input(model: TreeModel, data: TreeData) -> int:
    """The element with the first input that is not finite, or else the largest one.

    Args:
        model: the tree.
        data: positions, velocities, applied forces, wrenches and the root's
            acceleration are looked at.

    Returns:
        The element; -1 = the root.
    """
    for k in range(6):
        if not abs(data.root_acceleration[k]) < np.inf:
            return -1
    found = -1
    largest = -1.0
    for d in range(model.dof_parent.size):
        size = max(abs(data.position[d]), abs(data.velocity[d]), abs(data.applied[d]))
        finite = (
            abs(data.position[d]) < np.inf
            and abs(data.velocity[d]) < np.inf
            and abs(data.applied[d]) < np.inf
        )
        if not finite:
            return int(model.dof_element[d])
        if size > largest:
            largest = size
            found = model.dof_element[d]
    for e in range(model.element_parent.size):
        for k in range(6):
            size = abs(data.wrench[e, k])
            if not size < np.inf:
                return e
            if size > largest:
                largest = size
                found = e
    return int(found)


@inner_kernel
def fastest(model: TreeModel, data: TreeData, work: TreeWork) -> int:
    """The degree of freedom whose new speed is furthest beyond its limit, or -1."""
    found = -1
    largest = 1.0
    for d in range(model.dof_parent.size):
        share = abs(data.velocity[d] + work.change[d]) / model.dof_speed_limit[d]
        if not share < np.inf:
            return d
        if share >= largest:
            largest = share
            found = d
    return found


@inner_kernel
def freeze(cause: int, element: int, data: TreeData) -> int:
    """Stop the tree where it is and note why."""
    data.status[0] = cause
    data.status[1] = element
    for d in range(data.velocity.size):
        data.velocity[d] = 0.0
    return cause
