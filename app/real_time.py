"""Real-time scheduling of the threads that must not wait for a window."""

import os
from contextlib import suppress

__all__ = ["prefer_real_time"]

_FEW_CORES = 4


def prefer_real_time(priority: int) -> bool:
    """Ask SCHED_FIFO for the calling thread, else for a better nice value.

    Where it is granted on a machine of few cores, the thread also leaves the first of
    them to everything else: else it interrupts whoever draws, wherever that runs (two
    cores, software rendering: 28 frames a second instead of 47). Threads that it
    starts from now on inherit all of this.

    Args:
        priority: of SCHED_FIFO, 1..99.

    Returns:
        Whether SCHED_FIFO is granted.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except (OSError, AttributeError):
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, -10)
        return False
    cores = os.sched_getaffinity(0)
    if 1 < len(cores) <= _FEW_CORES:
        with suppress(OSError):
            os.sched_setaffinity(0, cores - {min(cores)})
    return True
