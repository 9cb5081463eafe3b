"""A live link thread's turns again, from what the recording says of them.

It received, sent, heard of the emulator and told what it knew, at times and with states
that `/turn` tells. Given these and the frames that came, the same exchange must make
the same frames and know the same.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.config.link import LinkParameters
from app.config.robot import RobotParameters, build_robot_model
from app.control.blocks import SessionBlocks
from app.link.emulator_protocol import EmulatorStatus
from app.link.station_side import StationSide
from app.messages import GoalSource, LinkHealth, LinkTurn, StationState, TurnKind
from app.robot.core import DEFAULT_ROBOT_ID
from app.session.reader import LoggedMessage
from app.session.schema import SCHEMAS, fill_message
from app.station.exchange import Exchange
from app.study.recorded_session import RecordedSession
from app.study.recording_difference import Difference, first_field
from app.teleop.goal_plan import plan_for

__all__ = ["KEPT", "LinkRedo", "Missing", "StationRerun"]

KEPT = 8192
"""States and healths that a later turn or tick may still look at."""
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
        result: StationRerun,
        note: Callable[[str, int, int, str, str, str], None],
    ) -> None:
        recording, model = session.recording, build_robot_model(robot)
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
            self._tell(now_ns)
            self._exchange.events()
        else:
            told = next(self._up, None)
            if told is None or told.content.received_ns != now_ns:
                raise Missing(f"the frame that came at {now_ns} ns")
            if self._exchange.receive(now_ns, told.content.payload) is not None:
                self._tell(now_ns)

    def _tell(self, now_ns: int) -> None:
        self._exchange.fill(now_ns, self.health)
        self._known[now_ns] = self._words.copy()
        if len(self._known) > KEPT:
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
            raise Missing(f"the link's settings at {now_ns} ns")
        return self._status

    def _send(self, turn: LinkTurn) -> None:
        state = self.states.get(turn.state_ns)
        if state is None:
            raise Missing(f"the state of {turn.state_ns} ns that was sent from")
        self._want(turn.time_ns)
        made = self._exchange.send(turn.time_ns, state)
        if len(made) != turn.made:
            words = (f"{turn.made} frames", f"{len(made)} frames")
            self._note("/frame/down", self._sent, turn.time_ns, "number", *words)
        for number in range(turn.went):
            told = next(self._down, None)
            if told is None or told.content.sent_ns != turn.time_ns:
                raise Missing(f"the frame that went at {turn.time_ns} ns")
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
