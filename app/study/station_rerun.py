"""The station's side of a live recording again, bit for bit.

A live session's processes run on clocks of their own, so that the whole of it cannot
come out the same. The station's side can: its control loop says at which time each tick
ran and which sample, wish and link health it knew; its link thread says when it
received, sent and told. Given these and the frames that came, the same code must make
the same states and the same frames. What is not redone: the robot and the channel.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from app.config.link import LinkParameters, load_link
from app.config.robot import RobotParameters, build_robot_model, load_robot
from app.control.blocks import SessionBlocks
from app.control.loop import ControlLoop
from app.errors import LogError
from app.messages import (
    OperatorInput,
    Source,
    TeleopWish,
)
from app.session.digest import FULL_STATES, TopicDigest
from app.session.reader import LoggedMessage
from app.session.schema import StateEncoder
from app.study.link_redo import KEPT, LinkRedo, Missing, StationRerun
from app.study.recorded_hands import sample_of
from app.study.recorded_session import RecordedSession
from app.study.recording_difference import (
    Difference,
    RawMessage,
    RawReader,
    first_field,
)

__all__ = ["StationRerun", "rerun_station"]

_TELL_TICKS = 500


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
        return replace(self._sample, stamp_ns=stamp_ns)


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
    setup, result = session.setup, StationRerun()
    robot, link = setup.robot, setup.link
    robot = load_robot(robot) if isinstance(robot, str) else robot
    link = load_link(link) if isinstance(link, str) else link
    model = build_robot_model(robot)
    with TemporaryDirectory(prefix="limblink-rerun-") as folder:
        blocks = SessionBlocks(Path(folder), model, create=True)
        loop = ControlLoop(model, blocks, setup.teleop)
        _Redo(session, robot, link, blocks, loop, result).run(tell)
    return result


class _Redo:
    """The control loop's ticks, and between them the link thread's turns."""

    def __init__(
        self,
        session: RecordedSession,
        robot: RobotParameters,
        link: LinkParameters,
        blocks: SessionBlocks,
        loop: ControlLoop,
        result: StationRerun,
    ) -> None:
        self._session, self._blocks, self._loop = session, blocks, loop
        self._result = result
        recording = session.recording
        self._thread = LinkRedo(session, robot, link, blocks, result, self._note)
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
        self._begin_ns: int | None = None
        self._encoder = StateEncoder(blocks.state_layout.describe())
        self._digest = TopicDigest()
        self._reader = RawReader(recording)

    def run(self, tell: Callable[[float], None]) -> None:
        """Redo all."""
        layout = self._blocks.state_layout
        empty = layout.view(np.zeros(layout.words, dtype=np.int64))
        self._thread.states[0] = empty
        try:
            for raw in self._reader.messages():
                if raw.topic != "/state" or self._result.unknown:
                    continue
                try:
                    self._tick(raw)
                except Missing as missing:
                    self._result.unknown = (
                        f"{missing} is not in the recording, after "
                        f"{self._result.ticks} ticks"
                    )
                if self._result.ticks % _TELL_TICKS == 0:
                    tell(self._result.ticks / max(1, self._session.ticks))
            if not self._result.unknown:
                self._thread.finish()
        except Missing:
            pass  # the recorder was closed in the middle of a turn
        told = self._reader.told.get(FULL_STATES)
        if told is not None and not self._result.unknown:
            self._result.full_states = told == self._digest.told()[FULL_STATES]

    def _tick(self, raw: RawMessage) -> None:
        was = self._reader.decode(raw)
        now_ns = was.time_ns
        if self._begin_ns is None:
            self._begin_ns = now_ns
            if was.tick != 1:
                raise Missing("the first tick of the control loop")
        for source in Source:
            self._give(source, now_ns - was.source_age_ns[source])
        self._wish(was.wish_revision)
        if was.health_ns != self._health_ns:
            words = self._thread.until(was.health_ns)
            self._blocks.health.local_words[:] = words
            self._blocks.health.publish()
            self._health_ns = was.health_ns
        self._loop.step_at(now_ns, now_ns)
        row = self._loop.state_words.copy()
        self._digest.add_rows(row[None])
        (came,) = self._encoder.encode(row[None])
        if came != raw.data:
            kind = type(was)
            facts = self._reader.facts["/state"]
            found = first_field(was, kind.FromString(came), facts)
            self._note(
                "/state", self._result.ticks, now_ns, *(found or ("encoding", "", ""))
            )
        self._result.ticks += 1
        self._thread.states[now_ns] = self._blocks.state_layout.view(row)
        if len(self._thread.states) > KEPT:
            self._thread.states.popitem(last=False)

    def _give(self, source: Source, stamp_ns: int) -> None:
        if stamp_ns in {0, self._stamps[source]}:
            return
        block = self._blocks.inputs[source]
        block.local.put(self._sources[source].at(stamp_ns))
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
                return
        raise Missing(f"the wish of revision {revision}")

    def _note(
        self, topic: str, number: int, time_ns: int, place: str, was: str, came: str
    ) -> None:
        result = self._result
        result.different[topic] = result.different.get(topic, 0) + 1
        time_s = (time_ns - (self._begin_ns or time_ns)) * 1e-9
        if result.first is None or time_s < result.first.time_s:
            result.first = Difference(topic, number, time_s, place, was, came)
