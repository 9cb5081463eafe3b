"""Bits to bytes and back, and numbers of a few bits to whole ones."""

import math
from bisect import bisect_left

from app.errors import FrameError

__all__ = [
    "BitReader",
    "BitWriter",
    "filled",
    "period_code",
    "period_ms",
    "unwrap",
    "uplink_bps",
    "uplink_code",
]

_PERIOD_CODES = 64
_PERIOD_ZERO = 4


class BitWriter:
    """Appends unsigned fields, most significant bit first."""

    def __init__(self) -> None:
        self._value = 0
        self._bits = 0

    def put(self, value: int, bits: int) -> None:
        """Append the low `bits` bits of `value`."""
        self._value = (self._value << bits) | (value & ((1 << bits) - 1))
        self._bits += bits

    def to_bytes(self) -> bytes:
        """Return the fields, zero bits filling the last byte."""
        return filled(self._value, self._bits)


def filled(value: int, bits: int) -> bytes:
    """Return fields that are one number of so many bits, zero bits filling a byte."""
    size = (bits + 7) // 8
    return (value << (8 * size - bits)).to_bytes(size, "big")


class BitReader:
    """Takes fields off in the order they were put in."""

    def __init__(self, buffer: bytes, skipped: int = 0) -> None:
        """Begin.

        Args:
            buffer: whole bytes.
            skipped: so many bits of the first one are no fields.
        """
        self._buffer = buffer
        self._value = int.from_bytes(buffer, "big")
        self._left = 8 * len(buffer) - skipped

    def take(self, bits: int) -> int:
        """Return the next field.

        Raises:
            FrameError: fewer than `bits` bits are left.
        """
        if bits > self._left:
            raise FrameError(f"Frame is cut: {bits} bits wanted, {self._left} left.")
        self._left -= bits
        return (self._value >> self._left) & ((1 << bits) - 1)

    def rest(self) -> bytes:
        """Return the whole bytes that are left, after the filling of the present one.

        Raises:
            FrameError: a bit of the filling is set.
        """
        filling = self._left % 8
        if self.take(filling):
            raise FrameError("Frame has set bits beyond its fields.")
        size = self._left // 8
        self._left = 0
        return self._buffer[len(self._buffer) - size :]

    def finish(self) -> None:
        """Check that only filling is left.

        Raises:
            FrameError: a whole byte or a set bit is left.
        """
        if self._left >= 8 or self._value & ((1 << self._left) - 1):
            raise FrameError(f"Frame has {self._left} bits beyond its fields.")


def unwrap(code: int, bits: int, nearest_to: int, behind: int) -> int:
    """Return the number with these low bits in the window that starts `behind` below.

    Args:
        code: the low bits.
        bits: how many.
        nearest_to: a number known to be close.
        behind: how far below it the window of 2^bits starts.
    """
    start = nearest_to - behind
    return start + ((code - start) & ((1 << bits) - 1))


def uplink_code(bps: float) -> int:
    """Return eight bits for a bit rate, rounded down by at most 9 %; 0 = not known."""
    return 0 if not bps >= 1.1 else min(255, math.floor(8.0 * math.log2(bps) + 1e-9))


def uplink_bps(code: int) -> float:
    """Undo `uplink_code` [bit/s]."""
    return 2.0 ** (code / 8.0) if code else 0.0


def period_ms(code: int) -> float:
    """Return the period [ms] of six bits: four steps an octave, 0 to 229 s."""
    return float(((_PERIOD_ZERO + code % 4) << (code // 4)) - _PERIOD_ZERO)


def period_code(period: float) -> int:
    """Return six bits for a period [ms], rounded up by at most a quarter."""
    if not period <= _PERIODS[-1]:
        return _PERIOD_CODES - 1
    return bisect_left(_PERIODS, period)


_PERIODS = [period_ms(code) for code in range(_PERIOD_CODES)]
