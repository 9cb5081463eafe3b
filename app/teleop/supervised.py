"""Supervised goals, the station's half: numbers them, repeats them, follows them.

The robot's half executes (`app.robot.goal_run`). A goal is told again and again until
the robot's status names it; a status is told in telemetry, also again and again. So a
lost packet costs time and nothing else, and no packet makes a goal happen twice.

A limb that was given a goal is out of the operator's hands until a stop of it is done,
or a new arming (`hold`): the control loop lets its command go along meanwhile.
"""

import math
from dataclasses import dataclass, replace

from app.messages import Event, Severity
from app.teleop.goal_bytes import coarse_goal, fine_goal, read_status
from app.teleop.goals import Goal, GoalKind, GoalReason, GoalState, GoalStatus

__all__ = ["Asked", "GoalKeeper"]

_KEPT = 32
_NUMBERS = 255
_ON_ITS_WAY, _GOALS_ALONE = 1, 2  # of `hold`


@dataclass(frozen=True)
class Asked:
    """A goal and what became of it.

    Attributes:
        goal: as asked.
        asked_ns: when [ns].
        status: the newest that is known of it.
        known_ns: when the robot's first word of it came [ns]; 0 = not yet.
        ended_ns: when its end was told [ns]; 0 = not yet.
    """

    goal: Goal
    asked_ns: int
    status: GoalStatus
    known_ns: int = 0
    ended_ns: int = 0


def _closure(kind: GoalKind, status: GoalStatus) -> float:
    """How far closed the robot has told a gripper to be; NaN: not touched by this."""
    there = status.progress >= 1.0
    if kind is GoalKind.GRASP:
        return 1.0 if there else 0.0
    return 0.0 if kind is GoalKind.PLACE and there else math.nan


class GoalKeeper:
    """The goals of one robot, newest last; pure."""

    def __init__(self) -> None:
        """Begin with none."""
        self._asked: list[Asked] = []
        self._number = 0
        self._events: list[Event] = []
        self._hold: dict[int, int] = {}
        self._grip: dict[int, float] = {}
        self.busy = False
        """The newest goal has not ended."""
        self.changes = 0
        """Grows with every change of what can be asked here."""

    @property
    def goals(self) -> tuple[Asked, ...]:
        """The last goals, oldest first."""
        return tuple(self._asked)

    @property
    def newest(self) -> Asked | None:
        """The goal asked for last."""
        return self._asked[-1] if self._asked else None

    def hold(self, limb: int) -> int:
        """Tell who drives a limb, as `LinkHealth.goal_hold` says it.

        Args:
            limb: index of the limb.

        Returns:
            0 = setpoints, 1 = a goal is on its way to it, 2 = goals alone.
        """
        return self._hold.get(limb, 0)

    def grip(self, limb: int) -> float:
        """How far a goal has closed a limb's gripper, 0..1; NaN: no goal has."""
        return self._grip.get(limb, math.nan)

    def ask(self, now_ns: int, goal: Goal) -> Goal:
        """Ask for a goal, in the place of one that has not ended.

        Args:
            now_ns: station time [ns].
            goal: its number does not matter.

        Returns:
            The goal with its number.

        Raises:
            FrameError: a value of it cannot be told.
        """
        numbered = replace(goal, number=self._number % _NUMBERS + 1)
        fine_goal(numbered)
        self._number = numbered.number
        if self.busy:
            self._settle(now_ns, GoalState.FAILED, GoalReason.REPLACED)
        status = GoalStatus(number=numbered.number)
        self._asked.append(Asked(numbered, now_ns, status))
        self._hold.setdefault(numbered.limb, _ON_ITS_WAY)
        del self._asked[:-_KEPT]
        self._changed()
        return numbered

    def to_send(self, *, coarse: bool) -> bytes:
        """Return the bytes to be sent now and repeated; none where all is known.

        Args:
            coarse: for compact frames.

        Raises:
            FrameError: the goal cannot be told in compact frames.
        """
        newest = self.newest
        if newest is None or newest.known_ns or newest.status.ended:
            return b""
        return coarse_goal(newest.goal) if coarse else fine_goal(newest.goal)

    def refuse(self, now_ns: int, text: str) -> None:
        """Give the newest goal up: it cannot be told on this link.

        Args:
            now_ns: station time [ns].
            text: why, for people.
        """
        if self.busy:
            limb = self._asked[-1].goal.limb
            if self._hold.get(limb) == _ON_ITS_WAY:
                del self._hold[limb]
            self._settle(now_ns, GoalState.FAILED, GoalReason.REPLACED)
            self._say(now_ns, Severity.WARNING, text)

    def hear(self, now_ns: int, value: int) -> GoalStatus | None:
        """Take a status as telemetry tells it.

        Args:
            now_ns: station time [ns].
            value: `TelemetryFrame.status`.

        Returns:
            The status where it is of the newest goal.

        Raises:
            FrameError: it is none.
        """
        status = read_status(value)
        newest = self.newest
        if newest is None or status.number != newest.goal.number:
            return None
        if newest.status.ended:
            return status
        self._asked[-1] = replace(
            newest,
            status=status,
            known_ns=newest.known_ns or now_ns,
            ended_ns=now_ns if status.ended else 0,
        )
        goal = newest.goal
        self._hold[goal.limb] = _GOALS_ALONE
        closure = _closure(goal.kind, status)
        if math.isfinite(closure):
            self._grip[goal.limb] = closure
        if goal.kind is GoalKind.STOP and status.state is GoalState.DONE:
            del self._hold[goal.limb]
            self._grip.pop(goal.limb, None)
        self._changed()
        if status.ended:
            self._tell_end(now_ns, goal, status)
        return status

    def arm(self, now_ns: int) -> None:
        """A new arming or another session: the robot knows of no goal.

        Numbers go on: the robot takes any as the first.
        """
        self._hold.clear()
        self._grip.clear()
        if self.busy:
            self._settle(now_ns, GoalState.FAILED, GoalReason.FORGOTTEN)
        self._changed()

    def events(self) -> list[Event]:
        """Return the events since the last call."""
        events, self._events = self._events, []
        return events

    def _settle(self, now_ns: int, state: GoalState, reason: GoalReason) -> None:
        newest = self._asked[-1]
        status = replace(newest.status, state=state, reason=reason)
        self._asked[-1] = replace(newest, status=status, ended_ns=now_ns)
        self._changed()

    def _changed(self) -> None:
        """Something that can be asked here is another now."""
        self.changes += 1
        self.busy = bool(self._asked) and not self._asked[-1].status.ended

    def _tell_end(self, now_ns: int, goal: Goal, status: GoalStatus) -> None:
        name = f"Goal {goal.number} ({goal.kind.name.lower()}, limb {goal.limb})"
        if status.state is GoalState.DONE:
            self._say(now_ns, Severity.INFO, f"{name} is done.")
        else:
            text = f"{name} failed: {status.reason.words}."
            self._say(now_ns, Severity.WARNING, text)

    def _say(self, now_ns: int, severity: Severity, text: str) -> None:
        self._events.append(Event(now_ns, severity, "teleop", text))
        del self._events[:-64]  # nobody may be listening
