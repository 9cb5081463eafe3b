"""Rounds of every driver on its virtual device, beside the time of their bytes.

A pty and a loopback socket have no bit rate, so a round is timed as it is: what the
software takes. What a real serial line adds is in the note: the time of the bytes
(10 bits each, both ways, counted at the device). For the rate that a worker holds, the
device waits for as long before it answers. Not known here: a USB adapter's latency
timer, a servo's return delay, a valve island's own cycle. The device answers from a
thread of the same process: what it costs is in the figures.
"""

import threading
import time
from typing import Any, NamedTuple

import numpy as np
from bench_record import Record, record
from rich.console import Console

from app.clock import NS_PER_MS
from app.drivers.base import Action, Driver
from app.drivers.board_parameters import BoardParameters
from app.drivers.ctrlp_parameters import CtrlPParameters
from app.drivers.kinds import BusLine, Carrier, build_driver, build_virtual
from app.drivers.mavlink_parameters import MavlinkParameters
from app.drivers.modbus_parameters import ModbusParameters
from app.drivers.servo_parameters import DynamixelParameters, FeetechParameters
from app.drivers.worker import BusWorker
from models.numerics import FloatArray

__all__ = ["bench_buses"]

_ROUNDS_S, _WORKER_S = 1.5, 1.6
_LEAST_ROUNDS, _MOST_ROUNDS = 100, 400
_PAUSE_S = 2e-3  # between timed rounds, as a worker's are apart
_BITS = 10  # of a byte on a serial line
_HELD = 1.05  # of the wanted period


class _Bus(NamedTuple):
    """A line as it is measured.

    Attributes:
        line: its parameters.
        rate_hz: rounds a second that its worker wants.
        baud: of the real line [bit/s]; 0: none, a network.
        goal_ms: most that the median round may take.
    """

    line: BusLine
    rate_hz: float
    baud: int
    goal_ms: float


def _servo(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "model": "xm430-w350",
        "least_rad": -12.0,
        "greatest_rad": 12.0,
        "current_limit_ma": 900.0,
    }


def _lines() -> dict[str, _Bus]:
    """All drivers, at the size of the robots that they are for."""
    valves = [{"outlet": k + 1, "range_mv": [0.0, 10_000.0]} for k in range(8)]
    return {
        "Dynamixel, 16 servos, 3 Mbit/s": _Bus(
            DynamixelParameters.model_validate(
                {
                    "driver": "dynamixel",
                    "port": "/dev/none",
                    "baud_rate": 3_000_000,
                    "servos": [_servo(k + 1) for k in range(16)],
                }
            ),
            100.0, 3_000_000, 5.0,
        ),
        "Dynamixel, 8 servos, 3 Mbit/s": _Bus(
            DynamixelParameters.model_validate(
                {
                    "driver": "dynamixel",
                    "port": "/dev/none",
                    "baud_rate": 3_000_000,
                    "servos": [_servo(k + 1) for k in range(8)],
                }
            ),
            100.0, 3_000_000, 3.0,
        ),
        "Feetech, 8 servos, 1 Mbit/s": _Bus(
            FeetechParameters.model_validate(
                {
                    "driver": "feetech",
                    "port": "/dev/none",
                    "servos": [
                        {
                            "id": k + 1,
                            "least_rad": 1.0,
                            "greatest_rad": 5.0,
                            "torque_limit_percent": 60.0,
                        }
                        for k in range(8)
                    ],
                }
            ),
            50.0, 1_000_000, 5.0,
        ),
        "Modbus RTU, 8 outputs, 9600 bit/s": _Bus(
            ModbusParameters.model_validate(
                {
                    "driver": "modbus",
                    "port": "/dev/none",
                    "devices": [{"number": 1, "profile": "waveshare-ao8b"}],
                    "actuators": valves,
                }
            ),
            10.0, 9600, 20.0,
        ),
        "Modbus RTU, 8 outputs, 115200 bit/s": _Bus(
            ModbusParameters.model_validate(
                {
                    "driver": "modbus",
                    "port": "/dev/none",
                    "line": {"baud": 115_200},
                    "devices": [{"number": 1, "profile": "waveshare-ao8b"}],
                    "actuators": valves,
                }
            ),
            40.0, 115_200, 15.0,
        ),
        "Modbus TCP, 8 valves": _Bus(
            ModbusParameters.model_validate(
                {
                    "driver": "modbus",
                    "host": "127.0.0.1",
                    "devices": [{"profile": "ifm-al1940-itv", "full_scale_kpa": 100.0}],
                    "actuators": [
                        {"outlet": k + 1, "range_kpa": [0.0, 60.0]} for k in range(8)
                    ],
                }
            ),
            40.0, 0, 10.0,
        ),
        "Ctrl-P, 7 chambers, 115200 bit/s": _Bus(
            CtrlPParameters.model_validate(
                {
                    "driver": "ctrlp",
                    "port": "/dev/none",
                    "units": "kpa",
                    "actuators": [
                        {"name": f"c{k}", "greatest_kpa": 60.0} for k in range(7)
                    ],
                }
            ),
            15.0, 115_200, 60.0,
        ),
        "own board, 8 valves, 115200 bit/s": _Bus(
            BoardParameters.model_validate(
                {
                    "driver": "board",
                    "port": "/dev/none",
                    "actuators": [{"name": f"valve {k}"} for k in range(8)],
                }
            ),
            50.0, 115_200, 5.0,
        ),
        "MAVLink, ArduSub": _Bus(
            MavlinkParameters.model_validate(
                {"driver": "mavlink", "host": "127.0.0.1", "mode": "manual"}
            ),
            20.0, 0, 5.0,
        ),
    }  # fmt: skip


class _Counter:
    """Counts the bytes of a virtual device, in and out, and waits for their time."""

    def __init__(self, carrier: Carrier) -> None:
        self.count = 0
        self.byte_s = 0.0
        """Time of a byte on the line; 0: none."""
        self._pause = threading.Event()
        device = carrier.device
        self._feed, self._advance = device.feed, device.advance
        device.feed = self._fed  # type: ignore[method-assign]
        device.advance = self._advanced  # type: ignore[method-assign]

    def _fed(self, now_ns: int, received: bytes) -> bytes:
        answer = self._feed(now_ns, received)
        self._pass(len(received) + len(answer))
        return answer

    def _advanced(self, now_ns: int) -> bytes:
        said = self._advance(now_ns)
        self._pass(len(said))
        return said

    def _pass(self, size: int) -> None:
        self.count += size
        if self.byte_s > 0.0 and size:
            self._pause.wait(self.byte_s * size)


def _setpoints(driver: Driver) -> tuple[FloatArray, FloatArray]:
    """Middle of all ranges and a twentieth of their span."""
    least = np.array([channel.least for channel in driver.channels])
    greatest = np.array([channel.greatest for channel in driver.channels])
    return 0.5 * (least + greatest), 0.05 * (greatest - least)


def _rounds(driver: Driver, counter: _Counter) -> tuple[FloatArray, float]:
    """Time rounds [ms], each with new setpoints; and the bytes of one."""
    middle, swing = _setpoints(driver)
    pause = threading.Event()
    times: list[float] = []
    begun_ns = time.monotonic_ns()
    k = -10
    while k < _LEAST_ROUNDS or (
        k < _MOST_ROUNDS and time.monotonic_ns() - begun_ns < 1e9 * _ROUNDS_S
    ):
        if k == 0:
            times.clear()
            counter.count = 0
        goal = middle + swing * np.sin(0.1 * k + np.arange(len(middle)))
        pause.wait(_PAUSE_S)
        before_ns = time.perf_counter_ns()
        driver.exchange(Action.FOLLOW, goal)
        times.append((time.perf_counter_ns() - before_ns) / NS_PER_MS)
        k += 1
    return np.array(times), counter.count / max(len(times), 1)


def _held_hz(driver: Driver, name: str, rate_hz: float) -> float:
    """Rounds a second that a worker holds, its owner asking every 5 ms."""
    middle, swing = _setpoints(driver)
    worker = BusWorker(driver, name, rate_hz)
    pause = threading.Event()
    worker.start()
    try:
        begun_ns = time.monotonic_ns()
        while (now_ns := time.monotonic_ns()) - begun_ns < 1e9 * _WORKER_S:
            worker.command(
                now_ns, Action.FOLLOW, middle + swing * np.sin(now_ns * 5e-9)
            )
            pause.wait(5e-3)
        return worker.state().rate_hz
    finally:
        worker.close()


def bench_buses(console: Console) -> list[Record]:
    """Round time of every driver, and the rate that its worker holds."""
    records = []
    for name, bus in _lines().items():
        console.print(f"link: {name}")
        carrier, line = build_virtual(bus.line)
        with carrier:
            counter = _Counter(carrier)
            driver = build_driver(line, bus.rate_hz)
            with driver:
                times, size = _rounds(driver, counter)
            counter.byte_s = _BITS / bus.baud if bus.baud else 0.0
            held = _held_hz(driver, name, bus.rate_hz)
        records += _told(name, bus, times, size, held)
    return records


def _told(
    name: str, bus: _Bus, times: FloatArray, size: float, held_hz: float
) -> list[Record]:
    median, top = np.percentile(times, (50, 99))
    wire = 1e3 * size * _BITS / bus.baud if bus.baud else np.nan
    on_line = (
        f"{size:.0f} bytes, {wire:.2f} ms on the real line: {median + wire:.1f} ms "
        "together"
        if bus.baud
        else f"{size:.0f} bytes over a network"
    )
    share = bus.rate_hz / held_hz if held_hz > 0.0 else np.inf
    return [
        record(
            f"round, {name}", float(median), "ms", bus.goal_ms,
            f"p99 {top:.2f} ms of {len(times)}; {on_line}",
        ),
        record(
            f"period held, {name}", 1e3 / held_hz if held_hz > 0.0 else np.inf, "ms",
            _HELD,
            f"{held_hz:.1f} rounds a second by its worker, answers as late as on the "
            "real line",
            f"{bus.rate_hz:g} Hz", float(share),
        ),
    ]  # fmt: skip
