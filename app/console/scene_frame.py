"""What the scene shall draw, from the newest readings."""

import numpy as np

from app.clock import NS_PER_S
from app.console.drag import TipDrag
from app.console.readings import StationReadings
from app.console.touch import shows_model
from app.messages import StationMode, StationState
from app.scene import SceneFrame
from app.scene.marks import GoalMark, GuideMark
from app.scene.things import SurfaceMark
from app.teleop.goals import GoalKind, GoalState
from models.environment_report import SPHERE
from models.numerics import FloatArray

__all__ = ["build_scene_frame"]

_UNIT = 0.1  # error of a normal's length
_ENDED_NS = 8 * NS_PER_S  # a goal's mark stays so long after its end
_UNKNOWN_S = 60.0  # stands for the age of a pose that was never confirmed


def build_scene_frame(
    now_ns: int,
    readings: StationReadings,
    drag: TipDrag | None,
    *,
    skin: bool,
    aim: FloatArray | None = None,
    objects: FloatArray | None = None,
    guide: GuideMark | None = None,
) -> SceneFrame:
    """Say what to draw.

    Where the strategy shows telemetry only, neither model nor target nor the learned
    surfaces are in the picture; before the first telemetry the model stands in.

    Args:
        now_ns: present time [ns].
        readings: the newest readings.
        drag: a drag in progress, whose target is newer than the station's.
        skin: smooth skin, or bare sections.
        aim: (3,) the marked place [m], hull frame; None: none.
        objects: (B, 4, 4) of movable objects [m]; not finite: where they were.
        guide: what a participant is to do; None: nothing.
    """
    state, health = readings.state, readings.health
    selected = int(state.selected_limb[0])
    known = readings.has_robot
    limbs = range(state.grip.size)
    ages_ms = [readings.confirmed_age_ms(limb) for limb in limbs]
    seen = shows_model(readings)
    target = state.target_position[selected]
    if drag is not None and drag.limb == selected:
        target = drag.target
    armed = int(state.mode[0]) == StationMode.ARMED
    return SceneFrame(
        time_ns=now_ns,
        coordinates_model=state.coordinates_model,
        coordinates_confirmed=health.confirmed_coordinates if known else None,
        confirmed_age_s=np.nan_to_num(np.asarray(ages_ms) / 1e3, nan=_UNKNOWN_S),
        target=target if seen and not readings.waiting else None,
        selected_limb=selected,
        driving=armed and int(state.active_source[0]) >= 0,
        reached=not int(state.reach_status[selected]) & 8,
        skin=skin,
        trail=seen,
        ghosts=seen or not known,
        surfaces=[
            _mark(now_ns, readings, limb)
            for limb in limbs
            if seen and _has_surface(state, limb)
        ],
        tube=_tubes(state, selected) if seen else None,
        goal=_goal(now_ns, readings),
        aim=aim,
        object_poses=objects,
        guide=guide,
    )


def _tubes(state: StationState, selected: int) -> FloatArray:
    """(L,) radius about the model's tips: the selected limb's, and of alarms [m]."""
    shown = state.unexplained != 0
    shown[selected] = True
    return np.where(shown, state.tube, 0.0)


def _goal(now_ns: int, readings: StationReadings) -> GoalMark | None:
    """The newest goal, until it has ended for a while."""
    health = readings.health
    ended_ns = int(health.goal_ended_ns[0])
    kind = GoalKind(int(health.goal_kind[0]))
    shown = health.goal_number[0] and (not ended_ns or now_ns - ended_ns < _ENDED_NS)
    if not shown or kind is GoalKind.STOP or not readings.has_robot:
        return None
    tip = readings.tip_confirmed[int(health.goal_limb[0])]
    press = kind is GoalKind.PRESS
    points = health.goal_path[: int(health.goal_points[0])]
    state = int(health.goal_state[0])
    return GoalMark(
        place=tip.copy() if press else health.goal_position.copy(),
        path=np.concatenate([tip[None], points]),
        along=health.goal_normal.copy() if press else None,
        tolerance=float(health.goal_tolerance[0]),
        outcome={GoalState.DONE: 1, GoalState.FAILED: 2}.get(GoalState(state), 0),
    )


def _has_surface(state: StationState, limb: int) -> bool:
    """Whether a limb's surface is known, with a normal that can be drawn."""
    length = float(np.linalg.norm(state.surface_normal[limb]))
    return bool(state.surface_known[limb]) and abs(length - 1.0) < _UNIT


def _mark(now_ns: int, readings: StationReadings, limb: int) -> SurfaceMark:
    """The surface of a limb where its tip meets it."""
    state = readings.state
    point = state.surface_point[limb]
    if int(state.surface_kind[limb]) == SPHERE:
        point = point + float(state.surface_radius[limb]) * state.surface_normal[limb]
    age_ns = now_ns - int(state.surface_estimated_ns[limb])
    return SurfaceMark(
        point=point,
        normal=state.surface_normal[limb],
        age_s=max(0.0, age_ns / NS_PER_S),
        stiffness=float(state.surface_stiffness[limb]),
    )
