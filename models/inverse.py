"""Inverse kinematics of a limb's tip: one warm step a tick, inside every limit.

Damped least squares with the limits inside the problem (models/constrained_step): the
step of the tip is e, the way to the target cut to what the tip may do in a period; the
spare freedom drifts to the rest posture at 2 1/s, slower far from the target. So the
step is continuous in target and posture, it slides along limits, and it does not
chatter. A segment that meets a limit stops there within one period.

W = (λ0² + |e| l) K, with l the limb's length and K the stiffness over that of the
softest bend, from the elastic energy of the tapered section. So the spare freedom goes
where it costs least elastic energy. |e| l is at least the curvature of the tip's path
that J leaves out: without it a stretched limb trembles at a target beyond its reach.
It vanishes with e (Levenberg-Marquardt as Sugihara 2011, T-RO 27, 984), so that a held
target is met, where a damping by singular values that stays would leave the drift
something to push against. The damping of an extension grows with the strain it makes,
1/r² of a bend's, not with the stiffness of the spine: a limb that can reach by its
length alone is then not slowed.

Where chambers drive a segment, a bend asks for a least extension (see
models/chamber_limits). What a bend adds to that is counted as its own, and the
extension as what goes beyond: the same problem in other coordinates, in which the
limits are separate again.

Positions only: the tip's orientation is left free. Valid below θ = 2π.
"""

import numpy as np

from models.chamber_limits import chamber_floor, hold_chambers
from models.constrained_step import (
    InverseData,
    add_compliance,
    allocate_inverse_data,
    set_bounds,
    solve_step,
)
from models.limb import limb_tip_jacobian
from models.material import segment_material
from models.numerics import FloatArray, called_kernel, cholesky_solve, kernel
from models.robot import RobotModel

__all__ = [
    "BEND_LIMITED",
    "EXTENSION_LIMITED",
    "NOT_FINITE",
    "OUT_OF_REACH",
    "RATE_LIMITED",
    "InverseData",
    "allocate_inverse_data",
    "inverse_solve",
    "inverse_step",
]

RATE_LIMITED = 1
"""The tip or a segment moves as fast as it may; of a solution: not yet settled."""
BEND_LIMITED = 2
"""A segment is pressed against its greatest bending angle."""
EXTENSION_LIMITED = 4
"""A segment is pressed against its least or greatest length."""
OUT_OF_REACH = 8
"""Limits of the posture, not of the rate, keep the tip from going to the target."""
NOT_FINITE = 16
"""Input was not finite: the coordinates are handed back as they were."""

_REST_RATE = 2.0  # [1/s] of the drift to rest
_REST_STEP = 5e-3  # [rad] at most of one step
_REST_WAY = 1e-4  # [m] from the target at which the drift is halved
_BASE_DAMPING = 1e-8  # λ0² [m2/rad2]: bias of a held target below 5e-8 m
_PRESSED_BEND = 1e-6  # [rad] wished beyond a limit, to be reported
_PRESSED_EXTENSION = 1e-5  # [m]; at rest on the edge of its range 1e-7 is wished
_ON_TARGET = 1e-6  # [m]
_SOLVE_TIP_STEP = 0.02  # of the limb's length
_SETTLED = 1e-6  # [rad] or [m] of one step


@kernel
def _status(
    count: int, distance: float, coordinates: FloatArray, data: InverseData
) -> int:
    """Bits for the step that led to `coordinates`; uses up matrix and vector[3]."""
    status = 0
    wanted = 0.0
    moved = 0.0
    for i in range(3):
        wanted += data.vector[0, i] * data.vector[0, i]
        moved += (data.vector[0, i] - data.vector[1, i]) ** 2
    wanted = np.sqrt(wanted)
    if distance > wanted and np.sqrt(moved) > 0.9 * wanted:
        status |= RATE_LIMITED
    for k in range(count):
        if data.pressed[k, 1] > _PRESSED_BEND:
            status |= RATE_LIMITED
        if data.pressed[k, 3] > _PRESSED_EXTENSION:
            status |= RATE_LIMITED
        if data.pressed[k, 0] > _PRESSED_BEND:
            status |= BEND_LIMITED
        if data.pressed[k, 2] > _PRESSED_EXTENSION:
            status |= EXTENSION_LIMITED
    if status & (BEND_LIMITED | EXTENSION_LIMITED) == 0:
        return status
    # what of the residual is left to the directions that no posture limit blocks
    for k in range(count):
        data.slope[k, 0] = 1.0
        data.slope[k, 1] = 0.0
        data.slope[k, 2] = 1.0
        data.slope[k, 3] = 0.0 if data.pressed[k, 2] > _PRESSED_EXTENSION else 1.0
        if data.pressed[k, 0] > _PRESSED_BEND:
            x = coordinates[k, 0]
            y = coordinates[k, 1]
            square = x * x + y * y
            data.slope[k, 0] = y * y / square
            data.slope[k, 1] = -x * y / square
            data.slope[k, 2] = x * x / square
    add_compliance(count, data)
    for i in range(3):
        data.vector[3, i] = data.vector[1, i]
    if cholesky_solve(data.matrix, data.vector[3], 3) == 0:
        left = 0.0
        for i in range(3):
            left += data.vector[3, i] * data.vector[3, i]
        if np.sqrt(left) > max(_ON_TARGET, 0.1 * wanted):
            status |= OUT_OF_REACH
    return status


@called_kernel
def inverse_step(
    model: RobotModel,
    limb: int,
    target: FloatArray,
    period: float,
    coordinates: FloatArray,
    data: InverseData,
    coordinates_out: FloatArray,
) -> int:
    """Move a limb's commanded coordinates for one period toward a tip target.

    Coordinates outside their range, as a measured posture may be, are led back in at
    the greatest rate.

    Args:
        model: the robot.
        limb: index of the limb.
        target: (3,) wanted position of the tip in the limb's base frame [m].
        period: time since the last step [s]; the rate limits are times this.
        coordinates: (n, 3) present command of this limb [rad, rad, m].
        data: work arrays.
        coordinates_out: (n, 3) next command; may be `coordinates` itself.

    Returns:
        Status bits: RATE_LIMITED, BEND_LIMITED, EXTENSION_LIMITED, OUT_OF_REACH, or
        NOT_FINITE alone, with coordinates_out equal to coordinates.
    """
    start = model.limb_segment_start[limb]
    count = model.limb_segment_start[limb + 1] - start
    for k in range(count):
        for j in range(3):
            coordinates_out[k, j] = coordinates[k, j]
    limb_tip_jacobian(model, limb, coordinates_out, data.pose, data.jacobian)
    distance = 0.0
    for i in range(3):
        data.vector[0, i] = target[i] - data.pose[count, i, 3]
        distance += data.vector[0, i] * data.vector[0, i]
    distance = np.sqrt(distance)
    if not (distance < np.inf and 0.0 <= period < np.inf):
        return NOT_FINITE
    softest = np.inf
    length = 0.0
    for k in range(count):
        bend, axial, _, _ = segment_material(model, start + k)
        data.stiffness[k, 0] = bend
        data.stiffness[k, 1] = axial
        softest = min(softest, bend)
        length += model.segment_length[start + k]
    way = min(distance, model.tip_speed_limit[limb] * period)
    if distance > way:
        for i in range(3):
            data.vector[0, i] *= way / distance
    damping = way * length
    share = min(_REST_RATE * period, 1.0) / (1.0 + way / _REST_WAY)
    for k in range(count):
        s = start + k
        bend_travel = model.bend_rate_limit[s] * period
        travel = model.extension_rate_limit[s] * period
        floor, by_x, by_y, span = chamber_floor(
            model, s, coordinates_out[k, 0], coordinates_out[k, 1]
        )
        for i in range(3, 6):
            data.jacobian[i, 3 * k] += by_x * data.jacobian[i, 3 * k + 2]
            data.jacobian[i, 3 * k + 1] += by_y * data.jacobian[i, 3 * k + 2]
        data.floor[k] = floor
        set_bounds(
            model.bend_limit[s],
            floor,
            floor + max(span, 0.0),
            bend_travel,
            travel,
            coordinates_out[k],
            data.bound[k],
        )
        radius = 0.5 * (model.segment_radius[s, 0] + model.segment_radius[s, 1])
        data.weight[k, 0] = (_BASE_DAMPING + damping) * data.stiffness[k, 0] / softest
        data.weight[k, 1] = _BASE_DAMPING * data.stiffness[k, 1] / softest
        data.weight[k, 1] += damping / (radius * radius)
        # more drift than this pushes against the damping, and the target is missed
        most = min(0.5 * bend_travel, _REST_STEP)
        for j in range(2):
            gap = model.rest_coordinates[s, j] - coordinates_out[k, j]
            data.drift[k, j] = min(max(share * gap, -most), most)
        most = min(0.5 * travel, _REST_STEP * radius)
        rest_floor, _, _, _ = chamber_floor(
            model, s, model.rest_coordinates[s, 0], model.rest_coordinates[s, 1]
        )
        gap = model.rest_coordinates[s, 2] - rest_floor
        gap -= coordinates_out[k, 2] - floor
        data.drift[k, 2] = min(max(share * gap, -most), most)
    solve_step(count, coordinates_out, data)
    for k in range(count):
        for j in range(3):
            if not abs(data.step[k, j]) < np.inf:
                return NOT_FINITE
    for k in range(count):
        for j in range(3):
            coordinates_out[k, j] += data.step[k, j]
        floor, _, _, _ = chamber_floor(
            model, start + k, coordinates_out[k, 0], coordinates_out[k, 1]
        )
        coordinates_out[k, 2] += floor - data.floor[k]
    hold_chambers(model, limb, coordinates_out)
    return _status(count, distance, coordinates_out, data)


@kernel
def inverse_solve(
    model: RobotModel,
    limb: int,
    target: FloatArray,
    iterations: int,
    data: InverseData,
    coordinates_out: FloatArray,
) -> int:
    """Find the posture of a limb whose tip is at a target, or as near as it can be.

    The steps are those of `inverse_step`, in each of which the tip may go 2 % of the
    limb's length. Out of reach, the nearest point is found that no small change of
    the posture betters.

    Args:
        model: the robot.
        limb: index of the limb.
        target: (3,) wanted position of the tip in the limb's base frame [m].
        iterations: greatest number of steps; 2000 settle nearly every case.
        data: work arrays.
        coordinates_out: (n, 3) a first guess [rad, rad, m], replaced by the solution;
            left alone where the input is not finite.

    Returns:
        Status bits as of `inverse_step`; RATE_LIMITED where it had not settled.
    """
    start = model.limb_segment_start[limb]
    end = model.limb_segment_start[limb + 1]
    length = 0.0
    for s in range(start, end):
        length += model.segment_length[s]
    period = _SOLVE_TIP_STEP * length / model.tip_speed_limit[limb]
    status = 0
    for _ in range(iterations):
        status = inverse_step(
            model, limb, target, period, coordinates_out, data, coordinates_out
        )
        if status == NOT_FINITE:
            return status
        largest = 0.0
        for k in range(end - start):
            for j in range(3):
                largest = max(largest, abs(data.step[k, j]))
        if largest < _SETTLED:
            return status & ~RATE_LIMITED
    return status | RATE_LIMITED
