"""When a process ends: on a signal, on request, and with the process that started it.

A child is told its parent's process id and ends with it, however it ends: it asks,
whenever it asks whether to stop, if its parent is still there. (PR_SET_PDEATHSIG would
fire at the end of the thread that started it, and a restart runs in such a thread.)
"""

import os
import signal
import threading

__all__ = ["StopFlag"]


class StopFlag:
    """Turns SIGTERM, SIGINT and the parent's end into one question: stop now?"""

    def __init__(self, parent: int = 0) -> None:
        """Watch nothing yet.

        Args:
            parent: process id of the parent to end with; 0 outlives every parent.
        """
        self._event = threading.Event()
        self._parent = parent

    def install(self) -> None:
        """Catch the signals; call in the main thread of a process."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._event.set())

    def set(self) -> None:
        """Ask to stop."""
        self._event.set()

    def wait(self, seconds: float) -> bool:
        """Wait for a stop; True once it is asked for."""
        return self._event.wait(seconds) or self()

    def __call__(self) -> bool:
        """Whether to stop now."""
        if self._parent and os.getppid() != self._parent:
            self._event.set()
        return self._event.is_set()
