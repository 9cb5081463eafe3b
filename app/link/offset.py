"""The peer's clock against ours, from exchanges over a link; pure.

An exchange with round trip R whose answer seems A old (our time of reception minus the
peer's stamp) bounds the offset, peer's clock minus ours: both ways took some time, so

    -A  <=  offset  <=  R - A                  whatever the two delays' shares of R

The bounds of all exchanges are intersected; between them they widen by what two clocks
may drift apart (200 ppm). Within them the estimate is a line through the narrowest
exchange of each 10 s (minimum-delay filter, as in NTP), or 0 where both ends can have
the same clock. What remains, at most half the least round trip, is stated as the
uncertainty: unequal delays each way cannot be seen by any exchange.

A clock that is set, or a peer that began anew, contradicts the bounds; three such
frames in a row and everything is learned anew. Until then the estimate is in doubt, and
`ours` dates nothing later than what was last believed.
"""

from collections import deque
from typing import NamedTuple

from app.clock import NS_PER_MS, NS_PER_S

__all__ = ["ClockOffset"]

_DRIFT_MAX = 200e-6  # between two quartz clocks; each keeps 100 ppm
_SLACK_NS = 2 * NS_PER_MS  # stamps are rounded, threads are late
_BIN_NS = 10 * NS_PER_S
_BINS = 30
_SPAN_NS = 60 * NS_PER_S  # a line through less tells more of the jitter than of drift
_SUSPECTS = 3
_DELAY_MAX_NS = 60 * NS_PER_S  # no link keeps a frame so long: a clock was set
_GUESS_AFTER_NS = 2 * NS_PER_S


class _Exchange(NamedTuple):
    time_ns: int
    low_ns: int
    high_ns: int

    @property
    def middle_ns(self) -> int:
        return (self.low_ns + self.high_ns) // 2

    @property
    def width_ns(self) -> int:
        return self.high_ns - self.low_ns

    def meet(self, later: "_Exchange") -> "_Exchange":
        """Bounds at a later time; low > high where the two exclude each other."""
        time_ns, low_ns, high_ns = later
        drift_ns = round(_DRIFT_MAX * max(time_ns - self.time_ns, 0))
        return _Exchange(
            time_ns,
            max(self.low_ns - drift_ns, low_ns),
            min(self.high_ns + drift_ns, high_ns),
        )


class ClockOffset:
    """The peer's clock minus ours; 0 while both can be the same clock."""

    def __init__(self) -> None:
        """Begin with nothing known."""
        self._bounds: _Exchange | None = None  # of all exchanges together
        self._best: deque[_Exchange] = deque(maxlen=_BINS)  # narrowest of each bin
        self._line: tuple[_Exchange, float] | None = None  # a point on it, and drift
        self._suspects: list[_Exchange] = []
        self.offset_ns = 0
        """Peer's clock minus ours [ns]."""
        self._believed_ns: int | None = None  # newest time given by `ours`
        self._guess: tuple[int, int] | None = None  # since when, least apparent age
        self._last: tuple[int, int] | None = None  # time and round trip, last exchange
        self._unanswered_ns: int | None = None  # since when round trips only grow
        self.rebased = 0
        """How often a clock was found to have been set."""

    @property
    def drift_ppm(self) -> float:
        """Rate of the peer's clock against ours [ppm]; 0 while it is not known."""
        return 0.0 if self._line is None else self._line[1] * 1e6

    @property
    def uncertainty_ns(self) -> int | None:
        """How far at most `offset_ns` was from the truth at the last exchange [ns].

        None before the first exchange, and while the estimate is in doubt.
        """
        if self._bounds is None or self._suspects:
            return None
        low_ns, high_ns = self._bounds.low_ns, self._bounds.high_ns
        return max(high_ns - self.offset_ns, self.offset_ns - low_ns)

    @property
    def doubtful(self) -> bool:
        """The newest frames contradict the estimate: perhaps a clock was set."""
        return bool(self._suspects)

    def ours(self, now_ns: int, stamp_ns: int) -> int:
        """Return our time [ns] of a peer's stamp; never later than now, in doubt older.

        Args:
            now_ns: our time of reception [ns].
            stamp_ns: time on the peer's clock [ns].
        """
        time_ns = stamp_ns - self.offset_ns
        if time_ns > now_ns or self._suspects:
            return self._bounded(now_ns, time_ns)
        believed_ns = self._believed_ns
        if believed_ns is None or not time_ns <= believed_ns <= now_ns:
            self._believed_ns = time_ns
        return time_ns

    def _bounded(self, now_ns: int, time_ns: int) -> int:
        """Return a time that is later than now, or in doubt, as far as believed."""
        ahead_ns = NS_PER_S  # a guess at the delay may be so wrong
        if self._bounds is not None:
            ahead_ns = self._bounds.high_ns - self.offset_ns + _SLACK_NS
        last_ns = self._believed_ns
        if self._suspects or time_ns > now_ns + ahead_ns:
            if last_ns is None or last_ns > now_ns:
                last_ns = now_ns - _DELAY_MAX_NS
            return min(time_ns, last_ns)
        self._believed_ns = now_ns
        return now_ns

    def guess(self, now_ns: int, apparent_age_ns: int, delay_ns: int) -> None:
        """Take a frame that answers nothing.

        Before any exchange a wild offset is believed at once. A smaller one only where
        the peer has answered nothing for 2 s: it may be refusing us for the time of
        our stamps. After one, the frame is only held against the bounds.

        Args:
            now_ns: our time of reception [ns].
            apparent_age_ns: `now_ns` minus the peer's stamp [ns].
            delay_ns: one-way delay that is likely [ns].
        """
        if self._bounds is not None:
            low_ns = -apparent_age_ns - _SLACK_NS
            one_way = _Exchange(now_ns, low_ns, low_ns + _DELAY_MAX_NS)
            if self._bounds.meet(one_way).width_ns >= 0:
                self._suspects = []
                return
            if not self._is_sure(one_way):
                return
            self._forget()
        if self._guess is None:
            self._guess = (now_ns, apparent_age_ns)
        first_ns, least_ns = self._guess
        self._guess = (first_ns, min(least_ns, apparent_age_ns))
        wild = not -NS_PER_S < apparent_age_ns < delay_ns + 3 * NS_PER_S
        if wild or now_ns - first_ns > _GUESS_AFTER_NS:
            self.offset_ns = delay_ns - self._guess[1]

    def note(self, now_ns: int, apparent_age_ns: int, rtt_ns: int) -> None:
        """Take an exchange.

        Args:
            now_ns: our time of reception [ns].
            apparent_age_ns: `now_ns` minus the peer's stamp [ns].
            rtt_ns: round trip, the peer's own waiting taken off [ns].
        """
        low_ns = -apparent_age_ns - _SLACK_NS
        width_ns = min(max(rtt_ns, 0), _DELAY_MAX_NS) + 2 * _SLACK_NS
        exchange = _Exchange(now_ns, low_ns, low_ns + width_ns)
        self._watch_answers(now_ns, rtt_ns)
        if self._bounds is None:
            self._bounds = exchange
        else:
            joint = self._bounds.meet(exchange)
            if joint.low_ns <= joint.high_ns:
                self._suspects = []
                self._bounds = joint
            elif self._is_sure(exchange):
                first, *others = self._suspects
                self._forget()
                self._bounds = first
                for suspect in others:
                    self._bounds = self._bounds.meet(suspect)
            else:
                return
        self._filter(exchange)
        self._settle(now_ns, self._bounds)

    def _is_sure(self, exchange: _Exchange) -> bool:
        """Take an exchange that contradicts the bounds; True: a clock was surely set.

        It was where the last such exchanges agree among themselves.
        """
        agreed: list[_Exchange] = []
        for suspect in (exchange, *reversed(self._suspects)):
            joint = suspect if not agreed else suspect.meet(agreed[0])
            if joint.width_ns < 0:
                break
            agreed.insert(0, joint)
        self._suspects = agreed
        return len(agreed) >= _SUSPECTS

    def _forget(self) -> None:
        self._bounds = None
        self._best.clear()
        self._line = None
        self._suspects = []
        self._guess = None
        self.rebased += 1

    def _watch_answers(self, now_ns: int, rtt_ns: int) -> None:
        """See whether the same old answer is repeated: the round trip grows as time."""
        last_ns, last_rtt_ns = self._last or (now_ns, rtt_ns)
        self._last = (now_ns, rtt_ns)
        if rtt_ns - last_rtt_ns < 0.9 * (now_ns - last_ns) or now_ns < last_ns:
            self._unanswered_ns = None
        elif self._unanswered_ns is None:
            self._unanswered_ns = now_ns

    def _filter(self, exchange: _Exchange) -> None:
        """Keep the narrowest exchange of each 10 s."""
        this_bin = exchange.time_ns // _BIN_NS
        if not self._best or self._best[-1].time_ns // _BIN_NS != this_bin:
            self._line = _fit(self._best)  # the bins that are over
            self._best.append(exchange)
        elif exchange.width_ns < self._best[-1].width_ns:
            self._best[-1] = exchange

    def _settle(self, now_ns: int, bounds: _Exchange) -> None:
        """Estimate the offset within the bounds."""
        if bounds.low_ns <= 0 <= bounds.high_ns:
            self.offset_ns = 0
            return
        likely_ns = bounds.middle_ns
        since_ns = now_ns if self._unanswered_ns is None else self._unanswered_ns
        if now_ns - since_ns > _GUESS_AFTER_NS:
            # perhaps it refuses us for our stamps: let them look old, not future
            likely_ns = bounds.low_ns + _SLACK_NS
        elif self._line is not None:
            point, drift = self._line
            likely_ns = point.middle_ns + round(drift * (now_ns - point.time_ns))
        self.offset_ns = min(max(likely_ns, bounds.low_ns), bounds.high_ns)


def _fit(best: deque[_Exchange]) -> tuple[_Exchange, float] | None:
    """Fit a line through the narrowest exchanges, weighted by their width.

    Returns:
        (a point on it, drift), None where they span too little.
    """
    if len(best) < 4 or best[-1].time_ns - best[0].time_ns < _SPAN_NS:
        return None
    newest = best[-1]  # all is relative to it, so that a double keeps the nanoseconds
    rows = [
        (
            float(e.time_ns - newest.time_ns),
            float(e.middle_ns - newest.middle_ns),
            (max(e.width_ns, 1) / NS_PER_MS) ** -2,
        )
        for e in best
    ]
    weight = sum(w for _, _, w in rows)
    time = sum(w * t for t, _, w in rows) / weight
    value = sum(w * v for _, v, w in rows) / weight
    spread = sum(w * (t - time) ** 2 for t, _, w in rows)
    slope = sum(w * (t - time) * (v - value) for t, v, w in rows) / spread
    drift = min(max(slope, -_DRIFT_MAX), _DRIFT_MAX)
    middle_ns = newest.middle_ns + round(value - drift * time)
    return _Exchange(newest.time_ns, middle_ns, middle_ns), drift
