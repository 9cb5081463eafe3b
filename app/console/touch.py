"""What the operator is told of touch: forces, the surface, the model, the coasting.

Plain sentences with their loudness, for the selected limb; nothing here draws.
"""

import math

import numpy as np

from app.clock import NS_PER_MS
from app.config.robot import RobotParameters
from app.console.readings import StationReadings
from app.console.words import duration_ms
from app.messages import InputMode
from app.teleop.feasibility import coast_after_release
from app.teleop.strategy import Strategy
from models.environment_report import SurfaceStatus
from models.robot import RobotModel

__all__ = [
    "FELT_N",
    "Line",
    "coast_m",
    "grip_words",
    "limb_lines",
    "shows_model",
    "strategy_of",
    "surface_words",
]

Line = tuple[str, int]
"""A sentence and how loud it is: 0 quiet, 1 plain, 2 of note, 3 wrong."""

FELT_N = 0.05
"""A force below this is not drawn [N]."""

_STATUS_LINES: dict[int, Line] = {
    SurfaceStatus.MOVED: ("surface moved: touch anew, slowly", 2),
    SurfaceStatus.CHANGED: ("softer or stiffer now: press gently", 2),
    SurfaceStatus.GONE: ("surface GONE: back off, touch anew", 3),
    SurfaceStatus.NOT_EXPLAINED: ("NOT EXPLAINED: trust robot's force", 3),
}


def strategy_of(readings: StationReadings) -> Strategy:
    """Return the strategy in force."""
    number = int(readings.state.strategy[0])
    return Strategy(number) if number in list(Strategy) else Strategy.MODEL_MEDIATED


def shows_model(readings: StationReadings) -> bool:
    """Whether the picture shows the local model, or what the robot told alone."""
    return strategy_of(readings) != Strategy.MOVE_AND_WAIT


def coast_m(speed: float, rtt_ms: float) -> float:
    """How far a tip goes on after a person sees that it should stop.

    Args:
        speed: of the tip [m/s].
        rtt_ms: round trip [ms].

    Returns:
        Speed times round trip and reaction [m]; NaN where the round trip is unknown.
    """
    if not rtt_ms >= 0.0:  # also NaN
        return math.nan
    return coast_after_release(Strategy.MOVE_AND_WAIT, speed, 1e-3 * rtt_ms)


def grip_words(readings: StationReadings, robot: RobotParameters, limb: int) -> str:
    """Say how far a limb's gripper is wanted closed; "" where there is none."""
    grip = float(readings.state.grip[limb])
    if robot.limbs[limb].gripper is None and grip <= 0.0:
        return ""
    if grip <= 0.0:
        return "grip open"
    return "grip closed" if grip >= 1.0 else f"grip {100.0 * grip:.0f} %"


def surface_words(readings: StationReadings, limb: int) -> list[Line]:
    """Describe the surface that is rendered for a limb, and what is wrong with it."""
    state, health = readings.state, readings.health
    lines: list[Line] = []
    if state.surface_known[limb]:
        exponent = float(health.report_exponent[limb])
        unit = "N/m" if abs(exponent - 1.0) < 0.01 else f"N/m^{exponent:.1f}"
        stiffness = f"{float(state.surface_stiffness[limb]):.0f} {unit}"
        age_ms = (readings.now_ns - int(state.surface_estimated_ns[limb])) / NS_PER_MS
        aged = f", {duration_ms(max(0.0, age_ms))} old"
        lines.append((f"surface {stiffness}{aged}", 1))
    if line := _STATUS_LINES.get(int(state.surface_status[limb])):
        lines.append(line)
    return lines


def limb_lines(
    readings: StationReadings, robot: RobotParameters, model: RobotModel
) -> list[Line]:
    """Say what matters of the selected limb, in an order that does not change.

    Args:
        readings: the newest readings.
        robot: whether the limb has a gripper.
        model: its greatest speed.
    """
    state = readings.state
    limb = int(state.selected_limb[0])
    strategy = strategy_of(readings)
    seen = shows_model(readings)
    speed = float(readings.tip_speed[limb])
    lines: list[Line] = []
    if seen:
        lines.append((f"tip speed {1e3 * speed:.0f} mm/s", 1))
    if seen and readings.has_robot:
        gap = 1e3 * math.dist(state.tip_model[limb], readings.tip_confirmed[limb])
        lines.append((f"model ahead of robot by {gap:.0f} mm", 1))
        off = 1e3 * float(state.mismatch[limb])
        loud = 3 if state.unexplained[limb] else 1
        told = f"{off:.1f} mm" if off > 0.0 else "–"  # not compared yet
        lines.append((f"model differs from robot by {told}", loud))
    if float(state.reach_error[limb]) > 2e-3 and seen:
        error = 1e3 * float(state.reach_error[limb])
        lines.append((f"target {error:.0f} mm from tip", 0))
    if not seen:
        lines.append(_coast_line(readings, model, limb))
    lines += _goal_lines(readings, limb)
    lines += _force_lines(readings, strategy, limb)
    if strategy == Strategy.MODEL_MEDIATED:
        lines += surface_words(readings, limb)
    if words := grip_words(readings, robot, limb):
        lines.append((words, 1))
    return lines


def _goal_lines(readings: StationReadings, limb: int) -> list[Line]:
    """Who drives the limb beside the operator."""
    if int(readings.health.goal_hold[limb]):
        return [("listens to goals: F11 gives it back", 2)]
    if strategy_of(readings) == Strategy.SUPERVISED:
        return [("goals alone move it: F9 sets one", 1)]
    share = float(readings.state.blend_share[0])
    if share > 0.0:
        return [(f"assistance has {100.0 * share:.0f} % of its speed", 1)]
    return []


def _coast_line(readings: StationReadings, model: RobotModel, limb: int) -> Line:
    rtt_ms = float(readings.health.rtt_ms[0])
    most = 1e3 * coast_m(float(model.tip_speed_limit[limb]), rtt_ms)
    if math.isnan(most):
        return "coasting unknown: no round trip yet", 2
    source = int(readings.state.active_source[0])
    steered = source >= 0 and int(readings.inputs[source].mode[0]) == InputMode.RATE
    speed = float(readings.tip_speed[limb]) if steered else 0.0
    now = 1e3 * coast_m(speed, rtt_ms)
    return f"coasts {now:.0f} mm if let go (at most {most:.0f})", 2 if steered else 1


def _force_lines(
    readings: StationReadings, strategy: Strategy, limb: int
) -> list[Line]:
    state, health = readings.state, readings.health
    lines: list[Line] = []
    if strategy.feels:
        lines.append((f"hand pushes {np.linalg.norm(state.force_hand):.2f} N", 1))
    if readings.has_robot:
        force = float(np.linalg.norm(health.contact_force[limb]))
        age = duration_ms(readings.confirmed_age_ms(limb))
        lines.append((f"robot felt {force:.2f} N, {age} ago", 1))
    if strategy.bilateral and int(state.active_source[0]) >= 0:
        followed = int(health.heard_strategy[0]) == strategy
        if int(health.heard_limb[0]) != limb or not followed:
            lines.append(("robot has not taken this up yet", 2))
    return lines
