"""What a frame says, apart from how it is written."""

from typing import NamedTuple

import numpy as np

from app.link.object_section import ObjectTold
from app.link.signal_section import SignalTold
from app.messages import RobotState, StationMode
from models.numerics import FloatArray

__all__ = [
    "STATUS_BITS",
    "WHOLE_ROBOT",
    "Beside",
    "GripTold",
    "HelloFrame",
    "SetpointFrame",
    "TelemetryFrame",
]

STATUS_BITS = 26
"""Of the status of a goal, in any profile."""

WHOLE_ROBOT = -1
"""`limb` of a frame that has a row for every segment of the robot."""


class GripTold(NamedTuple):
    """How far a limb's gripper shall be closed; told to 1/31."""

    limb: int
    closure: float
    """0 open .. 1 closed."""


class Beside(NamedTuple):
    """What a station sends beside the coordinates of its limbs.

    Attributes:
        signal: what the strategy of the active limb tells.
        grip: of the active limb.
        goal: that is to be told until the robot knows it, for packed frames.
        coarse_goal: the same for compact frames.
        limb_hz: how often frames of a limb shall go where the link lets them; 0 = as
            often as ever, 50 times a second.
    """

    signal: SignalTold | None = None
    grip: GripTold | None = None
    goal: bytes = b""
    coarse_goal: bytes = b""
    limb_hz: float = 0.0


class SetpointFrame(NamedTuple):
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
        signal: what the strategy of a limb tells the robot; it belongs to that limb's
            coordinates, and a frame that does not tell these tells no signal.
        grip: of one limb; a packed frame tells it when it changes and now and then.
        goal: what a limb shall do by itself, as `app.teleop.goals` writes it; a frame
            with a goal tells no limbs. Up to 64 bytes; in compact frames 8, 12 or 16,
            which take 2 to 4 frames and are there in the one that completes them.
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
    signal: SignalTold | None = None
    grip: GripTold | None = None
    goal: bytes = b""

    @property
    def complete(self) -> bool:
        """It says something of every segment of its limb or limbs."""
        return self.coordinates.size > 0 and bool(np.isfinite(self.coordinates).all())

    @property
    def announces(self) -> bool:
        """It tells of an arming and carries no coordinates."""
        return self.mode is StationMode.ARMED and self.coordinates.shape[0] == 0


class TelemetryFrame(NamedTuple):
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
        signal: what the robot's half of a strategy tells the station.
        status: how the robot gets on with a goal, as `app.teleop.goals` writes it in
            `STATUS_BITS`; -1 = not told. A compact frame that tells it tells no
            coordinates.
        seen: a movable object as the robot sees it; packed frames alone tell one, and
            only where there is room.
        held: bit k is set while the gripper of limb k is felt to hold something; -1 =
            not told, as in compact frames.
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
    signal: SignalTold | None = None
    status: int = -1
    seen: ObjectTold | None = None
    held: int = -1


class HelloFrame(NamedTuple):
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
