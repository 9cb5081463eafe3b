"""Limbs in a packed frame: which it tells, and their coordinates as one number.

Setpoints and telemetry do this alike, each by its own layouts. A frame of one limb
names it in its key; one of several, but not all, carries a mask, a bit a limb, limb 0
last. The coordinates are one number in mixed radix (`app.link.layout`).
"""

from typing import NamedTuple

import numpy as np

from app.errors import FrameError
from app.link.delta_codes import DeltaCodes
from app.link.packing import BitReader
from app.link.radix import Radix
from app.link.records import WHOLE_ROBOT
from app.link.schema import RobotLayout, Schema
from models.numerics import FloatArray, IntArray

__all__ = ["GRADE_BITS", "PackedLimbs", "Told"]

GRADE_BITS = 2
"""Of the resolution that every such frame states."""


class Told(NamedTuple):
    """The limbs of a frame, and where they are."""

    limbs: tuple[int, ...]
    """In rising order."""
    value: int
    """Their codes in one number."""


class _Form(NamedTuple):
    """How some limbs are written at one resolution."""

    number_bits: int
    """Of their coordinates."""
    mask: int
    """That stands before these, if any."""
    bits: int
    """Of both."""


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
        self._deltas = [DeltaCodes(radix) for radix in self._radix]
        self._masks = {
            mask: tuple(limb for limb in schema.all_limbs if mask >> limb & 1)
            for mask in range(1 << schema.limbs)
        }
        self._numbers = {limbs: mask for mask, limbs in self._masks.items()}
        self._forms: list[dict[tuple[int, ...], _Form]] = [{} for _ in layouts]

    def bits(self, limbs: tuple[int, ...], grade: int) -> int:
        """Bits for the mask, if any, and the coordinates of these limbs."""
        return self._form(limbs, grade).bits

    def _form(self, limbs: tuple[int, ...], grade: int) -> "_Form":
        known = self._forms[grade].get(limbs)
        if known is None:
            bits = self.layouts[grade].bits(limbs)
            known = _Form(bits, 0, bits)
            if self._has_mask(len(limbs)):
                mask = self._numbers[limbs] << bits
                known = _Form(bits, mask, self._schema.limbs + bits)
            self._forms[grade][limbs] = known
        return known

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
        return Told(self._masks[mask], value)

    def codes(self, grade: int) -> IntArray:
        """Return the codes (3 S,) of what was told or taken last at a resolution."""
        return self._radix[grade].codes()

    def joined(self, told: Told, grade: int) -> tuple[int, int]:
        """Return the mask, if any, and the number as one; and how many bits it has."""
        form = self._form(told.limbs, grade)
        return form.mask | told.value, form.bits

    def write_delta(
        self, head: int, head_bits: int, base: IntArray, grade: int
    ) -> bytes | None:
        """Return a head and what was told last, all limbs, from a base.

        Args:
            head: fields before it.
            head_bits: of the head.
            base: (3 S,) codes of the base.
            grade: resolution.

        Returns:
            None where a coordinate differs by more than can be told.
        """
        return self._deltas[grade].write(head, head_bits, base)

    # -- in ------------------------------------------------------------------------

    def check_grade(self, grade: int) -> None:
        """Check a resolution.

        Raises:
            FrameError: it is not known.
        """
        if grade >= len(self.layouts):
            raise FrameError(f"Resolution {grade} is not known.")

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
        value = reader.take(self._form(limbs, grade).number_bits)
        if len(limbs) == 1:
            first, last = limbs[0], limbs[0] + 1
        else:
            first, last = 0, self._schema.limbs
        mask = self._numbers[limbs]
        return Told(limbs, value), self._radix[grade].read(mask, value, first, last)

    def take_delta(
        self, frame: bytes, start: int, end: int, base: IntArray, grade: int
    ) -> tuple[Told, FloatArray, int]:
        """Read all limbs from a base.

        Args:
            frame: all of it.
            start: the first bit of the delta.
            end: the bit after the last that may belong to it.
            base: (3 S,) codes of the base.
            grade: resolution.

        Returns:
            What is told; (S, 3) coordinates [rad, rad, m]; the byte of the frame after.

        Raises:
            FrameError: it is cut, or a code or a bend lies out of range.
        """
        after, rows = self._deltas[grade].read(frame, start, end, base)
        told = Told(self._schema.all_limbs, self._radix[grade].number())
        return told, rows, after
