"""A goal for a session that runs: written into its blocks, and followed to its end.

Another process than the station asks here (`limblink goal`). It may: goals of the
command line have a mailbox of their own, written by one caller at a time.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.clock import NS_PER_S, MonotonicClock
from app.control.blocks import SessionBlocks
from app.errors import ProcessError
from app.messages import GoalSource, LinkHealth, unpack_event
from app.teleop.goal_wish import put_goal
from app.teleop.goals import Goal, GoalReason, GoalState

__all__ = ["GoalCaller", "GoalProgress", "one_caller"]

_ROUND_NS = 50_000_000
_TAKEN_NS = 3 * NS_PER_S  # a station that is there takes a wish within 10 ms
_MINE = GoalSource.COMMAND_LINE


@dataclass(frozen=True)
class GoalProgress:
    """How a goal gets on.

    Attributes:
        number: of the goal, 0 = none.
        state: how far it is.
        reason: why it failed.
        progress: 0..1.
        force: of contact now [N].
    """

    number: int
    state: GoalState
    reason: GoalReason
    progress: float
    force: float

    @classmethod
    def of(cls, health: LinkHealth) -> "GoalProgress":
        """Read that of the newest goal."""
        return cls(
            int(health.goal_number[0]),
            GoalState(int(health.goal_state[0])),
            GoalReason(int(health.goal_reason[0])),
            float(health.goal_progress[0]),
            float(health.goal_force[0]),
        )

    @property
    def words(self) -> str:
        """A line for people."""
        if not self.number:
            return "no goal yet"
        told = {
            GoalState.NONE: "on its way to the robot",
            GoalState.ACCEPTED: "accepted",
            GoalState.RUNNING: f"running, {100.0 * self.progress:.0f} %",
            GoalState.DONE: "done",
            GoalState.FAILED: f"failed: {self.reason.words}",
        }[self.state]
        touch = f", contact {self.force:.1f} N" if self.force >= 0.05 else ""
        return f"goal {self.number}: {told}{touch}"


@contextmanager
def one_caller(folder: Path) -> Iterator[None]:
    """Be the only one who writes goals of the command line.

    Args:
        folder: the session's.

    Raises:
        ProcessError: another caller waits for its goal.
    """
    descriptor = os.open(folder / "goal.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ProcessError(
                "Another `limblink goal` waits for its goal in this session. Wait for "
                "it, or end it: the goal goes on."
            ) from error
        yield
    finally:
        os.close(descriptor)


class GoalCaller:
    """Asks for one goal and looks how it gets on."""

    def __init__(self, blocks: SessionBlocks) -> None:
        """Attach.

        Args:
            blocks: of the session, mapped for this caller alone.
        """
        self._blocks = blocks
        self._clock = MonotonicClock()

    def look(self) -> GoalProgress:
        """How the newest goal gets on, whoever asked for it."""
        self._blocks.health.refresh()
        return GoalProgress.of(self._blocks.health.local)

    def ask(self, goal: Goal) -> int:
        """Ask for a goal, in the place of one that has not ended.

        Returns:
            Its number.

        Raises:
            ProcessError: the station does not answer, or refuses it; says why.
        """
        self._blocks.events.read()
        mailbox = self._blocks.goals[_MINE]
        mailbox.refresh()
        put_goal(goal, mailbox.local)
        mailbox.local.revision[0] += 1
        mailbox.publish()
        revision, health = int(mailbox.local.revision[0]), self._blocks.health
        until_ns = self._clock.now_ns() + _TAKEN_NS
        while not (health.refresh() and health.local.goal_wish[_MINE] == revision):
            if self._clock.now_ns() > until_ns:
                raise ProcessError(
                    "The station does not answer: the goal was not taken. Look at "
                    "the session's console, or start the session anew."
                )
            self._clock.wait_until(self._clock.now_ns() + _ROUND_NS)
        number = int(health.local.goal_taken[_MINE])
        if not number:
            raise ProcessError(self._refusal())
        return number

    def _refusal(self) -> str:
        rows, _ = self._blocks.events.read()
        told = [unpack_event(row) for row in rows]
        texts = [event.text for event in told if event.source == "teleop"]
        return texts[-1] if texts else "The station refused the goal."

    def follow(
        self, number: int, timeout_s: float, show: Callable[[GoalProgress], None]
    ) -> GoalProgress:
        """Wait for the end of a goal.

        Args:
            number: of the goal.
            timeout_s: no longer than this [s]; the goal goes on then.
            show: is told how it gets on.

        Returns:
            How it ended, or how far it was.

        Raises:
            ProcessError: another goal has taken its place.
        """
        until_ns = self._clock.now_ns() + round(timeout_s * NS_PER_S)
        while True:
            progress = self.look()
            if progress.number != number:
                raise ProcessError(f"Goal {progress.number} has taken its place.")
            show(progress)
            ended = progress.state in (GoalState.DONE, GoalState.FAILED)
            if ended or self._clock.now_ns() > until_ns:
                return progress
            self._clock.wait_until(self._clock.now_ns() + _ROUND_NS)
