"""Equilibria of a tree, and small motions about one: frequencies and damping.

An equilibrium is a state at rest at which the generalised forces Q vanish. Newton's
method on Q(q) = 0 with the derivative by central differences, which limits the speed of
the iteration but not what it converges to:

    K Δq = Q,   K = -dQ/dq

Loads grow in steps, and each Newton step is shortened until Q shrinks, so that a limb
may bend through large angles under a load that comes at once. Where K is singular (a
tree that floats freely can lie anywhere) the shortest step is taken.

About an equilibrium M q¨ + D q˙ + K q = 0 has the roots λ = -ζ ω ± i ω √(1 - ζ²).
Drag has its share in D where it is linear, or where a current runs. K is not symmetric
where forces follow the body (a current, an actuator), and modes may then grow: ζ < 0.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from models.lie import pose_exp
from models.numerics import FloatArray
from models.tree import TreeData, TreeModel, TreeWork
from models.tree_motion import tree_motion
from models.tree_step import add_elastic

__all__ = ["Equilibrium", "Modes", "solve_equilibrium", "tree_modes", "tree_stiffness"]

Mask = NDArray[np.bool_]
StaticForces = Callable[[TreeModel, TreeData, TreeWork], None]
"""Adds forces to work.load."""

_DIFFERENCE = 1e-6
_SHORTEST = 1e-3
"""Least share of a Newton step."""
_ON_THE_WAY = 1e-4
"""Tolerance where only a part of the loads acts."""


class Equilibrium(NamedTuple):
    """How a search for an equilibrium ended; the state itself is in the Data."""

    converged: bool
    iterations: int
    residual: float
    """Greatest generalised force left, over the greatest of its kind (on angles, or on
    lengths) that loads and elasticity had, weight and buoyancy counted apart."""


class Modes(NamedTuple):
    """Small motions about an equilibrium, slowest first."""

    frequency: FloatArray
    """(M,) |λ|/2π [Hz]; 0 for a rigid motion."""
    damping: FloatArray
    """(M,) ratio ζ; 1 and above for a motion without swing."""


def _forces(
    model: TreeModel, data: TreeData, work: TreeWork, forces: StaticForces | None
) -> tuple[FloatArray, FloatArray]:
    """Generalised forces (N,) of the loads, and of elasticity with viscosity."""
    tree_motion(model, 0.0, data, work)
    if forces is not None:
        forces(model, data, work)
    loads = work.load.copy()
    add_elastic(model, 0.0, data, work)
    return loads, work.load - loads


def _move(model: TreeModel, data: TreeData, change: FloatArray) -> None:
    root = int(model.root_size[0])
    if root:
        turn = np.empty((4, 4))
        pose_exp(np.ascontiguousarray(change[:6]), turn)
        data.root_pose[:] = data.root_pose @ turn
    data.position[root:] += change[root:]


def _free(model: TreeModel) -> Mask:
    """(N,) which coordinates can change."""
    free = np.ones(model.dof_parent.size, dtype=np.bool_)
    root = int(model.root_size[0])
    free[:root] = model.root_free[:root] == 1
    return free


def _is_angle(model: TreeModel) -> Mask:
    """(N,) which coordinates are angles, and so have moments for forces."""
    angle = model.dof_component < 3
    root = int(model.root_size[0])
    angle[:root] = np.arange(root) < 3
    return angle


class _Balance:
    """Forces that are left, and how large they are beside what acts."""

    def __init__(
        self,
        model: TreeModel,
        data: TreeData,
        work: TreeWork,
        forces: StaticForces | None,
    ) -> None:
        self._parts = model, data, work, forces
        self._free = _free(model)
        angle = _is_angle(model)
        self._kinds = angle, ~angle
        tree_motion(model, 0.0, data, work)
        weight = float(np.sum(model.point_mass + model.point_displaced))
        weight *= float(np.linalg.norm(model.gravity))
        reach = float(np.max(np.abs(work.point_position), initial=0.0))
        self._scale = np.array([weight * reach, weight])

    def left(self, share: float) -> tuple[float, FloatArray]:
        """Residual, and (N,) generalised forces left at a share of the loads."""
        loads, elastic = _forces(*self._parts)
        rest = (share * loads + elastic) * self._free
        worst = 0.0
        for k, kind in enumerate(self._kinds):
            both = np.abs(np.append(loads[kind], elastic[kind]))
            self._scale[k] = max(self._scale[k], np.max(both, initial=0.0))
            if self._scale[k] > 0.0:
                size = np.max(np.abs(rest[kind]), initial=0.0)
                worst = max(worst, float(size / self._scale[k]))
        return worst, rest


def tree_stiffness(
    model: TreeModel,
    data: TreeData,
    work: TreeWork,
    forces: StaticForces | None = None,
    share: float = 1.0,
) -> FloatArray:
    """Derivative of the restoring forces by the coordinates, at rest.

    Args:
        model: the tree.
        data: where; kept but for the velocity, which becomes 0.
        work: workspace.
        forces: further forces.
        share: of the loads; elasticity counts in full.

    Returns:
        (N, N): -dQ/dq, for the root per twist in its own frame, angular first.
    """
    size = model.dof_parent.size
    stiffness = np.zeros((size, size))
    data.velocity[:] = 0.0
    pose, position = data.root_pose.copy(), data.position.copy()
    for k in range(size):
        for side in (1.0, -1.0):
            change = np.zeros(size)
            change[k] = side * _DIFFERENCE
            _move(model, data, change)
            loads, elastic = _forces(model, data, work, forces)
            stiffness[:, k] -= side * (share * loads + elastic) / (2.0 * _DIFFERENCE)
            data.root_pose[:], data.position[:] = pose, position
    return stiffness


def solve_equilibrium(
    model: TreeModel,
    data: TreeData,
    work: TreeWork,
    *,
    forces: StaticForces | None = None,
    load_steps: int = 4,
    tolerance: float = 1e-10,
    iterations: int = 60,
) -> Equilibrium:
    """Bring a tree to rest under its loads.

    Args:
        model: the tree.
        data: where to begin; gets the equilibrium. Its applied forces and wrenches act,
            and so do weight, buoyancy and current.
        work: workspace.
        forces: adds further forces.
        load_steps: equal parts in which the loads come. A search from a state that is
            near already takes 1.
        tolerance: of the residual.
        iterations: most Newton steps for each part.

    Returns:
        Whether it was found, and how well.
    """
    free = _free(model)
    count = 0
    residual = np.inf
    data.velocity[:] = 0.0
    balance = _Balance(model, data, work, forces)
    for part in range(1, load_steps + 1):
        share = part / load_steps
        aim = tolerance if part == load_steps else _ON_THE_WAY
        for _ in range(iterations):
            residual, rest = balance.left(share)
            if residual < aim:
                break
            count += 1
            matrix = tree_stiffness(model, data, work, forces, share)
            step = _newton_step(matrix, rest, free)
            _shorten(model, data, work, forces, share, free, step, rest)
    return Equilibrium(residual < tolerance, count, residual)


def _newton_step(matrix: FloatArray, rest: FloatArray, free: Mask) -> FloatArray:
    """(N,) the least change that takes away the forces that are left."""
    step = np.zeros(free.size)
    diagonal = np.abs(np.diag(matrix))[free]
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    scaled = matrix[np.ix_(free, free)] * np.outer(scale, scale)
    step[free] = scale * np.linalg.lstsq(scaled, scale * rest[free], rcond=1e-12)[0]
    return step


def _shorten(
    model: TreeModel,
    data: TreeData,
    work: TreeWork,
    forces: StaticForces | None,
    share: float,
    free: Mask,
    step: FloatArray,
    rest: FloatArray,
) -> None:
    """Take a Newton step, or as much of it as makes the forces that are left smaller.

    They are weighed by the inverse of the mass matrix: a measure in which a stiff
    coordinate does not hide a soft one, and that knows no units.
    """
    pose, position = data.root_pose.copy(), data.position.copy()
    mass = np.tril(work.matrix)
    mass = mass + np.tril(mass, -1).T
    pick = np.ix_(free, free)
    before = rest[free] @ np.linalg.solve(mass[pick], rest[free])
    part = 1.0
    while part > _SHORTEST:
        _move(model, data, part * step)
        loads, elastic = _forces(model, data, work, forces)
        left = (share * loads + elastic)[free]
        if left @ np.linalg.solve(mass[pick], left) < before:
            return
        data.root_pose[:], data.position[:] = pose, position
        part *= 0.5
    _move(model, data, part * step)


def tree_modes(
    model: TreeModel,
    data: TreeData,
    work: TreeWork,
    forces: StaticForces | None = None,
) -> Modes:
    """Natural frequencies and damping ratios of a tree about an equilibrium.

    Args:
        model: the tree.
        data: the equilibrium; kept but for the velocity, which becomes 0.
        work: workspace.
        forces: further forces.

    Returns:
        Its modes, one for each pair of roots, or two for a pair of real ones.
    """
    stiffness = tree_stiffness(model, data, work, forces)
    tree_motion(model, 0.0, data, work)
    mass = np.tril(work.matrix)
    mass = mass + np.tril(mass, -1).T
    size = mass.shape[0]
    damping = np.zeros((size, size))
    for k in range(size):
        for side in (1.0, -1.0):
            data.velocity[:] = 0.0
            data.velocity[k] = side * _DIFFERENCE
            loads, elastic = _forces(model, data, work, forces)
            damping[:, k] -= side * (loads + elastic) / (2.0 * _DIFFERENCE)
    data.velocity[:] = 0.0
    free = np.flatnonzero(_free(model))
    pick = np.ix_(free, free)
    inverse = np.linalg.inv(mass[pick])
    count = inverse.shape[0]
    system = np.zeros((2 * count, 2 * count))
    system[:count, count:] = np.eye(count)
    system[count:, :count] = -inverse @ stiffness[pick]
    system[count:, count:] = -inverse @ damping[pick]
    roots = np.linalg.eigvals(system)
    roots = roots[roots.imag >= 0.0]
    roots = roots[np.argsort(np.abs(roots))]
    speed = np.abs(roots)
    ratio = np.divide(-roots.real, speed, out=np.zeros_like(speed), where=speed > 0.0)
    return Modes(speed / (2.0 * np.pi), ratio)
