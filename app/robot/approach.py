"""How the applied pose goes to a setpoint: straight, over one period, within the rates.

Each segment has a path of its own, because a frame may tell some of them only.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from app.robot.envelope import advance_applied, clamp_to_envelope
from models.bound import Bound, bind
from models.numerics import FloatArray, IntArray, kernel
from models.robot import RobotModel

__all__ = ["Approach", "PathsData", "advance_paths"]


class PathsData(NamedTuple):
    """What is moved, as the arguments of `advance_applied`."""

    model: RobotModel
    origin: FloatArray
    goal: FloatArray
    begin_ns: IntArray
    end_ns: IntArray
    applied: FloatArray


@kernel
def advance_paths(paths: PathsData, now_ns: int, period: float) -> int:
    """Move on along all paths."""
    return int(
        advance_applied(
            paths.model,
            now_ns,
            period,
            paths.origin,
            paths.goal,
            paths.begin_ns,
            paths.end_ns,
            paths.applied,
        )
    )


@kernel
def begin_paths(
    data: PathsData,
    now_ns: int,
    end_ns: int,
    first: int,
    coordinates: FloatArray,
    shift: FloatArray,
    chosen: IntArray,
    wanted_out: FloatArray,
) -> int:
    """Begin the paths to a setpoint.

    Args:
        data: paths of all segments.
        now_ns: robot time [ns].
        end_ns: when the setpoint is to be reached [ns].
        first: segment of the first row.
        coordinates: (n, 3) told [rad, rad, m].
        shift: (S, 3) is added [rad, rad, m].
        chosen: (S,) 1 for the segments that follow it.
        wanted_out: (S, 3) what is wanted of those, inside the envelope.

    Returns:
        1 where something had to be brought into the envelope, else 0.
    """
    clamped = 0
    for row in range(coordinates.shape[0]):
        k = first + row
        if chosen[k] == 0:
            continue
        for j in range(3):
            data.origin[k, j] = coordinates[row, j] + shift[k, j]
        wanted = wanted_out[k : k + 1]
        outside = clamp_to_envelope(data.model, k, data.origin[k : k + 1], wanted)
        clamped = max(clamped, outside)
        for j in range(3):
            data.goal[k, j] = wanted[0, j]
            data.origin[k, j] = data.applied[k, j]
        data.begin_ns[k] = now_ns
        data.end_ns[k] = end_ns
    return clamped


class Approach:
    """The applied pose and where it is going."""

    def __init__(self, model: RobotModel) -> None:
        """Begin straight, going nowhere."""
        segments = model.segment_length.size
        self._model = model
        self.applied = np.zeros((segments, 3))
        """(S, 3) pose applied now [rad, rad, m]; always inside the envelope."""
        self._origin = np.zeros((segments, 3))
        self._goal = np.zeros((segments, 3))
        self._wanted = np.zeros((segments, 3))
        self._begin_ns = np.zeros(segments, dtype=np.int64)
        self._end_ns = np.zeros(segments, dtype=np.int64)
        self.paths = PathsData(
            model,
            self._origin,
            self._goal,
            self._begin_ns,
            self._end_ns,
            self.applied,
        )
        """What `advance_paths` works on."""
        self._paths = Bound(self.paths)
        self._chosen = np.zeros(segments, dtype=np.int64)
        self._chosen_segments: Sequence[int] = ()
        self._unshifted = np.zeros((segments, 3))
        self._advance = bind(advance_paths, self._paths, 0, 0.0)
        self._begin = bind(
            begin_paths,
            self._paths,
            0,
            0,
            0,
            self._goal,
            self._goal,
            self._chosen,
            self._wanted,
        )

    def set_out(
        self,
        now_ns: int,
        segments: Sequence[int],
        span_ns: int,
        first: int,
        coordinates: FloatArray,
        shift: FloatArray | None,
    ) -> int:
        """Want a setpoint of some segments, and begin the paths there.

        Args:
            now_ns: robot time [ns].
            segments: indices in the robot.
            span_ns: time until it is reached [ns].
            first: segment of the first row of `coordinates`.
            coordinates: (n, 3) told [rad, rad, m].
            shift: (S, 3) of what is told [rad, rad, m]; None = none.

        Returns:
            1 where something had to be brought into the envelope, else 0.
        """
        if segments != self._chosen_segments:  # mostly those of the frame before
            self._chosen_segments = segments
            self._chosen[:] = 0
            for segment in segments:
                self._chosen[segment] = 1
        return self._begin(
            self._paths,
            now_ns,
            now_ns + span_ns,
            first,
            coordinates,
            self._unshifted if shift is None else shift,
            self._chosen,
            self._wanted,
        )

    def forget(self, now_ns: int) -> None:
        """Go nowhere: old goals are stale."""
        self._origin[:] = self.applied
        self._goal[:] = self.applied
        self._begin_ns[:] = now_ns
        self._end_ns[:] = now_ns

    def follow(self, measured: FloatArray) -> None:
        """Take the measured (S, 3) pose as applied, where it is finite."""
        clamp_to_envelope(self._model, 0, measured, self.applied)

    def advance(self, now_ns: int, period: float) -> None:
        """Move on along the paths within the rate limits; `period` [s] since last."""
        self._advance(self._paths, now_ns, period)

    def go_home(self, period: float) -> None:
        """Move on towards the rest posture within the rate limits."""
        self._goal[:] = self._model.rest_coordinates
        self._end_ns[:] = 0
        self.advance(0, period)

    def warm_up(self, coordinates: FloatArray) -> None:
        """Compile or load the kernel that clamps; changes nothing.

        Args:
            coordinates: (S, 3) any pose [rad, rad, m].
        """
        frame = coordinates[:1].copy()
        clamp_to_envelope(self._model, 0, frame, frame.copy())
