"""What the station knows of the link, and of the robot beyond it; pure.

It is told what `app.link.station_side` sends and hears, and says in the health block
how well the link does and what the robot was last known to do; NaN where nothing is.
"""

import math

from app.clock import NS_PER_MS, NS_PER_S
from app.config.link import LinkParameters, link_names
from app.link.confirmed import Confirmed
from app.link.emulator_protocol import EmulatorStatus
from app.link.events import LinkEvents
from app.link.health import AgeMeter, ClockOffset, CountLoss, RateMeter, SequenceLoss
from app.link.records import TelemetryFrame
from app.link.schema import Schema
from app.messages import LinkHealth

__all__ = ["LinkKnowledge"]

_EMULATOR_LIMIT_NS = NS_PER_S
_RATES_NS = NS_PER_S // 10


class LinkKnowledge:
    """How one link does, and the newest word of the robot at its other end."""

    def __init__(self, schema: Schema, link: LinkParameters) -> None:
        """Begin before anything was heard.

        Args:
            schema: of the robot.
            link: what is known of the link at first; the emulator may tell another.
        """
        self.events = LinkEvents()
        """What there is to say of it."""
        self.age = AgeMeter()
        self.clock = ClockOffset()
        self.loss_up, self.loss_down = SequenceLoss(), CountLoss()
        self.rate_up, self.rate_down = RateMeter(), RateMeter()
        self.robot_state = -1
        self.bandwidth_bps = link.down_bps
        """Rate that is known of the way to the robot [bit/s]."""
        self.telemetry_limit_ns = 0
        """Telemetry older than this is too old to arm on [ns]."""
        self._robot_epoch = 0
        self._heard_ns = 0
        self._newest_ns: int | None = None
        self._confirmed = Confirmed(schema)
        self._rtt_ms = math.nan
        self._command_age_ms = math.nan
        self._status: EmulatorStatus | None = None
        self._present = False
        self._present_until_ns = 0  # unless the emulator speaks again
        self._settings = (link.delay_ms, link.jitter.deviation_ms, link.loss.residual)
        self._preset = -1
        self._rates_due_ns = 0
        self._block: LinkHealth | None = None  # filled last; what it has not yet:
        self._robot_untold = self._link_untold = True
        self.take_preset(link.name)

    @property
    def delay_ms(self) -> float:
        """Mean one-way delay that the link is said to have [ms]."""
        return self._settings[0]

    @property
    def is_emulated(self) -> bool:
        """An emulator has told of the link."""
        return self._status is not None

    def take_preset(self, name: str) -> None:
        """Take up which link it is, a preset or another."""
        self._link_untold = True
        names = link_names()
        self._preset = names.index(name) if name in names else -1

    def changed(self) -> None:
        """Something came: the block must be filled anew."""
        self._robot_untold = True

    def forget_robot(self) -> None:
        """The robot began anew: nothing of its earlier life counts."""
        self.clock = ClockOffset()
        self.loss_up, self.loss_down = SequenceLoss(), CountLoss()
        self._newest_ns = None
        self.robot_state, self._robot_epoch = -1, 0
        self._confirmed.reset()

    def echoed(
        self, now_ns: int, frame: TelemetryFrame, sent_ns: int, commanded_ns: int
    ) -> tuple[int, int, int]:
        """Learn round trip, loss and clock offset from an echo.

        Args:
            now_ns: present time [ns].
            frame: that echoes one of our frames.
            sent_ns: when that was sent [ns].
            commanded_ns: when its command was given [ns].

        Returns:
            Round trip without the robot's own waiting, that waiting, and when the
            frame was generated, in station time [ns].
        """
        known = math.isfinite(frame.echo_hold_ms)
        hold_ns = round(frame.echo_hold_ms * NS_PER_MS) if known else 0
        rtt_ns = max(0, now_ns - sent_ns - hold_ns)
        self._rtt_ms = rtt_ns / NS_PER_MS
        self.clock.note(now_ns, now_ns - frame.generated_ns, rtt_ns)
        self.loss_down.note(now_ns, frame.echo_sequence, frame.received)
        generated_ns = self.clock.ours(now_ns, frame.generated_ns)
        self._command_age_ms = max(0, generated_ns - commanded_ns) / NS_PER_MS
        return rtt_ns, hold_ns, generated_ns

    def take(
        self,
        now_ns: int,
        frame: TelemetryFrame,
        generated_ns: int,
        command_ns: int,
        selected: int,
    ) -> None:
        """Take telemetry up.

        Args:
            now_ns: present time [ns].
            frame: it.
            generated_ns: when it was generated, in station time [ns].
            command_ns: when the command was given that the robot followed as it
                measured, in station time [ns]; 0 = not known.
            selected: limb whose age is told.
        """
        self.loss_up.note(now_ns, frame.sequence)
        self._heard_ns = now_ns
        if self._newest_ns is None or generated_ns >= self._newest_ns:
            self._newest_ns = generated_ns
            self.robot_state, self._robot_epoch = int(frame.state), frame.epoch
            self.events.telemetry(now_ns, frame.state, frame.faults)
        if selected in self._confirmed.take(frame, generated_ns, command_ns):
            self.age.note(generated_ns)

    def status(self, now_ns: int, status: EmulatorStatus) -> None:
        """Take the emulator's word on the link's settings."""
        self._link_untold = True
        self._status, self._present_until_ns = status, now_ns + _EMULATOR_LIMIT_NS
        self._settings = (status.delay_ms, status.jitter_ms, status.loss)
        self.events.status(now_ns, status)

    def fill(self, now_ns: int, health: LinkHealth) -> bool:
        """Write what is known into the health block, but for the rates.

        Args:
            now_ns: present time [ns].
            health: the block.

        Returns:
            Whether it is time for these (`fill_rates`).
        """
        present = now_ns < self._present_until_ns
        if present != self._present:
            self._present, self._link_untold = present, True
        if self._block is not health:
            self._block = health
            self._robot_untold = self._link_untold = True
            self._rates_due_ns = 0
        if self._link_untold:
            self.events.emulator(now_ns, present=present)
            self._fill_link(health)
            self._link_untold = False
        if self._robot_untold:
            self._fill_robot(health)
            self._robot_untold = False
        silent_ns = now_ns - self._heard_ns
        if silent_ns > self.telemetry_limit_ns and self._heard_ns:
            self.events.silence(now_ns, silent_ns)
        health.time_ns[0] = now_ns
        health.age_ms[0] = self.age.age_ms(now_ns)
        return now_ns >= self._rates_due_ns

    def fill_rates(self, now_ns: int, send_hz: float, health: LinkHealth) -> None:
        """Write what is counted over seconds, and need not be told at every frame.

        Args:
            now_ns: present time [ns].
            send_hz: frames that are sent a second.
            health: the block.
        """
        self._rates_due_ns = now_ns + _RATES_NS
        health.loss_down[0] = self.loss_down.loss(now_ns)
        health.loss_up[0] = self.loss_up.loss(now_ns)
        health.down_bps[0] = self.rate_down.bps(now_ns)
        health.up_bps[0] = self.rate_up.bps(now_ns)
        health.send_hz[0] = send_hz

    def _fill_link(self, health: LinkHealth) -> None:
        """Write what the emulator or a plan has told of the link."""
        status = self._status if self._present else None
        health.emulator_present[0] = int(self._present)
        health.queue_ms[0] = 0.0 if status is None else status.queue_ms
        health.cut[0] = int(status is not None and status.cut)
        health.telemetry_limit_ns[0] = self.telemetry_limit_ns
        health.preset[0] = self._preset
        health.delay_ms[0], health.jitter_ms[0], health.loss_set[0] = self._settings
        health.bandwidth_bps[0] = self.bandwidth_bps

    def _fill_robot(self, health: LinkHealth) -> None:
        """Write what changes with what comes from the robot, and not with time."""
        health.robot_heard_ns[0] = self._heard_ns
        health.robot_state[0] = self.robot_state
        health.robot_epoch[0] = self._robot_epoch
        health.confirmed_coordinates[...] = self._confirmed.coordinates
        health.confirmed_generated_ns[...] = self._confirmed.generated_ns
        health.confirmed_earlier[...] = self._confirmed.earlier
        health.confirmed_command_ns[...] = self._confirmed.command_ns
        health.confirmed_tension[...] = self._confirmed.tension
        health.command_age_ms[0] = self._command_age_ms
        health.rtt_ms[0] = self._rtt_ms
