"""What each tip touches, as the robot estimates it, ready for telemetry.

Place and force of a tip in contact pass the same two low passes of first order at 3 Hz,
of which the second gives the velocity. Both begin when the tip begins to feel the
surface and end when it feels it no more, and what they give is divided by what they
give for 1. So the estimator sees the same law between smooth signals, and nothing of
how the tip came and went: filters that ran on through the water believed a surface of
500 N/m to be one of 290 N/m. The noise of shape sensors, half a millimetre at the tip,
is no motion: samples count while the force changes. What is told is 0.1 s late.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.robot.contact_sense import DEAD_ZONE_N
from app.teleop.contact_codec import write_contact
from models.environment_report import SurfaceReport, allocate_report
from models.numerics import FloatArray, IntArray, called_kernel, inner_kernel
from models.robot import RobotModel
from models.surface_estimator import (
    SurfaceEstimateData,
    SurfaceEstimatorModel,
    allocate_surface_estimate,
    build_surface_estimator,
)
from models.surface_estimator_report import estimate_surface
from models.tip import tip_position

__all__ = ["SurfaceSense", "SurfaceSenseData", "sense_surfaces"]

_CORNER_HZ = 3.0
_FREE_HZ = 8.0  # of the place in open water: half a millimetre late at 20 mm/s
_FORCE_RATE = 0.3  # N/s; the low-passed noise of a tip's sensor makes 0.03
_FELT_N = (0.1, 0.05)  # a sensor feels contact from here, and none below
_ESTIMATED_N = (2.0 * DEAD_ZONE_N, DEAD_ZONE_N)  # an estimate is told in full from here
_SURE = 3  # measurements
_FULL = 0.3  # share of the steady state from which low passes tell something
_LIMBS = 8  # that frames can name
_MOST = 3  # limbs that telemetry has room for


class _TipData(NamedTuple):
    """Low passes and estimate of one limb's tip."""

    begins_n: float
    """Force from which a contact begins [N]."""
    ends_n: float
    """Force below which it ends [N]."""
    state: IntArray
    """(4,) 1 where it ever felt something, where its free place is known, where it
    touches; measurements in a row that say otherwise."""
    free: FloatArray
    """(3,) place in open water, low-passed [m]."""
    origin: FloatArray
    """(3,) where the contact began [m]."""
    first: FloatArray
    """(7,) place from there [m], force [N] and 1, low-passed."""
    second: FloatArray
    """(7,) and again."""
    sample: FloatArray
    """(3, 3) place [m], velocity [m/s] and force [N]."""
    estimate: SurfaceEstimateData
    report: SurfaceReport


class SurfaceSenseData(NamedTuple):
    """All tips and what they share."""

    model: RobotModel
    gates: SurfaceEstimatorModel
    tips: tuple[_TipData, ...]
    """One for each limb; the rest fill up, so that all robots have one kernel."""
    period: float
    """Between measurements [s]."""
    share: float
    """Of what is new in the low passes of a contact."""
    free_share: float
    """The same of the place in open water."""
    now: IntArray
    """(1,) robot time [ns]."""
    place: FloatArray
    """(3,) of a tip, hull frame [m]."""
    nowhere: FloatArray
    """(3,) zeros: the scene tells no normal."""
    poses: FloatArray
    """(n+1, 4, 4) along a limb [m]; scratch."""


@called_kernel
def sense_surfaces(
    senses: SurfaceSenseData,
    now_ns: int,
    measured: FloatArray,
    force: FloatArray,
    known: IntArray,
) -> int:
    """Take one measurement of all tips.

    Args:
        senses: advanced.
        now_ns: robot time [ns].
        measured: (S, 3) pose [rad, rad, m].
        force: (L, 3) on each tip, hull frame [N].
        known: (L,) 1 where it is known.

    Returns:
        Bit k is set where there is news of what limb k touches.
    """
    senses.now[0] = now_ns
    starts = senses.model.limb_segment_start
    news = 0
    for limb in range(starts.size - 1):
        tip = senses.tips[limb]
        rows = measured[starts[limb] : starts[limb + 1]]
        size = 0.0
        total = 0.0
        for i in range(3):
            size += force[limb, i] ** 2
        for k in range(rows.shape[0]):
            total += abs(rows[k, 0]) + abs(rows[k, 1]) + abs(rows[k, 2])
        size = math.sqrt(size)
        if known[limb] == 0 or not total + size < math.inf:
            continue
        if tip.state[0] == 0:  # a tip that never touched is not looked at
            if size < 0.5 * tip.begins_n:
                continue
            tip.state[0] = 1
        tip_position(senses.model, limb, rows, senses.poses, senses.place)
        if _pass_low(senses, tip, force[limb], size) == 1:
            news |= (
                estimate_surface(
                    senses.gates,
                    senses.now,
                    senses.period,
                    tip.sample[0],
                    tip.sample[1],
                    tip.sample[2],
                    senses.nowhere,
                    tip.estimate,
                    tip.report,
                )
                << limb
            )
    return news


@inner_kernel
def _pass_low(
    senses: SurfaceSenseData, tip: _TipData, force: FloatArray, size: float
) -> int:
    """Take a measurement of one tip; return 1 where it makes a sample."""
    place, sample = senses.place, tip.sample
    if tip.state[1] == 0:
        tip.state[1] = 1
        for i in range(3):
            tip.free[i] = place[i]
    _turn(place, size, tip)
    for i in range(3):
        step = senses.free_share * (place[i] - tip.free[i])
        tip.free[i] += step
        if tip.state[2] == 0:
            sample[0, i] = tip.free[i]
            sample[1, i] = step / senses.period
            sample[2, i] = 0.0
    if tip.state[2] == 0:
        return 1
    full = 1.0
    for i in range(6, -1, -1):  # what 1 gives is known first
        raw = 1.0
        if i < 3:
            raw = place[i] - tip.origin[i]
        elif i < 6:
            raw = force[i - 3]
        tip.first[i] += senses.share * (raw - tip.first[i])
        change = senses.share * (tip.first[i] - tip.second[i])
        tip.second[i] += change
        if i == 6:
            full = tip.second[6]
        elif i < 3:
            sample[0, i] = tip.origin[i] + tip.second[i] / full
            sample[1, i] = change / (full * senses.period)
        else:
            sample[2, i - 3] = tip.second[i] / full
    return 1 if full >= _FULL else 0


@inner_kernel
def _turn(place: FloatArray, felt: float, tip: _TipData) -> None:
    """Begin or end the contact, where three measurements say so."""
    touching = tip.state[2] == 1
    changes = felt < tip.ends_n if touching else felt > tip.begins_n
    tip.state[3] = tip.state[3] + 1 if changes else 0
    if tip.state[3] < _SURE:
        return
    tip.state[3] = 0
    tip.state[2] = 0 if touching else 1
    for i in range(3):
        if touching:
            tip.free[i] = place[i]
        else:
            tip.origin[i] = place[i]
    if not touching:
        for i in range(7):
            tip.first[i] = 0.0
            tip.second[i] = 0.0


def _allocate_tip(felt_n: tuple[float, float]) -> _TipData:
    """Make a tip that has felt nothing."""
    free, origin = np.zeros((2, 3))
    first, second = np.zeros((2, 7))
    return _TipData(
        *felt_n,
        state=np.zeros(4, dtype=np.int64),
        free=free,
        origin=origin,
        first=first,
        second=second,
        sample=np.zeros((3, 3)),
        estimate=allocate_surface_estimate(),
        report=allocate_report(),
    )


class SurfaceSense:
    """Tells of the surface at every tip, which `sense_surfaces` estimates."""

    def __init__(
        self, model: RobotModel, has_sensor: NDArray[np.bool_], period_s: float = 1e-3
    ) -> None:
        """Begin with nothing touched.

        Args:
            model: the robot as its file gives it.
            has_sensor: (L,) whether a limb's tip has a force sensor.
            period_s: between measurements [s].
        """
        longest = int(np.max(np.diff(model.limb_segment_start)))
        gates = SurfaceEstimatorModel(least_force_rate=_FORCE_RATE, forgetting=0.999)
        tips = tuple(
            _allocate_tip(_FELT_N if one else _ESTIMATED_N) for one in has_sensor
        )
        spare = (_allocate_tip(_FELT_N),) * (_LIMBS - len(tips))
        self._reports = [tip.report for tip in tips]
        self.data = SurfaceSenseData(
            model=model,
            gates=build_surface_estimator(gates),
            tips=tips + spare,
            period=float(period_s),
            share=1.0 - math.exp(-2.0 * math.pi * _CORNER_HZ * period_s),
            free_share=1.0 - math.exp(-2.0 * math.pi * _FREE_HZ * period_s),
            now=np.zeros(1, dtype=np.int64),
            place=np.zeros(3),
            nowhere=np.zeros(3),
            poses=np.zeros((longest + 1, 4, 4)),
        )
        """What `sense_surfaces` works on."""
        self._entries: dict[int, bytes] = {}

    def note(self, news: int) -> None:
        """Take up what `sense_surfaces` returned."""
        for limb, report in enumerate(self._reports):
            if news >> limb & 1:
                self._entries.pop(limb, None)
                self._entries[limb] = write_contact(limb, report)

    def contact(self) -> bytes:
        """What is known of the surfaces touched last, for telemetry."""
        return b"".join(list(self._entries.values())[-_MOST:])
