"""What the bridge drives: a robot of real actuators, or the simulated one.

measure -> bridge -> Applied -> step, once a millisecond
"""

from typing import NamedTuple, Protocol

from app.messages import Event, RobotFault
from app.robot.safety import Actuation
from models.numerics import FloatArray

__all__ = ["Applied", "Body"]


class Applied(NamedTuple):
    """What the winches and valves are told."""

    coordinates: FloatArray
    """(S, 3) pose to hold [rad, rad, m], after all limits; reused by the next step."""
    actuation: Actuation
    """How to hold it; the pose only matters where this is STIFF."""
    still: bool = False
    """Nothing moves on, not even what lags behind the pose."""


class Body(Protocol):
    """One robot; called once a millisecond, `measure` then `step`."""

    @property
    def unsafe(self) -> str:
        """Why the present arming must end; empty where nothing is wrong."""

    @property
    def faults(self) -> RobotFault:
        """What is wrong, for telemetry."""

    def measure(self) -> tuple[FloatArray, FloatArray]:
        """Pose (S, 3), not finite where unknown [rad, rad, m]; tensions (T,) [N]."""

    def step(self, applied: Applied) -> int:
        """Do what is told for a millisecond; return the number of frozen limbs."""

    def clear_faults(self) -> None:
        """Clear what devices have latched: the emergency stop was reset."""

    def recover(self) -> None:
        """Put frozen limbs at rest where they are."""

    def events(self) -> list[Event]:
        """Events since the last call, oldest first."""
