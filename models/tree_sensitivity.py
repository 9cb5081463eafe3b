"""Derivatives of a tree's acceleration, and of its step, by state and forces.

By complex steps: `tree_motion` runs on complex numbers whose imaginary part is the
direction times 1e-30. What comes out as imaginary part is the derivative to rounding,
as nothing is subtracted (Squire and Trapp 1998). Of M(x) a = Q(x) follows

    da = M⁻¹ (dQ - dM a)

so that one direction costs one complex `tree_motion`, and M is factored once. A step of
models/tree_step is of the same form; where it iterates (models/tree_turning), the
derivative does too.

The state is (root and coordinates, velocity). The root's pose is varied on its right,
pose · exp(δ), δ a twist in the root's own frame, angular first; δ has the root's six
slots among the N of the coordinates. Branches go with the real part: at a kink (drag by
components at zero flow) the derivative is the one of the side that is computed.

Forces of other kernels that depend on the state are not in it. Their derivative adds to
these: d/dx (a) = by_position + by_force · d/dx (force).
"""

from typing import NamedTuple

import numpy as np

from models.lie import left_tangent, pose_exp, transform_twist_back
from models.numerics import FloatArray, inner_kernel, kernel
from models.tree import (
    TreeData,
    TreeModel,
    TreeWork,
    allocate_tree_data,
    allocate_tree_work,
)
from models.tree_guard import TREE_OK, TREE_REFUSED, TREE_SINGULAR, is_refused
from models.tree_motion import tree_motion
from models.tree_solve import solve_tree, tree_factor
from models.tree_step import add_elastic, tree_acceleration
from models.tree_turning import hold_root

__all__ = [
    "SensitivityWork",
    "acceleration_sensitivity",
    "allocate_sensitivity_work",
    "step_sensitivity",
]

_STEP = 1e-30


class SensitivityWork(NamedTuple):
    """Complex copies of state and workspace; one for each thread."""

    data: TreeData
    """Complex."""
    work: TreeWork
    """Complex."""
    column: FloatArray
    """(N,) scratch."""
    velocity: FloatArray
    """(N,) scratch: the velocity of a step's start."""
    change: FloatArray
    """(3N, N) derivative of the velocity's change by each direction."""
    twist: FloatArray
    """(2, 6) scratch."""
    pose: FloatArray
    """(4, 4) motion of the root in a step."""
    tangent: FloatArray
    """(6, 6) of that."""


def allocate_sensitivity_work(model: TreeModel) -> SensitivityWork:
    """Allocate what the derivatives of a tree need, once.

    Args:
        model: the tree.

    Returns:
        Zeroed arrays.
    """
    size = model.dof_parent.size
    return SensitivityWork(
        data=allocate_tree_data(model, np.complex128),
        work=allocate_tree_work(model, np.complex128),
        column=np.zeros(size),
        velocity=np.zeros(size),
        change=np.zeros((3 * size, size)),
        twist=np.zeros((2, 6)),
        pose=np.eye(4),
        tangent=np.zeros((6, 6)),
    )


@inner_kernel
def _set_direction(
    model: TreeModel, direction: int, data: TreeData, sensitivity: SensitivityWork
) -> None:
    """Copy a state into the complex one and vary one direction of it.

    Directions: 0 .. N-1 root pose and coordinates, N .. 2N-1 velocities, 2N .. 3N-1
    applied forces.
    """
    size = model.dof_parent.size
    varied = sensitivity.data
    for i in range(4):
        for j in range(4):
            varied.root_pose[i, j] = data.root_pose[i, j]
    for d in range(size):
        varied.position[d] = data.position[d]
        varied.velocity[d] = data.velocity[d]
        varied.applied[d] = data.applied[d]
    for e in range(model.element_parent.size):
        for k in range(6):
            varied.wrench[e, k] = data.wrench[e, k]
    for k in range(2):
        varied.status[k] = data.status[k]
    for k in range(6):
        varied.root_acceleration[k] = data.root_acceleration[k]
    small = 1j * _STEP
    if direction >= 2 * size:
        varied.applied[direction - 2 * size] += small
    elif direction >= size:
        varied.velocity[direction - size] += small
    elif direction >= model.root_size[0]:
        varied.position[direction] += small
    elif direction >= 3:
        for i in range(3):
            varied.root_pose[i, 3] += small * data.root_pose[i, direction - 3]
    else:
        # R e~: the columns after the axis, cyclically
        j, k = (direction + 1) % 3, (direction + 2) % 3
        for i in range(3):
            varied.root_pose[i, j] += small * data.root_pose[i, k]
            varied.root_pose[i, k] -= small * data.root_pose[i, j]


@inner_kernel
def _solve_direction(
    model: TreeModel,
    scale: float,
    solution: FloatArray,
    work: TreeWork,
    sensitivity: SensitivityWork,
    column_out: FloatArray,
) -> None:
    """Derivative dx of the solution x of S x = scale · b, S = matrix and b = load.

    Args:
        model: the tree.
        scale: factor of the load.
        solution: (N,) x.
        work: holds the factor of S.
        sensitivity: its `work` holds S and b with their derivatives.
        column_out: (N,) dx.
    """
    varied = sensitivity.work
    size = model.dof_parent.size
    for d in range(size):
        column_out[d] = scale * varied.load[d].imag / _STEP
    for d in range(size):
        column_out[d] -= varied.matrix[d, d].imag / _STEP * solution[d]
        j = model.dof_parent[d]
        while j >= 0:
            entry = varied.matrix[d, j].imag / _STEP
            column_out[d] -= entry * solution[j]
            column_out[j] -= entry * solution[d]
            j = model.dof_parent[j]
    for k in range(model.root_size[0]):
        if model.root_free[k] == 0:
            column_out[k] = 0.0
    solve_tree(model, work, column_out)


@kernel
def acceleration_sensitivity(
    model: TreeModel,
    data: TreeData,
    work: TreeWork,
    sensitivity: SensitivityWork,
    acceleration_out: FloatArray,
    by_position_out: FloatArray,
    by_velocity_out: FloatArray,
    by_force_out: FloatArray,
) -> int:
    """Acceleration of a tree under its own forces, and its derivatives.

    A wrench on an element's end acts through `work.column` of the degrees of freedom
    on its path: its derivative is by_force times these.

    Args:
        model: the tree.
        data: state.
        work: workspace.
        sensitivity: workspace.
        acceleration_out: (N,) time derivative of the velocity.
        by_position_out: (N, N) by the root's pose (columns 0..5 of a free root, per
            twist δ in its own frame, angular first) and by the coordinates.
        by_velocity_out: (N, N) by root twist and rates.
        by_force_out: (N, N) by the applied forces: M⁻¹, without the components of the
            root that are held.

    Returns:
        -1, or the degree of freedom at which the mass matrix is not positive definite
        (derivatives then undefined).
    """
    size = model.dof_parent.size
    failed = tree_acceleration(model, data, work, acceleration_out)
    if failed >= 0:
        return int(failed)
    root = model.root_size[0]
    column = sensitivity.column
    varied = sensitivity.work
    for direction in range(2 * size):
        _set_direction(model, direction, data, sensitivity)
        tree_motion(model, 0.0, sensitivity.data, varied)
        add_elastic(model, 0.0, sensitivity.data, varied)
        _solve_direction(model, 1.0, acceleration_out, work, sensitivity, column)
        for d in range(size):
            if direction < size:
                by_position_out[d, direction] = column[d]
            else:
                by_velocity_out[d, direction - size] = column[d]
    for direction in range(size):
        for d in range(size):
            column[d] = 1.0 if d == direction else 0.0
        if direction < root and model.root_free[direction] == 0:
            column[direction] = 0.0
        solve_tree(model, work, column)
        for d in range(size):
            by_force_out[d, direction] = column[d]
    return -1


@inner_kernel
def _step_stage(
    model: TreeModel,
    period: float,
    stage: int,
    data: TreeData,
    work: TreeWork,
    sensitivity: SensitivityWork,
) -> int:
    """Velocity change of a step's stage, and its derivative in each direction.

    Stage 0 is at the velocity of the start, the others at v + Δv/2 of the one before.
    """
    size = model.dof_parent.size
    changes = sensitivity.change
    start = sensitivity.velocity
    part = period if stage == 0 else 0.5 * period
    if stage > 0:
        for d in range(size):
            data.velocity[d] = start[d] + 0.5 * work.change[d]
    tree_motion(model, part, data, work)
    again = work.corrects[0]
    work.corrects[0] = 2
    for d in range(size):
        sensitivity.column[d] = data.velocity[d]
        data.velocity[d] = start[d]
    add_elastic(model, period, data, work)
    hold_root(model, work)
    if tree_factor(model, work) >= 0:
        return TREE_SINGULAR
    for d in range(size):
        work.change[d] = period * work.load[d]
    solve_tree(model, work, work.change)
    varied = sensitivity.data
    for direction in range(3 * size):
        _set_direction(model, direction, data, sensitivity)
        change = changes[direction]
        if stage > 0:
            for d in range(size):
                shift = sensitivity.column[d] - start[d]
                varied.velocity[d] += shift + 0.5j * _STEP * change[d]
        tree_motion(model, part, varied, sensitivity.work)
        if stage > 0:
            _set_direction(model, direction, data, sensitivity)
        add_elastic(model, period, varied, sensitivity.work)
        _solve_direction(model, period, work.change, work, sensitivity, change)
    return -1 if again == 1 else TREE_OK


@inner_kernel
def _root_columns(
    model: TreeModel,
    period: float,
    data: TreeData,
    work: TreeWork,
    sensitivity: SensitivityWork,
) -> None:
    """Motion of the root in the step, and its tangent."""
    if model.root_size[0] == 0:
        return
    for k in range(6):
        sensitivity.twist[0, k] = period * (data.velocity[k] + work.change[k])
    pose_exp(sensitivity.twist[0], sensitivity.pose)
    left_tangent(sensitivity.twist[0], sensitivity.tangent)


@kernel
def step_sensitivity(
    model: TreeModel,
    period: float,
    data: TreeData,
    work: TreeWork,
    sensitivity: SensitivityWork,
    state_matrix_out: FloatArray,
    input_matrix_out: FloatArray,
) -> int:
    """The linearised step: how the state after one `tree_step` depends on that before.

        x⁺ = A x + B u,   x = (root pose and coordinates, velocity),   u applied forces

    all as differences from the step that starts at `data`; it is that step's exact
    derivative, its numerical damping included.

    Args:
        model: the tree.
        period: time step [s].
        data: state; unchanged in the end.
        work: workspace; gets the step's velocity change in `change`.
        sensitivity: workspace.
        state_matrix_out: (2N, 2N) A; the root's pose before and after is varied by a
            twist in its own frame, angular first.
        input_matrix_out: (2N, N) B.

    Returns:
        TREE_OK, or TREE_REFUSED or TREE_SINGULAR (derivatives then undefined).
    """
    size = model.dof_parent.size
    if is_refused(period, data):
        return TREE_REFUSED
    for d in range(size):
        sensitivity.velocity[d] = data.velocity[d]
    sensitivity.work.corrects[0] = 2
    status, stage, stages = TREE_OK, 0, 1
    while stage < stages:  # one call: it is compiled where it is called
        status = _step_stage(model, period, stage, data, work, sensitivity)
        if stage == 0 and status == -1:
            stages = 3
        stage += 1
    work.corrects[0] = 0
    for d in range(size):
        data.velocity[d] = sensitivity.velocity[d]
    _root_columns(model, period, data, work, sensitivity)
    for direction in range(3 * size):
        change = sensitivity.change[direction]
        if size <= direction < 2 * size:
            change[direction - size] += 1.0
        for k in range(model.root_size[0]):
            sensitivity.twist[0, k] = 1.0 if k == direction else 0.0
            for j in range(6):
                sensitivity.twist[0, k] += (
                    period * sensitivity.tangent[k, j] * change[j]
                )
        if model.root_size[0] == 6:
            transform_twist_back(
                sensitivity.pose, sensitivity.twist[0], sensitivity.twist[1]
            )
        for d in range(size):
            place = period * change[d]
            if d == direction:
                place += 1.0
            if d < model.root_size[0]:
                place = sensitivity.twist[1, d]
            if direction < 2 * size:
                state_matrix_out[d, direction] = place
                state_matrix_out[size + d, direction] = change[d]
            else:
                input_matrix_out[d, direction - 2 * size] = place
                input_matrix_out[size + d, direction - 2 * size] = change[d]
    return int(status)
