"""The station's side of a live recording again, bit for bit.

A live session's processes run on clocks of their own, so that the whole of it cannot
come out the same. The station's side can: its control loop says at which time each tick
ran and which sample, wish and link health it knew; its link thread says when it
received, sent and told. Given these and the frames that came, the same code must make
the same states and the same frames. What is not redone: the robot and the channel.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from app.config.link import LinkParameters, load_link
from app.config.robot import build_robot_model, load_robot
from app.control.blocks import SessionBlocks
from app.control.loop import ControlLoop
from app.errors import LogError
from app.link.emulator_protocol import EmulatorStatus
from app.link.station_side import StationSide
from app.messages import (
    GoalSource,
    LinkHealth,
    LinkTurn,
    OperatorInput,
    Source,
    StationState,
    TeleopWish,
    TurnKind,
)
from app.robot.core import DEFAULT_ROBOT_ID
from app.session.digest import FULL_STATES, TopicDigest
from app.session.reader import LoggedMessage
from app.session.schema import SCHEMAS, StateEncoder, fill_message
from app.station.exchange import Exchange
from app.study.recorded_hands import sample_of
from app.study.recorded_session import RecordedSession
from app.study.recording_difference import (
    Difference,
    RawMessage,
    RawReader,
    first_field,
)
from app.teleop.goal_plan import plan_for

__all__ = ["StationRerun", "rerun_station"]

_KEPT = 8192  # states and healths that a later turn or tick may still look at
_TELL_TICKS = 500
_NOT_REDONE = ("queue_ms", "goal_wish", "goal_taken")
"""Of health: the emulator's, recorded once a second; and which box a goal came by."""


@dataclass
class StationRerun:
    """What came out.

    Attributes:
        ticks: states compared.
        frames: frames to the robot compared.
        healths: what is known of the link, compared.
        different: how many are not the same, by topic.
        first: the first difference; None where there is none.
        full_states: whether the states are the same in all their 64 bits; None where
            the recording does not tell.
        unknown: why it could not be redone to the end; "" where it could.
    """

    ticks: int = 0
    frames: int = 0
    healths: int = 0
    different: dict[str, int] = field(default_factory=dict)
    first: Difference | None = None
    full_states: bool | None = None
    unknown: str = ""

    @property
    def same(self) -> bool:
        """All came out the same, to the end."""
        return self.first is None and self.full_states is not False and not self.unknown


class _Missing(Exception):  # noqa: N818  ends the redoing, no error
    """Something that was known then is not in the recording."""


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
            raise _Missing("the first sample of an operator")
        return replace(self._sample, stamp_ns=stamp_ns)


class _LinkThread:
    """The link thread's turns, one after another."""

    def __init__(
        self,
        session: RecordedSession,
        link: LinkParameters,
        blocks: SessionBlocks,
        result: StationRerun,
        note: Callable[[str, int, int, str, str, str], None],
    ) -> None:
        recording, robot = session.recording, load_robot(session.setup.robot)
        model = build_robot_model(robot)
        self._side = StationSide(model, DEFAULT_ROBOT_ID, link)
        plan = plan_for(session.goals, robot)
        self._exchange = Exchange(self._side, model.tip_speed_limit.size, plan)
        self._health = blocks.health.layout
        self._words = np.zeros(self._health.words, dtype=np.int64)
        self.health: LinkHealth = self._health.view(self._words)
        self._blocks = blocks
        self._goals = session.wishes(strategy=False, link=False)
        self._goal = next(self._goals, None)
        self._shift_ns = session.shift_ns
        self._turns = _turns(recording.messages({"/turn"}))
        self._up = recording.messages({"/frame/up"})
        self._down = recording.messages({"/frame/down"})
        self._links = recording.messages({"/link"})
        self._link = next(self._links, None)
        self._healths = recording.messages({"/health"})
        self._next_health = next(self._healths, None)
        self._status: EmulatorStatus | None = None
        self._known: OrderedDict[int, np.ndarray[Any, np.dtype[np.int64]]] = (
            OrderedDict()
        )
        self.states: OrderedDict[int, StationState] = OrderedDict()
        self._result, self._note = result, note
        self._sent = 0

    def until(self, health_ns: int) -> "np.ndarray[Any, np.dtype[np.int64]]":
        """Go on until this health is told, and return it."""
        while health_ns not in self._known:
            turn = next(self._turns, None)
            if turn is None or turn.time_ns > health_ns:
                raise _Missing(f"what was known of the link at {health_ns} ns")
            self._do(turn)
        return self._known[health_ns]

    def finish(self) -> None:
        """Do what is left, as far as its states are known."""
        for turn in self._turns:
            if turn.kind is TurnKind.SEND and turn.state_ns not in self.states:
                return
            self._do(turn)

    def _do(self, turn: LinkTurn) -> None:
        now_ns = turn.time_ns
        if turn.kind is TurnKind.SEND:
            self._send(turn)
        elif turn.kind is TurnKind.STATUS:
            self._side.status(now_ns, self._status_at(now_ns))
        elif turn.kind is TurnKind.TELL:
            self._tell(now_ns)
            self._exchange.events()
        else:
            told = next(self._up, None)
            if told is None or told.content.received_ns != now_ns:
                raise _Missing(f"the frame that came at {now_ns} ns")
            if self._exchange.receive(now_ns, told.content.payload) is not None:
                self._tell(now_ns)

    def _tell(self, now_ns: int) -> None:
        self._exchange.fill(now_ns, self.health)
        self._known[now_ns] = self._words.copy()
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        told = self._next_health
        while told is not None and told.time_ns < now_ns:
            told = next(self._healths, None)
        self._next_health = told
        if told is not None and told.time_ns == now_ns:
            self._result.healths += 1
            came = fill_message(SCHEMAS["Health"], self.health)
            found = first_field(told.content, came, {}, _NOT_REDONE)
            if found is not None:
                self._note("/health", self._result.healths - 1, now_ns, *found)

    def _status_at(self, now_ns: int) -> EmulatorStatus:
        while self._link is not None and self._link.time_ns <= now_ns:
            told = self._link.content
            names = [entry.name for entry in told.DESCRIPTOR.fields]
            values = {name: getattr(told, name) for name in names if name != "time_ns"}
            self._status = EmulatorStatus(revision=0, **values)
            self._link = next(self._links, None)
        if self._status is None:
            raise _Missing(f"the link's settings at {now_ns} ns")
        return self._status

    def _send(self, turn: LinkTurn) -> None:
        state = self.states.get(turn.state_ns)
        if state is None:
            raise _Missing(f"the state of {turn.state_ns} ns that was sent from")
        self._want(turn.time_ns)
        made = self._exchange.send(turn.time_ns, state)
        if len(made) != turn.made:
            words = (f"{turn.made} frames", f"{len(made)} frames")
            self._note("/frame/down", self._sent, turn.time_ns, "number", *words)
        for number in range(turn.went):
            told = next(self._down, None)
            if told is None or told.content.sent_ns != turn.time_ns:
                raise _Missing(f"the frame that went at {turn.time_ns} ns")
            self._sent += 1
            if turn.went != turn.made or number >= len(made):
                continue  # which of them the socket refused is not known
            self._result.frames += 1
            was, came = told.content.payload, made[number]
            if was != came:
                words = (was.hex(), came.hex())
                place = (self._sent - 1, turn.time_ns, "payload")
                self._note("/frame/down", *place, *words)

    def _want(self, now_ns: int) -> None:
        """Ask for the goals that were asked for by now."""
        desk = self._exchange.desk
        desk.look(now_ns, self._blocks)
        while self._goal is not None and self._goal.time_ns - self._shift_ns <= now_ns:
            block = self._blocks.goals[GoalSource.CONSOLE]
            for name in block.local._fields:
                getattr(block.local, name)[...] = getattr(self._goal.wish, name)
            block.publish()
            desk.look(now_ns, self._blocks)
            self._goal = next(self._goals, None)


def _turns(messages: Iterator[LoggedMessage]) -> Iterator[LinkTurn]:
    for message in messages:
        told = message.content
        columns = (told.kinds, told.times_ns, told.states_ns, told.made, told.went)
        for kind, *rest in zip(*columns, strict=True):
            yield LinkTurn(TurnKind(kind), *rest)


def rerun_station(
    session: RecordedSession, tell: Callable[[float], None] = lambda _: None
) -> StationRerun:
    """Redo the station's side of a live recording.

    Args:
        session: the recording.
        tell: is told which share is done, 0..1.

    Raises:
        LogError: the recording does not say what its link thread did.
    """
    topics = {*session.recording.channels()}
    if "/turn" not in topics:
        raise LogError(
            f"{session.recording.path} does not say when its link thread did what: it "
            "is of an older version, or the disk had no room. Give a change, such as "
            "--seed, to drive it in virtual time."
        )
    setup, result = session.setup, StationRerun()
    link = (
        setup.link if isinstance(setup.link, LinkParameters) else load_link(setup.link)
    )
    model = build_robot_model(load_robot(setup.robot))
    with TemporaryDirectory(prefix="limblink-rerun-") as folder:
        blocks = SessionBlocks(Path(folder), model, create=True)
        loop = ControlLoop(model, blocks, setup.teleop)
        _Redo(session, link, blocks, loop, result, topics).run(tell)
    return result


class _Redo:
    """The control loop's ticks, and between them the link thread's turns."""

    def __init__(
        self,
        session: RecordedSession,
        link: LinkParameters,
        blocks: SessionBlocks,
        loop: ControlLoop,
        result: StationRerun,
        topics: set[str],
    ) -> None:
        self._session, self._blocks, self._loop = session, blocks, loop
        self._result = result
        recording = session.recording
        self._thread = _LinkThread(session, link, blocks, result, self._note)
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
                except _Missing as missing:
                    self._result.unknown = (
                        f"{missing} is not in the recording, after "
                        f"{self._result.ticks} ticks"
                    )
                if self._result.ticks % _TELL_TICKS == 0:
                    tell(self._result.ticks / max(1, self._session.ticks))
            if not self._result.unknown:
                self._thread.finish()
        except _Missing:
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
                raise _Missing("the first tick of the control loop")
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
        if len(self._thread.states) > _KEPT:
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
        raise _Missing(f"the wish of revision {revision}")

    def _note(
        self, topic: str, number: int, time_ns: int, place: str, was: str, came: str
    ) -> None:
        result = self._result
        result.different[topic] = result.different.get(topic, 0) + 1
        time_s = (time_ns - (self._begin_ns or time_ns)) * 1e-9
        if result.first is None or time_s < result.first.time_s:
            result.first = Difference(topic, number, time_s, place, was, came)
