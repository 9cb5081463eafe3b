"""The station's end of the link: setpoints out, telemetry in; pure.

Commands are stamped in the robot's clock, as far as that is known to differ from the
station's, so that the robot needs no knowledge of ours; telemetry is put back into the
station's time. Every frame is bound to the session that the robot's hello told; until
then nothing but mode frames is worth sending, and a robot that began anew is noticed by
its hello.

An arming is announced at once, and again until the robot echoes a frame that is no
older: a compact setpoint cannot be read without.
"""

import math
from dataclasses import replace

from app.clock import NS_PER_MS, NS_PER_S
from app.config.link import LinkParameters
from app.errors import FrameError
from app.link.announcer import Announcer
from app.link.composer import Composer
from app.link.deadband import Deadband
from app.link.echoes import Echoes, Sent
from app.link.emulator_protocol import EmulatorStatus
from app.link.frame import (
    WHOLE_ROBOT,
    Beside,
    Codec,
    HelloFrame,
    Profile,
    SetpointFrame,
    TelemetryFrame,
)
from app.link.knowledge import LinkKnowledge
from app.link.offset import ClockOffset
from app.link.pacing import PaceBudget, Pacer, use_of
from app.link.planner import LinkPlan, plan_for
from app.link.signal_deadband import SignalDeadband
from app.link.streams import COMPACT_BYTES
from app.link.turns import Turns
from app.messages import Event, LinkHealth, RobotState, StationMode, StationState
from models.robot import RobotModel

__all__ = ["StationSide"]

_STATE_AGE_LIMIT_NS = 100 * NS_PER_MS  # an older state: the control loop stands still
_MODE_PERIOD_NS = 50 * NS_PER_MS  # mode frames repeat so often where the link lets them
_URGENT_PERIOD_NS = 20 * NS_PER_MS  # until the robot confirms the emergency stop
_ANNOUNCE_REPEATS = 2
_HELLO_PATIENCE_NS = 3 * NS_PER_S  # before it, what cannot be read yet is no news
_DEAF_NS = NS_PER_S  # nothing of what comes can be read: it is begun anew
_DEAF_PACKETS = 5
_NOTHING = Beside()
_MODE_ARMED = StationMode.ARMED
_ARMED = int(StationMode.ARMED)  # compared with every 2 ms: an Enum takes its time
_SAME_CLOCK_NS = (-NS_PER_S, 6 * NS_PER_S)  # apparent ages that one clock explains


class StationSide:
    """Speaks for the station on one link with one robot."""

    def __init__(
        self,
        model: RobotModel,
        robot_id: int,
        link: LinkParameters,
        mtu_bytes: int | None = None,
        *,
        deadband: float = 0.0,
    ) -> None:
        """Begin before anything was heard.

        Args:
            model: the robot.
            robot_id: its number, 0..255.
            link: what is known of the link at first; the emulator may tell another.
            mtu_bytes: largest packet; None = as the link says.
            deadband: Weber fraction below which a change is not sent; 0 = off.
        """
        self.codec = Codec(model, robot_id, mtu_bytes or link.medium.mtu_bytes)
        self._limbs = int(model.tip_speed_limit.size)
        self.pacer = Pacer(self._limbs, PaceBudget())
        self.deadband = Deadband(self.codec.schema, deadband)
        self.signal_deadband = SignalDeadband(deadband)
        self._composer = Composer(self.codec, self.pacer, self.deadband)
        self._turns = Turns()
        self._origin_ns = 0
        self.knowledge = LinkKnowledge(self.codec.schema, link)
        """Of the link, and of the robot beyond it."""
        self.malformed = 0
        self._first_refused_ns: int | None = None
        self._deaf: tuple[int, int] | None = None  # since when, packets
        self._sequence = 0
        self._echoes = Echoes()
        self._announcer = Announcer()
        self.plan: LinkPlan | None = None
        """What is sent on the link as it is now."""
        self._last_mode: tuple[int, int] | None = None
        self._mode_sent_ns: int | None = None
        self.idle_until_ns = 0
        """Until when `send` sends nothing but a goal [ns], as far as is known; it must
        be asked again where the state's mode or arming, or the wish, changes."""
        self._paced = False  # it waits for the pacer alone
        self._selected = 0
        self._configured: tuple[object, ...] | None = None  # as the emulator told
        self._configure(
            link.down_bps,
            link.up_bps,
            link.medium.duplex,
            link.medium.overhead_bytes,
        )

    def _configure(
        self, down_bps: float, up_bps: float, duplex: str, overhead: int
    ) -> None:
        """Take up what is known of the link."""
        share = 0.5 if duplex == "half" else 1.0
        self.knowledge.bandwidth_bps = down_bps
        self._uplink_bps = share * up_bps
        certain = self.knowledge.is_emulated  # an emulator does what it says
        budget = PaceBudget(
            down_bps, share, overhead, certain=certain, use=use_of(duplex, up=False)
        )
        if budget != self.pacer.budget:
            self.pacer.configure(budget)
            self._announcer.repeat(_ANNOUNCE_REPEATS)
        up = replace(budget, bandwidth_bps=up_bps, use=use_of(duplex, up=True))
        before, self.plan = self.plan, plan_for(self.codec, budget, up)
        self.codec.profile, self.codec.grade = self.plan.profile, self.plan.grade
        if before is None or before.profile is not self.plan.profile:
            self._announcer.begin(self._sequence + 1)
        self.knowledge.telemetry_limit_ns = self._limit_ns()

    @property
    def clock(self) -> ClockOffset:
        """How the robot's clock differs from the station's."""
        return self.knowledge.clock

    @property
    def compact(self) -> bool:
        """Frames are of 8 bytes on this link."""
        return self.codec.profile is Profile.COMPACT

    # -- in ------------------------------------------------------------------------

    def receive(self, now_ns: int, buffer: bytes) -> TelemetryFrame | None:
        """Take one packet from the link.

        Returns:
            The frame, or None where it is no telemetry of this robot. Its stamp is in
            the station's clock but for `clock.offset_ns`.
        """
        paced, self._paced, self.idle_until_ns = self._paced, False, 0
        knowledge = self.knowledge
        knowledge.changed()
        knowledge.rate_up.note(now_ns, len(buffer))
        reference_ns = now_ns + self._origin_ns + knowledge.clock.offset_ns
        try:
            frame = self.codec.decode(buffer, reference_ns)
        except FrameError as error:
            self.refuse(now_ns, str(error))
            return None
        if isinstance(frame, HelloFrame):
            self._meet(now_ns, frame)
            return None
        if not isinstance(frame, TelemetryFrame):
            self.refuse(now_ns, "It is a setpoint, our own sent back.")
            return None
        self._deaf = None
        if self._origin_ns:
            frame = frame._replace(generated_ns=frame.generated_ns - self._origin_ns)
        generated_ns, command_ns = self._exchange(now_ns, frame)
        knowledge.take(now_ns, frame, generated_ns, command_ns, self._selected)
        if paced:  # as before, at the rate that the link has now
            self._rest()
        return frame

    def _meet(self, now_ns: int, hello: HelloFrame) -> None:
        """Take up the robot's session and clock; nothing of an earlier one counts."""
        if hello.session == self.codec.session:
            return
        first = self.codec.session == 0
        self.codec.bind(hello.session)
        age_ns = now_ns - hello.generated_ns
        least_ns, most_ns = _SAME_CLOCK_NS
        delay_ns = round(self.knowledge.delay_ms * NS_PER_MS)
        same = least_ns < age_ns < most_ns + delay_ns
        self._origin_ns = 0 if same else -age_ns
        self.knowledge.forget_robot()
        self.pacer.rebase()
        self._composer.reset()
        self._echoes.clear()
        self._last_mode = None
        self.knowledge.events.session(now_ns, first=first)

    def refuse(self, now_ns: int, reason: str) -> None:
        """Count a packet that cannot be read, and tell of it; after many begin anew."""
        self.wake()
        self.malformed += 1
        if self._first_refused_ns is None:
            self._first_refused_ns = now_ns
        unknown = self.codec.session == 0
        if not (unknown and now_ns - self._first_refused_ns < _HELLO_PATIENCE_NS):
            self.knowledge.events.malformed(now_ns, reason)
        since_ns, packets = self._deaf or (now_ns, 0)
        self._deaf = (since_ns, packets + 1)
        if packets >= _DEAF_PACKETS and now_ns - since_ns > _DEAF_NS:
            # the clocks have stepped apart, so that no seal fits: ask for a hello
            self._deaf = None
            self.codec.bind(0)

    def _exchange(self, now_ns: int, frame: TelemetryFrame) -> tuple[int, int]:
        """Learn round trip, loss and clock offset from the echo.

        Returns:
            When the robot measured, and when the command was given that it followed
            then, in station time [ns]; 0 where that cannot be told.
        """
        sent = self._echoes.find(frame)
        if sent is None:
            delay_ns = round(self.knowledge.delay_ms * NS_PER_MS)
            self.clock.guess(now_ns, now_ns - frame.generated_ns, delay_ns)
            return self.clock.ours(now_ns, frame.generated_ns), 0
        self._composer.acknowledge(frame.echo_sequence)
        self.codec.acknowledge(frame.echo_sequence)
        self._announcer.confirm(frame.echo_sequence)
        rtt_ns, hold_ns, generated_ns = self.knowledge.echoed(
            now_ns, frame, sent.sent_ns, sent.commanded_ns
        )
        # a setpoint is reached one period after it came
        limb = max(0, frame.limb)
        period_ns = round(
            self.pacer.period_ms(limb) * self.codec.parts(limb) * NS_PER_MS
        )
        if not math.isfinite(frame.echo_hold_ms):
            return generated_ns, generated_ns - rtt_ns // 2 - period_ns // 2
        self.pacer.echo(now_ns, rtt_ns, hold_ns)
        return generated_ns, sent.commanded_ns + min(hold_ns, period_ns) - period_ns

    def status(self, now_ns: int, status: EmulatorStatus) -> None:
        """Take the emulator's word on the link's settings."""
        self.wake()
        self.knowledge.status(now_ns, status)
        medium = status.down_bps, status.up_bps, status.duplex, status.overhead_bytes
        configured = status.preset, status.delay_ms, status.mtu_bytes, medium
        if configured == self._configured:
            return
        self._configured = configured
        self.knowledge.take_preset(status.preset)
        if status.mtu_bytes != self.codec.mtu_bytes:
            self.codec.set_mtu(status.mtu_bytes)
        self._configure(*medium)
        if self.plan is not None:
            self.knowledge.events.plan(now_ns, self.plan.words)

    # -- out -----------------------------------------------------------------------

    def send(
        self, now_ns: int, state: StationState, beside: Beside = _NOTHING
    ) -> list[bytes]:
        """Return the frames that go now.

        A state older than 100 ms sends nothing: the control loop stands still, and the
        robot's own watchdog must notice.

        Args:
            now_ns: present time [ns].
            state: newest state of the control loop.
            beside: what a strategy sends beside the coordinates.
        """
        self.idle_until_ns, self._paced = 0, False
        if now_ns - state.time_ns.item() > _STATE_AGE_LIMIT_NS:
            return []
        self._selected = min(max(0, state.selected_limb.item()), self._limbs - 1)
        number, epoch = state.mode.item(), state.arm_epoch.item()
        mode = _MODE_ARMED if number == _ARMED else StationMode(number)
        changed = (mode, epoch) != self._last_mode
        self._last_mode = (mode, epoch)
        if mode is not _MODE_ARMED:
            return self._send_mode(now_ns, state, mode, epoch, urgent=changed)
        if changed:
            self._announcer.begin(self._sequence + 1)
            return [self._announce(now_ns, state, epoch)]
        if not self.pacer.ready(now_ns):
            return []
        compact = self.codec.profile is Profile.COMPACT
        if self._announcer.due(now_ns, compact=compact):
            return [self._announce(now_ns, state, epoch)]
        alone = self._turns.next(now_ns, beside, compact=compact)
        if alone is not None:
            period_ms = self._alone_ms()
            return [self._write(now_ns, state, (), mode, epoch, period_ms, alone)]
        self.pacer.wish(beside.limb_hz)
        signal = beside.signal
        limbs = self._composer.choose(
            now_ns,
            self._sequence + 1,
            state.coordinates_commanded,
            told=signal is not None and self.signal_deadband.exceeded(signal, now_ns),
        )
        if not limbs:
            return []
        banded = self.signal_deadband.share > 0.0
        if banded and signal is not None and signal.limb in limbs:
            self.signal_deadband.sent(signal, now_ns)
        packets = [self._send_limbs(now_ns, state, limbs, epoch, beside)]
        if not compact and not self._announcer.waiting:
            self._rest()
        return packets

    def wake(self) -> None:
        """There may be something to send: `send` must be asked."""
        self.idle_until_ns, self._paced = 0, False

    def _rest(self) -> None:
        """Nothing goes before the pacer lets limbs be told: there is nothing else."""
        self._paced = True
        self.idle_until_ns = self.pacer.soonest_ns

    def idle(
        self, now_ns: int, state: StationState, limb_hz: float, *, more: bool
    ) -> bool:
        """Whether `send` would send nothing now, whatever is beside the coordinates.

        Where it would not, `idle_until_ns` says until when that holds unless something
        comes from the link.

        Args:
            now_ns: present time [ns].
            state: newest state of the control loop.
            limb_hz: the strategy's wish, as `Beside` has it [1/s].
            more: something else than setpoints waits for its turn.
        """
        self.idle_until_ns, self._paced = 0, False
        mode = state.mode.item()
        if (mode, state.arm_epoch.item()) != self._last_mode:
            return False
        if mode != _ARMED:
            if self._mode_sent_ns is not None:
                self.idle_until_ns = self._mode_sent_ns + _URGENT_PERIOD_NS
            return now_ns < self.idle_until_ns
        if not self.pacer.ready(now_ns):
            self.idle_until_ns = self.pacer.free_ns
            return True
        if more or self._announcer.waiting or self.codec.profile is Profile.COMPACT:
            return False
        self.pacer.wish(limb_hz)
        if self.pacer.due(now_ns):
            return False
        self._rest()
        return True

    def _announce(self, now_ns: int, state: StationState, epoch: int) -> bytes:
        self._announcer.sent(now_ns)
        period_ms = self._alone_ms()
        return self._write(now_ns, state, (), StationMode.ARMED, epoch, period_ms)

    def _alone_ms(self) -> float:
        """Time to the next frame where this one tells no limb [ms]."""
        if self.codec.profile is Profile.COMPACT:
            rate = self.pacer.budget.bytes_per_s() or 1e3
            return 1e3 * COMPACT_BYTES / rate
        return self.pacer.period_ms(self._selected)

    def _send_mode(
        self,
        now_ns: int,
        state: StationState,
        mode: StationMode,
        epoch: int,
        *,
        urgent: bool,
    ) -> list[bytes]:
        stopped = self.knowledge.robot_state == RobotState.ESTOP
        confirmed = stopped or mode is not StationMode.ESTOP
        period_ns = _MODE_PERIOD_NS if confirmed else _URGENT_PERIOD_NS
        last_ns = self._mode_sent_ns
        due = last_ns is None or now_ns - last_ns >= period_ns
        if not urgent and not (due and self.pacer.ready(now_ns)):
            return []
        self._mode_sent_ns = now_ns
        self._announcer.end()
        return [self._write(now_ns, state, (), mode, epoch, period_ns / NS_PER_MS)]

    def _send_limbs(
        self,
        now_ns: int,
        state: StationState,
        limbs: tuple[int, ...],
        epoch: int,
        beside: Beside,
    ) -> bytes:
        # several limbs are told in a packed frame alone, each of them as a whole
        period_ms = self.pacer.period_ms(*limbs) * self.codec.parts(limbs[0])
        if self.codec.profile is Profile.COMPACT:
            beside = _NOTHING
        if beside.goal:  # goes in a frame of its own
            beside = beside._replace(goal=b"")
        packet = self._write(
            now_ns, state, limbs, StationMode.ARMED, epoch, period_ms, beside
        )
        self._composer.sent(now_ns, self._sequence, limbs, state.coordinates_commanded)
        return packet

    def _write(
        self,
        now_ns: int,
        state: StationState,
        limbs: tuple[int, ...],
        mode: StationMode,
        epoch: int,
        period_ms: float,
        beside: Beside = _NOTHING,
    ) -> bytes:
        self._sequence += 1
        commanded_ns = state.time_ns.item()
        stamp_ns = commanded_ns + self._origin_ns + self.knowledge.clock.offset_ns
        packet = self.codec.encode(
            SetpointFrame(
                sequence=self._sequence,
                generated_ns=stamp_ns,
                robot=self.codec.robot_id,
                limb=limbs[0] if len(limbs) == 1 else WHOLE_ROBOT,
                epoch=epoch,
                mode=mode,
                period_ms=period_ms,
                coordinates=self._composer.rows(limbs, state.coordinates_commanded),
                uplink_bps=self._uplink_bps,
                active=self._selected in limbs,
                signal=beside.signal,
                grip=beside.grip,
                goal=beside.goal,
            )
        )
        self._echoes.keep(self._sequence, Sent(now_ns, commanded_ns, stamp_ns))
        self.knowledge.rate_down.note(now_ns, len(packet))
        self.pacer.sent(now_ns, limbs, len(packet))
        return packet

    # -- health --------------------------------------------------------------------

    def _limit_ns(self) -> int:
        """Telemetry older than this is too old to arm on [ns].

        Twice the link's delay, five frames at the budget's rate, and a second.
        """
        rate = self.pacer.budget.bytes_per_s() or 1e3
        size = self.codec.frame_bytes(telemetry=True, tension=True)
        turns = self._limbs if self.codec.profile is Profile.COMPACT else 1
        frame_s = turns * size / rate
        limit_s = 1.0 + 2e-3 * self.knowledge.delay_ms + 5.0 * frame_s
        return round(limit_s * NS_PER_S)

    def fill(self, now_ns: int, health: LinkHealth) -> None:
        """Write what is known into the health block; NaN where nothing is."""
        if self.knowledge.fill(now_ns, health):
            self.knowledge.fill_rates(now_ns, self.pacer.send_hz(now_ns), health)

    def events(self) -> list[Event]:
        """Return the events since the last call."""
        return self.knowledge.events.take()
