"""What each tip touches, as the robot estimates it, ready for telemetry.

Place and force of a tip pass the same two low passes of first order at 3 Hz, of which
the second gives the velocity. So the estimator sees the same law between smooth
signals, and the noise of shape sensors, half a millimetre at the tip, is no motion.
What is told is 0.1 s late for that.
"""

import math

import numpy as np

from app.robot.tip import tip_position
from app.teleop.contact_codec import write_contact
from models.environment_report import allocate_report
from models.numerics import FloatArray
from models.robot import RobotModel
from models.surface_estimator import allocate_surface_estimate, build_surface_estimator
from models.surface_estimator_report import estimate_surface

__all__ = ["SurfaceSense"]

_CORNER_HZ = 3.0
_TOUCH_N = 0.05  # below it a tip that never touched anything is not looked at
_MOST = 3  # limbs that telemetry has room for


class SurfaceSense:
    """Estimates the surface at every tip, a measurement at a time."""

    def __init__(self, model: RobotModel, period_s: float = 1e-3) -> None:
        """Begin with nothing touched.

        Args:
            model: the robot as its file gives it.
            period_s: between measurements [s].
        """
        limbs = model.tip_speed_limit.size
        longest = int(np.max(np.diff(model.limb_segment_start)))
        self._model = model
        self._gates = build_surface_estimator()
        self._period_s = period_s
        self._share = 1.0 - math.exp(-2.0 * math.pi * _CORNER_HZ * period_s)
        self._poses = np.zeros((longest + 1, 4, 4))
        self._tip = np.zeros(3)
        self._nowhere = np.zeros(3)
        self._now = np.zeros(1, dtype=np.int64)
        self._first = np.full((limbs, 2, 3), np.nan)  # place, force
        self._second = np.zeros((limbs, 2, 3))
        self._estimates = [allocate_surface_estimate() for _ in range(limbs)]
        self._reports = [allocate_report() for _ in range(limbs)]
        self._entries: dict[int, bytes] = {}

    def step(self, now_ns: int, measured: FloatArray, force: FloatArray) -> None:
        """Take one measurement, a period after the last.

        Args:
            now_ns: robot time [ns].
            measured: (S, 3) pose [rad, rad, m].
            force: (L, 3) on each tip, hull frame [N].
        """
        self._now[0] = now_ns
        starts = self._model.limb_segment_start
        for limb, report in enumerate(self._reports):
            felt = force[limb]
            known = report.number[0] > 0 or self._estimates[limb].touching[0] == 1
            if not known and abs(felt).max() < _TOUCH_N:
                self._first[limb] = np.nan
                continue
            rows = measured[starts[limb] : starts[limb + 1]]
            if not (np.isfinite(rows).all() and np.isfinite(felt).all()):
                continue
            tip_position(self._model, limb, rows, self._poses, self._tip)
            first, second = self._first[limb], self._second[limb]
            if np.isnan(first[0, 0]):
                first[0] = second[0] = self._tip
                first[1] = second[1] = 0.0
            first[0] += self._share * (self._tip - first[0])
            first[1] += self._share * (felt - first[1])
            step = self._share * (first - second)
            second += step
            if estimate_surface(
                self._gates,
                self._now,
                self._period_s,
                second[0],
                step[0] / self._period_s,
                second[1],
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
        sense = SurfaceSense(self._model)
        sense.step(0, coordinates, np.ones((len(self._reports), 3)))
