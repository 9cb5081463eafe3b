"""From a robot's parameters to the arrays that kernels take.

Here and in app.config.kinematics millimetres, degrees and kilopascals become SI.
"""

import math
from typing import NamedTuple

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

_ENDLESS = 1e3  # [m] of a tendon
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


class _Line(NamedTuple):
    """A tendon or a chamber, in the order of `RobotModel`'s fields."""

    angle: float
    offset_ratio: float
    origin: int
    termination: int
    stiffness: float
    damping: float
    tension_least: float
    tension_limit: float
    pretension: float
    least_length: float
    greatest_length: float
    time_constant: float
    speed_limit: float


def _tendons(robot: RobotParameters, limb: LimbParameters, segment: int) -> list[_Line]:
    """Tendons tied at the end of a segment."""
    if robot.tendons is None or limb.actuation != "tendons":
        return []
    own = robot.tendons
    count = own.per_segment
    return [
        _Line(
            angle=2.0 * math.pi * (j + 0.5 * (segment % 2)) / count,
            offset_ratio=own.offset_ratio,
            origin=0,
            termination=segment,
            stiffness=own.stiffness_n_per_m,
            damping=own.damping_n_s_per_m,
            tension_least=0.0,
            tension_limit=own.tension_limit_n,
            pretension=own.pretension_n,
            least_length=0.0,
            greatest_length=_ENDLESS,
            time_constant=own.servo_time_constant_ms * 1e-3,
            speed_limit=own.servo_speed_mm_s * 1e-3,
        )
        for j in range(count)
    ]


def _chambers(
    robot: RobotParameters, limb: LimbParameters, segment: int, radius: float
) -> list[_Line]:
    """Chambers of a segment; none where the robot's valves are not described."""
    if robot.valves is None or not limb.chambers:
        return []
    own, chambers = robot.valves, limb.chambers[segment]
    least, greatest = (value * 1e-3 for value in chambers.length_range_mm)
    return [
        _Line(
            angle=math.radians(azimuth),
            offset_ratio=chambers.distance_mm * 1e-3 / radius,
            origin=segment,
            termination=segment,
            stiffness=own.stiffness_n_per_m,
            damping=own.damping_n_s_per_m,
            tension_least=-own.push_limit_n,
            tension_limit=0.0,
            pretension=0.0,
            least_length=least,
            greatest_length=greatest,
            time_constant=own.fill_time_constant_ms * 1e-3,
            speed_limit=own.fill_speed_mm_s * 1e-3,
        )
        for azimuth in chambers.azimuth_deg or (0.0,)
    ]


def build_robot_model(robot: RobotParameters) -> RobotModel:
    """Flatten a robot's parameters into the arrays that kernels take.

    A limb that neither tendons pull nor chambers push has no tendons. At rest a segment
    with chambers is as long as its shortest chamber without pressure makes it. Its
    `bend_limit` and `extension_range` are the widest that any direction of bend, and
    any bend, allow; `chamber_models` of app.config.kinematics gives the limits in
    between. Gaps are left
    out: see `limb_gaps` there.
    """
    counts = [len(limb.segment_length_mm) for limb in robot.limbs]
    limbs, segments = len(counts), sum(counts)
    lengths, radii, rests = [], [], []
    lines: list[_Line] = []
    tendon_counts, chambers_at, idle_chamber = [], [], []
    limits: list[tuple[float, float, float]] = []
    for limb in robot.limbs:
        total = sum(limb.segment_length_mm)
        start = 0.0
        limits += _segment_limits(robot, limb)
        chambers = chamber_models(limb)
        before = len(lines)
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
            lines += _tendons(robot, limb, k)
            first = len(lines)
            lines += _chambers(robot, limb, k, radii[-1][0])
            chambers_at.append((first, len(lines)))
            idle_chamber.append(bool(limb.chambers) and limb.chambers[k].one_idle)
        tendon_counts.append(len(lines) - before)
    node, weight = radau_nodes(SEGMENT_POINTS)

    def every(count: int, value: float) -> FloatArray:
        return np.full(count, value, dtype=float)

    def of_line(place: int) -> FloatArray:
        return np.asarray([line[place] for line in lines], dtype=float)

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
        tendon_angle=of_line(0),
        tendon_offset_ratio=of_line(1),
        tendon_origin=of_line(2).astype(np.int64),
        tendon_termination=of_line(3).astype(np.int64),
        tendon_stiffness=of_line(4),
        tendon_damping=of_line(5),
        tendon_tension_least=of_line(6),
        tendon_tension_limit=of_line(7),
        tendon_pretension=of_line(8),
        tendon_range=np.stack([of_line(9), of_line(10)], axis=1),
        segment_chambers=np.asarray(chambers_at, dtype=np.int64),
        idle_chamber=np.asarray(idle_chamber, dtype=np.int64),
        servo_time_constant=of_line(11),
        servo_speed_limit=of_line(12),
        gravity_in_hull=np.array([0.0, 0.0, -robot.water.gravity_m_s2]),
        water_density=np.array([robot.water.density_kg_m3]),
        quadrature_node=node,
        quadrature_weight=weight,
        tree=NO_TREE,
    )
    return changed_robot(built)
