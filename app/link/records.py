"""What a frame says, apart from how it is written."""

from dataclasses import dataclass

import numpy as np

from app.messages import RobotState, StationMode
from models.numerics import FloatArray

__all__ = ["SetpointFrame", "TelemetryFrame"]


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
