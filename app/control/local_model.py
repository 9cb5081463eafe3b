"""The local model against the robot: corrected by late telemetry, and how well it fits.

The limbs of the local model answer the operator now; what the robot measured then is
compared with what the model showed under the same command. What remains is carried as
an offset, so that a robot that is stiffer, heavier or bent by a current is drawn where
it is. The offset moves the picture and the tips, never the command.

A limb that a known surface pushes keeps its offset: what is left over is then the
surface's own error. To take it off the limb would only press the tip harder into the
surface, which pushes it back, and so on without end (over 0.7 s of delay, -0.97 rad in
ten seconds of a light press). Nor is anything learnt late of a limb that has just
stiffened: it rises and swings, and what is older than a quarter of a swing would be put
right the wrong way. Rare measurements count for more than frequent ones, which share
the removal of their noise.
"""

import math

from app.control.local_data import LocalData
from app.messages import LinkHealth, StationState
from models.environment import LocalSurface, surface_force
from models.environment_table import surface_of
from models.mismatch import MismatchData, observe_mismatch, tube_radius
from models.numerics import (
    FloatArray,
    called_kernel,
    inner_kernel,
    kernel,
    kernel_part,
)
from models.robot import RobotModel
from models.state_history import clear_history, correct_state, push_state
from models.tip import tip_in_hull
from models.winch import winch_lengths
from models.workspace import RodWork

__all__ = [
    "correct_model",
    "forget_limb",
    "forget_model",
    "publish_model",
    "show_model",
    "touch_surfaces",
    "wind_winches",
]

_GAIN = 0.2  # of a measurement, at least
_RARE_S = 1.0  # measurements this far apart count for more
_SWING_S = 5.0  # a limb that has just stiffened swings: no alarm comes of that
_QUARTER_NS = 350_000_000  # of a swing, at 0.7 Hz
_NS = 1e-9


@kernel_part
def _mismatch_of(data: LocalData, limb: int) -> MismatchData:
    """View one limb's monitor."""
    every = data.mismatch
    only = slice(limb, limb + 1)
    return MismatchData(
        every.square[only], every.over[only], every.alarm[only], every.count[only]
    )


@kernel
def wind_winches(
    model: RobotModel,
    commanded: FloatArray,
    data: LocalData,
    work: RodWork,
    winch_out: FloatArray,
) -> None:
    """Lengths that the winches of the local model are told.

    Args:
        model: the robot.
        commanded: (S, 3) posture [rad, rad, m].
        data: of the local model.
        work: workspace.
        winch_out: (T,) wanted paid-out lengths, written where something has changed.
    """
    for limb in range(data.touched.size):
        first = model.limb_segment_start[limb]
        last = model.limb_segment_start[limb + 1]
        changed = 0
        for k in range(first, last):
            for i in range(3):
                if commanded[k, i] != data.wound[k, i]:
                    data.wound[k, i] = commanded[k, i]
                    changed = 1
        if changed == 0:  # three of four limbs stand still most of the time
            continue
        tendon = model.limb_tendon_start[limb]
        end = model.limb_tendon_start[limb + 1]
        winch_lengths(model, limb, commanded[first:last], work, winch_out[tendon:end])


@called_kernel
def touch_surfaces(
    model: RobotModel,
    now_ns: int,
    period: float,
    surfaces: LocalSurface,
    data: LocalData,
    wrench_out: FloatArray,
) -> None:
    """Let the surfaces that are known push the tips of the local model.

    Args:
        model: the robot.
        now_ns: start of the tick [ns].
        period: tick [s].
        surfaces: table of the surfaces of all limbs.
        data: of the local model; tips are where the model was last shown.
        wrench_out: (L, 6) on each tip, moment and force, hull frame [N m, N].
    """
    shown = data.shown.reshape(data.shown.size // 3, 3)
    for limb in range(data.touched.size):
        for i in range(3):
            wrench_out[limb, 3 + i] = 0.0
            data.tip_speed[i] = -data.tip_shown[limb, i]
        if surfaces.known[limb] == 0:
            continue
        tip_in_hull(model, limb, shown, data.poses, data.tip_shown[limb])
        for i in range(3):
            data.tip_speed[i] = (data.tip_speed[i] + data.tip_shown[limb, i]) / period
        if data.touched[limb] == 1:
            surface_force(
                surface_of(surfaces, limb),
                data.tip_shown[limb],
                data.tip_speed,
                wrench_out[limb, 3:6],
            )
            for i in range(3):
                if wrench_out[limb, 3 + i] != 0.0:
                    data.pushed_ns[limb] = now_ns
        data.touched[limb] = 1  # the speed is known from the second tick on


@kernel
def forget_model(data: LocalData) -> None:
    """Begin anew: the local model was put at rest at a measured pose.

    Args:
        data: of the local model.
    """
    clear_history(data.history)
    for limb in range(data.touched.size):
        data.pushed_ns[limb] = 0
        data.compared_ns[limb] = 0
        forget_limb(limb, data)


@kernel
def forget_limb(limb: int, data: LocalData) -> None:
    """Forget how well one limb was explained.

    Args:
        limb: which.
        data: of the local model.
    """
    data.mismatch.square[limb] = 0.0
    data.mismatch.over[limb] = -_SWING_S
    data.mismatch.alarm[limb] = 0
    data.mismatch.count[limb] = 0


@kernel
def show_model(now_ns: int, coordinates: FloatArray, data: LocalData) -> None:
    """Remember what the model shows now: its own pose and the offset.

    Args:
        now_ns: start of the tick [ns].
        coordinates: (S, 3) of the local model [rad, rad, m].
        data: of the local model; `shown` is written.
    """
    for k in range(coordinates.shape[0]):
        for j in range(3):
            data.shown[3 * k + j] = coordinates[k, j] + data.history.offset[3 * k + j]
    data.time_ns[0] = now_ns
    push_state(data.time_ns, data.shown, data.history)


@inner_kernel
def _gain(
    now_ns: int, command_ns: int, elapsed: float, limb: int, data: LocalData
) -> float:
    """Part of an error that is taken off a limb's offset; 0 where none is.

    Args:
        now_ns: start of the tick [ns].
        command_ns: when the command was given under which it was measured [ns].
        elapsed: since the measurement before [s].
        limb: which.
        data: of the local model.
    """
    swings = data.mismatch.over[limb] < 0.0
    late = now_ns - command_ns > _QUARTER_NS
    if command_ns <= data.pushed_ns[limb] or (swings and late):
        return 0.0
    return max(_GAIN, 1.0 - math.exp(-elapsed / _RARE_S))


@called_kernel
def correct_model(
    model: RobotModel, now_ns: int, health: LinkHealth, data: LocalData
) -> None:
    """Compare each limb's newest measurement with what was shown at its command.

    Args:
        model: the robot.
        now_ns: start of the tick [ns].
        health: newest knowledge of the robot.
        data: of the local model; monitors advance, and the offset of a limb that
            neither swings nor was pushed then or since; `shown` is corrected by it.
    """
    for limb in range(data.touched.size):
        generated_ns = health.confirmed_generated_ns[limb]
        before_ns = data.compared_ns[limb]
        if generated_ns <= before_ns or health.confirmed_command_ns[limb] == 0:
            continue
        data.compared_ns[limb] = generated_ns
        if health.goal_hold[limb] != 0:  # the robot does not follow our command
            forget_limb(limb, data)
            continue
        data.time_ns[0] = health.confirmed_command_ns[limb]
        elapsed = 0.0
        if data.mismatch.count[limb] > 0:
            elapsed = (generated_ns - before_ns) * _NS
        gain = _gain(now_ns, data.time_ns[0], elapsed, limb, data)
        first = model.limb_segment_start[limb]
        last = model.limb_segment_start[limb + 1]
        for k in range(data.shown.size // 3):
            for j in range(3):
                told = first <= k < last and health.confirmed_earlier[k] == 0
                data.measured[k, j] = (
                    health.confirmed_coordinates[k, j] if told else math.nan
                )
        if (
            correct_state(
                gain,
                data.time_ns,
                data.measured.reshape(data.shown.size),
                data.history,
                data.shown,
                data.error,
            )
            == 0
        ):
            continue
        if gain > 0.0:
            data.touched[limb] = 0  # the tip has jumped: that is no speed
        # where a frame tells a part of a limb, its error alone moves the tip
        for k in range(first, last):
            for j in range(3):
                data.measured[k, j] = health.confirmed_coordinates[k, j]
        tip_in_hull(model, limb, data.measured, data.poses, data.tip_measured)
        for k in range(first, last):
            for j in range(3):
                data.measured[k, j] += data.error[3 * k + j]
        tip_in_hull(model, limb, data.measured, data.poses, data.tip_error)
        for i in range(3):
            data.tip_error[i] -= data.tip_measured[i]
        observe_mismatch(
            data.mismatch_model, data.tip_error, elapsed, _mismatch_of(data, limb)
        )


@kernel
def publish_model(
    model: RobotModel,
    now_ns: int,
    health: LinkHealth,
    data: LocalData,
    state_out: StationState,
) -> None:
    """Copy what is shown of the model.

    Args:
        model: the robot.
        now_ns: start of the tick [ns].
        health: newest knowledge of the robot.
        data: of the local model.
        state_out: what is published.
    """
    shown = data.shown.reshape(data.shown.size // 3, 3)
    for k in range(shown.shape[0]):
        for j in range(3):
            state_out.coordinates_model[k, j] = shown[k, j]
    for limb in range(data.touched.size):
        tip_in_hull(model, limb, shown, data.poses, state_out.tip_model[limb])
        monitor = _mismatch_of(data, limb)
        state_out.mismatch[limb] = math.sqrt(monitor.square[0])
        age = (now_ns - health.confirmed_generated_ns[limb]) * _NS
        state_out.tube[limb] = tube_radius(data.mismatch_model, age, monitor)
        state_out.unexplained[limb] = monitor.alarm[0]
