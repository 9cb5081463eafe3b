"""Strain bases of a rod, and the nodes that its points stand at.

Coordinate j weighs a polynomial P_n(2 X/L - 1)/L (Legendre) in one of the six strains
(k_x, k_y, k_z, q_x, q_y, q_z). So the first one of a curvature is the whole bend [rad],
and of a stretch the whole elongation [m].
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre as polynomial

from models.numerics import FloatArray

__all__ = [
    "STRAINS",
    "StrainBasis",
    "basis_row",
    "constant_curvature",
    "legendre",
    "radau_nodes",
]

STRAINS = ("k_x", "k_y", "k_z", "q_x", "q_y", "q_z")


class StrainBasis(NamedTuple):
    """Which strains of a rod vary, and how."""

    component: tuple[int, ...]
    """Strain 0..5 of each coordinate."""
    order: tuple[int, ...]
    """Degree of its Legendre polynomial."""
    sign: tuple[float, ...]
    """Factor of each."""


def constant_curvature(*, stretch: bool = True) -> StrainBasis:
    """The reduced model: coordinates (Δx, Δy, δℓ), or (Δx, Δy) without stretch."""
    count = 3 if stretch else 2
    return StrainBasis((1, 0, 5)[:count], (0,) * count, (1.0, -1.0, 1.0)[:count])


def legendre(orders: Mapping[str, int]) -> StrainBasis:
    """Legendre polynomials up to an order in each of the named strains.

    Args:
        orders: for example {"k_y": 4, "q_x": 2}; strains not named stay as at rest.

    Returns:
        The basis, coordinates in the order of the names, each from degree 0 up.

    Raises:
        ValueError: an unknown strain or a negative order.
    """
    component: list[int] = []
    order: list[int] = []
    for name, most in orders.items():
        if name not in STRAINS or most < 0:
            raise ValueError(
                f"Strain basis {name} = {most}: strains are {', '.join(STRAINS)}, "
                f"orders from 0."
            )
        component += [STRAINS.index(name)] * (most + 1)
        order += range(most + 1)
    return StrainBasis(tuple(component), tuple(order), (1.0,) * len(order))


def radau_nodes(count: int) -> tuple[FloatArray, FloatArray]:
    """Right Gauss-Radau nodes on 0..1, the last of which is 1, and their weights.

    Args:
        count: number of nodes, at least 1; exact for polynomials of 2 count - 2.

    Returns:
        (count,) nodes and (count,) weights, which sum to 1.
    """
    # zeros of P_(n-1) - P_n on -1..1
    series = np.zeros(count + 1)
    series[count - 1] = 1.0
    series[count] = -1.0
    roots = np.sort(np.real(polynomial.legroots(series)))
    slope = polynomial.legder(series)
    for _ in range(3):
        roots -= polynomial.legval(roots, series) / polynomial.legval(roots, slope)
    roots[-1] = 1.0
    below = np.zeros(count)
    below[count - 1] = 1.0
    value = polynomial.legval(roots, below)
    weight = (1.0 + roots) / (count * value) ** 2
    return 0.5 * (roots + 1.0), 0.5 * weight


def basis_row(basis: StrainBasis, length: float, at: float) -> FloatArray:
    """Weights (n,) of a rod's coordinates in their strains at a fraction of it.

    Args:
        basis: n coordinates.
        length: of the rod [m].
        at: 0..1 of the way along it.
    """
    table = [polynomial.legval(2.0 * at - 1.0, np.eye(n + 1)[n]) for n in basis.order]
    row: FloatArray = np.array(table) * np.array(basis.sign) / length
    return row
