"""Servo buses as a rig's TOML file holds them, and how they are built.

[[buses]]
driver = "dynamixel"            # or "feetech"
port = "/dev/ttyUSB0"
watchdog_ms = 200

[[buses.servos]]
id = 1
model = "xm430-w350"
least_rad = -12.0               # multi-turn; 0 is the servo's own zero
greatest_rad = 12.0
current_limit_ma = 400.0        # tension limit
relaxed_current_ma = 30.0       # at RELAX
"""

import math
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from app.config.loader import Parameters
from app.drivers.base import Channel
from app.drivers.dynamixel import DynamixelDriver
from app.drivers.feetech import FeetechDriver
from app.drivers.servo_items import ServoSettings
from app.drivers.servo_table import SERVO_MODELS
from app.drivers.virtual.base import VirtualActuators
from app.drivers.virtual.carrier import PtyCarrier
from app.drivers.virtual.dynamixel import VirtualDynamixelBus
from app.drivers.virtual.feetech import VirtualFeetechBus

__all__ = [
    "DynamixelParameters",
    "DynamixelServo",
    "FeetechParameters",
    "FeetechServo",
    "build_dynamixel",
    "build_feetech",
    "virtual_dynamixel",
    "virtual_feetech",
]

_TURNS_256_RAD = 1_048_575 / 4096 * 2.0 * math.pi
_LEAST_RANGE_RAD = 0.01


class _Servo(Parameters):
    """What the servos of both makers share."""

    name: str = ""
    """What people call it; "servo <id>" where empty."""
    least_rad: float
    greatest_rad: float

    @model_validator(mode="after")
    def _has_a_range(self) -> Self:
        if not self.greatest_rad - self.least_rad >= _LEAST_RANGE_RAD:
            raise ValueError(
                f"greatest_rad must lie at least {_LEAST_RANGE_RAD} above least_rad"
            )
        return self

    def channel(self, servo: int, load_unit: str) -> Channel:
        """Describe it as a channel of its bus."""
        name = self.name or f"servo {servo}"
        return Channel(name, "rad", self.least_rad, self.greatest_rad, load_unit)


class DynamixelServo(_Servo):
    """One Dynamixel."""

    id: Annotated[int, Field(ge=0, le=252)]
    model: Literal["xm430-w350", "xl330-m288"]
    least_rad: Annotated[float, Field(ge=-_TURNS_256_RAD)]
    greatest_rad: Annotated[float, Field(le=_TURNS_256_RAD)]
    current_limit_ma: Annotated[float, Field(gt=0.0)]
    """Goal current while it follows and holds: the tension limit."""
    relaxed_current_ma: Annotated[float, Field(ge=0.0)] = 30.0
    """Goal current while it gives way."""

    @model_validator(mode="after")
    def _can_pull_so(self) -> Self:
        model = SERVO_MODELS[self.model]
        greatest = model.items["goal_current"].greatest * model.load_per_count
        if self.current_limit_ma > greatest:
            raise ValueError(
                f"current_limit_ma of servo {self.id} is {self.current_limit_ma:g}; "
                f"{self.model} allows up to {greatest:.0f}"
            )
        if self.relaxed_current_ma >= self.current_limit_ma:
            raise ValueError("relaxed_current_ma must be below current_limit_ma")
        return self


class FeetechServo(_Servo):
    """One Feetech STS."""

    id: Annotated[int, Field(ge=0, le=253)]
    model: Literal["sts3215"] = "sts3215"
    least_rad: Annotated[float, Field(ge=0.0)]
    greatest_rad: Annotated[float, Field(le=2.0 * math.pi * 4095 / 4096)]
    torque_limit_percent: Annotated[float, Field(gt=0.0, le=100.0)]
    """Of the stall torque, while it follows and holds."""
    relaxed_torque_percent: Annotated[float, Field(ge=0.0)] = 5.0
    """Of the stall torque, while it gives way."""

    @model_validator(mode="after")
    def _relaxes(self) -> Self:
        if self.relaxed_torque_percent >= self.torque_limit_percent:
            raise ValueError("relaxed_torque_percent must be below the torque limit")
        return self


class _Bus(Parameters):
    """What the buses of both makers share."""

    port: str
    """Path of the serial port."""
    baud_rate: Annotated[int, Field(ge=9600, le=4_500_000)] = 1_000_000
    timeout_ms: Annotated[float, Field(ge=1.0, le=10_000.0)] = 20.0
    """Longest wait for one answer."""
    start_incomplete: bool = False
    """Open although some servos do not answer."""


def _need_own_ids(ids: list[int]) -> None:
    twice = sorted({one for one in ids if ids.count(one) > 1})
    if twice:
        raise ValueError(f"each servo needs its own id; twice: {twice}")


class DynamixelParameters(_Bus):
    """A bus of Dynamixel servos."""

    driver: Literal["dynamixel"]
    watchdog_ms: Annotated[float, Field(ge=20.0, le=2540.0)] = 200.0
    """Silence after which a servo stops by itself; rounded to 20 ms."""
    servos: Annotated[tuple[DynamixelServo, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        _need_own_ids([servo.id for servo in self.servos])
        if self.watchdog_ms < 3.0 * self.timeout_ms:
            raise ValueError(
                f"watchdog_ms = {self.watchdog_ms:g} must be at least three times "
                f"timeout_ms = {self.timeout_ms:g}: a silent servo must not stop the "
                "others"
            )
        return self


class FeetechParameters(_Bus):
    """A bus of Feetech STS servos."""

    driver: Literal["feetech"]
    servos: Annotated[tuple[FeetechServo, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _has_own_ids(self) -> Self:
        _need_own_ids([servo.id for servo in self.servos])
        return self


def build_dynamixel(parameters: DynamixelParameters) -> DynamixelDriver:
    """Build the driver; nothing is opened."""
    return DynamixelDriver(
        tuple(servo.channel(servo.id, "mA") for servo in parameters.servos),
        tuple(
            ServoSettings(
                servo.id,
                SERVO_MODELS[servo.model],
                servo.current_limit_ma,
                servo.relaxed_current_ma,
            )
            for servo in parameters.servos
        ),
        port=parameters.port,
        baud_rate=parameters.baud_rate,
        timeout_s=parameters.timeout_ms * 1e-3,
        watchdog_s=parameters.watchdog_ms * 1e-3,
        start_incomplete=parameters.start_incomplete,
    )


def build_feetech(parameters: FeetechParameters) -> FeetechDriver:
    """Build the driver; nothing is opened."""
    return FeetechDriver(
        tuple(servo.channel(servo.id, "%") for servo in parameters.servos),
        tuple(
            ServoSettings(
                servo.id,
                SERVO_MODELS[servo.model],
                servo.torque_limit_percent,
                servo.relaxed_torque_percent,
            )
            for servo in parameters.servos
        ),
        port=parameters.port,
        baud_rate=parameters.baud_rate,
        timeout_s=parameters.timeout_ms * 1e-3,
        start_incomplete=parameters.start_incomplete,
    )


def virtual_dynamixel(
    parameters: DynamixelParameters,
) -> tuple[PtyCarrier, DynamixelParameters]:
    """Serve a virtual bus for these very parameters, at rest in mid-range.

    Returns:
        The carrier, whose `device` is the bus, and parameters that point at it.
    """
    device = VirtualDynamixelBus(
        {servo.id: SERVO_MODELS[servo.model] for servo in parameters.servos},
        VirtualActuators(_middles(parameters.servos)),
        relaxed_ma=max(servo.relaxed_current_ma for servo in parameters.servos),
    )
    carrier = PtyCarrier(device)
    return carrier, parameters.model_copy(update={"port": carrier.path})


def virtual_feetech(
    parameters: FeetechParameters,
) -> tuple[PtyCarrier, FeetechParameters]:
    """Serve a virtual bus for these very parameters, at rest in mid-range.

    Returns:
        The carrier, whose `device` is the bus, and parameters that point at it.
    """
    device = VirtualFeetechBus(
        {servo.id: SERVO_MODELS[servo.model] for servo in parameters.servos},
        VirtualActuators(_middles(parameters.servos)),
        relaxed_percent=max(s.relaxed_torque_percent for s in parameters.servos),
    )
    carrier = PtyCarrier(device)
    return carrier, parameters.model_copy(update={"port": carrier.path})


def _middles(
    servos: tuple[DynamixelServo, ...] | tuple[FeetechServo, ...],
) -> np.ndarray:
    return np.array([0.5 * (one.least_rad + one.greatest_rad) for one in servos])
