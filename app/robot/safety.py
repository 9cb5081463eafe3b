"""The robot's own safety: which arming it follows, and what silence makes it do.

    IDLE ──────────── ARMED, new epoch ───────────▶ ACTIVE ◀── same epoch ──┐
     ▲  ▲                                             │  silence            │
     │  └─ DISARMED ── COMPLIANT ◀── longer ── HOLD ◀─┴─────────────────────┘
     │                    │                     │ ▲
     │                    │ much longer         │ └─ DISARMED, at once
     │                    ▼                     │
     │                  SLACK ── new epoch ──▶ ACTIVE
     └──────────────── after the same time ─────┘
    any ── ESTOP ──▶ ESTOP ── newer DISARMED ──▶ HOLD, IDLE or SLACK, as it stood

An epoch (1..255) names one deliberate arming by the operator. It is burned, and no
frame that carries it is obeyed again, once the robot has gone compliant or slack, was
disarmed, or was stopped. So a link that returns after a long silence, or frames that
were under way when the operator disarmed, move nothing. What silence leads to is
chosen by `on_loss`; the whole table is in app.robot.safety_table.

An arming that began before this robot listened is not obeyed either: the first frame
after a start must be DISARMED, else the epoch it carries is burned.
"""

from enum import IntEnum

from app.clock import NS_PER_MS, NS_PER_S
from app.config.robot import SafetyParameters
from app.messages import Event, RobotState, Severity, StationMode
from app.robot.safety_table import KEEP, TABLE, Actuation, SafetyEvent

__all__ = ["Actuation", "SafetyMachine", "Verdict"]

_EPOCH_LIMIT = 255
_PERIODS_OF_SILENCE = 3.0


class Verdict(IntEnum):
    """What became of a command."""

    OBEYED = 0  # ARMED: its coordinates may move the robot
    NOTED = 1  # DISARMED or ESTOP: taken, nothing to move
    LATCHED = 2  # refused: emergency stop is latched
    NO_EPOCH = 3  # refused: the epoch is not 1..255
    BURNED = 4  # refused: this arming has ended; a new one is needed
    OUTDATED = 5  # refused: older than what is already obeyed
    NO_MEASUREMENT = 6  # refused: the robot does not know its own pose


class SafetyMachine:
    """State of the robot, moved by commands and by time; pure.

    Whether a command is authentic and young is decided before it comes here; whether
    it may move anything is decided here.
    """

    def __init__(self, safety: SafetyParameters) -> None:
        """Start idle, following nobody.

        Args:
            safety: the times of the watchdog and what an emergency stop does.
        """
        self._hold_ns = round(safety.hold_after_ms * NS_PER_MS)
        self._compliant_ns = round(safety.compliant_after_ms * NS_PER_MS)
        self._slack_ns = round(safety.slack_after_ms * NS_PER_MS)
        self._estop_slack = safety.estop_action == "slack"
        self._on_loss = SafetyEvent[f"LOST_{safety.on_loss.upper()}"]
        self._homing = False
        self._state = RobotState.IDLE
        self._actuation = Actuation.COMPLIANT
        self._epoch = 0
        self._last_epoch = 0
        self._ended = 0  # the arming that was followed last
        self._named = 0  # the arming that a stop named last, followed or not
        self._listened = False
        self._disarmed = False  # HOLD was entered by a DISARMED frame
        self._heard_ns = 0  # robot time of the newest obeyed command
        self._hold_began_ns = 0
        self._silence_ns = self._hold_ns
        # (generated_ns, sequence): ties in a coarse time are told apart by number
        self._newest = (-1, -1)  # of obeyed commands
        self._fence = (-1, -1)  # the last arming, disarming or stop
        self._events: list[Event] = []

    @property
    def state(self) -> RobotState:
        """What the robot does now."""
        return self._state

    @property
    def actuation(self) -> Actuation:
        """What the winches do now."""
        return self._actuation

    @property
    def homing(self) -> bool:
        """The applied pose shall go to rest: the link is lost, on_loss = "home"."""
        return self._homing

    @property
    def disarmed(self) -> bool:
        """HOLD was entered by a DISARMED frame."""
        return self._disarmed

    @property
    def epoch(self) -> int:
        """The arming that is followed, 0 for none."""
        return self._epoch

    @property
    def last_epoch(self) -> int:
        """The arming that is followed or, where none is, the one that ended last.

        A station that starts anew sees from it which number it must not use again.
        """
        return self._epoch or self._last_epoch

    @property
    def silent_from_ns(self) -> int:
        """Until when an ACTIVE robot stays so without a command [ns]."""
        return self._heard_ns + self._silence_ns

    @property
    def hold_after_ns(self) -> int:
        """Silence after which the robot holds [ns]; grows with the send period."""
        return self._silence_ns

    def events(self) -> list[Event]:
        """Return the events since the last call, oldest first."""
        events, self._events = self._events, []
        return events

    def command(
        self,
        now_ns: int,
        *,
        generated_ns: int,
        sequence: int,
        mode: StationMode,
        epoch: int,
        period_ms: float,
        fresh: bool = True,
        pose_known: bool = True,
    ) -> Verdict:
        """Take one command.

        Args:
            now_ns: robot time [ns].
            generated_ns: when the station made the command [ns].
            sequence: its number among the station's commands.
            mode: what the station wants.
            epoch: the arming that the command belongs to.
            period_ms: time until the station's next command [ms].
            fresh: the command is within the age limit. A stop is obeyed even when it
                is older, but an old DISARMED does not clear an emergency stop.
            pose_known: the robot's present pose is measured; a new arming needs it.

        Returns:
            What became of it; only OBEYED allows motion.
        """
        stamp = (generated_ns, sequence)
        if mode == StationMode.ESTOP:
            return self._stop(now_ns, stamp, epoch)
        if mode == StationMode.DISARMED:
            return self._disarm(now_ns, stamp, epoch, fresh=fresh)
        if not fresh:
            return Verdict.OUTDATED
        return self._arm(now_ns, stamp, epoch, period_ms, pose_known=pose_known)

    def step(self, now_ns: int) -> RobotState:
        """Let time pass.

        Args:
            now_ns: robot time [ns].

        Returns:
            The state from now on.
        """
        silence_ns = now_ns - self._heard_ns
        if self._state is RobotState.ACTIVE and silence_ns < self._silence_ns:
            return self._state
        said = f"No command for {silence_ns / NS_PER_S:.1f} s"
        if self._state == RobotState.ACTIVE:
            self._go(now_ns, SafetyEvent.SILENCE, said)
            self._hold_began_ns = now_ns
        if self._state == RobotState.HOLD:
            self._step_hold(now_ns, silence_ns, said)
        if self._state == RobotState.COMPLIANT and silence_ns >= self._slack_ns:
            self._go(now_ns, SafetyEvent.LOST_LONG, said)
        return self._state

    def fail(self, now_ns: int, reason: str) -> None:
        """End the arming: a bus, sensor or actuator makes it unsafe to go on.

        Args:
            now_ns: robot time [ns].
            reason: what failed, for people.
        """
        if self._actuation is Actuation.STIFF:
            self._go(now_ns, SafetyEvent.UNSAFE, reason)

    def _step_hold(self, now_ns: int, silence_ns: int, said: str) -> None:
        if self._disarmed:
            if now_ns - self._hold_began_ns >= self._compliant_ns:
                self._go(now_ns, SafetyEvent.DISARMED_LONG)
        elif self._epoch:
            if silence_ns >= self._compliant_ns:
                self._go(now_ns, self._on_loss, said)
                self._homing = self._on_loss is SafetyEvent.LOST_HOME
        elif silence_ns >= self._slack_ns:
            self._go(now_ns, SafetyEvent.LOST_LONG, said)

    def _go(self, now_ns: int, event: SafetyEvent, reason: str = "") -> None:
        """Do what the table says."""
        cell = TABLE[self._state, event]
        if cell.ends_arming and self._epoch:
            self._burn(self._epoch)
        self._enter(cell.state, None if cell.actuation is KEEP else cell.actuation)
        if cell.words:
            self._say(now_ns, cell.severity, cell.words.format(reason=reason))

    def _arm(
        self,
        now_ns: int,
        stamp: tuple[int, int],
        epoch: int,
        period_ms: float,
        *,
        pose_known: bool,
    ) -> Verdict:
        verdict = self._judge_arming(now_ns, stamp, epoch, pose_known=pose_known)
        if verdict != Verdict.OBEYED:
            return verdict
        if epoch != self._epoch:
            self._ended = self._epoch or self._ended
            self._epoch = epoch
            self._fence = stamp
            self._go(now_ns, SafetyEvent.ARM, str(epoch))
        elif self._state is not RobotState.ACTIVE:
            self._go(now_ns, SafetyEvent.GO_ON)
        self._heard_ns = now_ns
        self._newest = max(self._newest, stamp)
        wanted_ns = _PERIODS_OF_SILENCE * period_ms * NS_PER_MS
        # written so that a NaN gives the plain limit; never beyond the compliant time
        longer = round(min(wanted_ns, self._compliant_ns)) if wanted_ns > 0.0 else 0
        self._silence_ns = max(self._hold_ns, longer)
        return Verdict.OBEYED

    def _judge_arming(
        self, now_ns: int, stamp: tuple[int, int], epoch: int, *, pose_known: bool
    ) -> Verdict:
        if self._state == RobotState.ESTOP:
            return Verdict.LATCHED
        if not 1 <= epoch <= _EPOCH_LIMIT:
            return Verdict.NO_EPOCH
        if not self._listened:
            self._listened = True
            self._burn(epoch)
            self._say(
                now_ns,
                Severity.WARNING,
                f"Arming {epoch} began before this robot listened and is not obeyed. "
                "Disarm and arm again.",
            )
        if epoch in {self._ended, self._named}:
            return Verdict.BURNED
        if epoch != self._epoch:
            if stamp <= self._newest or stamp <= self._fence:
                return Verdict.OUTDATED
            if not pose_known:
                return Verdict.NO_MEASUREMENT
        return Verdict.OBEYED

    def _disarm(
        self, now_ns: int, stamp: tuple[int, int], epoch: int, *, fresh: bool
    ) -> Verdict:
        if stamp <= self._fence:
            return Verdict.OUTDATED
        if self._state == RobotState.ESTOP and not fresh:
            return Verdict.LATCHED
        self._listened = self._listened or fresh
        self._fence = stamp
        self._newest = max(self._newest, stamp)
        self._burn(epoch)
        if self._state == RobotState.ESTOP:
            self._leave_stop(now_ns)
        elif not self._disarmed:
            self._go(now_ns, SafetyEvent.DISARM)
            self._begin_disarmed_hold(now_ns)
        return Verdict.NOTED

    def _stop(self, now_ns: int, stamp: tuple[int, int], epoch: int) -> Verdict:
        if stamp[0] < self._fence[0]:  # at equal times a stop wins
            return Verdict.OUTDATED
        self._fence = max(self._fence, stamp)
        self._newest = max(self._newest, stamp)
        self._burn(epoch)
        done = "tendons slack." if self._estop_slack else "this pose is held."
        # "hold" freezes the winches as they are: from compliant nothing stiffens
        self._go(
            now_ns, SafetyEvent.STOP, f"{done} Reset it at the station, then arm again."
        )
        if self._estop_slack:
            self._actuation = Actuation.SLACK
        return Verdict.NOTED

    def _leave_stop(self, now_ns: int) -> None:
        self._go(now_ns, SafetyEvent[f"RESET_{self._actuation.name}"])
        self._begin_disarmed_hold(now_ns)

    def _begin_disarmed_hold(self, now_ns: int) -> None:
        if self._state == RobotState.HOLD:
            self._disarmed = True
            self._hold_began_ns = now_ns

    def _enter(self, state: RobotState, actuation: Actuation | None = None) -> None:
        self._state = state
        self._disarmed = False
        self._homing = False
        if actuation is not None:
            self._actuation = actuation

    def _burn(self, epoch: int) -> None:
        self._last_epoch = epoch or self._epoch or self._last_epoch
        self._ended = self._epoch or self._ended
        self._named = epoch or self._named
        self._epoch = 0

    def _say(self, now_ns: int, severity: Severity, text: str) -> None:
        self._events.append(Event(now_ns, severity, "robot", text))
        del self._events[:-64]  # nobody may be listening
