"""One millisecond of control, as a pure kernel of (model, inputs, time, state).

    gate the operators' samples by age -> arming and emergency stop -> who is in charge
    -> strategy -> inverse kinematics of every limb -> winches and reduced dynamics

The compiled loop of `app.control.loop` is its one caller: live on the monotonic clock,
in a study on a virtual one. It allocates nothing, never raises, and leaves the command
where it was whenever an input is old, absent or not finite.
"""

import numpy as np

from app.control.arming import (
    ARMED,
    DISARMED,
    adopt,
    follow_robot,
    handle_requests,
    is_fresh,
)
from app.control.assistance import lead_target
from app.control.coupling import (
    couple,
    hear,
    let_go,
    publish_coupling,
    settle_surfaces,
    take_wish,
)
from app.control.coupling_data import CouplingData
from app.control.goal_hold import goes_along, is_guided
from app.control.local_data import LocalData
from app.control.local_model import (
    correct_model,
    forget_model,
    publish_model,
    show_model,
    touch_surfaces,
    wind_winches,
)
from app.control.tick_data import TickData
from app.messages import InputBlock, LinkHealth, StationState, TeleopWish
from app.teleop.gains import Gains
from app.teleop.predictive import move_target
from models.inverse import InverseData, inverse_step
from models.numerics import IntArray, kernel, kernel_part
from models.robot import RobotData, RobotModel
from models.rod import RodWork, robot_step
from models.tip import tip_in_hull

__all__ = ["tick"]

_TARGET = 2  # of InputMode
_STILL = 1e-10  # rad or m, of one step of a command that has arrived


@kernel
def _steer(
    model: RobotModel,
    period: float,
    sample: InputBlock,
    data: TickData,
    coupling: CouplingData,
) -> None:
    """Let the operator in charge move the target of the limb it has selected."""
    limb = data.selected[0]
    if sample.clutch[0] == 1:
        data.rebase[0] = 1
        return
    if data.rebase[0] == 1:
        for i in range(3):
            data.offset[i] = 0.0
            if sample.mode[0] == _TARGET:
                data.offset[i] = data.target[limb, i] - sample.target[i]
        data.rebase[0] = 0
    for i in range(3):
        coupling.before[i] = data.target[limb, i]
        # the leash is of the hand: a surface may hold the tip far outside of it
        data.target_in_base[i] = data.tip[limb, i] - coupling.lead[i]
    move_target(
        model.tip_speed_limit[limb],
        period,
        sample,
        data.offset,
        data.target_in_base,
        data.target[limb],
    )
    lead_target(
        model.tip_speed_limit[limb],
        period,
        limb,
        coupling,
        data.target[limb],
        data.offset,
    )


@kernel
def _lead_command(
    model: RobotModel, limb: int, period: float, data: TickData, inverse: InverseData
) -> None:
    """Lead a limb's command toward `target_in_base`.

    A command that has arrived there stays as it is until the target or somebody else
    moves: three of four limbs stand still most of the time.
    """
    start = model.limb_segment_start[limb]
    stop = model.limb_segment_start[limb + 1]
    arrived = data.settled[limb] == 1
    for i in range(3):
        arrived = arrived and data.aimed[limb, i] == data.target_in_base[i]
        data.aimed[limb, i] = data.target_in_base[i]
    for k in range(start, stop):
        for i in range(3):
            arrived = arrived and data.left[k, i] == data.commanded[k, i]
            data.left[k, i] = data.commanded[k, i]
    if arrived:
        return
    data.reach[limb] = inverse_step(
        model,
        limb,
        data.target_in_base,
        period,
        data.commanded[start:stop],
        inverse,
        data.commanded[start:stop],
    )
    tip_in_hull(model, limb, data.commanded, data.poses, data.tip[limb])
    data.settled[limb] = 1
    for k in range(start, stop):
        for i in range(3):
            if not abs(data.commanded[k, i] - data.left[k, i]) < _STILL:
                data.settled[limb] = 0
            data.left[k, i] = data.commanded[k, i]


@kernel
def _settle(data: TickData, robot: RobotData) -> None:
    """Put the local model at rest at the command, its winches holding it there."""
    for k in range(robot.coordinates.shape[0]):
        for i in range(3):
            robot.coordinates[k, i] = data.commanded[k, i]
            robot.rates[k, i] = 0.0
    for k in range(robot.servo_length.size):
        robot.servo_length[k] = data.winch[k]
    for limb in range(robot.status.size):
        robot.status[limb] = 0


@kernel_part
def tick(
    model: RobotModel,
    gains: Gains,
    now_ns: int,
    period_ns: int,
    age_limit_ns: IntArray,
    samples: tuple[InputBlock, ...],
    wish: TeleopWish,
    health: LinkHealth,
    data: TickData,
    coupling: CouplingData,
    local: LocalData,
    robot: RobotData,
    inverse: InverseData,
    work: RodWork,
    state_out: StationState,
) -> None:
    """Advance the station by one period.

    Args:
        model: the robot.
        gains: parameters of the strategies.
        now_ns: start of this tick [ns].
        period_ns: tick [ns].
        age_limit_ns: greatest age of each source's sample [ns].
        samples: newest of each `Source`.
        wish: which strategy the console wants.
        health: newest knowledge of link and robot.
        data: arming, targets and commands, advanced in place.
        coupling: of hand and tip, advanced in place.
        local: beside the local model's own state, advanced in place.
        robot: the local model, advanced in place.
        inverse: workspace of the inverse kinematics.
        work: workspace of the dynamics.
        state_out: what is published.
    """
    limbs = model.tip_speed_limit.size
    period = period_ns * 1e-9
    # 1. who may be believed, and who holds a deadman
    any_deadman = 0
    for source in range(len(samples)):
        sample = samples[source]
        fresh = is_fresh(now_ns, age_limit_ns[source], sample)
        state_out.source_fresh[source] = fresh
        state_out.source_age_ns[source] = now_ns - sample.stamp_ns[0]
        if fresh == 1 and sample.deadman[0] == 1:
            any_deadman = 1
    state_out.health_ns[0] = health.time_ns[0]
    state_out.wish_revision[0] = wish.revision[0]
    # 2. presses, then what the robot decided by itself
    for source in range(len(samples)):
        handle_requests(
            model,
            now_ns,
            source,
            state_out.source_fresh[source],
            any_deadman,
            samples[source],
            health,
            data,
        )
    follow_robot(health, data)
    take_wish(wish, coupling)
    # 3. who is in charge: the present one while it holds on, else the first that does
    holder = -1
    for source in range(len(samples)):
        held = state_out.source_fresh[source] == 1 and samples[source].deadman[0] == 1
        if held and (holder < 0 or source == data.active[0]):
            holder = source
    if data.mode[0] != ARMED:
        holder = -1
    previous = data.selected[0]
    for source in range(len(samples)):
        limb = samples[source].limb[0]
        if state_out.source_fresh[source] == 1 and 0 <= limb < limbs:
            if limb != data.limbs_seen[source] and holder < 0:
                data.selected[0] = limb
            data.limbs_seen[source] = limb
            if source == holder:
                data.selected[0] = limb
    changed = holder != data.active[0] or data.selected[0] != previous
    if changed:
        # stop where the command is: an old target must not pull once it is let go
        for limb in range(limbs):
            for i in range(3):
                data.target[limb, i] = data.tip[limb, i]
        data.rebase[0] = 1
    data.active[0] = holder
    for source in range(len(samples)):
        if source != holder:  # what it asked for while not in charge is dropped
            coupling.grips_seen[source] = samples[source].grip[0]
    driven = data.selected[0]
    hear(health, driven, coupling)
    if changed or holder < 0:
        let_go(data.target[driven], coupling)
    # 4. strategy, inverse kinematics, reduced dynamics
    coupling.blend_share[0] = 0.0
    steers = holder >= 0
    if data.mode[0] == ARMED:
        if is_guided(health, driven, coupling):
            steers = False
            data.rebase[0] = 1
            if holder >= 0:  # what it asks of the gripper meanwhile is dropped
                coupling.grips_seen[holder] = samples[holder].grip[0]
            for i in range(3):
                data.target[driven, i] = data.tip[driven, i]
            let_go(data.target[driven], coupling)
        if steers:
            _steer(model, period, samples[holder], data, coupling)
            if samples[holder].clutch[0] == 1:
                let_go(data.target[driven], coupling)
            else:
                couple(
                    gains,
                    now_ns,
                    period,
                    driven,
                    holder,
                    samples[holder],
                    data.target[driven],
                    data.offset,
                    coupling,
                )
        for limb in range(limbs):
            if goes_along(model, period, health, limb, data, coupling):
                continue
            base = model.pose_base_to_hull[limb]
            for i in range(3):
                total = 0.0
                for j in range(3):
                    lead = coupling.lead[j] if limb == driven else 0.0
                    total += base[j, i] * (data.target[limb, j] + lead - base[j, 3])
                data.target_in_base[i] = total
            _lead_command(model, limb, period, data, inverse)
    elif data.mode[0] == DISARMED and health.robot_heard_ns[0] != 0:
        adopt(model, health, data)
    if not steers:
        driven = -1
    wind_winches(model, data.commanded, local, work, data.winch)
    if data.settle[0] == 1:
        data.settle[0] = 0
        _settle(data, robot)
        forget_model(local)
    settle_surfaces(driven, data.tip, coupling.surfaces)
    touch_surfaces(model, now_ns, period, coupling.surfaces, local, robot.tip_wrench)
    frozen = robot_step(model, period, data.winch, robot, work)
    if frozen > 0 and data.mode[0] == ARMED:
        data.mode[0] = DISARMED
        data.refusal[0] = 5
    show_model(now_ns, robot.coordinates, local)
    if data.mode[0] == ARMED and data.engaged[0] == 1:
        correct_model(model, now_ns, health, local)
    data.ticks[0] += 1
    _publish(model, now_ns, data, robot, state_out)
    publish_coupling(coupling, state_out)
    publish_model(model, now_ns, health, local, state_out)


@kernel
def _publish(
    model: RobotModel,
    now_ns: int,
    data: TickData,
    robot: RobotData,
    state_out: StationState,
) -> None:
    """Copy what the others may see."""
    state_out.time_ns[0] = now_ns
    state_out.tick[0] = data.ticks[0]
    state_out.mode[0] = data.mode[0]
    state_out.arm_epoch[0] = data.epoch[0]
    state_out.arm_refusal[0] = data.refusal[0]
    state_out.active_source[0] = data.active[0]
    state_out.selected_limb[0] = data.selected[0]
    for limb in range(model.tip_speed_limit.size):
        gap = 0.0
        for i in range(3):
            state_out.target_position[limb, i] = data.target[limb, i]
            state_out.tip_commanded[limb, i] = data.tip[limb, i]
            gap += (data.target[limb, i] - data.tip[limb, i]) ** 2
        state_out.reach_error[limb] = np.sqrt(gap)
        state_out.reach_status[limb] = data.reach[limb]
        state_out.fault[limb] = robot.status[limb]
    for k in range(model.segment_length.size):
        for i in range(3):
            state_out.coordinates_commanded[k, i] = data.commanded[k, i]
            state_out.rates_model[k, i] = robot.rates[k, i]
    for k in range(model.tendon_angle.size):
        state_out.servo_length_model[k] = robot.servo_length[k]
        state_out.tension_model[k] = robot.tension[k]
