"""The local model against the robot: corrected by late telemetry, and how well it fits.

The limbs of the local model answer the operator now; what the robot measured then is
compared with what the model showed under the same command. What remains is carried as
an offset, so that a robot that is stiffer, heavier or bent by a current is drawn where
it is. The offset moves the picture and the tips, never the command.
"""

import math

from app.control.tick_data import TickData, tip_in_hull
from app.messages import LinkHealth, StationState
from models.mismatch import MismatchData, observe_mismatch, tube_radius
from models.numerics import kernel, kernel_part
from models.robot import RobotData, RobotModel
from models.state_history import clear_history, correct_state, push_state

__all__ = ["correct_model", "forget_model", "publish_model", "show_model"]

_GAIN = 0.2
_NS = 1e-9


@kernel_part
def _mismatch_of(data: TickData, limb: int) -> MismatchData:
    """View one limb's monitor."""
    every = data.mismatch
    only = slice(limb, limb + 1)
    return MismatchData(
        every.square[only], every.over[only], every.alarm[only], every.count[only]
    )


@kernel
def forget_model(data: TickData) -> None:
    """Begin anew: the local model was put at rest at a measured pose.

    Args:
        data: of the tick.
    """
    clear_history(data.history)
    for limb in range(data.grip.size):
        data.mismatch.square[limb] = 0.0
        data.mismatch.over[limb] = 0.0
        data.mismatch.alarm[limb] = 0
        data.mismatch.count[limb] = 0


@kernel
def show_model(now_ns: int, robot: RobotData, data: TickData) -> None:
    """Remember what the model shows now: its own pose and the offset.

    Args:
        now_ns: start of the tick [ns].
        robot: the local model.
        data: of the tick; `shown` is written.
    """
    for k in range(robot.coordinates.shape[0]):
        for j in range(3):
            data.shown[3 * k + j] = (
                robot.coordinates[k, j] + data.history.offset[3 * k + j]
            )
    data.model_ns[0] = now_ns
    push_state(data.model_ns, data.shown, data.history)


@kernel
def correct_model(model: RobotModel, health: LinkHealth, data: TickData) -> None:
    """Compare each limb's newest measurement with what was shown at its command.

    Args:
        model: the robot.
        health: newest knowledge of the robot.
        data: of the tick; offset and monitors advance, `shown` is corrected.
    """
    for limb in range(data.grip.size):
        generated_ns = health.confirmed_generated_ns[limb]
        before_ns = data.compared_ns[limb]
        if generated_ns <= before_ns or health.confirmed_command_ns[limb] == 0:
            continue
        data.compared_ns[limb] = generated_ns
        data.model_ns[0] = health.confirmed_command_ns[limb]
        first = model.limb_segment_start[limb]
        last = model.limb_segment_start[limb + 1]
        for k in range(data.shown.size // 3):
            for j in range(3):
                inside = first <= k < last
                data.measured[k, j] = (
                    health.confirmed_coordinates[k, j] if inside else math.nan
                )
        if (
            correct_state(
                _GAIN,
                data.model_ns,
                data.measured.reshape(data.shown.size),
                data.history,
                data.shown,
                data.error,
            )
            == 0
        ):
            continue
        tip_in_hull(model, limb, data.measured, data.poses, data.tip_measured)
        for k in range(first, last):
            for j in range(3):
                data.measured[k, j] += data.error[3 * k + j]
        tip_in_hull(model, limb, data.measured, data.poses, data.tip_error)
        for i in range(3):
            data.tip_error[i] -= data.tip_measured[i]
        elapsed = (generated_ns - before_ns) * _NS if before_ns > 0 else 0.0
        observe_mismatch(
            data.mismatch_model, data.tip_error, elapsed, _mismatch_of(data, limb)
        )


@kernel
def publish_model(
    model: RobotModel,
    now_ns: int,
    health: LinkHealth,
    data: TickData,
    state_out: StationState,
) -> None:
    """Copy what is shown of the model.

    Args:
        model: the robot.
        now_ns: start of the tick [ns].
        health: newest knowledge of the robot.
        data: of the tick.
        state_out: what is published.
    """
    shown = data.shown.reshape(data.shown.size // 3, 3)
    for k in range(shown.shape[0]):
        for j in range(3):
            state_out.coordinates_model[k, j] = shown[k, j]
    for limb in range(data.grip.size):
        tip_in_hull(model, limb, shown, data.poses, state_out.tip_model[limb])
        monitor = _mismatch_of(data, limb)
        state_out.mismatch[limb] = math.sqrt(monitor.square[0])
        age = (now_ns - health.confirmed_generated_ns[limb]) * _NS
        state_out.tube[limb] = tube_radius(data.mismatch_model, age, monitor)
        state_out.unexplained[limb] = monitor.alarm[0]
