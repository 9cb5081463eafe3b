"""Presses in three dimensions: what model mediation does when its model is wrong.

The hand presses twice, along -z through the plane, and may slide along x while it
presses. Before the second press the surface may have moved, softened or gone. The arm
is the relaxed one, the tip that of the reference (0.4 kg, 4 N s/m in water, 200 N/m).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.config.teleop import TeleopParameters
from app.study.one_dof_setup import RELAXED
from app.study.press_loop import PressData, PressModel, PressTraces, run_press
from app.teleop.gains import gains_from
from app.teleop.halves import allocate_command, allocate_master, allocate_slave
from app.teleop.signals import allocate_signal
from app.teleop.strategy import Strategy
from models.environment import allocate_surface
from models.environment_report import SurfaceReport, SurfaceStatus, allocate_report
from models.numerics import FloatArray
from models.surface_estimator import (
    allocate_surface_estimate,
    build_surface_estimator,
)

__all__ = ["PressCase", "PressRun", "run_case"]

PERIOD = 1e-3
_REACH = 0.03
_OUTSIDE = 0.05
_FIRST, _AWAY, _HOLD = 1.0, 2.0, 4.0


@dataclass(frozen=True)
class PressCase:
    """What is pressed, and over which link.

    Attributes:
        delay: each way [s].
        stiffness: [N/m^n].
        damping: [N s/m^(m+1)].
        exponent: n.
        friction: Coulomb's coefficient.
        slide: amplitude of the hand's sliding while it presses [m].
        shift: how much farther in the surface is at the second press [m]; infinite = it
            is gone.
        tilt: of the plane about y [rad].
        lag: time constant of the actuators [s].
        noise: of the measured force, each axis [N].
        rate_hz: packets each way.
        seed: of the noise.
    """

    delay: float = 0.5
    stiffness: float = 2000.0
    damping: float = 5.0
    exponent: float = 1.0
    friction: float = 0.0
    slide: float = 0.0
    shift: float = 0.0
    tilt: float = 0.0
    lag: float = 0.0
    noise: float = 0.02
    rate_hz: float = 1000.0
    seed: int = 0

    @property
    def again(self) -> float:
        """When the second press begins [s]."""
        return _FIRST + 2.0 + 2.0 * self.delay + 5.0 * self.lag + _AWAY

    @property
    def duration(self) -> float:
        """[s]."""
        return self.again + _FIRST + _HOLD + 3.0 * self.delay + 5.0 * self.lag


@dataclass(frozen=True)
class PressRun:
    """What came of a case.

    Attributes:
        case: what was run.
        traces: rows of 1 ms.
        report: the last model of the robot.
        shown: stiffness that is rendered at the end [N/m^n].
    """

    case: PressCase
    traces: PressTraces
    report: SurfaceReport
    shown: float

    @cached_property
    def _held(self) -> slice:
        """Ticks of the last two seconds of the hand's second hold."""
        late = round(self.case.delay / PERIOD)
        end = len(self.traces.wall) - late - round(5.0 * self.case.lag / PERIOD) - 1
        return slice(end - 2000, end)

    def _along(self, forces: FloatArray, late: int = 0) -> FloatArray:
        ticks = slice(self._held.start + late, self._held.stop + late)
        along: FloatArray = -forces[ticks] @ self.traces.normal
        return along

    @property
    def hand(self) -> float:
        """Mean force into the surface that the hand feels [N]."""
        return float(self._along(self.traces.hand_force).mean())

    @property
    def robot(self) -> float:
        """The robot's, when it does the same: the delay and the lag later [N]."""
        late = round((self.case.delay + self.case.lag) / PERIOD)
        return float(self._along(self.traces.contact, late).mean())

    @property
    def unfelt(self) -> float:
        """Most that the robot pressed in the second press beyond the hand [N]."""
        late = round((self.case.delay + self.case.lag) / PERIOD)
        first = round(self.case.again / PERIOD)
        hand = -self.traces.hand_force[first:-late] @ self.traces.normal
        robot = -self.traces.contact[first + late :] @ self.traces.normal
        return float((robot - hand).max())

    @property
    def injected(self) -> float:
        """Energy that the hand's port has given beyond what it took [J]."""
        return max(0.0, -float(self.traces.port.min()))

    @property
    def jump(self) -> float:
        """Greatest change of the hand's force in a millisecond [N]."""
        steps = np.diff(self.traces.hand_force, axis=0)
        return float(np.sqrt((steps**2).sum(axis=1)).max())

    @property
    def tilt(self) -> float:
        """Angle between the estimated normal and the true one [rad]."""
        cosine = float(self.report.normal @ self.traces.normal)
        return float(np.arccos(np.clip(cosine, -1.0, 1.0)))

    @property
    def trailing(self) -> float:
        """Mean distance across the normal from the robot to its proxy, in the hold [m].

        The tip is compared with what was told the delay and the lag before.
        """
        late = round((self.case.delay + self.case.lag) / PERIOD)
        ticks = np.arange(self._held.start, self._held.stop)
        away = self.traces.tip[ticks + late] - self.traces.proxy[ticks]
        normal = self.traces.normal
        across = away - np.outer(away @ normal, normal)
        return float(np.sqrt((across**2).sum(axis=1)).mean())

    @property
    def told(self) -> list[SurfaceStatus]:
        """What the operator is told from the second press on, in order."""
        first = round(self.case.again / PERIOD)
        values = self.traces.status[first:]
        changes = np.flatnonzero(np.diff(values)) + 1
        return [SurfaceStatus(int(value)) for value in values[[0, *changes]]]

    @property
    def told_after(self) -> float:
        """How long until the operator is told that it is not as known [s]; NaN: never.

        From when the hand, in the second press, is where the surface was or is.
        """
        first = round(self.case.again / PERIOD)
        inside = -self.traces.hand @ self.traces.normal > min(0.0, self.case.shift)
        touched = first + int(np.argmax(inside[first:]))
        news = np.flatnonzero(self.traces.status[touched:] > SurfaceStatus.AS_KNOWN)
        return float(news[0] * PERIOD) if len(news) else float("nan")


def run_case(case: PressCase) -> PressRun:
    """Run a case."""
    parameters = TeleopParameters()
    gains = gains_from(parameters)
    estimator = build_surface_estimator()
    model = PressModel(
        period=PERIOD,
        strategy=int(Strategy.MODEL_MEDIATED),
        late=max(1, round(case.delay / PERIOD)),
        every=max(1, round(1.0 / (case.rate_hz * PERIOD))),
        hand_mass=parameters.handle.mass_kg + RELAXED.mass,
        handle_damping=parameters.handle.damping_n_s_per_m,
        arm_stiffness=RELAXED.stiffness,
        arm_damping=RELAXED.damping,
        tip_mass=parameters.tip.mass_kg,
        tip_damping=parameters.tip.damping_n_s_per_m,
        lag=float(case.lag),
        stiffness=float(case.stiffness),
        damping=float(case.damping),
        exponent=float(case.exponent),
        friction=float(case.friction),
        noise=float(case.noise),
    )
    data = _data(parameters)
    traces = _traces(case)
    data.place[:] = traces.aim[0]
    ticks = run_press(model, estimator, gains, data, traces)
    if ticks < len(traces.wall):
        message = f"the press diverged after {ticks * PERIOD} s: {case}"
        raise ValueError(message)
    return PressRun(case, traces, data.report, float(data.surface.stiffness[0]))


def _data(parameters: TeleopParameters) -> PressData:
    damping = parameters.handle.damping_n_s_per_m
    return PressData(
        master=allocate_master(),
        slave=allocate_slave(),
        command=allocate_command(),
        down=allocate_signal(),
        up=allocate_signal(),
        down_heard=allocate_signal(),
        up_heard=allocate_signal(),
        surface=allocate_surface(damping, PERIOD),
        estimate=allocate_surface_estimate(),
        report=allocate_report(),
        on_the_way=allocate_report(),
        sent_tick=np.full(1, -1, dtype=np.int64),
        now=np.zeros(1, dtype=np.int64),
        hand_velocity=np.zeros(3),
        tip_velocity=np.zeros(3),
        place=np.zeros(3),
        push=np.zeros(3),
        sensed=np.zeros(3),
        unknown=np.zeros(3),
    )


def _traces(case: PressCase) -> PressTraces:
    ticks = np.arange(round(case.duration / PERIOD), dtype=np.float64)
    time: FloatArray = PERIOD * ticks
    inwards = (
        _rise(time, 0.0) - _rise(time, case.again - _AWAY) + _rise(time, case.again)
    )
    aim = np.zeros((time.size, 3))
    aim[:, 2] = _OUTSIDE - (_OUTSIDE + _REACH) * inwards
    aim[:, 0] = case.slide * np.sin(2.0 * np.pi * 0.5 * time) * inwards
    wall = np.zeros(time.size)
    wall[time >= case.again - 0.5] = min(case.shift, 1e3)
    noise = np.random.default_rng(case.seed).standard_normal((time.size, 3))
    return PressTraces(
        aim=aim,
        normal=np.array([np.sin(case.tilt), 0.0, np.cos(case.tilt)]),
        wall=wall,
        noise=noise,
        hand=np.zeros_like(aim),
        hand_force=np.zeros_like(aim),
        proxy=np.zeros_like(aim),
        told_velocity=np.zeros_like(aim),
        told_force=np.zeros_like(aim),
        tip=np.zeros_like(aim),
        contact=np.zeros_like(aim),
        status=np.zeros(time.size, dtype=np.int64),
        port=np.zeros(time.size),
    )


def _rise(time: FloatArray, start: float) -> FloatArray:
    """Move of least jerk from 0 to 1 (Flash and Hogan 1985)."""
    phase = np.clip((time - start) / _FIRST, 0.0, 1.0)
    risen: FloatArray = phase**3 * (10.0 - 15.0 * phase + 6.0 * phase**2)
    return risen
