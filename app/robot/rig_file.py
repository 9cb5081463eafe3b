"""A rig as its TOML file gives it: which bus drives which actuator of which robot.

robot = "ursula"

[[buses]]                      # one line or socket, and the devices on it
name = "arms"
rate_hz = 100.0
driver = "dynamixel"           # further keys: those of that driver
port = "/dev/ttyUSB0"

[[winches]]                    # the tendons of one limb, base to tip
limb = "grasper"
bus = "arms"
channels = [1, 2, 3, 4, 5, 6, 7, 8]
drum_radius_mm = 12.0
"""

from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from app.config.loader import Parameters, find_asset, load_toml
from app.config.robot import RobotParameters, build_robot_model, load_robot
from app.drivers.kinds import BusLine
from app.errors import ConfigError

__all__ = [
    "BusParameters",
    "ChamberLineParameters",
    "JointParameters",
    "LimbActuators",
    "LimitParameters",
    "NeutralParameters",
    "RigParameters",
    "WinchParameters",
    "load_rig",
    "rig_robot",
]

_Channels = Annotated[
    tuple[Annotated[int, Field(ge=1, le=256)], ...], Field(min_length=1)
]
_Signs = tuple[Literal[-1, 1], ...]


class BusParameters(Parameters):
    """One bus. All keys but these belong to its driver."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,15}$")]
    rate_hz: Annotated[float, Field(ge=0.5, le=1000.0)]
    """Rounds a second that are wanted; what it holds is reported."""
    line: Annotated[BusLine, Field(discriminator="driver")]

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, table: object) -> object:
        if not isinstance(table, dict) or "line" in table:
            return table
        own = {key: table[key] for key in ("name", "rate_hz") if key in table}
        rest = {key: value for key, value in table.items() if key not in own}
        return {**own, "line": rest}


class LimitParameters(Parameters):
    """The envelope of the actuators of one table, besides their range."""

    rate_mm_s: Annotated[float, Field(gt=0.0, le=5000.0)] = 200.0
    """Greatest speed of a tendon, or of a chamber's length."""
    acceleration_mm_s2: Annotated[float, Field(gt=0.0, le=1e6)] = 4000.0
    behind_mm: Annotated[float, Field(gt=0.0, le=1000.0)] = 3.0
    """An actuator that stays farther behind what is asked for 1.5 s is stuck: the limb
    gives way."""
    load: Annotated[float, Field(gt=0.0)] | None = None
    """Greatest load in the channel's load unit: beyond it the limb gives way."""
    temperature_c: Annotated[float, Field(gt=0.0, le=150.0)] = 70.0
    """Beyond it the limb gives way."""


class _Actuators(Parameters):
    """Channels of a bus that drive one part of the robot."""

    bus: str
    channels: _Channels
    """Numbers on the bus, from 1, in the order of the part's actuators."""
    sign: _Signs = ()
    """Of each channel; +1 where left out."""
    zero: tuple[float, ...] = ()
    """Reading of each channel [its unit] with the robot at its rest posture, of a
    chamber without pressure; 0 where left out."""
    limits: LimitParameters = LimitParameters()

    @property
    def signs(self) -> tuple[int, ...]:
        """Sign of each channel."""
        return self.sign or (1,) * len(self.channels)

    @property
    def zeros(self) -> tuple[float, ...]:
        """Zero of each channel [its unit]."""
        return self.zero or (0.0,) * len(self.channels)

    @model_validator(mode="after")
    def _as_many(self) -> Self:
        count = len(self.channels)
        for key in ("sign", "zero"):
            given = len(getattr(self, key))
            if given not in {0, count}:
                raise ValueError(f"{key} has {given} values for {count} channels")
        if len(set(self.channels)) != count:
            raise ValueError("channels names one twice")
        return self


class LimbActuators(_Actuators):
    """What drives the tendons or chambers of a limb, segment by segment."""

    limb: str
    open_loop: bool = False
    """The devices measure nothing: what was sent stands for what is measured."""


class WinchParameters(LimbActuators):
    """Servos with drums for the tendons of a limb."""

    drum_radius_mm: Annotated[float, Field(gt=0.1, le=500.0)]
    load_n_per_unit: Annotated[float, Field(ge=0.0)] = 0.0
    """Tension by the channel's load; 0: not measured."""


class ChamberLineParameters(LimbActuators):
    """Valves for the chambers of a limb; `zero` is the reading without pressure."""

    unit_per_kpa: Annotated[float, Field(gt=0.0)] = 1.0
    """Channel units a kilopascal, such as 100 for a 0-10 V valve of 0-100 kPa."""
    calibration: tuple[str, ...] = ()
    """Pressure-length files of `limblink calibrate`, one for all chambers or one each;
    none: straight from least to greatest length over the chamber's pressures."""

    @model_validator(mode="after")
    def _has_no_sign(self) -> Self:
        if self.sign:
            raise ValueError("a chamber has no sign: it only fills. Leave sign out")
        return self


class JointParameters(_Actuators):
    """Servos of the three joints of a leg; they hold its stance."""

    leg: str
    rate_deg_s: Annotated[float, Field(gt=0.0, le=1000.0)] = 60.0


class NeutralParameters(_Actuators):
    """What nothing commands yet (a vehicle's axes, a gripper): kept at its `zero`."""


class RigParameters(Parameters):
    """A whole rig."""

    robot: str
    """A shipped robot or the path of a file, from the rig file's folder."""
    title: str = ""
    stale_ms: Annotated[float, Field(ge=20.0, le=10_000.0)] = 200.0
    """A bus holds when nothing new was asked of it for so long."""
    buses: Annotated[tuple[BusParameters, ...], Field(min_length=1)]
    winches: tuple[WinchParameters, ...] = ()
    chambers: tuple[ChamberLineParameters, ...] = ()
    joints: tuple[JointParameters, ...] = ()
    neutral: tuple[NeutralParameters, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [bus.name for bus in self.buses]
        if len(set(names)) != len(names):
            raise ValueError(f"two buses share a name: {names}")
        taken: set[tuple[str, int]] = set()
        for part in self.parts:
            if part.bus not in names:
                raise ValueError(f"bus {part.bus!r} is none of {names}")
            for channel in part.channels:
                if (part.bus, channel) in taken:
                    raise ValueError(
                        f"channel {channel} of bus {part.bus!r} has two actuators"
                    )
                taken.add((part.bus, channel))
        return self

    @property
    def parts(self) -> tuple[_Actuators, ...]:
        """All tables of actuators."""
        return (*self.winches, *self.chambers, *self.joints, *self.neutral)


def rig_robot(name: str) -> str:
    """Return the name or path of a rig's robot.

    Raises:
        ConfigError: no such rig, or its file is wrong.
    """
    path = find_asset("rigs", name)
    return _robot_of(load_toml(path, RigParameters), path)


def _robot_of(rig: RigParameters, path: Path) -> str:
    own = path.parent / rig.robot
    return str(own) if own.is_file() else rig.robot


def load_rig(name: str) -> tuple[RigParameters, RobotParameters]:
    """Load a shipped rig by name, or a file of the user's own, and its robot.

    Raises:
        ConfigError: no such rig, its file is wrong, or it does not fit its robot.
    """
    path = find_asset("rigs", name)
    rig = load_toml(path, RigParameters)
    robot = load_robot(_robot_of(rig, path))
    _check(rig, robot, path)
    return rig, robot


def _check(rig: RigParameters, robot: RobotParameters, path: Path) -> None:
    """Refuse a rig whose limbs and legs are not the robot's.

    Raises:
        ConfigError: names the table, what is wrong and what is right.
    """
    model = build_robot_model(robot)
    spans = list(pairwise(int(t) for t in model.limb_tendon_start))
    needed = {
        limb.name: (limb.actuation, last - first)
        for limb, (first, last) in zip(robot.limbs, spans, strict=True)
    }
    given: dict[str, int] = {}
    limb_parts: tuple[LimbActuators, ...] = (*rig.winches, *rig.chambers)
    for part in limb_parts:
        table = "winches" if isinstance(part, WinchParameters) else "chambers"
        wanted = "tendons" if table == "winches" else "chambers"
        if part.limb not in needed:
            raise ConfigError(
                f"{path}: [[{table}]] limb = {part.limb!r}: {robot.name} has "
                f"{', '.join(needed)}."
            )
        actuation, _ = needed[part.limb]
        if actuation != wanted:
            raise ConfigError(
                f"{path}: limb {part.limb!r} is driven by {actuation}: describe it in "
                f"[[{'winches' if actuation == 'tendons' else 'chambers'}]]."
            )
        given[part.limb] = given.get(part.limb, 0) + len(part.channels)
    for name, (actuation, count) in needed.items():
        if given.get(name, 0) != count:
            table = "winches" if actuation == "tendons" else "chambers"
            raise ConfigError(
                f"{path}: limb {name!r} has {count} {actuation}, from base to tip, and "
                f"{given.get(name, 0)} channels in its tables [[{table}]]: name them "
                "all, in that order."
            )
    limb_buses = {part.bus for part in limb_parts}
    legs = {leg.name for leg in robot.legs}
    for joint in rig.joints:
        if joint.leg not in legs or len(joint.channels) != 3:
            raise ConfigError(
                f"{path}: [[joints]] leg = {joint.leg!r} with {len(joint.channels)} "
                f"channels: give one of {', '.join(sorted(legs)) or 'no legs'}, and 3."
            )
        if joint.bus in limb_buses:
            raise ConfigError(
                f"{path}: bus {joint.bus!r} drives limbs and leg {joint.leg!r}: what "
                "gives way on it gives way as a whole. Put legs on a bus of their own."
            )
