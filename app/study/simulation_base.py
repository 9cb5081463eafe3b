"""The base of a simulated robot that is held, or carried to and fro."""

import math

import numpy as np

from app.config.case_loads import Stroke
from models.numerics import FloatArray
from models.tree import TreeData

__all__ = ["CarriedBase", "base_rotation"]


def base_rotation(roll_pitch_yaw_deg: tuple[float, float, float]) -> FloatArray:
    """(3, 3) rotation of roll, pitch, yaw about x, then y, then z of the world."""
    angles = np.radians(roll_pitch_yaw_deg)
    (cr, cp, cy), (sr, sp, sy) = np.cos(angles), np.sin(angles)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


class CarriedBase:
    """A base on the way r(t) a sin(2π f t) along a line; r takes the stroke up."""

    def __init__(self, stroke: Stroke, rotation: FloatArray) -> None:
        """Keep the stroke, and its line in the axes of a root with this rotation."""
        self._ramp_s = stroke.ramp_s
        self._size = 0.5e-3 * stroke.stroke_mm
        self._omega = 2.0 * math.pi * stroke.frequency_hz
        axis = np.asarray(stroke.direction) / np.linalg.norm(stroke.direction)
        self._axis: FloatArray = rotation.T @ axis

    def way(self, time_s: float) -> tuple[float, float, float]:
        """Place on the line, speed and acceleration [m, m/s, m/s2]."""
        omega = self._omega
        sine = self._size * math.sin(omega * time_s)
        cosine = self._size * omega * math.cos(omega * time_s)
        share, slope, bend = 1.0, 0.0, 0.0
        if time_s < self._ramp_s:
            part = time_s / self._ramp_s
            share = part * part * (3.0 - 2.0 * part)
            slope = 6.0 * part * (1.0 - part) / self._ramp_s
            bend = 6.0 * (1.0 - 2.0 * part) / self._ramp_s**2
        return (
            share * sine,
            share * cosine + slope * sine,
            (bend - share * omega * omega) * sine + 2.0 * slope * cosine,
        )

    def begin(self, data: TreeData) -> None:
        """Give the base the speed that it starts with."""
        data.velocity[:6] = 0.0
        data.velocity[3:6] = self.way(0.0)[1] * self._axis

    def step(self, now: float, period: float, data: TreeData) -> None:
        """Move it in a step that ends now: at the mean speed, to stay on the way."""
        before = data.velocity[3:6].copy()
        speed = (self.way(now)[0] - self.way(now - period)[0]) / period
        data.velocity[3:6] = speed * self._axis
        data.root_acceleration[3:6] = (data.velocity[3:6] - before) / period

    def accelerate(self, now: float, data: TreeData) -> None:
        """Set its acceleration at a time."""
        data.root_acceleration[3:6] = self.way(now)[2] * self._axis
