"""When the next frame may go, and for which limb, so that no queue ever grows.

Three limits hold together. A rate budget: 80 % of the share of the link's bit rate that
this side may use, where that rate is known. A backoff from measured delay: where the
least of the last round trips lies clearly above the least of the last minute, packets
are waiting somewhere, and the rate is cut. Where the bit rate is certain, the mean of
that minute stands in for its least: jitter that lasts for seconds takes the least so
far down that most round trips look like a queue (acoustic-hs: 1.09 s against a mean of
1.27 s), and the rate would fall without end. And, unless the bit rate is certain, a
limit on the frames in flight, which holds even where no answer comes. The last two need
no knowledge of the link, but answers: see `Pacer.echo`. No credit is saved up: after a
pause one frame goes, not a burst.
"""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from app.clock import NS_PER_MS, NS_PER_S
from app.config.link import LinkParameters

__all__ = ["PaceBudget", "Pacer", "budget_for", "use_of"]

_USE, _USE_SLOTS_UP = 0.8, 0.9
_STILL = 0.02  # rad: a limb at rest is served as if it moved this much
_SLACK_NS = 2 * NS_PER_MS  # a sender polled every 1-2 ms keeps its mean rate
_BASE_WINDOW_NS = 60 * NS_PER_S
_MEAN_FROM_NS = NS_PER_S  # the first round trips weigh as if they lasted so long
_RECENT = 6  # round trips whose least is compared, so that jitter is no queue
_GROWTH_NS = 40 * NS_PER_MS
_GROWTH_SHARE = 0.15  # of that round trip
_CUT, _RAISE, _LEAST, _START = 0.7, 1.15, 0.001, 0.02
_IN_FLIGHT_SHARE, _IN_FLIGHT_MORE = 1.25, 3.0  # of what the base round trip holds
_RATE_WINDOW_NS = 5 * NS_PER_S
_PROBE_NS = NS_PER_S  # without answers, so often a frame goes all the same
_MIN_PERIOD_NS = 20 * NS_PER_MS
_FASTEST_HZ = 1000.0


@dataclass(frozen=True)
class PaceBudget:
    """What one side may send.

    Attributes:
        bandwidth_bps: bit rate of the way in question; None = not known.
        share: part of it that this side may use; 0.5 on a shared medium.
        overhead_bytes: what the link adds to every packet.
        limb_hz: greatest rate of frames of one limb, unless a strategy wishes for more.
        certain: the bit rate is sure, as an emulator's is; else it is an expectation,
            and the frames in flight are limited too.
        use: part of the share that is used; the rest absorbs jitter of the sender's own
            clock and lets queues drain.
    """

    bandwidth_bps: float | None = None
    share: float = 1.0
    overhead_bytes: int = 0
    limb_hz: float = 50.0
    certain: bool = True
    use: float = _USE

    def bytes_per_s(self) -> float | None:
        """Return the bytes, overhead included, that may go in a second."""
        if self.bandwidth_bps is None:
            return None
        return max(self.use * self.share * self.bandwidth_bps / 8.0, 1e-3)


def budget_for(link: LinkParameters, *, up: bool) -> PaceBudget:
    """Return the budget of the robot (`up`) or of the station on a known link."""
    return PaceBudget(
        bandwidth_bps=link.up_bps if up else link.down_bps,
        share=0.5 if link.medium.duplex == "half" else 1.0,
        overhead_bytes=link.medium.overhead_bytes,
        use=use_of(link.medium.duplex, up=up),
    )


def use_of(duplex: str, *, up: bool) -> float:
    """Return the part of its share that a side may use of a link.

    In slots the station may fill every one: a setpoint that still waits is replaced by
    the newer one of its limb. Telemetry has more streams, so that a queue of them must
    be able to drain.
    """
    if duplex != "tdd":
        return _USE
    return _USE_SLOTS_UP if up else 1.0


class Pacer:
    """Decides when a frame goes and for which limb; pure, time comes as an argument.

    The caller asks `choose` as often as it likes, sends what it is told, and reports
    it with `sent`. Frames that change the mode are not asked for: they go at once and
    are only reported.
    """

    def __init__(self, limbs: int, budget: PaceBudget) -> None:
        """Start with every limb due."""
        self._take_up(budget)
        self.streams = limbs
        """Frames that it takes to tell all limbs once."""
        self._next_ns = 0
        self._limb_sent_ns: list[int | None] = [None] * limbs
        self._oldest_ns: int | None = None  # of these
        self._due_ns = 0  # when any limb may be told again
        self._interval_ns = [float(_MIN_PERIOD_NS)] * limbs
        self._in_step = True  # time and interval of all limbs are the same
        self._changed_ns: int | None = None
        self._first_ns: int | None = None
        self._recent: deque[int] = deque(maxlen=_RECENT)
        self._least: deque[tuple[int, int]] = deque()  # (time, rtt), rtt rising
        self._mean_ns = 0.0  # of the round trips of the last minute
        self._mean_since_ns: int | None = None
        self._mean_at_ns = 0
        self._sends: deque[int] = deque(maxlen=4096)
        self._in_flight: deque[int] = deque(maxlen=4096)
        self._wish_hz = 0.0
        self._back_off(self._first_backoff())

    def _take_up(self, budget: PaceBudget) -> None:
        self.budget = budget
        self.bytes_per_s = budget.bytes_per_s()
        self._is_certain = budget.certain and budget.bandwidth_bps is not None

    def wish(self, limb_hz: float) -> None:
        """Let frames of one limb go more often than the budget's greatest rate.

        The bit rate binds as before, so this bears on fast links alone.

        Args:
            limb_hz: what a strategy wishes for, up to 1000 [1/s]; 0 = nothing.
        """
        if limb_hz != self._wish_hz:
            self._wish_hz = limb_hz
            self._back_off(self._backoff)

    def configure(self, budget: PaceBudget) -> None:
        """Take up another budget; what was measured on the old link is forgotten."""
        if budget == self.budget:
            return
        self._take_up(budget)
        self._next_ns = 0
        self.rebase()
        self._interval_ns = [float(_MIN_PERIOD_NS)] * len(self._interval_ns)

    def rebase(self) -> None:
        """Forget round trips and backoff: the link's delay is known to have changed."""
        self._back_off(self._first_backoff())
        self._changed_ns = None
        self._in_flight.clear()
        self._recent.clear()
        self._least.clear()
        self._mean_since_ns = None

    def ready(self, now_ns: int) -> bool:
        """Return whether a frame may go now, of whichever limb."""
        if now_ns < self._next_ns:
            return False
        if self._is_certain:
            return True
        if not self._least or not self._in_flight:
            return True  # nothing is known of answers, or all were answered
        base_ns = self._least[0][1]
        hz = self._backoff * self._limb_hz * self.streams
        room = _IN_FLIGHT_SHARE * hz * base_ns / NS_PER_S + _IN_FLIGHT_MORE
        if len(self._in_flight) < room:
            return True
        return now_ns - self._in_flight[-1] >= max(_PROBE_NS, 2 * base_ns)

    def _back_off(self, backoff: float) -> None:
        """Take up a factor on the rate, and what follows for each limb."""
        self._backoff = backoff
        self._limb_hz = max(self.budget.limb_hz, min(self._wish_hz, _FASTEST_HZ))
        self._gap_ns = round(NS_PER_S / self._limb_hz)
        # The backoff bears on the cap too: a bit rate that is known may be wrong.
        cap_ns = NS_PER_S / (self._limb_hz * backoff)
        # a frame may be early, for a sender that is polled; see `_SLACK_NS`
        early_ns = min(0.5 * _SLACK_NS, 0.1 * cap_ns)
        self._rest_ns = math.ceil(cap_ns - early_ns)  # between two frames of a limb
        self._note_oldest(self._oldest_ns)

    def _note_oldest(self, sent_ns: int | None) -> None:
        """Take up when the limb that waits longest was told; None = never yet."""
        self._oldest_ns = sent_ns
        self._due_ns = 0 if sent_ns is None else sent_ns + self._rest_ns

    @property
    def free_ns(self) -> int:
        """When the bit rate lets a frame go, at the soonest [ns]."""
        return self._next_ns

    @property
    def soonest_ns(self) -> int:
        """When a frame of any limb goes, at the soonest [ns]."""
        return max(self._next_ns, self._due_ns)

    def due(self, now_ns: int) -> bool:
        """Return whether any limb may be told again by its own greatest rate."""
        return now_ns >= self._due_ns

    def _first_backoff(self) -> float:
        return _START if self.budget.bandwidth_bps is None else 1.0

    @property
    def backoff(self) -> float:
        """Factor on the rate from measured delay, 0..1."""
        return self._backoff

    def send_hz(self, now_ns: int) -> float:
        """Return the frames a second over the last 5 s."""
        sends, first_ns = self._sends, self._first_ns
        while sends and now_ns - sends[0] > _RATE_WINDOW_NS:
            sends.popleft()
        if first_ns is None:
            return 0.0
        elapsed_ns = now_ns - first_ns
        if elapsed_ns >= _RATE_WINDOW_NS:
            return len(sends) * NS_PER_S / _RATE_WINDOW_NS
        return len(sends) * NS_PER_S / max(elapsed_ns, NS_PER_S)

    def period_ms(self, *limbs: int) -> float:
        """Return the greatest time expected between frames of one of these [ms]."""
        if self._in_step:
            return self._interval_ns[0] / NS_PER_MS
        return max(self._interval_ns[limb] for limb in limbs) / NS_PER_MS

    def choose(
        self, now_ns: int, change: Sequence[float], settled: Sequence[bool] = ()
    ) -> int:
        """Return the limb whose frame shall go now, or -1 for none.

        Args:
            now_ns: present time [ns].
            change: (L,) how far each limb has moved since its last frame [rad].
            settled: (L,) the peer is known to have what would be sent, so that a limb
                only goes where no other one has anything to tell.
        """
        if not self.ready(now_ns):
            return -1
        if self._in_step and not settled:  # all have waited as long
            if self._oldest_ns is None:
                return 0
            return change.index(max(change)) if self.due(now_ns) else -1
        best, best_score = -1, (False, 0.0)
        for limb, sent_ns in enumerate(self._limb_sent_ns):
            if sent_ns is None:
                return limb
            age_ns = now_ns - sent_ns
            if age_ns < self._rest_ns:
                continue
            score = (
                not (settled and settled[limb]),
                age_ns * (_STILL + change[limb]),
            )
            if score > best_score:
                best, best_score = limb, score
        return best

    def sent(self, now_ns: int, limbs: Sequence[int], size_bytes: int) -> None:
        """Report a frame that went.

        Args:
            now_ns: when [ns].
            limbs: whose; none for a mode frame, which counts against the budget only.
            size_bytes: its length without the link's overhead.
        """
        rate = self.bytes_per_s
        if rate is not None:
            size = size_bytes + self.budget.overhead_bytes
            cost_ns = round(size * NS_PER_S / (rate * self._backoff))
            from_ns = now_ns - _SLACK_NS
            self._next_ns = cost_ns + max(self._next_ns, from_ns)
        self._sends.append(now_ns)
        if self._first_ns is None:
            self._first_ns = now_ns
        self._in_flight.append(now_ns)
        count = len(self._limb_sent_ns)
        if self._in_step and len(limbs) == count:  # what holds for one holds for all
            if self._oldest_ns is not None:
                gap_ns = now_ns - self._oldest_ns
                interval_ns = self._mean_of(self._interval_ns[0], gap_ns)
                self._interval_ns = [interval_ns] * count
            self._limb_sent_ns = [now_ns] * count
            self._oldest_ns, self._due_ns = now_ns, now_ns + self._rest_ns
        elif limbs:
            self._told(now_ns, limbs)

    def _told(self, now_ns: int, limbs: Sequence[int]) -> None:
        """Note when some limbs were told, and what time is expected to the next."""
        count = len(self._limb_sent_ns)
        for limb in limbs:
            last_ns = self._limb_sent_ns[limb]
            if last_ns is not None:
                interval_ns = self._interval_ns[limb]
                self._interval_ns[limb] = self._mean_of(interval_ns, now_ns - last_ns)
            self._limb_sent_ns[limb] = now_ns
        told_ns = [sent_ns for sent_ns in self._limb_sent_ns if sent_ns is not None]
        self._note_oldest(min(told_ns) if len(told_ns) == count else None)
        self._in_step = len(limbs) == count and min(self._interval_ns) == max(
            self._interval_ns
        )

    def _mean_of(self, interval_ns: float, gap_ns: int) -> float:
        return interval_ns + 0.5 * (max(gap_ns, self._gap_ns) - interval_ns)

    def echo(self, now_ns: int, rtt_ns: int, hold_ns: int = 0) -> None:
        """Report an answer.

        Args:
            now_ns: when it came [ns].
            rtt_ns: round trip, the peer's own waiting taken off [ns].
            hold_ns: that waiting [ns].
        """
        in_flight, recent, least = self._in_flight, self._recent, self._least
        sent_ns = now_ns - rtt_ns - hold_ns
        while in_flight and in_flight[0] <= sent_ns:
            in_flight.popleft()
        recent.append(rtt_ns)
        while least and least[-1][1] >= rtt_ns:
            least.pop()
        least.append((now_ns, rtt_ns))
        while now_ns - least[0][0] > _BASE_WINDOW_NS:
            least.popleft()
        self._average(now_ns, rtt_ns)
        if len(recent) < _RECENT:
            return
        recent_ns = min(recent)
        if self._changed_ns is not None and now_ns - self._changed_ns < recent_ns:
            return  # the last change has not had time to show
        usual_ns = self._mean_ns if self._is_certain else least[0][1]
        limit_ns = usual_ns + max(_GROWTH_NS, _GROWTH_SHARE * usual_ns)
        if recent_ns > limit_ns:
            self._change(now_ns, max(_LEAST, self._backoff * _CUT))
        elif self._backoff < 1.0:
            self._change(now_ns, min(1.0, self._backoff * _RAISE))

    def _average(self, now_ns: int, rtt_ns: int) -> None:
        """Take a round trip into the mean over time of the last minute."""
        since_ns = self._mean_since_ns
        if since_ns is None:
            self._mean_since_ns, self._mean_at_ns = now_ns, now_ns
            self._mean_ns = float(rtt_ns)
            return
        span_ns = min(_BASE_WINDOW_NS, now_ns - since_ns + _MEAN_FROM_NS)
        share = min(1.0, (now_ns - self._mean_at_ns) / span_ns)
        self._mean_ns += share * (rtt_ns - self._mean_ns)
        self._mean_at_ns = now_ns

    def _change(self, now_ns: int, backoff: float) -> None:
        self._back_off(backoff)
        self._changed_ns = now_ns
