"""What the simulated robot feels at its tips, 250 times a second.

Forces (`app.robot.contact_sense`) and the surfaces that explain them
(`app.robot.surface_sense`) are one kernel, so that `app.robot.quiet` can feel in the
middle of what it does by itself.
"""

from typing import NamedTuple

import numpy as np

from app.config.robot_parameters import RobotParameters
from app.robot.contact_sense import ContactSense, TipSenseData, feel_tips
from app.robot.plant_step import PLANT_PERIOD
from app.robot.surface_sense import SurfaceSense, SurfaceSenseData, sense_surfaces
from models.bound import Bound, bind
from models.numerics import FloatArray, IntArray, kernel
from models.robot import RobotModel

__all__ = ["Feeling", "FeelingData", "feel"]

_STEPS = 4  # what is felt is low-passed at 3 Hz: 250 times a second are enough
_PERIOD_S = _STEPS * PLANT_PERIOD
_COUNTDOWN, _ANEW, _NOISE_ROW = 0, 1, 2  # places in `counts`


class FeelingData(NamedTuple):
    """What `feel` works on."""

    tips: TipSenseData
    surfaces: SurfaceSenseData
    read: FloatArray
    """(L, 3) what sensors at the tips read [N]; not finite where there is none."""
    noise: FloatArray
    """(N, L, 3) of N such readings [N]."""
    contact: FloatArray
    """(L, 3) force of each tip on what it touches, hull frame [N]."""
    counts: IntArray
    """(3,) steps to the next measurement; 1 where nothing of an earlier one counts;
    which reading's noise is next."""


@kernel
def feel(
    feeling: FeelingData, now_ns: int, measured: FloatArray, tension: FloatArray
) -> int:
    """Let a millisecond pass, and take a measurement where it is time for one.

    Args:
        feeling: advanced.
        now_ns: robot time [ns].
        measured: (S, 3) pose [rad, rad, m].
        tension: (T,) [N].

    Returns:
        Bit k is set where there is news of what limb k touches.
    """
    count, tips = feeling.counts, feeling.tips
    count[0] -= 1
    if count[0] > 0:
        return 0
    noise = feeling.noise[count[2]]
    feel_tips(tips, count[1], measured, tension, feeling.read, noise)
    count[0], count[1], count[2] = _STEPS, 0, count[2] + 1
    for limb in range(feeling.contact.shape[0]):
        for i in range(3):
            feeling.contact[limb, i] = -tips.force[limb, i]
    return int(
        sense_surfaces(feeling.surfaces, now_ns, tips.pose, tips.force, tips.valid)
    )


class Feeling:
    """Feels while the robot holds itself; limp limbs rest on things, and feel naught.

    What they feel then is not worth the work.
    """

    def __init__(
        self,
        robot: RobotParameters,
        model: RobotModel,
        seed: int,
        noise: float,
        tip_force: FloatArray | None,
    ) -> None:
        """Begin without contact.

        Args:
            robot: says which limbs have a `tip_force_sensor`.
            model: the robot as its file gives it.
            seed: of the sensors' noise.
            noise: factor on it, 0 for none.
            tip_force: (L, 3) what is really at the tips, hull frame [N], where they
                can touch anything; a view.
        """
        self._tips = ContactSense(
            robot, model, seed, noise=noise, period_s=_PERIOD_S, settles=True
        )
        self._surfaces = SurfaceSense(model, self._tips.has_sensor, _PERIOD_S)
        read = self._tips.unread
        if tip_force is not None and self._tips.has_sensor.any():
            read = tip_force
        self.contact: FloatArray | None = None
        """(L, 3) force of each tip on what it touches, hull frame [N]; None while the
        limbs are limp."""
        self.data = FeelingData(
            tips=self._tips.data,
            surfaces=self._surfaces.data,
            read=read,
            noise=self._tips.noise_table,
            contact=np.zeros_like(self._tips.force),
            counts=np.zeros(3, dtype=np.int64),
        )
        self._rows = len(self.data.noise)
        self._data = Bound(self.data)
        self._feel = bind(
            feel, self._data, 0, model.rest_coordinates, self._tips.data.tension
        )

    def rest(self) -> None:
        """The limbs are limp."""
        self.contact = None

    def step(self, now_ns: int, measured: FloatArray, tension: FloatArray) -> None:
        """Let a millisecond pass in which the robot holds itself.

        Args:
            now_ns: robot time [ns].
            measured: (S, 3) pose [rad, rad, m].
            tension: (T,) [N].
        """
        count = self.data.counts
        if self.contact is None:
            self._tips.reset()
            self.contact = self.data.contact
            count[_COUNTDOWN], count[_ANEW] = 0, 1
        self.ready(1)
        self.note(self._feel(self._data, now_ns, measured, tension))

    def ready(self, steps: int) -> int:
        """Draw noise for some milliseconds; return of how many it is there."""
        counts = self.data.counts
        left = self._rows - counts.item(_NOISE_ROW)
        if steps < left:  # a measurement a step at most
            return steps
        if left == 0:
            self._tips.draw()
            counts[_NOISE_ROW] = 0
            left = self._rows
        return min(steps, 1 + _STEPS * (left - 1))

    @property
    def rows_left(self) -> int:
        """For how many measurements the noise is drawn."""
        return self._rows - self.data.counts.item(_NOISE_ROW)

    def note(self, news: int) -> None:
        """Take up what `feel` returned."""
        if news:
            self._surfaces.note(news)

    def told(self) -> bytes:
        """What is known of the surfaces touched last, for telemetry."""
        return self._surfaces.contact()
