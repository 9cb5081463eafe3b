"""Stamps where the product keeps none, put on from outside for one measured drive.

Methods of the product's classes are wrapped in the process that is then forked into
robot, emulator and station: the product itself holds no line for it, and a drive that
is not measured pays nothing. What a wrapper writes goes to a tape in shared memory, of
which each row costs 1-2 µs. All times are CLOCK_MONOTONIC [ns], one clock for all
processes of a machine. Packets are known again by their CRC-32.

The stick goes to and fro at a constant speed; when it is turned is drawn at random
between two polls of the operator's thread, as a person's is.
"""

import mmap
import random
import time
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from app.drivers.servo_table import SERVO_MODELS
from app.drivers.virtual.dynamixel import VirtualDynamixelBus
from app.drivers.worker import BusWorker
from app.link.channel import Channel
from app.link.emulator import Emulator
from app.link.packets import Direction
from app.link.station_side import StationSide
from app.messages import Source
from app.operator.pilot import VirtualPilot
from app.robot.approach import Approach
from app.robot.core import RobotCore
from app.robot.rig import Rig
from app.station import operators
from models.numerics import FloatArray

__all__ = ["BUS", "HALF_NS", "TENDONS", "Tape", "Tapes", "install"]

BUS = "arms"
"""The bus that is watched; its first servos move the limb that is driven."""
TENDONS = 8
"""Of that limb."""
HALF_NS = 800_000_000
"""Between turns of the stick, but for what is drawn."""
_DRAWN_S, _DEFLECTION = 0.008, 0.6

_GOAL = SERVO_MODELS["xm430-w350"].items["goal_position"].address.to_bytes(2, "little")
_ROWS = 1 << 15


class Tape:
    """Rows of numbers that one thread of any process writes and all may read."""

    def __init__(self, width: int) -> None:
        """Take shared memory; a process that is forked later writes the same."""
        memory = mmap.mmap(-1, 8 * (1 + _ROWS * width))
        self._count = np.frombuffer(memory, np.float64, 1)
        self._rows = np.frombuffer(memory, np.float64, offset=8).reshape(_ROWS, width)

    def write(self, *row: float) -> None:
        """Append a row; what no longer fits is dropped."""
        count = int(self._count[0])
        if count < _ROWS:
            self._rows[count] = row
            self._count[0] = count + 1

    def read(self) -> FloatArray:
        """Return (n, width) what was written."""
        return self._rows[: int(self._count[0])].copy()


class Tapes:
    """All tapes; times [ns]."""

    def __init__(self) -> None:
        self.edge = Tape(2)
        """Stick turned; towards."""
        self.read = Tape(2)
        """Device read (the sample's own stamp); sample published."""
        self.sent = Tape(4)
        """Packet; device read and tick of the state that it tells; composed."""
        self.carried = Tape(2)
        """Packet; taken by the emulator."""
        self.delivered = Tape(2)
        """Packet; handed on by it."""
        self.received = Tape(4)
        """Packet; received; its path begins; ends."""
        self.asked = Tape(2 + 2 * TENDONS)
        """Asked; bridge's step; lengths wanted (8,), and asked, limited (8,) [m]."""
        self.round = Tape(2)
        """Bus round begun; the command that it carries was asked."""
        self.byte = Tape(1 + TENDONS)
        """Bytes at the servos; their goals (8,) [rad]."""


def install(tapes: Tapes) -> None:
    """Wrap the product's methods in this process and all that are forked from it."""
    operators.VirtualPilot = _pilot(tapes)  # type: ignore[misc]
    _station(tapes)
    _emulator(tapes)
    _robot(tapes)
    _bus(tapes)


def _wrap(owner: type, name: str, make: Callable[[Any], Any]) -> None:
    setattr(owner, name, make(getattr(owner, name)))


def _pilot(tapes: Tapes) -> type[VirtualPilot]:
    class ToAndFro(VirtualPilot):
        """Holds the stick to one side, then to the other."""

        _turn_ns = 0
        _grid_ns = 0
        _side = -1.0

        def _turn(self, port: float, up: float) -> None:
            if self._driving_since_ns is None:
                super()._turn(0.0, 0.0)
                return
            now_ns = time.monotonic_ns()
            if self._grid_ns == 0:
                self._turn_ns = self._grid_ns = now_ns
            if now_ns >= self._turn_ns:
                self._side = -self._side
                tapes.edge.write(self._turn_ns, self._side)
                first = self._turn_ns == self._grid_ns and len(tapes.edge.read()) == 1
                self._grid_ns += HALF_NS // 2 if first else HALF_NS
                self._turn_ns = self._grid_ns + round(random.random() * _DRAWN_S * 1e9)
            super()._turn(_DEFLECTION * self._side, 0.0)

    return ToAndFro


def _station(tapes: Tapes) -> None:
    def publish(plain: Any) -> Any:
        def wrapped(self: Any, source: Source, sample: Any) -> None:
            plain(self, source, sample)
            if source is Source.GAMEPAD:
                tapes.read.write(sample.stamp_ns, time.monotonic_ns())

        return wrapped

    def send(plain: Any) -> Any:
        def wrapped(self: Any, now_ns: int, state: Any) -> Any:
            packets = plain(self, now_ns, state)
            done_ns = time.monotonic_ns()
            tick_ns = int(state.time_ns[0])
            sample_ns = tick_ns - int(state.source_age_ns[Source.GAMEPAD])
            for packet in packets:
                tapes.sent.write(zlib.crc32(packet), sample_ns, tick_ns, done_ns)
            return packets

        return wrapped

    _wrap(operators.OperatorWorker, "_publish", publish)
    _wrap(StationSide, "send", send)


def _emulator(tapes: Tapes) -> None:
    def submit(plain: Any) -> Any:
        def wrapped(self: Any, now_ns: int, way: Direction, packet: bytes) -> None:
            plain(self, now_ns, way, packet)
            if way is Direction.DOWN:
                tapes.carried.write(zlib.crc32(packet), now_ns)

        return wrapped

    def advance(plain: Any) -> Any:
        def wrapped(self: Any, now_ns: int) -> Any:
            deliveries = plain(self, now_ns)
            for one in deliveries:
                if one.direction is Direction.DOWN:
                    tapes.delivered.write(zlib.crc32(one.payload), time.monotonic_ns())
            return deliveries

        return wrapped

    _wrap(Emulator, "submit", submit)
    _wrap(Channel, "advance", advance)


def _robot(tapes: Tapes) -> None:
    path: list[int] = []
    now: dict[str, Any] = {"grid_ns": 0, "rig": None}

    def aim(plain: Any) -> Any:
        def wrapped(self: Any, now_ns: int, segments: Any, span_ns: int) -> None:
            plain(self, now_ns, segments, span_ns)
            if 0 in segments:
                path[:] = [now_ns, now_ns + span_ns]

        return wrapped

    def receive(plain: Any) -> Any:
        def wrapped(self: Any, now_ns: int, buffer: bytes, *rest: Any) -> Any:
            path.clear()
            moves = plain(self, now_ns, buffer, *rest)
            if path:
                tapes.received.write(zlib.crc32(buffer), now_ns, *path)
            return moves

        return wrapped

    def core_step(plain: Any) -> Any:
        def wrapped(self: Any, now_ns: int) -> Any:
            now["grid_ns"] = now_ns
            return plain(self, now_ns)

        return wrapped

    def rig_step(plain: Any) -> Any:
        def wrapped(self: Any, *rest: Any, **more: Any) -> Any:
            now["rig"] = self
            return plain(self, *rest, **more)

        return wrapped

    def command(plain: Any) -> Any:
        def wrapped(self: Any, now_ns: int, *rest: Any) -> None:
            plain(self, now_ns, *rest)
            if self.name == BUS:
                rig = vars(now["rig"])
                wanted, asked = rig["_wanted"][:TENDONS], rig["_asked"][:TENDONS]
                tapes.asked.write(now_ns, now["grid_ns"], *wanted, *asked)

        return wrapped

    _wrap(Approach, "aim", aim)
    _wrap(RobotCore, "receive", receive)
    _wrap(RobotCore, "step", core_step)
    _wrap(Rig, "step", rig_step)
    _wrap(BusWorker, "command", command)


def _bus(tapes: Tapes) -> None:
    fed = [0]

    def one_round(plain: Any) -> Any:
        def wrapped(self: Any, started_ns: int) -> None:
            if self.name == BUS:
                tapes.round.write(started_ns, self._command_ns)
            plain(self, started_ns)

        return wrapped

    def feed(plain: Any) -> Any:
        def wrapped(self: Any, now_ns: int, received: bytes) -> Any:
            if 1 in self.servos:
                fed[0] = now_ns
            return plain(self, now_ns, received)

        return wrapped

    def sync_write(plain: Any) -> Any:
        def wrapped(self: Any, awake: Any, parameters: bytes) -> None:
            plain(self, awake, parameters)
            if 1 in self.servos and parameters[:2] == _GOAL:
                tapes.byte.write(fed[0], *self.actuators.goal[:TENDONS])

        return wrapped

    _wrap(BusWorker, "_round", one_round)
    _wrap(VirtualDynamixelBus, "feed", feed)
    _wrap(VirtualDynamixelBus, "_sync_write", sync_write)
