"""What waits to be written: bounded, and what gives way is the oldest detail."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["Backlog", "Entry"]


class Entry(NamedTuple):
    """One call of a recorder that is still to be made."""

    write: Callable[..., None]
    arguments: tuple[Any, ...]
    detail: bool
    """It may be lost before what is no detail: events, marks, health, settings."""


class Backlog:
    """Entries in order; any thread may add, one takes."""

    def __init__(self, length: int) -> None:
        """Keep at most so many entries."""
        self._length = length
        self._entries: deque[Entry] = deque()
        self._lock = threading.Lock()
        self.lost = 0
        """Entries that gave way since the start."""

    def add(self, entry: Entry) -> None:
        """Add an entry; in a full backlog the oldest detail gives way to it.

        Where there is no detail at all, the oldest entry does.
        """
        with self._lock:
            if len(self._entries) >= self._length:
                self._give_way()
            self._entries.append(entry)

    def _give_way(self) -> None:
        self.lost += 1
        for place, entry in enumerate(self._entries):
            if entry.detail:
                del self._entries[place]
                return
        self._entries.popleft()

    def take(self) -> list[Entry]:
        """Return all that waits, oldest first."""
        with self._lock:
            entries = list(self._entries)
            self._entries.clear()
        return entries
