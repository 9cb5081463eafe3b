"""Valves and analog outputs on a Modbus line, RTU or TCP, driven by register maps.

| action | what is written |
|---|---|
| FOLLOW, HOLD | the setpoints; an outlet without any yet is at safe |
| RELAX | the relax value of each actuator |
| SAFE | the profile's safe value (0 mV, 0 kPa): the valve vents, still under control |

A device that was silent is asked again with growing pauses, is set up again when it
answers and gets one round of RELAX before it follows. A slot that needs activation
(Festo VTEM) is followed by its status; until it is ready its outlets are held at safe.
Where a profile has a watchdog register it is set at open and read back each second: a
device that restarted has lost it. Where it has none, `watchdog_s` is NaN and nothing in
the device ends a setpoint when this computer dies: the valves' supply needs a relay.
"""

import time
from dataclasses import dataclass

import numpy as np

from app.clock import NS_PER_S
from app.drivers.base import Action, Channel, Driver, Fault, Identity, Reading
from app.drivers.modbus_bus import (
    ModbusBus,
    RefusedRequestError,
    RtuLine,
    SilentDeviceError,
    TcpLine,
    rtu_request_s,
)
from app.drivers.modbus_station import ModbusDevice, ModbusStation
from app.errors import DeviceError
from models.numerics import FloatArray

__all__ = ["ModbusDevice", "ModbusDriver", "ModbusOutlet"]

_MUCH_TOO_LARGE = 5.0
_RECHECK_NS = NS_PER_S


@dataclass(frozen=True)
class ModbusOutlet:
    """Where one channel leaves the bus.

    Attributes:
        device: index of its device.
        outlet: of the device, from 1.
        relax: what gives way, in the channel's unit.
    """

    device: int
    outlet: int
    relax: float = 0.0


class _Round:
    """What is gathered in one round."""

    def __init__(self, size: int) -> None:
        self.applied = np.full(size, np.nan)
        self.measured = np.full(size, np.nan)
        self.answered = np.zeros(size, dtype=np.bool_)
        self.faults: list[Fault] = []
        self.time_ns = 0


class ModbusDriver(Driver):
    """The outlets of all devices on one line."""

    def __init__(
        self,
        *,
        line: RtuLine | TcpLine,
        devices: tuple[ModbusDevice, ...],
        outlets: tuple[ModbusOutlet, ...],
        channels: tuple[Channel, ...],
        timeout_s: float = 0.1,
    ) -> None:
        """Describe the bus; nothing is opened.

        Args:
            line: serial or TCP.
            devices: on it.
            outlets: where each channel leaves the bus.
            channels: one for each outlet, in the unit of its device's full scale.
            timeout_s: longest wait for one answer [s].

        Raises:
            DeviceError: an outlet that its device does not have, or has twice; a
                watchdog that it does not have.
        """
        super().__init__(channels, timeout_s=timeout_s)
        if len(outlets) != len(channels):
            raise DeviceError(f"{len(outlets)} outlets for {len(channels)} channels.")
        self._outlets = outlets
        self._relax = np.array([outlet.relax for outlet in outlets])
        np.clip(self._relax, self._least, self._greatest, out=self._relax)
        self._bus = ModbusBus(line, timeout_s=timeout_s)
        self._stations = [
            self._station(devices, index)
            for index in range(len(devices))
            if any(outlet.device == index for outlet in outlets)
        ]
        times = [station.device.watchdog_s for station in self._stations]
        if all(time_s is not None for time_s in times):
            self.watchdog_s = max(time_s for time_s in times if time_s is not None)
        self.warnings: tuple[str, ...] = tuple(self._sizing())
        """What a person should know; the first reading after opening says it too."""
        self._sizing_warnings = self.warnings
        self._told = True
        self._last_action = Action.SAFE

    @property
    def wire_time_s(self) -> float:
        """Time of the longest regular round on a serial line [s]; 0 for TCP.

        A worker's rate must stay below its inverse. What devices take to think comes on
        top (a few ms each request).
        """
        return sum(self._wire_s(station) for station in self._stations)

    @property
    def longest_exchange_s(self) -> float:
        """No round takes longer [s]."""
        return sum(self._budget_s(station) for station in self._stations)

    def _budget_s(self, station: ModbusStation) -> float:
        """Longest time that one device may have of a round [s]."""
        return 2.0 * self.timeout_s + self._wire_s(station)

    def _wire_s(self, station: ModbusStation) -> float:
        line = self._bus.line
        if not isinstance(line, RtuLine):
            return 0.0
        single = station.device.profile.setpoint.function == 6
        reads = [len(run) for _, run in station.image.read_runs]
        if station.watchdog_words:
            reads.append(len(station.watchdog_words))
        total_s = sum(rtu_request_s(line, 8, 5 + 2 * count) for count in reads)
        for run in station.image.write_runs:
            bytes_out = 8 if single else 9 + 2 * len(run)
            total_s += rtu_request_s(line, bytes_out, 8)
        return total_s

    def _station(self, devices: tuple[ModbusDevice, ...], index: int) -> ModbusStation:
        places = self._places(devices, index)
        ranges = {
            outlet: (self.channels[i].least, self.channels[i].greatest)
            for outlet, i in places.items()
        }
        return ModbusStation(devices[index], places, ranges)

    def _places(self, devices: tuple[ModbusDevice, ...], index: int) -> dict[int, int]:
        profile = devices[index].profile
        places: dict[int, int] = {}
        for channel, outlet in enumerate(self._outlets):
            if not 0 <= outlet.device < len(devices):
                raise DeviceError(f"Outlet {outlet}: there are {len(devices)} devices.")
            if outlet.device != index:
                continue
            name = self.channels[channel].name
            if not 1 <= outlet.outlet <= profile.outlets:
                raise DeviceError(
                    f"Channel {name!r}: {profile.title} has outlets 1 to "
                    f"{profile.outlets}, not {outlet.outlet}."
                )
            if outlet.outlet in places:
                raise DeviceError(
                    f"Channel {name!r}: outlet {outlet.outlet} of device "
                    f"{devices[index].number} is taken; give each its own."
                )
            places[outlet.outlet] = channel
        return places

    def _sizing(self) -> list[str]:
        found = []
        for station in self._stations:
            used = max(self._greatest[i] for i in station.places.values())
            full = station.image.full_scale
            if full > _MUCH_TOO_LARGE * used:
                unit = self.channels[next(iter(station.places.values()))].unit
                found.append(
                    f"Modbus device {station.device.number}: full scale {full:g} {unit}"
                    f" is more than {_MUCH_TOO_LARGE:g} times what is used ({used:g}):"
                    " its resolution and hysteresis, shares of full scale, are coarse "
                    "there. A smaller valve fits better."
                )
        return found

    def _open_bus(self) -> None:
        self._bus.open()
        self._told = False
        self._last_action = Action.SAFE
        warnings = list(self._sizing_warnings)
        lost = []
        for station in self._stations:
            station.forget()
            try:
                self._bus.limit(None)
                warnings += self._checks(station)
                gathered = _Round(len(self.channels))
                self._talk(station, Action.SAFE, self._relax, gathered)
            except (SilentDeviceError, RefusedRequestError) as error:
                station.silent(time.monotonic_ns(), str(error))
                lost.append(str(error))
        if len(lost) == len(self._stations):
            raise DeviceError(" ".join(lost))
        self.warnings = tuple(warnings)

    def _close_bus(self) -> None:
        self._bus.close()

    def _identify(self) -> list[Identity]:
        found = []
        self._bus.limit(None)
        for station in self._stations:
            profile, number = station.device.profile, station.device.number
            firmware = ""
            try:
                if profile.identity is not None:
                    version = self._bus.read(number, 3, profile.identity, 1)[0]
                    firmware = f"{version / 100:.2f}"
                elif station.image.read_runs:
                    function, run = station.image.read_runs[0]
                    self._bus.read(number, function, run.start, len(run))
                else:
                    self._bus.read(number, 3, profile.setpoint.first, 1)
            except SilentDeviceError:
                continue
            except RefusedRequestError:
                firmware = ""
            found.append(Identity(str(number), profile.title, firmware))
        return found

    def _exchange(self, action: Action, applied: FloatArray) -> Reading:
        gathered = _Round(len(self.channels))
        insist = action is Action.SAFE and self._last_action is not Action.SAFE
        self._last_action = action
        if not self._told:
            gathered.faults += [Fault(-1, text) for text in self.warnings]
            self._told = True
        for station in self._stations:
            now_ns = time.monotonic_ns()
            if now_ns < station.retry_ns and not insist:
                self._blame(station, gathered, station.text)
                continue
            try:
                self._talk(station, action, applied, gathered)
            except SilentDeviceError as error:
                station.silent(time.monotonic_ns(), str(error))
                self._blame(station, gathered, str(error))
            except RefusedRequestError as error:
                self._blame(station, gathered, str(error))
        unknown = np.full(len(self.channels), np.nan)
        return Reading(
            gathered.time_ns or time.monotonic_ns(),
            gathered.applied,
            gathered.measured,
            unknown,
            unknown.copy(),
            gathered.answered,
            tuple(gathered.faults),
        )

    def _clear_faults(self) -> None:
        now_ns = time.monotonic_ns()
        for station in self._stations:
            station.image.acknowledge(now_ns)
            station.set_up = False
            station.retry_ns = 0

    def _talk(
        self,
        station: ModbusStation,
        action: Action,
        applied: FloatArray,
        gathered: _Round,
    ) -> None:
        """Set up where needed, write and read one device."""
        bus, number = self._bus, station.device.number
        bus.limit(self._budget_s(station))
        returning = not station.set_up
        self._keep_watchdog(station)
        now_ns = time.monotonic_ns()
        values = self._values(station, action, applied, returning)
        image, sent = station.image.write_image(now_ns, values)
        for outlet, value in sent.items():
            gathered.applied[station.places[outlet]] = value
        for run in station.image.write_runs:
            words = [image[address] for address in run]
            bus.write(
                number, station.device.profile.setpoint.function, run.start, words
            )
        registers: dict[int, int] = {}
        for function, run in station.image.read_runs:
            read = bus.read(number, function, run.start, len(run))
            registers.update(zip(run, read, strict=True))
        gathered.time_ns = time.monotonic_ns()
        if returning and station.known:
            text = f"Modbus device {number} is back; it gave way for a round."
            gathered.faults.append(Fault(-1, text, restarted=True))
        station.set_up = station.known = True
        station.pause_ns = station.retry_ns = 0
        station.text = ""
        measured, faults = station.image.take(gathered.time_ns, registers)
        for outlet, value in measured.items():
            gathered.measured[station.places[outlet]] = value
        for place in station.places.values():
            gathered.answered[place] = True
        gathered.faults += [
            Fault(station.places[outlet], f"Modbus device {number}: {fault.text}")
            for fault in faults
            for outlet in fault.outlets
        ]

    def _values(
        self,
        station: ModbusStation,
        action: Action,
        applied: FloatArray,
        returning: bool,
    ) -> dict[int, float]:
        if action is Action.SAFE:
            return dict.fromkeys(station.places, station.image.safe_value)
        if action is Action.RELAX or returning:
            return {o: float(self._relax[i]) for o, i in station.places.items()}
        return {o: float(applied[i]) for o, i in station.places.items()}

    def _keep_watchdog(self, station: ModbusStation) -> None:
        words, register = station.watchdog_words, station.device.profile.watchdog
        if not words or register is None:
            return
        number, now_ns = station.device.number, time.monotonic_ns()
        if not station.set_up:
            self._bus.write(number, 16, register.first, words)
            station.recheck_ns = now_ns + _RECHECK_NS
        elif now_ns >= station.recheck_ns:
            station.recheck_ns = now_ns + _RECHECK_NS
            if self._bus.read(number, 3, register.first, len(words)) != words:
                raise SilentDeviceError(
                    f"Modbus device {number} has lost its watchdog: it restarted; it is"
                    " set up again."
                )

    def _checks(self, station: ModbusStation) -> list[str]:
        found = []
        for check in station.device.profile.checks:
            slots = station.image.slots if check.stride else (0,)
            for slot in slots:
                first = check.first + slot * check.stride
                where = f"Modbus device {station.device.number}"
                if check.stride:
                    where += f", slot {slot + 1}"
                try:
                    words = self._bus.read(station.device.number, 3, first, check.count)
                except RefusedRequestError as error:
                    found.append(f"{where}: could not be checked. {error}")
                    continue
                if words[check.index] & check.mask != check.value:
                    found.append(f"{where}: {check.text}.")
        return found

    def _blame(self, station: ModbusStation, gathered: _Round, text: str) -> None:
        gathered.faults += [Fault(place, text) for place in station.places.values()]
