"""One millisecond of control, as a pure kernel of (model, inputs, time, state).

    gate the operators' samples by age -> arming and emergency stop -> who is in charge
    -> strategy -> inverse kinematics of every limb -> winches and reduced dynamics

The compiled loop of `app.control.loop` is its one caller: live on the monotonic clock,
in a study on a virtual one. It allocates nothing, never raises, and leaves the command
where it was whenever an input is old, absent or not finite.
"""

from typing import NamedTuple

import numpy as np

from app.messages import InputBlock, LinkHealth, Source, StationState
from app.teleop.predictive import move_target
from models.inverse import InverseData, allocate_inverse_data, inverse_step
from models.limb import limb_poses
from models.numerics import FloatArray, IntArray, kernel, kernel_part
from models.robot import RobotData, RobotModel, allocate_robot_data
from models.rod import RodWork, allocate_rod_work, reset_robot_data, robot_step
from models.winch import winch_lengths

__all__ = [
    "ARM_REFUSAL_TEXT",
    "SOURCE_AGE_LIMIT_NS",
    "TickData",
    "allocate_tick_data",
    "tick",
    "tip_in_hull",
]

SOURCE_AGE_LIMIT_NS = np.array([20_000_000, 150_000_000, 20_000_000], dtype=np.int64)
"""A sample older than this is neutral: gamepad 20 ms, console 150 ms (it draws, and
sends a heartbeat every 20 ms), script 20 ms."""

ARM_REFUSAL_TEXT = {
    0: "",
    1: "Not armed: no telemetry from the robot yet. Start the robot process or mend "
    "the link.",
    2: "Not armed: the robot's last telemetry is too old. Wait for the link.",
    3: "Not armed: emergency stop is latched. Reset it first.",
    4: "Not armed: the robot is still in emergency stop. Wait for its next telemetry.",
    5: "Disarmed: the local model left its range and was frozen. Arm again to realign.",
    6: "Not armed: release the deadman first, then arm, then hold it.",
    7: "Disarmed: the robot let go by itself (silence or restart). Arm again.",
    8: "Not armed: the robot has not heard us yet. Wait for the first round trip.",
    9: "Not armed: not every limb's pose is known yet. Wait for telemetry of each.",
}

_RATE = 1
_TARGET = 2
_DISARMED = 0
_ARMED = 1
_ESTOP = 2
_ACTIVE = 1  # of RobotState
_HOLD = 2
_ROBOT_ESTOP = 5
_FUTURE_NS = 1_000_000  # a stamp may lead the tick's own time by its read-out


class TickData(NamedTuple):
    """Mutable state of the tick; private to the control loop."""

    mode: IntArray  # (1,)
    epoch: IntArray  # (1,)
    refusal: IntArray  # (1,)
    active: IntArray  # (1,) Source or -1
    selected: IntArray  # (1,)
    engaged: IntArray  # (1,) the robot has followed this epoch
    settle: IntArray  # (1,) put the local model at rest at the command
    rebase: IntArray  # (1,) take a new offset before the next motion
    counts: IntArray  # (3, 4) arm, disarm, estop, reset counts already acted on
    limbs_seen: IntArray  # (3,) limb that each source last named
    ticks: IntArray  # (1,)
    offset: FloatArray  # (3,)
    target: FloatArray  # (L, 3) hull frame
    tip: FloatArray  # (L, 3) commanded tip, hull frame
    commanded: FloatArray  # (S, 3)
    wound: FloatArray  # (S, 3) command that `winch` belongs to
    winch: FloatArray  # (T,) wanted paid-out lengths
    reach: IntArray  # (L,)
    target_in_base: FloatArray  # (3,)
    poses: FloatArray  # (longest + 1, 4, 4)


def allocate_tick_data(
    model: RobotModel,
) -> tuple[TickData, RobotData, InverseData, RodWork]:
    """Make everything that a tick changes: disarmed, straight, at rest."""
    limbs = model.tip_speed_limit.size
    longest = int(np.max(np.diff(model.limb_segment_start)))

    def ints(*shape: int) -> IntArray:
        return np.zeros(shape, dtype=np.int64)

    data = TickData(
        mode=ints(1),
        epoch=ints(1),
        refusal=ints(1),
        active=ints(1) - 1,
        selected=ints(1),
        engaged=ints(1),
        settle=ints(1),
        rebase=ints(1) + 1,
        counts=ints(len(Source), 4) - 1,
        limbs_seen=ints(len(Source)),
        ticks=ints(1),
        offset=np.zeros(3),
        target=np.zeros((limbs, 3)),
        tip=np.zeros((limbs, 3)),
        commanded=model.rest_coordinates.copy(),
        wound=np.full_like(model.rest_coordinates, np.nan),
        winch=np.zeros(model.tendon_angle.size),
        reach=ints(limbs),
        target_in_base=np.zeros(3),
        poses=np.zeros((longest + 1, 4, 4)),
    )
    robot = allocate_robot_data(model)
    work = allocate_rod_work(model)
    reset_robot_data(model, data.commanded, work, robot)
    for limb in range(limbs):
        tip_in_hull(model, limb, data.commanded, data.poses, data.target[limb])
    data.tip[:] = data.target
    return data, robot, allocate_inverse_data(model), work


@kernel
def tip_in_hull(
    model: RobotModel,
    limb: int,
    coordinates: FloatArray,
    poses_out: FloatArray,
    tip_out: FloatArray,
) -> None:
    """Tip of a limb in the hull frame from the robot's (S, 3) coordinates."""
    start = model.limb_segment_start[limb]
    stop = model.limb_segment_start[limb + 1]
    limb_poses(model, limb, coordinates[start:stop], poses_out)
    base = model.pose_base_to_hull[limb]
    for i in range(3):
        tip_out[i] = base[i, 3]
        for j in range(3):
            tip_out[i] += base[i, j] * poses_out[stop - start, j, 3]


@kernel
def _is_fresh(now_ns: int, limit_ns: int, sample: InputBlock) -> int:
    """Whether a sample may be believed: present, young, finite."""
    age = now_ns - sample.stamp_ns[0]
    if sample.present[0] != 1 or age > limit_ns or age < -_FUTURE_NS:
        return 0
    for i in range(3):
        if not (np.isfinite(sample.rate[i]) and np.isfinite(sample.target[i])):
            return 0
    return 1


@kernel
def _arm(
    model: RobotModel,
    now_ns: int,
    deadman: int,
    health: LinkHealth,
    data: TickData,
) -> None:
    """Arm, from the robot's confirmed pose so that nothing jumps; or say why not."""
    heard = health.robot_heard_ns[0]
    if data.mode[0] == _ESTOP:
        data.refusal[0] = 3
        return
    if heard == 0:
        data.refusal[0] = 1
        return
    if now_ns - heard > health.telemetry_limit_ns[0]:
        data.refusal[0] = 2
        return
    if health.robot_state[0] == _ROBOT_ESTOP:
        data.refusal[0] = 4
        return
    if not np.isfinite(health.rtt_ms[0]):
        data.refusal[0] = 8
        return
    for limb in range(model.tip_speed_limit.size):
        generated = health.confirmed_generated_ns[limb]
        # limbs report in turn where the link is slow
        limit = health.telemetry_limit_ns[0] * model.tip_speed_limit.size
        if generated == 0 or now_ns - generated > limit:
            data.refusal[0] = 9
            return
    if deadman == 1:
        data.refusal[0] = 6
        return
    epoch = data.epoch[0] % 255 + 1
    if epoch == health.robot_epoch[0]:
        epoch = epoch % 255 + 1
    _adopt(model, health, data)
    data.settle[0] = 1
    data.epoch[0] = epoch
    data.mode[0] = _ARMED
    data.refusal[0] = 0
    data.engaged[0] = 0
    data.rebase[0] = 1


@kernel
def _adopt(model: RobotModel, health: LinkHealth, data: TickData) -> None:
    """Make the measured posture the command, inside the envelope, where it is known."""
    for limb in range(model.tip_speed_limit.size):
        if health.confirmed_generated_ns[limb] == 0:
            continue
        for k in range(
            model.limb_segment_start[limb], model.limb_segment_start[limb + 1]
        ):
            x = health.confirmed_coordinates[k, 0]
            y = health.confirmed_coordinates[k, 1]
            z = health.confirmed_coordinates[k, 2]
            if not (np.isfinite(x) and np.isfinite(y) and np.isfinite(z)):
                continue
            bend = np.sqrt(x * x + y * y)
            scale = min(1.0, model.bend_limit[k] / max(bend, 1e-12))
            data.commanded[k, 0] = scale * x
            data.commanded[k, 1] = scale * y
            data.commanded[k, 2] = min(
                max(z, model.extension_range[k, 0]), model.extension_range[k, 1]
            )
        tip_in_hull(model, limb, data.commanded, data.poses, data.tip[limb])
        for i in range(3):
            data.target[limb, i] = data.tip[limb, i]
        data.reach[limb] = 0


@kernel
def _handle_requests(
    model: RobotModel,
    now_ns: int,
    source: int,
    fresh: int,
    any_deadman: int,
    sample: InputBlock,
    health: LinkHealth,
    data: TickData,
) -> None:
    """Act on presses of arm, disarm, emergency stop and its reset.

    A stop is obeyed whatever the sample's age; an arming only from a fresh sample. A
    count that fell belongs to a restarted source: it is taken over without acting.
    """
    seen = data.counts[source]
    if seen[0] < 0:  # first sight of this source
        seen[0] = sample.arm_count[0]
        seen[1] = sample.disarm_count[0]
        seen[2] = sample.estop_count[0]
        seen[3] = sample.estop_reset_count[0]
        return
    if sample.estop_count[0] > seen[2]:
        data.mode[0] = _ESTOP
        data.refusal[0] = 0
    elif sample.disarm_count[0] > seen[1] and data.mode[0] == _ARMED:
        data.mode[0] = _DISARMED
        data.refusal[0] = 0
    elif sample.estop_reset_count[0] > seen[3] and fresh == 1:
        if data.mode[0] == _ESTOP:
            data.mode[0] = _DISARMED
            data.refusal[0] = 0
    elif sample.arm_count[0] > seen[0] and fresh == 1 and data.mode[0] != _ARMED:
        _arm(model, now_ns, any_deadman, health, data)
    seen[0] = sample.arm_count[0]
    seen[1] = sample.disarm_count[0]
    seen[2] = sample.estop_count[0]
    seen[3] = sample.estop_reset_count[0]


@kernel
def _follow_robot(health: LinkHealth, data: TickData) -> None:
    """Disarm when the robot let go of this epoch by itself, or had ended it before."""
    if data.mode[0] != _ARMED:
        return
    follows = health.robot_state[0] == _ACTIVE or health.robot_state[0] == _HOLD
    if health.robot_epoch[0] == data.epoch[0] and follows:
        data.engaged[0] = 1
    elif not follows and (
        data.engaged[0] == 1 or health.robot_epoch[0] == data.epoch[0]
    ):
        data.mode[0] = _DISARMED
        data.refusal[0] = 7


@kernel
def _steer(
    model: RobotModel,
    period: float,
    sample: InputBlock,
    data: TickData,
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
    move_target(
        model.tip_speed_limit[limb],
        period,
        sample,
        data.offset,
        data.tip[limb],
        data.target[limb],
    )


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
    now_ns: int,
    period_ns: int,
    age_limit_ns: IntArray,
    gamepad: InputBlock,
    console: InputBlock,
    script: InputBlock,
    health: LinkHealth,
    data: TickData,
    robot: RobotData,
    inverse: InverseData,
    work: RodWork,
    state_out: StationState,
) -> None:
    """Advance the station by one period.

    Args:
        model: the robot.
        now_ns: start of this tick [ns].
        period_ns: tick [ns].
        age_limit_ns: (3,) greatest age of each source's sample [ns].
        gamepad: newest sample of `Source.GAMEPAD`; likewise console and script.
        console: newest sample of the console.
        script: newest sample of a scripted operator.
        health: newest knowledge of link and robot.
        data: arming, targets and commands, advanced in place.
        robot: the local model, advanced in place.
        inverse: workspace of the inverse kinematics.
        work: workspace of the dynamics.
        state_out: what is published.
    """
    samples = (gamepad, console, script)
    limbs = model.tip_speed_limit.size
    period = period_ns * 1e-9
    # 1. who may be believed, and who holds a deadman
    any_deadman = 0
    for source in range(3):
        sample = samples[source]
        fresh = _is_fresh(now_ns, age_limit_ns[source], sample)
        state_out.source_fresh[source] = fresh
        state_out.source_age_ns[source] = now_ns - sample.stamp_ns[0]
        if fresh == 1 and sample.deadman[0] == 1:
            any_deadman = 1
    # 2. presses, then what the robot decided by itself
    for source in range(3):
        _handle_requests(
            model,
            now_ns,
            source,
            state_out.source_fresh[source],
            any_deadman,
            samples[source],
            health,
            data,
        )
    _follow_robot(health, data)
    # 3. who is in charge: the present one while it holds on, else the first that does
    holder = -1
    for source in range(3):
        held = state_out.source_fresh[source] == 1 and samples[source].deadman[0] == 1
        if held and (holder < 0 or source == data.active[0]):
            holder = source
    if data.mode[0] != _ARMED:
        holder = -1
    previous = data.selected[0]
    for source in range(3):
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
    # 4. strategy, inverse kinematics, reduced dynamics
    if data.mode[0] == _ARMED:
        if holder >= 0:
            _steer(model, period, samples[holder], data)
        for limb in range(limbs):
            start = model.limb_segment_start[limb]
            stop = model.limb_segment_start[limb + 1]
            base = model.pose_base_to_hull[limb]
            for i in range(3):
                total = 0.0
                for j in range(3):
                    total += base[j, i] * (data.target[limb, j] - base[j, 3])
                data.target_in_base[i] = total
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
    elif data.mode[0] == _DISARMED and health.robot_heard_ns[0] != 0:
        _adopt(model, health, data)
    for limb in range(limbs):
        start = model.limb_segment_start[limb]
        stop = model.limb_segment_start[limb + 1]
        first = model.limb_tendon_start[limb]
        last = model.limb_tendon_start[limb + 1]
        moved = 0
        for k in range(start, stop):
            for i in range(3):
                if data.commanded[k, i] != data.wound[k, i]:
                    data.wound[k, i] = data.commanded[k, i]
                    moved = 1
        if moved == 1:  # three of four limbs stand still most of the time
            winch_lengths(
                model, limb, data.commanded[start:stop], work, data.winch[first:last]
            )
    if data.settle[0] == 1:
        data.settle[0] = 0
        _settle(data, robot)
    frozen = robot_step(model, period, data.winch, robot, work)
    if frozen > 0 and data.mode[0] == _ARMED:
        data.mode[0] = _DISARMED
        data.refusal[0] = 5
    data.ticks[0] += 1
    _publish(model, now_ns, data, robot, state_out)


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
        tip_in_hull(
            model, limb, robot.coordinates, data.poses, state_out.tip_model[limb]
        )
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
            state_out.coordinates_model[k, i] = robot.coordinates[k, i]
            state_out.rates_model[k, i] = robot.rates[k, i]
    for k in range(model.tendon_angle.size):
        state_out.servo_length_model[k] = robot.servo_length[k]
        state_out.tension_model[k] = robot.tension[k]
