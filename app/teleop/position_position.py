"""Position-position: hand and tip are joined by a spring and damper each way.

    slave:   F_s = K_p (x_m[k-D] - x_s) + K_d (v_m[k-D] - v_s)
    master:  F_m = K_p (x_m - x_s[k-D]) + K_d (v_m - v_s[k-D])

With K_d = 0, 4 B_m B_s > (T_f + T_b)^2 K_p^2 guarantees stability (Lyapunov argument of
Nuno, Basanez and Ortega 2011; the form is ours); the exact limit is
`app.teleop.limits`'s. Free motion with a light grip is worst, not a stiff wall.
"""

from app.teleop.gains import Gains
from app.teleop.signals import Signal
from models.numerics import FloatArray, kernel

__all__ = ["position_position_master"]


@kernel
def position_position_master(
    gains: Gains,
    hand_position: FloatArray,
    hand_velocity: FloatArray,
    heard: Signal,
    force_out: FloatArray,
) -> None:
    """Force of the coupling on the hand's side.

    Args:
        gains: K_p and K_d.
        hand_position: (3,) [m].
        hand_velocity: (3,) [m/s].
        heard: the tip's position and velocity.
        force_out: (3,) [N].
    """
    for i in range(3):
        force_out[i] = gains.stiffness[i] * (
            hand_position[i] - heard.position[i]
        ) + gains.damping[i] * (hand_velocity[i] - heard.velocity[i])
