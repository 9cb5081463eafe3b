"""Which haptic device, and how it moves the tip: what a person may set in haptic.toml.

device = "inverse3"            # inverse3, force-dimension, spacemouse
scale = 2.5                    # movement of the tip for that of the hand
force_limit_n = 3.3
"""

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import platformdirs
from pydantic import Field, model_validator

from app.config.loader import Parameters, load_toml
from app.operator.haptic.base import HapticFacts
from app.operator.haptic.force_dimension import FORCE_DIMENSION_FACTS
from app.operator.haptic.inverse3 import INVERSE3_FACTS, INVERSE3_URL
from app.operator.haptic.mapping import MappingModel
from app.operator.haptic.rendering import RenderModel
from app.operator.haptic.spacemouse import SPACEMOUSE_FACTS

__all__ = ["FACTS", "HapticParameters", "load_haptic", "mapping_model", "render_model"]

FACTS: dict[str, HapticFacts] = {
    "inverse3": INVERSE3_FACTS,
    "force-dimension": FORCE_DIMENSION_FACTS,
    "spacemouse": SPACEMOUSE_FACTS,
}

_Axis = Literal["+x", "-x", "+y", "-y", "+z", "-z"]


class HapticParameters(Parameters):
    """Everything that a person may change about the haptic device.

    `axes` are the device's axes that move the tip to the bow, to port and up, empty for
    those of somebody who looks to the bow. Greater forces than `force_limit_n`, and
    faster changes than `slew_n_s`, are never rendered.
    """

    device: Literal["inverse3", "force-dimension", "spacemouse"] = "inverse3"
    url: str = INVERSE3_URL
    device_id: str = ""
    library: str = ""
    node: str = ""
    scale: Annotated[float, Field(ge=0.1, le=20.0)] = 2.5
    force_scale: Annotated[float, Field(ge=0.0, le=10.0)] = 1.0
    force_limit_n: Annotated[float, Field(gt=0.0, le=12.0)] = 3.3
    slew_n_s: Annotated[float, Field(ge=10.0, le=5000.0)] = 1000.0
    axes: tuple[_Axis, _Axis, _Axis] | None = None
    edge: Annotated[float, Field(gt=0.2, le=1.0)] = 0.85
    deadman: tuple[str, ...] = ()
    clutch: tuple[str, ...] = ()
    grip: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _fits_the_device(self) -> "HapticParameters":
        facts = FACTS[self.device]
        for action in ("deadman", "clutch", "grip"):
            for button in getattr(self, action):
                if button not in facts.buttons:
                    raise ValueError(
                        f"{action}: {facts.name} has no button {button!r}; it has "
                        f"{', '.join(facts.buttons)}"
                    )
        named = (*self.deadman, *self.clutch, *self.grip)
        if len(set(named)) < len(named):
            raise ValueError("deadman, clutch and grip need different buttons")
        if self.axes is not None and len({axis[1] for axis in self.axes}) < 3:
            raise ValueError("axes: bow, port and up need three different axes")
        return self

    @property
    def facts(self) -> HapticFacts:
        """What is known of the device."""
        return FACTS[self.device]


def load_haptic(path: Path | None = None) -> HapticParameters:
    """Load from TOML.

    Args:
        path: a file; None takes haptic.toml of the config folder where there is one,
            and an Inverse3 as it comes where there is none.

    Raises:
        ConfigError: the file is wrong; names file, line, key and cure.
    """
    if path is None:
        path = Path(platformdirs.user_config_dir("limblink")) / "haptic.toml"
        if not path.is_file():
            return HapticParameters()
    return load_toml(path, HapticParameters)


def render_model(parameters: HapticParameters) -> RenderModel:
    """Bounds of the force."""
    return RenderModel(
        force_limit=min(parameters.force_limit_n, parameters.facts.greatest_force),
        slew_limit=parameters.slew_n_s,
    )


def mapping_model(parameters: HapticParameters) -> MappingModel:
    """Scale, turn, buttons: unset, first, second, third: deadman, clutch, grip."""
    facts = parameters.facts
    rotation = np.zeros((3, 3))
    for row, axis in enumerate(parameters.axes or facts.axes):
        rotation[row, "xyz".index(axis[1])] = 1.0 if axis[0] == "+" else -1.0
    deadman = parameters.deadman or facts.buttons[:1]
    clutch = parameters.clutch or facts.buttons[1:2]
    grip = parameters.grip or facts.buttons[2:3]
    return MappingModel(
        scale=parameters.scale,
        force_scale=parameters.force_scale,
        rotation_device_to_hull=rotation,
        centre=np.array(facts.centre),
        reach=facts.reach,
        edge=parameters.edge,
        deadman=_bits(facts, deadman),
        clutch=_bits(facts, clutch, deadman),
        grip=_bits(facts, grip, deadman + clutch),
    )


def _bits(
    facts: HapticFacts, names: tuple[str, ...], taken: tuple[str, ...] = ()
) -> int:
    return sum(1 << facts.buttons.index(name) for name in names if name not in taken)
