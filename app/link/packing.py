"""Bits to bytes, and a limb's coordinates to integers of a few bits."""

import math

import numpy as np

from app.errors import FrameError
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = ["BitReader", "BitWriter", "Quantiser", "dequantise", "quantise", "unwrap"]

_TELEMETRY_MARGIN = 0.25  # a limb in motion overshoots its command limits a little


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
        size = (self._bits + 7) // 8
        return (self._value << (8 * size - self._bits)).to_bytes(size, "big")


class BitReader:
    """Takes fields off in the order they were put in."""

    def __init__(self, buffer: bytes) -> None:
        self._value = int.from_bytes(buffer, "big")
        self._left = 8 * len(buffer)

    def take(self, bits: int) -> int:
        """Return the next field.

        Raises:
            FrameError: fewer than `bits` bits are left.
        """
        if bits > self._left:
            raise FrameError(f"Frame is cut: {bits} bits wanted, {self._left} left.")
        self._left -= bits
        return (self._value >> self._left) & ((1 << bits) - 1)

    def finish(self) -> None:
        """Check that only filling is left.

        Raises:
            FrameError: a whole byte or a set bit is left.
        """
        if self._left >= 8 or self._value & ((1 << self._left) - 1):
            raise FrameError(f"Frame has {self._left} bits beyond its fields.")


def quantise(value: float, low: float, high: float, bits: int) -> int:
    """Map low..high to 0..2^bits - 2, so that the middle is exact; clips.

    Raises:
        FrameError: the value is not finite.
    """
    if not math.isfinite(value):
        raise FrameError(f"Value {value} cannot be sent: it is not finite.")
    steps = (1 << bits) - 2
    if high <= low:
        return 0
    return min(steps, max(0, round((value - low) / (high - low) * steps)))


def dequantise(code: int, low: float, high: float, bits: int) -> float:
    """Undo `quantise` to within half a step.

    Raises:
        FrameError: the one code that `quantise` never makes.
    """
    steps = (1 << bits) - 2
    if code > steps:
        raise FrameError(f"Field {code} is outside 0..{steps}.")
    return low + (high - low) * code / steps


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


class Quantiser:
    """Packs the segment coordinates of one robot within its limits."""

    def __init__(self, model: RobotModel) -> None:
        self.segment_start = [int(index) for index in model.limb_segment_start]
        self._bend = [float(value) for value in model.bend_limit]
        self._range = [(float(low), float(high)) for low, high in model.extension_range]

    def segments(self, limb: int) -> range:
        """Indices of a limb's segments in the robot."""
        return range(self.segment_start[limb], self.segment_start[limb + 1])

    def _spans(self, segment: int, margin: float) -> tuple[float, float, float]:
        bend = self._bend[segment] * (1.0 + margin)
        low, high = self._range[segment]
        spare = margin * (high - low)
        return bend, low - spare, high + spare

    def put(
        self,
        writer: BitWriter,
        segment: int,
        row: FloatArray,
        bits: tuple[int, int],
        *,
        measured: bool,
    ) -> None:
        """Append (Δx, Δy, δℓ) of a segment, clipped to its limits.

        Args:
            writer: takes the fields.
            segment: index in the robot.
            row: (3,) coordinates [rad, rad, m].
            bits: of each angle and of the extension.
            measured: telemetry, which may lie 25 % outside the command limits.

        Raises:
            FrameError: a coordinate is not finite.
        """
        bend, low, high = self._spans(segment, _TELEMETRY_MARGIN if measured else 0.0)
        x, y, extension = float(row[0]), float(row[1]), float(row[2])
        angle = math.hypot(x, y)
        if angle > bend and math.isfinite(angle):
            x, y = x * bend / angle, y * bend / angle
        writer.put(quantise(x, -bend, bend, bits[0]), bits[0])
        writer.put(quantise(y, -bend, bend, bits[0]), bits[0])
        writer.put(quantise(extension, low, high, bits[1]), bits[1])

    def take(
        self,
        reader: BitReader,
        segment: int,
        row_out: FloatArray,
        bits: tuple[int, int],
        *,
        measured: bool,
    ) -> None:
        """Read what `put` wrote into (3,) coordinates.

        Raises:
            FrameError: the bend lies outside the disc that `put` clips to.
        """
        bend, low, high = self._spans(segment, _TELEMETRY_MARGIN if measured else 0.0)
        x = dequantise(reader.take(bits[0]), -bend, bend, bits[0])
        y = dequantise(reader.take(bits[0]), -bend, bend, bits[0])
        angle = math.hypot(x, y)
        if angle > bend * (1.0 + 2.0 ** (1 - bits[0])):
            raise FrameError(
                f"Bend of segment {segment} is {angle:.3f} rad; at most {bend:.3f}."
            )
        if angle > bend:
            x, y = x * bend / angle, y * bend / angle
        row_out[0], row_out[1] = x, y
        row_out[2] = dequantise(reader.take(bits[1]), low, high, bits[1])

    def unknown(self, limb: int) -> FloatArray:
        """Return (n, 3) coordinates of a limb of which nothing is known: NaN."""
        return np.full((len(self.segments(limb)), 3), np.nan)
