"""One actuator moved slowly by hand.

All other channels of the bus are left without a setpoint, so their drivers do not drive
them. It begins where the actuator stands, moves no faster than it is told, and stops
where the actuator does not follow, is over its load, or no longer answers. Leaving it,
however it ends, makes the bus safe.
"""

import math
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

import numpy as np

from app.drivers.base import Action, Driver, Reading
from app.errors import DeviceError

__all__ = ["JogEnd", "JogSample", "jog", "stand"]

_BEHIND_SHARE = 0.1
"""Of the channel's range: farther behind what is asked, the actuator is stuck."""
_OUTSIDE_SHARE = 0.02
_SETTLE_ROUNDS = 3
_MISSED_ROUNDS = 3


class JogEnd(Enum):
    """Why a jog ended."""

    MOVING = "moving"
    THERE = "there"
    STUCK = "the actuator does not follow"
    LOADED = "the load is at its limit"
    SILENT = "the actuator does not answer"
    FAULT = "the device reports a fault"


class JogSample(NamedTuple):
    """One round."""

    asked: float
    measured: float
    load: float
    end: JogEnd
    text: str


def stand(driver: Driver, channel: int) -> float:
    """Where an actuator stands, bus open and nothing driven [the channel's unit].

    A valve that answers and measures nothing is taken for vented.

    Raises:
        DeviceError: it does not answer, or is a servo that measures nothing.
    """
    nothing = np.full(len(driver.channels), np.nan)
    limits = driver.channels[channel]
    reading = driver.exchange(Action.RELAX, nothing)
    for _ in range(_SETTLE_ROUNDS):
        reading = driver.exchange(Action.RELAX, nothing)
    value = float(reading.measured[channel])
    if math.isfinite(value):
        return value
    if reading.answered[channel] and limits.unit in {"kPa", "mV"}:
        return limits.least
    raise DeviceError(
        f"{limits.name} does not tell where it stands: check its power and cable."
    )


def jog(
    driver: Driver,
    channel: int,
    by: float,
    step: float,
    *,
    load_limit: float = math.inf,
) -> Iterator[JogSample]:
    """Move one actuator; each `next` is one round of the bus.

    Args:
        driver: open.
        channel: index of its channel.
        by: how far [the channel's unit].
        step: at most of one round.
        load_limit: load at which it stops [the channel's load unit].

    Yields:
        What was asked and measured; the last one says why it ended.

    Raises:
        DeviceError: the bus is gone, or the actuator does not tell where it stands.
    """
    limits = driver.channels[channel]
    start = stand(driver, channel)
    room = _OUTSIDE_SHARE * (limits.greatest - limits.least)
    if not limits.least - room <= start <= limits.greatest + room:
        raise DeviceError(
            f"{limits.name} stands at {start:g} {limits.unit}, outside its range "
            f"{limits.least:g} to {limits.greatest:g}: correct the range first."
        )
    start = min(max(start, limits.least), limits.greatest)
    goal = min(max(start + by, limits.least), limits.greatest)
    asked, left, missed = start, _SETTLE_ROUNDS, 0
    behind = _BEHIND_SHARE * (limits.greatest - limits.least)
    setpoint = np.full(len(driver.channels), np.nan)
    while True:
        asked += min(max(goal - asked, -step), step)
        setpoint[channel] = asked
        reading = driver.exchange(Action.FOLLOW, setpoint)
        missed = 0 if reading.answered[channel] else missed + 1
        if asked == goal and not missed:
            left -= 1
        sample = _judge(reading, channel, asked, behind, load_limit, last=left < 0)
        if missed and sample.end is not JogEnd.FAULT:
            end = JogEnd.SILENT if missed > _MISSED_ROUNDS else JogEnd.MOVING
            sample = sample._replace(end=end)
        yield sample
        if sample.end is not JogEnd.MOVING:
            return


def _judge(
    reading: Reading,
    channel: int,
    asked: float,
    behind: float,
    load_limit: float,
    *,
    last: bool,
) -> JogSample:
    measured, load = float(reading.measured[channel]), float(reading.load[channel])
    texts = [fault.text for fault in reading.faults if fault.channel in {channel, -1}]
    latched = any(f.latched for f in reading.faults if f.channel in {channel, -1})
    if latched:
        end = JogEnd.FAULT
    elif abs(load) > load_limit:
        end = JogEnd.LOADED
    elif abs(measured - asked) > behind:
        end = JogEnd.STUCK
    else:
        end = JogEnd.THERE if last else JogEnd.MOVING
    return JogSample(asked, measured, load, end, " ".join(texts))
