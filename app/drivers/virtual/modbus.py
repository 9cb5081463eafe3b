"""Virtual Modbus devices: the register maps of the profiles, with valves behind them.

Real bytes, RTU or TCP, answered as the standard says. Not imitated: the silences and
bit rate of a serial line (answers come at once), parity, broadcasts' missing answer
being timed, what a terminal does by itself when a TCP connection breaks, IO-Link's own
cycle, and every register that the profile does not name (exception 2). One buffer
serves all TCP clients: use one at a time.
"""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S
from app.drivers.modbus_parameters import ModbusParameters, device_outlets
from app.drivers.modbus_profile import ModbusProfile
from app.drivers.virtual.base import Drive, VirtualActuators, VirtualDevice
from app.drivers.virtual.carrier import PtyCarrier, TcpCarrier
from app.drivers.virtual.modbus_frames import (
    ILLEGAL_ADDRESS,
    ILLEGAL_FUNCTION,
    answer_pdu,
    rtu_frame,
    take_rtu,
    take_tcp,
    tcp_frame,
)
from app.drivers.virtual.modbus_valves import VirtualValves

__all__ = ["VirtualModbus", "VirtualStation", "virtual_modbus"]

_SILENCE_NS = 50 * NS_PER_MS
_ACTIVATION_S = 0.2
_FIRMWARE = 0x0064
_APP_MASK = 0x3F
_ACKNOWLEDGE_APP = 62


class _SlotState:
    """A slot that is told to work by a control word."""

    def __init__(self) -> None:
        self.control = 0
        self.ready_ns: int | None = None
        self.failed = False


class VirtualStation:
    """One device: its registers, and which actuators hang on its outlets."""

    def __init__(
        self,
        number: int,
        profile: ModbusProfile,
        outlets: Mapping[int, int],
        actuators: VirtualActuators,
        *,
        full_scale: float | None = None,
    ) -> None:
        """Switch the device on.

        Args:
            number: on its line.
            profile: its register map.
            outlets: index of the actuator by outlet, from 1.
            actuators: of the whole line.
            full_scale: value at the full-scale count; None: the profile's.
        """
        self.number = number
        self.profile = profile
        self.outlets = dict(outlets)
        self.actuators = actuators
        self.full_scale = full_scale or profile.full_scale
        self.silent = False
        """Set to imitate a device that does not answer."""
        self.wrong_checks: set[int] = set()
        """Indices of the profile's checks that a person has not set right."""
        self._now_ns = 0
        self._heard_ns = 0
        self._words: dict[int, int] = {}
        self._slots: dict[int, _SlotState] = {}
        self.restart()

    def restart(self) -> None:
        """Imitate a loss of power: outputs, activation and watchdog are lost."""
        profile = self.profile
        self._slots = {
            n: _SlotState() for n in range(-(-profile.outlets // profile.per_slot))
        }
        self._words = dict.fromkeys(self._writable(), 0)
        self._drive()

    def fail(self, slot: int) -> None:
        """Imitate an error of a slot, from 0, that must be acknowledged."""
        self._slots[slot].failed = True
        self._slots[slot].ready_ns = None
        self._drive()

    def hear(self, now_ns: int) -> bool:
        """Take note that a request came; whether the device answers."""
        if self.silent or any(self.actuators.silent[i] for i in self.outlets.values()):
            return False
        self._heard_ns = now_ns
        return True

    def advance(self, now_ns: int) -> None:
        """Let time pass: activation and watchdog."""
        self._now_ns = now_ns
        for slot in self._slots.values():
            if slot.ready_ns is not None and slot.ready_ns <= now_ns:
                self._drive()
                break
        timeout_ns = self._watchdog_ns()
        if timeout_ns and now_ns - self._heard_ns > timeout_ns:
            for first, size in self._setpoint_words():
                self._words.update(dict.fromkeys(range(first, first + size), 0))
            self._drive()

    def read(self, function: int, first: int, count: int) -> list[int] | int:
        """Return the words, or an exception code."""
        held = self._input_words(function)
        if function == 3:
            held = self._words | held
        wanted = range(first, first + count)
        if any(address not in held for address in wanted):
            return ILLEGAL_ADDRESS
        return [held[address] for address in wanted]

    def write(self, function: int, first: int, words: list[int]) -> int:
        """Take the words; return 0 or an exception code, and then take none."""
        if function == 23:
            return ILLEGAL_FUNCTION
        if any(first + i not in self._words for i in range(len(words))):
            return ILLEGAL_ADDRESS
        for place, word in enumerate(words):
            self._words[first + place] = word
        self._control()
        self._drive()
        return 0

    def _watchdog_ns(self) -> int:
        register = self.profile.watchdog
        if register is None:
            return 0
        count = 0
        for place in range(register.words):
            count = count << 16 | self._words[register.first + place]
        return round(count / register.counts_per_s * NS_PER_S)

    def _setpoint_words(self) -> list[tuple[int, int]]:
        registers = self.profile.setpoint
        return [
            (self.profile.address(registers, outlet), registers.words)
            for outlet in range(1, self.profile.outlets + 1)
        ]

    def _writable(self) -> list[int]:
        profile = self.profile
        found = [
            address
            for first, size in self._setpoint_words()
            for address in range(first, first + size)
        ]
        if profile.watchdog is not None:
            first = profile.watchdog.first
            found += range(first, first + profile.watchdog.words)
        if profile.state is not None and profile.state.control_first is not None:
            control = profile.state.control_first
            found += [profile.slot_address(control, slot) for slot in self._slots]
        return found

    def _control(self) -> None:
        """Follow the control words."""
        state = self.profile.state
        if state is None or state.control_first is None:
            return
        for number, slot in self._slots.items():
            word = self._words[self.profile.slot_address(state.control_first, number)]
            if word == slot.control:
                continue
            slot.control = word
            slot.ready_ns = None
            if word & _APP_MASK == _ACKNOWLEDGE_APP:
                slot.failed = False
            elif word == state.activate:
                slot.ready_ns = self._now_ns + round(_ACTIVATION_S * NS_PER_S)

    def _works(self, slot: int) -> bool:
        state = self.profile.state
        if state is None or state.control_first is None:
            return True
        known = self._slots[slot]
        due_ns = known.ready_ns
        return not known.failed and due_ns is not None and due_ns <= self._now_ns

    def _status(self, slot: int) -> int:
        state = self.profile.state
        if state is None:
            return 0
        known = self._slots[slot]
        if state.control_first is None:
            return 0 if known.failed else state.ready_value
        if self._works(slot):
            return state.ready_value
        return known.control & _APP_MASK

    def _drive(self) -> None:
        """Hand the setpoints to the actuators."""
        zero, full = self.profile.setpoint.counts
        for outlet, index in self.outlets.items():
            first = self.profile.address(self.profile.setpoint, outlet)
            size = self.profile.setpoint.words
            words = [self._words[first + place] for place in range(size)]
            share = (self.profile.setpoint.decode(words) - zero) / (full - zero)
            goal = min(max(share, 0.0), 1.0) * self.full_scale
            if self._works(self.profile.slot(outlet)):
                self.actuators.command(index, goal, Drive.DRIVEN)
            else:
                self.actuators.command(index, 0.0, Drive.OFF)

    def _input_words(self, function: int) -> dict[int, int]:
        """Lay out what cannot be written: status, sensors, settings."""
        profile = self.profile
        held: dict[int, int] = {}
        if profile.state is not None and profile.state.function == function:
            for slot in self._slots:
                address = profile.slot_address(profile.state.status_first, slot)
                held[address] = self._status(slot)
        measured = profile.measured
        if measured is not None and measured.function == function:
            zero, full = measured.counts
            for outlet in range(1, profile.outlets + 1):
                place = self.outlets.get(outlet)
                value = 0.0 if place is None else float(self.actuators.measured[place])
                count = round(zero + value / self.full_scale * (full - zero))
                first = profile.address(measured, outlet)
                for i, word in enumerate(measured.encode(count)):
                    held[first + i] = word
        if function == 3:
            if profile.identity is not None:
                held[profile.identity] = _FIRMWARE
            for index, check in enumerate(profile.checks):
                slots = self._slots if check.stride else (0,)
                for slot in slots:
                    first = check.first + slot * check.stride
                    held.update(dict.fromkeys(range(first, first + check.count), 0))
                    wrong = index in self.wrong_checks
                    held[first + check.index] = 0 if wrong else check.value
        return held


class VirtualModbus(VirtualDevice):
    """All devices of one line."""

    def __init__(
        self,
        stations: list[VirtualStation],
        actuators: VirtualActuators,
        framing: Literal["rtu", "tcp"],
    ) -> None:
        """Connect the devices.

        Args:
            stations: the devices.
            actuators: on all of them.
            framing: of the bytes.
        """
        self.actuators = actuators
        self.stations = {station.number: station for station in stations}
        self.wrong_answers = 0
        """Set to spoil so many answers."""
        self._framing = framing
        self._buffer = b""
        self._heard_ns = 0

    def feed(self, now_ns: int, received: bytes) -> bytes:
        """Take bytes as they come, in any pieces; return what is answered now."""
        if self._buffer and now_ns - self._heard_ns > _SILENCE_NS:
            self._buffer = b""
        self._heard_ns = now_ns
        self._buffer += received
        said = b""
        self._pass(now_ns)
        while self._buffer:
            used, request = (
                take_rtu(self._buffer)
                if self._framing == "rtu"
                else take_tcp(self._buffer)
            )
            if used == 0:
                break
            self._buffer = self._buffer[used:]
            if request is None:
                continue
            if self._framing == "rtu" and request.device == 0:
                for station in self.stations.values():
                    if station.hear(now_ns):
                        answer_pdu(request.pdu, station)
                continue
            asked = self.stations.get(request.device)
            if asked is None or not asked.hear(now_ns):
                continue
            pdu = answer_pdu(request.pdu, asked)
            answer = (
                rtu_frame(asked.number, pdu)
                if self._framing == "rtu"
                else tcp_frame(request, pdu)
            )
            if self.wrong_answers > 0:
                self.wrong_answers -= 1
                answer = answer[:-1] + bytes([answer[-1] ^ 0x55])
            said += answer
        return said

    def advance(self, now_ns: int) -> bytes:
        """Let time pass: watchdogs, activation and motion."""
        self._pass(now_ns)
        return b""

    def _pass(self, now_ns: int) -> None:
        for station in self.stations.values():
            station.advance(now_ns)
        self.actuators.advance(now_ns)


def virtual_modbus(
    parameters: ModbusParameters, *, hysteresis_share: float = 0.005
) -> tuple[PtyCarrier | TcpCarrier, ModbusParameters]:
    """Serve the devices of a bus, with valves behind them.

    Args:
        parameters: of the bus.
        hysteresis_share: of the valves, of the largest full scale.

    Returns:
        The running carrier, whose `device` holds the actuators, and the parameters that
        point at it.

    Raises:
        ConfigError: the parameters do not fit together.
        DeviceError: no port can be had.
    """
    profiles, outlets = device_outlets(parameters)
    full_scales = [
        device.full_scale_kpa or profile.full_scale
        for device, profile in zip(parameters.devices, profiles, strict=True)
    ]
    valves = VirtualValves(
        np.array([full_scales[outlet.device] for outlet in outlets]),
        hysteresis_share=hysteresis_share,
    )
    stations = [
        VirtualStation(
            device.number,
            profiles[index],
            {
                outlet.outlet: place
                for place, outlet in enumerate(outlets)
                if outlet.device == index
            },
            valves,
            full_scale=full_scales[index],
        )
        for index, device in enumerate(parameters.devices)
    ]
    if parameters.port is not None:
        serial = PtyCarrier(VirtualModbus(stations, valves, "rtu"))
        return serial, parameters.model_copy(update={"port": serial.path})
    served = TcpCarrier(VirtualModbus(stations, valves, "tcp"))
    return served, parameters.model_copy(
        update={"host": served.host, "tcp_port": served.port}
    )
