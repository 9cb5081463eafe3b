"""The recent past of a simulated state, and its correction by late measurements.

A robot that is simulated here now is measured there, and the measurement arrives with
the delay of the link. It is compared with what the simulation said at the time of the
measurement, and the difference corrects the state of now:

    e = y(t) - x(t),   x(now) += L e

The past is corrected with it (ours): the whole of it moves by L e, kept as one offset.
Otherwise every measurement that is on its way would find the same error and correct it
again: with a delay of d measurements such a loop is unstable from L = 2 sin(pi / (4 d +
2)) on, for 2 s at 10 Hz from 0.077.
"""

from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, IntArray, inner_kernel, kernel

__all__ = [
    "StateHistoryData",
    "allocate_history",
    "clear_history",
    "correct_state",
    "push_state",
    "state_at",
]


class StateHistoryData(NamedTuple):
    """A ring of S states with n coordinates each."""

    times: IntArray
    """(S,) [ns]."""
    rows: FloatArray
    """(S, n) states less the offset at that time."""
    offset: FloatArray
    """(n,) sum of the corrections so far."""
    following: IntArray
    """(1,) row that is written next."""
    filled: IntArray
    """(1,) rows that are filled."""


def allocate_history(
    coordinates: int, length: float = 5.0, period: float = 1e-3
) -> StateHistoryData:
    """Make an empty history.

    Args:
        coordinates: n, numbers in a state.
        length: time that it reaches back [s].
        period: between states [s].

    Raises:
        ValueError: fewer than one coordinate or two states.
    """
    rows = round(length / period) if period > 0.0 else 0
    if coordinates < 1 or rows < 2:
        message = (
            f"a history of {coordinates} coordinates over {length} s at {period} s; "
            "give at least 1 coordinate and 2 periods"
        )
        raise ValueError(message)
    return StateHistoryData(
        times=np.zeros(rows, dtype=np.int64),
        rows=np.zeros((rows, coordinates)),
        offset=np.zeros(coordinates),
        following=np.zeros(1, dtype=np.int64),
        filled=np.zeros(1, dtype=np.int64),
    )


@kernel
def clear_history(data: StateHistoryData) -> None:
    """Forget all states and corrections, as after the state was set anew.

    Args:
        data: the history.
    """
    data.following[0] = 0
    data.filled[0] = 0
    for i in range(data.offset.shape[0]):
        data.offset[i] = 0.0


@kernel
def push_state(time: IntArray, state: FloatArray, data: StateHistoryData) -> None:
    """Remember the state of a time that is later than all before; others are left out.

    Args:
        time: (1,) [ns].
        state: (n,).
        data: the history.
    """
    rows = data.times.shape[0]
    at = data.following[0]
    if data.filled[0] > 0 and time[0] <= data.times[(at - 1) % rows]:
        return
    data.times[at] = time[0]
    for i in range(data.offset.shape[0]):
        data.rows[at, i] = state[i] - data.offset[i]
    data.following[0] = (at + 1) % rows
    data.filled[0] = min(data.filled[0] + 1, rows)


@kernel
def state_at(time: IntArray, data: StateHistoryData, state_out: FloatArray) -> int:
    """State at a time, as corrected since, linear between those that were kept.

    Args:
        time: (1,) [ns].
        data: the history.
        state_out: (n,); left alone where the time is not covered.

    Returns:
        1, or 0 where the time is before the first state or after the last.
    """
    rows = data.times.shape[0]
    count = data.filled[0]
    if count == 0:
        return 0
    first = (data.following[0] - count) % rows
    if (
        time[0] < data.times[first]
        or time[0] > data.times[(data.following[0] - 1) % rows]
    ):
        return 0
    low = _last_until(time[0], first, data)
    before = (first + low) % rows
    after = (first + min(low + 1, count - 1)) % rows
    span = data.times[after] - data.times[before]
    share = (time[0] - data.times[before]) / span if span > 0 else 0.0
    for i in range(data.offset.shape[0]):
        earlier = data.rows[before, i]
        state_out[i] = (
            earlier + share * (data.rows[after, i] - earlier) + data.offset[i]
        )
    return 1


@inner_kernel
def _last_until(time_ns: int, first: int, data: StateHistoryData) -> int:
    """How far after the first the last state is that is not later than a time."""
    rows = data.times.shape[0]
    low = 0
    high = data.filled[0] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if data.times[(first + middle) % rows] <= time_ns:
            low = middle
        else:
            high = middle - 1
    return low


@kernel
def correct_state(
    gain: float,
    time: IntArray,
    measured: FloatArray,
    data: StateHistoryData,
    state_out: FloatArray,
    error_out: FloatArray,
) -> int:
    """Correct the state of now by a measurement of an earlier time.

    Args:
        gain: L, 0 to 1.
        time: (1,) when it was measured [ns].
        measured: (n,); a coordinate that is NaN was not measured.
        data: the history; its states move along.
        state_out: (n,) the state now, corrected in place.
        error_out: (n,) simulated less measured at that time, before the correction; 0
            where not measured.

    Returns:
        1, or 0 where the time is not covered: then nothing is changed.
    """
    if state_at(time, data, error_out) == 0:
        return 0
    for i in range(data.offset.shape[0]):
        error = error_out[i] - measured[i]
        if not np.isfinite(error):
            error = 0.0
        error_out[i] = error
        data.offset[i] -= gain * error
        state = state_out[i]
        state_out[i] = state - gain * error
    return 1
