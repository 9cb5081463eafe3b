"""What the robot believes of what it hears, and obeys.

    bytes -> codec -> Freshness -> Custody -> SafetyMachine -> setpoint, signal, goal

What comes of a frame when it comes; what time does, `app.robot.bridge` knows.
"""

from collections.abc import Sequence

from app.clock import NS_PER_MS
from app.config.robot import SafetyParameters
from app.errors import FrameError
from app.link.frame import Codec, SetpointFrame, profile_of
from app.messages import RobotState, StationMode
from app.robot.approach import Approach
from app.robot.custody import Custody
from app.robot.followed import Followed
from app.robot.freshness import FUTURE_TOLERANCE_NS, Freshness, Rejection
from app.robot.rejections import Rejections
from app.robot.reporter import Heard, Reporter
from app.robot.safety import SafetyMachine, Verdict

__all__ = ["Hearing"]

_GOAL_STREAM = -(1 << 40)
"""Goals have an order of their own, less the connection: see `Freshness.judge`."""


class Hearing:
    """Takes frames: some are believed, and some of these obeyed."""

    def __init__(
        self,
        parameters: SafetyParameters,
        codec: Codec,
        safety: SafetyMachine,
        approach: Approach,
        followed: Followed,
        reporter: Reporter,
        custody: Custody | None,
    ) -> None:
        """Begin with nothing heard.

        Args:
            parameters: of the robot's safety.
            codec: the bridge's own, as are the next four.
            safety: told what is believed.
            approach: goes nowhere when a new arming is followed.
            followed: told what is obeyed.
            reporter: told how the station speaks.
            custody: decides which station is in control; None = whoever speaks.
        """
        self._codec = codec
        self._safety = safety
        self._freshness = Freshness(parameters.command_age_limit_ms)
        self._patience_ms = parameters.compliant_after_ms
        self._approach = approach
        self._followed = followed
        self._reporter = reporter
        self._custody = custody
        self.rejections = Rejections()
        """Frames that moved nothing."""
        self.pose_known = False
        """The robot measures its pose: settable."""
        self.received = 0
        """Whole, fresh setpoint frames for this robot, obeyed or not."""
        self.newest: Heard | None = None
        """The newest such frame."""

    def receive(self, now_ns: int, buffer: bytes, peer: int) -> bool:
        """Take one frame; as `Bridge.receive`."""
        try:
            frame = self._codec.decode(buffer, now_ns, peer)
        except FrameError:
            self._reporter.greet()  # it may be bound to a session that has ended
            return self._reject(Rejection.MALFORMED)
        if not isinstance(frame, SetpointFrame):
            return self._reject(Rejection.MALFORMED)  # our own telemetry, reflected
        if frame.stranger:
            self._meet(now_ns, buffer, frame, peer)
            return False
        self._reporter.known()
        return self._take(now_ns, buffer, frame, peer)

    def _meet(
        self, now_ns: int, buffer: bytes, frame: SetpointFrame, peer: int
    ) -> None:
        """A station that does not know the session: tell it; obey nothing but a stop.

        Its clock means nothing yet, so a stop counts as made now.
        """
        self._reporter.follow(profile_of(buffer), frame.uplink_bps)
        self._reporter.greet()
        if frame.mode == StationMode.ESTOP:
            stop = frame._replace(generated_ns=now_ns)
            self._obey_mode(now_ns, stop, peer, fresh=True)

    def _take(
        self, now_ns: int, buffer: bytes, frame: SetpointFrame, peer: int
    ) -> bool:
        ahead = frame.generated_ns > now_ns + FUTURE_TOLERANCE_NS
        if ahead and frame.mode == StationMode.ESTOP:
            frame = frame._replace(generated_ns=now_ns)
        mode_only = frame.mode != StationMode.ARMED or not len(frame.coordinates)
        if mode_only:
            streams: Sequence[int] = ((_GOAL_STREAM if frame.goal else -1) - peer,)
        else:
            streams = self._followed.told(frame)
            if not streams:
                return self._reject(Rejection.NOT_FINITE)
        stamp = (frame.generated_ns, frame.sequence)
        fresh, rejection = self._freshness.judge(now_ns, streams, stamp)
        if rejection is Rejection.FUTURE or (rejection and not mode_only):
            return self._reject(rejection)
        if not self._may(now_ns, peer, frame):
            return self._reject(Rejection.REFUSED)
        if fresh:
            self._freshness.accept(fresh, stamp)
            self._hear(now_ns, buffer, frame, peer)
        if mode_only:
            # a stop is taken even when late; SafetyMachine knows what it may still end
            obeyed = self._obey_mode(now_ns, frame, peer, fresh=bool(fresh))
            if obeyed and frame.goal:
                self._begin_goal(frame)
            if obeyed:
                self._followed.grip(now_ns, frame, self._freshness)
            return False
        return self._aim_at(now_ns, frame, fresh, peer)

    def _begin_goal(self, frame: SetpointFrame) -> None:
        """Take a goal up, where it is one and a newer one."""
        try:
            self._followed.goal(frame.goal)
        except FrameError:
            self._reject(Rejection.MALFORMED)

    def _may(self, now_ns: int, peer: int, frame: SetpointFrame) -> bool:
        """Ask who is in control; a stop needs nobody's leave."""
        if self._custody is None or frame.mode == StationMode.ESTOP:
            return True
        return self._custody.judge(
            now_ns,
            peer,
            frame.mode,
            obeyed_epoch=self._safety.epoch,
            latched=self._safety.state == RobotState.ESTOP,
            left_alone=self._safety.state == RobotState.HOLD
            and not self._safety.disarmed,
        )

    def _hear(
        self, now_ns: int, buffer: bytes, frame: SetpointFrame, peer: int
    ) -> None:
        """Count a fresh frame and remember it as the newest."""
        self.received += 1
        newest = self.newest
        if newest is None or frame.sequence > newest.sequence or peer != newest.peer:
            self.newest = Heard(frame.sequence, now_ns, frame.generated_ns, peer)
        self._reporter.follow(profile_of(buffer), frame.uplink_bps)

    def _obey_mode(
        self, now_ns: int, frame: SetpointFrame, peer: int, *, fresh: bool
    ) -> bool:
        """Obey a frame without coordinates; return whether an arming is followed."""
        before = (self._safety.state, self._safety.epoch)
        verdict = self._command(now_ns, frame, fresh=fresh)
        if verdict == Verdict.OBEYED:
            self._engage(now_ns, frame, before, peer)
        elif verdict == Verdict.NOTED and self._custody is not None:
            if frame.mode == StationMode.DISARMED:
                self._custody.released(peer)
            else:
                latched = before[0] == RobotState.ESTOP
                self._custody.stopped(peer, latched=latched)
        return verdict == Verdict.OBEYED

    def _aim_at(
        self, now_ns: int, frame: SetpointFrame, segments: Sequence[int], peer: int
    ) -> bool:
        """Command the segments of a setpoint that are fresh."""
        before = (self._safety.state, self._safety.epoch)
        if self._command(now_ns, frame, fresh=True) is not Verdict.OBEYED:
            return False
        self._engage(now_ns, frame, before, peer)
        self._followed.grip(now_ns, frame, self._freshness)
        span_ns = self._span_ns(frame.period_ms)
        return self._followed.setpoint(now_ns, frame, segments, span_ns)

    def _engage(
        self,
        now_ns: int,
        frame: SetpointFrame,
        before: tuple[RobotState, int],
        peer: int,
    ) -> None:
        """An arming is followed: nothing of an earlier one moves on."""
        if self._custody is not None:
            self._custody.took(peer)
        if before != (RobotState.ACTIVE, frame.epoch):
            self._approach.forget(now_ns)
        if before[1] != frame.epoch:
            self._followed.forget()

    def _command(self, now_ns: int, frame: SetpointFrame, *, fresh: bool) -> Verdict:
        # a goal goes on through silence until the arming ends for it
        lone = self._followed.goals.running or bool(frame.goal)
        verdict = self._safety.command(
            now_ns,
            generated_ns=frame.generated_ns,
            sequence=frame.sequence,
            mode=frame.mode,
            epoch=frame.epoch,
            period_ms=self._patience_ms if lone else frame.period_ms,
            fresh=fresh,
            pose_known=self.pose_known,
        )
        if verdict > Verdict.NOTED:  # all these are refusals
            outdated = verdict is Verdict.OUTDATED
            self._reject(Rejection.REPLAYED if outdated else Rejection.REFUSED)
        return verdict

    def _span_ns(self, period_ms: float) -> int:
        """Time over which a setpoint is reached: one send period, never past a hold."""
        if not period_ms > 0.0:
            return 0
        return round(min(period_ms * NS_PER_MS, self._safety.hold_after_ns))

    def _reject(self, reason: Rejection) -> bool:
        self.rejections.note(reason)
        return False
