"""The one sentence under the top bar: what is wrong, or what to do next."""

from dataclasses import dataclass

from app.console.readings import StationReadings
from app.console.words import ROBOT_WORDS, duration_ms
from app.control.arming import ARM_REFUSAL_TEXT
from app.messages import RobotState, StationMode

__all__ = ["Notice", "choose_notice"]


@dataclass(frozen=True)
class Notice:
    """A sentence, how loud it is (0..3), and a button's action ("", restart, take)."""

    text: str
    loudness: int
    action: str = ""


def choose_notice(
    readings: StationReadings,
    *,
    is_writer: bool,
    watch_only: bool,
    lock_free: bool,
    lock_holder: str,
    stop_released: bool,
    can_restart: bool,
) -> Notice:
    """Choose what matters most now.

    Args:
        readings: the newest readings.
        is_writer: this console commands.
        watch_only: it never will.
        lock_free: nobody commands.
        lock_holder: process id of the console that commands.
        stop_released: first act of clearing a stop is done.
        can_restart: the processes belong to this console.
    """
    if readings.waiting:
        return Notice(
            "The station starts; on its first start it compiles its kernels (up to a "
            "minute).",
            1,
        )
    if not readings.is_alive:
        if can_restart:
            return Notice(
                "The station ended: nothing is sent. Restart it.", 3, "restart"
            )
        return Notice(
            "The station ended: nothing is sent. Restart it where it was started.", 3
        )
    if not is_writer:
        if watch_only:
            return Notice("Watching only, as asked for at the start.", 1)
        if lock_free:
            return Notice("Watching: nobody is in control.", 2, "take")
        return Notice(
            f"Watching: the console of process {lock_holder} is in control.", 2
        )
    return _driving(readings, stop_released=stop_released)


def _driving(readings: StationReadings, *, stop_released: bool) -> Notice:
    state, health = readings.state, readings.health
    mode = int(state.mode[0])
    refusal = ARM_REFUSAL_TEXT.get(int(state.arm_refusal[0]), "")
    if mode == StationMode.ESTOP:
        if refusal:
            return Notice(refusal, 3)
        step = (
            "hold RESET to clear it (second act), then arm again"
            if stop_released
            else "click the red button to release it (first act), then hold RESET"
        )
        return Notice(f"Emergency stop is latched: {step}.", 3)
    if health.cut[0]:
        return Notice(
            "Nothing passes the link: an outage ends by itself, a cut by CUT – MEND.", 2
        )
    if mode == StationMode.DISARMED:
        if refusal:
            return Notice(refusal, 2)
        if not readings.has_robot:
            return Notice("Waiting for the robot's first telemetry.", 2)
        return Notice("Ready: hold HOLD TO ARM (or ENTER, or START on the gamepad).", 1)
    if not readings.is_link_alive:
        return Notice("The station's link thread does not report.", 3)
    age_ms = float(health.age_ms[0])
    if not age_ms <= readings.age_limit_ms():
        return Notice(
            f"The robot's newest pose is {duration_ms(age_ms)} old: move with care.", 2
        )
    robot = int(health.robot_state[0])
    if robot in list(RobotState) and robot != RobotState.ACTIVE:
        word, why = ROBOT_WORDS[RobotState(robot)]
        return Notice(f"The robot is {word}: {why}.", 2)
    if int(state.active_source[0]) < 0:
        return Notice(
            "Armed: hold the deadman (SPACE, RB) to move, or drag a tip by mouse.",
            1,
        )
    return Notice("Driving.", 0)
