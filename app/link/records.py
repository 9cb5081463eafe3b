"""What a frame says, apart from how it is written."""

from dataclasses import dataclass

import numpy as np

from app.messages import RobotState, StationMode
from models.numerics import FloatArray

__all__ = ["WHOLE_ROBOT", "HelloFrame", "SetpointFrame", "TelemetryFrame"]

WHOLE_ROBOT = -1
"""`limb` of a frame that has a row for every segment of the robot."""


@dataclass(frozen=True)
class SetpointFrame:
    """What the station asks of one limb or several, or of the robot (mode frames).

    Attributes:
        sequence: counts the station's frames to this robot.
        generated_ns: when the command was made [ns], in the robot's clock.
        robot: number of the robot.
        limb: index of the limb whose rows `coordinates` holds, or WHOLE_ROBOT; of no
            meaning in a mode frame.
        epoch: the arming it belongs to, 1..255; 0 before the first.
        mode: ARMED carries coordinates, or none at all where it only announces the
            arming; any other is a mode frame, without.
        period_ms: time to the next frame of these limbs that the station plans [ms].
        coordinates: (n, 3) [rad, rad, m]. Rows of which the frame says nothing are
            NaN: limbs left out, in a compact frame segments left out. (0, 3) in an
            announcement; all NaN in another mode frame.
        uplink_bps: the robot's own share of the bit rate, rounded down [bit/s]; 0 =
            not known.
        active: it carries the limb that the operator drives.
        stranger: the station does not know the robot's session yet.
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
    active: bool = False
    stranger: bool = False

    @property
    def complete(self) -> bool:
        """It says something of every segment of its limb or limbs."""
        return self.coordinates.size > 0 and bool(np.isfinite(self.coordinates).all())

    @property
    def announces(self) -> bool:
        """It tells of an arming and carries no coordinates."""
        return self.mode is StationMode.ARMED and self.coordinates.shape[0] == 0


@dataclass(frozen=True)
class TelemetryFrame:
    """What the robot measured of one limb or several, and what it heard.

    Attributes:
        sequence: counts the robot's frames.
        generated_ns: when measured [ns], in the robot's clock.
        robot: number of the robot.
        limb: index of the limb, or WHOLE_ROBOT.
        epoch: the arming that the robot follows; 0 = none.
        state: what the robot is doing.
        coordinates: (n, 3) [rad, rad, m] as measured; rows of which the frame says
            nothing are NaN.
        tension: (t,) [N], NaN where not told; None where there is no room.
        echo_sequence: newest setpoint frame that the robot accepted; -1 = none.
        echo_hold_ms: how long ago it came [ms]; NaN where not told (compact, > 16 s).
        received: count of setpoint frames that the robot accepted.
        echo_generated_ns: stamp of the frame echoed [ns]; -1 where not told (compact).
        faults: bit k is set while the robot has fault k, of 16.
        contact: what the robot knows of what it touches; empty until it is filled.
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
    echo_generated_ns: int = -1
    faults: int = 0
    contact: bytes = b""


@dataclass(frozen=True)
class HelloFrame:
    """The robot tells its session, until the station shows that it knows it.

    Attributes:
        robot: number of the robot.
        session: drawn at the robot's start, 1..2^32 - 1.
        generated_ns: the robot's clock [ns], modulo `CLOCK_SPAN_NS` of
            `app.link.stamps`; from a compact hello to 2.1 s.
    """

    robot: int
    session: int
    generated_ns: int
