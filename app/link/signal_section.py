"""What a strategy's half tells the other, as a section of a packed frame; both ways.

| field      | bits   | unit, meaning                                              |
|------------|--------|------------------------------------------------------------|
| strategy   | 4      | number of the teller's strategy                            |
| limb       | 3      | whose tip                                                  |
| fields     | 6      | which of the following are there, first one first          |
| engagement | 11     | the station's count of engagements, modulo 2048            |
| position   | 3 x 16 | 0.1 mm, hull frame                                         |
| velocity   | 3 x 16 | 0.1 mm/s                                                   |
| force      | 3 x 16 | 1 mN                                                       |
| wave       | 3 x 16 | 0.2 mW^(1/2)                                               |
| integral   | 3 x 24 | 1e-6 W^(1/2) s, modulo 16.8: put right by `near`           |
| energy     | 32     | J, IEEE 754 rounded down, so that none is told too much of |

A value beyond its range is told as the end of the range. The time of a signal is that
of its frame. Of the integral of a wave only the low bits are told, because it grows
without bound under a constant force: who has heard of it within 2.5 s at the greatest
wave (8.39 W^(1/2) s) knows the rest.
"""

import math
import struct
from collections.abc import Sequence
from enum import IntFlag
from typing import NamedTuple

from app.errors import FrameError

__all__ = [
    "ENGAGEMENTS",
    "SignalField",
    "SignalTold",
    "engagement_near",
    "near",
    "read_signal",
    "write_signal",
]

ENGAGEMENTS = 2048
"""The count of engagements is told modulo this."""
_ENGAGEMENT_MASK = ENGAGEMENTS - 1

Vector = tuple[float, float, float]

_ZERO: Vector = (0.0, 0.0, 0.0)
_HEAD_BYTES = 3
_STRATEGY_BITS, _LIMB_BITS = 4, 3
_STEP, _WAVE_STEP, _INTEGRAL_STEP = 1e-4, 2e-4, 1e-6
_FORCE_STEP = 1e-3
_WORD = 1 << 15
_INTEGRAL_SPAN = 1 << 24
_GREATEST_SINGLE = bytes.fromhex("7f7fffff")


class SignalField(IntFlag):
    """What a section tells; the order of their bits is that of the fields."""

    POSITION = 32
    VELOCITY = 16
    FORCE = 8
    WAVE = 4
    INTEGRAL = 2
    ENERGY = 1


_VECTORS = (
    (SignalField.POSITION.value, _STEP),
    (SignalField.VELOCITY.value, _STEP),
    (SignalField.FORCE.value, _FORCE_STEP),
    (SignalField.WAVE.value, _WAVE_STEP),
)
_INTEGRAL, _ENERGY = SignalField.INTEGRAL.value, SignalField.ENERGY.value
_BEHIND_VECTORS = _INTEGRAL | _ENERGY
_FIELDS = tuple(map(SignalField, range(64)))
"""Combinations by number: to look one up costs less than to make it."""


class SignalTold(NamedTuple):
    """One signal as a frame tells it; what is not among the fields is 0.

    Attributes:
        limb: whose tip it is of, 0..7.
        strategy: number of the teller's strategy, 0..15.
        engagement: the station's count, modulo `ENGAGEMENTS`.
        fields: what is told.
        position: [m], hull frame, as all vectors.
        velocity: [m/s].
        force: [N].
        wave: [sqrt(W)].
        integral: of the wave over time; as read, its low part only [sqrt(W) s].
        energy: that went in at the teller's port, not negative [J].
    """

    limb: int
    strategy: int
    engagement: int
    fields: SignalField
    position: Vector = _ZERO
    velocity: Vector = _ZERO
    force: Vector = _ZERO
    wave: Vector = _ZERO
    integral: Vector = _ZERO
    energy: float = 0.0


def write_signal(told: SignalTold) -> bytes:
    """Return the content of a section.

    Raises:
        FrameError: a value that is told is not finite, or a number is out of range.
    """
    limb, strategy, engagement, flags, *vectors, integral, energy = told
    if limb >> _LIMB_BITS or strategy >> _STRATEGY_BITS:
        raise FrameError(
            f"Signal of limb {limb}, strategy {strategy}: limbs are "
            f"0..{(1 << _LIMB_BITS) - 1}, strategies 0..{(1 << _STRATEGY_BITS) - 1}."
        )
    fields = int(flags)
    head = strategy << 20 | limb << 17 | fields << 11 | engagement % ENGAGEMENTS
    content = head.to_bytes(_HEAD_BYTES, "big")
    codes: list[int] = []
    places, words, _ = _FORMS[fields]
    for place, step, _ in places:
        x, y, z = vectors[place]
        try:
            codes += round(x / step), round(y / step), round(z / step)
        except (ValueError, OverflowError):
            raise _not_finite(vectors[place]) from None
    try:
        content += words.pack(*codes)
    except struct.error:  # the end of the range is told
        within = [min(max(code, -_WORD), _WORD - 1) for code in codes]
        content += words.pack(*within)
    if fields & _INTEGRAL:
        if not all(map(math.isfinite, integral)):
            raise _not_finite(integral)
        for value in integral:
            code = round(value / _INTEGRAL_STEP) % _INTEGRAL_SPAN
            content += code.to_bytes(3, "big")
    if fields & _ENERGY:
        content += _rounded_down(energy)
    return content


def read_signal(content: bytes) -> SignalTold:
    """Return the signal of a section.

    Raises:
        FrameError: wrong length, or an energy that is none.
    """
    head = int.from_bytes(content[:_HEAD_BYTES], "big")
    fields = head >> 11 & 0x3F
    places, words, length = _FORMS[fields]
    if len(content) != length:
        raise FrameError(f"Signal has {len(content)} bytes, not {length}.")
    vectors = [_ZERO, _ZERO, _ZERO, _ZERO]
    codes = words.unpack_from(content, _HEAD_BYTES)
    for place, step, own in places:
        x, y, z = codes[own]
        vectors[place] = step * x, step * y, step * z
    integral, energy = _ZERO, 0.0
    if fields & _BEHIND_VECTORS:
        integral, energy = _read_behind(content, _HEAD_BYTES + words.size, fields)
    position, velocity, force, wave = vectors
    return SignalTold(
        head >> 17 & 0x07,
        head >> 20,
        head & _ENGAGEMENT_MASK,
        _FIELDS[fields],
        position,
        velocity,
        force,
        wave,
        integral,
        energy,
    )


def _read_behind(content: bytes, at: int, fields: int) -> tuple[Vector, float]:
    """Return the integral and the energy, 0 where they are not told."""
    integral = _ZERO
    if fields & _INTEGRAL:
        step = _INTEGRAL_STEP
        x, y, z = (
            int.from_bytes(content[at + 3 * k : at + 3 * k + 3], "big", signed=True)
            for k in range(3)
        )
        integral = step * x, step * y, step * z
        at += 9
    energy = 0.0
    if fields & _ENERGY:
        (energy,) = _SINGLE.unpack_from(content, at)
        if not 0.0 <= energy < math.inf:
            raise FrameError(f"Energy {energy} J: must be finite and not negative.")
    return integral, energy


def near(told: Sequence[float], last: Sequence[float]) -> Vector:
    """Return a whole integral from its low part and the one heard before.

    Args:
        told: (3,) as read [sqrt(W) s].
        last: (3,) whole, no more than 8.39 sqrt(W) s away.
    """
    span = _INTEGRAL_STEP * _INTEGRAL_SPAN
    x, y, z = (
        low + span * round((before - low) / span)
        for low, before in zip(told, last, strict=True)
    )
    return x, y, z


def engagement_near(told: int, count: int) -> int:
    """Return the whole count of engagements, at or next below one's own count."""
    return count - (count - told) % ENGAGEMENTS


_Form = tuple[tuple[tuple[int, float, slice], ...], struct.Struct, int]


def _form(fields: int) -> _Form:
    """How a combination is told.

    Returns:
        Which of the vectors there are, their steps, and which of the codes are theirs;
        their words; the whole length.
    """
    steps = [(k, step) for k, (bit, step) in enumerate(_VECTORS) if fields & bit]
    places = tuple(
        (place, step, slice(3 * k, 3 * k + 3)) for k, (place, step) in enumerate(steps)
    )
    words = struct.Struct(">" + "3h" * len(places))
    integral = 9 if fields & _INTEGRAL else 0
    energy = 4 if fields & _ENERGY else 0
    return places, words, _HEAD_BYTES + words.size + integral + energy


_SINGLE = struct.Struct(">f")
_FORMS = tuple(map(_form, range(64)))


def _not_finite(values: Sequence[float]) -> FrameError:
    return FrameError(f"Signal {tuple(values)} cannot be sent: it is not finite.")


def _rounded_down(energy: float) -> bytes:
    """Four bytes of the greatest single that is not above an energy [J]."""
    if not 0.0 <= energy < math.inf:
        raise FrameError(
            f"Energy {energy} J cannot be sent: must be finite and not negative."
        )
    try:
        told = _SINGLE.pack(energy)
    except OverflowError:
        return _GREATEST_SINGLE
    (single,) = _SINGLE.unpack(told)
    if single > energy:
        told = (int.from_bytes(told, "big") - 1).to_bytes(4, "big")
    return told
