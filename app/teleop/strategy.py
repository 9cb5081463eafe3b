"""The strategies by number, as kernels know them, and by name, as people do."""

from enum import IntEnum
from typing import get_args

from app.config.teleop import StrategyName
from app.errors import ConfigError

__all__ = ["Strategy", "WaveLoss", "strategy_named"]


class Strategy(IntEnum):
    """How the hand and the tip are joined."""

    POSITION_POSITION = 0
    POSITION_FORCE = 1
    WAVES = 2
    TWO_PORT = 3
    MODEL_MEDIATED = 4
    PREDICTIVE = 5
    MOVE_AND_WAIT = 6
    SUPERVISED = 7

    @property
    def short(self) -> StrategyName:
        """The name in files and on the command line."""
        name: StrategyName = get_args(StrategyName)[int(self)]
        return name

    @property
    def title(self) -> str:
        """The name for people."""
        return _TITLES[int(self)]

    @property
    def feels(self) -> bool:
        """Whether the hand is shown a force."""
        return self <= Strategy.MODEL_MEDIATED

    @property
    def bilateral(self) -> bool:
        """Whether the force comes from the robot, over the link, tick by tick."""
        return self <= Strategy.TWO_PORT


_TITLES = (
    "Position-position",
    "Position-force",
    "Wave variables",
    "Two-port passivity (TDPA)",
    "Model-mediated",
    "Predictive display",
    "Move and wait",
    "Supervised goals",
)


class WaveLoss(IntEnum):
    """What is made of waves that are missing."""

    NULL = 0
    HOLD = 1
    INTEGRAL = 2


def strategy_named(name: str) -> Strategy:
    """Return a strategy by its short name ("two-port").

    Raises:
        ConfigError: there is none of that name; the message lists them.
    """
    for item in Strategy:
        if item.short == name:
            return item
    known = ", ".join(item.short for item in Strategy)
    raise ConfigError(f"No strategy {name!r}. There are: {known}.")
