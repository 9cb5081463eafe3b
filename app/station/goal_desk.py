"""Where goals come in: wishes of console and command line, and a plan; pure.

The desk asks the keeper (`app.teleop.supervised`), one goal at a time, and says what
became of it in the health block. Live the link thread steps it, in virtual time a
trial. A wish that stood there before the station started is nobody's wish any more.
"""

from collections.abc import Sequence

from app.control.blocks import SessionBlocks
from app.errors import FrameError
from app.messages import (
    Event,
    GoalSource,
    GoalWish,
    LinkHealth,
    Severity,
    StationMode,
    StationState,
)
from app.teleop.goal_wish import check_goal, goal_of
from app.teleop.goals import Goal, GoalState
from app.teleop.supervised import GoalKeeper

__all__ = ["GoalDesk"]


class GoalDesk:
    """Takes goals for one robot."""

    def __init__(
        self, keeper: GoalKeeper, limbs: int, plan: Sequence[Goal] = ()
    ) -> None:
        """Begin with what is planned.

        Args:
            keeper: asks the robot.
            limbs: number of limbs L.
            plan: goals to be asked for one after the other once the robot is armed;
                the first that fails ends it.

        Raises:
            FrameError: one of them cannot be meant.
        """
        for goal in plan:
            check_goal(goal, limbs)
        self._keeper = keeper
        self._limbs = limbs
        self._plan = list(plan)
        self._planned = 0  # number of the plan's goal that is under way
        self._armed = False
        self._counts = [-1] * len(GoalSource)
        self._seen: list[int | None] = [None] * len(GoalSource)
        self._taken = [0] * len(GoalSource)
        self._events: list[Event] = []
        self._filled: LinkHealth | None = None  # the block that has all this, but for
        self._filled_with = -1  # later changes of the keeper

    @property
    def planned(self) -> int:
        """Goals of the plan that have not been asked for."""
        return len(self._plan)

    def look(self, now_ns: int, blocks: SessionBlocks) -> list[GoalWish]:
        """Act on wishes that are new in a session's blocks.

        Args:
            now_ns: station time [ns].
            blocks: mapped for the calling thread.

        Returns:
            What was acted on; views, good until the next look.
        """
        acted = []
        for source, mailbox in enumerate(blocks.goals):
            count = mailbox.count
            if count == self._counts[source] or not mailbox.refresh():
                continue
            self._counts[source], seen = count, self._seen[source]
            revision = int(mailbox.local.revision[0])
            self._seen[source] = revision
            self._filled = None
            if seen is not None and revision != seen:
                self.want(now_ns, GoalSource(source), mailbox.local)
                acted.append(mailbox.local)
        return acted

    def want(self, now_ns: int, source: GoalSource, wish: GoalWish) -> None:
        """Act on a wish, whether or not it has come by a block.

        Args:
            now_ns: station time [ns].
            source: who has it.
            wish: what it is.
        """
        self._taken[source] = 0
        self._filled = None
        try:
            goal = goal_of(wish, self._limbs)
            if not self._armed:
                raise FrameError("Goal not taken: arm the robot first.")
            self._taken[source] = self._keeper.ask(now_ns, goal).number
            self._drop_plan(now_ns)
        except FrameError as error:
            self._say(now_ns, Severity.WARNING, str(error))

    def step(self, now_ns: int, state: StationState) -> None:
        """Notice arming, and go on with the plan.

        Args:
            now_ns: station time [ns].
            state: newest state of the control loop.
        """
        self._armed = int(state.mode[0]) == StationMode.ARMED
        newest = self._keeper.newest
        if self._planned and newest is not None and newest.status.ended:
            failed = newest.status.state is GoalState.FAILED
            self._planned = 0
            if failed:
                self._drop_plan(now_ns)
        if self._plan and self._armed and not self._keeper.busy:
            goal = self._plan.pop(0)
            try:
                self._planned = self._keeper.ask(now_ns, goal).number
            except FrameError as error:
                self._say(now_ns, Severity.WARNING, str(error))
                self._drop_plan(now_ns)

    def _drop_plan(self, now_ns: int) -> None:
        if self._plan:
            self._say(
                now_ns,
                Severity.WARNING,
                f"{len(self._plan)} planned goals are dropped.",
            )
        self._plan.clear()

    def fill(self, health: LinkHealth) -> None:
        """Write what became of goals into the health block, where that is news."""
        changes = self._keeper.changes
        if self._filled is health and self._filled_with == changes:
            return
        self._filled, self._filled_with = health, changes
        for source, revision in enumerate(self._seen):
            health.goal_wish[source] = revision or 0
            health.goal_taken[source] = self._taken[source]
        for limb in range(self._limbs):
            health.goal_hold[limb] = self._keeper.hold(limb)
            health.goal_grip[limb] = self._keeper.grip(limb)
        newest = self._keeper.newest
        if newest is None:
            return
        goal, status = newest.goal, newest.status
        health.goal_number[0] = goal.number
        health.goal_kind[0], health.goal_limb[0] = int(goal.kind), goal.limb
        health.goal_state[0], health.goal_reason[0] = status.state, status.reason
        health.goal_asked_ns[0] = newest.asked_ns
        health.goal_ended_ns[0] = newest.ended_ns
        health.goal_progress[0], health.goal_force[0] = status.progress, status.force
        health.goal_tolerance[0] = goal.tolerance
        health.goal_position[:] = goal.position
        health.goal_normal[:] = goal.normal
        health.goal_points[0] = len(goal.points)
        for row, point in zip(health.goal_path, goal.points, strict=False):
            row[:] = point

    def events(self) -> list[Event]:
        """Return the events since the last call."""
        events, self._events = self._events, []
        return events

    def _say(self, now_ns: int, severity: Severity, text: str) -> None:
        self._events.append(Event(now_ns, severity, "teleop", text))
        del self._events[:-64]  # nobody may be listening
