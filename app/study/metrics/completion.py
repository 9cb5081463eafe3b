"""How long a task took, and what stands for the time of one that was not done.

T_c = t_e - t_s: from when the operator takes the limb in hand until success *at the
robot*. T_seen = T_c + T_b is when the operator can know, the delay to the station
later. A trial that failed, in whatever way, has no T_c: in all comparisons it counts as
its time-out T_out, and as worse than any success, so that a strategy is not praised for
the hard trials that it lost.
"""

from typing import NamedTuple

from app.study.task_truth import Verdict

__all__ = ["Completion", "measure_completion"]


class Completion(NamedTuple):
    """How a trial ended, and when."""

    success: bool
    time_s: float | None
    """T_c [s]; None where there was no success."""
    seen_s: float | None
    """T_seen [s]."""
    counted_s: float
    """T_c, or T_out where there was no success [s]."""
    timeout_s: float
    """T_out [s]."""


def measure_completion(
    verdict: Verdict, start_s: float, end_s: float, timeout_s: float, delay_up_s: float
) -> Completion:
    """Sum a trial's time up.

    Args:
        verdict: how it ended.
        start_s: t_s, when the operator took the limb in hand [s].
        end_s: when it ended [s].
        timeout_s: T_out [s].
        delay_up_s: T_b, from robot to station [s].
    """
    success = verdict is Verdict.SUCCESS
    time_s = end_s - start_s if success else None
    return Completion(
        success,
        time_s,
        None if time_s is None else time_s + delay_up_s,
        timeout_s if time_s is None else min(time_s, timeout_s),
        timeout_s,
    )
