"""When and what the robot tells of the surface that it touches.

A contact's model is told after 100 samples, at most ten times a second, where stiffness
has changed by more than 15 %, the surface has shifted by more than 1 mm or 15 % of the
depth (a millimetre is all of a press of 2 N into 2000 N/m), or what is said of it has
changed. Told at once: a contact where none was expected (with the old
stiffness, until the new one is known), and a surface that should be there and is not.

The law is Kelvin-Voigt until the exponent of the logarithmic one is surely above 1.15
and it leaves clearly less of the force.
Where a law says that the tip was inside while it felt nothing, it is not told: the
samples did not tell stiffness and place apart yet. Where no law explains a contact it
is begun anew once, for the surface may have changed; then it is told as not explained.
"""

import math

from models.environment_report import (
    PLANE,
    SurfaceReport,
    SurfaceStatus,
    report_depth,
)
from models.numerics import FloatArray, IntArray, called_kernel, inner_kernel, kernel
from models.surface_estimator import SurfaceEstimateData, SurfaceEstimatorModel
from models.surface_estimator_contact import (
    doubt,
    felt_depth,
    free_depth,
    linear_inside,
    linear_stiffness,
    observe_contact,
    touch_depth,
)
from models.surface_estimator_fit import UNIT

__all__ = ["estimate_surface", "unexplained_share"]

_SOFTEST = 5.0
_STIFFEST = 1e5
_CURVED = 1.15
_CURVED_SAMPLES = 250
_STRAIGHT = 1.1
_CLEARLY = 0.25
_BETTER = 0.5
_FREE_INSIDE = 1e-3
_EXPONENT_STEP = 0.1
_STAYS = 0.5
_AS_KNOWN = int(SurfaceStatus.AS_KNOWN)
_MOVED = int(SurfaceStatus.MOVED)
_CHANGED = int(SurfaceStatus.CHANGED)
_GONE = int(SurfaceStatus.GONE)
_NOT_EXPLAINED = int(SurfaceStatus.NOT_EXPLAINED)


@called_kernel
def estimate_surface(
    model: SurfaceEstimatorModel,
    now: IntArray,
    period: float,
    position: FloatArray,
    velocity: FloatArray,
    force: FloatArray,
    scene_normal: FloatArray,
    data: SurfaceEstimateData,
    report_out: SurfaceReport,
) -> int:
    """Take one sample of the tip, and tell of the surface where there is news.

    Args:
        model: the gates.
        now: (1,) the robot's clock [ns].
        period: between samples [s].
        position: (3,) of the tip [m].
        velocity: (3,) [m/s].
        force: (3,) of the surface on the tip [N].
        scene_normal: (3,) outward unit normal where the scene tells it, else zeros.
        data: the estimate, advanced.
        report_out: what was told last; changed where there is news.

    Returns:
        1 where there is news, else 0.
    """
    elsewhere = observe_contact(
        model, period, position, velocity, force, scene_normal, report_out, data
    )
    if data.missing[0] >= model.gone_time:
        data.missing[0] = 0.0
        return _tell(now, _GONE, data, report_out)
    if elsewhere == 1 and report_out.number[0] > 0 and report_out.stiffness[0] > 0.0:
        _place(data.free, felt_depth(model, report_out), data, report_out)
        return _tell(now, _MOVED, data, report_out)
    waiting = data.waited[0] < model.publish_period or data.touching[0] == 0
    if waiting or data.samples[0] < max(model.samples, 3.0) or data.quiet[0] > 0.0:
        return 0
    return _consider(model, now, position, data, report_out)


@kernel
def unexplained_share(data: SurfaceEstimateData) -> float:
    """Share of the force that the better law leaves, 0 to 1; 0 while too few samples.

    Args:
        data: the estimate.
    """
    if not data.left[0] > 0.0:
        return 0.0
    left = min(data.left[1], data.left[2])
    return min(1.0, math.sqrt(left / data.left[0]))


@inner_kernel
def _consider(
    model: SurfaceEstimatorModel,
    now: IntArray,
    position: FloatArray,
    data: SurfaceEstimateData,
    report_out: SurfaceReport,
) -> int:
    """Tell of the contact's model where it is news."""
    _choose_law(data)
    stiffness = linear_stiffness(data)
    damping = UNIT * max(0.0, data.linear.theta[3])
    exponent = 1.0
    inside = 0.0
    free = 0.0
    if data.law[0] == 1:
        stiffness = math.exp(data.logarithm[0])
        damping = max(0.0, data.logarithm[1]) * stiffness
        exponent = data.logarithm[2]
        inside = data.depth[0] - touch_depth(model, data)
        free = free_depth(data) - touch_depth(model, data)
    elif stiffness > 0.0:
        inside = linear_inside(data, position)
        free = linear_inside(data, data.free)
    share = unexplained_share(data)
    sound = _SOFTEST <= stiffness <= _STIFFEST and inside > 0.0
    sound = sound and free < _FREE_INSIDE
    if sound and stiffness * inside**exponent < 2.0 * model.least_force:
        return 0
    if not sound or share > model.unexplained:
        if report_out.status[0] == _NOT_EXPLAINED or share <= model.unexplained:
            return 0
        if data.doubted[0] == 0:
            data.doubted[0] = 1
            doubt(data)
            return 0
        report_out.confidence[0] = 1.0 - share
        return _tell(now, _NOT_EXPLAINED, data, report_out)
    told = 0.0
    shift = 0.0
    if report_out.number[0] > 0:
        told = report_out.stiffness[0] * inside ** report_out.exponent[0]
        shift = inside - report_depth(report_out, position)
    ratio = told / (stiffness * inside**exponent)
    force = stiffness * inside**exponent
    status = _status(model, position, inside, force, report_out.status[0], data)
    news = abs(ratio - 1.0) > model.stiffness_share
    news = news or abs(shift) > min(model.shift, model.stiffness_share * inside)
    news = news or abs(exponent - report_out.exponent[0]) > _EXPONENT_STEP
    if not news and status == report_out.status[0]:
        return 0
    report_out.stiffness[0] = stiffness
    report_out.damping[0] = damping
    report_out.exponent[0] = exponent
    report_out.confidence[0] = 1.0 - share
    _place(position, inside, data, report_out)
    return _tell(now, status, data, report_out)


@inner_kernel
def _choose_law(data: SurfaceEstimateData) -> None:
    """Believe an exponent above 1 only where the samples show it."""
    spread = math.sqrt(data.logarithm_covariance[2, 2] * data.left[2])
    if data.samples[0] < _CURVED_SAMPLES:
        return
    clearly = data.left[2] < _BETTER * data.left[1]
    if data.logarithm[2] - 2.0 * spread > _CURVED and clearly:
        data.law[0] = 1
    elif data.logarithm[2] < _STRAIGHT or data.left[1] < _CLEARLY * data.left[2]:
        data.law[0] = 0


@inner_kernel
def _status(
    model: SurfaceEstimatorModel,
    position: FloatArray,
    inside: float,
    force: float,
    told: int,
    data: SurfaceEstimateData,
) -> int:
    """Compare with what was known before this contact.

    How deep a soft surface is pressed is known to a share of the depth. What is told
    stays until it is clearly otherwise: an estimate at the threshold does not flap.
    """
    before = data.before
    if before.number[0] == 0 or not before.stiffness[0] > 0.0:
        return _AS_KNOWN
    shift = abs(inside - report_depth(before, position))
    least = model.moved + model.stiffness_share * inside
    if shift > (_STAYS if told == _MOVED else 1.0) * least:
        return _MOVED
    ratio = force / (before.stiffness[0] * inside ** before.exponent[0])
    least = model.changed
    if abs(ratio - 1.0) > (_STAYS if told == _CHANGED else 1.0) * least:
        return _CHANGED
    return _AS_KNOWN


@inner_kernel
def _place(
    position: FloatArray,
    inside: float,
    data: SurfaceEstimateData,
    report_out: SurfaceReport,
) -> None:
    """Put the reported plane where the tip is so deep in it."""
    report_out.kind[0] = PLANE
    for i in range(3):
        report_out.normal[i] = data.normal[i]
        report_out.point[i] = position[i] + inside * data.normal[i]


@inner_kernel
def _tell(
    now: IntArray,
    status: int,
    data: SurfaceEstimateData,
    report_out: SurfaceReport,
) -> int:
    """Number and stamp the report."""
    data.waited[0] = 0.0
    report_out.number[0] += 1
    report_out.status[0] = status
    report_out.estimated_ns[0] = now[0]
    return 1
