"""What a person at the console of a trial wants: strategies, troubles, goals."""

from app.config.link import link_names
from app.control.blocks import SessionBlocks
from app.control.mailbox import Mailbox
from app.link.emulator import Emulator
from app.link.emulator_protocol import encode_settings
from app.link.settings import LinkOverrides
from app.messages import LINK_OVERRIDES, GoalSource, GoalWish, LinkWish, TeleopWish
from app.session import Recorder
from app.station.link_worker import settings_wished
from app.teleop.goal_wish import put_goal
from app.teleop.goals import Goal
from app.teleop.strategy import Strategy

__all__ = ["TrialWishes"]


class TrialWishes:
    """Makes wishes as a console does, and puts them where they are read."""

    def __init__(
        self, blocks: SessionBlocks, emulator: Emulator, recorder: Recorder | None
    ) -> None:
        """Want nothing yet.

        Args:
            blocks: of the trial's session.
            emulator: of its link.
            recorder: the recording, None for none.
        """
        self._blocks = blocks
        self._emulator = emulator
        self._recorder = recorder
        self._goal_revision = 0

    def strategy(self, strategy: Strategy) -> TeleopWish:
        """Make the wish for another strategy."""
        wish = self._blocks.teleop.local
        wish.revision[0] += 1
        wish.strategy[0] = int(strategy)
        return wish

    def link(
        self,
        overrides: LinkOverrides,
        *,
        preset: str | None = None,
        cut: bool = False,
        outage_s: float = 0.0,
    ) -> LinkWish:
        """Make the wish to change the link, to cut it, or for an outage.

        Args:
            overrides: live changes to the link; all others end.
            preset: another shipped link; None: as it is.
            cut: nothing passes.
            outage_s: nothing passes for so long from now on [s].
        """
        wish = self._blocks.wish.local
        wish.revision[0] += 1
        wish.preset[0] = -1 if preset is None else link_names().index(preset)
        for name in LINK_OVERRIDES:
            getattr(wish, name)[0] = getattr(overrides, name)
        wish.cut[0] = int(cut)
        wish.outage_s[0] = outage_s
        return wish

    def goal(self, goal: Goal) -> GoalWish:
        """Make the wish for a goal that the robot shall reach by itself."""
        wish = self._blocks.goals[GoalSource.CONSOLE].local
        put_goal(goal, wish)
        wish.revision[0] += 1
        return wish

    def put(self, now_ns: int, wish: TeleopWish | LinkWish | GoalWish) -> None:
        """Record a wish, and hand it to whoever carries it out.

        Args:
            now_ns: station time [ns].
            wish: with a revision of its own.
        """
        if self._recorder is not None:
            self._recorder.write_wish(now_ns, wish)
        if isinstance(wish, LinkWish):
            self._emulator.settle(now_ns, encode_settings(settings_wished(wish)))
            return
        block: Mailbox[TeleopWish] | Mailbox[GoalWish] = self._blocks.teleop
        if isinstance(wish, GoalWish):
            block = self._blocks.goals[GoalSource.CONSOLE]
            wish = self._of_its_own(wish)
        for name in wish._fields:
            getattr(block.local, name)[...] = getattr(wish, name)
        block.publish()

    def _of_its_own(self, wish: GoalWish) -> GoalWish:
        """A goal with another revision than the one before.

        A live session's console and command line count each for itself.
        """
        revision = int(wish.revision[0])
        if revision == self._goal_revision:
            wish = wish._replace(revision=wish.revision + 1)
        self._goal_revision = int(wish.revision[0])
        return wish
