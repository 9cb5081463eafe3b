"""The inner loop of the harness: both halves, handle, tip, wall and line, compiled.

At each tick the halves act on what they have heard, then handle and tip are advanced
semi-implicitly (velocity, then place). What was told stands in the traces, which so are
the line too.
"""

import numpy as np

from app.study.one_dof_setup import NEVER
from app.study.one_dof_traces import (
    REPORTS,
    LoopData,
    LoopTraces,
    PlanModel,
    PlantModel,
)
from app.teleop.gains import Gains
from app.teleop.master import master_step
from app.teleop.slave import slave_step
from models.environment_report import SurfaceReport
from models.human_arm import arm_force, arm_reference_rate
from models.numerics import kernel
from models.surface_estimator import SurfaceEstimatorModel
from models.surface_estimator_report import estimate_surface

__all__ = ["run_loop"]

_NEVER = NEVER
_REPORTS = REPORTS
_WILD = 10.0  # [m]


@kernel
def run_loop(
    plant: PlantModel,
    estimator: SurfaceEstimatorModel,
    plan: PlanModel,
    gains: Gains,
    data: LoopData,
    traces_out: LoopTraces,
) -> int:
    """Run all ticks of a plan.

    Args:
        plant: handle, arm, tip, wall.
        estimator: gates of the robot's estimator of surfaces.
        plan: what is given.
        gains: of the strategies.
        data: state, advanced.
        traces_out: what happened.

    Returns:
        Ticks that were run: fewer than planned where it diverged.
    """
    for k in range(plan.time.size):
        _hear(plan, k, traces_out, data)
        _feel(plant, plan, k, traces_out, data)
        _sense(plant, estimator, plan, k, data, traces_out)
        master_step(
            plan.strategy[k],
            gains,
            plant.period,
            data.hand,
            data.hand_velocity,
            data.up_heard,
            data.surface,
            data.master,
            data.hand_force,
            data.down,
        )
        slave_step(
            data.down_heard.strategy[0],
            gains,
            plant.period,
            data.tip,
            data.tip_velocity,
            data.contact,
            data.down_heard,
            data.slave,
            data.command,
            data.up,
        )
        _write(k, data, traces_out)
        _move(plant, plan, k, data, traces_out)
        if not (abs(data.hand[0]) < _WILD and abs(data.tip[0]) < _WILD):
            return k + 1
    return int(plan.time.size)


@kernel
def _hear(plan: PlanModel, k: int, traces: LoopTraces, data: LoopData) -> None:
    """Take up what came down and up the line."""
    before = _NEVER if k == 0 else plan.down[k - 1]
    j = plan.down[k]
    heard = data.down_heard
    heard.fresh[0] = 1 if j != before else 0
    if j != before:
        heard.time_ns[0] = (j + 1) * 1_000_000
        heard.strategy[0] = traces.strategy_down[j]
        heard.engagement[0] = traces.engagement_down[j]
        heard.position[0] = traces.told_position[j]
        heard.velocity[0] = traces.hand_velocity[j]
        heard.force[0] = traces.told_force_down[j]
        heard.wave[0] = traces.wave_down[j]
        heard.wave_integral[0] = traces.wave_down_sum[j]
        heard.energy[0] = traces.energy_down[j]
    before = _NEVER if k == 0 else plan.up[k - 1]
    j = plan.up[k]
    heard = data.up_heard
    heard.fresh[0] = 1 if j != before else 0
    if j != before:
        heard.time_ns[0] = (j + 1) * 1_000_000
        heard.strategy[0] = traces.strategy_up[j]
        heard.engagement[0] = traces.engagement_up[j]
        heard.position[0] = traces.tip[j]
        heard.velocity[0] = traces.tip_velocity[j]
        heard.force[0] = traces.told_force_up[j]
        heard.wave[0] = traces.wave_up[j]
        heard.wave_integral[0] = traces.wave_up_sum[j]
        heard.energy[0] = traces.energy_up[j]
        _hear_report(traces, traces.told_reports[j], data.surface.heard)


@kernel
def _hear_report(traces: LoopTraces, number: int, report_out: SurfaceReport) -> None:
    """Hand a published model to the master."""
    if number == 0 or number == report_out.number[0]:
        return
    row = (number - 1) % _REPORTS
    report_out.number[0] = number
    report_out.status[0] = int(traces.reports[row, 4])
    report_out.kind[0] = int(traces.reports[row, 5])
    report_out.estimated_ns[0] = int(1e9 * traces.reports[row, 0])
    report_out.point[0] = traces.reports[row, 1]
    report_out.normal[0] = traces.reports[row, 7]
    report_out.normal[1] = 0.0
    report_out.normal[2] = 0.0
    report_out.radius[0] = traces.reports[row, 8]
    report_out.stiffness[0] = traces.reports[row, 2]
    report_out.damping[0] = traces.reports[row, 6]
    report_out.exponent[0] = traces.reports[row, 3]
    report_out.confidence[0] = traces.reports[row, 9]


@kernel
def _feel(
    plant: PlantModel, plan: PlanModel, k: int, traces: LoopTraces, data: LoopData
) -> None:
    """Let the operator who holds a force move the aim."""
    time = plan.time[k]
    if not plant.press_from <= time < plant.press_until:
        return
    felt = k - int(np.rint(plant.press_delay / plant.period))
    rate = arm_reference_rate(
        plant.press_force,
        traces.hand_force[felt] if felt >= 0 else 0.0,
        plant.press_gain,
        plant.press_dead,
    )
    data.aim_shift[0] += rate * plant.period


@kernel
def _sense(
    plant: PlantModel,
    estimator: SurfaceEstimatorModel,
    plan: PlanModel,
    k: int,
    data: LoopData,
    traces_out: LoopTraces,
) -> None:
    """Contact force of the tip, and the surface that the robot makes of it."""
    depth = data.tip[0] - plan.wall[k]
    force = 0.0
    if depth > 0.0:
        elastic = plant.wall_stiffness * depth**plant.wall_exponent
        damping = plant.wall_damping
        if plant.wall_exponent != 1.0:
            damping *= depth**plant.wall_exponent
        force = max(0.0, elastic + damping * data.tip_velocity[0])
    traces_out.contact_force[k] = force
    data.contact[0] = force + plan.noise[k]
    data.now[0] = (k + 1) * 1_000_000
    data.hand_force[0] = -data.contact[0]
    estimate_surface(
        estimator,
        data.now,
        plant.period,
        data.tip,
        data.tip_velocity,
        data.hand_force,
        data.nothing,
        data.estimate,
        data.report,
    )
    number = data.report.number[0]
    traces_out.told_reports[k] = number
    if number == 0 or (k > 0 and traces_out.told_reports[k - 1] == number):
        return
    row = (number - 1) % _REPORTS
    traces_out.reports[row, 0] = plan.time[k]
    traces_out.reports[row, 1] = data.report.point[0]
    traces_out.reports[row, 2] = data.report.stiffness[0]
    traces_out.reports[row, 3] = data.report.exponent[0]
    traces_out.reports[row, 4] = data.report.status[0]
    traces_out.reports[row, 5] = data.report.kind[0]
    traces_out.reports[row, 6] = data.report.damping[0]
    traces_out.reports[row, 7] = data.report.normal[0]
    traces_out.reports[row, 8] = data.report.radius[0]
    traces_out.reports[row, 9] = data.report.confidence[0]


@kernel
def _write(k: int, data: LoopData, traces_out: LoopTraces) -> None:
    """Trace what the halves made of this tick."""
    traces_out.hand[k] = data.hand[0]
    traces_out.hand_velocity[k] = data.hand_velocity[0]
    traces_out.tip[k] = data.tip[0]
    traces_out.tip_velocity[k] = data.tip_velocity[0]
    traces_out.setpoint[k] = data.command.position[0]
    traces_out.setpoint_velocity[k] = data.command.velocity[0]
    traces_out.hand_force[k] = data.hand_force[0]
    traces_out.tip_force[k] = data.slave.force[0]
    traces_out.guard[k] = data.master.guard[0]
    traces_out.wave_down[k] = data.down.wave[0]
    traces_out.wave_down_heard[k] = data.slave.wave.passed[0]
    traces_out.wave_up[k] = data.up.wave[0]
    traces_out.wave_up_heard[k] = data.master.wave.passed[0]
    traces_out.wave_down_sum[k] = data.down.wave_integral[0]
    traces_out.wave_up_sum[k] = data.up.wave_integral[0]
    traces_out.told_force_down[k] = data.down.force[0]
    traces_out.told_force_up[k] = data.up.force[0]
    traces_out.energy_down[k] = data.down.energy[0]
    traces_out.energy_up[k] = data.up.energy[0]
    traces_out.told_position[k] = data.down.position[0]
    known = data.surface.known[0] == 1
    traces_out.surface[k] = data.surface.point[0] if known else np.nan
    traces_out.surface_stiffness[k] = data.surface.stiffness[0]
    traces_out.strategy_down[k] = data.down.strategy[0]
    traces_out.strategy_up[k] = data.up.strategy[0]
    traces_out.engagement_down[k] = data.down.engagement[0]
    traces_out.engagement_up[k] = data.up.engagement[0]


@kernel
def _move(
    plant: PlantModel,
    plan: PlanModel,
    k: int,
    data: LoopData,
    traces_out: LoopTraces,
) -> None:
    """Advance handle and tip by a tick."""
    aim = plan.aim[k] + data.aim_shift[0]
    traces_out.aim[k] = aim
    before = data.hand_velocity[0]
    push = arm_force(
        plant.arm_damping,
        plant.arm_stiffness,
        aim,
        plan.aim_velocity[k],
        data.hand[0],
        before,
    )
    mass = plant.handle_mass + plant.arm_mass
    force = push - data.hand_force[0] - plant.handle_damping * before
    data.hand_velocity[0] = before + plant.period * force / mass
    data.hand[0] += plant.period * data.hand_velocity[0]
    work = data.hand_force[0] * 0.5 * (before + data.hand_velocity[0]) * plant.period
    traces_out.port_energy[k] = work + (traces_out.port_energy[k - 1] if k > 0 else 0.0)
    force = (
        data.slave.force[0]
        - traces_out.contact_force[k]
        - plant.tip_damping * data.tip_velocity[0]
    )
    data.tip_velocity[0] += plant.period * force / plant.tip_mass
    data.tip[0] += plant.period * data.tip_velocity[0]
