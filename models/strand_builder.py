"""Lay strands through the rods of a tree: their routes and quadrature nodes.

A route gives the place d(X) of a strand in each section of a rod, and d'(X). Nodes are
the two Gauss nodes of every step of the rod, where the tree knows the strain exactly.
"""

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from models.numerics import FloatArray
from models.strand import StrandModel
from models.tree import TreeModel

__all__ = ["Route", "helical_route", "make_strands", "rod_passes", "straight_route"]

_ROOT_3 = 1.7320508075688772

Route = Callable[[float], tuple[tuple[float, float, float], tuple[float, float, float]]]
"""Abscissa X [m] to the place d of a strand in the section [m] and to d' [1]."""


def straight_route(
    length: float, offset_start: float, offset_end: float, azimuth: float
) -> Route:
    """Route at a fixed azimuth, its distance from the axis linear as a taper is.

    Args:
        length: of the rod at rest [m].
        offset_start: distance from the axis at the rod's start [m].
        offset_end: at its end [m].
        azimuth: β in the section [rad].

    Returns:
        The route.
    """
    x, y = float(np.cos(azimuth)), float(np.sin(azimuth))
    slope = (offset_end - offset_start) / length

    def route(
        abscissa: float,
    ) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        distance = offset_start + slope * abscissa
        return (distance * x, distance * y, 0.0), (slope * x, slope * y, 0.0)

    return route


def helical_route(offset: float, azimuth: float, pitch: float) -> Route:
    """Route around the axis at a fixed distance.

    Args:
        offset: distance from the axis [m].
        azimuth: at the rod's start [rad].
        pitch: growth of the azimuth along the rod [rad/m].

    Returns:
        The route.
    """

    def route(
        abscissa: float,
    ) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        angle = azimuth + pitch * abscissa
        x, y = offset * float(np.cos(angle)), offset * float(np.sin(angle))
        return (x, y, 0.0), (-pitch * y, pitch * x, 0.0)

    return route


def rod_passes(
    tree: TreeModel, elements: Sequence[int], route: Route
) -> list[tuple[int, Route]]:
    """Lay one route through pieces of a rod that follow each other without a gap.

    Args:
        tree: the tree.
        elements: the pieces, base first.
        route: of the abscissa from the start of the first piece.

    Returns:
        A pass for each piece, for `make_strands`.
    """

    def shifted(by: float) -> Route:
        return lambda abscissa: route(by + abscissa)

    passes = []
    start = 0.0
    for element in elements:
        passes.append((element, shifted(start)))
        steps = slice(*tree.element_step_start[element : element + 2])
        start += float(np.sum(tree.step_length[steps]))
    return passes


def make_strands(
    tree: TreeModel,
    passes: Sequence[Sequence[tuple[int, Route]]],
    *,
    stiffness: float | FloatArray = 0.0,
    damping: float | FloatArray = 0.0,
    limit: float | FloatArray = np.inf,
    gap: float | FloatArray = 0.0,
    friction: float | FloatArray = 0.0,
    friction_speed: float | FloatArray = 1e-3,
) -> StrandModel:
    """Lay strands through the rods of a tree.

    Args:
        tree: the tree.
        passes: for each strand the rods that it runs through, base first, and its route
            in each; a rod must hang, at any distance, on the one before.
        stiffness: [N/m], one or (S,); likewise the others: see `StrandModel`.
        damping: [N s/m].
        limit: [N].
        gap: [m].
        friction: μ.
        friction_speed: [m/s].

    Returns:
        The strands, in the order of `passes`.

    Raises:
        ValueError: where a strand passes no rod, or rods that are not one chain.
    """
    start, nodes, ends = [0], [], []
    for index, path in enumerate(passes):
        if not path:
            raise ValueError(f"strand {index} passes no rod: give it at least one")
        for (before, _), (element, _) in itertools.pairwise(path):
            above = int(tree.element_parent[element])
            while above not in (-1, before):
                above = int(tree.element_parent[above])
            if above != before:
                raise ValueError(
                    f"strand {index}: element {element} does not hang on {before}"
                )
        for element, route in path:
            for step in range(
                tree.element_step_start[element], tree.element_step_start[element + 1]
            ):
                h = tree.step_length[step]
                for side in range(2):
                    way = 0.5 * (1.0 + (2 * side - 1) / _ROOT_3)
                    at = float(tree.point_abscissa[step] - h + h * way)
                    offset, slope = route(at)
                    apart = 1e-4 * h
                    curve = np.subtract(route(at + apart)[1], route(at - apart)[1])
                    curve /= 2.0 * apart
                    nodes.append((element, step, side, 0.5 * h, offset, slope, curve))
        start.append(len(nodes))
        ends.append(
            (tree.element_last_dof[path[-1][0]], tree.element_above_dof[path[0][0]])
        )
    size = len(passes)

    def full(value: float | FloatArray) -> FloatArray:
        return np.broadcast_to(np.asarray(value, dtype=np.float64), (size,)).copy()

    return StrandModel(
        node_start=np.array(start, dtype=np.int64),
        node_element=np.array([n[0] for n in nodes], dtype=np.int64),
        node_step=np.array([n[1] for n in nodes], dtype=np.int64),
        node_side=np.array([n[2] for n in nodes], dtype=np.int64),
        node_weight=np.array([n[3] for n in nodes], dtype=np.float64),
        node_offset=np.array([n[4] for n in nodes], dtype=np.float64),
        node_slope=np.array([n[5] for n in nodes], dtype=np.float64),
        node_curve=np.array([n[6] for n in nodes], dtype=np.float64),
        last_dof=np.array([e[0] for e in ends], dtype=np.int64),
        stop_dof=np.array([e[1] for e in ends], dtype=np.int64),
        gap=full(gap),
        stiffness=full(stiffness),
        damping=full(damping),
        limit=full(limit),
        friction=full(friction),
        friction_speed=full(friction_speed),
    )
