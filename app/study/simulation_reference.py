"""The reference run of a case: the same equations, integrated to a tolerance.

The state is the coordinates, the root's motion as a twist from where an interval began,
and all velocities. With a pose g = g0 exp(θ) and the body twist V,

    dθ/dt = V + [θ, V]/2 + [θ, [θ, V]]/12 - ...

of which the next term is of fifth order in θ, which an interval keeps small.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from app.config.case import CaseParameters
from app.study.radau import integrate
from models.lie import pose_exp
from models.numerics import FloatArray

__all__ = ["break_times", "reference_states"]

_EDGE = 1e-12  # of an interval: keeps its ends on its own side of a jump [s]


def break_times(case: CaseParameters, seconds: float) -> list[float]:
    """Times inside a run at which a load jumps or bends [s]."""
    times: set[float] = set()
    for table in (
        *case.tendons, *case.internal_loads, *case.chambers, *case.tip_loads,
        *case.propellers,
    ):  # fmt: skip
        times.update(table.time_s)
    for moment in case.moments:
        times.update((moment.start_s, moment.start_s + moment.recruit_s))
    if case.stroke is not None:
        times.add(case.stroke.ramp_s)
    return sorted(time for time in times if 0.0 < time < seconds)


def reference_states(
    accelerations: Callable[[float, FloatArray, FloatArray, FloatArray], FloatArray],
    pose: FloatArray,
    position: FloatArray,
    velocity: FloatArray,
    times: FloatArray,
    breaks: list[float],
    tolerance: float,
) -> Iterator[tuple[float, FloatArray, FloatArray, FloatArray]]:
    """Integrate from time to time.

    Args:
        accelerations: time, (4, 4) root pose, (N,) coordinates and (N,) velocities to
            the (N,) time derivatives of the velocities.
        pose: (4, 4) root at the start [m].
        position: (N,) coordinates, the first six of no meaning.
        velocity: (N,), the root's body twist first.
        times: (T,) times to give the state at, the first one the start [s].
        breaks: times that no step may cross [s].
        tolerance: of a step.

    Yields:
        Time, root pose, coordinates and velocities at `times[1:]`.

    Raises:
        ModelError: the integration cannot go on.
    """
    size = velocity.size
    step = 1e-5
    turn = np.empty((4, 4))
    for before, after in pairwise(times.tolist()):
        inside = [time for time in breaks if before + _EDGE < time < after - _EDGE]
        for start, stop in zip([before, *inside], [*inside, after], strict=True):
            origin = pose.copy()
            low, high = start + _EDGE, stop - _EDGE

            def rates(
                time: float,
                state: FloatArray,
                origin: FloatArray = origin,
                low: float = low,
                high: float = high,
            ) -> FloatArray:
                """Time derivative of (position, velocity)."""
                way = state[:6]
                pose_exp(np.ascontiguousarray(way), turn)
                out = np.empty_like(state)
                twist = state[size : size + 6]
                first = _bracket(way, twist)
                out[:6] = twist + 0.5 * first + _bracket(way, first) / 12.0
                out[6:size] = state[size + 6 :]
                out[size:] = accelerations(
                    min(max(time, low), high),
                    origin @ turn,
                    state[:size],
                    state[size:],
                )
                return out

            state = np.concatenate([np.zeros(6), position[6:], velocity])
            state, step = integrate(rates, state, start, stop, tolerance, step)
            pose_exp(state[:6].copy(), turn)
            pose = origin @ turn
            position, velocity = state[:size].copy(), state[size:].copy()
            position[:6] = 0.0
        yield after, pose, position, velocity


def _bracket(a: FloatArray, b: FloatArray) -> FloatArray:
    """Lie bracket of two twists, angular first."""
    return np.concatenate(
        [np.cross(a[:3], b[:3]), np.cross(a[:3], b[3:]) + np.cross(a[3:], b[:3])]
    )
