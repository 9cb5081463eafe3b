"""From a robot's parameters to the kinematic models of its parts, in SI units.

What `RobotModel` does not hold: rigid gaps, chambers, legs, modules.
"""

import numpy as np

from app.config.limbs import LimbParameters
from app.config.robot_parameters import RobotParameters
from models.chamber import ChamberModel, build_chamber_model
from models.leg import LegModel, build_leg_model
from models.numerics import FloatArray
from models.opposing import PairBendModel, PairElongationModel

__all__ = [
    "chamber_models",
    "leg_model",
    "leg_pose",
    "limb_gaps",
    "opposing_model",
    "snake_lengths",
]


def limb_gaps(limb: LimbParameters) -> FloatArray:
    """Rigid lengths of a limb, along its tangent.

    Returns:
        (n+1,) before each of its n segments and behind the last one [m].
    """
    gaps = limb.gap_mm or (0.0,) * (len(limb.segment_length_mm) + 1)
    return np.asarray(gaps) * 1e-3


def chamber_models(limb: LimbParameters) -> list[ChamberModel | None]:
    """Chambers of every segment of a limb.

    Returns:
        One a segment; None for an elongation segment, and for a limb without chambers.
    """
    models: list[ChamberModel | None] = []
    for k, length in enumerate(limb.segment_length_mm):
        if not limb.chambers or limb.chambers[k].kind == "elongation":
            models.append(None)
            continue
        chambers = limb.chambers[k]
        least, greatest = chambers.length_range_mm
        models.append(
            build_chamber_model(
                np.radians(chambers.azimuth_deg),
                chambers.distance_mm * 1e-3,
                length * 1e-3,
                greatest * 1e-3,
                least * 1e-3,
            )
        )
    return models


def opposing_model(
    limb: LimbParameters,
) -> PairBendModel | PairElongationModel | None:
    """Model of an arm whose first two segments bend oppositely (Gong, Liu).

    Returns:
        None where the limb is not one, or has other than one segment behind the pair.
    """
    if not limb.opposing or len(limb.chambers) != 3:
        return None
    pair, _, end = chamber_models(limb)
    if pair is None:
        return None
    if end is not None:
        return PairBendModel(pair, end)
    least, greatest = limb.chambers[2].length_range_mm
    rest = limb.segment_length_mm[2]
    return PairElongationModel(pair, rest * 1e-3, least * 1e-3, greatest * 1e-3)


def leg_pose(yaw_deg: float, position_mm: tuple[float, float, float]) -> FloatArray:
    """(4, 4) frame of a leg in the hull [m]: z up, x outward at a coxa angle of 0."""
    yaw = np.radians(yaw_deg)
    pose = np.eye(4)
    pose[:2, :2] = [[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]]
    pose[:3, 3] = np.asarray(position_mm) * 1e-3
    return pose


def leg_model(robot: RobotParameters) -> LegModel | None:
    """Legs of a robot in its hull frame; None where it has none."""
    if not robot.legs:
        return None
    return build_leg_model(
        np.array([leg.link_mm for leg in robot.legs]) * 1e-3,
        np.radians([leg.joint_range_deg for leg in robot.legs]),
        np.stack(
            [leg_pose(leg.mount_yaw_deg, leg.mount_position_mm) for leg in robot.legs]
        ),
    )


def snake_lengths(robot: RobotParameters) -> tuple[FloatArray, FloatArray] | None:
    """Lengths of a snake's parts, from tail to head; None where it is none.

    Returns:
        (n+1,) of the rigid modules and (n,) of the soft joints at rest [m].
    """
    if robot.snake is None:
        return None
    limb = next(limb for limb in robot.limbs if limb.name == robot.snake.limb)
    return limb_gaps(limb), np.asarray(limb.segment_length_mm) * 1e-3
