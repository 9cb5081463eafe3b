"""A tree of rods, rigid bodies and joints on one root body: its arrays.

An element is a run of steps along a strain field (models/strain_step); each step ends
in a point that may carry mass, drag and buoyancy. A rod has some coordinates for its
strains, a joint one, a rigid body none. All share one layout, so that one kernel
serves every robot, and the accuracy of a rod is a choice of its basis alone.

E elements in an order in which parents come first, P steps, each with its point,
N degrees of freedom, at most W of them in one element. With a free root the first six
degrees of freedom are its twist (angular first, in the root's own frame); `position`
holds nothing there. Strains and screws are (k_x, k_y, k_z, q_x, q_y, q_z), and the axis
of a rod is z.
"""

from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, IntArray

__all__ = [
    "TreeData",
    "TreeModel",
    "TreeWork",
    "allocate_tree_data",
    "allocate_tree_work",
]


class TreeModel(NamedTuple):
    """Constant parameters of a tree, SI units; `models.tree_builder` makes them."""

    element_parent: IntArray
    """(E,) element at whose end this one begins; -1 = the root body."""
    element_pose: FloatArray
    """(E, 4, 4) start of the element in the frame of its parent's end [m]."""
    element_dof_start: IntArray
    """(E+1,) own degrees of freedom of element e are start[e] .. start[e+1]-1."""
    element_step_start: IntArray
    """(E+1,) likewise its steps and points."""
    element_last_dof: IntArray
    """(E,) the last degree of freedom that moves its end; -1 = none."""
    element_above_dof: IntArray
    """(E,) the last one that moves its start; -1 = none."""
    element_varies: IntArray
    """(E,) 1 where the strain varies along a step, so that Ω needs its bracket."""
    element_has_child: IntArray
    """(E,) 1 where an element begins at its end."""
    element_stiffness: FloatArray
    """(E, W, W) of the own coordinates [N m, N, ... by coordinate]."""
    element_damping: FloatArray
    """(E, W, W) likewise, by rate."""
    dof_parent: IntArray
    """(N,) the next degree of freedom towards the root; -1 = none."""
    dof_element: IntArray
    """(N,) its element; -1 = the root."""
    dof_component: IntArray
    """(N,) the strain that it changes, 0..5."""
    dof_rest: FloatArray
    """(N,) value without elastic force."""
    dof_speed_limit: FloatArray
    """(N,) a speed above this is a diverging state [unit of the coordinate / s]."""
    root_size: IntArray
    """(1,) 6 where the root moves, 0 where it is fixed."""
    root_free: IntArray
    """(6,) 1 for each component of the root's twist that is free."""
    step_length: FloatArray
    """(P,) of the step [m], 1 for a joint, 0 for a point in place."""
    step_basis: FloatArray
    """(P, 2, W) value of each own coordinate's basis at the two Gauss nodes."""
    step_strain: FloatArray
    """(P, 2, 6) strain at rest there."""
    point_kind: IntArray
    """(P,) 0 massless, 1 section of a rod, 2 with drag that turns or is linear."""
    point_abscissa: FloatArray
    """(P,) distance from the element's start along the unstrained element [m]."""
    point_radius: FloatArray
    """(P,) of the section, for contact and for pictures [m]."""
    point_weight: FloatArray
    """(P,) length of rod that the point stands for [m]; 0 for a body."""
    point_mass: FloatArray
    """(P,) [kg]."""
    point_displaced: FloatArray
    """(P,) mass of the water displaced [kg]."""
    point_inertia: FloatArray
    """(P, 3) principal moments about the point, added ones included [kg m2]."""
    point_added: FloatArray
    """(P, 3) added mass along the axes of the section [kg]."""
    point_drag: FloatArray
    """(P, 3) quadratic drag along the axes [N s2/m2]."""
    point_drag_linear: FloatArray
    """(P, 3) linear drag along the axes [N s/m]."""
    point_drag_turn: FloatArray
    """(P, 3) quadratic drag about the axes [N m s2]."""
    point_drag_turn_linear: FloatArray
    """(P, 3) linear drag about the axes [N m s]."""
    gravity: FloatArray
    """(3,) in the world [m/s2]."""
    current: FloatArray
    """(3,) velocity of the water at the world's origin [m/s]."""
    current_shear: FloatArray
    """(3,) its change with height z [1/s]."""
    drag_form: IntArray
    """(1,) 0: -c_i |v| v_i (Renda 2018 eq. 11); 1: -c_i |v_i| v_i (published code)."""
    munk_moment: IntArray
    """(1,) 1: the added mass turns a section across the flow, as a potential flow does;
    0: its force alone (Renda 2018 eq. 13), with which it does not keep energy."""


class TreeData(NamedTuple):
    """State of one copy of a tree."""

    root_pose: FloatArray
    """(4, 4) root frame in the world [m]."""
    position: FloatArray
    """(N,) coordinates; zero in the slots of the root."""
    velocity: FloatArray
    """(N,) their rates; the root's twist in its slots."""
    applied: FloatArray
    """(N,) generalised forces from outside."""
    wrench: FloatArray
    """(E, 6) moment and force on each element's end, root frame [N m, N]."""
    status: IntArray
    """(2,) a `TREE_…` code of models/tree_step and the element that it names, or -1."""
    root_acceleration: FloatArray
    """(6,) of a root that is held or moved from outside, root frame [rad/s2, m/s2]:
    what it does in the components that are not free. 0 where nothing moves it."""
    resting: IntArray
    """(E,) 1 where an element, and all that hangs on it, is not computed: work keeps
    what it held (models/limb_rest)."""


class TreeWork(NamedTuple):
    """What the kernels compute on the way; one copy for each Data and thread.

    All in the root frame; twists, columns and wrenches are about the root's origin.
    """

    point_rotation: FloatArray
    """(P, 3, 3) axes of each point's section."""
    point_position: FloatArray
    """(P, 3) [m]."""
    point_twist: FloatArray
    """(P, 6) spatial twist [rad/s, m/s]."""
    point_bias: FloatArray
    """(P, 6) its time derivative without the accelerations of the coordinates."""
    point_column: FloatArray
    """(P, W, 6) twist of the point by each own coordinate's rate."""
    column: FloatArray
    """(N, 6) the same at the element's end, and so on all that hangs there."""
    dof_momentum: FloatArray
    """(N, 6) momentum of all that a unit rate moves."""
    inertia_below: FloatArray
    """(E+1, 21) inertia of what hangs on the element's end; last: on the root."""
    wrench_below: FloatArray
    """(E+1, 6) wrench on it."""
    matrix: FloatArray
    """(N, N) lower triangle, nonzero for ancestors only: mass and implicit terms."""
    factor: FloatArray
    """(N, N) its LᵀL factor."""
    load: FloatArray
    """(N,) generalised forces less Coriolis forces."""
    change: FloatArray
    """(N,) velocity change or acceleration."""
    row: FloatArray
    """(N,) scratch: a generalised row."""
    turning: FloatArray
    """(3,) over all points: the sum of f² / m, f the inertial force at constant rates
    of the coordinates [N2/kg], the sum of m v² [J], the greatest ω² [rad2/s2]."""
    corrects: IntArray
    """(1,) 1 where models/tree_turning has work to do; 2 while it does it, and for
    who never calls it: nothing is summed up for it then."""
    motion_load: FloatArray
    """(N,) load as `tree_motion` left it, where that is so."""
    motion_matrix: FloatArray
    """(N, N) likewise the matrix."""
    kept_velocity: FloatArray
    """(N,) scratch of the same."""
    water: FloatArray
    """(12,) gravity, current at the root's origin and shear in the root frame's axes,
    then (3,) the world's vertical in them: see `models.tree_motion`."""


def allocate_tree_data(model: TreeModel, dtype: type = np.float64) -> TreeData:
    """Make the Data of a tree: at its rest coordinates, still, root at the origin.

    Args:
        model: the tree.
        dtype: complex for derivatives by a complex step.

    Returns:
        Arrays of the shapes in `TreeData`.
    """
    size = model.dof_parent.size
    return TreeData(
        root_pose=np.eye(4, dtype=dtype),
        position=model.dof_rest.astype(dtype),
        velocity=np.zeros(size, dtype),
        applied=np.zeros(size, dtype),
        wrench=np.zeros((model.element_parent.size, 6), dtype),
        status=np.array([0, -1], dtype=np.int64),
        root_acceleration=np.zeros(6, dtype),
        resting=np.zeros(model.element_parent.size, dtype=np.int64),
    )


def allocate_tree_work(model: TreeModel, dtype: type = np.float64) -> TreeWork:
    """Allocate the workspace of a tree.

    Args:
        model: the tree.
        dtype: complex for derivatives by a complex step.

    Returns:
        Zeroed arrays of the shapes in `TreeWork`.
    """
    size = model.dof_parent.size
    elements = model.element_parent.size
    points = model.step_length.size
    width = model.step_basis.shape[2]
    return TreeWork(
        point_rotation=np.zeros((points, 3, 3), dtype),
        point_position=np.zeros((points, 3), dtype),
        point_twist=np.zeros((points, 6), dtype),
        point_bias=np.zeros((points, 6), dtype),
        point_column=np.zeros((points, width, 6), dtype),
        column=np.zeros((size, 6), dtype),
        dof_momentum=np.zeros((size, 6), dtype),
        inertia_below=np.zeros((elements + 1, 21), dtype),
        wrench_below=np.zeros((elements + 1, 6), dtype),
        matrix=np.zeros((size, size), dtype),
        factor=np.zeros((size, size), dtype),
        load=np.zeros(size, dtype),
        change=np.zeros(size, dtype),
        row=np.zeros(size, dtype),
        turning=np.zeros(3, dtype),
        corrects=np.zeros(1, np.int64),
        motion_load=np.zeros(size, dtype),
        motion_matrix=np.zeros((size, size), dtype),
        kept_velocity=np.zeros(size, dtype),
        water=np.zeros(12, dtype),
    )
