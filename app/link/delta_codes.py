"""The codes of a whole robot, told from those of an earlier frame, by kernels.

Each limb has a width of 4 bits, then so many bits for each of its coordinates: the
change of the code plus half of what the width holds. What `app.link.packed` tells in a
delta frame behind its head.
"""

from typing import Any

import numpy as np

from app.errors import FrameError
from app.link.radix import Radix, RadixData, pack, rows_of
from models.bound import bind
from models.numerics import FloatArray, IntArray, kernel

__all__ = ["DeltaCodes"]

_WIDTH_BITS = 4
_WIDEST = (1 << _WIDTH_BITS) - 1
_AXES = 3
_HEAD_BITS = 48  # at most
_FRAME_BYTES = 512  # at most, see `app.link.frame`
_CUT, _OUT_OF_RANGE, _BENT, _FILLED = -1, -2, -3, -4
_WHY = {
    _CUT: "Frame is cut: a delta ends within its fields.",
    _OUT_OF_RANGE: "A delta leads out of the range of a coordinate.",
    _BENT: "A bend lies outside of what its segment can be told.",
    _FILLED: "Frame has set bits beyond its fields.",
}


@kernel
def write_delta(
    data: RadixData, head: int, head_bits: int, base: IntArray, octets_out: IntArray
) -> int:
    """Write a head, and all codes from those of a base.

    Args:
        data: its `codes` are told.
        head: fields before the delta.
        head_bits: of the head.
        base: (3 S,) codes of the base.
        octets_out: bytes, unsigned; zero bits fill the last one.

    Returns:
        How many bytes; 0 where a code differs by more than can be told.
    """
    held, bits, at = head, head_bits, 0
    for limb in range(data.limb_start.size - 1):
        first, last = _AXES * data.limb_start[limb], _AXES * data.limb_start[limb + 1]
        most = 0
        for k in range(first, last):
            most = max(most, abs(data.codes[k] - base[k]))
        width = 0
        while 2 * most >> width:
            width += 1
        if width > _WIDEST:
            return 0
        held, bits = held << _WIDTH_BITS | width, bits + _WIDTH_BITS
        for k in range(first, last):
            if width > 0:
                step = data.codes[k] - base[k] + (1 << (width - 1))
                held, bits = held << width | step, bits + width
            while bits >= 8:
                bits -= 8
                octets_out[at] = held >> bits & 0xFF
                at += 1
            held &= 0xFF
    if bits > 0:
        octets_out[at] = held << (8 - bits) & 0xFF
        at += 1
    return at


@kernel
def _take(octets: IntArray, at: int, bits: int) -> int:
    """Return the bits from a place on, counted from the first byte's first."""
    value = 0
    for place in range(at, at + bits):
        value = value << 1 | octets[place >> 3] >> (7 - (place & 7)) & 1
    return value


@kernel
def read_delta(
    data: RadixData,
    octets: IntArray,
    start: int,
    end: int,
    base: IntArray,
    words_out: IntArray,
    coordinates_out: FloatArray,
) -> int:
    """Read all codes from those of a base, and what they mean.

    Args:
        data: its `codes` are written.
        octets: bytes of a frame, unsigned.
        start: the first bit of the delta.
        end: the bit after the last that may belong to it.
        base: (3 S,) codes of the base.
        words_out: gets the codes as a number.
        coordinates_out: (S, 3) [rad, rad, m].

    Returns:
        The byte after the delta and its filling; negative where it is none.
    """
    at, limbs = start, data.limb_start.size - 1
    for limb in range(limbs):
        if at + _WIDTH_BITS > end:
            return _CUT
        width = _take(octets, at, _WIDTH_BITS)
        at += _WIDTH_BITS
        first, last = _AXES * data.limb_start[limb], _AXES * data.limb_start[limb + 1]
        if at + width * (last - first) > end:
            return _CUT
        for k in range(first, last):
            code = base[k]
            if width > 0:
                code += _take(octets, at, width) - (1 << (width - 1))
                at += width
            if not 0 <= code < data.levels[k // _AXES, k % _AXES]:
                return _OUT_OF_RANGE
            data.codes[k] = code
    told = (1 << limbs) - 1
    pack(data, told, words_out)
    if rows_of(data, told, 0, limbs, coordinates_out) != 0:
        return _BENT
    filling = -at % 8
    return _FILLED if _take(octets, at, filling) else (at + filling) // 8


class DeltaCodes:
    """Writes and reads the codes of one robot at one resolution."""

    def __init__(self, radix: Radix) -> None:
        """Prepare.

        Args:
            radix: has the codes that are written, and gets those that are read.
        """
        self._radix = radix
        codes, rows = radix.codes(), np.zeros((1, _AXES))
        self._segments = codes.size // _AXES
        most = _HEAD_BITS + _WIDTH_BITS * self._segments + _WIDEST * codes.size
        octets: np.ndarray[Any, Any] = np.zeros(
            max(_FRAME_BYTES, most // 8 + 1), dtype=np.uint8
        )
        self._bytes = octets.data
        self._octets = octets
        self._write = bind(write_delta, radix.data, 0, 0, codes, octets)
        self._read = bind(
            read_delta, radix.data, octets, 0, 0, codes, radix.words, rows
        )

    def write(self, head: int, head_bits: int, base: IntArray) -> bytes | None:
        """Return a head and the codes that the radix wrote last.

        Args:
            head: fields before the delta.
            head_bits: of the head, 48 at most.
            base: (3 S,) codes of the base, of this class's making.

        Returns:
            Whole bytes; None where a code differs by more than can be told.
        """
        size = self._write(self._radix.data, head, head_bits, base, self._octets)
        return bytes(self._bytes[:size]) if size else None

    def read(
        self, frame: bytes, start: int, end: int, base: IntArray
    ) -> tuple[int, FloatArray]:
        """Read the codes; the radix has them then.

        Args:
            frame: up to 512 bytes.
            start: the first bit of the delta.
            end: the bit after the last that may belong to it.
            base: (3 S,) codes of the base.

        Returns:
            The byte of the frame after the delta; and (S, 3) coordinates [rad, rad, m].

        Raises:
            FrameError: it is cut, or a code or a bend lies out of range.
        """
        self._bytes[: len(frame)] = frame
        rows = np.empty((self._segments, _AXES))
        after = self._read(
            self._radix.data, self._octets, start, end, base, self._radix.words, rows
        )
        if after < 0:
            raise FrameError(_WHY[after])
        return after, rows
