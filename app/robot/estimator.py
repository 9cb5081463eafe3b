"""The pose of a robot whose sensors are its actuators: a model that follows them.

The nominal limbs are advanced with winches (or valves) where they were measured; what
the limbs then do is the estimate, so that weight, slack and swing are in it. What it
cannot see: contact, and how the limb differs from its model.
"""

import numpy as np

from app.robot.plant import PLANT_PERIOD
from models.numerics import FloatArray
from models.robot import RobotModel, allocate_robot_data
from models.rod import allocate_rod_work, reset_robot_data, robot_step

__all__ = ["PoseEstimator"]


class PoseEstimator:
    """Follows measured lengths, a millisecond at a time."""

    def __init__(self, model: RobotModel) -> None:
        """Begin at the rest posture.

        Args:
            model: the robot as its file gives it.
        """
        self._model = model
        self._work = allocate_rod_work(model)
        self._data = allocate_robot_data(model)
        reset_robot_data(model, model.rest_coordinates, self._work, self._data)
        self._settled = False

    @property
    def tension(self) -> FloatArray:
        """(T,) tensions that the model has [N]; a view."""
        return self._data.tension

    def step(self, length: FloatArray) -> FloatArray:
        """Advance by 1 ms.

        Args:
            length: (T,) measured [m]; one that is not finite stays where it was.

        Returns:
            (S, 3) estimated pose [rad, rad, m]; a view.
        """
        np.copyto(self._data.servo_length, length, where=np.isfinite(length))
        wanted = self._data.servo_length.copy()
        frozen = robot_step(self._model, PLANT_PERIOD, wanted, self._data, self._work)
        if frozen:
            pose = self._data.coordinates.copy()
            reset_robot_data(self._model, pose, self._work, self._data)
        return self._data.coordinates
