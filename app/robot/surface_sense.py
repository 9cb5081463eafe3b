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

import numpy as np
from numpy.typing import NDArray

from app.robot.contact_sense import DEAD_ZONE_N
from app.robot.tip import tip_position
from app.teleop.contact_codec import write_contact
from models.environment_report import allocate_report
from models.numerics import FloatArray
from models.robot import RobotModel
from models.surface_estimator import (
    SurfaceEstimatorModel,
    allocate_surface_estimate,
    build_surface_estimator,
)
from models.surface_estimator_report import estimate_surface

__all__ = ["SurfaceSense"]

_CORNER_HZ = 3.0
_FREE_HZ = 8.0  # of the place in open water: half a millimetre late at 20 mm/s
_FORCE_RATE = 0.3  # N/s; the low-passed noise of a tip's sensor makes 0.03
_FELT_N = (0.1, 0.05)  # a sensor feels contact from here, and none below
_ESTIMATED_N = (2.0 * DEAD_ZONE_N, DEAD_ZONE_N)  # an estimate is told in full from here
_SURE = 3  # measurements
_FULL = 0.3  # share of the steady state from which low passes tell something
_MOST = 3  # limbs that telemetry has room for


class _Tip:
    """Low passes of one limb's tip."""

    def __init__(self, felt_n: tuple[float, float], period_s: float) -> None:
        self._begins_n, self._ends_n = felt_n
        self._share = 1.0 - math.exp(-2.0 * math.pi * _CORNER_HZ * period_s)
        self._free_share = 1.0 - math.exp(-2.0 * math.pi * _FREE_HZ * period_s)
        self._period_s = period_s
        self._free: FloatArray | None = None
        self._touching = False
        self._changing = 0
        self._origin = np.zeros(3)
        self._first, self._second = np.zeros((2, 7))  # place, force, 1
        self._raw = np.ones(7)
        self.sample: FloatArray = np.zeros((3, 3))
        """Place [m], velocity [m/s] and force [N]."""

    def step(self, place: FloatArray, force: FloatArray) -> bool:
        """Take a measurement; return whether it makes a sample."""
        if self._free is None:
            self._free = place.copy()
        self._turn(place, math.sqrt(float(force @ force)))
        step = self._free_share * (place - self._free)
        self._free += step
        if not self._touching:
            self.sample[0] = self._free
            self.sample[1] = step / self._period_s
            self.sample[2] = 0.0
            return True
        self._raw[:3] = place - self._origin
        self._raw[3:6] = force
        self._first += self._share * (self._raw - self._first)
        change = self._share * (self._first - self._second)
        self._second += change
        full = self._second[6]
        self.sample[0] = self._origin + self._second[:3] / full
        self.sample[1] = change[:3] / (full * self._period_s)
        self.sample[2] = self._second[3:6] / full
        return bool(full >= _FULL)

    def _turn(self, place: FloatArray, felt: float) -> None:
        """Begin or end the contact, where three measurements say so."""
        changes = felt < self._ends_n if self._touching else felt > self._begins_n
        self._changing = self._changing + 1 if changes else 0
        if self._changing < _SURE:
            return
        self._changing, self._touching = 0, not self._touching
        if self._touching:
            self._origin[:] = place
            self._first[:] = self._second[:] = 0.0
        else:
            self._free = place.copy()


class SurfaceSense:
    """Estimates the surface at every tip, a measurement at a time."""

    def __init__(
        self, model: RobotModel, has_sensor: NDArray[np.bool_], period_s: float = 1e-3
    ) -> None:
        """Begin with nothing touched.

        Args:
            model: the robot as its file gives it.
            has_sensor: (L,) whether a limb's tip has a force sensor.
            period_s: between measurements [s].
        """
        limbs = model.tip_speed_limit.size
        longest = int(np.max(np.diff(model.limb_segment_start)))
        self._model = model
        self._gates = build_surface_estimator(
            SurfaceEstimatorModel(least_force_rate=_FORCE_RATE, forgetting=0.999)
        )
        self._period_s = period_s
        self._poses = np.zeros((longest + 1, 4, 4))
        self._place = np.zeros(3)
        self._nowhere = np.zeros(3)
        self._now = np.zeros(1, dtype=np.int64)
        self._begins_n = [(_FELT_N if one else _ESTIMATED_N)[0] for one in has_sensor]
        self._tips = [
            _Tip(_FELT_N if one else _ESTIMATED_N, period_s) for one in has_sensor
        ]
        self._estimates = [allocate_surface_estimate() for _ in range(limbs)]
        self._reports = [allocate_report() for _ in range(limbs)]
        self._active = np.zeros(limbs, dtype=bool)
        self._entries: dict[int, bytes] = {}

    def step(self, now_ns: int, measured: FloatArray, force: FloatArray) -> None:
        """Take one measurement, a period after the last.

        Args:
            now_ns: robot time [ns].
            measured: (S, 3) pose, of a limb without a sensor as late as its estimated
                force [rad, rad, m].
            force: (L, 3) on each tip, hull frame [N].
        """
        self._now[0] = now_ns
        starts = self._model.limb_segment_start
        for limb, report in enumerate(self._reports):
            felt = force[limb]
            rows = measured[starts[limb] : starts[limb + 1]]
            if not (np.isfinite(rows).all() and np.isfinite(felt).all()):
                continue
            if not self._active[limb]:  # a tip that never touched is not looked at
                if abs(felt).max() < 0.5 * self._begins_n[limb]:
                    continue
                self._active[limb] = True
            tip_position(self._model, limb, rows, self._poses, self._place)
            tip = self._tips[limb]
            if tip.step(self._place, felt) and estimate_surface(
                self._gates,
                self._now,
                self._period_s,
                tip.sample[0],
                tip.sample[1],
                tip.sample[2],
                self._nowhere,
                self._estimates[limb],
                report,
            ):
                self._entries.pop(limb, None)
                self._entries[limb] = write_contact(limb, report)

    def contact(self) -> bytes:
        """What is known of the surfaces touched last, for telemetry."""
        return b"".join(list(self._entries.values())[-_MOST:])

    def warm_up(self, coordinates: FloatArray) -> None:
        """Compile or load the kernels, on a sense that is thrown away.

        Args:
            coordinates: (S, 3) any pose [rad, rad, m].
        """
        limbs = len(self._reports)
        sense = SurfaceSense(self._model, np.zeros(limbs, dtype=bool))
        sense.step(0, coordinates, np.ones((limbs, 3)))
