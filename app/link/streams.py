"""The first byte of a frame, its stream key: all that the channel knows of a frame.

Its two high bits are the kind. In kind 0 the next three bits tell frames of a whole
limb apart and the last three are the limb; in kinds 1 and 2 the other six are a
segment. Kind 3 is not used.
"""

from enum import Enum

from app.errors import FrameError

__all__ = [
    "COMPACT_BYTES",
    "COMPACT_SETPOINT_KEY",
    "COMPACT_TELEMETRY_KEY",
    "URGENT_KEY_END",
    "Kind",
    "Profile",
    "profile_of",
    "stream_key",
]

URGENT_KEY_END = 0x10
"""Stream keys below this are mode frames, which go before all others."""
COMPACT_BYTES = 8
COMPACT_SETPOINT_KEY, COMPACT_TELEMETRY_KEY = 0x40, 0x80
"""Two high bits of the keys whose six low bits are a segment."""


class Kind(Enum):
    """Five high bits of the keys whose three low bits are a limb."""

    MODE = 0x00
    COMPACT_MODE = 0x08
    SETPOINT = 0x10
    TELEMETRY = 0x18


class Profile(Enum):
    """How much a frame says."""

    FULL = "full"  # a whole limb, finely
    COMPACT = "compact"  # one segment in 8 bytes


def stream_key(buffer: bytes) -> int:
    """Return the first byte, by which the channel tells streams apart.

    Raises:
        FrameError: the buffer is empty.
    """
    if not buffer:
        raise FrameError("Frame is empty.")
    return buffer[0]


def profile_of(buffer: bytes) -> Profile:
    """Return the profile a frame is written in.

    Raises:
        FrameError: the buffer is empty.
    """
    key = stream_key(buffer)
    compact = key >= COMPACT_SETPOINT_KEY or key & 0xF8 == Kind.COMPACT_MODE.value
    return Profile.COMPACT if compact else Profile.FULL
