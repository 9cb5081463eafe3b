"""A robot of real actuators, in the place of the simulated one.

    applied pose -> winch and chamber lengths -> rate and acceleration limits
      -> channel values -> one worker a bus -> devices
    readings -> sanity -> lengths -> estimated pose -> bridge, telemetry

It is stepped every millisecond like the plant, and asks the buses every `_ASK_STEPS`
of them. Whatever makes it unsafe to go on (a bus lost, an actuator over its load or
temperature, a limb that cannot be measured) is told by `unsafe`; the owner then ends
the arming, and nothing moves again before a new one.
"""

import contextlib
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from app.clock import NS_PER_MS
from app.config.robot import RobotParameters
from app.drivers.base import Action, Reading
from app.drivers.worker import BusState, BusWorker
from app.messages import Event, RobotFault
from app.robot.actuator_limits import limit_motion
from app.robot.body import Applied
from app.robot.estimator import PoseEstimator
from app.robot.joints import Joints
from app.robot.lines import Lines
from app.robot.plant import PLANT_PERIOD
from app.robot.rig_events import RigEvents
from app.robot.rig_file import RigParameters
from app.robot.safety import Actuation
from app.robot.sanity import GRACE_NS, Doubt, SensorSanity
from models.numerics import FloatArray
from models.robot import RobotModel
from models.winch import winch_lengths
from models.workspace import allocate_rod_work

__all__ = ["Rig"]

_ASK_STEPS = 5
_ASK_PERIOD = _ASK_STEPS * PLANT_PERIOD
_ACTIONS = {
    Actuation.STIFF: Action.FOLLOW,
    Actuation.COMPLIANT: Action.RELAX,
    Actuation.SLACK: Action.SAFE,
}
_HELD_SHARE = 0.8  # of the wanted rate, below which it is told
_RATE_BAND = 0.1
_QUIET_S = 1.0
_BEHIND_NS = 1500 * NS_PER_MS
_SENSOR_MARGIN = 0.25  # of a channel's range that a reading may lie outside
_TURN_PER_S, _VENT_PER_S = 1.0, 20.0
"""Ranges a second that a servo's angle and a chamber's pressure may change by."""


class _Found(NamedTuple):
    """What is wrong in a bus's newest reading."""

    unsafe: str
    faults: RobotFault


class Rig:
    """Buses, maps and estimate of one robot."""

    def __init__(
        self,
        rig: RigParameters,
        robot: RobotParameters,
        model: RobotModel,
        lines: Lines,
        workers: Mapping[str, BusWorker],
        world: Callable[[], None] | None = None,
    ) -> None:
        """Prepare; the workers are started by `start`.

        Args:
            rig: fits the robot.
            robot: as its file gives it.
            model: made from it.
            lines: its map of tendons and chambers.
            workers: one for each bus of the rig, by name.
            world: moves virtual devices by a millisecond; None: the devices are real.
        """
        self._model, self._lines, self.workers = model, lines, dict(workers)
        self._world = world
        self._joints = Joints(rig, robot)
        self._estimator = PoseEstimator(model)
        self._work = allocate_rod_work(model)
        count = model.tendon_angle.size
        self._rows = {name: lines.rows(name) for name in self.workers}
        self._sanity = {
            name: self._make_sanity(name)
            for name in self.workers
            if len(self._rows[name])
        }
        self._seen: dict[str, Reading | None] = dict.fromkeys(self.workers)
        self._asks = dict.fromkeys(self.workers, 0)
        self._found = dict.fromkeys(self.workers, _Found("", RobotFault(0)))
        self._length = np.full(count, np.nan)
        self._load = np.full(count, np.nan)
        self._near_ns = np.zeros(count, dtype=np.int64)
        self._believed_ns = np.zeros(count, dtype=np.int64)
        self._wanted = lines.rest.copy()
        self._asked = np.full(count, np.nan)
        self._speed = np.zeros(count)
        self._target = np.full(model.rest_coordinates.shape, np.nan)
        self._stiff = False
        self._steps = 0
        self._events = RigEvents()
        self._warm_up()
        self.unsafe = ""
        """Why the present arming must end; empty where nothing is wrong."""
        self.faults = RobotFault(0)
        """What is wrong, for telemetry."""

    def _warm_up(self) -> None:
        """Compile or load the kernels, before the robot's clock runs."""
        self._estimator.step(self._lines.rest)
        self._follow(self._model.rest_coordinates)
        self._let_go()

    def _make_sanity(self, name: str) -> SensorSanity:
        rows = self._rows[name]
        channels = self.workers[name].driver.channels
        own = [channels[int(self._lines.channel[row])] for row in rows]
        least = np.array([channel.least for channel in own])
        greatest = np.array([channel.greatest for channel in own])
        span = greatest - least
        per_s = np.where(self._lines.are_chambers(rows), _VENT_PER_S, _TURN_PER_S)
        margin = _SENSOR_MARGIN * span
        return SensorSanity(least - margin, greatest + margin, per_s * span)

    def start(self) -> None:
        """Open all buses; their actuators are made safe.

        Raises:
            DeviceError: one cannot be opened; those that were are closed again.
        """
        started: list[BusWorker] = []
        try:
            for worker in self.workers.values():
                worker.start()
                started.append(worker)
        except BaseException:
            for worker in started:
                worker.close()
            raise
        without = [n for n, w in self.workers.items() if np.isnan(w.driver.watchdog_s)]
        if without:
            self._events.no_watchdog(without)

    def close(self) -> None:
        """Make safe and close all buses."""
        with contextlib.ExitStack() as stack:  # all, whatever one of them raises
            for worker in reversed(self.workers.values()):
                stack.callback(worker.close)

    def measure(self) -> tuple[FloatArray, FloatArray]:
        """Estimate the pose from what was measured last; call it every millisecond.

        Returns:
            (S, 3) pose [rad, rad, m], NaN for a limb that cannot be measured, and (T,)
            tensions [N].
        """
        if self._steps % _ASK_STEPS == 0:
            self._read()
        pose = self._estimator.step(self._length).copy()
        for limb in range(self._model.tip_speed_limit.size):
            first, last = self._model.limb_tendon_start[limb : limb + 2]
            if not np.isfinite(self._length[first:last]).all():
                start, stop = self._model.limb_segment_start[limb : limb + 2]
                pose[start:stop] = np.nan
        measured = np.isfinite(self._load) & (self._lines.load_gain > 0.0)
        tension = np.where(
            measured, self._load * self._lines.load_gain, self._estimator.tension
        )
        return pose, tension

    def step(self, applied: Applied) -> int:
        """Ask the buses for a pose; call it every millisecond.

        Args:
            applied: what the actuators are told; where it is still they stay at what is
                asked now, however far behind the pose that is.

        Returns:
            0: real limbs do not freeze.
        """
        self._steps += 1
        if self._world is not None:
            self._world()
        if self._steps % _ASK_STEPS:
            return 0
        now_ns = time.monotonic_ns()
        self._stiff = applied.actuation == Actuation.STIFF
        if not self._stiff:
            self._let_go()
        elif applied.still:
            self._stay()
        else:
            self._follow(applied.coordinates)
        for name, worker in self.workers.items():
            setpoint = np.full(len(worker.driver.channels), np.nan)
            rows = self._rows[name]
            if len(rows):
                setpoint[self._lines.channel[rows]] = self._lines.to_channels(
                    rows, self._asked
                )
            self._joints.fill(
                name, setpoint, _ASK_PERIOD, engaged=self._stiff and not applied.still
            )
            action = _ACTIONS[applied.actuation]
            if not len(rows) and action is not Action.SAFE:
                action = self._joints.action(name, action)
            worker.command(now_ns, action, setpoint)
        return 0

    def clear_faults(self) -> None:
        """Clear what devices have latched: the emergency stop was reset."""
        for worker in self.workers.values():
            worker.clear_faults()
        for sanity in self._sanity.values():
            sanity.forget()

    def recover(self) -> None:
        """Nothing to do: real limbs do not freeze."""

    def events(self) -> list[Event]:
        """Return the events since the last call, oldest first."""
        return self._events.take()

    def _stay(self) -> None:
        """Go on asking for what is asked now, or for where an actuator is."""
        lost = ~np.isfinite(self._asked)
        self._asked[lost] = self._length[lost]
        self._speed[:] = 0.0
        self._target[:] = np.nan

    def _follow(self, target: FloatArray) -> None:
        """Lengths for a pose, moved towards within rate and acceleration."""
        lost = ~np.isfinite(self._asked)
        self._asked[lost] = self._length[lost]
        model = self._model
        for limb in range(model.tip_speed_limit.size):
            start, stop = model.limb_segment_start[limb : limb + 2]
            if (target[start:stop] == self._target[start:stop]).all():
                continue
            first, last = model.limb_tendon_start[limb : limb + 2]
            winch_lengths(
                model, limb, target[start:stop], self._work, self._wanted[first:last]
            )
        self._target[:] = target
        limit_motion(
            self._wanted,
            self._lines.rate,
            self._lines.acceleration,
            _ASK_PERIOD,
            self._speed,
            self._asked,
        )

    def _let_go(self) -> None:
        """Nothing is asked: engaging begins where the actuators then are."""
        self._asked[:] = self._length
        self._speed[:] = 0.0
        self._target[:] = np.nan

    def _read(self) -> None:
        """Take in what the buses read last, and judge it."""
        self.faults = RobotFault(0)
        unsafe = []
        for name, worker in self.workers.items():
            state = worker.state()
            unsafe.append(self._judge_bus(name, worker, state))
            reading = state.reading
            self._asks[name] += 1
            if reading is not None and reading is not self._seen[name]:
                self._seen[name], self._asks[name] = reading, 0
                self._found[name] = self._take(name, reading)
            quiet_s = _ASK_PERIOD * self._asks[name]
            old = quiet_s > max(_QUIET_S, 3.0 / worker.wanted_hz)
            if old:
                self.faults |= RobotFault.BUS
                unsafe.append(f"bus {name} brings nothing new")
            if old or not state.alive:
                self._length[self._rows[name]] = np.nan
            found = self._found[name]
            self.faults |= found.faults
            unsafe.append(found.unsafe)
        self.unsafe = next((text for text in unsafe if text), "")

    def _judge_bus(self, name: str, worker: BusWorker, state: BusState) -> str:
        if not state.alive:
            self.faults |= RobotFault.BUS
            self._events.lost(name, state.text)
            return f"bus {name} is lost"
        if state.interrupted:
            self.faults |= RobotFault.BUS
            if self._stiff:
                return f"bus {name} was lost"
            worker.resume()
        self._events.alive(name)
        share = state.rate_hz / worker.wanted_hz
        if share < _HELD_SHARE:
            self.faults |= RobotFault.RATE
            self._events.slow(name, state, worker.wanted_hz)
        elif share > _HELD_SHARE + _RATE_BAND:
            self._events.quick(name)
        return ""

    def _take(self, name: str, reading: Reading) -> _Found:
        """Take one reading, and say what is wrong in it."""
        self._events.faults(name, reading.faults)
        faults = RobotFault.DEVICE if reading.faults else RobotFault(0)
        joints = self._joints.take(name, reading)
        rows = self._rows[name]
        if not len(rows):
            return _Found(joints, faults)
        own = self._lines.channel[rows]
        told = np.where(
            self._lines.open_loop[rows], reading.applied[own], reading.measured[own]
        )
        value = np.where(reading.answered[own], told, np.nan)
        asked = reading.applied[own] if self._stiff else np.full(len(own), np.nan)
        believed, changed = self._sanity[name].judge(reading.time_ns, value, asked)
        channels = self.workers[name].driver.channels
        for place in changed:
            channel = int(own[place])
            doubt = Doubt(self._sanity[name].doubt[place])
            self._events.sensor(name, channel, channels[channel].name, doubt)
        length = self._lines.to_lengths(rows, believed)
        known = np.isfinite(length)
        self._length[rows[known]] = length[known]
        self._believed_ns[rows[known]] = reading.time_ns
        lost = reading.time_ns - self._believed_ns[rows] > GRACE_NS
        if lost.any():
            faults |= RobotFault.SENSOR
        self._length[rows[lost]] = np.nan
        self._load[rows] = reading.load[own]
        behind = np.abs(self._asked[rows] - length) > self._lines.behind_limit[rows]
        near = rows[~(behind & self._stiff)]
        self._near_ns[near] = reading.time_ns
        stuck = reading.time_ns - self._near_ns[rows] > _BEHIND_NS
        for fault in reading.faults:
            if fault.latched and (fault.channel in own or fault.channel == -1):
                return _Found(fault.text, faults)
        for place, row in enumerate(rows):
            what = channels[int(own[place])]
            load = abs(reading.load[own[place]])
            heat = reading.temperature[own[place]]
            over = f"{what.name} is over its limit:"
            if load > self._lines.load_limit[row]:
                said = f"{over} {load:.0f} {what.load_unit}"
                return _Found(said, faults | RobotFault.LOAD)
            if heat > self._lines.temperature_limit[row]:
                return _Found(f"{over} {heat:.0f} deg C", faults | RobotFault.HOT)
            if stuck[place]:
                return _Found(f"{what.name} does not follow", faults)
            if lost[place]:
                return _Found(f"{what.name} cannot be measured", faults)
        return _Found("", faults)
