"""A robot's TOML file: its schema, and the Model that kernels run on."""

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from app.config.loader import Parameters, asset_names, find_asset, load_toml
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = [
    "LimbParameters",
    "RobotParameters",
    "SafetyParameters",
    "build_robot_model",
    "load_robot",
    "robot_names",
]

_QUADRATURE_POINTS = 5  # integrates the mass of a 90 degree arc to 1e-7, measured

_LengthMm = Annotated[float, Field(ge=5.0, le=10_000.0)]
_Vector = tuple[float, float, float]


class HullParameters(Parameters):
    """The rigid body that carries the limbs."""

    length_mm: _LengthMm
    diameter_mm: _LengthMm
    dry_mass_kg: Annotated[float, Field(gt=0.0, le=1e5)]


class WaterParameters(Parameters):
    """The fluid."""

    density_kg_m3: Annotated[float, Field(ge=900.0, le=1100.0)]
    gravity_m_s2: Annotated[float, Field(ge=0.0, le=20.0)]


class MaterialParameters(Parameters):
    """The elastomer of the limbs."""

    density_kg_m3: Annotated[float, Field(ge=500.0, le=5000.0)]
    young_modulus_kpa: Annotated[float, Field(ge=1.0, le=1e5)]
    poisson_ratio: Annotated[float, Field(ge=0.0, le=0.5)]
    axial_stiffness_ratio: Annotated[float, Field(ge=1.0, le=1000.0)]
    viscosity_pa_s: Annotated[float, Field(ge=0.0, le=1e5)]
    tensile_strength_mpa: Annotated[float, Field(gt=0.0, le=100.0)]


class HydrodynamicParameters(Parameters):
    """Coefficients of Renda 2018 eqs 11 and 13."""

    drag_normal: Annotated[float, Field(ge=0.0, le=10.0)]
    drag_tangent: Annotated[float, Field(ge=0.0, le=10.0)]
    added_mass: Annotated[float, Field(ge=0.0, le=10.0)]


class TendonParameters(Parameters):
    """The tendons of every segment and their winches."""

    per_segment: Annotated[int, Field(ge=3, le=12)]
    offset_ratio: Annotated[float, Field(gt=0.0, lt=1.0)]
    stiffness_n_per_m: Annotated[float, Field(ge=10.0, le=1e6)]
    damping_n_s_per_m: Annotated[float, Field(ge=0.0, le=1e5)]
    pretension_n: Annotated[float, Field(ge=0.0, le=100.0)]
    tension_limit_n: Annotated[float, Field(gt=0.0, le=1e4)]
    servo_time_constant_ms: Annotated[float, Field(ge=1.0, le=5000.0)]
    servo_speed_mm_s: Annotated[float, Field(ge=1.0, le=5000.0)]


class LimitParameters(Parameters):
    """What a command may ask of any segment."""

    bend_deg: Annotated[float, Field(gt=0.0, le=350.0)]
    bend_rate_deg_s: Annotated[float, Field(gt=0.0, le=2000.0)]
    extension_rate_mm_s: Annotated[float, Field(gt=0.0, le=1000.0)]
    tip_speed_mm_s: Annotated[float, Field(gt=0.0, le=5000.0)]


class SafetyParameters(Parameters):
    """What the robot does on its own when commands stop, and how soon."""

    command_age_limit_ms: Annotated[float, Field(ge=50.0, le=60_000.0)]
    hold_after_ms: Annotated[float, Field(ge=50.0, le=60_000.0)]
    compliant_after_ms: Annotated[float, Field(ge=100.0, le=600_000.0)]
    slack_after_ms: Annotated[float, Field(ge=200.0, le=3_600_000.0)]
    estop_action: Literal["hold", "slack"]

    @model_validator(mode="after")
    def _ordered(self) -> "SafetyParameters":
        if not self.hold_after_ms < self.compliant_after_ms < self.slack_after_ms:
            raise ValueError(
                "hold_after_ms < compliant_after_ms < slack_after_ms must hold"
            )
        return self


class ChainParameters(Parameters):
    """The RRP chain that stands for a segment (Emet 2023 eqs 7-13)."""

    sections: Annotated[int, Field(ge=2, le=40)]


class LimbParameters(Parameters):
    """One soft limb."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,15}$")]
    role: Literal["grasper", "palpation", "camera", "light", "arm"]
    color: Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")]
    base_position_mm: _Vector
    base_direction: _Vector
    segment_length_mm: Annotated[
        tuple[_LengthMm, ...], Field(min_length=1, max_length=6)
    ]
    extension_range_mm: tuple[float, float]
    base_diameter_mm: Annotated[float, Field(ge=5.0, le=1000.0)]
    tip_diameter_mm: Annotated[float, Field(ge=5.0, le=1000.0)]
    rest_bend_deg: tuple[float, ...]
    rest_direction_deg: tuple[float, ...]

    @model_validator(mode="after")
    def _consistent(self) -> "LimbParameters":
        count = len(self.segment_length_mm)
        if len(self.rest_bend_deg) != count or len(self.rest_direction_deg) != count:
            raise ValueError(
                f"rest_bend_deg and rest_direction_deg need {count} values, "
                "one a segment"
            )
        low, high = self.extension_range_mm
        if not low <= 0.0 <= high:
            raise ValueError("extension_range_mm must contain 0, the rest length")
        if -low >= 0.5 * min(self.segment_length_mm):
            raise ValueError("extension_range_mm would halve the shortest segment")
        if math.hypot(*self.base_direction) < 1e-6:
            raise ValueError("base_direction must not be zero")
        return self


class RobotParameters(Parameters):
    """A whole robot as its TOML file gives it."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
    title: str
    source: str
    hull: HullParameters
    water: WaterParameters
    material: MaterialParameters
    hydrodynamics: HydrodynamicParameters
    tendons: TendonParameters
    limits: LimitParameters
    safety: SafetyParameters
    chain: ChainParameters
    limbs: Annotated[tuple[LimbParameters, ...], Field(min_length=1, max_length=8)]

    @model_validator(mode="after")
    def _distinct(self) -> "RobotParameters":
        names = [limb.name for limb in self.limbs]
        if len(set(names)) != len(names):
            raise ValueError(f"two limbs share a name: {names}")
        return self


def robot_names() -> list[str]:
    """Return the names of the shipped robots."""
    return asset_names("robots")


def load_robot(name: str) -> RobotParameters:
    """Load a shipped robot by name, or a file of the user's own by path.

    Raises:
        ConfigError: no such robot, or its file is wrong.
    """
    return load_toml(find_asset("robots", name), RobotParameters)


def _base_pose(limb: LimbParameters) -> FloatArray:
    """Base frame in the hull: z along the limb, x as near to hull up as it can be."""
    z_axis = np.asarray(limb.base_direction, dtype=float)
    z_axis = z_axis / np.linalg.norm(z_axis)
    up = np.array([0.0, 0.0, 1.0])
    if abs(z_axis @ up) > 0.9:
        up = np.array([1.0, 0.0, 0.0])
    x_axis = up - (up @ z_axis) * z_axis
    x_axis /= np.linalg.norm(x_axis)
    pose = np.eye(4)
    pose[:3, 0] = x_axis
    pose[:3, 1] = np.cross(z_axis, x_axis)
    pose[:3, 2] = z_axis
    pose[:3, 3] = np.asarray(limb.base_position_mm) * 1e-3
    return pose


def build_robot_model(robot: RobotParameters) -> RobotModel:
    """Flatten a robot's parameters into the arrays that kernels take.

    The one place where millimetres, degrees and kilopascals become SI.
    """
    counts = [len(limb.segment_length_mm) for limb in robot.limbs]
    limbs, segments = len(counts), sum(counts)
    per_segment = robot.tendons.per_segment
    lengths, radii, ranges, rests = [], [], [], []
    angles, terminations = [], []
    for limb in robot.limbs:
        total = sum(limb.segment_length_mm)
        start = 0.0
        for k, length in enumerate(limb.segment_length_mm):
            slope = (limb.tip_diameter_mm - limb.base_diameter_mm) / total
            radii.append(
                [
                    0.5e-3 * (limb.base_diameter_mm + slope * start),
                    0.5e-3 * (limb.base_diameter_mm + slope * (start + length)),
                ]
            )
            start += length
            lengths.append(length * 1e-3)
            ranges.append([value * 1e-3 for value in limb.extension_range_mm])
            bend = math.radians(limb.rest_bend_deg[k])
            direction = math.radians(limb.rest_direction_deg[k])
            rests.append([bend * math.cos(direction), bend * math.sin(direction), 0.0])
            for j in range(per_segment):
                angles.append(2.0 * math.pi * (j + 0.5 * (k % 2)) / per_segment)
                terminations.append(k)
    tendons = len(angles)
    node, weight = np.polynomial.legendre.leggauss(_QUADRATURE_POINTS)

    def every(count: int, value: float) -> FloatArray:
        return np.full(count, value, dtype=float)

    return RobotModel(
        limb_segment_start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        limb_tendon_start=np.concatenate(
            [[0], np.cumsum(np.asarray(counts) * per_segment)]
        ).astype(np.int64),
        pose_base_to_hull=np.stack([_base_pose(limb) for limb in robot.limbs]),
        tip_speed_limit=every(limbs, robot.limits.tip_speed_mm_s * 1e-3),
        segment_length=np.asarray(lengths),
        segment_radius=np.asarray(radii),
        bend_limit=every(segments, math.radians(robot.limits.bend_deg)),
        extension_range=np.asarray(ranges),
        rest_coordinates=np.asarray(rests),
        bend_rate_limit=every(segments, math.radians(robot.limits.bend_rate_deg_s)),
        extension_rate_limit=every(segments, robot.limits.extension_rate_mm_s * 1e-3),
        density=every(segments, robot.material.density_kg_m3),
        young_modulus=every(segments, robot.material.young_modulus_kpa * 1e3),
        axial_stiffness_ratio=every(segments, robot.material.axial_stiffness_ratio),
        viscosity=every(segments, robot.material.viscosity_pa_s),
        drag_normal=every(segments, robot.hydrodynamics.drag_normal),
        drag_tangent=every(segments, robot.hydrodynamics.drag_tangent),
        added_mass=every(segments, robot.hydrodynamics.added_mass),
        tendon_angle=np.asarray(angles),
        tendon_offset_ratio=every(tendons, robot.tendons.offset_ratio),
        tendon_termination=np.asarray(terminations, dtype=np.int64),
        tendon_stiffness=every(tendons, robot.tendons.stiffness_n_per_m),
        tendon_damping=every(tendons, robot.tendons.damping_n_s_per_m),
        tendon_tension_limit=every(tendons, robot.tendons.tension_limit_n),
        tendon_pretension=every(tendons, robot.tendons.pretension_n),
        servo_time_constant=every(tendons, robot.tendons.servo_time_constant_ms * 1e-3),
        servo_speed_limit=every(tendons, robot.tendons.servo_speed_mm_s * 1e-3),
        gravity_in_hull=np.array([0.0, 0.0, -robot.water.gravity_m_s2]),
        water_density=np.array([robot.water.density_kg_m3]),
        quadrature_node=0.5 * (node + 1.0),
        quadrature_weight=0.5 * weight,
    )
