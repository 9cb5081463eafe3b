"""The station's side of a live recording again, bit for bit.

A live session's processes run on clocks of their own, so that the whole of it cannot
come out the same. The station's side can: its control loop says at which time each tick
ran and which sample, wish and link health it knew; its link thread says when it
received, sent and told. Given these and the frames that came, the same code must record
the same on all of `OUTPUTS`. What is not redone: the robot, the channel, what the
station says when it watches its own states, and three fields of the health
(`link_redo.NOT_REDONE`).
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from app.clock import NS_PER_S
from app.config.link import LinkParameters, load_link
from app.config.robot import RobotParameters, build_robot_model, load_robot
from app.control.blocks import SessionBlocks
from app.control.loop import ControlLoop
from app.errors import LogError
from app.messages import (
    Event,
    OperatorInput,
    Source,
    TeleopWish,
    put_sample,
)
from app.session import Recorder, open_log
from app.session.reader import LoggedMessage
from app.study.link_redo import KEPT, LinkRedo, Missing
from app.study.recorded_hands import event_of, sample_of
from app.study.recorded_session import RecordedSession
from app.study.recording_difference import Difference, compare_recordings

__all__ = ["OUTPUTS", "StationRerun", "rerun_station"]

_OF_TICKS = ("/state", "/contact", "/energy")
OUTPUTS = (
    *_OF_TICKS,
    "/frame/down",
    "/setpoint",
    "/telemetry",
    "/clock",
    "/health",
)
"""Topics that must come out the same, byte for byte; /event beside them: all that the
link's side had to say must be there."""

_TELL_TICKS = 500
_BATCH = 250
_WHOLE = 1 << 62  # bytes: the redone recording goes on in no second file


@dataclass
class StationRerun:
    """What came out.

    Attributes:
        counts: messages compared, by topic.
        different: how many are not the same, by topic.
        first: the first difference; None where there is none.
        full_states: whether the states are the same in all their 64 bits; None where
            the recording does not tell.
        goals: goals, of people and of a plan, that were given again.
        wishes: changes of strategy and assistance that were given again.
        altered: topics that are not as they were written, by the hash that the
            recording keeps of itself; None where it keeps none.
        unchecked: frames that were not compared: of some that were made the socket
            took only a part.
        unknown: why it could not be redone to the end; "" where it could.
    """

    counts: dict[str, int] = field(default_factory=dict)
    different: dict[str, int] = field(default_factory=dict)
    first: Difference | None = None
    full_states: bool | None = None
    goals: int = 0
    wishes: int = 0
    altered: tuple[str, ...] | None = None
    unchecked: int = 0
    unknown: str = ""

    @property
    def same(self) -> bool:
        """All came out the same, to the end."""
        return self.first is None and self.full_states is not False and not self.unknown


class _Sources:
    """Samples of one operator, by their stamps."""

    def __init__(self, messages: Iterator[LoggedMessage]) -> None:
        self._messages = messages
        self._next = next(messages, None)
        self._sample: OperatorInput | None = None

    def at(self, stamp_ns: int) -> OperatorInput:
        """Return the sample of a stamp; those left out differ in nothing else."""
        while self._next is not None and self._next.content.stamp_ns <= stamp_ns:
            self._sample = sample_of(self._next)[1]
            self._next = next(self._messages, None)
        if self._sample is None:
            raise Missing("the first sample of an operator")
        return self._sample._replace(stamp_ns=stamp_ns)


def rerun_station(
    session: RecordedSession, tell: Callable[[float], None] = lambda _: None
) -> StationRerun:
    """Redo the station's side of a live recording.

    Args:
        session: the recording.
        tell: is told which share is done, 0..1.

    Raises:
        LogError: the recording does not say what its link thread did.
        ConfigError: its set-up is not valid for this version.
    """
    if "/turn" not in session.recording.channels():
        raise LogError(
            f"{session.recording.path} does not say when its link thread did what: it "
            "is of an older version, or the disk had no room. Give a change, such as "
            "--seed, to drive it in virtual time."
        )
    setup = session.setup
    robot, link = setup.robot, setup.link
    robot = load_robot(robot) if isinstance(robot, str) else robot
    link = load_link(link) if isinstance(link, str) else link
    model = build_robot_model(robot)
    with TemporaryDirectory(prefix="limblink-rerun-") as folder:
        blocks = SessionBlocks(Path(folder), model, create=True)
        loop = ControlLoop(model, blocks, setup.teleop)
        again = Path(folder) / "again.mcap"
        with Recorder(again, {}, part_bytes=_WHOLE) as outputs:
            redo = _Redo(session, robot, link, blocks, loop, outputs)
            redo.run(tell)
        return _compared(session, redo, again)


def _compared(session: RecordedSession, redo: "_Redo", again: Path) -> StationRerun:
    """Compare what came out with what was recorded."""
    found = compare_recordings(
        session.recording,
        open_log(again),
        OUTPUTS.__contains__,
        until=lambda topic: redo.now_ns if topic in _OF_TICKS else redo.link.done_ns,
    )
    result = StationRerun(
        found.counts,
        found.different,
        found.first,
        None if redo.unknown else found.full_states,
        goals=redo.link.goals,
        wishes=redo.wishes,
        altered=found.altered,
        unchecked=redo.link.unchecked,
        unknown=redo.unknown,
    )
    _look_for(redo.link.events, session, redo, result)
    return result


def _look_for(
    events: list[Event], session: RecordedSession, redo: "_Redo", result: StationRerun
) -> None:
    """Look for what the link's side said again among what was recorded."""
    told = {
        (event.time_ns, event.source, event.text)
        for event in map(event_of, session.recording.messages({"/event"}))
    }
    result.counts["/event"] = len(events)
    for number, event in enumerate(events):
        if (event.time_ns, event.source, event.text) in told:
            continue
        result.different["/event"] = result.different.get("/event", 0) + 1
        time_s = (event.time_ns - redo.begin_ns) / NS_PER_S
        if result.first is None or time_s < result.first.time_s:
            words = ("nothing", repr(event.text))
            result.first = Difference("/event", number, time_s, event.source, *words)


class _Redo:
    """The control loop's ticks, and between them the link thread's turns."""

    def __init__(
        self,
        session: RecordedSession,
        robot: RobotParameters,
        link: LinkParameters,
        blocks: SessionBlocks,
        loop: ControlLoop,
        outputs: Recorder,
    ) -> None:
        self._session, self._blocks, self._loop = session, blocks, loop
        self._outputs = outputs
        recording = session.recording
        self.link = LinkRedo(session, robot, link, blocks, outputs)
        self._sources = {
            source: _Sources(recording.messages({f"/input/{source.name.lower()}"}))
            for source in Source
        }
        self._stamps = dict.fromkeys(Source, 0)
        self._wishes = (
            timed
            for timed in session.wishes(strategy=True, link=False)
            if isinstance(timed.wish, TeleopWish)
        )
        self._revision = 0
        self._health_ns = 0
        self._ticks = 0
        self._rows: list[np.ndarray[Any, np.dtype[np.int64]]] = []
        self.begin_ns = self.now_ns = 0
        self.wishes = 0
        self.unknown = ""

    def run(self, tell: Callable[[float], None]) -> None:
        """Redo all, as far as it is known."""
        layout = self._blocks.state_layout
        self.link.states[0] = layout.view(np.zeros(layout.words, dtype=np.int64))
        try:
            for message in self._session.recording.messages({"/state"}):
                self._tick(message.content)
                if self._ticks % _TELL_TICKS == 0:
                    tell(self._ticks / max(1, self._session.ticks))
        except Missing as missing:
            self.unknown = (
                f"{missing} is not in the recording, after {self._ticks} ticks"
            )
        self._write()
        if not self.unknown:
            # the recorder may have been closed in the middle of a turn
            with contextlib.suppress(Missing):
                self.link.finish()

    def _tick(self, was: Any) -> None:
        now_ns = was.time_ns
        if was.tick != self._ticks + 1:
            raise Missing(f"the state of tick {self._ticks + 1} of the control loop")
        if not self._ticks:
            self.begin_ns = now_ns
        for source in Source:
            self._give(source, now_ns - was.source_age_ns[source])
        self._wish(was.wish_revision)
        if was.health_ns != self._health_ns:
            words = self.link.until(was.health_ns)
            self._blocks.health.local_words[:] = words
            self._blocks.health.publish()
            self._health_ns = was.health_ns
        self._loop.step_at(now_ns, now_ns)
        row = self._loop.state_words.copy()
        self._rows.append(row)
        if len(self._rows) >= _BATCH:
            self._write()
        self._ticks += 1
        self.now_ns = now_ns
        self.link.states[now_ns] = self._blocks.state_layout.view(row)
        if len(self.link.states) > KEPT:
            self.link.states.popitem(last=False)

    def _write(self) -> None:
        if self._rows:
            description = self._blocks.state_layout.describe()
            self._outputs.write_states(np.stack(self._rows), description)
            self._rows = []

    def _give(self, source: Source, stamp_ns: int) -> None:
        if stamp_ns in {0, self._stamps[source]}:
            return
        block = self._blocks.inputs[source]
        put_sample(self._sources[source].at(stamp_ns), block.local_words)
        block.publish()
        self._stamps[source] = stamp_ns

    def _wish(self, revision: int) -> None:
        if revision == self._revision:
            return
        for timed in self._wishes:
            if int(timed.wish.revision[0]) == revision:
                block = self._blocks.teleop
                for name in block.local._fields:
                    getattr(block.local, name)[...] = getattr(timed.wish, name)
                block.publish()
                self._revision = revision
                self.wishes += 1
                return
        raise Missing(f"the wish of revision {revision}")
