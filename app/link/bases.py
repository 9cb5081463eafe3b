"""Whole-robot states by sequence number, from which delta frames start.

The sender may start from a state that the peer has acknowledged; the receiver looks
the base up by its number, and the CRC of the delta covers the base's content. A base
that is not known, or not the same on both sides, is refused, never guessed.
"""

from collections import OrderedDict
from typing import NamedTuple

from app.link.schema import Grade
from models.numerics import IntArray

__all__ = ["BASE_DISTANCE", "Bases", "State"]

BASE_DISTANCE = 255
"""A base may lie so many frames back."""


class State(NamedTuple):
    """Setpoints of the whole robot as a frame told them.

    Attributes:
        grade: resolution of the codes.
        codes: (3 S,) of all coordinates.
        value: all codes in one number, as in a full frame.
    """

    grade: Grade
    codes: IntArray
    value: int

    def known(self) -> bytes:
        """Return what the CRC of a delta covers of it."""
        value = self.value
        size = (value.bit_length() + 7) // 8
        return bytes((self.grade, size)) + value.to_bytes(size, "big")


class Bases:
    """The last states of one sender."""

    def __init__(self) -> None:
        self._states: OrderedDict[int, State] = OrderedDict()
        self._acknowledged: int | None = None

    def clear(self) -> None:
        """Forget all: the peer began anew."""
        self._states.clear()
        self._acknowledged = None

    def keep(self, sequence: int, state: State) -> None:
        """Remember the state that a frame told."""
        self._states[sequence] = state
        if len(self._states) > BASE_DISTANCE + 1:
            self._states.popitem(last=False)

    def get(self, sequence: int) -> State | None:
        """Return the state that a frame told, None where it is not known."""
        return self._states.get(sequence)

    def acknowledge(self, sequence: int) -> None:
        """The peer has accepted a frame; only one that told all limbs is a base."""
        newest = self._acknowledged
        if sequence in self._states and (newest is None or sequence > newest):
            self._acknowledged = sequence

    def usable(self, sequence: int, grade: Grade) -> tuple[int, State] | None:
        """Return (distance, state) of the base for a frame, None where there is none.

        Args:
            sequence: of the frame to be sent.
            grade: of the frame to be sent.
        """
        base = self._acknowledged
        if base is None:
            return None
        distance = sequence - base
        if not 1 <= distance <= BASE_DISTANCE:
            return None
        state = self._states.get(base)
        return (distance, state) if state and state.grade is grade else None
