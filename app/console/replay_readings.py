"""What the console knows at a moment of a recording, as it knew it then.

The panels read it as they read a running session: the same blocks, filled from the
recording instead of by a station. Nothing reads the blocks that the console writes.
"""

from pathlib import Path
from typing import Any

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S
from app.console.readings import StationReadings
from app.control.blocks import SessionBlocks
from app.messages import Event, Source
from app.session import Player
from models.robot import RobotModel
from models.tip import limb_tips

__all__ = ["ReplayReadings"]

_SPEED_OVER_NS = 100 * NS_PER_MS


class ReplayReadings(StationReadings):
    """The newest state, health, statistics and inputs at a moment of a recording."""

    def __init__(self, player: Player, model: RobotModel, folder: Path) -> None:
        """Show the recording's beginning.

        Args:
            player: the recording.
            model: its robot.
            folder: an empty folder for the blocks.
        """
        SessionBlocks(folder, model, create=True)
        super().__init__(folder, model)
        self.player = player
        self._shown: dict[str, int] = {}
        self.seek(player.start_ns)

    def seek(self, time_ns: int) -> None:
        """Show another moment.

        Args:
            time_ns: the moment [ns].
        """
        self.now_ns = time_ns
        self._moved_ns = self._take("/state", self.state)
        self._link_moved_ns = self._take("/health", self.health)
        self._take("/statistics", self.statistics)
        for source in Source:
            self._take(f"/input/{source.name.lower()}", self.inputs[source])
        self._show_tips()

    def _take(self, topic: str, block: Any) -> int:
        """Fill a block with the newest message of a topic; its time, 0 for none."""
        message = self.player.at(topic, self.now_ns)
        time_ns = 0 if message is None else message.time_ns
        if self._shown.get(topic) == time_ns:
            return time_ns
        self._shown[topic] = time_ns
        for name in block._fields:
            array = getattr(block, name)
            told = 0 if message is None else getattr(message.content, name, 0)
            values = np.asarray(told).reshape(-1)
            if values.size == array.size:
                array[...] = values.reshape(array.shape)
            else:  # a field that the recording does not have, or in another size
                array[...] = 0
        return time_ns

    def _show_tips(self) -> None:
        confirmed = self.health.confirmed_coordinates
        if not np.array_equal(confirmed, self._confirmed_of):
            self._confirmed_of = confirmed.copy()
            self.tip_confirmed = limb_tips(self._model, confirmed)
        before = self.player.at("/state", self.now_ns - _SPEED_OVER_NS)
        time_ns = int(self.state.time_ns[0])
        self.tip_speed = np.zeros_like(self.tip_speed)
        if before is not None and before.time_ns < time_ns:
            then = np.reshape(before.content.tip_model, self.state.tip_model.shape)
            moved = np.linalg.norm(self.state.tip_model - then, axis=1)
            self.tip_speed = moved * (NS_PER_S / (time_ns - before.time_ns))

    def refresh(self, now_ns: int) -> bool:
        """Do nothing: the moment is changed by `seek` alone."""
        return False

    def refresh_slow(self, now_ns: int) -> None:
        """Do nothing, likewise."""

    def new_events(self) -> list[Event]:
        """Return none: all events of a recording are known at once."""
        return []
