"""What the robot knows of the forces at its tips: estimated, or from a force sensor.

Pose and tensions pass a low pass of first order at 3 Hz, whose own slope gives the
rates; models/robot_contact_sense makes forces of them by the nominal model. An estimate
below the dead zone is no contact: it is what noise and model leave over. Between once
and twice the dead zone it fades in, so that nothing jumps and what is well above is
told in full. A limb that has just stiffened swings, and the estimate, which knows
nothing of inertia, takes that for forces (URSULA 1.3 N, up to 4 s long): none is told
until the estimate has been calm for longer than between two swings, or for 5 s. A
sensor at the tip needs none of this: its reading passes as it is.
"""

import math
from typing import NamedTuple

import numpy as np

from app.config.robot_parameters import RobotParameters
from models.numerics import FloatArray, IntArray, called_kernel, inner_kernel
from models.robot import RobotData, RobotModel, allocate_robot_data
from models.robot_contact_sense import estimate_tip_forces
from models.rod import RodWork, allocate_rod_work

__all__ = ["DEAD_ZONE_N", "ContactSense", "TipSenseData", "feel_tips"]

DEAD_ZONE_N = 0.2
"""Force below which an estimate is no contact [N]."""
_CORNER_HZ = 3.0
_SENSOR_NOISE_N = 0.01  # of one reading of a tip's force sensor; ASSUMED
_NOISE_ROWS = 256
_CALM_S, _LONGEST_S = 0.9, 5.0  # URSULA's arms swing at 0.7 Hz


class TipSenseData(NamedTuple):
    """What `feel_tips` works with and keeps between measurements."""

    model: RobotModel
    data: RobotData
    work: RodWork
    slow: FloatArray
    """(S, 3) low-passed pose [rad, rad, m]."""
    rates: FloatArray
    """(S, 3) its slope."""
    tension: FloatArray
    """(T,) low-passed [N]."""
    has_sensor: IntArray
    """(L,) 1 where a tip has a force sensor."""
    pose: FloatArray
    """(S, 3), and the next three: see `ContactSense`."""
    raw: FloatArray
    force: FloatArray
    valid: IntArray
    period: float
    """Between measurements [s]."""
    share: float
    """Of what is new in the low passes."""
    zone: float
    """Force below which an estimate is no contact [N], above 0."""
    left: FloatArray
    """(L, 2) time until a limb counts as settled, at most, and if it stays calm [s]."""


@called_kernel
def feel_tips(
    sense: TipSenseData,
    anew: int,
    coordinates: FloatArray,
    tension: FloatArray,
    read: FloatArray,
    noise: FloatArray,
) -> None:
    """Take one measurement.

    Args:
        sense: what is kept, and what comes out.
        anew: 1 where nothing of an earlier measurement counts.
        coordinates: (S, 3) measured pose [rad, rad, m].
        tension: (T,) measured [N].
        read: (L, 3) what sensors at the tips read [N]; not finite where none does.
        noise: (L, 3) of that [N].
    """
    share, period = sense.share, sense.period
    for k in range(coordinates.shape[0]):
        for j in range(3):
            if anew == 1 or not abs(sense.slow[k, j]) < math.inf:
                sense.slow[k, j] = coordinates[k, j]  # known again: begins anew
            step = coordinates[k, j] - sense.slow[k, j]
            sense.rates[k, j] = share / period * step
            sense.slow[k, j] += share * step
    for t in range(tension.size):
        if anew == 1 or not abs(sense.tension[t]) < math.inf:
            sense.tension[t] = tension[t]
        sense.tension[t] += share * (tension[t] - sense.tension[t])
    for limb in range(sense.has_sensor.size):
        _leave_out(sense, limb, read)
    estimate_tip_forces(
        sense.model,
        sense.slow,
        sense.rates,
        sense.tension,
        sense.data,
        sense.work,
        sense.raw,
        sense.valid,
    )
    for limb in range(sense.has_sensor.size):
        _tell(sense, limb, coordinates, read, noise)


@inner_kernel
def _leave_out(sense: TipSenseData, limb: int, read: FloatArray) -> None:
    """Leave a limb out of the estimate whose sensor is read."""
    known = 0.0
    for i in range(3):
        known += abs(read[limb, i])
    read_here = sense.has_sensor[limb] == 1 and known < math.inf
    starts = sense.model.limb_segment_start
    for k in range(starts[limb], starts[limb + 1]):
        sense.data.tree.resting[k] = 1 if read_here else 0


@inner_kernel
def _tell(
    sense: TipSenseData,
    limb: int,
    coordinates: FloatArray,
    read: FloatArray,
    noise: FloatArray,
) -> None:
    """Write the force of one tip, and the pose that is as late."""
    period, zone = sense.period, sense.zone
    starts = sense.model.limb_segment_start
    of_sensor = sense.has_sensor[limb] == 1
    for k in range(starts[limb], starts[limb + 1]):
        for j in range(3):
            late = coordinates[k, j] if of_sensor else sense.slow[k, j]
            sense.pose[k, j] = late
    size = 0.0
    known = 0.0
    for i in range(3):
        size += sense.raw[limb, i] ** 2
        known += abs(read[limb, i])
    size = math.sqrt(size)
    fade = min(max(size / zone - 1.0, 0.0), 1.0)
    if sense.left[limb, 0] > 0.0:
        sense.left[limb, 0] -= period
        sense.left[limb, 1] = _CALM_S if size > zone else sense.left[limb, 1] - period
        if sense.left[limb, 1] <= 0.0:
            sense.left[limb, 0] = 0.0
        sense.valid[limb] = 0
        fade = 0.0
    for i in range(3):
        sense.force[limb, i] = fade * sense.raw[limb, i]
    if of_sensor and known < math.inf:
        sense.valid[limb] = 1
        for i in range(3):
            sense.force[limb, i] = read[limb, i] + noise[limb, i]


class ContactSense:
    """Forces at all tips, as `feel_tips` finds them."""

    def __init__(
        self,
        robot: RobotParameters,
        model: RobotModel,
        seed: int = 0,
        *,
        noise: float = 1.0,
        period_s: float = 1e-3,
        settles: bool = False,
    ) -> None:
        """Begin without contact.

        Args:
            robot: says which limbs have a `tip_force_sensor`.
            model: the robot as its file gives it.
            seed: of the sensors' noise.
            noise: factor on the sensors' noise, 0 for none.
            period_s: between measurements [s].
            settles: the limbs have just stiffened, at the start and at each `reset`.
        """
        limbs = len(robot.limbs)
        self.has_sensor = np.array(
            [limb.tip_force_sensor for limb in robot.limbs], dtype=bool
        )
        self._unsettled_s = _LONGEST_S if settles else 0.0
        self._left: FloatArray = np.full((limbs, 2), self._unsettled_s)
        self.pose: FloatArray = model.rest_coordinates.copy()
        """(S, 3) as late as the force of each limb: low-passed where that is an
        estimate from it, as measured where it is read [rad, rad, m]."""
        self.raw: FloatArray = np.zeros((limbs, 3))
        """(L, 3) estimates before the dead zone; 0 where a sensor is read [N]."""
        self.force: FloatArray = np.zeros((limbs, 3))
        """(L, 3) force on each tip, hull frame [N]."""
        self.valid: IntArray = np.zeros(limbs, dtype=np.int64)
        """(L,) 1 where it is known."""
        self._generator = np.random.default_rng(seed)
        self._noise = noise
        self.unread: FloatArray = np.full((limbs, 3), math.nan)
        """(L, 3) what is read where there is nothing to read."""
        self.noise_table: FloatArray = np.zeros((_NOISE_ROWS, limbs, 3))
        """(N, L, 3) noise of the sensors in N readings [N]; see `draw`."""
        self.draw()
        self.data = TipSenseData(
            model=model,
            data=allocate_robot_data(model),
            work=allocate_rod_work(model),
            slow=model.rest_coordinates.copy(),
            rates=np.zeros_like(model.rest_coordinates),
            tension=np.zeros(model.tendon_angle.size),
            has_sensor=self.has_sensor.astype(np.int64),
            pose=self.pose,
            raw=self.raw,
            force=self.force,
            valid=self.valid,
            period=period_s,
            share=1.0 - math.exp(-2.0 * math.pi * _CORNER_HZ * period_s),
            zone=DEAD_ZONE_N,
            left=self._left,
        )
        """What `feel_tips` works on."""

    def reset(self) -> None:
        """Forget what was measured, as after a jump of the pose."""
        self._left[:] = self._unsettled_s
        self.force[:] = 0.0
        self.valid[:] = 0

    def draw(self) -> None:
        """Draw the sensors' noise for the next N readings."""
        scale = self._noise * _SENSOR_NOISE_N
        shape = self.noise_table.shape
        self.noise_table[...] = scale * self._generator.standard_normal(shape)
