"""A harness of one degree of freedom that runs the product's own strategy kernels.

    hand's aim -> arm -> handle | master half <- line -> slave half | tip -> wall

Integrated at 1 ms. Leaves out the limb (`F_s` acts on a mass in water), the actuators'
lag, and, but for loss and packet rate, all that varies in a link.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.study.one_dof_loop import run_loop
from app.study.one_dof_setup import (
    Setup,
    newest_told,
    reference_path,
    wall_path,
)
from app.study.one_dof_traces import (
    LoopData,
    LoopTraces,
    PlanModel,
    PlantModel,
    allocate_traces,
)
from app.teleop.gains import Gains, gains_from
from app.teleop.halves import allocate_command, allocate_master, allocate_slave
from app.teleop.signals import allocate_signal
from models.environment import allocate_surface
from models.environment_report import allocate_report
from models.numerics import FloatArray, IntArray
from models.surface_estimator import (
    SurfaceEstimatorModel,
    allocate_surface_estimate,
    build_surface_estimator,
)

__all__ = ["Run", "run_one_dof"]

_UNLIMITED = 1e9


@dataclass(frozen=True)
class Run:
    """What came of a set-up; traces begin with the idle time before 0.

    Attributes:
        setup: what was run.
        traces: 1 kHz traces.
        ticks: that were run; fewer than planned where it diverged.
    """

    setup: Setup
    traces: LoopTraces
    ticks: int

    @cached_property
    def time(self) -> FloatArray:
        """[s], from 0 at the end of the idle time, for what was run."""
        return self.setup.times()[: self.ticks]

    @property
    def diverged(self) -> bool:
        """Whether a place left the range of 0.5 m."""
        n = self.ticks
        far = max(np.abs(self.traces.hand[:n]).max(), np.abs(self.traces.tip[:n]).max())
        return n < self.setup.ticks or not far <= 0.5

    @property
    def stable(self) -> bool:
        """Whether neither place diverges or swings on.

        Unstable: beyond 0.5 m; or, of the time after the aim's last move, in the last
        quarter the swing from peak to peak is above 1 mm and 0.9 of that in the
        quarter before.
        """
        if self.diverged:
            return False
        stop = max((move.start + move.duration for move in self.setup.moves), default=0)
        after = np.flatnonzero(self.time >= stop)
        quarter = after.size // 4
        for trace in (self.traces.hand, self.traces.tip):
            last = np.ptp(trace[after[-quarter:]])
            before = np.ptp(trace[after[-2 * quarter : -quarter]])
            if last > 1e-3 and last > 0.9 * before:
                return False
        return True

    @property
    def injected(self) -> float:
        """E_inj: most that the hand's port has given beyond what it took [J]."""
        return max(0.0, -float(self.traces.port_energy[: self.ticks].min()))

    @property
    def least_port(self) -> float:
        """Least energy of the hand's port [J]."""
        return float(self.traces.port_energy[: self.ticks].min())

    @cached_property
    def net_energy(self) -> FloatArray:
        """E_net at every tick: in at both ports less out [J]."""
        n = self.ticks
        out = self.traces.tip_force[:n] * self.traces.setpoint_velocity[:n]
        given: FloatArray = np.cumsum(out) * self.setup.period
        return self.traces.port_energy[:n] - given

    @cached_property
    def line_energy(self) -> FloatArray:
        """E_ch at every tick: what the waves have brought in less what came out [J]."""
        n = self.ticks
        trace = self.traces
        flow = (
            trace.wave_down[:n] ** 2
            - trace.wave_down_heard[:n] ** 2
            + trace.wave_up[:n] ** 2
            - trace.wave_up_heard[:n] ** 2
        )
        energy: FloatArray = 0.5 * np.cumsum(flow) * self.setup.period
        return energy

    def mean(self, trace: FloatArray, seconds: float = 1.0) -> float:
        """Mean of a trace over the last seconds."""
        count = round(seconds / self.setup.period)
        return float(trace[self.ticks - count : self.ticks].mean())

    @property
    def displayed_stiffness(self) -> float:
        """Force over the hand's way into the wall, in the last second [N/m]."""
        way = self.mean(self.traces.hand) - self.setup.wall.position
        return self.mean(self.traces.hand_force) / way if way > 0.0 else 0.0

    @property
    def peak_contact(self) -> float:
        """Greatest contact force [N]."""
        return float(self.traces.contact_force[: self.ticks].max())

    @property
    def peak_shown(self) -> float:
        """Greatest force shown to the hand [N]."""
        return float(np.abs(self.traces.hand_force[: self.ticks]).max())

    @property
    def greatest_jump(self) -> float:
        """Greatest change of the shown force from one tick to the next [N]."""
        return float(np.abs(np.diff(self.traces.hand_force[: self.ticks])).max())


def _limited_or_not(gains: Gains, *, limited: bool) -> Gains:
    if not limited:
        gains.guarded[0] = 0
        gains.slew[0] = _UNLIMITED
        gains.force_limit[0] = _UNLIMITED
    return gains


def _plant(setup: Setup) -> PlantModel:
    handle = setup.parameters.handle
    tip = setup.parameters.tip
    press = setup.press
    return PlantModel(
        handle_mass=handle.mass_kg,
        handle_damping=handle.damping_n_s_per_m,
        arm_mass=setup.arm.mass,
        arm_damping=setup.arm.damping,
        arm_stiffness=setup.arm.stiffness,
        tip_mass=tip.mass_kg,
        tip_damping=tip.damping_n_s_per_m,
        wall_stiffness=setup.wall.stiffness,
        wall_damping=setup.wall.damping,
        wall_exponent=float(setup.wall.exponent),
        period=setup.period,
        press_from=press.start if press else np.inf,
        press_until=press.end if press else np.inf,
        press_force=press.force if press else 0.0,
        press_gain=press.gain if press else 0.0,
        press_delay=press.delay if press else 0.0,
        press_dead=press.dead if press else 0.0,
    )


def _plan(setup: Setup, told: tuple[IntArray, IntArray] | None) -> PlanModel:
    down_told, up_told = (None, None) if told is None else told
    time = setup.times()
    aim, aim_velocity = reference_path(setup)
    strategy = np.full(time.size, int(setup.strategy), dtype=np.int64)
    for when, other in setup.switches:
        strategy[time >= when] = int(other)
    down, up, noise = (
        np.random.default_rng(child)
        for child in np.random.SeedSequence(setup.seed).spawn(3)
    )
    line = setup.line
    return PlanModel(
        time=time,
        aim=aim,
        aim_velocity=aim_velocity,
        wall=wall_path(setup),
        strategy=strategy,
        down=newest_told(setup, line.down, down, down_told),
        up=newest_told(setup, line.down if line.up is None else line.up, up, up_told),
        noise=setup.force_noise * noise.normal(size=time.size),
    )


def _data(setup: Setup) -> LoopData:
    parameters = setup.parameters
    return LoopData(
        master=allocate_master(),
        slave=allocate_slave(),
        command=allocate_command(),
        down=allocate_signal(),
        up=allocate_signal(),
        down_heard=allocate_signal(),
        up_heard=allocate_signal(),
        surface=allocate_surface(
            parameters.handle.damping_n_s_per_m,
            setup.period,
            naive=parameters.mediated.naive,
        ),
        report=allocate_report(),
        estimate=allocate_surface_estimate(),
        now=np.zeros(1, dtype=np.int64),
        hand=np.zeros(3),
        hand_velocity=np.zeros(3),
        tip=np.zeros(3),
        tip_velocity=np.zeros(3),
        contact=np.zeros(3),
        hand_force=np.zeros(3),
        nothing=np.zeros(3),
        aim_shift=np.zeros(1),
    )


def run_one_dof(
    setup: Setup,
    estimator: SurfaceEstimatorModel | None = None,
    *,
    told: tuple[IntArray, IntArray] | None = None,
) -> Run:
    """Run a set-up.

    Args:
        setup: what to run.
        estimator: gates of the robot's estimator of surfaces; None = its defaults.
        told: (n,) each, 1 in the ticks in which something is told, down and up; None:
            in all, or as the line's packets go.
    """
    gains = _limited_or_not(gains_from(setup.parameters), limited=setup.limited)
    traces = allocate_traces(setup.ticks)
    ticks = run_loop(
        _plant(setup),
        build_surface_estimator(estimator),
        _plan(setup, told),
        gains,
        _data(setup),
        traces,
    )
    return Run(setup, traces, ticks)
