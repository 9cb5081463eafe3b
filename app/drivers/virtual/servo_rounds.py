"""How long a round of a servo bus takes, over a pty and against the virtual servos.

A pty has no baud rate: to this comes, on a real line, the time of the bytes (10 bits
each) and of the USB adapter.
"""

import threading
import time

import numpy as np

from app.drivers.base import Action
from app.drivers.servo_parameters import (
    DynamixelParameters,
    DynamixelServo,
    build_dynamixel,
    virtual_dynamixel,
)
from models.numerics import FloatArray

__all__ = ["dynamixel_line_time_s", "dynamixel_round_times"]

_SYNC_WRITE_BYTES, _SYNC_READ_BYTES = 14, 14
_STATUS_BYTES, _BLOCK_BYTES = 11, 10
_CURRENT_BYTES, _POSITION_BYTES = 2, 4
_EXTRA_BYTES = 14 + 12  # one slow value of one servo


def dynamixel_round_times(
    servos: int, rounds: int, *, missing: int = 0, pause_s: float = 0.0
) -> FloatArray:
    """Time rounds: sync writes of current and position, sync read, one slow value.

    Args:
        servos: on the bus.
        rounds: timed; 20 more go before.
        missing: of the servos, how many do not answer from then on.
        pause_s: wait before each round [s], as a bus worker waits; 0: none.

    Returns:
        Time of each round (rounds,) [s].
    """
    parameters = DynamixelParameters(
        driver="dynamixel",
        port="virtual",
        servos=tuple(
            DynamixelServo(
                id=servo,
                model="xm430-w350",
                least_rad=-20.0,
                greatest_rad=20.0,
                current_limit_ma=400.0,
            )
            for servo in range(1, servos + 1)
        ),
    )
    carrier, parameters = virtual_dynamixel(parameters)
    times = np.empty(rounds)
    wait = threading.Event()
    with carrier, build_dynamixel(parameters) as driver:
        for k in range(-20, rounds):
            if k == 0:
                carrier.device.actuators.silent[:missing] = True
            goal = np.full(servos, 5.0 * np.sin(0.01 * k))
            if pause_s > 0.0:
                wait.wait(pause_s)
            begun = time.perf_counter()
            driver.exchange(Action.FOLLOW, goal)
            if k >= 0:
                times[k] = time.perf_counter() - begun
    return times


def dynamixel_line_time_s(servos: int, baud_rate: int) -> float:
    """Return the time that the bytes of one round need on a real line [s]."""
    written = 2 * _SYNC_WRITE_BYTES + servos * (2 + _CURRENT_BYTES + _POSITION_BYTES)
    read = _SYNC_READ_BYTES + servos * (1 + _STATUS_BYTES + _BLOCK_BYTES)
    return (written + read + _EXTRA_BYTES) * 10 / baud_rate
