"""The bridge: what the robot believes of what it hears, and what it then applies.

    bytes -> codec -> Freshness -> SafetyMachine -> envelope -> path over one period
      -> rate limit from the last applied value -> winches

It trusts nobody. A setpoint moves a limb only when it is whole, for this robot, young,
newer than the last of its limb, finite, and of the arming that is followed; and then
only inside the envelope and no faster than the rate limits. Pure: it takes its time as
an argument, so it runs the same on a clock and in a study.
"""

import math
from collections import Counter
from typing import NamedTuple

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S
from app.config.robot import RobotParameters
from app.errors import FrameError
from app.link.frame import Codec, Profile, SetpointFrame, profile_of, stream_key
from app.link.pacing import PaceBudget
from app.messages import Event, RobotState, Severity, StationMode
from app.robot.envelope import advance_applied, clamp_to_envelope
from app.robot.freshness import Freshness, Rejection
from app.robot.reporter import Reporter
from app.robot.safety import Actuation, SafetyMachine, Verdict
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = ["Applied", "Bridge"]

_LONGEST_STEP_NS = 5 * NS_PER_MS
"""A process that was stalled moves on as if only this had passed: no jump."""

_REPORT_EVERY_NS = NS_PER_S

_COMPACT_SEGMENT_MASK = 0x3F  # of the stream key, see app.link.frame
_NOT_FINITE = 2  # status of clamp_to_envelope


class Applied(NamedTuple):
    """What the winches are told."""

    coordinates: FloatArray
    """(S, 3) pose to hold [rad, rad, m], after all limits; reused by the next step."""
    actuation: Actuation
    """How to hold it; the pose only matters where this is STIFF."""


class Bridge:
    """Setpoints in, applied pose and telemetry out."""

    def __init__(
        self,
        model: RobotModel,
        robot: RobotParameters,
        codec: Codec,
        budget: PaceBudget | None = None,
    ) -> None:
        """Start idle and compliant.

        Args:
            model: the robot as its file gives it.
            robot: its parameters; `safety` is used.
            codec: of this robot's number and the link's frame size.
            budget: what telemetry may take of the link where the station does not say;
                None = not known, so sparingly until it does.
        """
        segments = model.segment_length.size
        self._model = model
        self._codec = codec
        self.safety = SafetyMachine(robot.safety)
        self._freshness = Freshness(robot.safety.command_age_limit_ms)
        self._reporter = Reporter(model, codec, budget or PaceBudget())
        self._applied = np.zeros((segments, 3))
        self._origin = np.zeros((segments, 3))
        self._goal = np.zeros((segments, 3))
        self._wanted = np.zeros((segments, 3))
        self._begin_ns = np.zeros(segments, dtype=np.int64)
        self._end_ns = np.zeros(segments, dtype=np.int64)
        self._pose_known = False
        self._last_step_ns: int | None = None
        self._events: list[Event] = []
        self._reported: Counter[Rejection] = Counter()
        self._report_due_ns = 0
        self.rejected: Counter[Rejection] = Counter()
        """Frames that moved nothing, by reason."""
        self.clamped = 0
        """Setpoints that had to be brought into the envelope."""
        self.received = 0
        """Whole, fresh setpoint frames for this robot, obeyed or not."""
        self.newest: tuple[int, int] | None = None
        """Sequence number of the newest such frame, and when it came [ns]."""

    @property
    def state(self) -> RobotState:
        """What the robot does now."""
        return self.safety.state

    def receive(self, now_ns: int, buffer: bytes) -> bool:
        """Take one frame from the link.

        Args:
            now_ns: robot time [ns].
            buffer: the bytes as they came.

        Returns:
            Whether its coordinates may now move a limb.
        """
        try:
            frame = self._codec.decode(buffer, now_ns)
        except FrameError:
            return self._reject(Rejection.MALFORMED)
        if not isinstance(frame, SetpointFrame):
            return self._reject(Rejection.MALFORMED)  # our own telemetry, reflected
        return self._take(now_ns, buffer, frame)

    def step(self, now_ns: int, measured: FloatArray) -> Applied:
        """Let time pass and say what to apply now.

        Args:
            now_ns: robot time [ns].
            measured: (S, 3) the pose that the robot measures [rad, rad, m].

        Returns:
            The pose really applied, after all limits.
        """
        elapsed_ns = 0 if self._last_step_ns is None else now_ns - self._last_step_ns
        elapsed_ns = min(max(elapsed_ns, 0), _LONGEST_STEP_NS)
        self._last_step_ns = now_ns
        self.safety.step(now_ns)
        finite = math.isfinite(measured.sum())
        if self._pose_known and not finite:
            self._say(
                now_ns,
                Severity.ALARM,
                "The pose measurement is not finite: no new arming until it is back. "
                "Check the shape sensors.",
            )
        self._pose_known = finite
        if self.safety.actuation != Actuation.STIFF:
            # follow the limb, so that engaging starts where it is
            clamp_to_envelope(self._model, 0, measured, self._applied)
        elif self.safety.state == RobotState.ACTIVE:
            advance_applied(
                self._model,
                now_ns,
                elapsed_ns / NS_PER_S,
                self._origin,
                self._goal,
                self._begin_ns,
                self._end_ns,
                self._applied,
            )
        if now_ns >= self._report_due_ns and self.rejected != self._reported:
            self._report_rejected(now_ns)
        return Applied(self._applied, self.safety.actuation)

    def warm_up(self, coordinates: FloatArray) -> None:
        """Compile or load the kernels of motion, which idle never calls.

        Args:
            coordinates: (S, 3) any pose [rad, rad, m]; nothing is changed by it.
        """
        frame = coordinates[:1].copy()
        clamp_to_envelope(self._model, 0, frame, frame.copy())
        still = np.zeros(len(coordinates), dtype=np.int64)
        applied = coordinates.copy()
        advance_applied(
            self._model, 0, 0.0, coordinates, coordinates, still, still, applied
        )

    def events(self) -> list[Event]:
        """Return the events since the last call, oldest first."""
        events = sorted(
            [*self._events, *self.safety.events()], key=lambda event: event.time_ns
        )
        self._events = []
        return events

    def telemetry(
        self, now_ns: int, measured: FloatArray, tension: FloatArray
    ) -> list[bytes]:
        """Return the telemetry frames that go now.

        Args:
            now_ns: robot time [ns].
            measured: (S, 3) measured pose [rad, rad, m].
            tension: (T,) measured tensions [N].
        """
        return self._reporter.report(
            now_ns,
            self.safety.state,
            self.safety.last_epoch,
            self.newest,
            self.received,
            measured,
            tension,
        )

    def _take(self, now_ns: int, buffer: bytes, frame: SetpointFrame) -> bool:
        stream = stream_key(buffer)
        rejection = self._freshness.judge(
            now_ns, stream, frame.generated_ns, frame.sequence
        )
        if rejection is None:
            self.received += 1
            if self.newest is None or frame.sequence > self.newest[0]:
                self.newest = (frame.sequence, now_ns)
            self._freshness.accept(stream, frame.generated_ns, frame.sequence)
            self._reporter.follow(profile_of(buffer), frame.uplink_bps)
        if frame.mode != StationMode.ARMED:
            # a stop is taken even when late; SafetyMachine knows what it may still end
            if rejection == Rejection.FUTURE:
                return self._reject(rejection)
            self._command(now_ns, frame, fresh=rejection is None)
            return False
        if rejection is not None:
            return self._reject(rejection)
        rows, wanted = self._carried(buffer, frame)
        status = clamp_to_envelope(self._model, rows.start, wanted, self._wanted[rows])
        if status == _NOT_FINITE:
            return self._reject(Rejection.NOT_FINITE)
        before = (self.safety.state, self.safety.epoch)
        if self._command(now_ns, frame, fresh=True) != Verdict.OBEYED:
            return False
        self.clamped += status
        if before != (RobotState.ACTIVE, frame.epoch):
            self._forget_goals(now_ns)
        self._aim(now_ns, rows, frame)
        return True

    def _command(self, now_ns: int, frame: SetpointFrame, *, fresh: bool) -> Verdict:
        verdict = self.safety.command(
            now_ns,
            generated_ns=frame.generated_ns,
            sequence=frame.sequence,
            mode=frame.mode,
            epoch=frame.epoch,
            period_ms=frame.period_ms,
            fresh=fresh,
            pose_known=self._pose_known,
        )
        if verdict == Verdict.OUTDATED:
            self._reject(Rejection.REPLAYED)
        elif verdict not in {Verdict.OBEYED, Verdict.NOTED}:
            self._reject(Rejection.REFUSED)
        return verdict

    def _carried(self, buffer: bytes, frame: SetpointFrame) -> tuple[slice, FloatArray]:
        """Rows (of the robot, of the frame) that this very packet carries.

        A compact frame carries one segment; the codec fills in the others from earlier
        packets, which may since have been found stale, so they are not looked at.
        """
        start = int(self._model.limb_segment_start[frame.limb])
        stop = int(self._model.limb_segment_start[frame.limb + 1])
        if profile_of(buffer) is Profile.FULL:
            return slice(start, stop), frame.coordinates
        segment = stream_key(buffer) & _COMPACT_SEGMENT_MASK
        row = segment - start
        return slice(segment, segment + 1), frame.coordinates[row : row + 1]

    def _aim(self, now_ns: int, rows: slice, frame: SetpointFrame) -> None:
        """Begin a straight path from the applied pose to the setpoint."""
        self._origin[rows] = self._applied[rows]
        self._goal[rows] = self._wanted[rows]
        self._begin_ns[rows] = now_ns
        self._end_ns[rows] = now_ns + self._span_ns(frame.period_ms)

    def _forget_goals(self, now_ns: int) -> None:
        """On engaging only limbs with a new setpoint move; old goals are stale."""
        self._origin[:] = self._applied
        self._goal[:] = self._applied
        self._begin_ns[:] = now_ns
        self._end_ns[:] = now_ns

    def _span_ns(self, period_ms: float) -> int:
        """Time over which a setpoint is reached: one send period, never past a hold."""
        if not period_ms > 0.0:
            return 0
        return round(min(period_ms * NS_PER_MS, self.safety.hold_after_ns))

    def _reject(self, reason: Rejection) -> bool:
        self.rejected[reason] += 1
        return False

    def _report_rejected(self, now_ns: int) -> None:
        new = self.rejected - self._reported
        self._report_due_ns = now_ns + _REPORT_EVERY_NS
        self._reported = self.rejected.copy()
        listed = ", ".join(f"{count} {reason.value}" for reason, count in new.items())
        self._say(now_ns, Severity.WARNING, f"Setpoint frames dropped: {listed}.")

    def _say(self, now_ns: int, severity: Severity, text: str) -> None:
        self._events.append(Event(now_ns, severity, "robot", text))
        del self._events[:-64]  # nobody may be listening
