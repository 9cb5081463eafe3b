"""What a link is used for: profile, resolution and rate from its bits a second; pure.

A side may use 80 % of its share of the bit rate (all of it where packets wait for slots
anyway), and no limb is told more than 50 times a second. The plan takes

    packed, where a packet holds it and one limb can be told 4 times a second, or the
        compact profile would not tell one half as often again;
    the finest resolution at which the whole robot is told as often as at the coarser
        ones, that is 50 times a second; the standard one where none is; the coarse one
        where the standard one comes less than once a second.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.config.link import LinkParameters
from app.link.frame import Codec, Grade, Profile
from app.link.pacing import PaceBudget, budget_for
from app.link.schema import COMPACT_SETPOINT_BITS, Schema
from app.link.streams import COMPACT_BYTES

__all__ = ["LinkPlan", "plan_for", "plan_link", "setpoint_grade", "telemetry_grade"]

_LIMB_HZ = 50.0
_FEWEST_HZ = 1.0
_RESPONSIVE_HZ = 4.0
_COMPACT_GAIN = 1.5
_FORM_BITS = 3


@dataclass(frozen=True)
class LinkPlan:
    """What a station sends on a link.

    Attributes:
        profile: how frames are written.
        grade: resolution of packed frames.
        error: bound of the quantisation error at any tip [m].
        angle: bound of the rotation of any tip by quantisation [rad].
        limbs: limbs in one full frame.
        coordinates: coordinates in one full frame.
        payload_bits: of coordinates (and what tells their form) in one full frame.
        frame_bytes: length of that frame.
        packets_per_s: greatest rate of frames to the robot.
        limb_hz: updates a second of one limb that moves alone.
        robot_hz: updates a second of every limb where all move.
        telemetry_grade: resolution of packed telemetry.
        telemetry_error: bound of its quantisation error at any tip [m].
        telemetry_bytes: length of a telemetry frame without tensions.
        telemetry_per_s: greatest rate of telemetry frames.
        words: what was picked and why, for people.
    """

    profile: Profile
    grade: Grade
    error: float
    angle: float
    limbs: int
    coordinates: int
    payload_bits: int
    frame_bytes: int
    packets_per_s: float
    limb_hz: float
    robot_hz: float
    telemetry_grade: Grade
    telemetry_error: float
    telemetry_bytes: int
    telemetry_per_s: float
    words: str


def _hz(budget: PaceBudget, size_bytes: int) -> float:
    """Frames of this size that a budget allows a second, unlimited."""
    rate = budget.bytes_per_s()
    return 1e9 if rate is None else rate / (size_bytes + budget.overhead_bytes)


def _grade(budget: PaceBudget, sizes: Sequence[int]) -> Grade:
    """Pick a resolution; sizes of a frame of the whole robot by grade [bytes]."""
    if budget.bandwidth_bps is None:
        return Grade.STANDARD
    if _hz(budget, sizes[Grade.FINE]) >= _LIMB_HZ:
        return Grade.FINE
    if _hz(budget, sizes[Grade.STANDARD]) >= _FEWEST_HZ:
        return Grade.STANDARD
    return Grade.COARSE


def setpoint_grade(codec: Codec, budget: PaceBudget) -> Grade:
    """Return the resolution of packed setpoints within a budget."""
    limbs = codec.schema.all_limbs
    return _grade(budget, [codec.setpoint_bytes(limbs, grade) for grade in Grade])


def telemetry_grade(codec: Codec, budget: PaceBudget) -> Grade:
    """Return the resolution of packed telemetry within a budget."""
    limbs = codec.schema.all_limbs
    return _grade(budget, [codec.telemetry_bytes(limbs, grade) for grade in Grade])


def _profile(codec: Codec, down: PaceBudget) -> Profile:
    schema = codec.schema
    if max(map(codec.packed_bytes, schema.all_limbs)) > codec.mtu_bytes:
        return Profile.COMPACT
    limb = max(schema.all_limbs, key=schema.segments)
    packed_hz = _hz(down, codec.setpoint_bytes((limb,), Grade.STANDARD))
    compact_hz = _hz(down, COMPACT_BYTES) / len(schema.compact_setpoint[limb])
    slow = packed_hz < _RESPONSIVE_HZ and compact_hz >= _COMPACT_GAIN * packed_hz
    return Profile.COMPACT if slow else Profile.PACKED


def plan_link(codec: Codec, link: LinkParameters) -> LinkPlan:
    """Plan the use of a link by a robot; the codec takes up the link's MTU.

    Args:
        codec: of the robot.
        link: as its file says.
    """
    codec.set_mtu(link.medium.mtu_bytes)
    return plan_for(codec, budget_for(link, up=False), budget_for(link, up=True))


def plan_for(codec: Codec, down: PaceBudget, up: PaceBudget) -> LinkPlan:
    """Plan what is sent within two budgets; changes nothing.

    Args:
        codec: of the robot, with the link's MTU.
        down: what the station may send.
        up: what the robot may send.
    """
    if _profile(codec, down) is Profile.COMPACT:
        return _compact_plan(codec.schema, down, up)
    return _packed_plan(codec, down, up)


def _compact_plan(schema: Schema, down: PaceBudget, up: PaceBudget) -> LinkPlan:
    limb = max(schema.all_limbs, key=schema.segments)
    parts, told = schema.compact_setpoint[limb], schema.compact_telemetry[limb]
    layouts = [part[0].layout for part in schema.compact_setpoint]
    hz = min(_hz(down, COMPACT_BYTES), _LIMB_HZ * schema.limbs)
    turns = sum(len(part) for part in schema.compact_setpoint)
    return LinkPlan(
        profile=Profile.COMPACT,
        grade=Grade.COARSE,
        error=max(layout.error for layout in layouts),
        angle=max(layout.angle for layout in layouts),
        limbs=1,
        coordinates=3 * -(-schema.segments(limb) // len(parts)),
        payload_bits=COMPACT_SETPOINT_BITS,
        frame_bytes=COMPACT_BYTES,
        packets_per_s=hz,
        limb_hz=min(hz / len(parts), _LIMB_HZ),
        robot_hz=min(hz / turns, _LIMB_HZ),
        telemetry_grade=Grade.COARSE,
        telemetry_error=max(p[0].layout.error for p in schema.compact_telemetry),
        telemetry_bytes=COMPACT_BYTES,
        telemetry_per_s=min(_hz(up, COMPACT_BYTES), _LIMB_HZ * schema.limbs),
        words=(
            f"Packets of {COMPACT_BYTES} bytes, {hz:.3g} a second; a limb takes "
            f"{len(parts)} down and {len(told)} up, within "
            f"{1e3 * max(layout.error for layout in layouts):.2g} mm at the tip."
        ),
    )


def _packed_plan(codec: Codec, down: PaceBudget, up: PaceBudget) -> LinkPlan:
    schema = codec.schema
    limbs = schema.all_limbs
    limb = max(limbs, key=schema.segments)
    grade, told_grade = setpoint_grade(codec, down), telemetry_grade(codec, up)
    whole_bytes = codec.setpoint_bytes(limbs, grade)
    limb_bytes = codec.setpoint_bytes((limb,), grade)
    telemetry_bytes = codec.telemetry_bytes(limbs, told_grade)
    whole_hz = min(_hz(down, whole_bytes), _LIMB_HZ)
    layout = schema.setpoint[grade]
    return LinkPlan(
        profile=Profile.PACKED,
        grade=grade,
        error=layout.error,
        angle=layout.angle,
        limbs=schema.limbs,
        coordinates=3 * schema.segment_start[-1],
        payload_bits=layout.bits(limbs) + _FORM_BITS,
        frame_bytes=whole_bytes,
        packets_per_s=whole_hz,
        limb_hz=min(_hz(down, limb_bytes), _LIMB_HZ),
        robot_hz=whole_hz,
        telemetry_grade=told_grade,
        telemetry_error=schema.telemetry[told_grade].error,
        telemetry_bytes=telemetry_bytes,
        telemetry_per_s=min(_hz(up, telemetry_bytes), _LIMB_HZ),
        words=(
            f"All limbs in frames of at most {whole_bytes} bytes, {whole_hz:.3g} a "
            f"second, within {1e3 * layout.error:.2g} mm at the tip."
        ),
    )
