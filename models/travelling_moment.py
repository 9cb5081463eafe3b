"""A moment inside a rod that runs from its base to its tip, as a muscle wave does.

Source: Renda 2018 eqs 25 and 28. In the rod acts an internal moment about one axis of
the section, greatest at the base and falling to zero at a front that travels:

    m(X, t) = m0 (1 - X/l) for X < l,   l = L (t - t0)/Δt,   t0 < t <= t0 + Δt

and nothing before and after. It does work on the curvature, so that its generalised
force on a coordinate of basis p is the integral of m p from 0 to l: exact here, with
Gauss nodes between the base, the ends of pieces, and the front.

Two fronts:

- continuous, as the paper prints it;
- stepped, as the published code has it (github.com/federicorenda/
  Unified-Multi-soft-body-Dynamics): of S sections on X = 0 .. L the first
  n = floor(S (t - t0)/Δt) are recruited, and l = (n - 1) L/(S - 1).

In (28) F is printed with the time since the start of the run. That of the second
recruitment is meant: else m would not end at the front.

Signs: m0 is positive about an axis of the section in the limb's frame, z along it. A
moment about Renda's z (binormal) is one about y here, component k_y, and bends to +x:
Δx > 0. One about his y (normal) is about x here, k_x, and bends to -y. His code applies
-m about both, which opens the arms of the Quadropus; the printed +m closes them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre

from models.numerics import FloatArray, IntArray, kernel
from models.tree import TreeModel, TreeWork

__all__ = [
    "TravellingMoment",
    "add_travelling_moment",
    "front_length",
    "make_travelling_moment",
]

_GAUSS = 8
"""Nodes in a piece: exact up to a basis of order 14."""
_SAME = 1e-9


class TravellingMoment(NamedTuple):
    """Constant parameters of one recruitment in one rod of J coordinates."""

    dof: IntArray
    """(J,) coordinates of the tree that the moment drives."""
    order: IntArray
    """(J,) degree of their Legendre polynomials."""
    factor: FloatArray
    """(J,) their size: p = factor P_order [1/m]."""
    piece: FloatArray
    """(J, 2) start and end of the piece that each lives on, in the rod [m]."""
    gauss: FloatArray
    """(2, G) nodes on -1..1 and their weights."""
    numbers: FloatArray
    """(4,) m0 [N m], t0 [s], Δt [s], L [m]."""
    sections: IntArray
    """(1,) S of a stepped front; 0 = continuous."""


def make_travelling_moment(
    tree: TreeModel,
    elements: Sequence[int],
    component: int,
    moment: float,
    *,
    start: float = 0.0,
    duration: float = 1.0,
    sections: int = 0,
) -> TravellingMoment:
    """Prepare a recruitment.

    Args:
        tree: the tree.
        elements: pieces of the rod, base first.
        component: 0 k_x, 1 k_y or 2 k_z, the axis of the moment.
        moment: m0 [N m].
        start: t0 [s].
        duration: Δt [s].
        sections: of the published code's grid, 50 on its arm; 0: the paper's front.

    Returns:
        Its parameters.

    Raises:
        ValueError: a rod whose basis is not of Legendre polynomials, or numbers out of
            range.
    """
    if not (duration > 0.0 and component in (0, 1, 2) and sections not in (1,)):
        raise ValueError(
            f"duration {duration} must be positive, component {component} one of 0, 1, "
            f"2, sections {sections} 0 or at least 2"
        )
    dofs, orders, factors, pieces = [], [], [], []
    begin = 0.0
    for element in elements:
        steps = np.arange(*tree.element_step_start[element : element + 2])
        h = tree.step_length[steps]
        length = float(np.sum(h))
        centre = tree.point_abscissa[steps] - 0.5 * h
        apart = h / np.sqrt(12.0)
        node = np.stack([centre - apart, centre + apart], axis=1).ravel() / length
        for d in range(*tree.element_dof_start[element : element + 2]):
            if tree.dof_component[d] != component:
                continue
            value = tree.step_basis[steps, :, d - tree.element_dof_start[element]]
            series = legendre.legfit(2.0 * node - 1.0, value.ravel(), node.size - 1)
            order = int(np.argmax(np.abs(series)))
            factor = float(series[order])
            series[order] = 0.0
            if (
                not np.max(np.abs(series)) < _SAME * abs(factor)
                or order > 2 * _GAUSS - 2
            ):
                raise ValueError(
                    f"coordinate {d} of element {element}: its basis is no Legendre "
                    f"polynomial of an order that {steps.size} points can tell"
                )
            dofs.append(d)
            orders.append(order)
            factors.append(factor)
            pieces.append((begin, begin + length))
        begin += length
    return TravellingMoment(
        dof=np.array(dofs, dtype=np.int64),
        order=np.array(orders, dtype=np.int64),
        factor=np.array(factors, dtype=float),
        piece=np.array(pieces, dtype=float).reshape(-1, 2),
        gauss=np.array(legendre.leggauss(_GAUSS)),
        numbers=np.array([moment, start, duration, begin]),
        sections=np.array([sections], dtype=np.int64),
    )


@kernel
def front_length(parameters: TravellingMoment, time: float) -> float:
    """Distance of the front from the rod's start.

    Args:
        parameters: the recruitment.
        time: [s].

    Returns:
        l [m]; 0 before and after.
    """
    since = time - parameters.numbers[1]
    duration = parameters.numbers[2]
    length = parameters.numbers[3]
    if not (since > 0.0 and since <= duration):
        return 0.0
    sections = parameters.sections[0]
    if sections == 0:
        return float(length * since / duration)
    recruited = np.floor(sections * (since / duration))
    return float(max(recruited - 1.0, 0.0) * length / (sections - 1))


@kernel
def add_travelling_moment(
    parameters: TravellingMoment, time: float, work: TreeWork
) -> None:
    """Add the moment's generalised forces to the load.

    Args:
        parameters: the recruitment.
        time: [s].
        work: after `tree_motion`; load is added to.
    """
    front = front_length(parameters, time)
    if not front > 0.0:
        return
    for j in range(parameters.dof.size):
        start = parameters.piece[j, 0]
        whole = parameters.piece[j, 1] - start
        half = 0.5 * (min(parameters.piece[j, 1], front) - start)
        if half <= 0.0:
            continue
        total = 0.0
        for n in range(parameters.gauss.shape[1]):
            way = half * (1.0 + parameters.gauss[0, n])
            x = 2.0 * way / whole - 1.0
            before, value = 0.0, 1.0
            for k in range(parameters.order[j]):
                before, value = (
                    value,
                    ((2 * k + 1) * x * value - k * before) / (k + 1),
                )
            total += parameters.gauss[1, n] * (1.0 - (start + way) / front) * value
        work.load[parameters.dof[j]] += (
            parameters.numbers[0] * half * parameters.factor[j] * total
        )
