"""The inner loop of a press in three dimensions: hand, link, tip and surface, compiled.

    aim -> arm -> handle | master half <- link -> slave half | actuator lag -> tip

The tip is a mass in water on the limb's elasticity, whose setpoint the actuators reach
with a lag: not the elasticity lags. The surface is a plane with the law of Kelvin and
Voigt or of Hunt and Crossley, and Coulomb's friction, smooth through zero. What goes
over the link is quantised as frames tell it: places to 0.1 mm, forces to 1 mN.
"""

import math
from typing import NamedTuple

import numpy as np

from app.teleop.gains import Gains
from app.teleop.halves import MasterData, SlaveCommand, SlaveData
from app.teleop.master import master_step
from app.teleop.signals import Signal
from app.teleop.slave import slave_step
from models.environment import LocalSurface
from models.environment_report import SurfaceReport, copy_report
from models.numerics import FloatArray, IntArray, kernel
from models.surface_estimator import SurfaceEstimateData, SurfaceEstimatorModel
from models.surface_estimator_report import estimate_surface

__all__ = ["PressData", "PressModel", "PressTraces", "run_press"]

_PLACE = 1e-4
_FORCE = 1e-3
_SLIP_SPEED = 1e-3


class PressModel(NamedTuple):
    """Hand, tip and surface (SI)."""

    period: float
    strategy: int
    late: int
    """Delay each way [ticks]."""
    every: int
    """A packet each way every so many ticks."""
    hand_mass: float
    handle_damping: float
    arm_stiffness: float
    arm_damping: float
    tip_mass: float
    tip_damping: float
    lag: float
    """Time constant of the actuators [s]; 0 = none."""
    stiffness: float
    damping: float
    exponent: float
    friction: float
    noise: float
    """Of the measured force, each axis [N]."""


class PressData(NamedTuple):
    """What changes while it runs."""

    master: MasterData
    slave: SlaveData
    command: SlaveCommand
    down: Signal
    up: Signal
    down_heard: Signal
    up_heard: Signal
    surface: LocalSurface
    estimate: SurfaceEstimateData
    report: SurfaceReport
    on_the_way: SurfaceReport
    sent_tick: IntArray
    """(1,) when the report on the way was sent [tick]; -1 = none is."""
    now: IntArray
    hand_velocity: FloatArray
    tip_velocity: FloatArray
    place: FloatArray
    """(3,) setpoint that the actuators have reached [m]."""
    push: FloatArray
    """(3,) force fed forward that they have reached [N]."""
    sensed: FloatArray
    unknown: FloatArray
    """(3,) zeros: the scene tells no normal."""


class PressTraces(NamedTuple):
    """One row a tick."""

    aim: FloatArray
    """(n, 3) of the hand [m]; given."""
    normal: FloatArray
    """(3,) outward, of the plane; given."""
    wall: FloatArray
    """(n,) how deep the surface lies along the inward normal [m]; given."""
    noise: FloatArray
    """(n, 3) of standard deviation 1; given."""
    hand: FloatArray
    """(n, 3) [m]."""
    hand_force: FloatArray
    """(n, 3) that the hand pushes with [N]."""
    proxy: FloatArray
    """(n, 3) as told [m]."""
    told_velocity: FloatArray
    """(n, 3) as told [m/s]."""
    told_force: FloatArray
    """(n, 3) as told [N]."""
    tip: FloatArray
    """(n, 3) [m]."""
    contact: FloatArray
    """(n, 3) that the tip pushes the surface with [N]."""
    status: IntArray
    """(n,) what the operator is told of the surface."""
    port: FloatArray
    """(n,) energy into the hand's port so far [J]."""


@kernel
def run_press(
    model: PressModel,
    estimator: SurfaceEstimatorModel,
    gains: Gains,
    data: PressData,
    traces_out: PressTraces,
) -> int:
    """Run it.

    Args:
        model: hand, tip and surface.
        estimator: gates of the robot's estimator.
        gains: of the strategy.
        data: the halves and states, advanced.
        traces_out: its given rows are read, the others written.

    Returns:
        Number of ticks that were run: fewer than given where a place left 1 m.
    """
    for k in range(traces_out.wall.shape[0]):
        _step_hand(model, gains, k, data, traces_out)
        _step_tip(model, estimator, gains, k, data, traces_out)
        if not (abs(traces_out.hand[k, 2]) < 1.0 and abs(traces_out.tip[k, 2]) < 1.0):
            return k
    return int(traces_out.wall.shape[0])


@kernel
def _step_hand(
    model: PressModel, gains: Gains, k: int, data: PressData, traces_out: PressTraces
) -> None:
    """Advance the hand, the master half and what it tells by a tick."""
    force = data.sensed
    before = max(k - 1, 0)
    work = 0.0
    for i in range(3):
        aim_velocity = 0.0
        if k > 0:
            aim_velocity = traces_out.aim[k, i] - traces_out.aim[before, i]
        velocity = data.hand_velocity[i]
        shown = traces_out.hand_force[before, i] if k > 0 else 0.0
        place = traces_out.hand[before, i] if k > 0 else traces_out.aim[0, i]
        push = (
            model.arm_stiffness * (traces_out.aim[k, i] - place)
            + model.arm_damping * (aim_velocity / model.period - velocity)
            - shown
            - model.handle_damping * velocity
        )
        data.hand_velocity[i] = velocity + model.period * push / model.hand_mass
        moved = model.period * data.hand_velocity[i]
        traces_out.hand[k, i] = place + moved
        work += shown * 0.5 * (velocity + data.hand_velocity[i]) * model.period
    traces_out.port[k] = work + (traces_out.port[before] if k > 0 else 0.0)
    _hear_report(model, k, data)
    traces_out.status[k] = data.surface.heard.status[0]
    data.up_heard.fresh[0] = 1
    data.up_heard.time_ns[0] = (k + 1) * 1_000_000
    data.up_heard.engagement[0] = data.master.engagement[0]
    master_step(
        model.strategy,
        gains,
        model.period,
        traces_out.hand[k],
        data.hand_velocity,
        data.up_heard,
        data.surface,
        data.master,
        force,
        data.down,
    )
    for i in range(3):
        traces_out.hand_force[k, i] = force[i]
        traces_out.proxy[k, i] = np.rint(data.down.position[i] / _PLACE) * _PLACE
        told = np.rint(data.down.velocity[i] / _PLACE) * _PLACE
        traces_out.told_velocity[k, i] = told
        traces_out.told_force[k, i] = np.rint(data.down.force[i] / _FORCE) * _FORCE


@kernel
def _hear_report(model: PressModel, k: int, data: PressData) -> None:
    """Hand a report on that has come; the next one sets out then at the earliest."""
    sent = data.sent_tick[0]
    if sent >= 0 and k - sent >= model.late:
        copy_report(data.on_the_way, data.surface.heard)
        data.sent_tick[0] = -1
    waits = data.report.number[0] != data.surface.heard.number[0]
    if data.sent_tick[0] < 0 and waits and k % model.every == 0:
        copy_report(data.report, data.on_the_way)
        for i in range(3):
            place = np.rint(data.report.point[i] / _PLACE) * _PLACE
            data.on_the_way.point[i] = place
        data.sent_tick[0] = k


@kernel
def _step_tip(
    model: PressModel,
    estimator: SurfaceEstimatorModel,
    gains: Gains,
    k: int,
    data: PressData,
    traces_out: PressTraces,
) -> None:
    """Advance what the robot hears, its half, its actuators and its tip by a tick."""
    before = max(k - 1, 0)
    position = traces_out.tip[k]
    for i in range(3):
        start = traces_out.aim[0, i]
        position[i] = traces_out.tip[before, i] if k > 0 else start
    contact = traces_out.contact[k]
    _touch(model, position, traces_out.wall[k], data, traces_out.normal, contact)
    for i in range(3):
        data.sensed[i] = -contact[i] + model.noise * traces_out.noise[k, i]
    data.now[0] = (k + 1) * 1_000_000
    estimate_surface(
        estimator,
        data.now,
        model.period,
        position,
        data.tip_velocity,
        data.sensed,
        data.unknown,
        data.estimate,
        data.report,
    )
    told = ((k - model.late) // model.every) * model.every
    data.down_heard.fresh[0] = 0
    if told >= 0:
        data.down_heard.fresh[0] = 1 if (k - model.late) % model.every == 0 else 0
        data.down_heard.time_ns[0] = (told + 1) * 1_000_000
        data.down_heard.strategy[0] = model.strategy
        data.down_heard.engagement[0] = data.master.engagement[0]
        for i in range(3):
            data.down_heard.position[i] = traces_out.proxy[told, i]
            data.down_heard.velocity[i] = traces_out.told_velocity[told, i]
            data.down_heard.force[i] = traces_out.told_force[told, i]
    slave_step(
        model.strategy,
        gains,
        model.period,
        position,
        data.tip_velocity,
        contact,
        data.down_heard,
        data.slave,
        data.command,
        data.up,
    )
    share = 1.0 - math.exp(-model.period / model.lag) if model.lag > 0.0 else 1.0
    for i in range(3):
        command = data.command.velocity[i]
        if model.lag > 0.0:
            command = (data.command.position[i] - data.place[i]) / model.lag
        data.place[i] += share * (data.command.position[i] - data.place[i])
        data.push[i] += share * (data.command.force[i] - data.push[i])
        push = (
            gains.stiffness[i] * (data.place[i] - position[i])
            + gains.damping[i] * (command - data.tip_velocity[i])
            + data.push[i]
            - contact[i]
            - model.tip_damping * data.tip_velocity[i]
        )
        data.tip_velocity[i] += model.period * push / model.tip_mass
        traces_out.tip[k, i] = position[i] + model.period * data.tip_velocity[i]


@kernel
def _touch(
    model: PressModel,
    position: FloatArray,
    wall: float,
    data: PressData,
    normal: FloatArray,
    contact_out: FloatArray,
) -> None:
    """Force with which the tip pushes the surface."""
    depth = -wall
    rate = 0.0
    for i in range(3):
        depth -= normal[i] * position[i]
        rate -= normal[i] * data.tip_velocity[i]
        contact_out[i] = 0.0
    if not depth > 0.0:
        return
    damping = model.damping
    if model.exponent != 1.0:
        damping *= depth**model.exponent
    force = max(0.0, model.stiffness * depth**model.exponent + damping * rate)
    slip = 0.0
    for i in range(3):
        slip += (data.tip_velocity[i] + rate * normal[i]) ** 2
    drag = model.friction * force / math.sqrt(slip + _SLIP_SPEED**2)
    for i in range(3):
        across = data.tip_velocity[i] + rate * normal[i]
        contact_out[i] = -force * normal[i] + drag * across
