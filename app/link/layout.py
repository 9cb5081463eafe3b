"""How a limb's coordinates become one integer, and how far that may move its tip.

Each coordinate is cut into steps. A step of bend s moves the tip by at most its lever
times s, where the lever of a segment is half its own length plus the lengths beyond it
(reached when the limb is straight), and turns the tip by at most s; a step of extension
moves it by itself. So for half a step of each coordinate, of both bends √2 as much,

    error = Σ lever s / √2 + Σ s_extension / 2,   angle = Σ s / √2

bound the error at the tip in any pose. For the least bits at a stated error, each
coordinate gets the same share of it. The codes are the digits of one number in mixed
radix, so fractions of bits are not lost.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.errors import FrameError
from models.numerics import FloatArray

__all__ = ["Axis", "LimbLayout", "SegmentRange", "limb_layout", "unpack_codes"]

_HALF_ROOT = math.sqrt(0.5)


@dataclass(frozen=True)
class SegmentRange:
    """What a segment may be told to do.

    Attributes:
        length: greatest arc length [m].
        bend: greatest bend [rad].
        low: least δℓ [m].
        high: greatest δℓ [m].
    """

    length: float
    bend: float
    low: float
    high: float


@dataclass(frozen=True)
class Axis:
    """One coordinate: value = low + step * code, code 0..levels - 1."""

    low: float
    step: float
    levels: int

    def code(self, value: float) -> int:
        """Return the code nearest to a value, which is clipped."""
        if self.levels == 1:
            return 0
        return min(self.levels - 1, max(0, round((value - self.low) / self.step)))


@dataclass(frozen=True)
class LimbLayout:
    """The coordinates of some neighbouring segments of a limb.

    Attributes:
        axes: for each segment Δx, Δy, δℓ.
        bends: greatest bend of each segment [rad].
        span: number of different poses, the product of all levels.
        error: bound of the quantisation error at the tip [m].
        angle: bound of the same error as a rotation of the tip [rad].
    """

    axes: tuple[Axis, ...]
    bends: tuple[float, ...]
    span: int
    error: float
    angle: float

    def codes(self, rows: FloatArray) -> list[int]:
        """Return the codes of (n, 3) coordinates [rad, rad, m], clipped to the limits.

        Raises:
            FrameError: a coordinate is not finite.
        """
        codes: list[int] = []
        for segment, (x, y, extension) in enumerate(rows.tolist()):
            angle = math.hypot(x, y)
            if not math.isfinite(angle + extension):
                raise FrameError(
                    f"Segment {segment} at ({x}, {y}, {extension}) cannot be sent: it "
                    "is not finite."
                )
            if angle > self.bends[segment]:
                scale = self.bends[segment] / angle
                x, y = x * scale, y * scale
            first = 3 * segment
            codes += [
                self.axes[first].code(x),
                self.axes[first + 1].code(y),
                self.axes[first + 2].code(extension),
            ]
        return codes

    def rows(self, codes: Sequence[int]) -> FloatArray:
        """Return the (n, 3) coordinates of codes.

        Raises:
            FrameError: a bend lies outside the disc that `codes` clips to.
        """
        values: list[float] = []
        for segment, bend in enumerate(self.bends):
            first = 3 * segment
            axis_x, axis_y, axis_z = self.axes[first : first + 3]
            x = axis_x.low + axis_x.step * codes[first]
            y = axis_y.low + axis_y.step * codes[first + 1]
            angle = math.hypot(x, y)
            if angle > bend:
                if angle > bend + axis_x.step:
                    raise FrameError(
                        f"Bend of segment {segment} is {angle:.3f} rad; at most "
                        f"{bend:.3f}."
                    )
                x, y = x * bend / angle, y * bend / angle
            values += [x, y, axis_z.low + axis_z.step * codes[first + 2]]
        return np.array(values).reshape(-1, 3)

    def pack(self, codes: Sequence[int], value: int = 0) -> int:
        """Append the codes as digits to a number."""
        for axis, code in zip(self.axes, codes, strict=True):
            value = value * axis.levels + code
        return value


def unpack_codes(layouts: Sequence[LimbLayout], value: int) -> list[list[int]]:
    """Take the codes of several layouts, packed in this order, off a number.

    Raises:
        FrameError: the number is none that `pack` makes.
    """
    parts: list[list[int]] = []
    for layout in reversed(layouts):
        codes: list[int] = []
        for axis in reversed(layout.axes):
            value, code = divmod(value, axis.levels)
            codes.append(code)
        parts.append(codes[::-1])
    if value:
        raise FrameError("Coordinates are outside their range.")
    return parts[::-1]


def limb_layout(
    segments: Sequence[SegmentRange],
    error: float,
    angle: float,
    margin: float,
) -> LimbLayout:
    """Share an error at the tip out over a limb's coordinates.

    Only sums, products and roots of the robot's figures are used, in a fixed order, so
    that both sides come to the same numbers.

    Args:
        segments: from the base of the limb to its tip.
        error: greatest error at the tip [m].
        angle: greatest rotation of the tip by error [rad].
        margin: how far past its limits a value may be told, as a share of the range.
    """
    levers: list[float] = []
    beyond = 0.0
    for segment in reversed(segments):
        levers.insert(0, beyond + 0.5 * segment.length)
        beyond += segment.length
    count = sum(
        2 * (segment.bend > 0.0) + (segment.high > segment.low) for segment in segments
    )
    share = error / max(count, 1)
    steps = [2.0 * share / (lever * _HALF_ROOT) for lever in levers]
    turned = sum(
        _HALF_ROOT * step
        for step, segment in zip(steps, segments, strict=True)
        if segment.bend > 0.0
    )
    scale = min(1.0, angle / turned) if turned > 0.0 else 1.0
    axes: list[Axis] = []
    span, told_error, told_angle = 1, 0.0, 0.0
    for segment, lever, step in zip(segments, levers, steps, strict=True):
        bend = segment.bend * (1.0 + margin)
        half = math.ceil(bend / (step * scale))
        step_bend = bend / half if half else 0.0
        spare = margin * (segment.high - segment.low)
        low, high = segment.low - spare, segment.high + spare
        parts = math.ceil((high - low) / (2.0 * share))
        step_extension = (high - low) / parts if parts else 0.0
        axes += [
            Axis(-bend, step_bend, 2 * half + 1),
            Axis(-bend, step_bend, 2 * half + 1),
            Axis(low, step_extension, parts + 1),
        ]
        span *= (2 * half + 1) ** 2 * (parts + 1)
        told_error += lever * _HALF_ROOT * step_bend + 0.5 * step_extension
        told_angle += _HALF_ROOT * step_bend
    return LimbLayout(
        axes=tuple(axes),
        bends=tuple(segment.bend * (1.0 + margin) for segment in segments),
        span=span,
        error=told_error,
        angle=told_angle,
    )
