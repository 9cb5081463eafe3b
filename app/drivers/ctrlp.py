"""Driver of the Ctrl-P line protocol (Harvard's open pressure controller).

    FOLLOW, HOLD   `set`, in mode 1 (pressure control); a channel without a setpoint
                   goes to its relax_kpa
    RELAX          `set` to each channel's relax_kpa, in mode 1
    SAFE           `valve;-1` and `mode;0`: every channel vents at full speed

What the protocol lacks, and what is done about it:

- No checksum. Each `set` is compared with its echo and sent again once where they
  differ; so a damaged setpoint stands for one exchange of lines at most, but it does
  stand. Who needs more takes the board protocol (app.drivers.board).
- No watchdog. A controller whose computer falls silent keeps its last pressures for
  ever: `watchdog_s` is NaN. Put a valve that vents without power before it, on a relay
  that the robot's computer must keep.
- Nothing says that the controller has restarted, which then runs from its stored
  settings: other units, other limits. So a setting that no start keeps (`trajloop`) is
  given a mark, and looked at before each `set`; where the mark is gone, the controller
  is set up again, vented and at RELAX first. Firmware before 2.0 has no such setting:
  there it is live data that end, or whose time goes back.
- `off` ends live data and nothing else; it is not a stop.
- The controller itself vents all channels where one measures more than its `maxp`, and
  stays so until its mode is set. The mode is asked for each round; this is a latched
  fault.
"""

import time

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S
from app.drivers.base import Action, Channel, Driver, Fault, Identity, Reading
from app.drivers.ctrlp_codec import KPA_PER_UNIT, Unit
from app.drivers.ctrlp_dialogue import Dialogue
from app.drivers.ctrlp_parameters import CtrlPActuator, CtrlPParameters
from app.drivers.transport import SerialLine
from app.errors import DeviceError
from models.numerics import FloatArray

__all__ = ["CtrlPActuator", "CtrlPDriver", "CtrlPParameters", "build_ctrlp"]

_VALVES, _PRESSURE = 0.0, 1.0  # control modes
_VENT = -1.0
_ATTEMPTS = 2
_CERTAIN = 3
_DATA_WAITS = 4
_MOST_QUESTIONS = 20
"""Waits in the longest round: one that sets up a restarted controller."""
_RESOLUTION = 0.01
_QUIET_LOTS = 6
"""Lots of live data that may fail to come before something is done about it."""
_MARK = 7321.0
"""Loops of a trajectory that is never run: kept nowhere, so that a restart loses it."""
_PAUSE_NS = NS_PER_S
"""Input older than this is thrown away: it says what was."""
_UNIT_CODES: dict[Unit, float] = {"psi": 0.0, "kpa": 1.0}


def build_ctrlp(parameters: CtrlPParameters) -> "CtrlPDriver":
    """Make the driver of a bus; nothing is opened."""
    return CtrlPDriver(
        SerialLine(parameters.port, parameters.baud),
        parameters.actuators,
        units=parameters.units,
        timeout_s=parameters.timeout_ms / 1000.0,
        data_period_ms=parameters.data_period_ms,
        vent_above_kpa=parameters.vent_above_kpa,
        start_s=parameters.start_s,
        silent_s=parameters.silent_s,
    )


class CtrlPDriver(Driver):
    """One controller on one serial line; channels in kPa, gauge."""

    def __init__(
        self,
        line: SerialLine,
        actuators: tuple[CtrlPActuator, ...],
        *,
        units: Unit = "psi",
        timeout_s: float = 0.05,
        data_period_ms: int = 50,
        vent_above_kpa: float | None = None,
        start_s: float = 4.0,
        silent_s: float = 1.0,
    ) -> None:
        """Describe the bus; nothing is opened.

        Args:
            line: its port.
            actuators: channels 0, 1, … of the controller, all of them.
            units: what the lines carry.
            timeout_s: longest wait for one echo [s].
            data_period_ms: between two lots of live data [ms].
            vent_above_kpa: the controller's own limit to set [kPa]; None: leave it.
            start_s: how long it may take to answer after its port was opened [s].
            silent_s: silence after which it counts as gone [s].

        Raises:
            DeviceError: no actuators, or a timeout out of range.
        """
        super().__init__(
            tuple(
                Channel(a.name, "kPa", a.least_kpa, a.greatest_kpa) for a in actuators
            ),
            timeout_s=timeout_s,
        )
        self._line = line
        self._units = units
        self._factor = KPA_PER_UNIT[units]
        self._relax = np.array([a.relax_kpa for a in actuators])
        self._period_ms = data_period_ms
        self._vent_above_kpa = vent_above_kpa
        self._start_ns = round(start_s * NS_PER_S)
        self._silent_ns = round(silent_s * NS_PER_S)
        self._timeout_ns = round(timeout_s * NS_PER_S)
        self._dialogue = Dialogue(line, len(actuators), self._timeout_ns)
        self._forget()

    @property
    def longest_exchange_s(self) -> float:
        """No round takes longer [s]."""
        return _MOST_QUESTIONS * self.timeout_s + 0.01

    def _forget(self) -> None:
        self._heard_ns = self._round_ns = time.monotonic_ns()
        self._vented = True
        self._tripped = False
        self._has_mark = False
        self._suspect = False
        """It may have restarted: set it up before it is driven."""

    def _open_bus(self) -> None:
        self._dialogue.open()
        self._forget()
        until_ns = time.monotonic_ns() + self._start_ns
        while self._dialogue.ask("echo", [1.0]) is None:
            if time.monotonic_ns() >= until_ns:
                raise DeviceError(
                    f"No Ctrl-P controller answers at {self._line.path}. Is it "
                    "powered, and is the baud rate its firmware's (115200; before 2.0 "
                    "2000000)?"
                )
        if not self._set_up():
            raise DeviceError(
                f"The controller at {self._line.path} stopped answering during set-up. "
                "Check the cable; look for another program on the port."
            )

    def _close_bus(self) -> None:
        self._line.close()

    def _identify(self) -> list[Identity]:
        echo = self._dialogue.ask("firmware")
        if echo is None:
            return []
        known = echo.name == "firmware" and bool(echo.words)
        version = " ".join(echo.words) if known else "before 2.5"
        model = f"Ctrl-P controller, {len(self.channels)} channels"
        return [Identity(self._line.path, model, version)]

    def _exchange(self, action: Action, applied: FloatArray) -> Reading:
        faults: list[Fault] = []
        if self._may_have_restarted():
            if action is Action.SAFE:
                self._vent()  # whether it is heard or not
            if self._dialogue.ask("echo", [1.0]) is None or not self._set_up():
                return self._unanswered(applied)
            text = "The controller had restarted; set up, at RELAX."
            faults.append(Fault(-1, text, restarted=True))
            action = max(action, Action.RELAX)
        taken = self._act(action, applied, faults)
        if taken is None:
            return self._unanswered(applied)
        return self._reading(taken, faults)

    def _may_have_restarted(self) -> bool:
        """Whether to set it up before it is driven; hears what has come in."""
        now_ns = time.monotonic_ns()
        paused = now_ns - self._round_ns > _PAUSE_NS
        self._round_ns = now_ns
        period_ns = self._period_ms * NS_PER_MS
        if paused:  # what waits in the buffer is old
            self._dialogue.discard()
            self._dialogue.wait_for_live_data(now_ns + 2 * period_ns)
        self._dialogue.drain()
        restarted, self._dialogue.has_restarted = self._dialogue.has_restarted, False
        if self._suspect or restarted:
            return True
        is_quiet = now_ns - self._dialogue.fresh_ns > _QUIET_LOTS * period_ns
        if not self._has_mark:
            return is_quiet
        if self._dialogue.numbers("trajloop", []) != (_MARK,):
            return True
        if is_quiet:
            self._dialogue.ask("on")
        return False

    def _act(
        self, action: Action, applied: FloatArray, faults: list[Fault]
    ) -> FloatArray | None:
        """Tell the controller; return the pressures it took [kPa], None: no answer."""
        vented = np.zeros(len(self.channels))
        if action is Action.SAFE or self._tripped:
            taken = vented if self._vent() else None
        else:
            before = len(faults)
            unknown = ~np.isfinite(applied) | (action is Action.RELAX)
            taken = self._set(np.where(unknown, self._relax, applied), faults)
            if taken is None or not self._watch_mode(may_start=len(faults) == before):
                return None
        if self._tripped:
            text = (
                "The controller vented all channels by itself: a pressure rose above "
                "its maxp, or its mode was set. Find out why, then clear the fault."
            )
            faults.append(Fault(-1, text, latched=True))
            return None if taken is None else vented
        return taken

    def _set(self, wanted: FloatArray, faults: list[Fault]) -> FloatArray | None:
        """Send setpoints and compare the echo; return what was taken [kPa]."""
        sent = wanted / self._factor
        taken: FloatArray | None = None
        for _ in range(_ATTEMPTS):
            numbers = self._dialogue.numbers("set", [0.0, *sent.tolist()])
            if numbers is None or len(numbers) != sent.size + 1:
                continue
            taken = np.array(numbers[1:])
            differs = ~(np.abs(taken - sent) <= _RESOLUTION)
            if not differs.any():
                return taken * self._factor
        if taken is None:
            return None
        kpa = taken * self._factor
        for channel in np.flatnonzero(differs):
            name = self.channels[channel].name
            text = (
                f"{name}: the controller took {kpa[channel]:.2f} kPa in place of "
                f"{wanted[channel]:.2f}. Check its minp and maxp, and the cable."
            )
            faults.append(Fault(int(channel), text))
        return kpa

    def _watch_mode(self, *, may_start: bool) -> bool:
        """Go to pressure control after a vent, else see that it still is in it."""
        if self._vented and not may_start:
            return True  # it holds other setpoints than ours: leave it vented
        modes = self._dialogue.numbers("mode", [_PRESSURE] if self._vented else [])
        if modes is None:
            return False
        self._tripped = not self._vented and any(mode != _PRESSURE for mode in modes)
        self._vented = self._tripped
        return True

    def _vent(self) -> bool:
        """Open every valve to the outside; False: it did not say that it has."""
        valves = self._dialogue.numbers("valve", [_VENT])
        modes = self._dialogue.numbers("mode", [_VALVES])
        self._vented = True
        if valves is None or modes is None:
            return False
        return set(valves) == {_VENT} and set(modes) == {_VALVES}

    def _reading(self, taken: FloatArray, faults: list[Fault]) -> Reading:
        n = len(self.channels)
        now_ns = self._heard_ns = time.monotonic_ns()
        wait_ns = min(_DATA_WAITS * self._timeout_ns, 2 * self._period_ms * NS_PER_MS)
        measured = self._dialogue.take_measured(now_ns + wait_ns)
        if measured is None:
            faults.append(Fault(-1, "The controller sends no live data."))
            return self.nothing_read(taken, *faults)
        return Reading(
            time.monotonic_ns(),
            taken,
            np.array(measured) * self._factor,
            np.full(n, np.nan),
            np.full(n, np.nan),
            np.ones(n, dtype=np.bool_),
            tuple(faults),
        )

    def _unanswered(self, applied: FloatArray) -> Reading:
        self._suspect = True
        silent_ns = time.monotonic_ns() - self._heard_ns
        if silent_ns >= self._silent_ns:
            raise DeviceError(
                f"The controller at {self._line.path} has not answered for "
                f"{silent_ns / NS_PER_S:.1f} s. It has no watchdog: it may still hold "
                "its last pressures. Check its power and cable."
            )
        text = f"The controller does not answer ({silent_ns / NS_PER_MS:.0f} ms)."
        return self.nothing_read(applied, Fault(-1, text))

    def _clear_faults(self) -> None:
        self._tripped = False

    def _set_up(self) -> bool:
        """Vent, then units, limits and live data; False: no answer.

        Raises:
            DeviceError: the controller is not as the parameters say.
        """
        if not self._vent() or not self._take_units():
            return False
        if not self._check_limits():
            return False
        relax = [0.0, *(self._relax / self._factor).tolist()]
        steps: list[tuple[str, list[float]]] = [
            ("chan", [1.0]),
            ("set", relax),
            ("time", [float(self._period_ms)]),
            ("on", []),
        ]
        for name, values in steps:
            if self._dialogue.ask(name, values) is None:
                return False
        mark = self._dialogue.ask("trajloop", [_MARK])
        if mark is None:
            return False
        self._has_mark = mark.name == "trajloop"
        self._dialogue.reset()
        self._suspect = False
        return True

    def _take_units(self) -> bool:
        code = _UNIT_CODES[self._units]
        unknown = 0
        for _ in range(_CERTAIN):  # a damaged line must not pass for old firmware
            echo = self._dialogue.ask("units", [code, code])
            if echo is None:
                return False
            if echo.name == "units" and {w.lower() for w in echo.words} == {
                self._units
            }:
                return True
            unknown += echo.name == "unrec"
        if unknown == _CERTAIN and self._units == "psi":
            return True
        raise DeviceError(
            f"The controller at {self._line.path} does not speak {self._units}: give "
            "units = 'psi' for firmware before 2.1."
        )

    def _check_limits(self) -> bool:
        above = self._vent_above_kpa
        highest = self._dialogue.numbers(
            "maxp", [] if above is None else [above / self._factor]
        )
        lowest = self._dialogue.numbers("minp", [])
        if highest is None or lowest is None:
            return False
        n = len(self.channels)
        if len(highest) != n or len(lowest) != n:
            raise DeviceError(
                f"The controller at {self._line.path} has {len(highest)} channels, {n} "
                "actuators are listed: list all of them."
            )
        for channel, low, high in zip(self.channels, lowest, highest, strict=True):
            low_kpa, high_kpa = low * self._factor, high * self._factor
            margin = _RESOLUTION * self._factor
            if channel.least < low_kpa - margin or channel.greatest > high_kpa + margin:
                raise DeviceError(
                    f"{channel.name}: its range {channel.least:g} to "
                    f"{channel.greatest:g} kPa is wider than the controller's minp "
                    f"{low_kpa:.1f} to maxp {high_kpa:.1f} kPa. Narrow it, or give "
                    "vent_above_kpa."
                )
        return True
