"""The keyboard as an operator: key names in, operator samples out. Knows no toolkit.

Keys bear the names of `KEYS`. Whoever feeds it must drop a window system's automatic
repeats, and call `release_all` when the window loses the focus: keys that go up
elsewhere are never heard of.
"""

from typing import NamedTuple

from app.clock import NS_PER_MS, NS_PER_S
from app.messages import InputMode, OperatorInput

__all__ = ["KEYS", "KeyboardOperator"]

ARM_HOLD_NS = 400 * NS_PER_MS  # longer than a slip, shorter than patience
RESET_WINDOW_NS = 3 * NS_PER_S
RISE_NS = 150 * NS_PER_MS  # from rest to full speed; a release stops at once
GRIP_WINDOW_NS = NS_PER_S  # a press of G that has had no effect by then is forgotten
_SLOW = 0.5

KEYS: tuple[tuple[str, str], ...] = (
    ("SPACE", "deadman: hold it to move"),
    ("W / S", "tip toward the bow / back"),
    ("A / D", "tip to port / to starboard"),
    ("R / F", "tip up / down"),
    ("ALT", "held: half speed"),
    ("SHIFT", "clutch: held, the target stays"),
    ("G", "with SPACE: close or open the selected limb's gripper"),
    ("1 … 8", "select a limb"),
    ("TAB", "next limb (with SHIFT: previous)"),
    ("ENTER", "held for 0.4 s, deadman released: arm"),
    ("BACKSPACE", "disarm"),
    ("ESC", "EMERGENCY STOP"),
    (
        "F12, then ENTER",
        "reset the emergency stop (ENTER within 3 s, held for 0.4 s); then arm again",
    ),
)
"""What each key does, for a help panel."""

_AXES = {
    "W": (0, 1.0),
    "S": (0, -1.0),
    "A": (1, 1.0),
    "D": (1, -1.0),
    "R": (2, 1.0),
    "F": (2, -1.0),
}
_HELD = {"SPACE", "SHIFT", "ALT", "ENTER"}
_PRESSED = {"TAB", "BACKTAB", "BACKSPACE", "ESC", "F12", "G"}
_DIGITS = {str(digit) for digit in range(1, 9)}


class _Hold(NamedTuple):
    """ENTER going down: since when, and what it will do."""

    since_ns: int
    resets: bool


class KeyboardOperator:
    """A person at the keyboard."""

    def __init__(self, limbs: int) -> None:
        """Start with no key down.

        Args:
            limbs: number of limbs that can be selected.
        """
        self._limbs = limbs
        self._down: set[str] = set()
        self._limb = 0
        self._arm = 0
        self._disarm = 0
        self._estop = 0
        self._estop_reset = 0
        self._hold: _Hold | None = None
        self._spent = False  # this press of ENTER has had its effect
        self._reset_asked = False
        self._reset_until_ns = 0
        self._moving_since_ns: int | None = None
        self._grip = 0.0
        self._grip_asked = False
        self._grip_until_ns = 0

    def press(self, name: str) -> bool:
        """Take a key going down.

        Args:
            name: key as in `KEYS`; letters in upper case.

        Returns:
            Whether the key means something here.
        """
        if name not in _HELD | _PRESSED | _DIGITS | _AXES.keys():
            return False
        if name in self._down:
            return True
        self._down.add(name)
        if name == "ESC":
            self._estop += 1
            self._reset_asked = False
            self._reset_until_ns = 0
            self._hold = None
            self._spent = "ENTER" in self._down
        elif name == "BACKSPACE":
            self._disarm += 1
        elif name == "F12":
            self._reset_asked = True
        elif name == "G":
            self._grip_asked = True
        elif name in ("TAB", "BACKTAB"):
            back = name == "BACKTAB" or "SHIFT" in self._down
            self._limb = (self._limb + (-1 if back else 1)) % self._limbs
        elif name in _DIGITS and int(name) <= self._limbs:
            self._limb = int(name) - 1
        return True

    def release(self, name: str) -> bool:
        """Take a key going up; True where the key means something here."""
        self._down.discard(name)
        if name == "ENTER":
            self._hold = None
            self._spent = False
        return name in _HELD | _PRESSED | _DIGITS | _AXES.keys()

    def release_all(self) -> None:
        """Let go of everything, as when the window loses the focus."""
        self._down.clear()
        self._hold = None
        self._spent = False
        self._reset_asked = False
        self._reset_until_ns = 0
        self._grip_asked = False
        self._moving_since_ns = None

    def select(self, limb: int) -> None:
        """Take over a selection made elsewhere."""
        if 0 <= limb < self._limbs:
            self._limb = limb

    def follow_grip(self, grip: float, now_ns: int) -> None:
        """Take over how far the selected limb's gripper is wanted closed.

        What another operator did, or another limb's gripper, is then the state that
        the next G changes. For `GRIP_WINDOW_NS` after a G its own wish stands.

        Args:
            grip: as the station has it for the selected limb, 0 open to 1.
            now_ns: present time [ns].
        """
        if not self._grip_asked and now_ns >= self._grip_until_ns:
            self._grip = grip

    def sample(self, now_ns: int) -> OperatorInput:
        """Return the keyboard's state.

        Args:
            now_ns: present time [ns]; the stamp.

        Returns:
            A sample of mode RATE; its rate is at most 1 long in any direction.
        """
        self._watch_enter(now_ns)
        if self._grip_asked:
            self._grip_asked = False
            self._grip = 0.0 if self._grip > 0.5 else 1.0
            self._grip_until_ns = now_ns + GRIP_WINDOW_NS
        return OperatorInput(
            stamp_ns=now_ns,
            present=True,
            deadman="SPACE" in self._down,
            clutch="SHIFT" in self._down,
            mode=InputMode.RATE,
            limb=self._limb,
            rate=self._rate(now_ns),
            grip=self._grip,
            arm_count=self._arm,
            disarm_count=self._disarm,
            estop_count=self._estop,
            estop_reset_count=self._estop_reset,
        )

    def _watch_enter(self, now_ns: int) -> None:
        if self._reset_asked:
            self._reset_asked = False
            self._reset_until_ns = now_ns + RESET_WINDOW_NS
        if "ENTER" not in self._down or self._spent:
            return
        if self._hold is None:
            self._hold = _Hold(now_ns, resets=now_ns < self._reset_until_ns)
        if now_ns - self._hold.since_ns < ARM_HOLD_NS:
            return
        if self._hold.resets:
            self._estop_reset += 1
            self._reset_until_ns = 0
        else:
            self._arm += 1
        self._spent = True
        self._hold = None

    def _rate(self, now_ns: int) -> tuple[float, float, float]:
        rate = [0.0, 0.0, 0.0]
        for name, (axis, sign) in _AXES.items():
            if name in self._down:
                rate[axis] += sign
        length = (rate[0] ** 2 + rate[1] ** 2 + rate[2] ** 2) ** 0.5
        if length == 0.0 or "SPACE" not in self._down:
            self._moving_since_ns = None
            return 0.0, 0.0, 0.0
        if self._moving_since_ns is None:
            self._moving_since_ns = now_ns
        rise = min(1.0, (now_ns - self._moving_since_ns) / RISE_NS)
        scale = rise * (_SLOW if "ALT" in self._down else 1.0) / max(1.0, length)
        return scale * rate[0], scale * rate[1], scale * rate[2]
