"""Keys of a replay."""

from collections.abc import Callable

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QKeyEvent

from app.console.transport import JUMP_NS, LEAP_NS, Transport

__all__ = ["REPLAY_KEYS", "replay_key"]

REPLAY_KEYS = (
    ("SPACE", "play, pause"),
    (",  .", "one control tick back, on"),
    ("LEFT  RIGHT", "0.1 s back, on; with SHIFT 5 s"),
    ("[  ]", "slower, faster: 0.1 to 16 times"),
    ("P  N", "mark, warning or outage before, next"),
    ("HOME  END", "start, end"),
)


def replay_key(
    event: QKeyEvent,
    transport: Transport,
    step: Callable[[int], None],
    moment: Callable[[int], None],
) -> bool:
    """Do what a key asks for.

    Args:
        event: the key.
        transport: what it moves.
        step: goes so many control ticks on.
        moment: goes to the next moment worth seeing, or the last.

    Returns:
        Whether the key means anything.
    """
    shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
    way_ns = LEAP_NS if shift else JUMP_NS
    key = event.key()
    acts: dict[int, Callable[[], None]] = {
        Qt.Key.Key_Space: transport.toggle,
        Qt.Key.Key_Comma: lambda: step(-1),
        Qt.Key.Key_Period: lambda: step(1),
        Qt.Key.Key_Left: lambda: transport.seek(transport.time_ns - way_ns),
        Qt.Key.Key_Right: lambda: transport.seek(transport.time_ns + way_ns),
        Qt.Key.Key_BracketLeft: lambda: transport.change_speed(-1),
        Qt.Key.Key_BracketRight: lambda: transport.change_speed(1),
        Qt.Key.Key_P: lambda: moment(-1),
        Qt.Key.Key_N: lambda: moment(1),
        Qt.Key.Key_Home: lambda: transport.seek(transport.start_ns),
        Qt.Key.Key_End: lambda: transport.seek(transport.end_ns),
    }
    if key not in acts:
        return False
    acts[key]()
    return True
