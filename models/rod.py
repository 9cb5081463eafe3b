"""The whole robot's limbs, advanced by one tick: the reduced rod dynamics.

Linearly implicit Euler at the equations of `models.motion`:

    (M + h (D + G_c) + h² (K + G_k)) Δv = h (Q_w + Q_drag + Q_tip - c
                                            - K (q + h v) - D v - Jᵀ τ)
    v ← v + Δv,  q ← q + h v

with K, D of `models.material`, drag linear in v at the present |v|, and each tendon a
cable between limb and winch: τ = clip(k s + d ṡ, 0, limit) at the end of the step, s
its stretch, G_k = Σ k J Jᵀ and G_c = Σ d J Jᵀ over those within bounds. Which ones
those are is solved with the step (semismooth Newton). A cable that is slack or slips
at its limit never gives the limb more work than its stretch had taken.

Elasticity, viscosity, drag and cables take energy out for any period; the Coriolis
forces and the change of M are explicit, first order in the period. Numerical damping of
a mode of frequency ω is ω h / 2: 0.3 % of critical at 1 Hz and 1 ms.
"""

import numpy as np

from models.material import segment_material
from models.motion import limb_motion
from models.numerics import FloatArray, cholesky_solve, kernel
from models.robot import RobotData, RobotModel
from models.tendon import tendon_lengths
from models.winch import WINCH_NOT_FINITE, servo_advance, winch_lengths
from models.workspace import RodWork, allocate_rod_work

__all__ = [
    "FAULT_NONE",
    "FAULT_NOT_FINITE",
    "RodWork",
    "allocate_rod_work",
    "reset_robot_data",
    "robot_energy",
    "robot_step",
]

FAULT_NONE = 0
FAULT_NOT_FINITE = 1

_SLACK = 0
_ELASTIC = 1
_SLIPPING = 2
_CABLE_PASSES = 30
_LINE_PASSES = 12


@kernel
def _material_terms(
    model: RobotModel,
    limb: int,
    coordinates: FloatArray,
    rates: FloatArray,
    period: float,
    work: RodWork,
) -> None:
    """Add elasticity and viscosity to the matrix, and all but cables to the load."""
    first = model.limb_segment_start[limb]
    for k in range(model.limb_segment_start[limb + 1] - first):
        bending, axial, bending_damping, axial_damping = segment_material(
            model, first + k
        )
        for j in range(3):
            stiffness = axial if j == 2 else bending
            damping = axial_damping if j == 2 else bending_damping
            i = 3 * k + j
            rate = rates[k, j]
            work.matrix[i, i] += period * (damping + period * stiffness)
            work.load[i] -= (
                work.bias[i]
                + stiffness * (coordinates[k, j] + period * rate)
                + damping * rate
            )


@kernel
def _cable_terms(
    model: RobotModel,
    limb: int,
    rates: FloatArray,
    winch_target: FloatArray,
    servo_length: FloatArray,
    period: float,
    work: RodWork,
) -> None:
    """Advance the winches and predict every cable's tension at unchanged velocity.

    Leaves servo_length, tendon_tension (not clipped), its slope and the first guess of
    its state in work; reads tendon_length and tendon_jacobian there.
    """
    first = model.limb_segment_start[limb]
    size = 3 * (model.limb_segment_start[limb + 1] - first)
    tendon = model.limb_tendon_start[limb]
    for i in range(model.limb_tendon_start[limb + 1] - tendon):
        t = tendon + i
        length = servo_advance(
            servo_length[t],
            winch_target[t],
            model.servo_time_constant[t],
            model.servo_speed_limit[t],
            period,
        )
        rate = (servo_length[t] - length) / period
        for j in range(size):
            rate += work.tendon_jacobian[i, j] * rates[j // 3, j % 3]
        stretch = work.tendon_length[i] - servo_length[t] + period * rate
        stiffness = model.tendon_stiffness[t]
        damping = model.tendon_damping[t]
        tension = stiffness * stretch + damping * rate
        work.servo_length[i] = length
        work.tendon_tension[i] = tension
        work.tendon_slope[i] = damping + period * stiffness
        work.tendon_state[i] = _ELASTIC
        if tension <= 0.0:
            work.tendon_state[i] = _SLACK
        elif tension >= model.tendon_tension_limit[t]:
            work.tendon_state[i] = _SLIPPING


@kernel
def _cable_tension(
    model: RobotModel, tendon: int, row: int, velocity_change: FloatArray, work: RodWork
) -> float:
    """Tension, not clipped, of a cable at the end of the step."""
    change = 0.0
    for i in range(3 * (model.tendon_termination[tendon] + 1)):
        change += work.tendon_jacobian[row, i] * velocity_change[i]
    return float(work.tendon_tension[row] + work.tendon_slope[row] * change)


@kernel
def _cable_states(
    model: RobotModel, limb: int, velocity_change: FloatArray, work: RodWork
) -> bool:
    """Set the cables' states at a velocity change; tell whether they were so before."""
    tendon = model.limb_tendon_start[limb]
    same = True
    for r in range(model.limb_tendon_start[limb + 1] - tendon):
        tension = _cable_tension(model, tendon + r, r, velocity_change, work)
        state = _ELASTIC
        if tension <= 0.0:
            state = _SLACK
        elif tension >= model.tendon_tension_limit[tendon + r]:
            state = _SLIPPING
        if state != work.tendon_state[r]:
            work.tendon_state[r] = state
            same = False
    return same


@kernel
def _step_slope(
    model: RobotModel, limb: int, period: float, share: float, work: RodWork
) -> float:
    """Slope of the step's convex cost from velocity_kept towards velocity_change.

    Writes the point at `share` of the way to velocity_trial.
    """
    first = model.limb_segment_start[limb]
    size = 3 * (model.limb_segment_start[limb + 1] - first)
    tendon = model.limb_tendon_start[limb]
    trial = work.velocity_trial
    slope = 0.0
    for i in range(size):
        way = work.velocity_change[i] - work.velocity_kept[i]
        trial[i] = work.velocity_kept[i] + share * way
        slope -= period * work.load[i] * way
    for i in range(size):
        way = work.velocity_change[i] - work.velocity_kept[i]
        slope += work.matrix[i, i] * trial[i] * way
        for j in range(i):
            other = work.velocity_change[j] - work.velocity_kept[j]
            slope += work.matrix[i, j] * (trial[j] * way + trial[i] * other)
    for r in range(model.limb_tendon_start[limb + 1] - tendon):
        tension = _cable_tension(model, tendon + r, r, trial, work)
        tension = min(max(tension, 0.0), model.tendon_tension_limit[tendon + r])
        for i in range(3 * (model.tendon_termination[tendon + r] + 1)):
            way = work.velocity_change[i] - work.velocity_kept[i]
            slope += period * tension * work.tendon_jacobian[r, i] * way
    return slope


@kernel
def _solve_step(model: RobotModel, limb: int, period: float, work: RodWork) -> int:
    """Solve for the velocity change and the cables' tensions at the end of the step.

    The step minimises a strictly convex, piecewise quadratic cost of the velocity
    change. Newton's method finds it in one pass where the cables' first states hold,
    else with a line search, for very stiff cables may jump over their whole range.

    Returns 0, or 1 where the matrix is not positive definite.
    """
    first = model.limb_segment_start[limb]
    size = 3 * (model.limb_segment_start[limb + 1] - first)
    tendon = model.limb_tendon_start[limb]
    tendons = model.limb_tendon_start[limb + 1] - tendon
    jacobian = work.tendon_jacobian
    system = work.system
    change = work.velocity_change
    for i in range(size):
        work.velocity_kept[i] = 0.0
    for _ in range(_CABLE_PASSES):
        for i in range(size):
            change[i] = period * work.load[i]
            for j in range(i + 1):
                system[i, j] = work.matrix[i, j]
        for r in range(tendons):
            state = work.tendon_state[r]
            if state == _SLACK:
                continue
            width = 3 * (model.tendon_termination[tendon + r] + 1)
            if state == _SLIPPING:
                tension = model.tendon_tension_limit[tendon + r]
            else:
                tension = work.tendon_tension[r]
                slope = period * work.tendon_slope[r]
                for i in range(width):
                    weighted = slope * jacobian[r, i]
                    for j in range(i + 1):
                        system[i, j] += weighted * jacobian[r, j]
            for i in range(width):
                change[i] -= period * jacobian[r, i] * tension
        if cholesky_solve(system, change, size) != 0:
            return 1
        if _cable_states(model, limb, change, work):
            break
        # the cost falls on the whole way unless the slope at its end is well above zero
        steep = -0.5 * _step_slope(model, limb, period, 0.0, work)
        if _step_slope(model, limb, period, 1.0, work) > steep:
            low, high = 0.0, 1.0
            for _ in range(_LINE_PASSES):
                share = 0.5 * (low + high)
                slope = _step_slope(model, limb, period, share, work)
                if slope > steep:
                    high = share
                elif slope < -steep:
                    low = share
                else:
                    break
        for i in range(size):
            change[i] = work.velocity_trial[i]
            work.velocity_kept[i] = change[i]
        _cable_states(model, limb, change, work)
    for r in range(tendons):
        tension = _cable_tension(model, tendon + r, r, change, work)
        limit = model.tendon_tension_limit[tendon + r]
        work.tendon_tension[r] = min(max(tension, 0.0), limit)
    return 0


@kernel
def _limb_step(
    model: RobotModel,
    limb: int,
    period: float,
    winch_target: FloatArray,
    data: RobotData,
    work: RodWork,
) -> int:
    """Advance one limb; its Data is written only where the result is finite."""
    first = model.limb_segment_start[limb]
    last = model.limb_segment_start[limb + 1]
    tendon = model.limb_tendon_start[limb]
    tendons = model.limb_tendon_start[limb + 1] - tendon
    coordinates = data.coordinates[first:last]
    rates = data.rates[first:last]
    limb_motion(model, limb, coordinates, rates, period, data.tip_wrench[limb], work)
    _material_terms(model, limb, coordinates, rates, period, work)
    tendon_lengths(model, limb, coordinates, work.tendon_length, work.tendon_jacobian)
    _cable_terms(model, limb, rates, winch_target, data.servo_length, period, work)
    if _solve_step(model, limb, period, work) != 0:
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


@kernel
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
    for limb in range(model.tip_speed_limit.size):
        if data.status[limb] == FAULT_NONE:
            data.status[limb] = _limb_step(
                model, limb, period, winch_target, data, work
            )
        if data.status[limb] == FAULT_NONE:
            continue
        frozen += 1
        for k in range(
            model.limb_segment_start[limb], model.limb_segment_start[limb + 1]
        ):
            for j in range(3):
                data.coordinates[k, j] = work.kept_coordinates[k, j]
                data.rates[k, j] = 0.0
        for t in range(
            model.limb_tendon_start[limb], model.limb_tendon_start[limb + 1]
        ):
            data.servo_length[t] = work.kept_servo[t]
            data.tension[t] = work.kept_tension[t]
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
            potential of the submerged weight about the limbs' bases [J].
    """
    kinetic = 0.0
    elastic = 0.0
    potential = 0.0
    for limb in range(model.tip_speed_limit.size):
        first = model.limb_segment_start[limb]
        last = model.limb_segment_start[limb + 1]
        coordinates = data.coordinates[first:last]
        motion, height = limb_motion(
            model,
            limb,
            coordinates,
            data.rates[first:last],
            0.0,
            data.tip_wrench[limb],
            work,
        )
        kinetic += motion
        potential += height
        for k in range(first, last):
            bending, axial, _, _ = segment_material(model, k)
            x = data.coordinates[k, 0]
            y = data.coordinates[k, 1]
            extension = data.coordinates[k, 2]
            elastic += 0.5 * (bending * (x * x + y * y) + axial * extension * extension)
        tendon_lengths(
            model, limb, coordinates, work.tendon_length, work.tendon_jacobian
        )
        tendon = model.limb_tendon_start[limb]
        for i in range(model.limb_tendon_start[limb + 1] - tendon):
            t = tendon + i
            stretch = max(work.tendon_length[i] - data.servo_length[t], 0.0)
            limit = model.tendon_tension_limit[t]
            tension = model.tendon_stiffness[t] * stretch
            if tension > limit:
                elastic += limit * (stretch - 0.5 * limit / model.tendon_stiffness[t])
            else:
                elastic += 0.5 * tension * stretch
    energy_out[0] = kinetic
    energy_out[1] = elastic
    energy_out[2] = potential


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
    return refused
