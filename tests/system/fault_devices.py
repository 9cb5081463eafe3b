"""The virtual devices of a rig in a process of their own, so that they can be broken.

Hardware keeps its own time: the devices are served at real-time priority where that is
permitted, else a busy machine would make them miss what no real device misses. They
stay powered while a cable is out. Serial lines are reached by way of a symbolic link,
which is the port's name and outlives the terminal behind it.
"""

import multiprocessing
import threading
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from app.clock import MonotonicClock
from app.drivers.kinds import build_virtual
from app.drivers.virtual.base import Drive
from app.drivers.virtual.carrier import PtyCarrier
from app.real_time import prefer_real_time
from app.robot.rig_file import RigParameters
from models.numerics import FloatArray

_RIGS = Path(__file__).resolve().parents[2] / "assets" / "rigs"
_PRIORITY = 50
_LOOK_S = 0.01
_PATIENCE_S = 20.0

Told = tuple[int, FloatArray, FloatArray, FloatArray]
"""Time [ns], goals, drives and measured values of a bus."""


class _Devices:
    """Serves them, does as it is told, and notes what they were told."""

    def __init__(self, folder: Path, parameters: RigParameters) -> None:
        self._folder = folder
        self._carriers: dict[str, Any] = {}
        self._rows: dict[str, list[Told]] = {}
        self.addresses: dict[str, tuple[str, str, str]] = {}
        for bus in parameters.buses:
            carrier, own = build_virtual(bus.line)
            self._carriers[bus.name] = carrier
            if isinstance(carrier, PtyCarrier):
                self.plug(bus.name)
                address = (str(bus.line.port), str(self._line(bus.name)), "")
            else:
                key = "tcp_port" if hasattr(own, "tcp_port") else "port"
                more = f"{key} = {getattr(own, key)}"
                address = (str(bus.line.host), str(own.host), more)
            self.addresses[bus.name] = address
        self.watch()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="goal watch")
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        for carrier in self._carriers.values():
            carrier.close()

    def _line(self, bus: str) -> Path:
        return self._folder / f"tty-{bus}"

    def unplug(self, bus: str) -> None:
        self._line(bus).unlink()
        old = self._carriers[bus]
        old.unplug()
        self._carriers[bus] = PtyCarrier(old.device)

    def plug(self, bus: str) -> None:
        self._line(bus).symlink_to(self._carriers[bus].path)

    def spoil(self, bus: str, what: str, places: Sequence[int], to: bool) -> None:
        getattr(self._carriers[bus].device.actuators, what)[places] = to

    def watch(self) -> None:
        self._rows = {name: [] for name in self._carriers}

    def rows(self) -> dict[str, list[Told]]:
        return self._rows

    def _look(self) -> None:
        clock = MonotonicClock()
        while not self._ended.wait(_LOOK_S):
            rows = self._rows
            for name, carrier in list(self._carriers.items()):
                one = carrier.device.actuators
                told = one.told()
                rows[name].append((clock.now_ns(), *told, one.measured.copy()))


def _serve(pipe: Connection, folder: Path, parameters: RigParameters) -> None:
    prefer_real_time(_PRIORITY, on_any_core=True)
    devices = _Devices(folder, parameters)
    try:
        pipe.send(devices.addresses)
        while True:
            name, arguments = pipe.recv()
            if name == "close":
                return
            pipe.send(getattr(devices, name)(*arguments))
    finally:
        devices.close()


@dataclass
class ServedRig:
    """A rig whose devices can be broken; `path` is the file that points at them."""

    path: Path
    parameters: RigParameters
    pipe: Connection

    def bus(self, name: str) -> Any:
        return next(bus for bus in self.parameters.buses if bus.name == name)

    def _ask(self, name: str, *arguments: Any) -> Any:
        self.pipe.send((name, arguments))
        assert self.pipe.poll(_PATIENCE_S), f"the devices do not {name}"
        return self.pipe.recv()

    def unplug(self, bus: str) -> None:
        """Pull the cable of a serial line."""
        self._ask("unplug", bus)

    def plug(self, bus: str) -> None:
        """Plug it in again: a new terminal under the old name."""
        self._ask("plug", bus)

    def spoil(self, bus: str, what: str, places: Sequence[int], *, to: bool) -> None:
        """Make actuators "silent" or "stuck", or whole again."""
        self._ask("spoil", bus, what, places, to)

    def watch(self) -> None:
        """Forget what the devices were told until now."""
        self._ask("watch")

    def rows(self) -> dict[str, list[Told]]:
        """What the devices of each bus were told since."""
        found: dict[str, list[Told]] = self._ask("rows")
        return found

    def driven_change(self, first_ns: int, last_ns: int) -> float:
        """Greatest change of the goal of any actuator that was driven throughout."""
        greatest = 0.0
        for rows in self.rows().values():
            inside = [row for row in rows if first_ns <= row[0] <= last_ns]
            assert inside, "the devices were not watched"
            goal = np.array([row[1] for row in inside])
            held = (np.array([row[2] for row in inside]) == Drive.DRIVEN).all(axis=0)
            greatest = max(greatest, float(np.ptp(goal, axis=0)[held].max(initial=0.0)))
        return greatest


@contextmanager
def served_rig(name: str, folder: Path) -> Iterator[ServedRig]:
    """Serve a shipped rig's devices."""
    text = (_RIGS / f"{name}.toml").read_text()
    parameters = RigParameters.model_validate(tomllib.loads(text))
    context = multiprocessing.get_context("spawn")
    pipe, far = context.Pipe()
    process = context.Process(
        target=_serve, args=(far, folder, parameters), daemon=True
    )
    process.start()
    try:
        assert pipe.poll(_PATIENCE_S), "the devices do not come up"
        for old, new, more in pipe.recv().values():
            text = text.replace(f'"{old}"', f'"{new}"\n{more}')
        path = folder / f"{name}.toml"
        path.write_text(text)
        yield ServedRig(path, parameters, pipe)
        pipe.send(("close", ()))
        process.join(_PATIENCE_S)
    finally:
        process.kill()
        process.join()
        process.close()
        pipe.close()
        far.close()
