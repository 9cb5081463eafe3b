"""Position-force: the hand is shown a share of the force that the tip meets.

    slave:   as position-position
    master:  F_m = k_f F_e[k-D]

Crisp, and the least stable of all against a stiff wall (Hannaford 1989; Lawrence 1993):
at k_f = 1 from 33 ms of delay on, with a light grip. The share below which the loop is
stable whatever the delay is `app.teleop.limits.safe_force_share`.
"""

from app.teleop.gains import Gains
from app.teleop.signals import Signal
from models.numerics import FloatArray, kernel

__all__ = ["position_force_master"]


@kernel
def position_force_master(gains: Gains, heard: Signal, force_out: FloatArray) -> None:
    """Share of the contact force that was told.

    Args:
        gains: k_f.
        heard: force of the tip on what it touches.
        force_out: (3,) [N].
    """
    for i in range(3):
        force_out[i] = gains.force_share[0] * heard.force[i]
