"""What the console sends: its operator's samples, and its wishes.

Only one console of a session writes; it holds a lock on the session's folder that the
kernel frees when the process ends, however it ends. Others watch.
"""

import fcntl
import os
from pathlib import Path

from app.clock import NS_PER_MS
from app.console.drag import TipDrag
from app.console.wishes import GoalWishes, LinkWishes, TeleopWishes
from app.control.blocks import SessionBlocks
from app.messages import InputMode, OperatorInput, Source, put_sample
from app.operator.keyboard import KeyboardOperator

__all__ = ["ConsoleControls", "ControlLock"]

_STALL_NS = 150 * NS_PER_MS  # as the control tick's age limit for the console
_COUNTS = ("arm_count", "disarm_count", "estop_count", "estop_reset_count")


class ControlLock:
    """The right to command a session, for one console at a time."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "control.lock"
        self._descriptor = -1

    def acquire(self) -> bool:
        """Try to take control; True where it is ours."""
        if self._descriptor >= 0:
            return True
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return False
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        self._descriptor = descriptor
        return True

    @property
    def is_free(self) -> bool:
        """Whether nobody holds control."""
        if self._descriptor >= 0:
            return False
        try:
            descriptor = os.open(self._path, os.O_RDWR)
        except OSError:
            return True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        finally:
            os.close(descriptor)
        return True

    @property
    def holder(self) -> str:
        """Process id of the console that last took control, "" where unknown."""
        try:
            return self._path.read_text(encoding="utf-8").strip()
        except OSError:
            return ""

    def close(self) -> None:
        """Give control up; idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class ConsoleControls:
    """Keys, mouse and buttons of the console as one `OperatorInput`."""

    def __init__(self, blocks: SessionBlocks, keyboard: KeyboardOperator) -> None:
        """Make the console's source.

        Args:
            blocks: the session's blocks.
            keyboard: meaning of the keys.
        """
        self.keyboard = keyboard
        self.drag: TipDrag | None = None
        self.wishes = LinkWishes(blocks)
        self.teleop = TeleopWishes(blocks)
        self.goals = GoalWishes(blocks)
        self.is_writer = False
        self.stalls = 0
        self._published_ns = 0
        self._presses = dict.fromkeys(_COUNTS, 0)
        self.last = OperatorInput(stamp_ns=0)
        self.attach(blocks)

    def attach(self, blocks: SessionBlocks) -> None:
        """Take the session's mailboxes, and count presses on from what stands there.

        A console that came back and began at zero would count past a press of its
        predecessor, and that would be taken for a new one.
        """
        self._mailbox = blocks.inputs[Source.CONSOLE]
        self._mailbox.refresh()
        self._before = {
            name: int(getattr(self._mailbox.local, name)[0])
            - self._presses[name]
            - int(getattr(self.last, name))
            for name in _COUNTS
        }
        self.wishes.attach(blocks)
        self.teleop.attach(blocks)
        self.goals.attach(blocks)

    def press_arm(self) -> None:
        """Ask for arming."""
        self._presses["arm_count"] += 1

    def press_disarm(self) -> None:
        """Disarm."""
        self._presses["disarm_count"] += 1

    def press_estop(self) -> None:
        """Stop everything at once."""
        self._presses["estop_count"] += 1
        self.drag = None

    def press_reset(self) -> None:
        """Clear a latched emergency stop."""
        self._presses["estop_reset_count"] += 1

    def select_limb(self, limb: int) -> None:
        """Choose a limb."""
        self.keyboard.select(limb)

    def let_go(self) -> None:
        """Release every key and the mouse: focus is lost, or the window stood still."""
        self.keyboard.release_all()
        self.drag = None

    def sample(self, now_ns: int) -> OperatorInput:
        """Return what keys, mouse and buttons mean now."""
        keys = self.keyboard.sample(now_ns)
        self.last = keys
        counts = {
            name: int(getattr(keys, name)) + self._presses[name] + self._before[name]
            for name in _COUNTS
        }
        merged = keys._replace(**counts)  # type: ignore[arg-type]
        if self.drag is None:
            return merged
        x, y, z = (float(value) for value in self.drag.target)
        return merged._replace(
            present=True,
            deadman=True,
            mode=InputMode.TARGET,
            limb=self.drag.limb,
            rate=(0.0, 0.0, 0.0),
            target=(x, y, z),
        )

    def publish(self, now_ns: int) -> None:
        """Write sample and wishes, where this console is the one that commands.

        After a stall every key counts as released: what was held before it may have
        been let go unseen.
        """
        if self._published_ns and now_ns - self._published_ns > _STALL_NS:
            self.stalls += 1
            self.let_go()
        self._published_ns = now_ns
        if not self.is_writer:
            return
        put_sample(self.sample(now_ns), self._mailbox.local_words)
        self._mailbox.publish()
        self.wishes.publish(now_ns)
        self.teleop.publish()
        self.goals.publish()
