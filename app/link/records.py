"""What a frame says, apart from how it is written."""

from dataclasses import dataclass
from enum import Enum

import numpy as np

from app.errors import FrameError
from app.messages import RobotState, StationMode
from models.numerics import FloatArray

__all__ = [
    "COMPACT_BYTES",
    "COMPACT_SETPOINT_KEY",
    "COMPACT_TELEMETRY_KEY",
    "URGENT_KEY_END",
    "Kind",
    "Profile",
    "SetpointFrame",
    "TelemetryFrame",
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


@dataclass(frozen=True)
class SetpointFrame:
    """What the station asks of one limb, or of the whole robot (mode frames).

    Attributes:
        sequence: counts the station's frames to this robot.
        generated_ns: when the command was made [ns], in the robot's clock.
        robot: number of the robot.
        limb: index of the limb; of no meaning in a mode frame.
        epoch: the arming it belongs to, 1..255; 0 before the first.
        mode: ARMED carries coordinates; any other is a mode frame, without.
        period_ms: time to the next frame of this limb that the station plans [ms].
        coordinates: (n, 3) [rad, rad, m] of the limb's segments. Rows that are not
            known are NaN: all of a mode frame, and in the compact profile segments
            not heard of in this epoch.
        uplink_bps: the robot's own share of the bit rate, rounded down [bit/s]; 0 =
            not known.
    """

    sequence: int
    generated_ns: int
    robot: int
    limb: int
    epoch: int
    mode: StationMode
    period_ms: float
    coordinates: FloatArray
    uplink_bps: float = 0.0

    @property
    def complete(self) -> bool:
        """Every segment's setpoint is known."""
        return bool(np.isfinite(self.coordinates).all())


@dataclass(frozen=True)
class TelemetryFrame:
    """What the robot measured of one limb, and what it heard.

    Attributes:
        sequence: counts the robot's frames.
        generated_ns: when measured [ns], in the robot's clock.
        robot: number of the robot.
        limb: index of the limb.
        epoch: the arming that the robot follows; 0 = none.
        state: what the robot is doing.
        coordinates: (n, 3) [rad, rad, m] as measured; rows not heard of yet are NaN
            (compact).
        tension: (t,) [N], or None where there is no room.
        echo_sequence: newest setpoint frame that the robot accepted; -1 = none.
        echo_hold_ms: how long ago it came [ms]; NaN where not told (compact, > 16 s).
        received: count of setpoint frames that the robot accepted.
    """

    sequence: int
    generated_ns: int
    robot: int
    limb: int
    epoch: int
    state: RobotState
    coordinates: FloatArray
    tension: FloatArray | None
    echo_sequence: int
    echo_hold_ms: float
    received: int


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
