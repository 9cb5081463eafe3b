"""Telemetry: what the robot tells, when, and of which limbs.

A change of the robot's own state goes at once, without waiting for its turn; else the
pacer decides. Where the whole robot fits five times a second it is told at once, else
the limb that has moved most since it was last told, with those that moved too. The
robot answers in the profile it was last addressed in, and within the rate that the
station allows it, so that it follows a link whose settings change without being told
of them. Until a station shows that it knows the session, every second frame is a hello.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from app.clock import NS_PER_MS
from app.link.frame import (
    WHOLE_ROBOT,
    Codec,
    HelloFrame,
    Profile,
    SignalTold,
    TelemetryFrame,
)
from app.link.hello import HELLO_BYTES
from app.link.object_section import ObjectTold
from app.link.pacing import PaceBudget, Pacer
from app.link.planner import telemetry_grade
from app.link.signal_section import SignalField
from app.messages import RobotState
from app.robot.object_sight import ObjectSight
from app.robot.telling import allocate_telling, look_at
from models.bound import Bound, bind
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = ["Heard", "Reporter"]

_WIDE_MTU_BYTES = 128
"""Of a link that began too narrow for packed frames and now carries them."""
_WHOLE_HZ = 5.0
_MOVED = 0.02  # rad
_HELLO_NS = 200 * NS_PER_MS
_FIGURES = 11  # bits of a status that change all the time: progress and force
_STATUS_EVERY, _STATUS_REPEATS = 4, 3  # frames; and after a change
_SIGNAL_HZ = 500.0  # frames that carry what a half tells go so often at most
_FELT_N = 0.1  # a force below it is not told
_MEDIATED = 4  # number of the model-mediated strategy


class Heard(NamedTuple):
    """The newest setpoint frame that was accepted.

    Attributes:
        sequence: its number.
        came_ns: when it came [ns].
        generated_ns: its stamp [ns].
        peer: connection it came by.
    """

    sequence: int
    came_ns: int
    generated_ns: int
    peer: int = 0


class Reporter:
    """Composes and paces telemetry frames; pure."""

    def __init__(self, model: RobotModel, codec: Codec, budget: PaceBudget) -> None:
        """Begin with nothing told.

        Args:
            model: the robot as its file gives it.
            codec: the bridge's own.
            budget: what this side may send where the station names no rate.
        """
        limbs = model.tip_speed_limit.size
        self._codec = codec
        narrow = codec.profile is Profile.COMPACT
        self._packed_mtu_bytes = _WIDE_MTU_BYTES if narrow else codec.mtu_bytes
        self._budget = budget
        self._uplink_bps = 0.0
        self._pacer = Pacer(limbs, budget)
        telling = allocate_telling(model)
        self._last_finite, self._told = telling.finite, telling.told
        self._change = telling.change
        self._told_state: RobotState | None = None
        self._free_at_ns = -1  # when `waits` last found that a frame may go
        self._next_limb = 0
        self._sequence = 0
        self._greeting = codec.session != 0
        self._hello_ns: int | None = None
        self._hellos = 0
        self._codec.grade = telemetry_grade(codec, budget)
        self._status = -1
        self._since_status = 0
        self._felt_limb = -1
        self._whole: bool | None = None  # all limbs go at once; None: not looked at yet
        self.unchanged = False
        """Profile, rate and greeting are as they were when `waits` was asked last."""
        self._unfelt = np.zeros((limbs, 3))
        self._telling = Bound(telling)
        self._look = bind(look_at, self._telling, telling.told, self._unfelt, _FELT_N)

    def greet(self) -> None:
        """A frame came from someone who may not know the session: tell it again."""
        self._greeting = self._codec.session != 0
        self.unchanged = False

    def known(self) -> None:
        """A frame came that is bound to the session."""
        if self._greeting:
            self._greeting = self.unchanged = False

    def follow(self, profile: Profile, uplink_bps: float) -> None:
        """Take up the profile and rate of the newest frame from the station.

        Args:
            profile: in which the robot was addressed.
            uplink_bps: rate allowed for telemetry [bit/s]; 0 = the station cannot say.
        """
        if profile is not self._codec.profile:
            self._whole = None
            if profile is Profile.PACKED:
                self._codec.set_mtu(self._packed_mtu_bytes)
            self._codec.profile = profile
            self.unchanged = False
        if uplink_bps != self._uplink_bps:
            self.unchanged, self._whole = False, None
            self._uplink_bps = uplink_bps
            told = replace(self._budget, bandwidth_bps=uplink_bps, share=1.0)
            self._pacer.configure(told if uplink_bps > 0.0 else self._budget)
            self._codec.grade = telemetry_grade(self._codec, self._pacer.budget)

    def waits(self, now_ns: int, state: RobotState, *, signal: bool) -> bool:
        """Whether `report` would return nothing now, whatever it were told.

        Args:
            now_ns: robot time [ns].
            state: what the robot does.
            signal: a strategy's slave half tells something.
        """
        self.unchanged = True
        pacer = self._pacer
        pacer.wish(_SIGNAL_HZ if signal else 0.0)
        if state == self._told_state and (
            not pacer.ready(now_ns) or (not self._greeting and not pacer.due(now_ns))
        ):
            return True
        self._free_at_ns = now_ns
        return False

    def waits_until_ns(self, state: RobotState) -> int:
        """How long it waits at least, while it is told nothing new [ns]; 0 = unknown.

        Args:
            state: what the robot does.
        """
        if state != self._told_state:
            return 0
        return self._pacer.soonest_ns if not self._greeting else self._pacer.free_ns

    def report(
        self,
        now_ns: int,
        state: RobotState,
        epoch: int,
        heard: Heard | None,
        received: int,
        measured: FloatArray,
        tension: FloatArray,
        faults: int = 0,
        contact: bytes = b"",
        *,
        signal: SignalTold | None = None,
        felt: FloatArray | None = None,
        status: int = -1,
        sight: ObjectSight | None = None,
        held: int = -1,
    ) -> list[bytes]:
        """Return the frames that go now.

        Args:
            now_ns: robot time [ns].
            state: what the robot does.
            epoch: arming followed, or that ended last where none is.
            heard: the newest setpoint frame.
            received: count of setpoint frames received.
            measured: (S, 3) [rad, rad, m]; rows that are not finite are told as when
                a frame last was due and they were.
            tension: (T,) [N].
            faults: a bit for each fault that the robot has.
            contact: what it knows of what it touches, ready to be sent.
            signal: what a strategy's slave half tells; frames then go more often.
            felt: (L, 3) force of each tip on what it touches, hull frame [N]; the
                greatest is told where there is no signal.
            status: how the robot gets on with a goal, -1 = it has none; told when it
                has changed and now and then.
            sight: of the objects about the robot, None = it sees none.
            held: bit k is set while the gripper of limb k holds something; -1 = not
                known.

        Returns:
            None or one frame of at most the link's MTU.
        """
        if now_ns != self._free_at_ns and self.waits(
            now_ns, state, signal=signal is not None
        ):
            return []
        self._free_at_ns = -1
        changed = state != self._told_state
        if self._greeting:
            urgent = changed and self._hellos > 0
            if not urgent and self._hello_due(now_ns):
                return [self._hello(now_ns)]
            if not changed and not self._pacer.due(now_ns):
                return []
        force = self._unfelt if felt is None else felt
        touching = self._look(self._telling, measured, force, _FELT_N)
        compact = self._codec.profile is Profile.COMPACT
        self._pacer.streams = self._change.size if compact else 1
        limb = self._next_limb
        if not changed:
            limb = self._pacer.choose(now_ns, self._change.tolist())
        if limb < 0:
            return []
        limbs = (limb,) if compact else self._together(limb)
        self._sequence += 1
        frame = TelemetryFrame(
            sequence=self._sequence,
            generated_ns=now_ns,
            robot=self._codec.robot_id,
            limb=limbs[0] if len(limbs) == 1 else WHOLE_ROBOT,
            epoch=epoch,
            state=state,
            coordinates=self._rows(limbs),
            tension=self._tensions(limbs, tension),
            echo_sequence=-1 if heard is None else heard.sequence,
            echo_hold_ms=math.nan
            if heard is None
            else (now_ns - heard.came_ns) / NS_PER_MS,
            received=received,
            echo_generated_ns=-1 if heard is None else heard.generated_ns,
            faults=faults,
            contact=contact,
            signal=signal or self._felt(touching, force),
            status=self._due_status(status, state_changed=changed),
            seen=None if compact or sight is None else self._seen(now_ns, sight),
            held=held,
        )
        packet = self._codec.encode(frame)
        self._pacer.sent(now_ns, limbs, len(packet))
        if compact and frame.status >= 0:
            return [packet]  # told in the place of coordinates
        if len(limbs) == self._change.size:
            self._told[:] = self._last_finite
        else:
            for told in limbs:
                rows = self._codec.schema.rows(told)
                self._told[rows] = self._last_finite[rows]
        self._told_state = state
        self._next_limb = (limb + 1) % self._change.size
        return [packet]

    def _felt(self, limb: int, felt: FloatArray) -> SignalTold | None:
        """The greatest force of a tip, and once more when it has gone.

        Args:
            limb: that feels it; -1 = none.
            felt: (L, 3) [N].
        """
        told, self._felt_limb = self._felt_limb if limb < 0 else limb, limb
        if told < 0:
            return None
        x, y, z = felt[limb].tolist() if limb >= 0 else (0.0, 0.0, 0.0)
        return SignalTold(told, _MEDIATED, 0, SignalField.FORCE, force=(x, y, z))

    def _seen(self, now_ns: int, sight: ObjectSight) -> ObjectTold | None:
        return sight.next(now_ns, self._pacer.bytes_per_s)

    def _due_status(self, status: int, *, state_changed: bool) -> int:
        """Return the status where this frame tells it, else -1."""
        if status == self._status == -1:
            return -1
        if status >> _FIGURES != self._status >> _FIGURES:
            self._since_status = -_STATUS_REPEATS
        self._status = status
        self._since_status += 1
        told = status >= 0 and not 0 < self._since_status < _STATUS_EVERY
        if told:
            self._since_status = min(self._since_status, 0)
        return status if told and not state_changed else -1

    def _together(self, limb: int) -> tuple[int, ...]:
        """Limbs that go in one packed frame."""
        schema = self._codec.schema
        if self._whole is None:
            self._whole = self._tells_whole()
        if self._whole:
            return schema.all_limbs
        moved = tuple(
            other
            for other in schema.all_limbs
            if other == limb or self._change[other] > _MOVED
        )
        fits = self._codec.frame_bytes(telemetry=True) <= self._codec.mtu_bytes
        return moved if fits else (limb,)

    def _tells_whole(self) -> bool:
        """Whether the whole robot fits into a frame, and that often enough."""
        rate = self._pacer.bytes_per_s
        size = self._codec.frame_bytes(telemetry=True)
        whole_bytes = size + self._pacer.budget.overhead_bytes
        return size <= self._codec.mtu_bytes and (
            rate is None or rate >= _WHOLE_HZ * whole_bytes
        )

    def _hello_due(self, now_ns: int) -> bool:
        """Every second frame, and never more than five a second."""
        last_ns = self._hello_ns
        due = last_ns is None or now_ns - last_ns >= _HELLO_NS
        self._hellos += 1
        return due and self._hellos % 2 == 1

    def _hello(self, now_ns: int) -> bytes:
        """Write a hello; every second packed one is compact, which fits any link."""
        self._hello_ns = now_ns
        codec = self._codec
        profile = codec.profile
        small = self._hellos % 4 == 3 or codec.mtu_bytes < HELLO_BYTES
        if small:
            codec.profile = Profile.COMPACT
        packet = codec.encode(HelloFrame(codec.robot_id, codec.session, now_ns))
        codec.profile = profile
        self._pacer.sent(now_ns, (), len(packet))
        return packet

    def _rows(self, limbs: tuple[int, ...]) -> FloatArray:
        """What a frame tells of these limbs; NaN of the others [rad, rad, m]."""
        schema = self._codec.schema
        if len(limbs) == schema.limbs:
            return self._last_finite.copy()
        if len(limbs) == 1:
            return self._last_finite[schema.rows(limbs[0])]
        rows = np.full_like(self._last_finite, np.nan)
        for limb in limbs:
            rows[schema.rows(limb)] = self._last_finite[schema.rows(limb)]
        return rows

    def _tensions(
        self, limbs: tuple[int, ...], tension: FloatArray
    ) -> FloatArray | None:
        """What a frame of these limbs tells of tensions [N]; None = not all finite."""
        schema = self._codec.schema
        told = tension[schema.tendons(limbs[0])] if len(limbs) == 1 else tension
        return told if math.isfinite(sum(told.tolist())) else None
