"""The whole robot's limbs, advanced by one tick: the reduced dynamics.

Linearly implicit Euler at the equations of `models.tree_motion`:

    (M + h (D + G_c) + h² (K + G_k)) Δv = h (Q_w + Q_drag + Q_tip - c
                                            - K (q + h v) - D v - Jᵀ τ)
    v ← v + Δv,  q ← q + h v

with K, D of the tapered sections, drag linear in v at the present |v|, each tendon a
cable between limb and winch: τ = clip(k s + d ṡ, least, limit) at the step's end, s its
stretch, G_k = Σ k J Jᵀ and G_c = Σ d J Jᵀ over those within bounds. Which ones
those are is solved with the step (semismooth Newton). A cable that is slack or slips
at its limit never gives the limb more work than its stretch had taken.

Elasticity, viscosity, drag and cables take energy out for any period; the Coriolis
forces and the change of M are explicit, first order in the period. Numerical damping of
a mode of frequency ω is ω h / 2: 0.3 % of critical at 1 Hz and 1 ms.
"""

import numpy as np

from models.cable import cable_terms, solve_step
from models.limb_rest import disturb, note_rest, rests, wake_limbs
from models.numerics import FloatArray, called_kernel, inner_kernel, kernel
from models.robot import RobotData, RobotModel
from models.tendon import tendon_lengths
from models.tree_motion import tree_motion
from models.tree_step import add_elastic, tree_energy
from models.winch import WINCH_NOT_FINITE, winch_lengths
from models.workspace import RodWork, allocate_rod_work

__all__ = [
    "FAULT_NONE",
    "FAULT_NOT_FINITE",
    "RodWork",
    "allocate_rod_work",
    "hold_frozen_limb",
    "limb_cables",
    "limb_step",
    "limb_system",
    "load_tips",
    "reset_robot_data",
    "robot_energy",
    "robot_step",
]

FAULT_NONE = 0
FAULT_NOT_FINITE = 1


@inner_kernel
def load_tips(model: RobotModel, data: RobotData) -> None:
    """Hand the tips' wrenches to the tree.

    Args:
        model: the robot.
        data: its tip wrenches go to its tree.
    """
    for limb in range(model.tip_speed_limit.size):
        tip = model.limb_segment_start[limb + 1] - 1
        for j in range(6):
            data.tree.wrench[tip, j] = data.tip_wrench[limb, j]


@inner_kernel
def limb_system(model: RobotModel, limb: int, work: RodWork) -> None:
    """Take one limb's block out of the tree's matrix and load.

    Args:
        model: the robot.
        limb: index of the limb.
        work: its tree's go to `matrix` and `load`.
    """
    start = 3 * model.limb_segment_start[limb]
    for i in range(3 * model.limb_segment_start[limb + 1] - start):
        work.load[i] = work.tree.load[start + i]
        for j in range(i + 1):
            work.matrix[i, j] = work.tree.matrix[start + i, start + j]


@inner_kernel
def limb_cables(
    model: RobotModel,
    limb: int,
    size: int,
    period: float,
    winch_target: FloatArray,
    data: RobotData,
    work: RodWork,
) -> int:
    """Solve one limb's step with its cables; nothing of it is taken over yet.

    Args:
        model: the robot.
        limb: index of the limb.
        size: its coordinates, and what else `matrix` and `load` hold behind them.
        period: time step [s].
        winch_target: (T,) wanted paid-out lengths [m].
        data: state.
        work: `matrix` and `load` of the limb; gets `velocity_change`, `servo_length`,
            `tendon_tension`, `tendon_state`, and in `system` the factor.

    Returns:
        A `FAULT_…` code.
    """
    first = model.limb_segment_start[limb]
    last = model.limb_segment_start[limb + 1]
    tendons = model.limb_tendon_start[limb + 1] - model.limb_tendon_start[limb]
    coordinates = data.coordinates[first:last]
    rates = data.rates[first:last]
    tendon_lengths(model, limb, coordinates, work.tendon_length, work.tendon_jacobian)
    cable_terms(model, limb, rates, winch_target, data.servo_length, period, work)
    if solve_step(size, tendons, period, work) != 0:
        return FAULT_NOT_FINITE
    total = 0.0
    for k in range(last - first):
        for j in range(3):
            rate = rates[k, j] + work.velocity_change[3 * k + j]
            total += abs(rate) + abs(coordinates[k, j])
    for i in range(tendons):
        total += abs(work.servo_length[i]) + abs(work.tendon_tension[i])
    if not total < np.inf:
        return FAULT_NOT_FINITE
    return FAULT_NONE


@inner_kernel
def limb_step(
    model: RobotModel,
    limb: int,
    period: float,
    winch_target: FloatArray,
    data: RobotData,
    work: RodWork,
) -> int:
    """Advance one limb; its Data is written only where the result is finite.

    Args:
        model: the robot.
        limb: index of the limb.
        period: time step [s].
        winch_target: (T,) wanted paid-out lengths [m].
        data: state, advanced in place.
        work: load and matrix of the whole tree.

    Returns:
        A `FAULT_…` code.
    """
    first = model.limb_segment_start[limb]
    last = model.limb_segment_start[limb + 1]
    tendon = model.limb_tendon_start[limb]
    tendons = model.limb_tendon_start[limb + 1] - tendon
    limb_system(model, limb, work)
    size = 3 * (last - first)
    status = limb_cables(model, limb, size, period, winch_target, data, work)
    if status != FAULT_NONE:
        return int(status)
    coordinates = data.coordinates[first:last]
    rates = data.rates[first:last]
    for k in range(last - first):
        for j in range(3):
            rates[k, j] += work.velocity_change[3 * k + j]
            coordinates[k, j] += period * rates[k, j]
            work.kept_coordinates[first + k, j] = coordinates[k, j]
    for i in range(tendons):
        data.servo_length[tendon + i] = work.servo_length[i]
        data.tension[tendon + i] = work.tendon_tension[i]
        work.kept_servo[tendon + i] = work.servo_length[i]
        work.kept_tension[tendon + i] = work.tendon_tension[i]
    return FAULT_NONE


@inner_kernel
def hold_frozen_limb(
    model: RobotModel, limb: int, work: RodWork, data: RobotData
) -> None:
    """Put a frozen limb back to its last finite state, still.

    Args:
        model: the robot.
        limb: index of the limb.
        work: holds that state.
        data: gets it.
    """
    for k in range(model.limb_segment_start[limb], model.limb_segment_start[limb + 1]):
        for j in range(3):
            data.coordinates[k, j] = work.kept_coordinates[k, j]
            data.rates[k, j] = 0.0
    for t in range(model.limb_tendon_start[limb], model.limb_tendon_start[limb + 1]):
        data.servo_length[t] = work.kept_servo[t]
        data.tension[t] = work.kept_tension[t]


@called_kernel
def robot_step(
    model: RobotModel,
    period: float,
    winch_target: FloatArray,
    data: RobotData,
    work: RodWork,
) -> int:
    """Advance all limbs of a robot by one period.

    A limb whose state or command is not finite is frozen: its status tells why, its
    pose, winches and tensions go back to the last finite ones, its rates to zero, and
    it stays so until `reset_robot_data`. The other limbs go on.

    Args:
        model: the robot.
        period: time step [s].
        winch_target: (T,) wanted paid-out lengths [m].
        data: state, advanced in place.
        work: workspace that belongs to this data.

    Returns:
        Number of frozen limbs.
    """
    frozen = 0
    load_tips(model, data)
    wake_limbs(model, winch_target, work.kept_coordinates, data, work.rest)
    tree_motion(model.tree, period, data.tree, work.tree)
    add_elastic(model.tree, period, data.tree, work.tree)
    for limb in range(model.tip_speed_limit.size):
        if rests(model, limb, data):
            continue
        if data.status[limb] == FAULT_NONE:
            data.status[limb] = limb_step(model, limb, period, winch_target, data, work)
            note_rest(model, limb, period, winch_target, data, work.rest)
        if data.status[limb] != FAULT_NONE:
            frozen += 1
            hold_frozen_limb(model, limb, work, data)
    return frozen


@kernel
def robot_energy(
    model: RobotModel, data: RobotData, work: RodWork, energy_out: FloatArray
) -> None:
    """Energy of the whole robot.

    Args:
        model: the robot.
        data: its state.
        work: workspace.
        energy_out: (3,) kinetic with added mass; elastic of limbs and stretched cables;
            potential of the submerged weight about the hull's origin [J].
    """
    tree_energy(model.tree, data.tree, work.tree, energy_out)
    elastic = 0.0
    for limb in range(model.tip_speed_limit.size):
        first = model.limb_segment_start[limb]
        last = model.limb_segment_start[limb + 1]
        coordinates = data.coordinates[first:last]
        tendon_lengths(
            model, limb, coordinates, work.tendon_length, work.tendon_jacobian
        )
        tendon = model.limb_tendon_start[limb]
        for i in range(model.limb_tendon_start[limb + 1] - tendon):
            t = tendon + i
            stretch = work.tendon_length[i] - data.servo_length[t]
            tension = model.tendon_stiffness[t] * stretch
            held = min(
                max(tension, model.tendon_tension_least[t]),
                model.tendon_tension_limit[t],
            )
            elastic += held * (stretch - 0.5 * held / model.tendon_stiffness[t])
    energy_out[1] += elastic


@kernel
def reset_robot_data(
    model: RobotModel, coordinates: FloatArray, work: RodWork, data: RobotData
) -> int:
    """Put the robot at rest at a pose, its winches set to hold it, all faults cleared.

    Where tendons cannot hold the pose (see `models.winch`), the Data gets the
    equilibrium next to it, so that nothing moves afterwards.

    Args:
        model: the robot.
        coordinates: (S, 3) wanted segment coordinates [rad, rad, m].
        work: workspace that belongs to the data.
        data: set to the pose; tip wrenches become zero.

    Returns:
        Number of limbs not reset because their coordinates are not finite.
    """
    refused = 0
    for limb in range(model.tip_speed_limit.size):
        first = model.limb_segment_start[limb]
        last = model.limb_segment_start[limb + 1]
        tendon = model.limb_tendon_start[limb]
        tendons = model.limb_tendon_start[limb + 1] - tendon
        status = winch_lengths(
            model, limb, coordinates[first:last], work, work.servo_length
        )
        if status == WINCH_NOT_FINITE:
            refused += 1
            continue
        for k in range(first, last):
            for j in range(3):
                value = coordinates[k, j]
                if j == 2:
                    value += work.pose_shift[k - first, j]
                data.coordinates[k, j] = value
                data.rates[k, j] = 0.0
                work.kept_coordinates[k, j] = value
        for i in range(tendons):
            data.servo_length[tendon + i] = work.servo_length[i]
            data.tension[tendon + i] = work.tendon_tension[i]
            work.kept_servo[tendon + i] = work.servo_length[i]
            work.kept_tension[tendon + i] = work.tendon_tension[i]
        for j in range(6):
            data.tip_wrench[limb, j] = 0.0
        data.status[limb] = FAULT_NONE
        disturb(model, limb, data, work.rest)
    return refused
