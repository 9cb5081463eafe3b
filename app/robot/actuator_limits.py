"""The last gate before the buses: rate and acceleration of every winch and valve.

Above it the envelope keeps the pose in range (app.robot.envelope), below it each driver
keeps its channels in range. What is asked moves towards what is wanted along the
fastest profile within rate and acceleration, without going past it.
"""

import numpy as np

from models.numerics import FloatArray, kernel

__all__ = ["limit_motion"]


@kernel
def limit_motion(
    wanted: FloatArray,
    rate: FloatArray,
    acceleration: FloatArray,
    period: float,
    speed_out: FloatArray,
    asked_out: FloatArray,
) -> int:
    """Move what is asked of each actuator towards what is wanted.

    Args:
        wanted: (T,) [m]; one that is not finite leaves its actuator where it is.
        rate: (T,) greatest speed [m/s].
        acceleration: (T,) greatest [m/s2].
        period: time since the last call [s].
        speed_out: (T,) speed [m/s], advanced.
        asked_out: (T,) what is asked [m], advanced.

    Returns:
        Number of actuators that a limit kept from where they should be.
    """
    limited = 0
    for t in range(wanted.size):
        if not np.isfinite(wanted[t]):
            speed_out[t] = 0.0
            limited += 1
            continue
        gap = wanted[t] - asked_out[t]
        away = abs(gap)
        # the fastest speed from which n steps, each slower by `brake`, end just there
        brake = acceleration[t] * period
        steps = max(
            np.ceil(0.5 * np.sqrt(1.0 + 8.0 * away / (brake * period)) - 0.5), 1.0
        )
        stop = away / (steps * period) + 0.5 * (steps - 1.0) * brake
        speed = min(rate[t], stop)
        if gap < 0.0:
            speed = -speed
        least, greatest = speed_out[t] - brake, speed_out[t] + brake
        if speed < least or speed > greatest:
            limited += 1
        speed = min(max(speed, least), greatest)
        if abs(speed) > rate[t]:
            speed = rate[t] if speed > 0.0 else -rate[t]
        speed_out[t] = speed
        asked_out[t] += period * speed
    return limited
