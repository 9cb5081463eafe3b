"""What the robot knows of the forces at its tips: estimated, or from a force sensor.

Pose and tensions pass a low pass of first order at 3 Hz, whose own slope gives the
rates; models/robot_contact_sense makes forces of them by the nominal model. An estimate
below the dead zone is no contact: it is what noise and model leave over. Between once
and twice the dead zone it fades in, so that nothing jumps and what is well above is
told in full. A sensor at the tip needs neither: its reading passes as it is.
"""

import math

import numpy as np

from app.config.robot_parameters import RobotParameters
from models.numerics import FloatArray, IntArray
from models.robot import RobotModel, allocate_robot_data
from models.robot_contact_sense import estimate_tip_forces
from models.rod import allocate_rod_work

__all__ = ["DEAD_ZONE_N", "ContactSense"]

DEAD_ZONE_N = 0.2
"""Force below which an estimate is no contact [N]."""
_CORNER_HZ = 3.0
_SENSOR_NOISE_N = 0.01  # of one reading of a tip's force sensor; ASSUMED
_NOISE_ROWS = 256


class ContactSense:
    """Forces at all tips, a measurement at a time."""

    def __init__(
        self,
        robot: RobotParameters,
        model: RobotModel,
        seed: int = 0,
        *,
        dead_zone_n: float = DEAD_ZONE_N,
        noise: float = 1.0,
        period_s: float = 1e-3,
    ) -> None:
        """Begin without contact.

        Args:
            robot: says which limbs have a `tip_force_sensor`.
            model: the robot as its file gives it.
            seed: of the sensors' noise.
            dead_zone_n: see `DEAD_ZONE_N` [N].
            noise: factor on the sensors' noise, 0 for none.
            period_s: between measurements [s].
        """
        limbs = len(robot.limbs)
        self.has_sensor = np.array(
            [limb.tip_force_sensor for limb in robot.limbs], dtype=bool
        )
        self._model = model
        self._data = allocate_robot_data(model)
        self._work = allocate_rod_work(model)
        self._dead_zone = dead_zone_n
        self._period_s = period_s
        self._share = 1.0 - math.exp(-2.0 * math.pi * _CORNER_HZ * period_s)
        self._pose: FloatArray | None = None
        self._rates = np.zeros_like(model.rest_coordinates)
        self._tension = np.zeros(model.tendon_angle.size)
        self.raw: FloatArray = np.zeros((limbs, 3))
        """(L, 3) estimates before the dead zone [N]."""
        self.force: FloatArray = np.zeros((limbs, 3))
        """(L, 3) force on each tip, hull frame [N]."""
        self.valid: IntArray = np.zeros(limbs, dtype=np.int64)
        """(L,) 1 where it is known."""
        self._generator = np.random.default_rng(seed)
        self._noise = noise
        self._draws = np.zeros((_NOISE_ROWS, limbs, 3))
        self._drawn = 0

    def reset(self) -> None:
        """Forget what was measured, as after a jump of the pose."""
        self._pose = None
        self.force[:] = 0.0
        self.valid[:] = 0

    def step(
        self,
        coordinates: FloatArray,
        tension: FloatArray,
        tip_force: FloatArray | None = None,
    ) -> FloatArray:
        """Take one measurement, a period after the last.

        Args:
            coordinates: (S, 3) measured pose [rad, rad, m]; not finite where unknown.
            tension: (T,) measured [N].
            tip_force: (L, 3) what the sensors feel, hull frame [N]; read of the limbs
                that have one; None where nobody reads them.

        Returns:
            (L, 3) force on each tip, hull frame [N]; 0 where `valid` is 0; a view.
        """
        if self._pose is None:
            self._pose = coordinates.copy()
            self._tension[:] = tension
        # what was unknown and is known again begins anew
        lost = ~np.isfinite(self._pose)
        self._pose[lost] = coordinates[lost]
        step = coordinates - self._pose
        self._rates[:] = (self._share / self._period_s) * step
        self._pose += self._share * step
        lost_tension = ~np.isfinite(self._tension)
        self._tension[lost_tension] = tension[lost_tension]
        self._tension += self._share * (tension - self._tension)
        estimate_tip_forces(
            self._model,
            self._pose,
            self._rates,
            self._tension,
            self._data,
            self._work,
            self.raw,
            self.valid,
        )
        size = np.sqrt(np.einsum("ij,ij->i", self.raw, self.raw))
        zone = max(self._dead_zone, 1e-12)
        self.force[:] = np.clip(size / zone - 1.0, 0.0, 1.0)[:, None] * self.raw
        if tip_force is not None and self.has_sensor.any():
            read = np.isfinite(tip_force).all(axis=1) & self.has_sensor
            self.force[read] = tip_force[read] + self._sensor_noise()[read]
            self.valid[read] = 1
        return self.force

    def pose_with_force(self, measured: FloatArray) -> FloatArray:
        """Return the pose that is as late as the force of each limb.

        Args:
            measured: (S, 3) that `step` was given last [rad, rad, m].

        Returns:
            (S, 3): low-passed where the force is an estimate from that.
        """
        pose = measured if self._pose is None else self._pose.copy()
        starts = self._model.limb_segment_start
        for limb in np.flatnonzero(self.has_sensor):
            rows = slice(int(starts[limb]), int(starts[limb + 1]))
            pose[rows] = measured[rows]
        return pose

    def _sensor_noise(self) -> FloatArray:
        row = self._drawn % _NOISE_ROWS
        if row == 0:
            self._draws[...] = (
                self._noise
                * _SENSOR_NOISE_N
                * self._generator.standard_normal(self._draws.shape)
            )
        self._drawn += 1
        draws: FloatArray = self._draws[row]
        return draws
