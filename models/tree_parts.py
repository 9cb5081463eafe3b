"""The parts that a tree is built of: elements and their points, before they are arrays.

Renda 2018 eq. 6 (stiffness and viscosity, integrated over the taper), eqs 10, 11 and 13
(weight, drag and added mass of a section).
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from models.numerics import FloatArray
from models.strain_basis import StrainBasis, basis_row, radau_nodes

__all__ = ["SPEED_LIMIT", "Element", "Point", "cylinder_strips", "rod_piece"]

SPEED_LIMIT = 100.0
"""m/s: what no part of such a robot reaches; above, a state is called diverging."""
_GAUSS = 24
"""Nodes for stiffness: exact for tapers of fourth order and bases up to order 20."""


@dataclass
class Point:
    """A point and the step that leads to it; fields as in `TreeModel`."""

    length: float = 0.0
    basis: FloatArray = field(default_factory=lambda: np.zeros((2, 0)))
    strain: FloatArray = field(default_factory=lambda: np.zeros((2, 6)))
    kind: int = 0
    abscissa: float = 0.0
    radius: float = 0.0
    weight: float = 0.0
    mass: float = 0.0
    displaced: float = 0.0
    inertia: ArrayLike = (0.0, 0.0, 0.0)
    added: ArrayLike = (0.0, 0.0, 0.0)
    drag: ArrayLike = (0.0, 0.0, 0.0)
    drag_linear: ArrayLike = (0.0, 0.0, 0.0)
    drag_turn: ArrayLike = (0.0, 0.0, 0.0)
    drag_turn_linear: ArrayLike = (0.0, 0.0, 0.0)


@dataclass
class Element:
    """An element; fields as in `TreeModel`."""

    name: str
    parent: int
    pose: FloatArray
    points: list[Point]
    component: tuple[int, ...] = ()
    rest: tuple[float, ...] = ()
    speed_limit: tuple[float, ...] = ()
    varies: bool = False
    stiffness: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    damping: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))


def _speed_limits(
    basis: StrainBasis, length: float, radius: float
) -> tuple[float, ...]:
    """Rate of each coordinate at which the rod's fastest part is at `SPEED_LIMIT`.

    A bend moves the tip by its lever, a twist the surface by its radius, a polynomial
    of degree n both by some 1/(n + 1)² of that.
    """
    lever = (length, length, radius, 1.0, 1.0, 1.0)
    return tuple(
        SPEED_LIMIT * (n + 1) ** 2 / lever[c]
        for c, n in zip(basis.component, basis.order, strict=True)
    )


def rod_piece(
    water: float,
    length: float,
    radius: tuple[float, float],
    density: float,
    material: tuple[float, float, float, float],
    fluid: tuple[float, float, float],
    basis: StrainBasis,
    points: int,
    reference: FloatArray,
) -> Element:
    """One piece of a rod: points, stiffness, viscosity.

    Args:
        water: density of the water [kg/m3].
        length: at rest [m].
        radius: at its ends [m].
        density: [kg/m3].
        material: Young's and shear modulus [Pa], shear viscosity [Pa s], axial
            stiffness over E A.
        fluid: C_n, C_t of Renda 2018 eq. 11, B of its eq. 13.
        basis: its coordinates.
        points: mass points.
        reference: (6,) strain at rest.

    Returns:
        The element, without name and place.
    """
    node, weight = radau_nodes(points)

    def radius_at(at: float) -> float:
        return radius[0] + (radius[1] - radius[0]) * at

    normal, tangent, added = fluid
    listed: list[Point] = []
    before = 0.0
    for at, share in zip(node, weight, strict=True):
        step = at - before
        gauss = [
            before + step * (0.5 + side * math.sqrt(3.0) / 6.0) for side in (-1, 1)
        ]
        r = radius_at(at)
        area = math.pi * r * r
        second = 0.25 * math.pi * r**4
        part = share * length
        listed.append(
            Point(
                length=step * length,
                basis=np.array([basis_row(basis, length, g) for g in gauss]),
                strain=np.tile(reference, (2, 1)),
                kind=1,
                abscissa=at * length,
                radius=r,
                weight=part,
                mass=density * area * part,
                displaced=water * area * part,
                inertia=density * part * np.array([second, second, 2.0 * second]),
                added=water * added * area * part * np.array([1.0, 1.0, 0.0]),
                drag=water
                * r
                * part
                * np.array([normal, normal, 0.5 * math.pi * tangent]),
            )
        )
        before = at
    young, shear, viscosity, ratio = material
    count = len(basis.order)
    stiffness = np.zeros((count, count))
    damping = np.zeros((count, count))
    x, w = np.polynomial.legendre.leggauss(_GAUSS)
    for at, share in zip(0.5 * (x + 1.0), 0.5 * w, strict=True):
        r = radius_at(at)
        area = math.pi * r * r
        second = 0.25 * math.pi * r**4
        elastic = np.array(
            [second * young] * 2
            + [2.0 * second * shear]
            + [area * shear] * 2
            + [area * young * ratio]
        )
        viscous = viscosity * np.array(
            [3.0 * second] * 2 + [2.0 * second] + [area] * 2 + [3.0 * area]
        )
        p = basis_row(basis, length, at)
        same = np.equal.outer(basis.component, basis.component)
        product = np.outer(p, p) * same * share * length
        pick = np.array(basis.component, dtype=np.int64)
        stiffness += product * elastic[pick]
        damping += product * viscous[pick]
    return Element(
        name="",
        parent=-1,
        pose=np.eye(4),
        points=listed,
        component=basis.component,
        rest=(0.0,) * count,
        speed_limit=_speed_limits(basis, length, max(radius)),
        varies=any(n > 0 for n in basis.order),
        stiffness=stiffness,
        damping=damping,
    )


def cylinder_strips(
    water: float,
    length: float,
    radius: float,
    mass: float,
    displaced: float,
    drag: tuple[float, float],
    added: tuple[float, float],
    points: int,
) -> list[Point]:
    """Points of a rigid solid cylinder along z.

    Args:
        water: density of the water [kg/m3].
        length: [m].
        radius: [m].
        mass: [kg].
        displaced: mass of the water that it displaces [kg].
        drag: C_n and C_t of Renda 2018 eq. 11.
        added: B across and along, times the water of its outer volume.
        points: strips.

    Returns:
        The points, near face to far face.
    """
    node, weight = radau_nodes(points)
    outer = water * math.pi * radius * radius * length
    # a strip's moments: across, those of a disc (the rest is in the strips' places)
    disc = mass * radius * radius * np.array([0.25, 0.25, 0.5])
    listed: list[Point] = []
    before = 0.0
    for at, share in zip(node, weight, strict=True):
        straight = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (2, 1))
        listed.append(
            Point(
                length=(at - before) * length,
                strain=straight,
                kind=1,
                abscissa=at * length,
                radius=radius,
                weight=share * length,
                mass=share * mass,
                displaced=share * displaced,
                inertia=share * disc,
                added=share * outer * np.array([added[0], added[0], added[1]]),
                drag=water
                * radius
                * share
                * length
                * np.array([drag[0], drag[0], 0.5 * math.pi * drag[1]]),
            )
        )
        before = at
    return listed
