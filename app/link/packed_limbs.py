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

__all__ = ["GRADE_BITS", "Form", "PackedLimbs", "Told"]

GRADE_BITS = 2
"""Of the resolution that every such frame states."""


Told = tuple[tuple[int, ...], int]
"""The limbs of a frame in rising order, and their codes in one number."""


class Form(NamedTuple):
    """How some limbs are written at one resolution."""

    number_bits: int
    """Of their coordinates."""
    mask: int
    """That stands before these, if any; add the number."""
    bits: int
    """Of both."""
    limbs_mask: int
    """A bit for each of them, limb 0 last."""
    first: int
    """Limb that the rows of a frame begin with."""
    last: int
    """The limb after their last."""


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
        self._forms: list[dict[tuple[int, ...], Form]] = [{} for _ in layouts]

    def form(self, limbs: tuple[int, ...], grade: int) -> Form:
        """Return how these limbs are written, in rising order."""
        known = self._forms[grade].get(limbs)
        if known is None:
            bits, told = self.layouts[grade].bits(limbs), self._numbers[limbs]
            first, last = 0, self._schema.limbs
            if len(limbs) == 1:
                first, last = limbs[0], limbs[0] + 1
            known = Form(bits, 0, bits, told, first, last)
            if self._has_mask(len(limbs)):
                bits_of_both = self._schema.limbs + bits
                known = Form(bits, told << bits, bits_of_both, told, first, last)
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
        if mask <= 0:
            if not mask:
                raise FrameError("A frame must tell at least one limb: all are NaN.")
            raise FrameError(
                "Coordinates cannot be sent: they are not finite: "
                f"{np.asarray(coordinates).tolist()}."
            )
        return self._masks[mask], value

    def codes(self, grade: int) -> IntArray:
        """Return the codes (3 S,) of what was told or taken last at a resolution."""
        return self._radix[grade].codes()

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

    def read_mask(self, fields: bytes, skipped: int) -> tuple[int, ...]:
        """Read the limbs of a frame of several.

        Args:
            fields: whole bytes, from the mask on.
            skipped: so many bits of the first one come before it.

        Raises:
            FrameError: they are not several, or all.
        """
        mask = BitReader(fields, skipped).take(self._schema.limbs)
        limbs = self._masks[mask]
        if not self._has_mask(len(limbs)):
            raise FrameError(f"Mask {mask:#b} does not tell several limbs.")
        return limbs

    def read(
        self, fields: bytes, skipped: int, limbs: tuple[int, ...], grade: int
    ) -> tuple[int, FloatArray, bytes]:
        """Read the coordinates of these limbs.

        Args:
            fields: whole bytes, from the mask or the number on.
            skipped: so many bits of the first one come before.
            limbs: that it tells.
            grade: resolution.

        Returns:
            Their number; (n, 3) the rows of a single limb, else of the robot, NaN for
            limbs left out [rad, rad, m]; the bytes after the filling.

        Raises:
            FrameError: it is cut, none that `told` makes, a bend lies out of range, or
                a bit of the filling is set.
        """
        bits, _, all_bits, mask, first, last = self.form(limbs, grade)
        end = skipped + all_bits
        size = (end + 7) >> 3
        if size > len(fields):
            left = 8 * len(fields) - end + bits
            raise FrameError(f"Frame is cut: {bits} bits wanted, {left} left.")
        filling = 8 * size - end
        number = int.from_bytes(fields[:size], "big")
        value = number >> filling & (1 << bits) - 1
        rows = self._radix[grade].read(mask, value, first, last)
        if number & (1 << filling) - 1:
            raise FrameError("Frame has set bits beyond its fields.")
        return value, rows, fields[size:]

    def read_delta(
        self, frame: bytes, start: int, end: int, base: IntArray, grade: int
    ) -> tuple[int, FloatArray, int]:
        """Read all limbs from a base.

        Args:
            frame: all of it.
            start: the first bit of the delta.
            end: the bit after the last that may belong to it.
            base: (3 S,) codes of the base.
            grade: resolution.

        Returns:
            Their number; (S, 3) coordinates [rad, rad, m]; the byte of the frame after.

        Raises:
            FrameError: it is cut, or a code or a bend lies out of range.
        """
        after, rows = self._deltas[grade].read(frame, start, end, base)
        return self._radix[grade].number(), rows, after
