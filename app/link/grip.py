"""The grip of a limb in 8 bits: which limb (3), and how far it is closed (5)."""

import math

from app.errors import FrameError
from app.link.records import GripTold

__all__ = ["CLOSURE_BITS", "closure_code", "read_grip", "write_grip"]

CLOSURE_BITS = 5
_MOST = (1 << CLOSURE_BITS) - 1
_LIMBS = 8


def closure_code(closure: float) -> int:
    """Return five bits for a closure, 0..1; beyond, the nearer end.

    Raises:
        FrameError: it is not finite.
    """
    if not math.isfinite(closure):
        raise FrameError(f"Grip {closure} cannot be sent: it is not finite.")
    return round(min(max(closure, 0.0), 1.0) * _MOST)


def write_grip(grip: GripTold) -> bytes:
    """Return the content of a section.

    Raises:
        FrameError: no such limb, or a closure that is not finite.
    """
    if not 0 <= grip.limb < _LIMBS:
        raise FrameError(f"Grip of limb {grip.limb}: 0..{_LIMBS - 1}.")
    return bytes([grip.limb << CLOSURE_BITS | closure_code(grip.closure)])


def read_grip(content: bytes, limbs: int) -> GripTold:
    """Return the grip of a section.

    Args:
        content: of the section.
        limbs: how many the robot has.

    Raises:
        FrameError: wrong length, or a limb that the robot has not.
    """
    if len(content) != 1 or content[0] >> CLOSURE_BITS >= limbs:
        raise FrameError(f"Grip {content.hex()!r}: 1 byte, limb 0..{limbs - 1}.")
    return GripTold(content[0] >> CLOSURE_BITS, (content[0] & _MOST) / _MOST)
