"""A recorded session as it is driven again: its set-up, its operators, its wishes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mcap.records import Channel, Message

from app.config.link import link_names
from app.control.loop import PERIOD_NS
from app.errors import ConfigError, LogError
from app.messages import (
    GOAL_WISH_SHAPES,
    LINK_WISH_SHAPES,
    TELEOP_WISH_SHAPES,
    GoalWish,
    LinkWish,
    Shapes,
    TeleopWish,
)
from app.session import Recording, open_log
from app.session.order import in_time
from app.session.reader import LoggedMessage
from app.study.recorded_hands import RecordedHands
from app.study.setup_record import read_setup
from app.study.trial import START_NS
from app.study.trial_setup import TrialSetup

__all__ = ["RecordedSession", "TimedWish"]


class TimedWish(NamedTuple):
    """What a person wanted otherwise, and when."""

    time_ns: int
    wish: TeleopWish | LinkWish | GoalWish


class RecordedSession:
    """One recording, read again for every drive.

    Attributes:
        recording: the file.
        setup: as it was driven.
        virtual: it was made in virtual time; else on the clock of a computer.
        ticks: how many periods it lasts.
        shift_ns: added to its times to be those of a trial [ns].
    """

    def __init__(self, path: Path, folder: Path) -> None:
        """Read what was driven and how long.

        Args:
            path: the recording.
            folder: an empty folder for its files; it must outlive this.

        Raises:
            LogError: it cannot be read, or is no session.
            ConfigError: its set-up is not valid for this version.
        """
        self.recording: Recording = open_log(path)
        self.setup: TrialSetup = read_setup(self.recording.attachments, folder)
        self.virtual = self.recording.metadata.get("clock") == "virtual"
        self._sources: set[str] = set()
        self._presets: dict[int, str] = {}
        first_ns, last_ns, count = 0, 0, 0
        states: set[int] = set()
        for record in self.recording.records():
            if isinstance(record, Message):
                if record.channel_id in states:
                    first_ns = first_ns if count else record.log_time
                    last_ns, count = record.log_time, count + 1
            elif isinstance(record, Channel):
                if record.topic == "/state":
                    states.add(record.id)
                elif record.topic.startswith("/input/"):
                    self._sources.add(record.topic)
                elif record.topic == "/wish/link":
                    self._presets = _numbered(record.metadata.get("values.preset", ""))
        if not count:
            raise LogError(
                f"{path} holds no state of a control loop: there is nothing to drive "
                "again."
            )
        self.shift_ns = START_NS + PERIOD_NS - first_ns
        self.ticks = count
        if not self.virtual:
            self.ticks = (last_ns - first_ns) // PERIOD_NS + 1

    def hands(self, *, patient: bool) -> RecordedHands:
        """Return the operators from the beginning.

        Args:
            patient: wait to be armed, as `RecordedHands` does.
        """
        messages = self.recording.messages({*self._sources, "/event"})
        return RecordedHands(
            in_time(messages), self.shift_ns, whole=self.virtual, patient=patient
        )

    def wishes(self, *, strategy: bool, link: bool) -> Iterator[TimedWish]:
        """Yield what was wanted otherwise in mid-session, in a trial's time.

        Args:
            strategy: changes of the strategy among it.
            link: changes of the link, cuts and outages among it.
        """
        topics = {"/wish/teleop"} if strategy else set()
        topics |= {"/wish/link"} if link else set()
        topics.add("/wish/goal")
        for message in in_time(self.recording.messages(topics)):
            time_ns = message.time_ns + self.shift_ns
            if message.topic == "/wish/teleop":
                yield TimedWish(
                    time_ns, TeleopWish(**_arrays(message, TELEOP_WISH_SHAPES))
                )
            elif message.topic == "/wish/goal":
                yield TimedWish(time_ns, GoalWish(**_arrays(message, GOAL_WISH_SHAPES)))
            else:
                wish = LinkWish(**_arrays(message, LINK_WISH_SHAPES))
                wish.preset[0] = self._preset(int(wish.preset[0]))
                yield TimedWish(time_ns, wish)

    def _preset(self, number: int) -> int:
        """Number that a preset of the recording has now."""
        name = self._presets.get(number)
        if name is None:
            return -1
        if name not in link_names():
            raise ConfigError(
                f"The recording changes to the link {name!r}, which is not shipped any "
                "more: give --link to drive over another."
            )
        return link_names().index(name)


def _numbered(text: str) -> dict[int, str]:
    """Read "0 first, 1 second" back."""
    parts = (part.split(" ", 1) for part in text.split(", ") if " " in part)
    return {int(number): name for number, name in parts}


def _arrays(message: LoggedMessage, shapes: Shapes) -> dict[str, Any]:
    """Read a block back; a field that the recording does not know yet is 0."""
    content = message.content
    return {
        name: np.full(shape, getattr(content, name, 0), dtype=kind)
        if shape == (1,)
        else np.array(getattr(content, name), dtype=kind).reshape(shape)
        for name, (kind, shape) in shapes.items()
    }
