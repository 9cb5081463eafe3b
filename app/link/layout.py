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
from functools import cached_property

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

    @cached_property
    def _radices(self) -> tuple[int, ...]:
        return tuple(axis.levels for axis in self.axes)

    @cached_property
    def _segments(self) -> tuple[tuple[float, ...], ...]:
        """For each segment its bend, then low and step of each axis."""
        return tuple(
            (bend, *(part for axis in self._axes(k) for part in (axis.low, axis.step)))
            for k, bend in enumerate(self.bends)
        )

    @cached_property
    def _scales(self) -> tuple[tuple[float, ...], ...]:
        """For each segment its bend, then low, step and greatest code of each axis.

        The step of a single level is infinite, so that all values divide to code 0.
        """
        return tuple(
            (
                bend,
                *(
                    part
                    for axis in self._axes(k)
                    for part in (
                        axis.low,
                        axis.step if axis.levels > 1 else math.inf,
                        axis.levels - 1,
                    )
                ),
            )
            for k, bend in enumerate(self.bends)
        )

    def _axes(self, segment: int) -> tuple[Axis, ...]:
        return self.axes[3 * segment : 3 * segment + 3]

    def codes(self, rows: FloatArray) -> list[int]:
        """Return the codes of (n, 3) coordinates [rad, rad, m], clipped to the limits.

        Raises:
            FrameError: a coordinate is not finite.
        """
        codes: list[int] = []
        for (x, y, extension), scale in zip(rows.tolist(), self._scales, strict=True):
            bend, low_x, step_x, most_x, low_y, step_y, most_y, low, step, most = scale
            angle = math.hypot(x, y)
            if not math.isfinite(angle + extension):
                raise FrameError(
                    f"Segment {len(codes) // 3} at ({x}, {y}, {extension}) cannot be "
                    "sent: it is not finite."
                )
            if angle > bend:
                share = bend / angle
                x, y = x * share, y * share
            code_x = round((x - low_x) / step_x)
            code_y = round((y - low_y) / step_y)
            code = round((extension - low) / step)
            codes += (
                0 if code_x < 0 else int(most_x) if code_x > most_x else code_x,
                0 if code_y < 0 else int(most_y) if code_y > most_y else code_y,
                0 if code < 0 else int(most) if code > most else code,
            )
        return codes

    def values(self, codes: Sequence[int]) -> list[float]:
        """Return Δx, Δy, δℓ of each segment in turn, of codes [rad, rad, m].

        Raises:
            FrameError: a bend lies outside the disc that `codes` clips to.
        """
        values: list[float] = []
        place = 0
        for bend, low_x, step_x, low_y, step_y, low, step in self._segments:
            x = low_x + step_x * codes[place]
            y = low_y + step_y * codes[place + 1]
            angle = math.hypot(x, y)
            if angle > bend:
                if angle > bend + step_x:
                    raise FrameError(
                        f"Bend of segment {place // 3} is {angle:.3f} rad; at most "
                        f"{bend:.3f}."
                    )
                x, y = x * bend / angle, y * bend / angle
            values += (x, y, low + step * codes[place + 2])
            place += 3
        return values

    def rows(self, codes: Sequence[int]) -> FloatArray:
        """Return the (n, 3) coordinates of codes [rad, rad, m].

        Raises:
            FrameError: as of `values`.
        """
        return np.array(self.values(codes)).reshape(-1, 3)

    def pack(self, codes: Sequence[int], value: int = 0) -> int:
        """Append the codes as digits to a number."""
        own = 0  # short numbers are quicker
        for levels, code in zip(self._radices, codes, strict=True):
            own = own * levels + code
        return value * self.span + own

    def unpack(self, value: int) -> list[int]:
        """Return the codes that make a number below `span`."""
        codes: list[int] = []
        for levels in reversed(self._radices):
            value, code = divmod(value, levels)
            codes.append(code)
        codes.reverse()
        return codes


def unpack_codes(layouts: Sequence[LimbLayout], value: int) -> list[list[int]]:
    """Take the codes of several layouts, packed in this order, off a number.

    Raises:
        FrameError: the number is none that `pack` makes.
    """
    parts: list[list[int]] = []
    for layout in reversed(layouts):
        value, own = divmod(value, layout.span)
        parts.append(layout.unpack(own))
    if value:
        raise FrameError("Coordinates are outside their range.")
    parts.reverse()
    return parts


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
