"""What a robot knows of what its limbs touch, as bytes of the telemetry; pure.

The newest model of a limb is repeated in telemetry, so a loss does no harm; its time
tells a new one from a repetition. An entry is 19 bytes, a sphere's 21; entries of
several limbs follow each other.

| field      | bits | unit, meaning                                                    |
|------------|------|------------------------------------------------------------------|
| limb       | 3    |                                                                  |
| status     | 3    | SurfaceStatus                                                    |
| kind       | 1    | 0 plane, 1 sphere                                                |
| confidence | 5    | 1/31                                                             |
| time       | 32   | of the estimate, ms of the robot's clock                         |
| point      | 48   | x, y, z in 0.1 mm, two's complement                              |
| normal     | 24   | octahedral (Cigolle et al. 2014), 12 each: within 0.06 degrees   |
| stiffness  | 12   | 0: none; else 1 to 1e6 N/m^n in steps of 0.34 %                  |
| damping    | 12   | 0: none; else 1e-3 to 1e5 N s/m^(m+1) in steps of 0.45 %         |
| exponent   | 8    | 1 to 3 in steps of 1/127.5                                       |
| (filling)  | 4    | 0                                                                |
| radius     | 16   | of a sphere only, 0.1 mm                                         |
"""

import math
from dataclasses import dataclass
from functools import lru_cache

from app.clock import NS_PER_MS
from app.errors import FrameError
from models.environment_report import PLANE, SPHERE, SurfaceReport, SurfaceStatus

__all__ = ["ContactTold", "hear_contact", "read_contacts", "write_contact"]

_FIELDS = (3, 3, 1, 5, 32, 16, 16, 16, 12, 12, 12, 12, 8, 4)
_TIME = 4  # its place among them
_BYTES = sum(_FIELDS) // 8
_CUTS = [
    (sum(_FIELDS[place + 1 :]), (1 << bits) - 1) for place, bits in enumerate(_FIELDS)
]
"""Shift and mask of each field."""
_SPHERE_BYTES = _BYTES + 2
_STEP = 1e-4
_MOST_STEPS = 32767
_MOST_RADIUS = 65535
_SURE = 31
_AXIS = 4095
_CODES = 4095
_STIFFNESS = (1.0, 1e6)
_DAMPING = (1e-3, 1e5)
_EXPONENTS = 127.5
_AHEAD_MS = 1000
_LAST_STATUS = int(max(SurfaceStatus))


@dataclass(frozen=True)
class ContactTold:
    """What is told of one limb's surface; see `SurfaceReport` for units and frames.

    Attributes:
        limb: index.
        status: what the robot found.
        kind: PLANE or SPHERE.
        estimated_ns: when, in the robot's clock [ns].
        point: of the plane near the tip, or the sphere's centre [m].
        normal: outward, unit.
        radius: of a sphere [m].
        stiffness: [N/m^n]; 0 = not known.
        damping: [N s/m^(m+1)].
        exponent: n.
        confidence: 0 to 1.
    """

    limb: int
    status: SurfaceStatus
    kind: int
    estimated_ns: int
    point: tuple[float, float, float]
    normal: tuple[float, float, float]
    radius: float
    stiffness: float
    damping: float
    exponent: float
    confidence: float


def write_contact(limb: int, report: SurfaceReport) -> bytes:
    """Return the entry of one limb.

    Values beyond a field's range are told as its end.

    Raises:
        FrameError: a limb that is not 0..7, or a value that is not finite.
    """
    if not 0 <= limb <= 7:
        raise FrameError(f"No limb {limb} can be told of: 0..7.")
    reals = [
        *report.point.tolist(),
        *report.normal.tolist(),
        float(report.radius[0]),
        float(report.stiffness[0]),
        float(report.damping[0]),
        float(report.exponent[0]),
        float(report.confidence[0]),
    ]
    if not all(map(math.isfinite, reals)):
        raise FrameError(f"Contact of limb {limb} is not finite: {reals}.")
    x, y, z, *normal, radius, stiffness, damping, exponent, confidence = reals
    steps = [
        max(-_MOST_STEPS, min(_MOST_STEPS, round(value / _STEP))) & 0xFFFF
        for value in (x, y, z)
    ]
    values = (
        limb,
        int(report.status[0]),
        int(report.kind[0]),
        _clip(confidence * _SURE, _SURE),
        (int(report.estimated_ns[0]) // NS_PER_MS) & 0xFFFFFFFF,
        *steps,
        *_fold(normal),
        _logarithm(stiffness, _STIFFNESS),
        _logarithm(damping, _DAMPING),
        _clip((exponent - 1.0) * _EXPONENTS, 255),
        0,
    )
    joined = 0
    for value, bits in zip(values, _FIELDS, strict=True):
        joined = (joined << bits) | value
    entry = joined.to_bytes(_BYTES, "big")
    if report.kind[0] == SPHERE:
        entry += _clip(radius / _STEP, _MOST_RADIUS).to_bytes(2, "big")
    return entry


def read_contacts(buffer: bytes, reference_ns: int) -> list[ContactTold]:
    """Return what is told of each limb.

    Args:
        buffer: entries, possibly none.
        reference_ns: when the telemetry was generated, in the robot's clock [ns].

    Raises:
        FrameError: an entry is cut, of an unknown status, or has set filling bits; or
            two are of one limb.
    """
    told: list[ContactTold] = []
    at = 0
    while at < len(buffer):
        sphere = (buffer[at] >> 1) & 1 == SPHERE
        size = _SPHERE_BYTES if sphere else _BYTES
        if at + size > len(buffer):
            raise FrameError(
                f"Contact at byte {at} needs {size} bytes; there are {len(buffer)}."
            )
        told.append(_read(buffer[at : at + size], reference_ns))
        at += size
    if len(told) > 1:
        limbs = [item.limb for item in told]
        if len(set(limbs)) < len(limbs):
            raise FrameError(f"Contacts of limbs {limbs}: one is told twice.")
    return told


def hear_contact(told: ContactTold, heard_out: SurfaceReport) -> bool:
    """Take what is told into the report that the station's surface follows.

    Args:
        told: of the limb.
        heard_out: its report. Its number grows where the time of the estimate is a new
            one; that time stays in the robot's clock.

    Returns:
        Whether it was new.
    """
    if heard_out.number[0] > 0 and told.estimated_ns == heard_out.estimated_ns[0]:
        return False
    heard_out.status[0] = int(told.status)
    heard_out.kind[0] = told.kind
    heard_out.estimated_ns[0] = told.estimated_ns
    heard_out.point[:] = told.point
    heard_out.normal[:] = told.normal
    heard_out.radius[0] = told.radius
    heard_out.stiffness[0] = told.stiffness
    heard_out.damping[0] = told.damping
    heard_out.exponent[0] = told.exponent
    heard_out.confidence[0] = told.confidence
    heard_out.number[0] += 1
    return True


def _read(entry: bytes, reference_ns: int) -> ContactTold:
    shift, mask = _CUTS[_TIME]
    time = int.from_bytes(entry[:_BYTES], "big") >> shift & mask
    latest = reference_ns // NS_PER_MS + _AHEAD_MS
    return _contact(entry, latest - ((latest - time) & 0xFFFFFFFF))


@lru_cache(maxsize=32)
def _contact(entry: bytes, estimated_ms: int) -> ContactTold:
    """Read an entry, its time apart; most repeat the one before."""
    joined = int.from_bytes(entry[:_BYTES], "big")
    values = [joined >> shift & mask for shift, mask in _CUTS]
    limb, status, kind, confidence, _time, *codes, filling = values
    x, y, z = ((code ^ 0x8000) - 0x8000 for code in codes[:3])
    if status > _LAST_STATUS:
        raise FrameError(f"Contact status {status} is not known: 0..{_LAST_STATUS}.")
    if filling:
        raise FrameError("Contact has set bits beyond its fields.")
    return ContactTold(
        limb=limb,
        status=SurfaceStatus(status),
        kind=SPHERE if kind else PLANE,
        estimated_ns=estimated_ms * NS_PER_MS,
        point=(x * _STEP, y * _STEP, z * _STEP),
        normal=_unfold(codes[3], codes[4]),
        radius=int.from_bytes(entry[_BYTES:], "big") * _STEP,
        stiffness=_power(codes[5], _STIFFNESS),
        damping=_power(codes[6], _DAMPING),
        exponent=1.0 + codes[7] / _EXPONENTS,
        confidence=confidence / _SURE,
    )


def _clip(value: float, most: int) -> int:
    return max(0, min(most, round(value)))


def _logarithm(value: float, ends: tuple[float, float]) -> int:
    """Code of a value in equal ratios; 0 for what is not above 0."""
    if value <= 0.0:
        return 0
    share = math.log(value / ends[0]) / math.log(ends[1] / ends[0])
    return 1 + _clip(share * (_CODES - 1), _CODES - 1)


def _power(code: int, ends: tuple[float, float]) -> float:
    if code == 0:
        return 0.0
    return ends[0] * float((ends[1] / ends[0]) ** ((code - 1) / (_CODES - 1)))


def _fold(normal: list[float]) -> tuple[int, int]:
    """Project a direction on an octahedron and unfold that to a square."""
    x, y, z = normal
    size = abs(x) + abs(y) + abs(z)
    if size == 0.0:
        raise FrameError("Contact has a normal of length 0.")
    u, v = x / size, y / size
    if z < 0.0:
        u, v = math.copysign(1.0 - abs(v), u), math.copysign(1.0 - abs(u), v)
    return _clip((u + 1.0) / 2.0 * _AXIS, _AXIS), _clip((v + 1.0) / 2.0 * _AXIS, _AXIS)


def _unfold(first: int, second: int) -> tuple[float, float, float]:
    u, v = (2.0 * code / _AXIS - 1.0 for code in (first, second))
    z = 1.0 - abs(u) - abs(v)
    if z < 0.0:
        u, v = math.copysign(1.0 - abs(v), u), math.copysign(1.0 - abs(u), v)
    size = math.sqrt(u * u + v * v + z * z)
    return u / size, v / size, z / size
