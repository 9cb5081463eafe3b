"""A movable object as the robot sees it, in 10 bytes of a telemetry frame.

| field    | bits | unit, meaning                                                     |
|----------|------|-------------------------------------------------------------------|
| number   | 3    | in the order of the scene's file                                  |
| holder   | 4    | 0 = nobody, else index of the limb that holds it + 1              |
| place    | 42   | 3 x 14 of 0.5 mm, from the hull's origin: +-4.095 m               |
| turn     | 29   | 2 for the greatest part of the quaternion, then 3 x 9 of the rest |

The quaternion is that from the object's frame to the hull's, wxyz, its greatest part
positive; the turn is off by 0.55 degrees at most. 2 bits fill the last byte.
"""

import math
from dataclasses import dataclass

from app.errors import FrameError
from app.link.packing import BitReader, BitWriter
from app.messages import OBJECTS

__all__ = ["OBJECT_BYTES", "ObjectTold", "read_object", "write_object"]

OBJECT_BYTES = 10

_PLACE_BITS, _STEP = 14, 5e-4
_HALF = 1 << (_PLACE_BITS - 1)
_TURN_BITS = 9
_MOST = (1 << _TURN_BITS) - 1
_SPAN = math.sqrt(0.5)  # the lesser parts of a unit quaternion are within it
_HOLDERS = 8


@dataclass(frozen=True)
class ObjectTold:
    """Where an object is.

    Attributes:
        number: of the object, in the order of the scene's file.
        holder: index of the limb that holds it, -1 = none.
        place: (x, y, z) hull frame [m].
        turn: unit quaternion wxyz, object to hull.
    """

    number: int
    holder: int
    place: tuple[float, float, float]
    turn: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)


def write_object(told: ObjectTold) -> bytes:
    """Return the content of a section.

    Raises:
        FrameError: a number out of range, a place farther off than 4 m, or a value
            that is not finite.
    """
    if not (0 <= told.number < OBJECTS and -1 <= told.holder < _HOLDERS):
        raise FrameError(
            f"Object {told.number} held by {told.holder}: 0..{OBJECTS - 1}, "
            f"-1..{_HOLDERS - 1}."
        )
    if not all(map(math.isfinite, (*told.place, *told.turn))):
        raise FrameError(f"Object {told.number}: its pose is not finite.")
    steps = [round(value / _STEP) for value in told.place]
    if not all(-_HALF <= step < _HALF for step in steps):
        raise FrameError(
            f"Object {told.number} at {told.place} m: within {_HALF * _STEP:.2f} m."
        )
    writer = BitWriter()
    writer.put(told.number, 3)
    writer.put(told.holder + 1, 4)
    for step in steps:
        writer.put(step, _PLACE_BITS)
    greatest = max(range(4), key=lambda k: abs(told.turn[k]))
    sign = math.copysign(1.0, told.turn[greatest])
    writer.put(greatest, 2)
    for k in range(4):
        if k != greatest:
            share = 0.5 + 0.5 * sign * told.turn[k] / _SPAN
            writer.put(round(min(max(share, 0.0), 1.0) * _MOST), _TURN_BITS)
    return writer.to_bytes()


def read_object(content: bytes, limbs: int) -> ObjectTold:
    """Return the object of a section.

    Args:
        content: of the section.
        limbs: how many the robot has.

    Raises:
        FrameError: wrong length, or a limb that the robot has not.
    """
    if len(content) != OBJECT_BYTES:
        raise FrameError(f"Object {content.hex()!r}: {OBJECT_BYTES} bytes.")
    reader = BitReader(content)
    number, holder = reader.take(3), reader.take(4) - 1
    if holder >= limbs:
        raise FrameError(f"Object {number} held by limb {holder}: -1..{limbs - 1}.")
    codes = [reader.take(_PLACE_BITS) for _ in range(3)]
    x, y, z = (_STEP * ((code + _HALF) % (2 * _HALF) - _HALF) for code in codes)
    greatest = reader.take(2)
    rest = [_SPAN * (2.0 * reader.take(_TURN_BITS) / _MOST - 1.0) for _ in range(3)]
    turn = rest.copy()
    turn.insert(greatest, math.sqrt(max(0.0, 1.0 - sum(part * part for part in rest))))
    size = math.hypot(*turn) or 1.0
    a, b, c, d = (part / size for part in turn)
    return ObjectTold(number, holder, (x, y, z), (a, b, c, d))
