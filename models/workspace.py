"""Arrays that the rod kernels work in, allocated once: a step allocates nothing."""

from typing import NamedTuple

import numpy as np

from models.limb_rest import RestData, allocate_rest
from models.numerics import FloatArray, IntArray
from models.robot import RobotModel
from models.tree import TreeWork, allocate_tree_work

__all__ = ["RodWork", "allocate_rod_work"]


class RodWork(NamedTuple):
    """Workspace of the kernels of tendon, weight, winch, cable and rod.

    n segments, m = 3 n coordinates and t tendons of the robot's largest limb. One copy
    belongs to one RobotData and one thread: `kept_…` hold that data's last finite one.
    """

    tree: TreeWork
    """Workspace of the equations of motion."""
    matrix: FloatArray
    """(m, m) mass matrix with the implicit terms; lower triangle."""
    system: FloatArray
    """(s, s) the matrix that is factored; s the greater of m and t."""
    load: FloatArray
    """(m,) generalised forces of all but the tendons [N m, N m, N]."""
    velocity_change: FloatArray
    """(s,) right-hand side, then solution."""
    velocity_kept: FloatArray
    """(m,) velocity change that the step's Newton iteration has reached."""
    velocity_trial: FloatArray
    """(m,) velocity change on the way from there."""
    tendon_length: FloatArray
    """(t,) geometric lengths [m]."""
    tendon_jacobian: FloatArray
    """(t, m) their derivatives."""
    tendon_tension: FloatArray
    """(t,) [N]."""
    tendon_slope: FloatArray
    """(t,) tension gained by each metre a second of velocity change [N s/m]."""
    tendon_least: FloatArray
    """(t,) least tension, 0 or below [N]."""
    tendon_limit: FloatArray
    """(t,) greatest tension [N]."""
    tendon_width: IntArray
    """(t,) number of leading coordinates that the tendon feels."""
    tendon_state: IntArray
    """(t,) 0 at the least, 1 elastic, 2 at the limit."""
    servo_length: FloatArray
    """(t,) paid out at the end of the step [m]."""
    segment_load: FloatArray
    """(n, 6) submerged weight [N] of a segment, its moment about the start [N m]."""
    pose_shift: FloatArray
    """(n, 3) equilibrium less the pose asked of the winches [rad, rad, m]."""
    quad_matrix: FloatArray
    """(t, t) matrix of the bounded quadratic programme for tensions [1/N2]."""
    quad_vector: FloatArray
    """(t,) its linear term [1/N]."""
    quad_low: FloatArray
    """(t,) least tension [N]."""
    quad_high: FloatArray
    """(t,) greatest tension [N]."""
    quad_value: FloatArray
    """(t,) tension [N]."""
    quad_state: IntArray
    """(t,) 0 at the least, 1 free, 2 at the greatest."""
    quad_index: IntArray
    """(t,) the tendon of each unknown, in the limb."""
    kept_coordinates: FloatArray
    """(S, 3) last finite coordinates of the whole robot [rad, rad, m]."""
    kept_servo: FloatArray
    """(T,) last finite paid-out lengths of the whole robot [m]."""
    kept_tension: FloatArray
    """(T,) last finite tensions of the whole robot [N]."""
    rest: RestData
    """Which limbs are left alone."""


def allocate_rod_work(model: RobotModel, *, rests: bool = False) -> RodWork:
    """Allocate the workspace for a robot.

    Args:
        model: the robot.
        rests: limbs may come to rest.

    Returns:
        Zeroed arrays of the shapes in `RodWork`.
    """
    tree = allocate_tree_work(model.tree)
    tree.corrects[0] = 2  # robot_step solves limb by limb and corrects no turning
    segments = int(np.max(np.diff(model.limb_segment_start)))
    tendons = int(np.max(np.diff(model.limb_tendon_start)))
    size = 3 * segments
    block = max(size, tendons)
    return RodWork(
        tree=tree,
        matrix=np.zeros((size, size)),
        system=np.zeros((block, block)),
        load=np.zeros(size),
        velocity_change=np.zeros(block),
        velocity_kept=np.zeros(size),
        velocity_trial=np.zeros(size),
        tendon_length=np.zeros(tendons),
        tendon_jacobian=np.zeros((tendons, size)),
        tendon_tension=np.zeros(tendons),
        tendon_slope=np.zeros(tendons),
        tendon_least=np.zeros(tendons),
        tendon_limit=np.zeros(tendons),
        tendon_width=np.zeros(tendons, dtype=np.int64),
        tendon_state=np.zeros(tendons, dtype=np.int64),
        servo_length=np.zeros(tendons),
        segment_load=np.zeros((segments, 6)),
        pose_shift=np.zeros((segments, 3)),
        quad_matrix=np.zeros((tendons, tendons)),
        quad_vector=np.zeros(tendons),
        quad_low=np.zeros(tendons),
        quad_high=np.zeros(tendons),
        quad_value=np.zeros(tendons),
        quad_state=np.zeros(tendons, dtype=np.int64),
        quad_index=np.zeros(tendons, dtype=np.int64),
        kept_coordinates=np.zeros((model.segment_length.size, 3)),
        kept_servo=np.zeros(model.tendon_angle.size),
        kept_tension=np.zeros(model.tendon_angle.size),
        rest=allocate_rest(model, allowed=rests),
    )
