"""Times in frames: a few low bits sent, the rest known to both sides.

A frame carries its time modulo a short span and the receiver unwraps it near its own.
What is left out is not lost: it goes into the CRC (see `app.link.seal`), so a frame
that is sent again one span later is another time's and is refused. Clocks are known to
one another modulo 3.1 days, which is what a hello can tell in 8 bytes.

| stamp     | unit     | bits | span            | used in                     |
|-----------|----------|------|-----------------|-----------------------------|
| SETPOINT  | 0.5 ms   | 14   | 8.2 s           | packed setpoints            |
| TELEMETRY | 31.25 µs | 18   | 8.2 s           | packed telemetry            |
| COMPACT   | 128 ms   | 6    | 8.2 s           | both, compact               |
| MODE      | 0.5 ms   | 29   | 3.1 days        | mode frames, hello          |
| SHORTMODE | 128 ms   | 14   | 35 min          | compact mode frames         |
"""

from dataclasses import dataclass
from functools import cached_property

from app.clock import NS_PER_MS, NS_PER_US

__all__ = [
    "CLOCK_SPAN_NS",
    "COMPACT_STAMP",
    "HELLO_STAMP",
    "MODE_STAMP",
    "SETPOINT_STAMP",
    "SHORT_MODE_STAMP",
    "TELEMETRY_STAMP",
    "Stamp",
    "coarse_time",
]

_COARSE_NS = 128 * NS_PER_MS
_COARSE_BITS = 21
_COARSE_MASK = (1 << _COARSE_BITS) - 1
CLOCK_SPAN_NS = _COARSE_NS << _COARSE_BITS
"""Clocks of the two sides are known to one another modulo this [ns]."""


@dataclass(frozen=True)
class Stamp:
    """One way to write a time.

    Attributes:
        tick_ns: unit [ns].
        bits: how many low bits are sent.
        ahead: how many ticks a stamp may lead the receiver's reference.
        nearest: rounded to the nearest tick; else down, so that it never leads.
    """

    tick_ns: int
    bits: int
    ahead: int
    nearest: bool = False

    @cached_property
    def _half_ns(self) -> int:
        return self.tick_ns // 2 if self.nearest else 0

    @cached_property
    def _mask(self) -> int:
        return (1 << self.bits) - 1

    @cached_property
    def _behind(self) -> int:
        return self._mask - self.ahead

    def rounded_ns(self, time_ns: int) -> int:
        """Return the time that is told [ns]."""
        return (time_ns + self._half_ns) // self.tick_ns * self.tick_ns

    def code(self, rounded_ns: int) -> int:
        """Return the bits that are sent of a time that was rounded."""
        return rounded_ns // self.tick_ns & self._mask

    def told(self, time_ns: int) -> tuple[int, int]:
        """Return the time that is told [ns], and the bits of it that are sent."""
        tick = (time_ns + self._half_ns) // self.tick_ns
        return tick * self.tick_ns, tick & self._mask

    def time_ns(self, code: int, reference_ns: int) -> int:
        """Return the time with these low bits in the window about a reference [ns]."""
        first = reference_ns // self.tick_ns - self._behind
        return (first + (code - first & self._mask)) * self.tick_ns


SETPOINT_STAMP = Stamp(500 * NS_PER_US, 14, 4096, nearest=True)
TELEMETRY_STAMP = Stamp(31_250, 18, 65_536, nearest=True)
COMPACT_STAMP = Stamp(_COARSE_NS, 6, 16)
MODE_STAMP = Stamp(500 * NS_PER_US, 29, 1 << 28, nearest=True)
SHORT_MODE_STAMP = Stamp(_COARSE_NS, 14, 1 << 13)
HELLO_STAMP = Stamp(32 * _COARSE_NS, 16, 1 << 15)
"""Of a compact hello: half a span of the short stamps, so that these unwrap."""


def coarse_time(time_ns: int) -> bytes:
    """Return three bytes of a time for the CRC: 128 ms, modulo 3.1 days.

    Args:
        time_ns: a whole number of ticks of the stamp it is sent by [ns].
    """
    return (time_ns // _COARSE_NS & _COARSE_MASK).to_bytes(3, "big")
