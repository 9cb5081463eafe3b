"""Strands along rods: tendons that pull, chambers that push, walls that resist.

A strand runs through the sections of one rod, or of several one behind another, at the
place d(X) of each section. With the strain (k, q) of any basis its tangent and its
length are

    t = q + k x d + d',   s = Σ w |t| over Gauss nodes,   ∂|t|/∂(k, q) = (d x t, t)/|t|

so that the row g = ∂s/∂(coordinates) is exact for the s computed; the quadrature
converges with the steps of the rod. Without taper and at constant curvature this is
the l = ℓ - d θ cos(φ - β) of the papers; models/tendon has the closed form with taper.

A law adds to each strand a force f that resists its lengthening, and the share of it
that is implicit, `slope` = h ∂f/∂ṡ + h² ∂f/∂s. `add_strands` puts -g f into the load
and slope g gᵀ into the matrix. Laws: `add_tension` here; models/valve (chambers),
models/visco_hyperelastic (the walls of a soft joint).

`add_tension` is clip(T + k (s - s_paid) + c ṡ, 0, limit): a tendon on an elastic winch,
or with k = c = 0 a prescribed tension T.

Friction of the tendon in its guides (capstan): where it turns by dα it loses μ T dα.
The force that a piece carries is T(X) = T(0) exp(μ ∫ σ dα) with σ in -1..1 the smoothed
sign of the rate at which what lies beyond X lengthens; summed by parts, the power lost
is Σ (T_i - T_i-1) ṡ_beyond >= 0 for every motion. Turning counts the bending of the
sections and of the route itself (k x d', d''), not k' and q'.

The tension's own stiffness (f times the second derivative of s) is explicit. Leaves out
mass of the strand and its stiffness against bending; a strand across a moving joint
between rods (a rigid gap adds to `gap` only).
"""

from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, IntArray, kernel
from models.tree import TreeData, TreeModel, TreeWork
from models.tree_advance import add_to_strain

__all__ = [
    "StrandData",
    "StrandModel",
    "StrandWork",
    "add_strands",
    "add_tension",
    "allocate_strand_data",
    "allocate_strand_work",
    "strand_geometry",
]


class StrandModel(NamedTuple):
    """Constant parameters of S strands, M nodes; `models.strand_builder` makes them."""

    node_start: IntArray
    """(S+1,) nodes of strand i are start[i] .. start[i+1]-1, from its base on."""
    node_element: IntArray
    """(M,) element of the tree that the node is in."""
    node_step: IntArray
    """(M,) step of the tree."""
    node_side: IntArray
    """(M,) which of the step's two Gauss nodes."""
    node_weight: FloatArray
    """(M,) unstrained length that the node stands for [m]."""
    node_offset: FloatArray
    """(M, 3) d [m]."""
    node_slope: FloatArray
    """(M, 3) d' [1]."""
    node_curve: FloatArray
    """(M, 3) d'' [1/m]; for friction alone."""
    last_dof: IntArray
    """(S,) last coordinate that the strand feels; -1 = none."""
    stop_dof: IntArray
    """(S,) the first, towards the root, that it does not feel; -1 = none."""
    gap: FloatArray
    """(S,) constant length in rigid parts between the rods [m]."""
    stiffness: FloatArray
    """(S,) of the tendon and its winch [N/m]."""
    damping: FloatArray
    """(S,) [N s/m]."""
    limit: FloatArray
    """(S,) greatest tension [N]."""
    friction: FloatArray
    """(S,) coefficient μ of a tendon in its guides; 0 = none."""
    friction_speed: FloatArray
    """(S,) rate below which friction fades [m/s]."""


class StrandData(NamedTuple):
    """Commands to S strands."""

    tension: FloatArray
    """(S,) prescribed tension, beside what the stretch gives [N]."""
    paid_out: FloatArray
    """(S,) unloaded length between winch and tie [m]."""


class StrandWork(NamedTuple):
    """What the kernels compute on the way."""

    length: FloatArray
    """(S,) [m]."""
    rate: FloatArray
    """(S,) of lengthening [m/s]."""
    row: FloatArray
    """(S, N) derivative of the length by the tree's coordinates."""
    pull: FloatArray
    """(S, N) the row weighted by the share of the force that friction leaves."""
    force: FloatArray
    """(S,) sum of the laws, positive against lengthening, at the base [N]."""
    slope: FloatArray
    """(S,) implicit share, h ∂f/∂ṡ + h² ∂f/∂s [kg]."""
    node_strain: FloatArray
    """(M, 6) derivative of the node's length by the strain there."""
    node_rate: FloatArray
    """(M,) rate at which the node's length grows [m/s]."""
    node_turn: FloatArray
    """(M,) angle by which the strand turns there; for friction alone [rad]."""


def allocate_strand_data(strands: StrandModel) -> StrandData:
    """Make commands without tension, nothing paid out.

    Args:
        strands: the strands.

    Returns:
        Arrays of the shapes in `StrandData`.
    """
    return StrandData(np.zeros(strands.gap.size), np.zeros(strands.gap.size))


def allocate_strand_work(
    tree: TreeModel, strands: StrandModel, dtype: type = np.float64
) -> StrandWork:
    """Allocate the workspace of strands.

    Args:
        tree: the tree.
        strands: its strands.
        dtype: complex for derivatives by a complex step.

    Returns:
        Zeroed arrays of the shapes in `StrandWork`.
    """
    size, nodes = strands.gap.size, strands.node_weight.size
    width = tree.dof_parent.size
    return StrandWork(
        length=np.zeros(size, dtype),
        rate=np.zeros(size, dtype),
        row=np.zeros((size, width), dtype),
        pull=np.zeros((size, width), dtype),
        force=np.zeros(size, dtype),
        slope=np.zeros(size, dtype),
        node_strain=np.zeros((nodes, 6), dtype),
        node_rate=np.zeros(nodes, dtype),
        node_turn=np.zeros(nodes, dtype),
    )


@kernel
def _node_length(
    tree: TreeModel, strands: StrandModel, node: int, data: TreeData, work: StrandWork
) -> float:
    """Length of a node's piece; notes its derivative by the strain, and its turn."""
    step = strands.node_step[node]
    side = strands.node_side[node]
    rest = tree.step_strain[step, side]
    zero = 0.0 * data.position[0]
    kx, ky, kz = rest[0] + zero, rest[1] + zero, rest[2] + zero
    qx, qy, qz = rest[3] + zero, rest[4] + zero, rest[5] + zero
    element = strands.node_element[node]
    first = tree.element_dof_start[element]
    for d in range(first, tree.element_dof_start[element + 1]):
        value = tree.step_basis[step, side, d - first] * data.position[d]
        component = tree.dof_component[d]
        kx, ky, kz, qx, qy, qz = add_to_strain(component, value, kx, ky, kz, qx, qy, qz)
    offset = strands.node_offset[node]
    slope = strands.node_slope[node]
    dx, dy, dz = offset[0], offset[1], offset[2]
    tx = qx + ky * dz - kz * dy + slope[0]
    ty = qy + kz * dx - kx * dz + slope[1]
    tz = qz + kx * dy - ky * dx + slope[2]
    size = np.sqrt(tx * tx + ty * ty + tz * tz)
    weight = strands.node_weight[node]
    scale = weight / size
    out = work.node_strain[node]
    out[0] = scale * (dy * tz - dz * ty)
    out[1] = scale * (dz * tx - dx * tz)
    out[2] = scale * (dx * ty - dy * tx)
    out[3] = scale * tx
    out[4] = scale * ty
    out[5] = scale * tz
    curve = strands.node_curve[node]
    ax, ay, az = tx + slope[0], ty + slope[1], tz + slope[2]
    ux = ky * az - kz * ay + curve[0]
    uy = kz * ax - kx * az + curve[1]
    uz = kx * ay - ky * ax + curve[2]
    along = (ux * tx + uy * ty + uz * tz) / (size * size)
    ux, uy, uz = ux - along * tx, uy - along * ty, uz - along * tz
    squares = ux * ux + uy * uy + uz * uz
    work.node_turn[node] = scale * np.sqrt(squares) if squares.real > 0.0 else zero
    length: float = weight * size
    return length


@kernel
def _weigh_by_friction(
    tree: TreeModel, strands: StrandModel, strand: int, work: StrandWork
) -> None:
    """The row of the force that friction leaves, from the base to the tie."""
    pull = work.pull[strand]
    beyond = work.rate[strand]
    share = 1.0 + 0.0 * beyond
    turn = 0.0 * beyond
    speed = strands.friction_speed[strand]
    for n in range(strands.node_start[strand], strands.node_start[strand + 1]):
        sign = beyond / np.sqrt(beyond * beyond + speed * speed)
        turn = 0.5 * (turn + work.node_turn[n])
        share *= np.exp(strands.friction[strand] * sign * turn)
        turn = work.node_turn[n]
        beyond -= work.node_rate[n]
        element = strands.node_element[n]
        step = strands.node_step[n]
        side = strands.node_side[n]
        first = tree.element_dof_start[element]
        for d in range(first, tree.element_dof_start[element + 1]):
            pull[d] += (
                share
                * tree.step_basis[step, side, d - first]
                * work.node_strain[n, tree.dof_component[d]]
            )


@kernel
def strand_geometry(
    tree: TreeModel, strands: StrandModel, data: TreeData, work: StrandWork
) -> None:
    """Lengths of all strands, their rates and rows; clears the forces of the laws.

    Args:
        tree: the tree.
        strands: its strands.
        data: position and velocity are read.
        work: all but the sums of the laws is computed; those are set to zero.
    """
    for i in range(strands.gap.size):
        row = work.row[i]
        pull = work.pull[i]
        stop = strands.stop_dof[i]
        d = strands.last_dof[i]
        while d != stop:
            row[d] = 0.0
            pull[d] = 0.0
            d = tree.dof_parent[d]
        length = strands.gap[i] + 0.0 * data.position[0]
        total = 0.0 * length
        for n in range(strands.node_start[i], strands.node_start[i + 1]):
            length += _node_length(tree, strands, n, data, work)
            element = strands.node_element[n]
            step = strands.node_step[n]
            side = strands.node_side[n]
            first = tree.element_dof_start[element]
            rate = 0.0 * length
            for d in range(first, tree.element_dof_start[element + 1]):
                value = (
                    tree.step_basis[step, side, d - first]
                    * work.node_strain[n, tree.dof_component[d]]
                )
                row[d] += value
                rate += value * data.velocity[d]
            work.node_rate[n] = rate
            total += rate
        work.length[i] = length
        work.rate[i] = total
        work.force[i] = 0.0
        work.slope[i] = 0.0
        if strands.friction[i] > 0.0:
            _weigh_by_friction(tree, strands, i, work)


@kernel
def add_tension(
    strands: StrandModel, period: float, command: StrandData, work: StrandWork
) -> None:
    """Tension of every strand as a tendon: clip(T + k (s - s_paid) + c ṡ, 0, limit).

    Args:
        strands: the strands.
        period: time step [s]; the stretch is that at its end. 0: as it is now.
        command: prescribed tensions and lengths paid out.
        work: after `strand_geometry`; force and slope are added to.
    """
    for i in range(strands.gap.size):
        k = strands.stiffness[i]
        c = strands.damping[i] + period * k
        tension = command.tension[i] + c * work.rate[i]
        if k > 0.0:
            tension += k * (work.length[i] - command.paid_out[i])
        if not tension.real > 0.0:
            continue
        if tension.real >= strands.limit[i]:
            work.force[i] += strands.limit[i]
            continue
        work.force[i] += tension
        work.slope[i] += period * c


@kernel
def add_strands(
    tree: TreeModel, strands: StrandModel, strand_work: StrandWork, work: TreeWork
) -> None:
    """Put the forces of all strands into the tree's load and matrix.

    With friction the implicit share is that of (p pᵀ + g gᵀ)/2, p the weighted row,
    which is nowhere below the symmetric part of p gᵀ.

    Args:
        tree: the tree.
        strands: its strands.
        strand_work: after `strand_geometry` and the laws.
        work: after `tree_motion`; load and matrix are added to.
    """
    for i in range(strands.gap.size):
        rough = strands.friction[i] > 0.0
        row = strand_work.row[i]
        pull = strand_work.pull[i] if rough else row
        force = strand_work.force[i]
        slope = 0.5 * strand_work.slope[i]
        stop = strands.stop_dof[i]
        d = strands.last_dof[i]
        while d != stop:
            work.load[d] -= pull[d] * force
            if slope.real > 0.0:
                j = d
                while j != stop:
                    work.matrix[d, j] += slope * (row[d] * row[j] + pull[d] * pull[j])
                    j = tree.dof_parent[j]
            d = tree.dof_parent[d]
