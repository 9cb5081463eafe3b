"""Propellers: thrusts whose line moves with the part that carries them.

Source: Zhang 2022 eqs 35-37. A propeller at the attack point χ with the direction β,
both fixed in the end frame of an element (or in the root), pushes with the wrench

    B_j = (χ x β, β),    τ = Σ Jᵀ B u

angular first here (Zhang prints linear first). J is the twist of the element's end by
the coordinates, so that the joints turn and carry the thrust, and feel it.

Zhang takes thrust proportional to the command u, gain not given; `quadratic` is the
law of a propeller of speed u in still water, T = K u |u| (bollard pull). Astern the
gain may be another. The speed follows the command with a first-order lag, exact for a
constant command, within limits of command and of slope. The propeller's reaction turns
its body by -κ T about β, κ [m] being positive for a right-handed one.

Leaves out loss of thrust with speed of advance, the flow's effect on the body, and
gyroscopic moments.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from models.numerics import FloatArray, IntArray, kernel
from models.tree import TreeModel, TreeWork

__all__ = [
    "PropellerData",
    "PropellerModel",
    "add_propellers",
    "advance_propellers",
    "allocate_propeller_data",
    "make_propellers",
    "propeller_matrix",
]


class PropellerModel(NamedTuple):
    """Constant parameters of K propellers."""

    element: IntArray
    """(K,) element of the tree at whose end the propeller is fixed; -1 = the root."""
    wrench: FloatArray
    """(K, 6) B_j with the reaction, per newton of thrust, in the frame of that end."""
    ahead: FloatArray
    """(K,) thrust at u = 1 [N]."""
    astern: FloatArray
    """(K,) thrust at u = -1, positive [N]."""
    quadratic: IntArray
    """(K,) 1: T = K u |u|; 0: T = K u, as Zhang 2022 takes it."""
    lag: FloatArray
    """(K,) time constant of the speed [s]; 0 = at once."""
    slope: FloatArray
    """(K,) greatest rate of u [1/s]."""
    limit: FloatArray
    """(K,) greatest |u|."""


class PropellerData(NamedTuple):
    """State of K propellers."""

    command: FloatArray
    """(K,) wanted u."""
    speed: FloatArray
    """(K,) present u."""
    thrust: FloatArray
    """(K,) along β [N]."""


def propeller_matrix(position: FloatArray, direction: FloatArray) -> FloatArray:
    """Configuration matrix B of the propellers of one body (Zhang 2022 eq. 36).

    Args:
        position: (K, 3) attack points χ in the body's frame [m].
        direction: (K, 3) unit vectors β.

    Returns:
        (6, K) moment about the frame's origin [m] and force [1] for each newton.
    """
    position, direction = np.atleast_2d(position), np.atleast_2d(direction)
    return np.concatenate([np.cross(position, direction), direction], axis=1).T


def make_propellers(
    element: Sequence[int],
    position: FloatArray,
    direction: FloatArray,
    *,
    ahead: float | FloatArray,
    astern: float | FloatArray | None = None,
    quadratic: bool = False,
    lag: float | FloatArray = 0.0,
    slope: float | FloatArray = np.inf,
    limit: float | FloatArray = 1.0,
    reaction: float | FloatArray = 0.0,
) -> PropellerModel:
    """Make propellers; single numbers hold for all.

    Args:
        element: (K,) elements that carry them; -1 = the root.
        position: (K, 3) attack points in the end frames of the elements [m].
        direction: (K, 3) of the thrust at u > 0 there, of any length.
        ahead: thrust at u = 1 [N].
        astern: thrust at u = -1 [N]; None: as ahead.
        quadratic: the law, see `PropellerModel`.
        lag: [s].
        slope: [1/s].
        limit: greatest |u|.
        reaction: κ, moment over thrust [m].

    Returns:
        The propellers.

    Raises:
        ValueError: shapes that do not agree, or a direction without length.
    """
    size = len(element)
    place, way = np.asarray(position, dtype=float), np.asarray(direction, dtype=float)
    if place.shape != (size, 3) or way.shape != (size, 3):
        raise ValueError(
            f"position {place.shape} and direction {way.shape}: need ({size}, 3)"
        )
    norm = np.linalg.norm(way, axis=1, keepdims=True)
    if not np.all(norm > 0.0):
        raise ValueError("a direction of length 0: give the way of each thrust")

    def full(value: float | FloatArray) -> FloatArray:
        return np.broadcast_to(np.asarray(value, dtype=float), (size,)).copy()

    wrench = propeller_matrix(place, way / norm).T.copy() if size else np.zeros((0, 6))
    wrench[:, :3] -= full(reaction)[:, None] * wrench[:, 3:]
    return PropellerModel(
        element=np.array(element, dtype=np.int64),
        wrench=wrench,
        ahead=full(ahead),
        astern=full(ahead if astern is None else astern),
        quadratic=np.full(size, int(quadratic), dtype=np.int64),
        lag=full(lag),
        slope=full(slope),
        limit=full(limit),
    )


def allocate_propeller_data(propellers: PropellerModel) -> PropellerData:
    """Make the state of propellers that stand still.

    Args:
        propellers: the propellers.

    Returns:
        Arrays of the shapes in `PropellerData`.
    """
    size = propellers.lag.size
    return PropellerData(np.zeros(size), np.zeros(size), np.zeros(size))


@kernel
def advance_propellers(
    propellers: PropellerModel, period: float, data: PropellerData
) -> int:
    """Let speeds follow their commands over one period; note the thrusts.

    Args:
        propellers: the propellers.
        period: time step [s].
        data: speed and thrust are advanced; a command that is not finite holds them.

    Returns:
        Number of commands that were not finite.
    """
    refused = 0
    for k in range(propellers.lag.size):
        u = data.speed[k]
        target = data.command[k]
        if not abs(target) < np.inf:
            refused += 1
            target = u
        target = min(max(target, -propellers.limit[k]), propellers.limit[k])
        change = target - u
        lag = propellers.lag[k]
        if lag > 0.0:
            change *= -np.expm1(-period / lag)
        most = propellers.slope[k] * period
        if abs(change) > most:
            change = most if change > 0.0 else -most
        u += change
        data.speed[k] = u
        gain = propellers.ahead[k] if u > 0.0 else propellers.astern[k]
        data.thrust[k] = gain * (u * abs(u) if propellers.quadratic[k] == 1 else u)
    return refused


@kernel
def add_propellers(
    tree: TreeModel, propellers: PropellerModel, data: PropellerData, work: TreeWork
) -> None:
    """Add the thrusts to the load (Zhang 2022 eq. 37).

    Args:
        tree: the tree.
        propellers: its propellers.
        data: thrusts, by `advance_propellers`.
        work: after `tree_motion`; load is added to.
    """
    for k in range(propellers.lag.size):
        thrust = data.thrust[k]
        if thrust == 0.0:
            continue
        b = propellers.wrench[k]
        element = propellers.element[k]
        if element < 0:
            for d in range(tree.root_size[0]):
                work.load[d] += thrust * b[d]
            continue
        point = tree.element_step_start[element + 1] - 1
        r = work.point_rotation[point]
        at = work.point_position[point]
        fx = thrust * (r[0, 0] * b[3] + r[0, 1] * b[4] + r[0, 2] * b[5])
        fy = thrust * (r[1, 0] * b[3] + r[1, 1] * b[4] + r[1, 2] * b[5])
        fz = thrust * (r[2, 0] * b[3] + r[2, 1] * b[4] + r[2, 2] * b[5])
        mx = thrust * (r[0, 0] * b[0] + r[0, 1] * b[1] + r[0, 2] * b[2])
        my = thrust * (r[1, 0] * b[0] + r[1, 1] * b[1] + r[1, 2] * b[2])
        mz = thrust * (r[2, 0] * b[0] + r[2, 1] * b[1] + r[2, 2] * b[2])
        mx += at[1] * fz - at[2] * fy
        my += at[2] * fx - at[0] * fz
        mz += at[0] * fy - at[1] * fx
        d = tree.element_last_dof[element]
        while d >= 0:
            column = work.column[d]
            work.load[d] += (
                column[0] * mx
                + column[1] * my
                + column[2] * mz
                + column[3] * fx
                + column[4] * fy
                + column[5] * fz
            )
            d = tree.dof_parent[d]
