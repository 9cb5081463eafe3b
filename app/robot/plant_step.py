"""One millisecond of the simulated robot: what its winches are told, then its limbs.

The winches' controller knows the nominal model; the limbs move by the real one.
"""

from typing import NamedTuple

import numpy as np

from app.robot.safety import Actuation
from app.robot.truth import TruthData, note_contact, note_pose
from models.grasp import NOTHING
from models.numerics import (
    FloatArray,
    IntArray,
    called_kernel,
    inner_kernel,
    kernel,
)
from models.robot import RobotData, RobotModel
from models.robot_contact import SurroundingsData, SurroundingsModel
from models.robot_contact_step import surroundings_step
from models.rod import RodWork, robot_step
from models.tendon import tendon_lengths
from models.winch import winch_lengths

__all__ = [
    "EACH",
    "HAPPENED",
    "PLANT_PERIOD",
    "AroundParts",
    "PlantParts",
    "SensorParts",
    "plant_contact_step",
    "plant_step",
    "read_sensors",
]

PLANT_PERIOD = 1e-3
"""Time step of the plant [s]."""
EACH = -1
"""In place of an `Actuation`: every winch is told for itself."""

HAPPENED = 1 << 16
"""Is added to the number of frozen limbs where a gripper took or let go."""

_TENSION_LOOP = 5e-3  # s, time constant of a winch under tension control; ASSUMED
_STIFF, _COMPLIANT = int(Actuation.STIFF), int(Actuation.COMPLIANT)


@kernel
def _stiff_winches(
    model: RobotModel,
    coordinates: FloatArray,
    wound_out: FloatArray,
    work: RodWork,
    length_out: FloatArray,
) -> None:
    """Lengths (T,) that hold a pose (S, 3); a limb that is not finite keeps its own.

    Only of the limbs whose pose is another than the one that they are wound to.
    """
    for limb in range(model.tip_speed_limit.size):
        start, stop = model.limb_segment_start[limb], model.limb_segment_start[limb + 1]
        first, last = model.limb_tendon_start[limb], model.limb_tendon_start[limb + 1]
        changed = False
        for k in range(start, stop):
            for j in range(3):
                changed = changed or coordinates[k, j] != wound_out[k, j]
                wound_out[k, j] = coordinates[k, j]
        if not changed:
            continue
        winch_lengths(
            model, limb, coordinates[start:stop], work, length_out[first:last]
        )


@kernel
def _compliant_winches(
    model: RobotModel, data: RobotData, work: RodWork, length_out: FloatArray
) -> None:
    """Lengths (T,) to ask of the winches so that every tendon carries its pretension.

    A winch under tension control does not wait for its own lag: it asks for more than
    is missing, so that the loop closes with `_TENSION_LOOP`, up to its speed limit.
    """
    for limb in range(model.tip_speed_limit.size):
        start, stop = model.limb_segment_start[limb], model.limb_segment_start[limb + 1]
        first, last = model.limb_tendon_start[limb], model.limb_tendon_start[limb + 1]
        tendon_lengths(
            model,
            limb,
            data.coordinates[start:stop],
            length_out[first:last],
            work.tendon_jacobian,
        )
        for t in range(first, last):
            stretch = model.tendon_pretension[t] / model.tendon_stiffness[t]
            missing = length_out[t] - stretch - data.servo_length[t]
            lead = max(1.0, model.servo_time_constant[t] / _TENSION_LOOP)
            length_out[t] = data.servo_length[t] + lead * missing


@kernel
def _winches(
    nominal: RobotModel,
    real: RobotModel,
    actuation: int,
    target: FloatArray,
    slack: FloatArray,
    drive: IntArray,
    given: FloatArray,
    wound_out: FloatArray,
    data: RobotData,
    work: RodWork,
    winch_out: FloatArray,
) -> None:
    """Lengths (T,) asked of the winches; arguments as of `PlantParts`."""
    if actuation == _STIFF:
        _stiff_winches(nominal, target, wound_out, work, winch_out)
        return
    for k in range(wound_out.shape[0]):
        for j in range(3):
            wound_out[k, j] = np.nan
    if actuation == _COMPLIANT:
        # a winch under tension control feels its tendon: the real geometry
        _compliant_winches(real, data, work, winch_out)
    elif actuation == EACH:
        _compliant_winches(real, data, work, winch_out)
        for t in range(winch_out.size):
            if drive[t] == _STIFF:
                winch_out[t] = given[t]
            elif drive[t] != _COMPLIANT:
                winch_out[t] = slack[t]
    else:
        for t in range(winch_out.size):
            winch_out[t] = slack[t]


class PlantParts(NamedTuple):
    """What one plant works on, in open water.

    Attributes:
        nominal: what the winches' controller believes the robot to be.
        real: what it is.
        target: (S, 3) pose to hold where the winches are STIFF [rad, rad, m].
        slack: (T,) lengths at which nothing loads the limb [m].
        drive: (T,) an `Actuation` each.
        given: (T,) lengths where that is STIFF [m].
        wound: (S, 3) pose that the winches hold; NaN where none [rad, rad, m].
        data: state of the plant, advanced.
        work: scratch.
        winch: (T,) lengths asked of the winches [m], written.
        truth: what is so after each step, written.
    """

    nominal: RobotModel
    real: RobotModel
    target: FloatArray
    slack: FloatArray
    drive: IntArray
    given: FloatArray
    wound: FloatArray
    data: RobotData
    work: RodWork
    winch: FloatArray
    truth: TruthData


class AroundParts(NamedTuple):
    """What can be touched, and its state, advanced; `PlantParts` has scratch for it."""

    world: SurroundingsModel
    state: SurroundingsData


class SensorParts(NamedTuple):
    """What the sensors of one plant read."""

    data: RobotData
    pose_noise: FloatArray
    """(N, S, 3) of N measurements [rad, rad, m]."""
    tension_noise: FloatArray
    """(N, T) [N]."""
    tension_least: FloatArray
    """(T,) [N]: a load cell reads no push of a tendon; a chamber does push."""


@kernel
def read_sensors(
    sensors: SensorParts, row: int, pose_out: FloatArray, tension_out: FloatArray
) -> None:
    """Take measurement number `row`: (S, 3) pose [rad, rad, m], (T,) tensions [N]."""
    for k in range(pose_out.shape[0]):
        for j in range(3):
            noise = sensors.pose_noise[row, k, j]
            pose_out[k, j] = sensors.data.coordinates[k, j] + noise
    for t in range(tension_out.size):
        tension = sensors.data.tension[t] + sensors.tension_noise[row, t]
        least = sensors.tension_least[t]
        tension_out[t] = least if tension < least else tension


@inner_kernel
def _told(parts: PlantParts, actuation: int) -> None:
    _winches(
        parts.nominal,
        parts.real,
        actuation,
        parts.target,
        parts.slack,
        parts.drive,
        parts.given,
        parts.wound,
        parts.data,
        parts.work,
        parts.winch,
    )


@called_kernel
def plant_step(parts: PlantParts, actuation: int) -> int:
    """Advance the plant by `PLANT_PERIOD` where there is nothing to touch.

    Args:
        parts: of the plant.
        actuation: an `Actuation` of all winches; `EACH`: each as `drive` says.

    Returns:
        Number of limbs that are frozen.
    """
    _told(parts, actuation)
    told = robot_step(parts.real, PLANT_PERIOD, parts.winch, parts.data, parts.work)
    note_pose(parts.truth, parts.data)
    return int(told)


@called_kernel
def plant_contact_step(parts: PlantParts, around: AroundParts, actuation: int) -> int:
    """Advance the plant and its surroundings by `PLANT_PERIOD`.

    Args:
        parts: of the plant.
        around: of its surroundings.
        actuation: as of `plant_step`.

    Returns:
        Number of limbs that are frozen, with `HAPPENED` where there is an event.
    """
    _told(parts, actuation)
    told = surroundings_step(
        parts.real,
        around.world,
        PLANT_PERIOD,
        parts.winch,
        parts.data,
        around.state,
        parts.work,
    )
    note_pose(parts.truth, parts.data)
    note_contact(parts.truth, around.state)
    event = around.state.grasp.event
    for limb in range(event.size):
        if event[limb] != NOTHING:
            return int(told) + HAPPENED
    return int(told)
