"""What each limb follows: a goal, else a hand, else setpoints.

The bridge has decided that a frame is believed and obeyed; here it is decided which of
a limb's commands counts, and it is aimed there (`app.robot.approach`), where envelope
and rates bind whatever it is.

A limb that had a goal, also one that has ended, waits for the stop of goals or a new
arming; after a stop it takes only setpoints that begin where it is. A limb follows the
hand as long as the frames that tell it carry a signal of a bilateral strategy; the
first that does not gives it back to setpoints.
"""

import math
from collections.abc import Sequence

import numpy as np

from app.clock import NS_PER_S
from app.config.teleop import TeleopParameters
from app.link.frame import WHOLE_ROBOT, SetpointFrame, SignalTold
from app.messages import RobotState
from app.robot.approach import Approach
from app.robot.freshness import Freshness
from app.robot.goal_run import GoalRun
from app.robot.pressing import Pressing
from app.robot.slave_half import SlaveHalf
from app.teleop.gains import gains_from
from app.teleop.goal_bytes import pack_status, read_goal
from app.teleop.goals import GoalReason, GoalState
from app.teleop.strategy import Strategy
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = ["Followed"]

_GRIP_STREAM = -(1 << 41)
"""The grip of every limb has an order of its own: see `Freshness.judge`."""

_NEAR = np.array([0.05, 0.05, 0.004])
"""A setpoint within this of the pose begins where the limb is [rad, rad, m]."""

_CARRY_NS = 2 * NS_PER_S

_BILATERAL = frozenset(one for one in Strategy if one.bilateral)

_ENDINGS = {
    RobotState.ESTOP: GoalReason.STOPPED,
    RobotState.IDLE: GoalReason.DISARMED,
}


class Followed:
    """Aims the limbs of one robot."""

    def __init__(
        self, model: RobotModel, approach: Approach, teleop: TeleopParameters
    ) -> None:
        """Begin with setpoints alone.

        Args:
            model: the robot as its file gives it.
            approach: the bridge's own.
            teleop: of the strategies' slave halves.
        """
        starts = model.limb_segment_start.tolist()
        self._ranges = list(map(range, starts[:-1], starts[1:]))
        self._limb_of = [limb for limb, own in enumerate(self._ranges) for _ in own]
        self._approach = approach
        self.goals = GoalRun(model)
        """The goal that a limb works on by itself."""
        self.half = SlaveHalf(model, gains_from(teleop))
        """The limb that follows the hand of a bilateral strategy."""
        self.pressing = Pressing(model)
        """The limb that presses with the force of a model-mediated hand."""
        self.closure = np.full(model.tip_speed_limit.size, math.nan)
        """(L,) how far each gripper shall be closed, 0..1; NaN: never told."""
        self.has_gripped = False
        """One of them has been told."""
        self._measured = model.rest_coordinates.copy()
        self._told = model.rest_coordinates.copy()
        self._carried = np.zeros_like(model.rest_coordinates)
        self._carried_ns = -_CARRY_NS
        self._near: set[int] = set()
        self.grips = 0
        """Grips that were taken."""
        self.clamped = 0
        """Setpoints that had to be brought into the envelope."""

    def warm_up(self, coordinates: FloatArray) -> None:
        """Compile or load the kernels; changes nothing.

        Args:
            coordinates: (S, 3) any pose [rad, rad, m].
        """
        self.half.warm_up(coordinates)
        self.goals.warm_up(coordinates)

    @property
    def waits(self) -> bool:
        """Nothing is followed but setpoints: only a frame changes what is."""
        return self.half.limb < 0 and self.goals.limb < 0

    def signal(self) -> SignalTold | None:
        """What the slave half tells the station; None where no hand is followed."""
        return self.half.signal()

    def forget(self) -> None:
        """A new arming: nothing of an earlier one is followed."""
        self.goals.forget()
        self.half.release()
        self._near.clear()
        self._carried_ns = -_CARRY_NS

    def stand_still(self, state: RobotState, *, disarmed: bool, failed: bool) -> None:
        """Follow nothing: goals end, and the hand is let go of.

        Args:
            state: what the robot does, not ACTIVE.
            disarmed: it was disarmed.
            failed: something of it is unsafe.
        """
        if self.goals.running:
            lost = GoalReason.DISARMED if disarmed else GoalReason.LINK_LOST
            reason = _ENDINGS.get(state, lost)
            self.goals.end(GoalReason.FAULT if failed else reason)
        self.half.freeze()

    def step(
        self,
        now_ns: int,
        period: float,
        patience_ns: int,
        measured: FloatArray,
        contact: FloatArray | None,
    ) -> None:
        """Aim the limbs that follow a goal or a hand, for this millisecond.

        Args:
            now_ns: robot time [ns].
            period: time since the last step [s].
            patience_ns: a hand that is silent for so long is not followed [ns].
            measured: (S, 3) pose [rad, rad, m].
            contact: (L, 3) force of each tip on what it touches, hull frame [N]; None
                where the robot senses none.
        """
        applied = self._approach.applied
        self._measured[:] = measured
        if not math.isfinite(np.vdot(measured, measured)):
            unknown = ~np.isfinite(measured)
            self._measured[unknown] = applied[unknown]
        self.pressing.step(now_ns, period, patience_ns, contact, applied, measured)
        rows = self.goals.step(period, measured, contact)
        if rows is not None:
            self._aim(now_ns, self.goals.limb, rows)
        if math.isfinite(self.goals.closure):
            self.closure[self.goals.limb] = self.goals.closure
            self.has_gripped = True
        limb = self.half.limb
        if limb < 0 or self.goals.holds(limb):
            return
        rows = self.half.step(now_ns, period, patience_ns, applied, measured, contact)
        if rows is not None:
            self._aim(now_ns, limb, rows)

    def _aim(self, now_ns: int, limb: int, rows: FloatArray) -> None:
        own = self._ranges[limb]
        self._approach.set_out(now_ns, own, 0, own.start, rows, None)

    def told(self, frame: SetpointFrame) -> Sequence[int]:
        """Segments of the robot that a setpoint tells; none where one is not finite."""
        first, rows = self._first(frame), frame.coordinates.tolist()
        if math.isfinite(sum(map(sum, rows))):  # the usual case: all are told
            return range(first, first + len(rows))
        told: list[int] = []
        for segment, row in enumerate(rows, first):
            if all(map(math.isfinite, row)):
                told.append(segment)
            elif not all(map(math.isnan, row)):
                return []
        return told

    def _first(self, frame: SetpointFrame) -> int:
        """Segment of the robot that the frame's first row is of."""
        return 0 if frame.limb == WHOLE_ROBOT else self._ranges[frame.limb].start

    def setpoint(
        self, now_ns: int, frame: SetpointFrame, segments: Sequence[int], span_ns: int
    ) -> bool:
        """Follow a setpoint that is obeyed, and what its strategy tells.

        Args:
            now_ns: robot time [ns].
            frame: it.
            segments: of the robot, that are fresh in it.
            span_ns: time over which a setpoint is reached [ns].

        Returns:
            Whether it may move a limb.
        """
        start, coordinates = self._first(frame), frame.coordinates
        signal = self._signal(frame, segments)
        heard = False
        if signal is not None and signal.strategy in _BILATERAL:
            heard = not self.goals.holds(signal.limb)
            if heard:
                applied = self._approach.applied
                self.half.hear(now_ns, frame.generated_ns, signal, applied)
        elif self.half.limb >= 0 and self._ranges[self.half.limb][0] in segments:
            self.half.release()
        if signal is not None and not heard:
            self.pressing.tell(now_ns, signal)
        if self.goals.limb >= 0:
            self._give_back(now_ns, segments, coordinates, start)
        carry = 1.0 - (now_ns - self._carried_ns) / _CARRY_NS
        shift = carry * self._carried if carry > 0.0 else None
        obeyed = segments
        if not self.waits:
            obeyed = [segment for segment in segments if not self._is_taken(segment)]
        self.clamped += self._approach.set_out(
            now_ns, obeyed, span_ns, start, coordinates, shift
        )
        return heard or bool(obeyed)

    def _give_back(
        self,
        now_ns: int,
        segments: Sequence[int],
        coordinates: FloatArray,
        start: int,
    ) -> None:
        """Let setpoints have a limb that has stopped, where they begin at its pose.

        A limb gives way: it is not quite where it is told to be. What is applied goes
        from the one to the other within `_CARRY_NS`.
        """
        limb = self.goals.limb
        if not self.goals.awaits(limb):
            self._near.clear()
            return
        own = self._ranges[limb]
        for segment in segments:
            if segment in own:
                self._told[segment] = coordinates[segment - start]
                gap = np.abs(self._told[segment] - self._measured[segment])
                near = bool((gap <= _NEAR).all())
                (self._near.add if near else self._near.discard)(segment)
        if self._near >= set(own):
            self.goals.give_back()
            self._carried[:] = 0.0
            for segment in own:
                applied = self._approach.applied[segment]
                self._carried[segment] = applied - self._told[segment]
            self._carried_ns = now_ns

    def grip(self, now_ns: int, frame: SetpointFrame, freshness: Freshness) -> None:
        """Take the grip of a frame that is obeyed, where none newer was told.

        Args:
            now_ns: robot time [ns].
            frame: it.
            freshness: the bridge's own.
        """
        grip = frame.grip
        if grip is None or self.goals.holds(grip.limb):
            return
        streams = (_GRIP_STREAM - grip.limb,)
        stamp = (frame.generated_ns, frame.sequence)
        _, rejection = freshness.judge(now_ns, streams, stamp)
        if rejection is None:
            freshness.accept(streams, stamp)
            self.grips += 1
            self.closure[grip.limb] = min(max(grip.closure, 0.0), 1.0)
            self.has_gripped = True

    def _signal(
        self, frame: SetpointFrame, segments: Sequence[int]
    ) -> SignalTold | None:
        """Return the signal of a frame, where its limb is all fresh."""
        signal = frame.signal
        if signal is None or signal.strategy >= len(Strategy):
            return None
        return signal if set(segments).issuperset(self._ranges[signal.limb]) else None

    def _is_taken(self, segment: int) -> bool:
        """Tell whether a segment's limb follows something else than setpoints."""
        limb = self._limb_of[segment]
        return limb == self.half.limb or self.goals.holds(limb)

    def goal(self, content: bytes) -> None:
        """Take a goal up, where it is newer than the last.

        Raises:
            FrameError: the bytes are no goal.
        """
        self.goals.take(read_goal(content), self._approach.applied)

    @property
    def status(self) -> int:
        """The goal's status as telemetry tells it; -1 = there was none."""
        goals = self.goals
        return -1 if goals.state is GoalState.NONE else pack_status(goals.status)
