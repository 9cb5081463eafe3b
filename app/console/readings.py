"""What the console knows of the session: the newest whole value of every block.

Blocks that stand still, vanish or are made anew by a restarted station are part of
normal life here: nothing raises, `is_alive` and `waiting` say what is known.
"""

import os
from pathlib import Path

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S
from app.console.recording import Recording
from app.control.blocks import LoopStatistics, SessionBlocks
from app.errors import ProcessError
from app.messages import (
    Event,
    InputBlock,
    LinkHealth,
    StationState,
    unpack_event,
)
from models.numerics import FloatArray
from models.robot import RobotModel
from models.tip import limb_tips

__all__ = ["StationReadings"]

_STATION_SILENCE_NS = 500 * NS_PER_MS
_LINK_SILENCE_NS = 2 * NS_PER_S
_EVENTS_BEFORE = 100  # shown of what happened before the window came up


class StationReadings:
    """The newest state, health, statistics, inputs and events of a session."""

    def __init__(self, folder: Path, model: RobotModel) -> None:
        """Attach to the session's blocks.

        Args:
            folder: the session's folder.
            model: the robot, which sizes the blocks.

        Raises:
            ProcessError: a block is missing or of another size.
        """
        self._folder = folder
        self._model = model
        self.recording = Recording(folder)
        self.blocks = SessionBlocks(folder, model, create=False)
        self._rewind_events()
        self._identity = self._identify()
        self._moved_ns = 0
        self._seen_time_ns = -1
        self._link_moved_ns = 0
        self._seen_health_ns = -1
        self._next_look_ns = 0
        self.now_ns = 0
        self.tip_confirmed = np.zeros((model.tip_speed_limit.size, 3))
        self._confirmed_of = np.full_like(self.health.confirmed_coordinates, np.nan)
        self._speed_from: tuple[int, FloatArray] | None = None
        self.tip_speed = np.zeros(model.tip_speed_limit.size)

    def _rewind_events(self) -> None:
        head = self.blocks.events.next
        self.blocks.events.next = max(0, head - _EVENTS_BEFORE)

    def _identify(self) -> int:
        try:
            return os.stat(self._folder / "state").st_ino
        except OSError:
            return 0

    @property
    def state(self) -> StationState:
        """The control tick's newest state."""
        return self.blocks.state.local

    @property
    def health(self) -> LinkHealth:
        """The link thread's newest report."""
        return self.blocks.health.local

    @property
    def statistics(self) -> LoopStatistics:
        """Timing of the control loop."""
        return self.blocks.statistics.local

    @property
    def inputs(self) -> list[InputBlock]:
        """The newest sample of every source, by `Source`."""
        return [mailbox.local for mailbox in self.blocks.inputs]

    def refresh(self, now_ns: int) -> bool:
        """Copy the newest values; cheap enough for every frame.

        Args:
            now_ns: present time [ns].

        Returns:
            True where the blocks were mapped anew, because a restarted station made
            new files: writers must take the new mailboxes.
        """
        self.now_ns = now_ns
        self.blocks.state.refresh()
        self.blocks.health.refresh()
        time_ns = int(self.state.time_ns[0])
        if time_ns != self._seen_time_ns:
            self._seen_time_ns, self._moved_ns = time_ns, now_ns
        health_ns = int(self.health.time_ns[0])
        if health_ns != self._seen_health_ns:
            self._seen_health_ns, self._link_moved_ns = health_ns, now_ns
        self._follow_tips(time_ns)
        if not self.is_alive and now_ns >= self._next_look_ns:
            self._next_look_ns = now_ns + NS_PER_S
            return self._remap()
        return False

    def refresh_slow(self, now_ns: int) -> None:
        """Copy what only panels show: statistics, inputs, the log's size."""
        self.blocks.statistics.refresh()
        for mailbox in self.blocks.inputs:
            mailbox.refresh()
        self.recording.refresh(now_ns)

    def _follow_tips(self, time_ns: int) -> None:
        confirmed = self.health.confirmed_coordinates
        if not np.array_equal(confirmed, self._confirmed_of):
            self._confirmed_of = confirmed.copy()
            self.tip_confirmed = limb_tips(self._model, confirmed)
        if self._speed_from is None:
            self._speed_from = (time_ns, self.state.tip_model.copy())
            return
        then_ns, then = self._speed_from
        span_ns = time_ns - then_ns
        if span_ns >= 100 * NS_PER_MS:
            moved = np.linalg.norm(self.state.tip_model - then, axis=1)
            self.tip_speed = moved * (NS_PER_S / span_ns)
            self._speed_from = (time_ns, self.state.tip_model.copy())
        elif span_ns < 0 or not self.is_alive:
            self.tip_speed = np.zeros_like(self.tip_speed)
            self._speed_from = (time_ns, self.state.tip_model.copy())

    def _remap(self) -> bool:
        identity = self._identify()
        if identity in {0, self._identity}:
            return False
        try:
            self.blocks = SessionBlocks(self._folder, self._model, create=False)
        except ProcessError:
            return False  # being made just now; looked at again in a second
        self._identity = identity
        self.recording = Recording(self._folder)
        self._rewind_events()
        return True

    def new_events(self) -> list[Event]:
        """Return the events that came since the last call, oldest first."""
        rows, _lost = self.blocks.events.read()
        return [unpack_event(row) for row in rows]

    @property
    def waiting(self) -> bool:
        """Whether the station has never published a state."""
        return int(self.state.time_ns[0]) == 0

    @property
    def is_alive(self) -> bool:
        """Whether the station's state moved within the last half second."""
        return not self.waiting and self.now_ns - self._moved_ns < _STATION_SILENCE_NS

    @property
    def is_link_alive(self) -> bool:
        """Whether the station's link thread reported within the last seconds."""
        heard = int(self.health.time_ns[0]) != 0
        return heard and self.now_ns - self._link_moved_ns < _LINK_SILENCE_NS

    @property
    def has_robot(self) -> bool:
        """Whether the robot was ever heard of."""
        return int(self.health.robot_heard_ns[0]) > 0

    def confirmed_age_ms(self, limb: int) -> float:
        """Age of a limb's confirmed pose [ms]; NaN where there is none."""
        generated_ns = int(self.health.confirmed_generated_ns[limb])
        if generated_ns <= 0:
            return float("nan")
        return max(0.0, (self.now_ns - generated_ns) / NS_PER_MS)

    def age_limit_ms(self) -> float:
        """Age above which a pose is too old to arm on [ms]."""
        limit = int(self.health.telemetry_limit_ns[0]) / NS_PER_MS
        return limit if limit > 0.0 else 1000.0
