"""Legs: their joints as PyBullet takes them, and what they look like.

Liu 2020 eq. 1a, corrected as models/leg has it: the coxa turns about z, the femur up
about -y, the tibia down about y; links lie along x.
"""

import numpy as np

from app.config.bodies import LegParameters
from app.config.kinematics import leg_pose
from app.scene.meshes import Mesh, ball, lathe, linear, merge, move, pose_along
from app.scene.parts import beam
from models.numerics import FloatArray

__all__ = ["LEG_JOINTS", "leg_joint_frames", "leg_mesh", "leg_mount"]

LEG_JOINTS = (
    ("coxa", (0.0, 0.0, 1.0)),
    ("femur", (0.0, -1.0, 0.0)),
    ("tibia", (0.0, 1.0, 0.0)),
    ("foot", (0.0, 0.0, 1.0)),
)
"""Name of every link and the axis of the joint before it; the foot's is fixed."""

FOOT_RADIUS = 0.012
"""[m]"""

_CANISTER = linear("#d9dee0", 0.6)
_DARK = linear("#23282c", 0.4)
_RUBBER = linear("#1b1d1f", 0.1)
_SPRING = linear("#e2a23a", 0.5)


def leg_mount(leg: LegParameters) -> FloatArray:
    """(4, 4) frame of a leg in the hull [m]: z up, x outward at a coxa angle of 0."""
    return leg_pose(leg.mount_yaw_deg, leg.mount_position_mm)


def leg_joint_frames(leg: LegParameters) -> FloatArray:
    """(4, 3) place of every link's frame in that of the link before it [m]."""
    l0, l1, l2, l3 = (value * 1e-3 for value in leg.link_mm)
    return np.array([[0.0, 0.0, 0.0], [l0, l1, 0.0], [l2, 0.0, 0.0], [l3, 0.0, 0.0]])


def leg_mesh(leg: LegParameters, frames: FloatArray) -> Mesh:
    """Draw a leg as it stands.

    Actuators in canisters of their own, links of square aluminium bar, a foot with its
    contact sensor (Liu 2020, Experimental Platform); their sizes are assumed.

    Args:
        leg: gives lengths and the bars' colour.
        frames: (4, 4, 4) of its links in the hull frame [m].
    """
    bar = linear(leg.color, 0.7)
    l0, l1, l2, l3 = (value * 1e-3 for value in leg.link_mm)
    across = (0.0, 1.0, 0.0)
    coxa = [
        move(_canister(0.030, 0.105), pose_along((0.0, 0.0, 0.030), (0.0, 0.0, 1.0))),
        beam((0.0, 0.0, 0.0), (l0, 0.0, 0.0), 0.030, 0.022, bar),
    ]
    if abs(l1) > 1e-6:
        coxa.append(beam((l0, 0.0, 0.0), (l0, l1, 0.0), 0.024, 0.022, bar))
    femur = [
        move(_canister(0.029, 0.096), pose_along((0.0, 0.0, 0.0), across)),
        beam((0.0, 0.0, 0.0), (l2, 0.0, 0.0), 0.022, 0.022, bar),
    ]
    spring = lathe(
        [(-0.012, 0.020), (-0.012, 0.0225), (0.012, 0.0225), (0.012, 0.020)],
        _SPRING,
        18,
    )
    tibia = [
        move(_canister(0.027, 0.090), pose_along((0.0, 0.0, 0.0), across)),
        beam((0.0, 0.0, 0.0), (l3 - 0.02, 0.0, 0.0), 0.018, 0.018, bar),
        move(spring, pose_along((0.045, 0.0, 0.0), (1.0, 0.0, 0.0))),
    ]
    cup = lathe(
        [(-0.045, 0.009), (-0.040, 0.015), (-0.012, 0.015), (-0.006, 0.011)],
        _DARK,
        14,
    )
    foot = [
        move(cup, pose_along((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))),
        ball(FOOT_RADIUS, _RUBBER, 14, 8),
    ]
    parts = (coxa, femur, tibia, foot)
    return merge([move(merge(part), frames[k]) for k, part in enumerate(parts)])


def _canister(radius: float, length: float) -> Mesh:
    """A motor's canister about z, its caps bolted on."""
    half, cap = 0.5 * length, radius + 0.002
    body = lathe([(-half, radius), (half, radius)], _CANISTER, 22)
    caps = [
        lathe(
            [
                (side * half - 0.008, 0.0),
                (side * half - 0.008, cap),
                (side * half - 0.008, cap),
                (side * half + 0.006, cap),
                (side * half + 0.006, cap),
                (side * half + 0.006, 0.0),
            ],
            _DARK,
            22,
        )
        for side in (-1.0, 1.0)
    ]
    return merge([body, *caps])
