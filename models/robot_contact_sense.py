"""The force of contact at a limb's tip, without a sensor there: from pose and tensions.

A limb whose pose and tensions are measured is in balance with its own model but for
what touches it. At rates so low that inertia does not matter,

    Jᵀ F = r = K (q - q₀) + D q̇ + A τ - Q,     F = (J C Jᵀ)⁻¹ J C r,   C = K⁻¹

A the tendons' Jacobian, Q weight less buoyancy and drag. Where more coordinates are
measured than F has components, the rest of r is what no force at the tip explains: F
leaves the least of it, weighed by the compliance C as elastic energy.
Where a limb cannot feel a direction, its share is damped away rather than made up.

It takes all for a force at the tip: a touch halfway along the limb is told as a smaller
one at the tip. Errors of the model appear as force: of weight w as up to w, of the
stiffness as that share of the elastic load.
"""

import numpy as np

from models.numerics import FloatArray, IntArray, cholesky_solve, inner_kernel, kernel
from models.robot import RobotData, RobotModel
from models.tendon import tendon_lengths
from models.tree_motion import tree_motion
from models.tree_step import add_elastic
from models.workspace import RodWork

__all__ = ["estimate_tip_forces"]

_DAMPING = 1e-6  # of the mean compliance of the tip


@inner_kernel
def _tip_row(
    model: RobotModel, limb: int, coordinate: int, work: RodWork
) -> tuple[float, float, float]:
    """Velocity of a tip, in the hull's axes, by a coordinate of its limb."""
    tree = model.tree
    element = model.limb_segment_start[limb + 1] - 1
    point = tree.element_step_start[element + 1] - 1
    first = tree.element_dof_start[element]
    d = 3 * model.limb_segment_start[limb] + coordinate
    at = work.tree.point_position[point]
    own = d >= first
    column = work.tree.point_column[point, d - first] if own else work.tree.column[d]
    return (
        column[3] + column[1] * at[2] - column[2] * at[1],
        column[4] + column[2] * at[0] - column[0] * at[2],
        column[5] + column[0] * at[1] - column[1] * at[0],
    )


@kernel
def estimate_tip_forces(
    model: RobotModel,
    coordinates: FloatArray,
    rates: FloatArray,
    tension: FloatArray,
    data: RobotData,
    work: RodWork,
    force_out: FloatArray,
    valid_out: IntArray,
) -> None:
    """Estimate what touches each limb's tip.

    Args:
        model: the robot as its file gives it.
        coordinates: (S, 3) measured [rad, rad, m].
        rates: (S, 3) [rad/s, rad/s, m/s].
        tension: (T,) measured [N].
        data: scratch; its tips must be without load; limbs that are marked as resting
            are left out.
        work: scratch.
        force_out: (L, 3) force on each tip, hull frame [N]; 0 where not valid.
        valid_out: (L,) 1 where the measurement is finite and the limb feels forces.
    """
    for k in range(model.segment_length.size):
        for j in range(3):
            finite = abs(coordinates[k, j]) + abs(rates[k, j]) < np.inf
            data.coordinates[k, j] = coordinates[k, j] if finite else 0.0
            data.rates[k, j] = rates[k, j] if finite else 0.0
    tree_motion(model.tree, 0.0, data.tree, work.tree)
    add_elastic(model.tree, 0.0, data.tree, work.tree)
    for limb in range(model.tip_speed_limit.size):
        first = model.limb_segment_start[limb]
        last = model.limb_segment_start[limb + 1]
        count = 3 * (last - first)
        tendon = model.limb_tendon_start[limb]
        tendons = model.limb_tendon_start[limb + 1] - tendon
        valid_out[limb] = 0
        for i in range(3):
            force_out[limb, i] = 0.0
        if data.tree.resting[first] == 1:
            continue
        total = 0.0
        for k in range(first, last):
            for j in range(3):
                total += abs(coordinates[k, j]) + abs(rates[k, j])
        for t in range(tendon, tendon + tendons):
            total += abs(tension[t])
        if not total < np.inf:
            continue
        tendon_lengths(
            model,
            limb,
            data.coordinates[first:last],
            work.tendon_length,
            work.tendon_jacobian,
        )
        for d in range(count):
            left = -work.tree.load[3 * first + d]
            for t in range(tendons):
                left += work.tendon_jacobian[t, d] * tension[tendon + t]
            work.load[d] = left
        for i in range(3):
            work.velocity_change[i] = 0.0
            for j in range(3):
                work.system[i, j] = 0.0
        for d in range(count):
            stiffness = model.tree.element_stiffness[first + d // 3, d % 3, d % 3]
            if not stiffness > 0.0:
                continue
            row = _tip_row(model, limb, d, work)
            for i in range(3):
                weighted = row[i] / stiffness
                work.velocity_change[i] += weighted * work.load[d]
                for j in range(i + 1):
                    work.system[i, j] += weighted * row[j]
        mean = (work.system[0, 0] + work.system[1, 1] + work.system[2, 2]) / 3.0
        for i in range(3):
            work.system[i, i] += _DAMPING * mean
        if cholesky_solve(work.system, work.velocity_change, 3) != 0:
            continue
        valid_out[limb] = 1
        for i in range(3):
            force_out[limb, i] = work.velocity_change[i]
