"""Limbs in a packed frame: which it tells, and their coordinates as one number.

Setpoints and telemetry do this alike, each by its own layouts. A frame of one limb
names it in its key; one of several, but not all, carries a mask, a bit a limb, limb 0
last. The coordinates are one number in mixed radix (`app.link.layout`).
"""

import math

import numpy as np

from app.errors import FrameError
from app.link.layout import tells, unpack_codes
from app.link.packing import BitReader, BitWriter
from app.link.records import WHOLE_ROBOT
from app.link.schema import RobotLayout, Schema
from models.numerics import FloatArray

__all__ = ["GRADE_BITS", "PackedLimbs"]

GRADE_BITS = 2
"""Of the resolution that every such frame states."""


class PackedLimbs:
    """Writes and reads the limbs of one kind of frame."""

    def __init__(self, schema: Schema, layouts: tuple[RobotLayout, ...]) -> None:
        """Prepare.

        Args:
            schema: of the robot.
            layouts: by grade.
        """
        self._schema = schema
        self.layouts = layouts

    def bits(self, limbs: tuple[int, ...], grade: int) -> int:
        """Bits for the mask, if any, and the coordinates of these limbs."""
        mask = self._schema.limbs if self._has_mask(len(limbs)) else 0
        return mask + self.layouts[grade].bits(limbs)

    def _has_mask(self, count: int) -> bool:
        return 1 < count < self._schema.limbs

    # -- out -----------------------------------------------------------------------

    def codes(
        self, limb: int, coordinates: FloatArray, grade: int
    ) -> dict[int, list[int]]:
        """Return the codes of each limb that a frame tells, in rising order.

        Args:
            limb: of the frame; `WHOLE_ROBOT` for those that are not all NaN.
            coordinates: (n, 3) of that limb or of the robot [rad, rad, m].
            grade: resolution.

        Raises:
            FrameError: a coordinate is not finite, or no limb is told.
        """
        layouts = self.layouts[grade].limbs
        if limb != WHOLE_ROBOT:
            return {limb: layouts[limb].codes(coordinates)}
        every = coordinates.tolist()
        codes = {
            one: layouts[one].codes_of(rows)
            for one in self._schema.all_limbs
            if tells(rows := every[self._schema.rows(one)])
        }
        if not codes:
            raise FrameError("A frame must tell at least one limb: all are NaN.")
        return codes

    def value(self, codes: dict[int, list[int]], grade: int) -> int:
        """Return all codes in one number."""
        layouts = self.layouts[grade].limbs
        value = 0
        for limb, part in codes.items():
            value = layouts[limb].pack(part, value)
        return value

    def put(
        self, writer: BitWriter, limbs: tuple[int, ...], value: int, grade: int
    ) -> None:
        """Append the mask, if any, and the number."""
        if self._has_mask(len(limbs)):
            writer.put(sum(1 << limb for limb in limbs), self._schema.limbs)
        writer.put(value, self.layouts[grade].bits(limbs))

    # -- in ------------------------------------------------------------------------

    def take_grade(self, reader: BitReader) -> int:
        """Take the resolution off.

        Raises:
            FrameError: it is not known.
        """
        grade = reader.take(GRADE_BITS)
        if grade >= len(self.layouts):
            raise FrameError(f"Resolution {grade} is not known.")
        return grade

    def take_mask(self, reader: BitReader) -> tuple[int, ...]:
        """Take the limbs of a frame of several off.

        Raises:
            FrameError: they are not several, or all.
        """
        mask = reader.take(self._schema.limbs)
        limbs = tuple(limb for limb in self._schema.all_limbs if mask >> limb & 1)
        if not self._has_mask(len(limbs)):
            raise FrameError(f"Mask {mask:#b} does not tell several limbs.")
        return limbs

    def take(
        self, reader: BitReader, limbs: tuple[int, ...], grade: int
    ) -> tuple[dict[int, list[int]], int]:
        """Take the number off; return its codes by limb, and itself.

        Raises:
            FrameError: it is none that `value` makes.
        """
        layout = self.layouts[grade]
        value = reader.take(layout.bits(limbs))
        codes = unpack_codes([layout.limbs[limb] for limb in limbs], value)
        return dict(zip(limbs, codes, strict=True)), value

    def rows(self, codes: dict[int, list[int]], grade: int) -> FloatArray:
        """Return the (n, 3) coordinates of codes [rad, rad, m].

        Returns:
            The rows of a single limb; else of the robot, NaN for limbs left out.

        Raises:
            FrameError: a bend lies out of range.
        """
        layouts = self.layouts[grade].limbs
        values: list[float] = []
        if len(codes) == 1:
            ((limb, part),) = codes.items()
            values = layouts[limb].values(part)
        else:
            for limb in self._schema.all_limbs:
                if limb in codes:
                    values += layouts[limb].values(codes[limb])
                else:
                    values += [math.nan] * (3 * self._schema.segments(limb))
        return np.array(values).reshape(-1, 3)
