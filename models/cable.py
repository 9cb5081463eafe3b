"""Cables between limb and winches inside one step of the rod.

At the end of the step a cable's tension is τ = clip(k s + d ṡ, least, limit), s its
stretch. A tendon cannot push (least = 0), and its winch slips at the limit; a chamber
cannot pull (limit = 0), and its valve gives way at the least. Between the bounds it is
linear in the limb's velocity change Δv, so the step

    A Δv - h Q + h Jᵀ τ(Δv) = 0

is the gradient of a strictly convex, piecewise quadratic cost of Δv. Newton's method
on it ends in one pass where the states guessed from Δv = 0 hold, as they nearly always
do; else a line search keeps it from cycling: a stiff cable may cross its whole range.

The damper acts as soon as k s + d ṡ > 0, at most d/k (2 ms here) before the cable is
taut; so the tension is continuous, and the cable never gives back more than it took.
"""

from models.numerics import FloatArray, cholesky_solve, kernel
from models.robot import RobotModel
from models.winch import servo_advance
from models.workspace import RodWork

__all__ = ["cable_terms", "solve_step"]

_SLACK = 0
_ELASTIC = 1
_SLIPPING = 2
_CABLE_PASSES = 30
_LINE_PASSES = 40


@kernel
def cable_terms(
    model: RobotModel,
    limb: int,
    rates: FloatArray,
    winch_target: FloatArray,
    servo_length: FloatArray,
    period: float,
    work: RodWork,
) -> None:
    """Advance the winches and predict every cable's tension at unchanged velocity.

    Leaves servo_length, tendon_tension (not clipped), tendon_slope, tendon_least,
    tendon_limit and tendon_width in work; reads tendon_length and tendon_jacobian.

    Args:
        model: the robot.
        limb: index of the limb.
        rates: (n, 3) of this limb's coordinates [rad/s, rad/s, m/s].
        winch_target: (T,) wanted paid-out lengths of the robot [m].
        servo_length: (T,) present ones [m].
        period: time step [s].
        work: workspace.
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
        work.servo_length[i] = length
        work.tendon_tension[i] = stiffness * stretch + damping * rate
        work.tendon_slope[i] = damping + period * stiffness
        work.tendon_least[i] = model.tendon_tension_least[t]
        work.tendon_limit[i] = model.tendon_tension_limit[t]
        work.tendon_width[i] = 3 * (model.tendon_termination[t] + 1)


@kernel
def _state(tension: float, least: float, limit: float) -> int:
    """State of a cable whose tension, not clipped, is this [N]."""
    if tension <= least:
        return _SLACK
    if tension >= limit:
        return _SLIPPING
    return _ELASTIC


@kernel
def _tension(row: int, velocity_change: FloatArray, work: RodWork) -> float:
    """Tension [N], not clipped, of a cable at the end of the step."""
    change = 0.0
    for i in range(work.tendon_width[row]):
        change += work.tendon_jacobian[row, i] * velocity_change[i]
    return float(work.tendon_tension[row] + work.tendon_slope[row] * change)


@kernel
def _set_states(tendons: int, velocity_change: FloatArray, work: RodWork) -> bool:
    """Set the cables' states at a velocity change; tell whether they were so before."""
    same = True
    for r in range(tendons):
        tension = _tension(r, velocity_change, work)
        state = _state(tension, work.tendon_least[r], work.tendon_limit[r])
        if state != work.tendon_state[r]:
            work.tendon_state[r] = state
            same = False
    return same


@kernel
def _slope(
    size: int, tendons: int, period: float, share: float, work: RodWork
) -> float:
    """Slope of the step's cost on the way from velocity_kept to velocity_change.

    Writes the point at `share` of the way to velocity_trial.
    """
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
    for r in range(tendons):
        tension = max(_tension(r, trial, work), work.tendon_least[r])
        tension = min(tension, work.tendon_limit[r])
        for i in range(work.tendon_width[r]):
            way = work.velocity_change[i] - work.velocity_kept[i]
            slope += period * tension * work.tendon_jacobian[r, i] * way
    return slope


@kernel
def solve_step(size: int, tendons: int, period: float, work: RodWork) -> int:
    """Solve for the velocity change and the cables' tensions at the end of the step.

    Args:
        size: number of coordinates of the limb.
        tendons: number of its tendons.
        period: time step [s].
        work: A in `matrix` (lower triangle), Q in `load`, cables as `cable_terms`
            leaves them; gets Δv in `velocity_change` and `tendon_tension`, clipped.

    Returns:
        0, or 1 where the matrix is not positive definite.
    """
    jacobian = work.tendon_jacobian
    system = work.system
    change = work.velocity_change
    for i in range(size):
        work.velocity_kept[i] = 0.0
    for r in range(tendons):
        work.tendon_state[r] = _state(
            work.tendon_tension[r], work.tendon_least[r], work.tendon_limit[r]
        )
    for _ in range(_CABLE_PASSES):
        for i in range(size):
            change[i] = period * work.load[i]
            for j in range(i + 1):
                system[i, j] = work.matrix[i, j]
        for r in range(tendons):
            state = work.tendon_state[r]
            if state == _SLACK and work.tendon_least[r] == 0.0:
                continue
            width = work.tendon_width[r]
            if state == _SLACK:
                tension = work.tendon_least[r]
            elif state == _SLIPPING:
                tension = work.tendon_limit[r]
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
        if _set_states(tendons, change, work):
            break
        # a slope still below zero, but half gone: the cost has fallen all the way there
        half = 0.5 * _slope(size, tendons, period, 0.0, work)
        if _slope(size, tendons, period, 1.0, work) > 0.0:
            low, high = 0.0, 1.0
            for _ in range(_LINE_PASSES):
                share = 0.5 * (low + high)
                slope = _slope(size, tendons, period, share, work)
                if slope > 0.0:
                    high = share
                elif slope < half:
                    low = share
                else:
                    break
        for i in range(size):
            change[i] = work.velocity_trial[i]
            work.velocity_kept[i] = change[i]
        _set_states(tendons, change, work)
    for r in range(tendons):
        tension = max(_tension(r, change, work), work.tendon_least[r])
        work.tendon_tension[r] = min(tension, work.tendon_limit[r])
    return 0
