"""A person's trial judged while it runs, from what telemetry tells by then.

The tip is smoothed over 0.3 s, and its speed is that of the smoothed tip over 0.3 s,
as the recording's judge does it: what is known is of 0.3 s before the newest
measurement.
"""

from collections import deque

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S
from app.config.task_place import PlacedTask
from app.study.participant.stand import PersonStand, stricter
from app.study.task_truth import Verdict
from models.numerics import FloatArray

__all__ = ["LiveStand"]

_STEP_NS = 10 * NS_PER_MS
_STEPS = 30
_BREAK_NS = NS_PER_S  # after such a silence the smoothing begins anew


class LiveStand:
    """Takes measurements as they come."""

    def __init__(self, task: PlacedTask, longest_s: float) -> None:
        """Begin.

        Args:
            task: laid before the robot.
            longest_s: time from when the limb is taken in hand [s].
        """
        self.task = task
        self.stand = PersonStand(stricter(task), longest_s)
        self._places: deque[FloatArray] = deque(maxlen=_STEPS + 1)
        self._smooth: deque[FloatArray] = deque(maxlen=_STEPS + 1)
        self._last: tuple[int, FloatArray] | None = None
        self._grid_ns = 0

    def hear(
        self, time_ns: int, tip: FloatArray, force: FloatArray, *, driving: bool
    ) -> Verdict:
        """Take a measurement in; one that is not newer changes nothing.

        Args:
            time_ns: when the robot measured [ns].
            tip: (3,) [m], hull frame.
            force: (3,) of contact on the limb, as told by now [N].
            driving: whether the operator has the limb in hand by now.
        """
        last = self._last
        if last is not None and time_ns <= last[0]:
            return self.stand.verdict
        self._last = (time_ns, tip.copy())
        if last is None or time_ns - last[0] > _BREAK_NS:
            self._places.clear()
            self._smooth.clear()
            self._grid_ns = time_ns
            return self.stand.verdict
        while self._grid_ns <= time_ns:
            share = (self._grid_ns - last[0]) / (time_ns - last[0])
            self._places.append(last[1] + share * (tip - last[1]))
            if len(self._places) > _STEPS:
                self._smooth.append(np.mean(self._places, axis=0))
            if len(self._smooth) > _STEPS:
                self._step(force, driving=driving)
            self._grid_ns += _STEP_NS
        return self.stand.verdict

    def _step(self, force: FloatArray, *, driving: bool) -> None:
        way = float(np.linalg.norm(self._smooth[-1] - self._smooth[0]))
        self.stand.step(
            self._grid_ns - _STEPS * _STEP_NS,
            self._smooth[_STEPS // 2],
            way * NS_PER_S / (_STEPS * _STEP_NS),
            force,
            driving=driving,
        )
