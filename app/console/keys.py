"""Qt's keys to the names that `app.operator.keyboard` knows."""

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QKeyEvent

__all__ = ["HeldKeys", "key_name"]

_NAMES = {
    Qt.Key.Key_Space: "SPACE",
    Qt.Key.Key_Shift: "SHIFT",
    Qt.Key.Key_Alt: "ALT",
    Qt.Key.Key_Return: "ENTER",
    Qt.Key.Key_Enter: "ENTER",
    Qt.Key.Key_Tab: "TAB",
    Qt.Key.Key_Backtab: "BACKTAB",
    Qt.Key.Key_Backspace: "BACKSPACE",
    Qt.Key.Key_Escape: "ESC",
    Qt.Key.Key_F12: "F12",
}


def key_name(event: QKeyEvent) -> str:
    """Name the key of an event; "" where it has no printable name."""
    key = event.key()
    if key in _NAMES:
        return _NAMES[Qt.Key(key)]
    if Qt.Key.Key_A <= key <= Qt.Key.Key_Z or Qt.Key.Key_0 <= key <= Qt.Key.Key_9:
        return chr(key)
    return ""


class HeldKeys:
    """Pairs every release with its press.

    With a modifier in between, a key goes up under another symbol than it went down
    (Shift+1 is "!"): the physical key tells them apart, where the platform names it.
    """

    def __init__(self) -> None:
        self._names: dict[int, str] = {}

    def down(self, event: QKeyEvent) -> str:
        """Return the name of a key that goes down."""
        name = key_name(event)
        self._names[event.nativeScanCode() or event.key()] = name
        return name

    def up(self, event: QKeyEvent) -> str:
        """Return the name that this key went down with."""
        return self._names.pop(event.nativeScanCode() or event.key(), key_name(event))

    def clear(self) -> None:
        """Forget all keys."""
        self._names.clear()
