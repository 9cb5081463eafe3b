"""What was sent of each limb, and which parts of it the robot is known to have; pure.

A limb counts as it was first told until its tip moves by more than rounding would; what
the robot acknowledges of an earlier setpoint says nothing of the present one.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from app.link.limb_steps import StepsData, allocate_steps, tip_motion
from app.link.schema import Schema
from models.bound import Bound, bind
from models.numerics import FloatArray, IntArray, kernel

__all__ = ["SentLimbs"]

_FRAMES_KEPT = 1024
_Spans = tuple[tuple[int, int], ...]
"""Neighbouring limbs: the first, and the one after the last."""


class _SentData(NamedTuple):
    """All limbs of a robot."""

    steps: StepsData
    """Of the setpoints now, from those that were sent."""
    rounding: FloatArray
    """(L,) motion of each tip that is none [m]."""
    since: IntArray
    """(L,) first frame that told the limb as it is; 0 = none yet."""
    part: IntArray
    """(L,) part that a frame tells next, modulo their number."""
    has: IntArray
    """(L,) a bit for each part that the robot is known to have."""


@kernel
def note_sent(data: _SentData, first: int, last: int, sequence: int, parts: int) -> int:
    """Take neighbouring limbs up as they are sent.

    Args:
        data: what is known of the limbs from `first` on is written.
        first: the first that is sent.
        last: the limb after the last.
        sequence: number of the frame.
        parts: frames that it takes to tell a limb.

    Returns:
        Which part of the last limb it tells.
    """
    steps, part = data.steps, 0
    for limb in range(first, last):
        moved = tip_motion(steps, limb) > data.rounding[limb]
        if moved or data.since[limb] == 0:
            data.since[limb] = sequence
            data.has[limb] = 0
        part = data.part[limb] % parts
        data.part[limb] = part + 1
        for segment in range(steps.limb_start[limb], steps.limb_start[limb + 1]):
            for j in range(3):
                steps.earlier[segment, j] = steps.rows[segment, j]
    return part


@kernel
def note_accepted(
    data: _SentData, first: int, last: int, sequence: int, part: int
) -> None:
    """Note what the robot has of neighbouring limbs; arguments as of `note_sent`.

    Args:
        data: `has` is written.
        first: the first that was sent.
        last: the limb after the last.
        sequence: number of the frame.
        part: of the limb that it told.
    """
    for limb in range(first, last):
        if sequence >= data.since[limb]:
            data.has[limb] |= 1 << part


class SentLimbs:
    """Remembers frames of one robot's limbs."""

    def __init__(self, schema: Schema) -> None:
        """Begin with nothing sent."""
        self._limbs = schema.limbs
        steps = allocate_steps(schema)
        self._now, self.coordinates = steps.rows, steps.earlier
        self._rounding = np.zeros(schema.limbs)
        self._has = np.zeros(schema.limbs, dtype=np.int64)
        since, part = np.zeros((2, schema.limbs), dtype=np.int64)
        self._whole: _Spans = ((0, schema.limbs),)
        self._frames: OrderedDict[int, tuple[_Spans, int]] = OrderedDict()
        self._data = Bound(_SentData(steps, self._rounding, since, part, self._has))
        self._note_sent = bind(note_sent, self._data, 0, 0, 0, 0)
        self._note_accepted = bind(note_accepted, self._data, 0, 0, 0, 0)

    def reset(self) -> None:
        """The robot began anew and has nothing."""
        self._frames.clear()
        self._has[:] = 0

    def round_to(self, errors: Sequence[float]) -> None:
        """Take up the quantisation error of each limb's tip as it is sent (L,) [m]."""
        self._rounding[:] = [0.5 * error for error in errors]

    def moved(self, motion: Sequence[float]) -> list[bool]:
        """Tell for each limb whether its tip moves by more than rounding would.

        Args:
            motion: (L,) of each tip from what was sent [m].
        """
        return [
            moved > least
            for moved, least in zip(motion, self._rounding.tolist(), strict=True)
        ]

    def has(self, limb: int, parts: int) -> bool:
        """Tell whether the robot has so many parts of a limb as it was last sent."""
        return int(self._has[limb]).bit_count() >= parts

    def sent(
        self, sequence: int, limbs: tuple[int, ...], commanded: FloatArray, parts: int
    ) -> None:
        """Report a frame that went.

        Args:
            sequence: its number.
            limbs: that it tells.
            commanded: (S, 3) setpoints of the robot [rad, rad, m].
            parts: frames that it takes to tell one of them.
        """
        # the bound kernel looks at no type: it gets an array of our own
        self._now[...] = commanded
        part, spans = 0, self._whole
        if len(limbs) < self._limbs:
            spans = tuple((limb, limb + 1) for limb in limbs)
        for first, last in spans:
            part = self._note_sent(self._data, first, last, sequence, parts)
        self._frames[sequence] = (spans, part)
        if len(self._frames) > _FRAMES_KEPT:
            self._frames.popitem(last=False)

    def accepted(self, sequence: int) -> None:
        """The robot is known to have accepted this frame."""
        spans, part = self._frames.pop(sequence, ((), 0))
        for first, last in spans:
            self._note_accepted(self._data, first, last, sequence, part)
