"""A Modbus bus as a rig's TOML file describes it.

[[buses]]
driver = "modbus"
port = "/dev/ttyUSB0"        # or host = "192.168.1.10"
[[buses.devices]]
number = 1
profile = "waveshare-ao8b"
full_scale_kpa = 100.0       # of the valve behind the output
[[buses.actuators]]
name = "chamber 1"
device = 1
outlet = 1
range_kpa = [0.0, 60.0]
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from app.config.loader import Parameters
from app.drivers.base import Channel
from app.drivers.modbus import ModbusDevice, ModbusDriver, ModbusOutlet
from app.drivers.modbus_bus import RtuLine, TcpLine
from app.drivers.modbus_profile import LineParameters, ModbusProfile, load_profile
from app.errors import ConfigError, DeviceError

__all__ = [
    "ModbusActuatorParameters",
    "ModbusDeviceParameters",
    "ModbusParameters",
    "build_modbus",
    "device_outlets",
]


class ModbusDeviceParameters(Parameters):
    """One device of the line."""

    number: Annotated[int, Field(ge=0, le=255)] = 1
    """Its device (unit) number; a serial device's is 1 to 247."""
    profile: str
    """A shipped register map, or the path of one."""
    full_scale_kpa: Annotated[float, Field(gt=0.0, le=10_000.0)] | None = None
    """Full scale of the valve, where it decides that; makes the unit kPa."""
    watchdog_s: Annotated[float, Field(gt=0.0, le=60.0)] | None = None
    """Silence after which the device vents by itself, where it has a register."""


class ModbusActuatorParameters(Parameters):
    """One outlet: a valve or an analog output."""

    name: str = ""
    device: Annotated[int, Field(ge=0, le=255)] = 1
    """Number of its device."""
    outlet: Annotated[int, Field(ge=1, le=128)]
    """As printed on the device, from 1."""
    range_kpa: tuple[float, float] | None = None
    range_mv: tuple[float, float] | None = None
    relax_kpa: float | None = None
    relax_mv: float | None = None

    @model_validator(mode="after")
    def _one_range(self) -> Self:
        if (self.range_kpa is None) == (self.range_mv is None):
            raise ValueError("give range_kpa or range_mv, and not both")
        if self.range_kpa is not None and self.relax_mv is not None:
            raise ValueError("relax_mv with range_kpa: use relax_kpa")
        if self.range_mv is not None and self.relax_kpa is not None:
            raise ValueError("relax_kpa with range_mv: use relax_mv")
        least, greatest = self.range
        if not least < greatest:
            raise ValueError(
                f"range [{least:g}, {greatest:g}] must be [least, greatest]"
            )
        if not least <= self.relax <= greatest:
            raise ValueError(f"relax {self.relax:g} lies outside the range")
        return self

    @property
    def unit(self) -> str:
        """Unit of the actuator: "kPa" or "mV"."""
        return "kPa" if self.range_kpa is not None else "mV"

    @property
    def range(self) -> tuple[float, float]:
        """Least and greatest setpoint [unit]."""
        return self.range_kpa or self.range_mv or (0.0, 0.0)

    @property
    def relax(self) -> float:
        """What gives way [unit]: the least where nothing is said."""
        said = self.relax_kpa if self.range_kpa is not None else self.relax_mv
        return self.range[0] if said is None else said


class ModbusParameters(Parameters):
    """A line, its devices and the actuators on them."""

    driver: Literal["modbus"] = "modbus"
    port: str | None = None
    """Serial port (RTU)."""
    host: str | None = None
    """Address or name of a Modbus TCP server."""
    tcp_port: Annotated[int, Field(ge=1, le=65_535)] = 502
    line: LineParameters | None = None
    """Of the serial port; left out: as the first device's profile says."""
    timeout_s: Annotated[float, Field(ge=0.001, le=10.0)] = 0.1
    devices: Annotated[tuple[ModbusDeviceParameters, ...], Field(min_length=1)]
    actuators: Annotated[tuple[ModbusActuatorParameters, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.port is None) == (self.host is None):
            raise ValueError("give port (RTU) or host (TCP), and not both")
        numbers = [device.number for device in self.devices]
        if len(set(numbers)) != len(numbers):
            raise ValueError(f"device numbers {numbers}: each may stand once")
        for actuator in self.actuators:
            if actuator.device not in numbers:
                raise ValueError(
                    f"actuator at device {actuator.device}: devices are {numbers}"
                )
        return self


def device_outlets(
    parameters: ModbusParameters,
) -> tuple[list[ModbusProfile], list[ModbusOutlet]]:
    """Load the profiles of all devices and find every actuator's outlet.

    Raises:
        ConfigError: a profile that is not there or does not fit the line, or a unit or
            outlet that does not fit the profile.
    """
    wanted = "rtu" if parameters.port is not None else "tcp"
    profiles = []
    for device in parameters.devices:
        profile = load_profile(device.profile)
        if profile.transport != wanted:
            key = "port" if profile.transport == "rtu" else "host"
            raise ConfigError(
                f"Modbus device {device.number}: {profile.title} speaks Modbus "
                f"{profile.transport.upper()}: give {key}."
            )
        if device.full_scale_kpa is not None and not profile.full_scale_set:
            raise ConfigError(
                f"Modbus device {device.number}: full scale of {profile.title} is fixed"
                f" ({profile.full_scale:g} {profile.unit}): leave full_scale_kpa out."
            )
        profiles.append(profile)
    numbers = [device.number for device in parameters.devices]
    outlets = []
    for actuator in parameters.actuators:
        index = numbers.index(actuator.device)
        device, profile = parameters.devices[index], profiles[index]
        unit = "kPa" if device.full_scale_kpa is not None else profile.unit
        full = device.full_scale_kpa or profile.full_scale
        where = f"Modbus device {device.number}, outlet {actuator.outlet}"
        if actuator.unit != unit:
            hint = " (or give full_scale_kpa)" if unit == "mV" else ""
            raise ConfigError(
                f"{where}: counts in {unit}: give range_{unit.lower()}{hint}."
            )
        if not (actuator.range[0] >= 0.0 and actuator.range[1] <= full):
            raise ConfigError(
                f"{where}: range {list(actuator.range)} lies outside 0 to {full:g} "
                f"{unit}."
            )
        outlets.append(ModbusOutlet(index, actuator.outlet, actuator.relax))
    return profiles, outlets


def build_modbus(
    parameters: ModbusParameters, rate_hz: float | None = None
) -> ModbusDriver:
    """Make the driver; nothing is opened.

    Args:
        parameters: of the bus.
        rate_hz: rounds that a worker wants [Hz]; None: not looked at.

    Raises:
        ConfigError: what does not fit together, or a rate that the line cannot hold;
            says which it can.
    """
    profiles, outlets = device_outlets(parameters)
    channels = tuple(
        Channel(
            actuator.name or f"outlet {actuator.device}.{actuator.outlet}",
            actuator.unit,
            *actuator.range,
        )
        for actuator in parameters.actuators
    )
    line: RtuLine | TcpLine
    if parameters.port is not None:
        wire = parameters.line or profiles[0].line
        line = RtuLine(parameters.port, wire.baud, wire.parity, wire.stop_bits)
    else:
        line = TcpLine(str(parameters.host), parameters.tcp_port)
    try:
        devices = tuple(
            ModbusDevice(d.number, profile, d.full_scale_kpa, d.watchdog_s)
            for d, profile in zip(parameters.devices, profiles, strict=True)
        )
        driver = ModbusDriver(
            line=line,
            devices=devices,
            outlets=tuple(outlets),
            channels=channels,
            timeout_s=parameters.timeout_s,
        )
    except DeviceError as error:
        raise ConfigError(str(error)) from error
    if rate_hz is not None and rate_hz * driver.wire_time_s > 1.0:
        raise ConfigError(
            f"Modbus at {parameters.port}: a round takes {driver.wire_time_s * 1e3:.1f}"
            f" ms on the wire, so that {rate_hz:g} Hz cannot be held: at most "
            f"{1.0 / driver.wire_time_s:.1f} Hz, or raise the baud rate of line and "
            "devices."
        )
    return driver
