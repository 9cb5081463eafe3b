"""The arrays of a tree, laid out from its elements: places, parents, coordinates."""

from collections.abc import Sequence

import numpy as np

from models.numerics import FloatArray, IntArray
from models.tree import TreeModel
from models.tree_parts import SPEED_LIMIT, Element

__all__ = ["lay_out_tree"]


def lay_out_tree(
    elements: Sequence[Element],
    root: int,
    free: IntArray,
    *,
    gravity: FloatArray,
    current: FloatArray,
    current_shear: FloatArray,
    drag_form: int,
    munk_moment: int,
) -> TreeModel:
    """Make the constant arrays of a tree.

    Args:
        elements: at least one, each after the one that it hangs on.
        root: coordinates of the root, 0 where it is fixed and 6 where it floats.
        free: (6,) which components of its twist move, angular first.
        gravity: (3,) in the world [m/s2].
        current: (3,) velocity of the water at height 0 [m/s].
        current_shear: (3,) its change with height [1/s].
        drag_form: as in `TreeModel`.
        munk_moment: as in `TreeModel`.

    Returns:
        The constant model.
    """
    width = max(1, *(len(e.component) for e in elements))
    count = len(elements)
    dof_start = root + np.concatenate(
        [[0], np.cumsum([len(e.component) for e in elements])]
    ).astype(np.int64)
    step_start = np.concatenate(
        [[0], np.cumsum([len(e.points) for e in elements])]
    ).astype(np.int64)
    above = np.zeros(count, dtype=np.int64)
    last = np.zeros(count, dtype=np.int64)
    child = np.zeros(count, dtype=np.int64)
    parent_of = np.full(dof_start[-1], -1, dtype=np.int64)
    parent_of[:root] = np.arange(root) - 1
    stiffness = np.zeros((count, width, width))
    damping = np.zeros((count, width, width))
    for i, e in enumerate(elements):
        above[i] = root - 1 if e.parent < 0 else last[e.parent]
        own = range(int(dof_start[i]), int(dof_start[i + 1]))
        for d in own:
            parent_of[d] = d - 1 if d > own.start else above[i]
        last[i] = own.stop - 1 if len(own) else above[i]
        if e.parent >= 0:
            child[e.parent] = 1
        n = len(own)
        stiffness[i, :n, :n] = e.stiffness
        damping[i, :n, :n] = e.damping
    points = [p for e in elements for p in e.points]
    basis = np.zeros((len(points), 2, width))
    for s, p in enumerate(points):
        basis[s, :, : p.basis.shape[1]] = p.basis
    component = [0] * root + [c for e in elements for c in e.component]
    rest = [0.0] * root + [r for e in elements for r in e.rest]
    limits = [10.0 * SPEED_LIMIT] * min(root, 3) + [SPEED_LIMIT] * min(root, 3)
    limits += [v for e in elements for v in e.speed_limit]
    owner = [-1] * root + [i for i, e in enumerate(elements) for _ in e.component]

    def table(name: str) -> FloatArray:
        return np.array([getattr(p, name) for p in points], dtype=float)

    return TreeModel(
        element_parent=np.array([e.parent for e in elements], dtype=np.int64),
        element_pose=np.stack([e.pose for e in elements]),
        element_dof_start=dof_start,
        element_step_start=step_start,
        element_last_dof=last,
        element_above_dof=above,
        element_varies=np.array([e.varies for e in elements], dtype=np.int64),
        element_has_child=child,
        element_stiffness=stiffness,
        element_damping=damping,
        dof_parent=parent_of,
        dof_element=np.array(owner, dtype=np.int64),
        dof_component=np.array(component, dtype=np.int64),
        dof_rest=np.array(rest, dtype=float),
        dof_speed_limit=np.array(limits, dtype=float),
        root_size=np.array([root], dtype=np.int64),
        root_free=free,
        step_length=table("length"),
        step_basis=basis,
        step_strain=table("strain"),
        point_kind=np.array([p.kind for p in points], dtype=np.int64),
        point_abscissa=table("abscissa"),
        point_radius=table("radius"),
        point_weight=table("weight"),
        point_mass=table("mass"),
        point_displaced=table("displaced"),
        point_inertia=table("inertia"),
        point_added=table("added"),
        point_drag=table("drag"),
        point_drag_linear=table("drag_linear"),
        point_drag_turn=table("drag_turn"),
        point_drag_turn_linear=table("drag_turn_linear"),
        gravity=gravity,
        current=current,
        current_shear=current_shear,
        drag_form=np.array([drag_form], dtype=np.int64),
        munk_moment=np.array([munk_moment], dtype=np.int64),
    )
