"""What a limb's tip touches, estimated at the robot from motion and force.

A contact begins with five samples above the gate. From its samples come:

- stiffness, damping and place: `fit_linear`, and `fit_logarithm` beside it, each only
  with force and with motion along the normal, or with a changing force (without the
  second gate a long hold feeds them noise);
- the normal: that of the scene, or of the linear law's gradient, once that is known
  and within 45 degrees of the force's direction with the friction taken off; before,
  that direction;
- what neither explains: the share of the force that is left.

Depth is counted along the inward normal from where the first contact began.
`models.surface_estimator_report` decides what of this is told.
"""

import math

from models.environment_report import (
    SurfaceReport,
    SurfaceStatus,
    copy_report,
    report_depth,
)
from models.numerics import FloatArray, inner_kernel, kernel
from models.surface_estimator import SurfaceEstimateData, SurfaceEstimatorModel
from models.surface_estimator_fit import (
    FIRST_LOGARITHM,
    LEVEL,
    SETTLING,
    UNIT,
    fit_linear,
    fit_logarithm,
    forget_linear,
)
from models.surface_estimator_normal import follow_normal

__all__ = [
    "doubt",
    "felt_depth",
    "free_depth",
    "linear_inside",
    "linear_stiffness",
    "observe_contact",
    "touch_depth",
]

_TOUCH_SHARE = 0.35
_LEAST_DEPTH = 2e-4
_MOST_DAMPING_SHARE = 0.3
_MEMORY = 0.005
_QUIET = 0.03
_BOUNCE = 0.5
_SETTLING = 30
_SURE = 5
_MOST_LOGARITHM = 1e3
_NEAR = 0.7  # cosine
_GONE = int(SurfaceStatus.GONE)


@kernel
def observe_contact(
    model: SurfaceEstimatorModel,
    period: float,
    position: FloatArray,
    velocity: FloatArray,
    force: FloatArray,
    scene_normal: FloatArray,
    report: SurfaceReport,
    data: SurfaceEstimateData,
) -> int:
    """Take one sample of the tip.

    Args:
        model: the gates.
        period: between samples [s].
        position: (3,) of the tip [m].
        velocity: (3,) [m/s].
        force: (3,) of the surface on the tip [N].
        scene_normal: (3,) outward unit normal where the scene tells it, else zeros.
        report: what was told last.
        data: the estimate, advanced.

    Returns:
        1 in the sample in which a contact begins where none was expected, or with
        nothing known before, else 0.
    """
    size = math.sqrt(force[0] ** 2 + force[1] ** 2 + force[2] ** 2)
    data.waited[0] += period
    if size < _TOUCH_SHARE * model.least_force and data.touching[0] == 0:
        for i in range(3):
            data.free[i] = position[i]
    data.above[0] = data.above[0] + 1 if size >= model.least_force else 0
    if data.above[0] == 0:
        data.quiet[0] += period
        if data.quiet[0] > _QUIET:
            data.touching[0] = 0
    if data.touching[0] == 0 and data.above[0] < _SURE:
        _miss(model, period, position, report, data)
        return 0
    if data.above[0] == 0:
        return 0
    data.missing[0] = 0.0
    elsewhere = 0
    if data.touching[0] == 0:
        elsewhere = _begin(model, force, size, report, data)
    data.quiet[0] = 0.0
    follow_normal(model.normal_hz, period, velocity, force, scene_normal, data.facing)
    _face(scene_normal, data)
    depth = 0.0
    rate = 0.0
    normal_force = 0.0
    for i in range(3):
        depth -= data.normal[i] * (position[i] - data.reference[i])
        rate -= data.normal[i] * velocity[i]
        normal_force += data.normal[i] * force[i]
    data.depth[0] = depth
    change = abs(size - data.size[0]) / period if data.size[0] >= 0.0 else 0.0
    data.size[0] = size
    moves = abs(rate) >= model.least_speed
    if model.least_force_rate > 0.0:
        moves = change >= model.least_force_rate
    if moves and normal_force > 0.5 * model.least_force:
        _fit(model, position, depth, rate, normal_force, data)
    return elsewhere


@inner_kernel
def _face(scene_normal: FloatArray, data: SurfaceEstimateData) -> None:
    """Take the normal of the scene, of the linear law, or of the force."""
    told = 0.0
    size = 0.0
    near = 0.0
    for i in range(3):
        told += scene_normal[i] ** 2
        size += data.linear.theta[i] ** 2
        near -= data.linear.theta[i] * data.facing.normal[i]
    size = math.sqrt(size)
    known = data.linear.taken[0] > SETTLING and near > _NEAR * size
    for i in range(3):
        if known and told < 0.5:
            data.normal[i] = -data.linear.theta[i] / size
        else:
            data.normal[i] = data.facing.normal[i]


@inner_kernel
def _miss(
    model: SurfaceEstimatorModel,
    period: float,
    position: FloatArray,
    report: SurfaceReport,
    data: SurfaceEstimateData,
) -> None:
    """Count the time inside of what should be there."""
    depth = -1.0
    if report.number[0] > 0 and report.status[0] != _GONE:
        depth = report_depth(report, position)
    missing = False
    if depth > model.gone_depth:
        expected = report.stiffness[0] * depth ** report.exponent[0]
        missing = expected > model.gone_force
    data.missing[0] = data.missing[0] + period if missing else 0.0


@inner_kernel
def _begin(
    model: SurfaceEstimatorModel,
    force: FloatArray,
    size: float,
    report: SurfaceReport,
    data: SurfaceEstimateData,
) -> int:
    """Begin a contact; return 1 where none was expected.

    Where it is a little off, what the samples of earlier contacts told is forgotten.
    """
    data.touching[0] = 1
    data.doubted[0] = 0
    data.samples[0] = 0
    data.size[0] = -1.0
    for i in range(3):
        data.left[i] = 0.0
    if data.quiet[0] > _BOUNCE:
        copy_report(report, data.before)
    known = report.number[0] > 0 and report.stiffness[0] > 0.0
    given = 0.0
    if known:
        given = felt_depth(model, report)
        shift = abs(report_depth(report, data.free) - given)
        if report.status[0] != _GONE and shift <= model.moved + 0.5 * given:
            if shift > model.shift + 0.3 * given:
                doubt(data)
            return 0
    stiffness = report.stiffness[0] if known else 0.0
    for i in range(3):
        data.reference[i] = data.free[i]
        data.facing.force[i] = 0.0
        data.facing.slip[i] = 0.0
        data.normal[i] = force[i] / size
        data.linear.theta[i] = -stiffness / UNIT * data.normal[i]
    data.law[0] = 0
    data.linear.theta[3] = 0.0
    data.linear.theta[4] = stiffness * given / LEVEL
    doubt(data)
    return 1


@kernel
def felt_depth(model: SurfaceEstimatorModel, report: SurfaceReport) -> float:
    """Depth in a reported surface at which the tip begins to feel it [m].

    Args:
        model: the gates.
        report: with a stiffness above 0.
    """
    share = _TOUCH_SHARE * model.least_force / report.stiffness[0]
    return float(share ** (1.0 / report.exponent[0]))


@kernel
def doubt(data: SurfaceEstimateData) -> None:
    """Let the next samples count as if nothing had been known.

    Args:
        data: the estimate; the laws stay until the samples change them.
    """
    data.samples[0] = 0
    forget_linear(data.normal, data.linear)
    for i in range(3):
        data.left[i] = 0.0
    _forget_logarithm(data)


@inner_kernel
def _straighten(model: SurfaceEstimatorModel, data: SurfaceEstimateData) -> None:
    """Begin the logarithmic law anew as the linear one."""
    stiffness = max(linear_stiffness(data), 1.0)
    data.logarithm[0] = math.log(stiffness)
    data.logarithm[1] = 0.0
    data.logarithm[2] = 1.0
    _forget_logarithm(data)


@inner_kernel
def _forget_logarithm(data: SurfaceEstimateData) -> None:
    """Say that nothing is known of the logarithmic law; it stays until then."""
    for i in range(3):
        for j in range(3):
            data.logarithm_covariance[i, j] = 0.0
        data.logarithm_covariance[i, i] = FIRST_LOGARITHM[i]


@inner_kernel
def _fit(
    model: SurfaceEstimatorModel,
    position: FloatArray,
    depth: float,
    rate: float,
    force: float,
    data: SurfaceEstimateData,
) -> None:
    """Take one sample into both laws."""
    data.samples[0] += 1
    for i in range(3):
        data.place[i] = position[i] - data.reference[i]
    left = fit_linear(
        model.forgetting, data.facing.normal, data.place, rate, force, data.linear
    )
    inside = depth - touch_depth(model, data)
    left_logarithm = force
    if inside > _LEAST_DEPTH:
        if abs(data.logarithm[1] * rate) < _MOST_DAMPING_SHARE:
            left_logarithm = fit_logarithm(
                model.forgetting,
                inside,
                rate,
                force,
                data.logarithm,
                data.logarithm_covariance,
            )
        total = data.logarithm[0] + data.logarithm[1] + data.logarithm[2]
        if not abs(total) < _MOST_LOGARITHM:
            _straighten(model, data)
            left_logarithm = force
        data.logarithm[2] = min(max(data.logarithm[2], 1.0), 3.0)
    if data.samples[0] > _SETTLING:
        data.left[0] += _MEMORY * (force * force - data.left[0])
        data.left[1] += _MEMORY * (left * left - data.left[1])
        data.left[2] += _MEMORY * (left_logarithm * left_logarithm - data.left[2])


@kernel
def linear_stiffness(data: SurfaceEstimateData) -> float:
    """Stiffness along the normal by the linear law [N/m].

    Args:
        data: the estimate.
    """
    total = 0.0
    for i in range(3):
        total -= data.normal[i] * data.linear.theta[i]
    return float(UNIT * total)


@kernel
def linear_inside(data: SurfaceEstimateData, position: FloatArray) -> float:
    """How deep a place is in the surface by the linear law.

    Args:
        data: the estimate; of a stiffness that is not 0.
        position: (3,) [m].

    Returns:
        Depth along the normal [m], negative outside.
    """
    force = LEVEL * data.linear.theta[4]
    for i in range(3):
        force += UNIT * data.linear.theta[i] * (position[i] - data.reference[i])
    return float(force / linear_stiffness(data))


@kernel
def free_depth(data: SurfaceEstimateData) -> float:
    """Where the tip last felt next to nothing, from the reference.

    Args:
        data: the estimate.

    Returns:
        Depth [m].
    """
    depth = 0.0
    for i in range(3):
        depth -= data.normal[i] * (data.free[i] - data.reference[i])
    return depth


@kernel
def touch_depth(model: SurfaceEstimatorModel, data: SurfaceEstimateData) -> float:
    """Where the surface is by the logarithmic law, from the reference.

    The tip last felt next to nothing at a known place; the law tells how deep it was.

    Args:
        model: the gates.
        data: the estimate.

    Returns:
        Depth [m].
    """
    depth = free_depth(data)
    felt = _TOUCH_SHARE * model.least_force
    given = math.exp((math.log(felt) - data.logarithm[0]) / data.logarithm[2])
    return float(depth - min(given, 5e-3))
