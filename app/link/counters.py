"""Counters of a few bits back to whole numbers, by what was heard and sent before."""

from app.link.packing import unwrap

__all__ = ["Counters"]

_EPOCH_CODES = 7


class Counters:
    """One side's memory of both ways' counters."""

    def __init__(self) -> None:
        self._heard: dict[bool, tuple[int, int]] = {}  # by telemetry?: time, number
        self._sent = -1  # newest setpoint written
        self._sent_epoch = 0
        self._received = 0

    def note_sent(self, sequence: int, epoch: int) -> None:
        """Remember a setpoint that was written, to recognise its echo."""
        self._sent = max(self._sent, sequence)
        self._sent_epoch = epoch

    def sequence(self, code: int, bits: int, time_ns: int, *, telemetry: bool) -> int:
        """Unwrap a sequence number; a newer time always means a greater number.

        So a sender that began anew and counts from zero is not taken for late.

        Args:
            code: low bits of the number.
            bits: how many.
            time_ns: when the frame was generated [ns].
            telemetry: which of the two counters.
        """
        last_ns, last = self._heard.get(telemetry, (time_ns - 1, code - 1))
        span = 1 << bits
        if time_ns > last_ns:
            sequence = last + 1 + (code - last - 1) % span
        elif time_ns < last_ns:
            sequence = last - (last - code) % span
        else:
            sequence = unwrap(code, bits, last, span // 4)
        if time_ns > last_ns or sequence > last:
            self._heard[telemetry] = (time_ns, sequence)
        return sequence

    def received(self, code: int, bits: int) -> int:
        """Unwrap the count of accepted frames, which seldom falls back."""
        behind = 1 << (bits - 6) if bits > 6 else 0
        self._received = unwrap(code, bits, self._received, behind)
        return self._received

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
