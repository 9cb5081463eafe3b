"""Robots of one limb for the tests of rod, tendon, winch and water."""

import numpy as np

from app.config.robot import build_robot_model, load_robot
from models.arc import arc_pose
from models.limb import limb_poses
from models.robot import RobotModel
from models.robot_tree import NO_TREE, changed_robot

URSULA = build_robot_model(load_robot("ursula"))

# of the reference results: URSULA's limb, clamped with its axis horizontal
LENGTH, RADIUS_BASE, RADIUS_TIP = 0.6, 0.03, 0.01
YOUNG, DENSITY, WATER = 69e3, 1070.0, 1000.0


def one_limb(segments: int, uniform: bool = False, **changes: object) -> RobotModel:
    """Clamp one limb of equal segments at the hull's origin, its axis along hull x.

    Nothing in it damps and nothing pulls it down, unless changes say so.
    Coordinate Δx bends it towards hull +z.
    """
    slope = 0.0 if uniform else RADIUS_TIP - RADIUS_BASE
    ends = RADIUS_BASE + slope * np.linspace(0.0, 1.0, segments + 1)
    pose = np.eye(4)
    pose[:3, :3] = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])
    tendons = 4 * segments

    def every(value: float) -> np.ndarray:
        return np.full(segments, value)

    def tendon(value: float) -> np.ndarray:
        return np.full(tendons, value)

    model = RobotModel(
        limb_segment_start=np.array([0, segments]),
        limb_tendon_start=np.array([0, tendons]),
        pose_base_to_hull=pose[None],
        tip_speed_limit=np.ones(1),
        segment_length=every(LENGTH / segments),
        segment_radius=np.stack([ends[:-1], ends[1:]], axis=1),
        bend_limit=every(np.pi / 2),
        extension_range=np.tile([-0.01, 0.0], (segments, 1)),
        rest_coordinates=np.zeros((segments, 3)),
        bend_rate_limit=every(1.5),
        extension_rate_limit=every(0.02),
        density=every(DENSITY),
        young_modulus=every(YOUNG),
        axial_stiffness_ratio=every(1.0),
        viscosity=every(0.0),
        drag_normal=every(0.0),
        drag_tangent=every(0.0),
        added_mass=every(0.0),
        tendon_angle=np.tile(np.arange(4) * np.pi / 2, segments),
        tendon_offset_ratio=tendon(0.6),
        tendon_termination=np.repeat(np.arange(segments), 4),
        tendon_stiffness=tendon(20000.0),
        tendon_damping=tendon(0.0),
        tendon_origin=np.zeros(4 * segments, dtype=np.int64),
        tendon_tension_least=tendon(0.0),
        tendon_tension_limit=tendon(40.0),
        tendon_range=np.tile([0.0, np.inf], (4 * segments, 1)),
        segment_chambers=np.zeros((segments, 2), dtype=np.int64),
        idle_chamber=np.zeros(segments, dtype=np.int64),
        tendon_pretension=tendon(0.1),
        servo_time_constant=tendon(0.05),
        servo_speed_limit=tendon(0.12),
        gravity_in_hull=np.zeros(3),
        water_density=np.array([WATER]),
        quadrature_node=URSULA.quadrature_node,
        quadrature_weight=URSULA.quadrature_weight,
        tree=NO_TREE,
    )
    return changed_robot(model, **changes)


def limb_rows(model: RobotModel, limb: int) -> slice:
    """Rows of a limb's segments in the robot's arrays."""
    return slice(model.limb_segment_start[limb], model.limb_segment_start[limb + 1])


def random_pose(model: RobotModel, limb: int, seed: int) -> np.ndarray:
    """Coordinates (n, 3) anywhere inside the limits, straight ones included."""
    generator = np.random.default_rng(seed)
    rows = limb_rows(model, limb)
    bend = model.bend_limit[rows] * generator.choice([0.0, 1e-7, 1e-3, 0.5, 1.0], 1)
    bend = bend * generator.random(bend.size)
    turn = generator.uniform(-np.pi, np.pi, bend.size)
    low, high = model.extension_range[rows].T
    return np.stack(
        [bend * np.cos(turn), bend * np.sin(turn), generator.uniform(low, high)], axis=1
    )


def section_pose(
    model: RobotModel, limb: int, coordinates: np.ndarray, segment: int, sigma: float
) -> np.ndarray:
    """Pose (4, 4) in the hull of the section at a fraction of a segment."""
    poses = np.zeros((len(coordinates) + 1, 4, 4))
    limb_poses(model, limb, coordinates, poses)
    inner = np.zeros((4, 4))
    x, y, extension = coordinates[segment]
    row = model.limb_segment_start[limb] + segment
    length = model.segment_length[row] + extension
    arc_pose(sigma * x, sigma * y, sigma * length, inner)
    return model.pose_base_to_hull[limb] @ poses[segment] @ inner
