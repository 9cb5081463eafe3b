"""The convex problem behind one step of the inverse kinematics, and its solution.

    minimise  ½ |J dq - e|² + ½ (dq - d)ᵀ W (dq - d)   over dq in C

J is the (3, 3 n) position Jacobian of the tip, e [m] the wanted step of the tip, d a
step that the spare freedom should take, W a positive diagonal, equal for Δx and Δy of
a segment. C holds for every segment the disc |Δ + dΔ| <= bend limit, the disc
|dΔ| <= bend rate times period, and an interval of dδℓ.

With the residual f = e - J dq as unknown, dq = P(d + W⁻¹ Jᵀ f), P the projection onto
C: closed form, since C is a product over segments and W is isotropic on the discs.
What remains is F(f) = f + J dq(f) - e = 0, three equations whose F is the gradient of
the convex function ½|f|² - e·f + max over dq in C of (f·J dq - ½ |dq - d|²_W). Newton's
method with line search on that function solves them from f = 0: in one iteration
where no limit is touched, in about one more for each limit that is. Whatever the
iterations reach, dq is in C.
"""

import math
from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, cholesky_solve, kernel
from models.robot import RobotModel

__all__ = [
    "InverseData",
    "add_compliance",
    "allocate_inverse_data",
    "project_bend",
    "set_bounds",
    "solve_step",
]

_NEWTON_LIMIT = 40
_CUT_LIMIT = 20
_CURVATURE_SHARE = 0.02  # of the first slope that a step may leave, past its zero
_INSIDE = 1.0 - 1e-12  # keeps rounding from leaving the bend disc


class InverseData(NamedTuple):
    """Work arrays of the inverse, n the most segments of any limb; no state."""

    pose: FloatArray
    """(n+1, 4, 4) poses along the limb."""
    jacobian: FloatArray
    """(6, 3 n) tip Jacobian; J is its lower half."""
    stiffness: FloatArray
    """(n, 2) bending [N m/rad] and axial [N/m] stiffness."""
    weight: FloatArray
    """(n, 2) W of bend [m2/rad2] and of extension [1]."""
    bound: FloatArray
    """(n, 5) radius of the bend disc, of the rate disc [rad], least and greatest step
    of δℓ, greatest step of δℓ that the rate allows [m]."""
    floor: FloatArray
    """(n,) least δℓ at the present bend [m]."""
    drift: FloatArray
    """(n, 3) d [rad, rad, m]."""
    step: FloatArray
    """(n, 3) dq [rad, rad, m]."""
    slope: FloatArray
    """(n, 4) derivative of the projection: xx, xy, yy, extension."""
    pressed: FloatArray
    """(n, 4) how far a limit keeps the step from where it would go: bend, bend rate
    [rad], length, extension rate [m]."""
    matrix: FloatArray
    """(3, 3) of the Newton step."""
    vector: FloatArray
    """(4, 3) e, f, F and the Newton step of f [m]."""


def allocate_inverse_data(model: RobotModel) -> InverseData:
    """Make the work arrays of the inverse, for any limb of the robot.

    Args:
        model: the robot.

    Returns:
        Zeroed arrays; one set serves one thread.
    """
    segments = int(np.max(np.diff(model.limb_segment_start)))
    return InverseData(
        pose=np.zeros((segments + 1, 4, 4)),
        jacobian=np.zeros((6, 3 * segments)),
        stiffness=np.zeros((segments, 2)),
        weight=np.zeros((segments, 2)),
        bound=np.zeros((segments, 5)),
        floor=np.zeros(segments),
        drift=np.zeros((segments, 3)),
        step=np.zeros((segments, 3)),
        slope=np.zeros((segments, 4)),
        pressed=np.zeros((segments, 4)),
        matrix=np.zeros((3, 3)),
        vector=np.zeros((4, 3)),
    )


@kernel
def _norm(x: float, y: float) -> float:
    """Length of a pair; a tenth of the cost of hypot, whose range is not needed."""
    return math.sqrt(x * x + y * y)


@kernel
def set_bounds(
    bend_limit: float,
    extension_low: float,
    extension_high: float,
    bend_travel: float,
    extension_travel: float,
    coordinates: FloatArray,
    bound_out: FloatArray,
) -> None:
    """Limits of one segment's step; from outside its range it is let in at the rate.

    Args:
        bend_limit: greatest bending angle [rad].
        extension_low: least δℓ [m].
        extension_high: greatest δℓ [m].
        bend_travel: greatest |dΔ| of this step [rad].
        extension_travel: greatest |dδℓ| of this step [m].
        coordinates: (3,) of the segment [rad, rad, m].
        bound_out: (5,) a row of `InverseData.bound`.
    """
    theta = _norm(coordinates[0], coordinates[1])
    bound_out[0] = max(_INSIDE * bend_limit, theta - bend_travel)
    bound_out[1] = bend_travel
    low = extension_low - coordinates[2]
    high = extension_high - coordinates[2]
    bound_out[2] = min(max(low, -extension_travel), extension_travel)
    bound_out[3] = max(min(high, extension_travel), -extension_travel)
    bound_out[4] = extension_travel


@kernel
def project_bend(
    at_x: float, at_y: float, limit: float, travel: float, wish_x: float, wish_y: float
) -> tuple[float, float, float, float, float, float, float]:
    """Nearest bend step to the one wished, in the bend disc and in the rate disc.

    Args:
        at_x: Δx where the step starts [rad].
        at_y: Δy there [rad].
        limit: radius of the disc about Δ = 0 [rad].
        travel: radius of the disc about the start [rad].
        wish_x: wished step of Δx [rad].
        wish_y: wished step of Δy [rad].

    Returns:
        The step x, y [rad]; its derivative by the wish xx, xy, yy; how far the wish
        lies beyond the bend disc and beyond the rate disc, where that disc holds [rad].
    """
    bend = _norm(at_x + wish_x, at_y + wish_y)
    speed = _norm(wish_x, wish_y)
    if bend <= limit and speed <= travel:
        return wish_x, wish_y, 1.0, 0.0, 1.0, 0.0, 0.0
    # the nearest point of one disc is the answer where it lies in the other
    if bend > limit:
        scale = limit / bend
        normal_x = (at_x + wish_x) / bend
        normal_y = (at_y + wish_y) / bend
        x = limit * normal_x - at_x
        y = limit * normal_y - at_y
        if _norm(x, y) <= travel:
            xx = scale * normal_y * normal_y
            xy = -scale * normal_x * normal_y
            yy = scale * normal_x * normal_x
            return x, y, xx, xy, yy, bend - limit, 0.0
    if speed > travel:
        scale = travel / speed
        normal_x = wish_x / speed
        normal_y = wish_y / speed
        x = travel * normal_x
        y = travel * normal_y
        if _norm(at_x + x, at_y + y) <= limit:
            xx = scale * normal_y * normal_y
            xy = -scale * normal_x * normal_y
            yy = scale * normal_x * normal_x
            return x, y, xx, xy, yy, 0.0, speed - travel
    # else the nearer of the corners where the circles cross; then Δ is not 0
    theta = _norm(at_x, at_y)
    out_x = at_x / theta
    out_y = at_y / theta
    along = (limit * limit - travel * travel - theta * theta) / (2.0 * theta)
    along = min(max(along, -travel), travel)
    across = np.sqrt(max(travel * travel - along * along, 0.0))
    if wish_y * out_x - wish_x * out_y < 0.0:
        across = -across
    x = along * out_x - across * out_y
    y = along * out_y + across * out_x
    over_limit = max(bend - limit, 0.0)
    return x, y, 0.0, 0.0, 0.0, over_limit, max(speed - travel, 0.0)


@kernel
def _evaluate(count: int, coordinates: FloatArray, data: InverseData) -> None:
    """Step dq and F at the residual f of data.vector."""
    for i in range(3):
        data.vector[2, i] = data.vector[1, i] - data.vector[0, i]
    for k in range(count):
        pull_x = 0.0
        pull_y = 0.0
        pull_z = 0.0
        for i in range(3):
            f = data.vector[1, i]
            pull_x += data.jacobian[3 + i, 3 * k] * f
            pull_y += data.jacobian[3 + i, 3 * k + 1] * f
            pull_z += data.jacobian[3 + i, 3 * k + 2] * f
        x, y, xx, xy, yy, over_limit, over_rate = project_bend(
            coordinates[k, 0],
            coordinates[k, 1],
            data.bound[k, 0],
            data.bound[k, 1],
            data.drift[k, 0] + pull_x / data.weight[k, 0],
            data.drift[k, 1] + pull_y / data.weight[k, 0],
        )
        wish = data.drift[k, 2] + pull_z / data.weight[k, 1]
        low = data.bound[k, 2]
        high = data.bound[k, 3]
        z = min(max(wish, low), high)
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
        for i in range(3):
            data.vector[2, i] += (
                data.jacobian[3 + i, 3 * k] * x
                + data.jacobian[3 + i, 3 * k + 1] * y
                + data.jacobian[3 + i, 3 * k + 2] * z
            )


@kernel
def _along(vector: FloatArray) -> float:
    """Slope of the convex function along the Newton step: F·step [m2]."""
    slope = 0.0
    for i in range(3):
        slope += vector[2, i] * vector[3, i]
    return slope


@kernel
def add_compliance(count: int, data: InverseData) -> None:
    """Set data.matrix to 1 + J P' W⁻¹ Jᵀ with the derivative in data.slope."""
    for i in range(3):
        for j in range(i + 1):
            data.matrix[i, j] = 1.0 if i == j else 0.0
    for k in range(count):
        xx = data.slope[k, 0] / data.weight[k, 0]
        xy = data.slope[k, 1] / data.weight[k, 0]
        yy = data.slope[k, 2] / data.weight[k, 0]
        zz = data.slope[k, 3] / data.weight[k, 1]
        for i in range(3):
            jx = data.jacobian[3 + i, 3 * k]
            jy = data.jacobian[3 + i, 3 * k + 1]
            jz = data.jacobian[3 + i, 3 * k + 2]
            along_x = jx * xx + jy * xy
            along_y = jx * xy + jy * yy
            along_z = jz * zz
            for j in range(i + 1):
                data.matrix[i, j] += (
                    along_x * data.jacobian[3 + j, 3 * k]
                    + along_y * data.jacobian[3 + j, 3 * k + 1]
                    + along_z * data.jacobian[3 + j, 3 * k + 2]
                )


@kernel
def solve_step(count: int, coordinates: FloatArray, data: InverseData) -> int:
    """Solve the problem of one step.

    Args:
        count: segments of the limb.
        coordinates: (count, 3) where the step starts [rad, rad, m].
        data: jacobian, weight, bound, drift and vector[0] = e are read; step,
            pressed and vector[1] = f are left as the solution.

    Returns:
        Newton iterations that were needed.
    """
    goal = 0.0
    for i in range(3):
        data.vector[1, i] = 0.0
        goal += data.vector[0, i] * data.vector[0, i]
    goal = 1e-14 * goal + 1e-32  # |F| <= 1e-7 |e|, and what rounding leaves
    _evaluate(count, coordinates, data)
    for iteration in range(_NEWTON_LIMIT):
        size = 0.0
        for i in range(3):
            size += data.vector[2, i] * data.vector[2, i]
        if not size > goal:
            return iteration
        add_compliance(count, data)
        for i in range(3):
            data.vector[3, i] = -data.vector[2, i]
        if cholesky_solve(data.matrix, data.vector[3], 3) != 0:
            return iteration
        # along the Newton step the slope of the convex function, F·step, grows from
        # below 0; a step that passes its zero is cut by bisection and secant in turn
        start = _along(data.vector)
        for i in range(3):
            data.vector[1, i] += data.vector[3, i]
        _evaluate(count, coordinates, data)
        low = 0.0
        low_slope = start
        high = 1.0
        high_slope = _along(data.vector)
        fraction = 1.0
        slope = high_slope
        for cut in range(_CUT_LIMIT):
            if slope <= -_CURVATURE_SHARE * start:
                break
            before = fraction
            fraction = 0.5 * (low + high)
            if cut % 2 == 0:
                fraction = low - low_slope * (high - low) / (high_slope - low_slope)
            for i in range(3):
                data.vector[1, i] += (fraction - before) * data.vector[3, i]
            _evaluate(count, coordinates, data)
            slope = _along(data.vector)
            if slope > 0.0:
                high = fraction
                high_slope = slope
            else:
                low = fraction
                low_slope = slope
    return _NEWTON_LIMIT
