"""A robot's TOML file: finding it, loading it, and what it can be used for."""

from app.config.limbs import LimbParameters
from app.config.loader import asset_names, find_asset, load_toml
from app.config.robot_model import build_robot_model
from app.config.robot_parameters import RobotParameters, SafetyParameters
from app.errors import ConfigError

__all__ = [
    "LimbParameters",
    "RobotParameters",
    "SafetyParameters",
    "build_robot_model",
    "check_drivable",
    "load_robot",
    "robot_names",
    "why_not_drivable",
]


def robot_names() -> list[str]:
    """Return the names of the shipped robots, those that can be driven first."""
    return sorted(
        asset_names("robots"),
        key=lambda name: (bool(why_not_drivable(load_robot(name))), name),
    )


def load_robot(name: str) -> RobotParameters:
    """Load a shipped robot by name, or a file of the user's own by path.

    Raises:
        ConfigError: no such robot, or its file is wrong.
    """
    return load_toml(find_asset("robots", name), RobotParameters)


def why_not_drivable(robot: RobotParameters) -> str:
    """Say what keeps a robot from being driven; empty where nothing does.

    Drivable is what the plant has dynamics and actuators for: limbs pulled by tendons
    or pushed by chambers, without rigid gaps, on a hull or legs that stand still.
    """
    if robot.snake is not None:
        return "it is a chain of modules"
    if robot.mantle is not None:
        return "it swims by a mantle"
    for limb in robot.limbs:
        if limb.actuation in {"moment", "passive"}:
            driven = {"moment": "driven by an internal moment", "passive": "passive"}
            return f"its limb {limb.name!r} is {driven[limb.actuation]}"
        if any(limb.gap_mm):
            return f"its limb {limb.name!r} has rigid gaps between segments"
        if limb.actuation != "chambers":
            continue
        if robot.valves is None:
            return "it has chambers, but no table [valves]"
        if limb.base_diameter_mm != limb.tip_diameter_mm:
            return f"its limb {limb.name!r} has chambers and a taper"
    return ""


def check_drivable(robot: RobotParameters) -> None:
    """Refuse a robot that can be posed and drawn but not yet driven.

    Raises:
        ConfigError: it cannot; the message says why, and which robots can.
    """
    reason = why_not_drivable(robot)
    if reason:
        able = [
            name for name in robot_names() if not why_not_drivable(load_robot(name))
        ]
        raise ConfigError(
            f"The robot {robot.name!r} cannot be driven yet: {reason}, and there are "
            f"no dynamics for that. Can be driven: {', '.join(able)}, and files of "
            "your own whose limbs are pulled by tendons or pushed by chambers."
        )
