"""A MAVLink vehicle base as a rig's TOML file describes it.

[[buses]]
driver = "mavlink"
host = "192.168.2.2"         # or listen_port = 14550, or serial = "/dev/ttyACM0"
mode = "alt_hold"
greatest_stick = [0.5, 0.5, 0.6, 0.4]   # surge, sway, heave, yaw
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from app.config.loader import Parameters
from app.drivers.base import Channel
from app.drivers.mavlink import AXES, LEAST_RATE_HZ, MavlinkDriver
from app.drivers.mavlink_port import (
    MavlinkPort,
    SerialMavlinkPort,
    UdpMavlinkPort,
)
from app.errors import ConfigError

__all__ = ["MavlinkParameters", "build_mavlink"]

_Share = Annotated[float, Field(gt=0.0, le=1.0)]
_System = Annotated[int, Field(ge=1, le=255)]


class MavlinkParameters(Parameters):
    """A vehicle and the way to it."""

    driver: Literal["mavlink"] = "mavlink"
    host: str | None = None
    """Address or name of the vehicle (UDP)."""
    udp_port: Annotated[int, Field(ge=1, le=65_535)] = 14_550
    """Its UDP port, with host."""
    listen_port: Annotated[int, Field(ge=1, le=65_535)] | None = None
    """Own UDP port at which the vehicle speaks first."""
    serial: str | None = None
    """Serial port to the autopilot."""
    baud: Annotated[int, Field(ge=9600, le=4_000_000)] = 115_200
    vehicle_system: _System = 1
    station_system: _System = 255
    signing_key: str = ""
    """Pass phrase of MAVLink 2 message signing; empty: messages are not signed."""
    mode: Literal["manual", "stabilize", "alt_hold", "poshold", "acro"] = "alt_hold"
    """Mode that it is driven in."""
    greatest_stick: Annotated[tuple[_Share, ...], Field(min_length=4, max_length=6)] = (
        1.0,
        1.0,
        1.0,
        1.0,
    )
    """Largest stick of surge, sway, heave, yaw, and pitch and roll if wanted."""
    quiet_s: Annotated[float, Field(ge=0.2, le=10.0)] = 1.5
    find_s: Annotated[float, Field(ge=0.1, le=60.0)] = 3.0
    timeout_s: Annotated[float, Field(ge=0.01, le=2.0)] = 0.2
    set_failsafes: bool = False
    """Set FS_PILOT_INPUT and FS_GCS_ENABLE to disarm where they are not."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        ways = [self.host, self.listen_port, self.serial]
        if sum(way is not None for way in ways) != 1:
            raise ValueError("give one of host, listen_port and serial")
        if self.vehicle_system == self.station_system:
            raise ValueError("vehicle_system and station_system must differ")
        return self


def build_mavlink(
    parameters: MavlinkParameters, rate_hz: float | None = None
) -> MavlinkDriver:
    """Make the driver; nothing is opened.

    Args:
        parameters: of the vehicle.
        rate_hz: rounds that a worker wants [Hz]; None: not looked at.

    Raises:
        ConfigError: a rate that is too low for the vehicle's pilot-input failsafe.
    """
    if rate_hz is not None and rate_hz < LEAST_RATE_HZ:
        raise ConfigError(
            f"MAVLink base: {rate_hz:g} Hz is too slow; sticks must be sent at "
            f"{LEAST_RATE_HZ:g} Hz or more."
        )
    port: MavlinkPort
    if parameters.serial is not None:
        port = SerialMavlinkPort(parameters.serial, parameters.baud)
    elif parameters.listen_port is not None:
        port = UdpMavlinkPort("", parameters.listen_port, listen=True)
    else:
        port = UdpMavlinkPort(str(parameters.host), parameters.udp_port)
    return MavlinkDriver(
        port=port,
        channels=tuple(
            Channel(name, "stick", -greatest, greatest)
            for name, greatest in zip(AXES, parameters.greatest_stick, strict=False)
        ),
        mode=parameters.mode,
        vehicle_system=parameters.vehicle_system,
        station_system=parameters.station_system,
        key=parameters.signing_key,
        quiet_s=parameters.quiet_s,
        find_s=parameters.find_s,
        timeout_s=parameters.timeout_s,
        set_failsafes=parameters.set_failsafes,
    )
