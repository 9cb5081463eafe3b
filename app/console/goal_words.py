"""How goals get on, in words, and which way a limb's tip points. No Qt."""

import numpy as np

from app.clock import NS_PER_MS
from app.config.robot import RobotParameters
from app.console.goal_draft import GoalDraft
from app.console.readings import StationReadings
from app.console.theme import ALARM, AMBER, GOOD, MUTED, TEXT
from app.console.words import duration_ms
from app.messages import LinkHealth
from app.teleop.goals import GoalKind, GoalReason, GoalState
from models.limb import limb_poses
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = ["goal_words", "share_words", "stopped_by", "tip_axis"]


def goal_words(
    readings: StationReadings, robot: RobotParameters, limb: int
) -> tuple[str, str]:
    """Say how the newest goal gets on, and who drives the selected limb.

    Args:
        readings: the newest readings.
        robot: names of the limbs.
        limb: the selected one.

    Returns:
        A sentence and its colour.
    """
    health = readings.health
    number, of = int(health.goal_number[0]), int(health.goal_limb[0])
    if not number:
        return "No goal yet.", MUTED
    state = GoalState(int(health.goal_state[0]))
    name = GoalKind(int(health.goal_kind[0])).name.lower()
    who = "" if of == limb else f" ({robot.limbs[of].name})"
    what = f"{number}: {name}{who}"
    if state is GoalState.NONE:
        age_ms = (readings.now_ns - int(health.goal_asked_ns[0])) / NS_PER_MS
        return f"{what} on its way, {duration_ms(max(age_ms, 0.0))}", AMBER
    if state is GoalState.FAILED:
        why = GoalReason(int(health.goal_reason[0])).words
        return f"{what} failed: {why}.", ALARM
    if state is GoalState.DONE:
        after = "; STOP gives it back" if health.goal_hold[of] else ""
        return f"{what} done{after}.", GOOD
    felt = float(health.goal_force[0])
    force = f", {felt:.1f} N" if felt >= 0.05 else ""
    return f"{what} {100.0 * float(health.goal_progress[0]):.0f} %{force}", TEXT


def stopped_by(health: LinkHealth, limb: int) -> int:
    """Choose the limb that a stop is for.

    Args:
        health: newest knowledge of goals.
        limb: the selected one.

    Returns:
        The limb whose goal runs; else the selected one, or another, where goals alone
        drive it; -1 = none.
    """
    held = np.flatnonzero(health.goal_hold).tolist()
    of, state = int(health.goal_limb[0]), int(health.goal_state[0])
    runs = state not in (GoalState.DONE, GoalState.FAILED)
    for wanted, counts in ((of, runs), (limb, True)):
        if counts and wanted in held:
            return wanted
    return held[0] if held else -1


def tip_axis(model: RobotModel, limb: int, coordinates: FloatArray) -> FloatArray:
    """(3,) direction in which a limb's tip points, hull frame."""
    start, stop = model.limb_segment_start[limb : limb + 2]
    poses = np.zeros((stop - start + 1, 4, 4))
    limb_poses(model, limb, np.ascontiguousarray(coordinates[start:stop]), poses)
    axis: FloatArray = model.pose_base_to_hull[limb][:3, :3] @ poses[-1, :3, 2]
    return axis


def share_words(readings: StationReadings, draft: GoalDraft) -> tuple[str, str]:
    """Say what share assistance has, or why it has none.

    Args:
        readings: the newest readings.
        draft: what is wanted.

    Returns:
        Words and their colour.
    """
    share = float(readings.state.blend_share[0])
    if not draft.assisted:
        return "off", MUTED
    if draft.place is None:
        return "no place", AMBER
    if share > 0.0:
        return f"α {100.0 * share:.0f} % now", GOOD
    return f"≤ {100.0 * draft.blend:.0f} %", TEXT
