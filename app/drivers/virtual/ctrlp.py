"""The virtual Ctrl-P controller: command set 2.5, the echoes and live data of 2.x.

It does what the driver leans on: setpoints clamped to minp and maxp, units, modes,
valves, channels, live data, the vent of all channels above maxp until the mode is set,
settings stored and loaded, a restart. Like the real one it takes what it can read of a
damaged line: missing values set all channels to the first one, and what is no number
counts as 0.

It does not imitate: the controllers' dynamics (pressures follow with one lag), ramps
(mode 3 jumps), trajectories (they are kept, and do not run), the master sensor, buttons
and display. It takes a command by its whole name; the real one by how it begins.
"""

import re
from collections.abc import Callable

import numpy as np

from app.clock import NS_PER_MS
from app.drivers.ctrlp_codec import LineReader
from app.drivers.ctrlp_parameters import CtrlPParameters
from app.drivers.virtual.base import Drive, VirtualActuators, VirtualDevice
from app.drivers.virtual.carrier import PtyCarrier
from app.drivers.virtual.ctrlp_commands import SETTINGS, WORDS, Setting

__all__ = ["VirtualCtrlP", "virtual_ctrlp"]

_KPA_PER_PSI = 6.89475729
_UNITS = (("psi", 1.0), ("kPa", _KPA_PER_PSI), ("bar", 0.0689475728), ("atm", 0.068046))
_NUMBER = re.compile(r"\s*([-+]?\d{0,15}(?:\.\d{0,15})?)")
_LARGEST = 1e9
_VOLATILE = ("traj", "pref", "suff")
"""How settings begin that `save` does not keep: those of trajectories."""
_MOST_LINES = 64
"""Lines answered of one piece of input; a real one is as slow as its line."""


def virtual_ctrlp(parameters: CtrlPParameters) -> tuple[PtyCarrier, CtrlPParameters]:
    """Serve a virtual controller that fits; return it with parameters for it.

    Raises:
        DeviceError: no pseudo terminal can be had.
    """
    device = VirtualCtrlP(len(parameters.actuators))
    highest = max(actuator.greatest_kpa for actuator in parameters.actuators)
    lowest = min(actuator.least_kpa for actuator in parameters.actuators)
    device.store("maxp", max(50.0, 1.1 * highest / _KPA_PER_PSI))
    device.store("minp", min(-14.6, lowest / _KPA_PER_PSI))
    carrier = PtyCarrier(device)
    return carrier, parameters.model_copy(update={"port": carrier.path})


class VirtualCtrlP(VirtualDevice):
    """One controller; actuators in kPa, gauge.

    Attributes:
        damage_in: set to imitate a line that damages what the controller hears.
        damage_out: set to imitate a line that damages what it says.
    """

    def __init__(self, channels: int) -> None:
        """Switch on for the first time.

        Args:
            channels: number of channels, 1..16.
        """
        self.actuators = VirtualActuators(
            np.zeros(channels), off_value=np.zeros(channels)
        )
        self.damage_in: Callable[[bytes], bytes] | None = None
        self.damage_out: Callable[[bytes], bytes] | None = None
        self._n = channels
        self._stored = {
            name: [setting.first] * (setting.places or channels)
            for name, setting in SETTINGS.items()
        }
        self._stored_units = (0, 0)
        self._said_ns = 0
        self._start(0)
        self._restart = True

    def store(self, name: str, value: float) -> None:
        """Write a setting, in psi where it is a pressure, to what survives a start."""
        self._stored[name] = [value] * len(self._stored[name])
        self._restart = True

    def restart(self) -> None:
        """Imitate a power cut: stored settings, setpoints of 0, no live data."""
        self._restart = True

    @property
    def setpoint_kpa(self) -> tuple[float, ...]:
        """Setpoints [kPa]."""
        return tuple(value * _KPA_PER_PSI for value in self._setpoint_psi)

    @property
    def modes(self) -> tuple[int, ...]:
        """Control mode of each channel."""
        return tuple(int(mode) for mode in self._kept["mode"])

    def feed(self, now_ns: int, received: bytes) -> bytes:
        """Take bytes; answer each whole line with its echo."""
        self._begin(now_ns)
        if self.damage_in is not None:
            received = self.damage_in(received)
        lines = self._reader.feed(received)[:_MOST_LINES]
        said = [self._take(line.decode("latin-1")) for line in lines]
        self._drive()
        return self._say("".join(said))

    def advance(self, now_ns: int) -> bytes:
        """Let time pass: motion, the vent above maxp, live data."""
        self._begin(now_ns)
        self._watch()
        self._drive()
        super().advance(now_ns)
        period_ns = max(1.0, self._kept["time"][0]) * NS_PER_MS
        if not self._live or now_ns - self._said_ns < period_ns:
            return b""
        self._said_ns = now_ns
        now_ms = (now_ns - self._started_ns) // NS_PER_MS % 2**32
        factor = _UNITS[self._units[1]][1]
        measured = (self.actuators.measured / _KPA_PER_PSI * factor).tolist()
        lots = [[value * factor for value in self._setpoint_psi], measured]
        rows = []
        for kind, values in enumerate(lots):
            words = [str(now_ms), str(kind), *(f"{value:.2f}" for value in values)]
            rows.append("\t".join(words) + "\r\n")
        return self._say("".join(rows))

    def _begin(self, now_ns: int) -> None:
        if self._restart:
            self._start(now_ns)

    def _start(self, now_ns: int) -> None:
        self._restart = False
        self._started_ns: int = now_ns
        self._said_ns = now_ns
        self._reader = LineReader()
        self._setpoint_psi: list[float] = [0.0] * self._n
        self._ramp_s = 0.0
        self._live: bool = False
        self._echoes = True
        self._load()

    def _load(self) -> None:
        self._kept = {name: list(values) for name, values in self._stored.items()}
        self._units = self._stored_units

    def _say(self, text: str) -> bytes:
        if self.actuators.silent.any():
            return b""
        said = text.encode("latin-1", "replace")
        return self.damage_out(said) if self.damage_out is not None else said

    def _take(self, line: str) -> str:
        name, *words = line.strip("\r").split(";")
        name = name.strip().lower()
        values = [_to_float(word) for word in words]
        if name == "echo":
            return self._take_echo(values)
        if name == "set":
            text = self._take_set(values)
        elif name == "units":
            text = self._take_units(values)
        elif name in SETTINGS:
            text = self._take_setting(name, SETTINGS[name], values)
        elif name in WORDS:
            self._do(name)
            text = f"{name.upper()}: {WORDS[name]}"
        else:
            text = "UNREC: Unrecognized Command"
        return f"_{text}\r\n" if self._echoes else ""

    def _take_echo(self, values: list[float]) -> str:
        if values:
            self._echoes = bool(int(values[0]))
        return f"_ECHO: {'ON' if self._echoes else 'OFF'}\r\n"

    def _take_set(self, values: list[float]) -> str:
        n, new = self._n, ""
        if len(values) >= 2:
            new = "NEW "
            self._ramp_s = min(max(values[0], 0.0), 1000.0)
            wanted = values[1 : n + 1] if len(values) > n else [values[1]] * n
            factor = _UNITS[self._units[0]][1]
            for channel, value in enumerate(wanted):
                least, most = self._kept["minp"][channel], self._kept["maxp"][channel]
                self._setpoint_psi[channel] = min(max(value / factor, least), most)
        factor = _UNITS[self._units[1]][1]
        printed = "".join(f"\t{value * factor:.2f}" for value in self._setpoint_psi)
        return f"{new}SET: {self._ramp_s:.2f}{printed}"

    def _take_units(self, values: list[float]) -> str:
        new = ""
        if values:
            new = "NEW "
            codes = [int(value) for value in (*values, values[0])[:2]]
            if all(0 <= code < len(_UNITS) for code in codes):
                self._units = (codes[0], codes[1])
        return f"{new}UNITS: {_UNITS[self._units[0]][0]}\t{_UNITS[self._units[1]][0]}"

    def _take_setting(self, name: str, setting: Setting, values: list[float]) -> str:
        kept = self._kept[name]
        new = ""
        into = _UNITS[self._units[0]][1] if setting.is_pressure else 1.0
        if values:
            new = "NEW "
            if len(values) >= len(kept) or setting.places:
                for place, value in enumerate(values[: len(kept)]):
                    kept[place] = value / into
            else:
                kept[:] = [values[0] / into] * len(kept)
        out = _UNITS[self._units[1]][1] if setting.is_pressure else 1.0
        shown = kept[: len(values)] if setting.places and values else kept
        printed = "\t".join(f"{value * out:.{setting.decimals}f}" for value in shown)
        return f"{new}{name.upper()}: {printed}" + ("\t" if setting.tab else "")

    def _do(self, name: str) -> None:
        if name in {"on", "off"}:
            self._live = name == "on"
        elif name in {"save", "defsave"}:
            kept = {k: list(v) for k, v in self._kept.items() if k[:4] not in _VOLATILE}
            self._stored |= kept
            self._stored_units = self._units
        elif name in {"load", "defload"}:
            self._load()

    def _watch(self) -> None:
        highest = np.array(self._kept["maxp"]) * _KPA_PER_PSI
        if (self.actuators.measured > highest).any():
            self._kept["mode"][:] = [0.0] * self._n
            self._kept["valve"][:] = [-1.0] * self._n

    def _drive(self) -> None:
        for channel, mode in enumerate(self._kept["mode"]):
            valve = self._kept["valve"][channel]
            setpoint = self._setpoint_psi[channel] * _KPA_PER_PSI
            if not self._kept["chan"][channel] or (not mode and not valve):
                self.actuators.command(channel, setpoint, Drive.RELAXED)
            elif mode:
                self.actuators.command(channel, setpoint, Drive.DRIVEN)
            elif valve < 0.0:
                self.actuators.command(channel, 0.0, Drive.OFF)
            else:
                source = self._kept["mastermaxp"][0] * _KPA_PER_PSI
                self.actuators.command(channel, source, Drive.DRIVEN)


def _to_float(word: str) -> float:
    """Read a number as Arduino's toFloat does: what begins a word, else 0."""
    match = _NUMBER.match(word)
    try:
        value = float(match.group(1)) if match is not None else 0.0
    except ValueError:
        return 0.0
    return min(max(value, -_LARGEST), _LARGEST)
