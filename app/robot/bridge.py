"""The bridge: what the robot applies of what it hears, and what it tells.

    bytes -> codec -> Freshness -> SafetyMachine -> setpoint, or signal, or goal
      -> envelope -> path over one period -> rate limit from the last applied value
      -> winches

It trusts nobody. A setpoint moves a limb only when it is whole, for this robot and its
session, young, newer than the last of its segments, finite, from the station in control
and of the arming that is followed; and then only inside the envelope and no faster than
the rate limits. What a strategy tells beside a setpoint, grips and goals are held to
the same: so decides `app.robot.hearing`, and `app.robot.followed` which of a limb's
commands counts then. Pure: it takes its time as an argument, so it runs the same on a
clock and in a study.
"""

import math
from collections import Counter

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S
from app.config.robot import RobotParameters
from app.config.teleop import TeleopParameters
from app.link.frame import Codec
from app.link.pacing import PaceBudget
from app.messages import Event, RobotState, Severity
from app.robot.approach import Approach
from app.robot.body import Applied
from app.robot.custody import Custody
from app.robot.followed import Followed
from app.robot.freshness import Rejection
from app.robot.hearing import Hearing
from app.robot.object_sight import ObjectSight
from app.robot.onward import Onward
from app.robot.reporter import Heard, Reporter
from app.robot.safety import Actuation, SafetyMachine
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = ["Bridge"]

_LONGEST_STEP_NS = 5 * NS_PER_MS
"""A process that was stalled moves on as if only this had passed: no jump."""

_NEVER_NS = 1 << 62  # in the place of the last step: no time counts since


class Bridge:
    """Setpoints in, applied pose and telemetry out."""

    def __init__(
        self,
        model: RobotModel,
        robot: RobotParameters,
        codec: Codec,
        budget: PaceBudget | None = None,
        *,
        session: int = 0,
        custody: Custody | None = None,
        teleop: TeleopParameters | None = None,
    ) -> None:
        """Start idle and compliant.

        Args:
            model: the robot as its file gives it.
            robot: its parameters; `safety` is used.
            codec: of this robot's number and the link's frame size.
            budget: what telemetry may take of the link where the station does not say;
                None = not known, so sparingly until it does.
            session: drawn at the robot's start, so that no frame of an earlier one is
                obeyed; 0 = as the codec has it.
            custody: decides which station is in control; None = whoever speaks.
            teleop: of the strategies' slave halves; None = the defaults.
        """
        if session:
            codec.bind(session)
        self.safety = SafetyMachine(robot.safety)
        self._reporter = Reporter(model, codec, budget or PaceBudget())
        self._approach = Approach(model)
        self.followed = Followed(model, self._approach, teleop or TeleopParameters())
        """What each limb follows, and how far each gripper shall be closed."""
        self._hearing = Hearing(
            robot.safety,
            codec,
            self.safety,
            self._approach,
            self.followed,
            self._reporter,
            custody,
        )
        self.stepped_ns = _NEVER_NS
        """Robot time of the last step [ns]; settable by who steps in its place."""
        self.onward = Onward(self._approach, self.followed.pressing)
        """Goes on with what is under way where there is nothing to decide."""
        self.onward_until_ns = 0
        """Until when there is nothing to decide [ns], unless a frame comes or a
        measurement fails; 0 = unknown."""
        self.silent_until_ns = 0
        """Until when there is nothing to tell [ns], likewise."""
        self.quiet_until_ns = 0
        """The lesser of both [ns]."""
        self._events: list[Event] = []
        self.decided = True
        """In the last `step` there was something to decide; else all went on."""

    @property
    def rejected(self) -> Counter[Rejection]:
        """Frames that moved nothing, by reason."""
        return self._hearing.rejections.count

    @property
    def received(self) -> int:
        """Whole, fresh setpoint frames for this robot, obeyed or not."""
        return self._hearing.received

    @property
    def newest(self) -> Heard | None:
        """The newest such frame."""
        return self._hearing.newest

    @property
    def clamped(self) -> int:
        """Setpoints that had to be brought into the envelope."""
        return self.followed.clamped

    @property
    def state(self) -> RobotState:
        """What the robot does now."""
        return self.safety.state

    def receive(self, now_ns: int, buffer: bytes, peer: int = 0) -> bool:
        """Take one frame from the link.

        Args:
            now_ns: robot time [ns].
            buffer: the bytes as they came.
            peer: number of the connection they came by; 0 where there is only one.

        Returns:
            Whether its coordinates may now move a limb.
        """
        onward_until_ns, self.onward_until_ns = self.onward_until_ns, 0
        silent_until_ns, self.silent_until_ns = self.silent_until_ns, 0
        self.quiet_until_ns = 0
        grips = self.followed.grips
        moves = self._hearing.receive(now_ns, buffer, peer)
        if moves and now_ns < onward_until_ns and grips == self.followed.grips:
            # nothing but paths and push has changed: they go on as those before did
            self.onward_until_ns = self._decided_until_ns()
            if self.onward_until_ns and self._reporter.unchanged:
                self.silent_until_ns = silent_until_ns
                self.quiet_until_ns = min(self.onward_until_ns, silent_until_ns)
        return moves

    def step(
        self,
        now_ns: int,
        measured: FloatArray,
        *,
        unsafe: str = "",
        contact: FloatArray | None = None,
    ) -> Applied:
        """Let time pass and say what to apply now.

        Args:
            now_ns: robot time [ns].
            measured: (S, 3) the pose that the robot measures [rad, rad, m].
            unsafe: what of the robot has failed; it ends the arming that is followed,
                and none is followed while it lasts.
            contact: (L, 3) force of each tip on what it touches, hull frame [N]; None
                where the robot senses none.

        Returns:
            The pose really applied, after all limits.
        """
        elapsed_ns = self.elapsed_ns(now_ns)
        self.stepped_ns = now_ns
        if now_ns < self.onward_until_ns and not unsafe:
            period, patience_ns = elapsed_ns / NS_PER_S, self.safety.hold_after_ns
            moved = self.onward.step(now_ns, period, patience_ns, measured, contact)
            if moved is not None:
                self.decided = False
                return moved
        self.decided = True
        applied = self._decide(now_ns, elapsed_ns, measured, unsafe, contact)
        self.onward_until_ns = self._decided_until_ns()
        self.silent_until_ns = self.quiet_until_ns = 0
        return applied

    def elapsed_ns(self, now_ns: int) -> int:
        """Return the time since the last step [ns], as it counts."""
        return min(max(now_ns - self.stepped_ns, 0), _LONGEST_STEP_NS)

    def _decided_until_ns(self) -> int:
        """Until when only a frame or a fault changes what is done [ns]; 0 = unknown."""
        decided = (
            self.safety.state is RobotState.ACTIVE
            and self._hearing.pose_known
            and self.followed.waits
            and not self._hearing.rejections.any_new
        )
        return self.safety.silent_from_ns if decided else 0

    def _decide(
        self,
        now_ns: int,
        elapsed_ns: int,
        measured: FloatArray,
        unsafe: str,
        contact: FloatArray | None,
    ) -> Applied:
        """Let time pass; arguments as of `step`."""
        if unsafe:
            self.safety.fail(now_ns, unsafe)
        self.safety.step(now_ns)
        finite = math.isfinite(np.vdot(measured, measured))
        hearing = self._hearing
        if hearing.pose_known and not finite:
            self._say(
                now_ns,
                Severity.ALARM,
                "The pose measurement is not finite: no new arming until it is back. "
                "Check the shape sensors.",
            )
        hearing.pose_known = finite and not unsafe
        state = self.safety.state
        if state is not RobotState.ACTIVE:
            self.followed.stand_still(
                state, disarmed=self.safety.disarmed, failed=bool(unsafe)
            )
        if self.safety.actuation is not Actuation.STIFF:
            # follow the limb, so that engaging starts where it is
            self._approach.follow(measured)
            self.followed.pressing.forget()
        elif state is RobotState.ACTIVE:
            period, patience_ns = elapsed_ns / NS_PER_S, self.safety.hold_after_ns
            self.followed.step(now_ns, period, patience_ns, measured, contact)
            self._approach.advance(now_ns, period)
        elif self.safety.homing:
            self._approach.go_home(elapsed_ns / NS_PER_S)
        if news := hearing.rejections.news(now_ns):
            self._say(now_ns, Severity.WARNING, news)
        still = state is RobotState.ESTOP or (
            state is RobotState.HOLD and not self.safety.homing
        )
        period = 0.0 if still else elapsed_ns / NS_PER_S
        applied = self.followed.pressing.pressed(self._approach.applied, period)
        return Applied(applied, self.safety.actuation, still)

    def warm_up(self, coordinates: FloatArray) -> None:
        """Compile or load the kernels of motion, which idle never calls.

        Args:
            coordinates: (S, 3) any pose [rad, rad, m]; nothing is changed by it.
        """
        self._approach.warm_up(coordinates)
        self.followed.warm_up(coordinates)

    def events(self) -> list[Event]:
        """Return the events since the last call, oldest first."""
        events = sorted(
            [*self._events, *self.safety.events()], key=lambda event: event.time_ns
        )
        self._events = []
        return events

    def is_silent(self, now_ns: int) -> bool:
        """Whether `telemetry` would return nothing now, whatever it were given."""
        if now_ns < self.silent_until_ns:
            return True
        tells = self.followed.half.tells
        state = self.safety.state
        waits = self._reporter.waits(now_ns, state, signal=tells)
        if waits:
            self._be_silent(state)
        return waits

    def _be_silent(self, state: RobotState) -> None:
        """Nothing is told now: know how long."""
        self.silent_until_ns = self._reporter.waits_until_ns(state)
        self.quiet_until_ns = min(self.onward_until_ns, self.silent_until_ns)

    def telemetry(
        self,
        now_ns: int,
        measured: FloatArray,
        tension: FloatArray,
        *,
        faults: int = 0,
        contact: bytes = b"",
        felt: FloatArray | None = None,
        sight: ObjectSight | None = None,
        held: int = -1,
    ) -> list[bytes]:
        """Return the telemetry frames that go now.

        Args:
            now_ns: robot time [ns].
            measured: (S, 3) measured pose [rad, rad, m].
            tension: (T,) measured tensions [N].
            faults: a bit for each fault that the robot has, of 16.
            contact: what it knows of what it touches, at most 64 bytes.
            felt: (L, 3) force of each tip on what it touches, hull frame [N]; None
                where the robot senses none.
            sight: of the objects about the robot, None = it sees none.
            held: bit k is set while the gripper of limb k holds something; -1 where
                the robot cannot tell.
        """
        state = self.safety.state
        packets = self._reporter.report(
            now_ns,
            state,
            self.safety.last_epoch,
            self._hearing.newest,
            self._hearing.received,
            measured,
            tension,
            faults,
            contact,
            signal=self.followed.signal(),
            felt=felt,
            status=self.followed.status,
            sight=sight,
            held=held,
        )
        if packets:
            self._be_silent(state)  # the steps from here on may be quiet
        return packets

    def _say(self, now_ns: int, severity: Severity, text: str) -> None:
        self._events.append(Event(now_ns, severity, "robot", text))
        del self._events[:-64]  # nobody may be listening
