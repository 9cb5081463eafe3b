"""Legs and vehicle axes of a rig: servos that hold a stance, thrusters kept neutral.

Limbs are what an operator commands so far. A leg's joints go from where they are to the
robot's stance, at their rate limit, when the robot is first engaged, and stay there.
"""

import math

import numpy as np

from app.config.robot import RobotParameters
from app.drivers.base import Action, Reading
from app.robot.rig_file import LimitParameters, RigParameters
from app.robot.sanity import GRACE_NS
from models.numerics import FloatArray

__all__ = ["Joints"]


_FALLEN_RAD = 0.1


class _Joint:
    """One joint on its channel."""

    def __init__(
        self,
        channel: int,
        sign: int,
        zero: float,
        stance: float,
        rate: float,
        limits: LimitParameters,
    ) -> None:
        self.channel = channel
        self.load_limit = math.inf if limits.load is None else limits.load
        self.temperature_limit = limits.temperature_c
        self.heard_ns = 0
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
            self._joints.setdefault(part.bus, []).extend(
                _Joint(
                    channel - 1,
                    sign,
                    zero,
                    float(angle),
                    math.radians(part.rate_deg_s),
                    part.limits,
                )
                for channel, sign, zero, angle in zip(
                    part.channels,
                    part.signs,
                    part.zeros,
                    stances[part.leg],
                    strict=True,
                )
            )
        for idle in rig.neutral:
            self._neutral.setdefault(idle.bus, []).extend(
                (channel - 1, zero)
                for channel, zero in zip(idle.channels, idle.zeros, strict=True)
            )

    def action(self, bus: str, action: Action) -> Action:
        """What a bus without tendons or chambers does, in place of what limbs do.

        Legs do not give way: the robot would fall. A vehicle that nobody commands is
        not armed; it gets neutral sticks.
        """
        if bus not in self._joints:
            return Action.HOLD
        return Action.HOLD if action is Action.RELAX else action

    def take(self, bus: str, reading: Reading) -> str:
        """Take up where the joints are; return what is unsafe about one."""
        wrong = ""
        for joint in self._joints.get(bus, []):
            told = reading.answered[joint.channel]
            joint.measured = (
                float(reading.measured[joint.channel]) if told else math.nan
            )
            if told:
                joint.heard_ns = reading.time_ns
            if reading.time_ns - joint.heard_ns > GRACE_NS:
                wrong = f"joint {joint.channel + 1} of bus {bus} cannot be measured"
            if abs(reading.load[joint.channel]) > joint.load_limit:
                wrong = f"joint {joint.channel + 1} of bus {bus} is over its load"
            if reading.temperature[joint.channel] > joint.temperature_limit:
                heat = reading.temperature[joint.channel]
                wrong = (
                    f"joint {joint.channel + 1} of bus {bus} is over its limit: "
                    f"{heat:.0f} deg C"
                )
        return wrong

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
            if not engaged and not abs(joint.asked - joint.measured) <= _FALLEN_RAD:
                joint.asked = joint.measured  # it was let go, or is not known
            if engaged and math.isfinite(joint.asked):
                most = joint.rate * period
                joint.asked += min(max(joint.goal - joint.asked, -most), most)
            setpoint_out[joint.channel] = joint.asked
        for channel, zero in self._neutral.get(bus, []):
            setpoint_out[channel] = zero
