"""How well the link does: loss, bits/s, age of information, clock offset; all pure."""

import math
from collections import deque

from app.clock import NS_PER_MS, NS_PER_S
from app.link.offset import ClockOffset

__all__ = ["AgeMeter", "ClockOffset", "CountLoss", "RateMeter", "SequenceLoss"]

_RESTART_GAP = 4096  # a greater jump of a counter is a peer that began anew
_WINDOW_NS = 10 * NS_PER_S
_LEAST_COUNT = 20  # a slow link's window is as long as so many frames take


class SequenceLoss:
    """Share of frames missing, from gaps in the sequence numbers that came."""

    def __init__(self, window_ns: int = _WINDOW_NS) -> None:
        """Look back over `window_ns` [ns]."""
        self._window_ns = window_ns
        self._heard: deque[tuple[int, int]] = deque()  # (time, frames since the last)
        self._sent = 0  # sum of the steps that are kept
        self._last: int | None = None
        self.missing_total = 0

    def note(self, now_ns: int, sequence: int) -> None:
        """Count a frame; late and repeated ones fill their gap or change nothing."""
        last = self._last
        if last is None or sequence - last > _RESTART_GAP or last - sequence > 64:
            self._last = sequence
            self._keep(now_ns, 1)
            return
        if sequence <= last:
            if sequence < last and self.missing_total > 0:
                self.missing_total -= 1
                self._keep(now_ns, 0)
            return
        self._keep(now_ns, sequence - last)
        self.missing_total += sequence - last - 1
        self._last = sequence

    def loss(self, now_ns: int) -> float:
        """Return the share missing in the window, 0..1; 0 where nothing came."""
        frames, start_ns = self._heard, now_ns - self._window_ns
        while len(frames) > _LEAST_COUNT and frames[0][0] < start_ns:
            self._sent -= frames.popleft()[1]
        heard, sent = len(frames), self._sent
        return 1.0 - heard / sent if heard < sent else 0.0

    def _keep(self, now_ns: int, step: int) -> None:
        self._heard.append((now_ns, step))
        self._sent += step


class CountLoss:
    """Share of frames missing on the way out, from the peer's echo and its count.

    Between two reports the peer accepted as many frames as its count grew, of as many
    as its echoed sequence number grew.
    """

    def __init__(self, window_ns: int = _WINDOW_NS) -> None:
        """Look back over `window_ns` [ns]."""
        self._window_ns = window_ns
        self._reports: deque[tuple[int, int, int]] = deque()

    def note(self, now_ns: int, echo_sequence: int, received: int) -> None:
        """Take a report: newest sequence number accepted, frames accepted in all."""
        if self._reports:
            _, echo, count = self._reports[-1]
            accepted, sent = received - count, echo_sequence - echo
            if sent > _RESTART_GAP or accepted > sent + 64 or accepted < -64:
                self._reports.clear()
            elif sent <= 0:
                return  # nothing new, or a late report
        self._reports.append((now_ns, echo_sequence, received))

    def loss(self, now_ns: int) -> float:
        """Return the share missing in the window, 0..1; 0 where it is not known."""
        reports, start_ns = self._reports, now_ns - self._window_ns
        while len(reports) > 2 and reports[0][0] < start_ns:
            reports.popleft()
        if len(reports) < 2:
            return 0.0
        _, echo_first, count_first = reports[0]
        _, echo_last, count_last = reports[-1]
        sent, accepted = echo_last - echo_first, count_last - count_first
        if sent <= accepted or sent <= 0:
            return 0.0
        return 1.0 - accepted / sent if accepted > 0 else 1.0


class RateMeter:
    """Bits a second over the last seconds."""

    def __init__(self, window_ns: int = 5 * NS_PER_S) -> None:
        """Look back over `window_ns` [ns]."""
        self._window_ns = window_ns
        self._packets: deque[tuple[int, int]] = deque()
        self._bits = 0
        self._start_ns: int | None = None

    def note(self, now_ns: int, size_bytes: int) -> None:
        """Count a packet; it is kept until the rate is asked for after its time."""
        if self._start_ns is None:
            self._start_ns = now_ns
        bits = 8 * size_bytes
        self._packets.append((now_ns, bits))
        self._bits += bits

    def bps(self, now_ns: int) -> float:
        """Return the rate [bit/s]."""
        if self._start_ns is None:
            return 0.0
        packets, window_ns = self._packets, self._window_ns
        while packets and now_ns - packets[0][0] > window_ns:
            self._bits -= packets.popleft()[1]
        elapsed_ns = now_ns - self._start_ns
        if elapsed_ns > window_ns:
            elapsed_ns = window_ns
        elif elapsed_ns < NS_PER_S:
            elapsed_ns = NS_PER_S
        return self._bits * NS_PER_S / elapsed_ns


class AgeMeter:
    """Age of information: time since the newest value heard was made."""

    def __init__(self) -> None:
        """Begin with nothing heard."""
        self._generated_ns: int | None = None

    def note(self, generated_ns: int) -> None:
        """Take an update; one older than the newest is ignored."""
        if self._generated_ns is None or generated_ns > self._generated_ns:
            self._generated_ns = generated_ns

    def age_ms(self, now_ns: int) -> float:
        """Return the present age [ms]; NaN before the first update."""
        if self._generated_ns is None:
            return math.nan
        return (now_ns - self._generated_ns) / NS_PER_MS
