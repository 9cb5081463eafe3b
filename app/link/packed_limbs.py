"""Limbs in a packed frame: which it tells, and their coordinates as one number.

Setpoints and telemetry do this alike, each by its own layouts. A frame of one limb
names it in its key; one of several, but not all, carries a mask, a bit a limb, limb 0
last. The coordinates are one number in mixed radix (`app.link.layout`).
"""

import operator
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from app.errors import FrameError
from app.link.packing import BitReader, BitWriter
from app.link.radix import Radix
from app.link.records import WHOLE_ROBOT
from app.link.schema import RobotLayout, Schema
from models.numerics import FloatArray

__all__ = ["GRADE_BITS", "PackedLimbs", "Told"]

GRADE_BITS = 2
"""Of the resolution that every such frame states."""


class Told(NamedTuple):
    """The limbs of a frame, and where they are."""

    limbs: tuple[int, ...]
    """In rising order."""
    codes: tuple[int, ...]
    """(3 S,) of the robot's coordinates; of no meaning for limbs that are not told."""
    value: int
    """The codes in one number."""


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
        self._radix = [Radix(layout.limbs) for layout in layouts]
        self._most = [
            [axis.levels - 1 for limb in layout.limbs for axis in limb.axes]
            for layout in layouts
        ]
        self._masks = {
            mask: tuple(limb for limb in schema.all_limbs if mask >> limb & 1)
            for mask in range(1 << schema.limbs)
        }

    def bits(self, limbs: tuple[int, ...], grade: int) -> int:
        """Bits for the mask, if any, and the coordinates of these limbs."""
        mask = self._schema.limbs if self._has_mask(len(limbs)) else 0
        return mask + self.layouts[grade].bits(limbs)

    def _has_mask(self, count: int) -> bool:
        return 1 < count < self._schema.limbs

    # -- out -----------------------------------------------------------------------

    def told(self, limb: int, coordinates: FloatArray, grade: int) -> Told:
        """Return what a frame tells.

        Args:
            limb: of the frame; `WHOLE_ROBOT` for those that are not all NaN.
            coordinates: (n, 3) of that limb or of the robot [rad, rad, m].
            grade: resolution.

        Raises:
            FrameError: a coordinate is not finite, or no limb is told.
        """
        radix = self._radix[grade]
        if limb == WHOLE_ROBOT:
            mask, value = radix.write(0, self._schema.limbs, coordinates)
        else:
            mask, value = radix.write(limb, limb + 1, coordinates)
        if mask < 0:
            raise FrameError(
                "Coordinates cannot be sent: they are not finite: "
                f"{np.asarray(coordinates).tolist()}."
            )
        if not mask:
            raise FrameError("A frame must tell at least one limb: all are NaN.")
        return Told(self._masks[mask], tuple(radix.codes()), value)

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
        limbs = self._masks[mask]
        if not self._has_mask(len(limbs)):
            raise FrameError(f"Mask {mask:#b} does not tell several limbs.")
        return limbs

    def take(
        self, reader: BitReader, limbs: tuple[int, ...], grade: int
    ) -> tuple[Told, FloatArray]:
        """Take the number off; return what it tells, and the coordinates.

        Returns:
            What is told; and (n, 3) the rows of a single limb, else of the robot, NaN
            for limbs left out [rad, rad, m].

        Raises:
            FrameError: it is none that `told` makes, or a bend lies out of range.
        """
        value = reader.take(self.layouts[grade].bits(limbs))
        radix, mask = self._radix[grade], sum(1 << limb for limb in limbs)
        if not radix.part(mask, value):
            raise FrameError("Coordinates are outside their range.")
        told = Told(limbs, tuple(radix.codes()), value)
        return told, self._rows(radix, mask, limbs)

    def take_codes(self, codes: Sequence[int], grade: int) -> tuple[Told, FloatArray]:
        """Do as `take` with the codes (3 S,) of the whole robot.

        Raises:
            FrameError: a code or a bend lies out of range.
        """
        if any(map(operator.gt, codes, self._most[grade])) or min(codes) < 0:
            raise FrameError("A delta leads out of the range of a coordinate.")
        radix, limbs = self._radix[grade], self._schema.all_limbs
        mask = (1 << len(limbs)) - 1
        told = Told(limbs, tuple(codes), radix.join(mask, codes))
        return told, self._rows(radix, mask, limbs)

    def _rows(self, radix: Radix, mask: int, limbs: tuple[int, ...]) -> FloatArray:
        first, last = 0, self._schema.limbs
        if len(limbs) == 1:
            first, last = limbs[0], limbs[0] + 1
        rows = radix.rows(mask, first, last)
        if rows is None:
            raise FrameError("A bend lies outside of what its segment can be told.")
        return rows
