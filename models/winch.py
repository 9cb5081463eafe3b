"""Winches: what length to pay out for a wanted pose, and how the servos get there.

The paid-out length of a tendon is its geometric length less its stretch, so the wanted
tensions come first. They balance elasticity and submerged weight, K q - Q_w + Jᵀ τ = 0
with J the Jacobian of the tendon lengths, within [pretension, limit]. Taken segment by
segment from the tip, because a tendon loads no segment beyond the one it is tied to;
in each a small convex quadratic programme with those bounds is solved exactly by an
active set (Stark and Parker 1995), so the tensions are unique and continuous in q.

A tendon can only shorten a segment, a chamber only lengthen it: where bending alone
compresses or extends more than the wanted δℓ, the bend is met and δℓ gives way. Valid
for slow poses: inertia and drag are left out; the stiff tendons hold the pose against
both.
"""

import math

import numpy as np

from models.material import segment_material
from models.numerics import FloatArray, called_kernel, cholesky_solve, kernel
from models.robot import RobotModel
from models.tendon import tendon_lengths
from models.weight import limb_weight_load
from models.workspace import RodWork

__all__ = [
    "WINCH_NOT_FINITE",
    "WINCH_OK",
    "WINCH_TENSION_LIMITED",
    "servo_advance",
    "winch_lengths",
]

WINCH_OK = 0
WINCH_TENSION_LIMITED = 1
WINCH_NOT_FINITE = 2

_AXIAL_WEIGHT = 0.1  # of (δℓ error / L)² against (bend error)², 2e-6 rad at 2 mm
_CO_CONTRACTION = 1e-5  # of tension² against that of the axial error
_KKT = 1e-12  # gradient over its scale that counts as zero: 1e-5 N of co-contraction
_BEND_TOLERANCE = 1e-3  # rad

_LOW = 0
_FREE = 1
_HIGH = 2


@kernel
def servo_advance(
    length: float,
    target: float,
    time_constant: float,
    speed_limit: float,
    period: float,
) -> float:
    """Advance one winch: first-order lag to its target, limited in speed.

    Args:
        length: paid out now [m].
        target: wanted [m].
        time_constant: of the lag [s].
        speed_limit: greatest speed either way [m/s].
        period: time step [s].

    Returns:
        Length paid out a period later [m].
    """
    change = (length - target) * math.expm1(-period / time_constant)
    limit = speed_limit * period
    return length + min(max(change, -limit), limit)


@kernel
def _gather_free(work: RodWork, count: int) -> int:
    """Write the system of the free tensions, the others fixed; returns their number."""
    free = 0
    for i in range(count):
        if work.quad_state[i] != _FREE:
            continue
        total = work.quad_vector[i]
        column = 0
        for j in range(count):
            if work.quad_state[j] == _FREE:
                if column <= free:
                    work.system[free, column] = work.quad_matrix[i, j]
                column += 1
            else:
                total -= work.quad_matrix[i, j] * work.quad_value[j]
        work.velocity_change[free] = total
        free += 1
    return free


@kernel
def _bounded_minimum(work: RodWork, count: int) -> int:
    """Minimise x·H x/2 - g·x for low <= x <= high by an active set.

    H, g, low, high in quad_matrix, quad_vector, quad_low and quad_high; x in
    quad_value and its states in quad_state. Every pass frees the bound that promises
    most and lets the others stop at theirs; the cost falls, so it ends.

    Returns 0, or 1 where rounding stopped it at a feasible x that is not the minimum.
    """
    scale = 0.0
    for i in range(count):
        work.quad_state[i] = _LOW
        work.quad_value[i] = work.quad_low[i]
        scale = max(scale, abs(work.quad_vector[i]))
        scale = max(scale, work.quad_matrix[i, i] * abs(work.quad_low[i]))
    for _ in range(4 * count + 8):
        best = -1
        steepest = _KKT * scale
        for i in range(count):
            if work.quad_state[i] == _FREE or work.quad_low[i] >= work.quad_high[i]:
                continue
            descent = work.quad_vector[i]
            for j in range(count):
                descent -= work.quad_matrix[i, j] * work.quad_value[j]
            if work.quad_state[i] == _HIGH:
                descent = -descent
            if descent > steepest:
                steepest = descent
                best = i
        if best < 0:
            return 0
        work.quad_state[best] = _FREE
        for _ in range(count + 1):
            free = _gather_free(work, count)
            if cholesky_solve(work.system, work.velocity_change, free) != 0:
                return 1
            fraction = 1.0
            stop = -1
            stop_state = _LOW
            free = 0
            for i in range(count):
                if work.quad_state[i] != _FREE:
                    continue
                value = work.quad_value[i]
                wanted = work.velocity_change[free]
                free += 1
                if wanted < work.quad_low[i]:
                    reach = (work.quad_low[i] - value) / (wanted - value)
                    state = _LOW
                elif wanted > work.quad_high[i]:
                    reach = (work.quad_high[i] - value) / (wanted - value)
                    state = _HIGH
                else:
                    continue
                if reach < fraction or stop < 0:
                    fraction = min(reach, 1.0)
                    stop = i
                    stop_state = state
            free = 0
            for i in range(count):
                if work.quad_state[i] == _FREE:
                    change = work.velocity_change[free] - work.quad_value[i]
                    work.quad_value[i] += fraction * change
                    free += 1
            if stop < 0:
                break
            work.quad_state[stop] = stop_state
            low = stop_state == _LOW
            work.quad_value[stop] = work.quad_low[stop] if low else work.quad_high[stop]
    return 1


@kernel
def _own_tendons(model: RobotModel, limb: int, segment: int, work: RodWork) -> int:
    """List the tendons tied at a segment's end and take those beyond off the load."""
    tendon = model.limb_tendon_start[limb]
    count = 0
    for i in range(model.limb_tendon_start[limb + 1] - tendon):
        tied = model.tendon_termination[tendon + i]
        if tied == segment:
            work.quad_index[count] = i
            count += 1
        elif tied > segment:
            for j in range(3 * segment, 3 * segment + 3):
                work.load[j] -= work.tendon_jacobian[i, j] * work.tendon_tension[i]
    return count


@kernel
def _segment_tensions(
    model: RobotModel, limb: int, segment: int, work: RodWork
) -> None:
    """Tensions of the tendons tied at the end of one segment; those beyond are known.

    Reads the wanted generalised forces in load, leaves there what stays unbalanced.
    """
    bending, axial, _, _ = segment_material(
        model, model.limb_segment_start[limb] + segment
    )
    axial *= model.segment_length[model.limb_segment_start[limb] + segment]
    weight_bend = 1.0 / (bending * bending)
    weight_axial = _AXIAL_WEIGHT / (axial * axial)
    small = _CO_CONTRACTION * weight_axial
    tendon = model.limb_tendon_start[limb]
    jacobian = work.tendon_jacobian
    column = 3 * segment
    count = _own_tendons(model, limb, segment, work)
    for r in range(count):
        i = work.quad_index[r]
        high = model.tendon_tension_limit[tendon + i]
        eased = min(model.tendon_pretension[tendon + i], high)
        least = model.tendon_tension_least[tendon + i]
        low = least if least < 0.0 else eased
        x = weight_bend * jacobian[i, column]
        y = weight_bend * jacobian[i, column + 1]
        z = weight_axial * jacobian[i, column + 2]
        work.quad_low[r] = low
        work.quad_high[r] = high
        work.quad_vector[r] = (
            x * work.load[column]
            + y * work.load[column + 1]
            + z * work.load[column + 2]
            + small * eased
        )
        for c in range(count):
            j = work.quad_index[c]
            work.quad_matrix[r, c] = (
                x * jacobian[j, column]
                + y * jacobian[j, column + 1]
                + z * jacobian[j, column + 2]
            )
        work.quad_matrix[r, r] += small
    _bounded_minimum(work, count)
    for r in range(count):
        i = work.quad_index[r]
        work.tendon_tension[i] = work.quad_value[r]
        for j in range(column, column + 3):
            work.load[j] -= jacobian[i, j] * work.quad_value[r]


@called_kernel
def winch_lengths(
    model: RobotModel,
    limb: int,
    coordinates: FloatArray,
    work: RodWork,
    length_out: FloatArray,
) -> int:
    """Paid-out lengths that hold a pose at rest, as near as the tensions can.

    The bend is met where tensions within the limit can; δℓ gives way first (see above).
    Leaves the tensions in work.tendon_tension [N] and the distance of the equilibrium
    from `coordinates` in work.pose_shift (n, 3).

    Args:
        model: the robot.
        limb: index of the limb.
        coordinates: (n, 3) wanted segment coordinates of this limb [rad, rad, m].
        work: workspace.
        length_out: (t,) to be paid out by each winch of this limb [m].

    Returns:
        WINCH_OK; WINCH_TENSION_LIMITED where the bend is not met to 1e-3 rad;
        WINCH_NOT_FINITE where coordinates are not finite (length_out not written).
    """
    first = model.limb_segment_start[limb]
    count = model.limb_segment_start[limb + 1] - first
    tendon = model.limb_tendon_start[limb]
    tendons = model.limb_tendon_start[limb + 1] - tendon
    total = 0.0
    for k in range(count):
        for j in range(3):
            total += abs(coordinates[k, j])
    if not total < np.inf:
        return WINCH_NOT_FINITE
    tendon_lengths(model, limb, coordinates, work.tendon_length, work.tendon_jacobian)
    limb_weight_load(model, limb, coordinates, work, work.load)
    for k in range(count):
        bending, axial, _, _ = segment_material(model, first + k)
        work.load[3 * k] -= bending * coordinates[k, 0]
        work.load[3 * k + 1] -= bending * coordinates[k, 1]
        work.load[3 * k + 2] -= axial * coordinates[k, 2]
    status = WINCH_OK
    for k in range(count - 1, -1, -1):
        _segment_tensions(model, limb, k, work)
        bending, axial, _, _ = segment_material(model, first + k)
        for j in range(2):
            work.pose_shift[k, j] = work.load[3 * k + j] / bending
            if abs(work.pose_shift[k, j]) > _BEND_TOLERANCE:
                status = WINCH_TENSION_LIMITED
        work.pose_shift[k, 2] = work.load[3 * k + 2] / axial
    for i in range(tendons):
        length = work.tendon_length[i]
        for k in range(count):
            # linear to 3 nm at a shift of 2 mm: length is nearly linear in δℓ
            length += work.tendon_jacobian[i, 3 * k + 2] * work.pose_shift[k, 2]
        stiffness = model.tendon_stiffness[tendon + i]
        length_out[i] = length - work.tendon_tension[i] / stiffness
    return status
