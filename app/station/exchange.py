"""What the station's strategies say to the robot and hear from it; pure.

`StationSide` knows frames; here a frame's setpoint gets what the strategy tells beside
it, and telemetry is taken apart: the robot's half of the strategy, the forces at its
tips, what they touch, how goals get on. Live the link thread calls it, in virtual time
a trial.
"""

from collections.abc import Sequence

import numpy as np

from app.clock import NS_PER_S
from app.errors import FrameError
from app.link.frame import Beside, GripTold, SignalTold, TelemetryFrame
from app.link.object_section import ObjectTold
from app.link.signal_fields import DOWN_FIELDS
from app.link.signal_section import SignalField, engagement_near, near
from app.link.station_side import StationSide
from app.messages import Event, LinkHealth, StationMode, StationState
from app.station.goal_desk import GoalDesk
from app.teleop.contact_codec import ContactTold, hear_contact, read_contacts
from app.teleop.goals import Goal
from app.teleop.strategy import Strategy
from app.teleop.supervised import GoalKeeper
from models.environment_report import SurfaceReport, allocate_report
from models.numerics import FloatArray

__all__ = ["Exchange"]

_BILATERAL_HZ = 500.0
_OVERTAKEN_NS = 10 * NS_PER_S  # older than this: the robot's clock began anew
_MEDIATED = Strategy.MODEL_MEDIATED
# as whole numbers and a table: frames are heard often, and enums take their time
_FORCE, _INTEGRAL = int(SignalField.FORCE), int(SignalField.INTEGRAL)
_BILATERAL = tuple(strategy.bilateral for strategy in Strategy)
_VECTORS = (
    (SignalField.POSITION, "position", "sent_position"),
    (SignalField.VELOCITY, "velocity", "sent_velocity"),
    (SignalField.FORCE, "force", "sent_force"),
    (SignalField.WAVE, "wave", "sent_wave"),
    (SignalField.INTEGRAL, "integral", "sent_wave_integral"),
)
_DOWN = [
    [(name, source) for field, name, source in _VECTORS if fields & field]
    for fields in DOWN_FIELDS
]
"""By strategy: the vectors that a signal tells, and where the state has them."""


def _three(values: FloatArray) -> tuple[float, float, float]:
    x, y, z = values.tolist()
    return x, y, z


class Exchange:
    """One station's words with one robot."""

    def __init__(
        self, side: StationSide, limbs: int, plan: Sequence[Goal] = ()
    ) -> None:
        """Begin with nothing heard.

        Args:
            side: the station's end of the link.
            limbs: number of limbs L.
            plan: goals to be asked for once the robot is armed.

        Raises:
            FrameError: one of them cannot be meant.
        """
        self.side = side
        self.goals = GoalKeeper()
        self.desk = GoalDesk(self.goals, limbs, plan)
        self._reports = [allocate_report() for _ in range(limbs)]
        self._reported: list[int] = []  # limbs of which there is one
        self._force = np.zeros((limbs, 3))
        self._holding = np.zeros(limbs, dtype=np.int64)
        self._held, self._held_ns = -1, 0
        self._heard: SignalTold | None = None
        self._heard_ns = 0
        self._integral = (0.0, 0.0, 0.0)
        self._integral_of = -1
        self._engagement = 0
        self._asked: tuple[int, int, int, int] | None = None
        self._strategy = Strategy.POSITION_POSITION
        self._seen: dict[int, tuple[int, int, ObjectTold]] = {}
        self._seen_in = 0
        self._gripped = [False] * limbs
        self._block: LinkHealth | None = None  # filled last; what it has not yet:
        self._untold = True  # what was heard since
        self._unreported = set(range(limbs))  # reports of these limbs
        self._undated = True  # their times, which were told
        self._dated_by_ns = 0  # with the clock of the robot so far from ours
        self.bilateral = False
        """The strategy's halves talk tick by tick."""

    # -- out -----------------------------------------------------------------------

    @property
    def idle_until_ns(self) -> int:
        """Until when `send` sends nothing [ns]; 0 = unknown.

        Unless something comes, a goal is wished for or the state has news.
        """
        return 0 if self.goals.busy else self.side.idle_until_ns

    def send(self, now_ns: int, state: StationState) -> list[bytes]:
        """Return the frames that go now.

        Args:
            now_ns: present time [ns].
            state: newest state of the control loop.
        """
        asked = (
            state.mode.item(),
            state.arm_epoch.item(),
            state.strategy.item(),
            state.sent_engagement.item(),
        )
        if asked != self._asked:
            self._take_up(now_ns, asked)
        elif now_ns < self.idle_until_ns:
            return []
        self.desk.step(now_ns, state)
        limb_hz = _BILATERAL_HZ if self.bilateral else 0.0
        if self.side.idle(now_ns, state, limb_hz, more=self.goals.busy):
            return []
        coarse = goal = b""
        if self.goals.busy:
            try:
                coarse = self.goals.to_send(coarse=True)
            except FrameError as error:
                if self.side.compact:
                    self.goals.refuse(now_ns, str(error))
            goal = self.goals.to_send(coarse=False)
        beside = Beside(
            signal=self._signal(self._strategy, state),
            grip=self._grip(state),
            goal=goal,
            coarse_goal=coarse,
            limb_hz=limb_hz,
        )
        return self.side.send(now_ns, state, beside)

    def _take_up(self, now_ns: int, asked: tuple[int, int, int, int]) -> None:
        """Take up another mode, arming, strategy or engagement."""
        mode, epoch, strategy, self._engagement = asked
        armed = mode == StationMode.ARMED
        if armed and (self._asked is None or (mode, epoch) != self._asked[:2]):
            self.goals.arm(now_ns)
        self._strategy = Strategy(strategy)
        self.bilateral = self._strategy.bilateral
        self._asked = asked

    def _signal(self, strategy: Strategy, state: StationState) -> SignalTold | None:
        fields = DOWN_FIELDS[strategy]
        if not fields or not state.sent_time_ns[0]:
            return None
        told = {
            name: _three(getattr(state, source)) for name, source in _DOWN[strategy]
        }
        if strategy is _MEDIATED and not any(told["force"]):
            return None  # in free water it would say nothing
        return SignalTold(
            state.selected_limb.item(),
            int(strategy),
            self._engagement,
            fields,
            energy=max(0.0, state.sent_energy.item()),
            **told,
        )

    def _grip(self, state: StationState) -> GripTold | None:
        """The driven limb's grip, once it was ever closed."""
        limb = state.selected_limb.item()
        closure = state.grip.item(limb)
        if closure > 0.0:
            self._gripped[limb] = True
        return GripTold(limb, closure) if self._gripped[limb] else None

    # -- in ------------------------------------------------------------------------

    def receive(self, now_ns: int, packet: bytes) -> TelemetryFrame | None:
        """Take one packet from the link, as `StationSide.receive`."""
        self._untold = True
        frame = self.side.receive(now_ns, packet)
        if frame is None:
            return None
        if frame.signal is not None:
            self._hear(now_ns, frame, frame.signal)
        late = 0 < self._held_ns - frame.generated_ns < _OVERTAKEN_NS
        if frame.held >= 0 and not late:
            self._held_ns = frame.generated_ns
            if frame.held != self._held:
                self._held = frame.held
                for limb in range(len(self._holding)):
                    self._holding[limb] = 1 if frame.held >> limb & 1 else -1
        try:
            for told in read_contacts(frame.contact, frame.generated_ns):
                self._touch(told)
            if frame.status >= 0:
                self.goals.hear(now_ns, frame.status)
                self.side.wake()  # the next of the plan may be due
            if frame.seen is not None:
                self._see(now_ns, frame.generated_ns, frame.seen)
        except FrameError as error:
            self.side.refuse(now_ns, str(error))
        return frame

    def _hear(self, now_ns: int, frame: TelemetryFrame, told: SignalTold) -> None:
        if told.limb >= len(self._force):
            return
        fields = int(told.fields)
        if fields & _FORCE:
            self._force[:] = 0.0  # the greatest is told: the others are less
            self._force[told.limb] = told.force
        if told.strategy >= len(_BILATERAL) or not _BILATERAL[told.strategy]:
            return
        engagement = engagement_near(told.engagement, self._engagement)
        if engagement != self._integral_of:
            self._integral_of, self._integral = engagement, (0.0, 0.0, 0.0)
        if fields & _INTEGRAL:
            self._integral = near(told.integral, self._integral)
        time_ns = self.side.clock.ours(now_ns, frame.generated_ns)
        if time_ns > self._heard_ns:
            self._heard, self._heard_ns = told, time_ns

    def _touch(self, told: ContactTold) -> None:
        """Keep what a limb touches."""
        limb = told.limb
        if limb < len(self._reports) and hear_contact(told, self._reports[limb]):
            self._unreported.add(limb)
            self._undated = True
            if limb not in self._reported:
                self._reported = sorted([*self._reported, limb])

    def _see(self, now_ns: int, generated_ns: int, told: ObjectTold) -> None:
        """Keep where an object was, where nothing newer is known of it."""
        if self.side.codec.session != self._seen_in:  # a robot that began anew
            self._seen_in = self.side.codec.session
            self._seen.clear()
        known = self._seen.get(told.number)
        if known is None or generated_ns > known[0]:
            time_ns = self.side.clock.ours(now_ns, generated_ns)
            self._seen[told.number] = generated_ns, time_ns, told

    def fill(self, now_ns: int, health: LinkHealth) -> None:
        """Write what is known into the health block."""
        self.side.fill(now_ns, health)
        if self._block is not health:
            self._block = health
            self._unreported.update(range(len(self._reports)))
            self._untold = self._undated = True
        if self._untold:
            self._fill_heard(health)
            self._untold = False
            clock = self.side.clock
            if clock.offset_ns != self._dated_by_ns or clock.doubtful:
                self._undated = True
        self.desk.fill(health)
        if self._undated:
            self._date_reports(now_ns, health)

    def _date_reports(self, now_ns: int, health: LinkHealth) -> None:
        """Write the times of the reports; they stay where none had to be bounded."""
        clock, self._undated = self.side.clock, False
        self._dated_by_ns = clock.offset_ns
        for limb in self._reported:
            stamp_ns = self._reports[limb].estimated_ns.item()
            time_ns = clock.ours(now_ns, stamp_ns)
            health.report_estimated_ns[limb] = time_ns
            self._undated |= time_ns != stamp_ns - clock.offset_ns

    def _fill_heard(self, health: LinkHealth) -> None:
        """Write what changes with what is heard, and not with time."""
        health.contact_force[...] = self._force
        health.holding[...] = self._holding
        told = self._heard
        health.heard_limb[0] = -1 if told is None else told.limb
        if told is not None:
            health.heard_time_ns[0] = self._heard_ns
            health.heard_strategy[0] = told.strategy
            health.heard_engagement[0] = self._integral_of
            health.heard_position[:] = told.position
            health.heard_velocity[:] = told.velocity
            health.heard_force[:] = told.force
            health.heard_wave[:] = told.wave
            health.heard_wave_integral[:] = self._integral
            health.heard_energy[0] = told.energy
        health.object_told_ns[:] = 0
        for number, (_, time_ns, seen) in self._seen.items():
            health.object_told_ns[number] = time_ns
            health.object_holder[number] = seen.holder
            health.object_position[number] = seen.place
            health.object_turn[number] = seen.turn
        for limb in self._unreported:
            _fill_report(limb, self._reports[limb], health)
        self._unreported.clear()

    def events(self) -> list[Event]:
        """Return the events since the last call."""
        return self.side.events() + self.goals.events() + self.desk.events()


def _fill_report(limb: int, report: SurfaceReport, health: LinkHealth) -> None:
    """Write a limb's report, all but its time."""
    health.report_number[limb] = report.number[0]
    if not report.number[0]:
        return
    health.report_status[limb] = report.status[0]
    health.report_kind[limb] = report.kind[0]
    health.report_point[limb] = report.point
    health.report_normal[limb] = report.normal
    health.report_radius[limb] = report.radius[0]
    health.report_stiffness[limb] = report.stiffness[0]
    health.report_damping[limb] = report.damping[0]
    health.report_exponent[limb] = report.exponent[0]
    health.report_confidence[limb] = report.confidence[0]
