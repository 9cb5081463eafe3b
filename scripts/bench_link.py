"""Group `link` of scripts/bench: frames, the robot's millisecond, buses, age by hop.

1. Encode and decode of every kind of frame, beside json and struct (bench_frames).
2. A step of the robot, as a share of its millisecond: the bridge alone, with the
   simulated plant, and with a rig of real actuators on scripted buses.
3. Rounds of every driver on its virtual device, and the rate its worker holds
   (bench_buses).
4. The age of a command at each hop, from stick to servo byte (hop_budget), in processes
   of their own.

Medians, for the machine is shared: read the ratios, whose sides take turns.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from bench_buses import bench_buses
from bench_frames import frame_times
from bench_record import Record, record
from hop_budget import EXPECTED_ROUNDS, HOPS, Budget, table
from rich.console import Console

from app.clock import NS_PER_MS, NS_PER_S
from app.config.link import load_link
from app.config.loader import find_asset
from app.config.robot import build_robot_model
from app.drivers.base import Action, Channel, Reading
from app.drivers.worker import BusState, BusWorker
from app.link.frame import WHOLE_ROBOT, Codec, SetpointFrame
from app.messages import RobotState, StationMode
from app.robot.core import RobotCore
from app.robot.lines import Lines
from app.robot.plant import PlantMismatch
from app.robot.rig import Rig
from app.robot.rig_file import load_rig
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = ["bench_link"]

_RIG, _ROBOT_ID, _SESSION, _EPOCH = "ursula-dynamixel", 1, 7, 3
_START_NS = 100 * NS_PER_S
_STEPS = 3000
_PERIOD_MS = 20
_JSON_GOAL, _STEP_GOAL = 3.0, 50.0


def _frames(model: RobotModel) -> list[Record]:
    return [
        record(
            f"frame, {name}", ours.whole, "µs", _JSON_GOAL,
            f"encode {ours.encode:.1f}, decode {ours.decode:.1f} µs, {ours.size} "
            f"bytes; json {text.encode:.1f} + {text.decode:.1f} µs, {text.size} bytes; "
            f"struct {plain.encode:.1f} + {plain.decode:.1f} µs, {plain.size} bytes: "
            f"{ours.whole / plain.whole:.1f} times that",
            "json", ours.whole / text.whole,
        )
        for name, (ours, text, plain) in frame_times(model).items()
    ]  # fmt: skip


# -- the robot's millisecond -----------------------------------------------------------


class _ScriptedBus:
    """A worker without a thread or bytes: what is asked is measured at once."""

    def __init__(
        self, name: str, channels: tuple[Channel, ...], rate_hz: float
    ) -> None:
        self.name, self.wanted_hz = name, rate_hz
        self.driver = SimpleNamespace(channels=channels)
        self._applied = np.zeros(len(channels))
        self._time_ns = 0

    def command(self, now_ns: int, action: Action, setpoint: FloatArray) -> None:
        """Go there."""
        if action is Action.FOLLOW:
            np.copyto(self._applied, setpoint, where=np.isfinite(setpoint))

    def state(self) -> BusState:
        """Return where it is."""
        self._time_ns += 10 * NS_PER_MS
        none = np.zeros(self._applied.size)
        reading = Reading(
            self._time_ns,
            self._applied.copy(),
            self._applied.copy(),
            none,
            none + 30.0,
            np.ones(none.size, dtype=np.bool_),
            (),
        )
        return BusState(reading, True, False, self.wanted_hz, 1e-3, "")

    def resume(self) -> None:
        """Nothing is ever interrupted."""


def _rig_core() -> RobotCore:
    rig, robot = load_rig(_RIG)
    model = build_robot_model(robot)
    workers = {}
    for bus in rig.buses:
        channels = tuple(
            Channel(f"servo {k}", "rad", -12.0, 12.0, "mA")
            for k in range(len(vars(bus.line)["servos"]))
        )
        scripted = _ScriptedBus(bus.name, channels, bus.rate_hz)
        workers[bus.name] = cast("BusWorker", scripted)
    lines = Lines(rig, robot, model, find_asset("rigs", _RIG).parent)
    body = Rig(rig, robot, model, lines, workers)
    return RobotCore(
        robot, load_link("ideal"), PlantMismatch(), 0, session=_SESSION, body=body
    )


def _drive(core: RobotCore) -> dict[str, FloatArray]:
    """Follow a moving setpoint; times of each part of a millisecond [µs]."""
    codec = Codec(core.model, _ROBOT_ID, 256, _SESSION)
    rest = core.model.rest_coordinates
    times: dict[str, list[float]] = {"receive": [], "step": [], "bridge": []}
    plain = core.bridge.step

    def bridge_step(*arguments: Any, **more: Any) -> Any:
        begun_ns = time.perf_counter_ns()
        applied = plain(*arguments, **more)
        times["bridge"].append((time.perf_counter_ns() - begun_ns) / 1e3)
        return applied

    core.bridge.step = bridge_step  # type: ignore[method-assign]
    for k in range(_STEPS):
        now_ns = _START_NS + k * NS_PER_MS
        if k % _PERIOD_MS == 0:
            armed = k >= 10 * _PERIOD_MS
            pose = rest * (1.0 - 0.2 * np.sin(1e-3 * (k - 200)) ** 2)
            frame = SetpointFrame(
                sequence=k // _PERIOD_MS + 1,
                generated_ns=now_ns,
                robot=_ROBOT_ID,
                limb=WHOLE_ROBOT,
                epoch=_EPOCH if armed else 0,
                mode=StationMode.ARMED if armed else StationMode.DISARMED,
                period_ms=float(_PERIOD_MS),
                coordinates=pose,
            )
            packet = codec.encode(frame)
            begun_ns = time.perf_counter_ns()
            core.receive(now_ns, packet)
            times["receive"].append((time.perf_counter_ns() - begun_ns) / 1e3)
        begun_ns = time.perf_counter_ns()
        core.step(now_ns)
        times["step"].append((time.perf_counter_ns() - begun_ns) / 1e3)
    if core.state is not RobotState.ACTIVE:
        raise SystemExit(f"The robot is {core.state.name}, not ACTIVE: {core.events()}")
    return {name: np.array(part[len(part) // 5 :]) for name, part in times.items()}


def _share(name: str, times: FloatArray, goal: float, more: str = "") -> Record:
    """A part of the millisecond as a share of it."""
    median, top = np.percentile(times, (50, 99))
    note = f"p99 {top:.0f} µs of {times.size}, mean {times.mean():.0f} µs{more}"
    return record(name, float(median), "µs", goal, note, "1 ms, %", median / 10.0)


def _steps() -> list[Record]:
    robot = load_rig(_RIG)[1]
    plain = RobotCore(robot, load_link("ideal"), PlantMismatch(), 0, session=_SESSION)
    with_plant, with_rig = _drive(plain), _drive(_rig_core())
    return [
        _share("bridge step, URSULA following", with_plant["bridge"], 5.0),
        _share(
            "setpoint received and judged", with_plant["receive"], 30.0, "; 50 a second"
        ),
        _share("robot's step, simulated plant", with_plant["step"], _STEP_GOAL),
        _share(
            "robot's step, rig of 24 servos on scripted buses", with_rig["step"],
            _STEP_GOAL, "; the buses are asked every fifth",
        ),
    ]  # fmt: skip


# -- ages ------------------------------------------------------------------------------


def _ages(console: Console) -> list[Record]:
    console.print("link: driving with every hop stamped")
    script = Path(__file__).resolve().parent / "hop_budget.py"
    done = subprocess.run(
        [sys.executable, str(script), "--json"],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"scripts/hop_budget.py failed: {done.stderr[-2000:]}")
    fields = json.loads(done.stdout.splitlines()[-1])
    found = Budget(**{key: np.array(value) for key, value in fields.items()})
    console.print(table(found))
    median = found.near(50.0)
    records = [
        record(
            f"age, {hop.name}", float(np.median(found.hops[:, k])), "ms", hop.goal,
            f"p99 {np.percentile(found.hops[:, k], 99):.1f} ms; {median[k]:.2f} ms of "
            f"a median journey; {hop.cause}",
        )
        for k, hop in enumerate(HOPS)
    ]  # fmt: skip
    fitted = found.turns[np.isfinite(found.turns)]
    whole, by_value = float(np.median(found.whole)), float(np.median(fitted))
    off = abs(by_value - whole)
    missing = 100.0 * (1.0 - len(found.hops) / EXPECTED_ROUNDS)
    return [
        *records,
        record(
            "age, rounds in which nothing could be followed", missing, "%", 50.0,
            f"{len(found.hops)} of {EXPECTED_ROUNDS} rounds in steady motion followed: "
            "above the goal the ages are of too few; run it on a quieter machine",
        ),
        record(
            "age, device read -> servo byte", whole, "ms", 50.0,
            f"p99 {np.percentile(found.whole, 99):.1f} ms; hops of a median journey "
            f"add up to {median.sum():.1f} ms; {100 * float(found.late_rounds):.1f} % "
            f"of rounds late, {int(found.breaks)} breaks; {len(found.hops)} rounds, "
            f"load {os.getloadavg()[0]:.1f}",
        ),
        record(
            "the same without stamps, difference", off, "ms", 0.15,
            f"lag of the servos' path behind the stick's: median {by_value:.1f}, "
            f"quartiles {np.percentile(fitted, 25):.1f} and "
            f"{np.percentile(fitted, 75):.1f} ms about {fitted.size} of "
            f"{found.turns.size} turns of the stick",
            "sum of hops", off / whole,
        ),
    ]  # fmt: skip


def bench_link(console: Console) -> list[Record]:
    """Frames, the robot's millisecond, buses, and the age of a command by hop."""
    model = build_robot_model(load_rig(_RIG)[1])
    console.print("link: frames")
    records = _frames(model)
    console.print("link: steps of the robot")
    return [*records, *_steps(), *bench_buses(console), *_ages(console)]
