"""How the tick joins the operator's hand to the limb that is driven.

    newest of the robot -> Signal, surface reports -> the hand's proxy -> master half
    -> force to the hand, signal to the robot

The hand's proxy is where the hand is in the robot's frame and scale: with an absolute
device that place itself, else the tip target that the stick moves.
"""

import math

from app.control.coupling_data import CouplingData
from app.messages import InputBlock, LinkHealth, Source, StationState, TeleopWish
from app.teleop.blending import BLEND_MOST
from app.teleop.gains import Gains
from app.teleop.master import master_step, reset_master
from app.teleop.passivity import power
from app.teleop.strategy import Strategy
from models.environment import LocalSurface
from models.environment_table import surface_of
from models.environment_update import update_surface
from models.numerics import FloatArray, kernel, kernel_part

__all__ = [
    "couple",
    "hear",
    "let_go",
    "publish_coupling",
    "settle_surfaces",
    "take_wish",
]

_STRATEGIES = len(Strategy)
_TARGET = 2  # of InputMode
_HAPTIC = int(Source.HAPTIC)  # alone measures the hand's velocity
_FOLLOW_S = 0.005  # time constant of the velocity that is taken from positions


@kernel
def take_wish(wish: TeleopWish, data: CouplingData) -> None:
    """Change the strategy, or the blended assistance, where the console wants it.

    Args:
        wish: newest of the console; what there is not, or is not finite, is ignored.
        data: of the coupling.
    """
    if wish.revision[0] != data.wished[0]:
        data.wished[0] = wish.revision[0]
        if 0 <= wish.strategy[0] < _STRATEGIES:
            data.strategy[0] = wish.strategy[0]
    if wish.blend_revision[0] == data.blend_wished[0]:
        return
    data.blend_wished[0] = wish.blend_revision[0]
    data.blend[0] = 0.0
    if math.isfinite(wish.blend[0]):
        data.blend[0] = min(max(wish.blend[0], 0.0), BLEND_MOST)
    data.aim_limb[0] = wish.aim_limb[0]
    for i in range(3):
        data.aim[i] = wish.aim[i]


@kernel
def hear(health: LinkHealth, driven: int, data: CouplingData) -> None:
    """Take over what the robot has told since the last tick.

    Args:
        health: newest knowledge of the robot.
        driven: limb that is selected.
        data: of the coupling; its heard signal and the reports of all surfaces.
    """
    heard = data.heard
    heard.fresh[0] = 0
    if health.heard_limb[0] != driven:
        heard.time_ns[0] = 0
    elif health.heard_time_ns[0] != heard.time_ns[0]:
        heard.fresh[0] = 1
        heard.time_ns[0] = health.heard_time_ns[0]
        heard.strategy[0] = health.heard_strategy[0]
        heard.engagement[0] = health.heard_engagement[0]
        heard.energy[0] = health.heard_energy[0]
        for i in range(3):
            heard.position[i] = health.heard_position[i]
            heard.velocity[i] = health.heard_velocity[i]
            heard.force[i] = health.heard_force[i]
            heard.wave[i] = health.heard_wave[i]
            heard.wave_integral[i] = health.heard_wave_integral[i]
    report = data.surfaces.heard
    for limb in range(data.grip.size):
        if health.report_number[limb] == report.number[limb]:
            continue
        report.number[limb] = health.report_number[limb]
        report.status[limb] = health.report_status[limb]
        report.kind[limb] = health.report_kind[limb]
        report.estimated_ns[limb] = health.report_estimated_ns[limb]
        report.radius[limb] = health.report_radius[limb]
        report.stiffness[limb] = health.report_stiffness[limb]
        report.damping[limb] = health.report_damping[limb]
        report.exponent[limb] = health.report_exponent[limb]
        report.confidence[limb] = health.report_confidence[limb]
        for i in range(3):
            report.point[limb, i] = health.report_point[limb, i]
            report.normal[limb, i] = health.report_normal[limb, i]


@kernel
def let_go(place: FloatArray, data: CouplingData) -> None:
    """Show the hand no force: nobody is in charge, or the limb has changed.

    Args:
        place: (3,) where the hand's proxy rests, hull frame [m].
        data: of the coupling.
    """
    reset_master(data.master)
    data.sent.time_ns[0] = 0
    for i in range(3):
        data.hand[i] = place[i]
        data.hand_velocity[i] = 0.0
        data.lead[i] = 0.0
        data.force[i] = 0.0
        data.sent.force[i] = 0.0
        data.sent.velocity[i] = 0.0


@kernel
def _move_hand(
    period: float,
    source: int,
    sample: InputBlock,
    target: FloatArray,
    offset: FloatArray,
    data: CouplingData,
) -> None:
    """Advance the hand's proxy to where the operator is now."""
    absolute = sample.mode[0] == _TARGET
    share = period / (_FOLLOW_S + period)
    for i in range(3):
        place = sample.target[i] + offset[i] if absolute else target[i]
        speed = (place - data.hand[i]) / period
        if source == _HAPTIC and absolute:
            data.hand_velocity[i] = sample.velocity[i]
        else:
            data.hand_velocity[i] += share * (speed - data.hand_velocity[i])
        data.hand[i] = place


@kernel_part
def couple(
    gains: Gains,
    now_ns: int,
    period: float,
    driven: int,
    source: int,
    sample: InputBlock,
    target: FloatArray,
    offset: FloatArray,
    data: CouplingData,
) -> None:
    """Run the master half of the limb that is driven, and what others touch.

    Args:
        gains: parameters of the strategies.
        now_ns: start of the coupling [ns].
        period: tick [s].
        driven: limb that is driven.
        source: `Source` in charge.
        sample: its newest.
        target: (3,) tip target of the limb, hull frame [m].
        offset: (3,) of an absolute target [m].
        data: of the coupling.
    """
    if sample.grip[0] != data.grips_seen[source]:  # it was let go or closed just now
        data.grips_seen[source] = sample.grip[0]
        data.grip[driven] = min(max(sample.grip[0], 0.0), 1.0)
    _move_hand(period, source, sample, target, offset, data)
    master_step(
        data.strategy[0],
        gains,
        period,
        data.hand,
        data.hand_velocity,
        data.heard,
        surface_of(data.surfaces, driven),
        data.master,
        data.force,
        data.sent,
    )
    data.sent.time_ns[0] = now_ns
    for i in range(3):
        data.lead[i] = data.sent.position[i] - data.hand[i]
    data.port[driven, 0] += power(data.force, data.hand_velocity) * period
    data.port[driven, 1] = min(data.port[driven, 1], data.port[driven, 0])


@kernel
def settle_surfaces(driven: int, tips: FloatArray, surfaces_out: LocalSurface) -> None:
    """Let the surfaces of limbs that no hand drives follow the robot's reports.

    Args:
        driven: limb whose surface the master half moves; -1 = none.
        tips: (L, 3) commanded tips, hull frame [m].
        surfaces_out: the table of all surfaces, advanced in place.
    """
    for limb in range(tips.shape[0]):
        if limb != driven:
            update_surface(tips[limb], surface_of(surfaces_out, limb))


@kernel
def publish_coupling(data: CouplingData, state_out: StationState) -> None:
    """Copy what the others may see of the coupling.

    Args:
        data: of the coupling.
        state_out: what is published.
    """
    sent = data.sent
    state_out.strategy[0] = data.strategy[0]
    state_out.blend[0] = data.blend[0]
    state_out.blend_share[0] = data.blend_share[0]
    state_out.aim_limb[0] = data.aim_limb[0]
    state_out.sent_time_ns[0] = sent.time_ns[0]
    state_out.sent_engagement[0] = sent.engagement[0]
    state_out.sent_energy[0] = sent.energy[0]
    for i in range(3):
        state_out.force_hand[i] = data.force[i]
        state_out.aim[i] = data.aim[i]
        state_out.sent_position[i] = sent.position[i]
        state_out.sent_velocity[i] = sent.velocity[i]
        state_out.sent_force[i] = sent.force[i]
        state_out.sent_wave[i] = sent.wave[i]
        state_out.sent_wave_integral[i] = sent.wave_integral[i]
    surfaces = data.surfaces
    for limb in range(data.grip.size):
        state_out.grip[limb] = data.grip[limb]
        state_out.port_energy[limb] = data.port[limb, 0]
        state_out.injected_energy[limb] = max(0.0, -data.port[limb, 1])
        state_out.surface_known[limb] = surfaces.known[limb]
        state_out.surface_kind[limb] = surfaces.kind[limb]
        state_out.surface_status[limb] = surfaces.heard.status[limb]
        state_out.surface_estimated_ns[limb] = surfaces.heard.estimated_ns[limb]
        state_out.surface_radius[limb] = surfaces.radius[limb]
        state_out.surface_stiffness[limb] = surfaces.stiffness[limb]
        for i in range(3):
            state_out.surface_point[limb, i] = surfaces.point[limb, i]
            state_out.surface_normal[limb, i] = surfaces.normal[limb, i]
