"""What the console sends: its operator's samples, and its wishes for the link.

Only one console of a session writes; it holds a lock on the session's folder that the
kernel frees when the process ends, however it ends. Others watch.
"""

import fcntl
import os
from dataclasses import replace
from pathlib import Path

from app.clock import NS_PER_MS
from app.console.drag import TipDrag
from app.control.blocks import SessionBlocks
from app.messages import LINK_OVERRIDES, InputMode, OperatorInput, Source
from app.operator.keyboard import KeyboardOperator

__all__ = ["ConsoleControls", "ControlLock", "LinkWishes"]

_STALL_NS = 150 * NS_PER_MS  # as the control tick's age limit for the console
_ONE_OF = ("delay_ms", "distance_m")
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
        merged = replace(keys, **counts)  # type: ignore[arg-type]
        if self.drag is None:
            return merged
        x, y, z = (float(value) for value in self.drag.target)
        return replace(
            merged,
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
        self._mailbox.local.put(self.sample(now_ns))
        self._mailbox.publish()
        self.wishes.publish(now_ns)
