"""The station's end of the link: setpoints out, telemetry in, health; pure.

Commands are stamped in the robot's clock, as far as that is known to differ from the
station's, so that the robot needs no knowledge of ours; telemetry is put back into the
station's time.
"""

import math
from collections import OrderedDict

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S
from app.config.link import LinkParameters, link_names
from app.errors import FrameError
from app.link.emulator_protocol import EmulatorStatus
from app.link.events import LinkEvents
from app.link.frame import Codec, Profile, SetpointFrame, TelemetryFrame
from app.link.health import AgeMeter, ClockOffset, CountLoss, RateMeter, SequenceLoss
from app.link.pacing import PaceBudget, Pacer
from app.messages import Event, LinkHealth, RobotState, StationMode, StationState
from models.robot import RobotModel

__all__ = ["StationSide"]

_STATE_AGE_LIMIT_NS = 100 * NS_PER_MS  # an older state: the control loop stands still
_MODE_PERIOD_NS = 50 * NS_PER_MS  # mode frames repeat so often where the link lets them
_URGENT_PERIOD_NS = 20 * NS_PER_MS  # until the robot confirms the emergency stop
_EMULATOR_LIMIT_NS = NS_PER_S
_SENT_KEPT = 4096
_SLOW_BPS = 2000.0  # below it compact frames serve the operator better
_EXTENSION_SCALE = 10.0  # rad/m: 1 mm of extension counts as 0.01 rad of bend


class StationSide:
    """Speaks for the station on one link with one robot."""

    def __init__(
        self,
        model: RobotModel,
        robot_id: int,
        link: LinkParameters,
        mtu_bytes: int | None = None,
    ) -> None:
        """Begin before anything was heard.

        Args:
            model: the robot.
            robot_id: its number, 0..255.
            link: what is known of the link at first; the emulator may tell another.
            mtu_bytes: largest packet; None = as the link says.
        """
        self.codec = Codec(model, robot_id, mtu_bytes or link.medium.mtu_bytes)
        self._limbs = int(model.tip_speed_limit.size)
        self._segments = [int(index) for index in model.limb_segment_start]
        self._tendons = [int(index) for index in model.limb_tendon_start]
        self.pacer = Pacer(self._limbs, PaceBudget())
        self.age = AgeMeter()
        self.clock = ClockOffset()
        self.malformed = 0
        self._link_events = LinkEvents()
        self.loss_up, self.loss_down = SequenceLoss(), CountLoss()
        self._rate_up, self._rate_down = RateMeter(), RateMeter()
        self._sequence = 0
        self._sent: OrderedDict[int, tuple[int, int]] = OrderedDict()
        self._sent_coordinates = np.zeros((self._segments[-1], 3))
        self._last_mode: tuple[int, int] | None = None
        self._mode_sent_ns: int | None = None
        self._selected = 0
        self._heard_ns = 0
        self._newest_ns: int | None = None
        self._robot_state = -1
        self._robot_epoch = 0
        self._coordinates = np.zeros((self._segments[-1], 3))
        self._generated_ns = np.zeros(self._limbs, dtype=np.int64)
        self._tension = np.zeros(self._tendons[-1])
        self._rtt_ms = math.nan
        self._command_age_ms = math.nan
        self._status: EmulatorStatus | None = None
        self._status_ns = 0
        self._preset = -1
        self._settings = (link.delay_ms, link.jitter.deviation_ms, link.loss.residual)
        self._name = ""
        self._configure(
            link.name,
            link.down_bps,
            link.up_bps,
            link.medium.duplex,
            link.medium.overhead_bytes,
        )

    def _configure(
        self, name: str, down_bps: float, up_bps: float, duplex: str, overhead: int
    ) -> None:
        """Take up what is known of the link."""
        share = 0.5 if duplex == "half" else 1.0
        self._bandwidth_bps = down_bps
        self._uplink_bps = share * up_bps
        certain = self._status is not None  # an emulator does what it says
        self.pacer.configure(PaceBudget(down_bps, share, overhead, certain=certain))
        if min(down_bps, up_bps) < _SLOW_BPS:
            self.codec.profile = Profile.COMPACT
        if name != self._name:
            self._name = name
            names = link_names()
            self._preset = names.index(name) if name in names else -1

    # -- in ------------------------------------------------------------------------

    def receive(self, now_ns: int, buffer: bytes) -> TelemetryFrame | None:
        """Take one packet from the link.

        Returns:
            The frame, or None where it is no telemetry of this robot.
        """
        self._rate_up.note(now_ns, len(buffer))
        try:
            frame = self.codec.decode(buffer, now_ns + self.clock.offset_ns)
        except FrameError as error:
            self._refuse(now_ns, str(error))
            return None
        if not isinstance(frame, TelemetryFrame):
            self._refuse(now_ns, "It is a setpoint, our own sent back.")
            return None
        self._exchange(now_ns, frame)
        self.loss_up.note(now_ns, frame.sequence)
        self._take(now_ns, frame)
        return frame

    def _refuse(self, now_ns: int, reason: str) -> None:
        self.malformed += 1
        self._link_events.malformed(now_ns, reason)

    def _exchange(self, now_ns: int, frame: TelemetryFrame) -> None:
        """Learn round trip, loss and clock offset from the echo."""
        apparent_age_ns = now_ns - frame.generated_ns
        sent = self._sent.get(frame.echo_sequence)
        if sent is None:
            delay_ns = round(self._settings[0] * NS_PER_MS)
            self.clock.guess(now_ns, apparent_age_ns, delay_ns)
            return
        sent_ns, commanded_ns = sent
        hold_known = math.isfinite(frame.echo_hold_ms)
        hold_ns = round(frame.echo_hold_ms * NS_PER_MS) if hold_known else 0
        rtt_ns = max(0, now_ns - sent_ns - hold_ns)
        self._rtt_ms = rtt_ns / NS_PER_MS
        self.clock.note(now_ns, apparent_age_ns, rtt_ns)
        self.loss_down.note(now_ns, frame.echo_sequence, frame.received)
        generated_ns = frame.generated_ns - self.clock.offset_ns
        self._command_age_ms = max(0, generated_ns - commanded_ns) / NS_PER_MS
        if hold_known:
            self.pacer.echo(now_ns, rtt_ns, hold_ns)

    def _take(self, now_ns: int, frame: TelemetryFrame) -> None:
        generated_ns = frame.generated_ns - self.clock.offset_ns
        self._heard_ns = now_ns
        if self._newest_ns is None or generated_ns >= self._newest_ns:
            self._newest_ns = generated_ns
            self._robot_state, self._robot_epoch = int(frame.state), frame.epoch
            self._link_events.telemetry(now_ns, RobotState(frame.state))
        limb = frame.limb
        if generated_ns < self._generated_ns[limb]:
            return  # overtaken on the way
        self._generated_ns[limb] = generated_ns
        rows = self._coordinates[self._segments[limb] : self._segments[limb + 1]]
        np.copyto(rows, frame.coordinates, where=np.isfinite(frame.coordinates))
        if frame.tension is not None:
            start, stop = self._tendons[limb], self._tendons[limb + 1]
            self._tension[start:stop] = frame.tension
        if limb == self._selected:
            self.age.note(now_ns, generated_ns)

    def status(self, now_ns: int, status: EmulatorStatus) -> None:
        """Take the emulator's word on the link's settings."""
        before, self._status, self._status_ns = self._status, status, now_ns
        self._link_events.status(now_ns, status)
        self._settings = (status.delay_ms, status.jitter_ms, status.loss)
        if (
            before is None
            or before.mtu_bytes != status.mtu_bytes
            or (
                before.down_bps,
                before.up_bps,
            )
            != (status.down_bps, status.up_bps)
        ):
            self.codec.set_mtu(status.mtu_bytes)
        self._configure(
            status.preset,
            status.down_bps,
            status.up_bps,
            status.duplex,
            status.overhead_bytes,
        )

    # -- out -----------------------------------------------------------------------

    def send(self, now_ns: int, state: StationState) -> list[bytes]:
        """Return the frames that go now.

        A state older than 100 ms sends nothing: the control loop stands still, and the
        robot's own watchdog must notice.

        Args:
            now_ns: present time [ns].
            state: newest state of the control loop.
        """
        if now_ns - int(state.time_ns[0]) > _STATE_AGE_LIMIT_NS:
            return []
        self._selected = min(max(0, int(state.selected_limb[0])), self._limbs - 1)
        mode = StationMode(int(state.mode[0]))
        epoch = int(state.arm_epoch[0])
        changed = (mode, epoch) != self._last_mode
        self._last_mode = (mode, epoch)
        if mode is not StationMode.ARMED:
            return self._send_mode(now_ns, state, mode, epoch, urgent=changed)
        if not self.pacer.ready(now_ns):
            return []
        change = [self._change(state, limb) for limb in range(self._limbs)]
        packets: list[bytes] = []
        while (limb := self.pacer.choose(now_ns, change)) >= 0:
            packets.append(self._send_limb(now_ns, state, limb, epoch))
            change[limb] = 0.0
        return packets

    def _change(self, state: StationState, limb: int) -> float:
        """How far a limb's command has moved since it was last sent [rad]."""
        start, stop = self._segments[limb], self._segments[limb + 1]
        step = np.abs(
            state.coordinates_commanded[start:stop] - self._sent_coordinates[start:stop]
        )
        step[:, 2] *= _EXTENSION_SCALE
        return float(step.max())

    def _send_mode(
        self,
        now_ns: int,
        state: StationState,
        mode: StationMode,
        epoch: int,
        *,
        urgent: bool,
    ) -> list[bytes]:
        confirmed = (
            self._robot_state == RobotState.ESTOP or mode is not StationMode.ESTOP
        )
        period_ns = _MODE_PERIOD_NS if confirmed else _URGENT_PERIOD_NS
        last_ns = self._mode_sent_ns
        due = last_ns is None or now_ns - last_ns >= period_ns
        if not urgent and not (due and self.pacer.ready(now_ns)):
            return []
        self._mode_sent_ns = now_ns
        return [self._write(now_ns, state, -1, mode, epoch, period_ns / NS_PER_MS)]

    def _send_limb(
        self, now_ns: int, state: StationState, limb: int, epoch: int
    ) -> bytes:
        start, stop = self._segments[limb], self._segments[limb + 1]
        period_ms = self.pacer.period_ms(limb) * self.codec.parts(limb)
        packet = self._write(now_ns, state, limb, StationMode.ARMED, epoch, period_ms)
        self._sent_coordinates[start:stop] = state.coordinates_commanded[start:stop]
        return packet

    def _write(
        self,
        now_ns: int,
        state: StationState,
        limb: int,
        mode: StationMode,
        epoch: int,
        period_ms: float,
    ) -> bytes:
        self._sequence += 1
        commanded_ns = int(state.time_ns[0])
        whose = max(0, limb)
        start, stop = self._segments[whose], self._segments[whose + 1]
        packet = self.codec.encode(
            SetpointFrame(
                sequence=self._sequence,
                generated_ns=commanded_ns + self.clock.offset_ns,
                robot=self.codec.robot_id,
                limb=whose,
                epoch=epoch,
                mode=mode,
                period_ms=period_ms,
                coordinates=state.coordinates_commanded[start:stop],
                uplink_bps=self._uplink_bps,
            )
        )
        self._sent[self._sequence] = (now_ns, commanded_ns)
        if len(self._sent) > _SENT_KEPT:
            self._sent.popitem(last=False)
        self._rate_down.note(now_ns, len(packet))
        self.pacer.sent(now_ns, limb, len(packet))
        return packet

    # -- health --------------------------------------------------------------------

    def telemetry_limit_ns(self) -> int:
        """Telemetry older than this is too old to arm on [ns].

        Twice the link's delay, five frames at the budget's rate, and a second.
        """
        rate = self.pacer.budget.bytes_per_s() or 1e3
        frame_s = self.codec.frame_bytes(0, telemetry=True, tension=True) / rate
        limit_s = 1.0 + 2e-3 * self._settings[0] + 5.0 * frame_s
        return round(limit_s * NS_PER_S)

    def fill(self, now_ns: int, health: LinkHealth) -> None:
        """Write what is known into the health block; NaN where nothing is."""
        status = self._status
        present = status is not None and now_ns - self._status_ns < _EMULATOR_LIMIT_NS
        self._link_events.emulator(now_ns, present=present)
        limit_ns = self.telemetry_limit_ns()
        silent_ns = now_ns - self._heard_ns
        if self._heard_ns and silent_ns > limit_ns:
            self._link_events.silence(now_ns, silent_ns)
        health.time_ns[0] = now_ns
        health.robot_heard_ns[0] = self._heard_ns
        health.robot_state[0] = self._robot_state
        health.robot_epoch[0] = self._robot_epoch
        health.telemetry_limit_ns[0] = limit_ns
        health.emulator_present[0] = int(present)
        health.confirmed_coordinates[...] = self._coordinates
        health.confirmed_generated_ns[...] = self._generated_ns
        health.confirmed_tension[...] = self._tension
        health.age_ms[0] = self.age.age_ms(now_ns)
        health.command_age_ms[0] = self._command_age_ms
        health.rtt_ms[0] = self._rtt_ms
        health.loss_down[0] = self.loss_down.loss(now_ns)
        health.loss_up[0] = self.loss_up.loss(now_ns)
        health.down_bps[0] = self._rate_down.bps(now_ns)
        health.up_bps[0] = self._rate_up.bps(now_ns)
        health.send_hz[0] = self.pacer.send_hz(now_ns)
        health.queue_ms[0] = status.queue_ms if present and status else 0.0
        health.preset[0] = self._preset
        health.delay_ms[0], health.jitter_ms[0], health.loss_set[0] = self._settings
        health.bandwidth_bps[0] = self._bandwidth_bps
        health.cut[0] = int(present and status is not None and status.cut)

    def events(self) -> list[Event]:
        """Return the events since the last call."""
        return self._link_events.take()
