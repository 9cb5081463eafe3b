"""TOML files to frozen, validated parameters, and those to a Model."""

from app.config.robot import (
    LimbParameters,
    RobotParameters,
    build_robot_model,
    load_robot,
    robot_names,
)

__all__ = [
    "LimbParameters",
    "RobotParameters",
    "build_robot_model",
    "load_robot",
    "robot_names",
]
