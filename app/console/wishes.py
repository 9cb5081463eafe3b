"""What the console wants of the others: of the link, of the strategy, goals."""

import math
import os

from app.control.blocks import SessionBlocks
from app.messages import LINK_OVERRIDES, GoalSource
from app.teleop.goal_wish import put_goal
from app.teleop.goals import Goal, Vector
from app.teleop.strategy import Strategy

__all__ = ["GoalWishes", "LinkWishes", "TeleopWishes"]

_ONE_OF = ("delay_ms", "distance_m")


class LinkWishes:
    """Wishes for the emulated link, as the panel changes them."""

    def __init__(self, blocks: SessionBlocks) -> None:
        self.attach(blocks)

    def attach(self, blocks: SessionBlocks) -> None:
        """Take up the wishes that already stand in the session."""
        self._mailbox = blocks.wish
        self._mailbox.refresh()
        if self.revision == 0:
            blocks.health.refresh()
            self._mailbox.local.preset[0] = blocks.health.local.preset[0]
            self.clear_overrides()

    @property
    def revision(self) -> int:
        """How often the wishes changed."""
        return int(self._mailbox.local.revision[0])

    @property
    def preset(self) -> int:
        """Index of the wanted preset."""
        return int(self._mailbox.local.preset[0])

    @property
    def cut(self) -> bool:
        """Whether nothing shall pass."""
        return bool(self._mailbox.local.cut[0])

    def override(self, name: str) -> float | None:
        """Return what is wanted of one of `LINK_OVERRIDES`.

        None means: as the preset says.
        """
        value = float(getattr(self._mailbox.local, name)[0])
        return None if value < 0.0 else value

    def choose_preset(self, index: int) -> None:
        """Want another preset, with its own figures."""
        self._mailbox.local.preset[0] = index
        self.clear_overrides()
        self._changed()

    def set_override(self, name: str, value: float | None) -> None:
        """Want one figure changed; None returns it to the preset's.

        Delay and distance say the same thing: the later wish ends the earlier.
        """
        if name in _ONE_OF:
            for other in _ONE_OF:
                getattr(self._mailbox.local, other)[0] = -1.0
        getattr(self._mailbox.local, name)[0] = -1.0 if value is None else value
        self._changed()

    def start_outage(self, length_s: float) -> None:
        """Want nothing to pass for so long [s]; the next wish of any kind ends it."""
        self._changed()
        self._mailbox.local.outage_s[0] = length_s

    def set_cut(self, cut: bool) -> None:
        """Cut the link, or mend it."""
        self._mailbox.local.cut[0] = int(cut)
        self._changed()

    def clear_overrides(self) -> None:
        """Return every figure to the preset's."""
        for name in LINK_OVERRIDES:
            getattr(self._mailbox.local, name)[0] = -1.0

    def _changed(self) -> None:
        self._mailbox.local.revision[0] += 1
        self._mailbox.local.outage_s[0] = 0.0

    def publish(self, now_ns: int) -> None:
        """Write the wishes with a new heartbeat."""
        self._mailbox.local.console_pid[0] = os.getpid()
        self._mailbox.local.heartbeat_ns[0] = now_ns
        self._mailbox.publish()


class TeleopWishes:
    """The wish for a strategy; the control loop acts when its revision moves."""

    def __init__(self, blocks: SessionBlocks) -> None:
        self.attach(blocks)

    def attach(self, blocks: SessionBlocks) -> None:
        """Count on from what stands in the session; nothing is wanted by that alone."""
        self._mailbox = blocks.teleop
        self._mailbox.refresh()
        self._unsent = False

    @property
    def revision(self) -> int:
        """How often a strategy was wanted."""
        return int(self._mailbox.local.revision[0])

    def choose(self, strategy: Strategy) -> None:
        """Want a strategy; written by the next `publish`."""
        self._mailbox.local.strategy[0] = int(strategy)
        self._mailbox.local.revision[0] += 1
        self._unsent = True

    def assist(self, share: float, limb: int, aim: Vector | None) -> None:
        """Want blended assistance; written by the next `publish`.

        Args:
            share: greatest share of the tip's velocity, 0 = off.
            limb: which it leads.
            aim: where to, hull frame [m]; None: nowhere.
        """
        wish = self._mailbox.local
        wish.blend[0], wish.aim_limb[0] = share, limb
        wish.aim[:] = math.nan if aim is None else aim
        wish.blend_revision[0] += 1
        self._unsent = True

    def publish(self) -> None:
        """Write what was chosen since the last time."""
        if self._unsent:
            self._unsent = False
            self._mailbox.publish()


class GoalWishes:
    """Goals that the console asks for; the station acts when the revision moves."""

    def __init__(self, blocks: SessionBlocks) -> None:
        self.attach(blocks)

    def attach(self, blocks: SessionBlocks) -> None:
        """Count on from what stands in the session; nothing is wanted by that alone."""
        self._mailbox = blocks.goals[GoalSource.CONSOLE]
        self._mailbox.refresh()
        self._unsent = False

    @property
    def revision(self) -> int:
        """How often a goal was wanted."""
        return int(self._mailbox.local.revision[0])

    def ask(self, goal: Goal) -> None:
        """Want a goal; written by the next `publish`."""
        put_goal(goal, self._mailbox.local)
        self._mailbox.local.revision[0] += 1
        self._unsent = True

    def publish(self) -> None:
        """Write what was asked for since the last time."""
        if self._unsent:
            self._unsent = False
            self._mailbox.publish()
