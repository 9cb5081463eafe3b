"""Legs and vehicle axes of a rig: servos that hold a stance, thrusters kept neutral.

Limbs are what an operator commands so far. A leg's joints go from where they are to the
robot's stance, at their rate limit, when the robot is first engaged, and stay there.
"""

import math

import numpy as np

from app.config.robot import RobotParameters
from app.drivers.base import Action, Reading
from app.robot.rig_file import RigParameters
from models.numerics import FloatArray

__all__ = ["Joints"]


class _Joint:
    """One joint on its channel."""

    def __init__(
        self, channel: int, sign: int, zero: float, stance: float, rate: float
    ) -> None:
        self.channel = channel
        self.goal = zero + sign * stance
        self.rate = rate
        self.measured = math.nan
        self.asked = math.nan


class Joints:
    """All leg joints and axes of a rig."""

    def __init__(self, rig: RigParameters, robot: RobotParameters) -> None:
        """Lay them out.

        Args:
            rig: fits the robot.
            robot: gives the stance of every leg.
        """
        self._joints: dict[str, list[_Joint]] = {}
        self._neutral: dict[str, list[tuple[int, float]]] = {}
        stances = {leg.name: np.radians(leg.stance_deg) for leg in robot.legs}
        for part in rig.joints:
            signs = part.sign or (1,) * len(part.channels)
            zeros = part.zero or (0.0,) * len(part.channels)
            self._joints.setdefault(part.bus, []).extend(
                _Joint(
                    channel - 1,
                    sign,
                    zero,
                    float(angle),
                    math.radians(part.rate_deg_s),
                )
                for channel, sign, zero, angle in zip(
                    part.channels, signs, zeros, stances[part.leg], strict=True
                )
            )
        for idle in rig.neutral:
            zeros = idle.zero or (0.0,) * len(idle.channels)
            self._neutral.setdefault(idle.bus, []).extend(
                (channel - 1, zero)
                for channel, zero in zip(idle.channels, zeros, strict=True)
            )

    def action(self, bus: str, action: Action) -> Action:
        """What a bus without tendons or chambers does, in place of what limbs do.

        Legs do not give way: the robot would fall. A vehicle that nobody commands is
        not armed; it gets neutral sticks.
        """
        if bus not in self._joints:
            return Action.HOLD
        return Action.HOLD if action is Action.RELAX else action

    def take(self, bus: str, reading: Reading) -> None:
        """Take up where the joints are."""
        for joint in self._joints.get(bus, []):
            if reading.answered[joint.channel]:
                joint.measured = float(reading.measured[joint.channel])

    def fill(
        self, bus: str, setpoint_out: FloatArray, period: float, *, engaged: bool
    ) -> None:
        """Write the setpoints of a bus's joints and axes.

        Args:
            bus: its name.
            setpoint_out: (n,) of all its channels; others are left alone.
            period: time since the last call [s].
            engaged: the robot follows an arming; else joints stay where they are.
        """
        for joint in self._joints.get(bus, []):
            if not math.isfinite(joint.asked):
                joint.asked = joint.measured
            if engaged and math.isfinite(joint.asked):
                most = joint.rate * period
                joint.asked += min(max(joint.goal - joint.asked, -most), most)
            setpoint_out[joint.channel] = joint.asked
        for channel, zero in self._neutral.get(bus, []):
            setpoint_out[channel] = zero
