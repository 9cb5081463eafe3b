"""Arming, disarming and the emergency stop, as kernels of the tick.

Nothing may move before an arming, and an arming needs proof: fresh telemetry of every
limb after a first round trip, no stop latched at either end, and a released deadman.
"""

import numpy as np

from app.control.tick_data import TickData
from app.messages import InputBlock, LinkHealth
from models.numerics import inner_kernel, kernel
from models.robot import RobotModel
from models.tip import tip_in_hull

__all__ = [
    "ARMED",
    "ARM_REFUSAL_TEXT",
    "DISARMED",
    "SOURCE_AGE_LIMIT_NS",
    "adopt",
    "adopt_limb",
    "follow_robot",
    "handle_requests",
    "is_fresh",
]

SOURCE_AGE_LIMIT_NS = np.array([20, 150, 20, 20], dtype=np.int64) * 1_000_000
"""A sample older than this is neutral: gamepad 20 ms, console 150 ms (it draws, and
sends a heartbeat every 20 ms), script and haptic device 20 ms."""

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

DISARMED = 0  # of StationMode
ARMED = 1
_ESTOP = 2
_UNKNOWN = -1
_ACTIVE = 1  # of RobotState
_HOLD = 2
_ROBOT_ESTOP = 5
_FUTURE_NS = 1_000_000  # a stamp may lead the tick's own time by its read-out


@inner_kernel
def is_fresh(now_ns: int, limit_ns: int, sample: InputBlock) -> int:
    """Whether a sample may be believed: present, young, finite."""
    age = now_ns - sample.stamp_ns[0]
    if sample.present[0] != 1 or age > limit_ns or age < -_FUTURE_NS:
        return 0
    for i in range(3):
        wanted = sample.rate[i] + sample.target[i] + sample.velocity[i]
        if not np.isfinite(wanted):
            return 0
    return 1 if np.isfinite(sample.grip[0]) else 0


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
    adopt(model, health, data)
    data.settle[0] = 1
    data.epoch[0] = epoch
    data.mode[0] = ARMED
    data.refusal[0] = 0
    data.engaged[0] = 0
    data.rebase[0] = 1


@inner_kernel
def adopt(model: RobotModel, health: LinkHealth, data: TickData) -> None:
    """Make the measured posture the command, inside the envelope, where it is known."""
    for limb in range(model.tip_speed_limit.size):
        adopt_limb(model, health, limb, 1.0, data)


@inner_kernel
def adopt_limb(
    model: RobotModel, health: LinkHealth, limb: int, share: float, data: TickData
) -> None:
    """Bring a limb's command by a share to its measured posture, where it is known."""
    if health.confirmed_generated_ns[limb] == 0:
        return
    for k in range(model.limb_segment_start[limb], model.limb_segment_start[limb + 1]):
        x = health.confirmed_coordinates[k, 0]
        y = health.confirmed_coordinates[k, 1]
        z = health.confirmed_coordinates[k, 2]
        if not (np.isfinite(x) and np.isfinite(y) and np.isfinite(z)):
            continue
        bend = np.sqrt(x * x + y * y)
        scale = min(1.0, model.bend_limit[k] / max(bend, 1e-12))
        z = min(max(z, model.extension_range[k, 0]), model.extension_range[k, 1])
        own = data.commanded[k]
        own[0] += share * (scale * x - own[0])
        own[1] += share * (scale * y - own[1])
        own[2] += share * (z - own[2])
    tip_in_hull(model, limb, data.commanded, data.poses, data.tip[limb])
    for i in range(3):
        data.target[limb, i] = data.tip[limb, i]
    data.reach[limb] = 0


@inner_kernel
def handle_requests(
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
    elif sample.disarm_count[0] > seen[1] and data.mode[0] == ARMED:
        data.mode[0] = DISARMED
        data.refusal[0] = 0
    elif sample.estop_reset_count[0] > seen[3] and fresh == 1:
        if data.mode[0] == _ESTOP:
            data.mode[0] = DISARMED
            data.refusal[0] = 0
    elif sample.arm_count[0] > seen[0] and fresh == 1 and data.mode[0] != ARMED:
        _arm(model, now_ns, any_deadman, health, data)
    seen[0] = sample.arm_count[0]
    seen[1] = sample.disarm_count[0]
    seen[2] = sample.estop_count[0]
    seen[3] = sample.estop_reset_count[0]


@inner_kernel
def follow_robot(health: LinkHealth, data: TickData) -> None:
    """Disarm when the robot let go of this epoch by itself, or had ended it before.

    Between a robot's hello and its first telemetry nothing is known of either.
    """
    if data.mode[0] != ARMED or health.robot_state[0] == _UNKNOWN:
        return
    follows = health.robot_state[0] == _ACTIVE or health.robot_state[0] == _HOLD
    if health.robot_epoch[0] == data.epoch[0] and follows:
        data.engaged[0] = 1
    elif not follows and (
        data.engaged[0] == 1 or health.robot_epoch[0] == data.epoch[0]
    ):
        data.mode[0] = DISARMED
        data.refusal[0] = 7
