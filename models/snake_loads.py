"""Loads of a snake's rigid module: Zhang 2022 corrected, and the same as tree parts.

Source: Zhang 2022 eqs 28-34. A module is a cylinder of length L and radius R along x,
its frame at the tail end. Matrices here are his: (6, 6), twists linear first, the frame
at the tail end. They are references for tests and for reading the paper; a robot is a
tree, to which `add_module` gives the same loads.

What he prints, and what is right:

- (29) I_yy = π R²/4 is no inertia; about the tail end I_xx = m R²/2 and
  I_yy = I_zz = m R²/4 + m L²/3, with the mass in the middle.
- (30) has M_53 = +L/2 and M_55 = -L²/3: not symmetric, one negative eigenvalue, water
  of negative mass. The strips (v_y + ω_z x, v_z - ω_y x) give M_53 = -L/2, +L²/3.
- (32) has the right signs, but ρ π L C_d V is one length short of kg/s: ρ π R L C_d V.
  Its reference velocity V is not printed.
- (33) is J^T M dJ/dt - J^T W J; printed with d/dt(J^T).
- (34) has no J behind G_i. With e1 = (0, 0, -9.81), z up, its sign is right on the left
  of (27); the +9.8 of (18) is another e1.
- With R = 90 mm a module displaces 5.09 kg and weighs 0.563: the effective volume is an
  input here.

About the middle of the module (29), (30) and (32) are diagonal. So one body there, with
these diagonals, is the whole module: exactly, not by strips. Quadratic drag has no such
point; `add_module` puts it on strips.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from models.numerics import FloatArray
from models.tree_builder import TreeBuilder, frame

__all__ = [
    "BODY_TO_ELEMENT",
    "SnakeModule",
    "add_module",
    "added_mass_matrix",
    "body_inertia_matrix",
    "coriolis_term",
    "hydrostatic_wrench",
    "linear_drag_matrix",
    "module_at_centre",
    "printed_added_mass_matrix",
    "quadratic_drag_wrench",
    "to_element_order",
]

BODY_TO_ELEMENT = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
"""A vector of the body (x to the head) in the axes of an element (z along)."""


class SnakeModule(NamedTuple):
    """Parameters of one rigid module; the defaults are Tables 1 and 2 of Zhang 2022."""

    length: float = 0.2
    """L_R [m]."""
    radius: float = 0.09
    """R_r [m]; probably the diameter, see above."""
    mass: float = 0.563
    """m_R [kg]."""
    displaced_mass: float = 0.563
    """Mass of the water displaced, flooding left out [kg]; neutral as the text says."""
    centre_of_mass: tuple[float, float, float] = (0.1, 0.0, 0.0)
    """γ_g in the module's frame [m]."""
    centre_of_buoyancy: tuple[float, float, float] = (0.1, 0.0, 0.0)
    """γ_b [m]."""
    water_density: float = 1000.0
    """ρ [kg/m3]."""
    added_mass: float = 1.0
    """C_a."""
    added_mass_surge: float = 0.2
    """α."""
    drag: float = 1.0
    """C_d; in quadratic drag too."""
    drag_surge: float = 0.2
    """β."""
    drag_roll: float = 0.5
    """Ω."""
    drag_speed: float = 0.0
    """V, reference velocity of the linear drag [m/s]; 0 = none."""


def _cross_matrix(vector: ArrayLike) -> FloatArray:
    x, y, z = np.asarray(vector, dtype=float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _strips(length: float, along: float, roll: float) -> FloatArray:
    """Integral of strips across over the length, for each unit, with along and roll."""
    half, third = 0.5 * length, length * length / 3.0
    matrix = np.diag([along, 1.0, 1.0, roll, third, third])
    matrix[1, 5] = matrix[5, 1] = half
    matrix[2, 4] = matrix[4, 2] = -half
    return matrix


def body_inertia_matrix(module: SnakeModule) -> FloatArray:
    """M_R of a solid cylinder with its mass at γ_g (Zhang 2022 eq. 29, corrected).

    Args:
        module: the module.

    Returns:
        (6, 6) [kg, kg m, kg m2].
    """
    m, r, length = module.mass, module.radius, module.length
    across = m * (0.25 * r * r + length * length / 12.0)
    lever = _cross_matrix(module.centre_of_mass)
    matrix = np.zeros((6, 6))
    matrix[:3, :3] = m * np.eye(3)
    matrix[:3, 3:] = m * lever.T
    matrix[3:, :3] = m * lever
    matrix[3:, 3:] = np.diag([0.5 * m * r * r, across, across]) + m * lever @ lever.T
    return matrix


def added_mass_matrix(module: SnakeModule) -> FloatArray:
    """M_A by strip theory (Zhang 2022 eq. 30, corrected).

    Args:
        module: the module.

    Returns:
        (6, 6) symmetric, at least 0 [kg, kg m, kg m2].
    """
    return _outer_water(module) * _strips(module.length, module.added_mass_surge, 0.0)


def printed_added_mass_matrix(module: SnakeModule) -> FloatArray:
    """M_A as eq. 30 is printed: not symmetric, with a negative eigenvalue."""
    matrix = added_mass_matrix(module)
    matrix[4, 2] *= -1.0
    matrix[4, 4] *= -1.0
    return matrix


def linear_drag_matrix(module: SnakeModule) -> FloatArray:
    """D_L with the radius that it lacks (Zhang 2022 eq. 32, corrected).

    Args:
        module: the module.

    Returns:
        (6, 6) symmetric, at least 0 [kg/s, kg m/s, kg m2/s].
    """
    roll = module.drag_roll * module.radius**2
    return _drag_scale(module) * _strips(module.length, module.drag_surge, roll)


def _outer_water(module: SnakeModule) -> float:
    """ρ π R² L C_a [kg]."""
    volume = np.pi * module.radius**2 * module.length
    return float(module.water_density * volume * module.added_mass)


def _drag_scale(module: SnakeModule) -> float:
    """ρ π R L C_d V [kg/s]."""
    area = np.pi * module.radius * module.length
    return float(module.water_density * area * module.drag * module.drag_speed)


def quadratic_drag_wrench(
    module: SnakeModule, twist: FloatArray, nodes: int = 64
) -> FloatArray:
    """Drag by strip theory: -ρ R C_d |v| v on each length, in the norm form.

    Zhang 2022 names the strips and gives no formula; along the axis it is β of that
    across.

    Args:
        module: the module.
        twist: (6,) of its frame relative to the water, linear first [m/s, rad/s].
        nodes: Gauss nodes of the strips.

    Returns:
        (6,) force and moment on the module [N, N m].
    """
    place, weight = np.polynomial.legendre.leggauss(nodes)
    wrench = np.zeros(6)
    scale = module.water_density * module.radius * module.drag * 0.5 * module.length
    for x, w in zip(0.5 * module.length * (1.0 + place), weight, strict=True):
        lever = np.array([x, 0.0, 0.0])
        v = twist[:3] + np.cross(twist[3:], lever)
        force = -w * scale * np.linalg.norm(v) * v
        force[0] *= module.drag_surge
        wrench[:3] += force
        wrench[3:] += np.cross(lever, force)
    return wrench


def coriolis_term(
    inertia: FloatArray, twist: FloatArray, bias: FloatArray
) -> FloatArray:
    """Coriolis and centripetal wrench of one module (Zhang 2022 eq. 33, corrected).

    (M dJ/dt - W J) ζ for the body alone: M times the bias dJ/dt ζ, less W V. W has the
    linear momentum in its corners and the angular in the last block.

    Args:
        inertia: (6, 6) M_i, body and added.
        twist: (6,) V = J ζ in the module's frame [m/s, rad/s].
        bias: (6,) dJ/dt ζ [m/s2, rad/s2].

    Returns:
        (6,) to the left of eq. 27 [N, N m].
    """
    momentum = inertia @ twist
    w = np.zeros((6, 6))
    w[:3, 3:] = w[3:, :3] = _cross_matrix(momentum[:3])
    w[3:, 3:] = _cross_matrix(momentum[3:])
    term: FloatArray = inertia @ bias - w @ twist
    return term


def hydrostatic_wrench(
    module: SnakeModule, rotation: FloatArray, gravity: float = 9.81
) -> FloatArray:
    """Weight and buoyancy in the module's frame (Zhang 2022 eq. 34, corrected).

    Args:
        module: the module.
        rotation: (3, 3) of its frame in the world, z up.
        gravity: [m/s2].

    Returns:
        (6,) force and moment on the module, -G_i [N, N m].
    """
    up = rotation.T @ np.array([0.0, 0.0, gravity])
    wrench = np.empty(6)
    wrench[:3] = (module.displaced_mass - module.mass) * up
    wrench[3:] = np.cross(
        module.displaced_mass * np.asarray(module.centre_of_buoyancy)
        - module.mass * np.asarray(module.centre_of_mass),
        up,
    )
    return wrench


def to_element_order() -> FloatArray:
    """Matrix (6, 6) from his twists to those of an element at the same place.

    Linear first along (x, y, z) to angular first along (y, z, x); orthogonal, so that a
    matrix M of his is P M Pᵀ there.
    """
    matrix = np.zeros((6, 6))
    matrix[3:, :3] = BODY_TO_ELEMENT
    matrix[:3, 3:] = BODY_TO_ELEMENT
    return matrix


def module_at_centre(module: SnakeModule) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Diagonals of (29), (30) and (32) about the middle, element axes, angular first.

    Args:
        module: the module.

    Returns:
        (3,) principal moments of the body [kg m2], (6,) added mass [kg m2, kg] and (6,)
        linear drag [N m s, N s/m], for `TreeBuilder.add_body`.
    """
    m, r, length = module.mass, module.radius, module.length
    across = length * length / 12.0
    solid = m * np.array([0.25 * r * r + across, 0.25 * r * r + across, 0.5 * r * r])
    added = _outer_water(module) * np.array(
        [across, across, 0.0, 1.0, 1.0, module.added_mass_surge]
    )
    roll = module.drag_roll * r * r
    drag = _drag_scale(module) * np.array(
        [across, across, roll, 1.0, 1.0, module.drag_surge]
    )
    return solid, added, drag


def add_module(
    builder: TreeBuilder,
    parent: int,
    pose: FloatArray,
    module: SnakeModule,
    *,
    quadratic_drag: bool = True,
    strips: int = 4,
    name: str = "module",
) -> int:
    """Add a module to a tree: a cylinder of strips, and bodies at its three centres.

    Centres at one place share a body.

    Args:
        builder: the tree; its water is the module's.
        parent: element at whose end the module begins, or ROOT.
        pose: (4, 4) the module's tail end there, z along it [m].
        module: the module.
        quadratic_drag: whether the strips have drag.
        strips: of the quadratic drag.
        name: of the elements.

    Returns:
        Index of the element that ends at the head face.
    """
    normal = module.drag if quadratic_drag else 0.0
    face = builder.add_cylinder(
        parent,
        pose,
        length=module.length,
        radius=module.radius,
        mass=0.0,
        displaced_mass=0.0,
        drag_normal=normal,
        drag_tangent=2.0 / np.pi * normal * module.drag_surge,
        points=strips,
        name=name,
    )
    solid, added, drag = module_at_centre(module)
    middle = (0.5 * module.length, 0.0, 0.0)
    parts: dict[tuple[float, ...], dict[str, Any]] = {}
    for place, part in (
        (middle, {"added_mass": added, "drag_linear": drag}),
        (module.centre_of_mass, {"mass": module.mass, "inertia": solid}),
        (module.centre_of_buoyancy, {"displaced_mass": module.displaced_mass}),
    ):
        parts.setdefault(tuple(place), {}).update(part)
    for centre, loads in parts.items():
        way = BODY_TO_ELEMENT @ np.asarray(centre) - [0.0, 0.0, module.length]
        builder.add_body(face, frame(way), name=f"{name}.centre", **loads)
    return face
