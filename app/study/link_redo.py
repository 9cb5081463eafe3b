"""A live link thread's turns again, from what the recording says of them.

It received, sent, heard of the emulator and told what it knew, at times and with states
that `/turn` tells. Given these and the frames that came, the same exchange must make
the same frames and know the same. What it makes is recorded as the live thread does it.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np

from app.config.link import LinkParameters
from app.config.robot import RobotParameters, build_robot_model
from app.control.blocks import SessionBlocks
from app.link.emulator_protocol import EmulatorStatus
from app.link.packets import Direction
from app.link.station_side import StationSide
from app.messages import (
    Event,
    GoalSource,
    GoalWish,
    LinkHealth,
    LinkTurn,
    StationState,
    TurnKind,
)
from app.robot.core import DEFAULT_ROBOT_ID
from app.session import Recorder
from app.session.reader import LoggedMessage
from app.station.exchange import Exchange
from app.study.recorded_session import RecordedSession

__all__ = ["KEPT", "NOT_REDONE", "LinkRedo", "Missing"]

KEPT = 8192
"""States and healths that a later turn or tick may still look at."""
NOT_REDONE = ("queue_ms", "goal_wish", "goal_taken")
"""Of health: the emulator's, recorded once a second; and which box a goal came by."""


class Missing(Exception):  # noqa: N818  ends the redoing, no error
    """Something that was known then is not in the recording."""


class LinkRedo:
    """The link thread's turns, one after another."""

    def __init__(
        self,
        session: RecordedSession,
        robot: RobotParameters,
        link: LinkParameters,
        blocks: SessionBlocks,
        outputs: Recorder,
    ) -> None:
        recording, model = session.recording, build_robot_model(robot)
        self._side = StationSide(model, DEFAULT_ROBOT_ID, link)
        goals = session.setup.goals
        self._exchange = Exchange(self._side, model.tip_speed_limit.size, goals)
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
        self._healths = _AtTimes(recording.messages({"/health"}))
        self._clocks = _AtTimes(recording.messages({"/clock"}))
        self._status: EmulatorStatus | None = None
        self._known: OrderedDict[int, np.ndarray[Any, np.dtype[np.int64]]] = (
            OrderedDict()
        )
        self.states: OrderedDict[int, StationState] = OrderedDict()
        self._outputs = outputs
        self.events: list[Event] = []
        """What the exchange had to say."""
        self.done_ns = 0
        """When the last turn was that has been redone [ns]."""
        self.goals = len(goals)
        """Goals that were given again: those of a plan, and people's so far."""
        self.unchecked = 0
        """Frames of which the socket took some only: which, nobody knows."""

    def until(self, health_ns: int) -> "np.ndarray[Any, np.dtype[np.int64]]":
        """Go on until this health is told, and return it."""
        while health_ns not in self._known:
            turn = next(self._turns, None)
            if turn is None or turn.time_ns > health_ns:
                raise Missing(f"what was known of the link at {health_ns} ns")
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
            self._know(now_ns)
            self.events += self._exchange.events()
            self._write_health(now_ns)
        else:
            self._receive(now_ns)
        self.done_ns = now_ns

    def _receive(self, now_ns: int) -> None:
        told = next(self._up, None)
        if told is None or told.content.received_ns != now_ns:
            raise Missing(f"the frame that came at {now_ns} ns")
        frame = self._exchange.receive(now_ns, told.content.payload)
        if frame is not None:
            sent_ns = frame.generated_ns - self._side.clock.offset_ns
            self._know(now_ns)
            self._outputs.write_telemetry(frame, sent_ns, now_ns)

    def _know(self, now_ns: int) -> None:
        self._exchange.fill(now_ns, self.health)
        self._known[now_ns] = self._words.copy()
        if len(self._known) > KEPT:
            self._known.popitem(last=False)

    def _write_health(self, now_ns: int) -> None:
        """Record it where the live thread did."""
        if self._clocks.at(now_ns) is not None:
            self._outputs.write_clock(now_ns, self._side.clock)
        told = self._healths.at(now_ns)
        if told is None:
            return
        for name in NOT_REDONE:
            getattr(self.health, name)[...] = getattr(told.content, name)
        self._outputs.write_health(self.health)
        self._words[:] = self._known[now_ns]

    def _status_at(self, now_ns: int) -> EmulatorStatus:
        while self._link is not None and self._link.time_ns <= now_ns:
            told = self._link.content
            names = [entry.name for entry in told.DESCRIPTOR.fields]
            values = {name: getattr(told, name) for name in names if name != "time_ns"}
            self._status = EmulatorStatus(revision=0, **values)
            self._link = next(self._links, None)
        if self._status is None:
            raise Missing(f"the link's settings at {now_ns} ns")
        return self._status

    def _send(self, turn: LinkTurn) -> None:
        state = self.states.get(turn.state_ns)
        if state is None:
            raise Missing(f"the state of {turn.state_ns} ns that was sent from")
        self._want(turn.time_ns)
        sent = self._exchange.send(turn.time_ns, state)
        if turn.went != turn.made:
            self.unchecked += turn.went
            sent = [self._frame(turn.time_ns) for _ in range(turn.went)]
        for packet in sent:
            self._outputs.write_frame(Direction.DOWN, turn.time_ns, 0, packet)
        if sent:
            self._outputs.write_setpoint(turn.time_ns, state, sent)

    def _frame(self, now_ns: int) -> bytes:
        """Return the next frame that really went then."""
        while (told := next(self._down, None)) is not None:
            if told.content.sent_ns == now_ns:
                payload: bytes = told.content.payload
                return payload
            if told.content.sent_ns > now_ns:
                break
        raise Missing(f"the frame that went at {now_ns} ns")

    def _want(self, now_ns: int) -> None:
        """Ask for the goals that were asked for by now."""
        desk = self._exchange.desk
        while self._goal is not None and self._goal.time_ns - self._shift_ns <= now_ns:
            if isinstance(self._goal.wish, GoalWish):
                desk.want(now_ns, GoalSource.CONSOLE, self._goal.wish)
                self.goals += 1
            self._goal = next(self._goals, None)


class _AtTimes:
    """Messages, asked for by their times in order."""

    def __init__(self, messages: Iterator[LoggedMessage]) -> None:
        self._messages = messages
        self._next = next(messages, None)

    def at(self, now_ns: int) -> LoggedMessage | None:
        """Return the message of exactly this time; None where there is none."""
        while self._next is not None and self._next.time_ns < now_ns:
            self._next = next(self._messages, None)
        told = self._next
        return told if told is not None and told.time_ns == now_ns else None


def _turns(messages: Iterator[LoggedMessage]) -> Iterator[LinkTurn]:
    for message in messages:
        told = message.content
        columns = (told.kinds, told.times_ns, told.states_ns, told.made, told.went)
        for kind, *rest in zip(*columns, strict=True):
            yield LinkTurn(TurnKind(kind), *rest)
