"""Counters of a few bits back to whole numbers, by what was heard and sent before."""

from app.clock import NS_PER_S
from app.link.packing import unwrap

__all__ = ["AHEAD_NS", "Ahead", "Counters"]

_EPOCH_CODES = 7
AHEAD_NS = NS_PER_S
"""A coarse stamp may lead by 128 ms; one that leads by more is a wrong clock's."""
_MEMORY = 0.9  # of the mean rate of a counter, per report


Ahead = tuple[int, int, float, float]
"""What is remembered of one counter of the peer, once it has reported: its last number;
when that was generated [ns]; the steps it made lately, of which older ones count less;
and the time in which it made them [ns]."""


def _taken(
    before: Ahead | None, code: int, bits: int, time_ns: int, least: int
) -> tuple[int, Ahead]:
    """Unwrap a report; whole turns missed are guessed from the counter's usual rate.

    A newer time always means a step forward, at least by `least`, so a sender that
    began anew and counts from zero is not taken for late. An older time means a
    step back.

    Args:
        before: what is remembered of the counter.
        code: low bits of the counter.
        bits: how many.
        time_ns: when the frame was generated [ns].
        least: 1 for a number that every frame has for itself, else 0.

    Returns:
        The whole number; and what is remembered where the frame is accepted.
    """
    if before is None:
        return code, (code, time_ns, 0.0, 0.0)
    last, then_ns, steps, elapsed_ns = before
    span = 1 << bits
    since_ns = time_ns - then_ns
    if since_ns <= 0:
        if since_ns < 0:
            return last - (last - code) % span, before
        near = unwrap(code, bits, last, span // 4)
        return near, (max(last, near), time_ns, steps, elapsed_ns)
    step = least + (code - last - least) % span
    if elapsed_ns and 2.0 * (ahead := steps / elapsed_ns * since_ns - step) > span:
        step += round(ahead / span) * span  # nearer to a turn more than to none
    else:
        steps = _MEMORY * steps + step
        elapsed_ns = _MEMORY * elapsed_ns + since_ns
    number = last + step
    return number, (number, time_ns, steps, elapsed_ns)


class Counters:
    """One side's memory of both ways' counters."""

    def __init__(self) -> None:
        """Begin before anything was heard or sent."""
        self._setpoint: Ahead | None = None
        self._telemetry: Ahead | None = None
        self._received: Ahead | None = None
        self._sent = -1  # newest setpoint written
        self._sent_epoch = 0

    def forget_peer(self) -> None:
        """The peer began anew: what was heard of it means nothing now."""
        self._telemetry = self._received = None

    def note_sent(self, sequence: int, epoch: int) -> None:
        """Remember a setpoint that was written, to recognise its echo."""
        if sequence > self._sent:
            self._sent = sequence
        self._sent_epoch = epoch

    def sequence(self, code: int, bits: int, time_ns: int, *, telemetry: bool) -> int:
        """Unwrap a frame's sequence number; see `_taken`."""
        if telemetry:
            number, self._telemetry = _taken(self._telemetry, code, bits, time_ns, 1)
        else:
            number, self._setpoint = _taken(self._setpoint, code, bits, time_ns, 1)
        return number

    def ahead(self, code: int, bits: int, time_ns: int) -> tuple[int, Ahead]:
        """Return a setpoint's number, and what `accept` takes to remember it."""
        return _taken(self._setpoint, code, bits, time_ns, 1)

    def accept(self, ahead: Ahead) -> None:
        """Remember a setpoint whose number `ahead` told, with nothing in between."""
        self._setpoint = ahead

    def peek(self, code: int, bits: int, time_ns: int, *, telemetry: bool) -> int:
        """Return what `sequence` would, and remember nothing."""
        before = self._telemetry if telemetry else self._setpoint
        return _taken(before, code, bits, time_ns, 1)[0]

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

    def reported(
        self, sequence: int, received: int, bits: int, time_ns: int
    ) -> tuple[int, int]:
        """Unwrap telemetry's number, and the count of frames that the robot accepted.

        Args:
            sequence: low bits of the one.
            received: low bits of the other.
            bits: how many, of each.
            time_ns: when the frame was generated [ns].
        """
        number, self._telemetry = _taken(self._telemetry, sequence, bits, time_ns, 1)
        count, self._received = _taken(self._received, received, bits, time_ns, 0)
        return number, count

    def received(self, code: int, bits: int, time_ns: int) -> int:
        """Unwrap the count of frames that the robot accepted."""
        number, self._received = _taken(self._received, code, bits, time_ns, 0)
        return number

    def echo(self, code: int, bits: int) -> int:
        """Return the newest setpoint, up to the last one sent, with these low bits."""
        sent = self._sent
        return sent - (sent - code) % (1 << bits)

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
