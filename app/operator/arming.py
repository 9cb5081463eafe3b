"""When an operator that is a program arms, drives, waits and ends. Pure.

It arms by itself, as a person who watches the screen would, and never against one:
once somebody else has disarmed or stopped, it has ended for good.
"""

from typing import NamedTuple

from app.clock import NS_PER_MS, NS_PER_S
from app.messages import (
    Event,
    LinkHealth,
    RobotState,
    Severity,
    Source,
    StationMode,
    StationState,
)

__all__ = ["ArmingWish", "ScriptedArming"]

ARM_PERIOD_NS = 2 * NS_PER_S
_SETTLE_NS = 100 * NS_PER_MS  # the tick must first see this source with no press
_NOT_FOLLOWING = frozenset(
    int(state) for state in (RobotState.IDLE, RobotState.COMPLIANT, RobotState.SLACK)
)
_DISARMED, _ARMED, _STOPPED = (
    int(mode) for mode in (StationMode.DISARMED, StationMode.ARMED, StationMode.ESTOP)
)


class ArmingWish(NamedTuple):
    """What the program's hands do."""

    drive: bool
    """Hold the deadman and move."""
    arm_count: int
    """Presses of arm so far."""
    disarm_count: int
    """Presses of disarm so far."""


def _wishes(arm: int, disarm: int) -> tuple[ArmingWish, ArmingWish]:
    """What is wished for after so many presses: without driving, and with."""
    return ArmingWish(False, arm, disarm), ArmingWish(True, arm, disarm)


class ScriptedArming:
    """Arms when telemetry is fresh, arms again when the robot has let go."""

    def __init__(self, source: Source) -> None:
        """Start with nothing pressed; `source` is the one this program speaks as."""
        self._may_drive_beside = (-1, int(source))
        self._wishes = _wishes(0, 0)
        self._wish = self._wishes[False]
        self._known = (0, 0, 0, 0, 0)  # what the wish came of
        self._known_until_ns = 0  # so long it does, while nothing else is known
        self._settled_ns: int | None = None
        self._pressed_ns = 0
        self._was_armed = False
        self._own_disarm = False
        self.ended = False
        """Somebody has taken the robot out of this program's hands."""
        self._events: list[Event] = []

    def step(self, now_ns: int, state: StationState, health: LinkHealth) -> ArmingWish:
        """Decide.

        Args:
            now_ns: present time [ns].
            state: what the control tick published last.
            health: what is known of robot and link.

        Returns:
            Whether to drive now, and the presses so far.
        """
        known = (
            state.mode.item(),
            state.active_source.item(),
            health.robot_state.item(),
            health.robot_heard_ns.item(),
            health.telemetry_limit_ns.item(),
        )
        if known != self._known or now_ns > self._known_until_ns:
            self._decide(now_ns, state, health)
            self._known = known
        return self._wish

    def _decide(self, now_ns: int, state: StationState, health: LinkHealth) -> None:
        """Decide; arguments as of `step`."""
        if self._settled_ns is None:
            self._settled_ns = now_ns + _SETTLE_NS
        self._known_until_ns = 0
        mode = state.mode.item()
        if mode != _ARMED:
            self._watch_people(now_ns, mode, state.arm_refusal.item())
        self._was_armed = mode == _ARMED
        heard_ns = health.robot_heard_ns.item()
        limit_ns = health.telemetry_limit_ns.item()
        drive = False
        fresh = heard_ns > 0 and now_ns - heard_ns <= limit_ns
        if fresh and now_ns >= self._settled_ns and not self.ended:
            if mode == _ARMED:
                # a person who holds a deadman has the limb; this one waits
                drive = state.active_source.item() in self._may_drive_beside
                if health.robot_state.item() in _NOT_FOLLOWING:
                    self._retry(now_ns, health)
                else:
                    self._known_until_ns = heard_ns + limit_ns
            else:
                self._press_arm(now_ns, health)
        self._wish = self._wishes[drive]

    def events(self) -> list[Event]:
        """Return what happened since the last call: nothing before it has `ended`."""
        events, self._events = self._events, []
        return events

    def _watch_people(self, now_ns: int, mode: int, refusal: int) -> None:
        if self.ended:
            return
        stopped = mode == _STOPPED
        # the tick gives a reason, other than 0, when it or the robot disarmed
        disarmed = (
            self._was_armed
            and mode == _DISARMED
            and refusal == 0
            and not self._own_disarm
        )
        if mode == _DISARMED:
            self._own_disarm = False
        if stopped or disarmed:
            self.ended = True
            cause = "Emergency stop" if stopped else "Disarmed by a person"
            self._events.append(
                Event(
                    now_ns,
                    Severity.WARNING,
                    "operator",
                    f"{cause}: the scripted operator has ended. Start it anew.",
                )
            )

    def _press_arm(self, now_ns: int, health: LinkHealth) -> None:
        _, arm, disarm = self._wishes[False]
        due = arm == 0 or now_ns - self._pressed_ns >= ARM_PERIOD_NS
        if due and int(health.robot_state[0]) != RobotState.ESTOP:
            self._wishes = _wishes(arm + 1, disarm)
            self._pressed_ns = now_ns

    def _retry(self, now_ns: int, health: LinkHealth) -> None:
        """Disarm, to arm anew, where the robot has not taken up this arming."""
        patience_ns = max(
            ARM_PERIOD_NS,
            3 * int(NS_PER_MS * min(60_000.0, max(0.0, health.rtt_ms.item()))),
            2 * health.telemetry_limit_ns.item(),
        )
        if now_ns - self._pressed_ns < patience_ns:
            return
        _, arm, disarm = self._wishes[False]
        self._wishes = _wishes(arm, disarm + 1)
        self._own_disarm = True
        self._pressed_ns = now_ns
