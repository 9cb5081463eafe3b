"""Control tables of the servos: every item that limblink reads, writes or imitates.

    model -> name -> Item(address, size, writable, least, greatest, initial, sign)

Sources: ROBOTIS e-manual, XM430-W350 and XL330-M288, "Control Table of EEPROM Area" and
"of RAM Area"; Feetech, memory table of the STS series. Addresses below a model's
`eeprom_end` lie in the EEPROM: they outlast a loss of power, wear when written, and are
locked while the torque is on (Dynamixel) or while `lock` is 1 (Feetech).

Left out: velocity and PWM trajectories, indirect addresses, backup, secondary ids.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["SERVO_MODELS", "Item", "ServoModel"]

_S16 = 0x7FFF
_TURNS_256 = 1_048_575
_TWOS = -1


class Item(NamedTuple):
    """One entry of a control table.

    Attributes:
        address: of its first byte, the least significant one.
        size: in bytes.
        writable: the bus may write it.
        least: smallest value that may be written.
        greatest: largest one.
        initial: value of a servo as delivered, or after a restart where it is in RAM.
        sign_bit: -1 for two's complement, None for unsigned, else the bit that says
            "negative" beside a magnitude.
    """

    address: int
    size: int
    writable: bool
    least: int
    greatest: int
    initial: int
    sign_bit: int | None = None

    def decode(self, data: bytes) -> int:
        """Return the value in `size` bytes."""
        value = int.from_bytes(data, "little", signed=self.sign_bit == _TWOS)
        if self.sign_bit is None or self.sign_bit == _TWOS:
            return value
        magnitude = value & ((1 << self.sign_bit) - 1)
        return -magnitude if value >> self.sign_bit & 1 else magnitude

    def encode(self, value: int) -> bytes:
        """Return a value as `size` bytes; it must fit, ranges are not looked at.

        Raises:
            OverflowError: the value does not fit.
        """
        if self.sign_bit is None or self.sign_bit == _TWOS:
            return value.to_bytes(self.size, "little", signed=self.sign_bit == _TWOS)
        if abs(value) >= 1 << self.sign_bit:
            raise OverflowError(f"{value} does not fit {self.sign_bit} bits and a sign")
        raw = abs(value) | (1 << self.sign_bit if value < 0 else 0)
        return raw.to_bytes(self.size, "little")


@dataclass(frozen=True)
class ServoModel:
    """One kind of servo.

    Attributes:
        name: as people write it.
        number: its model number on the bus.
        protocol: 2 for Dynamixel Protocol 2.0, 1 for Feetech's packets.
        eeprom_end: first address of the RAM.
        size: of the control table in bytes.
        counts_per_turn: of positions.
        load_per_count: of the present load, in `load_unit`.
        load_unit: "mA", or "%" of the stall torque.
        items: by name.
    """

    name: str
    number: int
    protocol: int
    eeprom_end: int
    size: int
    counts_per_turn: int
    load_per_count: float
    load_unit: str
    items: Mapping[str, Item]


def _dynamixel(name: str, number: int, current_ma: float, **initial: int) -> ServoModel:
    """Make an X-series model; `initial` holds what differs between them."""

    def read_only(address: int, size: int, value: int = 0, sign: int = 0) -> Item:
        return Item(address, size, False, 0, 0, value, sign or None)

    def written(address: int, size: int, least: int, greatest: int, value: int) -> Item:
        sign = _TWOS if least < 0 else None
        return Item(address, size, True, least, greatest, value, sign)

    current, volts = initial["current_limit"], initial["max_voltage"]
    items = {
        "model_number": read_only(0, 2, number),
        "firmware": read_only(6, 1, 47),
        "id": written(7, 1, 0, 252, 1),
        "baud_rate": written(8, 1, 0, 7, 1),
        "return_delay": written(9, 1, 0, 254, 250),
        "drive_mode": written(10, 1, 0, 13, 0),
        "operating_mode": written(11, 1, 0, 16, 3),
        "homing_offset": written(20, 4, -1_044_479, 1_044_479, 0),
        "moving_threshold": written(24, 4, 0, 1023, 10),
        "temperature_limit": written(31, 1, 0, 100, initial["temperature_limit"]),
        "max_voltage_limit": written(32, 2, 31, volts, volts),
        "min_voltage_limit": written(34, 2, 31, volts, initial["min_voltage"]),
        "pwm_limit": written(36, 2, 0, 885, 885),
        "current_limit": written(38, 2, 0, current, current),
        "velocity_limit": written(44, 4, 0, 2047, initial["velocity_limit"]),
        "max_position_limit": written(48, 4, 0, 4095, 4095),
        "min_position_limit": written(52, 4, 0, 4095, 0),
        "shutdown": written(63, 1, 0, 63, initial["shutdown"]),
        "torque_enable": written(64, 1, 0, 1, 0),
        "led": written(65, 1, 0, 1, 0),
        "status_return_level": written(68, 1, 0, 2, 2),
        "registered_instruction": read_only(69, 1),
        "hardware_error_status": read_only(70, 1),
        "velocity_i_gain": written(76, 2, 0, 16383, initial["velocity_i"]),
        "velocity_p_gain": written(78, 2, 0, 16383, initial["velocity_p"]),
        "position_d_gain": written(80, 2, 0, 16383, 0),
        "position_i_gain": written(82, 2, 0, 16383, 0),
        "position_p_gain": written(84, 2, 0, 16383, initial["position_p"]),
        "feedforward_2nd_gain": written(88, 2, 0, 16383, 0),
        "feedforward_1st_gain": written(90, 2, 0, 16383, 0),
        "bus_watchdog": written(98, 1, -1, 127, 0),
        "goal_pwm": written(100, 2, -885, 885, 885),
        "goal_current": written(102, 2, -current, current, current),
        "goal_velocity": written(104, 4, -2047, 2047, initial["velocity_limit"]),
        "profile_acceleration": written(108, 4, 0, _S16, 0),
        "profile_velocity": written(112, 4, 0, _S16, 0),
        "goal_position": written(116, 4, -_TURNS_256, _TURNS_256, 0),
        "realtime_tick": read_only(120, 2),
        "moving": read_only(122, 1),
        "moving_status": read_only(123, 1),
        "present_pwm": read_only(124, 2, sign=_TWOS),
        "present_current": read_only(126, 2, sign=_TWOS),
        "present_velocity": read_only(128, 4, sign=_TWOS),
        "present_position": read_only(132, 4, sign=_TWOS),
        "velocity_trajectory": read_only(136, 4, sign=_TWOS),
        "position_trajectory": read_only(140, 4, sign=_TWOS),
        "present_voltage": read_only(144, 2, initial["voltage"]),
        "present_temperature": read_only(146, 1, 25),
    }
    return ServoModel(
        name, number, 2, 64, 147, 4096, current_ma, "mA", MappingProxyType(items)
    )


def _feetech(name: str, number: int) -> ServoModel:
    def read_only(
        address: int, size: int, value: int = 0, sign_bit: int | None = None
    ) -> Item:
        return Item(address, size, False, 0, 0, value, sign_bit)

    def written(
        address: int,
        size: int,
        greatest: int,
        value: int,
        least: int = 0,
        sign_bit: int | None = None,
    ) -> Item:
        return Item(address, size, True, least, greatest, value, sign_bit)

    items = {
        "firmware": read_only(0, 1, 3),
        "firmware_minor": read_only(1, 1, 10),
        "model_number": read_only(3, 2, number),
        "id": written(5, 1, 253, 1),
        "baud_rate": written(6, 1, 7, 0),
        "return_delay": written(7, 1, 254, 0),
        "response_level": written(8, 1, 1, 1),
        "min_angle_limit": written(9, 2, 4094, 0),
        "max_angle_limit": written(11, 2, 4095, 4095),
        "max_temperature": written(13, 1, 100, 70),
        "max_voltage": written(14, 1, 254, 140),
        "min_voltage": written(15, 1, 254, 40),
        "max_torque": written(16, 2, 1000, 1000),
        "phase": written(18, 1, 254, 12),
        "unloading_condition": written(19, 1, 254, 44),
        "led_alarm": written(20, 1, 254, 47),
        "p_gain": written(21, 1, 254, 32),
        "d_gain": written(22, 1, 254, 32),
        "i_gain": written(23, 1, 254, 0),
        "startup_force": written(24, 2, 1000, 16),
        "cw_dead_zone": written(26, 1, 32, 1),
        "ccw_dead_zone": written(27, 1, 32, 1),
        "protection_current": written(28, 2, 511, 500),
        "angular_resolution": written(30, 1, 3, 1),
        "offset": written(31, 2, 2047, 0, -2047, 11),
        "mode": written(33, 1, 3, 0),
        "protective_torque": written(34, 1, 100, 20),
        "protection_time": written(35, 1, 254, 200),
        "overload_torque": written(36, 1, 100, 80),
        "torque_enable": written(40, 1, 128, 0),
        "acceleration": written(41, 1, 254, 0),
        "goal_position": written(42, 2, _S16 - 1, 0, 1 - _S16, 15),
        "goal_time": written(44, 2, 1000, 0),
        "goal_speed": written(46, 2, 3400, 0, -3400, 15),
        "torque_limit": written(48, 2, 1000, 1000),
        "lock": written(55, 1, 1, 1),
        "present_position": read_only(56, 2, 0, 15),
        "present_speed": read_only(58, 2, 0, 15),
        "present_load": read_only(60, 2, 0, 10),
        "present_voltage": read_only(62, 1, 120),
        "present_temperature": read_only(63, 1, 25),
        "async_write": read_only(64, 1),
        "status": read_only(65, 1),
        "moving": read_only(66, 1),
        "present_current": read_only(69, 2, 0, 15),
    }
    return ServoModel(name, number, 1, 40, 71, 4096, 0.1, "%", MappingProxyType(items))


SERVO_MODELS: Mapping[str, ServoModel] = MappingProxyType(
    {
        model.name: model
        for model in (
            _dynamixel(
                "xm430-w350",
                1020,
                2.69,
                temperature_limit=80,
                max_voltage=160,
                min_voltage=95,
                voltage=120,
                current_limit=1193,
                velocity_limit=350,
                shutdown=52,
                velocity_i=1920,
                velocity_p=100,
                position_p=800,
            ),
            _dynamixel(
                "xl330-m288",
                1200,
                1.0,
                temperature_limit=70,
                max_voltage=70,
                min_voltage=35,
                voltage=50,
                current_limit=1750,
                velocity_limit=445,
                shutdown=53,
                velocity_i=1600,
                velocity_p=180,
                position_p=400,
            ),
            _feetech("sts3215", 777),
        )
    }
)
"""The servos that limblink knows, by name."""
