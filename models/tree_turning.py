"""Forces quadratic in the speed, taken at the middle of a step of a tree that turns.

Coriolis and other gyroscopic forces c(v), evaluated at the speed v of the step's
start, feed energy to whatever turns at a rate Ω: a share (h Ω)² a step, which without
drag grows until the tree flies apart. At v + Δv/2 they neither feed nor take. With two
iterations of

    M Δv = h (Q - c(v + Δv/2))

the factor of a turning mode is 1 + z + z²/2 + z³/4, z = i h Ω, and its square
1 - (h Ω)⁴/4 + (h Ω)⁶/16: below 1 for h Ω < 2. (With one it is 1 + (h Ω)⁴/4.)

What the points' inertial forces f at constant rates could feed is at most
h² Σ f²/m of Σ m v² (Gauss's principle), and h² ω² of what drifts across a spin ω. Only
where that is above 2 % a second the iterations are made: a slow tree (below 4.5 rad/s
at 1 kHz) does not pay for them.
"""

from models.numerics import called_kernel, kernel
from models.tree import TreeData, TreeModel, TreeWork
from models.tree_motion import tree_motion
from models.tree_solve import solve_tree, tree_factor

__all__ = ["correct_turning", "hold_root"]


@kernel
def hold_root(model: TreeModel, work: TreeWork) -> None:
    """Take the components of the root's twist that are not free out of the system."""
    if model.root_size[0] == 0:
        return
    for k in range(6):
        if model.root_free[k] == 1:
            continue
        for d in range(model.dof_parent.size):
            if d >= k:
                work.matrix[d, k] = 0.0
            if k >= d:
                work.matrix[k, d] = 0.0
        work.matrix[k, k] = 1.0
        work.load[k] = 0.0


@called_kernel
def correct_turning(
    model: TreeModel, period: float, data: TreeData, work: TreeWork
) -> int:
    """Take the gyroscopic forces of a fast step at v + Δv/2.

    To be called when all forces are in, once a step and where `work.corrects` is 1;
    `finish_step` does. Costs two `tree_motion`.

    Args:
        model: the tree.
        period: time step [s], that of the forces.
        data: velocity is changed and put back.
        work: matrix and load; points are left at the velocity v + Δv/2.

    Returns:
        -1, or the degree of freedom at which the matrix is not positive definite.
    """
    size = model.dof_parent.size
    parent = model.dof_parent
    for d in range(size):
        work.kept_velocity[d] = data.velocity[d]
        work.motion_load[d] = work.load[d] - work.motion_load[d]
        j = d
        while j >= 0:
            work.motion_matrix[d, j] = work.matrix[d, j] - work.motion_matrix[d, j]
            j = parent[j]
    work.corrects[0] = 2
    failed = -1
    for _ in range(2):
        hold_root(model, work)
        failed = tree_factor(model, work)
        if failed >= 0:
            break
        for d in range(size):
            work.change[d] = period * work.load[d]
        solve_tree(model, work, work.change)
        for d in range(size):
            data.velocity[d] = work.kept_velocity[d] + 0.5 * work.change[d]
        tree_motion(model, 0.5 * period, data, work)
        for d in range(size):
            work.load[d] += work.motion_load[d]
            j = d
            while j >= 0:
                work.matrix[d, j] += work.motion_matrix[d, j]
                j = parent[j]
    for d in range(size):
        data.velocity[d] = work.kept_velocity[d]
    work.corrects[0] = 0
    return int(failed)
