"""The coordinates of a robot's limbs as one number in mixed radix, by kernels.

What `app.link.layout` defines, for all limbs at once: a packed frame has eighteen
coordinates of URSULA, and two such frames are written and two are read each time that
station and robot talk. The number is held as words of 32 bits, the lowest first.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from app.errors import FrameError
from app.link.layout import LimbLayout
from models.bound import Bound, bind
from models.numerics import FloatArray, IntArray, kernel

__all__ = ["Radix", "RadixData", "pack", "rows_of"]

_WORD_BITS = 32
_AXES = 3
_WHY = {
    1: "Coordinates are outside their range.",
    2: "A bend lies outside of what its segment can be told.",
}


class RadixData(NamedTuple):
    """The layouts of all limbs, S segments."""

    limb_start: IntArray
    """(L+1,) first segment of each limb."""
    bend: FloatArray
    """(S,) greatest [rad]."""
    low: FloatArray
    """(S, 3) value of code 0 [rad, rad, m]."""
    step: FloatArray
    """(S, 3) value of a code's step; 0 where there is one level alone."""
    levels: IntArray
    """(S, 3) number of codes."""
    codes: IntArray
    """(3 S,) codes of all limbs, written by one kernel, read by the other."""


@kernel
def quantise(
    data: RadixData,
    first: int,
    last: int,
    coordinates: FloatArray,
    words_out: IntArray,
) -> int:
    """Write coordinates as codes, and the codes as a number.

    Args:
        data: its `codes` are written.
        first: first limb that `coordinates` has rows of.
        last: the limb after the last.
        coordinates: (n, 3) of these [rad, rad, m]; a limb of NaN alone is left out.
        words_out: gets the number.

    Returns:
        Bit k is set where limb k is told; -1 where a coordinate of one is not finite.
    """
    told = 0
    for limb in range(first, last):
        begin = data.limb_start[limb]
        absent = True
        for k in range(begin, data.limb_start[limb + 1]):
            for j in range(_AXES):
                absent = absent and np.isnan(coordinates[k - data.limb_start[first], j])
        if absent and last > first + 1:
            continue
        told |= 1 << limb
        for k in range(begin, data.limb_start[limb + 1]):
            row = coordinates[k - data.limb_start[first]]
            angle = np.hypot(row[0], row[1])
            if not abs(angle + row[2]) < np.inf:
                return -1
            share = data.bend[k] / angle if angle > data.bend[k] else 1.0
            for j in range(_AXES):
                code = 0.0
                if data.levels[k, j] > 1:
                    value = row[j] * share if j < 2 else row[j]
                    code = np.rint((value - data.low[k, j]) / data.step[k, j])
                code = min(max(code, 0.0), data.levels[k, j] - 1.0)
                data.codes[3 * k + j] = int(code)
    pack(data, told, words_out)
    return told


@kernel
def pack(data: RadixData, told: int, words_out: IntArray) -> None:
    """Write the codes of the limbs in a mask as a number."""
    for i in range(words_out.size):
        words_out[i] = 0
    for limb in range(data.limb_start.size - 1):
        if not told >> limb & 1:
            continue
        for k in range(data.limb_start[limb], data.limb_start[limb + 1]):
            for j in range(_AXES):
                carry = data.codes[3 * k + j]
                for i in range(words_out.size):
                    carry += words_out[i] * data.levels[k, j]
                    words_out[i] = carry & 0xFFFFFFFF
                    carry >>= _WORD_BITS


@kernel
def unpack(data: RadixData, told: int, words_out: IntArray) -> int:
    """Take the codes of the limbs in a mask off a number.

    Returns:
        0, or 1 where the number is none that `pack` makes.
    """
    for limb in range(data.limb_start.size - 2, -1, -1):
        if not told >> limb & 1:
            continue
        for k in range(data.limb_start[limb + 1] - 1, data.limb_start[limb] - 1, -1):
            for j in range(_AXES - 1, -1, -1):
                left = 0
                for i in range(words_out.size - 1, -1, -1):
                    left = left << _WORD_BITS | words_out[i]
                    words_out[i] = left // data.levels[k, j]
                    left %= data.levels[k, j]
                data.codes[3 * k + j] = left
    for i in range(words_out.size):
        if words_out[i] != 0:
            return 1
    return 0


@kernel
def rows_of(
    data: RadixData, told: int, first: int, last: int, coordinates_out: FloatArray
) -> int:
    """Write what the codes of the limbs in a mask mean.

    Args:
        data: its `codes` are read.
        told: the mask.
        first: first limb that `coordinates_out` has rows of.
        last: the limb after the last.
        coordinates_out: (n, 3) of these [rad, rad, m]; NaN of limbs not in the mask.

    Returns:
        0, or 1 where a bend lies outside the disc that is ever told.
    """
    start = data.limb_start[first]
    for limb in range(first, last):
        for k in range(data.limb_start[limb], data.limb_start[limb + 1]):
            row = coordinates_out[k - start]
            if not told >> limb & 1:
                row[0], row[1], row[2] = np.nan, np.nan, np.nan
                continue
            for j in range(_AXES):
                code = data.codes[3 * k + j]
                row[j] = data.low[k, j] + data.step[k, j] * code
            angle = np.hypot(row[0], row[1])
            if angle > data.bend[k]:
                if angle > data.bend[k] + data.step[k, 0]:
                    return 1
                row[0] = row[0] * data.bend[k] / angle
                row[1] = row[1] * data.bend[k] / angle
    return 0


@kernel
def read_number(
    data: RadixData,
    told: int,
    first: int,
    last: int,
    words_out: IntArray,
    coordinates_out: FloatArray,
) -> int:
    """Take a number apart, and write what it means.

    Args:
        data: its `codes` are written.
        told: the mask of limbs that the number tells.
        first: first limb that `coordinates_out` has rows of.
        last: the limb after the last.
        words_out: the number; is used up.
        coordinates_out: (n, 3), as of `rows_of`.

    Returns:
        0; 1 where the number is none that `pack` makes, 2 as `rows_of` returns 1.
    """
    if unpack(data, told, words_out) != 0:
        return 1
    return 2 * rows_of(data, told, first, last, coordinates_out)


class Radix:
    """Writes and reads the coordinates of one robot at one resolution."""

    def __init__(self, layouts: Sequence[LimbLayout]) -> None:
        """Prepare.

        Args:
            layouts: of each limb, in order.
        """
        counts = [len(layout.bends) for layout in layouts]
        starts = [0, *np.cumsum(counts).tolist()]
        axes = [axis for layout in layouts for axis in layout.axes]

        self._codes = np.zeros(len(axes), dtype=np.int64)
        self.data = Bound(
            RadixData(
                limb_start=np.array(starts, dtype=np.int64),
                bend=np.array([bend for layout in layouts for bend in layout.bends]),
                low=np.array([axis.low for axis in axes]).reshape(-1, _AXES),
                step=np.array([axis.step for axis in axes]).reshape(-1, _AXES),
                levels=np.array([axis.levels for axis in axes]).reshape(-1, _AXES),
                codes=self._codes,
            )
        )
        """The layouts, and the codes written or read last; for kernels."""
        bits = sum(layout.span.bit_length() for layout in layouts)
        self._bytes = bytearray(4 * (bits // _WORD_BITS + 1))
        self.words: IntArray = np.frombuffer(self._bytes, dtype=np.uint32)
        """Where kernels write a number."""
        self._starts = starts
        sample = np.zeros((1, _AXES))
        self._quantise = bind(quantise, self.data, 0, 0, sample, self.words)
        self._read = bind(read_number, self.data, 0, 0, 0, self.words, sample)

    def write(self, first: int, last: int, coordinates: FloatArray) -> tuple[int, int]:
        """Quantise the coordinates of neighbouring limbs.

        Args:
            first: the first of them.
            last: the limb after the last.
            coordinates: (n, 3) of these [rad, rad, m], clipped to the limits; of
                several limbs those are left out that are all NaN.

        Returns:
            The mask of the limbs that are told, -1 where a coordinate is not finite;
            and the number.
        """
        rows = np.ascontiguousarray(coordinates, dtype=np.float64)
        told = self._quantise(self.data, first, last, rows, self.words)
        return told, int.from_bytes(self._bytes, "little")

    def number(self) -> int:
        """Return the number that was written last, here or by another kernel."""
        return int.from_bytes(self._bytes, "little")

    def codes(self) -> IntArray:
        """Return a copy of the codes (3 S,) that were written or read last."""
        return self._codes.copy()

    def read(self, told: int, number: int, first: int, last: int) -> FloatArray:
        """Take a number apart.

        Args:
            told: the mask of limbs that it tells.
            number: as `write` made it.
            first: first limb to return.
            last: the limb after the last.

        Returns:
            (n, 3) [rad, rad, m], NaN of limbs not in the mask.

        Raises:
            FrameError: it is none that `write` makes, or a bend lies out of range.
        """
        self._bytes[:] = number.to_bytes(len(self._bytes), "little")
        rows = np.empty((self._starts[last] - self._starts[first], _AXES))
        status = self._read(self.data, told, first, last, self.words, rows)
        if status:
            raise FrameError(_WHY[status])
        return rows
