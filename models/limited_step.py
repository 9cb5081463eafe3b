"""One limited step of a limb whose tip is to be somewhere and to point somewhere.

The problem of models/constrained_step,

    minimise  ½ |J dq - e|² + ½ (dq - d)ᵀ W (dq - d)   over dq in C,

for three rows of position [m] and three of direction, the latter times a length, so
that all six are metres. C, the projection onto it and Newton's method on the dual
residual f = e - J dq are as there; F(f) has as many equations as rows, whatever the
number of segments. The rows of direction have rank two at the goal; the 1 that the dual
matrix adds to its diagonal keeps it regular.
"""

from typing import NamedTuple

import numpy as np

from models.constrained_step import project_bend
from models.limb import LimbModel, limb_jacobian
from models.numerics import FloatArray, IntArray, cholesky_solve, kernel

__all__ = [
    "REACH_BEND_LIMITED",
    "REACH_EXTENSION_LIMITED",
    "ReachData",
    "allocate_reach_data",
    "limits_met",
    "linearise",
    "solve_limited_step",
    "weigh",
]

REACH_BEND_LIMITED = 2
"""A segment is pressed against its greatest bending angle."""
REACH_EXTENSION_LIMITED = 4
"""A segment is pressed against its least or greatest length."""

_NEWTON_LIMIT = 40
_BLOCKED = 1e-5  # [rad] or [m] wished beyond a limit, to be reported
_CUT_LIMIT = 20
_CURVATURE_SHARE = 0.02  # of the first slope that a step may leave, past its zero


class ReachData(NamedTuple):
    """Work arrays for a limb of n segments, and what the last solution reached."""

    frame: FloatArray
    """(n+1, 4, 4) frames along the limb."""
    twist: FloatArray
    """(6, 3 n) tip Jacobian."""
    jacobian: FloatArray
    """(2, 6, 3 n) J: position, then direction times its length; two to go between."""
    residual: FloatArray
    """(2, 6) way to the goal of each J [m]."""
    weight: FloatArray
    """(n, 2) W of bend [m2/rad2] and of extension [1]."""
    bound: FloatArray
    """(n, 5) as `InverseData.bound`."""
    drift: FloatArray
    """(n, 3) d [rad, rad, m]."""
    push: FloatArray
    """(n, 3) where spare freedom is to go: to rest, off obstacles [rad, rad, m]."""
    step: FloatArray
    """(n, 3) dq [rad, rad, m]."""
    slope: FloatArray
    """(n, 4) derivative of the projection: xx, xy, yy, extension."""
    pressed: FloatArray
    """(n, 4) how far a limit keeps the step from where it would go: bend, bend rate
    [rad], length, extension rate [m]."""
    matrix: FloatArray
    """(6, 6) of the Newton step."""
    vector: FloatArray
    """(4, 6) e, f, F and the Newton step of f [m]."""
    trial: FloatArray
    """(n, 3) coordinates that are tried [rad, rad, m]."""
    best: FloatArray
    """(n, 3) the best so far [rad, rad, m]."""
    start: IntArray
    """(s,) seeds to start from, the nearest first."""
    start_gap: FloatArray
    """(s,) their square distances [m2]."""
    tip: FloatArray
    """(6,) where the tip is [m] and points, the nearest to the goal that was found."""
    error: FloatArray
    """(2,) what is left to the goal: way [m] and angle [rad]."""
    effort: IntArray
    """(2,) steps and starts of the last solution."""


def allocate_reach_data(model: LimbModel, starts: int = 32) -> ReachData:
    """Make the work arrays of a limb; one set serves one thread.

    Args:
        model: the limb.
        starts: most starts of one solution.
    """
    count = model.segment_length.size
    return ReachData(
        frame=np.zeros((count + 1, 4, 4)),
        twist=np.zeros((6, 3 * count)),
        jacobian=np.zeros((2, 6, 3 * count)),
        residual=np.zeros((2, 6)),
        weight=np.zeros((count, 2)),
        bound=np.zeros((count, 5)),
        drift=np.zeros((count, 3)),
        push=np.zeros((count, 3)),
        step=np.zeros((count, 3)),
        slope=np.zeros((count, 4)),
        pressed=np.zeros((count, 4)),
        matrix=np.zeros((6, 6)),
        vector=np.zeros((4, 6)),
        trial=np.zeros((count, 3)),
        best=np.zeros((count, 3)),
        start=np.zeros(starts, dtype=np.int64),
        start_gap=np.zeros(starts),
        tip=np.zeros(6),
        error=np.zeros(2),
        effort=np.zeros(2, dtype=np.int64),
    )


@kernel
def linearise(
    model: LimbModel,
    goal: FloatArray,
    direction_length: float,
    which: int,
    coordinates: FloatArray,
    data: ReachData,
) -> float:
    """Way from the tip to the goal, and its derivative, into one of two places.

    Args:
        model: the limb.
        goal: (6,) position [m] and unit direction of the tip's z axis.
        direction_length: [m] times a change of direction is a way; 0 for position only.
        which: 0 or 1, the place.
        coordinates: (n, 3) [rad, rad, m].
        data: residual, jacobian and tip are written.

    Returns:
        Square of the way [m2].
    """
    count = model.segment_length.size
    limb_jacobian(model, coordinates, data.frame, data.twist)
    square = 0.0
    for i in range(3):
        data.tip[i] = data.frame[count, i, 3]
        data.tip[3 + i] = data.frame[count, i, 2]
        data.residual[which, i] = goal[i] - data.tip[i]
        data.residual[which, 3 + i] = direction_length * (goal[3 + i] - data.tip[3 + i])
        if direction_length == 0.0:
            data.residual[which, 3 + i] = 0.0
    for i in range(6):
        square += data.residual[which, i] * data.residual[which, i]
    tx = direction_length * data.tip[3]
    ty = direction_length * data.tip[4]
    tz = direction_length * data.tip[5]
    for j in range(3 * count):
        for i in range(3):
            data.jacobian[which, i, j] = data.twist[3 + i, j]
        wx = data.twist[0, j]
        wy = data.twist[1, j]
        wz = data.twist[2, j]
        data.jacobian[which, 3, j] = wy * tz - wz * ty
        data.jacobian[which, 4, j] = wz * tx - wx * tz
        data.jacobian[which, 5, j] = wx * ty - wy * tx
    return square


@kernel
def _evaluate(
    count: int, rows: int, which: int, coordinates: FloatArray, data: ReachData
) -> None:
    """Step dq and F at the residual f of data.vector."""
    for i in range(rows):
        data.vector[2, i] = data.vector[1, i] - data.vector[0, i]
    for k in range(count):
        pull_x = 0.0
        pull_y = 0.0
        pull_z = 0.0
        for i in range(rows):
            f = data.vector[1, i]
            pull_x += data.jacobian[which, i, 3 * k] * f
            pull_y += data.jacobian[which, i, 3 * k + 1] * f
            pull_z += data.jacobian[which, i, 3 * k + 2] * f
        x, y, xx, xy, yy, over_limit, over_rate = project_bend(
            coordinates[k, 0],
            coordinates[k, 1],
            data.bound[k, 0],
            data.bound[k, 1],
            data.drift[k, 0] + pull_x / data.weight[k, 0],
            data.drift[k, 1] + pull_y / data.weight[k, 0],
        )
        wish = data.drift[k, 2] + pull_z / data.weight[k, 1]
        z = min(max(wish, data.bound[k, 2]), data.bound[k, 3])
        beyond = abs(wish - z)
        by_rate = abs(z) >= data.bound[k, 4]
        data.step[k, 0] = x
        data.step[k, 1] = y
        data.step[k, 2] = z
        data.slope[k, 0] = xx
        data.slope[k, 1] = xy
        data.slope[k, 2] = yy
        data.slope[k, 3] = 0.0 if beyond > 0.0 else 1.0
        data.pressed[k, 0] = over_limit
        data.pressed[k, 1] = over_rate
        data.pressed[k, 2] = 0.0 if by_rate else beyond
        data.pressed[k, 3] = beyond if by_rate else 0.0
        for i in range(rows):
            data.vector[2, i] += (
                data.jacobian[which, i, 3 * k] * x
                + data.jacobian[which, i, 3 * k + 1] * y
                + data.jacobian[which, i, 3 * k + 2] * z
            )


@kernel
def _add_compliance(count: int, rows: int, which: int, data: ReachData) -> None:
    """Set data.matrix to 1 + J P' W⁻¹ Jᵀ with the derivative in data.slope."""
    for i in range(rows):
        for j in range(i + 1):
            data.matrix[i, j] = 1.0 if i == j else 0.0
    for k in range(count):
        xx = data.slope[k, 0] / data.weight[k, 0]
        xy = data.slope[k, 1] / data.weight[k, 0]
        yy = data.slope[k, 2] / data.weight[k, 0]
        zz = data.slope[k, 3] / data.weight[k, 1]
        for i in range(rows):
            jx = data.jacobian[which, i, 3 * k]
            jy = data.jacobian[which, i, 3 * k + 1]
            jz = data.jacobian[which, i, 3 * k + 2]
            along_x = jx * xx + jy * xy
            along_y = jx * xy + jy * yy
            along_z = jz * zz
            for j in range(i + 1):
                data.matrix[i, j] += (
                    along_x * data.jacobian[which, j, 3 * k]
                    + along_y * data.jacobian[which, j, 3 * k + 1]
                    + along_z * data.jacobian[which, j, 3 * k + 2]
                )


@kernel
def solve_limited_step(
    count: int, rows: int, which: int, coordinates: FloatArray, data: ReachData
) -> int:
    """Solve the problem of one step.

    Args:
        count: segments of the limb.
        rows: 3 for a position, 6 for position and direction.
        which: place of J in data.jacobian.
        coordinates: (count, 3) where the step starts [rad, rad, m].
        data: jacobian, weight, bound, drift and vector[0] = e are read; step,
            pressed and vector[1] = f are left as the solution.

    Returns:
        Newton iterations that were needed.
    """
    goal = 0.0
    for i in range(rows):
        data.vector[1, i] = 0.0
        goal += data.vector[0, i] * data.vector[0, i]
    goal = 1e-14 * goal + 1e-32  # |F| <= 1e-7 |e|, and what rounding leaves
    # one call of _evaluate for Newton steps and their cuts: it is compiled once
    iteration = 0
    cut = -1
    start = 0.0
    low = 0.0
    low_slope = 0.0
    high = 1.0
    high_slope = 0.0
    fraction = 0.0
    for _ in range(_NEWTON_LIMIT * (_CUT_LIMIT + 1)):
        _evaluate(count, rows, which, coordinates, data)
        if iteration > 0:
            # along the Newton step the slope of the convex function, F·step, grows
            # from below 0; a step past its zero is cut by bisection and secant in turn
            slope = 0.0
            for i in range(rows):
                slope += data.vector[2, i] * data.vector[3, i]
            if slope > 0.0:
                high = fraction
                high_slope = slope
            else:
                low = fraction
                low_slope = slope
            cut += 1
            if slope > -_CURVATURE_SHARE * start and cut < _CUT_LIMIT:
                before = fraction
                fraction = 0.5 * (low + high)
                if cut % 2 == 0:
                    fraction = low - low_slope * (high - low) / (high_slope - low_slope)
                for i in range(rows):
                    data.vector[1, i] += (fraction - before) * data.vector[3, i]
                continue
        size = 0.0
        for i in range(rows):
            size += data.vector[2, i] * data.vector[2, i]
        if not size > goal or iteration == _NEWTON_LIMIT:
            return iteration
        _add_compliance(count, rows, which, data)
        for i in range(rows):
            data.vector[3, i] = -data.vector[2, i]
        if cholesky_solve(data.matrix, data.vector[3], rows) != 0:
            return iteration
        start = 0.0
        for i in range(rows):
            start += data.vector[2, i] * data.vector[3, i]
            data.vector[1, i] += data.vector[3, i]
        iteration += 1
        cut = -1
        low = 0.0
        low_slope = start
        high = 1.0
        high_slope = 0.0
        fraction = 1.0
    return iteration


@kernel
def weigh(model: LimbModel, damping: float, data: ReachData) -> None:
    """Set W of all segments.

    Args:
        model: the limb.
        damping: W of the softest bend [m2/rad2].
        data: weight is written.
    """
    for k in range(model.segment_length.size):
        for j in range(2):
            data.weight[k, j] = damping * model.stiffness[k, j]


@kernel
def limits_met(count: int, data: ReachData) -> int:
    """Limits of posture that the last step was pressed against, as status bits.

    Args:
        count: segments of the limb.
        data: pressed is read.
    """
    status = 0
    for k in range(count):
        if data.pressed[k, 0] > _BLOCKED:
            status |= REACH_BEND_LIMITED
        if data.pressed[k, 2] > _BLOCKED:
            status |= REACH_EXTENSION_LIMITED
    return status
