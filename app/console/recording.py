"""Whether the session is being recorded."""

import json
from pathlib import Path

from app.clock import NS_PER_S

__all__ = ["Recording"]

_RECORDING_SILENCE_NS = 2 * NS_PER_S


class Recording:
    """Whether the session's log grows, judged by the file itself.

    A station that finds its file there already, as one that was restarted does, writes
    beside it under a numbered name: the newest of them is followed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._size = -1
        self._grown_ns = 0
        self._look_ns = 0
        self.path: Path | None = None

    def refresh(self, now_ns: int) -> None:
        """Look at the file that the session names, or at its newest successor."""
        if now_ns >= self._look_ns and not self.is_growing(now_ns):
            self._look_ns = now_ns + NS_PER_S
            newest = self._newest()
            if newest != self.path:
                self.path, self._size = newest, -1
        if self.path is None:
            return
        size = _size(self.path)
        if size > self._size:
            self._grown_ns = now_ns
        self._size = size

    def _newest(self) -> Path | None:
        named = self._named()
        if named is None:
            return None
        successors = named.parent.glob(f"{named.stem}-*{named.suffix}")
        written = [path for path in (named, *successors) if _size(path) >= 0]
        return max(written, key=lambda path: path.stat().st_mtime_ns, default=named)

    def _named(self) -> Path | None:
        try:
            table = json.loads((self._folder / "session.json").read_text("utf-8"))
        except (OSError, ValueError):
            return None
        log = table.get("log") if isinstance(table, dict) else None
        return Path(log) if isinstance(log, str) and log else None

    def is_growing(self, now_ns: int) -> bool:
        """Whether the file grew within the last seconds."""
        return self._size >= 0 and now_ns - self._grown_ns < _RECORDING_SILENCE_NS

    @property
    def megabytes(self) -> float:
        """Size of the file [MB]."""
        return max(0, self._size) / 1e6


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
