"""A robot's limbs as a tree: each segment a rod of constant curvature on a fixed hull.

Element k of the tree is segment k of the robot, and its coordinates are the segment's
(Δx, Δy, δℓ).
"""

import numpy as np

from models.robot import RobotModel
from models.strain_basis import constant_curvature
from models.tree import TreeModel
from models.tree_builder import ROOT, TreeBuilder

__all__ = ["NO_TREE", "SEGMENT_POINTS", "build_robot_tree", "changed_robot"]

SEGMENT_POINTS = 5
"""Points of mass and drag a segment."""


def _empty_tree() -> TreeModel:
    builder = TreeBuilder()
    builder.add_body(ROOT, np.eye(4))
    return builder.build()


NO_TREE = _empty_tree()
"""For a `RobotModel` that goes through `changed_robot` next."""


def build_robot_tree(model: RobotModel) -> TreeModel:
    """Make the tree of a robot's limbs.

    Args:
        model: the robot; its `tree` is not read.

    Returns:
        The tree, with 3 coordinates a segment and a fixed root, the hull.
    """
    builder = TreeBuilder(
        root="fixed",
        gravity=model.gravity_in_hull,
        water_density=float(model.water_density[0]),
    )
    for limb in range(model.tip_speed_limit.size):
        parent, pose = ROOT, model.pose_base_to_hull[limb]
        for k in range(
            int(model.limb_segment_start[limb]), int(model.limb_segment_start[limb + 1])
        ):
            parent = builder.add_rod(
                parent,
                pose,
                length=float(model.segment_length[k]),
                radius=(
                    float(model.segment_radius[k, 0]),
                    float(model.segment_radius[k, 1]),
                ),
                density=float(model.density[k]),
                young_modulus=float(model.young_modulus[k]),
                shear_modulus=float(model.young_modulus[k]) / 3.0,
                viscosity=float(model.viscosity[k]),
                axial_stiffness_ratio=float(model.axial_stiffness_ratio[k]),
                drag_normal=float(model.drag_normal[k]),
                drag_tangent=float(model.drag_tangent[k]),
                added_mass=float(model.added_mass[k]),
                basis=constant_curvature(),
                points=SEGMENT_POINTS,
                name=f"limb {limb} segment {k}",
            )
            pose = np.eye(4)
    return builder.build()


def changed_robot(model: RobotModel, **changes: object) -> RobotModel:
    """A copy of a robot with some arrays changed, and its tree made anew.

    Args:
        model: the robot.
        changes: fields of `RobotModel` and their new arrays.

    Returns:
        The changed robot.
    """
    changed: RobotModel = model._replace(**changes)  # type: ignore[arg-type]
    return changed._replace(tree=build_robot_tree(changed))
