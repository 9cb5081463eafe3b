"""The first byte of a frame, its stream key: all that the channel knows of a frame.

| keys      | stream                                                        | lane |
|-----------|---------------------------------------------------------------|------|
| 0x00      | mode (stop, disarm, announcement of an arming)                | 0    |
| 0x08      | the same, compact                                             | 0    |
| 0x10-0x17 | base of the robot; kept free                                  | 1    |
| 0x18 0x19 | hello of the robot, packed and compact                        | 1    |
| 0x20-0x27 | setpoint of limb 0..7, which is the active one                | 2    |
| 0x28-0x2F | setpoint of limb 0..7, which is not                           | 3    |
| 0x30 0x31 | setpoint of several limbs, with the active one and without    | 2, 3 |
| 0x32      | setpoint of all limbs                                         | 2    |
| 0x33      | goal, without coordinates                                     | 2    |
| 0x34 0x35 | telemetry of several limbs, of all                            | 2    |
| 0x38-0x3F | telemetry of limb 0..7                                        | 2    |
| 0x40-0x7F | compact setpoint: 0 1 rest period(2) limb(3)                  | 2, 3 |
| 0x80-0xBF | compact telemetry: 1 0 state(3) limb(3)                       | 2    |
| 0xC0-0xC3 | part 0..3 of a compact goal                                   | 2    |
| 0xC8-0xCF | compact grip of limb 0..7                                     | 2    |
| 0xD0-0xD7 | compact status of a goal of limb 0..7                         | 2    |

A newer frame replaces one of the same key that still waits; of frames that wait, one
of the lowest lane goes first. Keys from 0xD8 are not used.
"""

from enum import Enum

from app.errors import FrameError

__all__ = [
    "COMPACT_BYTES",
    "COMPACT_GOAL_KEY",
    "COMPACT_GRIP_KEY",
    "COMPACT_REST",
    "COMPACT_SETPOINT_KEY",
    "COMPACT_STATUS_KEY",
    "COMPACT_TELEMETRY_KEY",
    "URGENT_KEY_END",
    "Kind",
    "Profile",
    "lane",
    "profile_of",
    "stream_key",
]

URGENT_KEY_END = 0x10
"""Stream keys below this are mode frames, which go before all others."""
COMPACT_BYTES = 8
COMPACT_SETPOINT_KEY, COMPACT_TELEMETRY_KEY = 0x40, 0x80
COMPACT_GOAL_KEY, COMPACT_GRIP_KEY, COMPACT_STATUS_KEY = 0xC0, 0xC8, 0xD0
COMPACT_REST = 0x20
"""Bit of a compact setpoint's key: the limb is not the active one."""

_UNUSED_KEY = 0xD8
_LAST_LANE = 3


class Kind(Enum):
    """Keys below 0x40; where limbs are told apart, that of limb 0."""

    MODE = 0x00
    COMPACT_MODE = 0x08
    HELLO = 0x18
    COMPACT_HELLO = 0x19
    ACTIVE_LIMB = 0x20
    LIMB = 0x28
    SOME_WITH_ACTIVE = 0x30
    SOME = 0x31
    ALL = 0x32
    GOAL = 0x33
    TELEMETRY_SOME = 0x34
    TELEMETRY_ALL = 0x35
    TELEMETRY_LIMB = 0x38


class Profile(Enum):
    """How frames are written."""

    PACKED = "packed"  # any number of limbs, CRC of 24 bits
    COMPACT = "compact"  # one limb in 8 bytes


def _profile(key: int) -> Profile:
    compact = (
        key >= COMPACT_SETPOINT_KEY
        or Kind.COMPACT_MODE.value <= key < URGENT_KEY_END
        or key == Kind.COMPACT_HELLO.value
    )
    return Profile.COMPACT if compact else Profile.PACKED


_PROFILES = [_profile(key) for key in range(256)]


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
    return _PROFILES[stream_key(buffer)]


def lane(key: int) -> int:
    """Return how urgent a stream is: 0 goes first, 3 last.

    Args:
        key: first byte of a frame, 0..255.
    """
    if key < URGENT_KEY_END:
        return 0
    if key < Kind.ACTIVE_LIMB.value:
        return 1
    if Kind.LIMB.value <= key < Kind.SOME_WITH_ACTIVE.value or key == Kind.SOME.value:
        return _LAST_LANE
    if COMPACT_SETPOINT_KEY <= key < COMPACT_TELEMETRY_KEY and key & COMPACT_REST:
        return _LAST_LANE
    return _LAST_LANE if key >= _UNUSED_KEY else 2
