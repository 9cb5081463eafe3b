"""Tensions of the tendons of a frame as codes of ten bits, by kernels.

Codes run from the least tension to the greatest that is ever told; they are packed one
after the other, most significant bit first, zero bits filling the last byte.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from models.bound import Bound, bind
from models.numerics import FloatArray, IntArray, kernel

__all__ = ["TENSION_BITS", "TensionCodes"]

TENSION_BITS = 10
_MOST = (1 << TENSION_BITS) - 1


class _ScaleData(NamedTuple):
    """How the tensions of some tendons are told."""

    which: IntArray
    """(t,) tendons of the robot."""
    least: FloatArray
    """(t,) least tension [N]."""
    range: FloatArray
    """(t,) from there to the greatest [N]; 0: all values have code 0."""
    octets: IntArray
    """(n,) bytes of the codes, unsigned."""


@kernel
def write_tensions(data: _ScaleData, offset: int, tension: FloatArray) -> int:
    """Write tensions as codes, into `octets`.

    Args:
        data: its `octets` are written.
        offset: tendon of the robot that `tension` begins with.
        tension: (n,) [N].

    Returns:
        0, or 1 where one that is told is not finite.
    """
    held, bits, at = 0, 0, 0
    for k in range(data.which.size):
        value = tension[data.which[k] - offset]
        if not abs(value) < np.inf:
            return 1
        code = 0.0
        if data.range[k] > 0.0:
            code = np.rint((value - data.least[k]) / data.range[k] * _MOST)
        held = held << TENSION_BITS | int(min(max(code, 0.0), _MOST))
        bits += TENSION_BITS
        while bits >= 8:
            bits -= 8
            data.octets[at] = held >> bits & 0xFF
            at += 1
        held &= 0xFF
    if bits > 0:
        data.octets[at] = held << (8 - bits) & 0xFF
    return 0


@kernel
def read_tensions(data: _ScaleData, tension_out: FloatArray) -> int:
    """Read codes from `octets`.

    Args:
        data: its `octets` are read.
        tension_out: (T,) of the robot [N]; those that are not told stay.

    Returns:
        0, or 1 where a bit of the filling is set.
    """
    held, bits, at = 0, 0, 0
    for k in range(data.which.size):
        while bits < TENSION_BITS:
            held = held << 8 | data.octets[at]
            bits += 8
            at += 1
        bits -= TENSION_BITS
        code = held >> bits
        held &= (1 << bits) - 1
        tension_out[data.which[k]] = data.least[k] + data.range[k] * code / _MOST
    return 1 if held != 0 else 0


class TensionCodes:
    """Writes and reads the tensions of some tendons of a robot."""

    def __init__(self, which: Sequence[int], low: FloatArray, high: FloatArray) -> None:
        """Prepare.

        Args:
            which: the tendons, in order.
            low: (t,) least tension of each that is told [N].
            high: (t,) greatest [N].
        """
        self.size = (TENSION_BITS * len(which) + 7) // 8
        """Bytes that they take."""
        octets: np.ndarray[Any, Any] = np.zeros(self.size, dtype=np.uint8)
        self._bytes = octets.data
        self._data = Bound(
            _ScaleData(
                np.array(which, dtype=np.int64),
                np.ascontiguousarray(low),
                np.maximum(high - low, 0.0),
                octets,
            )
        )
        sample = np.zeros(1)
        self._write = bind(write_tensions, self._data, 0, sample)
        self._read = bind(read_tensions, self._data, sample)

    def write(self, tension: FloatArray, offset: int) -> bytes | None:
        """Return the bytes of tensions; None where one that is told is not finite.

        Args:
            tension: (n,) those of the tendons from number `offset` on [N].
            offset: in the robot.
        """
        values = np.ascontiguousarray(tension, dtype=np.float64)
        return None if self._write(self._data, offset, values) else bytes(self._bytes)

    def read(self, section: bytes, tension_out: FloatArray) -> bool:
        """Read bytes of `size`; False where they are none that `write` makes.

        Args:
            section: them.
            tension_out: (T,) of the robot [N]; those that are not told stay.
        """
        self._bytes[:] = section
        return not self._read(self._data, tension_out)
