"""Cost of one tick of all of URSULA with each strategy, in a compiled batch.

The grasper's tip goes round in free water, then presses a surface; every other limb
stands in contact with one of its own. Telemetry of all limbs comes 10 times a second.
"""

import time

import numpy as np
from bench_record import Record, record
from rich.console import Console

from app.config.robot import build_robot_model, load_robot
from app.config.teleop import TeleopParameters
from app.control.arming import SOURCE_AGE_LIMIT_NS
from app.control.coupling_data import CouplingData, allocate_coupling_data
from app.control.local_data import LocalData, allocate_local_data
from app.control.mailbox import Layout
from app.control.tick import tick
from app.control.tick_data import TickData, allocate_tick_data
from app.messages import (
    INPUT_SHAPES,
    TELEOP_WISH_SHAPES,
    InputBlock,
    LinkHealth,
    Source,
    StationState,
    TeleopWish,
    health_shapes,
    state_shapes,
)
from app.teleop.gains import Gains, gains_from
from app.teleop.strategy import Strategy
from models.inverse import InverseData
from models.numerics import FloatArray, IntArray, kernel
from models.robot import RobotData, RobotModel
from models.rod import RodWork

__all__ = ["bench_tick"]

_GOAL_FREE, _GOAL_CONTACT = 40.0, 60.0
_BATCH, _BATCHES, _WARM = 200, 40, 8
_SCRIPT = int(Source.SCRIPT)
_DEPTH = 5e-3
_PERIOD_NS = 1_000_000


@kernel
def many_ticks(
    model: RobotModel,
    gains: Gains,
    count: int,
    start_ns: int,
    age_limit_ns: IntArray,
    samples: tuple[InputBlock, ...],
    wish: TeleopWish,
    health: LinkHealth,
    data: TickData,
    coupling: CouplingData,
    local: LocalData,
    robot: RobotData,
    inverse: InverseData,
    work: RodWork,
    state_out: StationState,
    centre: FloatArray,
    ahead: float,
) -> None:
    script = samples[_SCRIPT]
    now_ns = start_ns
    for _ in range(count):
        now_ns += _PERIOD_NS
        script.stamp_ns[0] = now_ns
        script.present[0] = 1
        script.mode[0] = 2
        script.arm_count[0] = 1 if data.ticks[0] > 1 else 0
        script.deadman[0] = 1 if data.ticks[0] > 3 else 0
        health.robot_heard_ns[0] = now_ns
        if data.ticks[0] % 100 == 0:
            for limb in range(health.confirmed_generated_ns.size):
                health.confirmed_generated_ns[limb] = now_ns
                health.confirmed_command_ns[limb] = now_ns - 200 * _PERIOD_NS
            for k in range(health.confirmed_coordinates.shape[0]):
                for j in range(3):
                    health.confirmed_coordinates[k, j] = state_out.coordinates_model[
                        k, j
                    ]
            health.heard_time_ns[0] = now_ns
            health.heard_strategy[0] = state_out.strategy[0]
            health.heard_engagement[0] = state_out.sent_engagement[0]
        angle = 2.0 * np.pi * now_ns * 1e-9 / 3.0
        script.target[0] = centre[0] + ahead
        script.target[1] = centre[1] + 0.03 * np.cos(angle)
        script.target[2] = centre[2] + 0.03 * np.sin(angle)
        tick(
            model,
            gains,
            now_ns,
            _PERIOD_NS,
            age_limit_ns,
            samples,
            wish,
            health,
            data,
            coupling,
            local,
            robot,
            inverse,
            work,
            state_out,
        )


class _Bench:
    """A tick's blocks and state, run in batches."""

    def __init__(self) -> None:
        self.model = build_robot_model(load_robot("ursula"))
        self.data, self._robot, self._inverse, self._work = allocate_tick_data(
            self.model
        )
        limbs = self.model.tip_speed_limit.size
        self._coupling = allocate_coupling_data(limbs, TeleopParameters())
        self._local = allocate_local_data(self.model)
        layout = Layout(InputBlock, INPUT_SHAPES)
        self._samples = tuple(
            layout.view(np.zeros(layout.words, np.int64)) for _ in Source
        )
        self.wish = _block(Layout(TeleopWish, TELEOP_WISH_SHAPES))
        self.health = _block(Layout(LinkHealth, health_shapes(self.model)))
        self.state = _block(Layout(StationState, state_shapes(self.model)))
        self.health.robot_heard_ns[0] = 1
        self.health.confirmed_coordinates[:] = self.model.rest_coordinates
        self.health.confirmed_generated_ns[:] = 1
        self.health.telemetry_limit_ns[0] = 10**15
        self.health.robot_state[0] = 1
        self.health.robot_epoch[0] = 1
        self._gains = gains_from(TeleopParameters())
        self._centre = self.data.tip[0].copy()
        self._now_ns = 10**9

    def run(self, ahead: float) -> FloatArray:
        """Time of a tick in each batch [µs]."""
        costs = []
        for _ in range(_WARM + _BATCHES):
            begin_ns = time.perf_counter_ns()
            many_ticks(
                self.model, self._gains, _BATCH, self._now_ns, SOURCE_AGE_LIMIT_NS,
                self._samples, self.wish, self.health, self.data, self._coupling,
                self._local, self._robot,
                self._inverse, self._work, self.state, self._centre, ahead,
            )  # fmt: skip
            costs.append((time.perf_counter_ns() - begin_ns) / _BATCH / 1e3)
            self._now_ns += _BATCH * _PERIOD_NS
        return np.array(costs[_WARM:])

    def stand_in_contact(self) -> None:
        """Report a surface at every tip, `_DEPTH` before it."""
        health = self.health
        for limb in range(self.model.tip_speed_limit.size):
            health.report_number[limb] = 1
            health.report_status[limb] = 1
            health.report_point[limb] = self.state.tip_model[limb]
            health.report_point[limb, 0] -= _DEPTH
            health.report_normal[limb] = (-1.0, 0.0, 0.0)
            health.report_stiffness[limb] = 150.0
            health.report_exponent[limb] = 1.0


def _block(layout: Layout) -> object:
    return layout.view(np.zeros(layout.words, np.int64))


def bench_tick(_: Console) -> list[Record]:
    """Time a tick in free water, and in contact with each strategy."""
    bench = _Bench()
    costs = bench.run(0.0)
    records = [
        record(
            "tick, free water, median", float(np.median(costs)), "µs", _GOAL_FREE,
            "4 limbs, inverse kinematics, winches, dynamics, model-mediated; p90 "
            f"{np.percentile(costs, 90):.1f} µs",
        )
    ]  # fmt: skip
    bench.stand_in_contact()
    for strategy in Strategy:
        bench.wish.revision[0] += 1
        bench.wish.strategy[0] = strategy
        costs = bench.run(_DEPTH)
        force = float(np.linalg.norm(bench.state.force_hand))
        known = int(bench.state.surface_known.sum())
        records.append(
            record(
                f"tick, {strategy.short}, in contact", float(np.median(costs)), "µs",
                _GOAL_CONTACT,
                f"p90 {np.percentile(costs, 90):.1f} µs; {known} surfaces, hand "
                f"{force:.2f} N",
            )
        )  # fmt: skip
    return records
