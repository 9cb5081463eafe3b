"""The schema of a robot's frames, derived from its limits alone.

Nothing of it is written down for any robot: ranges come from the robot's file, steps
from the resolution at the tip that a grade states. Both sides derive it, and its digest
is part of what the CRC of every frame covers.
"""

import hashlib
import math
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import pairwise

from app.errors import FrameError
from app.link.layout import LimbLayout, SegmentRange, limb_layout
from models.robot import RobotModel

__all__ = [
    "COMPACT_SETPOINT_BITS",
    "COMPACT_TELEMETRY_BITS",
    "FRAME_VERSION",
    "Grade",
    "PartLayout",
    "RobotLayout",
    "Schema",
]

COMPACT_SETPOINT_BITS, COMPACT_TELEMETRY_BITS = 39, 29
"""For coordinates in 8 bytes."""
FRAME_VERSION = 3
"""Changes with any change of a frame; part of the digest."""

_MOST_LIMBS = 8
_TELEMETRY_MARGIN = 0.25  # a limb in motion overshoots its command limits a little
_TENSION_MARGIN = 1.25  # measured tension may exceed what the winch can hold
_COMPACT_ERROR = 8e-3  # m: a limb is told in more packets rather than worse than this
_ANGLE_PER_ERROR = math.radians(1.0) / 1e-3  # rad/m: 1 degree goes with 1 mm
_COARSER, _FINER = 1.5, 1.01  # steps of the search for what fits


class Grade(IntEnum):
    """Resolution of packed frames: greatest error at the tip."""

    FINE = 0  # 0.1 mm, 0.1 degree
    STANDARD = 1  # 1 mm, 1 degree
    COARSE = 2  # 4 mm, 4 degrees

    @property
    def error(self) -> float:
        """Greatest error at the tip [m]."""
        return (1e-4, 1e-3, 4e-3)[self]


@dataclass(frozen=True)
class PartLayout:
    """Part of a limb that one compact frame tells.

    Attributes:
        first: index of its first segment in the limb.
        layout: of its segments; `error` is that of the whole limb.
    """

    first: int
    layout: LimbLayout


@dataclass(frozen=True)
class RobotLayout:
    """Layouts of all limbs at one resolution."""

    limbs: tuple[LimbLayout, ...]

    @property
    def error(self) -> float:
        """Bound of the quantisation error at any tip [m]."""
        return max(limb.error for limb in self.limbs)

    @property
    def angle(self) -> float:
        """Bound of the rotation of any tip by quantisation [rad]."""
        return max(limb.angle for limb in self.limbs)

    def bits(self, limbs: tuple[int, ...]) -> int:
        """Bits for the coordinates of these limbs."""
        known = self._bits.get(limbs)
        if known is None:
            span = math.prod(self.limbs[limb].span for limb in limbs)
            known = self._bits[limbs] = (span - 1).bit_length()
        return known

    @cached_property
    def _bits(self) -> dict[tuple[int, ...], int]:
        return {}


class Schema:
    """Everything that both sides must know of a robot to read its frames."""

    def __init__(self, model: RobotModel) -> None:
        """Derive it.

        Args:
            model: the robot as its file gives it.

        Raises:
            FrameError: the robot has more limbs than a frame can tell.
        """
        self.segment_start = [int(index) for index in model.limb_segment_start]
        self.tendon_start = [int(index) for index in model.limb_tendon_start]
        self.limbs = len(self.segment_start) - 1
        if not 1 <= self.limbs <= _MOST_LIMBS:
            raise FrameError(
                f"Robot has {self.limbs} limbs: frames take 1 to {_MOST_LIMBS}."
            )
        self.all_limbs = tuple(range(self.limbs))
        self._ranges = [
            [_segment_range(model, segment) for segment in range(start, stop)]
            for start, stop in pairwise(self.segment_start)
        ]
        self.setpoint = tuple(self._robot(grade, 0.0) for grade in Grade)
        self.telemetry = tuple(self._robot(grade, _TELEMETRY_MARGIN) for grade in Grade)
        self.compact_setpoint = [
            self._compact(limb, COMPACT_SETPOINT_BITS, 0.0) for limb in self.all_limbs
        ]
        self.compact_telemetry = [
            self._compact(limb, COMPACT_TELEMETRY_BITS, _TELEMETRY_MARGIN)
            for limb in self.all_limbs
        ]
        self.tension = [
            (_TENSION_MARGIN * float(low), _TENSION_MARGIN * float(high))
            for low, high in zip(
                model.tendon_tension_least, model.tendon_tension_limit, strict=True
            )
        ]
        self.digest = self._digest()

    def segments(self, limb: int) -> int:
        """Number of segments of a limb."""
        return self.segment_start[limb + 1] - self.segment_start[limb]

    def rows(self, limb: int) -> slice:
        """Rows of a limb among the robot's segments."""
        return slice(self.segment_start[limb], self.segment_start[limb + 1])

    def tendons(self, limb: int) -> slice:
        """Tendons of a limb among the robot's."""
        return slice(self.tendon_start[limb], self.tendon_start[limb + 1])

    def lever(self, segment: int) -> float:
        """How far the tip moves for a bend of a segment, at most [m/rad]."""
        for limb, ranges in enumerate(self._ranges):
            start, stop = self.segment_start[limb], self.segment_start[limb + 1]
            if start <= segment < stop:
                own = ranges[segment - start]
                beyond = ranges[segment - start + 1 :]
                return 0.5 * own.length + sum(other.length for other in beyond)
        raise FrameError(f"No segment {segment}: 0..{self.segment_start[-1] - 1}.")

    def _robot(self, grade: Grade, margin: float) -> RobotLayout:
        error = grade.error
        return RobotLayout(
            tuple(
                limb_layout(ranges, error, _ANGLE_PER_ERROR * error, margin)
                for ranges in self._ranges
            )
        )

    def _compact(self, limb: int, bits: int, margin: float) -> tuple[PartLayout, ...]:
        """Cut a limb into the fewest parts that serve, each as fine as fits."""
        count = self.segments(limb)
        for parts in range(1, count + 1):
            size = -(-count // parts)
            firsts = range(0, count, size)
            layout = self._finest(limb, bits, margin, firsts, size)
            if layout.error <= _COMPACT_ERROR or parts == count:
                break
        return tuple(
            PartLayout(first, _slice_of(layout, first, size)) for first in firsts
        )

    def _finest(
        self, limb: int, bits: int, margin: float, firsts: range, size: int
    ) -> LimbLayout:
        error, factor = Grade.FINE.error, _COARSER
        while True:
            layout = limb_layout(
                self._ranges[limb], error, _ANGLE_PER_ERROR * error, margin
            )
            spans = [_slice_of(layout, first, size).span for first in firsts]
            if max(spans) * len(firsts) > 1 << bits:
                error *= factor
            elif factor > _FINER and error > Grade.FINE.error:
                error, factor = error / factor * _FINER, _FINER
            else:
                return layout

    def _digest(self) -> bytes:
        layouts: list[LimbLayout] = []
        for robot in (*self.setpoint, *self.telemetry):
            layouts += robot.limbs
        for parts in (*self.compact_setpoint, *self.compact_telemetry):
            layouts += [part.layout for part in parts]
        text = repr(
            (
                FRAME_VERSION,
                self.segment_start,
                self.tendon_start,
                [f"{value:.9g}" for pair in self.tension for value in pair],
                [
                    [(f"{a.low:.9g}", f"{a.step:.9g}", a.levels) for a in layout.axes]
                    for layout in layouts
                ],
            )
        )
        return hashlib.blake2b(text.encode(), digest_size=8).digest()


def _segment_range(model: RobotModel, segment: int) -> SegmentRange:
    low, high = (float(value) for value in model.extension_range[segment])
    return SegmentRange(
        length=float(model.segment_length[segment]) + max(high, 0.0),
        bend=float(model.bend_limit[segment]),
        low=low,
        high=high,
    )


def _slice_of(layout: LimbLayout, first: int, size: int) -> LimbLayout:
    axes = layout.axes[3 * first : 3 * (first + size)]
    return LimbLayout(
        axes=axes,
        bends=layout.bends[first : first + size],
        span=math.prod(axis.levels for axis in axes),
        error=layout.error,
        angle=layout.angle,
    )
