"""The constant Model of a whole robot and the mutable Data that kernels advance.

Every field is a flat array, so that the same compiled kernels serve any robot.
L limbs, S segments in all, T tendons in all, Q quadrature points a segment. A chamber
of a bending segment counts as a tendon that runs through its segment alone and can only
push: its tension lies between a limit below zero and zero, its winch is the valve, and
what the winch pays out is the length of the chamber under no load. The
equations of motion are those of the `tree` that `models.robot_tree` makes of the rest.

Segment coordinates are (Δx, Δy, δℓ): Δx = θ cos φ and Δy = θ sin φ [rad], free of the
singularity at θ = 0 (Della Santina 2020, divided by his d because these limbs taper
and have no single d), and δℓ [m], the change of arc length from the rest length.
"""

from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, IntArray
from models.tree import TreeData, TreeModel, allocate_tree_data

__all__ = ["RobotData", "RobotModel", "allocate_robot_data"]


class RobotModel(NamedTuple):
    """Constant parameters of a robot, SI units.

    The base frame of a limb has z along the straight limb, away from the hull. The
    hull frame has x forward, y to port, z up.
    """

    limb_segment_start: IntArray
    """(L+1,) segments of limb i are start[i] .. start[i+1]-1."""
    limb_tendon_start: IntArray
    """(L+1,) tendons of limb i are start[i] .. start[i+1]-1."""
    pose_base_to_hull: FloatArray
    """(L, 4, 4) homogeneous pose of each limb's base frame in the hull frame [m]."""
    tip_speed_limit: FloatArray
    """(L,) greatest commanded tip speed [m/s]."""
    segment_length: FloatArray
    """(S,) rest arc length [m]."""
    segment_radius: FloatArray
    """(S, 2) radius of the section at the segment's start and end [m]; linear."""
    bend_limit: FloatArray
    """(S,) greatest bending angle θ [rad]."""
    extension_range: FloatArray
    """(S, 2) least and greatest δℓ [m]."""
    rest_coordinates: FloatArray
    """(S, 3) rest posture (Δx, Δy, δℓ) [rad, rad, m] for the null space."""
    bend_rate_limit: FloatArray
    """(S,) greatest commanded |d(Δx, Δy)/dt| [rad/s]."""
    extension_rate_limit: FloatArray
    """(S,) greatest commanded |dδℓ/dt| [m/s]."""
    density: FloatArray
    """(S,) material density [kg/m3]."""
    young_modulus: FloatArray
    """(S,) [Pa]."""
    axial_stiffness_ratio: FloatArray
    """(S,) axial stiffness over E A: the cable tube and sheaths carry it too."""
    viscosity: FloatArray
    """(S,) Kelvin-Voigt shear viscosity [Pa s]; extension and bending see 3x it."""
    drag_normal: FloatArray
    """(S,) normal drag coefficient C_n, Renda 2018 eq. 11."""
    drag_tangent: FloatArray
    """(S,) tangential drag coefficient C_t, Renda 2018 eq. 11."""
    added_mass: FloatArray
    """(S,) added mass coefficient B of the normal direction, Renda 2018 eq. 13."""
    tendon_angle: FloatArray
    """(T,) azimuth about the limb's z axis [rad]."""
    tendon_offset_ratio: FloatArray
    """(T,) distance from the backbone over the local section radius."""
    tendon_termination: IntArray
    """(T,) index in the limb (0 = proximal) of the segment at whose end it is tied."""
    tendon_origin: IntArray
    """(T,) index in the limb of the first segment that it runs through: 0, and for a
    chamber its own."""
    tendon_stiffness: FloatArray
    """(T,) axial stiffness of the cable and its seat, or of a filled chamber [N/m]."""
    tendon_damping: FloatArray
    """(T,) [N s/m]."""
    tendon_tension_least: FloatArray
    """(T,) least tension: 0 for a tendon, below 0 for a chamber, which pushes [N]."""
    tendon_tension_limit: FloatArray
    """(T,) greatest tension the winch can hold; 0 for a chamber [N]."""
    tendon_pretension: FloatArray
    """(T,) tension at the straight rest posture; 0 for a chamber [N]."""
    tendon_range: FloatArray
    """(T, 2) least and greatest length of a chamber, without pressure and with the
    greatest; of no meaning for a tendon [m]."""
    segment_chambers: IntArray
    """(S, 2) first tendon that is a chamber of the segment, and one past the last;
    equal where it has none."""
    idle_chamber: IntArray
    """(S,) 1 where the shortest chamber of a segment keeps its least length."""
    servo_time_constant: FloatArray
    """(T,) first-order lag of the winch [s]."""
    servo_speed_limit: FloatArray
    """(T,) greatest winding speed [m/s]."""
    gravity_in_hull: FloatArray
    """(3,) [m/s2]."""
    water_density: FloatArray
    """(1,) [kg/m3]."""
    quadrature_node: FloatArray
    """(Q,) right Gauss-Radau nodes on 0..1 of a segment, those of the tree."""
    quadrature_weight: FloatArray
    """(Q,) weights, summing to 1."""
    tree: TreeModel
    """The limbs as a tree: element k is segment k, degree of freedom 3 k + j its
    coordinate j."""


class RobotData(NamedTuple):
    """Mutable state of one copy of the robot: the local model, or the plant."""

    coordinates: FloatArray
    """(S, 3) (Δx, Δy, δℓ) [rad, rad, m]."""
    rates: FloatArray
    """(S, 3) their time derivatives [rad/s, rad/s, m/s]."""
    servo_length: FloatArray
    """(T,) length of tendon paid out by each winch [m]."""
    tension: FloatArray
    """(T,) tension in each tendon [N]."""
    tip_wrench: FloatArray
    """(L, 6) external moment [N m] then force [N] at each tip, hull frame."""
    status: IntArray
    """(L,) 0, or the code of the fault that froze the limb."""
    tree: TreeData
    """The same state as the tree's: `coordinates` and `rates` are views of it."""


def allocate_robot_data(model: RobotModel) -> RobotData:
    """Make the Data of a robot: straight, at rest, tendons without tension.

    Args:
        model: the robot.

    Returns:
        Zeroed arrays of the shapes in `RobotData`.
    """
    limbs = model.tip_speed_limit.size
    segments = model.segment_length.size
    tendons = model.tendon_angle.size
    tree = allocate_tree_data(model.tree)
    return RobotData(
        coordinates=tree.position.reshape(segments, 3),
        rates=tree.velocity.reshape(segments, 3),
        servo_length=np.zeros(tendons),
        tension=np.zeros(tendons),
        tip_wrench=np.zeros((limbs, 6)),
        status=np.zeros(limbs, dtype=np.int64),
        tree=tree,
    )
