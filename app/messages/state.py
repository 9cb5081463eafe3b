"""What the control tick publishes every millisecond; all of it is logged."""

from typing import NamedTuple

import numpy as np

from app.messages.inputs import Source
from app.messages.shapes import ONE_INT, Shapes
from models.numerics import FloatArray, IntArray
from models.robot import RobotModel

__all__ = ["StationState", "state_shapes"]


class StationState(NamedTuple):
    """What the control tick publishes every millisecond."""

    time_ns: IntArray  # (1,) start of the tick
    tick: IntArray  # (1,) ticks since start
    mode: IntArray  # (1,) StationMode
    arm_epoch: IntArray  # (1,) 1..255, new at every arming
    arm_refusal: IntArray  # (1,) why the last arming was refused, see app.control.tick
    active_source: IntArray  # (1,) Source in charge, or -1
    selected_limb: IntArray  # (1,)
    source_age_ns: IntArray  # (3,) age of each source's newest sample
    source_fresh: IntArray  # (3,) 1 where that sample is young enough to be believed
    health_ns: IntArray  # (1,) time of the newest `LinkHealth` that this tick knew
    wish_revision: IntArray  # (1,) of the newest `TeleopWish` that this tick knew
    target_position: FloatArray  # (L, 3) operator's tip target [m], hull frame
    reach_error: FloatArray  # (L,) distance from the target to the commanded tip [m]
    reach_status: IntArray  # (L,) bits of models.inverse
    coordinates_commanded: FloatArray  # (S, 3) after limits; what is sent
    tip_commanded: FloatArray  # (L, 3) [m], hull frame
    coordinates_model: FloatArray  # (S, 3) of the local model
    rates_model: FloatArray  # (S, 3)
    tip_model: FloatArray  # (L, 3) [m], hull frame
    servo_length_model: FloatArray  # (T,) [m]
    tension_model: FloatArray  # (T,) [N]
    fault: IntArray  # (L,) status of the local model's limbs
    strategy: IntArray  # (1,) how hand and tip are joined, app.teleop.strategy
    force_hand: FloatArray  # (3,) what the hand is to push with; a device shows minus
    # it; hull frame [N]
    grip: FloatArray  # (L,) wanted of each gripper, 0 open to 1
    # blended assistance
    blend: FloatArray  # (1,) greatest share that is wanted of it, 0 = off
    blend_share: FloatArray  # (1,) share of the tip's velocity that it has now
    aim_limb: IntArray  # (1,) limb that it leads
    aim: FloatArray  # (3,) where to, hull frame [m]; NaN = nowhere
    # what the master half tells the slave half of the selected limb
    sent_time_ns: IntArray  # (1,)
    sent_engagement: IntArray  # (1,) how many strategies have been engaged
    sent_position: FloatArray  # (3,) [m], hull frame, like all that follow
    sent_velocity: FloatArray  # (3,) [m/s]
    sent_force: FloatArray  # (3,) [N]
    sent_wave: FloatArray  # (3,) [sqrt(W)]
    sent_wave_integral: FloatArray  # (3,) [sqrt(W) s]
    sent_energy: FloatArray  # (1,) [J]
    # energy at the hand's port of each limb since the station started
    port_energy: FloatArray  # (L,) that the hand has put in, less what it got [J]
    injected_energy: FloatArray  # (L,) most that it ever got beyond what it put in [J]
    # how well the local model explains the robot
    mismatch: FloatArray  # (L,) rms distance of tips at equal times [m]
    tube: FloatArray  # (L,) radius about the model's tip that holds the robot's [m]
    unexplained: IntArray  # (L,) 1 while the model does not explain the robot
    # the surface that is rendered for each limb, hull frame
    surface_known: IntArray  # (L,)
    surface_kind: IntArray  # (L,) models.environment_report.PLANE or SPHERE
    surface_status: IntArray  # (L,) models.environment_report.SurfaceStatus
    surface_estimated_ns: IntArray  # (L,) in station time
    surface_point: FloatArray  # (L, 3) of the plane, or centre of the sphere [m]
    surface_normal: FloatArray  # (L, 3)
    surface_radius: FloatArray  # (L,) [m]
    surface_stiffness: FloatArray  # (L,) as rendered [N/m^n]


_TIPS = (
    "target_position",
    "tip_commanded",
    "tip_model",
    "surface_point",
    "surface_normal",
)
_LIMB_FLOATS = (
    "reach_error",
    "grip",
    "port_energy",
    "injected_energy",
    "mismatch",
    "tube",
    "surface_radius",
    "surface_stiffness",
)
_LIMB_INTEGERS = (
    "reach_status",
    "fault",
    "unexplained",
    "surface_known",
    "surface_kind",
    "surface_status",
    "surface_estimated_ns",
)
_VECTORS = (
    "force_hand",
    "aim",
    "sent_position",
    "sent_velocity",
    "sent_force",
    "sent_wave",
    "sent_wave_integral",
)
_POSES = ("coordinates_commanded", "coordinates_model", "rates_model")
_TENDONS = ("servo_length_model", "tension_model")


def state_shapes(model: RobotModel) -> Shapes:
    """Shapes of `StationState` for a robot."""
    limbs, segments = model.tip_speed_limit.size, model.segment_length.size
    tendons, sources = model.tendon_angle.size, len(Source)
    return dict.fromkeys(StationState._fields, ONE_INT) | {
        name: (kind, shape)
        for names, kind, shape in (
            (("source_age_ns", "source_fresh"), np.int64, (sources,)),
            (_TIPS, np.float64, (limbs, 3)),
            (_LIMB_FLOATS, np.float64, (limbs,)),
            (_LIMB_INTEGERS, np.int64, (limbs,)),
            (_VECTORS, np.float64, (3,)),
            (("sent_energy", "blend", "blend_share"), np.float64, (1,)),
            (_POSES, np.float64, (segments, 3)),
            (_TENDONS, np.float64, (tendons,)),
        )
        for name in names
    }
