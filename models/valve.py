"""Chambers under pressure: what a valve makes of a command, and what that does.

A chamber is a strand (models/strand) of area A that pushes. A sleeve of fabric keeps
its section, so that its volume is A s, and pressure does the work p A ds: the
generalised force is p A g along the strand's own row. Pneumatic chambers of Liu 2020
and Gong 2018, hydraulic actuators of Zhang 2022 (three at r_s, A = π r_a²): he has the
moment proportional to the pressure too (his eq. 35, K u).

Pressure follows the command, cut to what the supply can give, with a lag of first order
that is not the same for filling and venting; where the valve is choked, it moves at a
limited rate:

    dp/dt = clip((p_target - p)/τ, -r, r),   τ = τ_fill rising, τ_vent falling

A step with a constant command is exact: the same pressures at any period. The wall's
hysteresis then takes its share: what drives the limb is the effective pressure of
models/hysteresis, whose curve here gives pressure [Pa] for pressure, not length. Its
loops and minor loops are independent of rate.

Leaves out the delay of long tubes, and that the chamber's own change of volume changes
its pressure: the valve holds it.
"""

from typing import NamedTuple

import numpy as np

from models.hysteresis import HysteresisModel, hysteresis_length, initial_plays
from models.numerics import FloatArray, IntArray, kernel
from models.strand import StrandModel, StrandWork

__all__ = [
    "ValveData",
    "ValveModel",
    "add_chambers",
    "advance_pressure",
    "allocate_valve_data",
    "make_valves",
    "no_hysteresis",
]


class ValveModel(NamedTuple):
    """Constant parameters of C chambers and their valves."""

    strand: IntArray
    """(C,) the strand that each chamber runs along."""
    area: FloatArray
    """(C,) A [m2]."""
    fill_time: FloatArray
    """(C,) τ where the pressure rises [s]; 0 = at once."""
    vent_time: FloatArray
    """(C,) τ where it falls [s]."""
    rate_limit: FloatArray
    """(C,) r, greatest rate of the pressure [Pa/s]."""
    lowest: FloatArray
    """(C,) pressure of the vent, gauge [Pa]; below 0 for suction."""
    highest: FloatArray
    """(C,) pressure of the supply, gauge [Pa]."""
    hysteresis: HysteresisModel
    """Of every chamber; its `length` is the effective pressure [Pa]."""


class ValveData(NamedTuple):
    """State of C chambers."""

    command: FloatArray
    """(C,) wanted gauge pressure [Pa]."""
    pressure: FloatArray
    """(C,) gauge pressure in the chamber [Pa]."""
    effective: FloatArray
    """(C,) what is left of it behind the wall's hysteresis [Pa]."""
    play: FloatArray
    """(C, m) states of the hysteresis [Pa]."""


def no_hysteresis() -> HysteresisModel:
    """Make the hysteresis of a wall without: the effective pressure is the pressure."""
    one = np.array([0.0, 1.0])
    return HysteresisModel(np.zeros(1), np.ones(1), one, one.copy())


def make_valves(
    strands: StrandModel,
    strand: IntArray,
    area: float,
    *,
    fill_time: float = 0.0,
    vent_time: float = 0.0,
    rate_limit: float = np.inf,
    lowest: float = 0.0,
    highest: float = np.inf,
    hysteresis: HysteresisModel | None = None,
) -> ValveModel:
    """Make chambers of like kind along strands.

    Args:
        strands: the strands.
        strand: (C,) which of them are chambers.
        area: of each [m2].
        fill_time: [s]; the others as in `ValveModel`.
        vent_time: [s].
        rate_limit: [Pa/s].
        lowest: [Pa].
        highest: [Pa].
        hysteresis: of the wall, pressure to effective pressure; None: without.

    Returns:
        The chambers.

    Raises:
        ValueError: a strand that is not there, or a number out of its range.
    """
    index = np.asarray(strand, dtype=np.int64)
    if index.size and not (index.min() >= 0 and index.max() < strands.gap.size):
        raise ValueError(f"strand {index}: there are {strands.gap.size} strands")
    if not (fill_time >= 0.0 and vent_time >= 0.0 and rate_limit > 0.0):
        raise ValueError(
            f"fill_time {fill_time}, vent_time {vent_time}, rate_limit {rate_limit}: "
            "times must be at least 0, the rate positive"
        )
    if not lowest <= 0.0 <= highest:
        raise ValueError(f"pressures {lowest} .. {highest} must have 0 between them")
    size = index.size
    return ValveModel(
        strand=index,
        area=np.full(size, area),
        fill_time=np.full(size, fill_time),
        vent_time=np.full(size, vent_time),
        rate_limit=np.full(size, rate_limit),
        lowest=np.full(size, lowest),
        highest=np.full(size, highest),
        hysteresis=no_hysteresis() if hysteresis is None else hysteresis,
    )


def allocate_valve_data(valves: ValveModel, start: int) -> ValveData:
    """Make the state of chambers at gauge pressure 0.

    Args:
        valves: the chambers.
        start: how that was reached: `AFTER_FALLING`, `AFTER_RISING` or `VIRGIN` of
            models/hysteresis.

    Returns:
        Arrays of the shapes in `ValveData`; `effective` is that of this start.
    """
    size = valves.area.size
    plays = initial_plays(valves.hysteresis.threshold, 0.0, start)
    data = ValveData(
        np.zeros(size), np.zeros(size), np.zeros(size), np.tile(plays, (size, 1))
    )
    advance_pressure(valves, 0.0, data)
    return data


@kernel
def _after_lag(gap: float, time: float, rate: float, period: float) -> float:
    """What is left of a gap > 0 after a period of d(gap)/dt = -min(gap/time, rate)."""
    if gap > rate * time:
        choked = (gap - rate * time) / rate
        if period <= choked:
            return gap - rate * period
        gap = rate * time
        period -= choked
    if not time > 0.0:
        return 0.0 if period > 0.0 else gap
    return float(gap * np.exp(-period / time))


@kernel
def advance_pressure(valves: ValveModel, period: float, data: ValveData) -> int:
    """Let the pressures follow their commands over one period.

    Args:
        valves: the chambers.
        period: time step [s].
        data: the pressures are advanced; a command that is not finite holds the
            pressure where it is.

    Returns:
        Number of commands that were not finite.
    """
    refused = 0
    for c in range(valves.area.size):
        pressure = data.pressure[c]
        target = data.command[c]
        if not abs(target) < np.inf:
            refused += 1
            target = pressure
        target = min(max(target, valves.lowest[c]), valves.highest[c])
        gap = target - pressure
        rate = valves.rate_limit[c]
        if gap > 0.0:
            pressure = target - _after_lag(gap, valves.fill_time[c], rate, period)
        elif gap < 0.0:
            pressure = target + _after_lag(-gap, valves.vent_time[c], rate, period)
        data.pressure[c] = pressure
        data.effective[c] = hysteresis_length(valves.hysteresis, pressure, data.play[c])
    return refused


@kernel
def add_chambers(valves: ValveModel, data: ValveData, work: StrandWork) -> None:
    """Add the push of the chambers to the forces of their strands.

    Args:
        valves: the chambers.
        data: pressures, at the end of the step by `advance_pressure`.
        work: after `strand_geometry`; force is added to.
    """
    for c in range(valves.area.size):
        work.force[valves.strand[c]] -= valves.area[c] * data.effective[c]
