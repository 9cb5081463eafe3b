"""What tips feel, a measurement at a time; the robot's own kernel joins both senses."""

import numpy as np
from numpy.typing import NDArray

from app.config.robot_parameters import RobotParameters
from app.robot.contact_sense import ContactSense, feel_tips
from app.robot.surface_sense import SurfaceSense, sense_surfaces
from models.bound import Bound, bind
from models.numerics import FloatArray
from models.robot import RobotModel


class TipSense:
    """Forces at all tips."""

    def __init__(
        self,
        robot: RobotParameters,
        model: RobotModel,
        seed: int = 0,
        *,
        noise: float = 1.0,
        settles: bool = False,
    ) -> None:
        self.sense = ContactSense(robot, model, seed, noise=noise, settles=settles)
        self.raw, self.force = self.sense.raw, self.sense.force
        self.valid = self.sense.valid
        self._anew, self._row = 1, 0
        parts, unread = self.sense.data, self.sense.unread
        self._data = Bound(parts)
        self._feel = bind(
            feel_tips, self._data, 0, parts.slow, parts.tension, unread, unread
        )

    def step(
        self,
        coordinates: FloatArray,
        tension: FloatArray,
        tip_force: FloatArray | None = None,
    ) -> FloatArray:
        """Feel (L, 3) [N] at a pose and tensions, and what sensors read."""
        table = self.sense.noise_table
        if self._row == len(table):
            self.sense.draw()
            self._row = 0
        read = self.sense.unread if tip_force is None else tip_force
        noise = table[self._row]
        self._feel(self._data, self._anew, coordinates, tension, read, noise)
        self._anew, self._row = 0, self._row + 1
        return self.force

    def reset(self) -> None:
        """Forget what was measured."""
        self.sense.reset()
        self._anew = 1


class Surfaces:
    """The surface at every tip, all forces known."""

    def __init__(
        self, model: RobotModel, has_sensor: NDArray[np.bool_], period_s: float
    ) -> None:
        self.sense = SurfaceSense(model, has_sensor, period_s)
        self._known = np.ones(len(has_sensor), dtype=np.int64)
        self._data = Bound(self.sense.data)
        pose, force = model.rest_coordinates, np.zeros((len(has_sensor), 3))
        self._sense = bind(sense_surfaces, self._data, 0, pose, force, self._known)

    def step(self, now_ns: int, measured: FloatArray, force: FloatArray) -> None:
        """Take a measured pose (S, 3) and force (L, 3) [N]."""
        self.sense.note(self._sense(self._data, now_ns, measured, force, self._known))

    def contact(self) -> bytes:
        """What is told of them."""
        return self.sense.contact()
