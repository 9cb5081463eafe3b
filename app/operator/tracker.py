"""A person who follows a path: the crossover model (McRuer and Weir 1969).

    x_h' = ω_c (e(t - τ) + r),      ω_c = min(3, (π/2 - φ_m)/(τ + T_vis)) rad/s

e is the error that is seen against the path 0.3 s ahead, τ = 0.25 s the person's own
delay, T_vis that of the display (none of a prediction), φ_m = 40 degrees the phase
that is left; then a lag of 0.1 s of nerve and muscle. r is the remnant, white noise
through 1/(0.5 s + 1) with an SD of 8 % of the error and 0.5 mm. So a delay makes a
person slow, not unstable.
"""

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Protocol

import numpy as np

from app.clock import NS_PER_S
from app.messages import Event, Severity
from app.operator.arrival import Arrival, Dwell
from app.operator.distance import length_of
from app.operator.draws import draw_noise
from app.operator.look import FRAME_HZ, Seen
from app.operator.paths import TipPath
from app.operator.performer import Act, Reacher
from models.curve import Curve, curve_point
from models.numerics import FloatArray

__all__ = [
    "CurveTrack",
    "PathHand",
    "RoundTrack",
    "Track",
    "TrackingHand",
    "crossover",
]

_DELAY_S = 0.25
_DELAY_NS = round(_DELAY_S * NS_PER_S)
_PREVIEW_S = 0.3
_LAG_S = 0.1
_PHASE_MARGIN = math.radians(40.0)
_CROSSOVER = 3.0  # [rad/s]
_REMNANT_S = 0.5
_REMNANT_SHARE = 0.08
_REMNANT = 0.5e-3  # [m]
_KEEP = math.exp(-1.0 / (FRAME_HZ * _REMNANT_S))  # of the remnant, each frame
_FRESH = math.sqrt((1.0 - _KEEP * _KEEP) / 3.0)
_BLOCK = 256  # frames whose noise is drawn at once
_START_WIDTH = 10e-3  # [m]
_IDLE_S = 1.0  # at the start, before the path moves


def crossover(visual_delay_s: float) -> float:
    """Return ω_c [rad/s] under a delay of the display [s]."""
    return min(
        _CROSSOVER, (0.5 * math.pi - _PHASE_MARGIN) / (_DELAY_S + visual_delay_s)
    )


class Track(Protocol):
    """A place that moves along a path."""

    @property
    def duration_s(self) -> float:
        """How long it moves [s]; infinite where it goes round."""

    def at(self, time_s: float) -> FloatArray:
        """Return the (3,) place [m] at a time since the start [s]."""


class CurveTrack:
    """Along a curve at constant speed, then resting at its end."""

    def __init__(self, curve: Curve, speed: float) -> None:
        """Prepare; `speed` in [m/s]."""
        self._curve = curve
        self._speed = speed

    @property
    def duration_s(self) -> float:
        """How long it moves [s]."""
        return self._curve.length / self._speed

    def at(self, time_s: float) -> FloatArray:
        """Return the (3,) place [m] at a time since the start [s]."""
        return curve_point(self._curve, self._speed * time_s)


class RoundTrack:
    """Round a closed path for ever."""

    def __init__(self, path: TipPath, round_s: float) -> None:
        """Prepare; a round takes `round_s` [s]."""
        self._path = path
        self._round_s = round_s

    @property
    def duration_s(self) -> float:
        """How long it moves [s]."""
        return math.inf

    def at(self, time_s: float) -> FloatArray:
        """Return the (3,) place [m] at a time since the start [s]."""
        return self._path.point(max(0.0, time_s) / self._round_s)


class PathHand(ABC):
    """Goes to the start of a path, waits a second, and follows it in its own way."""

    def __init__(
        self, reacher: Reacher, lay_out: Callable[[FloatArray], Track]
    ) -> None:
        """Prepare.

        Args:
            reacher: how it gets to the start.
            lay_out: makes the track from where the tip is first (3,) [m].
        """
        self.started_ns: int | None = None
        """When it sets out along the path [ns]; None: it does not yet."""
        self._arrival = Arrival(reacher, Dwell(seconds=_IDLE_S))
        self._lay_out = lay_out
        self._track: Track | None = None
        self._hand: FloatArray = np.zeros(3)
        self._ended = False
        self._events: list[Event] = []

    def take_up(self, now_ns: int, place: FloatArray) -> None:
        """Begin, or begin again from the start of the path, from (3,) [m]."""
        if self._track is None:
            self._track = self._lay_out(place)
        self.started_ns, self._ended = None, False
        self._arrival.take_up(now_ns, place)
        self._arrival.aim(now_ns, self._track.at(0.0), _START_WIDTH)

    def step(self, now_ns: int, seen: Seen) -> Act:
        """Return what it does at `now_ns` [ns]."""
        if self._track is not None and self.started_ns is not None:
            time_s = (now_ns - self.started_ns) / NS_PER_S
            self._pursue(now_ns, time_s, seen, self._track)
            self._tell_end(now_ns, time_s, self._track)
            return Act(self._hand)
        hand = self._arrival.step(now_ns, seen)
        if self._arrival.is_there:
            self.started_ns, self._hand = now_ns, hand
            self._set_out(now_ns)
        return Act(hand)

    def events(self) -> list[Event]:
        """Return what happened since the last call."""
        events, self._events = self._events, []
        return events

    def _tell_end(self, now_ns: int, time_s: float, track: Track) -> None:
        if time_s >= track.duration_s and not self._ended:
            self._ended = True
            text = f"The path's end was passed after {track.duration_s:.2f} s."
            self._events.append(Event(now_ns, Severity.INFO, "operator", text))

    @abstractmethod
    def _set_out(self, now_ns: int) -> None:
        """Begin to follow, with the hand where it is; `started_ns` may be put off."""

    @abstractmethod
    def _pursue(self, now_ns: int, time_s: float, seen: Seen, track: Track) -> None:
        """Move the hand, so long after it set out [s]."""


class TrackingHand(PathHand):
    """A person who follows what is seen."""

    def __init__(
        self,
        reacher: Reacher,
        lay_out: Callable[[FloatArray], Track],
        seed: int,
        speed_limit: float,
    ) -> None:
        """Prepare.

        Args:
            reacher: how it gets to the start.
            lay_out: makes the track from where the tip is first (3,) [m].
            seed: of the remnant.
            speed_limit: greatest speed of the hand [m/s].
        """
        super().__init__(reacher, lay_out)
        self._seed = seed
        self._speed_limit = speed_limit
        self._velocity: FloatArray = np.zeros(3)
        self._remnant: FloatArray = np.zeros(3)
        self._errors: deque[tuple[int, FloatArray]] = deque()
        self._last_ns = 0
        self._frame = 0
        self._noise: FloatArray = np.zeros((0, 3))

    def _set_out(self, now_ns: int) -> None:
        self._last_ns, self._frame = now_ns, 0
        self._velocity, self._remnant = np.zeros(3), np.zeros(3)
        self._errors.clear()

    def _pursue(self, now_ns: int, time_s: float, seen: Seen, track: Track) -> None:
        error = track.at(time_s + _PREVIEW_S) - seen.tip
        self._errors.append((now_ns, error))
        late_ns = now_ns - _DELAY_NS
        while len(self._errors) > 1 and self._errors[1][0] <= late_ns:
            self._errors.popleft()
        old_ns, old = self._errors[0]
        if old_ns > late_ns:
            old = np.zeros(3)  # nothing has been seen for long enough yet
        self._shake(int(time_s * FRAME_HZ))
        size = _REMNANT_SHARE * length_of(old) + _REMNANT
        wanted = crossover(seen.visual_delay_s) * (old + size * self._remnant)
        speed = length_of(wanted)
        wanted *= min(1.0, self._speed_limit / max(speed, 1e-12))
        period = (now_ns - self._last_ns) / NS_PER_S
        self._last_ns = now_ns
        keep = math.exp(-period / _LAG_S)
        self._velocity = keep * self._velocity + (1.0 - keep) * wanted
        self._hand = self._hand + period * self._velocity

    def _shake(self, frame: int) -> None:
        """Bring the remnant, of unit SD on the whole, to a frame since the start."""
        while self._frame < frame:
            self._frame += 1
            block, row = divmod(self._frame, _BLOCK)
            if row == 0 or not self._noise.size:
                self._noise = draw_noise(self._seed, block, _BLOCK)
            self._remnant = _KEEP * self._remnant + _FRESH * self._noise[row]
