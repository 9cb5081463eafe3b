"""Real-time scheduling of the threads that must not wait for a window."""

import os
from contextlib import suppress

__all__ = ["prefer_real_time"]

_FEW_CORES = 4


def prefer_real_time(
    priority: int, thread: int = 0, *, on_any_core: bool = False
) -> bool:
    """Ask SCHED_FIFO for a thread, else for a better nice value.

    Where it is granted on a machine of few cores, the thread also leaves the first of
    them to everything else: else it interrupts whoever draws, wherever that runs (two
    cores, software rendering: 28 frames a second instead of 47). Threads that it
    starts from now on inherit all of this.

    Args:
        priority: of SCHED_FIFO, 1..99.
        thread: its native number; 0 is the calling one.
        on_any_core: leave no core to others.

    Returns:
        Whether SCHED_FIFO is granted.
    """
    try:
        os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(priority))
    except (OSError, AttributeError):
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, thread, -10)
        return False
    cores = os.sched_getaffinity(thread)
    if 1 < len(cores) <= _FEW_CORES and not on_any_core:
        with suppress(OSError):
            os.sched_setaffinity(thread, cores - {min(cores)})
    return True
