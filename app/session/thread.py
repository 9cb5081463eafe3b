"""The recorder of a live process: a thread of its own, fed by a ring and a queue."""

import contextlib
import copy
import queue
import threading
from collections.abc import Callable
from typing import Any, Protocol

from app.clock import Clock, MonotonicClock
from app.errors import LogError
from app.link.channel import Direction, PacketRecord
from app.messages import Event, LinkHealth, OperatorInput, Severity, Source
from app.session.recorder import (
    LayoutDescription,
    Recorder,
    StatisticsLike,
)
from models.numerics import IntArray

__all__ = ["RecorderThread", "RowSource"]

_POLL_S = 0.02
_FLUSH_NS = 60_000_000  # with the poll that notices it and the write, within 100 ms
_QUEUE_LENGTH = 20_000  # some 10 s of everything but the states


class RowSource(Protocol):
    """Where state rows come from: a ring of shared memory."""

    def read(self) -> tuple[IntArray, int]:
        """Return the new rows (n, words) and how many were lost before them."""


class RecorderThread:
    """Writes a recording off the control path; the `write_…` calls never wait.

    A disk that stops for long loses rows of the ring and items past the queue's
    length: both are counted, and an event in the recording tells of them. A disk that
    fails ends the recording, never the process: `failure` then says why.
    """

    def __init__(
        self,
        recorder: Recorder,
        rows: RowSource | None = None,
        description: LayoutDescription = (),
        clock: Clock | None = None,
    ) -> None:
        """Start the thread; it owns the recorder from here on.

        Args:
            recorder: an open recorder.
            rows: source of state rows, drained by the thread.
            description: layout of those rows.
            clock: for flushing and for the times of its own events.
        """
        self.failure = ""
        self.lost_rows = 0
        self.lost_items = 0
        self._told_items = 0
        self._recorder = recorder
        self._rows = rows
        self._description = description
        self._clock = clock or MonotonicClock()
        self._queue: queue.Queue[tuple[Callable[..., None], tuple[Any, ...]]] = (
            queue.Queue(_QUEUE_LENGTH)
        )
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    @property
    def native_id(self) -> int:
        """The thread's number in the operating system."""
        return self._thread.native_id or 0

    def write_states(self, rows: IntArray, description: LayoutDescription) -> None:
        """Keep (n, words) rows of `StationState`, laid out as described."""
        self._put(self._recorder.write_states, rows.copy(), description)

    def write_input(self, source: Source, sample: OperatorInput) -> None:
        """Keep one sample of an operator."""
        self._put(self._recorder.write_input, source, sample)

    def write_frame(
        self, direction: Direction, sent_ns: int, received_ns: int, payload: bytes
    ) -> None:
        """Keep one frame as it was on the wire; a time not known is 0."""
        self._put(self._recorder.write_frame, direction, sent_ns, received_ns, payload)

    def write_packet(self, packet: PacketRecord) -> None:
        """Keep the fate of one packet in the emulated channel."""
        self._put(self._recorder.write_packet, packet)

    def write_health(self, health: LinkHealth) -> None:
        """Keep what is known of the link; the arrays are copied."""
        self._put(self._recorder.write_health, copy.deepcopy(health))

    def write_event(self, event: Event) -> None:
        """Keep something a person should know of."""
        self._put(self._recorder.write_event, event)

    def write_statistics(self, time_ns: int, statistics: StatisticsLike) -> None:
        """Keep the loop's statistics so far; the arrays are copied."""
        self._put(self._recorder.write_statistics, time_ns, copy.deepcopy(statistics))

    def close(self, timeout_s: float = 10.0) -> None:
        """Write all that is waiting, close the file and end the thread.

        Raises:
            LogError: the recording failed on the way, or the disk stands still.
        """
        self._stop.set()
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            raise LogError(
                f"Recording {self._recorder.path}: the disk has not answered for "
                f"{timeout_s:g} s. What was flushed before can be read."
            )
        if self.failure:
            raise LogError(self.failure)

    def _put(self, method: Callable[..., None], *arguments: Any) -> None:
        if self.failure:
            return
        try:
            self._queue.put_nowait((method, arguments))
        except queue.Full:
            self.lost_items += 1

    def _run(self) -> None:
        try:
            flushed_ns = self._clock.now_ns()
            while not self._stop.wait(_POLL_S):
                self._drain()
                if self._clock.now_ns() - flushed_ns >= _FLUSH_NS:
                    self._recorder.flush()
                    flushed_ns = self._clock.now_ns()
            self._drain()
            self._recorder.close()
        except LogError as error:
            self.failure = str(error)
            with contextlib.suppress(LogError):
                self._recorder.close()

    def _drain(self) -> None:
        lost_items = self.lost_items - self._told_items
        self._told_items += lost_items
        lost_rows = 0
        if self._rows is not None:
            rows, lost_rows = self._rows.read()
            if len(rows):
                self._recorder.write_states(rows, self._description)
        for _ in range(self._queue.qsize()):
            method, arguments = self._queue.get_nowait()
            method(*arguments)
        if lost_rows or lost_items:
            self.lost_rows += lost_rows
            self._recorder.write_event(
                Event(
                    self._clock.now_ns(),
                    Severity.WARNING,
                    "recorder",
                    f"{lost_rows} state rows and {lost_items} other records are "
                    "missing before this: the disk was too slow. Record to a faster "
                    "one.",
                )
            )
