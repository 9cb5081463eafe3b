"""Position forward and nothing back: predictive display, and move-and-wait.

The tip goes where the hand was; the hand is shown no force, so the loop is closed by
the eye alone. With predictive display the eye is shown the local model now (Sheridan
1992); with move-and-wait it is shown what the robot told, and the operator moves,
stops, and looks again after the round trip (Ferrell 1965). The two differ in what is
drawn.
"""

from app.teleop.halves import SlaveCommand
from app.teleop.signals import Signal
from models.numerics import FloatArray, kernel

__all__ = ["follow", "unilateral_master"]


@kernel
def unilateral_master(force_out: FloatArray) -> None:
    """Show no force.

    Args:
        force_out: (3,) [N].
    """
    for i in range(3):
        force_out[i] = 0.0


@kernel
def follow(heard: Signal, stale: bool, command_out: SlaveCommand) -> None:
    """Follow the hand's position and velocity as told.

    Args:
        heard: position and velocity of the hand.
        stale: whether nothing came for long, so that the velocity is old.
        command_out: what the tip's controller follows.
    """
    for i in range(3):
        command_out.force[i] = 0.0
        command_out.position[i] = heard.position[i]
        command_out.velocity[i] = 0.0 if stale else heard.velocity[i]
