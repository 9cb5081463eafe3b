"""The recorder of a live process: a thread of its own, fed by a ring and a backlog."""

import contextlib
import copy
import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from app.clock import NS_PER_S, Clock, MonotonicClock
from app.errors import LogError
from app.link.channel import Direction, PacketRecord
from app.link.emulator_protocol import EmulatorStatus
from app.link.offset import ClockOffset
from app.link.records import TelemetryFrame
from app.messages import (
    Event,
    GoalWish,
    LinkHealth,
    LinkTurn,
    LinkWish,
    Mark,
    OperatorInput,
    RobotState,
    Severity,
    Source,
    StationState,
    TeleopWish,
)
from app.session.backlog import Backlog, Entry
from app.session.recorder import (
    SETPOINT_FIELDS,
    LayoutDescription,
    Recorder,
    StatisticsLike,
)
from app.session.room import Detail, detail_for, room_at
from models.numerics import FloatArray, IntArray

__all__ = ["RecorderThread", "RowSource"]

_POLL_S = 0.02
_FLUSH_NS = 60_000_000  # with the poll that notices it and the write, within 100 ms
_SYNC_S = 1.0
_BACKLOG_LENGTH = 20_000  # some 10 s of everything but the states
_EVERY = {Detail.ALL: 1, Detail.THINNED: 10, Detail.ESSENTIAL: 100}
_DETAIL_WORDS = {
    Detail.ALL: "there is room again: everything is kept",
    Detail.THINNED: "every tenth state is kept, and neither frames nor packets",
    Detail.ESSENTIAL: "only events, marks, health, settings, operators and ten states "
    "a second are kept",
}


class RowSource(Protocol):
    """Where state rows come from: a ring of shared memory."""

    def read(self) -> tuple[IntArray, int]:
        """Return the new rows (n, words) and how many were lost before them."""


class RecorderThread:
    """Writes a recording off the control path; the `write_…` calls never wait.

    A disk that stops for long loses the oldest rows of the ring and the oldest detail
    of the backlog: both are counted, and an event in the recording tells of them. On a
    disk that fills, detail is left out in time, which an event tells too. A disk that
    fails ends the recording, never the process: `failure` then says why.
    """

    def __init__(
        self,
        recorder: Recorder,
        rows: RowSource | None = None,
        description: LayoutDescription = (),
        clock: Clock | None = None,
        backlog_length: int = _BACKLOG_LENGTH,
    ) -> None:
        """Start the thread; it owns the recorder from here on.

        Args:
            recorder: an open recorder.
            rows: source of state rows, drained by the thread.
            description: layout of those rows.
            clock: for flushing and for the times of its own events.
            backlog_length: most entries that wait for a slow disk.
        """
        self.failure = ""
        self.lost_rows = 0
        self._told_items = 0
        self.detail = Detail.ALL
        self._recorder = recorder
        self._rows = rows
        self._description = description
        self._clock = clock or MonotonicClock()
        self._backlog = Backlog(backlog_length)
        self._stop = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._keeper = threading.Thread(
            target=self._sync, name="recorder-sync", daemon=True
        )
        self._thread.start()
        self._keeper.start()

    @property
    def native_id(self) -> int:
        """The thread's number in the operating system."""
        return self._thread.native_id or 0

    @property
    def lost_items(self) -> int:
        """Entries that were dropped for want of a faster disk."""
        return self._backlog.lost

    def write_states(self, rows: IntArray, description: LayoutDescription) -> None:
        """Keep (n, words) rows of `StationState`, laid out as described."""
        self._put(self._keep_states, rows.copy(), description, detail=True)

    def write_input(self, source: Source, sample: OperatorInput) -> None:
        """Keep one sample of an operator."""
        self._put(self._recorder.write_input, source, sample, detail=True)

    def write_frame(
        self, direction: Direction, sent_ns: int, received_ns: int, payload: bytes
    ) -> None:
        """Keep one frame as it was on the wire; a time not known is 0."""
        if self.detail is Detail.ALL:
            write = self._recorder.write_frame
            self._put(write, direction, sent_ns, received_ns, payload, detail=True)

    def write_packet(self, packet: PacketRecord) -> None:
        """Keep the fate of one packet in the emulated channel."""
        if self.detail is Detail.ALL:
            self._put(self._recorder.write_packet, packet, detail=True)

    def write_setpoint(
        self, time_ns: int, state: StationState, packets: Sequence[bytes]
    ) -> None:
        """Keep what was commanded when these frames were sent; that is copied."""
        if self.detail is Detail.ALL:
            kept = state._replace(
                **{name: getattr(state, name).copy() for name in SETPOINT_FIELDS}
            )
            write = self._recorder.write_setpoint
            self._put(write, time_ns, kept, packets, detail=True)

    def write_telemetry(
        self, frame: TelemetryFrame, generated_ns: int, received_ns: int
    ) -> None:
        """Keep what a telemetry frame says; when it was made, in station time."""
        if self.detail is not Detail.ESSENTIAL:
            write = self._recorder.write_telemetry
            self._put(write, frame, generated_ns, received_ns, detail=True)

    def write_robot(
        self,
        time_ns: int,
        state: RobotState,
        applied: FloatArray,
        true_pose: FloatArray,
    ) -> None:
        """Keep what a simulated robot really does; the arrays are copied."""
        write = self._recorder.write_robot
        kept = (applied.copy(), true_pose.copy())
        self._put(write, time_ns, state, *kept, detail=True)

    def write_link(self, time_ns: int, status: EmulatorStatus) -> None:
        """Keep the link's settings where they changed, and once a second."""
        self._put(self._recorder.write_link, time_ns, status)

    def write_clock(self, time_ns: int, clock: ClockOffset) -> None:
        """Keep what is known of the robot's clock."""
        self._put(self._recorder.write_clock, time_ns, copy.copy(clock))

    def write_health(self, health: LinkHealth) -> None:
        """Keep what is known of the link; the arrays are copied."""
        self._put(self._recorder.write_health, copy.deepcopy(health))

    def write_event(self, event: Event) -> None:
        """Keep something a person should know of."""
        self._put(self._recorder.write_event, event)

    def write_mark(self, mark: Mark) -> None:
        """Keep a moment that a person has marked."""
        self._put(self._recorder.write_mark, mark)

    def write_wish(self, time_ns: int, wish: TeleopWish | LinkWish | GoalWish) -> None:
        """Keep what a person wants otherwise from now on; the arrays are copied."""
        self._put(self._recorder.write_wish, time_ns, copy.deepcopy(wish))

    def write_turns(self, turns: Sequence[LinkTurn]) -> None:
        """Keep what a live link thread did, in that order."""
        if self.detail is Detail.ALL:
            self._put(self._recorder.write_turns, tuple(turns), detail=True)

    def write_statistics(self, time_ns: int, statistics: StatisticsLike) -> None:
        """Keep the loop's statistics so far; the arrays are copied."""
        self._put(self._recorder.write_statistics, time_ns, copy.deepcopy(statistics))

    def close(self, timeout_s: float = 10.0) -> None:
        """Write all that is waiting, close the file and end the threads.

        Raises:
            LogError: the recording failed on the way, or the disk stands still.
        """
        self._stop.set()
        self._thread.join(timeout_s)
        self._keeper.join(timeout_s)
        if self._thread.is_alive() or self._keeper.is_alive():
            raise LogError(
                f"Recording {self._recorder.path}: the disk has not answered for "
                f"{timeout_s:g} s. What was flushed before can be read."
            )
        if self.failure:
            raise LogError(self.failure)

    def _put(
        self, method: Callable[..., None], *arguments: Any, detail: bool = False
    ) -> None:
        if not self.failure:
            self._backlog.add(Entry(method, arguments, detail))

    def _run(self) -> None:
        try:
            flushed_ns = self._clock.now_ns()
            looked_ns = 0
            while not self._stop.wait(_POLL_S):
                self._drain()
                now_ns = self._clock.now_ns()
                if now_ns - looked_ns >= NS_PER_S:
                    self._look_at_room(now_ns)
                    looked_ns = now_ns
                if now_ns - flushed_ns >= _FLUSH_NS:
                    self._recorder.flush()
                    flushed_ns = self._clock.now_ns()
            self._drain()
            self._recorder.close()
        except LogError as error:
            self.failure = str(error)
            with contextlib.suppress(LogError):
                self._recorder.close()
        finally:
            self._ended.set()

    def _sync(self) -> None:
        """Have the disk keep what was flushed, each second; it may take its time."""
        while not self._ended.wait(_SYNC_S):
            try:
                self._recorder.sync()
            except LogError as error:
                self._tell(Severity.WARNING, str(error))

    def _drain(self) -> None:
        lost_items = self._backlog.lost - self._told_items
        self._told_items += lost_items
        lost_rows = 0
        if self._rows is not None:
            rows, lost_rows = self._rows.read()
            if len(rows):
                self._keep_states(rows, self._description)
        for entry in self._backlog.take():
            entry.write(*entry.arguments)
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

    def _keep_states(self, rows: IntArray, description: LayoutDescription) -> None:
        every = _EVERY[self.detail]
        if every > 1:
            tick = next(first for name, first, _ in description if name == "tick")
            rows = rows[rows[:, tick] % every == 0]
        self._recorder.write_states(rows, description)

    def _look_at_room(self, now_ns: int) -> None:
        room = room_at(self._recorder.path)
        if room is None:
            return
        detail = detail_for(room, self.detail)
        if detail is self.detail:
            return
        self.detail = detail
        severity = Severity.INFO if detail is Detail.ALL else Severity.WARNING
        self._tell(
            severity,
            f"The disk of the recording has {room.free_bytes / 1e6:.1f} MB left: "
            f"{_DETAIL_WORDS[detail]}.",
            now_ns,
        )

    def _tell(self, severity: Severity, text: str, now_ns: int | None = None) -> None:
        time_ns = self._clock.now_ns() if now_ns is None else now_ns
        self.write_event(Event(time_ns, severity, "recorder", text))
