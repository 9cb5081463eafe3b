"""How a game controller's sticks and buttons become wishes, as a person may set it.

Buttons and axes bear SDL's standard names, which mean the same place on any pad: "a"
is the lower face button whatever is printed on it. Stick axes here run right and up
positive (SDL's own run down positive; `app.operator.sdl` turns them).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import platformdirs
from pydantic import Field, field_validator, model_validator

from app.config.loader import Parameters, load_toml

__all__ = [
    "BUTTONS",
    "GamepadMapping",
    "PadReading",
    "load_gamepad_mapping",
    "operator_config_folder",
    "shape_stick",
]

BUTTONS = (
    "a",
    "b",
    "x",
    "y",
    "back",
    "guide",
    "start",
    "leftstick",
    "rightstick",
    "leftshoulder",
    "rightshoulder",
    "dpup",
    "dpdown",
    "dpleft",
    "dpright",
    "misc1",
    "paddle1",
    "paddle2",
    "paddle3",
    "paddle4",
    "touchpad",
    "lefttrigger",
    "righttrigger",
)
"""Every name a binding may use, SDL's; a trigger counts as pressed past half way."""

_PRINTED = {
    "back": "BACK (View, Share)",
    "guide": "GUIDE (the logo)",
    "start": "START (Menu, Options)",
    "leftstick": "left stick pressed",
    "rightstick": "right stick pressed",
    "leftshoulder": "LB (L1)",
    "rightshoulder": "RB (R1)",
    "lefttrigger": "LT (L2)",
    "righttrigger": "RT (R2)",
    "dpup": "D-pad up",
    "dpdown": "D-pad down",
    "dpleft": "D-pad left",
    "dpright": "D-pad right",
}
_STICK_SHOWN = {
    "leftx": "left stick right",
    "-leftx": "left stick left",
    "lefty": "left stick up",
    "-lefty": "left stick down",
    "rightx": "right stick right",
    "-rightx": "right stick left",
    "righty": "right stick up",
    "-righty": "right stick down",
}

_Axis = Literal[
    "leftx", "-leftx", "lefty", "-lefty", "rightx", "-rightx", "righty", "-righty"
]
_Bindings = tuple[str, ...]


@dataclass(frozen=True)
class PadReading:
    """One reading of a game controller.

    Attributes:
        left: left stick (right, up), each -1..1.
        right: right stick (right, up), each -1..1.
        triggers: left and right trigger, each 0..1.
        buttons: names of `BUTTONS` that are down.
    """

    left: tuple[float, float] = (0.0, 0.0)
    right: tuple[float, float] = (0.0, 0.0)
    triggers: tuple[float, float] = (0.0, 0.0)
    buttons: frozenset[str] = frozenset()


class StickParameters(Parameters):
    """The feel of the sticks."""

    deadband: Annotated[float, Field(ge=0.0, le=0.5)] = 0.1
    expo: Annotated[float, Field(ge=1.0, le=4.0)] = 1.7
    fine_scale: Annotated[float, Field(ge=0.05, le=1.0)] = 0.25
    frozen_after_s: Annotated[float, Field(ge=0.0, le=60.0)] = 5.0


class AxisParameters(Parameters):
    """Which stick direction moves the tip along which axis of the hull."""

    bow: _Axis = "lefty"
    port: _Axis = "-leftx"
    up: _Axis = "righty"
    fine: Literal["lefttrigger", "righttrigger", "none"] = "lefttrigger"

    @model_validator(mode="after")
    def _distinct(self) -> "AxisParameters":
        if len({axis.lstrip("-") for axis in (self.bow, self.port, self.up)}) < 3:
            raise ValueError("bow, port and up need three different stick axes")
        return self


class ButtonParameters(Parameters):
    """Which buttons do what; each action takes alternatives, "a+b" is both at once."""

    deadman: _Bindings = ("rightshoulder",)
    clutch: _Bindings = ("leftshoulder",)
    next_limb: _Bindings = ("a",)
    previous_limb: _Bindings = ("b",)
    arm: _Bindings = ("start",)
    disarm: _Bindings = ("back",)
    estop: _Bindings = ("guide", "leftstick+rightstick")
    estop_reset: _Bindings = ("y",)

    @field_validator("*")
    @classmethod
    def _known(cls, bindings: _Bindings) -> _Bindings:
        for binding in bindings:
            for button in binding.split("+"):
                if button not in BUTTONS:
                    raise ValueError(
                        f"no button {button!r}; known: {', '.join(BUTTONS)}; "
                        'join two with "+" for both at once'
                    )
        return bindings

    @model_validator(mode="after")
    def _complete(self) -> "ButtonParameters":
        for action in ("deadman", "estop"):
            if not getattr(self, action):
                raise ValueError(f"{action} needs at least one button")
        seen: dict[frozenset[str], str] = {}
        for action in type(self).model_fields:
            for binding in getattr(self, action):
                chord = frozenset(binding.split("+"))
                if chord in seen:
                    raise ValueError(
                        f"{binding!r} is bound to {seen[chord]} and to {action}; "
                        "give each its own"
                    )
                seen[chord] = action
        return self


class GamepadMapping(Parameters):
    """Everything that a person may change about the game controller."""

    stick: StickParameters = StickParameters()
    axes: AxisParameters = AxisParameters()
    buttons: ButtonParameters = ButtonParameters()

    @model_validator(mode="after")
    def _one_use_a_trigger(self) -> "GamepadMapping":
        for action in ButtonParameters.model_fields:
            bound = "+".join(getattr(self.buttons, action)).split("+")
            if self.axes.fine in bound:
                raise ValueError(
                    f"{self.axes.fine} is bound to {action} and scales the speed as "
                    'well; set axes.fine to the other trigger or to "none"'
                )
        return self

    def rate(self, reading: PadReading) -> tuple[float, float, float]:
        """Turn the sticks into a wanted tip velocity.

        Args:
            reading: sticks and triggers as they stand; one trigger makes it finer.

        Returns:
            Velocity over the tip speed limit along bow, port and up, each -1..1.
        """
        left = shape_stick(reading.left, self.stick.deadband, self.stick.expo)
        right = shape_stick(reading.right, self.stick.deadband, self.stick.expo)
        value = {
            "leftx": left[0],
            "lefty": left[1],
            "rightx": right[0],
            "righty": right[1],
        }
        pull = {"lefttrigger": 0, "righttrigger": 1}.get(self.axes.fine)
        fine = 1.0
        if pull is not None:
            fine -= (1.0 - self.stick.fine_scale) * reading.triggers[pull]

        def along(axis: str) -> float:
            deflection = fine * value[axis.lstrip("-")]
            return 0.0 - deflection if axis.startswith("-") else deflection

        return along(self.axes.bow), along(self.axes.port), along(self.axes.up)

    def holds(self, action: str, buttons: frozenset[str]) -> bool:
        """Whether the buttons of an action (a field of `ButtonParameters`) are down."""
        bindings: Iterable[str] = getattr(self.buttons, action)
        return any(buttons.issuperset(binding.split("+")) for binding in bindings)

    def describe(self) -> list[tuple[str, str]]:
        """Return (what to press, what it does) rows for a help panel."""
        axes = self.axes
        rows = [
            (_STICK_SHOWN[axes.bow], "tip toward the bow"),
            (_STICK_SHOWN[axes.port], "tip to port"),
            (_STICK_SHOWN[axes.up], "tip up"),
        ]
        if axes.fine != "none":
            scale = f"{self.stick.fine_scale:.0%}"
            rows.append((_PRINTED[axes.fine], f"finer, down to {scale} speed"))
        for action, effect in (
            ("deadman", "deadman: hold it to move"),
            ("clutch", "clutch: held, the target stays"),
            ("next_limb", "next limb"),
            ("previous_limb", "previous limb"),
            ("arm", "arm (deadman released)"),
            ("disarm", "disarm"),
            ("estop", "EMERGENCY STOP"),
            ("estop_reset", "reset the emergency stop; arm again after it"),
        ):
            shown = [
                " + ".join(_PRINTED.get(name, name.upper()) for name in row.split("+"))
                for row in getattr(self.buttons, action)
            ]
            if shown:
                rows.append((" or ".join(shown), effect))
        return rows


def shape_stick(
    stick: tuple[float, float], deadband: float, expo: float
) -> tuple[float, float]:
    """Shape a stick radially, so that a diagonal is as quick as an axis.

    Args:
        stick: (right, up), each -1..1.
        deadband: radius that counts as centred, 0..1.
        expo: exponent of the curve; 1 is linear, more is finer near the centre.

    Returns:
        The same direction with radius ((r - deadband) / (1 - deadband)) ** expo, at
        most 1: zero in the deadband and continuous at its edge.
    """
    right, up = stick
    radius = (right * right + up * up) ** 0.5
    if radius <= deadband:
        return 0.0, 0.0
    shaped = min(1.0, (radius - deadband) / (1.0 - deadband)) ** expo
    return right / radius * shaped, up / radius * shaped


def operator_config_folder() -> Path:
    """Name the folder of a person's own gamepad.toml and gamecontrollerdb.txt."""
    return Path(platformdirs.user_config_dir("limblink"))


def load_gamepad_mapping(path: Path | None = None) -> GamepadMapping:
    """Load a mapping from TOML.

    Args:
        path: a file; None takes gamepad.toml of the config folder where there is one,
            and the shipped mapping where there is none.

    Raises:
        ConfigError: the file is wrong; names file, line, key and cure.
    """
    if path is None:
        path = operator_config_folder() / "gamepad.toml"
        if not path.is_file():
            return GamepadMapping()
    return load_toml(path, GamepadMapping)
