"""Numbers and states in words: figures with their unit, states with their reason."""

from app.messages import RobotState, Source, StationMode

__all__ = [
    "MODE_WORDS",
    "ROBOT_WORDS",
    "SCHEDULER_WORDS",
    "SOURCE_WORDS",
    "bit_rate",
    "distance",
    "duration_ms",
    "latency_us",
    "percent",
    "reach_words",
]

MODE_WORDS = {
    StationMode.DISARMED: "DISARMED",
    StationMode.ARMED: "ARMED",
    StationMode.ESTOP: "STOPPED",
}

ROBOT_WORDS = {
    RobotState.IDLE: ("IDLE", "compliant, waits for arming"),
    RobotState.ACTIVE: ("ACTIVE", "follows fresh setpoints"),
    RobotState.HOLD: ("HOLD", "holds its pose: silence or disarm"),
    RobotState.COMPLIANT: ("COMPLIANT", "silence was long: arm again to drive"),
    RobotState.SLACK: ("SLACK", "silence was very long: arm again to drive"),
    RobotState.ESTOP: ("STOPPED", "emergency stop is latched on the robot"),
}

SOURCE_WORDS = {
    Source.GAMEPAD: "gamepad",
    Source.CONSOLE: "console",
    Source.SCRIPT: "script",
    Source.HAPTIC: "haptic",
}

SCHEDULER_WORDS = {
    0: "ordinary scheduling",
    1: "real-time (FIFO)",
    2: "Python fallback",
}

# bits of models.inverse, worst first: what an operator can do comes with it
_REACH_WORDS = (
    (16, "bad target refused"),
    (8, "too far: come closer"),
    (2, "at bend limit"),
    (4, "at length limit"),
    (1, "at speed limit"),
)
_REFUSED = 16
_ON_TARGET_M = 1e-3
_PRESSING_N = 0.1


def reach_words(
    status: int, error: float, fault: int = 0, force: float = 0.0
) -> tuple[str, int]:
    """Say how well a limb reaches its target.

    Args:
        status: bits of `models.inverse`.
        error: distance from the target to the commanded tip [m].
        fault: status of the local model's limb; 0 where it is sound.
        force: that the hand pushes the limb with [N]; it is beyond the tip then, for
            something is in the way.

    Returns:
        The words, and how loud they are: 0 quiet, 1 of note, 2 wrong.
    """
    if fault:
        return f"model frozen (fault {fault}): arm again", 2
    if force > _PRESSING_N and not status & _REFUSED:
        return f"pressing with {force:.1f} N", 0
    for bit, words in _REACH_WORDS:
        if status & bit:
            loud = 2 if bit == _REFUSED else 1
            return words, loud
    if error > _ON_TARGET_M:
        return f"moving, {1e3 * error:.0f} mm to go", 0
    return "on target", 0


def duration_ms(value: float) -> str:
    """Write a time given in ms with three digits at most, as ms or s."""
    if not value >= 0.0:  # also NaN
        return "–"
    if value < 9.95:
        return f"{value:.1f} ms"
    if value < 999.5:
        return f"{value:.0f} ms"
    if value < 99_950.0:
        return f"{value / 1e3:.1f} s"
    return f"{value / 1e3:.0f} s"


def latency_us(value: float) -> str:
    """Write a time given in µs, as µs or ms."""
    if value < 9.95:
        return f"{value:.1f} µs"
    if value < 9_995.0:
        return f"{value:.0f} µs"
    return f"{value / 1e3:.1f} ms"


def bit_rate(value: float) -> str:
    """Write a bit rate given in bit/s with a fitting prefix."""
    if not value >= 0.0:
        return "–"
    for scale, unit in ((1e6, "Mbit/s"), (1e3, "kbit/s")):
        if value >= scale:
            scaled = value / scale
            return f"{scaled:.1f} {unit}" if scaled < 99.95 else f"{scaled:.0f} {unit}"
    return f"{value:.0f} bit/s"


def distance(value: float) -> str:
    """Write a distance given in m, as m or km."""
    if not value >= 0.0:
        return "–"
    if value < 9.95:
        return f"{value:.1f} m"
    return f"{value:.0f} m" if value < 9_995.0 else f"{value / 1e3:.0f} km"


def percent(value: float) -> str:
    """Write a share 0..1 in percent."""
    if not value >= 0.0:
        return "–"
    scaled = 100.0 * value
    return f"{scaled:.2f} %" if 0.0 < scaled < 0.995 else f"{scaled:.1f} %"
