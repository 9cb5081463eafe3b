"""Counters of a few bits back to whole numbers, by what was heard and sent before."""

from app.clock import NS_PER_S
from app.link.packing import unwrap

__all__ = ["AHEAD_NS", "Ahead", "Counters"]

_EPOCH_CODES = 7
AHEAD_NS = NS_PER_S
"""A coarse stamp may lead by 128 ms; one that leads by more is a wrong clock's."""
_MEMORY = 0.9  # of the mean rate of a counter, per report


class _Counter:
    """One counter of the peer; guesses whole turns missed from its usual rate."""

    def __init__(self) -> None:
        self._last: int | None = None
        self._time_ns = 0
        self._steps = 0.0
        self._elapsed_ns = 0.0

    def take(self, code: int, bits: int, time_ns: int, least: int) -> int:
        """Unwrap a report.

        A newer time always means a step forward, at least by `least`, so a sender that
        began anew and counts from zero is not taken for late. An older time means a
        step back.

        Args:
            code: low bits of the counter.
            bits: how many.
            time_ns: when the frame was generated [ns].
            least: 1 for a number that every frame has for itself, else 0.
        """
        last = self._last
        if last is None:
            self._last, self._time_ns = code, time_ns
            return code
        span, since_ns = 1 << bits, time_ns - self._time_ns
        if since_ns < 0:
            return last - (last - code) % span
        if since_ns == 0:
            self._last = max(last, near := unwrap(code, bits, last, span // 4))
            return near
        step = least + (code - last - least) % span
        elapsed_ns = self._elapsed_ns
        ahead = self._steps / elapsed_ns * since_ns - step if elapsed_ns > 0.0 else 0.0
        if 2.0 * ahead > span:  # nearer to a turn more than to none
            step += round(ahead / span) * span
        else:
            self._steps = _MEMORY * self._steps + step
            self._elapsed_ns = _MEMORY * elapsed_ns + since_ns
        self._last, self._time_ns = last + step, time_ns
        return last + step

    def copy(self) -> "_Counter":
        """Return another that stands where this one does."""
        other = _Counter()
        other._last, other._time_ns = self._last, self._time_ns
        other._steps, other._elapsed_ns = self._steps, self._elapsed_ns
        return other


Ahead = _Counter
"""A counter as it will stand when a frame is accepted."""


class Counters:
    """One side's memory of both ways' counters."""

    def __init__(self) -> None:
        """Begin before anything was heard or sent."""
        self._setpoint, self._telemetry = _Counter(), _Counter()
        self._received = _Counter()
        self._sent = -1  # newest setpoint written
        self._sent_epoch = 0

    def forget_peer(self) -> None:
        """The peer began anew: what was heard of it means nothing now."""
        self._telemetry, self._received = _Counter(), _Counter()

    def note_sent(self, sequence: int, epoch: int) -> None:
        """Remember a setpoint that was written, to recognise its echo."""
        self._sent = max(self._sent, sequence)
        self._sent_epoch = epoch

    def sequence(self, code: int, bits: int, time_ns: int, *, telemetry: bool) -> int:
        """Unwrap a frame's sequence number; see `_Counter.take`."""
        counter = self._telemetry if telemetry else self._setpoint
        return counter.take(code, bits, time_ns, least=1)

    def ahead(self, code: int, bits: int, time_ns: int) -> "tuple[int, Ahead]":
        """Return a setpoint's number, and what `accept` takes to remember it."""
        counter = self._setpoint.copy()
        return counter.take(code, bits, time_ns, least=1), counter

    def accept(self, ahead: "Ahead") -> None:
        """Remember a setpoint whose number `ahead` told, with nothing in between."""
        self._setpoint = ahead

    def peek(self, code: int, bits: int, time_ns: int, *, telemetry: bool) -> int:
        """Return what `sequence` would, and remember nothing."""
        counter = self._telemetry if telemetry else self._setpoint
        return counter.copy().take(code, bits, time_ns, least=1)

    def mode_sequence(
        self, code: int, bits: int, time_ns: int, reference_ns: int, *, stranger: bool
    ) -> int:
        """Unwrap a mode frame's number; its time may be any, unlike a setpoint's.

        A stranger's clock means nothing, and a stamp of the future would make all that
        comes until then look late: of neither is anything remembered.
        """
        if stranger or time_ns > reference_ns + AHEAD_NS:
            return self.peek(code, bits, time_ns, telemetry=False)
        return self.sequence(code, bits, time_ns, telemetry=False)

    def received(self, code: int, bits: int, time_ns: int) -> int:
        """Unwrap the count of frames that the robot accepted."""
        return self._received.take(code, bits, time_ns, least=0)

    def echo(self, code: int, bits: int) -> int:
        """Return the newest setpoint, up to the last one sent, with these low bits."""
        return unwrap(code, bits, self._sent, (1 << bits) - 1)

    @staticmethod
    def epoch_code(epoch: int) -> int:
        """Return three bits for an epoch: 0 for none, else 1..7."""
        return 0 if epoch == 0 else 1 + (epoch - 1) % _EPOCH_CODES

    def epoch(self, code: int) -> int:
        """Return the epoch with this code at or nearest before the last one sent."""
        if code == 0:
            return 0
        newest = self._sent_epoch or code
        for back in range(2 * _EPOCH_CODES):  # 255 is no multiple of 7
            candidate = (newest - 1 - back) % 255 + 1
            if self.epoch_code(candidate) == code:
                return candidate
        return code
