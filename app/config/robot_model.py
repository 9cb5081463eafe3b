"""From a robot's parameters to the arrays that kernels take.

Here and in app.config.kinematics millimetres, degrees and kilopascals become SI.
"""

import math

import numpy as np

from app.config.kinematics import chamber_models
from app.config.limbs import LimbParameters
from app.config.robot_parameters import RobotParameters
from models.chamber import bend_room, shortest_idle_length
from models.numerics import FloatArray
from models.robot import RobotModel
from models.robot_tree import NO_TREE, SEGMENT_POINTS, changed_robot
from models.strain_basis import radau_nodes

__all__ = ["build_robot_model", "limb_base_pose"]

_STRAIGHT = 1e-6  # [rad] bend limit of an elongation segment: solvers divide by it


def limb_base_pose(limb: LimbParameters) -> FloatArray:
    """Base frame of a limb in the hull, (4, 4) [m].

    z along the limb, x as near to hull up as it can be (to the bow where the limb
    itself stands or hangs), then turned about z by the limb's roll.
    """
    z_axis = np.asarray(limb.base_direction, dtype=float)
    z_axis = z_axis / np.linalg.norm(z_axis)
    up = np.array([0.0, 0.0, 1.0])
    if abs(z_axis @ up) > 0.9:
        up = np.array([1.0, 0.0, 0.0])
    x_axis = up - (up @ z_axis) * z_axis
    x_axis /= np.linalg.norm(x_axis)
    if limb.base_roll_deg:
        roll = math.radians(limb.base_roll_deg)
        y_axis = np.cross(z_axis, x_axis)
        x_axis = math.cos(roll) * x_axis + math.sin(roll) * y_axis
    pose = np.eye(4)
    pose[:3, 0] = x_axis
    pose[:3, 1] = np.cross(z_axis, x_axis)
    pose[:3, 2] = z_axis
    pose[:3, 3] = np.asarray(limb.base_position_mm) * 1e-3
    return pose


def _segment_limits(
    robot: RobotParameters, limb: LimbParameters
) -> list[tuple[float, float, float]]:
    """Greatest bend [rad], least and greatest extension [m] of every segment."""
    cap = math.radians(robot.limits.bend_deg)
    if limb.extension_range_mm is not None:
        low, high = (value * 1e-3 for value in limb.extension_range_mm)
        return [(cap, low, high)] * len(limb.segment_length_mm)
    limits = []
    for chambers, model, length in zip(
        limb.chambers, chamber_models(limb), limb.segment_length_mm, strict=True
    ):
        low, high = ((value - length) * 1e-3 for value in chambers.length_range_mm)
        bend = _STRAIGHT
        if model is not None:
            around = np.linspace(-math.pi, math.pi, 73)
            bend = max(bend_room(model, math.cos(a), math.sin(a)) for a in around)
        limits.append((min(cap, bend), low, high))
    return limits


def _per_limb(robot: RobotParameters, table: str, key: str) -> FloatArray:
    """(S,) a value of [material] or [hydrodynamics], with the limbs' own."""
    values: list[float] = []
    for limb in robot.limbs:
        own = getattr(getattr(limb, table), key)
        value = getattr(getattr(robot, table), key) if own is None else own
        values += [float(value)] * len(limb.segment_length_mm)
    return np.asarray(values)


def build_robot_model(robot: RobotParameters) -> RobotModel:
    """Flatten a robot's parameters into the arrays that kernels take.

    A limb that no tendon pulls has none. At rest a segment with chambers is as long as
    its shortest chamber without pressure makes it. Its `bend_limit` and
    `extension_range` are the widest that any direction of bend, and any bend, allow;
    `chamber_models` of app.config.kinematics gives the limits in between. Gaps are left
    out: see `limb_gaps` there.
    """
    counts = [len(limb.segment_length_mm) for limb in robot.limbs]
    limbs, segments = len(counts), sum(counts)
    per_segment = robot.tendons.per_segment if robot.tendons else 0
    lengths, radii, rests = [], [], []
    angles, terminations, tendon_counts = [], [], []
    limits: list[tuple[float, float, float]] = []
    for limb in robot.limbs:
        total = sum(limb.segment_length_mm)
        start = 0.0
        limits += _segment_limits(robot, limb)
        chambers = chamber_models(limb)
        pulled = per_segment if limb.actuation == "tendons" else 0
        tendon_counts.append(pulled * len(limb.segment_length_mm))
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
            bend = math.radians(limb.rest_bend_deg[k])
            direction = math.radians(limb.rest_direction_deg[k])
            delta = bend * math.cos(direction), bend * math.sin(direction)
            model = chambers[k]
            idle = shortest_idle_length(model, *delta) if model else length * 1e-3
            rests.append([*delta, idle - length * 1e-3])
            for j in range(pulled):
                angles.append(2.0 * math.pi * (j + 0.5 * (k % 2)) / pulled)
                terminations.append(k)
    tendons = len(angles)
    node, weight = radau_nodes(SEGMENT_POINTS)

    def every(count: int, value: float) -> FloatArray:
        return np.full(count, value, dtype=float)

    def of_tendon(key: str, scale: float = 1.0) -> FloatArray:
        return every(tendons, getattr(robot.tendons, key, 0.0) * scale)

    built = RobotModel(
        limb_segment_start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        limb_tendon_start=np.concatenate([[0], np.cumsum(tendon_counts)]).astype(
            np.int64
        ),
        pose_base_to_hull=np.stack([limb_base_pose(limb) for limb in robot.limbs]),
        tip_speed_limit=every(limbs, robot.limits.tip_speed_mm_s * 1e-3),
        segment_length=np.asarray(lengths),
        segment_radius=np.asarray(radii),
        bend_limit=np.array([bend for bend, _, _ in limits]),
        extension_range=np.array([[low, high] for _, low, high in limits]),
        rest_coordinates=np.asarray(rests),
        bend_rate_limit=every(segments, math.radians(robot.limits.bend_rate_deg_s)),
        extension_rate_limit=every(segments, robot.limits.extension_rate_mm_s * 1e-3),
        density=_per_limb(robot, "material", "density_kg_m3"),
        young_modulus=_per_limb(robot, "material", "young_modulus_kpa") * 1e3,
        axial_stiffness_ratio=_per_limb(robot, "material", "axial_stiffness_ratio"),
        viscosity=_per_limb(robot, "material", "viscosity_pa_s"),
        drag_normal=_per_limb(robot, "hydrodynamics", "drag_normal"),
        drag_tangent=_per_limb(robot, "hydrodynamics", "drag_tangent"),
        added_mass=_per_limb(robot, "hydrodynamics", "added_mass"),
        tendon_angle=np.asarray(angles, dtype=float),
        tendon_offset_ratio=of_tendon("offset_ratio"),
        tendon_termination=np.asarray(terminations, dtype=np.int64),
        tendon_stiffness=of_tendon("stiffness_n_per_m"),
        tendon_damping=of_tendon("damping_n_s_per_m"),
        tendon_tension_limit=of_tendon("tension_limit_n"),
        tendon_pretension=of_tendon("pretension_n"),
        servo_time_constant=of_tendon("servo_time_constant_ms", 1e-3),
        servo_speed_limit=of_tendon("servo_speed_mm_s", 1e-3),
        gravity_in_hull=np.array([0.0, 0.0, -robot.water.gravity_m_s2]),
        water_density=np.array([robot.water.density_kg_m3]),
        quadrature_node=node,
        quadrature_weight=weight,
        tree=NO_TREE,
    )
    return changed_robot(built)
