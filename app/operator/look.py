"""What a simulated person sees and feels: only what the strategy displays, at 60 Hz.

The eye follows the local model's tip where the strategy draws that (model-mediated,
predictive), else the robot's own, as late as telemetry brings it. The robot's own tip
is seen in either case: it is what says that a target has been met. This is the one
place that knows which fields of the station's state carry what.
"""

import math
from bisect import bisect_right
from functools import reduce
from operator import add, itemgetter
from typing import Literal, NamedTuple, get_args

import numpy as np

from app.clock import NS_PER_S
from app.config.teleop import StrategyName
from app.messages import LinkHealth, StationState
from app.operator.distance import length_of
from models.bound import bind, bound
from models.limb import limb_poses
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = ["FRAME_HZ", "Display", "Eye", "Seen", "Trail"]

Display = Literal["strategy", "predicted", "delayed"]

FRAME_HZ = 60
_SPAN_NS = NS_PER_S // 10  # over which a speed is seen
_NOISY_SPAN_NS = NS_PER_S // 4
_FEWEST = 4
_KEPT = 64  # places, while nobody asks for the speed
_PATIENCE_S = 1.0  # beyond the round trip, until a picture is held to be old
_JITTER = 0.5e-3  # [m] of a measured tip, as of 1 mrad in each bend of a 300 mm limb
_SIGMAS = 3.3
_NAMES = get_args(StrategyName)
_HOLDING = {-1: False, 0: None, 1: True}
_NOTHING: FloatArray = np.zeros(3)
_PREDICTED = (_NAMES.index("model-mediated"), _NAMES.index("predictive"))


class Trail:
    """The places of a tip that have been shown lately; a person sees speed from it.

    That is the way from the mean of the oldest third to that of the newest, over the
    last 0.25 s or the last four places. Where places are measured, they jump by the
    sensors' noise: what lies within it is seen as rest.
    """

    def __init__(self, jitter: float = 0.0) -> None:
        """Start with nothing seen; `jitter` is the noise's SD on each axis [m]."""
        self._jitter = jitter
        self._least = 2 if jitter == 0.0 else _FEWEST
        self._span_ns = _SPAN_NS if jitter == 0.0 else _NOISY_SPAN_NS
        self._shown: list[tuple[int, FloatArray]] = []
        self.place: FloatArray | None = None
        """(3,) newest place [m]; None before there was one."""
        self._speed: float | None = 0.0  # None: not looked at yet

    def show(self, stamp_ns: int, place: FloatArray) -> None:
        """Add a place (3,) [m] that was true at `stamp_ns` [ns], if it is newer."""
        shown = self._shown
        if shown and stamp_ns <= shown[-1][0]:
            return
        self.place = place.copy()
        shown.append((stamp_ns, self.place))
        self._speed = None
        if len(shown) > _KEPT:
            self._forget()

    def _forget(self) -> None:
        """Forget places that no speed is seen from any more."""
        shown = self._shown
        oldest_ns = shown[-1][0] - self._span_ns
        first = bisect_right(shown, oldest_ns, key=itemgetter(0)) - 1
        del shown[: max(0, min(first, len(shown) - self._least))]

    @property
    def speed(self) -> float:
        """What is seen of it [m/s]."""
        if self._speed is None:
            self._speed = self._mean_speed()
        return self._speed

    def _mean_speed(self) -> float:
        self._forget()
        if len(self._shown) < 2:
            return 0.0
        stamps = [stamp_ns for stamp_ns, _ in self._shown]
        places = [place for _, place in self._shown]
        if self._jitter == 0.0:
            way = length_of(places[-1] - places[0])
            return way * NS_PER_S / (stamps[-1] - stamps[0])
        count = max(1, len(stamps) // 3)
        sums = reduce(add, places[-count:]) - reduce(add, places[:count])
        time_s = (stamps[-count] - stamps[0]) / NS_PER_S
        unseen = _SIGMAS * self._jitter * math.sqrt(2.0 / count)
        return max(0.0, length_of(sums) / count - unseen) / time_s


class Seen(NamedTuple):
    """What there was to be seen and felt in one frame."""

    time_ns: int
    """When [ns]."""
    tip: FloatArray
    """(3,) tip, or gripper, that the eye follows, hull frame [m]."""
    shown: Trail
    """Of that tip; it goes on, so ask for its speed in this frame only."""
    confirmed: FloatArray
    """(3,) tip of the robot itself, late [m]."""
    confirmed_shown: Trail
    """Of that, likewise."""
    force: FloatArray
    """(3,) on the hand [N]."""
    predicted: bool
    """Whether `tip` is the local model's."""
    round_trip_s: float
    """Of the link, as the screen tells it [s]."""
    holding: bool | None
    """Whether the gripper is seen to hold something; None: cannot be seen."""
    followed_ns: int = 0
    """When the command was given that the robot followed in its newest picture [ns];
    0 = not known."""
    pushes: FloatArray = _NOTHING
    """(3,) force of the robot's tip on what it touches, late [N]."""
    target: FloatArray | None = None
    """(3,) tip target that is in force, which the hand moves [m]; None: not shown."""

    @property
    def speed(self) -> float:
        """Of `tip` [m/s]."""
        return self.shown.speed

    @property
    def confirmed_speed(self) -> float:
        """Of `confirmed` [m/s]."""
        return self.confirmed_shown.speed

    @property
    def is_stale(self) -> bool:
        """Whether the robot's picture answers to commands later than the link is."""
        late_ns = (self.round_trip_s + _PATIENCE_S) * NS_PER_S
        return bool(self.followed_ns) and self.time_ns - self.followed_ns > late_ns

    @property
    def visual_delay_s(self) -> float:
        """By how much `tip` is late [s]."""
        return 0.0 if self.predicted else self.round_trip_s


class Eye:
    """Looks at one limb in the station's state, at most 60 times a second."""

    def __init__(
        self,
        model: RobotModel,
        limb: int,
        display: Display = "strategy",
        ahead: float = 0.0,
    ) -> None:
        """Open it.

        Args:
            model: the robot.
            limb: index of the limb.
            display: what is drawn: as the strategy in force does, or one of the two.
            ahead: from the tip along its axis to the point that is looked at [m].
        """
        self._limb = limb
        self._display = display
        self._ahead = ahead
        self.next_ns = 0
        """When there is another frame to be seen [ns]."""
        self._stamp_ns = 0
        self._foretold = Trail()
        self._confirmed = Trail(_JITTER)
        start, stop = model.limb_segment_start[limb : limb + 2]
        self._segments = slice(int(start), int(stop))
        self._poses = np.zeros((int(stop - start) + 1, 4, 4))
        self._tip, self._axis = self._poses[-1, :3, 3], self._poses[-1, :3, 2]
        base = model.pose_base_to_hull[limb]
        self._turn, self._origin = base[:3, :3].copy(), base[:3, 3].copy()
        self._model, coordinates = bound(model), np.zeros((int(stop - start), 3))
        self._lay = bind(limb_poses, self._model, limb, coordinates, self._poses)
        self.seen: Seen | None = None
        """The newest frame; None before there is anything to see."""

    def look(self, now_ns: int, state: StationState, health: LinkHealth) -> Seen | None:
        """Return the newest frame; None before there is anything to see."""
        if now_ns < self.next_ns:
            return self.seen
        limb = self._limb
        stamp_ns = health.confirmed_generated_ns.item(limb)
        if stamp_ns > self._stamp_ns:
            self._stamp_ns = stamp_ns
            self._confirmed.show(stamp_ns, self._point(health.confirmed_coordinates))
        predicted = self._predicted(state)
        if predicted:
            self._foretold.show(now_ns, self._point(state.coordinates_model))
        elif self._foretold.place is not None:
            self._foretold = Trail()
        followed = self._foretold if predicted else self._confirmed
        tip, confirmed = followed.place, self._confirmed.place
        if tip is None or confirmed is None:
            return None
        self.next_ns = -(-(now_ns * FRAME_HZ // NS_PER_S + 1) * NS_PER_S // FRAME_HZ)
        round_trip_s = 1e-3 * health.rtt_ms.item()
        self.seen = Seen(
            now_ns,
            tip,
            followed,
            confirmed,
            self._confirmed,
            -state.force_hand,
            predicted,
            max(0.0, round_trip_s) if math.isfinite(round_trip_s) else 0.0,
            _HOLDING[health.holding.item(limb)],
            health.confirmed_command_ns.item(limb),
            health.contact_force[limb].copy(),
            state.target_position[limb].copy(),
        )
        return self.seen

    def _predicted(self, state: StationState) -> bool:
        if self._display != "strategy":
            return self._display == "predicted"
        return state.strategy.item() in _PREDICTED

    def _point(self, coordinates: FloatArray) -> FloatArray:
        """Where (S, 3) coordinates put the point that is looked at (3,) [m]."""
        self._lay(self._model, self._limb, coordinates[self._segments], self._poses)
        local = self._tip
        if self._ahead:
            local = local + self._ahead * self._axis
        point: FloatArray = self._turn.dot(local) + self._origin
        return point
