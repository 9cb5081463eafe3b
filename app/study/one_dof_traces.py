"""What the loop of the harness takes and leaves: plant, plan, state and traces."""

from typing import Any, NamedTuple

import numpy as np

from app.teleop.halves import MasterData, SlaveCommand, SlaveData
from app.teleop.signals import Signal
from models.environment import LocalSurface
from models.environment_report import SurfaceReport
from models.numerics import FloatArray, IntArray
from models.surface_estimator import SurfaceEstimateData

__all__ = [
    "REPORTS",
    "LoopData",
    "LoopTraces",
    "PlanModel",
    "PlantModel",
    "allocate_traces",
]

REPORTS = 4096
"""Published models that are kept."""


class PlantModel(NamedTuple):
    """Handle with arm, tip, and wall (SI)."""

    handle_mass: float
    handle_damping: float
    arm_mass: float
    arm_damping: float
    arm_stiffness: float
    tip_mass: float
    tip_damping: float
    wall_stiffness: float
    wall_damping: float
    wall_exponent: float
    period: float
    press_from: float
    press_until: float
    press_force: float
    press_gain: float
    press_delay: float
    press_dead: float


class PlanModel(NamedTuple):
    """What is given at every tick, (n,) each."""

    time: FloatArray
    """[s]."""
    aim: FloatArray
    """Of the hand [m]."""
    aim_velocity: FloatArray
    """[m/s]."""
    wall: FloatArray
    """Its place [m]."""
    strategy: IntArray
    """`Strategy` to be engaged."""
    down: IntArray
    """Tick whose telling is the newest that the slave has heard; -1 = none."""
    up: IntArray
    """The same for the master."""
    noise: FloatArray
    """Of the measured contact force [N]."""


class LoopTraces(NamedTuple):
    """What happened at every tick, (n,) each; forces as in `app.teleop.signals`."""

    aim: FloatArray
    """Of the hand, with force holding [m]."""
    hand: FloatArray
    """[m]."""
    hand_velocity: FloatArray
    """[m/s]."""
    tip: FloatArray
    """[m]."""
    tip_velocity: FloatArray
    """[m/s]."""
    setpoint: FloatArray
    """That the tip's controller follows [m]."""
    setpoint_velocity: FloatArray
    """[m/s]."""
    hand_force: FloatArray
    """F_m [N]."""
    tip_force: FloatArray
    """F_s [N]."""
    contact_force: FloatArray
    """F_e [N]."""
    port_energy: FloatArray
    """Into the hand's port: F_m times the mean velocity of the tick, summed [J]."""
    guard: FloatArray
    """Damping of the guard [N s/m]."""
    wave_down: FloatArray
    """u as sent [sqrt(W)]."""
    wave_down_heard: FloatArray
    """u as passed on [sqrt(W)]."""
    wave_up: FloatArray
    """w as sent [sqrt(W)]."""
    wave_up_heard: FloatArray
    """w as passed on [sqrt(W)]."""
    wave_down_sum: FloatArray
    """Integral of u [sqrt(W) s]."""
    wave_up_sum: FloatArray
    """Integral of w [sqrt(W) s]."""
    told_force_down: FloatArray
    """[N]."""
    told_force_up: FloatArray
    """[N]."""
    energy_down: FloatArray
    """In at the hand's port, as told [J]."""
    energy_up: FloatArray
    """In at the robot's port, as told [J]."""
    told_position: FloatArray
    """Of the hand [m]."""
    surface: FloatArray
    """Place of the rendered surface, NaN while none is known [m]."""
    surface_stiffness: FloatArray
    """[N/m^n]."""
    reports: FloatArray
    """(4096, 10) published models: time [s], place [m], stiffness, exponent, status,
    kind, damping, normal along x, radius [m], confidence."""
    strategy_down: IntArray
    """Of the master."""
    strategy_up: IntArray
    """Of the slave."""
    engagement_down: IntArray
    """Of the master."""
    engagement_up: IntArray
    """Of the slave."""
    told_reports: IntArray
    """Number of the newest report."""


class LoopData(NamedTuple):
    """All state of a run."""

    master: MasterData
    slave: SlaveData
    command: SlaveCommand
    down: Signal
    up: Signal
    down_heard: Signal
    up_heard: Signal
    surface: LocalSurface
    report: SurfaceReport
    estimate: SurfaceEstimateData
    now: IntArray
    hand: FloatArray
    hand_velocity: FloatArray
    tip: FloatArray
    tip_velocity: FloatArray
    contact: FloatArray
    hand_force: FloatArray
    nothing: FloatArray
    aim_shift: FloatArray


def allocate_traces(ticks: int) -> LoopTraces:
    """Make the traces of a run of so many ticks."""
    whole = ("strategy_down", "strategy_up", "engagement_down", "engagement_up")
    fields: dict[str, Any] = {}
    for name in LoopTraces._fields:
        counts = name in whole or name == "told_reports"
        shape = (REPORTS, 10) if name == "reports" else (ticks,)
        fields[name] = np.zeros(shape, dtype=np.int64 if counts else np.float64)
    return LoopTraces(**fields)
