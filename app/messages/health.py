"""What the station knows of the robot and the link; written by its link thread."""

from typing import NamedTuple

import numpy as np

from app.messages.shapes import ONE_FLOAT, ONE_INT, Shapes
from app.messages.wishes import GOAL_POINTS
from models.numerics import FloatArray, IntArray
from models.robot import RobotModel

__all__ = ["OBJECTS", "LinkHealth", "health_shapes"]


class LinkHealth(NamedTuple):
    """Newest knowledge of link and robot."""

    time_ns: IntArray  # (1,)
    robot_heard_ns: IntArray  # (1,) station time of the newest telemetry, 0 = never
    robot_state: IntArray  # (1,) RobotState, or -1
    robot_epoch: IntArray  # (1,) arming the robot follows, 0 = none
    telemetry_limit_ns: IntArray  # (1,) telemetry older than this is too old to arm on
    emulator_present: IntArray  # (1,)
    confirmed_coordinates: FloatArray  # (S, 3) as measured by the robot
    confirmed_generated_ns: IntArray  # (L,) when measured, in station time
    confirmed_earlier: IntArray  # (S,) 1: that measurement did not tell this segment
    confirmed_tension: FloatArray  # (T,) [N] as measured, where telemetry carries it
    age_ms: FloatArray  # (1,) age of information of the robot's pose
    command_age_ms: FloatArray  # (1,) age of the newest command the robot applied
    rtt_ms: FloatArray  # (1,)
    loss_down: FloatArray  # (1,) 0..1 over the last seconds
    loss_up: FloatArray  # (1,)
    down_bps: FloatArray  # (1,) sent to the robot, bits/s
    up_bps: FloatArray  # (1,) received from the robot, bits/s
    send_hz: FloatArray  # (1,) setpoint frames/s
    queue_ms: FloatArray  # (1,) emulator: wait before serialisation
    preset: IntArray  # (1,) index of the link preset in force
    delay_ms: FloatArray  # (1,) settings in force
    jitter_ms: FloatArray  # (1,)
    loss_set: FloatArray  # (1,)
    bandwidth_bps: FloatArray  # (1,)
    cut: IntArray  # (1,)
    # what the slave half of one limb has told, station's time
    heard_limb: IntArray  # (1,) -1 = nothing yet
    heard_time_ns: IntArray  # (1,)
    heard_strategy: IntArray  # (1,) app.teleop.strategy
    heard_engagement: IntArray  # (1,) the station's count that it answers
    heard_position: FloatArray  # (3,) [m], hull frame, like all that follow
    heard_velocity: FloatArray  # (3,) [m/s]
    heard_force: FloatArray  # (3,) [N]
    heard_wave: FloatArray  # (3,) [sqrt(W)]
    heard_wave_integral: FloatArray  # (3,) [sqrt(W) s]
    heard_energy: FloatArray  # (1,) [J]
    contact_force: FloatArray  # (L, 3) that each tip pushes with, hull frame [N]
    holding: IntArray  # (L,) by its gripper: 1 something, -1 nothing, 0 not known
    # the command under which the newest telemetry of each limb was made
    confirmed_command_ns: IntArray  # (L,) when it was given, 0 = not known
    # newest report of the surface that each limb's tip touches
    report_number: IntArray  # (L,) 0 = none yet
    report_status: IntArray  # (L,) models.environment_report.SurfaceStatus
    report_kind: IntArray  # (L,)
    report_estimated_ns: IntArray  # (L,) in station time
    report_point: FloatArray  # (L, 3) [m]
    report_normal: FloatArray  # (L, 3)
    report_radius: FloatArray  # (L,) [m]
    report_stiffness: FloatArray  # (L,) [N/m^n]
    report_damping: FloatArray  # (L,)
    report_exponent: FloatArray  # (L,)
    report_confidence: FloatArray  # (L,) 0..1
    # the newest goal, and how the robot gets on with it
    goal_number: IntArray  # (1,) 0 = none yet
    goal_kind: IntArray  # (1,) app.teleop.goals.GoalKind
    goal_limb: IntArray  # (1,)
    goal_state: IntArray  # (1,) app.teleop.goals.GoalState
    goal_reason: IntArray  # (1,) app.teleop.goals.GoalReason
    goal_wish: IntArray  # (2,) newest wish of each `GoalSource` that was acted on
    goal_taken: IntArray  # (2,) number given to that wish; 0 = it was refused
    goal_asked_ns: IntArray  # (1,)
    goal_ended_ns: IntArray  # (1,) 0 = not yet
    goal_points: IntArray  # (1,) how many of `goal_path` count
    goal_progress: FloatArray  # (1,) 0..1
    goal_force: FloatArray  # (1,) of contact now [N]
    goal_tolerance: FloatArray  # (1,) [m]
    goal_position: FloatArray  # (3,) hull frame [m]
    goal_normal: FloatArray  # (3,)
    goal_path: FloatArray  # (GOAL_POINTS, 3) [m]
    goal_hold: IntArray  # (L,) 0 = setpoints drive the limb, 1 = a goal is on its way
    # to it: stand still, 2 = it listens to goals alone: follow what it reports
    goal_grip: FloatArray  # (L,) where a goal leaves the gripper, NaN = as it was
    # movable objects as the robot sees them
    object_told_ns: IntArray  # (OBJECTS,) when seen, station time; 0 = never told
    object_holder: IntArray  # (OBJECTS,) limb that holds it, -1 = none
    object_position: FloatArray  # (OBJECTS, 3) hull frame [m]
    object_turn: FloatArray  # (OBJECTS, 4) unit quaternion wxyz, body to hull


OBJECTS = 8
"""Movable objects of a scene that can be told of."""


_VECTORS = (
    "heard_position",
    "heard_velocity",
    "heard_force",
    "heard_wave",
    "heard_wave_integral",
    "goal_position",
    "goal_normal",
)
_TIPS = ("contact_force", "report_point", "report_normal")
_OBJECT_SHAPES: Shapes = {
    "goal_wish": (np.int64, (2,)),
    "goal_taken": (np.int64, (2,)),
    "goal_path": (np.float64, (GOAL_POINTS, 3)),
    "object_told_ns": (np.int64, (OBJECTS,)),
    "object_holder": (np.int64, (OBJECTS,)),
    "object_position": (np.float64, (OBJECTS, 3)),
    "object_turn": (np.float64, (OBJECTS, 4)),
}
_LIMB_FLOATS = (
    "report_radius",
    "report_stiffness",
    "report_damping",
    "report_exponent",
    "report_confidence",
    "goal_grip",
)
_LIMB_INTEGERS = (
    "confirmed_generated_ns",
    "confirmed_command_ns",
    "holding",
    "report_number",
    "report_status",
    "report_kind",
    "report_estimated_ns",
    "goal_hold",
)
_SCALARS = (
    "age_ms",
    "command_age_ms",
    "rtt_ms",
    "loss_down",
    "loss_up",
    "down_bps",
    "up_bps",
    "send_hz",
    "queue_ms",
    "delay_ms",
    "jitter_ms",
    "loss_set",
    "bandwidth_bps",
    "heard_energy",
    "goal_progress",
    "goal_force",
    "goal_tolerance",
)


def health_shapes(model: RobotModel) -> Shapes:
    """Shapes of `LinkHealth` for a robot."""
    limbs, segments = model.tip_speed_limit.size, model.segment_length.size
    return (
        dict.fromkeys(LinkHealth._fields, ONE_INT)
        | _OBJECT_SHAPES
        | {
            name: (kind, shape)
            for names, kind, shape in (
                (_SCALARS, *ONE_FLOAT),
                (_VECTORS, np.float64, (3,)),
                (_TIPS, np.float64, (limbs, 3)),
                (_LIMB_FLOATS, np.float64, (limbs,)),
                (_LIMB_INTEGERS, np.int64, (limbs,)),
                (("confirmed_coordinates",), np.float64, (segments, 3)),
                (("confirmed_earlier",), np.int64, (segments,)),
                (("confirmed_tension",), np.float64, (model.tendon_angle.size,)),
            )
            for name in names
        }
    )
