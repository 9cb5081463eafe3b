"""Legs of a robot as joints and rigid links of its tree, and their drives.

A leg: the coxa joint, the femur motor's canister on the connector, the femur joint, the
femur bar with the tibia motor's canister at its end, the knee, the tibia bar and the
foot. The coordinates of the joints are q1, q2, q3 of models/leg. The coxa motor is a
part of the hull. Bars are flooded tubes of aluminium.
"""

import math
from typing import NamedTuple

import numpy as np

from app.config.bodies import LegDynamics, LegParameters
from app.config.kinematics import leg_pose
from app.config.robot_parameters import RobotParameters
from app.errors import ConfigError
from models.leg_drive import LegDriveModel, build_leg_drives
from models.numerics import FloatArray, IntArray
from models.tree import TreeModel
from models.tree_builder import ROOT, TreeBuilder, frame

__all__ = ["LegPlan", "add_legs", "foot_points", "leg_drives", "wet_mass"]

_BAR_DENSITY = 2700.0  # aluminium [kg/m3]
_CANISTER_DRAG = 1.0  # of a short cylinder, on (volume)^(2/3)
_CANISTER_ADDED = 0.6  # of its volume
_BAR_POINTS = 2
# axes: x along the link, z the axis about which q2 lifts it
_LIFTING = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
_FOLDING = np.diag([1.0, -1.0, -1.0])
# a cylinder's z along the link's x
_ALONG = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])


class LegPlan(NamedTuple):
    """Where a leg is in the tree."""

    leg: LegParameters
    joints: tuple[int, int, int]
    """Elements of coxa, femur joint and knee."""
    links: tuple[int, int]
    """Elements of femur and tibia bar."""
    foot: int
    """Element of the foot, a ball."""
    stance: FloatArray
    """(3,) joint angles of its file [rad]."""


def add_legs(
    builder: TreeBuilder, robot: RobotParameters, water: float
) -> tuple[LegPlan, ...]:
    """Add the legs of a robot to the root, and what makes its weight in water right.

    Args:
        builder: the tree, with the hull or without it.
        robot: its parameters; without legs nothing is added.
        water: density of the water, 0 for a vacuum [kg/m3].

    Returns:
        The legs in their order.

    Raises:
        ConfigError: a leg has no [legs.dynamics], or legs and limbs alone are heavier
            than the hull's wet_mass_kg.
    """
    plans = tuple(_add_leg(builder, leg, robot, water) for leg in robot.legs)
    if plans and robot.hull.wet_mass_kg is not None and water > 0.0:
        rest = robot.hull.wet_mass_kg
        rest -= sum(_wet_leg(_dynamics(leg), water) for leg in robot.legs)
        rest -= wet_mass(robot, water)
        if rest < 0.0:
            raise ConfigError(
                f"Legs and limbs of {robot.name!r} weigh {-rest:.3f} kg more in water "
                "than the hull's wet_mass_kg: raise it, or the volumes."
            )
        builder.add_body(ROOT, np.eye(4), mass=rest, name="ballast")
    return plans


def leg_drives(plans: tuple[LegPlan, ...], model: TreeModel) -> LegDriveModel:
    """Drives of all joints, leg by leg: coxa, femur, tibia.

    Args:
        plans: at least one leg.
        model: the tree that they are in.
    """
    dynamics = [_dynamics(plan.leg) for plan in plans]
    return build_leg_drives(
        [model.element_dof_start[joint] for plan in plans for joint in plan.joints],
        stiffness=np.ravel([d.joint_stiffness_n_m_per_rad for d in dynamics]),
        damping=np.ravel([d.joint_damping_n_m_s_per_rad for d in dynamics]),
        torque_limit=np.ravel([d.torque_limit_n_m for d in dynamics]),
        rate_limit=np.radians(np.ravel([d.motor_rate_deg_s for d in dynamics])),
        joint_range=np.radians(
            [pair for plan in plans for pair in plan.leg.joint_range_deg]
        ),
    )


def foot_points(plans: tuple[LegPlan, ...], model: TreeModel) -> IntArray:
    """(L,) point of the tree in each foot's centre."""
    feet: IntArray = model.element_step_start[[plan.foot for plan in plans]]
    return feet


def wet_mass(robot: RobotParameters, water: float) -> float:
    """Weight of the limbs and their grippers in water, over gravity [kg]."""
    total = 0.0
    for limb in robot.limbs:
        length = 1e-3 * sum(limb.segment_length_mm)
        base, tip = 0.5e-3 * limb.base_diameter_mm, 0.5e-3 * limb.tip_diameter_mm
        volume = math.pi / 3.0 * (base * base + base * tip + tip * tip) * length
        if limb.gripper is not None:
            volume += math.pi * tip * tip * 1e-3 * limb.gripper.length_mm
        density = limb.material.density_kg_m3
        density = robot.material.density_kg_m3 if density is None else density
        total += (density - water) * volume
    return total


def _dynamics(leg: LegParameters) -> LegDynamics:
    if leg.dynamics is None:
        raise ConfigError(
            f"Leg {leg.name!r} has no table [legs.dynamics]: add its masses and drives "
            "(see silver2), or hold the base."
        )
    return leg.dynamics


def _wet_leg(parts: LegDynamics, water: float) -> float:
    canisters = sum(parts.canister_mass_kg) - 1e-3 * water * sum(
        parts.canister_volume_l
    )
    return canisters + sum(parts.bar_mass_kg) * (1.0 - water / _BAR_DENSITY)


def _add_leg(
    builder: TreeBuilder, leg: LegParameters, robot: RobotParameters, water: float
) -> LegPlan:
    parts = _dynamics(leg)
    out, aside, femur, tibia = (1e-3 * value for value in leg.link_mm)
    coxa = builder.add_joint(
        ROOT,
        leg_pose(leg.mount_yaw_deg, leg.mount_position_mm),
        name=f"{leg.name} coxa",
    )
    hip = frame((out, aside, 0.0))
    _canister(builder, coxa, hip, parts, 0, water, f"{leg.name} femur motor")
    lift = builder.add_joint(
        coxa, frame((out, aside, 0.0), _LIFTING), name=f"{leg.name} femur joint"
    )
    thigh = _bar(builder, lift, femur, parts, 0, robot, water, f"{leg.name} femur")
    _canister(builder, thigh, np.eye(4), parts, 1, water, f"{leg.name} tibia motor")
    knee = builder.add_joint(
        thigh, frame((0.0, 0.0, 0.0), _ALONG.T @ _FOLDING), name=f"{leg.name} knee"
    )
    shin = _bar(builder, knee, tibia, parts, 1, robot, water, f"{leg.name} tibia")
    foot = builder.add_body(
        shin, np.eye(4), radius=1e-3 * parts.foot_radius_mm, name=f"{leg.name} foot"
    )
    return LegPlan(
        leg, (coxa, lift, knee), (thigh, shin), foot, np.radians(leg.stance_deg)
    )


def _canister(
    builder: TreeBuilder,
    parent: int,
    pose: FloatArray,
    parts: LegDynamics,
    number: int,
    water: float,
    name: str,
) -> None:
    """A motor's canister as a body about its centre: a ball of its volume."""
    mass = parts.canister_mass_kg[number]
    volume = 1e-3 * parts.canister_volume_l[number]
    radius = (0.75 * volume / math.pi) ** (1.0 / 3.0)
    drag = 0.5 * water * _CANISTER_DRAG * volume ** (2.0 / 3.0)
    added = _CANISTER_ADDED * water * volume
    builder.add_body(
        parent,
        pose,
        mass=mass,
        inertia=(0.4 * mass * radius**2,) * 3,
        displaced_mass=water * volume,
        added_mass=(0.0, 0.0, 0.0, added, added, added),
        drag_quadratic=(0.0, 0.0, 0.0, drag, drag, drag),
        name=name,
    )


def _bar(
    builder: TreeBuilder,
    parent: int,
    length: float,
    parts: LegDynamics,
    number: int,
    robot: RobotParameters,
    water: float,
    name: str,
) -> int:
    """A bar along x of its joint's frame; its end frame has z along it."""
    mass = parts.bar_mass_kg[number]
    return builder.add_cylinder(
        parent,
        frame((0.0, 0.0, 0.0), _ALONG),
        length=length,
        radius=0.5e-3 * parts.bar_diameter_mm,
        mass=mass,
        displaced_mass=mass * water / _BAR_DENSITY,
        drag_normal=robot.hydrodynamics.drag_normal,
        drag_tangent=robot.hydrodynamics.drag_tangent,
        added_mass=robot.hydrodynamics.added_mass,
        points=_BAR_POINTS,
        name=name,
    )
