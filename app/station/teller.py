"""Tells a person what happened, without ever holding up who says it.

A terminal may stand still (CTRL-S, a full pipe), and a robot's loop must not stand with
it: what is said waits in a short queue for a thread that prints, and is dropped where
the queue is full.
"""

import queue
import threading
from collections.abc import Callable

from app.messages import Event

__all__ = ["Teller"]

_KEPT = 64


class Teller:
    """Hands events to a thread that prints them; ends with the process."""

    def __init__(self, tell: Callable[[Event], None]) -> None:
        """Start the thread.

        Args:
            tell: prints one event; may take as long as it likes.
        """
        self._tell = tell
        self._waiting: queue.Queue[Event] = queue.Queue(_KEPT)
        threading.Thread(target=self._run, name="teller", daemon=True).start()

    def __call__(self, event: Event) -> None:
        """Say something; returns at once."""
        try:
            self._waiting.put_nowait(event)
        except queue.Full:
            return  # nobody reads: the newest is worth no more than those that wait

    def _run(self) -> None:
        while True:
            self._tell(self._waiting.get())
