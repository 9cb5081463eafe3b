"""Records that cross from one part of limblink to another, and their shared blocks.

Blocks are NamedTuples of arrays (see `app.control.mailbox`); L limbs, S segments and
T tendons size them. All are SI; times are CLOCK_MONOTONIC in integer ns; positions and
rates of a tip are in the hull frame (x bow, y port, z up).
"""

from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, IntArray
from models.robot import RobotModel

__all__ = [
    "EVENT_WORDS",
    "INPUT_SHAPES",
    "LINK_OVERRIDES",
    "LINK_WISH_SHAPES",
    "Event",
    "InputBlock",
    "InputMode",
    "LinkHealth",
    "LinkWish",
    "OperatorInput",
    "RobotFault",
    "RobotState",
    "Severity",
    "Source",
    "StationMode",
    "StationState",
    "health_shapes",
    "pack_event",
    "state_shapes",
    "unpack_event",
]

Shapes = dict[str, tuple[type, tuple[int, ...]]]


class Source(IntEnum):
    """Who may command; one in charge at a time, the first that holds its deadman."""

    GAMEPAD = 0
    CONSOLE = 1
    SCRIPT = 2


class InputMode(IntEnum):
    """How an operator's sample is to be read."""

    NEUTRAL = 0
    RATE = 1  # `rate` moves the tip target
    TARGET = 2  # `target` is where the tip shall go


class StationMode(IntEnum):
    """The station's arming state."""

    DISARMED = 0
    ARMED = 1
    ESTOP = 2


class RobotState(IntEnum):
    """What the robot's bridge is doing, by its own decision."""

    IDLE = 0  # never engaged, or disarmed: compliant, waits for a new arming
    ACTIVE = 1  # follows fresh setpoints
    HOLD = 2  # silence or disarm: holds the last applied pose
    COMPLIANT = 3  # long silence: tendons at low tension; needs a new arming
    SLACK = 4  # very long silence: tendons slack; needs a new arming
    ESTOP = 5  # latched


class RobotFault(IntFlag):
    """What is wrong with the robot's actuators and sensors; told in telemetry."""

    BUS = 1  # a bus is lost
    SENSOR = 2  # a measurement is not believed
    LOAD = 4  # an actuator was over its load
    HOT = 8  # an actuator was over its temperature
    DEVICE = 16  # a device reports a fault of its own
    RATE = 32  # a bus holds too few rounds a second


class Severity(IntEnum):
    """How loud an event is."""

    INFO = 0
    WARNING = 1
    ALARM = 2


@dataclass(frozen=True)
class OperatorInput:
    """One sample of an operator, stamped at the device.

    Attributes:
        stamp_ns: when the device was read [ns].
        present: the device is connected.
        deadman: the operator holds the deadman; nothing moves without it.
        clutch: held: the device may move, the target stays.
        mode: how `rate` and `target` are to be read.
        limb: index of the limb that the operator has selected.
        rate: wanted tip velocity over the tip speed limit, each -1..1, hull frame.
        target: wanted tip position [m], hull frame.
        arm_count: counts presses of arm; only a change matters. Likewise the others.
        disarm_count: presses of disarm.
        estop_count: presses of emergency stop.
        estop_reset_count: presses of emergency stop reset.
    """

    stamp_ns: int
    present: bool = False
    deadman: bool = False
    clutch: bool = False
    mode: InputMode = InputMode.NEUTRAL
    limb: int = 0
    rate: tuple[float, float, float] = (0.0, 0.0, 0.0)
    target: tuple[float, float, float] = (0.0, 0.0, 0.0)
    arm_count: int = 0
    disarm_count: int = 0
    estop_count: int = 0
    estop_reset_count: int = 0


def _three(values: FloatArray) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z


class InputBlock(NamedTuple):
    """Shared form of `OperatorInput`; one mailbox for each `Source`."""

    stamp_ns: IntArray
    present: IntArray
    deadman: IntArray
    clutch: IntArray
    mode: IntArray
    limb: IntArray
    rate: FloatArray
    target: FloatArray
    arm_count: IntArray
    disarm_count: IntArray
    estop_count: IntArray
    estop_reset_count: IntArray

    def put(self, sample: OperatorInput) -> None:
        """Copy a sample into these arrays."""
        for name in self._fields:
            getattr(self, name)[...] = getattr(sample, name)

    def sample(self) -> OperatorInput:
        """Undo `put`."""
        return OperatorInput(
            stamp_ns=int(self.stamp_ns[0]),
            present=bool(self.present[0]),
            deadman=bool(self.deadman[0]),
            clutch=bool(self.clutch[0]),
            mode=InputMode(int(self.mode[0])),
            limb=int(self.limb[0]),
            rate=_three(self.rate),
            target=_three(self.target),
            arm_count=int(self.arm_count[0]),
            disarm_count=int(self.disarm_count[0]),
            estop_count=int(self.estop_count[0]),
            estop_reset_count=int(self.estop_reset_count[0]),
        )


_ONE_INT = (np.int64, (1,))
_ONE_FLOAT = (np.float64, (1,))

INPUT_SHAPES: Shapes = {
    name: (np.float64, (3,)) if name in ("rate", "target") else _ONE_INT
    for name in InputBlock._fields
}


class LinkWish(NamedTuple):
    """What the console wants of the emulated link; written by the console.

    Negative values mean "as the preset says".
    """

    revision: IntArray  # counts changes; acted on when it moves
    preset: IntArray  # index into the sorted names of assets/links
    delay_ms: FloatArray  # one-way
    jitter_ms: FloatArray  # standard deviation
    loss: FloatArray  # residual loss 0..1
    bandwidth_bps: FloatArray  # each way
    distance_m: FloatArray  # between station and robot; sound's delay follows it
    outage_s: (
        FloatArray  # nothing passes for so long from this revision on; 0: no outage
    )
    cut: IntArray  # 1: nothing passes
    console_pid: IntArray
    heartbeat_ns: IntArray


LINK_OVERRIDES = ("delay_ms", "jitter_ms", "loss", "bandwidth_bps", "distance_m")

LINK_WISH_SHAPES: Shapes = {
    name: _ONE_FLOAT if name in (*LINK_OVERRIDES, "outage_s") else _ONE_INT
    for name in LinkWish._fields
}


class StationState(NamedTuple):
    """What the control tick publishes every millisecond."""

    time_ns: IntArray  # (1,) start of the tick
    tick: IntArray  # (1,) ticks since start
    mode: IntArray  # (1,) StationMode
    arm_epoch: IntArray  # (1,) 1..255, new at every arming
    arm_refusal: IntArray  # (1,) why the last arming was refused, see app.control.tick
    active_source: IntArray  # (1,) Source in charge, or -1
    selected_limb: IntArray  # (1,)
    source_age_ns: IntArray  # (3,) age of each source's newest sample
    source_fresh: IntArray  # (3,) 1 where that sample is young enough to be believed
    target_position: FloatArray  # (L, 3) operator's tip target [m], hull frame
    reach_error: FloatArray  # (L,) distance from the target to the commanded tip [m]
    reach_status: IntArray  # (L,) bits of models.inverse
    coordinates_commanded: FloatArray  # (S, 3) after limits; what is sent
    tip_commanded: FloatArray  # (L, 3) [m], hull frame
    coordinates_model: FloatArray  # (S, 3) of the local model
    rates_model: FloatArray  # (S, 3)
    tip_model: FloatArray  # (L, 3) [m], hull frame
    servo_length_model: FloatArray  # (T,) [m]
    tension_model: FloatArray  # (T,) [N]
    fault: IntArray  # (L,) status of the local model's limbs


def state_shapes(model: RobotModel) -> Shapes:
    """Shapes of `StationState` for a robot."""
    limbs, segments = model.tip_speed_limit.size, model.segment_length.size
    tendons = model.tendon_angle.size
    shapes: Shapes = dict.fromkeys(StationState._fields, _ONE_INT)
    for name in ("source_age_ns", "source_fresh"):
        shapes[name] = (np.int64, (len(Source),))
    for name in ("target_position", "tip_commanded", "tip_model"):
        shapes[name] = (np.float64, (limbs, 3))
    shapes["reach_error"] = (np.float64, (limbs,))
    for name in ("reach_status", "fault"):
        shapes[name] = (np.int64, (limbs,))
    for name in ("coordinates_commanded", "coordinates_model", "rates_model"):
        shapes[name] = (np.float64, (segments, 3))
    for name in ("servo_length_model", "tension_model"):
        shapes[name] = (np.float64, (tendons,))
    return shapes


class LinkHealth(NamedTuple):
    """What the station knows of the robot and the link; written by its link thread."""

    time_ns: IntArray  # (1,)
    robot_heard_ns: IntArray  # (1,) station time of the newest telemetry, 0 = never
    robot_state: IntArray  # (1,) RobotState, or -1
    robot_epoch: IntArray  # (1,) arming the robot follows, 0 = none
    telemetry_limit_ns: IntArray  # (1,) telemetry older than this is too old to arm on
    emulator_present: IntArray  # (1,)
    confirmed_coordinates: FloatArray  # (S, 3) as measured by the robot
    confirmed_generated_ns: IntArray  # (L,) when measured, in station time
    confirmed_tension: FloatArray  # (T,) [N] as measured, where telemetry carries it
    age_ms: FloatArray  # (1,) age of information of the robot's pose
    command_age_ms: FloatArray  # (1,) age of the newest command the robot applied
    rtt_ms: FloatArray  # (1,)
    loss_down: FloatArray  # (1,) 0..1 over the last seconds
    loss_up: FloatArray  # (1,)
    down_bps: FloatArray  # (1,) sent to the robot, bits/s
    up_bps: FloatArray  # (1,) received from the robot, bits/s
    send_hz: FloatArray  # (1,) setpoint frames/s
    queue_ms: FloatArray  # (1,) emulator: wait before serialisation
    preset: IntArray  # (1,) index of the link preset in force
    delay_ms: FloatArray  # (1,) settings in force
    jitter_ms: FloatArray  # (1,)
    loss_set: FloatArray  # (1,)
    bandwidth_bps: FloatArray  # (1,)
    cut: IntArray  # (1,)


def health_shapes(model: RobotModel) -> Shapes:
    """Shapes of `LinkHealth` for a robot."""
    limbs, segments = model.tip_speed_limit.size, model.segment_length.size
    shapes: Shapes = {
        name: _ONE_FLOAT
        if name.endswith(("_ms", "_bps", "_hz")) or name.startswith("loss")
        else _ONE_INT
        for name in LinkHealth._fields
    }
    shapes["confirmed_coordinates"] = (np.float64, (segments, 3))
    shapes["confirmed_generated_ns"] = (np.int64, (limbs,))
    shapes["confirmed_tension"] = (np.float64, (model.tendon_angle.size,))
    return shapes


EVENT_WORDS = 32  # an event is a row of 32 words in the shared event ring


@dataclass(frozen=True)
class Event:
    """Something a person should know of.

    Attributes:
        time_ns: when [ns].
        severity: how loud.
        source: which part speaks ("station", "robot", "link", "operator", ...).
        text: one sentence; says what to do where something can be done.
    """

    time_ns: int
    severity: Severity
    source: str
    text: str
    fields: dict[str, float] = field(default_factory=dict)


def pack_event(event: Event) -> IntArray:
    """Pack an event into a row of (32,) int64; text past 224 bytes is cut."""
    row = np.zeros(EVENT_WORDS, dtype=np.int64)
    row[0] = event.time_ns
    row[1] = int(event.severity)
    text = event.text.encode()[: 8 * (EVENT_WORDS - 4)]
    source = event.source.encode()[:16]
    octets = row.view(np.uint8)
    octets[16 : 16 + len(source)] = np.frombuffer(source, dtype=np.uint8)
    octets[32 : 32 + len(text)] = np.frombuffer(text, dtype=np.uint8)
    return row


def unpack_event(row: IntArray) -> Event:
    """Undo `pack_event`."""
    octets = np.ascontiguousarray(row).tobytes()
    return Event(
        time_ns=int(row[0]),
        severity=Severity(int(row[1])),
        source=octets[16:32].rstrip(b"\0").decode(errors="replace"),
        text=octets[32:].rstrip(b"\0").decode(errors="replace"),
    )
